"""Who keeps what when a connection is cut in the middle of an exchange, and what ends unanswered (Section 3.2)."""

from __future__ import annotations

import asyncio
import socket
import threading

from voicewire.emqtt import paper
from voicewire.mqtt import packets as p
from voicewire.mqtt.client import Client
from voicewire.mqtt.decoder import Decoder
from voicewire.mqtt.raw_socket_client import Wire, connect, subscribed
from voicewire_book.chapters.emqtt.conformance_checks import in_a_thread

__all__ = [
    "ABSENT", "CUTS", "broker_sends_again", "delivered", "publication_ends", "pubrec_counts_once", "subscriber_keeps",
    "taken_later",
]  # fmt: skip

CUTS = ("away", "unread", "before PUBREC", "after PUBREC", "before PUBCOMP")
"""Where the subscriber's connection is cut: before PUBLISH is sent, before it is read, and around its answers."""
ABSENT = ("away", "not subscribed yet")
"""Why a subscriber without a kept session has no message that QoS 2 could hold for it."""


def publication_ends(port: int, qos: int, silent: bool) -> bool:
    """Say whether a publication that waits for nobody comes to its PUBCOMP although no subscriber answers.

    The paper's plain form of the packet is sent, without the report that this book adds.
    """
    topic = f"silent/{qos}" if silent else f"nobody/{qos}"
    wires = [subscribed(port, topic, qos=qos)] if silent else []
    with subscribed(port, "$e2e/hello", qos=3) as pub:
        pub.send(p.Publish(topic, paper.PAYLOAD, qos, packet_id=1), p.Pingreq())
        ended = pub.receive() == p.Pubrec(1, qos)
        if ended:
            pub.expect(p.Pingresp())
            pub.send(p.Pubrel(1, qos))
            pub.expect(p.Pubcomp(1, qos))
    for wire in wires:
        wire.close()
    return ended


def delivered(port: int, qos: int) -> list[int]:
    """Count how often one message reaches an application whose connection is cut, once for each of `CUTS`.

    The subscriber's session is kept, it comes back, and it does what MQTT asks of a receiver. At QoS 1 PUBACK stands in
    the place of PUBREC, and nothing follows it.
    """
    return [_Receiver(port, f"kept-{qos}-{i}", qos).interrupted(cut) for i, cut in enumerate(CUTS)]


def taken_later(port: int, qos: int) -> list[int]:
    """Count how often a message is taken by a subscriber that was absent when it was published, once for each `ABSENT`.

    The publisher waits for nobody, keeps its session, and is cut; once the subscriber is there it comes back, and sends
    again what it has no PUBREC for.
    """
    return [_taken_later(port, qos, case) for case in ABSENT]


def _taken_later(port: int, qos: int, case: str) -> int:
    topic = f"later/{qos}/{case}"
    name = topic.replace("/", "-")
    hello = p.Subscribe(9, (("$e2e/hello", qos),))
    if case == "away":
        with subscribed(port, topic, qos=qos, client_id=f"{name}-sub") as sub:
            sub.send(p.Disconnect())
            sub.closed()
    with connect(port, name, clean=False) as pub:
        pub.send(hello, p.Publish(topic, paper.PAYLOAD, qos, packet_id=1), p.Pingreq())
        answered = p.Pubrec(1, qos) in _until_ping(pub)
        if answered:
            pub.send(p.Pubrel(1, qos), p.Pingreq())
            assert p.Pubcomp(1, qos) in _until_ping(pub)
    receiver = _Receiver(port, topic, qos)
    with subscribed(port, topic, qos=qos) as sub, connect(port, name, clean=False, present=True) as pub:
        again = [] if answered else [p.Publish(topic, paper.PAYLOAD, qos, dup=True, packet_id=1)]
        pub.send(hello, *again, p.Pingreq())
        _until_ping(pub)
        receiver._rest(sub)
    return receiver.taken


def pubrec_counts_once(port: int) -> list[bool]:
    """Tell whether a repeated PUBREC leaves the publisher waiting for a second subscriber (Section 3.4)."""
    topic = "counts-once"
    told = []
    with subscribed(port, topic, qos=3) as other, subscribed(port, "$e2e/hello", qos=3) as pub:
        wire = _anew(port, topic, 3)
        pub.send(p.Publish(topic, paper.PAYLOAD, 3, packet_id=1, waited=2))
        answer = p.Pubrec(wire.publication().packet_id, 3)
        for answers in ((answer, answer), (answer,)):
            wire.send(*answers, p.Pingreq())
            _until_ping(wire)
            wire.close()
            pub.send(p.Pingreq())
            told.append(p.Pubrec(1, 3) in _until_ping(pub))
            wire = connect(port, topic, clean=False, present=True)
        wire.close()
        other.send(p.Pubrec(other.publication().packet_id, 3), p.Pingreq())
        _until_ping(other)
        pub.send(p.Pingreq())
        told.append(p.Pubrec(1, 3) in _until_ping(pub))
    return told


def _until_ping(wire: Wire) -> list[p.Packet | None]:
    """Everything that has come before the answer to a ping that was sent."""
    return list(iter(wire.receive, p.Pingresp()))


