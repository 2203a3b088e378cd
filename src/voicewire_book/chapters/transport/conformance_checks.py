"""What the paper says of the protocols, tried on real sockets and on a broker that runs here (loopback, no privileges).

Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``. Each function runs for well under a second.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import logging
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config
from voicewire.mqtt.raw_socket_client import TIMEOUT, Wire, connect, subscribed
from voicewire.mqtt.serving.broker_thread import BrokerThread
from voicewire.transport import paper
from voicewire.transport.mqtt_dissector import packets
from voicewire_book.chapters.transport import broker_store_contents

__all__ = [
    "DIALOGUES", "by_address", "by_port", "copies_after_cut", "found_at_rest", "from_each", "hidden_by_tcp",
    "passwords", "publishes_unanswered", "qualities", "topics", "unheard",
]  # fmt: skip

DIALOGUES = {0: ("PUBLISH",), 1: ("PUBLISH", "PUBACK"), 2: ("PUBLISH", "PUBREC", "PUBREL", "PUBCOMP")}
"""The packets that deliver one message, by quality of service: in turn the sender's and the receiver's."""


def by_port(messages: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Send each message to a port of its own on one address, and return what the listener there received."""
    servers = [socket.create_server(("127.0.0.1", 0)) for _ in messages]
    try:
        for server, message in reversed(list(zip(servers, messages, strict=True))):
            with socket.create_connection(server.getsockname(), TIMEOUT) as client:
                client.sendall(message)
        return tuple(_received(server) for server in servers)
    finally:
        for server in servers:
            server.close()


