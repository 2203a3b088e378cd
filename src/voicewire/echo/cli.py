"""``voicewire echo``: cancel a recorded stereo far end from a microphone recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def register(subparsers: Any) -> None:
    """Add the study's command."""
    parser = subparsers.add_parser(
        "echo",
        help="cancel a recorded stereo echo",
        description="Cancel the echo of a stereo far end (what the loudspeakers played) from a stereo microphone "
        "recording of the same time and rate; write the residual and report the echo return loss enhancement.",
    )
    parser.add_argument("far", type=Path, metavar="FAR.wav", help="stereo recording of the loudspeaker signals")
    parser.add_argument("microphone", type=Path, metavar="MIC.wav", help="stereo recording of the two microphones")
    parser.add_argument("residual", type=Path, metavar="OUT.wav", help="file to write the residual to")
    parser.add_argument("--length", type=int, default=512, help="taps of each echo path (default 512)")
    parser.add_argument("--memory", type=float, default=16.0, help="K in lambda = 1 - 1/(K L) (default 16)")
    parser.add_argument("--passes", type=int, default=3, help="data-reuse passes N_it (default 3)")
    parser.set_defaults(handler=_cancel)


def _cancel(args: argparse.Namespace) -> int:
    import numpy as np
    import soundfile

    from .dcd import WLDRRLSDCD
    from .measures import erle
    from .samples import stereo

    try:
        far, rate = _stereo(args.far)
        microphone, other = _stereo(args.microphone)
        if rate != other:
            raise ValueError(f"{args.far} has {rate} Hz and {args.microphone} {other} Hz: resample one of them")
        n = min(len(far), len(microphone))
        if n == 0:
            raise ValueError("nothing to cancel: a recording is empty")
        memory = args.memory * args.length
        if memory <= 1:
            raise ValueError("--memory times --length must exceed 1 sample")
        canceller = WLDRRLSDCD(args.length, 1 - 1 / memory, args.passes, regularization=1e-2, dtype=np.float32)
        scale = float(np.std(far[:n])) or 1.0
        d = stereo(*(microphone[:n] / scale).T)
        e = canceller.process(stereo(*(far[:n] / scale).T), d)
        soundfile.write(args.residual, np.column_stack([e.real, e.imag]) * scale, rate)
    except (OSError, ValueError, soundfile.SoundFileError) as problem:
        print(f"voicewire echo: {problem}", file=sys.stderr)
        return 1
    late = slice(n // 2, n)
    print(f"{n / rate:.1f} s at {rate} Hz, {args.length} taps, {args.passes} passes")
    print(f"ERLE {erle(d, e):.1f} dB over all, {erle(d[late], e[late]):.1f} dB in the second half")
    print(f"residual: {args.residual}")
    return 0


def _stereo(path: Path) -> tuple[Any, int]:
    import soundfile

    samples, rate = soundfile.read(path, always_2d=True)
    if samples.shape[1] != 2:
        raise ValueError(f"{path} has {samples.shape[1]} channel(s): a stereo recording is needed")
    return samples, int(rate)
