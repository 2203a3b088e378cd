"""`voicewire echo` beside speexdsp and AEC3 on the same trials, in decibels and in processor time.

``python -m voicewire_book.chapters.echo.canceller_comparison OUT.csv --webrtc SOURCE --rooms FOLDER`` makes
``data/echo/cancellers.csv`` anew and says which cancellers ran. Explained in
``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import correlate

from voicewire._kit import checks
from voicewire.echo import paper
from voicewire.echo.recordings.input_validation import SignalError
from voicewire_book.chapters.echo import baseline_cancellers
from voicewire_book.chapters.echo.experiments import write_rows
from voicewire_book.chapters.echo.recording_pairs import LABORATORIES, TRIALS, Trial, high_pass, laboratories, trial

__all__ = ["BANDS", "COLUMNS", "SEEDS", "cancellers", "measured", "run_all", "table"]

Samples = NDArray[np.float64]
Canceller = Callable[[Samples, Samples], baseline_cancellers.Left]
Rows = list[dict[str, Any]]
SEEDS: Final = range(71, 76)
Band = Literal["all", "passed"]
BANDS: Final[tuple[Band, ...]] = ("all", "passed")
"""Whether the outputs are taken as they come, or all behind the high-pass that speexdsp puts before its filter."""
COLUMNS: Final = "trial", "seed", "canceller", "output", "band", "erle", "later", "after", "sdr", "load"
_SIGNAL = checks.array(least=2)
_LATE: Final = 0.05  # s that an output may lag behind its input


def _lag(output: Samples, near: Samples) -> int:
    """Samples by which an output holds the near end later than the microphone did."""
    most = round(_LATE * paper.RATE)
    values = correlate(output, near, "full", "fft")[near.size - 1 - most : near.size + most]
    return int(np.argmax(values)) - most


def _ratio(above: Samples, below: Samples) -> float:
    return float(10 * np.log10(np.sum(above**2) / max(float(np.sum(below**2)), 1e-20)))


@checks.takes(error=SignalError, made=checks.a(Trial), output=_SIGNAL, band=checks.one_of(*BANDS))
def measured(made: Trial, output: Samples, band: Band = "all") -> dict[str, float]:
    """Put an output in numbers, all in dB.

    Notes
    -----
    .. math:: \\mathrm{SDR} = 10 \\log_{10} \\frac{\\sum s^2}{\\sum (e - s)^2}

    Without a canceller it is what the microphone has: about 0 dB in these trials. The output is shifted by what it
    lags, up to 50 ms, and is not scaled.
    """
    if output.size != made.microphone.size:
        raise SignalError(f"the output has {output.size} samples, the microphone {made.microphone.size}")
    talks = made.near != 0
    if band == "passed":
        made = made._replace(microphone=high_pass(made.microphone), near=high_pass(made.near))
    alone = np.flatnonzero(~talks)
    found = {"erle": _ratio(made.microphone[alone], output[alone])}
    half = alone[alone >= output.size // 2]
    found["later"] = _ratio(made.microphone[half], output[half])
    if made.event is not None:
        start = round(made.event[1] * paper.RATE)
        behind = slice(start, start + paper.RATE)
        found["after"] = _ratio(made.microphone[behind], output[behind])
    if talks.any():
        late = _lag(output, made.near)
        heard = np.roll(output, -late)[talks]
        found["sdr"] = _ratio(made.near[talks], heard - made.near[talks])
    return found


def run_all(cancellers: Mapping[str, Canceller], made: Trial) -> Rows:
    """Let each canceller work on one trial."""
    rows: Rows = []
    for name, canceller in cancellers.items():
        left = canceller(made.far, made.microphone)
        for kind in ("linear", "final"):
            output = getattr(left, kind)
            if output is not None:
                load = left.seconds * paper.RATE / made.far.size
                for band in BANDS:
                    through = band == "passed" and not left.passed
                    numbers = measured(made, high_pass(output) if through else output, band)
                    rows.append({"canceller": name, "output": kind, "band": band, **numbers, "load": load})
    return rows


def cancellers(folder: str | Path, webrtc: str | Path | None = None) -> tuple[dict[str, Canceller], list[str]]:
    """Find those that run here."""
    found: dict[str, Canceller] = {"ours": baseline_cancellers.ours}
    left_out = []
    try:
        baseline_cancellers.speex(np.zeros(128), np.zeros(128))
        found["speexdsp"] = baseline_cancellers.speex
    except baseline_cancellers.MissingError as problem:
        left_out.append(str(problem))
    try:
        if webrtc is None:
            raise baseline_cancellers.MissingError(
                "AEC3 needs --webrtc, the unpacked source of aec-audio-processing 1.0.1"
            )
        found["AEC3"] = partial(baseline_cancellers.aec3, library=baseline_cancellers.build_aec3(webrtc, folder))
    except baseline_cancellers.MissingError as problem:
        left_out.append(str(problem))
    return found, left_out


def table(
    found: Mapping[str, Canceller], rooms: Mapping[str, ArrayLike] | None = None, seeds: Sequence[int] = SEEDS
) -> Rows:
    """Put every canceller to every trial."""
    rows: Rows = []
    for name in TRIALS:
        if name in LABORATORIES and (rooms is None or name not in rooms):
            continue
        for seed in seeds:
            for row in run_all(found, trial(name, seed, rooms)):
                whole = {"trial": name, "seed": seed, **row}
                rows.append({column: whole.get(column, "") for column in COLUMNS})
    return rows


def _main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m voicewire_book.chapters.echo.canceller_comparison", description=__doc__
    )
    parser.add_argument("out", type=Path, metavar="OUT.csv")
    parser.add_argument("--webrtc", type=Path, metavar="SOURCE", help="unpacked source of aec-audio-processing 1.0.1")
    parser.add_argument("--rooms", type=Path, metavar="FOLDER", help="tests/input-other of scene-rir 1.3.0")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found, left_out = cancellers(folder, args.webrtc)
        if args.rooms is None:
            left_out.append("the laboratories need --rooms, tests/input-other of the source of scene-rir 1.3.0")
        try:
            rooms = None if args.rooms is None else laboratories(args.rooms)
        except SignalError as problem:
            print(problem, file=sys.stderr)
            return 1
        print("\n".join([f"these run: {', '.join(found)}", *(f"left out: {why}" for why in left_out)]))
        rows = table(found, rooms)
    for row in rows:
        row.update({name: round(row[name], 4) for name in COLUMNS[5:] if row[name] != ""})
    write_rows(args.out, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(_main(sys.argv[1:]))
