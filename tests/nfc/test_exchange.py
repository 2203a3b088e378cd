"""Table 7.3: Monte Carlo against the formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.nfc import paper
from voicewire.nfc.channel import Channel
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
