"""The lab stage by stage, on its page and beside the budget."""

from __future__ import annotations

import lab_pages as labs
import pytest
from lab_pages import Lab

from voicewire.journey import lab, stations
from voicewire.journey.budget import budget

LAB = Lab("journey/01_from_mouth_to_kettle", lab)
CHECKS = [check for _, check in LAB.stages]


def test_the_lab_has_four_to_eight_stages_and_every_check_is_asked():
    labs.page(LAB)


def test_the_chapter_s_solution_passes_stage_by_stage_and_an_empty_one_does_not():
    labs.solution(LAB)


@pytest.mark.parametrize("check", CHECKS)
def test_each_usual_mistake_gets_its_own_hint(check, monkeypatch):
    labs.hints(LAB, check, monkeypatch)


@pytest.mark.parametrize("check", CHECKS)
def test_whatever_is_handed_over_a_check_answers(check, monkeypatch):
    labs.anything(LAB, check, monkeypatch)


@pytest.mark.parametrize(("delay", "loss", "mss"), [(100, 0.02, 1024), (60, 0.1, 512), (250, 0.0, 800)])
def test_the_solution_s_way_is_the_budget_s_without_bit_errors(delay, loss, mss):
    done = budget(delay, loss, mss, 0.0)
    way = lab.drawn(LAB.solved["solved_whole_way"], done, mss=mss)
    assert way.known == pytest.approx(done.known)
    assert [leg.size for leg in way.legs] == [leg.size for leg in done.legs]
    for attribute in ("begins", "ends"):
        found, due = ([getattr(leg, attribute) for leg in one.legs] for one in (way, done))
        assert found == pytest.approx(due)


def test_a_publication_of_the_lab_is_the_station_s(monkeypatch):
    _, right, *_ = labs.heard(LAB, "check_published", monkeypatch)
    for size in (1, 100, 16_000, 24_000):
        assert right(size, stations.TOPIC) == len(stations.publication(stations.sealed(bytes(size))))
