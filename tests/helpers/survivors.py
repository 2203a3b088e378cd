"""The clients of the kill test: bytes on a socket, this package's client, and stock paho.

Each keeps its session in memory while its connections come and go with the broker. All do the same work, so that
what differs in the count of `durability` is the client.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from dataclasses import dataclass, field
from typing import Protocol

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from voicewire.mqtt import packets as p
from voicewire.mqtt.client import Client
from voicewire.mqtt.decoder import Decoder
from voicewire.mqtt.errors import DisconnectedError

__all__: list[str] = []  # for `durability` alone

WINDOW = 20
"""Messages that a sender keeps on the way."""
AGAIN = 0.02
"""Seconds between two attempts to connect."""
TOPICS = "t/+"


class Survivor(Protocol):
    """A client that outlives its connections.

    Attributes
    ----------
    taken : list of (int, int)
        QoS and number of each message handed to the application, in their order.
    """

    taken: list[tuple[int, int]]

    def connect(self, subscribe: bool) -> None:
        """Try once to connect, and subscribe if asked to; both are answered when this returns."""

    def publish(self, number: int, qos: int) -> None:
        """Send a numbered message."""

    def open(self) -> int:
        """Messages whose exchange is not complete."""

    def step(self) -> None:
        """Handle what has come, for some milliseconds."""

    def close(self) -> None:
        """End for good."""


@dataclass(slots=True)
class WireClient:
    """The rules of MQTT 3.1.1 and nothing else, on a raw socket."""

    port: int
    client_id: str
    sock: socket.socket | None = None
    decoder: Decoder = field(default_factory=Decoder)
    unanswered: dict[int, p.Publish | p.Pubrel] = field(default_factory=dict)
    received: set[int] = field(default_factory=set)
    taken: list[tuple[int, int]] = field(default_factory=list)
    next_id: int = 0
    awaited: set[type[p.Packet]] = field(default_factory=set)

    def connect(self, subscribe: bool) -> None:
        """Connect and send again what was not answered."""
        self.close()
        self.sock = socket.create_connection(("127.0.0.1", self.port), 2)
        self.decoder = Decoder()
        out = [p.encode(p.Connect(self.client_id, clean=False))]
        if subscribe:
            out.append(p.encode(p.Subscribe(65535, ((TOPICS, 2),))))
        for packet in self.unanswered.values():
            if isinstance(packet, p.Publish):
                packet = p.Publish(packet.topic, packet.payload, packet.qos, dup=True, packet_id=packet.packet_id)
            out.append(p.encode(packet))
        self.sock.sendall(b"".join(out))
        self.sock.settimeout(0.02)
        self.awaited = {p.Connack, p.Suback} if subscribe else {p.Connack}
        while self.awaited:
            self.step()

    def close(self) -> None:
        """Drop the connection."""
        if self.sock is not None:
            self.sock.close()
            self.sock = None

    def open(self) -> int:
        """Messages whose exchange is not complete."""
        return len(self.unanswered)

    def publish(self, number: int, qos: int) -> None:
        """Send a numbered message."""
        while True:
            self.next_id = self.next_id % 60000 + 1
            if self.next_id not in self.unanswered:
                break
        packet = p.Publish(f"t/{qos}", b"%d" % number, qos, packet_id=self.next_id)
        self.unanswered[self.next_id] = packet
        self._send(packet)

    def _send(self, *packets: p.Packet) -> None:
        assert self.sock is not None
        self.sock.sendall(b"".join(p.encode(packet) for packet in packets))

    def step(self) -> None:
        """Handle what has come."""
        assert self.sock is not None
        try:
            data = self.sock.recv(65536)
        except TimeoutError:
            return
        if not data:
            raise ConnectionError
        answers = [self._handle(packet) for packet in self.decoder.feed(data)]
        self._send(*(answer for answer in answers if answer is not None))

    def _handle(self, packet: p.Packet) -> p.Packet | None:
        match packet:
            case p.Publish(payload=payload, qos=qos, packet_id=packet_id):
                if qos == 1 or packet_id not in self.received:
                    self.taken.append((qos, int(payload)))
                if qos == 1:
                    return p.Puback(packet_id)
                self.received.add(packet_id)
                return p.Pubrec(packet_id)
            case p.Pubrel(packet_id):
                self.received.discard(packet_id)
                return p.Pubcomp(packet_id)
            case p.Pubrec(packet_id):
                release = p.Pubrel(packet_id)
                if packet_id in self.unanswered:
                    self.unanswered[packet_id] = release
                return release
            case p.Puback(packet_id) | p.Pubcomp(packet_id):
                self.unanswered.pop(packet_id, None)
            case p.Connack() | p.Suback():
                self.awaited.discard(type(packet))
        return None


class OurClient:
    """`voicewire.mqtt.Client`, used as an application would: one task publishes, one takes."""

    def __init__(self, port: int, client_id: str) -> None:
        self.taken: list[tuple[int, int]] = []
        self._loop = asyncio.new_event_loop()
        self._client = Client("127.0.0.1", port, client_id, clean=False, observer=self._observe)
        self._open: set[int] = set()
        self._tasks: set[asyncio.Task[object]] = set()
        self._connected = False

    def _observe(self, way: str, packet: p.Packet, when: float) -> None:
        if way == "out" and isinstance(packet, p.Publish):
            self._open.add(packet.packet_id)
        elif way == "in" and isinstance(packet, p.Puback | p.Pubcomp):
            self._open.discard(packet.packet_id)

    def connect(self, subscribe: bool) -> None:
        """Connect; the client sends again what was not answered."""
        self._loop.run_until_complete(self._connect(subscribe))

    async def _connect(self, subscribe: bool) -> None:
        try:
            await self._client.connect(2)
            self._connected = True
            if subscribe:
                await self._client.subscribe(TOPICS, qos=2)
        except DisconnectedError as error:
            raise ConnectionError(str(error)) from None
        self._start(self._take())

    def _start(self, work: asyncio.Future[object] | object) -> None:
        task: asyncio.Task[object] = self._loop.create_task(work)  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _take(self) -> None:
        async for message in self._client.messages():
            self.taken.append((message.qos, int(message.payload)))
        self._connected = False

    def publish(self, number: int, qos: int) -> None:
        """Send a numbered message."""
        self._start(self._publish(number, qos))
        self._loop.run_until_complete(asyncio.sleep(0))

    async def _publish(self, number: int, qos: int) -> None:
        with contextlib.suppress(DisconnectedError):  # it goes on after the next connection
            await self._client.publish(f"t/{qos}", b"%d" % number, qos)

    def open(self) -> int:
        """Messages whose exchange is not complete."""
        return len(self._open)

    def step(self) -> None:
        """Handle what has come."""
        self._loop.run_until_complete(asyncio.sleep(0.01))
        if not self._connected:
            raise ConnectionError

    def close(self) -> None:
        """End for good."""
        self._client.abort()
        for task in self._tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()


class PahoClient:
    """Stock paho with a kept session and a loop of the application's own, which connects again by `reconnect`."""

    def __init__(self, port: int, client_id: str) -> None:
        self.taken: list[tuple[int, int]] = []
        self._open: set[int] = set()
        self._connected = self._subscribed = False
        self._client = paho.Client(CallbackAPIVersion.VERSION2, client_id, clean_session=False)
        self._client.max_inflight_messages_set(WINDOW)
        self._client.connect_async("127.0.0.1", port)
        self._client.on_message = lambda c, u, m: self.taken.append((m.qos, int(m.payload)))
        self._client.on_publish = lambda c, u, mid, code, properties: self._open.discard(mid)
        self._client.on_connect = self._on_connect
        self._client.on_subscribe = self._on_subscribe

    def _on_connect(self, *_: object) -> None:
        self._connected = True

    def _on_subscribe(self, *_: object) -> None:
        self._subscribed = True

    def connect(self, subscribe: bool) -> None:
        """Connect; paho sends again what was not answered."""
        self._connected, self._subscribed = False, not subscribe
        self._client.reconnect()
        while not self._connected:
            self.step()
        if subscribe:
            self._client.subscribe(TOPICS, 2)
        while not self._subscribed:
            self.step()

    def publish(self, number: int, qos: int) -> None:
        """Send a numbered message."""
        self._open.add(self._client.publish(f"t/{qos}", b"%d" % number, qos).mid)

    def open(self) -> int:
        """Messages whose exchange is not complete."""
        return len(self._open)

    def step(self) -> None:
        """Handle what has come."""
        if self._client.loop(0.01) != paho.MQTT_ERR_SUCCESS:
            raise ConnectionError

    def close(self) -> None:
        """End for good."""
        self._client.disconnect()
