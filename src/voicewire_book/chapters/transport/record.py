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
    from voicewire.transport import measurement_runs, paper
    from voicewire.transport.experiment_grid import full_grid
    from voicewire_book.chapters.transport.extension_timings import broker_here

    grid = full_grid(iterations or paper.ITERATIONS)
    begin = time.monotonic()
    bed, words = choose_bed(bed)
    print(words)
    which = broker or broker_here()
    if which == "embedded":
        grid = [c for c in grid if c.nodelay]  # Nagle's stall needs a broker that can be told to cause it
    chosen = [c for c in grid if network in (None, c.network)]
    if again:
        for cell in measurement_runs.finished(folder, chosen):
            (folder / "cells" / f"{cell.name}.csv").unlink()
    left = measurement_runs.record(chosen, folder, bed=bed, which=which, seconds=seconds, progress=not quiet)
    measurement_runs.add_minutes(folder, (time.monotonic() - begin) / 60)
    if left or network:
        print(f"{len(left)} cells are still to run: the same command goes on")
        return
    measurement_runs.assemble(grid, folder, print)
    command = "voicewire record transport experiment" + (f" --iterations {iterations}" if iterations else "")
    measurement_runs.provenance(folder, command, bed, which)


def _captures(folder: Path, broker: str = "embedded") -> None:
    from voicewire_book.chapters.transport.captured_sessions import record_examples

    record_examples(folder, broker)


def _extras(folder: Path) -> None:
    from voicewire_book.chapters.transport.extension_experiments import record_extras

    print(json.dumps(record_extras(folder), indent=1))


def _series(
    folder: Path, iterations: int = 60, quiet: bool = False, bed: str | None = None, broker: str | None = None
) -> None:
    """Run every series interleaved on one test bed and print what each takes beside its plain counterpart."""
    from voicewire_book.chapters.transport import extension_timings

    bed, words = choose_bed(bed)
    print(words)
    about = extension_timings.record_series(
        folder, iterations=iterations, bed=bed, which=broker or extension_timings.broker_here(),
        command=f"voicewire record transport series --iterations {iterations}", progress=not quiet,
    )  # fmt: skip
    for name, why in about["not measured here"].items():
        print(f"{name}: not measured: {why}")
    for network, spec in extension_timings.NETWORKS.items():
        rows = extension_timings.load_series(folder, network)
        for size in extension_timings.SIZES:
            print(f"\n{network} ({spec}), {size} B: time (ms) on paper, measured, and beyond the plain counterpart")
            for r in extension_timings.table(rows, size, spec.rtt).to_dict("records"):
                line = f"{r['series']:<22}{r['counted_ms']:8.1f}{r['mean_ms']:9.2f} [{r['low']:.2f}, {r['high']:.2f}]"
                if isinstance(r["plain"], str):
                    line += f"  {r['added_ms']:+.2f} [{r['added_low']:+.2f}, {r['added_high']:+.2f}] to {r['plain']}"
                print(line)


def _coap(
    folder: Path, iterations: int = 60, quiet: bool = False, bed: str | None = None, broker: str | None = None
) -> None:
    """Time CoAP beside MQTT, by block and under loss, and print the means."""
    from voicewire_book.chapters.transport import coap_timed, extension_timings

    bed, words = choose_bed(bed)
    print(words)
    coap_timed.record_coap(
        folder, iterations=iterations, bed=bed, which=broker or extension_timings.broker_here(),
        command=f"voicewire record transport coap --iterations {iterations}", progress=not quiet,
    )  # fmt: skip
    if bed == "proxy":
        print("under loss: CoAP alone, as the proxy cannot lose MQTT's segments")
    for loss in coap_timed.LOSSES:
        rows = coap_timed.load_loss(folder, loss)
        for name, found in rows.groupby("protocol"):
            print(f"loss {100 * loss:4.0f} %, {name}: {coap_timed.delays(found, str(name), True).mean():8.1f} ms")


def _rest(folder: Path) -> None:
    from voicewire_book.chapters.transport.broker_store_contents import record_rest

    print(json.dumps(record_rest(folder), indent=1))


def _bounds(folder: Path, iterations: int = 200, broker: str | None = None) -> None:
    """Send messages at each quality of service over links with loss."""
    from voicewire_book.chapters.transport import qos_guarantees
    from voicewire_book.chapters.transport.extension_timings import broker_here

    command = f"voicewire record transport bounds --iterations {iterations}"
    rows = qos_guarantees.record_bounds(folder, messages=iterations, which=broker or broker_here(), command=command)
    for qos in range(3):
        came, in_time = (
            x.mean()
            for x in (qos_guarantees.reliability(rows, qos), qos_guarantees.met(rows, qos, qos_guarantees.SPEC.rtt))
        )
        print(f"QoS {qos}: {came:.1%} arrived, {in_time:.1%} within the mode's own round trips")


def _streams(folder: Path, iterations: int = 20) -> None:
    """Send streams of numbers over a link with loss, and count what came in order."""
    from voicewire_book.chapters.transport.lossy_stream import record_streams

    command = f"voicewire record transport streams --iterations {iterations}"
    for row in record_streams(folder, streams=iterations, command=command):
        print(row)


def _wireshark(folder: Path) -> None:
    """Let tshark read the book's captures."""
    from voicewire_book import paths
    from voicewire_book.chapters.transport.wireshark_crosscheck import record_wireshark

    record_wireshark(paths.data("transport") / "captures", folder)


def _amqp(folder: Path) -> None:
    from voicewire_book.chapters.transport.amqp_http import record_amqp

    for protocol, sessions in record_amqp(folder)["overhead"].items():
        print(f"{protocol}: " + ", ".join(f"{session} {octets:.1f} B" for session, octets in sessions.items()))


RECORDINGS: dict[str, Callable[..., None]] = {
    "experiment": _experiment, "captures": _captures, "extras": _extras, "series": _series, "coap": _coap,
    "rest": _rest, "bounds": _bounds, "wireshark": _wireshark, "amqp": _amqp, "streams": _streams,
}  # fmt: skip
"""The experiment, captures of single sessions, what goes beyond in bytes and in time, CoAP, brokers' stores, what
qualities of service bound under loss, the captures as Wireshark's program reads them, AMQP and HTTP."""
