"""The lab that judges orders, stage by stage, on its page and beside the ledger."""

from __future__ import annotations

import itertools

import lab_pages as labs
import pytest
from lab_pages import Lab

from voicewire_book.chapters.voip.exercises import reproduction as lab
from voicewire_book.ledger import rules, vocabulary

LAB = Lab("voip/03_reproduction")
LABELS = [label for label in lab.EXERCISES if "-lab-" in label]


def test_the_lab_has_four_to_eight_stages_and_every_check_is_asked():
    labs.page(LAB)
    assert [label for _, label in LAB.stages] == LABELS


def test_the_chapter_s_solution_passes_stage_by_stage_and_an_empty_one_does_not():
    labs.solution(LAB)


@pytest.mark.parametrize("label", LABELS)
def test_whatever_is_handed_over_a_check_answers(label):
    labs.anything(label)


def test_parts_together_are_the_ledger_s():
    """The ledger gives no such function away, so it is asked through labelled values: a number, its band, samples."""
    stage = labs.stage("voip-ex-judging-lab-together")
    values = {"yes": 5.0, "no": 50.0, "undecided": [5.0, 5.5, 6.4]}
    for (parts,) in stage.cases:
        printed = {f"part {i}": 5.0 for i, _ in enumerate(parts)}
        computed = {f"part {i}": values[part] for i, part in enumerate(parts)}
        assert rules.value(printed, computed, {"absolute": 0.6}, "").holds == stage.wanted(list(parts))


def test_words_and_chance_are_the_ledger_s():
    stage = labs.stage("voip-ex-judging-lab-judged")
    words = {stage.wanted(*case)[0] for case in stage.cases}
    assert words == {
        vocabulary.REPRODUCED, vocabulary.PARTLY, vocabulary.NOT_REPRODUCED, vocabulary.UNDECIDED,
        vocabulary.NOT_TESTABLE,
    }  # fmt: skip
    assert lab.CHANCE == vocabulary.CHANCE


def test_the_worlds_exchange_within_calls_only():
    drawn = lab.worlds(3, 4, 50, seed=1)
    assert {tuple(sorted(draw)) for world in drawn for draw in world} == {(0, 1, 2)}
    assert {tuple(draw) for world in drawn for draw in world} == set(itertools.permutations(range(3)))


def test_the_examples_of_the_stages_are_true():
    made = LAB.solved
    scores = {"A": [60, 61, 63], "B": [50, 52, 53]}
    assert made["solved_gap"]([5, 6, 7], [6, 7, 8]) == (1, 1)
    assert [made["solved_exceeds"]([5, 6, 7], [6, 7, 8], margin) for margin in (0, 1)] == ["yes", "no"]
    parts = (["yes", "no", "undecided"], ["yes", "undecided"])
    assert [made["solved_together"](each) for each in parts] == ["partly", "undecided"]
    assert made["solved_ordered"](["B", "A"], scores, 0) == "yes"
    exchanged = made["solved_exchanged"]({"a": [1, 2], "b": [5, 6]}, [[1, 0], [0, 1]])
    assert exchanged == {"a": [5, 2], "b": [1, 6]}
    assert made["solved_judged"](["B", "A"], scores, 0, [[[0, 1]] * 3]) == ("not testable here", 1.0)
