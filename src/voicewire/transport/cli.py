"""``voicewire transport …``: one configuration of the experiment, and what this machine can do."""

from __future__ import annotations

import argparse
import sys
from typing import TypeAlias

from voicewire._kit.options import number, print_json, whole
from voicewire.transport.secure_objects import icto_cli

__all__ = ["register"]

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def register(subparsers: Commands) -> None:
    """Add the commands of this study to the house's command line."""
    _add_experiment(subparsers)
    _add_icto(subparsers)


def _add_experiment(subparsers: Commands) -> None:
    transport = subparsers.add_parser("transport", help="measure TCP against MQTT on made-up networks")
    commands = transport.add_subparsers(title="commands", metavar="COMMAND", required=True)
    machine = commands.add_parser(
        "machine", help="say what this machine can do", epilog="Example: voicewire transport machine"
    )
    machine.set_defaults(handler=_machine)
    machine.add_argument("--json", action="store_true", help="print an object instead of lines")
    _add_run(commands)


def _add_run(commands: Commands) -> None:
    run = commands.add_parser(
        "run",
        help="run one configuration and print its intervals",
        epilog="Example: voicewire transport run --transport tcp --bed proxy --iterations 3",
    )
    run.add_argument("--network", choices=("lan", "internet"), default="lan", help="made-up network: %(default)s")
    run.add_argument("--transport", choices=("tcp", "mqtt"), default="mqtt", help="default: %(default)s")
    run.add_argument("--qos", type=int, choices=(0, 1, 2), default=0, help="MQTT's: default 0")
    run.add_argument(
        "--session",
        choices=("fresh", "persistent", "loop"),
        default="fresh",
        help="a connection for each message, one kept open, or one with all messages in a row (default: fresh)",
    )
    run.add_argument("--kind", choices=("bytes", "file", "icto"), default="bytes", help="payload (default: bytes)")
    run.add_argument("--size", type=whole(1, 10**7), default=100, help="payload in bytes")
    run.add_argument(
        "--gap", type=number(0.0, 1e4), default=0.0, help="pause between messages of a loop, in round-trip times"
    )
    run.add_argument("--nagle", action="store_true", help="leave Nagle's algorithm on in the broker")
    run.add_argument("--iterations", type=whole(1, 10**7), default=20, help="messages to measure (default: 20)")
    where(run)
    run.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    run.set_defaults(handler=_run)


def _add_icto(subparsers: Commands) -> None:
    icto_cli.register(subparsers)


def where(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the test bed and the broker; `voicewire record transport` has them, too."""
    parser.add_argument("--bed", choices=("namespaces", "proxy"), help="default: the best that this machine has")
    parser.add_argument(
        "--broker",
        choices=("embedded", "mosquitto"),
        help="default: mosquitto for recordings of times where it is installed, else embedded",
    )


def _fail(error: Exception | str) -> int:
    print(f"voicewire: {error}", file=sys.stderr)
    return 1


def _machine(options: argparse.Namespace) -> int:
    from voicewire.testbed.capability import capabilities

    found = capabilities()
    names = ("namespaces", "tun", "netem", "capture", "counters", "ipv6", "mosquitto", "tshark")
    if options.json:
        rows = {"machine": found.machine, "why no namespaces": found.why_not or None}
        print_json(rows | {name: bool(getattr(found, name)) for name in names})
        return 0
    print(found.line())
    print(f"machine: {found.machine}")
    for name in names:
        print(f"{name:<12}{'yes' if getattr(found, name) else 'no'}")
    if found.why_not:
        print(f"why no namespaces: {found.why_not}")
    return 0


def _run(options: argparse.Namespace) -> int:
    import pandas as pd

    from voicewire.testbed.capability import choose_bed
    from voicewire.testbed.errors import TestbedError
    from voicewire.transport.experiment_grid import Cell
    from voicewire.transport.measurement_runs import run_cell, summarise

    cell = Cell(
        options.network, options.transport, options.qos if options.transport == "mqtt" else 0, options.session,
        options.kind, options.size, options.gap, not options.nagle, max(options.iterations, 2),
    )  # fmt: skip
    try:
        bed, words = choose_bed(options.bed)
        rows = pd.DataFrame(run_cell(cell, bed, options.broker or "embedded"))
    except (TestbedError, OSError) as error:
        return _fail(error)
    summary = summarise(rows.replace("", float("nan")))
    if options.json:
        print_json(summary.to_dict("records"))
        return 0
    print(words)
    print(cell.name)
    for row in summary.itertuples():
        print(f"{row.metric:<24}{row.mean:12.2f}  [{row.low:.2f}, {row.high:.2f}]  n = {row.n}")
    return 0
