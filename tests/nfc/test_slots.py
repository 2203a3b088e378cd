"""Sections 7.4 and 7.5."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.nfc import paper
from voicewire.nfc.slot_sharing import DEFINITIONS, ROUNDINGS, SCOPES, ShortSession, latency_map, shared
from voicewire_book.chapters.nfc.experiments import control_readings, slot_readings, table_readings


def test_payload_of_a_slot():
    session = ShortSession(overhead=0)
    assert [session.payload(rate, 1.5) for rate in paper.RATES] == [39, 79, 159]


@settings(deadline=None)
@given(st.sampled_from(SCOPES), st.integers(0, 12), st.integers(1, 4000))
def test_longer_slots_and_higher_rates_never_take_longer(scope, overhead, size):
    times = latency_map(ShortSession(size=size, overhead=overhead, scope=scope), paper.RATES, np.linspace(1, 2.5, 16))
    assert (np.diff(times, axis=0) <= 1e-12).all()
    assert (np.diff(times, axis=1) <= 1e-12).all()


@settings(deadline=None)
@given(st.integers(0, 500), st.floats(0, 0.95))
def test_roundings_only_ever_add(slots, share):
    none, packet, section = (shared(slots, share, rounding) for rounding in ROUNDINGS)
    assert none <= packet + 1e-6 <= section + 2e-6
    assert section % 10 == 0
    assert packet - none < 1 + 1e-6


def test_eq_74_at_frequency_zero_is_eq_54_unless_sections_are_rounded():
    assert [shared(9, 0.0, rounding) for rounding in ROUNDINGS] == [9, 9, 10]


def test_the_fit_of_section_74():
    values = [
        100 * DEFINITIONS["best latency anywhere on the map"](ShortSession(), *place) for place in paper.EFFICIENCY
    ]
    assert values == pytest.approx([50, 77.4, 93.2, 97.6], abs=0.05)
    readings = slot_readings()
    assert readings[0].definition == "best latency anywhere on the map"
    assert readings[0].worst < 2.5
    fitting = {reading.definition for reading in readings if reading.worst <= 5}
    assert fitting == {"best latency anywhere on the map", "best latency at the same slot time"}


def test_the_three_roundings_of_section_75():
    found = control_readings()
    assert found["round trip", "none"] == pytest.approx(73.53, abs=0.01)
    assert found["round trip", "section"] < 60
    for scope, rounding in itertools.product(SCOPES, ROUNDINGS):
        assert 0 < found[scope, rounding] < 100


def test_only_a_single_buffer_with_a_response_of_seven_or_eight_slots_fits_table_and_stall():
    readings = table_readings()
    assert len(readings) == 352
    fitting = [reading for reading in readings if reading.fits()]
    assert {reading.latency for reading in fitting} == {0.07, 0.07607}
    assert all(reading.single_buffer and reading.size == 5000 for reading in fitting)
    table_only = [reading for reading in readings if reading.worst <= 0.01]
    assert len(table_only) > 2 * len(fitting)
    assert {reading.single_buffer for reading in table_only} == {True, False}
