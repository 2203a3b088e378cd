"""`python -m voicewire.mqtt broker …`: this room's commands alone, which start sooner than `voicewire` with all."""

from __future__ import annotations

import argparse
import sys

from voicewire.mqtt import cli


def main() -> int:
    """Run one of the commands and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m voicewire.mqtt")
    cli.register(parser.add_subparsers(required=True))
    options = parser.parse_args()
    return int(options.handler(options))


if __name__ == "__main__":
    sys.exit(main())
