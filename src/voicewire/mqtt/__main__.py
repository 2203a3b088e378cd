"""`python -m voicewire.mqtt broker …`: this room's commands alone, which start sooner than `voicewire` with all."""

from __future__ import annotations

import argparse
import os
import sys

from voicewire.mqtt import cli


def main() -> int:
    """Run one of the commands and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # where only ASCII can be shown, a sign is spelt out instead of raised
            stream.reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser(prog="python -m voicewire.mqtt")
    cli.register(parser.add_subparsers(required=True))
    options = parser.parse_args()
    try:
        return int(options.handler(options))
    except BrokenPipeError:  # the reader, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
