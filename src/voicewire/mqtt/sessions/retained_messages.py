"""Messages that wait for subscribers to come: the last one of each topic."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

from voicewire.mqtt.config import Limits
from voicewire.mqtt.interfaces import Journal, Peer
from voicewire.mqtt.routes import Route
from voicewire.mqtt.serving.resource_limits import Owner, Shares
from voicewire.mqtt.serving.time_slicing import weight
from voicewire.mqtt.sessions.session import Message, Session
from voicewire.mqtt.topics import SubscriptionTree

__all__: list[str] = []  # the broker's inside: only this room's own modules use it


class Retained:
    """The retained messages of a broker: `messages` maps topic names to message, QoS and owner; `size`: their bytes.

    A message belongs to the user who has retained it, whoever may write to its topic.
    """

    def __init__(
        self, limits: Limits, shares: Shares, send: Callable[[Session, Peer, Message, int], None], log: logging.Logger
    ) -> None:
        self.messages: dict[str, tuple[Message, int, Owner]] = {}
        self.size = 0
        self._shares = shares
        self.store: Journal | None = None
        self._limits = limits
        self._send = send
        self._log = log

    def keep(self, route: Route, payload: bytes, qos: int, owner: Owner) -> None:
        """Keep the last message of a topic, for the user who has sent it; an empty one clears it [MQTT-3.3.1-10]."""
        name = route.name
        message = Message(route.topic, payload, True)
        old = self.messages.get(name)
        if payload and not self._has_room(message, old, owner):
            self._log.warning("not retained, %d topics are: %r", len(self.messages), name[:100])
            return
        if old is not None:
            del self.messages[name]
            self._count(old[0], old[2], -1)
        if payload:
            self.messages[name] = (message, qos, owner)
            self._count(message, owner, 1)
        if self.store is not None:
            self.store.retain(name, payload, qos, owner)

    def _has_room(self, message: Message, old: tuple[Message, int, Owner] | None, owner: Owner) -> bool:
        """Is there room for one more message of `owner`, once the `old` one of its topic has gone?"""
        limits, shares = self._limits, self._shares
        count, size = len(self.messages) + 1, self.size + message.size
        mine, my_size = shares.retained[owner] + 1, shares.retained_bytes[owner] + message.size
        if old is not None:
            count, size = count - 1, size - old[0].size
            if old[2] == owner:
                mine, my_size = mine - 1, my_size - old[0].size
        return (
            count <= limits.max_retained
            and size <= limits.max_retained_bytes
            and mine <= shares.max_retained
            and my_size <= shares.max_retained_bytes
        )

    def _count(self, message: Message, owner: Owner, sign: int) -> None:
        size = sign * message.size
        self.size += size
        self._shares.retained[owner] += sign
        self._shares.retained_bytes[owner] += size

    def restore(self, name: str, payload: bytes, qos: int, owner: Owner) -> None:
        """Take back what was in the store."""
        message = Message(name.encode(), payload, True)
        self.messages[name] = (message, qos, owner)
        self._count(message, owner, 1)

    def show(self, name: str, topic: bytes, payload: bytes) -> None:
        """Keep one of the broker's own messages, which count for nothing and are not stored."""
        self.messages[name] = (Message(topic, payload, True), 0, None)

    def send_to(self, session: Session, connection: Peer, granted: Sequence[tuple[str, int]]) -> Iterator[int]:
        """Send a new subscriber what is retained, once for each filter [MQTT-3.3.1-6]; yields the steps done."""
        wild: SubscriptionTree[int] = SubscriptionTree()
        for i, (pattern, qos) in enumerate(granted):
            if "+" in pattern or "#" in pattern:
                wild.add(pattern, i, qos)
            elif pattern in self.messages:
                yield self._send_one(session, connection, pattern, qos)
            yield pattern.count("/") + weight(pattern)
        if wild.count:
            for name in list(self.messages):
                found = wild.match(name)
                yield 1 + name.count("/") + weight(name) + len(found)
                for qos in found.values():
                    yield self._send_one(session, connection, name, qos)

    def _send_one(self, session: Session, connection: Peer, name: str, granted: int) -> int:
        if name not in self.messages or session.permissions is None or not session.permissions.may_read(name):
            return 1
        message, qos, _ = self.messages[name]
        self._send(session, connection, message, min(qos, granted))
        return 3 + (len(message.payload) >> 12)
