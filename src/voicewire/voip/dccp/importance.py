"""Which packets to send when not all can be sent (thesis, section 3.5): importances, deadlines, a knapsack.

The thesis calls it an instance of the backpack problem. With one deadline for all it is; with a deadline for each
packet, sent in order of deadline (an exchange argument: any feasible set stays feasible so), the same dynamic
programme over bytes solves it, each packet admitted only while it still meets its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.voip.errors import VoipError

__all__ = ["Candidate", "best_set", "best_set_by_force", "frame_importance"]


@dataclass(frozen=True)
class Candidate:
    """A waiting packet: its size in bytes, its importance, and the seconds left until it is useless.

    Attributes
    ----------
    size : int
        Bytes.
    importance : float
        0 or more.
    expires : float
        Seconds left until it is useless.

    Examples
    --------
    >>> Candidate(size=20, importance=1.0, expires=0.1).expires
    0.1
    """

    size: int
    importance: float
    expires: float

    def __post_init__(self) -> None:
        checks.fields(
            self, VoipError, size=checks.whole(1, 10**6), importance=checks.number(), expires=checks.number(-1e9, 1e9)
        )
        if self.size < 1 or not np.isfinite([self.importance, self.expires]).all() or self.importance < 0:
            raise VoipError("a packet needs a size of a byte or more, an importance of 0 or more, a finite expiry")


def _budget(rate: float, packets: Sequence[Candidate]) -> list[int]:
    if not (np.isfinite(rate) and rate > 0):
        raise VoipError("the sending rate must be above 0 bytes per second")
    return [int(np.floor(max(p.expires, 0.0) * rate + 1e-9)) for p in packets]


@checks.takes(
    error=VoipError, packets=checks.each(checks.a(Candidate), least=0), rate=checks.number(above=0.0, high=1e12),
)  # fmt: skip
def best_set(packets: Sequence[Candidate], rate: float) -> list[int]:
    """Indices of the packets to send at `rate` bytes/s, so that none is late and their importances sum highest.

    Dynamic programme over bytes sent, packets in order of expiry: O(n · bytes).

    Parameters
    ----------
    packets : sequence of Candidate
        What waits.
    rate : float
        Bytes a second.

    Returns
    -------
    list of int
        Indices, rising.

    Examples
    --------
    Two of three packets fit into a tenth of a second:

    >>> best_set([Candidate(100, value, 0.1) for value in (1, 3, 2)], 2000.0)
    [1, 2]
    """
    limits = _budget(rate, packets)
    order = sorted(range(len(packets)), key=lambda i: limits[i])
    top = min(max(limits, default=0), sum(p.size for p in packets))
    value = np.full(top + 1, -np.inf)
    value[0] = 0.0
    taken = np.zeros((len(order), top + 1), dtype=bool)
    for row, i in enumerate(order):
        size, limit = packets[i].size, min(limits[i], top)
        if size > limit:
            continue
        with_it = value[: limit + 1 - size] + packets[i].importance
        better = with_it > value[size : limit + 1]
        taken[row, size : limit + 1] = better
        value[size : limit + 1] = np.where(better, with_it, value[size : limit + 1])
    used = int(np.argmax(value))
    chosen = []
    for row in range(len(order) - 1, -1, -1):
        if taken[row, used]:
            chosen.append(order[row])
            used -= packets[order[row]].size
    return sorted(chosen)


@checks.takes(
    error=VoipError, packets=checks.each(checks.a(Candidate), least=0), rate=checks.number(above=0.0, high=1e12),
)  # fmt: skip
def best_set_by_force(packets: Sequence[Candidate], rate: float) -> float:
    """The highest sum of importances, by trying every subset: what the tests hold `best_set` against."""
    limits = _budget(rate, packets)
    best = 0.0
    for n in range(1, len(packets) + 1):
        for chosen in itertools.combinations(range(len(packets)), n):
            at, fits = 0, True
            for i in sorted(chosen, key=lambda k: limits[k]):
                at += packets[i].size
                fits = fits and at <= limits[i]
            if fits:
                best = max(best, sum(packets[i].importance for i in chosen))
    return best


@checks.takes(error=VoipError, pcm=checks.array(low=-1e9, high=1e9), frame=checks.whole(2, 10**6))
def frame_importance(pcm: ArrayLike, frame: int = 160) -> NDArray[np.float64]:
    """A stand-in for the importance of Hoene et al. (section 3.4): how badly repeating the last frame would do.

    The distance in log spectrum between a frame and its predecessor, weighted by the frame's loudness; 0 .. 1.
    Their own measure needs PESQ on every frame, which a licence keeps out of here.

    Parameters
    ----------
    pcm : array_like of float, shape (samples,)
        Samples.
    frame : int
        Samples of a frame.

    Returns
    -------
    ndarray of float, shape (frames,)
        0 to 1; 1 is the most important frame.

    Raises
    ------
    VoipError
        For less than one frame.

    Examples
    --------
    Silence is of no importance:

    >>> sound = np.r_[np.zeros(160), np.sin(np.arange(160.0)) * 1e4]
    >>> frame_importance(sound).tolist()
    [0.0, 1.0]
    """
    x = np.asarray(pcm, dtype=float)
    n = x.size // frame
    if n < 1:
        raise VoipError(f"no whole frame of {frame} samples")
    spectrum = np.log10(np.abs(np.fft.rfft(x[: n * frame].reshape(n, frame) * np.hanning(frame))) + 1.0)
    change = np.sqrt(np.mean(np.diff(spectrum, axis=0, prepend=np.zeros((1, spectrum.shape[1]))) ** 2, axis=1))
    loud = spectrum.mean(axis=1)
    value = change * loud
    return value / value.max() if value.max() > 0 else value