def _anew(port: int, name: str, qos: int) -> Wire:
    """Subscribe with a session that is kept, and is new although one of that name may have been kept before."""
    with connect(port, name) as before:
        before.send(p.Disconnect())
        before.closed()
    return subscribed(port, name, qos=qos, client_id=name, clean=False)


class _Receiver:
    """A subscriber with a kept session; `taken` and `held` are what its application and its memory have."""

    def __init__(self, port: int, name: str, qos: int) -> None:
        self.port, self.name, self.qos = port, name, qos
        self.taken = 0
        self.held: set[int] = set()

    def interrupted(self, cut: str) -> int:
        """Take part in one publication with a cut in it; returns how often the message was taken."""
        wire = _anew(self.port, self.name, self.qos)
        if cut == "away":
            wire.send(p.Disconnect())
            wire.closed()
        with subscribed(self.port, "$e2e/hello", qos=3) as pub:
            number = 1 if self.qos else 0
            pub.send(p.Publish(self.name, paper.PAYLOAD, self.qos, packet_id=number))
            if cut not in ("away", "unread"):
                self._until(wire, cut)
            wire.close()
            with connect(self.port, self.name, clean=False, present=True) as again:
                self._rest(again)
        return self.taken

    def _until(self, wire: Wire, cut: str) -> None:
        got = wire.publication()
        self._take(got)
        if self.qos and cut != "before PUBREC":
            self._answer(wire, got)
            if self.qos > 1 and cut == "before PUBCOMP":
                wire.expect(p.Pubrel(got.packet_id, self.qos))
                self.held.discard(got.packet_id)

    def _take(self, packet: p.Publish) -> None:
        if packet.packet_id not in self.held:
            self.taken += 1
        if packet.qos > 1:
            self.held.add(packet.packet_id)

    def _answer(self, wire: Wire, packet: p.Publish) -> None:
        wire.send(p.Puback(packet.packet_id) if packet.qos == 1 else p.Pubrec(packet.packet_id, packet.qos))

    def _rest(self, wire: Wire) -> None:
        """Answer whatever comes, until two pings in a row bring nothing."""
        idle = 0
        while idle < 2:
            wire.send(p.Pingreq())
            idle += 1
            while (packet := wire.receive()) != p.Pingresp():
                idle = 0
                if isinstance(packet, p.Publish):
                    self._take(packet)
                    if packet.qos:
                        self._answer(wire, packet)
                elif isinstance(packet, p.Pubrel):
                    self.held.discard(packet.packet_id)
                    wire.send(p.Pubcomp(packet.packet_id, packet.qos))
                else:
                    raise ConnectionError(f"a subscriber does not get {packet}")


def broker_sends_again(port: int) -> list[str]:
    """Tell what a subscriber gets first when it comes back after PUBLISH, PUBREC and PUBCOMP (steps 7 and 17)."""
    name = "comes-back"
    found = []
    with subscribed(port, "$e2e/hello", qos=3) as pub:
        wire = _anew(port, name, 3)
        pub.send(p.Publish(name, paper.PAYLOAD, 3, packet_id=1, waited=1))
        number = wire.publication().packet_id
        for answer in (p.Pubrec(number, 3), p.Pubcomp(number, 3), None):
            wire.close()
            wire = connect(port, name, clean=False, present=True)
            wire.send(p.Pingreq())
            packet = wire.receive()
            found.append("" if packet == p.Pingresp() else type(packet).__name__.upper())
            if answer is not None:
                wire.expect(p.Pingresp())
                wire.send(answer)
                if isinstance(answer, p.Pubrec):
                    wire.expect(p.Pubrel(number, 3))
                else:
                    wire.quiet()
        wire.close()
    return found


def subscriber_keeps() -> list[int]:
    """Count the messages that our client has taken after PUBLISH, the same again, PUBREL, and a new one of that id.

    The other end is a broker of a few lines that repeats a PUBLISH of QoS 3 before it sends PUBREL (steps 6, 14, 15).
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        step, stepped = threading.Semaphore(0), threading.Semaphore(0)
        broker = threading.Thread(target=_repeats, args=(server, step, stepped), daemon=True)
        broker.start()
        taken: list[int] = []

        async def attempt() -> bool:
            async with Client(port=port, keep_alive=0) as client:
                await client.subscribe("T", qos=3)
                for _ in range(4):
                    step.release()
                    await asyncio.to_thread(stepped.acquire)
                    taken.append(client._inbox.qsize())
                step.release()
            return True

        in_a_thread(attempt)
        broker.join()
    return taken


def _repeats(server: socket.socket, step: threading.Semaphore, stepped: threading.Semaphore) -> None:
    """The other end of `subscriber_keeps`: one packet for each step, and wait for its answer."""
    with server.accept()[0] as client:
        decoder = Decoder()

        def answered() -> None:
            while not decoder.feed(client.recv(4096)):
                pass

        packet = p.Publish("T", paper.PAYLOAD, 3, packet_id=1)
        again = p.Publish("T", paper.PAYLOAD, 3, dup=True, packet_id=1)
        answered()
        client.sendall(p.encode(p.Connack(False, 0)))
        answered()
        client.sendall(p.encode(p.Suback(1, (3,))))
        for sent in (packet, again, p.Pubrel(1, 3), packet):
            step.acquire()
            client.sendall(p.encode(sent))
            answered()
            stepped.release()
        step.acquire()  # a connection that ends now would count as one thing more to take
