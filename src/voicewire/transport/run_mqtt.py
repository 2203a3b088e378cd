"""One cell over MQTT: publisher, broker, subscriber; what both clients' kernels and both broker legs counted.

The clients are stock paho-mqtt. Its socket is duplicated as soon as it is open, so that the counters can still be read
when paho has closed its own. Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from voicewire._kit._optional import needed
from voicewire.mqtt.config import Config
from voicewire.mqtt.serving.broker_thread import BrokerThread
from voicewire.testbed import counters
from voicewire.testbed.capture import Capture, Repeats, parse
from voicewire.testbed.counters import TcpInfo
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.mosquitto import Mosquitto, free_port
from voicewire.transport import paper
from voicewire.transport.experiment_grid import Cell
from voicewire.transport.linear_topology import Bed
from voicewire.transport.payloads import Payload
from voicewire.transport.run_tcp import TIMEOUT, Row, ends_row, sleep_until, wait_acknowledged

with needed():
    import paho.mqtt.client as paho
    from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

__all__ = ["ROLES", "Session", "broker", "run_mqtt"]

ROLES = ("publisher", "broker", "subscriber")


class Session:
    """A paho client with its socket's counters."""

    def __init__(
        self, bed: Bed, role: str, address: tuple[str, int], *, version: int = 4, tls: ssl.SSLContext | None = None,
        name: str | None = None, topic: str = paper.TOPIC, nodelay: bool = False,
    ) -> None:  # fmt: skip
        self.bed, self.role, self.address, self.topic, self.nodelay = bed, role, address, topic, nodelay
        self.connected, self.subscribed = threading.Event(), threading.Event()
        self.messages: queue.Queue[tuple[float, bytes]] = queue.Queue()
        self.twin: socket.socket | None = None
        self.published: queue.Queue[paho.MQTTMessageInfo] = queue.Queue()
        self._first: tuple[bytes, int] | None = None
        self.take: Callable[[bytes], None] = lambda data: None
        self.client = paho.Client(
            CallbackAPIVersion.VERSION2, client_id=name or role[:3], protocol=MQTTProtocolVersion(version)
        )
        self.client.max_queued_messages_set(0)
        self.client.on_socket_open = self._opened
        self.client.on_connect = self._connected
        self.client.on_subscribe = lambda *_: self.subscribed.set()
        self.client.on_message = self._message
        if tls is not None:
            self.client.tls_set_context(tls)

    def _opened(self, client: paho.Client, data: Any, sock: Any) -> None:
        if self.nodelay:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.twin = sock.dup() if not isinstance(sock, ssl.SSLSocket) else socket.fromfd(sock.fileno(), 2, 1)

    def _connected(self, client: paho.Client, *_: Any) -> None:
        self.connected.set()
        if self._first is not None:
            data, qos = self._first
            self._first = None
            self.published.put(client.publish(self.topic, data, qos))

    def _message(self, client: paho.Client, data: Any, message: paho.MQTTMessage) -> None:
        payload = bytes(message.payload)
        self.take(payload)
        self.messages.put((time.perf_counter(), payload))

    def connect(self) -> Session:
        """Connect and start paho's thread; CONNACK is not waited for."""
        with self.bed.on(self.role):
            try:
                self.client.connect(*self.address, keepalive=600)
            except OSError as error:
                raise TestbedError(f"no broker answers on port {self.address[1]}: {error.strerror}") from error
            self.client.loop_start()
        return self

    def ready(self) -> Session:
        """Wait for CONNACK."""
        if not self.connected.wait(TIMEOUT):
            raise TestbedError(f"no CONNACK within {TIMEOUT:g} s")
        return self

    def publish_when_ready(self, data: bytes, qos: int) -> None:
        """Publish as soon as CONNACK is there, from paho's own thread; then `published` has it."""
        self._first = data, qos

    def subscribe(self, qos: int) -> Session:
        """Subscribe to the topic and wait for SUBACK."""
        self.subscribed.clear()
        self.client.subscribe(self.topic, qos)
        if not self.subscribed.wait(TIMEOUT):
            raise TestbedError(f"no SUBACK within {TIMEOUT:g} s")
        return self

    def read(self) -> TcpInfo:
        """Read the counters of the connection now."""
        assert self.twin is not None
        return counters.read(self.twin, passive=False)

    def local_port(self) -> int:
        """Return the port of its own end."""
        assert self.twin is not None
        return int(self.twin.getsockname()[1])

    def next_message(self) -> tuple[float, bytes]:
        """Wait for the next message."""
        try:
            return self.messages.get(timeout=TIMEOUT)
        except queue.Empty:
            raise TestbedError(f"no message within {TIMEOUT:g} s") from None

    def finish(self) -> TcpInfo:
        """Disconnect as paho does (DISCONNECT, then FIN at once)."""
        assert self.twin is not None
        left = threading.Event()
        self.client.on_disconnect = lambda *_: left.set()
        self.client.disconnect()
        left.wait(TIMEOUT)
        # paho has closed its socket by now, but ours keeps the connection open: the FIN is for us to send
        with contextlib.suppress(OSError):
            self.twin.shutdown(socket.SHUT_WR)
        self.client.loop_stop()
        return counters.settled(self.twin, passive=False, timeout=TIMEOUT)

    def close(self) -> None:
        """Let go of everything, however far it came."""
        self.client.on_disconnect = None
        self.client.disconnect()
        self.client.loop_stop()
        if self.twin is not None:
            self.twin.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def broker(bed: Bed, which: str, nodelay: bool = True, tls: tuple[Path, Path] | None = None) -> Iterator[int]:
    """A broker on the bed's broker host; yields its port."""
    host = bed.host("broker")
    port = (paper.PORT if tls is None else paper.TLS_PORT) if host is not None else free_port()
    if which == "mosquitto":
        with Mosquitto(host, port, nodelay=nodelay, tls=tls):
            yield port
    elif which == "embedded":
        if not nodelay:
            raise TestbedError("the embedded broker never delays small segments; Nagle's stall needs mosquitto")
        crt, key = tls or (None, None)
        config = Config(host=bed.listen_address("broker"), port=port, tls_cert=crt, tls_key=key)
        with bed.on("broker"), BrokerThread(config):
            yield port
    else:
        raise ValueError(f"a broker is embedded or mosquitto, not {which!r}")


