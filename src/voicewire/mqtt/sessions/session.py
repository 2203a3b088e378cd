"""What a broker remembers of one client: subscriptions, messages on the way and waiting, packet ids."""

from __future__ import annotations

from collections import deque

from voicewire.mqtt.config import Permissions
from voicewire.mqtt.interfaces import Peer
from voicewire.mqtt.packets import Will, encode_length
from voicewire.mqtt.serving.resource_limits import ENTRY, OVERHEAD
from voicewire.mqtt.sessions.hold import Hold

__all__ = ["Message", "Session"]

COPIED = 16_384
"""Bytes of payload from which on it is written from where it lies, behind its own head: a copy would cost more."""


class Message:
    """An application message inside the broker; shared by all its subscribers.

    `size` is what it counts for while a client is to get it; of a long one, `holders` says how many are to, by user.
    `sealed`: it is still being handed out, and nobody may be sent it yet. `number` is that of its row in the store, if
    it has one of its own, and `stored` how many deliveries there refer to it.
    """

    __slots__ = ("hold", "holders", "number", "payload", "retain", "sealed", "size", "stored", "topic")

    def __init__(self, topic: bytes, payload: bytes, retain: bool = False, hold: Hold | None = None) -> None:
        self.topic = topic
        self.payload = payload
        self.retain = retain
        self.hold = hold
        self.holders: dict[str | None, int] | None = None
        self.sealed = False
        self.number = 0
        self.stored = 0
        self.size = len(topic) + len(payload) + OVERHEAD

    def head(self, qos: int, packet_id: int = 0, dup: bool = False) -> bytes:
        """Write all of the PUBLISH that stands before the payload; at QoS 3 with a `waited_packet_num` of 0."""
        extra = packet_id.to_bytes(2, "big") if qos else b""
        if qos == 3:
            extra += b"\0\0"
        size = 2 + len(self.topic) + len(extra) + len(self.payload)
        first = 0x30 | qos << 1 | self.retain | dup << 3
        name = len(self.topic).to_bytes(2, "big") + self.topic
        return bytes((first,)) + encode_length(size) + name + extra

    def encode(self, qos: int, packet_id: int = 0, dup: bool = False) -> bytes:
        """Write the whole PUBLISH, as `head` and the payload are together."""
        return self.head(qos, packet_id, dup) + self.payload


RELEASED = Message(b"", b"")
"""Stands in `Session.inflight` for a message whose PUBREC has come: only its PUBCOMP is missing."""
RELEASED.size = ENTRY


class Pending:
    """Stands in `Session.received` for a message that is still being handed out: a repeated one gets no answer yet."""

    __slots__ = ()


Outgoing = tuple[Message, int, int]
"""Message, QoS, and its number in the store (0: not stored)."""


class Session:
    """The state of one client id.

    `inflight` maps packet ids to messages in the order in which they were sent; `queue` holds what waits for a
    place in the window or for the client to come back; `received` holds the packet ids of QoS 2 and 3 messages
    whose PUBREL has not come, with what keeps the PUBREC back if there is something; `open_holds` counts the
    holds in `received` and `held`, `load` the sizes of the messages in `inflight` and `queue`,
    `filter_bytes` those of all filters. `permissions` is None until they are known, and nothing may be read until
    then. `reports` are the filters below `$e2e/`. `owner` is the user whose share of the limits it has part in. A
    session that has `ended` gets nothing any more.
    """

    __slots__ = (
        "clean", "client_id", "connection", "durable", "ended", "filter_bytes", "held", "inflight", "load", "next_id",
        "open_holds", "owner", "permissions", "qos3", "queue", "received", "refused", "reports", "subscriptions",
        "username", "will",
    )  # fmt: skip

    def __init__(self, client_id: str, clean: bool) -> None:
        self.client_id = client_id
        self.clean = clean
        self.durable = False
        self.ended = False
        self.connection: Peer | None = None
        self.subscriptions: dict[str, int] = {}
        self.filter_bytes = 0
        self.reports: list[str] = []
        self.inflight: dict[int, Outgoing] = {}
        self.queue: deque[Outgoing] | None = None
        self.received: dict[int, Hold | Pending | None] = {}
        self.held: dict[int, Hold] | None = None
        self.open_holds = 0
        self.load = 0
        self.next_id = 1
        self.qos3 = False
        self.refused = False  # a filter, and the log has it
        self.permissions: Permissions | None = None
        self.username: str | None = None
        self.owner: str | None = None
        self.will: Will | None = None

    def may_read(self, topic: bytes) -> bool:
        """May the client be sent a message on `topic`?"""
        return self.permissions is not None and self.permissions.may_read(topic.decode())

    def take_id(self) -> int:
        """Take a packet id that is not in use [MQTT-2.3.1-4]; the window is smaller than their number."""
        packet_id = self.next_id
        while packet_id in self.inflight:
            packet_id = packet_id + 1 if packet_id < 65535 else 1
        self.next_id = packet_id + 1 if packet_id < 65535 else 1
        return packet_id

    def waiting_line(self) -> deque[Outgoing]:
        """Give the queue, made when first needed: most sessions never do."""
        if self.queue is None:
            self.queue = deque()
        return self.queue

    def subscribe(self, pattern: str, qos: int) -> None:
        """Note a subscription."""
        if pattern not in self.subscriptions:
            self.filter_bytes += len(pattern.encode())
            if pattern.startswith("$e2e/"):
                self.reports.append(pattern)
        self.subscriptions[pattern] = qos

    def unsubscribe(self, pattern: str) -> bool:
        """Forget a subscription."""
        if self.subscriptions.pop(pattern, None) is None:
            return False
        self.filter_bytes -= len(pattern.encode())
        if pattern.startswith("$e2e/"):
            self.reports.remove(pattern)
        return True

    def holds(self) -> list[Hold]:
        """List the holds for which this client is the publisher."""
        if not self.open_holds:
            return []
        return [h for h in self.received.values() if isinstance(h, Hold)] + list((self.held or {}).values())
