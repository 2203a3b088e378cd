"""Table 7.3: Monte Carlo against the formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.nfc import paper
from voicewire.nfc.channel import Channel
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.exchange import Exchange


def channel(kind, rate):
    return Channel.random(rate) if kind == "random" else Channel.burst(rate)


@pytest.mark.parametrize(("kind", "rate"), paper.TABLE_73)
def test_table_73_within_8_percent(kind, rate):
    exchange = Exchange(channel=channel(kind, rate))
    out = exchange.run(1000, np.random.default_rng(73))
    assert exchange.mean == pytest.approx(paper.TABLE_73[kind, rate], rel=0.08)
    error = out.seconds.std(ddof=1) / np.sqrt(1000)
    assert abs(out.seconds.mean() - exchange.mean) < 4 * error + 0.02


def test_without_errors_every_run_is_the_floor():
    exchange = Exchange()
    out = exchange.run(5, np.random.default_rng(0))
    assert (out.seconds == exchange.floor).all()
    assert exchange.floor == pytest.approx(126.62)
    assert exchange.mean == exchange.floor


def test_one_exchange_by_hand():
    """55 slots and 8 of response for each of two packets, 3 + 3 control packets, four responses around them."""
    assert Exchange(packets=1).floor == pytest.approx((2 * (55 + 8) + 6 * 5 + 4 * 8) * 0.01)


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 3e-4), st.integers(0, 2**31), st.booleans(), st.integers(0, 6))
def test_losses_cost_whole_timeouts_and_a_run_always_ends(ber, seed, backoff, limit):
    exchange = Exchange(packets=20, channel=Channel.random(ber), backoff=backoff, retransmissions=limit)
    out = exchange.run(20, np.random.default_rng(seed))
    timeouts = (out.seconds - exchange.floor) / exchange.timeout
    assert np.allclose(timeouts, np.round(timeouts), atol=1e-6)
    if not backoff:
        assert (np.round(timeouts[out.delivered]) == out.losses[out.delivered]).all()
    assert np.isfinite(out.seconds).all()


def test_the_wall_of_the_doubling_timeout():
    below = Exchange(backoff=True, channel=Channel.random(1 - 0.51 ** (1 / 4320)))
    above = Exchange(backoff=True, channel=Channel.random(1 - 0.49 ** (1 / 4320)))
    assert np.isfinite(below.mean)
    assert above.mean == np.inf
    assert np.isfinite(Exchange(channel=above.channel).mean)


def test_doubling_never_helps_the_mean():
    for rate in (1e-6, 1e-5, 5e-5):
        constant, doubling = (Exchange(channel=Channel.random(rate), backoff=b).mean for b in (False, True))
        assert doubling > constant


def test_deviation_is_that_of_the_runs():
    exchange = Exchange(channel=Channel.random(1e-4))
    out = exchange.run(4000, np.random.default_rng(8))
    assert out.seconds.std(ddof=1) == pytest.approx(exchange.deviation, rel=0.05)


def test_percentile():
    out = Exchange(channel=Channel.random(1e-4)).run(500, np.random.default_rng(1))
    assert out.percentile(0) == 0
    assert out.percentile(1e9) == 100
    assert 40 < out.percentile(float(np.median(out.seconds))) < 60


@pytest.mark.parametrize("build", [Channel.random, Channel.burst])
@pytest.mark.parametrize("backoff", [False, True])
def test_a_trace_is_the_run_of_the_same_seed(build, backoff):
    exchange = Exchange(packets=30, channel=build(2e-4), backoff=backoff)
    trace = exchange.trace(np.random.default_rng(6))
    out = exchange.run(1, np.random.default_rng(6))
    assert trace[:, 2].sum() == out.losses[0] > 0
    assert trace[trace[:, 2] == 0, 1].tolist() == list(range(60))
    after_the_last = (55 + 8 + 3 * 5 + 2 * 8) * 0.01
    assert trace[-1, 0] + after_the_last == pytest.approx(out.seconds[0])


def test_a_constant_timeout_costs_three_seconds_a_loss():
    """lwIP's initial timeout, counted from the moment at which the lost packet began to cross."""
    exchange = Exchange(packets=20, channel=Channel.random(1e-4))
    out = exchange.run(50, np.random.default_rng(2))
    assert out.seconds == pytest.approx(exchange.floor + 3.0 * out.losses)


