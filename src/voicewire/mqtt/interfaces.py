"""What routing needs of a connection (`Peer`) and of a store (`Journal`).

What a connection needs of the broker is `connection.Services`.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

__all__: list[str] = []  # the broker's inside: only this room's own modules use it


class Peer(Protocol):
    """What routing needs of a connection: a place to push bytes to, that may be behind or busy."""

    transport: asyncio.Transport
    out: list[bytes | memoryview]
    out_size: int
    dirty: bool
    closing: bool
    congested: bool
    slow: bool
    pressing: bool

    @property
    def name(self) -> str:
        """How the log calls this client."""

    def push(self, data: bytes) -> None:
        """Send `data` with the next flush."""

    def push_message(self, head: bytes, payload: bytes) -> None:
        """Send a message with the next flush, without a copy of a payload that is long."""

    def push_qos0(self, data: bytes, count: int, payload: bytes = b"") -> None:
        """Send `count` QoS 0 messages, or the head of one and its payload, unless too much waits already."""

    def write(self) -> None:
        """Write what has collected."""

    def write_piece(self) -> int:
        """Write a piece of what has collected, and say how many bytes it was: 0 if no more can be written now."""

    def weigh(self) -> None:
        """Work out anew whether more waits for this client than should."""

    def full(self) -> bool:
        """Does so much wait to be written that no more should be made?"""

    def hold_back(self, publisher: Any) -> None:
        """Read no more from `publisher` until this client has caught up."""

    def caught_up(self) -> None:
        """An acknowledgement has come: let publishers go on if this client is no longer behind."""

    def wait(self) -> None:
        """Take no more packets: work that one of them asked for is not done yet."""

    def proceed(self) -> None:
        """That work is done: take the next packets."""

    def read_again(self) -> None:
        """Read from the client, if nothing else forbids it."""

    def broke(self, error: BaseException) -> None:
        """End this connection, and no other, because of an exception in its path."""

    def close(self, will: bool) -> None:
        """Send what is waiting and close."""


class Journal(Protocol):
    """What the broker needs of a store: it is told what happens to kept sessions, and commits it."""

    @property
    def pending(self) -> bool:
        """Is there anything to commit?"""

    def commit(self) -> None:
        """Write down what has been told since the last time."""

    def close(self) -> None:
        """Commit and close."""

    def session(self, client: str, username: str | None) -> None:
        """A session that is to be kept has begun."""

    def forget(self, client: str) -> None:
        """A kept session has ended, with all that belongs to it."""

    def subscribe(self, client: str, pattern: str, qos: int) -> None:
        """A kept session subscribes."""

    def unsubscribe(self, client: str, pattern: str) -> None:
        """A kept session unsubscribes."""

    def retain(self, topic: str, payload: bytes, qos: int, owner: str | None) -> None:
        """A message is retained for its owner; an empty payload clears it."""

    def outgoing(self, client: str, packet_id: int, qos: int, message: Any) -> int:
        """A message is queued for a kept session (`packet_id` 0), or sent to it; returns its number."""

    def sent(self, number: int, packet_id: int) -> None:
        """A queued message got its packet id."""

    def whole(self, message: Any) -> None:
        """A message that was sealed is in the queues of all its subscribers."""

    def released(self, number: int, message: Any) -> None:
        """Its PUBREC has come."""

    def done(self, number: int, message: Any) -> None:
        """Its last acknowledgement has come."""

    def left(self, message: Any) -> None:
        """The session that waited for it has been forgotten."""

    def received(self, client: str, packet_id: int) -> None:
        """A QoS 2 message of a kept session has come."""

    def forget_received(self, client: str, packet_id: int) -> None:
        """Its PUBREL has come."""

    def keep(self, hold: Any) -> None:
        """The state of a hold has changed."""

    def drop_hold(self, hold: Any) -> None:
        """Nobody waits for this hold any more."""
