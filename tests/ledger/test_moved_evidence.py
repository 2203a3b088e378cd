"""Evidence that is moved just past the bar turns the verdict: asked of every stored row that has a bar and a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from voicewire_book import paths
from voicewire_book.kit import claims
from voicewire_book.ledger import judging, rechecking, rules
from voicewire_book.ledger.collecting import shown
from voicewire_book.ledger.loading import read, studies
from voicewire_book.publish.review.perturbations import beyond

ROWS = {study: {row["id"]: row for _, row in shown(paths.root(), study)} for study in studies()}


def moved(row: Mapping[str, Any], claim: Any) -> Iterator[Mapping[str, Any]]:
    """A row that came out, with each of its numbers moved just past the bar in turn."""
    value, words = row["reproduced"], row["reason"]
    if isinstance(value, Mapping):
        printed = claim.printed if isinstance(claim.printed, Mapping) else {}
        for label, number in value.items():
            if isinstance(number, int | float):
                past = beyond(printed.get(label), number, claim.tolerance)
                yield {**row, "reproduced": {**value, label: past}, "reason": f"{words} {rules.show(past)}"}
    elif isinstance(value, int | float):
        past = beyond(claim.printed, value, claim.tolerance)
        yield {**row, "reproduced": past, "interval": None, "reason": f"{words} {rules.show(past)}"}


def ways(claim: Any, row: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any], Callable[..., Any]]]:
    """Each way in which a row was judged, and how it is put back; its readings, where it has some."""
    if not claim.readings:
        yield claim, row, lambda other: other
        return
    for place, (reading, one) in enumerate(zip(claim.readings, row["readings"], strict=True)):
        alone = {**row, "verdict": one["verdict"], "reproduced": one["reproduced"], "reason": one["detail"]}

        def put(other: Mapping[str, Any], place: int = place, one: Mapping[str, Any] = one) -> Mapping[str, Any]:
            changed = {**one, "reproduced": other["reproduced"], "detail": other["reason"].partition(" [")[0]}
            return {**row, "readings": [*row["readings"][:place], changed, *row["readings"][place + 1 :]]}

        yield judging.read_as(claim, reading), alone, put


@pytest.mark.parametrize("study", studies())
def test_a_number_just_past_the_bar_turns_the_verdict(study):
    known, tried = read(study), 0
    for identifier, row in ROWS[study].items():
        claim = known[identifier]
        if claim.kind not in ("value", "arithmetic") or row["verdict"] == claims.NOT_TESTABLE:
            continue
        for way, one, put in ways(claim, row):
            for other in moved(one, way) if one["verdict"] == claims.REPRODUCED else ():
                tried += 1
                faults = rechecking.faults(claim, put(other))
                assert any("its numbers make it" in fault for fault in faults), identifier
    assert tried > 5, study
    print(f"{study}: {tried} numbers moved")
