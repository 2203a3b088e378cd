"""Sessions that outlive the broker: restart, `kill -9` under load, a full disk."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from voicewire.mqtt import BrokerThread, Config
from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import connect, subscribed
from voicewire.mqtt.sessions.hold import Report, Status
from voicewire.mqtt.sessions.store import Store, StoreError

Start = Callable[..., BrokerThread]


def broker(path: Path) -> BrokerThread:
    return BrokerThread(Config(port=0, persist=path))


def test_everything_comes_back(tmp_path: Path) -> None:
    """Subscriptions, retained and queued messages, messages on the way and received packet ids survive a restart."""
    path = tmp_path / "store"
    with broker(path) as b:
        wire = subscribed(b.port, "t/#", qos=2, client_id="sub", clean=False)
        with connect(b.port, "pub", clean=False) as pub:
            pub.send(p.Publish("t/r", b"kept", 1, retain=True, packet_id=1), p.Publish("t/2", b"two", 2, packet_id=2))
            pub.expect(p.Puback(1), p.Pubrec(2))
            got = [wire.publication(), wire.publication()]
            wire.send(p.Pubrec(got[1].packet_id))
            wire.expect(p.Pubrel(got[1].packet_id))
            wire.send(p.Disconnect())
            wire.closed()
            pub.send(p.Publish("t/3", b"three", 1, packet_id=3))
            pub.expect(p.Puback(3))
    with broker(path) as b:
        with connect(b.port, "pub", clean=False, present=True) as pub:
            pub.send(p.Publish("t/2", b"two", 2, dup=True, packet_id=2))
            pub.expect(p.Pubrec(2))
            pub.send(p.Pubrel(2))
            pub.expect(p.Pubcomp(2))
        with connect(b.port, "sub", clean=False, present=True) as wire:
            wire.expect(p.Publish("t/r", b"kept", 1, False, True, got[0].packet_id), p.Pubrel(got[1].packet_id))
            last = wire.publication()
            assert (last.payload, last.dup) == (b"three", False)
            wire.send(p.Puback(got[0].packet_id), p.Pubcomp(got[1].packet_id), p.Puback(last.packet_id))
            wire.quiet()
        with subscribed(b.port, "t/r") as wire:
            wire.expect(p.Publish("t/r", b"kept", retain=True))
    with broker(path) as b, connect(b.port, "sub", clean=False, present=True) as wire:
        wire.quiet()


def test_clean_sessions_leave_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with broker(path) as b:
        subscribed(b.port, "t", qos=1, client_id="c", clean=False).close()
        with connect(b.port) as pub:
            pub.send(
                p.Publish("t", b"x", 1, packet_id=1),
                p.Publish("r", b"x", 0, retain=True),
                p.Publish("r", b"", retain=True),
            )
            pub.expect(p.Puback(1))
            pub.quiet()
        connect(b.port, "c", clean=True).close()
    store = Store(path)
    for table in ("sessions", "subscriptions", "retained", "messages", "outgoing", "received", "holds"):
        assert store._db.execute(f"select count(*) from {table}").fetchone() == (0,), table
    store.close()


def test_a_hold_outlives_the_broker(tmp_path: Path) -> None:
    """[restart] A kept publisher's wait goes on after a restart; answers given before still count."""
    path = tmp_path / "store"
    message = p.Publish("t", b"x", 3, packet_id=5, waited=2, report=True)
    with broker(path) as b:
        a = subscribed(b.port, "t", qos=3, client_id="a", clean=False)
        c = subscribed(b.port, "t", qos=3, client_id="c", clean=False)
        pub = subscribed(b.port, "$e2e/hello", qos=3, client_id="pub", clean=False)
        pub.send(message)
        got = a.publication()
        a.send(p.Pubrec(got.packet_id, 3, b"data"))
        a.expect(p.Pubrel(got.packet_id, 3))
        c.publication()
        pub.quiet()
        for wire in (a, c, pub):
            wire.close()
    with broker(path) as b, connect(b.port, "pub", clean=False, present=True) as pub:
        pub.send(p.Subscribe(1, (("$e2e/hello", 3),)))
        pub.expect(p.Suback(1, (3,)))
        pub.send(p.Publish("t", b"x", 3, dup=True, packet_id=5, waited=2, report=True))
        pub.quiet()
        with connect(b.port, "c", clean=False, present=True) as c:
            again = c.publication()
            assert again.dup
            c.send(p.Pubrec(again.packet_id, 3))
            c.expect(p.Pubrel(again.packet_id, 3))
        answer = pub.receive()
        assert isinstance(answer, p.Pubrec)
        report = Report.decode(answer.data)
        assert report.status is Status.COMPLETE and report.acknowledged["a"][1] == b"data"
        assert sorted(report.acknowledged) == ["a", "c"]
        pub.send(p.Pubrel(5, 3))
        pub.expect(p.Pubcomp(5, 3))


