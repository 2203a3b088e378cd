"""What is recorded once for TCP against MQTT: ``voicewire record transport``.

``voicewire transport record`` and its neighbours take the single options (which network, how long, go on or anew).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

__all__ = ["GOES_ON", "RECORDINGS"]

GOES_ON = ("experiment",)
"""What keeps each finished cell in the folder, so that the same command goes on after an interruption."""


def _by_command(verb: str, folder: Path) -> None:
    from voicewire.transport.cli import register

    parser = argparse.ArgumentParser(prog="voicewire")
    register(parser.add_subparsers())
    options = parser.parse_args(["transport", verb, "--out", str(folder)])
    if options.handler(options):
        raise RuntimeError(f"voicewire transport {verb} did not end well (see above)")


RECORDINGS: dict[str, Callable[[Path], None]] = {
    name: partial(_by_command, verb)
    for name, verb in (("experiment", "record"), ("captures", "examples"), ("extras", "extras"), ("series", "series"))
}
"""The whole experiment, captures of single sessions, what goes beyond the paper in bytes, and in time."""
