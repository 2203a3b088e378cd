"""What a verdict comes to when something that it rests on is changed: its tolerance, its readings, its evidence.

All three judge the evidence that a notebook computed once more, by the rules by which it was judged.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from voicewire_book.ledger import rules
from voicewire_book.ledger.judging import Ledger, Verdict, read_as
from voicewire_book.ledger.loading import Claim
from voicewire_book.ledger.presentation import show
from voicewire_book.ledger.vocabulary import REPRODUCED, Reading, Tolerance

__all__ = [
    "KINDS", "Evidence", "Perturbed", "again", "beyond", "evidence_moved", "perturbed", "readings_left_out",
    "tolerance_scaled",
]  # fmt: skip

KINDS = ("tolerance", "reading", "evidence", "seed")
"""What can be changed; another seed needs the notebook executed again."""


@dataclass(frozen=True)
class Evidence:
    """What a notebook hands over to have a claim judged."""

    value: Any
    corrected: Any = None
    reason: str = ""
    rival: Any = ()


@dataclass(frozen=True)
class Perturbed:
    """What was changed, and the verdict then; `turned` says whether one that had to turn did."""

    kind: str
    what: str
    verdict: str
    turned: bool | None = None


def again(claim: Claim, evidence: Evidence) -> Verdict:
    """Judge evidence, as a reader may: as often as wanted, and without giving a reason."""
    ledger = Ledger(claim.study, {claim.id: claim}, by_reader=True)
    return ledger.judge(claim.id, evidence.value, evidence.corrected, evidence.reason, evidence.rival)


def perturbed(claim: Claim, evidence: Evidence, kinds: Sequence[str], scale: float) -> list[Perturbed]:
    """Judge with each of these changed; what can't be judged says why, and the other claims of a notebook go on."""
    ways = {
        "tolerance": lambda: tolerance_scaled(claim, evidence, scale),
        "reading": lambda: readings_left_out(claim, evidence),
        "evidence": lambda: evidence_moved(claim, evidence),
    }
    found: list[Perturbed] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of evidence that was made up
        for kind in kinds:
            try:
                found += ways[kind]()
            except (ValueError, TypeError) as error:
                found.append(Perturbed(kind, f"could not be judged: {error}", ""))
    return found


def tolerance_scaled(claim: Claim, evidence: Evidence, scale: float) -> list[Perturbed]:
    """Judge with tolerances and margins so many times as wide, and as narrow; a bar with one side has no width."""
    found = []
    for factor in (scale, 1 / scale):
        other = _wider(claim, factor)
        if other != claim:
            found.append(Perturbed("tolerance", f"{factor:.3g} times as wide", again(other, evidence).verdict))
    return found


def _wider(claim: Claim, factor: float) -> Claim:
    readings = [
        Reading(**{**one, "tolerance": _scaled(one["tolerance"], factor)}) if "tolerance" in one else one
        for one in claim.readings
    ]
    mended = claim.correction
    if mended and "tolerance" in mended:
        mended = {**mended, "tolerance": _scaled(mended["tolerance"], factor)}
    tolerance = _scaled(claim.tolerance, factor) if claim.tolerance else claim.tolerance
    return replace(claim, tolerance=tolerance, margin=claim.margin * factor, readings=readings, correction=mended)


def _scaled(tolerance: Tolerance, factor: float) -> Tolerance:
    ((name, size),) = tolerance.items()
    if name in ("relative", "absolute") and not isinstance(size, list | tuple):
        return {name: float(size) * factor} if size else tolerance  # type: ignore[arg-type]
    if isinstance(size, list | tuple):
        middle, half = (size[0] + size[1]) / 2, (size[1] - size[0]) / 2
        return {name: [middle - half * factor, middle + half * factor]} if half else tolerance
    return tolerance


def readings_left_out(claim: Claim, evidence: Evidence) -> list[Perturbed]:
    """Judge without each of the readings that decide; where there is one only, none can be left out."""
    alive = [one["name"] for one in claim.readings if "excluded" not in one]
    found = []
    for name in alive if len(alive) > 1 else []:
        other = replace(claim, readings=[one for one in claim.readings if one["name"] != name])
        left = {key: part for key, part in evidence.value.items() if key != name}
        verdict = again(other, replace(evidence, value=left)).verdict
        found.append(Perturbed("reading", f"without “{name}”", verdict))
    return found


def evidence_moved(claim: Claim, evidence: Evidence) -> list[Perturbed]:
    """Move the evidence just across the bar, under each reading: what held must no longer, what did not must.

    It is judged under that reading alone, without the rival, because other readings and a rival may decide the whole.
    """
    found = []
    readings: Sequence[Reading | None] = claim.readings or [None]
    for reading in readings:
        way = replace(read_as(claim, reading) if reading else claim, readings=(), rival=None)
        alone = replace(evidence, value=evidence.value[reading["name"]] if reading else evidence.value, rival=())
        before = again(way, alone)
        name = f"“{reading['name']}”: " if reading else ""
        for what, value in _moved(way, alone.value, before):
            verdict = again(way, replace(alone, value=value)).verdict
            turned = verdict != REPRODUCED if before.verdict == REPRODUCED else verdict == REPRODUCED
            found.append(Perturbed("evidence", f"{name}{what}, from {before.verdict}", verdict, turned))
    return found


