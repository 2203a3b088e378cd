"""One access point for all machines: whatever crosses the air waits for whatever else does.

The paper's laptops are all on one wireless network (sections III.A and III.B). A frame from one of them to another
crosses the air twice, to the access point and from it; over a broker it does so four times. Here is a model to read,
and a run over real sockets whose relays share one rate. Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

from voicewire._kit import checks
from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config
from voicewire.mqtt.raw_socket_client import TIMEOUT, connect, subscribed
from voicewire.mqtt.serving.broker_thread import BrokerThread
from voicewire.testbed.tcp_proxy import Air, DelayProxy
from voicewire.transport import paper

__all__ = ["CROSSINGS", "LEGS", "arrivals", "counted", "relayed"]

CROSSINGS = 2
"""How often a frame between two stations of one access point crosses the air."""
LEGS = {"TCP": 1, "MQTT": 2}
"""Ways from station to station that a message takes: MQTT's go to the broker, and from it."""


@checks.takes(frames=checks.whole(1, 100_000), hops=checks.whole(1, 100), each=checks.number(above=0.0))
def arrivals(frames: int, hops: int, each: float, *, shared: bool) -> list[float]:
    r"""Return when each of some frames, all ready at once, has made its hops: `reference.made_hops` in closed form.

    Frame :math:`k = 1 \ldots n` has made its :math:`h` hops of :math:`t` seconds each after

    .. math:: (n (h - 1) + k)\, t \quad \text{on one medium}, \qquad (k + h - 1)\, t \quad \text{on lines of their own.}
    """
    before = frames * (hops - 1) if shared else hops - 1
    return [(before + k) * each for k in range(1, frames + 1)]


@checks.takes(octets=checks.whole(1), rate=checks.number(above=0.0))
def counted(transport: str, octets: int, rate: float) -> float:
    """Return the least time that payload occupies the air of one access point."""
    if transport not in LEGS:
        raise ValueError(f"a transport is {' or '.join(LEGS)}, not {transport!r}")
    return LEGS[transport] * CROSSINGS * 8 * octets / rate


@checks.takes(messages=checks.whole(1, 10_000), size=checks.whole(1, 10**6), rate=checks.number(above=0.0))
def relayed(transport: str, messages: int, size: int, rate: float, *, shared: bool = True) -> float:
    """Send messages between stations over real sockets on loopback, through relays, and time them."""
    if transport not in LEGS:
        raise ValueError(f"a transport is {' or '.join(LEGS)}, not {transport!r}")
    one = Air(rate, CROSSINGS)
    airs = [one if shared else Air(rate, CROSSINGS) for _ in range(LEGS[transport])]
    return (_over_tcp if transport == "TCP" else _over_mqtt)(messages, size, airs)


def _over_tcp(messages: int, size: int, airs: list[Air]) -> float:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        DelayProxy(server.getsockname(), 0.0, air=airs[0]) as relay,
        socket.create_connection(relay.address, TIMEOUT) as sender,
    ):
        server.settimeout(TIMEOUT)
        receiver, _ = server.accept()
        with receiver:
            receiver.settimeout(TIMEOUT)

            def receive() -> None:
                left = messages * size
                while left:
                    data = receiver.recv(65536)
                    if not data:
                        raise ConnectionError("the relay hung up")
                    left -= len(data)

            return _timed(lambda: sender.sendall(bytes(messages * size)), receive)


def _over_mqtt(messages: int, size: int, airs: list[Air]) -> float:
    with (
        BrokerThread(Config(port=0)) as broker,
        DelayProxy(("127.0.0.1", broker.port), 0.0, air=airs[0]) as there,
        DelayProxy(("127.0.0.1", broker.port), 0.0, air=airs[1]) as onward,
        subscribed(onward.address[1], paper.TOPIC) as subscriber,
        connect(there.address[1]) as publisher,
    ):
        each = p.encode(p.Publish(paper.TOPIC, bytes(size)))

        def receive() -> None:
            for _ in range(messages):
                subscriber.publication()

        return _timed(lambda: publisher.send(each * messages), receive)


def _timed(send: Callable[[], None], receive: Callable[[], None]) -> float:
    """Send in a thread, so that neither end waits for the other's buffers."""
    start = time.perf_counter()
    sending = threading.Thread(target=send)
    sending.start()
    receive()
    end = time.perf_counter()
    sending.join(TIMEOUT)
    return end - start
