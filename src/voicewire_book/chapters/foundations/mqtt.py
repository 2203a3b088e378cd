"""MQTT's rules to read: filters, sizes, all that can become of a message.

The chapter *MQTT in one chapter* (``notebooks/foundations/04_mqtt.ipynb``) is
woven from these pieces. Broker and client of `voicewire.mqtt` keep the same
rules on real sockets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# Lines as short as the page of the book is wide.
# fmt: off

__all__ = [
    "AFTER",
    "Rules",
    "World",
    "answered",
    "broken",
    "explore",
    "matches",
    "moves",
    "publish_size",
    "received",
    "start",
    "times",
    "torn",
]


def matches(pattern: str, topic: str) -> bool:
    """Whether a topic filter selects a topic."""
    if pattern[0] in "+#" and topic[0] == "$":
        return False
    given = topic.split("/")
    for i, level in enumerate(pattern.split("/")):
        if level == "#":
            return True
        if i == len(given) or level not in ("+", given[i]):
            return False
    return pattern.count("/") == topic.count("/")


def publish_size(topic: str, payload: int, qos: int) -> int:
    """Bytes of a whole PUBLISH."""
    rest = 2 + len(topic.encode()) + 2 * (qos > 0) + payload
    for size in (1, 2, 3, 4):
        if rest < 128**size:
            return 1 + size + rest
    raise ValueError("a Remaining Length has at most four bytes")


class World(NamedTuple):
    """One message between two ends, with all that can matter to it."""

    sends: str = "PUBLISH"
    knows: bool = False
    there: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    passed: int = 0
    breaks: int = 0


@dataclass(frozen=True)
class Rules:
    """What both ends keep to, and what may go wrong."""

    qos: int
    early: bool = True
    breaks: int = 2
    forgets: str = ""
    torn: str = ""


def start(rules: Rules) -> World:
    """The world in which PUBLISH has just been sent."""
    return World("PUBLISH" if rules.qos else "", there=("PUBLISH",))


def received(w: World, rules: Rules) -> World:
    """The receiver takes the next packet, and answers it.

    Notes
    -----
    MQTT 3.1.1, section 4.3; chapter ``notebooks/foundations/04_mqtt``.
    """
    knows, new = False, True  # QoS 0 and 1: no memory, each is new
    answer = ("PUBACK",) * rules.qos
    if rules.qos == 2:
        knows = w.there[0] == "PUBLISH"
        new = w.knows != knows and knows == rules.early  # comes, or goes
        answer = ("PUBREC",) if knows else ("PUBCOMP",)
    return w._replace(knows=knows, there=w.there[1:],
                      back=w.back + answer, passed=w.passed + new)


AFTER = {"PUBACK": "", "PUBREC": "PUBREL", "PUBCOMP": ""}


def answered(w: World) -> World:
    """The sender takes the next answer, and goes on.

    Notes
    -----
    MQTT 3.1.1, section 4.3; chapter ``notebooks/foundations/04_mqtt``.
    """
    sends = AFTER[w.back[0]]
    there = w.there + ((sends,) if sends else ())
    return w._replace(sends=sends, there=there, back=w.back[1:])


def broken(w: World, forgets: str = "") -> World:
    """The connection broke, and both ends have met again.

    Notes
    -----
    MQTT 3.1.1, section 4.4; chapter ``notebooks/foundations/04_mqtt``.
    """
    sends = "" if forgets == "sender" else w.sends
    knows = w.knows and forgets != "receiver"
    there = (sends,) if sends else ()
    return w._replace(sends=sends, knows=knows, there=there,
                      back=(), breaks=w.breaks + 1)


def moves(w: World, rules: Rules) -> list[World]:
    """All worlds that can come next."""
    found = [received(w, rules)] if w.there else []
    if w.back:
        found.append(answered(w))
    if w.breaks < rules.breaks:
        found.append(broken(w))
        if rules.forgets:
            found.append(broken(w, rules.forgets))
        if rules.torn and w.there:
            found.append(torn(w, rules))
    return found


def explore(rules: Rules) -> set[World]:
    """Every world that can be reached."""
    seen: set[World] = set()
    todo = [start(rules)]
    while todo:
        w = todo.pop()
        if w not in seen:
            seen.add(w)
            todo += moves(w, rules)
    return seen


def times(worlds: set[World]) -> set[int]:
    """How often the message was passed on, in all ends of the story."""
    return {w.passed for w in worlds if not (w.sends or w.there or w.back)}


def torn(w: World, rules: Rules) -> World:
    """The receiver crashed between passing on and noting the packet id."""
    done = received(w, rules)
    if rules.torn == "passed":
        return broken(done._replace(knows=w.knows))
    return broken(done._replace(passed=w.passed))
