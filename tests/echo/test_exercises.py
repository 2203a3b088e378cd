"""Right answers in other forms pass; the usual wrong ones get a hint."""

from __future__ import annotations

import numpy as np
import pytest

from voicewire.echo import exercises as ex

RIGHT = {
    ex.check_erle: 30,
    ex.check_unknowns: 512,
    ex.check_rectifier: -0.5,
    ex.check_even_tap: 1,
    ex.check_first_step: 0.5,
    ex.check_shift: 13,
    ex.check_memory: 1.024,
    ex.check_tracking: 8181,
    ex.check_floor: 6.02,
    ex.check_passes: 0.4,
}
WRONG = {
    ex.check_erle: [60, 3, "thirty"],
    ex.check_unknowns: [128, 256, 1024],
    ex.check_rectifier: [-0.7, 0.5],
    ex.check_even_tap: [2, 0],
    ex.check_first_step: [0.3, 0.25, 1],
    ex.check_shift: [8192, 12],
    ex.check_memory: [8192, 1],
    ex.check_tracking: [24544, 2727],
    ex.check_floor: [12.04, 4],
    ex.check_passes: [0.6, 2 / 15],
}


@pytest.mark.parametrize("check", RIGHT, ids=lambda check: check.__name__)
def test_right_answers_in_any_form(check):
    value = RIGHT[check]
    for form in (value, float(value), np.float64(value), [value], np.array(value), str(value)):
        assert check(form), form


@pytest.mark.parametrize("check", WRONG, ids=lambda check: check.__name__)
def test_wrong_answers_get_a_hint(check):
    for wrong in [*WRONG[check], ...]:
        feedback = check(wrong)
        assert not feedback
        assert len(feedback.message) > 10


def test_choices():
    for right in ("b", "B", "b)", " (b) "):
        assert ex.check_nonunique(right)
    for right in ("minus", "Minus"):
        assert ex.check_sign(right)
    for wrong in ("a", "c", "d", 3, ...):
        assert not ex.check_nonunique(wrong)
    for wrong in ("plus", "+", ...):
        assert not ex.check_sign(wrong)
