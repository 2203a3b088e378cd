"""Clients that we have not written: paho-mqtt, mosquitto_pub and mosquitto_sub, `$e2e` included."""

from __future__ import annotations

import queue
import subprocess
import time

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

needs_mosquitto = pytest.mark.needs("mosquitto-clients")


class Paho:
    """A stock paho client whose events go into queues."""

    def __init__(self, port: int, client_id: str, clean: bool = True, **tls: object) -> None:
        self.inbox: queue.Queue[paho.MQTTMessage] = queue.Queue()
        self.events: queue.Queue[tuple[str, object]] = queue.Queue()
        self.client = paho.Client(CallbackAPIVersion.VERSION2, client_id, clean_session=clean)
        self.client.on_message = lambda c, u, m: self.inbox.put(m)
        self.client.on_connect = lambda c, u, f, code, pr: self.events.put(("connect", f.session_present))
        self.client.on_subscribe = lambda c, u, i, codes, pr: self.events.put(("suback", [x.value for x in codes]))
        self.client.on_publish = lambda c, u, i, code, pr: self.events.put(("published", i))
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()

    def event(self, name: str) -> object:
        got = self.events.get(timeout=5)
        assert got[0] == name
        return got[1]

    def stop(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def test_paho_all_qos(port: int) -> None:
    a, b = Paho(port, "paho-a"), Paho(port, "paho-b")
    a.event("connect"), b.event("connect")
    a.client.subscribe([("paho/#", 2), ("test/nosubscribe", 0)])
    assert a.event("suback") == [2, 0x80]
    for qos in (0, 1, 2):
        for i in range(50):
            b.client.publish(f"paho/{i}", b"%d" % i, qos)
        got = [a.inbox.get(timeout=5) for _ in range(50)]
        assert [(m.topic, m.qos) for m in got] == [(f"paho/{i}", qos) for i in range(50)]
    a.stop(), b.stop()


def test_paho_session_and_retained(port: int) -> None:
    a = Paho(port, "paho-s", clean=False)
    assert a.event("connect") is False
    a.client.subscribe("paho-s/#", 1)
    a.event("suback")
    a.stop()
    b = Paho(port, "paho-t")
    b.event("connect")
    b.client.publish("paho-s/q", b"queued", 1).wait_for_publish(5)
    b.client.publish("paho-s/r", b"kept", 1, retain=True).wait_for_publish(5)
    a = Paho(port, "paho-s", clean=False)
    assert a.event("connect") is True
    assert [a.inbox.get(timeout=5).payload for _ in range(2)] == [b"queued", b"kept"]
    a.client.subscribe("paho-s/+", 0)
    got = a.inbox.get(timeout=5)
    assert (got.payload, got.retain) == (b"kept", True)
    a.stop(), b.stop()


def test_paho_end_to_end(port: int) -> None:
    """A stock paho publisher learns by its ordinary QoS 2 handshake that two subscribers have the message."""
    a, b = Paho(port, "paho-e1"), Paho(port, "paho-e2")
    b.event("connect"), a.event("connect")
    a.client.subscribe("alarm", 1)
    a.event("suback")
    info = b.client.publish("$e2e/2/alarm", b"on", 2)
    assert a.inbox.get(timeout=5).topic == "alarm"
    time.sleep(0.2)
    assert not info.is_published()
    late = Paho(port, "paho-e3")
    late.event("connect")
    late.client.subscribe("bell", 2)
    late.event("suback")
    assert not info.is_published()
    a.client.subscribe("bell", 1)
    a.event("suback")
    b.client.publish("$e2e/2/bell", b"on", 2).wait_for_publish(5)
    assert late.inbox.get(timeout=5).payload == a.inbox.get(timeout=5).payload == b"on"
    for each in (a, b, late):
        each.stop()


@needs_mosquitto
@pytest.mark.parametrize("qos", ["0", "1", "2"])
def test_mosquitto_clients(port: int, qos: str) -> None:
    topic, where = f"cli/{qos}", ["-p", str(port)]
    more = ["-t", f"ready/{qos}", "-q", qos, "-C", "2", "-F", "%t %q %p", "-W", "20"]
    listener = subprocess.Popen(
        ["mosquitto_sub", *where, "-t", topic, *more],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        ready = ["-t", f"ready/{qos}", "-r", "-q", qos, "-m", "go"]
        subprocess.run(["mosquitto_pub", *where, *ready], check=True, timeout=10)
        assert listener.stdout is not None
        assert listener.stdout.readline() == f"ready/{qos} {qos} go\n"
        subprocess.run(["mosquitto_pub", *where, "-t", topic, "-q", qos, "-m", "hello"], check=True, timeout=10)
        out, _ = listener.communicate(timeout=20)
    finally:
        listener.kill()
        listener.wait()
    assert out == f"{topic} {qos} hello\n"


@needs_mosquitto
def test_mosquitto_pub_end_to_end(port: int) -> None:
    """mosquitto_pub ends when its message has arrived, and not before."""
    command = ["mosquitto_pub", "-p", str(port), "-t", "$e2e/1/cli-e2e", "-q", "2", "-m", "on"]
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(command, timeout=0.5, check=False)
    a = Paho(port, "cli-e2e")
    a.event("connect")
    a.client.subscribe("cli-e2e", 2)
    a.event("suback")
    assert subprocess.run(command, timeout=5, check=False).returncode == 0
    assert a.inbox.get(timeout=5).payload == b"on"
    a.stop()
