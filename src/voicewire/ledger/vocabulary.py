"""The words of the ledger: its verdicts and their signs, the type of its outputs, its error, a row of its scorecard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Required, TypeAlias, TypedDict

__all__ = [
    "CONTRADICTED",
    "CORRECTED",
    "MIME",
    "NOT_REPRODUCED",
    "NOT_TESTABLE",
    "PARTLY",
    "REPRODUCED",
    "STALE",
    "UNJUDGED",
    "VERDICTS",
    "ClaimError",
    "Correction",
    "Plain",
    "Row",
    "Score",
    "Tolerance",
]

Plain: TypeAlias = "bool | int | float | str | Sequence[Plain] | Mapping[str, Plain] | None"
"""What JSON and YAML can hold."""

Tolerance: TypeAlias = "Mapping[str, float | Sequence[float]]"
"""One of ``relative``, ``absolute``, ``at_least``, ``at_most`` (a number) or ``between`` (two)."""

MIME = "application/vnd.voicewire.claims+json"
"""The type under which a table's verdicts stand in a notebook's output."""

REPRODUCED = "reproduced"
CORRECTED = "reproduced, corrected"
PARTLY = "partly"
NOT_REPRODUCED = "not reproduced"
CONTRADICTED = "contradicted by the paper itself"
NOT_TESTABLE = "not testable here"

VERDICTS = {
    REPRODUCED: "✓",
    CORRECTED: "✎",
    PARTLY: "◐",
    NOT_REPRODUCED: "✗",
    CONTRADICTED: "⊘",
    NOT_TESTABLE: "–",
}
"""The verdicts, best first, each with the sign that stands for it where colour can't be relied on."""

UNJUDGED = "unjudged"
STALE = "stale"
"""What the scorecard says of a claim without a verdict, and of one whose text changed since. Neither is a verdict."""


class ClaimError(ValueError):
    """A ledger, or what was handed to it, can't be judged; the message says which claim, and what to mend."""


class Correction(TypedDict, total=False):
    """A misprint, in words, and what the claim says once it is repaired."""

    misprint: Required[str]
    printed: Plain
    tolerance: Tolerance


class Row(TypedDict):
    """A verdict as plain data: what stands in a notebook's output."""

    id: str
    study: str
    where: str
    statement: str
    kind: str
    printed: Plain
    unit: str
    reproduced: Plain
    interval: list[float] | None
    tolerance: dict[str, float | Sequence[float]] | None
    tolerance_reason: str
    verdict: str
    reason: str
    digest: str


class Score(TypedDict):
    """A row of the scorecard: a verdict as plain data, the notebook that gave it and its place there."""

    id: str
    study: str
    where: str
    statement: str
    kind: str
    printed: Plain
    unit: str
    reproduced: Plain
    interval: list[float] | None
    tolerance: dict[str, float | Sequence[float]] | None
    tolerance_reason: str
    verdict: str
    reason: str
    notebook: str | None
    anchor: str
