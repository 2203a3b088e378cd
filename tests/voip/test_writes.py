"""How long write calls block: the fast version against the one to read, and both against a program and its buffer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.voip.blocking_writes import write_one_by_one
from voicewire.voip.calls import call
from voicewire.voip.errors import VoipError
from voicewire.voip.send_buffer import estimated_rate, write_times

STEPS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 60)), min_size=1, max_size=60)


def departures(ready, gaps):
    """When frames leave a queue that waits so long after each."""
    left, free = [], 0
    for at, gap in zip(ready, gaps, strict=True):
        left.append(max(at, free))
        free = left[-1] + gap
    return left


@given(steps=STEPS, places=st.integers(1, 8))
def test_writes_return_as_in_a_program_that_blocks(steps, places):
    spoken = np.cumsum([step for step, _ in steps]).tolist()
    gaps = [gap for _, gap in steps]
    sent = departures(spoken, gaps)
    returned = write_times(spoken, sent, places).tolist()
    assert returned == write_one_by_one(spoken, sent, places)
    # a program whose frame enters the buffer only as its write returns: the same frames leave at the same times
    assert departures(returned, gaps) == sent
    waiting = [sum(s > now for s in sent[: k + 1]) for k, now in enumerate(returned)]
    assert max(waiting) <= places


def test_a_steady_link_is_told_exactly():
    spoken = np.arange(500) * 20_000_000
    sent = departures(spoken.tolist(), [40_000_000] * 500)
    rate, counts = estimated_rate(spoken, write_times(spoken, sent), payload=20)
    assert rate == 500.0
    assert set(counts.tolist()) == {0, 40_000_000}


def test_a_real_sender_gives_the_same_by_both_ways():
    made = call("TFRC SP", "G.711", delay_ms=100, loss=1e-3, seed=3, seconds=60, buffer=256)
    returned = write_times(made.talk.times, made.flow.sent)
    assert returned.tolist() == write_one_by_one(made.talk.times.tolist(), made.flow.sent.tolist(), 5)
    assert (returned >= made.talk.times).all()


def test_without_a_wait_there_is_no_estimate():
    rate, counts = estimated_rate([0, 20, 40], write_times([0, 20, 40], [0, 20, 40]), payload=20)
    assert np.isnan(rate)
    assert not counts.any()


@pytest.mark.parametrize(
    ("spoken", "sent", "why"),
    [([0, 20], [0, -1], "never left"), ([0, 20], [20, 10], "order"), ([0, 20], [0, 10], "before they are ready")],
)
def test_impossible_departures(spoken, sent, why):
    with pytest.raises(VoipError, match=why):
        write_times(spoken, sent)
