"""End-to-end acknowledgement in the broker: messages whose publishers wait until their subscribers have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voicewire.mqtt import packets as p
from voicewire.mqtt.core import END_TO_END, Core
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.hold import Hold, Status
from voicewire.mqtt.session import Message, Route, Session
from voicewire.mqtt.topics import matches

if TYPE_CHECKING:
    from voicewire.mqtt.config import Config
    from voicewire.mqtt.connection import Connection

REPORTS = "$e2e/report/"
"""Where an unmodified publisher reads, as JSON, how each of its `$e2e/…` messages ended."""
PATIENCE = 0.005
"""Seconds for which a PUBREL may be put off in favour of a publisher that waits."""


class EndToEnd(Core):
    """Keeps back the answer to a publisher until its message has arrived: the rules of *E-MQTT, completed*."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.patient: list[Connection] = []

    def special(self, route: Route, qos: int, packet_id: int, payload: bytes, retain: bool, source: Connection) -> None:
        """A publication to `$e2e/…`, or to a topic that is the broker's own (answered, and dropped)."""
        session = source.session
        assert session is not None
        if route.kind == END_TO_END:
            self._end_to_end(source, session, qos, packet_id, route, payload, retain, route.need, (), False, 0)
            return
        if qos:
            if qos == 2:
                self.remember(session, packet_id, None)
            source.push((b"\x40\x02" if qos == 1 else b"\x50\x02") + packet_id.to_bytes(2, "big"))

    def publish3(self, packet: p.Publish, source: Connection) -> None:
        """A PUBLISH of QoS 3."""
        session = source.session
        assert session is not None
        route = self.route(packet.topic.encode())
        if route.kind:
            raise MalformedError("QoS 3 to a topic that begins with $e2e or $SYS")
        self._end_to_end(
            source, session, 3, packet.packet_id, route, packet.payload, packet.retain, packet.waited,
            packet.subscribers, packet.report, packet.limit,
        )  # fmt: skip

    def _end_to_end(
        self, source: Connection, session: Session, qos: int, packet_id: int, route: Route, payload: bytes,
        retain: bool, need: int, named: tuple[str, ...], report: bool, limit: int,
    ) -> None:  # fmt: skip
        before: Hold | None = None
        if qos > 1 and packet_id in session.received:
            before = session.received[packet_id]
            if before is None:
                source.push((b"\x50\x02" if qos == 2 else b"\x56\x02") + packet_id.to_bytes(2, "big"))
                return
        elif qos == 1 and session.held is not None:
            before = session.held.get(packet_id)
        if before is not None and (before.status is not Status.SHORT or before.report):
            if before.status is not None:
                self._answer(before)
            return
        holds = session.holds()
        if len(holds) >= self.config.limits.max_holds:
            raise MalformedError(f"{len(holds)} messages wait for subscribers already")
        hold = Hold(session, packet_id, qos, need, named, report, f"{need}/{route.name}", self._settled)
        if before is not None:  # sent again after nobody was left to answer: those who have answered still count
            hold.acknowledged, hold.number = before.acknowledged, before.number
        if qos > 1:
            self.remember(session, packet_id, hold)
        elif qos == 1:
            if session.held is None:
                session.held = {}
            session.held[packet_id] = hold
        self.holds_open += 1
        if session.permissions is None or session.permissions.may_write(route.name):
            self.deliver(route, payload, qos or 1, retain, source, hold)
        if report:
            seconds = limit * p.TICK or self.config.limits.hold_timeout
            hold.timer = self.loop.call_later(seconds, self._expire, hold)
        hold.begin()
        self.keep(hold)

    def keep(self, hold: Hold) -> None:
        """Let the hold outlive the broker, if its publisher's session does."""
        if hold.publisher.durable and self.store is not None and hold.qos > 1:
            self.store.keep(hold)

    def _expire(self, hold: Hold) -> None:
        hold.expire()
        self.flush()

    def _settled(self, hold: Hold) -> None:
        """A hold is decided: answer the publisher, and tell it on its report topic if it listens there."""
        self.holds_open -= 1
        publisher = hold.publisher
        if hold.status is not Status.COMPLETE:
            self.holds_failed += 1
            self.log.info(
                "message %d of %r: %d of %d have acknowledged, %s",
                hold.packet_id, publisher.client_id, len(hold.acknowledged), hold.need,
                hold.status.name.lower() if hold.status else "",
            )  # fmt: skip
        self._answer(hold)
        connection = publisher.connection
        if connection is not None and any(
            matches(f, REPORTS + hold.address) for f in publisher.subscriptions if f.startswith("$e2e/")
        ):
            message = Message((REPORTS + hold.address).encode(), hold.as_json().encode())
            connection.push_qos0(message.encode(0), 1)

    def _answer(self, hold: Hold) -> None:
        publisher = hold.publisher
        connection = publisher.connection
        if connection is None:
            return  # told when it sends the message again
        if not connection.dirty:
            connection.dirty = True
            self.dirty.insert(0, connection)  # the publisher waits: it is written to first
        self.end_patience()
        packet_id = hold.packet_id.to_bytes(2, "big")
        complete = hold.status is Status.COMPLETE
        if hold.qos == 3 and hold.report:
            connection.push(p.frame(0x56, packet_id + hold.outcome().encode()))
        elif hold.qos > 1 and complete:
            connection.push((b"\x56\x02" if hold.qos == 3 else b"\x50\x02") + packet_id)
        elif hold.qos == 1 and complete:
            if publisher.held is not None:
                publisher.held.pop(hold.packet_id, None)
            connection.push(b"\x40\x02" + packet_id)

    def remember(self, session: Session, packet_id: int, hold: Hold | None) -> None:
        """Note the packet id of a QoS 2 or 3 message until its PUBREL."""
        session.received[packet_id] = hold
        if session.durable and self.store is not None:
            self.store.received(session.client_id, packet_id)

    def forget_received(self, session: Session, packet_id: int) -> None:
        """PUBREL: the packet id may be used for a new message."""
        hold = session.received.pop(packet_id)
        if hold is not None:
            self.abandon(hold)
        if session.durable and self.store is not None:
            self.store.forget_received(session.client_id, packet_id)

    def abandon(self, hold: Hold) -> None:
        """Nobody waits for this hold any more."""
        if hold.status is None:
            self.holds_open -= 1
            hold.status = Status.SHORT
        if hold.timer is not None:
            hold.timer.cancel()
            hold.timer = None
        if hold.number and self.store is not None:
            self.store.drop_hold(hold)

    # ------------------------------------------------------------------ what can wait
    def begin_patience(self) -> None:
        """What is `patient` from now on waits until a hold is decided, `PATIENCE` at most.

        When 80 subscribers answer at once, the last answer is what a publisher waits for. PUBRELs to the others
        would only keep broker, network and subscribers from it.
        """
        self.loop.call_later(PATIENCE, self._patience_over)

    def end_patience(self) -> None:
        """Send with the next flush what was put off."""
        patient, self.patient = self.patient, []
        for connection in patient:
            if connection.out and not connection.dirty:
                connection.dirty = True
                self.dirty.append(connection)

    def _patience_over(self) -> None:
        if self.patient:
            self.end_patience()
            self.flush()
