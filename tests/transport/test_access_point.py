"""One access point for all machines: the model, its closed form, and the relays that share one rate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.testbed.tcp_proxy import Air
from voicewire.transport.reference import made_hops
from voicewire_book.chapters.transport import access_point


@given(st.integers(1, 40), st.integers(1, 6), st.booleans())
def test_the_closed_form_is_what_the_model_does(frames: int, hops: int, shared: bool) -> None:
    each = 0.125
    assert access_point.arrivals(frames, hops, each, shared=shared) == made_hops(frames, hops, each, shared)


def test_a_shared_medium_takes_each_hop_in_its_turn_and_lines_of_their_own_do_not() -> None:
    for frames in (1, 10, 150):
        air = [access_point.arrivals(frames, legs * 2, 1.0, shared=True)[-1] for legs in (1, 2)]
        own = [access_point.arrivals(frames, legs * 2, 1.0, shared=False)[-1] for legs in (1, 2)]
        assert air[1] / air[0] == 2
        assert own[1] / own[0] == (frames + 3) / (frames + 1)


def test_who_comes_later_waits_for_the_air_and_nobody_for_what_is_over() -> None:
    air = Air(8e6, crossings=2)
    assert [air.take(1000, 0.0), air.take(1000, 0.0), air.take(500, 1.0)] == pytest.approx([0.002, 0.004, 1.001])
    for wrong in ({"rate": 0.0}, {"rate": float("nan")}, {"rate": 1.0, "crossings": 0}):
        with pytest.raises(ValueError, match="must be"):
            Air(**wrong)


@pytest.mark.parametrize("transport", list(access_point.LEGS))
def test_no_message_arrives_before_the_air_has_carried_it(transport: str) -> None:
    messages, size, rate = 10, 5000, 8e6
    took = access_point.relayed(transport, messages, size, rate)
    assert took >= access_point.counted(transport, messages * size, rate)


def test_another_transport_is_refused() -> None:
    for ask in (access_point.counted, lambda name, *_: access_point.relayed(name, 1, 1, 1e6)):
        with pytest.raises(ValueError, match="TCP or MQTT"):
            ask("UDP", 1000, 1e6)
