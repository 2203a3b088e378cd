"""End-to-end acknowledgement in the broker: messages whose publishers wait until their subscribers have them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator

from voicewire.mqtt import packets as p
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.interfaces import Peer
from voicewire.mqtt.routes import END_TO_END, LIST, Route
from voicewire.mqtt.routing import Router
from voicewire.mqtt.serving.time_slicing import Work
from voicewire.mqtt.sessions.hold import ENTRY, Hold, Missing, Status
from voicewire.mqtt.sessions.outbox import Outbox
from voicewire.mqtt.sessions.session import Message, Session
from voicewire.mqtt.topics import MAX_LEVELS, matches

__all__: list[str] = []  # the broker's inside: only this room's own modules use it

REPORTS = "$e2e/report/"
"""Where an unmodified publisher reads, as JSON, how each of its `$e2e/…` messages ended."""
MAX_REPORT_FILTERS = 16
"""Filters below `$e2e/` of one session: each is compared with every message of its own that is decided."""


class EndToEnd:
    """Keeps back the answer to a publisher until its message has arrived: the rules of *E-MQTT, completed*."""

    def __init__(self, router: Router, outbox: Outbox, work: Work, log: logging.Logger) -> None:
        self.router = router
        self.outbox = outbox
        self.work = work
        self.log = log
        self.limits = router.limits
        self.loop: asyncio.AbstractEventLoop
        self.open = self.failed = 0

    def special(
        self, route: Route, qos: int, packet_id: int, payload: bytes, retain: bool, source: Peer, session: Session
    ) -> None:
        """A publication to `$e2e/…`, or to a topic that is the broker's own (answered, and dropped).

        Who is subscribed is told at QoS 1 and 2 only: there each request is paid for by its publisher's turn.
        """
        if route.kind == END_TO_END:
            self._hold(source, session, qos, packet_id, route, payload, retain, route.need, (), False, 0)
            return
        if qos:
            if route.kind == LIST and not (qos == 2 and packet_id in session.received):
                self._tell_ids(route, session)
            if qos == 2:
                self._remember(session, packet_id)
            source.push((b"\x40\x02" if qos == 1 else b"\x50\x02") + packet_id.to_bytes(2, "big"))

    def _tell_ids(self, route: Route, session: Session) -> None:
        """Send a publisher the ids of those who can acknowledge on a topic, if it may write there and listens.

        It learns no more than the report of a message to them would tell it.
        """
        connection = session.connection
        topic = f"{REPORTS}ids/{route.name}"
        if connection is None or session.permissions is None or not session.permissions.may_write(route.name):
            return
        if len(topic.encode()) > 65535 or not any(matches(f, topic) for f in session.reports):
            return
        room, names, cut = self.limits.max_report, [], False
        for subscriber, qos in route.subscribers:
            room -= ENTRY + len(subscriber.client_id.encode()) if qos and not subscriber.ended else 0
            if room < 0:
                cut = True
                break
            if qos and not subscriber.ended:
                names.append(subscriber.client_id)
        text = json.dumps({"subscribers": sorted(names)} | ({"cut": True} if cut else {}))
        connection.push_qos0(Message(topic.encode(), text.encode()).encode(0), 1)

    def publish3(self, packet: p.Publish, source: Peer, session: Session) -> None:
        """A PUBLISH of QoS 3."""
        route = self.router.route(packet.topic.encode())
        if route.kind:
            raise MalformedError("QoS 3 to a topic that begins with $e2e or $SYS")
        self._hold(
            source, session, 3, packet.packet_id, route, packet.payload, packet.retain, packet.waited,
            packet.subscribers, packet.report, packet.limit,
        )  # fmt: skip

    def _hold(
        self, source: Peer, session: Session, qos: int, packet_id: int, route: Route, payload: bytes, retain: bool,
        need: int, named: tuple[str, ...], report: bool, limit: int,
    ) -> None:  # fmt: skip
        before: Hold | None = None
        if qos > 1 and packet_id in session.received:
            known = session.received[packet_id]
            if known is None:
                source.push((b"\x50\x02" if qos == 2 else b"\x56\x02") + packet_id.to_bytes(2, "big"))
            if not isinstance(known, Hold):
                return
            before = known
        elif qos == 1 and session.held is not None:
            before = session.held.get(packet_id)
        if before is not None and (before.status is not Status.SHORT or before.report):
            if before.status is not None:
                self.answer(before)
            return
        if session.open_holds >= self.limits.max_holds:
            raise MalformedError(f"{session.open_holds} messages wait for subscribers already")
        address = f"{need}/{route.name}"
        if len(REPORTS) + len(address.encode()) > 65535 or address.count("/") > MAX_LEVELS:
            raise MalformedError("an end-to-end message whose topic is too long for that of its report")
        hold = Hold(session, packet_id, qos, need, named, report, address, self.settled, self.limits.max_report)
        hold.ledger = self.router.shares
        if before is not None:  # sent again after nobody was left to answer: those who have answered still count
            hold.follow(before)
        if qos > 1:
            if before is None:
                self.router.shares.note(session.owner, len(session.received), len(self.router.sessions))
            session.received[packet_id] = hold  # the store notes it with the deliveries
        elif qos == 1:
            if session.held is None:
                session.held = {}
            session.held[packet_id] = hold
        session.open_holds += qos > 0 and before is None
        self.open += 1
        if report:
            seconds = limit * p.TICK or self.limits.hold_timeout
            hold.timer = self.loop.call_later(seconds, self.expire, hold)
        if session.permissions is not None and session.permissions.may_write(route.name):
            if retain:
                self.router.retained.keep(route, payload, min(qos or 1, 2), session.owner)
            self.router.deliver(route, payload, qos or 1, source, hold)
        else:
            self.router.begin(hold)

    def expire(self, hold: Hold) -> None:
        """The time limit of a hold is reached; many may be at once."""
        hold.timer = None

        def steps() -> Iterator[int]:
            hold.expire()
            yield 10 + len(hold.acknowledged) + len(hold.waiting)

        self.work.add(steps())

    def settled(self, hold: Hold) -> None:
        """A hold is decided: answer the publisher, and tell it on its report topic if it listens there.

        What goes wrong here is the publisher's, though a subscriber's packet has led to it.
        """
        self.open -= 1
        publisher = hold.publisher
        if hold.status is not Status.COMPLETE:
            self.failed += 1
            self.log.info(
                "message %d of %r: %d of %d have acknowledged, %s",
                hold.packet_id, publisher.client_id, len(hold.acknowledged), hold.need,
                hold.status.name.lower() if hold.status else "",
            )  # fmt: skip
        connection = publisher.connection
        try:
            self.answer(hold)
            topic = REPORTS + hold.address
            if connection is not None and any(matches(f, topic) for f in publisher.reports):
                connection.push_qos0(Message(topic.encode(), hold.as_json().encode()).encode(0), 1)
        except Exception as error:
            if connection is None:
                self.log.exception("an answer to %r has failed: %r", publisher.client_id, error)
            else:
                connection.broke(error)

    def answer(self, hold: Hold) -> None:
        """Tell the publisher of a hold that is decided, if it is there; else when it sends the message again."""
        publisher = hold.publisher
        connection = publisher.connection
        if connection is None:
            return
        if self.router.favours and not connection.dirty:
            connection.dirty = True
            self.outbox.dirty.insert(0, connection)  # the publisher waits: it is written to first
        self.outbox.end_patience()
        packet_id = hold.packet_id.to_bytes(2, "big")
        complete = hold.status is Status.COMPLETE
        if hold.qos == 3 and hold.report:
            connection.push(p.frame(0x56, packet_id + hold.outcome().encode()))
        elif hold.qos > 1 and complete:
            connection.push((b"\x56\x02" if hold.qos == 3 else b"\x50\x02") + packet_id)
        elif hold.qos == 1 and complete:
            if publisher.held is not None and publisher.held.pop(hold.packet_id, None) is not None:
                publisher.open_holds -= 1
            connection.push(b"\x40\x02" + packet_id)

    def answer_again(self, session: Session) -> None:
        """A publisher is back: tell it what was decided while it was away."""
        for hold in session.holds():
            if hold.status is not None and hold.qos == 3 and hold.report:
                self.answer(hold)

    def _remember(self, session: Session, packet_id: int) -> None:
        """Note the packet id of a QoS 2 message that goes to nobody, until its PUBREL."""
        if packet_id not in session.received:
            self.router.shares.note(session.owner, len(session.received), len(self.router.sessions))
        session.received[packet_id] = None
        if session.durable and self.router.store is not None:
            self.router.store.received(session.client_id, packet_id)

    def forget_received(self, session: Session, packet_id: int) -> None:
        """PUBREL: the packet id may be used for a new message."""
        hold = session.received.pop(packet_id)
        self.router.shares.released(session.owner)
        if isinstance(hold, Hold):
            session.open_holds -= 1
            self.abandon(hold)
        if session.durable and self.router.store is not None:
            self.router.store.forget_received(session.client_id, packet_id)

    def abandon(self, hold: Hold) -> None:
        """Nobody waits for this hold any more."""
        if hold.status is None:
            self.open -= 1
            hold.status = Status.SHORT
        if hold.timer is not None:
            hold.timer.cancel()
            hold.timer = None
        if hold.number and self.router.store is not None:
            self.router.store.drop_hold(hold)

    def abandon_all(self, session: Session) -> Iterator[int]:
        """A publisher's session ends: nobody waits for its holds any more; yields the steps done."""
        for hold in session.holds():
            self.abandon(hold)
            yield 2

    def restored(self, waiting: dict[Hold, set[str]]) -> None:
        """After a restart: who can still acknowledge what (sessions that were not kept cannot)."""
        for hold, clients in waiting.items():
            self.open += hold.status is None
            for client_id in sorted(hold.waiting - clients):
                hold.lose(client_id, Missing.SESSION_ENDED)
            for client_id in clients:
                hold.cannot(client_id, Missing.OFFLINE)
            if hold.status is None and hold.report:
                hold.timer = self.loop.call_later(self.limits.hold_timeout, self.expire, hold)
