"""Messages that wait for subscribers to come: the last one of each topic."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

from voicewire.mqtt.config import Limits
from voicewire.mqtt.protocols import Journal, Peer
from voicewire.mqtt.session import Message, Route, Session
from voicewire.mqtt.topics import SubscriptionTree
from voicewire.mqtt.work import weight

__all__: list[str] = []  # the broker's inside: only this room's own modules use it


class Retained:
    """The retained messages of a broker: `messages` maps topic names to message and QoS, `size` counts their bytes.

    Parameters
    ----------
    limits : Limits
        How many, and how many bytes.
    send : callable
        Sends one message, at a QoS, to a session that is connected.
    log : logging.Logger
        Told what is not retained.
    """

    def __init__(
        self, limits: Limits, send: Callable[[Session, Peer, Message, int], None], log: logging.Logger
    ) -> None:
        self.messages: dict[str, tuple[Message, int]] = {}
        self.size = 0
        self.store: Journal | None = None
        self._limits = limits
        self._send = send
        self._log = log

    def keep(self, route: Route, payload: bytes, qos: int) -> None:
        """Keep the last message of a topic; an empty one clears it [MQTT-3.3.1-10]."""
        name = route.name
        old = self.messages.get(name)
        size = self.size - (old[0].size if old is not None else 0)
        if not payload:
            self.messages.pop(name, None)
            self.size = size
        else:
            message = Message(route.topic, payload, True)
            size += message.size
            if (old is None and len(self.messages) >= self._limits.max_retained) or (
                size > self._limits.max_retained_bytes
            ):
                self._log.warning("not retained, %d topics are: %r", len(self.messages), name[:100])
                return
            self.messages[name] = (message, qos)
            self.size = size
        if self.store is not None and not name.startswith("$SYS/"):
            self.store.retain(name, payload, qos)

    def restore(self, name: str, payload: bytes, qos: int) -> None:
        """Take back what was in the store."""
        message = Message(name.encode(), payload, True)
        self.messages[name] = (message, qos)
        self.size += message.size

    def show(self, name: str, topic: bytes, payload: bytes) -> None:
        """Keep one of the broker's own messages, which count for nothing and are not stored."""
        self.messages[name] = (Message(topic, payload, True), 0)

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
        message, qos = self.messages[name]
        self._send(session, connection, message, min(qos, granted))
        return 3 + (len(message.payload) >> 12)
