"""AMQP and HTTP beside MQTT: sessions captured once with RabbitMQ and the standard library's HTTP, then only counted.

Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``. The broker and AMQP's clients are needed to record,
``voicewire record transport amqp``, and nowhere else.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import importlib
import importlib.metadata
import json
import platform
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from voicewire.testbed import capture
from voicewire.testbed.capture import Segment
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.rabbitmq import RabbitMQ
from voicewire.transport import measurement_runs, paper
from voicewire.transport.linear_topology import Bed

__all__ = ["MESSAGES", "PROTOCOLS", "SIZE", "message", "overhead", "record_amqp", "recorded_overhead"]

SIZE = 100
MESSAGES = 21
"""In the session that stays open; the first warms it up and is not counted."""
_QUEUE = "ict-object"

Send = Callable[[bytes], None]


def message(number: int) -> bytes:
    """Return the payload of a message, found again in a capture by its content."""
    return f"object{number:04}".encode().ljust(SIZE, b".")


def overhead(segments: Sequence[Segment], messages: int) -> float:
    """Return the IP bytes beside the payload of one message, both directions."""
    at = [_place(segments, number) for number in range(messages)]
    counted = segments[at[1] : at[-1]] if messages > 1 else segments
    whole = sum(s.ip_header + s.header + s.length for s in counted)
    return whole / max(messages - 2, 1) - SIZE


def _place(segments: Sequence[Segment], number: int) -> int:
    """Where the segment with a message's first byte is."""
    for i, segment in enumerate(segments):
        if message(number)[:10] in segment.payload:
            return i
    raise ValueError(f"message {number} is not in the capture")


def recorded_overhead(folder: Path, protocol: str, session: str) -> float:
    """Count a recorded session."""
    segments = list(capture.read_pcap(folder / "captures" / f"{protocol}-{session}.pcap"))
    return overhead(segments, MESSAGES if session == "persistent" else 1)


