"""`voicewire emqtt-record`: run the experiments of chapter 5 again."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def register(subparsers: Any) -> None:
    """Add the command."""
    command = subparsers.add_parser(
        "emqtt-record",
        help="record the experiments of the E-MQTT study",
        description="Measure end-to-end, completion and broker-subscriber delays and write them as CSV.",
    )
    command.add_argument("folder", type=Path, help="where the tables are written")
    command.add_argument("--tests", type=int, default=60, metavar="N", help="trials of each kind (default 60)")
    command.add_argument(
        "--seed", type=int, default=2023, metavar="N", help="seed of the order of trials (default 2023)"
    )
    command.set_defaults(handler=_record)


def _record(options: argparse.Namespace) -> int:
    from voicewire.emqtt.record import record

    if options.tests < 3:
        print("voicewire emqtt-record: at least 3 tests are needed", file=sys.stderr)
        return 2
    try:
        record(options.folder, options.tests, options.seed)
    except (OSError, RuntimeError) as error:
        print(f"voicewire emqtt-record: {error}", file=sys.stderr)
        return 1
    return 0
