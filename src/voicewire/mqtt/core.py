"""The broker without its network: routes, deliveries, retained messages."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config
from voicewire.mqtt.decode import to_text
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.hold import Hold, Missing
from voicewire.mqtt.session import RELEASED, Message, Outgoing, Route, Session
from voicewire.mqtt.topics import SubscriptionTree, check_name, matches

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voicewire.mqtt.connection import Connection
    from voicewire.mqtt.store import Store

ORDINARY, END_TO_END, CLOSED = 0, 1, 2
FIRST = 16
"""Of a message whose publisher waits, so many copies are written before the next are made: answers come sooner."""


class Core:
    """Routes messages between sessions; knows connections only as places to push bytes to."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.max_inflight = config.limits.max_inflight
        self.log = logging.getLogger("voicewire.broker")
        self.loop: asyncio.AbstractEventLoop
        self.sessions: dict[str, Session] = {}
        self.connections: set[Connection] = set()
        self.tree: SubscriptionTree[Session] = SubscriptionTree()
        self.routes: dict[bytes, Route] = {}
        self.retained: dict[str, tuple[Message, int]] = {}
        self.dirty: list[Connection] = []
        self.store: Store | None = None
        self.stuck = False
        self.bytes_received = self.bytes_sent = self.messages_received = self.dropped = 0
        self.publish_received = self.publish_sent = self.holds_open = self.holds_failed = 0

    # ------------------------------------------------------------------ routes
    def route(self, topic: bytes) -> Route:
        """Work out where messages on `topic` go, and remember it.

        Raises
        ------
        MalformedError
            If `topic` may not be published to.
        """
        route = self.routes.get(topic)
        if route is not None:
            return route
        name = check_name(to_text(topic))
        real, need, kind = name, 0, ORDINARY
        if name.startswith("$SYS/") or name == "$SYS":
            kind = CLOSED
        elif name.startswith("$e2e/"):
            kind, need, real = self._address(name)
        found = [
            (session, qos)
            for session, qos in self.tree.match(real).items()
            if session.permissions is None or session.permissions.may_read(real)
        ]
        route = Route(real.encode(), real, found, kind)
        route.need = need
        if len(self.routes) >= 10_000:
            self.routes.clear()
        self.routes[topic] = route
        return route

    @staticmethod
    def _address(name: str) -> tuple[int, int, str]:
        """Take `$e2e/<n>/<topic>` apart; `all` for n waits for everyone who can acknowledge."""
        _, count, *rest = name.split("/", 2)
        if count in ("report", "hello"):
            return CLOSED, 0, name
        if (
            not (count == "all" or (count.isdecimal() and count.isascii() and len(count) < 6))
            or not rest
            or not rest[0]
        ):
            raise MalformedError(f"{name[:40]!r} is not of the form $e2e/<n>/<topic>")
        need = p.WAIT_FOR_ALL if count == "all" else int(count)
        if need > p.WAIT_FOR_ALL or (need == p.WAIT_FOR_ALL and count != "all"):
            raise MalformedError(f"$e2e waits for at most {p.WAIT_FOR_ALL - 1} subscribers")
        if rest[0].startswith("$"):
            raise MalformedError("an end-to-end message to a topic that begins with $")
        return END_TO_END, need, rest[0]

    # ------------------------------------------------------------------ messages to subscribers
    def forward(self, route: Route, blob: bytes, count: int, source: Connection) -> None:
        """Pass a run of `count` QoS 0 messages on, as the bytes that they came in."""
        self.publish_received += count
        for session, _ in route.subscribers:
            connection = session.connection
            if connection is not None:
                connection.push_qos0(blob, count)
                self.publish_sent += count
                if (connection.congested or connection.waiters) and not connection.stalled:
                    connection.hold_back(source)

    def deliver(
        self,
        route: Route,
        payload: bytes,
        qos: int,
        retain: bool,
        source: Connection | None,
        hold: Hold | None = None,
    ) -> None:
        """Send one message to every subscriber of `route`, at the lesser of both QoS [MQTT-3.8.4-6]."""
        self.publish_received += 1
        if retain:
            self.retain(route, payload, min(qos, 2))
        message: Message | None = None
        for session, granted in route.subscribers:
            if hold is not None and len(self.dirty) >= FIRST:
                self.flush()
            q = qos if qos < granted else granted
            connection = session.connection
            if not q:
                if hold is not None:
                    hold.cannot(session.client_id, Missing.QOS_0)
                if connection is None:
                    continue
                connection.push_qos0(route.head(0, len(payload)) + payload, 1)
                self.publish_sent += 1
            else:
                if message is None:
                    message = Message(route.topic, payload, False, hold)
                if hold is None or session.client_id not in hold.acknowledged:
                    self.send(session, connection, message, q, route)
            if (
                connection is not None
                and (connection.congested or session.queue)
                and source is not None
                and not connection.stalled
                and connection.pressed()
            ):
                connection.hold_back(source)

    def send(
        self, session: Session, connection: Connection | None, message: Message, qos: int, route: Route | None
    ) -> None:
        """Send `message` at QoS 1-3, or let it wait for the window, or for the client."""
        inflight = session.inflight
        if connection is None or session.queue or connection.congested or len(inflight) >= self.max_inflight:
            self._enqueue(session, message, qos)
            return
        packet_id = session.next_id
        if packet_id in inflight or packet_id == 65535:
            packet_id = session.take_id()
        else:
            session.next_id = packet_id + 1
        number = 0
        if session.durable and self.store is not None:
            number = self.store.outgoing(session.client_id, packet_id, qos, message)
        if message.hold is not None:
            message.hold.expect(session.client_id)
        inflight[packet_id] = (message, qos, number)
        payload = message.payload
        size = len(payload)
        session.load += size
        self.publish_sent += 1
        if route is None or message.retain:
            connection.push(message.encode(qos, packet_id))
        else:
            extra = packet_id.to_bytes(2, "big") if qos < 3 else (packet_id << 16).to_bytes(4, "big")
            connection.push(route.head(qos, size) + extra + payload)

    def _enqueue(self, session: Session, message: Message, qos: int) -> None:
        limits = self.config.limits
        queue, hold = session.waiting_line(), message.hold
        load = session.load + len(message.payload)
        if len(queue) >= limits.max_queued or (load > limits.max_queued_bytes and queue):
            self.dropped += 1
            if not self.dropped & (self.dropped - 1):
                self.log.warning("queue of %r is full; %d messages dropped so far", session.client_id, self.dropped)
            if hold is not None:
                hold.cannot(session.client_id, Missing.QUEUE_FULL)
            return
        number = 0
        if session.durable and self.store is not None:
            number = self.store.outgoing(session.client_id, 0, qos, message)
        if hold is not None:
            hold.expect(session.client_id)
            if session.connection is None:
                hold.cannot(session.client_id, Missing.OFFLINE)
        session.load = load
        queue.append((message, qos, number))

    def pump(self, session: Session, connection: Connection) -> None:
        """Send what waits, as far as the window and the client's socket take it."""
        queue, inflight = session.queue, session.inflight
        limits = self.config.limits
        while queue and len(inflight) < self.max_inflight and not connection.congested:
            if connection.out_size > limits.out_high:
                break
            message, qos, number = queue.popleft()
            packet_id = session.take_id()
            inflight[packet_id] = (message, qos, number)
            if number and self.store is not None:
                self.store.sent(number, packet_id)
            self.publish_sent += 1
            connection.push(message.encode(qos, packet_id))
        if not queue:
            session.queue = None

    def resume(self, session: Session, connection: Connection) -> None:
        """Send again what was on the way when the client was lost [MQTT-4.4.0-1], then what has queued."""
        for packet_id, (message, qos, _) in list(session.inflight.items()):
            if message is RELEASED:
                connection.push((b"\x66\x02" if qos == 3 else b"\x62\x02") + packet_id.to_bytes(2, "big"))
            else:
                if message.hold is not None and message.hold.status is None:
                    message.hold.missing.pop(session.client_id, None)
                connection.push(message.encode(qos, packet_id, dup=True))
        if session.queue:
            for message, _, _ in session.queue:
                if message.hold is not None and message.hold.status is None:
                    message.hold.missing.pop(session.client_id, None)
            self.pump(session, connection)

    def released(self, session: Session, entry: Outgoing, data: bytes) -> None:
        """A subscriber's PUBREC has come: it has the message."""
        message, _, number = entry
        session.load -= len(message.payload)
        if number and self.store is not None:
            self.store.released(number)
        hold = message.hold
        if hold is not None:
            hold.acknowledge(session.client_id, data)
            if hold.publisher.durable:
                self.keep(hold)

    def finished(self, session: Session, entry: Outgoing, connection: Connection) -> None:
        """A subscriber's PUBACK or PUBCOMP has come: the message is done, the next may go."""
        message, qos, number = entry
        session.load -= len(message.payload)
        if number and self.store is not None:
            self.store.done(number)
        hold = message.hold
        if qos == 1 and hold is not None:
            hold.acknowledge(session.client_id)
            if hold.publisher.durable:
                self.keep(hold)
        if session.queue:
            self.pump(session, connection)
        if (connection.waiters or connection.stalled) and not connection.pressed():
            connection.release()

    # ------------------------------------------------------------------ retained messages
    def retain(self, route: Route, payload: bytes, qos: int) -> None:
        """Keep the last message of a topic; an empty one clears it [MQTT-3.3.1-10]."""
        name = route.name
        if not payload:
            self.retained.pop(name, None)
        elif name in self.retained or len(self.retained) < self.config.limits.max_retained:
            self.retained[name] = (Message(route.topic, payload, True), qos)
        else:
            self.log.warning("not retained, %d topics are: %r", len(self.retained), name)
            return
        if self.store is not None and not name.startswith("$SYS/"):
            self.store.retain(name, payload, qos)

    def send_retained(self, session: Session, connection: Connection, pattern: str, granted: int) -> None:
        """Send a new subscriber what is retained [MQTT-3.3.1-6]."""
        if "+" in pattern or "#" in pattern:
            found: Iterable[str] = [name for name in self.retained if matches(pattern, name)]
        else:
            found = (pattern,) if pattern in self.retained else ()
        for name in found:
            if session.permissions is not None and not session.permissions.may_read(name):
                continue
            message, qos = self.retained[name]
            q = min(qos, granted)
            if q:
                self.send(session, connection, message, q, None)
            else:
                connection.push_qos0(message.encode(0), 1)
                self.publish_sent += 1

    # ------------------------------------------------------------------ what the broker adds
    def keep(self, hold: Hold) -> None:
        """Let the hold outlive the broker, if its publisher's session does."""
        raise NotImplementedError

    def restored(self, waiting: dict[Hold, set[str]]) -> None:
        """After a restart: which sessions can still acknowledge the message of each hold."""
        raise NotImplementedError

    def flush(self) -> None:
        """Write what has collected; with a store, commit first, once for all that this tick brings."""
        raise NotImplementedError
