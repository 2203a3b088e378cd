"""What is written down is given back, row by row: without a socket."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from voicewire.mqtt.config import Config
from voicewire.mqtt.retained import Retained
from voicewire.mqtt.session import Message
from voicewire.mqtt.shares import Shares
from voicewire.mqtt.store import Store
from voicewire.mqtt.topics import SubscriptionTree


class Kept:
    """A hold as the store sees it."""

    def __init__(self, client: str, state: bytes = b"state") -> None:
        self.number = 0
        self.qos = 3
        self.state = state
        self.publisher = SimpleNamespace(client_id=client, durable=True)

    def dump(self) -> bytes:
        return self.state


def router(password_file: Path | None = None) -> Any:
    config = Config(password_file=password_file)
    shares = Shares(config)
    retained = Retained(config.limits, shares, lambda *_: None, logging.getLogger("router"))
    return SimpleNamespace(
        sessions={}, shares=shares, tree=SubscriptionTree(), retained=retained, waiting_bytes=0,
        permissions=lambda username, client: f"what {username} may on {client}",
    )  # fmt: skip


def loaded(path: Path) -> Any:
    store, given = Store(path), router()
    assert store.load(given, lambda hold: None) == {}
    store.close()
    return given


def rows(store: Store, table: str) -> list[tuple[Any, ...]]:
    """Nobody else can read the file while the store has it."""
    return store._db.execute(f"select * from {table} order by 1, 2").fetchall()


def test_what_comes_back_counts_for_whose_it_is(tmp_path: Path) -> None:
    """Where names are proven, each user has a share; without a password file all are one."""
    (tmp_path / "passwords").write_text("", encoding="utf-8")
    store = Store(tmp_path / "store")
    for client, username in (("a", "ann"), ("b", "ann"), ("c", "bob"), ("d", None)):
        store.session(client, username)
        store.outgoing(client, 0, 1, Message(b"t", b"x", False))
    store.retain("a", b"1", 0, "ann")
    store.close()
    given = router(tmp_path / "passwords")
    store = Store(tmp_path / "store")
    store.load(given, lambda hold: None)
    store.close()
    size = Message(b"t", b"x", False).size
    assert {client: session.owner for client, session in given.sessions.items()} == {
        "a": "ann", "b": "ann", "c": "bob", "d": None
    }  # fmt: skip
    assert given.shares.kept == {"ann": 2, "bob": 1, None: 1}
    assert given.shares.waiting == {"ann": 2 * size, "bob": size, None: size}
    assert given.shares.retained == {"ann": 1}
    assert loaded(tmp_path / "store").shares.kept == {None: 4}


def test_a_session_comes_back_with_what_it_may_and_what_it_has_asked_for(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.session("c", "ann")
    store.session("d", None)
    store.subscribe("c", "a/+", 1)
    store.subscribe("c", "b", 0)
    store.subscribe("c", "b", 2)
    store.subscribe("d", "q", 3)
    store.subscribe("d", "gone", 1)
    store.unsubscribe("d", "gone")
    store.received("c", 7)
    store.received("c", 8)
    store.forget_received("c", 8)
    assert store.pending
    store.close()
    assert not store.pending
    given = loaded(tmp_path / "store")
    c, d = given.sessions["c"], given.sessions["d"]
    assert (c.username, c.durable, c.permissions) == ("ann", True, "what ann may on c")
    assert (d.username, d.durable, d.permissions) == (None, True, "what None may on d")
    assert (c.subscriptions, d.subscriptions) == ({"a/+": 1, "b": 2}, {"q": 3})
    assert (bool(c.qos3), bool(d.qos3)) == (False, True)
    assert given.tree.match("a/x") == {c: 1}
    assert given.tree.match("b") == {c: 2}
    assert given.tree.match("q") == {d: 3}
    assert given.tree.count == 3
    assert list(c.received) == [7]
    assert given.shares.kept[None] == 2


def test_messages_on_the_way_and_waiting_come_back_in_their_order_and_count(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.session("c", None)
    numbers = [
        store.outgoing("c", packet_id, qos, Message(b"t", payload, retain))
        for packet_id, qos, payload, retain in ((0, 1, b"later", False), (65535, 2, b"12", True), (3, 1, b"345", False))
    ]
    assert numbers == [1, 2, 3]
    waits = store.outgoing("c", 0, 2, Message(b"t", b"waits", False))
    done = store.outgoing("c", 9, 1, Message(b"t", b"done", False))
    store.done(done)
    store.sent(numbers[0], 4)  # was queued, is sent last
    store.released(numbers[1])
    store.close()
    given = loaded(tmp_path / "store")
    session = given.sessions["c"]
    found = {i: (m.payload, qos, number) for i, (m, qos, number) in session.inflight.items()}
    assert found == {4: (b"later", 1, 1), 65535: (b"", 2, 2), 3: (b"345", 1, 3)}
    assert list(session.inflight) == [4, 65535, 3]
    line = [(m.payload, m.topic, m.retain, qos, number) for m, qos, number in session.waiting_line()]
    assert line == [(b"waits", b"t", False, 2, waits)]
    size = Message(b"t", b"waits", False).size
    assert session.load == len(b"later") + len(b"345") + size
    assert given.waiting_bytes == given.shares.waiting[None] == size
    assert session.next_id == 4


def test_after_the_last_packet_id_comes_the_first(tmp_path: Path) -> None:
    for last, following in ((65535, 1), (65534, 65535), (1, 2)):
        path = tmp_path / str(last)
        store = Store(path)
        store.session("c", None)
        store.outgoing("c", last, 1, Message(b"t", b"", False))
        store.close()
        assert loaded(path).sessions["c"].next_id == following


def test_numbers_go_on_where_they_ended(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.session("c", None)
    assert [store.outgoing("c", 0, 1, Message(b"t", b"x", False)) for _ in range(3)] == [1, 2, 3]
    store.keep(Kept("c"))  # type: ignore[arg-type]
    store.close()
    store = Store(tmp_path / "store")
    assert store.outgoing("c", 0, 1, Message(b"t", b"x", False)) == 4
    hold = Kept("c")
    store.keep(hold)  # type: ignore[arg-type]
    assert hold.number == 2
    store.close()


def test_a_hold_has_one_number_and_is_written_as_it_was_last(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    one, other = Kept("a"), Kept("b")
    store.keep(one)  # type: ignore[arg-type]
    store.keep(other)  # type: ignore[arg-type]
    store.keep(one)  # type: ignore[arg-type]
    one.state = b"later"
    message = Message(b"t", b"x", False, one)  # type: ignore[arg-type]
    store.outgoing("c", 0, 3, message)
    store.commit()
    assert (one.number, other.number) == (1, 2)
    assert rows(store, "holds") == [(1, "a", b"later"), (2, "b", b"state")]
    assert rows(store, "outgoing")[0][-1] == 1
    store.keep(one)  # type: ignore[arg-type]
    store.drop_hold(one)  # type: ignore[arg-type]
    store.commit()
    assert rows(store, "holds") == [(2, "b", b"state")]
    store.keep(other)  # type: ignore[arg-type]
    store.forget("b")
    store.commit()
    assert rows(store, "holds") == []
    store.close()


def test_a_message_of_a_publisher_that_is_not_kept_names_no_hold(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    hold = Kept("a")
    hold.publisher.durable = False
    store.outgoing("c", 0, 3, Message(b"t", b"x", False, hold))  # type: ignore[arg-type]
    assert hold.number == 0
    store.close()


def test_what_ends_takes_all_that_is_its_own(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for client in "ab":
        store.session(client, None)
        store.subscribe(client, "t", 1)
        store.outgoing(client, 0, 1, Message(b"t", b"x", False))
        store.received(client, 1)
    store.commit()
    store.forget("a")
    store.commit()
    for table in ("sessions", "subscriptions", "outgoing", "received"):
        assert len(rows(store, table)) == 1, table
    store.close()
    assert list(loaded(tmp_path / "store").sessions) == ["b"]


def test_what_is_retained_comes_back_and_what_is_cleared_does_not(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.retain("a", b"1", 1)
    store.retain("a", b"2", 2)
    store.retain("b", b"1", 0)
    store.retain("b", b"", 0)
    store.close()
    given = loaded(tmp_path / "store")
    assert {name: (m.payload, qos) for name, (m, qos, _) in given.retained.messages.items()} == {"a": (b"2", 2)}


def test_a_commit_that_fails_half_way_writes_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.execute("alter table received rename to away")
    store.session("c", None)
    store.received("c", 1)
    with pytest.raises(sqlite3.Error):
        store.commit()
    assert rows(store, "sessions") == []
    assert store.pending
    store.execute("alter table away rename to received")
    store.commit()
    assert not store.pending
    assert len(rows(store, "sessions")) == len(rows(store, "received")) == 1
    store.close()


@pytest.mark.parametrize("there", [False, True])
def test_nobody_else_may_read_the_file(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "store"
    if there:
        path.touch(0o644)
    store = Store(path)
    store.session("c", None)
    store.commit()
    files = list(tmp_path.iterdir())
    assert path in files
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    store.close()
