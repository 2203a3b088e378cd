"""What ``voicewire record emqtt`` takes."""

from __future__ import annotations

import argparse

from voicewire._kit.options import seed, whole

__all__ = ["record_options"]


def record_options(parser: argparse.ArgumentParser) -> None:
    """Add what `voicewire record emqtt` takes beside its names."""
    parser.add_argument("--tests", type=whole(3, 100_000), metavar="N", help="trials of each kind (default 60)")
    parser.add_argument("--seed", type=seed, metavar="N", help="seed of the order of trials (default 2023)")
