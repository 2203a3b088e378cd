"""What a hostile client may send: one alphabet for the state machine of the tests and for the fuzzer.

Everything is bytes, made without the checks of `encode`, so that ill-formed packets can be made as well. Each
function takes `pick`, which chooses one of a sequence: hypothesis and `random.Random.choice` both do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from voicewire.mqtt import packets as p

__all__ = [
    "any_connect",
    "connect",
    "large",
    "packet",
    "publish",
    "text",
]

Pick = Callable[[Sequence[Any]], Any]

LONG = "t" * 65528
TOPICS = (
    "open/a", "open/b/c", "open/secret/x", "honest/x", "$SYS/broker/uptime", "$SYS", "$share/g/open/a",
    "$e2e/x", "$e2e/1", "$e2e/1/", "$e2e/99999999/open/a", "$e2e/1/$SYS/a", "$e2e/report/1/open/a", "$e2e/hello",
    "$e2e/ids/open/a", "$e2e/ids/open/secret/x", "$e2e/ids/",
    "$e2e/0/open/a", "$e2e/1/open/a", "$e2e/2/open/b/c", "$e2e/all/open/a", "$e2e/all/open/secret/x",
    "$e2e/1/open/" + LONG[:65523], "open/" + LONG[:65530], "open" + "/" * 300, "open/#", "+", "", "open/\0",
)  # fmt: skip
"""Topic names, good and bad; those below `open/secret` and `honest` are not for hostile clients."""
FILTERS = (
    "open/#", "open/+", "open/a", "open/secret/x", "open/+/x", "#", "+/#", "+/x", "honest/#", "$SYS/#", "$e2e/#",
    "$e2e/report/#", "$e2e/hello", "open" + "/+" * 150, "/" * 250, "open/" + LONG[:65530], "open/#/a", "a+", "",
)  # fmt: skip
IDS = (1, 2, 3, 9, 65534, 65535, 0)
"""Packet ids, with those at the limits and the one that is not allowed."""
NAMES = ("mallory-1", "mallory-2", "", "ann", "dora")
"""Client ids: a hostile client's own, none, and other clients'."""
USERS = ((None, None), ("mallory", b"m"), ("mallory", b"wrong"), ("ann", b"guess"))
PAYLOADS = (b"", b"x", b"y" * 5000)


def text(value: str) -> bytes:
    """Encode a string without looking at it."""
    raw = value.encode()[:65535]
    return len(raw).to_bytes(2, "big") + raw


def connect(
    client_id: str, clean: bool = True, keep_alive: int = 0, will: tuple[str, bytes, int, bool] | None = None,
    user: str | None = None, password: bytes | None = None,
) -> bytes:  # fmt: skip
    """Encode CONNECT with whatever is given."""
    flags = clean << 1 | (user is not None) << 7 | (password is not None) << 6
    body = text(client_id)
    if will is not None:
        flags |= 4 | will[2] << 3 | will[3] << 5
        body += text(will[0]) + p.text(will[1])
    if user is not None:
        body += text(user)
    if password is not None:
        body += p.text(password)
    return p.frame(0x10, text("MQTT") + bytes((4, flags)) + keep_alive.to_bytes(2, "big") + body)


def any_connect(pick: Pick) -> bytes:
    """Make CONNECT of a hostile client: any will, clean or durable, its own or another's id, keep-alive times."""
    will = None
    if pick((True, True, False)):
        will = (pick(TOPICS), pick(PAYLOADS), pick((0, 1, 2)), pick((False, True)))
    user, password = pick((USERS[1], *USERS))
    return connect(pick((*NAMES[:2], *NAMES)), pick((True, False)), pick((0, 0, 1, 65535)), will, user, password)


def publish(topic: str, payload: bytes, qos: int, retain: bool, packet_id: int, dup: bool = False) -> bytes:
    """Encode PUBLISH at QoS 0-2 with whatever is given."""
    number = packet_id.to_bytes(2, "big") if qos else b""
    return p.frame(0x30 | dup << 3 | qos << 1 | retain, text(topic) + number + payload)


def _publish(pick: Pick) -> bytes:
    return publish(pick(TOPICS), pick(PAYLOADS), pick((0, 1, 2)), pick((False, True)), pick(IDS), pick((False, True)))


