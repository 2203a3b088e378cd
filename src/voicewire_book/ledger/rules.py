"""How a claim is decided: one function for each kind of claim, none of which knows what was hoped for.

Each takes what the paper prints and what was computed, and returns a `Finding`: whether the claim holds, the
computed result as plain data, and one sentence that puts the two side by side. `voicewire_book.ledger.judging` turns
findings into verdicts. The scorecard page of the book explains the verdicts to its readers.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from voicewire.stats import Interval, t_interval
from voicewire_book.ledger.presentation import MANY, show
from voicewire_book.ledger.vocabulary import ClaimError, Plain, Tolerance

__all__ = ["Finding", "Holds", "allowance", "band", "difference", "identity", "ordering", "outcomes", "trend", "value"]

Holds = Literal["yes", "partly", "no", "undecided"]

Apart = Callable[..., tuple[float, float, float]]
"""`difference`, or the same of samples that belong together."""
EITHER: frozenset[Holds] = frozenset({"yes", "no"})
"""What a single comparison that is undecided may turn out to be."""


@dataclass(frozen=True)
class Finding:
    """What came out for one claim, before it is named a verdict."""

    holds: Holds
    reproduced: Plain
    detail: str
    interval: tuple[float, float] | None = None
    may_be: frozenset[Holds] = frozenset()


def band(printed: float | None, tolerance: Tolerance) -> tuple[float, float]:
    """Return the lowest and highest value at which a claim still holds."""
    ((name, size),) = tolerance.items()
    if isinstance(size, Sequence):
        return float(size[0]), float(size[1])
    if name == "at_least":
        return float(size), np.inf
    if name == "at_most":
        return -np.inf, float(size)
    if printed is None:
        raise ClaimError(f"a tolerance of kind {name!r} needs a printed number")
    half = float(size) * abs(printed) if name == "relative" else float(size)
    # 1e-12: the decimal that was printed and its binary neighbour are the same number to a reader
    slack = 1e-12 * max(1.0, abs(printed))
    return printed - half - slack, printed + half + slack


def _estimate(value: object) -> float | Interval:
    if isinstance(value, Interval):
        return value  # finite, and its ends in order: it can't be made otherwise
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ClaimError(f"a number, an interval or samples are needed, not {value!r}")
    if not np.isfinite(array).all():
        raise ClaimError("the computed value holds NaN or infinity")
    if array.ndim == 0:
        return float(array)
    if array.ndim == 1 and array.size >= 2:
        return t_interval(array)
    raise ClaimError(f"a number or a 1-D array of at least two samples is needed, not shape {array.shape}")


def _one_value(printed: float | None, value: object, tolerance: Tolerance, unit: str) -> Finding:
    low, high = band(printed, tolerance)
    result = _estimate(value)
    if isinstance(result, Interval):
        inside = low <= result.low and result.high <= high
        open_ = not inside and result.high >= low and result.low <= high
        number, interval = result.estimate, (result.low, result.high)
        spread = f" [{show(result.low)}, {show(result.high)}]"
    else:
        inside, open_, number, interval, spread = low <= result <= high, False, result, None, ""
    detail = f"{show(number, unit)}{spread}"
    if printed is not None:
        detail += f" against {show(printed, unit)}"
        if printed:
            percent = f"{100 * (number - printed) / abs(printed):+.2f}".replace("-", "\N{MINUS SIGN}")
            detail += f" ({percent} %)"
    if open_:
        detail += f", astride the edge of {show(low)} to {show(high)}"
    if open_:
        return Finding("undecided", number, detail, interval, EITHER)
    return Finding("yes" if inside else "no", number, detail, interval)


def outcomes(parts: Sequence[Holds]) -> frozenset[Holds]:
    """Say what may hold of a claim with several parts, however those that are undecided turn out."""
    settled: set[Holds] = set(parts) - {"undecided"}
    open_ = min(parts.count("undecided"), 2)  # two show all there is: both hold, both fail, or one of each
    ends = [settled.union(turned) for turned in itertools.product(EITHER, repeat=open_)]
    return frozenset("partly" if len(end) == 2 else "yes" if "yes" in end else "no" for end in ends)


def _together(parts: Sequence[Holds]) -> tuple[Holds, frozenset[Holds]]:
    """Return what holds of a claim with several parts, and what it may turn out to be where that is undecided."""
    ends = outcomes(parts)
    return ("undecided", ends) if len(ends) > 1 else (next(iter(ends)), frozenset())


def _farthest(printed: Mapping[str, Plain], parts: Mapping[str, Finding]) -> str:
    """Say where a long list is farthest from the print, if it prints numbers."""
    gaps = {}
    for label, said in printed.items():
        found = parts[str(label)].reproduced
        if isinstance(said, int | float) and isinstance(found, int | float):
            gaps[str(label)] = abs(found - said)
    if not gaps:
        return ""
    label = max(gaps, key=lambda key: gaps[key])
    return f"; the farthest is {label}: {parts[label].detail}"


def _said(printed: Plain) -> float | None:
    """Return the printed number, or None where words are printed or nothing is."""
    return printed if isinstance(printed, int | float) else None


def value(printed: Plain, computed: object, tolerance: Tolerance, unit: str = "") -> Finding:
    """Judge a number, or several with a label each, against what is printed."""
    if not isinstance(printed, Mapping):
        if isinstance(computed, Mapping):
            raise ClaimError("the claim prints one number, but several were computed")
        return _one_value(_said(printed), computed, tolerance, unit)
    by_label = _labelled(computed, [str(label) for label in printed])
    parts = {str(k): _one_value(_said(v), by_label[str(k)], tolerance, unit) for k, v in printed.items()}
    held = [label for label, part in parts.items() if part.holds == "yes"]
    holds, may_be = _together([part.holds for part in parts.values()])
    if len(parts) > MANY:
        detail = f"{len(held)} of {len(parts)} hold{_farthest(printed, parts)}"
    else:
        detail = "; ".join(f"{label}: {part.detail}" for label, part in parts.items())
        if holds == "partly":
            detail = f"holds for {', '.join(held)}. {detail}"
    return Finding(holds, {label: part.reproduced for label, part in parts.items()}, detail, may_be=may_be)


def _labelled(computed: object, labels: Sequence[str]) -> dict[str, object]:
    """Return what was computed by its label, which must be exactly the printed ones."""
    if isinstance(computed, Mapping):
        by_label = {str(label): item for label, item in computed.items()}
        if set(by_label) == set(labels):
            return by_label
    raise ClaimError(f"values are needed for exactly these labels: {', '.join(labels)}")


def _means(values: object) -> tuple[float, NDArray[np.float64] | None]:
    array: NDArray[np.float64] = np.asarray(values, dtype=float)
    if not np.isfinite(array).all():
        raise ClaimError("the computed value holds NaN or infinity")
    if array.ndim == 0:
        return float(array), None
    if array.ndim == 1 and array.size >= 2:
        return float(array.mean()), array
    raise ClaimError(f"a number or a 1-D array of at least two samples is needed, not shape {array.shape}")


def difference(low: object, high: object, confidence: float = 0.95) -> tuple[float, float, float]:
    """Return `high` minus `low` with the ends of its interval (Welch's, where samples are given)."""
    mean_low, samples_low = _means(low)
    mean_high, samples_high = _means(high)
    gap = mean_high - mean_low
    spread = [side for side in (samples_low, samples_high) if side is not None and np.ptp(side) > 0]
    if not spread:
        return gap, gap, gap
    if samples_low is None or samples_high is None:  # against a number only the samples have an error
        half = t_interval(spread[0], confidence).high - float(spread[0].mean())
        return gap, gap - half, gap + half
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no spread on one side is no fault
        interval = scipy_stats.ttest_ind(samples_high, samples_low, equal_var=False).confidence_interval(confidence)
    return gap, float(interval.low), float(interval.high)


def ordering(printed: Plain, computed: object, margin: float = 0.0, unit: str = "", paired: bool = False) -> Finding:
    """Judge a claimed order, smallest first: each neighbour must exceed the one before by more than `margin`.

    Where samples are given, the 95 % interval of the difference must lie wholly above the margin; only where it lies
    wholly at or below does the order fail.
    """
    labels = [str(label) for label in printed] if isinstance(printed, Sequence) else []
    by_label = _labelled(computed, labels)
    pairs = list(itertools.pairwise(labels))
    parts = [_exceeds(by_label[a], by_label[b], margin, paired) for a, b in pairs]
    means = {label: _means(by_label[label])[0] for label in labels}
    found = " < ".join(f"{label} ({show(means[label], unit)})" for label in sorted(labels, key=means.__getitem__))
    detail = f"found {found}"
    for words, kind in (("not shown", "no"), ("undecided", "undecided")):
        named = [f"{a} < {b}" for (a, b), part in zip(pairs, parts, strict=True) if part == kind]
        detail += f"; {words}: {', '.join(named)}" if named else ""
    holds, may_be = _together(parts)
    return Finding(holds, means, detail, may_be=may_be)


def _gaps(low: object, high: object) -> NDArray[np.float64]:
    """Return the differences of samples that belong together."""
    samples_low, samples_high = _means(low)[1], _means(high)[1]
    if samples_low is None or samples_high is None or samples_low.shape != samples_high.shape:
        raise ClaimError("paired samples are needed: equally many for each label")
    return samples_high - samples_low


def _paired_difference(low: object, high: object, level: float = 0.95) -> tuple[float, float, float]:
    """Return `difference` for samples that belong together."""
    return difference(0.0, _gaps(low, high), level)


def _exceeds(low: object, high: object, margin: float, paired: bool) -> Holds:
    """Say whether one result exceeds another by more than the margin; open where an interval straddles it."""
    _, least, most = (_paired_difference if paired else difference)(low, high)
    return "yes" if least > margin else "no" if most <= margin else "undecided"


def _pair(computed: object, names: str) -> tuple[object, object]:
    if not isinstance(computed, tuple | list) or len(computed) != 2:
        raise ClaimError(f"a pair is needed: {names}")
    return computed[0], computed[1]


def allowance(tolerance: Tolerance | None, scale: float) -> float:
    """Return how far apart two results may lie: a share of `scale`, or a number; zero without a tolerance."""
    ((name, size),) = (tolerance or {"absolute": 0.0}).items()
    if name not in ("relative", "absolute") or isinstance(size, Sequence):
        raise ClaimError(f"a relative or absolute tolerance is needed here, not {name!r}")
    return size * scale if name == "relative" else float(size)


def trend(
    printed: Plain, computed: object, tolerance: Tolerance | None, unit: str = "", paired: bool = False
) -> Finding:
    """Judge a claimed trend of `y` over `x`: ``increasing``, ``decreasing`` or ``constant``.

    A step against the trend of at most the tolerance is allowed; with samples, a step counts as against the trend
    only where its 95 % interval lies wholly beyond that slack, and the change from first to last must lie wholly on
    the claimed side. *Constant* means equivalent within the tolerance: of samples, the intervals of the differences
    between any two points (95 % for all of them together, by Bonferroni) must lie within it; one that lies wholly
    beyond makes it ``no``.
    """
    across, along = _pair(computed, "(x, y)")
    x: NDArray[np.float64] = np.asarray(across, dtype=float)
    y: NDArray[np.float64] = np.asarray(along, dtype=float)
    if x.ndim != 1 or len(x) < 2 or y.ndim not in (1, 2) or len(y) != len(x) or (np.diff(x) <= 0).any():
        raise ClaimError("a trend needs x in increasing order and one value, or row of samples, for each x")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ClaimError("the computed value holds NaN or infinity")
    if paired and y.ndim == 1:
        raise ClaimError("paired samples are needed: a row for each x")
    apart = _paired_difference if paired else difference
    means = y if y.ndim == 1 else y.mean(axis=1)
    slack = allowance(tolerance, float(np.abs(means).mean()))
    shown = ", ".join(f"{a:g}: {show(b, unit)}" for a, b in zip(x, means, strict=True))
    if printed == "constant":
        holds, detail = _constant(x, y, slack, unit, apart)
        may_be = EITHER if holds == "undecided" else frozenset()
        return Finding(holds, means.tolist(), f"{detail} ({shown})", may_be=may_be)
    if printed not in ("increasing", "decreasing"):
        raise ClaimError(f"a trend is increasing, decreasing or constant, not {printed!r}")
    rows = [row if printed == "increasing" else -row for row in y]
    first, last = _longest_rise(rows, slack, apart)
    if (first, last) == (0, len(x) - 1):
        return Finding("yes", means.tolist(), shown)
    if _open(rows, slack, apart):
        may_be = EITHER | {"partly"} if len(x) > 2 else EITHER  # three neighbours make a part
        detail = f"the change from first to last may be none ({shown})"
        return Finding("undecided", means.tolist(), detail, may_be=may_be)
    if last - first >= 2:
        return Finding("partly", means.tolist(), f"holds from {x[first]:g} to {x[last]:g} ({shown})")
    return Finding("no", means.tolist(), shown)


def _constant(
    x: NDArray[np.float64], y: NDArray[np.float64], slack: float, unit: str, apart: Apart
) -> tuple[Holds, str]:
    """Say whether no two points differ by more than the slack, and which two decide that."""
    if y.ndim == 1:
        spread = float(np.ptp(y))
        return "yes" if spread <= slack else "no", f"spread {show(spread, unit)}"
    pairs = list(itertools.combinations(range(len(x)), 2))
    gaps = {(i, j): apart(y[i], y[j], 1 - 0.05 / len(pairs)) for i, j in pairs}
    nearest = {pair: max(low, -high) for pair, (_, low, high) in gaps.items()}
    farthest = {pair: max(-low, high) for pair, (_, low, high) in gaps.items()}
    differs = max(nearest.values()) > slack
    decides = nearest if differs else farthest
    i, j = max(pairs, key=lambda pair: decides[pair])
    gap, low, high = (show(number, unit) for number in gaps[i, j])
    holds: Holds = "no" if differs else "yes" if farthest[i, j] <= slack else "undecided"
    return holds, f"the difference that decides, {x[j]:g} less {x[i]:g}, is {gap} [{low}, {high}], margin {show(slack)}"


def _open(rows: Sequence[NDArray[np.float64]], slack: float, apart: Apart) -> bool:
    """Say whether no step is clearly against the trend, and only the interval of the whole change reaches zero."""
    _, least, most = apart(rows[0], rows[-1])
    return least <= 0 < most and all(apart(a, b)[2] >= -slack for a, b in itertools.pairwise(rows))


def _longest_rise(rows: Sequence[NDArray[np.float64]], slack: float, apart: Apart) -> tuple[int, int]:
    """Return the first of the longest spans that rise as a whole and take no step down by more than `slack`."""
    good = [apart(a, b)[2] >= -slack for a, b in itertools.pairwise(rows)]

    def rises(first: int, last: int) -> bool:
        return all(good[first:last]) and apart(rows[first], rows[last])[1] > 0

    whole = (0, len(rows) - 1)
    if rises(*whole):
        return whole
    spans = [span for span in itertools.combinations(range(len(rows)), 2) if rises(*span)]
    return max(spans, key=lambda span: span[1] - span[0], default=(0, 0))


def identity(computed: object, tolerance: Tolerance | None) -> Finding:
    """Judge that two results are the same: exactly, or within a tolerance on their largest difference."""
    left, right = (np.asarray(side) for side in _pair(computed, "(left, right)"))
    if left.shape != right.shape:
        return Finding("no", None, f"shapes differ: {left.shape} and {right.shape}")
    numeric = left.dtype.kind in "iufc" and right.dtype.kind in "iufc"
    if not numeric:
        same = bool((left == right).all())
        text = f"{show(left.tolist())} against {show(right.tolist())}" if left.size <= 6 else f"{left.size} compared"
        return Finding("yes" if same else "no", left.tolist() if left.size <= 6 else same, text)
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise ClaimError("the computed value holds NaN or infinity")
    whole = left.dtype.kind in "iu" and right.dtype.kind in "iu"
    # whole numbers as Python's own: none wraps round, none is rounded
    sides = [side.ravel().astype(object) if whole else side.ravel() for side in (left, right)]
    gap = float(np.abs(sides[0] - sides[1]).max(initial=0))
    allowed = allowance(tolerance, float(np.abs(sides[1]).max(initial=0)))
    detail = f"largest difference {show(gap)}"
    found = gap
    if left.ndim == 0:
        detail += f" ({show(left.item())} against {show(right.item())})"
        found = gap if left.dtype.kind == "c" else float(left)
    return Finding("yes" if gap <= allowed else "no", found, detail)
