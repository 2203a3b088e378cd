"""Right answers in every form are accepted, the usual wrong ones rejected with a hint."""

import numpy as np
import pytest

from voicewire.voip import exercises

RIGHT = {
    "check_mean_interval": 100.0,
    "check_first_x_recv": 20 / 1.5,
    "check_packets_after_idle": 3,
    "check_restart_window": 0.5475,
    "check_udp_r": 94.2 - 10 - 4.8 - 0.11 * 22.7,
    "check_mos": 4.024,
    "check_delay_budget": 175.0,
    "check_fair_share": 3.2**2 / (4 * 3.04),
}
WRONG = {
    "check_mean_interval": [600, 86.67, 1320],
    "check_first_x_recv": [200, 12.5],
    "check_packets_after_idle": [5, 2.32],
    "check_restart_window": [0.365, 4.38],
    "check_udp_r": [79.4, 89.4],
    "check_mos": [4.03],
    "check_delay_budget": [150],
    "check_fair_share": [0.8],
}


@pytest.mark.parametrize("name", RIGHT)
def test_numbers(name):
    check, value = getattr(exercises, name), RIGHT[name]
    for form in (value, np.float64(value), [value], np.array(value), str(value)):
        assert check(form), (name, form)
    for wrong in WRONG[name]:
        verdict = check(wrong)
        assert not verdict
        assert verdict.message
    assert not check(...)


@pytest.mark.parametrize(
    "name, right, wrong", [("check_playout_choice", "b", ["a", "c", "x"]), ("check_why_paired", True, [False, "no"])]
)
def test_choices(name, right, wrong):
    check = getattr(exercises, name)
    assert check(right)
    assert not any(check(w) for w in wrong)
    assert not check(...)
