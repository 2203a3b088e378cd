"""`voicewire voip …`: one call, simulated or received."""

from __future__ import annotations

import argparse
import sys

from voicewire._kit.options import number, print_json, seed, share, text
from voicewire.voip.captures import score_cli

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
    rating = min(max(made.r, 0.0), 100.0)  # the scale's ends: the E-model's sum leaves them, and no phone shows that
    below = f"  (the E-model's sum: {made.r:.2f}, shown within 0 to 100)" if rating != made.r else ""
    if options.json:
        print_json(
            {
                "r": rating, "r_unclamped": made.r, "mos": float(mos(made.r)), "quality": quality(made.r),
                "not_played_percent": 100 * made.playout.loss, "frames": made.playout.total,
            }
        )  # fmt: skip
        return 0
    print(
        f"R {rating:.2f}  MOS {float(mos(made.r)):.2f}  {quality(made.r)}  "
        f"not played {100 * made.playout.loss:.2f} %  frames {made.playout.total}{below}"
    )
    return 0


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this part's commands to the house's command line."""
    voip = subparsers.add_parser("voip", help="voice over UDP, TCP and the TFRC family")
    commands = voip.add_subparsers(title="commands", metavar="COMMAND", required=True)
    one = commands.add_parser(
        "call",
        help="simulate and score one call",
        epilog="Example: voicewire voip call 'TFRC SP' G.729 --delay 150 --loss 0.001",
    )
    one.add_argument("transport", type=text, help="UDP, TCP, TFRC, 'TFRC SP', 'TFRC SP FR', 'TFRC SP FR MD', …")
    one.add_argument("codec", nargs="?", type=text, default="G.729", help="G.711, G.729 or G.729A+VAD")
    one.add_argument("--delay", type=number(0.0, 3_600_000.0), default=50.0, metavar="MS", help="one-way delay")
    one.add_argument("--loss", type=share, default=0.0, metavar="P", help="loss probability, both ways")
    one.add_argument(
        "--seconds", type=number(0.02, 86_400.0), default=300.0, help="length of the call, a day at most (default: 300)"
    )
    one.add_argument("--seed", type=seed, default=0, help="of losses and talk spurts (default: 0)")
    one.add_argument("--json", action="store_true", help="print an object instead of lines")
    one.set_defaults(handler=_call)
    score_cli.register(commands)
