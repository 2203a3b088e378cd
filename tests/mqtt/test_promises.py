"""A promise is kept before it is given: what was confirmed arrives, whatever happens to whom at which moment."""

from __future__ import annotations

from pathlib import Path

import pytest
from promises import ACCIDENTS, Plan, Run


@pytest.mark.parametrize("seed", range(60))
def test_what_was_confirmed_arrives_and_once(tmp_path: Path, seed: int) -> None:
    plan = Plan.draw(seed, most=20_000_000, subscribers=300)
    assert Run(plan, tmp_path).go().faults == [], plan


@pytest.mark.night
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_so_it_does_for_thousands_and_for_hundreds_of_megabytes(tmp_path: Path, seed: int) -> None:
    plan = Plan.draw(seed)
    assert Run(plan, tmp_path).go().faults == [], plan


def test_each_accident_happens_at_a_moment_that_counts(tmp_path: Path) -> None:
    """Else the tests above would try nothing."""
    happened = set()
    for seed in range(200):
        plan = Plan.draw(seed, most=1_000_000, subscribers=30)
        if plan.accident not in happened:
            (tmp_path / f"{seed}").mkdir()
            if Run(plan, tmp_path / f"{seed}").go().happened:
                happened.add(plan.accident)
    assert happened == set(ACCIDENTS)
