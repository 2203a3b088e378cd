"""What is right in the stages of the lab of *MQTT, packet by packet*, as plain functions, and their cases.

A client is a name. A test plays all sessions to the package's broker, over sockets.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from voicewire.emqtt.reference import ANSWERS, answer, cut, field_of, length_bytes, publish, read_publish
from voicewire.mqtt import packets as p
from voicewire.mqtt.packets import encode
from voicewire.mqtt.topics import matches

__all__: list[str] = []  # for the checks of the lab

Out = list[tuple[str, bytes]]
Filters = list[tuple[str, int]]
Case = tuple[Any, ...]
CONNECT, SUBSCRIBE, PINGREQ = 0x10, 0x82, 0xC0


def subscriptions(body: bytes) -> tuple[int, Filters]:
    packet_id, at, found = int.from_bytes(body[:2], "big"), 2, []
    while at < len(body):
        end = at + 2 + int.from_bytes(body[at : at + 2], "big")
        found.append((body[at + 2 : end].decode(), body[end]))
        at = end + 1
    return packet_id, found


def granted(packet_id: int, filters: Filters) -> bytes:
    return b"\x90" + length_bytes(2 + len(filters)) + packet_id.to_bytes(2, "big") + bytes(qos for _, qos in filters)


def copied(
    first: int, body: bytes, most: int, packet_id: int, lesser: Callable[[int, int], int] = min,
    kept: tuple[str, ...] = (),
) -> bytes:  # fmt: skip
    """The copy of a PUBLISH for one subscriber; what may be kept of the original is a usual mistake."""
    fields: dict[str, Any] = read_publish(first, body)
    new = {"qos": lesser(fields["qos"], most), "packet_id": packet_id, "dup": False, "retain": False}
    return publish(**fields | {name: value for name, value in new.items() if name not in kept})


def routed(
    topic: str, held: dict[str, Filters], pick: Callable[[list[int]], int] = max,
    fits: Callable[[str, str], bool] = matches,
) -> dict[str, int]:  # fmt: skip
    chosen = {name: [qos for pattern, qos in filters if fits(pattern, topic)] for name, filters in held.items()}
    return {name: pick(qos) for name, qos in chosen.items() if qos}


def reply(first: int, body: bytes) -> bytes:
    if first == CONNECT:
        return b"\x20\2\0\0"
    if first == SUBSCRIBE:
        return granted(*subscriptions(body))
    if first == PINGREQ:
        return b"\xd0\0"
    if first >> 4 == 3:
        fields: dict[str, Any] = read_publish(first, body)
        return answer(("PUBACK", "PUBREC")[fields["qos"] - 1], fields["packet_id"]) if fields["qos"] else b""
    following = {ANSWERS["PUBREC"]: "PUBREL", ANSWERS["PUBREL"]: "PUBCOMP"}.get(first)
    return answer(following, int.from_bytes(body, "big")) if following else b""


class Broker:
    """All that a broker remembers; what may be chosen are usual mistakes."""

    def __init__(self, **wrong: bool) -> None:
        self.wrong = wrong
        self.rest: dict[str, bytes] = {}
        self.held: dict[str, Filters] = {}
        self.last: dict[str, int] = {}
        self.known: dict[str, set[int]] = {}
        self.retained: dict[str, tuple[int, bytes]] = {}

    def ends(self, name: str) -> None:
        memories: dict[str, dict[str, Any]]
        memories = {"rest": self.rest, "held": self.held, "last": self.last, "known": self.known}
        for kind, memory in memories.items():
            if not self.wrong.get(kind):
                memory.pop(name, None)

    def copy(self, name: str, first: int, body: bytes, most: int) -> tuple[str, bytes]:
        qos = min(first // 2 % 4, most)
        self.last[name] = self.last.get(name, 0) + (qos > 0 or self.wrong.get("counts", False))
        return name, copied(first, body, most, self.last[name])

    def publication(self, name: str, first: int, body: bytes) -> Out:
        fields: dict[str, Any] = read_publish(first, body)
        known = self.known.setdefault("" if self.wrong.get("mixes") else name, set())
        if fields["qos"] == 2 and fields["packet_id"] in known and not self.wrong.get("doubles"):
            return []
        if fields["qos"] == 2:
            known.add(fields["packet_id"])
        if fields["retain"]:
            self.retained[fields["topic"]] = first, body
            if not fields["payload"] and not self.wrong.get("keeps"):
                del self.retained[fields["topic"]]
        due = sorted(routed(fields["topic"], self.held).items())
        return [self.copy(one, first, body, most) for one, most in due if one != name or not self.wrong.get("others")]

    def subscription(self, name: str, body: bytes) -> Out:
        out = []
        for pattern, most in subscriptions(body)[1]:
            old = self.held.get(name, [])
            others = [(other, qos) for other, qos in old if other != pattern or self.wrong.get("adds")]
            self.held[name] = [*others, (pattern, most)]
            for topic, (first, content) in self.retained.items() if not self.wrong.get("late") else ():
                if matches(pattern, topic):
                    _, packet = self.copy(name, first, content, most)
                    out.append((name, bytes([packet[0] | 1]) + packet[1:]))
        return out

    def taken(self, name: str, first: int, body: bytes) -> Out:
        out = [(name, back)] if (back := reply(first, body)) else []
        if first >> 4 == 3:
            out += self.publication(name, first, body)
        elif first == SUBSCRIBE:
            out += self.subscription(name, body)
        elif first == ANSWERS["PUBREL"]:
            known = self.known.setdefault("" if self.wrong.get("mixes") else name, set())
            known.discard(-1 if self.wrong.get("kept") else int.from_bytes(body, "big"))
        return out


def serve(steps: Out, **wrong: bool) -> list[Out]:
    """What leaves the broker after each step."""
    broker, leaves = Broker(**wrong), []
    for name, data in steps:
        out: Out = []
        if not data and not wrong.get("stays"):
            broker.ends(name)
        packets, broker.rest[name] = cut((b"" if wrong.get("whole") else broker.rest.get(name, b"")) + data)
        for first, body in packets:
            out += broker.taken(name, first, body)
        leaves.append(sorted(out))
    return leaves


def _acknowledges(name: str, out: Out) -> bytes:
    """What a subscriber sends back at once to what it got."""
    back = b""
    for one, packet in out:
        ((first, body),), _ = cut(packet)
        if one == name and (first >> 4 == 3 or first == ANSWERS["PUBREL"]):
            back += reply(first, body)
    return back


def session(seed: int) -> Case:
    """Four clients that subscribe, publish and go, in pieces as TCP may bring them; no page shows it."""
    rng, model = random.Random(seed), Broker()
    steps: Out = []
    here: set[str] = set()
    names, topics = ("ann", "bob", "cat", "dan"), ("t", "a/b", "a/c/d", "häuser/1", "$x/y")

    def take(name: str, data: bytes) -> None:
        whole, _ = cut(data)
        split = rng.randint(1, 3) if rng.random() < 0.2 and len(data) > 4 and whole else 0
        if split and len(cut(data[:split])[0]) == 0:
            steps.append((name, data[:split]))
            data = data[split:]
        steps.append((name, data))
        out = sorted(one for first, body in whole for one in model.taken(name, first, body))
        for other in sorted(here):
            if back := _acknowledges(other, out):
                take(other, back)

    for number in range(rng.randint(10, 20)):
        name = rng.choice(names)
        kind = rng.random()
        if name not in here:
            here.add(name)
            take(name, encode(p.Connect(name)))
        elif kind < 0.4:
            filters = rng.sample(("t", "a/+", "a/#", "#", "+/1", "$x/#", "a/c/d"), rng.randint(1, 2))
            take(name, encode(p.Subscribe(rng.randint(1, 400), tuple((one, rng.randint(0, 2)) for one in filters))))
        elif kind < 0.9:
            qos, packet_id, keep = rng.randint(0, 2), rng.choice((7, 300)), rng.random() < 0.4
            message = rng.choice(topics), rng.choice((b"", b"%d" % number, b"x" * 130)), qos, packet_id
            for again in (False, True)[: 1 + (qos == 2 and rng.random() < 0.3)]:
                take(name, publish(*message, dup=again, retain=keep))
            if qos == 2 and rng.random() < 0.8:
                take(name, answer("PUBREL", packet_id))
        elif kind < 0.95:
            take(name, encode(p.Pingreq()))
        else:
            here.discard(name)
            model.ends(name)
            steps.append((name, b""))
    return (steps,)


def _filters(*filters: tuple[str, int], packet_id: int = 1) -> bytes:
    return packet_id.to_bytes(2, "big") + b"".join(field_of(one.encode()) + bytes([qos]) for one, qos in filters)


def _parts(*arguments: Any, **more: Any) -> tuple[int, bytes]:
    """First byte and body of a PUBLISH."""
    return cut(publish(*arguments, **more))[0][0]


BODIES: list[Case] = [
    (_filters(("a/b", 1), ("#", 0)),), (_filters(("t", 2), packet_id=258),), (_filters(("häuser/+", 1), ("t", 2)),),
    (_filters(("x" * 300, 0), ("y", 1), ("z", 2), packet_id=65_535),),
]  # fmt: skip
GRANTS: list[Case] = [
    (1, [("a/b", 1), ("#", 0)]), (258, [("t", 2)]), (7, [(c, ord(c) % 3) for c in "abcdefgh"]),
    (9, [(f"t/{n}", n % 3) for n in range(130)]),
]  # fmt: skip
COPIES: list[Case] = [
    (*_parts("t", b"hi", 2, 9), 1, 4), (*_parts("t", b"hi", 1, 9, retain=True), 2, 258),
    (*_parts("t", b"", 2, 9), 0, 4),
    (*_parts("häuser/1", bytes(200), 2, 9, dup=True), 2, 5), (*_parts("t", b"hi", 0, retain=True), 2, 0),
]  # fmt: skip
_HELD: dict[str, Filters] = {
    "ann": [("a/+", 1), ("#", 0), ("a/#", 2)], "bob": [("a/#", 2), ("#", 0), ("a/b", 1)],
    "cat": [("+/c", 2), ("$x/#", 1)], "dan": [],
}  # fmt: skip
ROUTES: list[Case] = [(topic, _HELD) for topic in ("a/b", "a", "a/c", "$x/c", "t", "a/b/c")]
REPLIES: list[Case] = [
    cut(packet)[0][0]
    for packet in (
        encode(p.Connect("ann")), encode(p.Subscribe(300, (("a", 1), ("b", 2)))), encode(p.Pingreq()),
        publish("t", b"x"), publish("t", b"x", 1, 258), publish("t", b"x", 2, 9, True), answer("PUBACK", 9),
        answer("PUBREC", 258), answer("PUBREL", 258), answer("PUBCOMP", 9), encode(p.Disconnect()),
    )
]  # fmt: skip
ONE: Out = [
    ("subscriber", encode(p.Connect("subscriber")) + encode(p.Subscribe(1, (("T", 2),)))),
    ("publisher", encode(p.Connect("publisher"))),
    ("publisher", publish("T", b"123456", 2, 1)),
    ("subscriber", answer("PUBREC", 1)),
    ("subscriber", answer("PUBCOMP", 1)),
    ("publisher", answer("PUBREL", 1)),
]
"""One message at QoS 2, as the chapter's trace has it."""
ENDED: Out = [
    ("ann", encode(p.Connect("ann")) + encode(p.Subscribe(1, (("t", 2),)))),
    ("bob", encode(p.Connect("bob"))),
    ("bob", publish("t", b"1", 2, 7)),
    ("ann", answer("PUBREC", 1)),
    ("ann", answer("PUBCOMP", 1)),
    ("bob", publish("t", b"half", 1, 8)[:5]),
    ("bob", b""),
    ("bob", encode(p.Connect("bob"))),
    ("bob", publish("t", b"2", 2, 7)),
    ("bob", answer("PUBREL", 7)),
    ("ann", b""),
    ("ann", encode(p.Connect("ann"))),
    ("bob", publish("t", b"3", 1, 9)),
    ("ann", encode(p.Subscribe(2, (("t", 1),)))),
    ("bob", publish("t", b"4", 1, 9)),
]
"""Two connections that end, with half a packet, an id of QoS 2 before its PUBREL, and ids of a leg in use."""
