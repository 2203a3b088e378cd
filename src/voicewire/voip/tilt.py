"""The highest line below all delays of a call, and how far to trust it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["tilted", "trusted"]


def tilted(
    sent: NDArray[np.float64], delays: NDArray[np.float64]
) -> float:
    """Slope of the line below all delays that is highest at their middle.

    Parameters
    ----------
    sent : ndarray of float, shape (frames,)
        When each was spoken by the sender's clock; two of them differ.
    delays : ndarray of float, shape (frames,)
        Its delay plus any constant, in the same unit of time.

    Returns
    -------
    float
        From -0.01 to 0.01.

    Examples
    --------
    >>> sent = np.array([0.0, 100.0, 200.0])
    >>> round(tilted(sent, np.array([1.0, 1.5, 1.4])), 9)
    0.002
    """
    from_middle = sent - sent.mean()
    low, high = -0.01, 0.01
    for _ in range(60):
        slope = (low + high) / 2
        touched = np.argmin(delays - slope * from_middle)
        if from_middle[touched] < 0:
            low = slope  # the line touches on the left: steeper is higher
        else:
            high = slope
    return slope


def trusted(
    sent: NDArray[np.float64], above: NDArray[np.float64]
) -> float:
    """How far off a slope may be: the worst tenth's least, over a quarter.

    Parameters
    ----------
    sent : ndarray of float, shape (frames,)
        When each was spoken.
    above : ndarray of float, shape (frames,)
        Its delay above the line, in the same unit.

    Returns
    -------
    float
        As a slope.

    Examples
    --------
    >>> sent = np.arange(41.0)
    >>> trusted(sent, np.where(sent < 4, 1.0, 0.0))
    0.1
    """
    span = sent.max() - sent.min()
    tenth = np.minimum(10 * (sent - sent.min()) / span, 9).astype(int)
    least = [above[tenth == k].min() for k in np.unique(tenth)]
    return float(max(least) / (span / 4))
