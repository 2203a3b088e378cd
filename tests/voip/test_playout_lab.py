"""The lab of the second voice chapter: right answers pass, usual mistakes get their sentence, nothing breaks it."""

import json
import math

import numpy as np
import pytest
from asking import check, of

from voicewire.voip import paper, reference
from voicewire_book import paths
from voicewire_book.chapters.voip.exercises import quality_and_playout as lab

CHECKS = {
    "rows": of("voip-ex-bound-lab-rows"), "costs": of("voip-ex-bound-lab-costs"),
    "joined": of("voip-ex-bound-lab-joined"), "all_costs": of("voip-ex-bound-lab-all-costs"),
    "bound": of("voip-ex-bound-lab-bound"),
}  # fmt: skip
GIVEN = {
    "math": math, "paper": paper,
    "delay_impairment": reference.delay_impairment, "loss_impairment": reference.loss_impairment,
}  # fmt: skip


@pytest.fixture(scope="module")
def solved():
    """The functions of the folded solution, as they stand in the chapter."""
    book = json.loads((paths.root() / "notebooks/voip/02_quality_and_playout.ipynb").read_text(encoding="utf-8"))
    space = dict(GIVEN)
    for cell in book["cells"]:
        source, folded = "".join(cell["source"]), "solution" in cell["metadata"].get("tags", [])
        if folded and source.startswith("# solution\ndef solved_") and "check" not in source:
            exec(source, space)
    return space


@pytest.mark.parametrize("stage", CHECKS)
def test_the_solution_passes(stage, solved):
    verdict = CHECKS[stage](solved[f"solved_{stage}"])
    assert verdict, verdict


def test_the_case_of_the_page(solved):
    assert solved["solved_joined"]([0, 1, 2, 9], [0, 3, 4]) == [0, 1, 2, 5, 6, 13]


def with_lost(delays, spurts):
    return [sorted(d for d, s in zip(delays, spurts, strict=True) if s == each) for each in sorted(set(spurts))]


def unsorted(delays, spurts):
    rows = zip(delays, spurts, strict=True)
    rows = list(rows)
    return [[d for d, s in rows if s == each and d < math.inf] for each in sorted(set(spurts))]


HINTS = [
    ("rows", lambda delays, spurts: [sorted(delays)], "talkspurts are spoken"),
    ("rows", with_lost, "never came"),
    ("rows", unsorted, "smallest delay comes first"),
    ("costs", lambda row: [0.0, *np.cumsum([reference.delay_impairment(d) for d in row])], "wait for the last"),
    ("costs", lambda row: [j * reference.delay_impairment(d) for j, d in enumerate(row, 1)], "numbers are asked"),
    ("costs", lambda row: [0.0, *map(reference.delay_impairment, row)], "j times the j-th"),
    ("all_costs", lambda delays, _: lab._costs(sorted(d for d in delays if d < math.inf)), "its own frames"),
    ("joined", lambda before, row: before + row, "numbers are asked"),
    ("joined", lambda before, row: [before[min(i, len(before) - 1)] for i in range(len(before) + len(row) - 1)], ""),
    ("all_costs", lambda delays, spurts: [0.0], "numbers are asked"),
    ("bound", lambda delays, spurts: 93.0, "at best"),
]


@pytest.mark.parametrize(("stage", "answer", "hint"), HINTS)
def test_each_usual_mistake_gets_its_sentence(stage, answer, hint):
    verdict = CHECKS[stage](answer)
    assert not verdict
    assert hint in verdict.message


def test_losses_among_those_that_came_are_not_all_losses(solved):
    def among_those_that_came(delays, spurts):
        here = [(d, s) for d, s in zip(delays, spurts, strict=True) if d < math.inf]
        return solved["solved_bound"]([d for d, _ in here], [s for _, s in here]) if here else -1e3

    assert "at best" in check("voip-ex-bound-lab-bound", among_those_that_came).message


def test_a_talkspurt_at_a_time_is_not_the_bound(solved):
    def greedy(delays, spurts):
        rows = solved["solved_rows"](delays, spurts)
        choice = [int(np.argmin([c / max(j, 1) - j for j, c in enumerate(solved["solved_costs"](r))])) for r in rows]
        played, cost = sum(choice), sum(solved["solved_costs"](r)[j] for r, j in zip(rows, choice, strict=True))
        lost = reference.loss_impairment(1 - played / len(delays), paper.CODECS["G.711"])
        return 94.2 - cost / max(played, 1) - lost

    assert not check("voip-ex-bound-lab-bound", greedy)


@pytest.mark.parametrize("stage", CHECKS)
@pytest.mark.parametrize("answer", [None, 3, "x", lambda *given: 3, lambda *given: None, lambda *given: 1 / 0])
def test_whatever_is_handed_over_gets_a_sentence(stage, answer):
    verdict = CHECKS[stage](answer)
    assert not verdict and verdict.message
