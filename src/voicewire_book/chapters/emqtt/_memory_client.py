"""A client in this program, on a line of a broker in memory: it answers as the standard asks, and tells of packets."""

from __future__ import annotations

from collections.abc import Callable

from voicewire.emqtt.trace import BROKER
from voicewire.mqtt import packets as p
from voicewire.mqtt.decoder import Decoder
from voicewire.mqtt.in_memory_broker import MemoryBroker

__all__ = ["HELLO", "Party", "settle"]

HELLO = "$e2e/hello"
"""Whoever subscribes to it says that it speaks QoS 3."""


class Party:
    """One client.

    Attributes
    ----------
    clean : bool
        How it connects the next time.
    got : list of bytes
        What it was sent, without the repetitions that QoS 2 and 3 let it recognise.
    breaks : bool
        Its connection breaks when the next message is there, before it has answered.
    """

    def __init__(
        self, name: str, broker: MemoryBroker, seen: Callable[[str, str, p.Packet], None],
        filters: tuple[tuple[str, int], ...],
    ) -> None:  # fmt: skip
        self.name, self.broker, self.seen, self.filters = name, broker, seen, filters
        self.clean = self.connected = self.breaks = False
        self.got: list[bytes] = []
        self.received: set[int] = set()

    def connect(self) -> None:
        """Open a line and begin, or take up, a session."""
        self.line = self.broker.line()
        self.decoder = Decoder()
        self.connected = True
        self.send(p.Connect(self.name, self.clean))

    def disconnect(self) -> None:
        """Say so, and go."""
        self.send(p.Disconnect())
        self.connected = False

    def send(self, packet: p.Packet) -> None:
        """Send a packet, and tell of it."""
        self.line.send(p.encode(packet))
        self.seen(self.name, BROKER, packet)

    def step(self) -> bool:
        """Take what has come, and answer; was there anything?"""
        packets = self.decoder.feed(self.line.take() or b"") if self.connected else []
        for packet in packets:
            self.seen(BROKER, self.name, packet)
            self.take(packet)
            if not self.connected:
                break
        return bool(packets)

    def take(self, packet: p.Packet) -> None:
        """Do what the standard asks after a packet."""
        match packet:
            case p.Connack(present, _):
                if not present:
                    self.received.clear()
                    if self.filters:
                        self.send(p.Subscribe(1, self.filters))
            case p.Publish():
                self.keep(packet)
                if self.breaks:
                    self.breaks = self.connected = False
                    self.line.close(reset=True)
                elif packet.qos == 1:
                    self.send(p.Puback(packet.packet_id))
                elif packet.qos:
                    self.send(p.Pubrec(packet.packet_id, packet.qos))
            case p.Pubrec(number, qos):
                self.send(p.Pubrel(number, qos))
            case p.Pubrel(number, qos):
                self.received.discard(number)
                self.send(p.Pubcomp(number, qos))

    def keep(self, packet: p.Publish) -> None:
        """Keep a message; at QoS 2 and 3 once."""
        if packet.qos < 2 or packet.packet_id not in self.received:
            self.got.append(packet.payload)
        if packet.qos > 1:
            self.received.add(packet.packet_id)


def settle(broker: MemoryBroker, clients: list[Party]) -> None:
    """Let broker and clients take turns until nobody has anything to say."""
    while True:
        broker.run()
        if not sum(client.step() for client in clients):
            return
