"""MQTT 3.1.1 on the wire: all 14 control packets and the QoS 3 forms of E-MQTT, encoded and decoded.

Each packet is a frozen dataclass; `encode(packet)` gives its bytes, :class:`~voicewire.mqtt.decoder.Decoder`
takes a stream apart however it is cut. Notebook: *MQTT packet by packet*. Section numbers are the standard's.

QoS 3 (Im & Lim 2023, Figures 6-8) sets both QoS bits in PUBLISH, PUBREC, PUBREL and PUBCOMP and puts two
bytes `waited_packet_num` and optional subscriber ids in the variable header of PUBLISH. The paper's list of ids
has no count and cannot be decoded; the layout here has the same size:

    waited (2 bytes)    bit 15: ids follow | bit 14: report wanted, time limit follows | bits 13-0: count
    [time limit]        2 bytes, units of 10 ms (0: the broker's own), only if bit 14 is set
    [ids]               each: one byte (bit 7: another one follows | bits 6-0: length in bytes), then UTF-8
"""

from __future__ import annotations

from dataclasses import dataclass

from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.topics import check_filter, check_name

__all__ = [
    "MAX_REMAINING",
    "TYPES",
    "WAIT_FOR_ALL",
    "Connack",
    "Connect",
    "Disconnect",
    "Packet",
    "Pingreq",
    "Pingresp",
    "Puback",
    "Pubcomp",
    "Publish",
    "Pubrec",
    "Pubrel",
    "Suback",
    "Subscribe",
    "Unsuback",
    "Unsubscribe",
    "Will",
    "encode",
    "encode_length",
    "frame",
    "text",
]

MAX_REMAINING = 268_435_455
"""Largest Remaining Length: four bytes of seven bits (section 2.2.3)."""
WAIT_FOR_ALL = 0x3FFF
"""The count that stands for "all who can acknowledge"."""
IDS_FOLLOW, REPORT_WANTED = 0x8000, 0x4000
TICK = 0.01
"""Seconds in one unit of the time limit of a QoS 3 PUBLISH."""


@dataclass(frozen=True, slots=True)
class Will:
    """The message that the broker publishes when a client is lost (section 3.1.2.5).

    Parameters
    ----------
    topic : str
        Where.
    payload : bytes
        What.
    qos : int
        0 to 2.
    retain : bool
        Keep it for subscribers to come.

    Examples
    --------
    >>> Will(topic="t").qos
    0
    """

    topic: str
    payload: bytes = b""
    qos: int = 0
    retain: bool = False


@dataclass(frozen=True, slots=True)
class Connect:
    """CONNECT (section 3.1). `level` other than 4 leaves the remaining fields at their defaults.

    Parameters
    ----------
    client_id : str
        Empty: the broker makes one up, for a clean session only.
    clean : bool
        Begin with a clean session, and keep nothing afterwards.
    keep_alive : int
        Seconds, 0: for ever.
    will : Will, optional
        Published when the client is lost.
    username, password : str, bytes, optional
        Credentials; no password without a name.
    level : int
        4 for MQTT 3.1.1.
    protocol : str
        ``MQTT``.

    Examples
    --------
    >>> Connect("me").client_id
    'me'
    """

    client_id: str = ""
    clean: bool = True
    keep_alive: int = 0
    will: Will | None = None
    username: str | None = None
    password: bytes | None = None
    level: int = 4
    protocol: str = "MQTT"


@dataclass(frozen=True, slots=True)
class Connack:
    """CONNACK (section 3.2).

    Parameters
    ----------
    session_present : bool
        The broker has kept the session.
    code : int
        0 accepted, 1-5 refused.

    Examples
    --------
    >>> Connack().code
    0
    """

    session_present: bool = False
    code: int = 0


