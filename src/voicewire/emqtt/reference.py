"""MQTT's packets and E-MQTT's hold to read: a codec, a state machine.

Nothing here is clever. The chapters are woven from these pieces; the broker
and the client of `voicewire.mqtt` do the same with every check that the
standard asks for, and as fast as Python allows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# Lines as short as the page of the book is wide.
# fmt: off

__all__ = [
    "Held",
    "after",
    "answer",
    "cut",
    "field_of",
    "hold",
    "length_bytes",
    "link_delay",
    "publish",
    "read_length",
    "read_publish",
    "verdict",
]


def length_bytes(n: int) -> bytes:
    """A Remaining Length: seven bits a byte, the lowest first.

    Parameters
    ----------
    n : int
        Bytes that follow, 0 to 268 435 455.

    Returns
    -------
    bytes
        One to four (MQTT 3.1.1, section 2.2.3); the eighth bit of each says
        that another follows.

    See Also
    --------
    voicewire.mqtt.packets.encode_length : the same with its limits.

    Examples
    --------
    300 = 2 * 128 + 44: 44 with the eighth bit, then 2.

    >>> list(length_bytes(300))
    [172, 2]
    """
    out = []
    while n > 127:
        out.append(n % 128 + 128)
        n //= 128
    return bytes([*out, n])


def read_length(data: bytes, at: int) -> tuple[int, int] | None:
    """The Remaining Length at `at`, and where the body begins.

    Parameters
    ----------
    data : bytes
        What has come.
    at : int
        Where the length begins.

    Returns
    -------
    tuple of int, or None
        The number and the place behind it; None if it has not all come.

    Raises
    ------
    ValueError
        If it has a fifth byte, which MQTT does not know.

    See Also
    --------
    voicewire.mqtt.decoder.read_length : the same with a limit.

    Examples
    --------
    >>> read_length(bytes([172, 2]), 0)
    (300, 2)
    >>> read_length(bytes([172]), 0) is None
    True
    """
    n = 0
    for i, byte in enumerate(data[at : at + 4]):
        n += byte % 128 * 128**i
        if byte < 128:
            return n, at + i + 1
    if len(data) - at >= 4:
        raise ValueError("a Remaining Length of more than four bytes")
    return None


def field_of(text: bytes) -> bytes:
    """A field of variable length: two bytes of length, then the bytes.

    Parameters
    ----------
    text : bytes
        At most 65535.

    Returns
    -------
    bytes
        As MQTT 3.1.1 writes strings (section 1.5.3).

    Examples
    --------
    >>> list(field_of(b"T"))
    [0, 1, 84]
    """
    return len(text).to_bytes(2, "big") + text


def publish(
    topic: str,
    payload: bytes,
    qos: int = 0,
    packet_id: int = 0,
    dup: bool = False,
    retain: bool = False,
) -> bytes:
    """A PUBLISH packet.

    Parameters
    ----------
    topic : str
        Where to.
    payload : bytes
        What.
    qos : int
        0, 1 or 2.
    packet_id : int
        1 to 65535; QoS 0 has none.
    dup, retain : bool
        Sent before; to be kept for subscribers to come.

    Returns
    -------
    bytes
        MQTT 3.1.1, section 3.3.

    See Also
    --------
    voicewire.mqtt.packets.encode : every packet, with its limits.

    Examples
    --------
    >>> publish("T", b"hi", qos=1, packet_id=7).hex(" ")
    '32 07 00 01 54 00 07 68 69'
    """
    first = 0x30 + 8 * dup + 2 * qos + retain
    body = field_of(topic.encode())
    if qos:
        body += packet_id.to_bytes(2, "big")
    body += payload
    return bytes([first]) + length_bytes(len(body)) + body


ANSWERS = {"PUBACK": 0x40, "PUBREC": 0x50, "PUBREL": 0x62, "PUBCOMP": 0x70}


def answer(name: str, packet_id: int) -> bytes:
    """One of the four packets that answer a PUBLISH, in the end.

    Parameters
    ----------
    name : str
        A key of `ANSWERS`: QoS 1 ends with PUBACK; at QoS 2 PUBREC, PUBREL
        and PUBCOMP follow each other.
    packet_id : int
        Of the message.

    Returns
    -------
    bytes
        Four of them (MQTT 3.1.1, sections 3.4 to 3.7).

    Examples
    --------
    >>> answer("PUBREL", 7).hex(" ")
    '62 02 00 07'
    """
    return bytes([ANSWERS[name], 2]) + packet_id.to_bytes(2, "big")


def cut(stream: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
    """Cut what has come into packets.

    Parameters
    ----------
    stream : bytes
        Whatever TCP has brought so far.

    Returns
    -------
    packets : list of (int, bytes)
        First byte and body of each packet that is whole.
    rest : bytes
        The beginning of the next one.

    See Also
    --------
    voicewire.mqtt.decoder.Decoder : keeps the rest itself.

    Examples
    --------
    >>> cut(answer("PUBACK", 7) + b"\\x30")
    ([(64, b'\\x00\\x07')], b'0')
    """
    packets, at = [], 0
    while head := read_length(stream, at + 1):
        size, body = head
        if body + size > len(stream):
            break
        packets.append((stream[at], stream[body : body + size]))
        at = body + size
    return packets, stream[at:]


def read_publish(first: int, body: bytes) -> dict[str, object]:
    """The fields of a PUBLISH, under the names that `publish` gives them.

    Parameters
    ----------
    first : int
        Its first byte.
    body : bytes
        What follows the length.

    Returns
    -------
    dict
        Arguments with which `publish` makes the packet again.

    See Also
    --------
    voicewire.mqtt.decoder.decode : every packet, with the standard's checks.

    Examples
    --------
    >>> packet = publish("T", b"hi", qos=1, packet_id=7)
    >>> ((first, body),), rest = cut(packet)
    >>> publish(**read_publish(first, body)) == packet
    True
    """
    qos, end = first // 2 % 4, 2 + int.from_bytes(body[:2], "big")
    start = end + 2 if qos else end
    return {
        "topic": body[2:end].decode(),
        "payload": body[start:],
        "qos": qos,
        "packet_id": int.from_bytes(body[end:start], "big"),
        "dup": bool(first & 8),
        "retain": bool(first & 1),
    }


FIRST = 0
ALL = -1


@dataclass
class Held:
    """A message whose publisher waits: who still may answer, who has.

    Parameters
    ----------
    need : int
        Answers that are wanted.
    waiting, answered : set of str
        Client ids.
    verdict : str
        "open", then for good "complete", "short" or "timeout".

    See Also
    --------
    voicewire.mqtt.hold.Hold : the broker's.

    Examples
    --------
    >>> Held(2, {"ann", "bob"}).verdict
    'open'
    """

    need: int
    waiting: set[str]
    answered: set[str] = field(default_factory=set)
    verdict: str = "open"


def hold(need: int, reached: set[str], named: set[str]) -> Held:
    """A message has gone out: whose answer counts, how many are wanted.

    Parameters
    ----------
    need : int
        How many; `FIRST` is one, `ALL` everybody who counts.
    reached : set of str
        Client ids that were sent the message and can acknowledge it.
    named : set of str
        The only ones that count, if there are any (never for `FIRST`).

    Returns
    -------
    Held
        Decided at once if nobody can answer.

    Examples
    --------
    >>> hold(ALL, {"ann", "bob"}, set()).need
    2
    >>> hold(ALL, set(), set()).verdict
    'short'
    """
    if named and need != FIRST:
        reached = reached & named
    if need == ALL:
        need = len(named) or len(reached)
    return verdict(Held(max(1, need), set(reached)))


def verdict(held: Held) -> Held:
    """Enough have answered, or nobody is left: the publisher is told.

    Parameters
    ----------
    held : Held
        Is changed while it is open; a verdict stands.

    Returns
    -------
    Held
        The same.

    Examples
    --------
    >>> verdict(Held(1, set(), {"ann"})).verdict
    'complete'
    """
    if held.verdict == "open":
        if len(held.answered) >= held.need:
            held.verdict = "complete"  # PUBREC goes to the publisher
        elif not held.waiting:
            held.verdict = "short"
    return held


def after(held: Held, event: str, name: str = "") -> Held:
    """Something has happened to one subscriber, or the time is over.

    Parameters
    ----------
    held : Held
        Is changed.
    event : str
        "answer": `name` has acknowledged; "lost": it never will; "time":
        the limit is reached.
    name : str
        Client id.

    Returns
    -------
    Held
        The same. Each subscriber counts once, however often it answers.

    Examples
    --------
    >>> held = hold(2, {"ann", "bob"}, set())
    >>> for name in ("ann", "ann", "bob"):
    ...     print(after(held, "answer", name).verdict)
    open
    open
    complete
    """
    if held.verdict == "open" and event == "time":
        held.verdict = "timeout"
    elif held.verdict == "open" and name in held.waiting:
        held.waiting.remove(name)
        if event == "answer":
            held.answered.add(name)
    return verdict(held)


def link_delay(
    protocol: str, n: int, rate: float, one_way: float, header: int = 0
) -> float:
    """Least end-to-end delay behind a link: serialisation, propagation.

    Nothing else takes time here, neither broker nor subscribers.

    Parameters
    ----------
    protocol : str
        "MQTT", confirmed by responses at QoS 2, or "E-MQTT".
    n : int
        Subscribers that are to answer.
    rate : float
        Of the publisher's link in each direction, bit/s.
    one_way : float
        Propagation each way, s.
    header : int
        Bytes of TCP and IP around each packet, if each has a segment of
        its own; 52 is usual.

    Returns
    -------
    float
        Seconds from the first bit of PUBLISH to the last of what the
        publisher waits for: twice the propagation, and eight bits for
        each byte on the way there and back.

    Examples
    --------
    A hundred bytes of responses more, and 2 bytes of PUBLISH less.

    >>> mqtt = link_delay("MQTT", 8, 100e3, 0.0)
    >>> round(1e3 * mqtt, 2)
    9.68
    >>> round(1e3 * link_delay("E-MQTT", 8, 100e3, 0.0), 2)
    1.52
    """
    packets = [15, 4]  # bytes of PUBLISH with its number, and of PUBREC
    if protocol == "MQTT":
        packets = [13, 4] + n * [13]  # and the responses
    bits = 8 * sum(size + header for size in packets)
    return 2 * one_way + bits / rate
