"""A broker that never passes a repeated PUBLISH on: the strict reading of *exactly once* at QoS 3 (Section 3.2)."""

from __future__ import annotations

from voicewire.mqtt import packets as p
from voicewire.mqtt.broker import Broker
from voicewire.mqtt.config import Config
from voicewire.mqtt.endtoend import EndToEnd
from voicewire.mqtt.interfaces import Peer
from voicewire.mqtt.serving.broker_thread import BrokerThread
from voicewire.mqtt.sessions.session import Session

__all__ = ["DropsRepeats"]


class _Strict(EndToEnd):
    def publish3(self, packet: p.Publish, source: Peer, session: Session) -> None:
        """Take a PUBLISH whose packet id is not in use; another is a repeat, as at QoS 2 (MQTT 3.1.1, 4.3.3)."""
        if packet.packet_id not in session.received:
            super().publish3(packet, source, session)


class _StrictBroker(Broker):
    def __init__(self, config: Config | None = None) -> None:
        super().__init__(config)
        self.ends = _Strict(self.router, self.outbox, self.work, self.log)


class DropsRepeats(BrokerThread):
    """The broker as a thread, dropping a PUBLISH of QoS 3 that is sent again, also if nobody was there for the first.

    Our own tries such a message again with those who are there now; the paper does not say.
    """

    broker_class = _StrictBroker
