"""Traces of one message through a broker, over sockets or in memory: what the sequence diagrams are drawn from."""

from __future__ import annotations

from dataclasses import dataclass, field

from voicewire.emqtt import paper
from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import Wire, Wired, connect

__all__ = [
    "BROKER",
    "PUBLISHER",
    "SUBSCRIBER",
    "Step",
    "Trace",
    "confirmed_by_emqtt",
    "confirmed_by_mqtt",
    "label",
    "one_message",
]

PUBLISHER, BROKER, SUBSCRIBER = "publisher", "broker", "subscriber"


@dataclass(frozen=True, slots=True)
class Step:
    """One packet on its way.

    Attributes
    ----------
    source, target : str
        ``publisher``, ``broker`` or ``subscriber``.
    label : str
        The packet's name, as `label` gives it.
    size : int
        Its bytes.

    Examples
    --------
    >>> Step(PUBLISHER, BROKER, "PUBACK", 4).size
    4
    """

    source: str
    target: str
    label: str
    size: int


@dataclass(slots=True)
class Trace:
    """The packets of one exchange, in the order in which they were seen at the clients.

    Attributes
    ----------
    steps : list of Step
        One a packet.

    Examples
    --------
    >>> len(Trace().steps)
    0
    """

    steps: list[Step] = field(default_factory=list)

    def out(self, who: str, wire: Wire, packet: p.Packet) -> None:
        """Send a packet, and note it.

        Parameters
        ----------
        who : str
            Whose connection it is.
        wire : Wire
            The connection.
        packet : Packet
            What is sent.
        """
        wire.send(packet)
        self.steps.append(Step(who, BROKER, label(packet), len(p.encode(packet))))

    def into(self, who: str, wire: Wire) -> p.Packet:
        """Receive a packet, and note it.

        Parameters
        ----------
        who : str
            Whose connection it is.
        wire : Wire
            The connection.

        Returns
        -------
        Packet

        Raises
        ------
        ConnectionError
            If the broker closes the connection.
        """
        packet = wire.receive()
        if packet is None:
            raise ConnectionError("the broker closed the connection")
        self.steps.append(Step(BROKER, who, label(packet), len(p.encode(packet))))
        return packet


def label(packet: p.Packet) -> str:
    """Return the packet's name, with the QoS and topic of a PUBLISH."""
    name = type(packet).__name__.upper()
    if isinstance(packet, p.Publish):
        return f"{name} {packet.topic} (QoS {packet.qos})"
    if isinstance(packet, p.Subscribe):
        return f"{name} {packet.topics[0][0]}"
    return name + (" (QoS 3)" if getattr(packet, "qos", 2) == 3 else "")


def one_message(port: int | Wired, qos: int) -> Trace:
    """Send one message to one subscriber through a broker.

    Parameters
    ----------
    port : int or MemoryBroker
        Of a broker of this package, on 127.0.0.1; or a broker in memory itself.
    qos : {0, 1, 2, 3}
        Quality of service of message and subscription; 3 is E-MQTT.

    Returns
    -------
    Trace
        The message's packets, on both connections.

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread, Config
    >>> with BrokerThread(Config(port=0)) as broker:
    ...     [step.label for step in one_message(broker.port, 0).steps]
    ['PUBLISH T (QoS 0)', 'PUBLISH T (QoS 0)']
    """
    trace = Trace()
    with connect(port, "pub") as pub, connect(port, "sub") as sub:
        sub.send(p.Subscribe(1, ((paper.TOPIC, qos),)))
        sub.receive()
        if qos == 3:
            pub.send(p.Subscribe(1, (("$e2e/hello", 3),)))
            pub.receive()
        packet = p.Publish(paper.TOPIC, paper.PAYLOAD, qos, packet_id=1 if qos else 0, waited=int(qos == 3))
        trace.out(PUBLISHER, pub, packet)
        if 0 < qos < 3:
            trace.into(PUBLISHER, pub)
        _subscriber(trace, sub)
        if qos == 3:
            trace.into(PUBLISHER, pub)
        if qos > 1:
            trace.out(PUBLISHER, pub, p.Pubrel(1, qos))
            trace.into(PUBLISHER, pub)
    return trace


def _subscriber(trace: Trace, sub: Wire) -> None:
    """Take one message, and complete its exchange."""
    got = trace.into(SUBSCRIBER, sub)
    if not isinstance(got, p.Publish):
        raise ConnectionError(f"wanted a PUBLISH, got {got}")
    if got.qos == 1:
        trace.out(SUBSCRIBER, sub, p.Puback(got.packet_id))
    elif got.qos:
        trace.out(SUBSCRIBER, sub, p.Pubrec(got.packet_id, got.qos))
        trace.into(SUBSCRIBER, sub)
        trace.out(SUBSCRIBER, sub, p.Pubcomp(got.packet_id, got.qos))


def confirmed_by_mqtt(port: int | Wired) -> Trace:
    """Trace the paper's Figure 1: a QoS 2 query on A, a QoS 2 response on B, both SUBSCRIBEs, no SUBACKs.

    Parameters
    ----------
    port : int or MemoryBroker
        Of a broker of this package, on 127.0.0.1; or a broker in memory itself.

    Returns
    -------
    Trace
        All packets of both connections.

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread, Config
    >>> with BrokerThread(Config(port=0)) as broker:
    ...     len(confirmed_by_mqtt(broker.port).steps)
    18
    """
    trace = Trace()
    with connect(port, "pub") as pub, connect(port, "sub") as sub:
        trace.out(SUBSCRIBER, sub, p.Subscribe(1, (("A", 2),)))
        sub.receive()
        trace.out(PUBLISHER, pub, p.Subscribe(1, (("B", 2),)))
        pub.receive()
        trace.out(PUBLISHER, pub, p.Publish("A", b"query", 2, packet_id=1))
        trace.into(PUBLISHER, pub)
        trace.out(PUBLISHER, pub, p.Pubrel(1))
        trace.into(PUBLISHER, pub)
        _subscriber(trace, sub)
        trace.out(SUBSCRIBER, sub, p.Publish("B", b"response", 2, packet_id=1))
        trace.into(SUBSCRIBER, sub)
        trace.out(SUBSCRIBER, sub, p.Pubrel(1))
        trace.into(SUBSCRIBER, sub)
        got = trace.into(PUBLISHER, pub)
        packet_id = got.packet_id if isinstance(got, p.Publish) else 0
        trace.out(PUBLISHER, pub, p.Pubrec(packet_id))
        trace.into(PUBLISHER, pub)
        trace.out(PUBLISHER, pub, p.Pubcomp(packet_id))
    return trace


def confirmed_by_emqtt(port: int | Wired) -> Trace:
    """Trace the paper's Figure 3: the same with QoS 3; one SUBSCRIBE.

    Parameters
    ----------
    port : int or MemoryBroker
        Of a broker of this package, on 127.0.0.1; or a broker in memory itself.

    Returns
    -------
    Trace
        All packets of both connections.

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread, Config
    >>> with BrokerThread(Config(port=0)) as broker:
    ...     len(confirmed_by_emqtt(broker.port).steps)
    9
    """
    trace = one_message(port, 3)
    trace.steps.insert(
        0, Step(SUBSCRIBER, BROKER, f"SUBSCRIBE {paper.TOPIC}", len(p.encode(p.Subscribe(1, (("T", 3),)))))
    )
    return trace
