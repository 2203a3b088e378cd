"""What a publisher must subscribe to if it is to learn of its subscribers, in MQTT and in E-MQTT (Section 3.1)."""

from __future__ import annotations

from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import connect, subscribed
from voicewire.mqtt.serving.broker_thread import BrokerThread

__all__ = ["response_arrives", "subscribes_to_nothing"]


def response_arrives(port: int, subscribes: bool) -> bool:
    """Whether an MQTT publisher gets the response on topic B, having subscribed to it beforehand or not (Section 3.1).
    """
    with subscribed(port, "A", qos=2) as sub, connect(port) as pub:
        if subscribes:
            pub.send(p.Subscribe(1, (("B", 2),)))
            pub.expect(p.Suback(1, (2,)))
        pub.send(p.Publish("A", b"query", 2, packet_id=1))
        pub.expect(p.Pubrec(1))
        pub.send(p.Pubrel(1))
        pub.expect(p.Pubcomp(1))
        sub.publication()
        sub.send(p.Publish("B", b"response", 2, packet_id=1))
        sub.expect(p.Pubrec(1))
        pub.send(p.Pingreq())
        got = pub.receive()
        return isinstance(got, p.Publish) and got.payload == b"response"


def subscribes_to_nothing(broker: BrokerThread) -> tuple[bool, int]:
    """Whether a publisher at QoS 3 learns of its subscriber, and the subscriptions that its session has (Section 3.2).
    """
    port, name = broker.port, "subscribes-to-nothing"
    with subscribed(port, "T", qos=3) as sub, subscribed(port, "$e2e/hello", qos=3, client_id=name) as pub:
        pub.send(p.Publish("T", b"x", 3, packet_id=1, waited=1))
        pub.quiet()
        sub.send(p.Pubrec(sub.publication().packet_id, 3))
        learns = pub.receive() == p.Pubrec(1, 3)
        return learns, len(broker.broker.sessions[name].subscriptions)
