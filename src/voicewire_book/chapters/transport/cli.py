"""What ``voicewire record transport`` takes."""

from __future__ import annotations

import argparse

from voicewire._kit.options import number, whole
from voicewire.transport.cli import where

__all__ = ["record_options"]


def record_options(parser: argparse.ArgumentParser) -> None:
    """Add what `voicewire record transport` takes beside its names."""
    parser.add_argument("--network", choices=("lan", "internet"), help="experiment: only these cells, without tables")
    counts = "experiment: 150; series, coap: 60; bounds: 200"
    parser.add_argument("--iterations", type=whole(2, 10**7), metavar="N", help=counts)
    parser.add_argument("--seconds", type=number(above=0.0), help="experiment: begin no new cell after so long")
    parser.add_argument(
        "--again", action="store_true", default=None, help="experiment: forget the finished cells first"
    )
    parser.add_argument("--quiet", action="store_true", default=None, help="no progress bar")
    where(parser)