def test_full_disk(tmp_path: Path) -> None:
    """With a full disk nothing is acknowledged and nobody is read from; when there is room, all goes on."""
    with broker(tmp_path / "store") as b:
        wire = subscribed(b.port, "t", qos=1, client_id="sub", clean=False)
        pub = connect(b.port, "pub")
        pub.send(p.Publish("t", b"before", 1, packet_id=1))
        pub.expect(p.Puback(1))
        got = wire.publication()
        store = b.broker.store
        assert isinstance(store, Store)
        full = threading.Event()

        def fill() -> None:
            (pages,) = store._db.execute("pragma page_count").fetchone()
            store.execute(f"pragma max_page_count={pages}")
            full.set()

        b.broker.loop.call_soon_threadsafe(fill)
        assert full.wait(5)
        pub.send(*(p.Publish("t", bytes(3000), 1, packet_id=i) for i in range(2, 40)))
        with pytest.raises(TimeoutError):
            pub.receive(0.5)
        assert b.broker.outbox.stuck
        b.broker.loop.call_soon_threadsafe(store.execute, "pragma max_page_count=1000000")
        pub.expect(*(p.Puback(i) for i in range(2, 40)))
        wire.send(p.Puback(got.packet_id))
        assert [len(wire.publication().payload) for _ in range(38)] == [3000] * 38
        assert not b.broker.outbox.stuck
        wire.close()
        pub.close()


def test_a_store_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "noise").write_bytes(b"this is not a database, surely not" * 100)
    with pytest.raises(StoreError, match="cannot use"):
        Store(tmp_path / "noise")
    with pytest.raises(StoreError, match="cannot use"):
        Store(tmp_path / "no" / "folder")
    store = Store(tmp_path / "mine")
    with pytest.raises(StoreError, match="locked"):
        Store(tmp_path / "mine")
    store.execute("pragma user_version=99")
    store.close()
    with pytest.raises(StoreError, match="another version"):
        Store(tmp_path / "mine")


OLDER = """
create table sessions (client text primary key, username text) without rowid;
create table subscriptions (client text, filter text, qos int, primary key (client, filter)) without rowid;
create table retained (topic text primary key, payload blob, qos int{owner}) without rowid;
create table outgoing (number integer primary key, client text, packet_id int, qos int,
    released int default 0, sent int, topic blob, payload blob, retain int, hold int);
create table received (client text, packet_id int, primary key (client, packet_id)) without rowid;
create table holds (number integer primary key, client text, state text);
insert into sessions values ('c', null);
insert into retained (topic, payload, qos) values ('t', x'61', 1);
insert into outgoing values (1, 'c', 0, 1, 0, 0, x'71', x'62', 0, 0);
pragma user_version={version};
"""


@pytest.mark.parametrize(("version", "owner"), [(1, ""), (2, ", owner text")])
def test_a_store_of_a_version_before_is_taken_over(tmp_path: Path, version: int, owner: str) -> None:
    """The first did not know who has retained a message, the second had a payload beside each delivery."""
    with closing(sqlite3.connect(tmp_path / "s")) as db:
        db.executescript(OLDER.format(version=version, owner=owner))
    for _ in range(2):
        with BrokerThread(Config(port=0, persist=tmp_path / "s")) as b:
            with subscribed(b.port, "t", qos=1) as wire:
                assert wire.publication().payload == b"a"
            with connect(b.port, "c", clean=False, present=True) as wire:
                assert wire.publication().payload == b"b"


def test_sigterm_ends_the_broker(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "voicewire.cli", "broker", "--port", "0", "--persist", str(tmp_path / "s")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert process.stderr is not None and b"listening on 127.0.0.1" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(5) == 0
    assert b"stopped" in process.stderr.read()
    process.stderr.close()
