"""What is right in the stages of the lab of *Has it arrived?*, as plain functions, and the cases they are tried on.

A client is a name. What leaves the broker is a list of (name, bytes of one packet). A test plays all talks to the
package's broker, over sockets.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from voicewire.emqtt.confirmed_query import read_ids, write_ids
from voicewire.emqtt.reference import ALL, FIRST, Held, after, cut, field_of, hold, length_bytes, publish

__all__: list[str] = []  # for the checks of the lab

Out = list[tuple[str, bytes]]
Steps = list[tuple[str, bytes]]
Case = tuple[Any, ...]
PUBREC, PUBREL, PUBCOMP = 0x56, 0x66, 0x76
IDS_FOLLOW, WAIT_FOR_ALL = 0x8000, 0x3FFF


def body(topic: str, packet_id: int, count: int, ids: list[str], payload: bytes) -> bytes:
    """The body of a PUBLISH of QoS 3."""
    word = (WAIT_FOR_ALL if count == ALL else count) + IDS_FOLLOW * bool(ids)
    numbers = packet_id.to_bytes(2, "big") + word.to_bytes(2, "big")
    return field_of(topic.encode()) + numbers + (write_ids(ids) if ids else b"") + payload


def whole(first: int, body: bytes) -> bytes:
    return bytes([first]) + length_bytes(len(body)) + body


def short(first: int, packet_id: int) -> bytes:
    """PUBREC, PUBREL or PUBCOMP."""
    return whole(first, packet_id.to_bytes(2, "big"))


QUERY: Steps = [
    ("doctor", whole(0x36, body("q", 5, 2, [], b"?"))),
    ("ann", short(PUBREC, 1)),
    ("bob", b""),
    ("cat", short(PUBREC, 1)),
    ("ann", short(PUBCOMP, 1)),
    ("cat", short(PUBCOMP, 1)),
    ("doctor", short(PUBREL, 5)),
]
"""A question to Ann, Bob and Cat, of whom two shall answer; Bob's clean session breaks."""


def asked(
    body: bytes, listed: Callable[[int], bool] = lambda word: word >= IDS_FOLLOW, mask: int = 0x7FFF, all_: int = ALL
) -> tuple[str, int, int, list[str], bytes]:
    end = 2 + int.from_bytes(body[:2], "big")
    packet_id, word = (int.from_bytes(body[at : at + 2], "big") for at in (end, end + 2))
    ids, payload = read_ids(body[end + 4 :]) if listed(word) else ([], body[end + 4 :])
    count = word & mask
    return body[2:end].decode(), packet_id, all_ if count == WAIT_FOR_ALL else count, ids, payload


def forwarded(topic: str, payload: bytes, packet_id: int) -> bytes:
    return publish(topic, b"\0\0" + payload, 3, packet_id)


def delivered(
    topic: str, payload: bytes, names: set[str], last: dict[str, int], ids: Callable[[int], int] = lambda n: n + 1
) -> tuple[Out, dict[str, int]]:
    used = {name: ids(last.get(name, 0)) for name in sorted(names)}
    return [(name, forwarded(topic, payload, n)) for name, n in used.items()], last | used


def acknowledged(first: int, body: bytes) -> bytes:
    after_it = {PUBREC: PUBREL, PUBREL: PUBCOMP}.get(first)
    return b"" if after_it is None else whole(after_it, body[:2])


def proof(held: Held, event: str, name: str, packet_id: int) -> bytes:
    was = held.verdict
    now = after(held, event, name).verdict
    return short(PUBREC, packet_id) if was == "open" and now == "complete" else b""


def talk(
    subscribers: dict[str, set[str]], steps: Steps, again: bool = False, silent: bool = False, early: bool = False,
    mixes: bool = False, named: bool = False, kept: bool = False, stays: bool = False,
) -> list[Out]:  # fmt: skip
    """What leaves the broker after each step; what may be chosen are usual mistakes."""
    listeners = {topic: set(names) for topic, names in subscribers.items()}
    held: dict[tuple[str, int], Held] = {}
    waits: dict[tuple[str, int], tuple[str, int]] = {}  # (subscriber, id) -> (publisher, id)
    last: dict[str, int] = {}
    leaves: list[Out] = []
    for name, packet in steps:
        out: Out = []
        events: list[tuple[tuple[str, int], str]] = []
        if not packet:
            for names in listeners.values() if not stays else ():
                names.discard(name)
            events = [(query, "lost") for query in held]
        else:
            ((first, body),), _ = cut(packet)
            if first in (0x36, 0x3E):
                topic, packet_id, count, ids, payload = asked(body)
                query = ("", packet_id) if mixes else (name, packet_id)
                if query not in held or again:
                    reached = listeners.get(topic, set())
                    reached = reached & set(ids) if named and ids else reached
                    sent, last = delivered(topic, payload, reached, last)
                    waits |= {(one, last[one]): (name, packet_id) for one in reached}
                    held[query] = hold(count, reached, set(ids))
                    out = sent + [(name, short(PUBREC, packet_id))] * early
                elif held[query].verdict == "complete" and not silent:
                    out = [(name, short(PUBREC, packet_id))]
            else:
                number = int.from_bytes(body[:2], "big")
                out = [(name, reply)] if (reply := acknowledged(first, body)) else []
                if first == PUBREL and not kept:
                    held.pop(("", number) if mixes else (name, number), None)
                elif first == PUBREC and (name, number) in waits:
                    events = [(waits[name, number], "answer")]
        for (publisher, packet_id), event in events:
            key = ("", packet_id) if mixes else (publisher, packet_id)
            if key in held and (told := proof(held[key], event, name, packet_id)) and not early:
                out.append((publisher, told))
        leaves.append(sorted(out))
    return leaves


