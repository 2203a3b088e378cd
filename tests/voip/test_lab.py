"""The lab of the first voice chapter: right answers pass, usual mistakes get their sentence, nothing breaks it."""

import json

import pytest

from voicewire import paths
from voicewire.netsim.reference import mean_interval
from voicewire.voip import lab


@pytest.fixture(scope="module")
def solved():
    """The functions of the folded solution, as they stand in the chapter."""
    book = json.loads((paths.root() / "notebooks/voip/01_rate_control.ipynb").read_text(encoding="utf-8"))
    space = {"mean_interval": mean_interval}
    for cell in book["cells"]:
        source, folded = "".join(cell["source"]), "solution" in cell["metadata"].get("tags", [])
        if folded and source.startswith("# solution\ndef solved_") and "check" not in source:
            exec(source, space)
    return space


CHECKS = {
    "missing": lab.check_missing, "when": lab.check_when, "intervals": lab.check_intervals,
    "rate": lab.check_rate, "receiver": lab.check_receiver,
}  # fmt: skip


@pytest.mark.parametrize("stage", CHECKS)
def test_the_solution_passes(stage, solved):
    verdict = CHECKS[stage](solved[f"solved_{stage}"])
    assert verdict, verdict


def holes(numbers):
    return [k for k in range(numbers[0], numbers[-1]) if k not in numbers]


def known_after(later):
    return lambda numbers: [k for k in holes(numbers) if sum(n > k for n in numbers) >= later]


def chained(losses, rtt, first):
    """The round trip counted from the loss before, not from the first of the event."""
    closed, began, last = [], None, None
    for number, when in losses:
        if last is None or when > last + rtt:
            closed.insert(0, first if began is None else number - began)
            began = number
        last = when
    return closed[:8], began


HINTS = [
    ("missing", holes, "overtaken"),
    ("missing", known_after(2), "neither two nor four"),
    ("missing", known_after(4), "neither two nor four"),
    ("missing", lambda numbers: [], "are lost"),
    ("when", lambda arrivals: [], "dict"),
    ("when", lambda arrivals: {}, "are lost here"),
    ("intervals", chained, "intervals are asked"),
    ("intervals", lambda losses, rtt, first: [], "two things"),
    ("rate", lambda newest, closed: len(closed) / sum(closed) if closed else 0.0, "plain mean"),
    ("receiver", lambda arrivals, rtt, first: [0.0], "one rate for each packet"),
    ("receiver", lambda arrivals, rtt, first: [0.0] * len(arrivals), ""),
]


@pytest.mark.parametrize(("stage", "answer", "hint"), HINTS)
def test_each_usual_mistake_gets_its_sentence(stage, answer, hint):
    verdict = CHECKS[stage](answer)
    assert not verdict
    assert hint in verdict.message


def test_middle_of_the_hole_is_not_evenly_spread(solved):
    def middles(arrivals):
        return {k: t + 1_000 for k, t in solved["solved_when"](arrivals).items()}

    verdict = lab.check_when(middles)
    assert not verdict and "evenly spread" in verdict.message


def test_intervals_the_oldest_first_are_told_so(solved):
    def turned(losses, rtt, first):
        closed, began = solved["solved_intervals"](losses, rtt, first)
        return closed[::-1], began

    assert "newest interval comes first" in lab.check_intervals(turned).message


def test_a_receiver_that_counts_losses_and_not_events_is_found(solved):
    def receiver(arrivals, rtt, first):
        return solved["solved_receiver"](arrivals, 0, first)

    assert not lab.check_receiver(receiver)


@pytest.mark.parametrize("stage", CHECKS)
@pytest.mark.parametrize("answer", [None, 3, "x", lambda *given: 3, lambda *given: None, lambda *given: 1 / 0])
def test_whatever_is_handed_over_gets_a_sentence(stage, answer):
    verdict = CHECKS[stage](answer)
    assert not verdict and verdict.message
