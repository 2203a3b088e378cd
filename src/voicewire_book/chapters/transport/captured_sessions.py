"""A few sessions captured whole, for the notebooks: recorded once with privileges, taken apart by everybody."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from voicewire.testbed import capture, counters
from voicewire.testbed.capture import Segment
from voicewire.transport import paper
from voicewire.transport.experiment_grid import Cell
from voicewire.transport.linear_topology import Bed
from voicewire.transport.run_mqtt import ROLES, Session, broker
from voicewire.transport.run_tcp import run_tcp

__all__ = ["NAMES", "PLAINTEXT", "Example", "load", "other_packets", "record_examples"]

#: What is sent, readable on purpose.
PLAINTEXT = b"temperature 36.6 C; pulse 71/min; patient 0815"
NAMES = ("tcp", "mqtt-qos0", "mqtt-qos1", "mqtt-qos2", "mqtt-icto")


@dataclass(frozen=True)
class Example:
    """A recorded session, seen from the sender's host.

    Attributes
    ----------
    name : str
        One of `NAMES`.
    segments : list of Segment
        As captured.
    counted_segments, counted_header : int
        What the kernel's counters said about the same connection.
    """

    name: str
    segments: list[Segment]
    counted_segments: int
    counted_header: int

    def stream(self, outgoing: bool = True) -> bytes:
        """Return what the sender said, or what it was told."""
        first = self.segments[0]
        ends = (first.source, first.target) if outgoing else (first.target, first.source)
        return capture.stream(self.segments, *ends)


def load(folder: Path, name: str) -> Example:
    """Read a recorded session."""
    counts = json.loads((folder / "captures" / "counters.json").read_text())[name]
    segments = list(capture.read_pcap(folder / "captures" / f"{name}.pcap"))
    here = segments[0].source[0]
    own = list(capture.read_pcap(folder / "captures" / f"{name}.pcap", here))
    return Example(name, own, counts["segments"], counts["header_bytes"])


def other_packets(folder: Path, name: str) -> int:
    """Count the captured IP packets that hold no TCP segment."""
    file = folder / "captures" / f"{name}.pcap"
    return sum(capture.parse(packet) is None for _, packet in capture.read_packets(file))


def record_examples(folder: Path, which: str = "embedded") -> None:
    """Record every example into ``captures`` of `folder`."""
    target = folder / "captures"
    target.mkdir(parents=True, exist_ok=True)
    counts = {}
    cell = Cell("lan", "tcp", 0, "fresh", "bytes", len(PLAINTEXT), iterations=1)
    with (
        Bed(("sender", "receiver"), paper.LAN, seed=1) as bed,
        bed.watching("sender", "receiver", 65535) as seen,
    ):
        assert seen is not None
        row = run_tcp(bed, cell)[0]
        time.sleep(0.1)
        capture.write_pcap(target / "tcp.pcap", seen.stop())
        counts["tcp"] = {"segments": row["sender_segments"], "header_bytes": row["sender_header"]}
    for name in NAMES[1:]:
        qos = 1 if name == "mqtt-icto" else int(name[-1])
        with (
            Bed(ROLES, paper.LAN, seed=1) as bed,
            broker(bed, which) as port,
            Session(bed, "subscriber", bed.route("subscriber", "broker", port)) as sub,
            Session(bed, "publisher", bed.route("publisher", "broker", port)) as pub,
        ):
            sub.connect().ready().subscribe(qos)
            with bed.watching("publisher", "broker", 65535) as seen:
                assert seen is not None
                pub.publish_when_ready(_message(name), qos)
                pub.connect()
                pub.published.get(timeout=10).wait_for_publish(10)
                info: counters.TcpInfo = pub.finish()
                sub.next_message()
                sub.finish()
                time.sleep(0.1)
                capture.write_pcap(target / f"{name}.pcap", seen.stop())
            counts[name] = {"segments": info.segments, "header_bytes": info.header_bytes}
    (target / "counters.json").write_text(json.dumps(counts, indent=1) + "\n")


def _message(name: str) -> bytes:
    from voicewire.transport.secure_objects.icto import Identity, Rule, seal

    if name != "mqtt-icto":
        return PLAINTEXT
    rng = np.random.default_rng(1)
    owner, reader = Identity.create("sensor", rng.bytes), Identity.create("clinic", rng.bytes)
    return seal({"reading": PLAINTEXT}, {"reading": Rule(("clinic",))}, [reader.public], owner)
