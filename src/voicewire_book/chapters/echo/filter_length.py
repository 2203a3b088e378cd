"""How much echo a filter of so many taps can take, in a room that answers for longer: measured rooms, recorded voices.

``python -m voicewire_book.chapters.echo.filter_length OUT.csv --rooms FOLDER`` makes ``data/echo/lengths.csv`` anew.
Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft
from scipy.linalg import solve_toeplitz
from scipy.signal import fftconvolve

from voicewire._kit import checks
from voicewire.echo import paper
from voicewire.echo.recordings.input_validation import SignalError
from voicewire.echo.scenes.speech import talk
from voicewire.echo.two_path_filter import Guarded
from voicewire_book.chapters.echo.experiments import write_rows
from voicewire_book.chapters.echo.recording_pairs import laboratories, living_room, made_up

__all__ = ["LENGTHS", "SEEDS", "best_fixed", "heard_in", "one_length", "table"]

Samples = NDArray[np.float64]
Rows = list[dict[str, Any]]
SEEDS: Final = 91, 92
LENGTHS: Final = 64, 128, 256, 512, 1024, 2048
SECONDS: Final = 30.0
_NOISE: Final = 0.003  # of the echo's amplitude: -50 dB


@checks.takes(
    error=SignalError, far=checks.array(least=2), microphone=checks.array(least=2), taps=checks.whole(1, 2**14)
)
def best_fixed(far: ArrayLike, microphone: ArrayLike, taps: int) -> Samples:
    r"""The taps that leave the least of the microphone over a whole stretch, if they may not move.

    .. math:: \sum_k g_k \, r(i - k) = p(i), \quad r(i) = \sum_n x(n)\, x(n + i), \quad p(i) = \sum_n x(n)\, d(n + i)
    """
    x, d = np.asarray(far, float), np.asarray(microphone, float)
    if x.shape != d.shape or x.size <= taps:
        raise SignalError(f"{x.size} samples of the far end, {d.size} of the microphone: {taps} taps need more, alike")
    if not x.any():
        raise SignalError("the far end is silent: it says nothing of any tap")
    size = fft.next_fast_len(x.size + taps, real=True)
    X, D = fft.rfft(x, size), fft.rfft(d, size)
    alike, across = (fft.irfft(each, size)[:taps] for each in (np.abs(X) ** 2, X.conj() * D))
    return np.asarray(solve_toeplitz(alike, across))


@checks.takes(error=SignalError, response=checks.array(least=1), seed=checks.seed, seconds=checks.number(1.0, 3600.0))
def heard_in(response: ArrayLike, seed: int, seconds: float = SECONDS) -> tuple[Samples, Samples]:
    """Recorded voices, and what a microphone hears of them in a room."""
    far = talk(seconds, seed, "recorded")
    echo = fftconvolve(far, np.asarray(response, float))[: far.size]
    noise = np.random.default_rng(seed + 100).standard_normal(far.size)
    return far, echo + _NOISE * np.std(echo) * noise


def _ratio(above: Samples, below: Samples) -> float:
    return float(10 * np.log10(np.sum(above**2) / np.sum(below**2)))


def one_length(response: ArrayLike, taps: int, far: Samples, microphone: Samples) -> dict[str, float]:
    """What so many taps leave of the second half, in dB below what is heard."""
    room, half = np.asarray(response, float), far.size // 2
    canceller = Guarded(taps, paper.RATE)
    scale = np.std(far)
    left = {"adaptive": canceller.process(far / scale + 0j, microphone / scale + 0j)[0].real * scale}
    for name, span in (("fixed", slice(half, None)), ("before", slice(half))):
        left[name] = microphone - fftconvolve(far, best_fixed(far[span], microphone[span], taps))[: far.size]
    behind = float(np.sum(room[taps:] ** 2) / np.sum(room**2))
    found = {name: _ratio(microphone[half:], each[half:]) for name, each in left.items()}
    return found | {"white": float(-10 * np.log10(max(behind, 1e-5)))}


def table(
    rooms: Mapping[str, ArrayLike], seeds: Sequence[int] = SEEDS, lengths: Sequence[int] = LENGTHS,
    seconds: float = SECONDS,
) -> Rows:  # fmt: skip
    """Every length in every room, and in a made-up one of 512 samples beside them."""
    rows: Rows = []
    for seed in seeds:
        for name, room in {"made up": made_up(seed), **rooms}.items():
            signals = heard_in(room, seed, seconds)
            rows += [{"room": name, "seed": seed, "taps": L, **one_length(room, L, *signals)} for L in lengths]
    return rows


def _main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m voicewire_book.chapters.echo.filter_length", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT.csv")
    parser.add_argument("--rooms", type=Path, metavar="FOLDER", help="tests/input-other of scene-rir 1.3.0")
    args = parser.parse_args(arguments)
    rooms = {"living room": living_room()}
    try:
        if args.rooms is None:
            print("left out: the laboratories need --rooms, tests/input-other of the source of scene-rir 1.3.0")
        else:
            rooms |= laboratories(args.rooms)
    except SignalError as problem:
        print(problem, file=sys.stderr)
        return 1
    rows = [{name: round(v, 3) if isinstance(v, float) else v for name, v in row.items()} for row in table(rooms)]
    write_rows(args.out, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(_main(sys.argv[1:]))
