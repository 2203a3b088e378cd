"""The lab of the first voice chapter: right answers pass, usual mistakes get their sentence, nothing breaks it."""

import itertools
import json
import operator

import pytest
from asking import check, of

from voicewire.netsim.reference import mean_interval
from voicewire.netsim.reference.equation import WEIGHTS
from voicewire_book import paths


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
    "missing": of("voip-ex-lab-missing"), "when": of("voip-ex-lab-when"), "intervals": of("voip-ex-lab-intervals"),
    "rate": of("voip-ex-lab-rate"), "receiver": of("voip-ex-lab-receiver"),
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


def counted(losses, rtt, first, same=operator.le, more=0, most=8):
    """The intervals of stage 3, with a usual mistake."""
    closed, began, since = [], None, None
    for number, when in losses:
        if began is None or not same(when, since + rtt):
            closed.insert(0, first if began is None else number - began + more)
            began, since = number, when
    return closed[:most], began


def weighed(intervals):
    """One over the weighted mean, whether the first interval is long or short."""
    pairs = list(zip(WEIGHTS, intervals, strict=False))
    return sum(weight for weight, _ in pairs) / sum(weight * interval for weight, interval in pairs)


HINTS = [
    ("missing", holes, "overtaken"),
    ("missing", known_after(2), "neither two nor four"),
    ("missing", known_after(4), "neither two nor four"),
    ("missing", lambda numbers: [], "are lost"),
    ("when", lambda arrivals: [], "dict"),
    ("when", lambda arrivals: {}, "are lost here"),
    ("missing", lambda numbers: [k for k in holes(numbers) if k < numbers[-1] - 2], "three later *packets*"),
    ("intervals", chained, "*first* loss"),
    ("intervals", lambda *given: counted(*given, same=lambda when, last: when < last), "just a round trip"),
    ("intervals", lambda *given: counted(*given, more=1), "isn't counted"),
    ("intervals", lambda *given: counted(*given, more=-1), "is counted"),
    ("intervals", lambda *given: counted(*given, most=99), "at most eight"),
    ("rate", lambda newest, closed: weighed([newest, *closed]) if closed else 0.0, "the larger counts"),
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

    verdict = check("voip-ex-lab-when", middles)
    assert not verdict and "evenly spread" in verdict.message


@pytest.mark.parametrize(("way", "hint"), [("before", "before the hole came"), ("short", "n + 1 steps")])
def test_a_hole_divided_wrongly_is_told_how(way, hint, solved):
    def spread(arrivals):
        lost, found = solved["solved_when"](arrivals), {}
        for (a, before), (b, after) in itertools.pairwise(arrivals):
            for k in range(a + 1, b):
                part = (after - before) * (k - a) // (b - a - 1) if way == "short" else 0
                found |= {k: before + part} if k in lost else {}
        return found

    assert hint in check("voip-ex-lab-when", spread).message


def test_an_open_interval_without_its_first_packet_is_told_so(solved):
    def rates(arrivals, rtt, first):
        found = []
        for n, (number, _) in enumerate(arrivals, 1):
            losses = sorted(solved["solved_when"](arrivals[:n]).items())
            closed, began = solved["solved_intervals"](losses, rtt, first)
            found.append(solved["solved_rate"](number - began, closed) if closed else 0.0)
        return found

    assert "one more" in check("voip-ex-lab-receiver", rates).message


def test_the_examples_of_the_stages_are_true(solved):
    assert solved["solved_missing"]([0, 1, 3, 5, 6]) == [2]
    assert solved["solved_when"]([(7, 140), (10, 200), (11, 220), (12, 240)]) == {8: 160, 9: 180}
    losses = [(n, n * 20_000_000) for n in (50, 52, 90)]
    assert solved["solved_intervals"](losses, 100_000_000, 29.0) == ([40, 29.0], 90)
    assert solved["solved_rate"](20, [100.0] * 8) == pytest.approx(0.01)
    assert solved["solved_rate"](400, [100.0] * 8) == pytest.approx(1 / 150)


def test_two_things_may_come_as_a_list(solved):
    assert check("voip-ex-lab-intervals", lambda *given: list(solved["solved_intervals"](*given)))


def test_intervals_the_oldest_first_are_told_so(solved):
    def turned(losses, rtt, first):
        closed, began = solved["solved_intervals"](losses, rtt, first)
        return closed[::-1], began

    assert "newest interval comes first" in check("voip-ex-lab-intervals", turned).message


def test_a_receiver_that_counts_losses_and_not_events_is_found(solved):
    def receiver(arrivals, rtt, first):
        return solved["solved_receiver"](arrivals, 0, first)

    assert not check("voip-ex-lab-receiver", receiver)


@pytest.mark.parametrize("stage", CHECKS)
@pytest.mark.parametrize("answer", [None, 3, "x", lambda *given: 3, lambda *given: None, lambda *given: 1 / 0])
def test_whatever_is_handed_over_gets_a_sentence(stage, answer):
    verdict = CHECKS[stage](answer)
    assert not verdict and verdict.message
