"""The packets of one client, read where they lie.

The common packets are handled without objects; everything else goes through `decode`. A run of QoS 0 messages on one
topic is passed on as one piece of bytes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Protocol, cast

from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config
from voicewire.mqtt.decoder import decode, read_length
from voicewire.mqtt.endtoend import EndToEnd
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.interfaces import Peer
from voicewire.mqtt.routes import Route
from voicewire.mqtt.routing import Router
from voicewire.mqtt.serving.resource_limits import ENTRY
from voicewire.mqtt.serving.time_slicing import SLICE, Steps, Work
from voicewire.mqtt.sessions.outbox import Outbox
from voicewire.mqtt.sessions.session import RELEASED, Pending, Session

__all__: list[str] = []  # the broker's inside: only this room's own modules use it

BEFORE_CONNECT = 5 * 65537 + 10
"""Largest possible CONNECT; nothing bigger is read from a stranger."""
TURN = 10_000
"""Steps that the packets of one client may take before the others are looked after."""


class Talker(Peer, Protocol):
    """What the handling of packets needs of a connection, beside what routing does."""

    session: Session | None
    halted: bool
    peer: str
    seen: float
    keep_alive: float

    def put_off(self, data: bytes) -> None:
        """Send `data` with whatever comes next, or once no publisher waits for this client."""


class Services(Protocol):
    """What a connection needs of the broker."""

    config: Config
    log: logging.Logger
    loop: asyncio.AbstractEventLoop
    router: Router
    outbox: Outbox
    work: Work
    ends: EndToEnd
    connections: set[Any]

    def connect(self, connection: Talker, packet: p.Connect) -> None:
        """Answer CONNECT and bring session and connection together."""

    def gone(self, connection: Talker, will: bool) -> None:
        """Part session and connection."""

    def subscribe(self, body: bytes, connection: Talker, session: Session) -> Steps:
        """Answer SUBSCRIBE."""

    def unsubscribe(self, body: bytes, connection: Talker, session: Session) -> Steps:
        """Answer UNSUBSCRIBE."""


def _nothing(topic: str) -> bool:
    """May a client publish to `topic` whose permissions are not known?"""
    return False


def _alike(data: bytes, start: int, topic_end: int, end: int) -> tuple[int, int]:
    """Find the QoS 0 messages behind the one from `start` to `end` that have its topic and size."""
    same, size, count = data[start:topic_end], end - start, 1
    last = len(data) - size
    while end <= last and data.startswith(same, end) and count < TURN:
        end += size
        count += 1
    return end, count


class Incoming:
    """Takes the packets of one client."""

    __slots__ = ("broker", "ends", "peer", "router")

    def __init__(self, broker: Services, peer: Talker) -> None:
        self.broker = broker
        self.router = broker.router
        self.ends = broker.ends
        self.peer = peer

    def take(self, data: bytes) -> int:
        """Handle complete packets in `data`, one turn's worth at most, and return how many bytes they were."""
        router, peer = self.router, self.peer
        pos, n = 0, len(data)
        session = peer.session
        if session is None:
            pos = self._first(data)
            session = peer.session
            if session is None:
                return pos
        limit, routes = router.limits.max_packet, router.routes
        short = min(limit + 1, 0x80)  # smaller sizes have one byte, and are within the limit
        may_write = session.permissions.may_write if session.permissions is not None else _nothing
        handled, quota, last = 0, TURN, b""
        try:
            while n - pos >= 2 and handled < quota and not peer.halted:
                first = data[pos]
                at = pos + 2
                size = data[pos + 1]
                if size < short:  # what `read_length` would say, without a call for every small packet
                    end = at + size
                else:
                    head = read_length(data, pos, limit)
                    if head is None:
                        break
                    at, end = head
                if end > n:
                    break
                kind = first >> 4
                if first == 0x30:  # stands here because runs of QoS 0 take no call for each message
                    if end - at < 3:
                        raise MalformedError("a PUBLISH without a topic name [MQTT-3.3.2-1]")
                    topic_end = at + 2 + (data[at] << 8 | data[at + 1])
                    if topic_end > end:
                        raise MalformedError("the packet ends inside a field")
                    topic = data[at + 2 : topic_end]
                    route = routes.get(topic) or router.route(topic)
                    if route.kind:
                        self.ends.special(route, 0, 0, data[topic_end:end], False, peer, session)
                    else:
                        count = 1
                        if topic == last:  # the second in a row: perhaps there are more
                            end, count = _alike(data, pos, topic_end, end)
                            handled += count - 1
                        last = topic
                        if may_write(route.name):
                            router.forward(route, data[pos:end], count, peer)
                            quota -= route.steps
                elif kind == 3:
                    quota -= self._publish(first, data, at, end, session, may_write)
                elif end - at == 2 and 4 <= kind <= 7:
                    self.acknowledgement(first, data[at] << 8 | data[at + 1], session)
                elif first == 0xC0 and end == at:
                    peer.push(b"\xd0\x00")
                else:
                    quota -= self._other(first, data[at:end], session)
                handled += 1
                pos = end
        finally:
            router.messages_received += handled
        return pos

    def _first(self, data: bytes) -> int:
        """Wait for CONNECT, which must come first [MQTT-3.1.0-1]."""
        if data[0] != 0x10:
            raise MalformedError("the first packet is not CONNECT [MQTT-3.1.0-1]")
        head = read_length(data, 0, BEFORE_CONNECT)
        if head is None or head[1] > len(data):
            return 0
        packet = decode(data[0], data[head[0] : head[1]])
        self.broker.connect(self.peer, cast(p.Connect, packet))
        return head[1]

    def _publish(
        self, first: int, data: bytes, at: int, end: int, session: Session, may_write: Callable[[str], bool]
    ) -> int:
        """PUBLISH with QoS above 0, or with a flag; returns the steps that it took."""
        router = self.router
        qos = first >> 1 & 3
        if qos == 3:
            if not (self.broker.config.qos3 and session.qos3):
                raise MalformedError("QoS 3 from a client that has not subscribed with it [MQTT-3.3.1-4]")
            packet = cast(p.Publish, decode(first, data[at:end], router.limits.max_named))
            self.ends.publish3(packet, self.peer, session)
            return 20 + 2 * len(packet.subscribers)
        if first & 8 and not qos:
            raise MalformedError("DUP at QoS 0 [MQTT-3.3.1-2]")
        if end - at < 3:
            raise MalformedError("a PUBLISH without a topic name [MQTT-3.3.2-1]")
        topic_end = at + 2 + (data[at] << 8 | data[at + 1])
        topic = data[at + 2 : topic_end]
        payload_at = topic_end + 2 if qos else topic_end
        if payload_at > end:
            raise MalformedError("the packet ends inside a field")
        number = data[topic_end:payload_at]
        if number == b"\0\0":
            raise MalformedError("packet id 0 [MQTT-2.3.1-1]")
        route = router.routes.get(topic) or router.route(topic)
        retain = first & 1 == 1
        if route.kind:
            packet_id = int.from_bytes(number, "big")
            self.ends.special(route, qos, packet_id, data[payload_at:end], retain, self.peer, session)
            return 21 + route.steps
        if qos == 1:
            answer = b"\x40\x02" + number
        elif not qos:
            answer = b""
        else:
            answer = b"\x50\x02" + number
            packet_id, received = data[topic_end] << 8 | data[topic_end + 1], session.received
            if packet_id in received:  # [MQTT-4.3.3-2]: once, whatever DUP says
                if received[packet_id] is None:  # of a held message PUBREC comes when its subscribers have answered
                    self.peer.push(answer)
                return 1 + route.steps
            shares = router.shares
            if shares.plain and shares.held <= shares.free:
                shares.held += ENTRY
            else:
                shares.note(session.owner, len(received), len(router.sessions))
            received[packet_id] = None
            if route.steps <= SLICE and session.durable and router.store is not None:
                router.store.received(session.client_id, packet_id)
        if may_write(route.name):
            payload = data[payload_at:end]
            if retain:
                router.retained.keep(route, payload, qos, session.owner)
            if route.steps > SLICE:
                self._deliver_long(route, payload, qos, int.from_bytes(number, "big"), session)
                return SLICE
            router.deliver(route, payload, qos, self.peer)
        if answer:
            self.peer.push(answer)
        return 1 + route.steps

    def _deliver_long(self, route: Route, payload: bytes, qos: int, packet_id: int, session: Session) -> None:
        """A message to more subscribers than fit into a slice: its publisher has an answer when all have it."""
        router, pending = self.router, Pending()
        if qos == 2:
            session.received[packet_id] = pending

        def safe() -> None:
            if qos == 2:
                if session.received.get(packet_id) is not pending:  # released before it was answered
                    return
                session.received[packet_id] = None
                if session.durable and router.store is not None and not session.ended:
                    router.store.received(session.client_id, packet_id)
            if qos and session.connection is not None:
                session.connection.push((b"\x40\x02" if qos == 1 else b"\x50\x02") + packet_id.to_bytes(2, "big"))

        router.deliver(route, payload, qos, self.peer, None, safe)

    def acknowledgement(self, first: int, packet_id: int, session: Session) -> None:
        """PUBACK, PUBREC, PUBREL or PUBCOMP with nothing but its packet id."""
        if not packet_id:
            raise MalformedError("packet id 0 [MQTT-2.3.1-1]")
        inflight = session.inflight
        if first == 0x40:
            entry = inflight.pop(packet_id, None)
            if entry is None:
                return
            if entry[1] != 1:
                inflight[packet_id] = entry  # it was sent at another QoS, and is not answered by this
                return
            self.router.finished(session, entry, self.peer)
        elif first == 0x50 or first == 0x56:
            self._pubrec(first, packet_id, session, b"")
        elif first == 0x62 or first == 0x66:
            if packet_id in session.received:
                self.ends.forget_received(session, packet_id)
            self.peer.push((b"\x70\x02" if first == 0x62 else b"\x76\x02") + packet_id.to_bytes(2, "big"))
        elif first == 0x70 or first == 0x76:
            entry = inflight.get(packet_id)
            if entry is None or entry[0] is not RELEASED:
                return
            del inflight[packet_id]
            self.router.finished(session, entry, self.peer)
        else:
            raise MalformedError(f"reserved flags {first & 15:04b} [MQTT-2.2.2-2]")

    def _pubrec(self, first: int, packet_id: int, session: Session, data: bytes) -> None:
        if not packet_id:
            raise MalformedError("packet id 0 [MQTT-2.3.1-1]")
        inflight = session.inflight
        entry = inflight.get(packet_id)
        qos = 3 if first == 0x56 else 2
        send = self.peer.push
        if entry is not None:
            message, sent, number = entry
            if sent < 2:
                return
            if message is not RELEASED:
                qos = sent
                inflight[packet_id] = (RELEASED, qos, number)
                self.router.released(session, entry, data)
                hold = message.hold
                if hold is not None and hold.status is None and self.router.favours:
                    send = self.peer.put_off  # a publisher waits for others still: what it waits for goes first
        send(((0x66020000 if qos == 3 else 0x62020000) | packet_id).to_bytes(4, "big"))

    def _other(self, first: int, body: bytes, session: Session) -> int:
        """Packets that are not worth a short cut; returns the steps that they took."""
        broker = self.broker
        if first == 0x82:
            return broker.work.run(broker.subscribe(body, self.peer, session), self.peer)
        if first == 0xA2:
            return broker.work.run(broker.unsubscribe(body, self.peer, session), self.peer)
        match decode(first, body):
            case p.Disconnect():
                session.will = None  # [MQTT-3.14.4-3]
                self.peer.close(will=False)
            case p.Pubrec(packet_id, 3, data):
                if len(data) > 65535:
                    raise MalformedError("an answer of more than 65535 bytes in a PUBREC")
                self._pubrec(0x56, packet_id, session, data)
            case p.Connect():
                raise MalformedError("a second CONNECT [MQTT-3.1.0-2]")
            case packet:
                raise MalformedError(f"a client does not send {type(packet).__name__.upper()} packets")
        return 1
