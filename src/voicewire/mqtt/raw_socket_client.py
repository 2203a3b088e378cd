"""A client of bytes: packets (or anything else) go out as they are, and what comes back is checked one by one.

The tests speak to the broker with it, and the notebooks draw its traces: over a socket, or over a line of a broker in
memory.
"""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Any, Protocol

from voicewire.mqtt import packets as p
from voicewire.mqtt.decoder import Decoder

__all__ = ["UnexpectedError", "Wire", "connect", "subscribed"]

TIMEOUT = 20.0
"""Seconds to wait for what must come; long, since a busy machine is no fault of the broker."""


class UnexpectedError(AssertionError):
    """The broker said something else than it should.

    Examples
    --------
    >>> issubclass(UnexpectedError, Exception)
    True
    """


class Wired(Protocol):
    """A broker that is reached without a port: `voicewire.mqtt.in_memory_broker.MemoryBroker`."""

    def wire(self) -> Wire:
        """Open a connection."""


class Wire:
    """One raw connection to 127.0.0.1.

    Parameters
    ----------
    port : int
        The broker's port.

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread, Config
    >>> with BrokerThread(Config(port=0)) as broker, Wire(broker.port) as wire:
    ...     pass
    """

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._decoder = Decoder()
        self._waiting: list[p.Packet] = []

    def __enter__(self) -> Wire:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Drop the connection (without DISCONNECT)."""
        self.socket.close()

    def send(self, *things: p.Packet | bytes) -> None:
        """Send packets, or bytes as they are.

        Parameters
        ----------
        *things : Packet or bytes
            One after the other.
        """
        self.socket.sendall(b"".join(x if isinstance(x, bytes) else p.encode(x) for x in things))

    def receive(self, timeout: float = TIMEOUT) -> p.Packet | None:
        """Wait for the next packet.

        Parameters
        ----------
        timeout : float
            Seconds.

        Returns
        -------
        Packet or None
            None once the broker has closed.

        Raises
        ------
        TimeoutError
            If nothing comes.
        """
        while not self._waiting:
            data = self._more(timeout)
            if not data:
                return None
            self._waiting += self._decoder.feed(data)
        return self._waiting.pop(0)

    def _more(self, timeout: float) -> bytes:
        """Wait for bytes; none come once the broker has closed."""
        self.socket.settimeout(timeout)
        try:
            return self.socket.recv(65536)
        except ConnectionError:
            return b""

    def expect(self, *packets: p.Packet | None) -> None:
        """Check that the next packets are exactly these.

        Parameters
        ----------
        *packets : Packet or None
            None stands for a closed connection.

        Raises
        ------
        UnexpectedError
            If they are not.
        """
        for packet in packets:
            got = self.receive()
            if got != packet:
                raise UnexpectedError(f"wanted {packet}, got {got}")

    def publication(self) -> p.Publish:
        """Wait for the next packet, which must be a PUBLISH.

        Returns
        -------
        Publish
            The packet.

        Raises
        ------
        UnexpectedError
            If it is another.
        """
        got = self.receive()
        if not isinstance(got, p.Publish):
            raise UnexpectedError(f"wanted a PUBLISH, got {got}")
        return got

    def quiet(self) -> None:
        """Check that nothing but the answer to a ping comes: whatever was due before it is there by then."""
        self.send(p.Pingreq())
        self.expect(p.Pingresp())

    def closed(self) -> None:
        """Check that the broker closes without another word."""
        self.expect(None)


def connect(port: int | Wired, client_id: str = "", clean: bool = True, present: bool = False, **more: Any) -> Wire:
    """Open a connection that the broker accepts.

    Parameters
    ----------
    port : int or MemoryBroker
        The broker's, on 127.0.0.1; or a broker in memory itself.
    client_id : str
        Empty: the broker makes one up.
    clean : bool
        Begin with a clean session.
    present : bool
        The broker has to know the session already.
    **more : Any
        Further fields of :class:`~voicewire.mqtt.packets.Connect`.

    Returns
    -------
    Wire
        The connection; CONNACK has been taken.

    Raises
    ------
    UnexpectedError
        If the broker answers otherwise.

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread
    >>> with BrokerThread() as broker, connect(broker.port, "ann", will=p.Will("gone", b"ann")) as wire:
    ...     wire.send(p.Pingreq())
    ...     wire.receive()
    Pingresp()
    """
    wire = Wire(port) if isinstance(port, int) else port.wire()
    wire.send(p.Connect(client_id, clean, **more))
    wire.expect(p.Connack(present, 0))
    return wire


def subscribed(port: int | Wired, *filters: str, qos: int = 0, client_id: str = "", clean: bool = True) -> Wire:
    """Open a connection that has subscribed.

    Parameters
    ----------
    port : int or MemoryBroker
        The broker's, on 127.0.0.1; or a broker in memory itself.
    *filters : str
        Topic filters.
    qos : int
        Requested, and to be granted.
    client_id : str
        Empty: the broker makes one up.
    clean : bool
        Begin with a clean session.

    Returns
    -------
    Wire
        The connection; SUBACK has been taken.

    Raises
    ------
    UnexpectedError
        If the broker answers otherwise.

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread
    >>> with BrokerThread() as broker, subscribed(broker.port, "a/+") as wire:
    ...     wire.send(p.Publish("a/b", b"to myself"))
    ...     wire.publication().payload
    b'to myself'
    """
    wire = connect(port, client_id, clean)
    wire.send(p.Subscribe(1, tuple((f, qos) for f in filters)))
    wire.expect(p.Suback(1, (qos,) * len(filters)))
    return wire
