"""RFC 6298, section by section, and exchanges with its timer beside the constant one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.nfc.channel import Channel
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.estimator import estimated
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.reference.estimator import needless, tried_with
from voicewire.nfc.reference.exchange import Air
from voicewire.nfc.reference.timer import Estimator, backed_off, measured


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
