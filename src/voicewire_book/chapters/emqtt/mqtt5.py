"""MQTT 5 with a real client, counted packet by packet (paho-mqtt on mosquitto): request and response, and the agent."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from contextlib import ExitStack
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from voicewire.emqtt import paper
from voicewire.emqtt.agent import Agent, Answerer, Asker

__all__ = [
    "asked_through_agent",
    "count_packets",
    "overhead",
    "request_response",
]

_HANDSHAKE = ("PUBLISH", "PUBREC", "PUBREL", "PUBCOMP")
_COUNTED = (*_HANDSHAKE, "PUBACK")


def count_packets(client: paho.Client) -> Counter[str]:
    """Count from now on what a paho client's own log says it sends and receives, as "Sending PUBLISH" and so on."""
    packets: Counter[str] = Counter()

    def log(_client: paho.Client, _data: object, _level: int, text: str) -> None:
        way, _, rest = text.partition(" ")
        if way in ("Sending", "Received"):
            packets[f"{way} {rest.split(' ')[0].strip('(,')}"] += 1

    client.on_log = log
    return packets


class _Counted:
    """A paho client that counts its packets."""

    def __init__(self, port: int, name: str) -> None:
        self.inbox: queue.Queue[paho.MQTTMessage] = queue.Queue()
        self.ready = threading.Event()
        self.client = paho.Client(CallbackAPIVersion.VERSION2, name, protocol=paho.MQTTv5)
        self.packets = count_packets(self.client)
        self.client.on_message = lambda c, u, message: self.inbox.put(message)
        self.client.on_subscribe = lambda *_: self.ready.set()
        self.client.connect("127.0.0.1", port)


def request_response(port: int, timeout: float = 10.0) -> dict[str, int]:
    """Send one QoS 2 request with a response topic, answer it at QoS 2, and count."""
    asker, answerer = _Counted(port, "asker"), _Counted(port, "answerer")
    for each, topic in ((asker, "R"), (answerer, paper.TOPIC)):
        each.client.subscribe(topic, 2)
        each.client.loop_start()
        if not each.ready.wait(timeout):
            raise TimeoutError("the broker has not answered SUBSCRIBE")
    request = Properties(PacketTypes.PUBLISH)
    request.ResponseTopic, request.CorrelationData = "R", b"1"
    asked = asker.client.publish(paper.TOPIC, paper.PAYLOAD, 2, properties=request)
    got = answerer.inbox.get(timeout=timeout)
    asked_with: Any = got.properties
    response = Properties(PacketTypes.PUBLISH)
    response.CorrelationData = asked_with.CorrelationData
    answered = answerer.client.publish(asked_with.ResponseTopic, b"yes", 2, properties=response)
    asker.inbox.get(timeout=timeout)
    asked.wait_for_publish(timeout)
    answered.wait_for_publish(timeout)
    for each in (asker, answerer):
        each.client.disconnect()
        each.client.loop_stop()
    total = asker.packets + answerer.packets
    return {name: total[f"Sending {name}"] + total[f"Received {name}"] for name in _HANDSHAKE}


def asked_through_agent(port: int, subscribers: int) -> dict[str, int]:
    """Let an agent ask so many subscribers, and count the packets at the publisher."""
    with ExitStack() as stack:
        stack.enter_context(Agent("127.0.0.1", port))
        for i in range(subscribers):
            stack.enter_context(Answerer(f"s{i}", "127.0.0.1", port, paper.TOPIC))
        asker = stack.enter_context(Asker("asker", "127.0.0.1", port))
        packets = count_packets(asker.client)
        report = asker.ask(paper.TOPIC, paper.PAYLOAD, subscribers)
        if report["status"] != "complete":
            raise RuntimeError(f"not all of {subscribers} subscribers have answered: {report}")
        deadline = time.monotonic() + 10
        while not (packets["Received PUBCOMP"] and packets["Sending PUBACK"]) and time.monotonic() < deadline:
            time.sleep(0.01)
    return {
        name: sum(n for packet, n in packets.items() if packet.startswith(way) and packet.split()[1] in _COUNTED)
        for name, way in (("sent", "Sending"), ("received", "Received"))
    }


def overhead(topic: str = "R", correlation: bytes = bytes(8), responds: bool = True) -> dict[str, int]:
    """Count the bytes that request and response of MQTT 5 add to a query at QoS 2 by one subscriber."""
    query, response = Properties(PacketTypes.PUBLISH), Properties(PacketTypes.PUBLISH)
    query.ResponseTopic, query.CorrelationData = topic, correlation
    response.CorrelationData = correlation
    added = len(query.pack()) - len(Properties(PacketTypes.PUBLISH).pack())
    name = 2 + len(topic.encode())
    subscribe = 2 + 2 + len(Properties(PacketTypes.SUBSCRIBE).pack()) + name + 1
    publish = 2 + name + 2 + len(response.pack()) + len(paper.PAYLOAD)  # lengths below 128 have one byte
    return {"properties": 2 * added, "session": subscribe + 2 * (publish + 3 * 4) if responds else 0}
