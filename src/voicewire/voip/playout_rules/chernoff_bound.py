"""One playout delay for a whole call, by Chernov's bound on the delays (Rosenbluth and Cole; thesis, section 4.3).

For any s > 0 at most E[exp(s (D - d))] of the frames come later than d. The delay at which the best such bound allows
`late` frames is ``min over s of (ln E[exp(s D)] - ln late) / s``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from voicewire._kit import checks
from voicewire.voip.errors import VoipError

__all__ = ["chernov_delay"]


@checks.takes(
    error=VoipError, delays_ms=checks.array(low=0.0, high=1e9, allow="inf"), late=checks.number(1e-12, 1.0 - 1e-12)
)
def chernov_delay(delays_ms: ArrayLike, late: float) -> float:
    """Least delay by which, by Chernov's bound, no more than a share `late` of the frames that arrive is still out.

    Parameters
    ----------
    delays_ms : array_like of float, shape (frames,)
        One-way delay of each frame in milliseconds, inf for one that never arrived.
    late : float
        Share of the frames that arrive which may come too late, above 0 and below 1.

    Returns
    -------
    float
        Milliseconds, for `playout.fixed`; at most the longest delay; NaN if nothing arrived.

    Raises
    ------
    VoipError
        For a negative delay, or a share that does not lie between 0 and 1.

    Notes
    -----
    ``d = min_t D_max + t (ln mean(exp((D - D_max) / t)) - ln late)`` with t = 1/s, which is convex in t. Since the
    mean is at least ``exp((mean(D) - D_max) / t)``, beyond ``t = (D_max - mean(D)) / -ln late`` it is above the
    longest delay.

    Examples
    --------
    One frame of a hundred is late by 100 ms; to allow that one, the bound needs more than the other 99 do:

    >>> round(chernov_delay([50.0] * 99 + [150.0], 0.05), 1)
    126.8
    """
    delay = np.asarray(delays_ms, dtype=float)
    came = delay[np.isfinite(delay)]
    if not came.size:
        return float("nan")
    longest = float(came.max())
    below = came - longest
    if not below.any():
        return longest

    # In units of the power of two above the longest way down: exact, and no t is too small to divide by.
    _, unit = np.frexp(-below.min())
    below = np.ldexp(below, -unit)

    def bound(t: float) -> float:
        return t * float(np.log(np.mean(np.exp(below / t))) - np.log(late))

    most = float(below.mean() / np.log(late))
    found = minimize_scalar(bound, bounds=(0.0, most), method="bounded", options={"xatol": 1e-6 * most})
    return longest + float(np.ldexp(min(float(found.fun), 0.0), unit))
