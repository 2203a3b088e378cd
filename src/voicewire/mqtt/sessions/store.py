"""Sessions that outlive the broker: a write-behind journal into SQLite, one transaction a tick of the event loop.

Nothing is acknowledged before the transaction that holds it is committed (`synchronous=FULL`): packet id and all
deliveries of a message are one transaction, so it is either still the sender's or already the store's. That is what
makes QoS 2 exact across `kill -9`. A message for more subscribers than fit into a slice is written over several; it
counts from the one that says that it is whole, and what is not whole when the store is opened is forgotten.

A payload of more than `APART` bytes is written once, and its deliveries refer to it. Payloads carry a checksum.
What a power cut may cost stands in the book, where it says what the broker is held to.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from zlib import crc32

from voicewire.mqtt.routing import Router
from voicewire.mqtt.serving.resource_limits import ENTRY
from voicewire.mqtt.sessions.hold import Hold
from voicewire.mqtt.sessions.session import RELEASED, Message, Session
from voicewire.mqtt.topics import check_filter, check_name

__all__ = ["StoreError"]

VERSION = 3
APART = 1024
"""Bytes of the longest payload that lies beside each delivery; a longer one has a row of its own."""
SCHEMA = """
create table if not exists sessions (client text primary key, username text) without rowid;
create table if not exists subscriptions (client text, filter text, qos int, primary key (client, filter))
    without rowid;
create table if not exists retained (topic text primary key, payload blob, qos int, owner text, crc int)
    without rowid;
create table if not exists messages (number integer primary key, topic blob, payload blob, retain int, hold int,
    crc int, whole int);
create table if not exists outgoing (number integer primary key, client text, packet_id int, qos int,
    released int default 0, sent int, topic blob, payload blob, retain int, hold int, crc int, message int default 0);
