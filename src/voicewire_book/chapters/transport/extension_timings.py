"""Timed series beyond the paper: TLS 1.3 on TCP and on MQTT, MQTT 5, CoAP, several publishers and subscribers.

Every series runs on one bed in one run, interleaved in an order that is drawn anew for each iteration, so that
whatever disturbs the machine disturbs each of them alike, and each can be compared with its plain counterpart pair
by pair. Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from voicewire._kit import sheets
from voicewire.stats import Interval, t_interval
from voicewire.testbed.capability import find_mosquitto
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.link import LinkSpec
from voicewire.transport import measurement_runs, paper
from voicewire.transport.linear_topology import Bed
from voicewire.transport.run_mqtt import ROLES, Session, broker
from voicewire.transport.run_tcp import TIMEOUT
from voicewire_book.chapters.transport.extension_endpoints import CoapPair, TcpPair, client_context
from voicewire_book.chapters.transport.extension_experiments import certificate

__all__ = [
    "CATALOGUE", "FANS", "NETWORKS", "SIZES", "Series", "added", "broker_here", "load_series", "measure",
    "record_series", "table",
]  # fmt: skip

#: The two profiles of the experiment, the public one without its loss: one lost SYN costs a second, and would hide
#: what a series adds.
NETWORKS = {"lan": paper.LAN, "internet": replace(paper.INTERNET, loss=0.0)}

#: Payloads, bytes; both fit one segment and one CoAP block.
SIZES = (100, 1000)
#: Publishers and subscribers of one topic.
FANS = ((1, 1), (1, 8), (4, 1), (4, 8))

_TCP = ("SYN", "SYN-ACK")
_TLS = ("ClientHello", "ServerHello to Finished")
#: With Nagle's algorithm what follows the client's Finished waits until that is acknowledged.
_HELD = ("Finished", "its acknowledgement")
_MQTT = ("CONNECT", "CONNACK", "PUBLISH", "PUBLISH to subscriber")
_MQTT5 = "mqtt5-fresh"


@dataclass(frozen=True)
class Series:
    """One way to send a message.

    Attributes
    ----------
    name : str
        As in the tables.
    label : str
        For people.
    flights : tuple of str
        What must cross the network, one after the other.
    plain : str or None
        The series that it is compared with.
    held : bool
        Whether two of the flights are Nagle's doing.
    """

    name: str
    label: str
    flights: tuple[str, ...]
    plain: str | None = None
    held: bool = False

    def round_trips(self, bed: str = "namespaces") -> float:
        """Count the round trips on paper: half of one for each flight."""
        return 0.5 * (len(self.flights) - (len(_HELD) if self.held and bed == "proxy" else 0))


def _fan(publishers: int, subscribers: int) -> Series:
    label = f"MQTT open, {publishers} to {subscribers}"
    plain = None if (publishers, subscribers) == (1, 1) else "fan-1x1"
    return Series(f"fan-{publishers}x{subscribers}", label, _MQTT[2:], plain)


#: Every series by name. MQTT's run at QoS 1; those of CoAP differ in where the clock stops.
CATALOGUE: dict[str, Series] = {
    s.name: s
    for s in (
        Series("tcp-fresh", "TCP fresh", (*_TCP, "data")),
        Series("tcp-tls-fresh", "TCP + TLS fresh", (*_TCP, *_TLS, "Finished and data"), "tcp-fresh"),
        Series("tcp-tls-fresh-nagle", "TCP + TLS fresh, Nagle", (*_TCP, *_TLS, *_HELD, "data"), "tcp-fresh", True),
        Series("tcp-open", "TCP open", ("data",)),
        Series("tcp-tls-open", "TCP + TLS open", ("data",), "tcp-open"),
        Series("mqtt-fresh", "MQTT fresh", (*_TCP, *_MQTT)),
        Series("mqtt-tls-fresh", "MQTT + TLS fresh", (*_TCP, *_TLS, *_MQTT), "mqtt-fresh"),
        Series("mqtt-tls-fresh-nagle", "MQTT + TLS fresh, Nagle", (*_TCP, *_TLS, *_HELD, *_MQTT), "mqtt-fresh", True),
        Series(_MQTT5, "MQTT 5 fresh", (*_TCP, *_MQTT), "mqtt-fresh"),
        Series("coap", "CoAP PUT, received", ("PUT",), "tcp-open"),
        Series("coap-known", "CoAP PUT, answered", ("PUT", "acknowledgement"), "tcp-open"),
        *(_fan(p, s) for p, s in FANS),
    )
}

Sender = Callable[[bytes], dict[str, float]]
"""Sends one message and gives the time of each series that it measures, s."""


@contextmanager
def _senders(bed: Bed, which: str) -> Iterator[tuple[list[Sender], dict[str, str]]]:
    """What sends on `bed`, and why the series that are missing are."""
    missing: dict[str, str] = {}
    senders: list[Sender] = []
    with ExitStack() as stack:
        files = stack.enter_context(certificate())
        for name, fresh, tls, nodelay in (
            ("tcp-fresh", True, None, True),
            ("tcp-tls-fresh", True, files, True),
            ("tcp-tls-fresh-nagle", True, files, False),
            ("tcp-open", False, None, True),
            ("tcp-tls-open", False, files, True),
        ):
            pair = stack.enter_context(TcpPair(bed, fresh=fresh, tls=tls, nodelay=nodelay))
            senders.append(lambda data, name=name, pair=pair: {name: pair.send(data)})  # type: ignore[misc]
        coap = stack.enter_context(CoapPair(bed))
        senders.append(lambda data: dict(zip(("coap", "coap-known"), coap.send(data), strict=True)))
        plain = stack.enter_context(broker(bed, which))
        secure = stack.enter_context(broker(bed, which, tls=files))
        for name, port, trust, nodelay, version in (
            ("mqtt-fresh", plain, None, True, 4),
            ("mqtt-tls-fresh", secure, files, True, 4),
            ("mqtt-tls-fresh-nagle", secure, files, False, 4),
            (_MQTT5, plain, None, True, 5),
        ):
            if version == 5 and which != "mosquitto":
                missing[name] = "the embedded broker speaks MQTT 3.1.1 only: install mosquitto for MQTT 5"
                continue
            senders.append(_fresh(bed, name, port, trust, nodelay, version, stack))
        senders += _fans(bed, plain, stack)
        yield senders, missing


def _fresh(
    bed: Bed, name: str, port: int, files: tuple[Path, Path] | None, nodelay: bool, version: int, stack: ExitStack
) -> Sender:
    """A publisher that connects anew for each message, to a subscriber that waits."""
    tls = client_context(files) if files else None
    more: dict[str, Any] = {"version": version, "tls": tls, "topic": f"ict/{name}"}
    address = bed.route("publisher", "broker", port)
    subscriber = Session(bed, "subscriber", bed.route("subscriber", "broker", port), name=f"s-{name}", **more)
    stack.enter_context(subscriber).connect().ready().subscribe(1)

    def send(data: bytes) -> dict[str, float]:
        with Session(bed, "publisher", address, name=f"p-{name}", nodelay=nodelay, **more) as publisher:
            start = time.perf_counter()
            publisher.publish_when_ready(data, 1)
            publisher.connect()
            done = _expect(subscriber, {data})
            publisher.published.get(timeout=TIMEOUT).wait_for_publish(TIMEOUT)
        return {name: done - start}

    return send


def _fans(bed: Bed, port: int, stack: ExitStack) -> list[Sender]:
    """Publishers and subscribers with open sessions; each number of subscribers has a topic of its own."""
    most_publishers, most_subscribers = (max(n) for n in zip(*FANS, strict=True))
    addresses = {role: bed.route(role, "broker", port) for role in ("publisher", "subscriber")}

    def session(role: str, name: str) -> Session:
        made = Session(bed, role, addresses[role], name=name, nodelay=True)
        return stack.enter_context(made).connect().ready()

    publishers = [session("publisher", f"fan-p{i}") for i in range(most_publishers)]
    subscribers = [session("subscriber", f"fan-s{i}") for i in range(most_subscribers)]
    for i, subscriber in enumerate(subscribers):
        for n in sorted({s for _, s in FANS}):
            if i < n:
                subscriber.topic = f"ict/fan-{n:02d}"
                subscriber.subscribe(1)

    def sender(p: int, s: int) -> Sender:
        def send(data: bytes) -> dict[str, float]:
            messages = [bytes([i]) + data[1:] for i in range(p)]
            start = time.perf_counter()
            infos = [
                publisher.client.publish(f"ict/fan-{s:02d}", message, 1)
                for publisher, message in zip(publishers, messages, strict=False)
            ]
            done = max(_expect(subscriber, set(messages)) for subscriber in subscribers[:s])
            for info in infos:
                info.wait_for_publish(TIMEOUT)
            return {f"fan-{p}x{s}": done - start}

        return send

    return [sender(p, s) for p, s in FANS]


def _expect(subscriber: Session, wanted: set[bytes]) -> float:
    """When a subscriber had all of these messages and nothing else."""
    arrived = [subscriber.next_message() for _ in wanted]
    if {payload for _, payload in arrived} != wanted:
        raise TestbedError("a subscriber got another message than was sent")
    return max(when for when, _ in arrived)


def measure(
    spec: LinkSpec = paper.LAN, *, bed: str = "namespaces", which: str = "embedded", iterations: int = 30,
    sizes: Sequence[int] = SIZES, seed: int = 1, progress: bool = False,
) -> tuple[pd.DataFrame, dict[str, str]]:  # fmt: skip
    """Run every series, interleaved; the first round warms up and is not counted."""
    if iterations < 2:
        raise ValueError(f"an interval needs at least two iterations, not {iterations}")
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    with Bed(ROLES, spec, bed, seed) as b, _senders(b, which) as (senders, missing):
        plan = [(size, i) for i in range(-1, iterations) for size in sizes]
        for size, i in tqdm(plan, unit="round", disable=not progress):
            for k in rng.permutation(len(senders)):
                for name, seconds in senders[k](rng.bytes(size)).items():
                    trips = CATALOGUE[name].round_trips(bed)
                    row = {"series": name, "size": size, "iteration": i, "round_trips": trips, "time_ms": 1e3 * seconds}
                    rows += [row] if i >= 0 else []
    order = {name: k for k, name in enumerate(CATALOGUE)}
    frame = pd.DataFrame(rows)
    return frame.sort_values(["series", "size", "iteration"], key=lambda c: c.map(order) if c.name == "series" else c,
                             ignore_index=True), missing  # fmt: skip


def record_series(
    folder: Path, *, iterations: int, bed: str, which: str, command: str, progress: bool = True
) -> dict[str, Any]:
    """Measure on both networks, and write ``series.csv`` and ``series.json``."""
    before, begin = os.getloadavg()[0], time.monotonic()
    frames: list[pd.DataFrame] = []
    missing: dict[str, str] = {}
    for network, spec in NETWORKS.items():
        rows, missing = measure(spec, bed=bed, which=which, iterations=iterations, progress=progress)
        rows.insert(0, "network", network)
        frames.append(rows)
    about = measurement_runs.facts(command, (time.monotonic() - begin) / 60, bed, which, NETWORKS)
    about["load average (1 min) at the start, at the end"] = [round(before, 2), round(os.getloadavg()[0], 2)]
    about["seeds"] = "1, for payloads, order and jitter"
    about["versions"] |= {"aiocoap": importlib.metadata.version("aiocoap"), "openssl": ssl.OPENSSL_VERSION.split()[1]}
    about["MQTT"] = "QoS 1, paho; 3.1.1 unless the series says 5"
    about["not measured here"] = missing
    text = sheets.to_csv(pd.concat(frames), index=False, float_format="%.4f", lineterminator="\n")
    (folder / "series.csv").write_text(text)
    (folder / "series.json").write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n")
    return about


def load_series(folder: Path, network: str) -> pd.DataFrame:
    """Read the recorded rows of one network."""
    rows = pd.read_csv(folder / "series.csv")
    if network not in set(rows.network):
        raise KeyError(f"not recorded: {network}")
    return rows[rows.network == network].drop(columns="network").reset_index(drop=True)


def added(rows: pd.DataFrame, name: str, size: int) -> Interval:
    """Return what a series takes more than its plain counterpart.

    It is the 95 % t interval of the differences, round by round.
    """
    plain = CATALOGUE[name].plain
    if plain is None:
        raise KeyError(f"{name} is compared with nothing")
    return t_interval(_times(rows, name, size) - _times(rows, plain, size), paper.CONFIDENCE)


def _times(rows: pd.DataFrame, name: str, size: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    found = rows[(rows.series == name) & (rows["size"] == size)].sort_values("iteration")
    if found.empty:
        raise KeyError(f"not recorded: {name}, {size} B")
    return found.time_ms.to_numpy(np.float64)


def table(rows: pd.DataFrame, size: int, rtt: float = paper.LAN.rtt) -> pd.DataFrame:
    """One row for each series: round trips and time on paper, the measured mean, and what it adds, with intervals, ms.
    """
    out = []
    for name in rows.series.unique():
        x = _times(rows, name, size)
        trips = float(rows[rows.series == name].round_trips.iloc[0])
        mean = t_interval(x, paper.CONFIDENCE)
        row: dict[str, Any] = {"series": name, "n": mean.n, "round_trips": trips, "counted_ms": 1e3 * trips * rtt}
        row |= {"mean_ms": mean.estimate, "low": mean.low, "high": mean.high, "median_ms": float(np.median(x))}
        plain = CATALOGUE[name].plain
        if plain is not None:
            more = added(rows, name, size)
            counted = trips - float(rows[rows.series == plain].round_trips.iloc[0])
            row |= {"plain": plain, "counted_added_ms": 1e3 * counted * rtt}
            row |= {"added_ms": more.estimate, "added_low": more.low, "added_high": more.high}
        out.append(row)
    return pd.DataFrame(out)


def broker_here() -> str:
    """Return the broker to use by default: mosquitto where it is installed, because MQTT 5 needs it."""
    return "mosquitto" if find_mosquitto() else "embedded"