@dataclass(frozen=True, slots=True)
class Publish:
    """PUBLISH (section 3.3); the last four fields exist at QoS 3 only.

    Parameters
    ----------
    topic : str
        Its name, without wildcards.
    payload : bytes
        What.
    qos : int
        0 to 2, or E-MQTT's 3.
    retain : bool
        Keep it for subscribers to come.
    dup : bool
        Sent before.
    packet_id : int
        1 to 65,535; none (0) at QoS 0.
    waited : int
        How many subscribers must have acknowledged (0: asynchronous, the first one counts).
    subscribers : tuple of str
        Client ids that count; empty: any.
    report : bool
        Answer with a report (who, when, what is missing) rather than with a bare PUBREC.
    limit : int
        Time limit in units of 10 ms, 0 for the broker's own; sent only if `report`.

    Examples
    --------
    >>> Publish("t", b"21").payload
    b'21'
    """

    topic: str
    payload: bytes = b""
    qos: int = 0
    retain: bool = False
    dup: bool = False
    packet_id: int = 0
    waited: int = 0
    subscribers: tuple[str, ...] = ()
    report: bool = False
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Puback:
    """PUBACK (section 3.4).

    Parameters
    ----------
    packet_id : int
        That of the PUBLISH, 1 to 65,535.

    Examples
    --------
    >>> Puback(7).packet_id
    7
    """

    packet_id: int


@dataclass(frozen=True, slots=True)
class Pubrec:
    """PUBREC (section 3.5).

    Parameters
    ----------
    packet_id : int
        That of the PUBLISH, 1 to 65,535.
    qos : int
        2, or 3 (first byte 0x56).
    data : bytes
        At QoS 3 only: a subscriber's answer, or the broker's report.

    Examples
    --------
    >>> Pubrec(7).packet_id
    7
    """

    packet_id: int
    qos: int = 2
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Pubrel:
    """PUBREL (section 3.6).

    Parameters
    ----------
    packet_id : int
        That of the PUBLISH, 1 to 65,535.
    qos : int
        2 (first byte 0x62), or 3 (0x66).

    Examples
    --------
    >>> Pubrel(7).packet_id
    7
    """

    packet_id: int
    qos: int = 2


@dataclass(frozen=True, slots=True)
class Pubcomp:
    """PUBCOMP (section 3.7).

    Parameters
    ----------
    packet_id : int
        That of the PUBLISH, 1 to 65,535.
    qos : int
        2 (first byte 0x70), or 3 (0x76).

    Examples
    --------
    >>> Pubcomp(7).packet_id
    7
    """

    packet_id: int
    qos: int = 2


@dataclass(frozen=True, slots=True)
class Subscribe:
    """SUBSCRIBE (section 3.8).

    Parameters
    ----------
    packet_id : int
        1 to 65,535.
    topics : tuple of (str, int)
        Pairs of topic filter and requested QoS, at least one.

    Examples
    --------
    >>> Subscribe(7, (("t", 1),)).topics
    (('t', 1),)
    """

    packet_id: int
    topics: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Suback:
    """SUBACK (section 3.9).

    Parameters
    ----------
    packet_id : int
        That of the SUBSCRIBE.
    codes : tuple of int
        For each filter the granted QoS 0-3, or 0x80 for refused.

    Examples
    --------
    >>> Suback(7, (1,)).codes
    (1,)
    """

    packet_id: int
    codes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """UNSUBSCRIBE (section 3.10).

    Parameters
    ----------
    packet_id : int
        1 to 65,535.
    topics : tuple of str
        Topic filters, at least one.

    Examples
    --------
    >>> Unsubscribe(7, ("t",)).topics
    ('t',)
    """

    packet_id: int
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unsuback:
    """UNSUBACK (section 3.11).

    Parameters
    ----------
    packet_id : int
        That of the UNSUBSCRIBE, 1 to 65,535.

    Examples
    --------
    >>> Unsuback(7).packet_id
    7
    """

    packet_id: int


@dataclass(frozen=True, slots=True)
class Pingreq:
    """PINGREQ (section 3.12).

    Attributes
    ----------
    none
        It carries nothing.

    Examples
    --------
    >>> encode(Pingreq()).hex()
    'c000'
    """