create index if not exists outgoing_client on outgoing (client);
create table if not exists received (client text, packet_id int, primary key (client, packet_id)) without rowid;
create table if not exists holds (number integer primary key, client text, state text);
create index if not exists holds_client on holds (client);
"""
CHANGES = (
    (2, "alter table retained add column owner text"),  # who has retained it; of an older one: nobody with a name
    (3, "alter table retained add column crc int"),
    (3, "alter table outgoing add column crc int"),
    (3, "alter table outgoing add column message int default 0"),
)
"""What makes a store of an older version one of this version; a payload without a checksum is taken as it is."""


class StoreError(RuntimeError):
    """The store cannot be opened; the message says why and what to do.

    Examples
    --------
    >>> issubclass(StoreError, Exception)
    True
    """


class Store:
    """The journal of one broker."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        try:
            version = _version(self._path)
            _make_private(self._path)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=0)
            self._db.execute("pragma journal_mode=wal")
            self._db.execute("pragma locking_mode=exclusive")
            self._db.execute("pragma synchronous=full")
            self._db.execute("begin immediate")
            if version != VERSION:  # else nothing is written before all of it has been read
                changes = [change for since, change in CHANGES if 0 < version < since]
                for statement in (*changes, *SCHEMA.split(";"), f"pragma user_version={VERSION}"):
                    self._db.execute(statement)
            self._db.execute("commit")
            self._number, self._message, self._hold = (
                self._db.execute(f"select coalesce(max(number), 0) from {table}").fetchone()[0]
                for table in ("outgoing", "messages", "holds")
            )
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"cannot use {path} as a store: {error}") from None
        self._changed: dict[Hold, None] = {}
        self._todo: list[tuple[str, tuple[object, ...]]] = []

    @property
    def pending(self) -> bool:
        """Is there anything to commit?"""
        return bool(self._todo or self._changed)

    def execute(self, sql: str) -> None:
        """Run one statement outside the journal (tests use it to make the disk full)."""
        self._db.execute(sql)

    def commit(self) -> None:
        """Write the journal down."""
        todo = self._todo
        for hold in self._changed:
            state = (hold.number, hold.publisher.client_id, hold.dump())
            todo.append(("insert or replace into holds values (?, ?, ?)", state))
        self._changed.clear()
        if not todo:
            return
        execute = self._db.execute
        try:
            execute("begin immediate")
            for sql, values in todo:
                execute(sql, values)
            execute("commit")
        except sqlite3.Error:
            if self._db.in_transaction:
                execute("rollback")
            raise
        self._todo = []

    def close(self) -> None:
        """Commit what is left and close the file."""
        try:
            self.commit()
        finally:
            self._db.close()

    # ------------------------------------------------------------------ what happens to sessions
    def session(self, client: str, username: str | None) -> None:
        """A session that is to be kept has begun."""
        self._todo.append(("insert or replace into sessions values (?, ?)", (client, username)))

    def forget(self, client: str) -> None:
        """A kept session has ended, with all that belongs to it."""
        for hold in [h for h in self._changed if h.publisher.client_id == client]:
            del self._changed[hold]
        for table in ("sessions", "subscriptions", "outgoing", "received", "holds"):
            self._todo.append((f"delete from {table} where client = ?", (client,)))

    def subscribe(self, client: str, pattern: str, qos: int) -> None:
        """A kept session subscribes."""
        self._todo.append(("insert or replace into subscriptions values (?, ?, ?)", (client, pattern, qos)))

    def unsubscribe(self, client: str, pattern: str) -> None:
        """A kept session unsubscribes."""
        self._todo.append(("delete from subscriptions where client = ? and filter = ?", (client, pattern)))

    def retain(self, topic: str, payload: bytes, qos: int, owner: str | None = None) -> None:
        """A message is retained for its owner; an empty payload clears it."""
        if payload:
            values = (topic, payload, qos, owner, crc32(payload))
            self._todo.append(("insert or replace into retained values (?, ?, ?, ?, ?)", values))
        else:
            self._todo.append(("delete from retained where topic = ?", (topic,)))

    def outgoing(self, client: str, packet_id: int, qos: int, message: Message) -> int:
        """A message is queued for a kept session (`packet_id` 0), or sent to it; returns its number."""
        self._number += 1
        hold = message.hold
        if hold is not None and hold.publisher.durable and hold.qos > 1:
            self._numbered(hold)
        sent, hold_no = self._number if packet_id else 0, hold.number if hold else 0
        if message.sealed or len(message.payload) > APART:
            refers = (self._number, client, packet_id, qos, sent, self._row(message, hold_no))
            sql = "insert into outgoing (number, client, packet_id, qos, sent, message) values (?, ?, ?, ?, ?, ?)"
            self._todo.append((sql, refers))
        else:
            topic, payload = message.topic, message.payload
            values = (
                self._number, client, packet_id, qos, sent, topic, payload, message.retain, hold_no, crc32(payload),
            )  # fmt: skip
            self._todo.append(("insert into outgoing values (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, 0)", values))
        return self._number

    def _row(self, message: Message, hold: int) -> int:
        """Return the row of a message that many refer to, made for the first of them."""
        if not message.number:
            self._message += 1
            message.number = self._message
            whole, payload = not message.sealed, message.payload
            values = (message.number, message.topic, payload, message.retain, hold, crc32(payload), whole)
            self._todo.append(("insert into messages values (?, ?, ?, ?, ?, ?, ?)", values))
        message.stored += 1
        return message.number

    def whole(self, message: Message) -> None:
        """A message that was sealed is in the queues of all its subscribers."""
        self._todo.append(("update messages set whole = 1 where number = ?", (message.number,)))

    def left(self, message: Message) -> None:
        """One delivery less refers to the message; the last one takes its row along."""
        if message.number:
            message.stored -= 1
            if not message.stored:
                self._todo.append(("delete from messages where number = ?", (message.number,)))
                message.number = 0

    def sent(self, number: int, packet_id: int) -> None:
        """A queued message got its packet id; the order of sending is kept."""
        self._todo.append(("update outgoing set packet_id = ?, sent = ? where number = ?", (packet_id, number, number)))

    def released(self, number: int, message: Message) -> None:
        """Its PUBREC has come."""
        sql = "update outgoing set released = 1, payload = x'', message = 0, crc = null where number = ?"
        self._todo.append((sql, (number,)))
        self.left(message)

    def done(self, number: int, message: Message) -> None:
        """Its last acknowledgement has come."""
        self._todo.append(("delete from outgoing where number = ?", (number,)))
        self.left(message)

    def received(self, client: str, packet_id: int) -> None:
        """A QoS 2 message of a kept session has come."""
        self._todo.append(("insert or ignore into received values (?, ?)", (client, packet_id)))

    def forget_received(self, client: str, packet_id: int) -> None:
        """Its PUBREL has come."""
        self._todo.append(("delete from received where client = ? and packet_id = ?", (client, packet_id)))

    def _numbered(self, hold: Hold) -> int:
        if not hold.number:
            self._hold += 1
            hold.number = self._hold
        return hold.number

    def keep(self, hold: Hold) -> None:
        """The state of a hold has changed; however often it does in a tick, it is written once."""
        self._numbered(hold)
        self._changed[hold] = None

    def drop_hold(self, hold: Hold) -> None:
        """Nobody waits for this hold any more."""
        self._changed.pop(hold, None)
        self._todo.append(("delete from holds where number = ?", (hold.number,)))

    # ------------------------------------------------------------------ after a restart
    def load(self, router: Router, settled: Callable[[Hold], None]) -> dict[Hold, set[str]]:
        """Give `router` back what the broker knew when it ended."""
        try:
            return self._load(router, settled)
        except (sqlite3.Error, ValueError, KeyError, TypeError, AttributeError) as error:
            seen = str(error) if isinstance(error, ValueError | sqlite3.Error) else repr(error)
            raise StoreError(
                f"{self._path} is damaged: {seen}; nothing was changed in it. Put a copy of it back, or move it away "
                "to begin with nothing"
            ) from None

    def _load(self, router: Router, settled: Callable[[Hold], None]) -> dict[Hold, set[str]]:
        rows = self._db.execute
        for client, username in rows("select client, username from sessions"):
            session = router.sessions[_text(client)] = Session(client, clean=False)
            session.durable, session.username = True, None if username is None else _text(username)
            session.owner = router.shares.owner(username)
            router.shares.kept[session.owner] += 1
            session.permissions = router.permissions(username, client)
        for client, pattern, qos in rows("select client, filter, qos from subscriptions"):
            session = _session(router, client)
            session.subscribe(check_filter(_text(pattern)), _whole(qos, 0, 3))
            session.qos3 |= qos == 3
            router.tree.add(pattern, session, qos)
        for topic, payload, qos, owner, crc in rows("select topic, payload, qos, owner, crc from retained"):
            sound = _sound(payload, crc, f"retained on {topic!r}")
            router.retained.restore(check_name(_text(topic)), sound, _whole(qos, 0, 2), router.shares.owner(owner))
        holds: dict[int, Hold] = {}
        for number, client, state in rows("select number, client, state from holds"):
            hold = holds[number] = Hold.restore(state, _session(router, client), settled)
            hold.number = number
        for client, packet_id in rows("select client, packet_id from received"):
            _session(router, client).received[_whole(packet_id, 1, 65535)] = None
        for hold in holds.values():
            hold.publisher.received[hold.packet_id] = hold
            hold.publisher.open_holds += 1
            hold.ledger = router.shares
            hold.kept = hold.counted = sum(len(data) for _, data in hold.acknowledged.values())
            router.shares.held += hold.counted
        for session in router.sessions.values():
            router.shares.count(session.owner, ENTRY * len(session.received))
        messages: dict[int, Message] = {}
        for number, topic, payload, retain, hold_no, crc in rows(
            "select number, topic, payload, retain, hold, crc from messages where whole"
        ):
            sound = _sound(payload, crc, f"message {number}")
            message = messages[number] = Message(_topic(topic), sound, bool(retain), holds.get(hold_no))
            message.number = number
        waiting = self._load_outgoing(router, messages, holds)
        self._todo += [
            ("delete from outgoing where message in (select number from messages where not whole)", ()),
            ("delete from messages where number not in (select message from outgoing)", ()),
        ]
        self.commit()
        return waiting

    def _load_outgoing(
        self, router: Router, messages: dict[int, Message], holds: dict[int, Hold]
    ) -> dict[Hold, set[str]]:
        """Take back what is on its way or waits; a delivery of a message that is not whole was never begun."""
        waiting: dict[Hold, set[str]] = {h: set() for h in holds.values()}
        half = {number for (number,) in self._db.execute("select number from messages where not whole")}
        order = (
            "select number, client, packet_id, qos, released, topic, payload, retain, hold, crc, message from outgoing"
        )
        for number, client, packet_id, qos, released, topic, payload, retain, hold_no, crc, refers in self._db.execute(
            order + " order by case when packet_id = 0 then 1 else 0 end, sent, number"
        ):
            if refers in half:
                continue
            session = _session(router, client)
            if released:
                message = RELEASED
            elif refers:
                message = messages[refers]
                message.stored += 1
            else:
                sound = _sound(payload, crc, f"message {number} to {client!r}")
                message = Message(_topic(topic), sound, bool(retain), holds.get(hold_no))
            if message.hold in waiting:
                waiting[message.hold].add(client)
            entry = message, _whole(qos, 1, 3), number
            if _whole(packet_id, 0, 65535):
                session.inflight[packet_id] = entry
                session.next_id = packet_id % 65535 + 1
            else:
                session.waiting_line().append(entry)
            session.load += message.size
            router.shares.enter(session.owner, message)
        return waiting


