"""``voicewire transport …`` (the experiment) and ``voicewire icto …`` (cipher objects)."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TypeAlias

from voicewire.options import folder, new_file, number, readable_up_to, text, whole

__all__ = ["register"]

_KEY, _OBJECT = readable_up_to(2**16), readable_up_to(256 * 2**20)
"""A key is four lines; an object is held in memory."""
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
    icto = subparsers.add_parser("icto", help="seal, open and inspect cipher objects that carry their own rules")
    commands = icto.add_subparsers(title="commands", metavar="COMMAND", required=True)
    key = commands.add_parser("key", help="make NAME.key (private) and NAME.pub")
    key.add_argument("name", type=_stem, metavar="NAME", help="path without the ending")
    key.set_defaults(handler=_key)
    seal = commands.add_parser(
        "seal",
        help="seal files into one object",
        description="Each --part is NAME=FILE:READER[,READER…][@UNTIL]; UNTIL is a UTC time such as 2030-01-31T12:00.",
    )
    seal.add_argument(
        "--part",
        action="append",
        required=True,
        type=_part,
        metavar="NAME=FILE:READERS[@UNTIL]",
        help="a file and who may read it; may be given several times",
    )
    seal.add_argument("--to", action="append", required=True, type=_KEY, metavar="PUB", help="a participant's .pub")
    seal.add_argument("--owner", required=True, type=_KEY, metavar="KEY", help="the owner's .key")
    seal.add_argument(
        "--cipher", choices=("aes-256-gcm", "chacha20-poly1305"), default="aes-256-gcm", help="default: %(default)s"
    )
    seal.add_argument("--out", required=True, type=new_file, metavar="FILE", help="the object to write")
    seal.set_defaults(handler=_seal)
    opened = commands.add_parser("open", help="open the parts that the rules give to a reader")
    opened.add_argument("object", type=_OBJECT, help="a sealed object's file")
    opened.add_argument("--reader", required=True, type=_KEY, metavar="KEY", help="the reader's .key")
    opened.add_argument("--owner", required=True, type=_KEY, metavar="PUB", help="who must have sealed it")
    opened.add_argument(
        "--part", type=text, action="append", metavar="NAME", help="default: all that the reader may open"
    )
    opened.add_argument("--out", required=True, type=folder, metavar="FOLDER", help="for one file a part")
    opened.set_defaults(handler=_open)
    look = commands.add_parser("inspect", help="print an object's rules and sizes; needs no key")
    look.add_argument("object", type=_OBJECT, help="a sealed object's file")
    look.add_argument("--owner", type=_KEY, metavar="PUB", help="also check who sealed it")
    look.set_defaults(handler=_inspect)


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


def _key(options: argparse.Namespace) -> int:
    from voicewire.transport.icto import Identity

    private, public = options.name
    if there := next((path for path in options.name if path.exists()), None):
        return _fail(f"{there} is there already, and a key is never overwritten")
    try:
        identity = Identity.create(private.stem)
        identity.save(private)
        identity.public.save(public)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}")
    print(f"{private.name}: keep it secret; {public.name}: give it away")
    return 0


def _part(given: str) -> tuple[str, Path, tuple[str, ...], int | None]:
    import datetime

    name, equals, rest = given.partition("=")
    file, colon, rule = rest.rpartition(":") if "@" not in rest else _split_until(rest)
    readers, _, until = rule.partition("@")
    if not (name and equals and file and colon and readers):
        raise argparse.ArgumentTypeError(f"{given!r:.200} is not NAME=FILE:READER[,READER…][@UNTIL]")
    path = _OBJECT(file)
    if not until:
        return name, path, tuple(readers.split(",")), None
    try:
        moment = datetime.datetime.fromisoformat(until)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{given!r:.200}: UNTIL must be a time such as 2030-01-31T12:00") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return name, path, tuple(readers.split(",")), int(moment.timestamp())


def _stem(given: str) -> tuple[Path, Path]:
    """The two files of a name."""
    return new_file(text(given) + ".key"), new_file(text(given) + ".pub")


def _split_until(rest: str) -> tuple[str, str, str]:
    """The time may hold colons of its own: split the file off before the ``@``."""
    before, _, until = rest.rpartition("@")
    file, colon, readers = before.rpartition(":")
    return file, colon, f"{readers}@{until}"


def _seal(options: argparse.Namespace) -> int:
    from voicewire.transport.icto import Identity, PublicIdentity, Rule, seal
    from voicewire.transport.icto_format import IctoError

    try:
        chosen = options.part
        if len({name for name, *_ in chosen}) < len(chosen):
            raise IctoError("two parts have the same name")
        sealed = seal(
            {name: file.read_bytes() for name, file, _, _ in chosen},
            {name: Rule(readers, until) for name, _, readers, until in chosen},
            [PublicIdentity.load(p) for p in options.to],
            Identity.load(options.owner),
            cipher=options.cipher,
        )
        options.out.write_bytes(sealed)
    except IctoError as error:
        return _fail(error)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}")
    print(f"{options.out.name}: {len(sealed)} bytes")
    return 0


def _open(options: argparse.Namespace) -> int:
    from voicewire.transport.icto import Identity, PublicIdentity, open_object
    from voicewire.transport.icto_format import IctoError

    try:
        reader, owner = Identity.load(options.reader), PublicIdentity.load(options.owner)
        try:
            parts = open_object(options.object.read_bytes(), reader, owner, parts=options.part)
        except IctoError as error:
            return _fail(f"{options.object.name}: {error}")
        options.out.mkdir(parents=True, exist_ok=True)
        for number, (name, data) in enumerate(parts.items()):
            # a part's name comes from elsewhere: it never becomes a path
            safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in name)[:60]
            (options.out / f"{number:02d}-{safe}").write_bytes(data)
            print(f"{number:02d}-{safe}: {len(data)} bytes")
    except IctoError as error:
        return _fail(error)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}")
    return 0


def _inspect(options: argparse.Namespace) -> int:
    from voicewire.transport.icto import PublicIdentity, inspect
    from voicewire.transport.icto_format import IctoError

    try:
        owner = PublicIdentity.load(options.owner) if options.owner else None
        try:
            rules = inspect(options.object.read_bytes(), owner)
        except IctoError as error:
            return _fail(f"{options.object.name}: {error}")
        print(json.dumps(rules, indent=1, ensure_ascii=False))
    except IctoError as error:
        return _fail(error)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}")
    return 0