@dataclass(frozen=True, slots=True)
class Pingresp:
    """PINGRESP (section 3.13).

    Attributes
    ----------
    none
        It carries nothing.

    Examples
    --------
    >>> encode(Pingresp()).hex()
    'd000'
    """


@dataclass(frozen=True, slots=True)
class Disconnect:
    """DISCONNECT (section 3.14).

    Attributes
    ----------
    none
        It carries nothing.

    Examples
    --------
    >>> encode(Disconnect()).hex()
    'e000'
    """


Packet = (
    Connect | Connack | Publish | Puback | Pubrec | Pubrel | Pubcomp
    | Subscribe | Suback | Unsubscribe | Unsuback | Pingreq | Pingresp | Disconnect
)  # fmt: skip
TYPES: dict[int, type] = {
    1: Connect, 2: Connack, 3: Publish, 4: Puback, 5: Pubrec, 6: Pubrel, 7: Pubcomp,
    8: Subscribe, 9: Suback, 10: Unsubscribe, 11: Unsuback, 12: Pingreq, 13: Pingresp, 14: Disconnect,
}  # fmt: skip


def encode_length(n: int) -> bytes:
    """Encode a Remaining Length (section 2.2.3): seven bits a byte, least significant first.

    Parameters
    ----------
    n : int
        Bytes of the packet behind its fixed header.

    Returns
    -------
    bytes, one to four
        Bit 7 of each says that another one follows.

    Raises
    ------
    MalformedError
        If `n` is negative or above 268 435 455.

    Examples
    --------
    >>> encode_length(321).hex()
    'c102'
    """
    if not 0 <= n <= MAX_REMAINING:
        raise MalformedError(f"remaining length {n} is outside 0..{MAX_REMAINING}")
    out = bytearray()
    while True:
        n, digit = n >> 7, n & 0x7F
        out.append(digit | 0x80 if n else digit)
        if not n:
            return bytes(out)


def frame(first: int, body: bytes) -> bytes:
    """Put the fixed header before `body`."""
    return bytes((first,)) + encode_length(len(body)) + body


def text(value: str | bytes) -> bytes:
    """Encode a string or binary field (section 1.5.3)."""
    raw = value.encode() if isinstance(value, str) else value
    if len(raw) > 65535:
        raise MalformedError(f"a field of {len(raw)} bytes; at most 65535 are possible")
    if isinstance(value, str) and "\0" in value:
        raise MalformedError("null character in a string [MQTT-1.5.3-2]")
    return len(raw).to_bytes(2, "big") + raw


def _id(packet_id: int) -> bytes:
    if not 1 <= packet_id <= 65535:
        raise MalformedError(f"packet id {packet_id} is outside 1..65535 [MQTT-2.3.1-1]")
    return packet_id.to_bytes(2, "big")


def encode(packet: Packet) -> bytes:
    """Encode a packet.

    Parameters
    ----------
    packet : Packet
        One of the classes above.

    Returns
    -------
    bytes
        As it goes over the wire.

    Raises
    ------
    MalformedError
        If a field is outside what the standard allows.

    Examples
    --------
    >>> encode(Publish("a/b", b"on", qos=1, packet_id=10)).hex()
    '32090003612f62000a6f6e'
    """
    match packet:
        case Publish():
            return _encode_publish(packet)
        case Connect():
            return _encode_connect(packet)
        case Connack():
            return bytes((0x20, 2, packet.session_present, packet.code))
        case Puback():
            return b"\x40\x02" + _id(packet.packet_id)
        case Pubrec():
            if packet.data and packet.qos != 3:
                raise MalformedError("only a PUBREC of QoS 3 carries data")
            return frame(0x56 if packet.qos == 3 else 0x50, _id(packet.packet_id) + packet.data)
        case Pubrel():
            return bytes((0x66 if packet.qos == 3 else 0x62, 2)) + _id(packet.packet_id)
        case Pubcomp():
            return bytes((0x76 if packet.qos == 3 else 0x70, 2)) + _id(packet.packet_id)
        case Subscribe():
            _some(packet.topics, "SUBSCRIBE", "MQTT-3.8.3-3")
            body = b"".join(text(check_filter(f)) + bytes((_qos(q, 3),)) for f, q in packet.topics)
            return frame(0x82, _id(packet.packet_id) + body)
        case Suback():
            return frame(0x90, _id(packet.packet_id) + bytes(packet.codes))
        case Unsubscribe():
            _some(packet.topics, "UNSUBSCRIBE", "MQTT-3.10.3-2")
            return frame(0xA2, _id(packet.packet_id) + b"".join(text(check_filter(f)) for f in packet.topics))
        case Unsuback():
            return b"\xb0\x02" + _id(packet.packet_id)
        case Pingreq():
            return b"\xc0\x00"
        case Pingresp():
            return b"\xd0\x00"
        case Disconnect():
            return b"\xe0\x00"


