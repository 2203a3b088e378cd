"""A broker for MQTT 3.1.1 and E-MQTT: its sessions, its network, its statistics.

    async with Broker(Config(port=0)) as broker:
        print(broker.port)

In a notebook or any program without an event loop of its own: :class:`~voicewire.mqtt.thread.BrokerThread`.
"""

from __future__ import annotations

import asyncio
import sqlite3
import ssl
import uuid

from voicewire import __version__
from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config, ConfigError, Passwords, Permissions
from voicewire.mqtt.connection import Connection
from voicewire.mqtt.endtoend import EndToEnd
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.hold import Hold, Missing
from voicewire.mqtt.session import Message, Session
from voicewire.mqtt.store import Store
from voicewire.mqtt.topics import MAX_LEVELS

REFUSED = 0x80
ACCEPTED, BAD_VERSION, BAD_ID, UNAVAILABLE, BAD_PASSWORD, NOT_AUTHORISED = range(6)


class Broker(EndToEnd):
    """The broker; use it as an asynchronous context manager, or call `start` and `stop`.

    Parameters
    ----------
    config : Config, optional
        What it may do; by default it listens on 127.0.0.1:1883.
    """

    def __init__(self, config: Config | None = None) -> None:
        super().__init__(config or Config())
        c = self.config
        self._passwords = Passwords(c.password_file) if c.password_file else None
        self._server: asyncio.Server | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._commit_due = False
        self._started = 0.0
        self.port = c.port

    # ------------------------------------------------------------------ life
    async def __aenter__(self) -> Broker:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Open the store and listen.

        Raises
        ------
        OSError, ConfigError, StoreError
            If the port, the certificate or the store cannot be used.
        """
        self.loop = asyncio.get_running_loop()
        c = self.config
        context: ssl.SSLContext | None = None
        if c.tls_cert:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            try:
                context.load_cert_chain(c.tls_cert, c.tls_key)
            except (OSError, ssl.SSLError) as error:
                raise ConfigError(f"cannot use the certificate {c.tls_cert}: {error}") from None
        if c.persist:
            self.store = Store(c.persist)
            self.store.load(self, self._settled)
        self._server = await self.loop.create_server(
            lambda: Connection(self), c.host, c.port, ssl=context, backlog=1024, reuse_address=True
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self._started = self.loop.time()
        self._tasks = [self.loop.create_task(self._sweep())]
        if c.sys_interval:
            self._tasks.append(self.loop.create_task(self._statistics()))
        self.log.info("listening on %s:%d%s", c.host, self.port, " (TLS)" if context else "")
        if self._passwords and self._passwords.plain:
            self.log.warning("%s holds passwords in plain text", c.password_file)

    async def stop(self) -> None:
        """Close every connection and the store."""
        for task in self._tasks:
            task.cancel()
        if self._server is not None:
            self._server.close()
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
        if self.store is not None:
            self.store.close()
        self.log.info("stopped")

    # ------------------------------------------------------------------ sessions
    def connect(self, connection: Connection, packet: p.Connect) -> None:
        """Answer CONNECT and bring session and connection together."""
        if packet.protocol not in ("MQTT", "MQIsdp"):
            raise MalformedError(f"protocol {packet.protocol[:20]!r} [MQTT-3.1.2-1]")
        code = self._admit(packet)
        if code != ACCEPTED:
            self.log.warning("%s refused with code %d", connection.peer, code)
            connection.push(bytes((0x20, 2, 0, code)))
            connection.close(will=False)
            return
        client_id = packet.client_id or f"auto-{uuid.uuid4()}"
        old = self.sessions.get(client_id)
        if old is not None and old.connection is not None:
            self.log.info("%r is taken over by %s", client_id, connection.peer)
            old.connection.close(will=True)  # [MQTT-3.1.4-2]
            old = self.sessions.get(client_id)
        if old is not None and (packet.clean or old.username != packet.username):
            self._end(old)
            old = None
        session = old or Session(client_id, packet.clean)
        if old is None:
            self.sessions[client_id] = session
            session.username = packet.username
            if self.store is not None and not packet.clean:
                session.durable = True
                self.store.session(client_id, packet.username)
        if self.config.access and session.permissions is None:
            session.permissions = Permissions(self.config.access, packet.username, client_id)
            self.routes.clear()
        session.connection = connection
        session.will = packet.will
        connection.session = session
        connection.keep_alive = 1.5 * packet.keep_alive
        connection.push(b"\x20\x02\x01\x00" if old is not None else b"\x20\x02\x00\x00")
        self.log.info("%s connected%s", connection.name, ", session resumed" if old is not None else "")
        if old is not None:
            self.resume(session, connection)
            for hold in session.holds():  # decided while the publisher was away
                if hold.status is not None and hold.qos == 3 and hold.report:
                    self._answer(hold)

    def _admit(self, packet: p.Connect) -> int:
        limits = self.config.limits
        if packet.level != 4 or packet.protocol != "MQTT":
            return BAD_VERSION
        if not packet.client_id and not packet.clean:
            return BAD_ID  # [MQTT-3.1.3-8]
        if self._passwords is not None:
            if packet.username is None:
                if not self.config.allow_anonymous:
                    return NOT_AUTHORISED
            elif not self._passwords.check(packet.username, packet.password):
                return BAD_PASSWORD
        if len(self.connections) > limits.max_connections:
            return UNAVAILABLE
        if not packet.clean and packet.client_id not in self.sessions and len(self.sessions) >= limits.max_sessions:
            return UNAVAILABLE
        return ACCEPTED

    def gone(self, connection: Connection, will: bool) -> None:
        """Part session and connection; a session that is not to be kept ends here."""
        session = connection.session
        if session is None or session.connection is not connection:
            return
        session.connection = None
        self.log.info("%s disconnected", connection.name)
        last, session.will = session.will, None
        if will and last is not None:
            self._publish_will(session, last)
        if session.clean:
            self._end(session)
        else:
            for message, qos, _ in session.inflight.values():
                if message.hold is not None and message.hold.status is None and qos:
                    message.hold.cannot(session.client_id, Missing.OFFLINE)

    def _publish_will(self, session: Session, will: p.Will) -> None:
        route = self.route(will.topic.encode())
        if route.kind != 2 and (session.permissions is None or session.permissions.may_write(route.name)):
            self.deliver(route, will.payload, will.qos, will.retain, None)

    def _end(self, session: Session) -> None:
        """Forget a session; nobody waits for its answers any longer."""
        if self.sessions.get(session.client_id) is session:
            del self.sessions[session.client_id]
        if session.subscriptions:
            for pattern in session.subscriptions:
                self.tree.remove(pattern, session)
            self.routes.clear()
        for hold in session.holds():
            self.abandon(hold)
        if session.durable and self.store is not None:
            self.store.forget(session.client_id)
        for message, _, _ in [*session.inflight.values(), *(session.queue or ())]:
            if message.hold is not None:
                message.hold.lose(session.client_id, Missing.SESSION_ENDED)
                self.keep(message.hold)

    def restored(self, waiting: dict[Hold, set[str]]) -> None:
        """After a restart: who can still acknowledge what (sessions that were not kept cannot)."""
        for hold, clients in waiting.items():
            for client_id in sorted(hold.waiting - clients):
                hold.lose(client_id, Missing.SESSION_ENDED)
            for client_id in clients:
                hold.cannot(client_id, Missing.OFFLINE)
            if hold.status is None and hold.report:
                hold.timer = self.loop.call_later(self.config.limits.hold_timeout, self._expire, hold)

    # ------------------------------------------------------------------ subscriptions
    def subscribe(self, packet: p.Subscribe, connection: Connection, session: Session) -> None:
        """Answer SUBSCRIBE; retained messages follow the SUBACK."""
        codes = []
        granted = []
        for pattern, qos in packet.topics:
            if qos == 3 and not self.config.qos3:
                raise MalformedError("QoS 3 is switched off here [MQTT-3-8.3-4]")
            if not self._may_subscribe(pattern, session):
                codes.append(REFUSED)
                continue
            if qos == 3:
                session.qos3 = True
            codes.append(qos)
            if pattern == "$e2e/hello":
                continue  # asks for E-MQTT on this connection, and for nothing else
            session.subscriptions[pattern] = qos
            self.tree.add(pattern, session, qos)
            if session.durable and self.store is not None:
                self.store.subscribe(session.client_id, pattern, qos)
            granted.append((pattern, qos))
        self.routes.clear()
        connection.push(p.encode(p.Suback(packet.packet_id, tuple(codes))))
        for pattern, qos in granted:
            self.send_retained(session, connection, pattern, qos)

    def _may_subscribe(self, pattern: str, session: Session) -> bool:
        if pattern in self.config.deny_subscribe or pattern.count("/") >= MAX_LEVELS:
            return False
        known = pattern in session.subscriptions
        if not known and len(session.subscriptions) >= self.config.limits.max_subscriptions:
            return False
        if session.permissions is None or pattern.startswith("$e2e/"):
            return True
        return session.permissions.may_subscribe(pattern)

    def unsubscribe(self, packet: p.Unsubscribe, connection: Connection, session: Session) -> None:
        """Answer UNSUBSCRIBE."""
        for pattern in packet.topics:
            if session.subscriptions.pop(pattern, None) is not None:
                self.tree.remove(pattern, session)
                if session.durable and self.store is not None:
                    self.store.unsubscribe(session.client_id, pattern)
        self.routes.clear()
        connection.push(p.encode(p.Unsuback(packet.packet_id)))

    # ------------------------------------------------------------------ writing and committing
    def flush(self) -> None:
        """Write what has collected; with a store, commit first, once for all that this tick brings."""
        if self.store is not None and (self.store.pending or self._commit_due):
            if not self._commit_due:
                self._commit_due = True
                self.loop.call_soon(self._commit_and_write)
            return
        self._write()

    def _write(self) -> None:
        dirty = self.dirty
        if dirty:
            self.dirty = []
            for connection in dirty:
                if not connection.transport.is_closing():
                    connection.write()
                else:
                    connection.dirty = False

    def _commit_and_write(self) -> None:
        if self.commit():
            self._commit_due = False
            self._write()
        else:
            self.loop.call_later(1.0, self._commit_and_write)

    def commit(self) -> bool:
        """Commit to the store.

        If it cannot be written (disk full), nobody is read from or answered until it can: no message is
        acknowledged that could be lost, and none is lost.
        """
        if self.store is None:
            return True
        try:
            self.store.commit()
        except sqlite3.Error as error:
            if not self.stuck:
                self.log.error("the store cannot be written (%s): everything waits until it can", error)
                for connection in self.connections:
                    connection.transport.pause_reading()
            self.stuck = True
            return False
        if self.stuck:
            self.stuck = False
            self.log.warning("the store can be written again")
            for connection in self.connections:
                connection.seen = self.loop.time()
                if not (connection.blockers or connection.congested or connection.closing):
                    connection.transport.resume_reading()
        return True

    # ------------------------------------------------------------------ time
    async def _sweep(self) -> None:
        """Close who has been silent for one and a half keep-alive times [MQTT-3.1.2-24]."""
        while True:
            await asyncio.sleep(0.25)
            if self.stuck:
                continue
            now = self.loop.time()
            for connection in list(self.connections):
                if connection.closing or not connection.keep_alive:
                    continue
                if connection.blockers:
                    connection.seen = now  # it is the broker that does not read
                elif now - connection.seen > connection.keep_alive:
                    connection.fail("keep-alive exceeded" if connection.session else "no CONNECT in time")
            self.flush()

    async def _statistics(self) -> None:
        while True:
            for name, value in self.statistics().items():
                topic = f"$SYS/broker/{name}"
                route = self.route(topic.encode())
                payload = str(value).encode()
                self.retained[topic] = (Message(route.topic, payload, True), 0)
                if route.subscribers:
                    self.deliver(route, payload, 0, False, None)
                    self.publish_received -= 1
            self.flush()
            await asyncio.sleep(self.config.sys_interval)

    def statistics(self) -> dict[str, int | str]:
        """Return what is published under `$SYS/broker/`."""
        connected = sum(s.connection is not None for s in self.sessions.values())
        return {
            "version": f"voicewire {__version__}",
            "uptime": int(self.loop.time() - self._started),
            "clients/connected": connected,
            "clients/disconnected": len(self.sessions) - connected,
            "clients/total": len(self.sessions),
            "subscriptions/count": self.tree.count,
            "retained messages/count": len(self.retained),
            "messages/received": self.messages_received,
            "publish/messages/received": self.publish_received,
            "publish/messages/sent": self.publish_sent,
            "publish/messages/dropped": self.dropped,
            "bytes/received": self.bytes_received,
            "bytes/sent": self.bytes_sent,
            "e2e/waiting": self.holds_open,
            "e2e/failed": self.holds_failed,
        }
