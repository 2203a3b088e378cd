"""MQTT 5 request and response with a real client, counted packet by packet (paho-mqtt on mosquitto)."""

from __future__ import annotations

import queue
import threading
from collections import Counter
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from voicewire.emqtt import paper


class _Counted:
    """A paho client that counts what its own log says it sent and received."""

    def __init__(self, port: int, name: str) -> None:
        self.packets: Counter[str] = Counter()
        self.inbox: queue.Queue[paho.MQTTMessage] = queue.Queue()
        self.ready = threading.Event()
        self.client = paho.Client(CallbackAPIVersion.VERSION2, name, protocol=paho.MQTTv5)
        self.client.on_log = lambda c, u, level, text: self._log(text)
        self.client.on_message = lambda c, u, message: self.inbox.put(message)
        self.client.on_subscribe = lambda *_: self.ready.set()
        self.client.connect("127.0.0.1", port)

    def _log(self, text: str) -> None:
        way, _, rest = text.partition(" ")
        if way in ("Sending", "Received"):
            self.packets[rest.split(" ")[0].strip("(,")] += 1


def request_response(port: int, timeout: float = 10.0) -> dict[str, int]:
    """Send one QoS 2 request with a response topic, answer it at QoS 2, and count.

    Parameters
    ----------
    port : int
        A broker that speaks MQTT 5.
    timeout : float
        Seconds for each step.

    Returns
    -------
    dict
        Packets by type on both clients' connections, CONNECT, SUBSCRIBE and their answers left out.
    """
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
    return {name: total[name] for name in ("PUBLISH", "PUBREC", "PUBREL", "PUBCOMP")}
