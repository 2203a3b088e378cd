"""Every check takes right answers in other forms and answers the usual mistakes with a hint."""

from __future__ import annotations

import numpy as np
import pytest

from voicewire.pharyngeal import exercises as e
from voicewire.pharyngeal.tract import Articulation

ERRORS = np.array([[10.0, 1, 1, 1], [-6.0, 1, 1, 1], [8.0, 1, 1, 1]])
EXPLAINED = [0.6, 0.25, 0.12, 0.03]
CASES = {
    "quarter_wave": (e.check_quarter_wave, [551.6, 552, "551.6 Hz"], [1103.1, 137.9, "?"]),
    "tract_length": (e.check_tract_length, [17.75, np.float64(17.75)], [3.55, 10.65, 35.5]),
    "strongest_knob": (e.check_strongest_knob, ["body", "Body", ["body"]], ["larynx", "lips", "jaw", "nose", 3]),
    "rmse": (lambda a: e.check_rmse(a, ERRORS), [8.165, "8.165", [8.165]], [4.0, 66.67, 7.118]),
    "ceiling": (e.check_ceiling, [5190, 5000.0, "5200 Hz"], [4500, 6000]),
    "false_alarms": (e.check_false_alarms, [0.185, "18.5 %"], [0.2, 0.05, 0.815]),
    "lobanov": (e.check_lobanov, [-0.8, "-0.8"], [0.8, -200, -0.125]),
    "elevation": (e.check_elevation, [1.4737, 1.474], [4.6995, -1.4737]),
    "first_contact": (e.check_first_contact, [1.2, "1.2 cm"], [7.0, 1.9]),
    "location_range": (e.check_location_range, ["location"], ["opening", "both"]),
    "components": (lambda a: e.check_components(a, EXPLAINED), [3, 3.0, np.int64(3)], [2, 4]),
    "sd": (e.check_sd, [0.2862, "0.286 cm"], [0.654, 0.20235]),
    "missing_token": (e.check_missing_token, [3.444, "3.444"], [3.6123, 3.6404]),
    "percent": (e.check_percent, [82.1, "82.1 %"], [45.08, 0.821]),
    "without_leverage": (e.check_without_leverage, [-0.37, -0.3699], [0.784, 0.37]),
    "needed_rise": (e.check_needed_rise, ["rises", "Rises."], ["falls", 1]),
    "same_vowel": (e.check_same_vowel, [], [
        3, (Articulation(), Articulation()), (Articulation(root=0.6), Articulation()), ("a", "b"),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_checks(name):
    check, right, wrong = CASES[name]
    for answer in right:
        assert check(answer), (answer, check(answer))
    for answer in wrong:
        feedback = check(answer)
        assert not feedback and len(feedback.message) > 5, answer
    assert not check(...)


def test_two_tongues_with_one_vowel_are_accepted():
    from voicewire.pharyngeal import inversion, tract

    one = Articulation(body=0.2, jaw=0.3)
    goal = tract.formants(one).frequencies[:2]
    other = inversion.invert(goal, Articulation(body=-0.2, root=0.4, jaw=0.3), ("dorsum", "jaw", "lips"), effort=0.001)
    assert e.check_same_vowel([one, other.articulation])


def test_every_check_is_tried():
    assert {f"check_{name}" for name in CASES} == {name for name in dir(e) if name.startswith("check_")}