def _some(topics: tuple[object, ...], name: str, statement: str) -> None:
    if not topics:
        raise MalformedError(f"{name} without a topic filter [{statement}]")


def _qos(qos: int, greatest: int) -> int:
    if not 0 <= qos <= greatest:
        raise MalformedError(f"QoS {qos} is outside 0..{greatest}")
    return qos


def _encode_publish(p: Publish) -> bytes:
    _qos(p.qos, 3)
    if p.dup and not p.qos:
        raise MalformedError("DUP at QoS 0 [MQTT-3.3.1-2]")
    first = 0x30 | p.dup << 3 | p.qos << 1 | p.retain
    body = text(check_name(p.topic))
    if p.qos:
        body += _id(p.packet_id)
    if p.qos == 3:
        body += encode_wait(p.waited, p.subscribers, p.report, p.limit)
    return frame(first, body + p.payload)


def encode_wait(waited: int, subscribers: tuple[str, ...] = (), report: bool = False, limit: int = 0) -> bytes:
    """Encode the QoS 3 part of a PUBLISH (layout at the top of this module)."""
    if not 0 <= waited <= WAIT_FOR_ALL:
        raise MalformedError(f"cannot wait for {waited} subscribers; at most {WAIT_FOR_ALL - 1}")
    if subscribers and WAIT_FOR_ALL != waited > len(subscribers):
        raise MalformedError(f"cannot wait for {waited} of {len(subscribers)} named subscribers")
    out = (waited | (IDS_FOLLOW if subscribers else 0) | (REPORT_WANTED if report else 0)).to_bytes(2, "big")
    if report:
        out += min(max(limit, 0), 65535).to_bytes(2, "big")
    for i, name in enumerate(subscribers):
        raw = name.encode()
        if not 1 <= len(raw) <= 127:
            raise MalformedError(f"subscriber id {name[:40]!r} must have 1 to 127 bytes to be named")
        out += bytes((len(raw) | (0x80 if i < len(subscribers) - 1 else 0),)) + raw
    return out


def _encode_connect(p: Connect) -> bytes:
    if p.password is not None and p.username is None:
        raise MalformedError("a password without a user name [MQTT-3.1.2-22]")
    if not 0 <= p.keep_alive <= 65535:
        raise MalformedError(f"keep-alive of {p.keep_alive} s is outside 0..65535")
    flags = p.clean << 1 | (p.username is not None) << 7 | (p.password is not None) << 6
    body = text(p.client_id)
    if p.will is not None:
        flags |= 4 | _qos(p.will.qos, 2) << 3 | p.will.retain << 5
        body += text(check_name(p.will.topic)) + text(p.will.payload)
    if p.username is not None:
        body += text(p.username)
    if p.password is not None:
        body += text(p.password)
    return frame(0x10, text(p.protocol) + bytes((p.level, flags)) + p.keep_alive.to_bytes(2, "big") + body)
