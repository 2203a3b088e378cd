"""What is written down is given back, row by row: without a socket."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from voicewire.mqtt.config import Config
from voicewire.mqtt.serving.resource_limits import Shares
from voicewire.mqtt.sessions.retained_messages import Retained
from voicewire.mqtt.sessions.session import RELEASED, Message
from voicewire.mqtt.sessions.store import APART, Store, StoreError
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
        sessions={}, shares=shares, tree=SubscriptionTree(), retained=retained,
        permissions=lambda username, client: f"what {username} may on {client}",
    )  # fmt: skip


def loaded(path: Path) -> Any:
    store, given = Store(path), router()
    try:
        assert store.load(given, lambda hold: None) == {}
    finally:
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
    assert given.shares.held_by == {"ann": 2 * size, "bob": size, None: size} and given.shares.held == 4 * size
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
    store.done(done, Message(b"t", b"done"))
    store.sent(numbers[0], 4)  # was queued, is sent last
    store.released(numbers[1], Message(b"t", b"12"))
    store.close()
    given = loaded(tmp_path / "store")
    session = given.sessions["c"]
    found = {i: (m.payload, qos, number) for i, (m, qos, number) in session.inflight.items()}
    assert found == {4: (b"later", 1, 1), 65535: (b"", 2, 2), 3: (b"345", 1, 3)}
    assert list(session.inflight) == [4, 65535, 3]
    line = [(m.payload, m.topic, m.retain, qos, number) for m, qos, number in session.waiting_line()]
    assert line == [(b"waits", b"t", False, 2, waits)]
    size = sum(Message(b"t", payload).size for payload in (b"later", b"345", b"waits")) + RELEASED.size
    assert session.load == given.shares.held == size
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
    assert rows(store, "outgoing")[0][9] == 1
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


# ---------------------------------------------------------------------- one payload for many
def test_a_long_payload_is_written_once_and_goes_with_its_last_delivery(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    message = Message(b"t", bytes(APART + 1))
    for client in "abc":
        store.session(client, None)
    numbers = [store.outgoing(client, 1, 2, message) for client in "abc"]
    store.commit()
    assert [row[:3] for row in rows(store, "messages")] == [(1, b"t", message.payload)]
    assert [row[-1] for row in rows(store, "outgoing")] == [1, 1, 1]
    store.released(numbers[0], message)
    store.forget("b")
    store.left(message)
    store.commit()
    assert len(rows(store, "messages")) == 1
    store.close()
    given = loaded(tmp_path / "store")
    assert [m.payload for m, _, _ in given.sessions["c"].inflight.values()] == [message.payload]
    assert given.sessions["a"].inflight == {1: (RELEASED, 2, 1)}
    store = Store(tmp_path / "store")
    given = router()
    store.load(given, lambda hold: None)
    (back, _, number) = given.sessions["c"].inflight[1]
    assert (back.number, back.stored) == (1, 1)
    store.done(number, back)
    store.commit()
    assert rows(store, "messages") == [] and back.number == 0
    assert store.outgoing("c", 1, 1, back) == 4  # sent again, it gets a row again
    store.commit()
    assert len(rows(store, "messages")) == 1
    store.close()


def test_what_was_not_whole_was_never_there(tmp_path: Path) -> None:
    """The broker ended while a message was still being handed out: its publisher has no answer, and sends it again."""
    store = Store(tmp_path / "store")
    half, whole = Message(b"t", b"half"), Message(b"t", b"whole")
    half.sealed = whole.sealed = True
    for client in "ab":
        store.session(client, None)
        store.outgoing(client, 0, 1, half)
        store.outgoing(client, 0, 1, whole)
    store.whole(whole)
    store.close()
    given = loaded(tmp_path / "store")
    assert [[m.payload for m, _, _ in given.sessions[client].waiting_line()] for client in "ab"] == [[b"whole"]] * 2
    store = Store(tmp_path / "store")
    assert [row[2] for row in rows(store, "messages")] == [b"whole"]
    assert len(rows(store, "outgoing")) == 2
    store.close()


def test_what_lost_all_its_deliveries_is_swept_out(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.session("a", None)
    store.outgoing("a", 0, 1, Message(b"t", bytes(APART + 1)))
    store.forget("a")  # and the broker ends before what the session left is buried
    store.close()
    assert loaded(tmp_path / "store").sessions == {}
    store = Store(tmp_path / "store")
    assert rows(store, "messages") == []
    store.close()


# ---------------------------------------------------------------------- damage
CHANGES_OF_A_PAYLOAD = {
    "retained": "update retained set payload = x'62'",
    "messages": "update messages set payload = substr(payload, 2)",
    "outgoing": "update outgoing set payload = x'' where message = 0",
}


@pytest.mark.parametrize("table", CHANGES_OF_A_PAYLOAD)
def test_a_payload_that_is_not_what_was_written_is_found(tmp_path: Path, table: str) -> None:
    path = tmp_path / "store"
    store = Store(path)
    store.session("c", None)
    store.retain("t", b"a", 1)
    store.outgoing("c", 0, 1, Message(b"t", b"short"))
    store.outgoing("c", 0, 1, Message(b"t", bytes(APART + 1)))
    store.commit()
    store.execute(CHANGES_OF_A_PAYLOAD[table])
    store.close()
    before = path.read_bytes()
    store = Store(path)
    with pytest.raises(StoreError, match="checksum .*nothing was changed"):
        store.load(router(), lambda hold: None)
    store.close()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ("delete from sessions where client = 'b'", "'b', which has no session"),
        ("update sessions set client = x'62' where client = 'b'", "b'b' stands where a text should"),
        ("update subscriptions set qos = 7", "7 stands where a number from 0 to 3"),
        ("update subscriptions set filter = 'a#'", "'a#'"),
        ("update outgoing set packet_id = 99999", "99999 stands"),
        ("update outgoing set qos = 'two'", "'two' stands"),
        ("update outgoing set topic = null where message = 0", "None stands where a topic"),
        ("update outgoing set topic = x'ff' where message = 0", "utf-8"),
        ("update outgoing set message = 77 where message = 1", "77"),
        ("update outgoing set payload = 'text' where message = 0", "'text' stands"),
        ("update messages set topic = x'612b'", r"\+"),
        ("update received set packet_id = 0", "0 stands"),
        ("update retained set topic = x'61'", "b'a' stands"),
        ("update retained set qos = -1", "-1 stands"),
        ("insert into holds values (1, 'b', 'no JSON')", "Expecting value"),
        ("insert into holds values (1, 'b', '{}')", "packet_id"),
        ("drop table received", "no such table"),
    ],
)
def test_a_row_that_makes_no_sense_ends_in_a_sentence(tmp_path: Path, change: str, seen: str) -> None:
    path = tmp_path / "store"
    store = Store(path)
    store.session("a", None)
    store.session("b", "bob")
    store.subscribe("b", "t/#", 2)
    store.outgoing("b", 1, 2, Message(b"t", b"short"))
    store.outgoing("b", 0, 2, Message(b"t", bytes(APART + 1)))
    store.received("b", 9)
    store.retain("r", b"x", 1)
    store.commit()
    store.execute(change)
    store.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"is damaged.*{seen}|something else"):
        loaded(path)
    assert path.read_bytes() == before


def _damage(random: Random, raw: bytes) -> bytes:
    """Overwrite, cut off or shift some of the file, behind its first bytes."""
    at = random.randrange(100, len(raw))
    size = random.choice((1, 16, 512, 4096))
    match random.randrange(3):
        case 0:
            return raw[:at] + random.randbytes(size) + raw[at + size :]
        case 1:
            return raw[:at]
        case _:
            return raw[:at] + bytes(size) + raw[at:]


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_file_ends_in_a_sentence_or_is_as_it_was(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "store"
    store = Store(path)
    for client in "abcdefgh":
        store.session(client, None)
        store.subscribe(client, "t/#", 2)
        store.outgoing(client, 1, 2, Message(b"t/1", client.encode() * 300))
        store.outgoing(client, 0, 2, Message(b"t/2", client.encode() * 3000))
        store.received(client, 9)
        store.retain(f"t/{client}", client.encode() * 500, 1)
    store.close()
    path.write_bytes(_damage(Random(seed), path.read_bytes()))
    try:
        given = loaded(path)
    except StoreError as error:
        assert str(path) in str(error)
        return
    payloads = [m.payload for s in given.sessions.values() for m, _, _ in [*s.inflight.values(), *s.waiting_line()]]
    payloads += [message.payload for message, *_ in given.retained.messages.values()]
    assert all(payload == payload[:1] * len(payload) for payload in payloads)


def test_a_database_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    for name, script in (
        ("other", "create table songs (title text); insert into songs values ('a');"),
        ("same version", "create table songs (title text); pragma user_version=2;"),
        ("versioned", "pragma user_version=1;"),
        ("a word in common", "create table messages (number int);"),
    ):
        path = tmp_path / name
        with closing(sqlite3.connect(path)) as db:
            db.executescript(script)
        before = path.read_bytes()
        with pytest.raises(StoreError, match="is a database of something else"):
            Store(path)
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir() if p.name.startswith(name)] == [name]
