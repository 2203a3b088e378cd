"""What is recorded once for TCP against MQTT: ``voicewire record transport``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from voicewire.testbed.capability import choose_bed

__all__ = ["GOES_ON", "RECORDINGS"]

GOES_ON = ("experiment",)
"""What keeps each finished cell in the folder, so that the same command goes on after an interruption."""


def _experiment(
    folder: Path,
    network: str | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    again: bool = False,
    quiet: bool = False,
    bed: str | None = None,
    broker: str | None = None,
) -> None:
    """Run every cell that the folder does not hold yet and put all together into tables."""
    from voicewire.transport import paper, recording
    from voicewire.transport.cells import full_grid
    from voicewire_book.chapters.transport.series import broker_here

    grid = full_grid(iterations or paper.ITERATIONS)
    begin = time.monotonic()
    bed, words = choose_bed(bed)
    print(words)
    which = broker or broker_here()
    if which == "embedded":
        grid = [c for c in grid if c.nodelay]  # Nagle's stall needs a broker that can be told to cause it
    chosen = [c for c in grid if network in (None, c.network)]
    if again:
        for cell in recording.finished(folder, chosen):
            (folder / "cells" / f"{cell.name}.csv").unlink()
    left = recording.record(chosen, folder, bed=bed, which=which, seconds=seconds, progress=not quiet)
    recording.add_minutes(folder, (time.monotonic() - begin) / 60)
    if left or network:
        print(f"{len(left)} cells are still to run: the same command goes on")
        return
    recording.assemble(grid, folder, print)
    command = "voicewire record transport experiment" + (f" --iterations {iterations}" if iterations else "")
    recording.provenance(folder, command, bed, which)


def _captures(folder: Path, broker: str = "embedded") -> None:
    from voicewire_book.chapters.transport.examples import record_examples

    record_examples(folder, broker)


def _extras(folder: Path) -> None:
    from voicewire_book.chapters.transport.extras import record_extras

    print(json.dumps(record_extras(folder), indent=1))


def _series(
    folder: Path, iterations: int = 60, quiet: bool = False, bed: str | None = None, broker: str | None = None
) -> None:
    """Run every series interleaved on one test bed and print what each takes beside its plain counterpart."""
    from voicewire_book.chapters.transport import series

    bed, words = choose_bed(bed)
    print(words)
    about = series.record_series(
        folder, iterations=iterations, bed=bed, which=broker or series.broker_here(),
        command=f"voicewire record transport series --iterations {iterations}", progress=not quiet,
    )  # fmt: skip
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


def _coap(
    folder: Path, iterations: int = 60, quiet: bool = False, bed: str | None = None, broker: str | None = None
) -> None:
    """Time CoAP beside MQTT, by block and under loss, and print the means."""
    from voicewire_book.chapters.transport import coap_timed, series

    bed, words = choose_bed(bed)
    print(words)
    coap_timed.record_coap(
        folder, iterations=iterations, bed=bed, which=broker or series.broker_here(),
        command=f"voicewire record transport coap --iterations {iterations}", progress=not quiet,
    )  # fmt: skip
    if bed == "proxy":
        print("under loss: CoAP alone, as the proxy cannot lose MQTT's segments")
    for loss in coap_timed.LOSSES:
        rows = coap_timed.load_loss(folder, loss)
        for name, found in rows.groupby("protocol"):
            print(f"loss {100 * loss:4.0f} %, {name}: {coap_timed.delays(found, str(name), True).mean():8.1f} ms")


def _rest(folder: Path) -> None:
    from voicewire_book.chapters.transport.at_rest import record_rest

    print(json.dumps(record_rest(folder), indent=1))


def _bounds(folder: Path, iterations: int = 200, broker: str | None = None) -> None:
    """Send messages at each quality of service over links with loss."""
    from voicewire_book.chapters.transport import bounds
    from voicewire_book.chapters.transport.series import broker_here

    command = f"voicewire record transport bounds --iterations {iterations}"
    rows = bounds.record_bounds(folder, messages=iterations, which=broker or broker_here(), command=command)
    for qos in range(3):
        came, in_time = (x.mean() for x in (bounds.reliability(rows, qos), bounds.met(rows, qos, bounds.SPEC.rtt)))
        print(f"QoS {qos}: {came:.1%} arrived, {in_time:.1%} within the mode's own round trips")


def _wireshark(folder: Path) -> None:
    """Let tshark read the book's captures."""
    from voicewire_book import paths
    from voicewire_book.chapters.transport.wireshark import record_wireshark

    record_wireshark(paths.data("transport") / "captures", folder)


def _amqp(folder: Path) -> None:
    from voicewire_book.chapters.transport.amqp_http import record_amqp

    for protocol, sessions in record_amqp(folder)["overhead"].items():
        print(f"{protocol}: " + ", ".join(f"{session} {octets:.1f} B" for session, octets in sessions.items()))


RECORDINGS: dict[str, Callable[..., None]] = {
    "experiment": _experiment, "captures": _captures, "extras": _extras, "series": _series, "coap": _coap,
    "rest": _rest, "bounds": _bounds, "wireshark": _wireshark, "amqp": _amqp,
}  # fmt: skip
"""The experiment, captures of single sessions, what goes beyond in bytes and in time, CoAP, brokers' stores, what
qualities of service bound under loss, the captures as Wireshark's program reads them, AMQP and HTTP."""
