"""An asyncio client for MQTT 3.1.1 and E-MQTT: QoS 0 to 3, and a `publish` that knows who has the message.

async with Client("127.0.0.1", 1883) as client:
    delivery = await client.publish("alarm", b"on", wait_for=2, timeout=5)
    print(delivery.acknowledged)
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import ssl
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from dataclasses import replace
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

from voicewire.mqtt import packets as p
from voicewire.mqtt.client_delivery import Delivery, Pending, Unread, confirmed, ids, octets, outcome, unreached
from voicewire.mqtt.decoder import Decoder, remaining_length
from voicewire.mqtt.errors import DisconnectedError, MalformedError, MQTTError, RefusedError
from voicewire.mqtt.loop_thread import LoopThread
from voicewire.mqtt.sessions.hold import Report
from voicewire.mqtt.topics import LIMITS, WHY, check_filter

__all__ = ["BlockingClient", "Client"]

P = ParamSpec("P")
R = TypeVar("R")

LISTS = "$e2e/report/ids/"
"""Where the broker tells who is subscribed to a topic."""
LARGE = 65536
"""Bytes of a PUBLISH from which on it is named when the connection ends before the broker is known to have it."""
ASKED = 5.0
"""Seconds that a question about a limit or a refusal may take."""
Observer = Callable[[str, p.Packet, float], None]


class Client(asyncio.Protocol):
    """One client; use it as an asynchronous context manager, or call `connect` and `disconnect`.

    A program without an event loop writes ``with Client(…) as client`` and gets a
    :class:`BlockingClient`, whose calls need no ``await``.

    Parameters
    ----------
    host, port : str, int
        The broker.
    client_id : str
        A fresh one by default.
    clean : bool
        Begin with a clean session. With False, calling `connect` again resumes: what was not acknowledged
        is sent again.
    keep_alive : int
        Seconds; the client pings twice in that time. 0: never.
    username, password : str, bytes, optional
        Credentials.
    will : Will, optional
        Published by the broker if this client is lost.
    tls : ssl.SSLContext, optional
        Speak TLS.
    answer : callable, optional
        Called with each QoS 3 message; the bytes it returns travel in the acknowledgement.
    observer : callable, optional
        Called with "out" or "in", each packet, and `time.perf_counter()`.
    max_waiting : int
        Received messages that wait to be taken before the client stops reading.

    Examples
    --------
    With a broker on this port:

    >>> async def publish() -> None:  # doctest: +SKIP
    ...     async with Client(client_id="me") as client:
    ...         await client.publish("door", b"open", 1)
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 1883,
        client_id: str = "",
        *,
        clean: bool = True,
        keep_alive: int = 60,
        username: str | None = None,
        password: bytes | None = None,
        will: p.Will | None = None,
        tls: ssl.SSLContext | None = None,
        answer: Callable[[p.Publish], bytes] | None = None,
        observer: Observer | None = None,
        max_waiting: int = 10_000,
    ) -> None:
        self.host, self.port = host, port
        self.client_id = client_id or f"voicewire-{uuid.uuid4().hex[:12]}"
        self._connect = p.Connect(self.client_id, clean, keep_alive, will, username, password)
        self._tls = tls
        self._answer = answer
        self._observer = observer
        self._max_waiting = max_waiting
        self._transport: asyncio.Transport | None = None
        self._decoder = Decoder()
        self._next_id = 0
        self._pending: dict[int, Pending] = {}
        self._requests: dict[int, asyncio.Future[tuple[int, ...]]] = {}
        self._lists: dict[str, list[asyncio.Future[bytes]]] = {}
        self._questions: dict[str, asyncio.Future[bytes]] = {}
        self._one_question = asyncio.Lock()
        self._unread: Unread = None
        self._pings: deque[tuple[Unread, asyncio.Future[None] | None]] = deque()
        self._posted: set[asyncio.Task[Delivery]] = set()
        self._received: set[int] = set()
        self._inbox: asyncio.Queue[p.Publish | None] = asyncio.Queue()
        self._paused = False
        self._qos3_granted = False
        self._speaks_qos3 = False
        self._heard = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._connack: asyncio.Future[bool] | None = None
        self._closed: asyncio.Future[None] | None = None
        self._first = b""  # of what comes before CONNECT is answered
        self._reason = "not connected"
        self.session_present = False
        self._blocking: BlockingClient | None = None

    def __repr__(self) -> str:
        state = "not connected" if self._transport is None else "connected"
        return f"<Client {self.client_id!r} of {self.host}:{self.port}, {state}>"

    # ------------------------------------------------------------------ connecting
    async def __aenter__(self) -> Client:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.disconnect()

    def __enter__(self) -> BlockingClient:
        self._blocking = BlockingClient(self)
        try:
            self._blocking.connect()
        except BaseException:
            self._blocking.disconnect()
            raise
        return self._blocking

    def __exit__(self, *_: object) -> None:
        if self._blocking is not None:
            self._blocking.disconnect()

    async def connect(self, timeout: float = 10.0) -> bool:
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
        RefusedError
            If the broker says no.
        DisconnectedError
            If it cannot be reached, or says nothing in `timeout` seconds.
        """
        loop = asyncio.get_running_loop()
        if self._transport is not None and self._closed is not None:  # its end must not come after this beginning
            self._transport.abort()
            await self._closed
        self._decoder, self._first = Decoder(), b""
        self._speaks_qos3 = False
        self._one_question = asyncio.Lock()  # of this loop, which may be another one than before
        self._open_inbox()
        self._connack = loop.create_future()
        self._closed = loop.create_future()
        made = False
        try:
            await asyncio.wait_for(loop.create_connection(lambda: self, self.host, self.port, ssl=self._tls), timeout)
            made = True
            self._send(self._connect)
            self.session_present = await asyncio.wait_for(self._connack, timeout)
        except UnicodeError:
            raise DisconnectedError(f"no broker at {self.host!r:.90}: that is no host name") from None
        except OSError as error:  # TimeoutError and SSLError, too
            self._abort("no answer")
            place = f"{self.host}:{self.port}"
            raise unreached(error, place, self._tls is not None, made, timeout, self._answered()) from None
        for packet_id, pending in list(self._pending.items()):
            packet = pending.packet
            if isinstance(packet, p.Publish):
                if packet.qos == 3:
                    await self._ask_for_qos3()
                packet = replace(packet, dup=True)
            self._pending[packet_id].packet = packet
            self._send(packet)
        if self._connect.keep_alive:
            self._timer = loop.call_later(self._connect.keep_alive / 2, self._ping)
        return self.session_present

    def _answered(self) -> str:
        """How what came instead of CONNACK begins, if anything came."""
        return f"; its answer begins {self._first!r}" * bool(self._first)

    def _open_inbox(self) -> None:
        """Keep what has come and was acknowledged: the broker will not send it again. Drop the mark of the end."""
        before, self._inbox = self._inbox, asyncio.Queue()
        while before.qsize():
            message = before.get_nowait()
            if message is not None:
                self._inbox.put_nowait(message)

    async def disconnect(self) -> None:
        """Say DISCONNECT (no will is published) and close."""
        if self._transport is None:
            return
        if not self._transport.is_closing():  # else it would hide the error that has ended the connection
            self._send(p.Disconnect())
            self._reason = "the client has disconnected"
        self._unread = None
        self._transport.close()
        if self._closed is not None:
            await self._closed

    def abort(self) -> None:
        """Drop the connection without DISCONNECT, as a crash would."""
        self._abort("aborted")

    def _abort(self, reason: str) -> None:
        self._reason, self._unread = reason, None
        if self._transport is not None:
            self._transport.abort()

    # ------------------------------------------------------------------ publishing
    async def publish(
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
            Publish with E-MQTT's QoS 3 and return when so many subscribers have acknowledged (0: the first). To go on
            meanwhile, as in the paper's asynchronous mode, there is `Client.post`.
        subscribers : iterable of str
            Client ids that count; `wait_for` defaults to all of them.
        timeout : float, optional
            Seconds; with `wait_for` 30 by default, else unlimited.
        report : bool
            With `wait_for`: ask the broker who has acknowledged, and to say so also if it were too few. Without, the
            packet has the paper's plain form, and its answer says only that they were enough.

        Returns
        -------
        Delivery
            Who has acknowledged, and when.

        Raises
        ------
        NotAcknowledgedError
            If they have not; says who is missing and why, and has the :class:`Delivery` so far.
        DisconnectedError
            If the connection ends before. After `connect` the message goes on if the session is not clean. Where a
            message was on its way, the broker is asked over a new connection how much it takes; one that is larger is
            named, and not sent again.
        MalformedError
            If an argument is outside what the protocol allows.
        """
        data = octets(payload)
        names = tuple(dict.fromkeys(subscribers))
        if wait_for is None and names:
            wait_for = len(names)
        async with self._explaining():
            if wait_for is not None:
                packet, timeout = confirmed(topic, data, retain, wait_for, names, timeout, report)
                await self._ask_for_qos3()
            else:
                packet = p.Publish(topic, data, qos, retain)
            if packet.qos:
                return await outcome(self._begin(packet), packet, timeout)
            self._send(packet)
            return Delivery(topic)

    async def flush(self, timeout: float = 60.0) -> None:
        """Wait until the broker has read all that was sent, at QoS 0 too (it answers PINGREQ in turn).

        Parameters
        ----------
        timeout : float
            Seconds.

        Raises
        ------
        DisconnectedError
            If the connection ends before; if a message was larger than the broker takes, it says so.
        TimeoutError
            If there is no answer in `timeout` seconds.
        """
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        async with self._explaining():
            self._send(p.Pingreq())
            self._pings.append((self._unread, answer))
            await asyncio.wait_for(answer, timeout)

    @contextlib.asynccontextmanager
    async def _explaining(self) -> AsyncIterator[None]:
        """Where the connection ends, tell all who wait what it was about, if the broker says so: one asks it."""
        try:
            yield
        except DisconnectedError as error:
            async with self._one_question:
                if self._unread is not None:
                    said = await self._explained(str(error), *self._unread)
                    self._unread = None
                elif self._transport is None:
                    said = self._reason
                else:  # connected again meanwhile
                    said = str(error)
                if self._transport is None:
                    self._reason = said
            raise DisconnectedError(said) from None

    async def _explained(self, error: str, topic: str, size: int) -> str:
        """Say what an end of the connection was about: a message that is larger than the broker takes, if it is."""
        limit = await self._packet_limit()
        if limit is None or size <= limit:
            return error if size < LARGE else f"{error} while {size:,} bytes were being sent to {topic!r}"
        for packet_id, pending in list(self._pending.items()):
            if isinstance(pending.packet, p.Publish) and remaining_length(p.encode(pending.packet)) > limit:
                del self._pending[packet_id]  # sent again, it would only end the next connection
        most = f"{limit // 2**20} MiB" if limit % 2**20 == 0 else f"{limit:,} bytes"
        return f"{topic!r}: a message of {size:,} bytes is larger than the broker takes ({most})"

    async def _packet_limit(self) -> int | None:
        """Ask over a new connection for the largest packet; a broker that is not ours has no answer."""
        asking = Client(self.host, self.port, username=self._connect.username, password=self._connect.password,
                        tls=self._tls)  # fmt: skip
        with contextlib.suppress(MQTTError, OSError):
            async with asyncio.timeout(ASKED), asking:
                told = await asking._ask(LIMITS, LIMITS)
                limit = json.loads(told or b"{}").get("max_packet")
                return limit if type(limit) is int else None
        return None

    async def post(
        self,
        topic: str,
        payload: bytes | str = b"",
        *,
        retain: bool = False,
        wait_for: int | Literal["all"] = 0,
        subscribers: Iterable[str] = (),
        timeout: float | None = None,
        report: bool = True,
    ) -> asyncio.Task[Delivery]:
        """Publish with E-MQTT's QoS 3, and go on: the paper's asynchronous mode.

        It returns once the packet is on its way. What came of it is in the task, which may be awaited later, asked
        whether it is done, or given a callback; nobody has to.

        Parameters
        ----------
        topic : str
            Its name, without wildcards.
        payload : bytes or str
            What it says; text goes as UTF-8.
        retain : bool
            Keep it for subscribers to come.
        wait_for : int or "all"
            How many acknowledgements end the task; 0 is the first.
        subscribers : iterable of str
            Client ids that count; nobody else does then, unless `wait_for` is 0.
        timeout : float, optional
            Seconds until the task gives up; 30 by default.
        report : bool
            As of `publish`.

        Returns
        -------
        asyncio.Task
            Ends with the :class:`Delivery`, or with what `publish` would raise.

        Raises
        ------
        DisconnectedError
            If there is no connection.
        MalformedError
            If an argument is outside what the protocol allows.
        """
        data = octets(payload)
        names = tuple(dict.fromkeys(subscribers))
        packet, limit = confirmed(topic, data, retain, wait_for, names, timeout, report)
        async with self._explaining():
            await self._ask_for_qos3()
            pending = self._begin(packet)

        async def waiting() -> Delivery:
            async with self._explaining():
                return await outcome(pending, packet, limit)

        task = asyncio.create_task(waiting())
        self._posted.add(task)  # asyncio itself keeps no reference
        task.add_done_callback(self._told)
        return task

    def _told(self, task: asyncio.Task[Delivery]) -> None:
        self._posted.discard(task)
        if not task.cancelled():
            task.exception()  # seen: nobody may be waiting for it

    def _begin(self, packet: p.Publish) -> Pending:
        """Send a PUBLISH that will be answered."""
        loop = asyncio.get_running_loop()
        packet_id = self._take_id()
        packet = replace(packet, packet_id=packet_id)
        pending = Pending(
            packet, Delivery(packet.topic), time.perf_counter(), loop.create_future(), loop.create_future()
        )
        p.encode(packet)  # an argument out of range must not leave anything pending
        self._pending[packet_id] = pending
        self._send(packet)
        return pending

    async def subscribers(self, topic: str, timeout: float = 10.0) -> tuple[str, ...]:
        """Ask an E-MQTT broker for the ids of those who can acknowledge on a topic, to name some of them.

        Parameters
        ----------
        topic : str
            Its name, without wildcards; this client must be allowed to publish there.
        timeout : float
            Seconds.

        Returns
        -------
        tuple of str
            Client ids in alphabetical order; those who subscribe with QoS 0 are not among them.

        Raises
        ------
        MQTTError
            If the broker does not speak E-MQTT, tells nothing (as to those who may not publish there), or has more ids
            than it tells.
        NotAcknowledgedError
            If it does not answer in `timeout` seconds.
        """
        await self._ask_for_qos3()
        await self.subscribe(LISTS + "#")
        asked: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        waiting = self._lists.setdefault(topic, [])
        waiting.append(asked)
        try:
            await self.publish(f"$e2e/ids/{topic}", b"", 1, timeout=timeout)
        finally:
            if asked in waiting:
                waiting.remove(asked)
            if not waiting:
                self._lists.pop(topic, None)
        if not asked.done():  # the list would have come before the acknowledgement
            raise MQTTError(f"the broker does not tell who is subscribed to {topic!r}: may this client publish there?")
        return ids(topic, asked.result())

    async def _ask_for_qos3(self) -> None:
        """Learn once a connection whether the broker speaks E-MQTT."""
        if self._speaks_qos3:
            return
        open_and_read = self._transport is not None and not self._transport.is_closing() and self._unread is None
        try:
            codes = await self._request(lambda i: p.Subscribe(i, (("$e2e/hello", 3),)))
        except DisconnectedError:
            if not open_and_read:  # an end that has another cause, or may have
                raise
            raise MQTTError(
                "the broker does not speak E-MQTT (it closed the connection at QoS 3); "
                "wait_for and subscribers need one that does"
            ) from None
        if codes != (3,):
            raise MQTTError("the broker does not speak E-MQTT; wait_for and subscribers need one that does")
        self._speaks_qos3 = True

    # ------------------------------------------------------------------ subscribing
    async def subscribe(self, *topics: str, qos: int = 0) -> tuple[int, ...]:
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
            Granted QoS, or 0x80 for refused.

        Raises
        ------
        MalformedError
            If a filter or the QoS is not possible.
        DisconnectedError
            If the connection ends before the answer.
        """
        codes = await self._request(lambda i: p.Subscribe(i, tuple((t, qos) for t in topics)), qos == 3)
        self._speaks_qos3 |= 3 in codes
        return codes

    async def refusal(self, pattern: str) -> str:
        """Ask why a filter is refused: SUBACK has no room for a reason, and our broker tells it if it is asked.

        Parameters
        ----------
        pattern : str
            The topic filter.

        Returns
        -------
        str
            The reason in words; empty if the broker would not refuse it, or tells nothing (as other brokers do).

        Raises
        ------
        MalformedError
            If the filter is not possible.
        """
        check_filter(pattern)
        told = await self._ask(WHY + pattern, WHY + "reason") if len(pattern.encode()) < 65000 else None
        return (told or b"").decode(errors="replace")

    async def _ask(self, question: str, topic: str) -> bytes | None:
        """Ask by a subscription; the answer comes on `topic` behind SUBACK, so before UNSUBACK, or not at all."""
        async with self._one_question:
            answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            self._questions[topic] = answer
            try:
                async with asyncio.timeout(ASKED):
                    await self._request(lambda i: p.Subscribe(i, ((question, 0),)))
                    await self._request(lambda i: p.Unsubscribe(i, (question,)))
            except (DisconnectedError, TimeoutError):
                return None
            finally:
                del self._questions[topic]
            return answer.result() if answer.done() else None

    async def unsubscribe(self, *topics: str) -> None:
        """Unsubscribe from one or more topic filters.

        Parameters
        ----------
        *topics : str
            The filters.

        Raises
        ------
        MalformedError
            If a filter is not possible.
        DisconnectedError
            If the connection ends before the answer.
        """
        await self._request(lambda i: p.Unsubscribe(i, topics))

    async def _request(self, make: Callable[[int], p.Subscribe | p.Unsubscribe], qos3: bool = False) -> tuple[int, ...]:
        packet_id = self._take_id()
        packet = make(packet_id)
        p.encode(packet)
        self._qos3_granted |= qos3
        answer: asyncio.Future[tuple[int, ...]] = asyncio.get_running_loop().create_future()
        self._requests[packet_id] = answer
        self._send(packet)
        try:
            return await answer
        finally:
            self._requests.pop(packet_id, None)

    async def receive(self, timeout: float | None = None) -> p.Publish:
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
        packet = await asyncio.wait_for(self._inbox.get(), timeout)
        if packet is None:
            if self._transport is None:  # else connected again meanwhile
                self._inbox.put_nowait(None)
            raise DisconnectedError(self._reason)
        if self._paused and self._inbox.qsize() <= self._max_waiting // 2 and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return packet

    async def messages(self) -> AsyncIterator[p.Publish]:
        """Wait for messages until the connection ends.

        Yields
        ------
        Publish
            One message after the other, each acknowledged.
        """
        while True:
            try:
                yield await self.receive()
            except DisconnectedError:
                return

    # ------------------------------------------------------------------ the protocol
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio: the connection is there.

        Parameters
        ----------
        transport : asyncio.BaseTransport
            Its sending half.
        """
        self._transport = cast(asyncio.Transport, transport)
        self._paused = False
        self._unread = None
        self._reason = "the broker closed the connection"
        self._heard = time.monotonic()

    def connection_lost(self, exc: Exception | None) -> None:
        """Asyncio: the connection is gone; whoever waits for an answer learns it.

        Parameters
        ----------
        exc : Exception or None
            Why; None if it was closed.
        """
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if exc is not None:
            self._reason = f"connection lost: {exc}"
        if self._connack is not None and not self._connack.done():
            self._reason += self._answered()
        error = DisconnectedError(self._reason)
        waiting: list[asyncio.Future[object]] = [
            *cast("list[asyncio.Future[object]]", list(self._requests.values())),
            *(cast("asyncio.Future[object]", x.confirmed) for x in self._pending.values()),
            *(cast("asyncio.Future[object]", x.completed) for x in self._pending.values()),
            *(cast("asyncio.Future[object]", answer) for _, answer in self._pings if answer is not None),
        ]
        self._pings.clear()
        if self._connack is not None:
            waiting.append(cast("asyncio.Future[object]", self._connack))
        for future in waiting:
            if not future.done():
                future.set_exception(error)
                future.exception()  # seen: nobody may be waiting for it
        if self._connect.clean:
            self._pending.clear()
        self._inbox.put_nowait(None)
        if self._closed is not None and not self._closed.done():
            self._closed.set_result(None)

    def data_received(self, data: bytes) -> None:
        """Asyncio: bytes have come.

        Parameters
        ----------
        data : bytes
            The next ones of the stream.
        """
        self._heard = time.monotonic()
        if self._connack is not None and not self._connack.done():
            self._first = (self._first + data)[:16]
        try:
            for packet in self._decoder.feed(data):
                if self._observer is not None:
                    self._observer("in", packet, time.perf_counter())
                self._handle(packet)
        except DisconnectedError:
            return  # an answer found the transport closing: why, `connection_lost` says
        except MQTTError as error:
            begun = self._connack is not None and self._connack.done()
            self._abort(str(error) if begun else f"what answers at {self.host}:{self.port} is no MQTT 3.1.1: {error}")

    def _send(self, packet: p.Packet) -> None:
        if self._transport is None or self._transport.is_closing():
            raise DisconnectedError(self._reason)
        if self._observer is not None:
            self._observer("out", packet, time.perf_counter())
        data = p.encode(packet)
        if isinstance(packet, p.Publish):
            size = remaining_length(data)
            if self._unread is None or size > self._unread[1]:
                self._unread = packet.topic, size
            if packet.packet_id in self._pending:
                self._pending[packet.packet_id].unread = self._unread
        self._transport.write(data)

    def _take_id(self) -> int:
        for _ in range(65535):
            self._next_id = self._next_id % 65535 + 1
            if self._next_id not in self._pending and self._next_id not in self._requests:
                return self._next_id
        raise MQTTError("all 65535 packet ids are in use")

    def _ping(self) -> None:
        keep_alive = self._connect.keep_alive
        if time.monotonic() - self._heard > keep_alive * 1.5:
            self._abort("the broker has not answered PINGREQ")
        elif self._transport is not None:
            self._send(p.Pingreq())
            self._pings.append((self._unread, None))
            self._timer = asyncio.get_running_loop().call_later(keep_alive / 2, self._ping)

    def _handle(self, packet: p.Packet) -> None:
        match packet:
            case p.Connack(present, code):
                if self._connack is None or self._connack.done():
                    raise MalformedError("a CONNACK that nobody asked for")
                if code:
                    self._connack.set_exception(RefusedError(code))
                else:
                    if not present:  # the broker's packet ids begin anew, perhaps with the bytes behind these
                        self._received.clear()
                    self._connack.set_result(present)
            case p.Publish():
                self._take(packet)
            case p.Puback(packet_id):
                self._confirm(packet_id, None)
                self._complete(packet_id)
            case p.Pubrec(packet_id, qos, data):
                self._confirm(packet_id, Report.decode(data) if data else None)
                release = p.Pubrel(packet_id, qos)
                if packet_id in self._pending:
                    self._pending[packet_id].packet = release
                self._send(release)
            case p.Pubrel(packet_id, qos):
                self._received.discard(packet_id)
                self._send(p.Pubcomp(packet_id, qos))
            case p.Pubcomp(packet_id):
                self._complete(packet_id)
            case p.Suback(packet_id, codes):
                self._resolve(packet_id, codes)
            case p.Unsuback(packet_id):
                self._resolve(packet_id, ())
            case p.Pingresp():
                unread, answer = self._pings.popleft() if self._pings else (None, None)
                self._read(unread)
                if answer is not None and not answer.done():
                    answer.set_result(None)
            case _:
                raise MalformedError(f"a broker does not send {type(packet).__name__.upper()} packets")

    def _resolve(self, packet_id: int, codes: tuple[int, ...]) -> None:
        request = self._requests.get(packet_id)
        if request is not None and not request.done():
            request.set_result(codes)

    def _confirm(self, packet_id: int, report: Report | None) -> None:
        pending = self._pending.get(packet_id)
        if pending is not None:
            self._read(pending.unread)
        if pending is not None and not pending.confirmed.done():
            pending.delivery.confirmed = time.perf_counter() - pending.sent
            pending.confirmed.set_result(report)

    def _read(self, unread: Unread) -> None:
        """The broker has read up to where the largest was this one: what is unread now is smaller, so not too large."""
        if unread is self._unread:
            self._unread = None

    def _complete(self, packet_id: int) -> None:
        pending = self._pending.pop(packet_id, None)
        if pending is not None and not pending.completed.done():
            pending.delivery.completed = time.perf_counter() - pending.sent
            pending.completed.set_result(None)

    def _take(self, packet: p.Publish) -> None:
        """A message has come: keep it, then acknowledge it; at QoS 2 and 3 it is kept once."""
        if packet.qos == 3 and not self._qos3_granted:
            raise MalformedError("the broker sent QoS 3 without being asked for it")
        asked = self._questions.get(packet.topic)
        if asked is not None and not packet.qos:
            if not asked.done():
                asked.set_result(packet.payload)
            return
        if not packet.qos and packet.topic.startswith(LISTS):
            waiting = self._lists.get(packet.topic.removeprefix(LISTS))
            if waiting:
                waiting.pop(0).set_result(packet.payload)
                return
        new = packet.qos < 2 or packet.packet_id not in self._received
        if new:
            self._inbox.put_nowait(packet)
            if self._inbox.qsize() > self._max_waiting and self._transport is not None and not self._paused:
                self._paused = True
                self._transport.pause_reading()
        if packet.qos == 1:
            self._send(p.Puback(packet.packet_id))
        elif packet.qos:
            self._received.add(packet.packet_id)
            data = self._answer(packet) if packet.qos == 3 and self._answer and new else b""
            self._send(p.Pubrec(packet.packet_id, packet.qos, data))


