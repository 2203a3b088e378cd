"""``voicewire transport …``: the experiment."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TypeAlias

from voicewire.options import folder, number, whole
from voicewire.transport import icto_cli

__all__ = ["register"]

OUT = Path("recorded") / "transport"
"""Where a recording goes unless told otherwise: not among the book's own data."""


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def register(subparsers: Commands) -> None:
    """Add the commands of this study to the house's command line."""
    _add_experiment(subparsers)
    _add_icto(subparsers)


def _add_experiment(subparsers: Commands) -> None:
    transport = subparsers.add_parser("transport", help="measure TCP against MQTT on made-up networks")
    commands = transport.add_subparsers(title="commands", metavar="COMMAND", required=True)
    machine = commands.add_parser("machine", help="say what this machine can do")
    machine.set_defaults(handler=_machine)
    _add_run(commands)
    _add_record(commands)
    _add_beyond(commands)
    _add_examples(commands)


def _add_run(commands: Commands) -> None:
    run = commands.add_parser("run", help="run one configuration and print its intervals")
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
    _where(run)
    run.set_defaults(handler=_run)


def _add_record(commands: Commands) -> None:
    record = commands.add_parser(
        "record",
        help="run the whole experiment; an interrupted run goes on where it was",
        description="Run every cell that DIR does not hold yet and put all together into tables.",
    )
    record.add_argument("--out", type=folder, default=OUT, metavar="DIR", help="default: %(default)s")
    record.add_argument("--network", choices=("lan", "internet"), help="only this network's cells, without tables")
    record.add_argument("--iterations", type=whole(1, 10**7), default=None, help="default: 150, as in the paper")
    record.add_argument("--seconds", type=number(above=0.0), help="begin no new cell after so long")
    record.add_argument("--again", action="store_true", help="forget the finished cells first")
    record.add_argument("--quiet", action="store_true", help="no progress bar")
    _where(record)
    record.set_defaults(handler=_record)


def _add_beyond(commands: Commands) -> None:
    extras = commands.add_parser("extras", help="measure what goes beyond the paper: CoAP, MQTT 5, TLS, loss")
    extras.add_argument("--out", type=folder, default=OUT, metavar="DIR", help="default: %(default)s")
    extras.set_defaults(handler=_extras)

    series = commands.add_parser(
        "series",
        help="time what goes beyond the paper: TLS, MQTT 5, CoAP, several publishers and subscribers",
        description="Run every series interleaved on one test bed, print what each takes beside its plain counterpart "
        "(95 % t intervals) and write series.csv and series.json.",
    )
    series.add_argument("--out", type=folder, default=OUT, metavar="DIR", help="default: %(default)s")
    series.add_argument(
        "--iterations",
        type=whole(2, 10**6),
        default=60,
        metavar="N",
        help="rounds for each payload (default: %(default)s)",
    )
    series.add_argument("--quiet", action="store_true", help="no progress bar")
    _where(series)
    series.set_defaults(handler=_series)


def _add_examples(commands: Commands) -> None:
    examples = commands.add_parser("examples", help="record the captures that the notebooks take apart")
    examples.add_argument("--out", type=folder, default=OUT, metavar="DIR", help="default: %(default)s")
    examples.add_argument(
        "--broker", choices=("embedded", "mosquitto"), default="embedded", help="default: %(default)s"
    )
    examples.set_defaults(handler=_examples)


def _add_icto(subparsers: Commands) -> None:
    icto_cli.register(subparsers)


def _where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bed", choices=("namespaces", "proxy"), help="default: the best that this machine has")
    parser.add_argument(
        "--broker",
        choices=("embedded", "mosquitto"),
        help="default: mosquitto for record and series where it is installed, else embedded",
    )


def _fail(error: Exception | str) -> int:
    print(f"voicewire: {error}", file=sys.stderr)
    return 1


def _machine(options: argparse.Namespace) -> int:
    from voicewire.testbed import capabilities

    found = capabilities()
    print(found.line())
    print(f"machine: {found.machine}")
    for name in ("namespaces", "tun", "netem", "capture", "counters", "ipv6", "mosquitto", "tshark"):
        print(f"{name:<12}{'yes' if getattr(found, name) else 'no'}")
    if found.why_not:
        print(f"why no namespaces: {found.why_not}")
    return 0


