"""`voicewire voip …`: one call, or the recorded sweep."""

from __future__ import annotations

import argparse
import sys

from voicewire.options import new_file, number, seed, share, text, whole

__all__ = ["register"]


def _call(options: argparse.Namespace) -> int:
    from voicewire.voip.calls import call
    from voicewire.voip.emodel import mos, quality
    from voicewire.voip.errors import VoipError

    try:
        made = call(
            options.transport,
            options.codec,
            delay_ms=options.delay,
            loss=options.loss,
            seconds=options.seconds,
            seed=options.seed,
        )
    except VoipError as error:
        print(f"voicewire voip call: {error}", file=sys.stderr)
        return 1
    print(
        f"R {made.r:.2f}  MOS {float(mos(made.r)):.2f}  {quality(made.r)}  "
        f"not played {100 * made.playout.loss:.2f} %  frames {made.playout.total}"
    )
    return 0


def _sweep(options: argparse.Namespace) -> int:
    from voicewire.voip.record import quality

    points = quality(options.out, options.calls, options.seconds, workers=options.workers, scheduler=options.scheduler)
    print(f"{points} points")
    return 0


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this part's commands to the house's command line."""
    from voicewire.sweep import add_sweep_arguments

    voip = subparsers.add_parser("voip", help="voice over UDP, TCP and the TFRC family")
    commands = voip.add_subparsers(title="commands", metavar="COMMAND", required=True)
    one = commands.add_parser("call", help="simulate and score one call")
    one.add_argument("transport", type=text, help="UDP, TCP, TFRC, 'TFRC SP', 'TFRC SP FR', 'TFRC SP FR MD', …")
    one.add_argument("codec", nargs="?", type=text, default="G.729", help="G.711, G.729 or G.729A+VAD")
    one.add_argument("--delay", type=number(0.0, 3_600_000.0), default=50.0, metavar="MS", help="one-way delay")
    one.add_argument("--loss", type=share, default=0.0, metavar="P", help="loss probability, both ways")
    one.add_argument(
        "--seconds", type=number(0.02, 86_400.0), default=300.0, help="length of the call, a day at most (default: 300)"
    )
    one.add_argument("--seed", type=seed, default=0, help="of losses and talk spurts (default: 0)")
    one.set_defaults(handler=_call)
    many = commands.add_parser("sweep", help="all quality figures, written as CSV")
    many.add_argument("out", type=new_file, help="file to write")
    many.add_argument("--calls", type=whole(1, 10_000), default=30, help="seeds a point (default: 30)")
    many.add_argument(
        "--seconds", type=number(0.02, 86_400.0), default=300.0, help="length of each call (default: 300)"
    )
    add_sweep_arguments(many)
    many.set_defaults(handler=_sweep)
