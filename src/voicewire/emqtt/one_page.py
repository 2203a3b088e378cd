"""Publisher, broker and subscribers in one program: every packet between them, taken off the lines as bytes."""

from __future__ import annotations

from collections.abc import Collection

from voicewire._kit import checks
from voicewire.emqtt import paper
from voicewire.emqtt._party import HELLO, Party, settle
from voicewire.emqtt.trace import PUBLISHER, SUBSCRIBER, Step, Trace, label
from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config
from voicewire.mqtt.memory import MemoryBroker

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

    Parameters
    ----------
    qos : {0, 1, 2, 3}
        Quality of service of message and subscriptions; 3 is E-MQTT.
    off : collection of int
        Which subscribers, from 1, are switched off when the message is sent.
    back : bool
        Switch them on again afterwards.
    subscribers : int
        How many there are, 1 to 4.
    waited : int, optional
        At QoS 3, how many subscribers the publisher waits for; all if left out.

    Returns
    -------
    Trace
        The packets from the PUBLISH on, on all lines, read off their bytes, as the clients sent and took them.

    Raises
    ------
    ValueError
        If `qos`, `off`, `subscribers` or `waited` is none of these.

    Examples
    --------
    >>> [f"{step.source} {step.label}" for step in exchange(1, off=[2]).steps]
    ['publisher PUBLISH T (QoS 1)', 'broker PUBACK', 'broker PUBLISH T (QoS 1)', 'subscriber 1 PUBACK']
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