def _bed(options: argparse.Namespace) -> str:
    from voicewire.testbed import TestbedError, capabilities

    found = capabilities()
    bed = options.bed or found.bed
    if bed == "recorded":
        raise TestbedError("this system cannot count segments; see the recorded rows in data/transport")
    print(found.line() if bed == found.bed else "test bed: loopback with the delay proxy, TCP_INFO counters")
    return str(bed)


def _run(options: argparse.Namespace) -> int:
    import pandas as pd

    from voicewire.testbed import TestbedError
    from voicewire.transport.cells import Cell
    from voicewire.transport.recording import run_cell, summarise

    cell = Cell(
        options.network, options.transport, options.qos if options.transport == "mqtt" else 0, options.session,
        options.kind, options.size, options.gap, not options.nagle, max(options.iterations, 2),
    )  # fmt: skip
    try:
        rows = pd.DataFrame(run_cell(cell, _bed(options), options.broker or "embedded"))
    except (TestbedError, OSError) as error:
        return _fail(error)
    print(cell.name)
    for row in summarise(rows.replace("", float("nan"))).itertuples():
        print(f"{row.metric:<24}{row.mean:12.2f}  [{row.low:.2f}, {row.high:.2f}]  n = {row.n}")
    return 0


def _record(options: argparse.Namespace) -> int:
    from voicewire.testbed import TestbedError
    from voicewire.transport import paper, recording
    from voicewire.transport.cells import full_grid
    from voicewire.transport.series import broker_here

    folder = options.out
    folder.mkdir(parents=True, exist_ok=True)
    grid = full_grid(options.iterations or paper.ITERATIONS)
    chosen = [c for c in grid if options.network in (None, c.network)]
    begin = time.monotonic()
    try:
        bed = _bed(options)
        which = options.broker or broker_here()
        if which == "embedded":
            grid = [c for c in grid if c.nodelay]  # Nagle's stall needs a broker that can be told to cause it
            chosen = [c for c in chosen if c.nodelay]
        if options.again:
            for cell in recording.finished(folder, chosen):
                (folder / "cells" / f"{cell.name}.csv").unlink()
        left = recording.record(
            chosen, folder, bed=bed, which=which, seconds=options.seconds, progress=not options.quiet
        )
        recording.add_minutes(folder, (time.monotonic() - begin) / 60)
        if left or options.network:
            print(f"{len(left)} cells are still to run: the same command goes on")
            return 0
        recording.assemble(grid, folder, print)
        command = "voicewire transport record" + (f" --iterations {options.iterations}" if options.iterations else "")
        recording.provenance(folder, command, bed, which)
    except (TestbedError, OSError) as error:
        return _fail(error)
    return 0


def _examples(options: argparse.Namespace) -> int:
    from voicewire.testbed import TestbedError
    from voicewire.transport.examples import record_examples

    try:
        record_examples(options.out, options.broker)
    except (TestbedError, OSError) as error:
        return _fail(error)
    return 0


def _extras(options: argparse.Namespace) -> int:
    from voicewire.testbed import TestbedError
    from voicewire.transport.extras import record_extras

    try:
        print(json.dumps(record_extras(options.out), indent=1))
    except (TestbedError, OSError) as error:
        return _fail(error)
    return 0


def _series(options: argparse.Namespace) -> int:
    from voicewire.testbed import TestbedError
    from voicewire.transport import series

    folder = options.out
    command = f"voicewire transport series --iterations {options.iterations}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        about = series.record_series(
            folder, iterations=options.iterations, bed=_bed(options), which=options.broker or series.broker_here(),
            command=command, progress=not options.quiet,
        )  # fmt: skip
    except (TestbedError, OSError) as error:
        return _fail(error)
    for name, why in about["not measured here"].items():
        print(f"{name}: not measured: {why}")
    for network, spec in series.NETWORKS.items():
        rows = series.load_series(folder, network)
        for size in series.SIZES:
            print(f"\n{network} ({spec}), {size} B: time (ms) on paper, measured, and beyond the plain counterpart")
            for r in series.table(rows, size, spec.rtt).to_dict("records"):
                line = f"{r['series']:<22}{r['counted_ms']:8.1f}{r['mean_ms']:9.2f} [{r['low']:.2f}, {r['high']:.2f}]"
                if isinstance(r["plain"], str):
                    line += f"  {r['added_ms']:+.2f} [{r['added_low']:+.2f}, {r['added_high']:+.2f}] to {r['plain']}"
                print(line)
    return 0
