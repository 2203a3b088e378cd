"""History discounting (RFC 3448 section 5.5), eight packets after idleness, X_fast_max in the log (thesis, 2.2.4)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.plain_discounting import Discounted

from voicewire.netsim import Flow, Path, Tfrc, Udp, equation, simulate
from voicewire.netsim.reference import mean_interval, readings
from voicewire.netsim.reference.equation import discounted_interval

MS = 1_000_000
intervals = st.floats(1, 1e5)


@given(st.lists(intervals, min_size=2, max_size=9), st.data(), st.sampled_from([0.25, 0.5, 1.0]))
def test_the_discounted_interval_is_the_engine_s(drawn, data, least):
    closed = drawn[1:]
    kept = data.draw(st.lists(st.floats(0.01, 1), min_size=len(closed), max_size=len(closed)))
    fast = equation.discounted_interval(np.array(drawn), np.array([1.0, *kept]), len(closed), least)
    assert fast == discounted_interval(drawn[0], closed, kept, least)


@given(st.lists(intervals, min_size=2, max_size=9))
def test_without_a_discount_it_is_the_mean_of_section_5_4(drawn):
    assert discounted_interval(drawn[0], drawn[1:], [1.0] * 8, 1.0) == mean_interval(drawn[0], drawn[1:])


def test_a_long_interval_takes_weight_and_keeps_what_it_took():
    """Section 5.5 by hand. Eight intervals of 100, then one of 400: DF = 200/400; (400 + 50·5)/(1 + 2.5)."""
    r = readings.Discounting(20)
    for seq in range(0, 900, 100):
        assert r.lose(seq, seq * 20 * MS, 0.1, 1e9)
    r.history.closed = [100.0] * 8  # the first one is what X_recv makes of it
    assert r.loss_event_rate(200.0) == pytest.approx(6 / (200 + 500))  # exactly twice: no discount yet
    assert r.loss_event_rate(400.0) == pytest.approx(3.5 / (400 + 250))
    assert r.loss_event_rate(1e5) == pytest.approx(3.5 / (1e5 + 250))  # never below the threshold of one half
    assert r.lose(1200, 1200 * 20 * MS, 0.1, 1e9)  # it closes with 400
    assert r.kept == (1.0, *[0.5] * 7)
    assert r.loss_event_rate(1.0) == pytest.approx(3.5 / (400 + 250))  # the discount stays
    past = (400 + 250) / 3.5
    df = 2 * past / 600
    assert r.loss_event_rate(600.0) == pytest.approx((1 + df + 0.5 * df * 4) / (600 + df * 400 + 0.5 * df * 400))


@given(
    gaps=st.lists(st.integers(1, 400), min_size=1, max_size=25),
    least=st.sampled_from([0.25, 0.5]),
    rate=st.floats(10, 1e5),
)
@settings(max_examples=60, deadline=None)
def test_each_packet_has_the_rate_of_section_5_5_s_arrays(gaps, least, rate):
    """Over whole histories: `plain_discounting` has the pseudo-code, erratum and all."""
    r = type("R", (readings.Discounting,), {"least": least})(20)
    seq = 0
    assert r.lose(seq, 0, 0.001, rate)
    plain = Discounted(r.history.closed[0], least)
    for gap in gaps:
        for _ in range(gap - 1):
            seq += 1
            assert r.loss_event_rate(float(seq - r.history.first_seq + 1)) == pytest.approx(
                min(plain.packet(), 1.0), rel=1e-12
            )
        seq += 1
        assert r.lose(seq, seq * 20 * MS, 0.001, rate)
        assert r.loss_event_rate(1.0) == pytest.approx(min(plain.loss_event(), 1.0), rel=1e-12)


def recovers(discount, seed=1):
    """Loss event rate of each report of a busy flow that loses eight packets early, and none later."""
    frames = np.arange(6000, dtype=np.int64) * 4 * MS
    path = Path(20, 0.0, 0.0, burst=(0.004, 1.0, 1.0))
    flow = simulate([Flow(frames, 20, Tfrc(discount=discount, floor_packets=10.0), path)], seed=seed, log=True).flows[0]
    return flow.rates


def test_the_engine_s_flow_forgets_faster_with_discounts():
    none, half, quarter = (recovers(d)[:, 4] for d in (1.0, 0.5, 0.25))
    shared = min(map(len, (none, half, quarter)))
    assert none[:shared].max() > 0
    assert half[half > 0].min() < none[none > 0].min()
    assert quarter[quarter > 0].min() < half[half > 0].min()


def after_silence(**settings):
    """Packets that leave in the first round trip of 100 ms after a silence of two seconds, and the flow."""
    frames = np.r_[np.arange(100) * 20, 4050 + np.arange(300)].astype(np.int64) * MS
    flow = simulate([Flow(frames, 20, Tfrc(buffer=50, **settings), Path(50))], log=True).flows[0]
    return int(((flow.sent >= 4050 * MS) & (flow.sent < 4150 * MS)).sum()), flow


@pytest.mark.parametrize("settings", [{}, {"small": True, "restart": 4.0}])
def test_after_idleness_eight_packets_leave_in_a_round_trip(settings):
    assert after_silence(**settings)[0] < 6
    eight, flow = after_silence(restart_packets=8.0, **settings)
    assert eight == 8
    report = flow.rates[flow.rates[:, 0] >= 4150 * MS][0]
    assert report[1] == pytest.approx(max(2 * report[2], 20 / 0.1), rel=1e-3)  # until the report, section 5.2


def test_who_was_never_idle_gets_no_eight_packets():
    frames = np.arange(1000, dtype=np.int64) * 20 * MS
    path = Path(50, 0.05, 0.05)
    runs = [
        simulate([Flow(frames, 20, Tfrc(restart_packets=n), path)], seed=3, log=True).flows[0] for n in (0.0, 8.0)
    ]
    busy = np.diff(frames[runs[0].sent >= 0]).max() < 400 * MS
    while_talking = [flow.rates[flow.rates[:, 0] < frames[-1]] for flow in runs]
    assert busy and np.array_equal(*while_talking)


def test_the_log_has_the_largest_safe_rate():
    """Section 2.2.4: the largest X_recv of the time without loss, halved at each loss event."""
    frames = np.arange(3000, dtype=np.int64) * 20 * MS
    how = Tfrc(small=True, restart=4.0, fast_max=True)
    flow = simulate([Flow(frames, 20, how, Path(50, 0.01, 0.0))], seed=2, log=True).flows[0]
    reports = np.isin(flow.rates[:, 0].astype(np.int64) - 50 * MS, flow.arrive[flow.arrive >= 0])
    largest = worst = 0.0
    for at_report, row in zip(reports, flow.rates, strict=True):
        if at_report:
            largest = largest / 2 if row[4] > worst else max(largest, row[2])
            worst = row[4]
        assert row[5] == largest
    assert (flow.rates[:, 4] > 0).any() and largest > 0
    assert not simulate([Flow(frames, 20, Tfrc(), Path(50, 0.01))], seed=2, log=True).flows[0].rates[:, 5].any()


@pytest.mark.parametrize("burst", [None, (0.02, 0.5, 1.0)])
def test_a_path_that_has_lost_for_so_long_loses_no_more(burst):
    frames = np.arange(3000, dtype=np.int64) * 4 * MS
    runs = [
        simulate([Flow(frames, 20, Udp(), Path(20, 0.05, burst=burst, lossy_s=end))], seed=4).flows[0]
        for end in (None, 6.0)
    ]
    lost = [flow.fate == 4 for flow in runs]
    assert lost[0][frames >= 6000 * MS].any() and not lost[1][frames >= 6000 * MS].any()
    assert np.array_equal(*(row[frames < 6000 * MS] for row in lost)) and lost[1].any()
