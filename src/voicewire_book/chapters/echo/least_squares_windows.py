"""Do taps that follow the voice cancel more than taps that stand still? Least squares over one window, put to the next.

``python -m voicewire_book.chapters.echo.least_squares_windows OUT.csv`` makes ``data/echo/windows.csv`` anew.
Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.echo import paper
from voicewire.echo.recordings.input_validation import SignalError
from voicewire_book.chapters.echo.experiments import write_rows
from voicewire_book.chapters.echo.recording_pairs import TAPS, high_pass, trial

__all__ = ["SEEDS", "WINDOWS", "by_window", "table"]

Samples = NDArray[np.float64]
SEEDS: Final = range(41, 43)
WINDOWS: Final = 4.0, 1.0, 0.25, 0.06
"""s; the last one has fewer samples than the filter has taps."""
_RIDGE: Final = 1e-6  # of the far end's mean power, for each sample: it keeps at zero what a window doesn't hold
_SIGNAL = checks.array(least=2)


def _fitted(rows: Samples, d: Samples, power: float) -> Samples:
    """Least squares, by whichever of the two systems is the smaller one; the shortest taps where many would do."""
    ridge = _RIDGE * power * len(rows)
    if len(rows) < rows.shape[1]:
        return np.asarray(rows.T @ np.linalg.solve(rows @ rows.T + ridge * np.eye(len(rows)), d))
    return np.asarray(np.linalg.solve(rows.T @ rows + ridge * np.eye(rows.shape[1]), rows.T @ d))


@checks.takes(
    error=SignalError, far=_SIGNAL, microphone=_SIGNAL, taps=checks.whole(1, 2**14), window=checks.whole(1, 2**30)
)
def by_window(far: ArrayLike, microphone: ArrayLike, taps: int, window: int) -> tuple[float, float]:
    """ERLE over the second half by the best taps of each window, in that window and in the next."""
    x, d = np.asarray(far, float), np.asarray(microphone, float)
    half = x.size // 2
    if x.shape != d.shape or window > half:
        raise SignalError(f"{x.size} samples of the far end, {d.size} of the microphone, windows of {window}")
    rows = sliding_window_view(np.concatenate([np.zeros(taps - 1), x]), taps)[:, ::-1]
    heard = own = following = 0.0
    power = float(np.mean(x**2))
    before = _fitted(np.ascontiguousarray(rows[half - window : half]), d[half - window : half], power)
    for start in range(half, x.size - window + 1, window):
        span = slice(start, start + window)
        inside = np.ascontiguousarray(rows[span])
        here = _fitted(inside, d[span], power)
        heard += float(np.sum(d[span] ** 2))
        own += float(np.sum((d[span] - inside @ here) ** 2))
        following += float(np.sum((d[span] - inside @ before) ** 2))
        before = here
    return 10 * float(np.log10(heard / own)), 10 * float(np.log10(heard / following))


def table(seeds: Sequence[int] = SEEDS, windows: Sequence[float] = WINDOWS) -> list[dict[str, Any]]:
    """The living room by windows, as it is heard and behind the high-pass that speexdsp puts before its filter."""
    rows: list[dict[str, Any]] = []
    for seed in seeds:
        made = trial("living room", seed)
        for band, microphone in (("all", made.microphone), ("passed", high_pass(made.microphone))):
            for window in windows:
                own, following = by_window(made.far, microphone, TAPS, round(window * paper.RATE))
                named = {"seed": seed, "band": band, "window": window}
                rows.append({**named, "own": round(own, 3), "following": round(following, 3)})
    return rows


if __name__ == "__main__":
    write_rows(Path(sys.argv[1]), table())