class _Taker(http.server.BaseHTTPRequestHandler):
    """Takes a body and says so without one of its own, 204."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(min(int(self.headers["Content-Length"]), SIZE))
        if self.path == "/":  # the shortest answer: a status without words, and Date (RFC 9110, section 6.6.1)
            self.send_response_only(204, "")
            self.send_header("Date", self.date_time_string())
        else:
            self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextlib.contextmanager
def _http(bed: Bed) -> Iterator[tuple[str, int]]:
    with bed.on("receiver"):
        server = http.server.ThreadingHTTPServer((bed.listen_address("receiver"), 0), _Taker)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield bed.route("sender", "receiver", server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def _http_session(address: tuple[str, int]) -> Iterator[Send]:
    connection = http.client.HTTPConnection(*address, timeout=10)

    def send(body: bytes) -> None:
        connection.request("POST", "/ict/object", body)
        with connection.getresponse() as answer:
            if answer.status != 204:
                raise TestbedError(f"the HTTP server answers {answer.status}")

    yield send
    connection.close()


@contextlib.contextmanager
def _least_http_session(address: tuple[str, int]) -> Iterator[Send]:
    """HTTP with what RFC 9112 asks for and nothing else, head and body in one segment."""
    with socket.create_connection(address, timeout=10) as connection:

        def send(body: bytes) -> None:
            connection.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
            answer = b""
            while not answer.endswith(b"\r\n\r\n"):
                answer += connection.recv(4096) or b"\r\n\r\n"
            if not answer.startswith(b"HTTP/1.1 204"):
                raise TestbedError(f"the HTTP server answers {answer[:40]!r}")

        yield send


def _library(name: str, package: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise TestbedError(f"{package} is not installed; what was recorded with it is in data/transport") from None


@contextlib.contextmanager
def _amqp_091_session(address: tuple[str, int]) -> Iterator[Send]:
    pika = _library("pika", "pika")
    connection = pika.BlockingConnection(pika.ConnectionParameters(*address))
    channel = connection.channel()
    channel.confirm_delivery()  # publish now waits for the broker's word
    yield lambda body: channel.basic_publish("", _QUEUE, body)
    connection.close()


@contextlib.contextmanager
def _amqp_10_session(address: tuple[str, int]) -> Iterator[Send]:
    utils, proton = _library("proton.utils", "python-qpid-proton"), _library("proton", "python-qpid-proton")
    connection = utils.BlockingConnection(f"amqp://{address[0]}:{address[1]}", timeout=10)
    sender = connection.create_sender(f"/amq/queue/{_QUEUE}")
    yield lambda body: sender.send(proton.Message(body=body, inferred=True))
    connection.close()


@contextlib.contextmanager
def _rabbit(bed: Bed) -> Iterator[tuple[str, int]]:
    """RabbitMQ with a queue, which the receiver made in a session of its own."""
    pika = _library("pika", "pika")
    with RabbitMQ(bed.host("receiver")) as broker:
        with bed.on("receiver"):
            connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", broker.port))
        connection.channel().queue_declare(_QUEUE)
        connection.close()
        yield bed.route("sender", "receiver", broker.port)


_SESSIONS: dict[str, Callable[[tuple[str, int]], contextlib.AbstractContextManager[Send]]] = {
    "amqp-0-9-1": _amqp_091_session,
    "amqp-1.0": _amqp_10_session,
    "http": _http_session,
    "http-least": _least_http_session,
}
PROTOCOLS = tuple(_SESSIONS)
"""AMQP in both of the versions that are in use, HTTP/1.1 as a library sends it, and with the fewest headers."""


def _captured(bed: Bed, address: tuple[str, int], protocol: str, messages: int, file: Path) -> None:
    with bed.watching("sender", "receiver", 65535) as seen:
        assert seen is not None
        with bed.on("sender"), _SESSIONS[protocol](address) as send:
            for number in range(messages):
                send(message(number))
        _until_quiet(seen)
        packets = seen.stop()
    capture.write_pcap(file, [packet for packet in packets if capture.parse(packet[2]) is not None])


def _until_quiet(seen: capture.Capture) -> None:
    """Wait until nothing has come for a second: the last acknowledgement may be late."""
    count, quiet = -1, threading.Event()
    while count != len(seen.packets):
        count = len(seen.packets)
        quiet.wait(1.0)
        seen.drain()


def record_amqp(folder: Path) -> dict[str, Any]:
    """Capture a session of each protocol with one message, and one that stays open, on the sender's host."""
    begin = time.monotonic()
    (folder / "captures").mkdir(parents=True, exist_ok=True)
    counted: dict[str, dict[str, float]] = {protocol: {} for protocol in PROTOCOLS}
    for serve, protocols in ((_rabbit, PROTOCOLS[:2]), (_http, PROTOCOLS[2:])):
        with Bed(("sender", "receiver"), paper.LAN, seed=1) as bed, serve(bed) as address:
            for protocol in protocols:
                for session, messages in (("fresh", 1), ("persistent", MESSAGES)):
                    _captured(bed, address, protocol, messages, folder / "captures" / f"{protocol}-{session}.pcap")
                    counted[protocol][session] = recorded_overhead(folder, protocol, session)
    minutes = (time.monotonic() - begin) / 60
    about: dict[str, Any] = {
        **measurement_runs.facts(
            "voicewire record transport amqp", minutes, "namespaces", "embedded", {"lan": paper.LAN}
        ),
        "broker": RabbitMQ.version(),
        "seeds": "1, of the link's jitter",
        "size": SIZE,
        "messages in an open session": MESSAGES,
        "clients": {name: importlib.metadata.version(name) for name in ("pika", "python-qpid-proton")},
        "http": f"http.client and http.server of Python {platform.python_version()}",
        "overhead": counted,
    }
    (folder / "amqp.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return about
