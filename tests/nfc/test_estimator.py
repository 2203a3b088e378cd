"""RFC 6298, section by section, and exchanges with its timer beside the constant one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.nfc.channel import Channel
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import Link
from voicewire.nfc.reference import session as plainly
from voicewire.nfc.reference.adaptive_exchange import needless, tried_with
from voicewire.nfc.reference.exchange import Air
from voicewire.nfc.reference.rto_estimator import Estimator, Stopwatch, answered, backed_off, begun, measured, timeout
from voicewire.nfc.session import Recovery, Session
from voicewire.nfc.tcp.rto_estimator import estimated

RUNS_ON = Recovery(timer_runs_on=True)


def test_section_2_1_and_2_2_the_first_second_and_the_first_rtt():
    e = Estimator()
    assert e.rto == 1
    measured(e, 2.0)
    assert (e.srtt, e.rttvar, e.rto) == (2.0, 1.0, 6.0)


def test_section_2_3_the_variation_is_updated_with_the_old_mean():
    e = Estimator()
    measured(e, 2.0)
    measured(e, 4.0)
    assert e.rttvar == pytest.approx(0.75 * 1.0 + 0.25 * 2.0)
    assert e.srtt == pytest.approx(7 / 8 * 2.0 + 4.0 / 8)
    assert e.rto == pytest.approx(e.srtt + 4 * e.rttvar)


@given(st.lists(st.floats(0.001, 100), min_size=1, max_size=30), st.floats(0.1, 5))
def test_section_2_4_never_below_the_least(rtts, least):
    e = Estimator(least=least)
    for rtt in rtts:
        measured(e, rtt)
        assert e.rto >= least
        assert min(rtts) - 1e-9 <= e.srtt <= max(rtts) + 1e-9


@given(st.floats(0.1, 1e4))
def test_section_5_5_no_timer_is_shortened_by_its_bound(rto):
    """A round trip of more than 60 s gives a longer timeout; a loss must not shorten it."""
    e = Estimator(rto=rto)
    backed_off(e)
    assert e.rto >= rto
    assert e.rto == max(rto, min(2 * rto, 60.0))


def test_section_5_5_doubles_and_2_5_bounds():
    e = Estimator()
    waits = []
    for _ in range(8):
        backed_off(e)
        waits.append(e.rto)
    assert waits == [2, 4, 8, 16, 32, 60, 60, 60]


def test_section_3_no_rtt_is_taken_from_a_packet_that_was_sent_again():
    e, exchange = Estimator(), Exchange()
    measured(e, 0.26)
    before = e.srtt
    air = Air(exchange.channel, False, np.random.default_rng(1))
    tried_with(e, air, exchange, 1.26)  # 1 s < 1.26 s: a needless repeat
    assert (e.srtt, e.rto) == (before, 2.0)
    tried_with(e, air, exchange, 1.26)
    assert e.srtt > before


def test_without_losses_it_settles_above_the_round_trip():
    found = estimated(Exchange(), 1, np.random.default_rng(1))
    assert found.timeouts[-1] == pytest.approx(1.26, abs=0.02)
    assert found.timeouts[-1] > 1.26
    # each end repeats one packet needlessly, at first
    assert found.seconds[0] == pytest.approx(Exchange().floor + 2 * 0.55)


def test_with_a_floor_of_a_constant_timer_and_rare_losses_both_timers_cost_the_same():
    exchange = Exchange(channel=Channel.random(1e-6), rto=6.0)
    ours = estimated(exchange, 3000, np.random.default_rng(1), least=6.0).seconds
    assert ours.mean() == pytest.approx(exchange.mean, rel=0.005)


def test_a_backed_off_timer_stays_so_until_a_packet_gets_through_at_once():
    bad = Exchange(channel=Channel.random(1e-4))
    ours = estimated(bad, 60, np.random.default_rng(1)).seconds.mean()
    assert ours > 1.5 * bad.mean  # longer than with the constant 3 s, and than any doubling within a packet
    rare = Exchange(channel=Channel.random(1e-5))
    assert estimated(rare, 60, np.random.default_rng(1)).seconds.mean() < rare.mean


def test_a_channel_that_hardly_lets_a_packet_through_is_refused():
    with pytest.raises(ParameterError, match="hardly a packet"):
        estimated(Exchange(channel=Channel.random(0.01)), 1, np.random.default_rng(1))


def test_a_round_trip_longer_than_any_timeout_ends_at_the_longest():
    e = Estimator()
    needless(e, Exchange(), 1000.0)
    assert e.rto == 60


# Inside a window


def watch(**given):
    return Stopwatch(link=Link(), estimator=Estimator(**given))


def test_one_segment_of_a_window_is_timed_at_a_time():
    w = watch()
    begun(w, 100, 0, 4)
    answered(w, 150, 0)
    assert w.segment == 0  # not acknowledged yet
    begun(w, 160, 4, 6)
    assert (w.segment, w.since, w.fresh) == (0, 100, 6)
    answered(w, 400, 2)
    assert w.segment is None
    assert w.estimator.srtt == pytest.approx(3.0)
    assert timeout(w) == 900
    assert w.log == [(400, pytest.approx(3.0), pytest.approx(9.0))]


def test_section_3_a_segment_that_was_sent_before_is_never_timed():
    w = watch()
    begun(w, 100, 0, 4)
    w.segment = None  # as after a timeout
    begun(w, 500, 0, 3)
    assert w.segment is None
    begun(w, 600, 3, 6)
    assert w.segment == 4


def told(session, seed=1):
    return plainly.run(session, np.random.default_rng(seed)).sender


def test_section_2_2_the_handshake_gives_the_first_rtt():
    """5 slots, a response of 8, 5 slots, one of 8: 0.26 s, so three times that, and the floor above it."""
    for floor, wanted in ((0.2, 0.78), (1.0, 1.0)):
        link = plainly.opened(Session(rto_floor=floor, recovery=RUNS_ON), np.random.default_rng(1))
        now, _ = plainly.control(link, 0, 5, 44)
        plainly.handshaken(link.sender, now, 3.0)
        assert link.sender.rto == round(100 * wanted)


def test_section_5_7_after_a_repeated_syn_the_timeout_is_3_s_at_least():
    for first, wanted in ((1.0, 300), (5.0, 500)):
        sender = plainly.opened(Session(rto=first, rto_floor=1.0, recovery=RUNS_ON), np.random.default_rng(1)).sender
        sender.timeouts = 1
        plainly.handshaken(sender, 300, first)
        assert sender.rto == wanted
        assert sender.watch.estimator.srtt == 0  # Karn: that round trip measures nothing


def test_sections_5_1_to_5_6_in_a_window():
    """Started with the first segment; anew with each ACK of new data, with what is estimated then; doubled by fires."""
    link = plainly.opened(Session(4096, rto_floor=1.0, recovery=RUNS_ON), np.random.default_rng(1))
    s = link.sender
    plainly.handshaken(s, 26, 3.0)
    plainly.hand_over(link, 31)
    assert (s.rto, s.at) == (100, 131)  # (5.1)
    plainly.on_timeout(s)
    assert s.rto == 200  # (5.5)
    plainly.hand_over(link, 131)
    assert s.at == 331  # (5.6)
    plainly.on_ack(s, 300, 1)
    assert s.rto == 200  # the repeat is not measured, and the doubled timeout stays
    plainly.hand_over(link, 300)
    assert s.at == 500  # (5.3)
    plainly.on_ack(s, 400, 4)
    assert s.at == float("inf")  # (5.2)


def test_in_a_window_the_estimate_follows_the_queue_that_the_window_makes():
    """With a window of eight segments of 1.12 s a round trip comes to seven or eight of them."""
    watched = told(Session(50_000, rto_floor=1.0, recovery=RUNS_ON)).watch
    slots, rtts, timeouts = map(np.array, zip(*watched.log, strict=True))
    assert 7 * 1.12 - 0.01 <= rtts[-1] <= 8 * 1.12
    assert (timeouts[2:] > rtts[2:]).all()
    assert (np.diff(slots) > 0).all()


def test_an_estimated_timeout_needs_the_standard_s_timer():
    for other in ({"recovery": Recovery()}, {"recovery": RUNS_ON, "backoff": False}):
        with pytest.raises(ParameterError, match="timer_runs_on=True"):
            Session(rto_floor=1.0, **other)


def test_a_floor_beyond_every_round_trip_is_the_constant_timer():
    """As long as no timer fires: it is the timeout then, with and without estimate."""
    alike = 0
    for seed in range(5):
        channel = Channel.random(2e-6)
        one = Session(50_000, rto=30.0, recovery=RUNS_ON, channel=channel)
        other = Session(50_000, rto=30.0, rto_floor=30.0, recovery=RUNS_ON, channel=channel)
        first, second = (s.run(np.random.default_rng(seed), log=True) for s in (one, other))
        if first.timeouts == 0:
            assert first.packets.tolist() == second.packets.tolist()
            alike += 1
    assert alike >= 2
