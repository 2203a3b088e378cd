"""What every study's `experiments.run` gives: claims of its ledger, and the numbers that stand in the book."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import pytest

from voicewire_book import paths
from voicewire_book.chapters.echo import experiments as echo
from voicewire_book.kit import claims

ROWS = {row["id"]: row for row in claims.scorecard()}


def run(study: str, quick: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = importlib.import_module(f"voicewire_book.chapters.{study}.experiments").run(quick)
    return found


def close(value: Any, stands: Any) -> bool:
    """Whether a result is the one in the book, which keeps six digits."""
    if isinstance(stands, Mapping):
        return set(value) == set(stands) and all(close(value[label], stands[label]) for label in stands)
    if isinstance(stands, list):
        return len(value) == len(stands) and all(map(close, value, stands))
    return bool(value == pytest.approx(stands, rel=1e-5, abs=1e-9))


def means(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {name: {label: values.mean() for label, values in by.items()} for name, by in found.items()}


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
    recorded = means(echo.passes(rows))
    found = run("echo", quick=True)
    for name, by_label in recorded.items():
        assert found[name] == pytest.approx(by_label, abs=1e-3)
    recorded["echo.dr-vs-retuned-lambda"] = echo.retuned(equal).mean()
    assert found["echo.dr-vs-retuned-lambda"] == pytest.approx(recorded["echo.dr-vs-retuned-lambda"], abs=1e-3)
    work = {name: found[name] for name in set(found) - set(recorded)}
    assert work.keys() == {"echo.complexity-slight-increase", "echo.complexity-below-woodbury"}
    assert all(close(value, ROWS[name]["reproduced"]) for name, value in work.items())


def test_what_was_recorded_for_echo_gives_what_stands_in_the_book():
    rows = echo.read("tracking")
    found = means(echo.passes(rows) | echo.every_pass(rows))
    stands = {name: ROWS[name]["reproduced"] for name in found}
    assert len(stands) == 5 and all(close(found[name], value) for name, value in stands.items())
    retuned = echo.retuned(echo.read("equal-work")).mean()
    assert close(retuned, ROWS["echo.dr-vs-retuned-lambda"]["reproduced"])
