"""One client at the broker: an `asyncio.Protocol` that collects what is sent, and writes it once a tick."""

from __future__ import annotations

import asyncio
import os
from typing import cast

from voicewire.mqtt.decoder import read_length
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.packet_handlers import BEFORE_CONNECT, Incoming, Services
from voicewire.mqtt.serving.back_pressure import Pressure
from voicewire.mqtt.serving.resource_limits import STRANGERS, Owner
from voicewire.mqtt.sessions.outbox import PIECE
from voicewire.mqtt.sessions.session import COPIED, Session

__all__: list[str] = []  # the broker's inside: only this room's own modules use it

HIGH, LOW = 2**13, 2**11
"""Bytes in a transport above which it is given no more, and below which it is: the rest waits here, uncopied."""
GATHERED = 64
"""Pieces of memory that the kernel is handed at once as they lie; more are joined before."""
LINE = 1000
"""Messages that wait for a client's acknowledgements before publishers have to wait for it."""


Chunks = list[bytes | memoryview]


def cut(chunks: Chunks, size: int) -> tuple[Chunks, Chunks]:
    """Cut a list of bytes in two after `size` bytes; nothing is copied."""
    for i, chunk in enumerate(chunks):
        if len(chunk) > size:
            if not size:
                return chunks[:i], chunks[i:]
            view = memoryview(chunk)
            return [*chunks[:i], view[:size]], [view[size:], *chunks[i + 1 :]]
        size -= len(chunk)
    return chunks, []


