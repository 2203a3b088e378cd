"""What a broker that knows nothing of E-MQTT makes of its packets (Section 3), and of MQTT's own (Section 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from voicewire.emqtt import paper
from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import Wire, connect
from voicewire_book.chapters.emqtt.conformance_checks import mqtt_pubrec_first

__all__ = ["asked"]


def _subscribe(wire: Wire, qos: int) -> None:
    wire.send(p.Subscribe(1, ((paper.TOPIC, qos),)))


def _publish(wire: Wire, qos: int) -> None:
    wire.send(p.Publish(paper.TOPIC, paper.PAYLOAD, qos, packet_id=1))


def _release(wire: Wire, qos: int) -> None:
    _publish(wire, 2)
    wire.expect(p.Pubrec(1))
    wire.send(p.Pubrel(1, qos))


def _receive(wire: Wire, qos: int) -> None:
    """Take a message at QoS 2 and acknowledge it with the level in the field of Figure 8."""
    wire.send(p.Subscribe(1, ((paper.TOPIC, 2),)))
    wire.receive()
    with connect(int(wire.socket.getpeername()[1])) as publisher:
        _publish(publisher, 2)
        publisher.expect(p.Pubrec(1))
        publisher.send(p.Pubrel(1))
        publisher.expect(p.Pubcomp(1))
    wire.send(p.Pubrec(wire.publication().packet_id, qos))


PACKETS: Mapping[str, Callable[[Wire, int], None]] = {
    "SUBSCRIBE": _subscribe, "PUBLISH": _publish, "PUBREL": _release, "PUBREC": _receive,
}  # fmt: skip
"""The packets of which E-MQTT makes more than MQTT has."""


def _goes_on(port: int, send: Callable[[Wire, int], None], qos: int) -> bool:
    """Say whether the broker still answers on a connection over which a packet came with this level."""
    with connect(port) as wire:
        send(wire, qos)
        wire.send(p.Pingreq())
        try:
            return p.Pingresp() in iter(wire.receive, None)
        except ConnectionError:
            return False


def asked(port: int) -> dict[str, dict[str, bool]]:
    """Ask a broker whether it goes on after each packet, and whether PUBREC at QoS 2 comes from it alone."""
    found = {name: {f"QoS {qos}": _goes_on(port, send, qos) for qos in (2, 3)} for name, send in PACKETS.items()}
    return {**found, "silent subscriber": {"PUBREC at QoS 2": mqtt_pubrec_first(port)}}
