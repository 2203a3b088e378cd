"""What the paper says about who sends what when, tried on a live broker: each function returns whether it holds."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from voicewire.mqtt import packets as p
from voicewire.mqtt.client import Client
from voicewire.mqtt.errors import MalformedError, NotAcknowledgedError
from voicewire.mqtt.raw_socket_client import Wire, connect, subscribed

__all__ = [
    "emqtt_pubrec_last",
    "exactly_once",
    "first_only",
    "mqtt_pubrec_first",
    "named_only",
    "same_four_packets",
    "timer_ends_the_wait",
    "too_many_is_an_error",
    "with_the_kth",
]


def _publisher(port: int) -> Wire:
    return subscribed(port, "$e2e/hello", qos=3)


def _answer(wire: Wire) -> None:
    """Take a message and complete its exchange."""
    got = wire.publication()
    wire.send(p.Pubrec(got.packet_id, got.qos))
    wire.expect(p.Pubrel(got.packet_id, got.qos))
    wire.send(p.Pubcomp(got.packet_id, got.qos))


def _exchanged(wire: Wire) -> list[type[p.Packet] | None]:
    """Answer whatever comes as MQTT asks a receiver to, until nothing more does; returns the types of all packets."""
    kinds: list[type[p.Packet] | None] = []
    answers: dict[type[p.Packet], type[p.Pubrec | p.Pubcomp]] = {p.Publish: p.Pubrec, p.Pubrel: p.Pubcomp}
    packet = wire.receive()
    while packet is not None and packet != p.Pingresp():
        kinds.append(type(packet))
        if isinstance(packet, p.Publish | p.Pubrel):
            answer = answers[type(packet)](packet.packet_id, packet.qos)
            wire.send(answer)
            kinds.append(type(answer))
        if isinstance(packet, p.Pubrel):
            wire.send(p.Pingreq())  # whatever is still due comes before its answer
        packet = wire.receive()
    return kinds if packet else [*kinds, None]


def mqtt_pubrec_first(port: int) -> bool:
    """At QoS 2 the publisher's PUBREC comes although the subscriber has answered nothing (Figure 1)."""
    with subscribed(port, "T", qos=2), connect(port) as pub:
        pub.send(p.Publish("T", b"x", 2, packet_id=1))
        return pub.receive() == p.Pubrec(1)


def emqtt_pubrec_last(port: int) -> bool:
    """At QoS 3 it comes after the subscriber's, not before, in both modes (Figure 3)."""
    with subscribed(port, "T", qos=3) as sub, _publisher(port) as pub:
        for packet_id, waited in enumerate((0, 1), 1):
            pub.send(p.Publish("T", b"x", 3, packet_id=packet_id, waited=waited))
            pub.quiet()
            _answer(sub)
            if pub.receive() != p.Pubrec(packet_id, 3):
                return False
        return True


def first_only(port: int) -> bool:
    """Asynchronous mode: the first acknowledgement is forwarded, the others are not (Section 3.2)."""
    with subscribed(port, "T", qos=3) as a, subscribed(port, "T", qos=3) as b, _publisher(port) as pub:
        pub.send(p.Publish("T", b"x", 3, packet_id=1, waited=0))
        _answer(b)
        first = pub.receive() == p.Pubrec(1, 3)
        _answer(a)
        pub.quiet()
        return first


def with_the_kth(port: int, n: int = 5) -> bool:
    """Synchronous mode: one PUBREC, with the k-th acknowledgement, for each k from 1 to n (Section 3.2)."""
    for k in range(1, n + 1):
        wires = [subscribed(port, "T", qos=3) for _ in range(n)]
        with _publisher(port) as pub:
            pub.send(p.Publish("T", b"x", 3, packet_id=1, waited=k))
            for i, wire in enumerate(wires, 1):
                pub.quiet()
                _answer(wire)
                wire.quiet()
                if i == k and pub.receive() != p.Pubrec(1, 3):
                    return False
            pub.quiet()
        for wire in wires:
            wire.close()
    return True


def named_only(port: int) -> bool:
    """With ids, others don't count (Section 3.4)."""
    with (
        subscribed(port, "T", qos=3, client_id="other") as a,
        subscribed(port, "T", qos=3, client_id="named") as b,
        _publisher(port) as pub,
    ):
        pub.send(p.Publish("T", b"x", 3, packet_id=1, waited=1, subscribers=("named",)))
        _answer(a)
        pub.quiet()
        _answer(b)
        return pub.receive() == p.Pubrec(1, 3)


def exactly_once(port: int) -> bool:
    """A repeated QoS 3 PUBLISH is not delivered again (Section 3.2)."""
    with subscribed(port, "T", qos=3) as sub, _publisher(port) as pub:
        for dup in (False, True):
            pub.send(p.Publish("T", b"x", 3, dup=dup, packet_id=1, waited=1))
        _answer(sub)
        sub.quiet()
        return pub.receive() == p.Pubrec(1, 3)


def same_four_packets(port: int) -> bool:
    """Broker and subscriber exchange the same four packet types at QoS 2 and QoS 3, and no more (Section 3.2)."""
    kinds = []
    for qos in (2, 3):
        with subscribed(port, "T", qos=qos) as sub, _publisher(port) as pub:
            pub.send(p.Publish("T", b"x", qos, packet_id=1, waited=int(qos == 3)))
            kinds.append(_exchanged(sub))
    return kinds[0] == kinds[1] and len(kinds[0]) == 4


def in_a_thread(make: Callable[[], Coroutine[Any, Any, bool]]) -> bool:
    """Run it in a thread of its own: a notebook has a running loop already."""
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(make())))
    thread.start()
    thread.join()
    return found == [True]


def _fails(port: int, error: type[Exception], make: Callable[[Client], Awaitable[object]], after: float = 0) -> bool:
    """Say whether it fails so, and not before `after` seconds."""

    async def attempt() -> bool:
        async with Client(port=port) as client:
            start = time.monotonic()
            try:
                await make(client)
            except error:
                return time.monotonic() - start >= after
        return False

    return in_a_thread(attempt)


def too_many_is_an_error(port: int) -> bool:
    """Waiting for more than are named is refused by the publisher (Section 3.4)."""
    return _fails(port, MalformedError, lambda c: c.publish("T", b"x", wait_for=2, subscribers=["a"]))


def timer_ends_the_wait(port: int) -> bool:
    """A publisher whose subscriber stays silent leaves its wait when its time is over, not before (Section 3.2)."""
    with subscribed(port, "T", qos=3):
        limit = 0.1
        return _fails(port, NotAcknowledgedError, lambda c: c.publish("T", b"x", wait_for=1, timeout=limit), limit)