class Connection(asyncio.Protocol):
    """The broker's end of one network connection."""

    __slots__ = (
        "began", "blocked", "broker", "bulky", "busy", "closing", "congested", "dirty", "excused", "fd", "halted",
        "held", "holder", "incoming", "keep_alive", "need", "out", "out_size", "outbox", "partial", "peer", "pressing",
        "pressure", "rest", "router", "seen", "session", "slow", "transport", "unread",
    )  # fmt: skip

    def __init__(self, broker: Services) -> None:
        self.broker = broker
        self.router = broker.router
        self.outbox = broker.outbox
        self.transport: asyncio.Transport = cast(asyncio.Transport, None)
        self.session: Session | None = None
        self.incoming = Incoming(broker, self)
        self.pressure = Pressure(self, broker.config.limits, broker.loop, broker.log)
        self.rest: bytearray | None = None
        self.need = 0
        self.began = 0.0  # when the first byte came of the packet that `rest` begins with
        self.excused = 0.0  # seconds since then in which the client has not read what waits for it
        self.partial = broker.router.shares.partial
        self.held = 0
        self.holder: Owner = None
        self.out: Chunks = []
        self.out_size = 0
        self.unread = 0  # bytes that wait here for a client that does not read, and count nowhere else
        self.bulky = False  # something long is in `out`, which is not to be copied
        self.dirty = False
        self.closing = False
        self.busy = False
        self.halted = False
        self.blocked = False  # the transport takes no more
        self.congested = False  # more than `out_high` bytes wait, here and in the transport
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
        # Where bytes go as they are, `write` may hand them to the kernel itself: the transport gets what is left.
        sock = transport.get_extra_info("socket")
        if os.name == "posix" and sock is not None and transport.get_extra_info("ssl_object") is None:
            self.fd = sock.fileno()
            self.transport.set_write_buffer_limits(0)
        else:
            self.transport.set_write_buffer_limits(min(limits.out_high, HIGH), min(limits.out_low, LOW))
        self.broker.connections.add(self)
        if self.outbox.stuck:
            self.transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The network connection is gone; unless DISCONNECT came first, the will is published."""
        self.closing = self.halted = True
        self.rest = None
        self.out, self.out_size = [], 0
        self._count_unread(0)
        self.partial.drop(self)
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
                self._hold(len(rest))
                return
            data = self._whole(rest)
        elif self.busy:
            self.rest = bytearray(data)
            self._hold(len(data))
            return
        try:
            if len(data) == 4 and data[1] == 2 and session is not None and 0x40 <= (first := data[0]) < 0x80:
                # one acknowledgement, as nearly always when it comes from a subscriber
                router.messages_received += 1
                self.incoming.acknowledgement(first, data[2] << 8 | data[3], session)
            else:
                self._take(data)
        except Exception as error:
            self.broke(error)
        if self.outbox.dirty or router.store is not None:
            self.outbox.flush()

    def _take(self, data: bytes) -> None:
        """Handle the packets in `data`, one turn's worth of them; what is left waits."""
        used = self.incoming.take(data)
        if used == len(data):
            self.began = 0.0
        elif not self.closing:
            if used or not self.began:
                self.began, self.excused = self.broker.loop.time(), 0.0
            self.rest = bytearray(memoryview(data)[used:])
            limit = self.broker.config.limits.max_packet if self.session else BEFORE_CONNECT
            head = read_length(self.rest, 0, limit)
            self.need = head[1] if head else 0
            if head and self.need <= len(self.rest) and not self.busy:
                self.wait()
                self.broker.work.add(iter(()), self)
            self._hold(len(self.rest))

    def _hold(self, size: int) -> None:
        """So many bytes lie here until their packet is complete; where there is no room, who holds most is closed."""
        session = self.session
        if self.partial.hold(self, STRANGERS if session is None else session.owner, size):
            self.outbox.flush()

    def _whole(self, rest: bytearray) -> bytes:
        """Take what lies here: its packet is complete."""
        self.rest = None
        self.partial.drop(self)
        return bytes(rest)

    def late(self, now: float) -> bool:
        """Has the packet that lies here taken longer than it may?"""
        limits = self.broker.config.limits
        return self.began > 0.0 and now - self.began > limits.packet_timeout + self.held / limits.min_rate

    def excuse(self, seconds: float, reads: bool) -> None:
        """The broker has not read for so long; where the client `reads` nothing itself, it has only so much time."""
        limits = self.broker.config.limits
        if self.began and (reads or self.excused < limits.out_hard / limits.min_rate):
            self.began += seconds
            self.excused += 0.0 if reads else seconds

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
            self._take(self._whole(rest))
        self.read_again()

    def read_again(self) -> None:
        """Read from the client, if nothing else forbids it."""
        if not (self.busy or self.pressure.blockers or self.congested or self.closing or self.outbox.stuck):
            if self.session is not None:
                self.seen = self.broker.loop.time()
            self.transport.resume_reading()

    def pause_writing(self) -> None:
        """The transport takes no more: what else there is waits here."""
        self.blocked = True
        self._count_unread(self.unread + self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """The client reads again."""
        self.blocked = False
        try:
            if self.out and not self.dirty:
                self.outbox.later(self)
            else:
                self.weigh()
        except Exception as error:
            self.broke(error)

    def weigh(self) -> None:
        """Above `out_high` bytes that wait for this client it is not read from, until `out_low` are left."""
        limits, waiting = self.broker.config.limits, self.out_size + self.transport.get_write_buffer_size()
        unread = min(self.unread, waiting) if self.blocked or self.out else 0
        if unread != self.unread:
            self._count_unread(unread)
        if not self.congested:
            if waiting > limits.out_high:
                self.congested = True
                self.judge()
                self.transport.pause_reading()
        elif waiting <= limits.out_low:
            self.congested = False
            self.judge()
            self.broker.work.unpark(self)
            session = self.session
            if session is not None and session.queue and session.connection is self:
                self.router.pump(session, self)
                self.outbox.flush()
            if not self.behind():
                self.pressure.release()
            self.read_again()

    def _count_unread(self, size: int) -> None:
        self.router.shares.count_unread(self.owner, size - self.unread)
        self.unread = size

    @property
    def owner(self) -> Owner:
        """Whose part of the limits this is."""
        return self.session.owner if self.session else STRANGERS

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

    def push_qos0(self, data: bytes, count: int, payload: bytes = b"") -> None:
        """Send `count` QoS 0 messages, or the head of one and its `payload`, unless too much waits already."""
        if self.blocked or self.out_size > 65536:
            waiting = self.out_size + self.transport.get_write_buffer_size()
            size = len(data) + len(payload)
            full = waiting + size > self.broker.config.limits.out_hard or not self.router.shares.fits(self.owner, size)
            if full and waiting:
                self.router.dropped += count
                return
            if size < COPIED:
                self._count_unread(self.unread + size)
        self.out.append(data)
        self.out_size += len(data)
        if payload:
            self.out.append(payload)
            self.out_size += len(payload)
        self.bulky |= len(data) + len(payload) >= COPIED
        if not self.dirty:
            self.dirty = True
            self.outbox.dirty.append(self)

    def push_message(self, head: bytes, payload: bytes) -> None:
        """Send a message with the next flush, without a copy of a payload that is long."""
        if len(payload) >= COPIED:
            self.bulky = True
            self.push(head)
            self.push(payload)
        else:
            self.push(head + payload)

    def write(self) -> None:
        """Write what has collected: at once where nothing waits already (uvloop waits for the end of its round)."""
        self.dirty = False
        out = self.out
        if not out or self.blocked:
            self.weigh()
            return
        if not self.bulky and self.out_size <= PIECE:
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
            self.weigh()
        elif self.write_piece() and self.out and not (self.blocked or self.dirty):
            self.outbox.later(self)

    def write_piece(self) -> int:
        """Write a piece of what has collected, and say how many bytes it was: 0 if no more can be written now.

        Nothing is copied but what the transport gets: a little, where the kernel takes no more, so that it says when
        it does.
        """
        if self.blocked or not self.out:
            return 0
        piece, self.out = cut(self.out, PIECE)
        if len(piece) > GATHERED:
            piece = [b"".join(piece)]
        size, sent = sum(map(len, piece)), 0
        if self.fd >= 0 and not self.transport.get_write_buffer_size():
            try:
                sent = os.writev(self.fd, piece)
            except OSError:  # the socket is full, or broken: the transport knows what to do
                sent = 0
        if sent < size:
            _, piece = cut(piece, sent)
            if self.fd >= 0 and not self.closing:
                piece, back = cut(piece, 2 * HIGH)
                self.out[:0] = back
                size -= sum(map(len, back))
            self.transport.write(b"".join(piece))
        self.out_size -= size
        self.router.bytes_sent += size
        if not self.out:
            self.bulky = False
        if self.closing and not self.out:
            self.transport.close()
        else:
            self.weigh()
        return size

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
        self.rest = None
        self.partial.drop(self)
        self.broker.loop.call_later(1.0, self.transport.abort)
        self.broker.gone(self, will=will)
        if self.outbox.commit() and not self.transport.is_closing():  # a closed descriptor may be somebody else's now
            if self.out and (self.out_size > PIECE or self.blocked):
                self.outbox.later(self)  # which closes when all is written
                return
            self.write()
        self.transport.close()
