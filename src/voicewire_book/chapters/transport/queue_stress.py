"""The broker's queue under stress: more messages than it may keep for a subscriber that is away (section VI).

Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``. Loopback, the broker of this package.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from voicewire._kit import checks
from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config, Limits
from voicewire.mqtt.raw_socket_client import connect, subscribed
from voicewire.mqtt.serving.broker_thread import BrokerThread
from voicewire.transport import paper
from voicewire_book.chapters.transport.conformance_checks import unheard

__all__ = ["Queued", "filled"]

_NUMBER = struct.Struct(">I")
_BATCH = 100


@dataclass(frozen=True)
class Queued:
    """What became of the messages for a subscriber that was away.

    Attributes
    ----------
    sent : int
        Published at QoS 1.
    acknowledged : int
        For how many the publisher has a PUBACK.
    dropped : int
        How many the broker counts that it did not keep.
    received : tuple of int
        Numbers of those that the subscriber got when it was back, in their order.
    """

    sent: int
    acknowledged: int
    dropped: int
    received: tuple[int, ...]

    @property
    def lost(self) -> int:
        """Messages that were acknowledged to the publisher and never came."""
        return self.acknowledged - len(self.received)

    @property
    def in_order(self) -> bool:
        """Whether those that came are in the order in which they were sent, none twice."""
        return all(a < b for a, b in zip(self.received, self.received[1:], strict=False))


@checks.takes(messages=checks.whole(1, 1_000_000), size=checks.whole(_NUMBER.size, 10**6))
def filled(messages: int, size: int = 100, limits: Limits | None = None) -> Queued:
    """Publish messages for a subscriber whose session is kept while it is away, and let it come back."""
    rest = bytes(size - _NUMBER.size)
    acknowledged, received = 0, []
    with unheard(), BrokerThread(Config(port=0, limits=limits or Limits())) as broker:
        subscribed(broker.port, paper.TOPIC, qos=1, client_id="away", clean=False).close()
        with connect(broker.port) as publisher:
            for first in range(0, messages, _BATCH):
                batch = range(first, min(first + _BATCH, messages))
                sent = {n - first + 1: _NUMBER.pack(n) + rest for n in batch}
                publisher.send(*(p.Publish(paper.TOPIC, data, 1, packet_id=n) for n, data in sent.items()))
                publisher.expect(*map(p.Puback, sent))
                acknowledged += len(batch)
        dropped = int(broker.statistics()["publish/messages/dropped"])
        with connect(broker.port, "away", clean=False, present=True) as back:
            for _ in range(messages - dropped):
                got = back.publication()
                back.send(p.Puback(got.packet_id))
                received.append(_NUMBER.unpack_from(got.payload)[0])
            back.quiet()
    return Queued(messages, acknowledged, dropped, tuple(received))
