"""Control messages in real slots: the fast run against slot by slot, and both against Eq. 7.4; section 7.5."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.nfc.channel import Channel
from voicewire.nfc.control_slots import PLACEMENTS, free_slots, passes, script, seconds
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.reference.control import crossed
from voicewire.nfc.session import Session
from voicewire.nfc.slot_sharing import SCOPES, ShortSession, power_share, shared
from voicewire_book.chapters.nfc.experiments import JOINT
from voicewire_book.chapters.nfc.readings import as_printed


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("taken", [0, 3, 10])
def test_so_many_slots_of_each_section_are_taken(placement, taken):
    free = free_slots(taken, 7, placement, np.random.default_rng(1)).reshape(7, 10)
    assert (free.sum(axis=1) == 10 - taken).all()


@given(st.integers(0, 9), st.sampled_from(PLACEMENTS), st.integers(0, 9), st.integers(0, 10**6))
def test_the_fast_run_is_the_one_slot_by_slot(taken, placement, begin, seed):
    free = free_slots(taken, 60, placement, np.random.default_rng(seed))
    packets = [(1, 7), (3, 0), (8, 7)]
    now = begin
    for slots, wait in packets:
        now = crossed(free.tolist(), now, slots)
        if now < 0:
            break
        now += wait
    fast = passes(packets, free, np.array([begin]))[0]
    assert fast == (now - begin if now >= 0 else -1)


@pytest.mark.parametrize("scope", SCOPES)
def test_without_control_messages_a_run_takes_what_eq_5_4_says(scope):
    session = ShortSession(scope=scope)
    assert seconds(session, 0, "first") == pytest.approx(session.seconds(848.0, 1.5))
    assert sum(a + b for a, b in script(session, 424.0, 1.5)) * 0.01 == pytest.approx(session.seconds(424.0, 1.5))


@pytest.mark.parametrize("taken", range(1, 10))
def test_a_long_packet_takes_eq_7_4_and_never_another_section(taken):
    free = free_slots(taken, 3000, "random", np.random.default_rng(taken))
    crossing = passes([(500, 0)], free, np.arange(0, 200))
    assert crossing.mean() == pytest.approx(shared(500, taken / 10), rel=0.01)
    assert (crossing[::10] <= shared(500, taken / 10, "section")).all()


def test_nothing_passes_where_every_slot_is_taken():
    assert passes([(1, 0)], free_slots(10, 1000), np.array([0])).tolist() == [-1]
    with pytest.raises(ParameterError, match="nothing gets through"):
        seconds(JOINT, 10, "first")


def test_a_run_is_nearer_to_eq_7_4_as_printed_than_to_whole_sections():
    for placement in PLACEMENTS:
        ran = seconds(JOINT, 5, placement, np.random.default_rng(3))
        assert abs(ran - JOINT.seconds(848, 1.5, 0.5)) < abs(ran - JOINT.seconds(848, 1.5, 0.5, "section"))


def test_more_messages_than_slots_and_random_without_a_generator_are_refused():
    with pytest.raises(ParameterError, match="11 control messages in 10 slots"):
        free_slots(11, 1)
    with pytest.raises(ParameterError, match="generator"):
        free_slots(1, 1, "random")


def test_the_time_left_for_power_falls_with_the_slot_and_rises_with_idle_slots():
    assert [power_share(t) for t in (0.0, 1.0, 2.5, 10.0)] == pytest.approx([1.0, 0.9, 0.75, 0.0])
    assert power_share(2.5, used=0.5) == pytest.approx(0.875)
    with pytest.raises(ParameterError, match="does not fit"):
        power_share(10.1)


def test_the_papers_rule_never_sends_fast_and_halves_the_window():
    session = Session(100_000, channel=Channel.periodic(25))
    ours, printed = session.run(), as_printed(session).run()
    assert printed.fast == 0 < ours.fast
    assert printed.timeouts == printed.data_lost
    assert as_printed(session).recovery.halves_window
    assert printed.seconds > ours.seconds
