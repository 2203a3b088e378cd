"""Where messages of one topic go: a route, what kind of topic it is, and the address of an end-to-end message."""

from __future__ import annotations

from collections.abc import Iterator

from voicewire.mqtt import packets as p
from voicewire.mqtt.config import EVERYTHING, Permissions
from voicewire.mqtt.decoder import to_text
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.serving.time_slicing import SLICE
from voicewire.mqtt.sessions.session import Session
from voicewire.mqtt.topics import FOREIGN, MAX_LEVELS, SubscriptionTree, check_name

__all__: list[str] = []  # the broker's inside: only this room's own modules use it

ORDINARY, END_TO_END, CLOSED, LIST = 0, 1, 2, 3
SERVERS = {"$SYS", *FOREIGN}
"""First levels of topics that no client may publish to."""


def address(name: str) -> tuple[int, int, str]:
    """Take `$e2e/<n>/<topic>` apart; `all` for n waits for everyone who can acknowledge, `ids` asks who that is."""
    _, count, *rest = name.split("/", 2)
    if count in ("report", "hello"):
        return CLOSED, 0, name
    if count == "ids" and rest and rest[0] and not rest[0].startswith("$"):
        return LIST, 0, rest[0]
    if not (count == "all" or (count.isdecimal() and count.isascii() and len(count) < 6)) or not rest or not rest[0]:
        raise MalformedError(f"{name[:40]!r} is not of the form $e2e/<n>/<topic>")
    need = p.WAIT_FOR_ALL if count == "all" else int(count)
    if need > p.WAIT_FOR_ALL or (need == p.WAIT_FOR_ALL and count != "all"):
        raise MalformedError(f"$e2e waits for at most {p.WAIT_FOR_ALL - 1} subscribers")
    if rest[0].startswith("$"):
        raise MalformedError("an end-to-end message to a topic that begins with $")
    return END_TO_END, need, rest[0]


class Route:
    """Where messages of one topic go; made once a topic, thrown away when any subscription changes.

    `kind` is 0 for ordinary topics, 1 for `$e2e/…` addresses, 2 for what clients may not publish to, 3 for
    `$e2e/ids/…`; `steps` is the number of subscribers: of more than `SLICE`, one message is handed out in slices.
    """

    __slots__ = ("heads", "kind", "name", "need", "steps", "subscribers", "topic")

    def __init__(self, topic: bytes, name: str, subscribers: list[tuple[Session, int]], kind: int = 0) -> None:
        self.topic = topic
        self.name = name
        self.subscribers = subscribers
        self.kind = kind
        self.need = 0
        self.steps = len(subscribers)
        self.heads: dict[int, bytes] = {}

    def pieces(self) -> Iterator[Route]:
        """Cut the route into some with subscribers for a slice; who has gone by then is left out."""
        count = SLICE // 4
        for i in range(0, len(self.subscribers), count):
            there = [entry for entry in self.subscribers[i : i + count] if not entry[0].ended]
            yield Route(self.topic, self.name, there, self.kind)

    def head(self, qos: int, size: int) -> bytes:
        """Return a PUBLISH up to its packet id, for a payload of `size` bytes; `heads` remembers the last few."""
        key = size << 2 | qos
        head = self.heads.get(key)
        if head is None:
            length = 2 + len(self.topic) + (0, 2, 2, 4)[qos] + size
            head = bytes((0x30 | qos << 1,)) + p.encode_length(length)
            head += len(self.topic).to_bytes(2, "big") + self.topic
            if len(self.topic) <= 256:
                if len(self.heads) >= 16:
                    self.heads.clear()
                self.heads[key] = head
        return head


def find(topic: bytes, tree: SubscriptionTree[Session]) -> Route:
    """Work out where messages on `topic` go: to those who have subscribed to it, are there and may read it."""
    name = check_name(to_text(topic))
    if name.count("/") >= MAX_LEVELS:
        raise MalformedError(f"a topic with more than {MAX_LEVELS} levels")
    real, need, kind = name, 0, ORDINARY
    if name.partition("/")[0] in SERVERS:
        kind = CLOSED
    elif name.startswith("$e2e/"):
        kind, need, real = address(name)
    asked: dict[Permissions | None, bool] = {None: False, EVERYTHING: True}
    found = []
    for entry in tree.match(real).items():
        mine = entry[0].permissions
        allowed = asked.get(mine)
        if allowed is None and mine is not None:
            allowed = asked[mine] = mine.may_read(real)
        if allowed and not entry[0].ended:
            found.append(entry)
    route = Route(real.encode(), real, found, kind)
    route.need = need
    return route