def test_a_trace_that_gives_up_ends_with_its_last_loss():
    exchange = Exchange(packets=5, channel=Channel.random(0.5), retransmissions=2)
    trace = exchange.trace(np.random.default_rng(0))
    assert trace[:, 2].tolist() == [1, 1, 1]
    assert np.diff(trace[:, 0]) == pytest.approx(3.0)


@pytest.mark.parametrize(("backoff", "waits"), [(False, [3.0, 3.0, 3.0]), (True, [3.0, 6.0, 12.0])])
def test_waits_of_one_packet_are_equal_or_double_and_begin_anew_with_the_next(monkeypatch, backoff, waits):
    lost = iter((1, 1, 1, 0, 1, 0))
    monkeypatch.setattr("voicewire.nfc.exchange.cross", lambda *_: (bool(next(lost)), False))
    exchange = Exchange(packets=1, channel=Channel.random(1e-4), backoff=backoff)
    trace = exchange.trace(np.random.default_rng(0))
    assert trace[:, 1:].tolist() == [[0, 1], [0, 1], [0, 1], [0, 0], [1, 1], [1, 0]]
    turn = (55 + 8) * 0.01
    assert trace[0, 0] == pytest.approx((2 * 5 + 5 + 2 * 8) * 0.01)
    assert np.diff(trace[:, 0]) == pytest.approx([*waits, turn, 3.0])


@pytest.mark.parametrize("backoff", [False, True])
@pytest.mark.parametrize("limit", [0, 1, 5])
def test_an_end_gives_up_after_its_retransmissions(backoff, limit):
    """Every packet is lost: what is sent once and `limit` times again costs as many time-outs as were waited for."""
    hopeless = Exchange(packets=3, channel=Channel.random(0.99), backoff=backoff, retransmissions=limit)
    out = hopeless.run(4, np.random.default_rng(1))
    assert out.losses.tolist() == [limit + 1] * 4
    assert not out.delivered.any()
    waited = 2**limit - 1 if backoff else limit
    assert out.seconds == pytest.approx(hopeless.floor + 3.0 * waited)
    assert (hopeless.mean, hopeless.deviation) == (np.inf, np.inf)
    assert Exchange(packets=3).run(4, np.random.default_rng(1)).delivered.all()


@pytest.mark.parametrize("rate", [1e-6, 5e-5])
def test_mean_and_deviation_are_those_of_the_geometric_law(rate):
    constant, doubling = (Exchange(packets=7, channel=Channel.random(rate), backoff=b) for b in (False, True))
    p = constant.loss
    assert p == pytest.approx(1 - (1 - rate) ** constant.bits)
    assert constant.mean == pytest.approx(constant.floor + 14 * 3.0 * sum(p**k for k in range(1, 200)))
    assert doubling.mean == pytest.approx(
        doubling.floor + 14 * 3.0 * sum(2 ** (k - 1) * p**k for k in range(1, 200)), rel=1e-9
    )
    assert constant.deviation == pytest.approx(3.0 * np.sqrt(14 * p) / (1 - p))


def test_a_time_out_is_whole_slots_and_one_at_least():
    assert [Exchange(rto=rto).timeout for rto in (1e-9, 0.01, 0.0101, 3.0)] == pytest.approx([0.01, 0.01, 0.02, 3.0])
    short = Exchange(packets=5, rto=1e-9, channel=Channel.random(1e-4))
    out = short.run(50, np.random.default_rng(3))
    assert out.losses.sum() > 0
    assert out.seconds == pytest.approx(short.floor + 0.01 * out.losses)
    trace = Exchange(packets=5, rto=1e-9, channel=Channel.random(0.5), retransmissions=1).trace(
        np.random.default_rng(0)
    )
    assert np.diff(trace[:, 0]) == pytest.approx(0.01)


def test_an_exchange_takes_bit_errors_and_retransmissions_from_none_on():
    with pytest.raises(ParameterError, match="takes bit errors"):
        Exchange(channel=Channel.periodic(25))
    with pytest.raises(ParameterError, match="retransmissions"):
        Exchange(retransmissions=-1)
    assert Exchange(retransmissions=0, latency=0.0).floor < Exchange().floor
