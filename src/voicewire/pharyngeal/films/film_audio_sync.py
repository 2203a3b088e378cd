"""Marks of the sound on the frames of a film, and back; and what is measured on frames, by token and by context.

Explained in notebook ``03_articulators``.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.pharyngeal.textgrid import Interval

__all__ = ["by_context", "labels", "marks"]

_RATE = checks.number(0.1, 1e5)


def _texts(name: str, value: Any, error: type[ValueError]) -> list[str]:
    """A label for each frame (a rule)."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(each, str) for each in value):
        raise error(f"{name} must be a list of texts, one a frame and empty where there is none, not {value!r:.40}")
    return list(value)


@checks.takes(intervals=checks.each(checks.a(Interval), least=0), rate=_RATE, count=checks.whole(1, 10**7))
def labels(intervals: Sequence[Interval], rate: float, count: int) -> list[str]:
    """Say of each frame of a film which marked stretch of the sound it shows: the one that its middle lies in.

    Parameters
    ----------
    intervals : sequence of Interval
        Of one tier: they do not overlap.
    rate : float
        Frames a second; frame k is taken from k / rate to (k + 1) / rate.
    count : int
        Frames of the film.

    Returns
    -------
    list of str
        A label for each frame; empty where nothing is marked.

    Raises
    ------
    ValueError
        If two intervals overlap, or one holds the middle of no frame: it would be lost.

    Examples
    --------
    >>> labels([Interval("t", 0.0, 0.05), Interval("a", 0.05, 0.2)], rate=25.0, count=6)
    ['t', 'a', 'a', 'a', 'a', '']
    """
    found = [""] * count
    ordered = sorted(intervals, key=lambda interval: interval.start)
    for before, after in itertools.pairwise(ordered):
        if after.start < before.end:
            late = f"{before.label!r} ends at {before.end:g} s, after {after.label!r} has begun"
            raise ValueError(f"{late}: give the intervals of one tier")
    for interval in ordered:
        first, last = (int(np.ceil(time * rate - 0.5)) for time in (interval.start, interval.end))
        shown = range(max(first, 0), min(last, count))
        if not shown:
            raise ValueError(
                f"no frame has its middle in {interval.label!r}, {interval.start:g} to {interval.end:g} s: "
                "leave it out, or join it with its neighbour"
            )
        for k in shown:
            found[k] = interval.label
    return found


@checks.takes(frames=_texts, rate=_RATE)
def marks(frames: Sequence[str], rate: float) -> tuple[Interval, ...]:
    """Carry the labels of frames back to the sound: neighbours with one label become one interval.

    Parameters
    ----------
    frames : sequence of str
        A label for each frame; empty where there is none.
    rate : float
        Frames a second.

    Returns
    -------
    tuple of Interval
        What `labels` gives the same frames for; an end lies within half a frame of the one that was marked. Two
        neighbours with one label cannot be told apart: name tokens, not sounds.

    Examples
    --------
    >>> [(mark.label, mark.start, mark.end) for mark in marks(["t", "a", "a", ""], rate=10.0)]
    [('t', 0.0, 0.1), ('a', 0.1, 0.3)]
    """
    found, at = [], 0
    for label, group in itertools.groupby(frames):
        start, at = at, at + len(list(group))
        if label:
            found.append(Interval(label, start / rate, at / rate))
    return tuple(found)


@checks.takes(values=checks.array(), frames=_texts)
def by_context(values: NDArray[np.float64], frames: Sequence[str], contexts: Mapping[str, str]) -> pd.DataFrame:
    """Mean and standard deviation of what was measured on frames: over frames, and over the tokens that they show.

    Frames of one token are no repetitions of it, so the deviation that tells one context from another is that of the
    tokens' means.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        A measure for each frame.
    frames : sequence of str, length n
        The token that each frame shows; empty where there is none.
    contexts : mapping of str to str
        The context of each token.

    Returns
    -------
    pandas.DataFrame
        A row for each context, in the order of the mapping: ``frames``, ``tokens``, ``mean`` of the tokens' means,
        ``sd_tokens`` between these (sample; NaN for one token), ``sd_frames`` over all frames (NaN for one frame).

    Raises
    ------
    ValueError
        If there is not one label for each value, or a token has no context.

    Examples
    --------
    >>> found = by_context([1.0, 1.2, 2.0], ["a1", "a1", "a2"], {"a1": "plain", "a2": "plain"})
    >>> found.loc["plain", ["frames", "tokens", "mean"]].round(2).tolist()
    [3.0, 2.0, 1.55]
    """
    measured = np.asarray(values, dtype=float)
    if len(frames) != measured.size:
        raise ValueError(f"{measured.size} values and {len(frames)} labels: give one label for each frame's value")
    if not isinstance(contexts, Mapping):
        raise ValueError(f"contexts must be a mapping of tokens to their contexts, not {contexts!r:.40}")
    unknown = sorted({token for token in frames if token} - set(contexts))
    if unknown:
        raise ValueError(f"no context is given for {', '.join(unknown)}")
    rows = {}
    for context in dict.fromkeys(contexts.values()):
        tokens: dict[str, list[float]] = {}
        for value, token in zip(measured.tolist(), frames, strict=True):
            if token and contexts[token] == context:
                tokens.setdefault(token, []).append(value)
        each = [statistics.fmean(shown) for shown in tokens.values()]
        every = [value for shown in tokens.values() for value in shown]
        rows[context] = {
            "frames": len(every),
            "tokens": len(each),
            "mean": statistics.fmean(each) if each else np.nan,
            "sd_tokens": statistics.stdev(each) if len(each) > 1 else np.nan,
            "sd_frames": statistics.stdev(every) if len(every) > 1 else np.nan,
        }
    return pd.DataFrame.from_dict(rows, orient="index")
