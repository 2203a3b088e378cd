"""Sessions that outlive the broker: a write-behind journal into SQLite, one transaction a tick of the event loop.

Nothing is acknowledged before the transaction that holds it is committed (`synchronous=FULL`), so a message is
either still the sender's or already the store's: that is what makes QoS 2 exact across `kill -9`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from voicewire.mqtt.hold import Hold
from voicewire.mqtt.routing import Router
from voicewire.mqtt.session import RELEASED, Message, Session

__all__ = ["StoreError"]

VERSION = 2
SCHEMA = """
create table if not exists sessions (client text primary key, username text) without rowid;
create table if not exists subscriptions (client text, filter text, qos int, primary key (client, filter))
    without rowid;
create table if not exists retained (topic text primary key, payload blob, qos int, owner text) without rowid;
create table if not exists outgoing (number integer primary key, client text, packet_id int, qos int,
    released int default 0, sent int, topic blob, payload blob, retain int, hold int);
create index if not exists outgoing_client on outgoing (client);
create table if not exists received (client text, packet_id int, primary key (client, packet_id)) without rowid;
create table if not exists holds (number integer primary key, client text, state text);
create index if not exists holds_client on holds (client);
"""


class StoreError(RuntimeError):
    """The store cannot be opened; the message says why and what to do.

    Notes
    -----
    Chapter ``notebooks/foundations/04_mqtt``.

    Examples
    --------
    >>> issubclass(StoreError, Exception)
    True
    """


class Store:
    """The journal of one broker.

    Parameters
    ----------
    path : Path
        SQLite file, made if it does not exist. It and its log can be read and written by its owner only.

    Raises
    ------
    StoreError
        If it cannot be used, or is another version's.
    """

    def __init__(self, path: Path | str) -> None:
        try:
            _make_private(Path(path))
            self._db = sqlite3.connect(path, isolation_level=None, timeout=0)
            self._db.execute("pragma journal_mode=wal")
            self._db.execute("pragma locking_mode=exclusive")
            self._db.execute("pragma synchronous=full")
            (version,) = self._db.execute("pragma user_version").fetchone()
            if version not in (0, 1, VERSION):
                raise StoreError(f"{path} was written by another version ({version}) of this broker")
            self._db.execute("begin immediate")
            self._db.execute("commit")
            if version == 1:  # did not know yet who has retained a message: nobody with a name
                self._db.execute("alter table retained add column owner text")
            self._db.executescript(SCHEMA + f"pragma user_version={VERSION};")
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"cannot use {path} as a store: {error}") from None
        self._changed: dict[Hold, None] = {}
        self._todo: list[tuple[str, tuple[object, ...]]] = []
        (last,) = self._db.execute("select max(number) from outgoing").fetchone()
        (last_hold,) = self._db.execute("select max(number) from holds").fetchone()
        self._number = last or 0
        self._hold = last_hold or 0

    @property
    def pending(self) -> bool:
        """Is there anything to commit?"""
        return bool(self._todo or self._changed)

    def execute(self, sql: str) -> None:
        """Run one statement outside the journal (tests use it to make the disk full)."""
        self._db.execute(sql)

    def commit(self) -> None:
        """Write the journal down.

        Raises
        ------
        sqlite3.Error
            If that fails (disk full); the journal is kept and can be committed later.
        """
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
            self._todo.append(("insert or replace into retained values (?, ?, ?, ?)", (topic, payload, qos, owner)))
        else:
            self._todo.append(("delete from retained where topic = ?", (topic,)))

    def outgoing(self, client: str, packet_id: int, qos: int, message: Message) -> int:
        """A message is queued for a kept session (`packet_id` 0), or sent to it; returns its number."""
        self._number += 1
        hold = message.hold
        if hold is not None and hold.publisher.durable and hold.qos > 1:
            self._numbered(hold)
        values = (
            self._number, client, packet_id, qos, self._number if packet_id else 0,
            message.topic, message.payload, message.retain, hold.number if hold else 0,
        )  # fmt: skip
        self._todo.append(("insert into outgoing values (?, ?, ?, ?, 0, ?, ?, ?, ?, ?)", values))
        return self._number

    def sent(self, number: int, packet_id: int) -> None:
        """A queued message got its packet id; the order of sending is kept."""
        self._todo.append(("update outgoing set packet_id = ?, sent = ? where number = ?", (packet_id, number, number)))

    def released(self, number: int) -> None:
        """Its PUBREC has come."""
        self._todo.append(("update outgoing set released = 1, payload = x'' where number = ?", (number,)))

    def done(self, number: int) -> None:
        """Its last acknowledgement has come."""
        self._todo.append(("delete from outgoing where number = ?", (number,)))

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
        """Give `router` back what the broker knew when it ended.

        Parameters
        ----------
        router : Router
            Gets sessions, subscriptions and retained messages.
        settled : callable
            What a hold calls when it is decided.

        Returns
        -------
        dict
            Each hold, and the client ids that can still acknowledge its message.
        """
        rows = self._db.execute
        for client, username in rows("select client, username from sessions"):
            session = router.sessions[client] = Session(client, clean=False)
            session.durable, session.username = True, username
            session.owner = router.shares.owner(username)
            router.shares.kept[session.owner] += 1
            session.permissions = router.permissions(username, client)
        for client, pattern, qos in rows("select client, filter, qos from subscriptions"):
            session = router.sessions[client]
            session.subscribe(pattern, qos)
            session.qos3 |= qos == 3
            router.tree.add(pattern, session, qos)
        for topic, payload, qos, owner in rows("select topic, payload, qos, owner from retained"):
            router.retained.restore(topic, payload, qos, router.shares.owner(owner))
        holds: dict[int, Hold] = {}
        for number, client, state in rows("select number, client, state from holds"):
            hold = holds[number] = Hold.restore(state, router.sessions[client], settled)
            hold.number = number
        for client, packet_id in rows("select client, packet_id from received"):
            router.sessions[client].received[packet_id] = None
        for hold in holds.values():
            hold.publisher.received[hold.packet_id] = hold
            hold.publisher.open_holds += 1
        order = "select number, client, packet_id, qos, released, topic, payload, retain, hold from outgoing"
        waiting: dict[Hold, set[str]] = {h: set() for h in holds.values()}
        for number, client, packet_id, qos, released, topic, payload, retain, hold_no in rows(
            order + " order by case when packet_id = 0 then 1 else 0 end, sent, number"
        ):
            session = router.sessions[client]
            found = holds.get(hold_no)
            message = RELEASED if released else Message(topic, payload, bool(retain), found)
            if found is not None and not released:
                waiting[found].add(client)
            if packet_id:
                session.inflight[packet_id] = (message, qos, number)
                session.next_id = packet_id % 65535 + 1
                session.load += len(message.payload)
            else:
                session.waiting_line().append((message, qos, number))
                session.load += message.size
                router.waiting_bytes += message.size
                router.shares.waiting[session.owner] += message.size
        return waiting


def _make_private(path: Path) -> None:
    """Make the file if it is not there, and let nobody but its owner read it or its log, which takes over its mode."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        if name.exists():
            name.chmod(0o600)
