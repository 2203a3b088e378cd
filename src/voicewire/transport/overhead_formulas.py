"""What can be counted on paper: round trips, header bytes, MQTT's own bytes, and what follows for a choice.

Derived step by step in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from voicewire._kit import checks
from voicewire.transport import paper
from voicewire.transport.secure_objects.icto_format import overhead

__all__ = [
    "MSS", "Cost", "Option", "advise", "delivery_time", "flights", "least_header_bytes", "packet_bytes", "round_trips",
    "slow_start_rounds",
]  # fmt: skip

#: Payload of a full segment on Ethernet with timestamps, bytes.
MSS = 1448
#: TCP header with timestamps, and what a SYN has on top.
HEADER, SYN_EXTRA = 32, 8
IP_HEADER = 20
_WINDOW = 10  # segments that a fresh connection may send at once (RFC 6928)

_OPEN = ["SYN", "SYN-ACK"]
_SESSION = ["CONNECT", "CONNACK"]
_MESSAGE = {
    0: ["PUBLISH", "PUBLISH to subscriber"],
    1: ["PUBLISH", "PUBLISH to subscriber"],
    2: ["PUBLISH", "PUBREC", "PUBREL", "PUBLISH to subscriber", "PUBREC", "PUBREL"],
}


@checks.takes(qos=checks.whole(0, 2))
def flights(transport: str, qos: int, session: str) -> list[str]:
    """What must cross the network, one after the other, before the receiver's program has the message.

    With programs like those that were measured: the client waits for CONNACK, and at QoS 2 broker and subscriber pass
    the message on at PUBREL. The standard asks for neither (`voicewire.transport.reference.exchange` has both choices).

    Parameters
    ----------
    transport : str
        ``"tcp"`` or ``"mqtt"``.
    qos : int
        0, 1 or 2.
    session : str
        ``"fresh"`` or ``"persistent"``.

    Returns
    -------
    list of str
        Their names, in order.

    Raises
    ------
    ValueError
        For anything else.

    Examples
    --------
    >>> flights("tcp", 0, "fresh")
    ['SYN', 'SYN-ACK', 'data']
    """
    if transport not in ("tcp", "mqtt") or session not in ("fresh", "persistent") or qos not in _MESSAGE:
        raise ValueError(f"no such configuration: {transport!r}, QoS {qos!r}, {session!r}")
    start = _OPEN if session == "fresh" else []
    if transport == "tcp":
        return [*start, "data"]
    return [*start, *(_SESSION if session == "fresh" else []), *_MESSAGE[qos]]


def round_trips(transport: str, qos: int, session: str) -> float:
    """Round trips from the sender's start to complete receipt: half of one for each of `flights`.

    Parameters
    ----------
    transport : str
        ``"tcp"`` or ``"mqtt"``.
    qos : {0, 1, 2}
        Of both legs; 0 with TCP.
    session : str
        ``"fresh"`` or ``"persistent"``.

    Returns
    -------
    float
        f/2 of equation ``eq-transport-time``.

    See Also
    --------
    voicewire.transport.reference.arrival : the same, followed step by step.

    Examples
    --------
    >>> round_trips("mqtt", 2, "fresh")
    5.0
    """
    return 0.5 * len(flights(transport, qos, session))


@checks.takes(size=checks.whole(0), window=checks.whole(1, 10**6))
def slow_start_rounds(size: int, window: int = _WINDOW) -> int:
    """Further round trips that a fresh connection needs for `size` bytes, its window doubling each time.

    Parameters
    ----------
    size : int
        Payload, bytes.
    window : int
        Segments that may be sent at once in the beginning (RFC 6928: 10).

    Returns
    -------
    int
        Zero while the payload fits the first window.

    Examples
    --------
    Ten segments, then twenty: thirty-one need a third round.

    >>> slow_start_rounds(10 * MSS), slow_start_rounds(31 * MSS)
    (0, 2)
    """
    segments, rounds = math.ceil(size / MSS), 0
    while segments > window:
        segments -= window
        window *= 2
        rounds += 1
    return rounds


@checks.takes(rtt=checks.number(0.0, 1e6), size=checks.whole(0), rate=checks.maybe(checks.number(1e-3, 1e18)))
def delivery_time(transport: str, qos: int, session: str, *, rtt: float, size: int, rate: float | None = None) -> float:
    """Least time from start to complete receipt, s.

    Round trips, the line's time for the bytes once for each leg (a broker sends on what it has whole), and slow
    start where the line would be faster: equation ``eq-transport-time``.

    Parameters
    ----------
    transport : str
        ``"tcp"`` or ``"mqtt"``.
    qos : {0, 1, 2}
        Of both legs; 0 with TCP.
    session : str
        ``"fresh"`` or ``"persistent"``.
    rtt : float
        Round-trip time, s.
    size : int
        Payload, bytes.
    rate : float, optional
        Of the line, bit/s; without one the bytes take no time.

    Returns
    -------
    float
        Seconds.

    Examples
    --------
    >>> round(delivery_time("mqtt", 1, "fresh", rtt=0.040, size=100), 3)
    0.12
    """
    legs = 1 if transport == "tcp" else 2
    line = 8 * (size + math.ceil(size / MSS) * (HEADER + IP_HEADER)) / rate if rate else 0.0
    slow = slow_start_rounds(size) * rtt if session == "fresh" else 0.0
    return round_trips(transport, qos, session) * rtt + legs * max(line, slow)


@checks.takes(size=checks.whole(0), mss=checks.whole(1), header=checks.whole(0))
def least_header_bytes(size: int, mss: int = 1460, header: int = 20) -> int:
    """TCP header bytes that `size` bytes of payload need at the very least: one bare header a full segment.

    Parameters
    ----------
    size : int
        Payload, bytes.
    mss : int
        Payload of a full segment, bytes.
    header : int
        Of one segment, bytes.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> least_header_bytes(1_000_000)
    13700
    """
    return math.ceil(size / mss) * header


@checks.takes(size=checks.whole(0, 268_435_455), qos=checks.whole(0, 2), topic=checks.a(str))
def packet_bytes(size: int, qos: int, topic: str = paper.TOPIC) -> int:
    """Bytes of one MQTT 3.1.1 PUBLISH: type, Remaining Length, topic, packet identifier (QoS 1, 2), payload.

    Parameters
    ----------
    size : int
        Payload, bytes.
    qos : int
        0, 1 or 2.
    topic : str
        Its topic.

    Returns
    -------
    int
        Equation ``eq-transport-publish``.

    Examples
    --------
    >>> packet_bytes(200, 1, "t") - packet_bytes(200, 0, "t")
    2
    """
    remaining = 2 + len(topic.encode()) + (2 if qos else 0) + size
    length, n = 1, remaining
    while n > 127:
        n //= 128
        length += 1
    return 1 + length + remaining


@dataclass(frozen=True)
class Cost:
    """What a transport costs for a whole task, counted on paper.

    Attributes
    ----------
    seconds : float
        From start until the last receiver has the last message, messages sent one after the other.
    octets : int
        Everything that crosses the sender's link, TCP/IP headers included.
    everywhere : int
        The same summed over all links.

    Examples
    --------
    >>> Cost(0.06, 390, 390).octets
    390
    """

    seconds: float
    octets: int
    everywhere: int


@dataclass(frozen=True)
class Option:
    """One way to send, with its cost and what it gives besides.

    Attributes
    ----------
    name : str
        Which.
    cost : Cost
        Time and bytes.
    note : str
        What else decides.

    Examples
    --------
    >>> Option("TCP, kept open", Cost(0.06, 390, 390), "").name
    'TCP, kept open'
    """

    name: str
    cost: Cost
    note: str


def _segments(size: int) -> int:
    return math.ceil(size / MSS)


@checks.takes(
    rtt=checks.number(above=0.0, high=1e6), size=checks.whole(1, 10**8), messages=checks.whole(1, 10**6),
    subscribers=checks.whole(1, 10_000),
)  # fmt: skip
def advise(*, rtt: float, size: int, messages: int, subscribers: int, sealed: bool = True) -> list[Option]:
    """Compare the ways to bring secure objects from one sender to some receivers, cheapest in bytes first.

    Parameters
    ----------
    rtt : float
        Round-trip time of each link, s.
    size : int
        Plaintext of each object, bytes.
    messages : int
        Objects for each session.
    subscribers : int
        Receivers; each gets every object.
    sealed : bool
        Whether the objects are sealed (one envelope for each receiver is added to `size`).

    Returns
    -------
    list of Option
        Cheapest for the sender's link first.

    Raises
    ------
    ValueError
        For anything that is not positive.

    Examples
    --------
    >>> advise(rtt=0.04, size=100, messages=10, subscribers=10)[0].name
    'MQTT QoS 0'
    """
    readers = [f"r{i}" for i in range(subscribers)]
    whole = size + (overhead(readers, {"object": subscribers}) if sealed else 0)
    h = HEADER + IP_HEADER
    data, acks = _segments(whole), max(1, _segments(whole) // 2)
    one = whole + h * (data + acks)
    ends = 7 * h + 2 * SYN_EXTRA - h  # handshake 3, closing 3
    tcp_fresh = messages * subscribers * (one + ends)
    tcp_warm = messages * subscribers * one + subscribers * ends
    t_fresh = messages * delivery_time("tcp", 0, "fresh", rtt=rtt, size=whole)
    t_warm = delivery_time("tcp", 0, "fresh", rtt=rtt, size=whole) + (messages - 1) * 0.5 * rtt
    options = [
        Option("TCP, a connection each", Cost(t_fresh, tcp_fresh, tcp_fresh), "receivers must be there and known"),
        Option("TCP, kept open", Cost(t_warm, tcp_warm, tcp_warm), "receivers must be there and known"),
    ]
    for qos in (0, 1, 2):
        body = packet_bytes(whole, qos)
        data = _segments(body)
        replies = {0: 0, 1: 4, 2: 12}[qos]  # PUBACK; PUBREC, PUBREL, PUBCOMP
        extra = {0: 0, 1: 0, 2: 2}[qos] * h
        leg = body + replies + h * (data + max(1, data // 2)) + extra
        session = ends + 2 * h + 40  # CONNECT, CONNACK, DISCONNECT
        up, down = messages * leg + session, messages * leg + session + 2 * h
        first = delivery_time("mqtt", qos, "fresh", rtt=rtt, size=whole)
        later = (messages - 1) * round_trips("mqtt", qos, "persistent") * rtt
        note = {0: "no word if one is lost", 1: "may arrive twice", 2: "exactly once"}[qos]
        options.append(
            Option(f"MQTT QoS {qos}", Cost(first + later, up, up + subscribers * down), f"queued by the broker; {note}")
        )
    return sorted(options, key=lambda o: o.cost.octets)
