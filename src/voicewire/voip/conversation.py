"""Conversation-like data (section 4.1): voice and silence take turns, each of exponential length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.voip import paper
from voicewire.voip.errors import VoipError

__all__ = ["Talk", "from_activity", "talk"]


LONGEST = 86_400.0
"""s: a call of a day has more frames than any figure needs."""


@dataclass(frozen=True)
class Talk:
    """Frames of one call.

    Attributes
    ----------
    times : when each frame is spoken, ns from the start of the call; shape (frames,)
    spurts : talkspurt number of each frame, from 0; shape (frames,)
    seconds : length of the call

    Examples
    --------
    >>> from_activity([1, 1, 0]).seconds
    0.06
    """

    times: NDArray[np.int64]
    spurts: NDArray[np.int64]
    seconds: float


@checks.takes(
    error=VoipError, rng=checks.generator, seconds=checks.number(above=0.0, high=LONGEST),
    on=checks.number(1e-3, LONGEST), off=checks.number(1e-3, LONGEST), interval_ms=checks.number(0.1, 10_000.0),
)  # fmt: skip
def talk(
    rng: np.random.Generator,
    seconds: float = 300.0,
    *,
    on: float = paper.TALK[0],
    off: float = paper.TALK[1],
    interval_ms: float = 20.0,
) -> Talk:
    """Draw a call: talkspurts of mean `on` seconds, silences of mean `off`, frames on the codec's own clock.

    A talkspurt is cut to whole frames and has at least one; so it is longer than drawn by less than a frame, and the
    mean stays within half a frame of `on`. The first one begins at time 0.

    Parameters
    ----------
    rng : numpy.random.Generator
        What the lengths are drawn from.
    seconds : float
        Length of the call, a day at most.
    on : float
        Mean of voice in seconds (section 4.1).
    off : float
        Mean of silence in seconds (section 4.1).
    interval_ms : float
        Time between two frames in milliseconds.

    Returns
    -------
    Talk
        When each frame is spoken, and in which talkspurt.

    Raises
    ------
    VoipError
        for a length or a mean that isn't positive.

    Notes
    -----
    Both lengths are exponential.

    Examples
    --------
    >>> words = talk(np.random.default_rng(1), 60.0)
    >>> words.times[:3].tolist(), bool(words.times[-1] < 60e9)
    ([0, 20000000, 40000000], True)
    """
    return drawn(rng, seconds, on, off, interval_ms)


def drawn(rng: np.random.Generator, seconds: float, on: float, off: float, interval_ms: float) -> Talk:
    """Draw a call, as `talk` does, from numbers that are known to be right."""
    frame = interval_ms / 1000.0
    slots = int(np.ceil(seconds / frame))
    expected = int(1.5 * seconds / (on + off)) + 20
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    at, k = 0, 0
    while at < slots:
        # drawn in blocks: one call to the generator for many talkspurts
        lengths = np.maximum(1, np.rint(rng.exponential(on, expected) / frame)).astype(np.int64)
        pauses = np.maximum(1, np.rint(rng.exponential(off, expected) / frame)).astype(np.int64)
        ends = at + np.cumsum(lengths + pauses)
        starts = ends - pauses - lengths
        at = int(ends[-1])
        lengths = lengths[: np.searchsorted(starts, slots)]  # what would begin after the call is not spoken
        frames = np.cumsum(lengths)
        first = starts[: lengths.size] - frames + lengths
        counts = lengths.astype(np.intp)  # what repeat counts with: 32 bits on some machines
        number = np.arange(k, k + lengths.size, dtype=np.int64)
        index = np.repeat(first, counts) + np.arange(frames[-1], dtype=np.int64)
        parts.append((index, np.repeat(number, counts)))
        k += expected
    slot, spurt = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
    end = int(np.searchsorted(slot, slots))
    return Talk(slot[:end] * np.int64(round(interval_ms * 1e6)), spurt[:end], float(seconds))


@checks.takes(error=VoipError, active=checks.flags, interval_ms=checks.number(0.1, 10_000.0))
def from_activity(active: ArrayLike, interval_ms: float = 20.0) -> Talk:
    """A call from a voice activity detector's answers, one a frame.

    Parameters
    ----------
    active : array_like of bool, shape (frames,)
        Whether each frame holds voice.
    interval_ms : float
        Time between two frames in milliseconds.

    Returns
    -------
    Talk
        The frames with voice; each run of them is a talkspurt.

    Raises
    ------
    VoipError
        if there is no frame, or none with voice.

    Examples
    --------
    >>> words = from_activity([0, 1, 1, 0, 1])
    >>> words.times.tolist(), words.spurts.tolist()
    ([20000000, 40000000, 80000000], [0, 0, 1])
    """
    flags = np.asarray(active) != 0
    if flags.ndim != 1 or not flags.any():
        raise VoipError("no voice: the detector found nothing to send in this recording")
    begins = flags & ~np.concatenate(([False], flags[:-1]))
    where = np.flatnonzero(flags).astype(np.int64)  # times in ns need 64 bits on every machine
    number = np.cumsum(begins, dtype=np.int64) - 1
    return Talk(where * np.int64(round(interval_ms * 1e6)), number[where], flags.size * interval_ms / 1000)
