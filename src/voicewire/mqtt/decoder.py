"""From bytes to packets: the checks of MQTT 3.1.1, each with the statement that it enforces."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from voicewire.mqtt import packets as p
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.topics import check_filter, check_name

__all__ = [
    "Decoder", "check_version", "decode", "read_length", "remaining_length", "understood", "unfinished",
    "whole_packets",
]  # fmt: skip

FLAGS = {1: (0,), 2: (0,), 4: (0,), 5: (0, 6), 6: (2, 6), 7: (0, 6), 8: (2,), 9: (0,), 10: (2,), 11: (0,),
         12: (0,), 13: (0,), 14: (0,)}  # fmt: skip
"""Lower four bits of the first byte that each type allows [MQTT-2.2.2-1]; 6 marks QoS 3."""


def read_length(data: bytes | bytearray, start: int, limit: int = p.MAX_REMAINING) -> tuple[int, int] | None:
    """Read a fixed header at `start` (section 2.2.3)."""
    value = 0
    for i in range(4):
        at = start + 1 + i
        if at >= len(data):
            return None
        value |= (data[at] & 0x7F) << 7 * i
        if data[at] < 0x80:
            if value > limit:
                raise MalformedError(f"a packet of {value} bytes; at most {limit} are taken here")
            return at + 1, at + 1 + value
    raise MalformedError("Remaining Length with more than four bytes (section 2.2.3)")


class Reader:
    """The fields of a body, one after the other."""

    __slots__ = ("body", "pos")

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.pos = 0

    def take(self, n: int) -> bytes:
        start, self.pos = self.pos, self.pos + n
        if self.pos > len(self.body):
            raise MalformedError("the packet ends inside a field")
        return self.body[start : self.pos]

    def number(self) -> int:
        return int.from_bytes(self.take(2), "big")

    def packet_id(self) -> int:
        value = self.number()
        if not value:
            raise MalformedError("packet id 0 [MQTT-2.3.1-1]")
        return value

    def text(self) -> str:
        return to_text(self.take(self.number()))

    def rest(self) -> bytes:
        return self.take(len(self.body) - self.pos)

    def more(self) -> bool:
        return self.pos < len(self.body)

    def end(self) -> None:
        if self.more():
            raise MalformedError(f"{len(self.body) - self.pos} bytes too many in the packet")


def to_text(raw: bytes) -> str:
    """Decode a UTF-8 field."""
    try:
        value = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedError("ill-formed UTF-8 [MQTT-1.5.3-1]") from None
    if "\0" in value:
        raise MalformedError("null character in a string [MQTT-1.5.3-2]")
    return value


def decode(first: int, body: bytes, max_named: int = p.WAIT_FOR_ALL) -> p.Packet:
    """Decode one packet from its first byte and its body.

    Parameters
    ----------
    first : int
        First byte of the packet.
    body : bytes
        What follows the Remaining Length.
    max_named : int
        How many client ids a PUBLISH of QoS 3 may name.

    Returns
    -------
    Packet
        The packet as one of the classes of :mod:`~voicewire.mqtt.packets`.

    Raises
    ------
    MalformedError
        If the packet breaks the standard.

    Examples
    --------
    >>> decode(0x40, b"\\0\\7")
    Puback(packet_id=7)
    >>> decode(0x41, b"\\0\\7")
    Traceback (most recent call last):
    ...
    voicewire.mqtt.errors.MalformedError: reserved flags 0001 in Puback [MQTT-2.2.2-2]
    """
    kind = first >> 4
    if kind == 3:
        return _publish(first, body, max_named)
    if kind not in p.TYPES:
        raise MalformedError(f"packet type {kind} is reserved (section 2.2.1)")
    if first & 15 not in FLAGS[kind]:
        raise MalformedError(f"reserved flags {first & 15:04b} in {p.TYPES[kind].__name__} [MQTT-2.2.2-2]")
    r = Reader(body)
    packet = _simple(kind, 3 if first & 15 == 6 else 2, r)
    r.end()
    return packet


def _simple(kind: int, qos: int, r: Reader) -> p.Packet:
    match kind:
        case 1:
            return _connect(r)
        case 2:
            flags, code = r.take(2)
            if flags > 1 or (flags and code):
                raise MalformedError("reserved bits in CONNACK [MQTT-3.2.2-4]")
            return p.Connack(bool(flags), code)
        case 4:
            return p.Puback(r.packet_id())
        case 5:
            return p.Pubrec(r.packet_id(), qos, r.rest() if qos == 3 else b"")
        case 6:
            return p.Pubrel(r.packet_id(), qos)
        case 7:
            return p.Pubcomp(r.packet_id(), qos)
        case 8:
            return _subscribe(r)
        case 9:
            packet_id, codes = r.packet_id(), r.rest()
            if not codes or any(c > 3 and c != 0x80 for c in codes):
                raise MalformedError("reserved return code in SUBACK [MQTT-3.9.3-2]")
            return p.Suback(packet_id, tuple(codes))
        case 10:
            packet_id = r.packet_id()
            return p.Unsubscribe(packet_id, tuple(name for name, _ in topic_filters(r, False)))
        case 11:
            return p.Unsuback(r.packet_id())
        case 12:
            return p.Pingreq()
        case 13:
            return p.Pingresp()
        case _:
            return p.Disconnect()


def _subscribe(r: Reader) -> p.Subscribe:
    packet_id = r.packet_id()
    return p.Subscribe(packet_id, tuple(topic_filters(r, True)))


def topic_filters(r: Reader, requested: bool) -> Iterator[tuple[str, int]]:
    """Read the topic filters of SUBSCRIBE (`requested`: each with a QoS) or UNSUBSCRIBE one by one."""
    if not r.more():
        name, statement = ("SUBSCRIBE", "3.8.3-3") if requested else ("UNSUBSCRIBE", "3.10.3-2")
        raise MalformedError(f"{name} without a topic filter [MQTT-{statement}]")
    while r.more():
        pattern, qos = check_filter(r.text()), 0
        if requested:
            (qos,) = r.take(1)
            if qos > 3:
                raise MalformedError("reserved bits in a requested QoS [MQTT-3-8.3-4]")
        yield pattern, qos


def _publish(first: int, body: bytes, max_named: int) -> p.Publish:
    qos = first >> 1 & 3
    if first & 8 and not qos:
        raise MalformedError("DUP at QoS 0 [MQTT-3.3.1-2]")
    r = Reader(body)
    topic = check_name(r.text())
    packet_id = r.packet_id() if qos else 0
    waited, names, report, limit = 0, (), False, 0  # type: int, tuple[str, ...], bool, int
    if qos == 3:
        waited, names, report, limit = _wait(r, max_named)
    return p.Publish(topic, r.rest(), qos, bool(first & 1), bool(first & 8), packet_id, waited, names, report, limit)


def _wait(r: Reader, max_named: int) -> tuple[int, tuple[str, ...], bool, int]:
    word = r.number()
    report = bool(word & p.REPORT_WANTED)
    limit = r.number() if report else 0
    names: list[str] = []
    more = bool(word & p.IDS_FOLLOW)
    while more:
        (length,) = r.take(1)
        more = length > 0x7F
        if not length & 0x7F:
            raise MalformedError("an empty subscriber id in a QoS 3 PUBLISH")
        if len(names) >= max_named:
            raise MalformedError(f"a QoS 3 PUBLISH that names more than {max_named} subscribers")
        names.append(to_text(r.take(length & 0x7F)))
    waited = word & p.WAIT_FOR_ALL
    if names and p.WAIT_FOR_ALL != waited > len(names):
        raise MalformedError(f"a QoS 3 PUBLISH waits for {waited} of {len(names)} named subscribers")
    return waited, tuple(names), report, limit


def _connect(r: Reader) -> p.Connect:
    protocol = r.text()
    (level,) = r.take(1)
    if protocol != "MQTT" or level != 4:
        r.rest()  # another specification rules what follows [MQTT-3.1.2-1], [MQTT-3.1.2-2]
        return p.Connect(protocol=protocol, level=level)
    (flags,) = r.take(1)
    keep_alive = r.number()
    if flags & 1:
        raise MalformedError("reserved connect flag set [MQTT-3.1.2-3]")
    qos, retain = flags >> 3 & 3, bool(flags & 0x20)
    if not flags & 4 and (qos or retain):
        raise MalformedError("will QoS or will retain without a will [MQTT-3.1.2-11]")
    if qos == 3:
        raise MalformedError("will QoS 3 [MQTT-3.1.2-14]")
    if flags & 0x40 and not flags & 0x80:
        raise MalformedError("a password without a user name [MQTT-3.1.2-22]")
    client_id = r.text()
    will = None
    if flags & 4:
        topic = check_name(r.text())
        will = p.Will(topic, r.take(r.number()), qos, retain)
    username = r.text() if flags & 0x80 else None
    password = r.take(r.number()) if flags & 0x40 else None
    return p.Connect(client_id, bool(flags & 2), keep_alive, will, username, password)


def whole_packets(held: bytearray) -> Iterator[tuple[bytes, p.Packet]]:
    """Take the packets that are whole off what a side has said so far, one by one, each as bytes and decoded."""
    while (head := read_length(held[:5], 0)) is not None and len(held) >= head[1]:
        octets = bytes(held[: head[1]])
        del held[: head[1]]
        yield octets, decode(octets[0], octets[head[0] :])


def unfinished(held: Iterable[bytearray]) -> str:
    """What the sides of connections have said behind their last whole packet, in words; nothing if nothing."""
    heads = [(len(one), read_length(one[:5], 0)) for one in held if one]
    return ", ".join(
        f"{size} bytes of a packet" + ("" if head is None else f" that should have {head[1]}") for size, head in heads
    )


def check_version(packet: p.Packet) -> None:
    """Refuse a CONNECT that asks for another version: what follows it is another protocol's."""
    if isinstance(packet, p.Connect) and (packet.protocol, packet.level) != ("MQTT", 4):
        known = {("MQTT", 5): " (MQTT 5)", ("MQIsdp", 3): " (MQTT 3.1)"}.get((packet.protocol, packet.level), "")
        raise MalformedError(
            f"CONNECT asks for protocol {packet.protocol!r}, level {packet.level}{known}: only level 4 (3.1.1) is read"
        )


