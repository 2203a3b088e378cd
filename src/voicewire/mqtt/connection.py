"""One client at the broker: an `asyncio.Protocol` that takes all packets of a buffer at once.

The common packets are read where they lie, without objects; everything else goes through `decode`. A run of QoS 0
messages on one topic is passed on as one piece of bytes. What is sent collects in `out` and is written once.
"""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any, Protocol, cast

from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config
from voicewire.mqtt.decode import decode, read_length
from voicewire.mqtt.endtoend import EndToEnd
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.outbox import Outbox
from voicewire.mqtt.pressure import Pressure
from voicewire.mqtt.routing import Router
from voicewire.mqtt.session import RELEASED, Route, Session
from voicewire.mqtt.work import Steps, Work

BEFORE_CONNECT = 5 * 65537 + 10
"""Largest possible CONNECT; nothing bigger is read from a stranger."""
TURN = 4096
"""Steps that the packets of one client may take before the others are looked after."""
LINE = 1000
"""Messages that wait for a client's acknowledgements before publishers have to wait for it."""


def _nothing(topic: str) -> bool:
    """May a client publish to `topic` whose permissions are not known?"""
    return False


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

    def connect(self, connection: Connection, packet: p.Connect) -> None:
        """Answer CONNECT and bring session and connection together."""

    def gone(self, connection: Connection, will: bool) -> None:
        """Part session and connection."""

    def subscribe(self, body: bytes, connection: Connection, session: Session) -> Steps:
        """Answer SUBSCRIBE."""

    def unsubscribe(self, body: bytes, connection: Connection, session: Session) -> Steps:
        """Answer UNSUBSCRIBE."""


