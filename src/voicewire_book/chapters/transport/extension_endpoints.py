"""The two ends of each timed series beyond the paper: TCP with and without TLS, and CoAP.

MQTT's are `run_mqtt.Session` and `run_mqtt.broker`. Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import queue
import socket
import ssl
import threading
import time
from collections.abc import Coroutine
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from voicewire.testbed.errors import TestbedError
from voicewire.testbed.tcp_proxy import clamp
from voicewire.testbed.udp_proxy import DatagramProxy
from voicewire.transport.linear_topology import Bed
from voicewire.transport.run_tcp import TIMEOUT
from voicewire_book.chapters.transport import coap_theory

__all__ = ["CoapPair", "TcpPair", "client_context", "server_context"]

SENDER, RECEIVER = "publisher", "broker"  # neighbours on the bed that MQTT uses too, so all series share one link
_COAP_PORT = 5683
T = TypeVar("T")


def server_context(files: tuple[Path, Path]) -> ssl.SSLContext:
    """Return a server's TLS 1.3 with a certificate and its key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(*files)
    return context


def client_context(files: tuple[Path, Path]) -> ssl.SSLContext:
    """Return a client's TLS 1.3 that trusts this one certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_verify_locations(files[0])
    context.check_hostname = False  # the name is an address of the day
    return context


class TcpPair:
    """A sender and a receiver, joined by a fresh connection for each message or by one that stays open."""

    def __init__(self, bed: Bed, *, fresh: bool, tls: tuple[Path, Path] | None = None, nodelay: bool = True) -> None:
        self.bed, self.fresh, self.nodelay = bed, fresh, nodelay
        self._server_tls = server_context(tls) if tls else None
        self._client_tls = client_context(tls) if tls else None
        self._received: queue.Queue[float | Exception] = queue.Queue()
        self._size = 0
        self._open: socket.socket | None = None
        with bed.on(RECEIVER):
            self._server = socket.socket()
        self._server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if bed.kind == "proxy":
            clamp(self._server)
        self._server.bind((bed.listen_address(RECEIVER), 0))
        self._server.listen(16)
        self._address = bed.route(SENDER, RECEIVER, self._server.getsockname()[1])
        self._thread = threading.Thread(target=self._receive, name="voicewire-receiver", daemon=True)
        self._thread.start()

    def _receive(self) -> None:
        while True:
            try:
                plain, _ = self._server.accept()
            except OSError:
                return
            plain.settimeout(TIMEOUT)
            try:
                with self._server_tls.wrap_socket(plain, server_side=True) if self._server_tls else plain as end:
                    seen = 0
                    while piece := end.recv(1 << 16):
                        seen += len(piece)
                        if seen >= self._size:
                            self._received.put(time.perf_counter())
                            seen = 0
            except (ssl.SSLError, OSError) as error:
                self._received.put(error)

    def _connect(self) -> socket.socket:
        with self.bed.on(SENDER):
            plain = socket.create_connection(self._address, timeout=TIMEOUT)
        if self.nodelay:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._client_tls.wrap_socket(plain) if self._client_tls else plain

    @staticmethod
    def _part(end: socket.socket) -> None:
        with end, contextlib.suppress(ssl.SSLError, OSError):
            if isinstance(end, ssl.SSLSocket):
                end.unwrap()  # also takes in the session tickets: a close with unread data would be a reset
            else:
                end.shutdown(socket.SHUT_WR)
                while end.recv(4096):
                    pass

    def send(self, data: bytes) -> float:
        """Send one message."""
        self._size = len(data)
        start = time.perf_counter()
        end = self._connect() if self.fresh or self._open is None else self._open
        if not self.fresh:
            self._open = end
        try:
            end.sendall(data)
            try:
                done = self._received.get(timeout=TIMEOUT)
            except queue.Empty:
                raise TestbedError(f"no message within {TIMEOUT:g} s") from None
        finally:
            if self.fresh:
                self._part(end)
        if isinstance(done, Exception):
            raise TestbedError(f"the receiver failed: {done}") from done
        return done - start

    def close(self) -> None:
        """Close both ends."""
        if self._open is not None:
            self._part(self._open)
            self._open = None
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # a plain close would leave the thread waiting in accept
        self._server.close()
        self._thread.join(timeout=5)

    def __enter__(self) -> TcpPair:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _LoopThread:
    """An event loop in a thread of its own on one host."""

    def __init__(self, bed: Bed, role: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._bed, self._role = bed, role
        self._thread = threading.Thread(target=self._run, name="voicewire-coap", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with self._bed.on(self._role):
            asyncio.set_event_loop(self._loop)
            self._loop.run_forever()
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    def call(self, work: Coroutine[Any, Any, T], limit: float = TIMEOUT) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(limit)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)


class CoapPair:
    """A CoAP client and a server (aiocoap) with one resource that takes confirmable PUTs.

    A body of more than 1124 bytes goes in blocks of 1024 (RFC 7959). On loopback a relay delays and loses datagrams.
    """

    def __init__(self, bed: Bed, timeout: float = coap_theory.TIMEOUT) -> None:
        from aiocoap import CHANGED, Context, Message, resource
        from aiocoap.numbers import TransportTuning

        if not 0 < timeout <= coap_theory.TIMEOUT:
            raise ValueError(f"the first wait must be above 0 and at most {coap_theory.TIMEOUT:g} s, not {timeout}")
        for name in ("coap", "coap-server"):
            logging.getLogger(name).setLevel(logging.ERROR)
        received: list[tuple[float, int]] = []
        self._received = received
        self._tuning: Any = type("Tuning", (TransportTuning,), {"ACK_TIMEOUT": timeout})()

        class Store(resource.Resource):
            async def render_put(self, request: Any) -> Any:
                received.append((time.perf_counter(), len(request.payload)))
                return Message(code=CHANGED)

        async def serve(bind: tuple[str, int]) -> Any:
            site = resource.Site()
            site.add_resource(["ict", "object"], Store())
            return await Context.create_server_context(site, bind=bind, transports=["simplesocketserver"])

        async def open_client() -> Any:
            return await Context.create_client_context(transports=["simple6"])

        with ExitStack() as stack:
            far, near = _LoopThread(bed, RECEIVER), _LoopThread(bed, SENDER)
            stack.callback(far.close)
            stack.callback(near.close)
            if bed.kind == "namespaces":
                bind = address = bed.route(SENDER, RECEIVER, _COAP_PORT)
            else:
                bind = "127.0.0.1", _free_datagram_port()
                relay = DatagramProxy(bind, bed.spec.delay, bed.spec.loss, bed.seed)
                address = stack.enter_context(relay).address
            server = far.call(serve(bind))
            stack.callback(lambda: far.call(server.shutdown()))
            self._client: Any = near.call(open_client())
            stack.callback(lambda: near.call(self._client.shutdown()))
            self._uri = f"coap://{address[0]}:{address[1]}/ict/object"
            self._near = near
            self._stack = stack.pop_all()

    def send(self, data: bytes) -> tuple[float, float]:
        """PUT one object."""
        received, known, ended = self.attempt(data)
        if known > ended:
            raise TestbedError(f"CoAP: no answer after {ended:.3g} s and the last retransmission")
        return received, known

    def attempt(self, data: bytes) -> tuple[float, float, float]:
        """PUT one object over a line that may lose it for good."""
        from aiocoap import PUT, Message
        from aiocoap.error import ConRetransmitsExceeded

        async def put() -> tuple[float, float, Any]:
            request = Message(code=PUT, uri=self._uri, payload=data, transport_tuning=self._tuning)  # confirmable
            start = time.perf_counter()
            try:
                code = (await self._client.request(request).response).code
            except ConRetransmitsExceeded:
                code = None
            return start, time.perf_counter(), code

        self._received.clear()
        exchanges = 1 + len(data) // coap_theory.BLOCK
        start, end, code = self._near.call(put(), TIMEOUT + exchanges * coap_theory.longest_wait())
        taken = [n for _, n in self._received]
        refused = code is not None and not code.is_successful()
        if refused or taken not in ([len(data)], [] if code is None else [len(data)]):
            raise TestbedError(f"CoAP: {code}, and {len(taken)} requests came instead of one")
        received = self._received[0][0] - start if taken else math.inf
        return received, math.inf if code is None else end - start, end - start

    def close(self) -> None:
        """Close both ends."""
        self._stack.close()

    def __enter__(self) -> CoapPair:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _free_datagram_port() -> int:
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])
