"""The headline answers: a paper's conclusions, each as strong as the weakest row that it needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from voicewire_book import paths
from voicewire_book.ledger.loading import content_of, read
from voicewire_book.ledger.vocabulary import (
    CONTRADICTED,
    CORRECTED,
    HANGS,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
    ClaimError,
)

__all__ = ["IMPLEMENTS", "Headline", "answers"]

ANSWERS = {
    REPRODUCED: "Every row that it needs came out as printed",
    CORRECTED: "It came out once a slip is corrected",
    PARTLY: "A part of it came out",
    HANGS: "It depends on what the paper does not say",
    UNDECIDED: "Our runs leave it open",
    NOT_TESTABLE: "A row that it needs can't be tested here",
    NOT_REPRODUCED: "A row that it needs did not come out",
    CONTRADICTED: "The paper contradicts a row that it needs",
}
"""The answers in words, from the strongest to the weakest."""

IMPLEMENTS = "It is built into what we made, so nothing here could have contradicted it"
"""The answer where no necessary row could have failed."""


class Headline(NamedTuple):
    """One conclusion of a paper: what it says, where, the answer, what decides it, and what no row covers."""

    says: str
    where: str
    answer: str
    verdict: str
    decided_by: list[str]
    rests_on: list[str]
    lacks: str


def answers(study: str, rows: Iterable[Mapping[str, Any]], base: Path | None = None) -> list[Headline]:
    """Return a study's conclusions with their answers, from the rows of its scorecard."""
    base = base or paths.root()
    name = f"data/{study}/claims.yml"
    listed = content_of(base / name, name).get("headlines", [])
    known, given = read(study, base), {row["id"]: row for row in rows}
    for each in listed:
        for identifier in each["rests_on"]:
            if identifier not in known:
                raise ClaimError(f"{name}: a headline rests on {identifier}, which is no claim of this ledger")
    return [_answer(each, [given[identifier] for identifier in each["rests_on"]]) for each in listed]


def _answer(listed: Mapping[str, Any], needed: list[Mapping[str, Any]]) -> Headline:
    able = [row for row in needed if not row["implements"]]
    lacks = listed.get("lacks", "")
    if not able:
        verdict, words, deciding = "", IMPLEMENTS, needed
    elif waiting := [row for row in able if row["verdict"] not in ANSWERS]:
        verdict, words, deciding = "", "A row that it needs is not judged yet", waiting
    else:
        order = list(ANSWERS)
        verdict = max((row["verdict"] for row in able), key=order.index)
        deciding = [row for row in able if row["verdict"] == verdict]
        words = ANSWERS[verdict]
        if lacks and order.index(verdict) < order.index(PARTLY):
            verdict, words = PARTLY, "What was tested of it came out"
    return Headline(
        listed["says"],
        listed["where"],
        words,
        verdict,
        [row["id"] for row in deciding],
        list(listed["rests_on"]),
        lacks,
    )
