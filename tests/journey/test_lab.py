"""The lab stage by stage, on its page and beside the budget."""

from __future__ import annotations

import lab_pages as labs
import pytest
from asking import check
from lab_pages import Lab

from voicewire_book.chapters.journey import stations
from voicewire_book.chapters.journey.budget import budget
from voicewire_book.chapters.journey.exercises import from_mouth_to_kettle

LAB = Lab("journey/01_from_mouth_to_kettle")
LABELS = [label for _, label in LAB.stages]


def test_the_lab_has_four_to_eight_stages_and_every_one_is_asked():
    labs.page(LAB)
    assert [label for label in from_mouth_to_kettle.EXERCISES if "-lab-" in label] == LABELS


def test_the_chapter_s_solution_passes_stage_by_stage_and_an_empty_one_does_not():
    labs.solution(LAB)


@pytest.mark.parametrize("label", LABELS)
def test_whatever_is_handed_over_a_check_answers(label):
    labs.anything(label)


@pytest.mark.parametrize(("delay", "loss", "mss"), [(100, 0.02, 1024), (60, 0.1, 512), (250, 0.0, 800)])
def test_the_solution_s_way_is_the_budget_s_without_bit_errors(delay, loss, mss):
    done = budget(delay, loss, mss, 0.0)
    way = from_mouth_to_kettle.drawn(LAB.solved["solved_whole_way"], done, mss=mss)
    assert way.known == pytest.approx(done.known)
    assert [leg.size for leg in way.legs] == [leg.size for leg in done.legs]
    for attribute in ("begins", "ends"):
        found, due = ([getattr(leg, attribute) for leg in one.legs] for one in (way, done))
        assert found == pytest.approx(due)


def test_a_publication_of_the_lab_is_the_station_s():
    right = labs.stage("journey-lab-budget-published").wanted
    for size in (1, 100, 16_000, 24_000):
        assert right(size, stations.TOPIC) == len(stations.publication(stations.sealed(bytes(size))))


def test_the_examples_of_the_stages_are_true():
    made = LAB.solved
    assert made["solved_framed"]([1, 1, 0, 1], [0, 1, 0], 0.1) == pytest.approx((600, 2, 0.2))
    assert made["solved_published"](320, "kitchen/kettle") == 645
    assert [made["solved_at_the_hob"](1.0, size, 0.1) for size in (14_480, 14_481)] == pytest.approx([1.1, 1.3])
    assert made["solved_slots_of"](645, 256) == [31, 31, 18]
    assert made["solved_crossed"](645, 256) == pytest.approx((1.73, 1250))
    way = made["solved_whole_way"]([1, 1], [0, 0], 0.1, "kitchen/kettle", 256)
    due = [(0.16, 400), (0.16, 622), (0.26, 645), (1.99, 1250), (2.22, 4)]
    assert [number for row in way for number in row] == pytest.approx([number for row in due for number in row])


def test_a_remaining_length_of_three_bytes_begins_at_16384():
    def one_too_late(size, topic):
        octets = LAB.solved["solved_published"](size, topic)
        return octets - 1 if octets == 16_384 + 4 else octets  # type and flags, and a length of two bytes

    assert not check("journey-lab-budget-published", one_too_late)
