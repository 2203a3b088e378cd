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
    """A Remaining Length: seven bits a byte, the lowest first."""
    out = []
    while n > 127:
        out.append(n % 128 + 128)
        n //= 128
    return bytes([*out, n])


def read_length(data: bytes, at: int) -> tuple[int, int] | None:
    """The Remaining Length at `at`, and where the body begins."""
    n = 0
    for i, byte in enumerate(data[at : at + 4]):
        n += byte % 128 * 128**i
        if byte < 128:
            return n, at + i + 1
    if len(data) - at >= 4:
        raise ValueError("a Remaining Length of more than four bytes")
    return None


def field_of(text: bytes) -> bytes:
    """A field of variable length: two bytes of length, then the bytes."""
    return len(text).to_bytes(2, "big") + text


def publish(
    topic: str,
    payload: bytes,
    qos: int = 0,
    packet_id: int = 0,
    dup: bool = False,
    retain: bool = False,
) -> bytes:
    """A PUBLISH packet."""
    first = 0x30 + 8 * dup + 2 * qos + retain
    body = field_of(topic.encode())
    if qos:
        body += packet_id.to_bytes(2, "big")
    body += payload
    return bytes([first]) + length_bytes(len(body)) + body


ANSWERS = {"PUBACK": 0x40, "PUBREC": 0x50, "PUBREL": 0x62, "PUBCOMP": 0x70}


def answer(name: str, packet_id: int) -> bytes:
    """One of the four packets that answer a PUBLISH, in the end."""
    return bytes([ANSWERS[name], 2]) + packet_id.to_bytes(2, "big")


def cut(stream: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
    """Cut what has come into packets."""
    packets, at = [], 0
    while head := read_length(stream, at + 1):
        size, body = head
        if body + size > len(stream):
            break
        packets.append((stream[at], stream[body : body + size]))
        at = body + size
    return packets, stream[at:]


def read_publish(first: int, body: bytes) -> dict[str, object]:
    """The fields of a PUBLISH, under the names that `publish` gives them."""
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
    """A message whose publisher waits: who still may answer, who has."""

    need: int
    waiting: set[str]
    answered: set[str] = field(default_factory=set)
    verdict: str = "open"


def hold(need: int, reached: set[str], named: set[str]) -> Held:
    """A message has gone out: whose answer counts, how many are wanted."""
    if named and need != FIRST:
        reached = reached & named
    if need == ALL:
        need = len(named) or len(reached)
    return verdict(Held(max(1, need), set(reached)))


def verdict(held: Held) -> Held:
    """Enough have answered, or nobody is left: the publisher is told."""
    if held.verdict == "open":
        if len(held.answered) >= held.need:
            held.verdict = "complete"  # PUBREC goes to the publisher
        elif not held.waiting:
            held.verdict = "short"
    return held


def after(held: Held, event: str, name: str = "") -> Held:
    """Something has happened to one subscriber, or the time is over."""
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
    """
    packets = [15, 4]  # bytes of PUBLISH with its number, and of PUBREC
    if protocol == "MQTT":
        packets = [13, 4] + n * [13]  # and the responses
    bits = 8 * sum(size + header for size in packets)
    return 2 * one_way + bits / rate
