"""What every study's `experiments.run` gives: claims of its ledger, and the numbers that stand in the book."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import pytest

from voicewire import claims, paths
from voicewire.echo import experiments as echo

ROWS = {row["id"]: row for row in claims.scorecard()}


def run(study: str, quick: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = importlib.import_module(f"voicewire.{study}.experiments").run(quick)
    return found


def close(value: Any, stands: Any) -> bool:
    """Whether a result is the one in the book, which keeps six digits."""
    if isinstance(stands, Mapping):
        return set(value) == set(stands) and all(close(value[label], stands[label]) for label in stands)
    if isinstance(stands, list):
        return len(value) == len(stands) and all(map(close, value, stands))
    return bool(value == pytest.approx(stands, rel=1e-5, abs=1e-9))


@pytest.mark.parametrize("study", [name for name in paths.STUDIES if name != "echo"])
def test_a_run_gives_what_stands_in_the_book(study):
    found = run(study)
    assert len(found) >= 1
    apart = {name: (value, ROWS[name]["reproduced"]) for name, value in found.items()}
    assert {name: both for name, both in apart.items() if not close(*both)} == {}
    print(f"{study}: {len(found)} of {sum(row['study'] == study for row in ROWS.values())} claims")


@pytest.mark.parametrize("study", [name for name in paths.STUDIES if name != "echo"])
def test_a_quick_run_has_the_same_claims(study):
    assert set(run(study, quick=True)) == set(run(study))


def test_a_quick_run_of_echo_is_what_was_recorded_for_its_seeds():
    """The whole run takes a minute; what it runs with each seed was recorded, to three decimals."""
    rows, equal = ([row for row in echo.read(name) if row["seed"] < 2] for name in ("tracking", "equal-work"))
    recorded = {name: values.mean() for name, values in echo.passes(rows).items()}
    recorded["echo.dr-vs-retuned-lambda"] = echo.retuned(equal).mean()
    found = run("echo", quick=True)
    assert set(found["echo.cap-at-3"]) == set(ROWS["echo.cap-at-3"]["reproduced"])
    found["echo.cap-at-3"] = found["echo.cap-at-3"]["there is a floor"]
    assert {name: found[name] for name in recorded} == pytest.approx(recorded, abs=1e-3)
    work = {name: found[name] for name in set(found) - set(recorded)}
    assert work.keys() == {"echo.complexity-slight-increase", "echo.complexity-below-woodbury"}
    assert all(close(value, ROWS[name]["reproduced"]) for name, value in work.items())


def test_what_was_recorded_for_echo_gives_what_stands_in_the_book():
    found = {name: values.mean() for name, values in echo.passes(echo.read("tracking")).items()}
    found["echo.dr-vs-retuned-lambda"] = echo.retuned(echo.read("equal-work")).mean()
    stands = {name: ROWS[name]["reproduced"] for name in found}
    stands["echo.cap-at-3"] = stands["echo.cap-at-3"]["there is a floor"]
    assert found == pytest.approx(stands, rel=1e-5)
