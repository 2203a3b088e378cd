"""Where messages go: routes, deliveries, windows and queues. Knows connections only as peers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from voicewire.mqtt.config import EVERYTHING, Config, Permissions, permissions
from voicewire.mqtt.interfaces import Journal, Peer
from voicewire.mqtt.routes import Route, find
from voicewire.mqtt.serving.resource_limits import ENTRY, Shares, Unwritten
from voicewire.mqtt.serving.time_slicing import SLICE, Work, weight
from voicewire.mqtt.sessions.hold import Hold, Missing
from voicewire.mqtt.sessions.outbox import Outbox
from voicewire.mqtt.sessions.retained_messages import Retained
from voicewire.mqtt.sessions.session import COPIED, RELEASED, Message, Outgoing, Session
from voicewire.mqtt.topics import SubscriptionTree

__all__ = ["Router"]

FIRST = 16
"""Of a message whose publisher waits, so many copies are written before the next are made: answers come sooner."""


class Router:
    """Routes messages between sessions."""

    def __init__(self, config: Config, outbox: Outbox, work: Work, log: logging.Logger) -> None:
        self.config = config
        self.limits = config.limits
        self.favours = config.favours
        self.max_inflight = config.limits.max_inflight
        self.max_load = config.limits.max_queued_bytes
        self.outbox = outbox
        self.work = work
        self.log = log
        self.store: Journal | None = None
        self.sessions: dict[str, Session] = {}
        self.shares = Shares(config)
        self.tree: SubscriptionTree[Session] = SubscriptionTree()
        self.routes: dict[bytes, Route] = {}
        self.retained = Retained(self.limits, self.shares, self.send_retained, log)
        self.route_bytes = 0
        self.bytes_received = self.bytes_sent = self.messages_received = self.dropped = 0
        self.publish_received = self.publish_sent = 0
        self._own_rules = any("%c" in rule.topic for rule in config.access)
        self._permissions: dict[str | None, Permissions] = {}

    def permissions(self, user: str | None, client_id: str) -> Permissions:
        """Say what a client may do; clients of one user share it where no rule names the client id."""
        if self._own_rules or not self.config.access:
            return permissions(self.config.access, user, client_id)
        found = self._permissions.get(user)
        if found is None:
            if len(self._permissions) >= 1000:
                self._permissions.clear()
            found = self._permissions[user] = permissions(self.config.access, user, client_id)
        return found

    # ------------------------------------------------------------------ routes
    def route(self, topic: bytes) -> Route:
        """Work out where messages on `topic` go, and remember it.

        Only sessions that may read the topic are on the route; who may read is asked anew whenever a route is made,
        and routes are forgotten whenever a subscription or a session changes.
        """
        route = self.routes.get(topic)
        if route is None:
            route = find(topic, self.tree)
            self._remember(topic, route)
        return route

    def _remember(self, topic: bytes, route: Route) -> None:
        cost = 1000 + 4 * len(topic) + 72 * len(route.subscribers)
        if self.route_bytes + cost > self.limits.max_route_bytes:
            self.forget_routes()
        if cost <= self.limits.max_route_bytes:
            self.route_bytes += cost
            self.routes[topic] = route

    def forget_routes(self) -> None:
        """A subscription or a session has changed: routes are worked out anew when they are needed."""
        if self.routes:
            self.routes.clear()
            self.route_bytes = 0

    # ------------------------------------------------------------------ messages to subscribers
    def forward(self, route: Route, blob: bytes, count: int, source: Peer) -> None:
        """Pass a run of QoS 0 messages on, as the bytes that they came in."""
        self.publish_received += count
        if len(blob) >= COPIED:
            blob = Unwritten(blob, self.shares)
        if route.steps > SLICE:
            self.work.run(self._forward_long(route, blob, count, source), source, lasting=True)
            return
        for session, _ in route.subscribers:
            connection = session.connection
            if connection is not None:
                try:
                    connection.push_qos0(blob, count)
                    self.publish_sent += count
                    if connection.slow:
                        connection.hold_back(source)
                except Exception as error:
                    connection.broke(error)

    def _forward_long(self, route: Route, blob: bytes, count: int, source: Peer) -> Iterator[int]:
        for piece in route.pieces():
            self.forward(piece, blob, count, source)
            self.publish_received -= count
            yield piece.steps

    def deliver(
        self, route: Route, payload: bytes, qos: int, source: Peer | None, hold: Hold | None = None,
        safe: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        """Send one message to every subscriber of `route`, at the lesser of both QoS [MQTT-3.8.4-6].

        When this returns, each has it in flight or in its queue, and the journal has all of that: the bytes are
        written later, and the payload is one for all. Where there are more subscribers than fit into a slice, this
        is so only when `safe` is called; until then nobody is sent the message, and a journal that is read again
        knows nothing of it.
        """
        self.publish_received += 1
        if route.steps > SLICE:
            message = Message(route.topic, payload, False, hold)
            self.work.run(self._deliver_long(route, message, qos, source, safe), source, lasting=True)
            return
        made: Message | None = None
        packet = head = b""
        head_qos = 0
        for session, granted in route.subscribers:
            if hold is not None and self.favours and len(self.outbox.dirty) >= FIRST:
                self.outbox.flush()
            q = qos if qos < granted else granted
            connection = session.connection
            try:
                if not q:
                    if hold is not None:
                        hold.cannot(session.client_id, Missing.QOS_0)
                    if connection is None:
                        continue
                    if len(payload) < COPIED:
                        packet = packet or route.head(0, len(payload)) + payload
                        connection.push_qos0(packet, 1)
                    else:
                        packet = packet or Unwritten(payload, self.shares)
                        connection.push_qos0(route.head(0, len(payload)), 1, packet)
                    self.publish_sent += 1
                else:
                    if made is None:
                        made = Message(route.topic, payload, False, hold)
                    if hold is None or session.client_id not in hold.acknowledged:
                        if q != head_qos:
                            head, head_qos = route.heads.get(len(payload) << 2 | q) or route.head(q, len(payload)), q
                        self.send(session, connection, made, q, head)
                    if connection is None:
                        continue
                if (connection.slow or session.queue) and source is not None:
                    connection.hold_back(source)
            except Exception as error:
                self._failed(session, error)
        if hold is not None:
            self.begin(hold)
        if safe is not None:
            safe()

    def _deliver_long(
        self, route: Route, message: Message, qos: int, source: Peer | None, safe: Callable[[], None] | None
    ) -> Iterator[int]:
        """Hand a message out in slices: first into all queues, sealed, then from there to those who are there."""
        hold = message.hold
        message.sealed = True
        for piece in route.pieces():
            for session, granted in piece.subscribers:
                try:
                    if min(qos, granted):
                        if hold is None or session.client_id not in hold.acknowledged:
                            self._enqueue(session, message, min(qos, granted))
                    elif hold is not None:
                        hold.cannot(session.client_id, Missing.QOS_0)
                except Exception as error:
                    self._failed(session, error)
            yield piece.steps
        message.sealed = False
        if message.number and self.store is not None:
            self.store.whole(message)
        if hold is not None:
            self.begin(hold)
        if safe is not None:
            safe()
        head, payload = b"", message.payload
        for piece in route.pieces():
            for session, granted in piece.subscribers:
                connection = session.connection
                if connection is None:
                    continue
                try:
                    if min(qos, granted):
                        self.pump(session, connection)
                    else:
                        if not head:
                            head = message.head(0)
                            payload = Unwritten(payload, self.shares) if len(payload) >= COPIED else payload
                        connection.push_qos0(head, 1, payload)
                        self.publish_sent += 1
                    if (connection.slow or session.queue) and source is not None and not source.closing:
                        connection.hold_back(source)
                except Exception as error:
                    self._failed(session, error)
            yield piece.steps

    def begin(self, hold: Hold) -> None:
        """All subscribers of a held message are known: from here on it can be decided."""
        publisher = hold.publisher
        if hold.qos > 1 and publisher.durable and self.store is not None and not publisher.ended:
            self.store.received(publisher.client_id, hold.packet_id)
        hold.begin()
        self.keep(hold)

    def _failed(self, session: Session, error: Exception) -> None:
        if session.connection is None:
            self.log.error("a message for %r has failed: %r", session.client_id, error, exc_info=error)
        else:
            session.connection.broke(error)

    def send(self, session: Session, connection: Peer | None, message: Message, qos: int, head: bytes) -> None:
        """Send a message at QoS 1-3, or let it wait for the window, or for the client."""
        inflight = session.inflight
        if (
            connection is None
            or session.queue
            or connection.congested
            or len(inflight) >= self.max_inflight
            or session.load > self.max_load
        ):
            self._enqueue(session, message, qos)
            return
        shares = self.shares
        size = message.size
        if size < shares.plain and shares.held <= shares.free:
            shares.held += size
        elif not shares.take(session.owner, message, session.load, len(self.sessions)):
            self._drop(session, message)
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
        session.load += size
        self.publish_sent += 1
        if not head:
            connection.push_message(message.head(qos, packet_id), payload)
        else:
            extra = packet_id.to_bytes(2, "big") if qos < 3 else (packet_id << 16).to_bytes(4, "big")
            if len(payload) < COPIED:
                connection.push(head + extra + payload)
            else:
                connection.push_message(head + extra, payload)

    def send_retained(self, session: Session, connection: Peer, message: Message, qos: int) -> None:
        """Send what is retained."""
        if qos:
            self.send(session, connection, message, qos, b"")
        else:
            connection.push_qos0(message.encode(0), 1)
            self.publish_sent += 1

    def _enqueue(self, session: Session, message: Message, qos: int) -> None:
        limits, size = self.limits, message.size
        queue, hold = session.waiting_line(), message.hold
        if (
            (len(queue) >= limits.max_queued and not (message.sealed and session.connection is not None and not queue))
            or (session.load + size > limits.max_queued_bytes and session.load)
            or not self.shares.take(session.owner, message, session.load, len(self.sessions))
        ):
            self._drop(session, message)
            return
        number = 0
        if session.durable and self.store is not None:
            number = self.store.outgoing(session.client_id, 0, qos, message)
        if hold is not None:
            hold.expect(session.client_id)
            if session.connection is None:
                hold.cannot(session.client_id, Missing.OFFLINE)
        session.load += size
        queue.append((message, qos, number))

    def _drop(self, session: Session, message: Message) -> None:
        if message.hold is not None:
            message.hold.cannot(session.client_id, Missing.QUEUE_FULL)
        self.dropped += 1
        if not self.dropped & (self.dropped - 1):
            self.log.warning("queue of %r is full; %d messages dropped so far", session.client_id, self.dropped)

    def pump(self, session: Session, connection: Peer) -> None:
        """Send what waits, as far as the window and the client's socket take it."""
        queue, inflight = session.queue, session.inflight
        while queue and len(inflight) < self.max_inflight and not connection.full() and not queue[0][0].sealed:
            entry = queue.popleft()
            message, qos, number = entry
            if session.permissions is not EVERYTHING and not session.may_read(message.topic):
                self._withdraw(session, entry)
                continue
            packet_id = session.take_id()
            inflight[packet_id] = entry
            if number and self.store is not None:
                self.store.sent(number, packet_id)
            self.publish_sent += 1
            connection.push_message(message.head(qos, packet_id), message.payload)
        if not queue:
            session.queue = None

    def _withdraw(self, session: Session, entry: Outgoing) -> None:
        """What has waited may not be read any more: the rules have changed, or the client has."""
        message, _, number = entry
        session.load -= message.size
        self.shares.leave(session.owner, message)
        self.dropped += 1
        if number and self.store is not None:
            self.store.done(number, message)
        if message.hold is not None:
            message.hold.lose(session.client_id, Missing.NOT_SUBSCRIBED)

    def resume(self, session: Session, connection: Peer) -> None:
        """Send again what was on the way when the client was lost [MQTT-4.4.0-1], then what has queued."""
        for packet_id, entry in list(session.inflight.items()):
            message, qos, _ = entry
            if message is RELEASED:
                connection.push((b"\x66\x02" if qos == 3 else b"\x62\x02") + packet_id.to_bytes(2, "big"))
            elif session.permissions is not EVERYTHING and not session.may_read(message.topic):
                del session.inflight[packet_id]
                self._withdraw(session, entry)
            else:
                if message.hold is not None and message.hold.status is None:
                    message.hold.missing.pop(session.client_id, None)
                connection.push_message(message.head(qos, packet_id, dup=True), message.payload)
        if session.queue:
            for message, _, _ in session.queue:
                if message.hold is not None and message.hold.status is None:
                    message.hold.missing.pop(session.client_id, None)
            self.pump(session, connection)

    def released(self, session: Session, entry: Outgoing, data: bytes) -> None:
        """A subscriber's PUBREC has come: it has the message."""
        message, _, number = entry
        shares, size = self.shares, message.size
        grown = ENTRY - size  # until its PUBCOMP comes
        session.load += grown
        if size < shares.plain:
            shares.held += grown
        else:
            shares.leave(session.owner, message)
            shares.enter(session.owner, RELEASED)
        if number and self.store is not None:
            self.store.released(number, message)
        hold = message.hold
        if hold is not None:
            hold.acknowledge(session.client_id, data)
            self.keep(hold)

    def finished(self, session: Session, entry: Outgoing, connection: Peer) -> None:
        """A subscriber's PUBACK or PUBCOMP has come: the message is done, the next may go."""
        message, qos, number = entry
        shares, size = self.shares, message.size
        session.load -= size
        if size < shares.plain:
            shares.held -= size
        else:
            shares.leave(session.owner, message)
        if number and self.store is not None:
            self.store.done(number, message)
        hold = message.hold
        if qos == 1 and hold is not None:
            hold.acknowledge(session.client_id)
            self.keep(hold)
        if session.queue:
            self.pump(session, connection)
        if connection.pressing:
            connection.caught_up()

    def keep(self, hold: Hold) -> None:
        """Let the hold outlive the broker, if its publisher's session does."""
        publisher = hold.publisher
        if publisher.durable and self.store is not None and hold.qos > 1 and not publisher.ended:
            self.store.keep(hold)

    # ------------------------------------------------------------------ sessions that end
    def end(self, session: Session, holds: Iterator[int]) -> None:
        """Forget a session: at once for all that comes, in slices what it leaves behind."""
        if session.ended:
            return
        if self.sessions.get(session.client_id) is session:
            del self.sessions[session.client_id]
            self.shares.kept[session.owner] -= not session.clean
        session.ended = True
        if session.subscriptions:
            self.forget_routes()
        if session.durable and self.store is not None:
            self.store.forget(session.client_id)
        for message, _, _ in (*session.inflight.values(), *(session.queue or ())):
            self.shares.leave(session.owner, message)
        self.shares.released(session.owner, len(session.received))
        self.work.run(self._bury(session, holds))

    def _bury(self, session: Session, holds: Iterator[int]) -> Iterator[int]:
        yield from holds
        # Holds and their publisher refer to each other: else answers would count until memory is collected.
        session.received.clear()
        session.held = None
        for pattern in session.subscriptions:
            self.tree.remove(pattern, session)
            yield pattern.count("/") + weight(pattern)
        for message, _, number in [*session.inflight.values(), *(session.queue or ())]:
            if number and self.store is not None:
                self.store.left(message)
            hold = message.hold
            if hold is not None:
                hold.lose(session.client_id, Missing.SESSION_ENDED)
                self.keep(hold)
                yield 5 + (len(hold.acknowledged) if hold.status is not None else 0)
            else:
                yield 1