def conversation(seed: int) -> Case:
    """A talk of two publishers with up to five subscribers, which no page shows."""
    rng = random.Random(seed)
    names = ["ann", "bob", "cat", "dan", "eve"][: rng.randint(2, 5)]
    subscribers = {"q": set(names), "häuser/1": set(rng.sample(names, 2))}
    steps: Steps = []
    gone: set[str] = set()
    last: dict[str, int] = {}
    for number in range(rng.randint(2, 4)):
        publisher, packet_id = rng.choice(["doctor", "nurse"]), rng.choice([5, 5, 9, 300])
        topic = rng.choice(sorted(subscribers))
        here = sorted(subscribers[topic] - gone)
        named = rng.sample(names, rng.randint(1, len(names))) if rng.random() < 0.4 else []
        most = len(named) if named else len(here) + 1
        asks = body(topic, packet_id, rng.choice([FIRST, ALL, rng.randint(1, max(1, most))]), named, b"?%d" % number)
        held = hold(asked(asks)[2], set(here), set(named))
        steps.append((publisher, whole(0x36, asks)))
        last |= {name: last.get(name, 0) + 1 for name in here}
        rng.shuffle(here)
        for name in here:
            if rng.random() < 0.2 and held.verdict != "short":
                steps.append((publisher, whole(0x3E, asks)))
            if rng.random() < 0.15:
                gone.add(name)
                steps.append((name, b""))
                after(held, "lost", name)
                continue
            data = b" 21.5" * rng.randint(0, 1)
            steps.append((name, whole(PUBREC, last[name].to_bytes(2, "big") + data)))
            after(held, "answer", name)
            steps.append((name, short(PUBCOMP, last[name])))
        if held.verdict == "complete" and rng.random() < 0.5:
            steps.append((publisher, whole(0x3E, asks)))
        steps.append((publisher, short(PUBREL, packet_id)))
    return subscribers, steps


def others(seed: int) -> Case:
    """Two publishers that use one packet id at once."""
    ask = [(who, whole(0x36, body("q", 5, 1, [], text))) for who, text in (("doctor", b"?"), ("nurse", b"!"))]
    answers = [("ann", short(PUBREC, n)) for n in random.Random(seed).sample((1, 2), 2)]
    ends = [(who, short(PUBREL, 5)) for who, _ in ask]
    return {"q": {"ann"}}, ask + answers + [("ann", short(PUBCOMP, 1)), ("ann", short(PUBCOMP, 2))] + ends


BODIES: list[Case] = [
    (body(*query),)
    for query in (
        ("q", 5, 2, ["ann", "bob"], b"?"), ("q", 258, 2, [], b"?"), ("häuser/1", 7, FIRST, [], b"\x01x"),
        ("ward/3", 9, ALL, [], b"\x02hi"), ("q", 1, ALL, ["Zoë", "b", "x" * 127], b"\x02hi"), ("", 1, 0, ["a"], b""),
    )
]  # fmt: skip
MESSAGES: list[Case] = [
    ("q", b"?", 1), ("häuser/1", b"hi", 258), ("ward", bytes(range(200)), 9), ("t", b"x" * 17_000, 65_535),
]  # fmt: skip
NAMES: list[Case] = [
    ("q", b"?", {"ann", "bob"}, {"ann": 4}), ("q", b"?", set(), {"eve": 2}), ("w", b"", {"cat", "ann", "bob"}, {}),
    ("q", b"!", {"ann", "dan"}, {"eve": 2, "dan": 300}),
]  # fmt: skip
TAKEN: list[Case] = [
    (PUBREC, b"\0\1"), (PUBREC, b"\1\2 21.5"), (PUBREL, b"\0\5"), (PUBREL, b"\xff\xfe"), (PUBCOMP, b"\0\1"),
]  # fmt: skip


def holds() -> list[Case]:
    both = {"ann", "bob"}
    done, short = after(hold(1, both, set()), "answer", "ann"), after(hold(2, both, set()), "lost", "ann")
    return [
        (hold(1, both, set()), "answer", "ann", 5), (hold(2, both, set()), "answer", "bob", 5),
        (after(hold(2, both, set()), "answer", "bob"), "answer", "ann", 258), (done, "answer", "bob", 5),
        (after(hold(2, both, set()), "answer", "bob"), "answer", "bob", 5), (short, "lost", "bob", 5),
        (hold(1, both, set()), "time", "", 5), (hold(2, both, set()), "answer", "eve", 5),
    ]  # fmt: skip