@contextlib.contextmanager
def understood(where: str, opened: bool) -> Iterator[None]:
    """Say where in a capture bytes stand that cannot be read, and whether their connection's beginning is in it."""
    try:
        yield
    except MalformedError as error:
        begins = "" if opened else "; the capture has no SYN of this side, and may begin in the midst of a packet"
        raise MalformedError(f"{where}: {error}{begins}") from None


@dataclass(slots=True)
class Decoder:
    """Cut a byte stream into packets, whatever the chunks.

    Parameters
    ----------
    max_packet : int
        Largest Remaining Length that is taken.

    Examples
    --------
    >>> decoder = Decoder()
    >>> decoder.feed(p.encode(p.Pingreq()) + b"\\x40\\x02\\x00"), decoder.feed(b"\\x07")
    ([Pingreq()], [Puback(packet_id=7)])
    """

    max_packet: int = p.MAX_REMAINING
    _rest: bytearray = field(default_factory=bytearray, init=False)

    def feed(self, data: bytes) -> list[p.Packet]:
        """Take the next chunk.

        Parameters
        ----------
        data : bytes
            Whatever has come, however it is cut.

        Returns
        -------
        list of Packet
            The packets that it completes.

        Raises
        ------
        MalformedError
            If the stream breaks the standard; it cannot be read any further then.
        """
        self._rest += data
        found: list[p.Packet] = []
        start = 0
        while True:
            head = read_length(self._rest, start, self.max_packet)
            if head is None or head[1] > len(self._rest):
                break
            found.append(decode(self._rest[start], bytes(self._rest[head[0] : head[1]])))
            start = head[1]
        del self._rest[:start]
        return found


def remaining_length(data: bytes) -> int:
    """Return the Remaining Length of a packet: what a broker's limit is about."""
    at, end = read_length(data, 0) or (0, 0)
    return end - at
