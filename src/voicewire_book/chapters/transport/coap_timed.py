"""CoAP beside MQTT, timed: bodies of many blocks, and a line that loses packets. Recorded once.

In each round CoAP puts one body to a server, and MQTT publishes one at QoS 1 over an open session, through a broker at
the same place to a subscriber behind it; which is first is drawn. Nothing else is under way meanwhile.
Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from voicewire._kit import sheets
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.link import LinkSpec
from voicewire.transport import measurement_runs, paper
from voicewire.transport.linear_topology import Bed
from voicewire.transport.run_mqtt import ROLES, Session, broker
from voicewire_book.chapters.transport import coap_theory
from voicewire_book.chapters.transport.extension_endpoints import CoapPair
from voicewire_book.chapters.transport.extension_timings import NETWORKS

__all__ = [
    "LOSSES", "PROTOCOLS", "SIZES", "delays", "differences", "half_blocks", "load_blocks", "load_loss", "measure",
    "record_coap", "times",
]  # fmt: skip

PROTOCOLS = ("CoAP", "MQTT")
#: Payloads, bytes: from one block to a hundred, and half a block on either side of a border.
SIZES = (100, 1024, 2048, 2560, 3072, 3584, 4096, 10_000, 100_000)
#: Probability that a packet is lost, and how many messages of each protocol are sent then.
LOSSES = {0.01: 600, 0.05: 300, 0.1: 150, 0.2: 150}
SMALL = 100
"""Payload under loss, bytes: one datagram, one segment."""
_LINE = replace(paper.INTERNET, loss=0.0)
_LIMIT = 2 * coap_theory.longest_wait()

Sender = Callable[[bytes], tuple[float, float, float]]
"""Sends one message; times to receipt, to the sender's knowing, and to the end, s, infinite if it did not happen."""


@contextmanager
def _senders(bed: Bed, which: str) -> Iterator[dict[str, Sender]]:
    """What sends on `bed`; MQTT not where the bed can't lose its segments though it should."""
    with ExitStack() as stack:
        senders: dict[str, Sender] = {"CoAP": stack.enter_context(CoapPair(bed)).attempt}
        if bed.kind == "namespaces" or not bed.spec.loss:
            port = stack.enter_context(broker(bed, which))
            ends = [
                stack.enter_context(Session(bed, role, bed.route(role, "broker", port), nodelay=True)).connect().ready()
                for role in ("subscriber", "publisher")
            ]
            ends[0].subscribe(1)
            senders["MQTT"] = _publisher(*ends)
        yield senders


def _publisher(subscriber: Session, publisher: Session) -> Sender:
    """A publisher with an open session, whose PUBACK is timed where paho sees it."""
    known: queue.Queue[float] = queue.Queue()
    publisher.client.on_publish = lambda *_: known.put(time.perf_counter())

    def send(data: bytes) -> tuple[float, float, float]:
        start = time.perf_counter()
        publisher.client.publish(publisher.topic, data, 1)
        try:
            done, payload = subscriber.messages.get(timeout=_LIMIT)
            acknowledged = known.get(timeout=_LIMIT)
        except queue.Empty:
            raise TestbedError(f"MQTT: no message, or no PUBACK, within {_LIMIT:g} s") from None
        if payload != data:
            raise TestbedError("the subscriber got another message than was sent")
        return done - start, acknowledged - start, time.perf_counter() - start

    return send


def measure(
    spec: LinkSpec = _LINE, *, bed: str = "namespaces", which: str = "embedded", iterations: int = 30,
    sizes: Sequence[int] = SIZES, seed: int = 1, progress: bool = False,
) -> pd.DataFrame:  # fmt: skip
    """Time both protocols in rounds; without loss the first round warms up and is not counted."""
    if iterations < 2:
        raise ValueError(f"an interval needs at least two iterations, not {iterations}")
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    warm = 0 if spec.loss else 1
    with Bed(ROLES, spec, bed, seed) as b, _senders(b, which) as senders:
        plan = [(size, i) for i in range(-warm, iterations) for size in sizes]
        for size, i in tqdm(plan, unit="round", disable=not progress):
            for k in rng.permutation(len(senders)):
                name = list(senders)[k]
                received, known, ended = (1e3 * t for t in senders[name](rng.bytes(size)))
                row = {"protocol": name, "size": size, "iteration": i, "received_ms": received, "known_ms": known}
                rows += [row | {"ended_ms": ended}] if i >= 0 else []
    frame = pd.DataFrame(rows).replace(math.inf, math.nan)
    return frame.sort_values(["protocol", "size", "iteration"], ignore_index=True)


