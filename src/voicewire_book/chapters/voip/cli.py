"""What ``voicewire record voip`` takes."""

from __future__ import annotations

import argparse

from voicewire._kit.options import number, whole
from voicewire.sweep.arguments import add_sweep_arguments

__all__ = ["record_options"]


def record_options(parser: argparse.ArgumentParser) -> None:
    """Add what `voicewire record voip` takes beside its names."""
    parser.add_argument("--calls", type=whole(1, 10_000), metavar="N", help="seeds a point (default 30)")
    parser.add_argument("--seconds", type=number(0.02, 86_400.0), help="length of each call (default 300)")
    add_sweep_arguments(parser)