class Connection(asyncio.Protocol):
    """The broker's end of one network connection."""

    __slots__ = (
        "broker", "busy", "closing", "congested", "dirty", "fd", "halted", "keep_alive", "need", "out", "out_size",
        "outbox", "peer", "pressing", "pressure", "rest", "router", "seen", "session", "slow", "transport",
    )  # fmt: skip

    def __init__(self, broker: Services) -> None:
        self.broker = broker
        self.router = broker.router
        self.outbox = broker.outbox
        self.transport: asyncio.Transport = cast(asyncio.Transport, None)
        self.session: Session | None = None
        self.pressure = Pressure(self, broker.config.limits, broker.loop, broker.log)
        self.rest: bytearray | None = None
        self.need = 0
        self.out: list[bytes] = []
        self.out_size = 0
        self.dirty = False
        self.closing = False
        self.busy = False
        self.halted = False
        self.congested = False
        self.slow = False
        self.pressing = False
        self.fd = -1
        self.seen = broker.loop.time()
        self.keep_alive = broker.config.limits.connect_timeout
        self.peer = ""

    # ------------------------------------------------------------------ asyncio's side
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection in, or turn it away."""
        self.transport = cast(asyncio.Transport, transport)
        address = transport.get_extra_info("peername")
        self.peer = f"{address[0]}:{address[1]}" if address else "?"
        limits = self.broker.config.limits
        self.transport.set_write_buffer_limits(limits.out_high, limits.out_low)
        # Where bytes go as they are, `write` may hand them to the kernel itself.
        sock = transport.get_extra_info("socket")
        if os.name == "posix" and sock is not None and transport.get_extra_info("ssl_object") is None:
            self.fd = sock.fileno()
        self.broker.connections.add(self)
        if self.outbox.stuck:
            self.transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The network connection is gone; unless DISCONNECT came first, the will is published."""
        self.closing = self.halted = True
        self.broker.connections.discard(self)
        self.broker.work.unpark(self)
        try:
            self.broker.gone(self, will=True)
            self.pressure.forget()
            self.outbox.flush()
        except Exception as error:
            self.broker.log.exception("%s: an exception after its end: %r", self.name, error)

    def eof_received(self) -> bool:
        """The client has closed its sending half: so does the broker."""
        return False

    def data_received(self, data: bytes) -> None:
        """Take the next bytes from the network."""
        if self.closing:
            return
        router = self.router
        router.bytes_received += len(data)
        session = self.session
        if session is not None:
            self.seen = self.broker.loop.time()
        rest = self.rest
        if rest is not None:
            rest += data
            if len(rest) < self.need or self.busy:
                return
            data = bytes(rest)
            self.rest = None
        elif self.busy:
            self.rest = bytearray(data)
            return
        try:
            if len(data) == 4 and data[1] == 2 and session is not None and 0x40 <= (first := data[0]) < 0x80:
                # one acknowledgement, as nearly always when it comes from a subscriber
                router.messages_received += 1
                if first == 0x56:
                    self._pubrec(first, data[2] << 8 | data[3], session, b"")
                else:
                    self._acknowledgement(first, first >> 4, data[2] << 8 | data[3], session)
            else:
                self._take(data)
        except Exception as error:
            self.broke(error)
        if self.outbox.dirty or router.store is not None:
            self.outbox.flush()

    def _take(self, data: bytes) -> None:
        """Handle the packets in `data`, one turn's worth of them; what is left waits."""
        used = self._packets(data)
        if used < len(data) and not self.closing:
            self.rest = bytearray(memoryview(data)[used:])
            limit = self.broker.config.limits.max_packet if self.session else BEFORE_CONNECT
            head = read_length(self.rest, 0, limit)
            self.need = head[1] if head else 0
            if head and self.need <= len(self.rest) and not self.busy:
                self.wait()
                self.broker.work.add(iter(()), self)

    def wait(self) -> None:
        """Take no more packets: work that one of them asked for is not done yet."""
        self.busy = self.halted = True
        self.transport.pause_reading()

    def proceed(self) -> None:
        """That work is done: take the next packets."""
        self.busy = False
        self.halted = self.closing
        self.seen = self.broker.loop.time()
        rest = self.rest
        if rest is not None and len(rest) >= self.need and not self.closing:
            self.rest = None
            self._take(bytes(rest))
        self.read_again()

    def read_again(self) -> None:
        """Read from the client, if nothing else forbids it."""
        if not (self.busy or self.pressure.blockers or self.congested or self.closing or self.outbox.stuck):
            if self.session is not None:
                self.seen = self.broker.loop.time()
            self.transport.resume_reading()

    def pause_writing(self) -> None:
        """More than `out_high` bytes wait for this client: it is not read from until they are gone."""
        self.congested = True
        self.judge()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """The client reads again."""
        try:
            self.congested = False
            self.judge()
            self.broker.work.unpark(self)
            if self.session is not None and self.session.queue:
                self.router.pump(self.session, self)
                self.outbox.flush()
            if not self.behind():
                self.pressure.release()
            self.read_again()
        except Exception as error:
            self.broke(error)

    # ------------------------------------------------------------------ back-pressure
    def progress(self) -> int:
        """Return how many bytes wait for this client; if it reads, they become fewer."""
        return self.transport.get_write_buffer_size() + self.out_size + (self.session.load if self.session else 0)

    def behind(self) -> bool:
        """Does so much wait for this client that publishers should wait, too?"""
        session = self.session
        return self.congested or bool(session and session.queue and len(session.queue) > LINE)

    def judge(self) -> None:
        """Work out anew whether publishers have to wait for this client."""
        pressure = self.pressure
        self.pressing = pressure.stalled or bool(pressure.waiters)
        self.slow = (self.congested or self.pressing) and not pressure.stalled

    def hold_back(self, publisher: Connection) -> None:
        """Read no more from `publisher` until this client has caught up."""
        if self.slow or self.behind():
            self.pressure.hold_back(publisher.pressure)

    def caught_up(self) -> None:
        """An acknowledgement has come: let publishers go on if this client is no longer behind."""
        if not self.behind():
            self.pressure.release()

    def full(self) -> bool:
        """Does so much wait to be written that no more should be made?"""
        return self.congested or self.out_size > self.broker.config.limits.out_high

    # ------------------------------------------------------------------ sending
    def push(self, data: bytes) -> None:
        """Send `data` with the next flush."""
        self.out.append(data)
        self.out_size += len(data)
        if not self.dirty:
            self.dirty = True
            self.outbox.dirty.append(self)

    def put_off(self, data: bytes) -> None:
        """Send `data` with whatever comes next for this client, or once no publisher waits for its subscribers."""
        self.out.append(data)
        self.out_size += len(data)
        if not self.dirty:
            self.outbox.put_off(self)

    def push_qos0(self, data: bytes, count: int) -> None:
        """Send `count` QoS 0 messages, unless too much waits already: then they are dropped."""
        if self.congested or self.out_size > 65536:
            waiting = self.out_size + self.transport.get_write_buffer_size()
            if waiting + len(data) > self.broker.config.limits.out_hard and waiting:
                self.router.dropped += count
                return
        self.out.append(data)
        self.out_size += len(data)
        if not self.dirty:
            self.dirty = True
            self.outbox.dirty.append(self)

    def write(self) -> None:
        """Write what has collected: at once where nothing waits already (uvloop waits for the end of its round)."""
        self.dirty = False
        out = self.out
        if out:
            data = out[0] if len(out) == 1 else b"".join(out)
            self.out = []
            self.out_size = 0
            self.router.bytes_sent += len(data)
            if self.fd >= 0 and not self.transport.get_write_buffer_size():
                try:
                    sent = os.write(self.fd, data)
                except OSError:  # the socket is full, or broken: the transport knows what to do
                    sent = 0
                if sent == len(data):
                    return
                data = data[sent:]
            self.transport.write(data)

    @property
    def name(self) -> str:
        """How the log calls this client."""
        return f"{self.session.client_id!r} ({self.peer})" if self.session else self.peer

    def fail(self, reason: str) -> None:
        """Close because of `reason`; the will is published."""
        self.broker.log.warning("%s closed: %s", self.name, reason)
        self.close(will=True)

    def broke(self, error: BaseException) -> None:
        """End this connection, and no other, because of an exception in its path; logged once, with its cause."""
        if isinstance(error, MalformedError):
            self.fail(str(error))
            return
        if not self.closing:
            self.broker.log.error("%s closed: unexpected %r", self.name, error, exc_info=error)
        try:
            self.close(will=True)
        except Exception as second:
            self.broker.log.exception("%s: and then %r", self.name, second)
            self.transport.abort()

    def close(self, will: bool) -> None:
        """Send what is waiting and close; a client that doesn't read is cut off after a second."""
        if self.closing:
            return
        self.closing = self.halted = True
        self.broker.loop.call_later(1.0, self.transport.abort)
        self.broker.gone(self, will=will)
        if self.outbox.commit() and not self.transport.is_closing():  # a closed descriptor may be somebody else's now
            self.write()
        self.transport.close()

    # ------------------------------------------------------------------ receiving
    def _packets(self, data: bytes) -> int:
        """Handle complete packets in `data`, one turn's worth at most, and return how many bytes they were."""
        router = self.router
        pos, n = 0, len(data)
        session = self.session
        if session is None:
            pos = self._first(data)
            session = self.session
            if session is None or self.halted:
                return pos
        limit = router.limits.max_packet
        may_write = session.permissions.may_write if session.permissions is not None else _nothing
        run: Route | None = None  # consecutive QoS 0 messages on one topic …
        run_topic: bytes | None = None
        run_start = run_count = 0  # … that begin here, and so many
        handled, quota = 0, TURN
        try:
            while n - pos >= 2 and handled < quota and not self.halted:
                first = data[pos]
                at = pos + 2
                size = data[pos + 1]
                if size < 0x80:
                    end = at + size
                else:
                    head = read_length(data, pos, limit)
                    if head is None:
                        break
                    at, end = head
                if end > n:
                    break
                if first == 0x30:
                    if end - at < 3:
                        raise MalformedError("a PUBLISH without a topic name [MQTT-3.3.2-1]")
                    topic_end = at + 2 + (data[at] << 8 | data[at + 1])
                    topic = data[at + 2 : topic_end]
                    if topic != run_topic:
                        if run is not None:
                            quota -= len(run.subscribers)
                            done, run = run, None
                            router.forward(done, data[run_start:pos], run_count, self)
                            if self.halted:
                                break
                        run_topic = None
                        if topic_end > end:
                            raise MalformedError("the packet ends inside a field")
                        route = router.routes.get(topic) or router.route(topic)
                        if route.kind:
                            quota -= len(route.subscribers)
                            self.broker.ends.special(route, 0, 0, data[topic_end:end], False, self, session)
                        elif may_write(route.name):
                            run, run_start, run_count, run_topic = route, pos, 0, topic
                    elif topic_end > end:
                        raise MalformedError("the packet ends inside a field")
                    run_count += 1
                else:
                    if run is not None:
                        quota -= len(run.subscribers)
                        done, run = run, None
                        router.forward(done, data[run_start:pos], run_count, self)
                        if self.halted:
                            break
                    run_topic = None
                    kind = first >> 4
                    if kind == 3:
                        quota -= self._publish(first, data, at, end, session)
                    elif first == 0xC0 and end == at:
                        self.push(b"\xd0\x00")
                    elif end - at == 2 and 4 <= kind <= 7:
                        self._acknowledgement(first, kind, data[at] << 8 | data[at + 1], session)
                    else:
                        quota -= self._other(first, data[at:end], session)
                handled += 1
                pos = end
        finally:
            router.messages_received += handled
            if run is not None and not self.closing:
                router.forward(run, data[run_start:pos], run_count, self)
        return pos

    def _first(self, data: bytes) -> int:
        """Wait for CONNECT, which must come first [MQTT-3.1.0-1]."""
        if data[0] != 0x10:
            raise MalformedError("the first packet is not CONNECT [MQTT-3.1.0-1]")
        head = read_length(data, 0, BEFORE_CONNECT)
        if head is None or head[1] > len(data):
            return 0
        packet = decode(data[0], data[head[0] : head[1]])
        self.broker.connect(self, cast(p.Connect, packet))
        return head[1]

    def _publish(self, first: int, data: bytes, at: int, end: int, session: Session) -> int:
        """PUBLISH with QoS above 0, or with a flag; returns the steps that it took."""
        router = self.router
        qos = first >> 1 & 3
        if qos == 3:
            if not (self.broker.config.qos3 and session.qos3):
                raise MalformedError("QoS 3 from a client that has not subscribed with it [MQTT-3.3.1-4]")
            packet = cast(p.Publish, decode(first, data[at:end], router.limits.max_named))
            self.broker.ends.publish3(packet, self, session)
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
        packet_id = data[topic_end] << 8 | data[topic_end + 1] if qos else 0
        if qos and not packet_id:
            raise MalformedError("packet id 0 [MQTT-2.3.1-1]")
        route = router.routes.get(topic) or router.route(topic)
        payload = data[payload_at:end]
        retain = bool(first & 1)
        steps = 3 + len(route.subscribers)
        if route.kind:
            self.broker.ends.special(route, qos, packet_id, payload, retain, self, session)
            return steps + 20
        answer = b"" if not qos else (b"\x40\x02" if qos == 1 else b"\x50\x02") + data[topic_end:payload_at]
        if qos == 2:
            received = session.received
            if packet_id in received:  # [MQTT-4.3.3-2]: once, whatever DUP says
                if received[packet_id] is None:  # of a held message PUBREC comes when its subscribers have answered
                    self.push(answer)
                return steps
            received[packet_id] = None
            if session.durable and router.store is not None:
                router.store.received(session.client_id, packet_id)
        if session.permissions is not None and session.permissions.may_write(route.name):
            router.deliver(route, payload, qos, retain, self, None, answer)
        elif answer:
            self.push(answer)
        return steps

    def _acknowledgement(self, first: int, kind: int, packet_id: int, session: Session) -> None:
        """PUBACK, PUBREC, PUBREL or PUBCOMP with nothing but its packet id."""
        if not packet_id:
            raise MalformedError("packet id 0 [MQTT-2.3.1-1]")
        inflight = session.inflight
        if kind == 4 and first == 0x40:
            entry = inflight.get(packet_id)
            if entry is None or entry[1] != 1:
                return
            del inflight[packet_id]
            self.router.finished(session, entry, self)
        elif kind == 5 and (first == 0x50 or first == 0x56):
            self._pubrec(first, packet_id, session, b"")
        elif kind == 6 and (first == 0x62 or first == 0x66):
            if packet_id in session.received:
                self.broker.ends.forget_received(session, packet_id)
            self.push((b"\x70\x02" if first == 0x62 else b"\x76\x02") + packet_id.to_bytes(2, "big"))
        elif kind == 7 and (first == 0x70 or first == 0x76):
            entry = inflight.get(packet_id)
            if entry is None or entry[0] is not RELEASED:
                return
            del inflight[packet_id]
            self.router.finished(session, entry, self)
        else:
            raise MalformedError(f"reserved flags {first & 15:04b} [MQTT-2.2.2-2]")

    def _pubrec(self, first: int, packet_id: int, session: Session, data: bytes) -> None:
        if not packet_id:
            raise MalformedError("packet id 0 [MQTT-2.3.1-1]")
        inflight = session.inflight
        entry = inflight.get(packet_id)
        qos = 3 if first == 0x56 else 2
        send = self.push
        if entry is not None:
            message, sent, number = entry
            if sent < 2:
                return
            if message is not RELEASED:
                qos = sent
                inflight[packet_id] = (RELEASED, qos, number)
                self.router.released(session, entry, data)
                hold = message.hold
                if hold is not None and hold.status is None:
                    send = self.put_off  # a publisher waits for others still: what it waits for goes first
        send(((0x66020000 if qos == 3 else 0x62020000) | packet_id).to_bytes(4, "big"))

    def _other(self, first: int, body: bytes, session: Session) -> int:
        """Packets that are not worth a short cut; returns the steps that they took."""
        broker = self.broker
        if first == 0x82:
            return broker.work.run(broker.subscribe(body, self, session), self)
        if first == 0xA2:
            return broker.work.run(broker.unsubscribe(body, self, session), self)
        match decode(first, body):
            case p.Disconnect():
                session.will = None  # [MQTT-3.14.4-3]
                self.close(will=False)
            case p.Pubrec(packet_id, 3, data):
                if len(data) > 65535:
                    raise MalformedError("an answer of more than 65535 bytes in a PUBREC")
                self._pubrec(0x56, packet_id, session, data)
            case p.Connect():
                raise MalformedError("a second CONNECT [MQTT-3.1.0-2]")
            case packet:
                raise MalformedError(f"a client does not send {type(packet).__name__.upper()} packets")
        return 1
