"""Publisher, broker and subscribers in one program: every packet between them, taken off the lines as bytes."""

from __future__ import annotations

from collections.abc import Collection

from voicewire._kit import checks
from voicewire.emqtt import paper
from voicewire.emqtt.trace import PUBLISHER, SUBSCRIBER, Step, Trace, label
from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config
from voicewire.mqtt.in_memory_broker import MemoryBroker
from voicewire_book.chapters.emqtt._memory_client import HELLO, Party, settle

__all__ = ["exchange"]


@checks.takes(
    qos=checks.whole(0, 3), off=checks.each(checks.whole(1), least=0), back=checks.a(bool),
    subscribers=checks.whole(1, 4), waited=checks.maybe(checks.whole()),
)  # fmt: skip
def exchange(
    qos: int, off: Collection[int] = (), back: bool = False, subscribers: int = 2, waited: int | None = None
) -> Trace:
    """Send one message to subscribers of one topic, through a broker in this program.

    All have sessions that outlive their connections, and subscribe at the message's QoS.
    """
    if wrong := set(off) - set(range(1, subscribers + 1)):
        raise ValueError(f"there is no subscriber {min(wrong)} to switch off: they are 1 to {subscribers}")
    if waited is None:
        waited = subscribers
    elif waited not in range(subscribers + 1):
        raise ValueError(f"the publisher can wait for 0 to {subscribers} subscribers, not {waited}")
    trace = Trace()
    with MemoryBroker(Config(sys_interval=0)) as broker:

        def seen(source: str, target: str, packet: p.Packet) -> None:
            trace.steps.append(Step(source, target, label(packet), len(p.encode(packet))))

        publisher = Party(PUBLISHER, broker, seen, ((HELLO, 3),) if qos == 3 else ())
        others = [Party(f"{SUBSCRIBER} {n}", broker, seen, ((paper.TOPIC, qos),)) for n in range(1, subscribers + 1)]
        everybody = [publisher, *others]
        for client in everybody:
            client.connect()
        settle(broker, everybody)
        away = [client for n, client in enumerate(others, 1) if n in off]
        for client in away:
            client.disconnect()
        broker.run()
        trace.steps.clear()
        message = p.Publish(
            paper.TOPIC, paper.PAYLOAD, qos, packet_id=1 if qos else 0, waited=waited if qos == 3 else 0
        )
        publisher.send(message)
        settle(broker, everybody)
        if back:
            for client in away:
                client.connect()
            settle(broker, everybody)
    return trace
