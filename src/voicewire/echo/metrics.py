"""What is measured: misalignment, ERLE, tracking time, steady state, operations; and what theory expects of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.echo.adaptive_filter import AdaptiveFilter
from voicewire.echo.scenes.scene import Signals

__all__ = [
    "Curve",
    "Operations",
    "dcd_operations",
    "erle",
    "expected_rise",
    "expected_tracking",
    "follow",
    "misalignment",
    "woodbury_operations",
]

Real = NDArray[np.float64]


@checks.takes(same=("taps", "truth"), taps=checks.array(kind="complex"), truth=checks.array(kind="complex"))
def misalignment(taps: ArrayLike, truth: ArrayLike) -> float:
    """Normalised misalignment in dB, equation (16).

    Parameters
    ----------
    taps, truth : array_like of complex, shape (2L,)
        Estimated and true taps.

    Returns
    -------
    float
        20 log10 of the distance of the taps over the length of the true ones, in dB; -300 or less for equal
        ones.

    Examples
    --------
    >>> round(misalignment([1, 0], [1, 1]), 2)
    -3.01
    """
    g, true = np.asarray(taps, complex), np.asarray(truth, complex)
    if not true.any():
        raise ValueError("truth is zero throughout: a misalignment is relative to paths that carry an echo")
    wrong = float(np.linalg.norm(true - g))
    return 20 * math.log10(max(wrong, 1e-300) / float(np.linalg.norm(true)))


def erle(d: ArrayLike, e: ArrayLike) -> float:
    """Echo return loss enhancement in dB: power at the microphones over power of the residual.

    Parameters
    ----------
    d, e : array_like, shape (N,) or (N, channels)
        What the microphones heard, and what is left of it.

    Returns
    -------
    float
        10 log10 of the ratio of their powers, in dB; infinite if nothing is left.

    Examples
    --------
    >>> erle([2, 2j], [0.2, 0.2j])
    20.0
    """
    whole = [checks.plain(*pair, ValueError).dtype.kind in "iu" for pair in (("d", d), ("e", e))]
    rule = checks.array((1, 2), kind="complex")
    before, after = rule("d", d, ValueError), rule("e", e, ValueError)
    if before.shape != after.shape:
        raise ValueError(f"d has shape {before.shape} and e {after.shape}: cut both to the same span of time")
    if whole[0] != whole[1]:
        raise ValueError("d and e have different full scales, whole numbers and floats: bring both to full scale 1")
    if not before.any():
        raise ValueError("d is silent: without an echo there is no echo return loss; take a span in which it is heard")
    if not after.any():
        return math.inf
    return float(10 * np.log10(np.mean(np.abs(before) ** 2) / np.mean(np.abs(after) ** 2)))


@dataclass(frozen=True)
class Curve:
    """Misalignment in dB against the number of samples seen.

    Attributes
    ----------
    samples : ndarray of int, shape (n,)
        Samples seen at each point.
    decibels : ndarray of float, shape (n,)
        Misalignment there, dB.

    Examples
    --------
    >>> Curve(np.array([10, 20]), np.array([-3.0, -25.0])).tracking_time(0, -20)
    20.0
    """

    samples: NDArray[np.int64]
    decibels: Real

    @checks.takes(change_at=checks.whole(), level=checks.number())
    def tracking_time(self, change_at: int, level: float) -> float:
        """Samples from the change until the misalignment is first at or below level; infinite if never.

        Parameters
        ----------
        change_at : int
            When the paths changed, in samples.
        level : float
            Misalignment to come down to, dB.

        Returns
        -------
        float
            Samples.
        """
        late = self.samples > change_at
        hit = np.flatnonzero(late & (self.decibels <= level))
        return float(self.samples[hit[0]] - change_at) if hit.size else math.inf

    @checks.takes(start=checks.whole(), stop=checks.whole())
    def steady(self, start: int, stop: int) -> float:
        """Mean misalignment in dB over start < n <= stop (mean of the power, then in dB).

        Parameters
        ----------
        start, stop : int
            Span, in samples.

        Returns
        -------
        float
            dB.

        Raises
        ------
        ValueError
            If no point of the curve lies there.
        """
        chosen = (self.samples > start) & (self.samples <= stop)
        if not chosen.any():
            raise ValueError(f"no point of the curve lies in {start} < n <= {stop}")
        return float(10 * np.log10(np.mean(10 ** (self.decibels[chosen] / 10))))


@checks.takes(filter_=checks.a(AdaptiveFilter), signals=checks.a(Signals), every=checks.whole(1))
def follow(filter_: AdaptiveFilter, signals: Signals, every: int = 1000) -> Curve:
    """Run a filter over a scene and note its misalignment every so many samples.

    Parameters
    ----------
    filter_ : AdaptiveFilter
        The filter; it adapts on from its state.
    signals : Signals
        A scene.
    every : int
        Samples between two points.

    Returns
    -------
    Curve

    Examples
    --------
    >>> from voicewire.echo import WLNLMS
    >>> from voicewire.echo.scenes.scene import Scene
    >>> curve = follow(WLNLMS(8), Scene(8, 2000, 1, source="white").signals(), 1000)
    >>> curve.samples.tolist(), bool(curve.decibels[-1] < -5)
    ([1000, 2000], True)
    """
    if every > signals.x.size:
        raise ValueError(f"every is {every}: the scene has only {signals.x.size} samples")
    ends = np.arange(every, signals.x.size + 1, every)
    decibels = np.empty(ends.size)
    for i, end in enumerate(ends):
        filter_.process(signals.x[end - every : end], signals.d[end - every : end])
        decibels[i] = misalignment(filter_.taps, signals.truth(int(end) - 1))
    return Curve(ends, decibels)


@checks.takes(length=checks.whole(1), memory=checks.positive, reuse=checks.whole(1), level=checks.number(-1e4, 0.0))
def expected_tracking(length: int, memory: float, reuse: int, level: float = -20.0) -> float:
    """Samples to come down to `level` dB after all signs change: 2 exp(-N_it n/(K L)), so 2.996 K L/N_it for -20 dB.

    Parameters
    ----------
    length : int
        Taps of each echo path, L.
    memory : float
        K in lambda = 1 - 1/(K L).
    reuse : int
        Passes a sample, N_it.
    level : float
        Misalignment to come down to, dB.

    Returns
    -------
    float
        Samples, equation ``eq-echo-theory``.

    Examples
    --------
    >>> round(expected_tracking(128, 64, 1))
    24541
    """
    return memory * length / reuse * (math.log(2) - level * math.log(10) / 20)


@checks.takes(reuse=checks.whole(1))
def expected_rise(reuse: int) -> float:
    """Rise of the floor in dB that N_it-fold shorter memory brings: 10 log10 N_it.

    Parameters
    ----------
    reuse : int
        Passes a sample, N_it.

    Returns
    -------
    float
        dB, equation ``eq-echo-theory``.

    Examples
    --------
    >>> round(expected_rise(2), 2)
    3.01
    """
    return 10 * math.log10(reuse)


@dataclass(frozen=True)
class Operations:
    """Real operations per sample.

    Attributes
    ----------
    additions, multiplications, shifts, comparisons : int
        Each of real numbers.

    Examples
    --------
    >>> Operations(3, 2, 0, 0).additions
    3
    """

    additions: int
    multiplications: int
    shifts: int
    comparisons: int

    def over(self, other: Operations) -> dict[str, float]:
        """Return how many times as many additions and multiplications these are.

        Parameters
        ----------
        other : Operations
            With some of either.

        Returns
        -------
        dict of str to float
            ``additions`` and ``multiplications``.

        Examples
        --------
        >>> Operations(6, 2, 0, 0).over(Operations(3, 2, 0, 0))
        {'additions': 2.0, 'multiplications': 1.0}
        """
        return {name: getattr(self, name) / getattr(other, name) for name in ("additions", "multiplications")}


@checks.takes(length=checks.whole(1), reuse=checks.whole(1), updates=checks.whole(1))
def dcd_operations(length: int, reuse: int, updates: int) -> Operations:
    """Most operations per sample of WL-DR-RLS-DCD (Table II), all N_u updates done.

    The 2x2 blocks hold four reals; ageing R and r is counted as multiplications, since lambda need not be 1 - 2^-k.
    A DCD update shifts a column (4L) and subtracts it (4L), and one search compares 4L magnitudes.

    Parameters
    ----------
    length : int
        Taps of each echo path, L.
    reuse : int
        Passes a sample, N_it.
    updates : int
        Most moves a pass, N_u.

    Returns
    -------
    Operations

    Examples
    --------
    >>> dcd_operations(128, 1, 4).multiplications
    2560
    """
    L = length
    once = Operations(
        additions=4 * L + 4 * L + 4 * L + 2,  # products for R, R itself, the output
        multiplications=4 * L + 4 * L + 4 * L + 4 * L,  # the same products, ageing R and r, the output
        shifts=0,
        comparisons=0,
    )
    step = updates * (4 * L + 4)
    return Operations(
        additions=once.additions + reuse * (8 * L + step),
        multiplications=once.multiplications + reuse * 4 * L,
        shifts=reuse * updates * 4 * L,
        comparisons=reuse * updates * (4 * L + 1),
    )


@checks.takes(length=checks.whole(1))
def woodbury_operations(length: int) -> Operations:
    """Operations per sample of complex WL-RLS by Woodbury's identity, lower triangle only (4 real products each).

    Parameters
    ----------
    length : int
        Taps of each echo path, L.

    Returns
    -------
    Operations

    Examples
    --------
    >>> woodbury_operations(1).multiplications
    62
    """
    n = 2 * length
    half = n * (n + 1) // 2
    return Operations(
        additions=4 * n * n + 4 * half + 12 * n,
        multiplications=4 * n * n + 6 * half + 14 * n,
        shifts=0,
        comparisons=0,
    )


@checks.takes(length=checks.whole(1))
def nlms_operations(length: int) -> Operations:
    """Operations per sample of WL-NLMS on four reals a delay."""
    return Operations(additions=8 * length + 8, multiplications=8 * length + 8, shifts=0, comparisons=0)
