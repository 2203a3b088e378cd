"""``voicewire echo``: cancel a recorded stereo far end from a microphone recording."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from voicewire.options import new_file, positive, print_json, readable, whole

__all__ = ["register"]


def register(subparsers: Any) -> None:
    """Add the study's command.

    Parameters
    ----------
    subparsers : argparse subparsers
        Of the command ``voicewire``.

    Notes
    -----
    Chapter ``notebooks/echo/01_adaptive_filters``.

    Examples
    --------
    >>> import argparse
    >>> parser = argparse.ArgumentParser()
    >>> register(parser.add_subparsers())
    >>> "echo" in parser.format_help()
    True
    """
    parser = subparsers.add_parser(
        "echo",
        help="cancel a recorded stereo echo",
        description="Cancel the echo of a stereo far end (what the loudspeakers played) from a stereo microphone "
        "recording of the same time and rate; write the residual and report the echo return loss enhancement.",
    )
    parser.add_argument("far", type=readable, metavar="FAR.wav", help="stereo recording of the loudspeaker signals")
    parser.add_argument("microphone", type=readable, metavar="MIC.wav", help="stereo recording of the two microphones")
    parser.add_argument("residual", type=new_file, metavar="OUT.wav", help="file to write the residual to")
    parser.add_argument("--length", type=whole(1, 2**14), default=512, help="taps of each echo path (default 512)")
    parser.add_argument("--memory", type=positive, default=64.0, help="K in lambda = 1 - 1/(K L) (default 64)")
    parser.add_argument(
        "--passes", type=whole(1, 1000), default=3, help="data-reuse passes N_it (default 3; more overshoot on speech)"
    )
    parser.add_argument("--json", action="store_true", help="print an object instead of lines")
    parser.set_defaults(handler=_cancel)


def _cancel(args: argparse.Namespace) -> int:
    import soundfile

    from voicewire.echo.cancel import cancel, read_stereo, write_stereo

    try:
        if args.residual.resolve() in (args.far.resolve(), args.microphone.resolve()):
            raise ValueError(f"{args.residual} is a recording to read: name another file for the residual")
        far, rate = read_stereo(args.far)
        microphone, other = read_stereo(args.microphone)
        if rate != other:
            raise ValueError(f"{args.far} has {rate} Hz and {args.microphone} {other} Hz: resample one of them")
        done = cancel(far, microphone, rate, length=args.length, memory=args.memory, passes=args.passes, progress=True)
        how = write_stereo(args.residual, done.residual, rate)
    except (OSError, ValueError, soundfile.SoundFileError) as problem:
        print(f"voicewire echo: {problem}", file=sys.stderr)
        return 1
    seconds = len(done.residual) / rate
    if args.json:
        print_json(
            {
                "seconds": seconds, "rate": rate, "taps": args.length, "passes": args.passes, "erle_db": done.erle(),
                "erle_second_half_db": done.erle(seconds / 2), "residual": str(args.residual), "written": how,
            }
        )  # fmt: skip
        return 0
    print(f"{seconds:.1f} s at {rate} Hz, {args.length} taps, {args.passes} passes")
    print(f"ERLE {done.erle():.1f} dB over all, {done.erle(seconds / 2):.1f} dB in the second half")
    print(f"residual: {args.residual} ({how})")
    return 0
