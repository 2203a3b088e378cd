"""``voicewire echo``: cancel a recorded far end from a microphone recording, and say what was found."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from voicewire._kit.options import new_file, number, positive, print_json, readable, text, whole

__all__ = ["register"]


def register(subparsers: Any) -> None:
    """Add the study's command."""
    parser = subparsers.add_parser(
        "echo",
        help="cancel a recorded echo",
        description="Cancel the echo of a far end (what the loudspeakers played) from a microphone recording of the "
        "same rate, mono or stereo: find the delay and the drift of the clocks, take both out, write the residual and "
        "report the echo return loss enhancement over time.",
        epilog="Exit status: 1 if a recording can't be used or holds no echo of the other; one line says why.",
    )
    parser.add_argument("far", type=readable, metavar="FAR.wav", help="recording of the loudspeaker signals")
    parser.add_argument(
        "microphone", type=readable, nargs="?", metavar="MIC.wav", help="recording of the microphones (not with --live)"
    )
    parser.add_argument(
        "residual", type=new_file, nargs="?", metavar="OUT.wav", help="file to write the residual to (not with --live)"
    )
    parser.add_argument(
        "--live",
        type=new_file,
        metavar="OUT.wav",
        help="play FAR.wav, record the microphone meanwhile and write the residual here as it comes, until FAR.wav is "
        "over or Ctrl-C is pressed; only FAR.wav is played, so nothing can howl; takes pip install sounddevice",
    )
    parser.add_argument("--keep", type=new_file, metavar="MIC.wav", help="with --live: keep what the microphone heard")
    parser.add_argument("--device", type=text, metavar="NAME", help="with --live: name or number of the sound device")
    parser.add_argument("--length", type=whole(1, 2**14), default=512, help="taps of each echo path (default 512)")
    parser.add_argument("--memory", type=positive, default=64.0, help="K in lambda = 1 - 1/(K L) (default 64)")
    parser.add_argument(
        "--passes", type=whole(1, 1000), default=1, help="data-reuse passes N_it (default 1; more overshoot on speech)"
    )
    parser.add_argument(
        "--delay", type=number(-3.6e6, 3.6e6), metavar="MS", help="delay of the microphone in ms (default: estimated)"
    )
    parser.add_argument(
        "--most", type=number(1.0, 6e4), default=1000.0, metavar="MS", help="longest delay looked for (default 1000)"
    )
    parser.add_argument("--picture", type=new_file, metavar="FILE.png", help="draw ERLE and levels over time")
    parser.add_argument("--json", action="store_true", help="print an object instead of lines")
    parser.set_defaults(handler=_cancel)


def _cancel(args: argparse.Namespace) -> int:
    import soundfile

    from voicewire.echo.recordings.live import cancel_live
    from voicewire.echo.recordings.stream import cancel_files

    try:
        _told_apart(args)
        settings = {
            "length": args.length, "memory": args.memory, "passes": args.passes, "most": args.most / 1000,
            "delay": None if args.delay is None else args.delay / 1000,
        }  # fmt: skip
        if args.live is None:
            report = cancel_files(args.far, args.microphone, args.residual, **settings)
        else:
            report = cancel_live(args.far, args.live, kept=args.keep, device=args.device, **settings)
        if args.picture is not None:
            report.picture(args.picture)
    except (OSError, ValueError, soundfile.SoundFileError) as problem:
        print(f"voicewire echo: {problem}", file=sys.stderr)
        return 1
    residual = args.residual or args.live
    if args.json:
        print_json(report.as_object() | {"residual": str(residual)})
        return 0
    print("\n".join(report.lines()))
    print(f"residual: {residual} ({report.written})")
    return 0


def _told_apart(args: argparse.Namespace) -> None:
    """Refuse what doesn't go together, and a file that would be read and written, or written twice."""
    if args.live is None and args.residual is None:
        raise ValueError("name FAR.wav, MIC.wav and OUT.wav, or FAR.wav and --live OUT.wav")
    if args.live is None and (args.keep is not None or args.device is not None):
        raise ValueError("--keep and --device go with --live")
    if args.live is not None and args.microphone is not None:
        raise ValueError("with --live the microphone is recorded: name FAR.wav and --live OUT.wav only")
    files = [path.resolve() for path in (args.far, args.microphone) if path is not None]
    for path in (args.residual, args.live, args.keep, args.picture):
        if path is not None and path.resolve() in files:
            raise ValueError(f"{path} is a recording to read, or is written already: name another file")
        files += [path.resolve()] if path is not None else []