def beyond(printed: object, value: float, tolerance: Tolerance | None) -> float:
    """The number just outside the bar, on the side where it lies nearer."""
    low, high = rules.band(printed if isinstance(printed, int | float) else None, tolerance or {})
    step = 1e-4 * max(abs(low if abs(low) < float("inf") else high), 1e-6)
    return high + step if abs(high - value) <= abs(value - low) else low - step


def _within(printed: object, tolerance: Tolerance | None) -> float:
    """A number that holds: the printed one, if it does, or one inside the bar."""
    number = printed if isinstance(printed, int | float) else None
    low, high = rules.band(number, tolerance or {})
    if number is not None and low <= number <= high:
        return float(number)
    return (low + high) / 2 if np.isfinite([low, high]).all() else low if np.isfinite(low) else high


def _moved(claim: Claim, value: Any, before: Verdict) -> Iterator[tuple[str, Any]]:
    """Yield evidence on the other side of the bar, and what was done to it."""
    held = before.verdict == REPRODUCED
    if claim.kind in ("value", "arithmetic"):
        found: Any = before.reproduced
        yield from _numbers(claim, found, held)
    elif claim.kind == "ordering":
        yield from _order(claim, value, held)
    elif claim.kind == "trend":
        yield from _trend(claim, value, held)
    else:
        yield from _identity(claim, value, held)


def _numbers(claim: Claim, found: float | Mapping[str, float], held: bool) -> Iterator[tuple[str, Any]]:
    printed = claim.printed if isinstance(claim.printed, Mapping) else dict.fromkeys(claim.labels)
    if not isinstance(found, Mapping):
        new = beyond(claim.printed, found, claim.tolerance) if held else _within(claim.printed, claim.tolerance)
        yield f"{show(found)} moved to {show(new)}", new
        return
    said = {str(label): number for label, number in printed.items()}
    if not held:
        inside = {label: _within(said[label], claim.tolerance) for label in found}
        yield f"all {len(inside)} numbers moved inside the bar", inside
        return
    for label, number in found.items():
        past = beyond(said[label], number, claim.tolerance)
        yield f"{label}: {show(number)} moved to {show(past)}", {**found, label: past}


def _order(claim: Claim, value: Mapping[str, object], held: bool) -> Iterator[tuple[str, Any]]:
    labels = [str(label) for label in claim.printed]  # type: ignore[union-attr]
    if not held:
        far = 2 * abs(claim.margin) + 1
        new = {label: np.full(2, k * far) if claim.paired else k * far for k, label in enumerate(labels)}
        yield "put into the printed order", new
        return
    by_label = {str(label): part for label, part in value.items()}
    for low, high in itertools.pairwise(labels):
        yield f"{low} and {high} exchanged", {**by_label, low: by_label[high], high: by_label[low]}


def _trend(claim: Claim, value: Sequence[ArrayLike], held: bool) -> Iterator[tuple[str, Any]]:
    x, y = np.asarray(value[0], float), np.asarray(value[1], float)
    if held and claim.printed == "constant":
        slack = rules.allowance(claim.tolerance, float(np.abs(y if y.ndim == 1 else y.mean(axis=1)).mean()))
        far = y.copy()
        far[-1] = far[0] + 3 * slack + 1e-9 * max(1.0, float(np.abs(y).max()))
        yield "the last point moved past the bar", (x, far)
    elif held:
        yield "turned round", (x, y[::-1])
    else:
        line = {"increasing": np.arange(len(x)), "decreasing": -np.arange(len(x))}.get(str(claim.printed), 0 * x)
        new = line.astype(float)
        yield f"made {claim.printed}", (x, np.stack([new, new], axis=1) if claim.paired else new)


def _identity(claim: Claim, value: Sequence[ArrayLike], held: bool) -> Iterator[tuple[str, Any]]:
    left, right = (np.asarray(side) for side in value)
    if not held:
        yield "both sides made equal", (right, right)
        return
    if not left.size:
        return
    one = left.ravel()[0]
    if left.dtype.kind in "iufc" and right.dtype.kind in "iufc":
        allowed = rules.allowance(claim.tolerance, float(np.abs(right.astype(complex)).max(initial=0)))
        other = right.ravel()[0] + allowed * (1 + 1e-4) + (1 if left.dtype.kind in "iu" else 1e-6 * (1 + abs(one)))
        new = left.astype(np.result_type(left, float)).ravel()
    else:
        other = not one if left.dtype.kind == "b" else f"{one}, changed"
        new = left.astype(object).ravel()
    new[0] = other
    words = str if left.dtype.kind == "c" else show
    yield f"{words(one)} moved to {words(other)}", (new.reshape(left.shape), right)