def by_address(messages: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Send each message to one port of an address of its own, and return the answers: the messages turned round."""
    servers = [socket.create_server(("127.0.0.1", 0))]
    port, answers = servers[0].getsockname()[1], []
    try:
        servers += [socket.create_server((f"127.0.0.{i}", port)) for i in range(2, len(messages) + 1)]
        for server, message in zip(servers, messages, strict=True):
            with socket.create_connection(server.getsockname(), TIMEOUT) as client:
                client.sendall(message)
                client.shutdown(socket.SHUT_WR)
                server.settimeout(TIMEOUT)
                connection, _ = server.accept()
                with connection:
                    connection.settimeout(TIMEOUT)
                    connection.sendall(_whole(connection)[::-1])
                answers.append(_whole(client))
        return tuple(answers)
    finally:
        for server in servers:
            server.close()


def _whole(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(4096), b""))


def _received(server: socket.socket) -> bytes:
    server.settimeout(TIMEOUT)
    connection, _ = server.accept()
    with connection:
        connection.settimeout(TIMEOUT)
        return _whole(connection)


def hidden_by_tcp(message: bytes) -> bool:
    """Say whether somebody on the way of a TCP connection is kept from reading a message.

    Notes
    -----
    The message goes through a relay, which looks at what it passes on: it sees what a capture would.
    """
    with socket.create_server(("127.0.0.1", 0)) as receiver, socket.create_server(("127.0.0.1", 0)) as relay:
        with socket.create_connection(relay.getsockname(), TIMEOUT) as sender:
            sender.sendall(message)
        seen = _received(relay)
        with socket.create_connection(receiver.getsockname(), TIMEOUT) as onward:
            onward.sendall(seen)
        if _received(receiver) != message:
            raise ValueError("the relay did not pass the message on")
        return message not in seen


def topics(wanted: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Publish once on each topic that anybody wants, and return on which topics each subscriber was served."""
    known = sorted({topic for one in wanted for topic in one})
    with BrokerThread(Config(port=0)) as broker:
        everyone = [subscribed(broker.port, *one, "end") for one in wanted]
        publisher = connect(broker.port)
        for topic in (*known, "end"):
            publisher.send(p.Publish(topic, b"x"))
        served = tuple(tuple(sorted(got.topic for got in _publications(one))) for one in everyone)
        for wire in (*everyone, publisher):
            wire.close()
    return served


def _publications(subscriber: Wire) -> Iterator[p.Publish]:
    while (got := subscriber.publication()).topic != "end":
        yield got


def from_each(publishers: int, subscribers: int) -> list[int]:
    """Publish one message from each of some publishers, and count what each subscriber gets of each."""
    with BrokerThread(Config(port=0)) as broker:
        everyone = [subscribed(broker.port, paper.TOPIC, "end") for _ in range(subscribers)]
        for number in range(publishers):
            with connect(broker.port, f"publisher {number}") as publisher:
                publisher.send(p.Publish(paper.TOPIC, bytes([number]), 1, packet_id=1))
                publisher.expect(p.Puback(1))
        with connect(broker.port) as last:
            last.send(p.Publish("end", b"x", 1, packet_id=1))
            last.expect(p.Puback(1))
        counts = []
        for one in everyone:
            got = [publication.payload[0] for publication in _publications(one)]
            counts += [got.count(number) for number in range(publishers)]
            one.close()
    return counts


def qualities() -> str:
    """Return the qualities of service that a stock client (paho) is willing to publish with."""
    client = paho.Client(CallbackAPIVersion.VERSION2)
    accepted = []
    for qos in range(4):
        try:
            client.publish(paper.TOPIC, b"x", qos)
        except ValueError:
            continue
        accepted.append(str(qos))
    return ", ".join(accepted)


def publishes_unanswered(wait: float = 0.5) -> int:
    """Count how often a stock client (paho) sends a message at QoS 1 that is never acknowledged, on one connection."""
    client = paho.Client(CallbackAPIVersion.VERSION2)

    def publish(*_: object) -> None:
        client.publish(paper.TOPIC, b"again?", 1)

    client.on_connect = publish
    seen = b""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(TIMEOUT)
        client.connect_async("127.0.0.1", server.getsockname()[1])
        client.loop_start()
        connection, _ = server.accept()
        with connection, contextlib.suppress(TimeoutError):
            connection.settimeout(TIMEOUT)
            seen += connection.recv(4096)  # CONNECT
            connection.sendall(p.encode(p.Connack(False, 0)))
            while more := connection.recv(4096):
                seen += more
                connection.settimeout(wait)
        client.disconnect()
        client.loop_stop()
    return sum(packet.name == "PUBLISH" for packet in packets(seen))


def copies_after_cut(qos: int, lost: str) -> int:
    """Count what a subscriber gets of one message whose publisher is cut off at one of the packets that deliver it.

    Notes
    -----
    A packet of the publisher's is cut within, one of the broker's is not seen by the publisher's program. The publisher
    comes back to its session and repeats what was not answered, as MQTT 3.1.1 asks for in section 4.4; at QoS 0 it
    repeats nothing.
    """
    dialogue = DIALOGUES[qos]
    at = dialogue.index(lost)
    resumed = at - at % 2 if qos else 1
    with BrokerThread(Config(port=0)) as broker:
        subscriber = subscribed(broker.port, paper.TOPIC, qos=qos)
        with connect(broker.port, "publisher", clean=False) as cut:
            for step in range(at + 1):
                _take(cut, step, qos, whole=step < at)
        again = connect(broker.port, "publisher", clean=False, present=True)
        for step in range(resumed, len(dialogue)):
            _take(again, step, qos, dup=True)
        again.send(p.Publish(paper.TOPIC, b"end"))
        copies = 0
        while (got := subscriber.publication()).payload != b"end":
            copies += 1
            if qos:
                subscriber.send(p.Puback(got.packet_id) if qos == 1 else p.Pubrec(got.packet_id))
        subscriber.close()
        again.close()
    return copies


def _take(publisher: Wire, step: int, qos: int, dup: bool = False, whole: bool = True) -> None:
    """Take one step of a delivery: even ones are the publisher's packets, odd ones the broker's answers."""
    if step % 2:
        publisher.receive()
        return
    message = p.Publish(paper.TOPIC, b"once?", qos, dup=dup, packet_id=min(qos, 1))
    sent = p.encode(p.Pubrel(1) if step else message)
    publisher.send(sent if whole else sent[:-1])


def passwords(secret: bytes) -> tuple[bool, bool]:
    """Say whether a broker with passwords refuses a wrong one, and whether the right one crosses the line readable."""
    with tempfile.TemporaryDirectory(prefix="voicewire-") as folder:
        users = Path(folder) / "users"
        salt = b"only here"
        kept = (base64.b64encode(part).decode() for part in (salt, hashlib.sha512(secret + salt).digest()))
        users.write_text(f"sensor:$6${'$'.join(kept)}\n", encoding="utf-8")
        with unheard(), BrokerThread(Config(port=0, password_file=users)) as broker:
            sent = p.encode(p.Connect("right", username="sensor", password=secret))
            codes = []
            for hello in (sent, p.encode(p.Connect("wrong", username="sensor", password=secret + b"!"))):
                with socket.create_connection(("127.0.0.1", broker.port), TIMEOUT) as line:
                    line.settimeout(TIMEOUT)
                    line.sendall(hello)
                    codes.append(line.recv(4)[3])
    if codes[0]:
        raise ValueError(f"the right password was refused with code {codes[0]}")
    return codes[1] != 0, secret in sent


@contextlib.contextmanager
def unheard() -> Iterator[None]:
    """Keep the broker from telling that it refuses or drops something, where it is meant to."""
    log = logging.getLogger("voicewire.broker")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def found_at_rest(message: bytes, plaintext: bytes) -> bool:
    """Say whether a plaintext stands in the files of a broker's store while a message waits there for its subscriber.
    """
    return broker_store_contents.seen(message, {"plaintext": plaintext})["plaintext"]
