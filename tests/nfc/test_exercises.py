"""Each check takes right answers in other forms, and tells the usual wrong ones what went wrong."""

import numpy as np
import pytest

from voicewire.nfc import exercises as ex

RIGHT = [
    (ex.check_slots, [56, 56.0, np.int64(56), "56", "56 slots", [56]]),
    (ex.check_by_hand, [2.98, np.float64(2.98), "2.98 s", "2,98"]),
    (ex.check_delay_stall, [0.73, "0.73", np.array([0.73])]),
    (ex.check_smallest_window, [1608, "1608 bytes", 1608.0]),
    (ex.check_goodput, [1024 / 1120, 0.914, "91.4 %", "0,914"]),
    (ex.check_packet_loss, [0.04228, "4.228 %", 1 - (1 - 1e-5) ** 4320]),
    (ex.check_burst_p, [0.2e-3 / 0.999, "0.0002002", 2.002e-4]),
    (ex.check_wait, [lambda p: p / (1 - 2 * p), lambda p: np.float64(p / (1 - 2 * p))]),
    (ex.check_wall, [1 - 0.5 ** (1 / 4320), "1.604e-4", 0.0001604]),
    (ex.check_saved, [10.4, 10.402, "10.4 %"]),
    (ex.check_identifiable, ["b", "B)", "the stall of Fig. 7.2"]),
    (ex.check_control, [[10, 20, 20], "10, 20, 20", np.array([10, 20, 20]), (10.0, 20.0, 20.0)]),
    (ex.check_best_mss, [512, "512", np.int64(512)]),
]
WRONG = [
    (ex.check_slots, [(52, "headers"), (55.8, "round up"), (55, "round up"), (40, "10 of them"), ("many", "number")]),
    (ex.check_by_hand, [(2.5, "response"), (2.68, "set-up"), (2.88, "acknowledgements")]),
    (ex.check_delay_stall, [(0.78, "crosses during"), (1.48, "once"), (0.7, "on top")]),
    (ex.check_smallest_window, [(1072, "waits once"), (536, "stop and wait"), (3, "bytes")]),
    (ex.check_goodput, [(0.957, "half duplex"), (0.9624, "framing"), (7.3, "")]),
    (ex.check_packet_loss, [(0.03922, "headers"), (0.005386, "bits"), (0.0432, "upper bound")]),
    (ex.check_burst_p, [(1e-3, "share of time"), (0.2, "burst length"), (5e-3, "burst length")]),
    (ex.check_wait, [(lambda p: p / (1 - p), ""), (3, "function"), (lambda p: None, "return")]),
    (ex.check_wall, [(0.99984, "one minus"), (0.000115741, "exactly"), (0.5, "")]),
    (ex.check_saved, [(11.6096, "whole"), (0.104, "hundred")]),
    (ex.check_identifiable, [("a", "both kinds"), ("c", "nothing overlaps"), ("d", "one segment"), ("e", "none")]),
    (ex.check_control, [([9, 11.25, 18], ""), ([10, 20], "3 items"), ([20, 20, 10], "other way round")]),
    (ex.check_best_mss, [(1460, "seven times"), (1024, "every second"), (256, "headers"), (100, "none")]),
]


@pytest.mark.parametrize(("check", "answer"), [(c, a) for c, answers in RIGHT for a in answers])
def test_right_answers_in_other_forms(check, answer):
    assert check(answer), check(answer)


@pytest.mark.parametrize(("check", "answer", "hint"), [(c, a, h) for c, pairs in WRONG for a, h in pairs])
def test_usual_wrong_answers_get_a_hint(check, answer, hint):
    feedback = check(answer)
    assert not feedback
    assert hint in feedback.message


@pytest.mark.parametrize("check", [c for c, _ in RIGHT])
def test_unanswered(check):
    assert "not answered yet" in check(...).message


def test_every_check_is_tested_both_ways():
    checks = {getattr(ex, name) for name in dir(ex) if name.startswith("check_")}
    assert checks == {c for c, _ in RIGHT} == {c for c, _ in WRONG}


def test_the_best_mss_is_best():
    times = {mss: ex.expected_bulk(mss, 1e-4) for mss in (1460, 1024, 512, 256)}
    assert min(times, key=times.__getitem__) == 512
