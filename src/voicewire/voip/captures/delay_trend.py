"""The highest line below all delays of a call, and how far to trust it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["tilted", "trusted"]


def tilted(
    sent: NDArray[np.float64], delays: NDArray[np.float64]
) -> float:
    """Slope of the line below all delays that is highest at their middle."""
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
    """How far off a slope may be: the worst tenth's least, over a quarter."""
    span = sent.max() - sent.min()
    tenth = np.minimum(10 * (sent - sent.min()) / span, 9).astype(int)
    least = [above[tenth == k].min() for k in np.unique(tenth)]
    return float(max(least) / (span / 4))
