"""What the names of the transports stand for, and what each rule of the rate controls does: by hand, in numbers."""

import numpy as np
import pytest

from voicewire.netsim import Flow, Path, Tcp, Tfrc, simulate
from voicewire.netsim.reference import LossHistory, TfrcSender, TfrcSender5348, readings
from voicewire.netsim.reference.tfrc_receiver import Report, lose, loss_event_rate, open_interval
from voicewire.voip.transports import transport


@pytest.mark.parametrize(("codec", "packets"), [("G.729", 24.0), ("G.711", 10.0)])
def test_md_read_literally_is_a_higher_floor(codec, packets):
    """X >= 8 (s + H)/R in payload bytes: (20 + 40)/20 and (160 + 40)/160 of eight packets a round trip."""
    assert transport("MD literal", codec).floor_packets == packets
    assert transport("TFRC SP FR MD", codec).floor_packets == 8


def test_small_packets_divide_short_loss_intervals():
    """RFC 4828 section 4.4: with three losses in the event, 30 packets within two round trips count as ten."""
    for small, length in ((True, 10.0), (False, 30.0)):
        h = LossHistory(20, small)
        for seq in (100, 101, 102):
            lose(h, seq, seq * 1_000_000, 0.1, 1000.0)
        lose(h, 130, 100_000_000 + 150_000_000, 0.1, 1000.0)
        assert h.closed[0] == length


def test_the_round_trip_keeps_nine_tenths_of_what_it_was():
    s = TfrcSender(20, 0.1)
    s.on_answer(300_000_000, Report(echo=0, counter=0, x_recv=1000.0, p=0.0))
    assert s.rtt == pytest.approx(0.9 * 0.1 + 0.1 * 0.3)


def test_without_feedback_a_quarter_of_the_equation_is_taken_for_received():
    """RFC 3448 section 4.4: where X_calc <= 2 X_recv, X_recv becomes X_calc/4, and so X at most half of X_calc."""
    s = TfrcSender(1000, 0.1)
    s.p, s.x_recv, s.idle = 0.01, 1e9, False
    s.x_calc = 8000.0
    s.no_feedback(0)
    assert s.x_recv == 2000.0
    assert s.x == 4000.0


@pytest.mark.parametrize(("timeout_restart", "x"), [(True, 200.0), (False, 100.0)])
def test_after_a_time_out_faster_restart_takes_four_times_what_arrives(timeout_restart, x):
    """RFC 3448 section 4.4 (2) recalculates X by point (4) of section 4.3, which Faster Restart changes."""
    s = (TfrcSender if timeout_restart else readings.TwiceAfterTimeout)(20, 0.1, small=True, restart=4.0)
    s.p, s.x_recv, s.idle, s.x_calc = 0.001, 100.0, False, 1e6
    s.no_feedback(0)
    assert (s.x_recv, s.x) == (50.0, x)


@pytest.mark.parametrize("start", [2.0, 4.0])
def test_slow_start_multiplies_the_rate_once_a_round_trip(start):
    """RFC 3448 section 4.3: doubling, or the quadrupling of the thesis (section 5.1), until X_recv binds."""
    greedy = np.arange(5000, dtype=np.int64) * 1_000_000
    log = simulate([Flow(greedy, 20, Tfrc(start=start, buffer=50), Path(50))], log=True).flows[0].rates
    x = log[:, 1] * 0.1 / 20  # packets in a round trip
    assert (x[1:] / x[:-1]).max() <= start + 1e-12
    assert x[:3] == pytest.approx([start, start, start**2])  # the first report, one within the round trip, the next
    assert (x[1:] <= start * log[1:, 2] * 0.1 / 20 + 1e-9).all()


def test_faster_restart_with_its_maximum_quadruples_below_it_and_doubles_above():
    """Section 2.2.4 of the thesis: the largest rate of the time without loss, halved at each loss event."""
    s = readings.FastMax(1000, 0.1, restart=4.0)

    def told(x_recv, p):
        s.on_answer(100_000_000, Report(echo=0, counter=0, x_recv=x_recv, p=p))
        return s.receive_limit(0, Report(echo=0, counter=0, x_recv=x_recv, p=p), worse=False) / x_recv

    assert told(8000.0, 0.0) == 2.0  # slow start: no loss yet
    assert told(1000.0, 1e-5) == 4.0 and s.fast_max == 4000.0  # the first loss halves what was reached
    assert told(1500.0, 1e-5) == pytest.approx(4000 / 1500)
    assert told(3000.0, 1e-5) == 2.0
    assert told(6000.0, 1e-5) == 2.0 and s.fast_max == 6000.0  # reached, without another loss
    assert told(500.0, 2e-5) == 4.0 and s.fast_max == 3000.0