def run_mqtt(bed: Bed, cell: Cell, which: str = "embedded", progress: Callable[[], None] = lambda: None) -> list[Row]:
    """Run one cell; one row for each iteration.

    Columns: `time_ms` (publisher's start to complete receipt at the subscriber), `session_ms` (to the publisher's
    connection closed; persistent: to the last acknowledgement), then segments, header bytes, payload bytes and
    retransmissions of publisher and subscriber, and segments, header and payload bytes of both broker legs as
    captured on the broker's host (empty on loopback), what was captured twice among them: `_repeated` segments, and
    the `_repeated_payload` in them, which the ends' counters count once.
    """
    rng = np.random.default_rng(cell.seed)
    runner = {"fresh": _fresh, "persistent": _persistent, "loop": _loop}[cell.session]
    with (
        Payload(cell.kind, cell.size, rng) as payload,
        broker(bed, which, cell.nodelay) as port,
        bed.watching("broker", "publisher") as towards_publisher,
        bed.watching("broker", "subscriber") as towards_subscriber,
    ):
        legs = _Legs(towards_publisher, towards_subscriber, port)
        places = (bed.route("publisher", "broker", port), bed.route("subscriber", "broker", port))
        rows = runner(bed, cell, payload, places, legs, progress)
        legs.fill(rows)
        return rows


class _Legs:
    """Collects what the captures on both of the broker's devices saw, and shares it out to the iterations."""

    def __init__(self, publisher: Capture | None, subscriber: Capture | None, port: int) -> None:
        self.captures = {"broker_in": publisher, "broker_out": subscriber}
        self.port = port
        self.counts: dict[str, dict[int, list[tuple[float, int, int, int]]]] = {"broker_in": {}, "broker_out": {}}
        self.repeats = {"broker_in": Repeats(), "broker_out": Repeats()}

    def collect(self) -> None:
        for leg, capture in self.captures.items():
            if capture is None:
                continue
            capture.drain()
            for when, _, packet in capture.packets:
                segment = parse(packet)
                if segment is None:
                    continue
                port = segment.target[1] if segment.source[1] == self.port else segment.source[1]
                again = self.repeats[leg].count(segment)
                self.counts[leg].setdefault(port, []).append((when, segment.header, segment.length, again))
            capture.packets.clear()

    def fill(self, rows: list[Row]) -> None:
        time.sleep(0.1)  # the last acknowledgement is perhaps still on its way
        self.collect()
        for row in rows:
            ports, begin, end = row.pop("_ports"), row.pop("_begin"), row.pop("_end")
            for (leg, capture), port in zip(self.captures.items(), ports, strict=True):
                seen = [x for x in self.counts[leg].get(port, []) if begin <= x[0] < end] if capture else None
                row[f"{leg}_segments"] = len(seen) if seen is not None else ""
                row[f"{leg}_header"] = sum(x[1] for x in seen) if seen is not None else ""
                row[f"{leg}_payload"] = sum(x[2] for x in seen) if seen is not None else ""
                row[f"{leg}_repeated"] = sum(x[3] > 0 for x in seen) if seen is not None else ""
                row[f"{leg}_repeated_payload"] = sum(min(x[3], x[2]) for x in seen) if seen is not None else ""


