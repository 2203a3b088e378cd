"""What a TFRC flow can be set to beyond its reading version: buffer, credit, X_recv, the first interval, marks."""

import numpy as np
import pytest

from voicewire.netsim import Bottleneck, Flow, Path, Red, Tfrc, equation, simulate

MS, SECOND = 1_000_000, 1_000_000_000


@pytest.mark.parametrize("oldest", [False, True])
def test_a_full_buffer_loses_its_oldest_frame_or_the_new_one(oldest):
    """Ten frames at once, three may wait: one leaves, and nothing more before its report is back."""
    how = Tfrc(buffer=3, drop_oldest=oldest)
    flow = simulate([Flow([0] * 10, 160, how, Path(50))]).flows[0]
    kept = [0, 7, 8, 9] if oldest else [0, 1, 2, 3]
    assert np.flatnonzero(flow.sent >= 0).tolist() == np.flatnonzero(flow.fate == 1).tolist() == kept
    assert np.flatnonzero(flow.fate == 2).size == flow.packets["dropped_sender"] == 6
    assert flow.sent[0] == 0 and (flow.sent[kept[1:]] >= 100 * MS).all()


@pytest.mark.parametrize("credit_ms", [0.0, 45.0, 130.0, 1000.0])
def test_a_silent_sender_saves_up_so_much_sending_time_and_no_more(credit_ms):
    talk = np.arange(100, dtype=np.int64) * 20 * MS
    silence = np.full(8, talk[-1] + 400 * MS)  # shorter than what halves the rate
    how = Tfrc(credit_ms=credit_ms, buffer=8)
    flow = simulate([Flow(np.r_[talk, silence], 160, how, Path(50))], log=True).flows[0]
    x = flow.rates[flow.rates[:, 0] <= silence[0]][-1, 1]
    interval = round(160 / x * 1e9)
    earned = min(credit_ms * MS, silence[0] - flow.sent[99] - interval)  # it cannot save more than there was
    at_once = int((flow.sent[100:] == silence[0]).sum())
    assert at_once == min(8, 1 + int(earned // interval))
    rest = flow.sent[100 + at_once :]
    if rest.size:
        assert silence[0] < rest[0] <= silence[0] + interval


def receive_rates(arrivals, reports, rule, size, rtt):
    """X_recv of each report, as the rule's own source words it."""
    before = None
    for now in reports:
        since = rtt if before is None else (now - before) / SECOND
        fresh = np.count_nonzero((arrivals <= now) & (arrivals > (-1 if before is None else before)))
        lately = np.count_nonzero((arrivals <= now) & (arrivals > now - rtt * SECOND))
        yield {
            "rtt": lately * size / rtt,
            "thesis": fresh * size / since,
            "since": fresh * size / max(since, rtt),
            "ccid3": fresh * size / since if since >= rtt else lately * size / rtt,
        }[rule]
        before = now


@pytest.mark.parametrize("rule", ["ccid3", "thesis", "since", "rtt"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_received_is_measured_as_the_rule_says(rule, seed):
    """Words and silences over a path that loses packets: so reports come early, in time and late."""
    rng = np.random.default_rng(seed)
    words = np.cumsum(rng.integers(1, 45, 400) + 1500 * (rng.random(400) < 0.02)) * MS + rng.integers(0, 999, 400)
    flow = simulate(
        [Flow(words, 160, Tfrc(x_recv=rule, restart=4.0, floor_packets=8.0), Path(47, 0.03, 0.0))], seed=seed, log=True
    ).flows[0]
    arrivals = np.sort(flow.arrive[flow.arrive >= 0])
    there = np.isin(flow.rates[:, 0].astype(np.int64) - 47 * MS, arrivals)  # the others are time-outs
    reports = flow.rates[there]
    expected = list(receive_rates(arrivals, reports[:, 0] - 47 * MS, rule, 160, 0.094))
    assert len(expected) > 50
    assert reports[:, 2] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("loss", [0.01, 0.4])
@pytest.mark.parametrize("seed", range(8))
def test_the_first_interval_may_be_the_packets_counted_until_the_first_loss(seed, loss):
    frames = np.arange(600, dtype=np.int64) * 20 * MS
    how = Tfrc(first_interval="counted", floor_packets=100.0)
    flow = simulate([Flow(frames, 160, how, Path(50, loss, 0.0))], seed=seed, log=True).flows[0]
    lost = int(np.flatnonzero(flow.fate == 4)[0])
    report = flow.rates[flow.rates[:, 4] > 0][0]
    newest = int(np.flatnonzero(flow.arrive == report[0] - 50 * MS)[0])
    assert flow.packets["dropped_sender"] == 0  # so that a frame's number is its packet's
    assert report[4] == pytest.approx(1 / equation.average_interval([newest - lost + 1, max(lost, 1)]))


def test_a_mark_is_a_loss_event_at_which_nothing_is_lost():
    frames = np.arange(1500, dtype=np.int64) * 20 * MS
    link = Bottleneck(70, 50, Red(2, 40, 0.2, 0.3, ecn=True))
    told = [
        simulate([Flow(frames, 160, Tfrc(ecn=ecn), Path(20))], bottleneck=link, log=True, seed=3).flows[0]
        for ecn in (True, False)
    ]
    marked, dropped = told
    assert marked.packets["marked"] > 0 == marked.packets["dropped_queue"] == dropped.packets["marked"]
    assert dropped.packets["dropped_queue"] > 0
    for flow in told:
        assert 0 < flow.rates[-1, 4] < 1
        assert 0 < flow.rates[-1, 1] < 2 * 70 * 125  # the rate is held near what the link carries
    assert (marked.arrive[marked.sent >= 0] >= 0).all()


@pytest.mark.parametrize("loss", [0.0, 0.2])
def test_the_log_of_the_send_buffer_is_what_waits_in_it(loss):
    """After the last event of each moment: handed over, not refused, not yet sent."""
    rng = np.random.default_rng(4)
    frames = np.sort(rng.integers(0, 4000, 120)) * MS
    flow = simulate([Flow(frames, 160, Tfrc(buffer=4), Path(60, loss))], seed=2, log=True).flows[0]
    times, levels = flow.levels.T
    taken = frames[flow.fate != 2]
    sent = flow.sent[flow.sent >= 0]
    last = np.r_[times[1:] != times[:-1], True]
    for now, level in zip(times[last], levels[last], strict=True):
        assert level == np.count_nonzero(taken <= now) - np.count_nonzero(sent <= now)
    assert set(times) == {*frames, *sent}
    assert levels.max() == 4
    quiet = simulate([Flow(frames, 160, Tfrc(buffer=4), Path(60, loss))], seed=2).flows[0]
    assert quiet.levels.size == quiet.rates.size == 0