@pytest.mark.parametrize("rtt", [0.1, np.nextafter(0.1, 0), np.nextafter(0.1, 1)])
def test_four_packets_a_round_trip_are_not_fewer_than_four(rtt):
    """Whatever the last bit of the round trip: exactly four are halved, a hundredth less is left."""
    for packets, left in ((4.0, 2.0), (3.99, 3.99)):
        s = TfrcSender(20, 0.1)
        s.idle, s.x_recv, s.rtt = True, packets * 20 / 0.1, rtt
        s.no_feedback(0)
        assert s.x_recv == pytest.approx(left * 20 / 0.1)


def waits(kind):
    """Two packets at 10 a second; X doubles after 60 ms, so the second is due at 50 ms; when may the third leave?"""
    s = kind(20, 0.1, buffer=9)
    s.on_frames(0, range(4))
    s.x = 400.0
    s.rate_changed(60_000_000)
    second = s.send_at
    s.on_send(second)
    return second // 1_000_000, s.send_at // 1_000_000


def test_a_late_packet_does_not_delay_the_next():
    """RFC 3448 section 4.6: timed from when the one before was due, 50 ms; from its departure, 60 ms, comes later."""
    assert waits(TfrcSender) == (60, 100)
    assert waits(readings.TimedFromDeparture) == (60, 110)
    assert waits(readings.OneTimeOnly) == (100, 150)


@pytest.mark.parametrize(("small", "gap"), [(True, 10_000_000), (False, 0)])
def test_small_packets_are_ten_milliseconds_apart_also_where_they_are_late(small, gap):
    """RFC 4828 section 4.3, where RFC 3448 sends what is late at once."""
    s = TfrcSender(20, 0.1, small=small, buffer=9)
    s.on_frames(0, range(4))
    s.x = 2000.0  # due at 10 and 20 ms, told at 80 ms
    s.rate_changed(80_000_000)
    s.on_send(s.send_at)
    assert (s.sent[1], s.send_at) == (80_000_000, 80_000_000 + gap)


def test_what_comes_after_a_silence_waits_for_kame_s_tick():
    """Ticks of 100 ms run on; RFC 3448 as we read it sends at once, and saves nothing."""
    for kind, ms in ((TfrcSender, 250), (readings.KameTimer, 300)):
        s = kind(20, 0.1)
        s.on_frames(0, range(1))
        s.on_frames(250_000_000, range(1, 3))
        assert (s.send_at if len(s.waiting) == 2 else s.sent[1]) == ms * 1_000_000


def test_kame_s_receive_rate_wraps_at_537_bytes():
    for packets, rate in ((26, 5200.0), (27, 31.25)):  # of 20 bytes, in 100 ms: 4 320 000 000 less 2**32 over 100 000
        r = readings.KameReceiveRate(20)
        r.reported, r.since_report = 0, packets
        assert r.receive_rate(100_000_000, 0.1) == rate


def test_tcp_restarts_less_often_where_idleness_counts_from_what_was_heard():
    """At 400 ms the last acknowledgement comes 0.8 s after the last segment: fewer silences pass the time-out."""
    frames = np.r_[np.arange(500), 580 + np.arange(100)] * 20_000_000  # a silence of 1.6 s, 0.8 s of it after hearing
    sent, heard = (
        simulate([Flow(frames, 160, Tcp(idle_since=since), Path(400))]).flows[0].arrive
        for since in ("sent", "received")
    )
    assert (heard <= sent).all()
    assert (heard < sent).any()


@pytest.mark.parametrize(("small", "p"), [(True, 1 / 100), (False, 6 / 700)])
def test_small_packets_do_not_count_a_short_open_interval(small, p):
    """RFC 4828 section 4.4: 200 packets within two round trips of the loss say nothing yet; RFC 3448 counts them."""
    h = LossHistory(20, small, events=9, first_seq=1, first_time=0, closed=[100.0] * 8)
    assert loss_event_rate(h, open_interval(h, 200, 200_000_000, 0.1)) == pytest.approx(p)
    assert loss_event_rate(h, open_interval(h, 200, 200_000_001, 0.1)) == pytest.approx(6 / 700)


def test_rfc_5348_halves_its_set_when_a_data_limited_time_brings_losses():
    s = TfrcSender5348(20, 0.1, small=True, initial=4.0)
    s.received = [(0, 5000.0)]
    assert s.receive_limit(0, Report(echo=-1, counter=0, x_recv=1000.0, p=0.1), worse=True) == 2500.0
    assert s.received == [(0, 2500.0)]
    assert s.receive_limit(0, Report(echo=-1, counter=0, x_recv=4000.0, p=0.1), worse=True) == 0.85 * 4000


def test_the_engine_s_round_trip_moves_by_a_tenth():
    """MD's floor of eight packets a round trip shows the estimate: the first report took longer, by the jitter."""
    flow = Flow(np.array([0]), 20, Tfrc(small=True, floor_packets=8), Path(50, jitter_ms=40))
    now, x = simulate([flow], seed=2, log=True).flows[0].rates[0, :2]
    assert now > 105e6
    assert x == pytest.approx(8 * 20 / (0.9 * 0.1 + 0.1 * now / 1e9))