def _row(i: int, start: float, done: float, end: float, sent: TcpInfo, got: TcpInfo, ports: tuple[int, int]) -> Row:
    row: Row = {"iteration": i, "time_ms": 1e3 * (done - start), "session_ms": 1e3 * (end - start)}
    row |= ends_row("publisher", sent) | ends_row("subscriber", got)
    return row | {"_ports": ports, "_begin": 0.0, "_end": float("inf")}


Places = tuple[tuple[str, int], tuple[str, int]]


def _fresh(
    bed: Bed, cell: Cell, payload: Payload, places: Places, legs: _Legs, progress: Callable[[], None]
) -> list[Row]:
    rows = []
    for i in range(cell.iterations):
        with Session(bed, "subscriber", places[1]) as sub, Session(bed, "publisher", places[0]) as pub:
            sub.take = payload.take
            sub.connect().ready().subscribe(cell.qos)
            start = time.perf_counter()
            pub.publish_when_ready(payload.make(), cell.qos)
            pub.connect()
            pub.published.get(timeout=TIMEOUT).wait_for_publish(TIMEOUT)
            ports = pub.local_port(), sub.local_port()
            sent = pub.finish()
            end = time.perf_counter()
            done, _ = sub.next_message()
            got = sub.finish()
            rows.append(_row(i, start, done, end, sent, got, ports))
        legs.collect()
        progress()
    return rows


def _persistent(
    bed: Bed, cell: Cell, payload: Payload, places: Places, legs: _Legs, progress: Callable[[], None]
) -> list[Row]:
    rows: list[Row] = []
    with Session(bed, "subscriber", places[1]) as sub, Session(bed, "publisher", places[0]) as pub:
        sub.take = payload.take
        sub.connect().ready().subscribe(cell.qos)
        pub.connect().ready()
        assert pub.twin is not None
        ports = pub.local_port(), sub.local_port()
        sent, got = pub.read(), sub.read()
        for i in range(-1, cell.iterations):  # the first message warms the session up and is not counted
            stamp, start = time.time(), time.perf_counter()
            pub.client.publish(paper.TOPIC, payload.make(), cell.qos).wait_for_publish(TIMEOUT)
            done, _ = sub.next_message()
            sent_after = wait_acknowledged(pub.twin)
            end = time.perf_counter()
            got_after = sub.read()
            if i >= 0:
                rows.append(_row(i, start, done, end, sent_after - sent, got_after - got, ports))
                rows[-1]["_begin"] = stamp
                if i > 0:
                    rows[-2]["_end"] = stamp
            sent, got = sent_after, got_after
            legs.collect()
            progress()
        time.sleep(bed.spec.rtt + 0.05)
        rows[-1]["_end"] = time.time()
        legs.collect()
        pub.finish()
        sub.finish()
    return rows


def _loop(
    bed: Bed, cell: Cell, payload: Payload, places: Places, legs: _Legs, progress: Callable[[], None]
) -> list[Row]:
    rows = []
    gap = cell.gap * bed.spec.rtt
    for i in range(cell.iterations):
        messages = [payload.make() for _ in range(paper.LOOP)]
        with Session(bed, "subscriber", places[1]) as sub, Session(bed, "publisher", places[0]) as pub:
            sub.connect().ready().subscribe(cell.qos)
            start = time.perf_counter()
            pub.connect().ready()
            begin = time.perf_counter()
            infos = []
            for k, message in enumerate(messages):
                infos.append(pub.client.publish(paper.TOPIC, message, cell.qos))
                sleep_until(begin + (k + 1) * gap)
            for info in infos:
                info.wait_for_publish(TIMEOUT)
            ports = pub.local_port(), sub.local_port()
            sent = pub.finish()
            end = time.perf_counter()
            for _ in messages:
                done, _ = sub.next_message()
            got = sub.finish()
            rows.append(_row(i, start, done, end, sent, got, ports))
        legs.collect()
        progress()
    return rows