def _waiting(
    method: Callable[Concatenate[Client, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[BlockingClient, P], R]:
    """Make a method of `Client` one of `BlockingClient`, which returns when it is done."""

    @functools.wraps(method)
    def call(self: BlockingClient, /, *args: P.args, **more: P.kwargs) -> R:
        return self._thread.call(method(self._client, *args, **more))

    return call


class BlockingClient:
    """What ``with Client(…) as client`` gives a program that has no event loop.

    Its calls are those of :class:`Client`, without ``await`` (all but `post` and `abort`); the network is served by a
    thread meanwhile. They may be called from several threads.

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

    def __init__(self, client: Client) -> None:
        self._client = client
        self._thread = LoopThread("voicewire-client")

    def __repr__(self) -> str:
        return f"<Blocking{repr(self._client).removeprefix('<')}"

    connect = _waiting(Client.connect)
    publish = _waiting(Client.publish)
    flush = _waiting(Client.flush)
    subscribe = _waiting(Client.subscribe)
    unsubscribe = _waiting(Client.unsubscribe)
    refusal = _waiting(Client.refusal)
    subscribers = _waiting(Client.subscribers)
    receive = _waiting(Client.receive)

    def disconnect(self) -> None:
        """Say DISCONNECT (no will is published), close, and end the thread; `connect` begins another."""
        try:
            self._thread.call(self._client.disconnect())
        finally:
            self._thread.end()

    def messages(self) -> Iterator[p.Publish]:
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
