"""Does TCP deliver all bytes, and in order, over a path that loses? Streams of numbers, whether they come whole or not.

Recorded by ``voicewire record transport streams``. Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from voicewire.testbed import counters
from voicewire.testbed.link import LinkSpec
from voicewire.transport import measurement_runs
from voicewire.transport.linear_topology import Bed

__all__ = ["SPEC", "arrived", "record_streams"]

SPEC = LinkSpec(delay=0.005, loss=0.05)
"""The link: one packet in twenty is lost, each way."""
NUMBERS = 25_000
"""Numbers of four bytes in one stream: some seventy full segments."""
GIVEN_UP = 60.0
"""Seconds after which a stream that has not come is recorded as it is."""


def arrived(data: bytes) -> dict[str, int]:
    """Say how many numbers of a stream came, how many of them after their predecessor, and how many came twice."""
    got = np.frombuffer(data[: len(data) - len(data) % 4], dtype=">u4").astype(int)
    in_order = int(got[:1].sum() == 0 and got.size > 0) + int(np.sum(np.diff(got) == 1))
    return {"came": len(set(got.tolist())), "in order": in_order, "twice": int(got.size) - len(set(got.tolist()))}


def _one(bed: Bed) -> dict[str, int]:
    """Send the numbers over one connection; whatever came counts, also where the connection did not last."""
    with bed.on("receiver"):
        server = socket.create_server((bed.listen_address("receiver"), 0))
    data = bytearray()

    def receive() -> None:
        server.settimeout(GIVEN_UP)
        try:
            connection, _ = server.accept()
            with connection:
                connection.settimeout(GIVEN_UP)
                while piece := connection.recv(1 << 16):
                    data.extend(piece)
        except OSError:
            return

    receiver = threading.Thread(target=receive, daemon=True)
    receiver.start()
    again = 0
    try:
        with bed.on("sender"):
            connection = socket.create_connection(bed.route("sender", "receiver", server.getsockname()[1]), GIVEN_UP)
        with connection:
            connection.sendall(np.arange(NUMBERS, dtype=">u4").tobytes())
            connection.shutdown(socket.SHUT_WR)
            receiver.join(GIVEN_UP)
            again = counters.read(connection, passive=False).retransmitted
    except OSError:
        receiver.join(1)
    server.close()
    return {**arrived(bytes(data)), "sent again": again}


def record_streams(folder: Path, *, streams: int, command: str) -> list[dict[str, int]]:
    """Send the streams one after the other, and write ``streams.json``."""
    begin = time.monotonic()
    with Bed(("sender", "receiver"), SPEC, "namespaces", seed=11) as bed:
        rows = [_one(bed) for _ in range(streams)]
    about: dict[str, Any] = measurement_runs.facts(
        command, (time.monotonic() - begin) / 60, "namespaces", "embedded", {"lossy": SPEC}
    )
    del about["broker"]  # none has a part in it
    about["seeds"] = "11 for the losses"
    about["load average (1 min) at the end"] = round(os.getloadavg()[0], 2)
    found = {"numbers": NUMBERS, "streams": rows, "provenance": about}
    (folder / "streams.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return rows
