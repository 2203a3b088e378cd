"""``voicewire echo``: cancel a recorded far end from a microphone recording, and say what was found."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from voicewire._kit.options import new_file, number, positive, print_json, readable, text, whole

__all__ = ["register"]


def register(subparsers: Any) -> None:
    """Add the study's command."""
    parser = subparsers.add_parser(
        "echo",
        help="cancel a recorded echo",
        description="Take the echo of what loudspeakers played (FAR.wav) out of what a microphone heard (MIC.wav), "
        "mono or stereo, of one rate. Delay, clock drift, jumps and gain are found and followed; the echo return loss "
        "enhancement (ERLE) is told.",
        epilog="Example: voicewire echo --sample && voicewire echo far.wav mic.wav out.wav",
    )
    parser.add_argument(
        "far", type=readable, nargs="?", metavar="FAR.wav", help="recording of the loudspeaker signals"
    )
    parser.add_argument("microphone", type=readable, nargs="?", metavar="MIC.wav", help="recording of the microphones")
    parser.add_argument("residual", type=new_file, nargs="?", metavar="OUT.wav", help="file to write the residual to")
    parser.add_argument("--sample", action="store_true", help="write far.wav and mic.wav, a made-up pair, and stop")
    parser.add_argument(
        "--live",
        type=new_file,
        metavar="OUT.wav",
        help="play FAR.wav, record meanwhile, write the residual here until it is over or Ctrl-C; takes pip install "
        "sounddevice",
    )
    parser.add_argument("--keep", type=new_file, metavar="MIC.wav", help="with --live: keep what the microphone heard")
    parser.add_argument("--device", type=text, metavar="NAME", help="with --live: name or number of the sound device")
    parser.add_argument(
        "--tail", type=number(1.0, 1000.0), metavar="MS",
        help="length of each echo path (default 80; stereo at most 512 taps)",
    )  # fmt: skip
    parser.add_argument("--length", type=whole(1, 2**14), metavar="L", help="the same in taps, instead of --tail")
    parser.add_argument(
        "--memory", type=positive, metavar="K", help="lambda = 1 - 1/(K L) (default 16; with --length 64)"
    )
    parser.add_argument("--passes", type=whole(1, 1000), default=1, metavar="N", help="data-reuse passes (default 1)")
    parser.add_argument(
        "--delay", type=number(-3.6e6, 3.6e6), metavar="MS", help="delay of the microphone (default: found, followed)"
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
        if args.sample:
            return _sample(args)
        _told_apart(args)
        settings = {
            "length": args.length, "memory": args.memory, "passes": args.passes, "most": args.most / 1000,
            "delay": None if args.delay is None else args.delay / 1000, "tail": args.tail,
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


def _sample(args: argparse.Namespace) -> int:
    """Write a pair of recordings to try the command on."""
    from voicewire.echo.recordings.sample import write_pair

    if args.far is not None:
        raise ValueError("--sample stands alone: it writes far.wav and mic.wav here")
    print("\n".join(write_pair(Path())))
    return 0


def _told_apart(args: argparse.Namespace) -> None:
    """Refuse what doesn't go together, and a file that would be read and written, or written twice."""
    if args.length is not None and args.tail is not None:
        raise ValueError("--length and --tail say the same: name one of them")
    if args.far is None or (args.live is None and args.residual is None):
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