def record_coap(
    folder: Path, *, bed: str, which: str, command: str, iterations: int = 60, progress: bool = True
) -> dict[str, Any]:
    """Measure blocks on both networks, then small messages under loss; write two tables and where they come from."""
    before, begin = os.getloadavg()[0], time.monotonic()
    more: dict[str, Any] = {"bed": bed, "which": which, "progress": progress}
    tables: dict[str, list[pd.DataFrame]] = {"blocks": [], "loss": []}
    for network, spec in NETWORKS.items():
        rows = measure(spec, iterations=iterations, **more)
        rows.insert(0, "network", network)
        tables["blocks"].append(rows)
    for number, (loss, rounds) in enumerate(LOSSES.items(), start=1):
        rows = measure(replace(_LINE, loss=loss), iterations=rounds, sizes=(SMALL,), seed=number, **more)
        rows.insert(0, "loss", loss)
        tables["loss"].append(rows)
    about = measurement_runs.facts(command, (time.monotonic() - begin) / 60, bed, which, NETWORKS)
    about["load average (1 min) at the start, at the end"] = [round(before, 2), round(os.getloadavg()[0], 2)]
    about["under loss"] = f"{_LINE}, {SMALL} B; rounds by loss: {LOSSES}"
    about["seeds"] = "1 for blocks, then 1, 2, 3 … by loss: payloads, order, jitter and loss. CoAP's waits have none"
    about["versions"] |= {"aiocoap": importlib.metadata.version("aiocoap")}
    about["MQTT"] = "QoS 1, paho, one open session"
    for name, frames in tables.items():
        text = sheets.to_csv(pd.concat(frames), index=False, float_format="%.3f", lineterminator="\n")
        (folder / f"coap_{name}.csv").write_text(text)
    (folder / "coap.json").write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n")
    return about


def load_blocks(folder: Path, network: str) -> pd.DataFrame:
    """Read the recorded rows of one network, without loss."""
    return _part(pd.read_csv(folder / "coap_blocks.csv"), "network", network)


def load_loss(folder: Path, loss: float) -> pd.DataFrame:
    """Read the recorded rows at one probability of loss."""
    return _part(pd.read_csv(folder / "coap_loss.csv"), "loss", loss)


def _part(rows: pd.DataFrame, column: str, value: object) -> pd.DataFrame:
    found = rows[rows[column] == value]
    if found.empty:
        raise KeyError(f"not recorded: {column} {value}")
    return found.drop(columns=column).reset_index(drop=True)


def times(rows: pd.DataFrame, protocol: str, size: int) -> NDArray[np.float64]:
    """Return the times from start to complete receipt, ms, by round."""
    found = rows[(rows.protocol == protocol) & (rows["size"] == size)].sort_values("iteration")
    if found.empty:
        raise KeyError(f"not recorded: {protocol}, {size} B")
    return found.received_ms.to_numpy(np.float64)


def half_blocks(rows: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Return what half a block more adds to CoAP's time, ms, by round: within a block, and across its border."""
    low, border, high = (
        times(rows, "CoAP", 3 * coap_theory.BLOCK + more)
        for more in (-coap_theory.BLOCK // 2, 0, coap_theory.BLOCK // 2)
    )
    return {"within a block": border - low, "across a border": high - border}


def delays(rows: pd.DataFrame, protocol: str, known: bool) -> NDArray[np.float64]:
    """Return the delays under loss, ms, by round; what was given up counts with the time until then."""
    found = rows[rows.protocol == protocol].sort_values("iteration")
    if found.empty:
        raise KeyError(f"not recorded: {protocol}")
    wanted = found.known_ms if known else found.received_ms
    return wanted.fillna(found.ended_ms).to_numpy(np.float64)


def differences(little: pd.DataFrame, much: pd.DataFrame, known: bool) -> dict[str, NDArray[np.float64]]:
    """Return what must lie below zero if MQTT is ahead where little is lost, and CoAP where much is, ms, by round."""
    return {
        "little loss": delays(little, "MQTT", known) - delays(little, "CoAP", known),
        "much loss": delays(much, "CoAP", known) - delays(much, "MQTT", known),
    }