def _publish3(pick: Pick) -> bytes:
    report = pick((True, False))
    ids: tuple[str, ...] = pick(((), (), ("ann",), ("mallory-1", "ann"), tuple(f"s{i}" for i in range(300))))
    waited = pick((0, 1, 2, p.WAIT_FOR_ALL, 16382))
    word = waited | (p.IDS_FOLLOW if ids else 0) | (p.REPORT_WANTED if report else 0)
    extra = word.to_bytes(2, "big") + (pick((b"\0\0", b"\0\1", b"\xff\xff")) if report else b"")
    for i, name in enumerate(ids):
        extra += bytes((len(name) | (0x80 if i < len(ids) - 1 else 0),)) + name.encode()
    head = 0x36 | pick((False, True)) << 3 | pick((False, True))
    return p.frame(head, text(pick(TOPICS)) + pick(IDS).to_bytes(2, "big") + extra + pick(PAYLOADS))


def _subscribe(pick: Pick) -> bytes:
    filters = [(pick(FILTERS), pick((0, 1, 2, 3))) for _ in range(pick((1, 1, 2)))]
    return p.frame(0x82, pick(IDS).to_bytes(2, "big") + b"".join(text(f) + bytes((q,)) for f, q in filters))


def _unsubscribe(pick: Pick) -> bytes:
    return p.frame(0xA2, pick(IDS).to_bytes(2, "big") + text(pick(FILTERS)))


def _acknowledge(pick: Pick) -> bytes:
    return bytes((pick((0x40, 0x50, 0x56, 0x62, 0x66, 0x70, 0x76)), 2)) + int(pick(IDS)).to_bytes(2, "big")


def _answer(pick: Pick) -> bytes:
    return p.frame(0x56, pick(IDS).to_bytes(2, "big") + pick((b"data", b"z" * 65536)))


LARGE = (0x30, 0x32, 0x34, 0x82, 0xA2, 0x56, 0xF0)
"""First bytes of packets that may be large, and one of a packet that does not exist."""


def large(first: int, size: int) -> bytes:
    """Make a packet of which a part may be sent: nobody has looked into it before it is complete."""
    return p.frame(first, bytes(size))


def _half(pick: Pick) -> bytes:
    return large(pick(LARGE), pick((200, 50_000, 90_000)))[: pick((1, 4, 5, 190, 40_000))]


def _control(pick: Pick) -> bytes:
    return bytes.fromhex(pick(("c000", "e000", "d000", "20020000", "0000", "f000", "c100")))


def _wild(pick: Pick) -> bytes:
    return bytes.fromhex(pick(("30ffffffff01", "820100", "3000", "1000", "ff" * 40, b"GET / HTTP".hex())))


def _many(pick: Pick) -> bytes:
    kind = pick(("filters", "overlapping", "topics", "pings", "named", "held"))
    if kind == "filters":
        body = b"".join(text(f"open/{i}/+") + b"\1" for i in range(2000))
        return p.frame(0x82, b"\0\7" + body)
    if kind == "overlapping":
        levels = (["+", "a"][i >> k & 1] for i in range(256) for k in range(8))
        names = ["open/" + "/".join(group) for group in zip(*[levels] * 8, strict=True)]
        subscription = p.frame(0x82, b"\0\7" + b"".join(text(f) + b"\1" for f in names))
        return subscription + publish("open" + "/a" * 8, b"", 1, False, 1)
    if kind == "topics":
        return b"".join(publish(f"open/{i}/" + LONG[:60_000], b"", 0, False, 0) for i in range(4))
    if kind == "pings":
        return b"\xc0\x00" * 5000
    if kind == "held":
        return b"".join(publish("$e2e/1/nobody", b"", 2, False, i) for i in range(100, 140))
    ids = b"".join(b"\x83%03d" % (i % 1000) for i in range(20_000)) + b"\x011"
    return p.frame(0x36, text("open/a") + b"\0\1\xc0\1\0\1" + ids)


KINDS: tuple[Callable[[Pick], bytes], ...] = (
    _publish, _publish, _publish3, _subscribe, _subscribe, _unsubscribe, _acknowledge, _answer, _control, _wild, _many,
    any_connect, _half,
)  # fmt: skip


def packet(pick: Pick) -> bytes:
    """Make one packet (or a burst of them) of a connected hostile client, well or ill formed."""
    kind: Callable[[Pick], bytes] = pick(KINDS)
    return kind(pick)