def _session(router: Router, client: object) -> Session:
    """Return a session that something in the store belongs to."""
    found = router.sessions.get(_text(client))
    if found is None:
        raise ValueError(f"something belongs to {client!r}, which has no session")
    return found


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.40} stands where a text should")
    return value


def _topic(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError(f"{value!r:.40} stands where a topic should")
    check_name(value.decode())
    return value


def _whole(value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{value!r:.40} stands where a number from {least} to {most} should")
    return value


def _sound(payload: object, crc: int | None, what: str) -> bytes:
    """Return the payload if it is what was written."""
    if not isinstance(payload, bytes):
        raise ValueError(f"{payload!r:.40} stands where the payload of {what} should")
    if crc is not None and crc32(payload) != crc:
        raise ValueError(f"the payload of {what} is not what was written (checksum {crc32(payload)}, not {crc})")
    return payload


TABLES = {"sessions", "subscriptions", "retained", "outgoing", "received", "holds"}


def _version(path: Path) -> int:
    """Return which version has written the file, without writing into it; 0 if there is nothing in it yet."""
    if not path.exists() or not path.stat().st_size:
        return 0
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=0)) as db:
        (version,) = db.execute("pragma user_version").fetchone()
        tables = {name for (name,) in db.execute("select name from sqlite_master where type = 'table'")}
    if version > VERSION:
        raise StoreError(f"{path} was written by another version ({version}) of this broker")
    if (version or tables) and not tables >= TABLES:
        raise StoreError(f"{path} is a database of something else: it has {', '.join(sorted(tables)) or 'no table'}")
    return int(version)


def _make_private(path: Path) -> None:
    """Make the file if it is not there, and let nobody but its owner read it or its log, which takes over its mode."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        if name.exists():
            name.chmod(0o600)
