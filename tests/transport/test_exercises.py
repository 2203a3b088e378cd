"""Every check takes right answers in other forms, and answers the usual mistakes with a hint."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from voicewire.exercises import Feedback
from voicewire.transport import exercises as ex

NUMBERS = [
    (ex.check_header_bytes, 272, [256, 160, 264, 320, 0]),
    (ex.check_publish_bytes, 217, [216, 215, 214, 200]),
    (ex.check_undercount, 45, [46, 1, 44]),
    (ex.check_half_width, 385, [20, 150, 1540]),
    (ex.check_effective_samples, 50, [75, 150, 450]),
    (ex.check_round_trips, 200, [120, 160, 60, 0.2]),
    (ex.check_secure_session, 150, [120, 90, 180, 75, 0.15]),
    (ex.check_loop_without_merging, 9600, [4800, 7200, 5000]),
    (ex.check_break_even, 2, [1, 3, 150]),
    (ex.check_icto_overhead, 462, [294, 390, 16]),
]


@pytest.mark.parametrize(("check", "right", "wrong"), NUMBERS)
def test_numbers(check: Callable[[object], Feedback], right: float, wrong: list[float]) -> None:
    for form in (right, float(right), np.int64(right), np.array([right]), [right], str(right)):
        assert check(form), form
    for answer in wrong:
        feedback = check(answer)
        assert not feedback, answer
        assert len(feedback.message) > 10
    for nothing in (..., None, "", "no idea"):
        assert not check(nothing)


def test_sequence() -> None:
    for form in ([193, 2], (193, 2), np.array([193, 2]), "193, 2"):
        assert ex.check_remaining_length(form)
    for wrong in ([2, 193], [65, 2], [321], ...):
        assert not ex.check_remaining_length(wrong)


def test_choices() -> None:
    assert ex.check_independent_channel(False)
    assert ex.check_independent_channel("no")
    assert not ex.check_independent_channel(True)
    assert ex.check_reading("loop")
    assert ex.check_reading("LOOP")
    for wrong in ("fresh", "warm", "spaced", "none", ...):
        assert not ex.check_reading(wrong)


def test_cheapest() -> None:
    assert ex.check_cheapest("MQTT QoS 0")
    assert ex.check_cheapest("mqtt qos 0")
    for wrong in ("MQTT QoS 2", "TCP, kept open", "TCP, a connection each", "carrier pigeon", ...):
        assert not ex.check_cheapest(wrong)
