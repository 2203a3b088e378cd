"""The client for programs without an event loop: the same calls, which return when they are done."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any, Literal, Protocol

from voicewire.mqtt.client_delivery import Delivery
from voicewire.mqtt.errors import DisconnectedError
from voicewire.mqtt.loop_thread import LoopThread
from voicewire.mqtt.packets import Publish

__all__ = ["BlockingClient"]


class Asynchronous(Protocol):
    """The client behind it, `client.Client`."""

    @property
    def connect(self) -> Callable[..., Coroutine[Any, Any, bool]]:
        """Connect."""

    @property
    def disconnect(self) -> Callable[..., Coroutine[Any, Any, None]]:
        """Leave."""

    @property
    def publish(self) -> Callable[..., Coroutine[Any, Any, Delivery]]:
        """Publish."""

    @property
    def flush(self) -> Callable[..., Coroutine[Any, Any, None]]:
        """Wait until the broker has read everything."""

    @property
    def subscribe(self) -> Callable[..., Coroutine[Any, Any, tuple[int, ...]]]:
        """Subscribe."""

    @property
    def unsubscribe(self) -> Callable[..., Coroutine[Any, Any, None]]:
        """Unsubscribe."""

    @property
    def refusal(self) -> Callable[..., Coroutine[Any, Any, str]]:
        """Ask why a filter is refused."""

    @property
    def subscribers(self) -> Callable[..., Coroutine[Any, Any, tuple[str, ...]]]:
        """Ask who can acknowledge."""

    @property
    def receive(self) -> Callable[..., Coroutine[Any, Any, Publish]]:
        """Wait for a message."""


class BlockingClient:
    """What ``with Client(…) as client`` gives a program that has no event loop.

    Its calls are those of :class:`~voicewire.mqtt.client.Client`, without ``await``; the network is served by a thread
    meanwhile. They may be called from several threads.

    Parameters
    ----------
    client : Client
        The client that does the work.

    Examples
    --------
    >>> from voicewire.mqtt import Broker, Client, Config
    >>> with Broker(Config(port=0)) as broker, Client(port=broker.port) as client:
    ...     client.subscribe("door", qos=1)
    ...     _ = client.publish("door", b"open", 1)
    ...     client.receive(timeout=10).payload
    (1,)
    b'open'
    """

    def __init__(self, client: Asynchronous) -> None:
        self._client = client
        self._thread = LoopThread("voicewire-client")

    def __repr__(self) -> str:
        return f"<Blocking{repr(self._client).removeprefix('<')}"

    def connect(self, timeout: float = 10.0) -> bool:
        """Connect, or connect again.

        Parameters
        ----------
        timeout : float
            Seconds, for the network connection and for CONNACK each.

        Returns
        -------
        bool
            Whether the broker knew the session.

        Raises
        ------
        RefusedError, DisconnectedError
            If the broker says no, or cannot be reached.
        """
        return self._thread.call(self._client.connect(timeout))

    def disconnect(self) -> None:
        """Say DISCONNECT (no will is published), close, and end the thread; `connect` begins another."""
        try:
            self._thread.call(self._client.disconnect())
        finally:
            self._thread.end()

    def publish(
        self,
        topic: str,
        payload: bytes | str = b"",
        qos: int = 0,
        *,
        retain: bool = False,
        wait_for: int | Literal["all"] | None = None,
        subscribers: Iterable[str] = (),
        timeout: float | None = None,
        report: bool = True,
    ) -> Delivery:
        """Publish, and wait until the exchange that the QoS asks for is complete.

        Parameters
        ----------
        topic : str
            Its name, without wildcards.
        payload : bytes or str
            What it says; text goes as UTF-8.
        qos : int
            0 to 2.
        retain : bool
            Keep it for subscribers to come.
        wait_for : int or "all", optional
            Publish with E-MQTT's QoS 3 and return when so many subscribers have acknowledged (0: the first).
        subscribers : iterable of str
            Client ids that count; `wait_for` defaults to all of them.
        timeout : float, optional
            Seconds; with `wait_for` 30 by default, else unlimited.
        report : bool
            With `wait_for`: ask the broker who has acknowledged.

        Returns
        -------
        Delivery
            Who has acknowledged, and when.

        Raises
        ------
        NotAcknowledgedError, DisconnectedError, MalformedError
            As :meth:`Client.publish` does.
        """
        return self._thread.call(
            self._client.publish(
                topic, payload, qos, retain=retain, wait_for=wait_for, subscribers=subscribers, timeout=timeout,
                report=report,
            )
        )  # fmt: skip

    def flush(self, timeout: float = 60.0) -> None:
        """Wait until the broker has read all that was sent, at QoS 0 too.

        Parameters
        ----------
        timeout : float
            Seconds.

        Raises
        ------
        DisconnectedError
            If the connection ends before.
        TimeoutError
            If there is no answer in `timeout` seconds.
        """
        self._thread.call(self._client.flush(timeout))

    def subscribe(self, *topics: str, qos: int = 0) -> tuple[int, ...]:
        """Subscribe to one or more topic filters.

        Parameters
        ----------
        *topics : str
            The filters.
        qos : int
            Greatest QoS at which messages are wanted, 0 to 3.

        Returns
        -------
        tuple of int, one for each filter
            Granted QoS, or 0x80 for refused: :meth:`refusal` asks why.

        Raises
        ------
        MalformedError, DisconnectedError
            If a filter is not possible, or the connection ends before the answer.
        """
        return self._thread.call(self._client.subscribe(*topics, qos=qos))

    def unsubscribe(self, *topics: str) -> None:
        """Unsubscribe from one or more topic filters.

        Parameters
        ----------
        *topics : str
            The filters.
        """
        self._thread.call(self._client.unsubscribe(*topics))

    def refusal(self, pattern: str) -> str:
        """Ask why a filter is refused.

        Parameters
        ----------
        pattern : str
            The topic filter.

        Returns
        -------
        str
            The reason in words; empty if the broker would not refuse it, or tells nothing (as other brokers do).
        """
        return self._thread.call(self._client.refusal(pattern))

    def subscribers(self, topic: str, timeout: float = 10.0) -> tuple[str, ...]:
        """Ask an E-MQTT broker for the ids of those who can acknowledge on a topic.

        Parameters
        ----------
        topic : str
            Its name, without wildcards.
        timeout : float
            Seconds.

        Returns
        -------
        tuple of str
            Client ids in alphabetical order.

        Raises
        ------
        MQTTError
            If the broker does not speak E-MQTT, or tells nothing.
        """
        return self._thread.call(self._client.subscribers(topic, timeout))

    def receive(self, timeout: float | None = None) -> Publish:
        """Wait for the next message.

        Parameters
        ----------
        timeout : float, optional
            Seconds; unlimited by default.

        Returns
        -------
        Publish
            The message; it has been acknowledged.

        Raises
        ------
        TimeoutError
            If none comes in `timeout` seconds.
        DisconnectedError
            If the connection has ended and no message is left.
        """
        return self._thread.call(self._client.receive(timeout))

    def messages(self) -> Iterator[Publish]:
        """Wait for messages until the connection ends.

        Yields
        ------
        Publish
            One message after the other, each acknowledged.
        """
        while True:
            try:
                yield self.receive()
            except DisconnectedError:
                return
