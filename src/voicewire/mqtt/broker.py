"""A broker for MQTT 3.1.1 and E-MQTT: its sessions, its network, its statistics.

    async with Broker(Config(port=0)) as broker:
        print(broker.port)

In a notebook or any program without an event loop of its own ``with`` runs it in a thread.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import uuid
from collections.abc import Callable, Generator, Iterator

from voicewire import __version__
from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config, ConfigError
from voicewire.mqtt.decoder import Reader, topic_filters
from voicewire.mqtt.endtoend import MAX_REPORT_FILTERS, EndToEnd
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.interfaces import Journal
from voicewire.mqtt.loop_thread import LoopThread
from voicewire.mqtt.packet_handlers import Talker
from voicewire.mqtt.routes import CLOSED, LIST
from voicewire.mqtt.routing import Router
from voicewire.mqtt.serving.connection import Connection
from voicewire.mqtt.serving.listener import Listener
from voicewire.mqtt.serving.passwords import Passwords
from voicewire.mqtt.serving.time_slicing import Work, weight
from voicewire.mqtt.sessions.hold import Missing
from voicewire.mqtt.sessions.outbox import Outbox
from voicewire.mqtt.sessions.session import Session
from voicewire.mqtt.sessions.store import Store
from voicewire.mqtt.topics import FOREIGN, LIMITS, MAX_LEVELS, WHY

__all__ = ["Broker"]

REFUSED = 0x80
ACCEPTED, BAD_VERSION, BAD_ID, UNAVAILABLE, BAD_PASSWORD, NOT_AUTHORISED = range(6)
SWEEP = 0.25
"""Seconds between two looks for clients that have been silent for too long."""


class Broker:
    """The broker; use it as an asynchronous context manager, or call `start` and `stop`.

    In a program without an event loop ``with Broker(…) as broker`` runs it in a thread of its own.

    Parameters
    ----------
    config : Config, optional
        What it may do; by default it listens on 127.0.0.1:1883.

    Examples
    --------
    >>> with Broker(Config(port=0)) as broker:
    ...     broker.port > 0
    True
    """

    router_class: type[Router] = Router
    """A subclass may measure what goes through it."""

    def __init__(self, config: Config | None = None) -> None:
        if config is not None and not isinstance(config, Config):
            raise ConfigError(f"a broker takes a Config, as in Broker(Config(port=1884)), not {config!r:.40}")
        c = self.config = config or Config()
        self.log = logging.getLogger("voicewire.broker")
        self.loop: asyncio.AbstractEventLoop
        self.connections: set[Connection] = set()
        self.outbox = Outbox(self.log, self._halt)
        self.work = Work(self.outbox.flush, self.log)
        self.router = self.router_class(c, self.outbox, self.work, self.log)
        self.ends = EndToEnd(self.router, self.outbox, self.work, self.log)
        self.sessions = self.router.sessions
        self._passwords = Passwords(c.password_file) if c.password_file else None
        self._listener: Listener | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._started = self._swept = 0.0
        self._thread: LoopThread
        self.port = c.port

    def __repr__(self) -> str:
        state = f"{len(self.connections)} connections" if self._tasks else "not running"
        return f"<Broker at {self.config.host}:{self.port}, {state}>"

    @property
    def store(self) -> Journal | None:
        """The store, if there is one."""
        return self.router.store

    # ------------------------------------------------------------------ life
    async def __aenter__(self) -> Broker:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def __enter__(self) -> Broker:
        self._thread = LoopThread("voicewire-broker")
        try:
            self._thread.call(self.start())
        except BaseException:
            self._thread.end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._thread.call(self.stop())
        finally:
            self._thread.end()

    async def start(self) -> None:
        """Open the store and listen.

        Raises
        ------
        OSError, ConfigError, StoreError
            If the port, the certificate or the store cannot be used, or access rules would protect nothing.
        """
        self.loop = self.outbox.loop = self.work.loop = self.ends.loop = asyncio.get_running_loop()
        c = self.config
        c.check_users(None if self._passwords is None else self._passwords.names)
        context: ssl.SSLContext | None = None
        if c.tls_cert:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            try:
                context.load_cert_chain(c.tls_cert, c.tls_key)
            except (OSError, ssl.SSLError) as error:
                key = f" with the key {c.tls_key}" if c.tls_key else ""
                raise ConfigError(f"cannot use the certificate {c.tls_cert}{key}: {error}") from None
        elif c.tls_key:
            raise ConfigError(f"the key {c.tls_key} needs its certificate, tls_cert: without it nothing is encrypted")
        if c.persist:
            store = Store(c.persist)
            self.router.store = self.router.retained.store = self.outbox.store = store
            self.ends.restored(store.load(self.router, self.ends.settled))
        await self._listen(context)
        self._started = self._swept = self.loop.time()
        self._tasks = [*(self._listener.tasks if self._listener else ()), self._regularly(self._sweep, SWEEP)]
        if c.sys_interval:
            self._tasks.append(self._regularly(self._publish_statistics, c.sys_interval))
        self.log.info("listening on %s:%d%s", c.host, self.port, " (TLS)" if context else "")
        if self._passwords and self._passwords.plain:
            self.log.warning("%s holds passwords in plain text", c.password_file)
        if c.open_to_strangers:
            self.log.warning(
                "everyone who reaches %s:%d may read and write everything: listen on 127.0.0.1, or give a "
                "--password-file (without allow_anonymous), or [[access]] rules", c.host, self.port,
            )  # fmt: skip

    async def _listen(self, context: ssl.SSLContext | None) -> None:
        """Take connections at the port."""
        c = self.config
        self._listener = Listener(
            lambda: Connection(self), lambda: len(self.connections), c.limits.connect_timeout, context, self.log
        )
        self.port = await self._listener.open(c.host, c.port)
        if self._listener.places < c.limits.max_connections:
            self.log.info("the limit of open files allows %d connections at a time", self._listener.places)

    async def stop(self) -> None:
        """Finish what was acknowledged, as far as clients read; then close every connection and the store."""
        for task in self._tasks:
            task.cancel()
        self._tasks = []
        if self._listener is not None:
            self._listener.close()
        for connection in self.connections:
            connection.halted = True
            connection.transport.pause_reading()
        self.work.end()
        self.outbox.flush()
        await self.outbox.read(self.connections)
        for session in self.sessions.values():
            session.will = None
            for hold in session.holds():
                if hold.timer is not None:
                    hold.timer.cancel()
        for connection in list(self.connections):
            connection.close(will=False)
        await asyncio.sleep(0)
        for connection in list(self.connections):
            connection.transport.abort()
        await asyncio.sleep(0)
        if self._passwords is not None:
            self._passwords.close()
        if self.store is not None:
            self.store.close()
        self.log.info("stopped")

    def _regularly(self, do: Callable[[], None], seconds: float) -> asyncio.Task[None]:
        """Call `do` again and again; an exception is logged, and does not end it."""

        async def again() -> None:
            while True:
                try:
                    do()
                    self.outbox.flush()
                except Exception as error:
                    self.log.exception("%s has failed: %r", do.__name__.strip("_"), error)
                await asyncio.sleep(seconds)

        return self.loop.create_task(again())

    def _halt(self, stuck: bool) -> None:
        """The store cannot be written: read from nobody until it can."""
        for connection in self.connections:
            if stuck:
                connection.transport.pause_reading()
            else:
                connection.read_again()

    # ------------------------------------------------------------------ sessions
    def connect(self, connection: Talker, packet: p.Connect) -> None:
        """Answer CONNECT and bring session and connection together.

        Parameters
        ----------
        connection : Talker
            Where it came from.
        packet : Connect
            What it says.

        Raises
        ------
        MalformedError
            If the protocol is another, or the will could never be published.
        """
        if packet.protocol not in ("MQTT", "MQIsdp"):
            raise MalformedError(f"protocol {packet.protocol[:20]!r} [MQTT-3.1.2-1]")
        proven: bool | asyncio.Future[bool] = True
        if self._passwords is not None and packet.username is not None:
            proven = self._passwords.prove(self.loop, packet.username, packet.password, lambda: not connection.closing)
        if isinstance(proven, bool):
            self._connect(connection, packet, proven)
        else:
            connection.wait()
            proven.add_done_callback(lambda answer: self._hashed(connection, packet, answer))

    def _hashed(self, connection: Talker, packet: p.Connect, answer: asyncio.Future[bool]) -> None:
        """A password that takes long has been checked beside the loop."""
        if connection.closing or answer.cancelled():
            return
        try:
            self._connect(connection, packet, answer.result())
            connection.proceed()
        except Exception as error:
            connection.broke(error)
        self.outbox.flush()

    def _connect(self, connection: Talker, packet: p.Connect, proven: bool) -> None:
        code = self._admit(packet, proven)
        if code != ACCEPTED:
            self.log.warning("%s refused with code %d", connection.peer, code)
            connection.push(bytes((0x20, 2, 0, code)))
            connection.close(will=False)
            return
        if packet.will is not None:
            self.router.route(packet.will.topic.encode())  # a will that cannot be published is refused now
        client_id = packet.client_id or f"auto-{uuid.uuid4()}"
        old = self.sessions.get(client_id)
        if old is not None and old.connection is not None:
            self.log.info("%r is taken over by %s", client_id, connection.peer)
            old.connection.close(will=True)  # [MQTT-3.1.4-2]
            old = self.sessions.get(client_id)
        if old is not None and (packet.clean or old.username != packet.username):
            self._end(old)
            old = None
        shares = self.router.shares
        session = old or Session(client_id, packet.clean)
        if old is None:
            self.sessions[client_id] = session
            session.username = packet.username
            session.owner = shares.owner(packet.username)
            shares.kept[session.owner] += not packet.clean
            if self.store is not None and not packet.clean:
                session.durable = True
                self.store.session(client_id, packet.username)
        session.permissions = self.router.permissions(packet.username, client_id)
        if old is not None and old.subscriptions:
            self.router.forget_routes()
        session.connection = connection
        shares.present[session.owner] += 1
        session.will = packet.will
        connection.session = session
        connection.seen = self.loop.time()
        connection.keep_alive = 1.5 * packet.keep_alive
        connection.push(b"\x20\x02\x01\x00" if old is not None else b"\x20\x02\x00\x00")
        self.log.info("%s connected%s", connection.name, ", session resumed" if old is not None else "")
        if old is not None:
            self.router.resume(session, connection)
            self.ends.answer_again(session)

    def _admit(self, packet: p.Connect, proven: bool) -> int:
        limits = self.config.limits
        if packet.level != 4 or packet.protocol != "MQTT":
            return BAD_VERSION
        if not packet.client_id and not packet.clean:
            return BAD_ID  # [MQTT-3.1.3-8]
        if len(packet.client_id.encode()) > limits.max_client_id:
            return BAD_ID
        known = self.sessions.get(packet.client_id)
        if self._passwords is not None:
            if packet.username is None:
                if not self.config.allow_anonymous:
                    return NOT_AUTHORISED
            elif not proven:
                return BAD_PASSWORD
            # A name that has been proven owns its sessions: nobody else may take one over, or end it.
            if known is not None and known.username != packet.username:
                return BAD_ID
        return ACCEPTED if self._has_room(packet, known) else UNAVAILABLE

    def _has_room(self, packet: p.Connect, known: Session | None) -> bool:
        """May this user have one more connection, and one more session that is kept?"""
        limits, shares = self.config.limits, self.router.shares
        owner = shares.owner(packet.username)
        full = shares.present[owner] >= shares.max_present or shares.present.total() >= limits.max_connections
        if full and (known is None or known.connection is None):  # else it takes over a connection that counts already
            return False
        if packet.clean or (known is not None and not known.clean):
            return True
        return shares.kept[owner] < shares.max_kept and shares.kept.total() < limits.max_sessions

    def gone(self, connection: Talker, will: bool) -> None:
        """Part session and connection; a session that is not to be kept ends here.

        Parameters
        ----------
        connection : Talker
            The one that ends.
        will : bool
            Publish the will, if there is one.
        """
        session = connection.session
        if session is None or session.connection is not connection:
            return
        session.connection = None
        self.router.shares.present[session.owner] -= 1
        self.log.info("%s disconnected", connection.name)
        last, session.will = session.will, None
        if session.clean:
            self._end(session)
        else:
            for message, qos, _ in session.inflight.values():
                if message.hold is not None and message.hold.status is None and qos:
                    message.hold.cannot(session.client_id, Missing.OFFLINE)
        if will and last is not None:
            self._publish_will(session, last)

    def _publish_will(self, session: Session, will: p.Will) -> None:
        route = self.router.route(will.topic.encode())
        if (
            route.kind not in (CLOSED, LIST)
            and session.permissions is not None
            and session.permissions.may_write(route.name)
        ):
            if will.retain:
                self.router.retained.keep(route, will.payload, will.qos, session.owner)
            self.router.deliver(route, will.payload, will.qos, None)

    def _end(self, session: Session) -> None:
        """Forget a session; nobody waits for its answers any longer."""
        self.router.end(session, self.ends.abandon_all(session))

    # ------------------------------------------------------------------ subscriptions
    def subscribe(self, body: bytes, connection: Talker, session: Session) -> Iterator[int]:
        """Answer SUBSCRIBE; retained messages follow the SUBACK.

        Parameters
        ----------
        body : bytes
            The packet behind its fixed header.
        connection, session : Talker, Session
            Who asks.

        Yields
        ------
        int
            Steps done, so that long work can be cut into slices.

        Raises
        ------
        MalformedError
            If the packet is, or asks for QoS 3 where that is switched off.
        """
        packet_id, topics = yield from self._filters(body, True)
        if not self.config.qos3 and any(qos == 3 for _, qos in topics):
            raise MalformedError("QoS 3 is switched off here [MQTT-3-8.3-4]")
        codes = bytearray()
        granted = []
        answer = b""
        for pattern, qos in topics:
            yield pattern.count("/") + weight(pattern)
            if pattern == LIMITS or pattern.startswith(WHY):
                answer = answer or self._answer(pattern, session)
                codes.append(0)
                continue
            reason = self._refusal(pattern, session)
            if reason:
                if not session.refused:  # one line for a session, however often it asks
                    session.refused = True
                    self.log.info("%s may not subscribe to %r: %s", connection.name, pattern[:80], reason)
                codes.append(REFUSED)
                continue
            if qos == 3:
                session.qos3 = True
            codes.append(qos)
            if pattern == "$e2e/hello":
                continue  # asks for E-MQTT on this connection, and for nothing else
            session.subscribe(pattern, qos)
            self.router.tree.add(pattern, session, qos)
            self.router.forget_routes()
            if session.durable and self.store is not None:
                self.store.subscribe(session.client_id, pattern, qos)
            granted.append((pattern, qos))
        connection.push(p.frame(0x90, packet_id.to_bytes(2, "big") + codes) + answer)
        yield from self.router.retained.send_to(session, connection, granted)

    def _filters(self, body: bytes, requested: bool) -> Generator[int, None, tuple[int, list[tuple[str, int]]]]:
        """Read all filters of SUBSCRIBE or UNSUBSCRIBE before any takes effect; yields the steps done."""
        reader = Reader(body)
        packet_id = reader.packet_id()
        topics: list[tuple[str, int]] = []
        for pattern, qos in topic_filters(reader, requested):
            if len(topics) >= self.config.limits.max_filters:
                raise MalformedError(f"more than {self.config.limits.max_filters} topic filters in one packet")
            topics.append((pattern, qos))
            yield pattern.count("/") + weight(pattern)
        return packet_id, topics

    def _answer(self, pattern: str, session: Session) -> bytes:
        """Answer a question that a SUBSCRIBE can ask: the limit of a packet, or why a filter would be refused."""
        if pattern == LIMITS:
            return p.encode(p.Publish(LIMITS, json.dumps({"max_packet": self.config.limits.max_packet}).encode()))
        return p.encode(p.Publish(WHY + "reason", self._refusal(pattern.removeprefix(WHY), session).encode()))

    def _refusal(self, pattern: str, session: Session) -> str:
        """Say why a client may not subscribe, for SUBACK itself has no room for it; nothing if it may."""
        limits = self.config.limits
        first = pattern.partition("/")[0]
        if first in FOREIGN:
            return f"{first}/ asks for {FOREIGN[first]}, which MQTT 3.1.1 does not have: subscribe to the topic itself"
        if pattern in self.config.deny_subscribe:
            return "the broker's settings deny this filter (deny_subscribe)"
        if pattern.count("/") >= MAX_LEVELS:
            return f"it has more than {MAX_LEVELS} levels"
        if pattern not in session.subscriptions:
            if len(session.subscriptions) >= limits.max_subscriptions:
                return f"the client has {limits.max_subscriptions} subscriptions, and may not have more"
            if session.filter_bytes + len(pattern.encode()) > limits.max_subscription_bytes:
                return f"the client's filters may have {limits.max_subscription_bytes} bytes in all"
            if pattern.startswith("$e2e/") and len(session.reports) >= MAX_REPORT_FILTERS:
                return f"the client has {MAX_REPORT_FILTERS} filters for reports, and may not have more"
        if pattern.startswith("$e2e/"):
            return ""
        allowed = session.permissions is not None and session.permissions.may_subscribe(pattern)
        return "" if allowed else "the broker's access rules do not let this client read it"

    def unsubscribe(self, body: bytes, connection: Talker, session: Session) -> Iterator[int]:
        """Answer UNSUBSCRIBE.

        Parameters
        ----------
        body : bytes
            The packet behind its fixed header.
        connection, session : Talker, Session
            Who asks.

        Yields
        ------
        int
            Steps done.

        Raises
        ------
        MalformedError
            If the packet is.
        """
        packet_id, topics = yield from self._filters(body, False)
        for pattern, _ in topics:
            yield pattern.count("/") + weight(pattern)
            if session.unsubscribe(pattern):
                self.router.tree.remove(pattern, session)
                self.router.forget_routes()
                if session.durable and self.store is not None:
                    self.store.unsubscribe(session.client_id, pattern)
        connection.push(p.encode(p.Unsuback(packet_id)))

    # ------------------------------------------------------------------ time
    def _sweep(self) -> None:
        """Close who has been silent for one and a half keep-alive times [MQTT-3.1.2-24], or trickles.

        Time in which it is the broker that does not read counts for neither.
        """
        now = self.loop.time()
        passed, self._swept = now - self._swept, now
        stuck = self.outbox.stuck
        for connection in list(self.connections):
            if connection.closing:
                continue
            congested = connection.congested
            if stuck or connection.pressure.blockers or (connection.busy and not congested):
                connection.seen = now
                connection.excuse(passed, reads=True)
                continue
            if congested:
                connection.excuse(passed, reads=False)
            if connection.keep_alive and now - connection.seen > connection.keep_alive:
                connection.broke(MalformedError("keep-alive exceeded" if connection.session else "no CONNECT in time"))
            elif connection.late(now):
                connection.broke(MalformedError(f"a packet is not complete in time: {connection.held} bytes so far"))

    def _publish_statistics(self) -> None:
        router = self.router
        for name, value in self.statistics().items():
            topic = f"$SYS/broker/{name}"
            route = router.route(topic.encode())
            payload = str(value).encode()
            router.retained.show(topic, route.topic, payload)
            if route.subscribers:
                router.deliver(route, payload, 0, None)
                router.publish_received -= 1

    def statistics(self) -> dict[str, int | str]:
        """Count what is published under ``$SYS/broker/``.

        Returns
        -------
        dict of str to int or str
            Topic behind ``$SYS/broker/`` -> number, or text for the version.
        """
        connected = sum(s.connection is not None for s in self.sessions.values())
        r = self.router
        return {
            "version": f"voicewire {__version__}",
            "uptime": int(self.loop.time() - self._started),
            "clients/connected": connected,
            "clients/disconnected": len(self.sessions) - connected,
            "clients/total": len(self.sessions),
            "subscriptions/count": r.tree.count,
            "retained messages/count": len(r.retained.messages),
            "messages/received": r.messages_received,
            "publish/messages/received": r.publish_received,
            "publish/messages/sent": r.publish_sent,
            "publish/messages/dropped": r.dropped,
            "bytes/received": r.bytes_received,
            "bytes/sent": r.bytes_sent,
            "e2e/waiting": self.ends.open,
            "e2e/failed": self.ends.failed,
        }
