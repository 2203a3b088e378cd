"""The steps of Section 3.2 that say who goes on and who waits, tried one by one like those of `conformance_checks`."""

from __future__ import annotations

import asyncio
import time

from voicewire.emqtt import paper, trace
from voicewire.mqtt import packets as p
from voicewire.mqtt.client import Client
from voicewire.mqtt.decoder import Decoder
from voicewire.mqtt.raw_socket_client import subscribed
from voicewire.mqtt.sessions.outbox import PATIENCE
from voicewire_book.chapters.emqtt.conformance_checks import in_a_thread

__all__ = [
    "answers_by_qos", "asynchronous_goes_on", "fewer_than_named", "ids_on_request", "keeps_until_answered",
    "release_at_once", "sent_by_default", "suspended_until_answered", "to_all_at_once",
]  # fmt: skip

TRIES = 20


def to_all_at_once(port: int, n: int = 5) -> bool:
    """All subscribers have the message although none has answered (step 5)."""
    wires = [subscribed(port, "T", qos=3) for _ in range(n)]
    with subscribed(port, "$e2e/hello", qos=3) as pub:
        pub.send(p.Publish("T", b"x", 3, packet_id=1, waited=n))
        got = [wire.publication().payload for wire in wires]
        pub.quiet()
    for wire in wires:
        wire.close()
    return got == [b"x"] * n


def release_at_once(port: int) -> bool:
    """A subscriber's PUBREC is answered with PUBREL in less than our broker's patience, while others are silent (7).

    The least of several tries counts, so that a busy machine changes nothing; a broker that puts it off never answers
    before its patience is over.
    """
    least = float("inf")
    for _ in range(TRIES):
        with (
            subscribed(port, "T", qos=3) as quick,
            subscribed(port, "T", qos=3) as silent,
            subscribed(port, "$e2e/hello", qos=3) as pub,
        ):
            pub.send(p.Publish("T", b"x", 3, packet_id=1, waited=2))
            got = quick.publication()
            silent.publication()
            start = time.perf_counter()
            quick.send(p.Pubrec(got.packet_id, 3))
            quick.expect(p.Pubrel(got.packet_id, 3))
            least = min(least, time.perf_counter() - start)
    return least < PATIENCE


def fewer_than_named(port: int) -> bool:
    """One answer of two named subscribers is enough where one is waited for (Section 3.4)."""
    with (
        subscribed(port, "T", qos=3, client_id="a") as a,
        subscribed(port, "T", qos=3, client_id="b"),
        subscribed(port, "$e2e/hello", qos=3) as pub,
    ):
        pub.send(p.Publish("T", b"x", 3, packet_id=1, waited=1, subscribers=("a", "b")))
        pub.quiet()
        a.send(p.Pubrec(a.publication().packet_id, 3))
        return pub.receive() == p.Pubrec(1, 3)


def ids_on_request(port: int, names: tuple[str, ...] = ("a", "b", "c")) -> tuple[str, ...]:
    """Ask the broker, by our client, who is subscribed, while one more is there that cannot acknowledge (Section 3.2).
    """
    told: list[tuple[str, ...]] = []
    wires = [subscribed(port, "ids", qos=3, client_id=name) for name in names]

    async def attempt() -> bool:
        async with Client(port=port) as client:
            told.append(await client.subscribers("ids"))
        return True

    with subscribed(port, "ids", qos=0):
        in_a_thread(attempt)
    for wire in wires:
        wire.close()
    return told[0]


def answers_by_qos(port: int, who: str = trace.SUBSCRIBER) -> list[str]:
    """Tell what the receiver of a PUBLISH sends back first, at QoS 0 to 3 (Section 4)."""
    found = []
    for qos in range(4):
        steps = trace.one_message(port, qos).steps
        other = trace.BROKER if who == trace.SUBSCRIBER else trace.PUBLISHER
        said = [step.label.split()[0] for step in steps if (step.source, step.target) == (who, other)]
        found.append(said[0] if said else "")
    return found


def sent_by_default() -> list[int]:
    """Tell what our client sends if it is told topic and message only (Section 4)."""
    seen: list[p.Publish] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        decoder = Decoder()
        while data := await reader.read(4096):
            for packet in decoder.feed(data):
                if isinstance(packet, p.Connect):
                    writer.write(p.encode(p.Connack(False, 0)))
                elif isinstance(packet, p.Subscribe):
                    writer.write(p.encode(p.Suback(packet.packet_id, (3,))))
                elif isinstance(packet, p.Publish):
                    seen.append(packet)
        writer.close()

    async def attempt() -> bool:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server, Client(port=server.sockets[0].getsockname()[1], keep_alive=0) as client:
            await client.publish("T", b"x")
            task = await client.post("T", b"x", report=False)
            while len(seen) < 2 and not task.done():
                await asyncio.sleep(0.001)
            task.cancel()
        return len(seen) == 2

    if not in_a_thread(attempt):
        raise ConnectionError("our client has not sent both messages")
    plain, confirmed = seen
    return [plain.qos, int(plain.dup), int(plain.retain), confirmed.waited]


def suspended_until_answered(port: int) -> bool:
    """A synchronous publisher waits while its subscriber is silent, and goes on once it has answered (step 18)."""
    with subscribed(port, "T", qos=3) as sub:

        async def attempt() -> bool:
            async with Client(port=port) as client:
                waiting = asyncio.create_task(client.publish("T", b"x", wait_for=1))
                got = await asyncio.to_thread(sub.publication)
                await asyncio.sleep(0.05)
                silent = not waiting.done()
                sub.send(p.Pubrec(got.packet_id, 3))
                return silent and len((await waiting).acknowledged) == 1

        return in_a_thread(attempt)


def asynchronous_goes_on(port: int) -> bool:
    """A publisher that waits for nobody sends its next message while no subscriber has answered the first (step 4)."""
    with subscribed(port, "T", qos=3) as sub:

        async def attempt() -> bool:
            async with Client(port=port) as client:
                first, second = [await client.post("T", payload) for payload in (b"1", b"2")]
                got = [await asyncio.to_thread(sub.publication) for _ in range(2)]
                neither = not first.done() and not second.done()
                for packet in got:
                    sub.send(p.Pubrec(packet.packet_id, 3))
                told = await asyncio.gather(first, second)
                return neither and all(len(delivery.acknowledged) == 1 for delivery in told)

        return in_a_thread(attempt)


def keeps_until_answered(port: int) -> bool:
    """What the publisher would send again: PUBLISH until PUBREC, PUBREL until PUBCOMP, then nothing (1, 12, 13).

    Read from what our client keeps for a reconnection, before the answer and while the exchange goes on.
    """
    with subscribed(port, paper.TOPIC, qos=3) as sub:

        async def attempt() -> bool:
            async with Client(port=port) as client:
                waiting = asyncio.create_task(client.publish(paper.TOPIC, b"x", wait_for=1))
                got = await asyncio.to_thread(sub.publication)
                kept = [type(entry.packet) for entry in client._pending.values()]
                handled: list[type[p.Packet]] = []
                sub.send(p.Pubrec(got.packet_id, 3))
                while not waiting.done():
                    handled += [type(entry.packet) for entry in client._pending.values()]
                    await asyncio.sleep(0)
                return kept == [p.Publish] and p.Pubrel in handled and not client._pending

        return in_a_thread(attempt)
