"""The words of the ledger: its verdicts and their signs, the type of its outputs, its error, a row of its scorecard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, Required, TypeAlias, TypedDict

__all__ = [
    "BY_READING",
    "CHANCE",
    "CLASSES",
    "CONTRADICTED",
    "CORRECTED",
    "HANGS",
    "MIME",
    "NOT_REPRODUCED",
    "NOT_TESTABLE",
    "PARTLY",
    "REGISTERED",
    "REPRODUCED",
    "STALE",
    "UNDECIDED",
    "UNJUDGED",
    "VERDICTS",
    "ClaimError",
    "Correction",
    "Judged",
    "Plain",
    "Reading",
    "Rival",
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
HANGS = "hangs on what the paper does not say"
UNDECIDED = "undecided"

VERDICTS = {
    REPRODUCED: "✓",
    CORRECTED: "✎",
    PARTLY: "◐",
    NOT_REPRODUCED: "✗",
    CONTRADICTED: "⊘",
    NOT_TESTABLE: "–",
    HANGS: "⇄",
    UNDECIDED: "≈",
}
"""The verdicts, each with the sign that stands for it where colour can't be relied on.

A verdict's position names its colour in stored outputs, so new ones come last.
"""

BY_READING = "§"
"""The sign beside a verdict that was read off two places of a text, not computed."""

UNJUDGED = "unjudged"
STALE = "stale"
REGISTERED = "registered"
"""What the scorecard says of a claim without a verdict, of one whose text changed since it was judged, and of one that
was committed before anything was computed for it. None is a verdict; the last is no fault."""

CLASSES = {
    "result": "what was measured or computed",
    "cause": "why it is so",
    "conclusion": "what is concluded",
    "method": "how it was done",
    "definition": "what a term, a formula or a size is",
    "cited": "taken from elsewhere",
}
"""The kinds of statement, as ``data/CODING.md`` tells them apart."""

CHANCE = 0.05
"""The largest share of a rival mechanism's runs that may pass a test which is to count as *reproduced*."""


class ClaimError(ValueError):
    """A ledger, or what was handed to it, can't be judged; the message says which claim, and what to mend."""


class Correction(TypedDict, total=False):
    """A misprint, in words, and what the claim says once it is repaired.

    Attributes
    ----------
    misprint : str
        In words.
    printed, tolerance
        What the claim says once it is repaired.
    """

    misprint: Required[str]
    printed: Plain
    tolerance: Tolerance


class Rival(TypedDict, total=False):
    """A mechanism in which the effect is absent, and how often it passed; or why a count needs only its margin.

    Attributes
    ----------
    mechanism : str
        In which the effect is absent.
    passes : float
        Share of its runs that passed.
    runs : int
        How many there were.
    none : str
        Why there is no rival.
    """

    mechanism: str
    passes: float
    runs: int
    none: str


class Reading(TypedDict, total=False):
    """One way to read what the paper leaves open, where it comes from, and what rules it out, if anything does.

    A reading of a word ("sufficient") may have a tolerance of its own.

    Attributes
    ----------
    name, source : str
        Of the reading, and where it comes from.
    excluded : str
        What rules it out.
    tolerance
        Its own, if it has one.
    """

    name: Required[str]
    source: Required[str]
    excluded: str
    tolerance: Tolerance


class Judged(TypedDict):
    """A claim under one reading.

    Attributes
    ----------
    name, source, excluded : str
        As in `Reading`.
    verdict, detail : str
        What came out under it, and why.
    reproduced
        The value.
    may_be : list of str
        The verdicts that it may still come to; there only where it is undecided.
    """

    name: str
    source: str
    excluded: str
    verdict: str
    reproduced: Plain
    detail: str
    may_be: NotRequired[list[str]]


class Row(TypedDict):
    """A verdict as plain data: what stands in a notebook's output. The last six stand there only if there is cause.

    Attributes
    ----------
    id, study, where, statement, kind, printed, unit, tolerance, tolerance_reason
        As in the ledger.
    reproduced, interval, verdict, reason
        What came out.
    digest : str
        Of the claim as it was judged.
    whose, basis, places, rival, readings, runs
        As in the ledger, where there is cause.
    """

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
    whose: NotRequired[str]
    basis: NotRequired[str]
    places: NotRequired[list[str]]
    rival: NotRequired[Rival]
    readings: NotRequired[list[Judged]]
    runs: NotRequired[int]


_Class = TypedDict("_Class", {"class": str})
"""The one field of a score whose name is a word of Python."""


class Score(_Class):
    """A row of the scorecard: a verdict as plain data, what the ledger says of the claim, its place in a notebook.

    Attributes
    ----------
    id, study, where, statement, kind, printed, unit, tolerance, tolerance_reason
        As in the ledger.
    reproduced, interval, verdict, reason
        What came out.
    notebook, anchor : str
        Where it stands; the notebook is None where nothing was judged.
    whose, class, implements, chosen, basis, places, cause, reach, rival, owes_rival, readings, statistic, waits, runs
        As in the ledger.
    """

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
    whose: str
    implements: str
    chosen: str
    basis: str
    places: list[str]
    cause: str
    reach: str
    rival: Rival | None
    owes_rival: bool
    readings: list[Judged]
    statistic: str
    waits: str
    runs: int
