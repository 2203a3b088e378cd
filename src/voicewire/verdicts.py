"""How a claim is decided: one function for each kind of claim, none of which knows what was hoped for.

Each takes what the paper prints and what was computed, and returns a `Finding`: whether the claim holds, the
computed result as plain data, and one sentence that puts the two side by side. `voicewire.claims` turns findings
into verdicts. The scorecard page of the book explains the verdicts to its readers.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats as scipy_stats

from voicewire.stats import Interval, t_interval

MANY = 8
"""With more values than this a claim's words name the farthest only; a table shows the rest on demand."""
Holds = Literal["yes", "partly", "no"]


class ClaimError(ValueError):
    """A ledger, or what was handed to it, can't be judged; the message says which claim, and what to mend."""


@dataclass(frozen=True)
class Finding:
    """What came out for one claim, before it is named a verdict."""

    holds: Holds
    reproduced: Any
    detail: str
    interval: tuple[float, float] | None = None


def show(value: Any, unit: str = "") -> str:
    """Print a number the way the ledger does: at most five significant digits, with its unit."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.number):
        text = f"{float(value):.5g}".replace("-", "\N{MINUS SIGN}")
        return f"{text} {unit}".rstrip()
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {show(item, unit)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(show(item, unit) for item in value)
    return "" if value is None else str(value)


def show_html(value: Any, unit: str = "") -> str:
    """Print a value for a table cell; a long list is folded."""
    text = html.escape(show(value, unit))
    if isinstance(value, Mapping | list | tuple) and len(value) > MANY:
        return f"<details><summary>{len(value)} values</summary>{text}</details>"
    return text


def band(printed: float | None, tolerance: Mapping[str, Any]) -> tuple[float, float]:
    """Return the lowest and highest value at which a claim still holds."""
    ((name, size),) = tolerance.items()
    if name == "at_least":
        return float(size), np.inf
    if name == "at_most":
        return -np.inf, float(size)
    if name == "between":
        return float(size[0]), float(size[1])
    if printed is None:
        raise ClaimError(f"a tolerance of kind {name!r} needs a printed number")
    half = float(size) * abs(printed) if name == "relative" else float(size)
    # 1e-12: the decimal that was printed and its binary neighbour are the same number to a reader
    slack = 1e-12 * max(1.0, abs(printed))
    return printed - half - slack, printed + half + slack


def _estimate(value: Any) -> float | Interval:
    if isinstance(value, Interval):
        if not np.isfinite([value.estimate, value.low, value.high]).all():
            raise ClaimError(f"the interval {value} is not finite")
        return value
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


def _one_value(printed: float | None, value: Any, tolerance: Mapping[str, Any], unit: str) -> Finding:
    low, high = band(printed, tolerance)
    result = _estimate(value)
    if isinstance(result, Interval):
        inside = low <= result.low and result.high <= high
        outside = result.high < low or result.low > high
        if not (inside or outside):
            raise ClaimError(
                f"undecided: the interval {show(result.low)} to {show(result.high)} straddles the tolerance "
                f"{show(low)} to {show(high)}; use more seeds"
            )
        number, interval = result.estimate, (result.low, result.high)
        spread = f" [{show(result.low)}, {show(result.high)}]"
    else:
        inside, number, interval, spread = low <= result <= high, result, None, ""
    detail = f"{show(number, unit)}{spread}"
    if printed is not None:
        detail += f" against {show(printed, unit)}"
        if printed:
            percent = f"{100 * (number - printed) / abs(printed):+.2f}".replace("-", "\N{MINUS SIGN}")
            detail += f" ({percent} %)"
    return Finding("yes" if inside else "no", number, detail, interval)


def _farthest(printed: Mapping[Any, Any], parts: Mapping[str, Finding]) -> str:
    """Say where a long list is farthest from the print, if it prints numbers."""
    gaps = {str(k): abs(parts[str(k)].reproduced - v) for k, v in printed.items() if isinstance(v, int | float)}
    if not gaps:
        return ""
    label = max(gaps, key=lambda key: gaps[key])
    return f"; the farthest is {label}: {parts[label].detail}"


def value(printed: Any, computed: Any, tolerance: Mapping[str, Any], unit: str = "") -> Finding:
    """Judge a number, or several with a label each, against what is printed.

    Parameters
    ----------
    printed : number, mapping of label to number, or None
        What the paper says; None where the tolerance itself is the statement ("at least 4").
    computed : number, Interval, samples, or a mapping with the labels of `printed`
    tolerance : mapping
        One of ``relative``, ``absolute``, ``at_least``, ``at_most``, ``between``.
    unit : str

    Raises
    ------
    ClaimError
        For labels that don't match, values that aren't finite, or an interval that straddles the tolerance.
    """
    if not isinstance(printed, Mapping):
        if isinstance(computed, Mapping):
            raise ClaimError("the claim prints one number, but several were computed")
        return _one_value(None if isinstance(printed, str) else printed, computed, tolerance, unit)
    if not isinstance(computed, Mapping) or set(map(str, computed)) != set(map(str, printed)):
        raise ClaimError(f"values are needed for exactly these labels: {', '.join(map(str, printed))}")
    by_label = {str(label): item for label, item in computed.items()}
    parts = {str(k): _one_value(v, by_label[str(k)], tolerance, unit) for k, v in printed.items()}
    held = [label for label, part in parts.items() if part.holds == "yes"]
    holds: Holds = "yes" if len(held) == len(parts) else "partly" if held else "no"
    if len(parts) > MANY:
        detail = f"{len(held)} of {len(parts)} hold{_farthest(printed, parts)}"
    else:
        detail = "; ".join(f"{label}: {part.detail}" for label, part in parts.items())
        if holds == "partly":
            detail = f"holds for {', '.join(held)}. {detail}"
    return Finding(holds, {label: part.reproduced for label, part in parts.items()}, detail)


def _means(values: Any) -> tuple[float, np.ndarray | None]:
    array = np.asarray(values, dtype=float)
    if not np.isfinite(array).all():
        raise ClaimError("the computed value holds NaN or infinity")
    if array.ndim == 0:
        return float(array), None
    if array.ndim == 1 and array.size >= 2:
        return float(array.mean()), array
    raise ClaimError(f"a number or a 1-D array of at least two samples is needed, not shape {array.shape}")


def difference(low: Any, high: Any) -> tuple[float, float, float]:
    """Return `high` minus `low` with the ends of its 95 % interval (Welch's, where samples are given)."""
    mean_low, samples_low = _means(low)
    mean_high, samples_high = _means(high)
    gap = mean_high - mean_low
    if samples_low is None or samples_high is None:
        return gap, gap, gap
    if np.ptp(samples_low) == 0 and np.ptp(samples_high) == 0:
        return gap, gap, gap
    interval = scipy_stats.ttest_ind(samples_high, samples_low, equal_var=False).confidence_interval(0.95)
    return gap, float(interval.low), float(interval.high)


def ordering(printed: Sequence[Any], computed: Mapping[str, Any], margin: float = 0.0, unit: str = "") -> Finding:
    """Judge a claimed order, smallest first: each neighbour must exceed the one before by more than `margin`.

    Where samples are given, the 95 % interval of the difference must lie wholly above the margin.
    """
    labels = [str(label) for label in printed]
    by_label = {str(label): item for label, item in computed.items()}
    if set(by_label) != set(labels):
        raise ClaimError(f"values are needed for exactly these labels: {', '.join(labels)}")
    pairs = list(itertools.pairwise(labels))
    kept = [difference(by_label[a], by_label[b])[1] > margin for a, b in pairs]
    means = {label: _means(by_label[label])[0] for label in labels}
    found = " < ".join(f"{label} ({show(means[label], unit)})" for label in sorted(labels, key=means.__getitem__))
    holds: Holds = "yes" if all(kept) else "partly" if any(kept) else "no"
    broken = [f"{a} < {b}" for (a, b), ok in zip(pairs, kept, strict=True) if not ok]
    return Finding(holds, means, f"found {found}" + (f"; not shown: {', '.join(broken)}" if broken else ""))


def trend(printed: str, computed: Any, tolerance: Mapping[str, Any] | None, unit: str = "") -> Finding:
    """Judge a claimed trend of `y` over `x`: ``increasing``, ``decreasing`` or ``constant``.

    `computed` is ``(x, y)``; `y` is 1-D, or 2-D with a row of samples for each x. A step against the trend of at
    most the tolerance is allowed; with samples, a step counts as against the trend only where its 95 % interval
    lies wholly beyond that slack, and the change from first to last must lie wholly on the claimed side.
    """
    x, y = np.asarray(computed[0], dtype=float), np.asarray(computed[1], dtype=float)
    if x.ndim != 1 or len(x) < 2 or len(y) != len(x) or (np.diff(x) <= 0).any():
        raise ClaimError("a trend needs x in increasing order and one value, or row of samples, for each x")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ClaimError("the computed value holds NaN or infinity")
    means = y if y.ndim == 1 else y.mean(axis=1)
    ((name, size),) = (tolerance or {"absolute": 0.0}).items()
    slack = size * float(np.abs(means).mean()) if name == "relative" else float(size)
    shown = ", ".join(f"{a:g}: {show(b, unit)}" for a, b in zip(x, means, strict=True))
    if printed == "constant":
        spread = float(np.ptp(means))
        return Finding("yes" if spread <= slack else "no", means.tolist(), f"spread {show(spread, unit)} ({shown})")
    if printed not in ("increasing", "decreasing"):
        raise ClaimError(f"a trend is increasing, decreasing or constant, not {printed!r}")
    sign = 1.0 if printed == "increasing" else -1.0
    rows = [sign * row for row in y]
    good = [difference(a, b)[2] >= -slack for a, b in itertools.pairwise(rows)]

    def rises(first: int, last: int) -> bool:
        return all(good[first:last]) and difference(rows[first], rows[last])[1] > 0

    if rises(0, len(x) - 1):
        return Finding("yes", means.tolist(), shown)
    spans = [(i, j) for i in range(len(x)) for j in range(i + 2, len(x)) if rises(i, j)]
    if spans:
        first, last = max(spans, key=lambda span: span[1] - span[0])
        return Finding("partly", means.tolist(), f"holds from {x[first]:g} to {x[last]:g} ({shown})")
    return Finding("no", means.tolist(), shown)


def identity(computed: Any, tolerance: Mapping[str, Any] | None) -> Finding:
    """Judge that two results are the same: exactly, or within a tolerance on their largest difference."""
    left, right = (np.asarray(side) for side in computed)
    if left.shape != right.shape:
        return Finding("no", None, f"shapes differ: {left.shape} and {right.shape}")
    numeric = left.dtype.kind in "iufc" and right.dtype.kind in "iufc"
    shown = show(left.item()) if left.ndim == 0 else None
    if not numeric:
        same = bool((left == right).all())
        text = f"{show(left.tolist())} against {show(right.tolist())}" if left.size <= 6 else f"{left.size} compared"
        return Finding("yes" if same else "no", left.tolist() if left.size <= 6 else same, text)
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise ClaimError("the computed value holds NaN or infinity")
    gap = float(np.abs(left - right).max(initial=0.0))
    ((name, size),) = (tolerance or {"absolute": 0.0}).items()
    allowed = size * float(np.abs(right).max(initial=0.0)) if name == "relative" else float(size)
    detail = f"largest difference {show(gap)}" + (f" ({shown} against {show(right.item())})" if shown else "")
    return Finding("yes" if gap <= allowed else "no", float(left) if left.ndim == 0 else gap, detail)
