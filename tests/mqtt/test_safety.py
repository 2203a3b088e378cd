"""Each cure of what one client could do to others: rules when a message goes out, limits, exceptions, the store."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hostile
import pytest
from waiting import eventually

from voicewire.mqtt import Access, BrokerThread, Config, ConfigError, Limits
from voicewire.mqtt import packet_handlers as incoming_module
from voicewire.mqtt import packets as p
from voicewire.mqtt import routes as routes_module
from voicewire.mqtt import routing as routing_module
from voicewire.mqtt.packet_handlers import TURN
from voicewire.mqtt.raw_socket_client import Wire, connect, subscribed
from voicewire.mqtt.routing import Router
from voicewire.mqtt.serving import broker_process
from voicewire.mqtt.serving import time_slicing as work_module
from voicewire.mqtt.serving.back_pressure import Pressure
from voicewire.mqtt.serving.resource_limits import OVERHEAD
from voicewire.mqtt.serving.time_slicing import SLICE, Work
from voicewire.mqtt.sessions.hold import Missing, Report, Status
from voicewire.mqtt.sessions.outbox import Outbox
from voicewire.mqtt.sessions.session import RELEASED, Message, Session
from voicewire.mqtt.sessions.store import Store

Start = Callable[..., BrokerThread]
USERS = "ann:p\nmallory:p\n"
SECRET = (Access("open/#"), Access("open/secret/#", "mallory", "none"), Access("$SYS/#", "ann", "read"))


def inside(b: BrokerThread, do: Callable[[], Any]) -> Any:
    """Run `do` in the broker's loop."""

    async def call() -> Any:
        return do()

    return asyncio.run_coroutine_threadsafe(call(), b.broker.loop).result(20)


# ---------------------------------------------------------------------- one client's fault is its own
@pytest.mark.parametrize("topic", ["$e2e/x", "$e2e/1", "$e2e/99999/a", "$e2e/1/$SYS/a", "a" + "/" * 300])
def test_a_will_that_cannot_be_published_is_refused_at_once(broker: Start, topic: str) -> None:
    b = broker(limits=Limits(connect_timeout=0.3))
    with Wire(b.port) as wire:
        wire.send(hostile.connect("m", True, 1, (topic, b"x", 1, False)))
        wire.closed()
    with Wire(b.port) as half:  # time limits work still
        half.send(b"\x10")
        half.closed()
    assert eventually(lambda: not b.broker.connections)


@pytest.mark.parametrize("method", ["deliver", "finished", "route"])
def test_an_exception_ends_one_connection(
    broker: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, method: str
) -> None:
    """It is logged once, with its cause; the session is parted from it, and others notice nothing."""
    true = getattr(Router, method)

    def faulty(self: Router, *arguments: Any) -> Any:
        session = arguments[0]
        if (isinstance(session, Session) and session.client_id == "bad") or b"boom" in arguments:
            raise ZeroDivisionError("made for this test")
        return true(self, *arguments)

    monkeypatch.setattr(Router, method, faulty)
    b = broker()
    with connect(b.port, "good") as good, subscribed(b.port, "t", qos=1, client_id="bad") as bad:
        with caplog.at_level(logging.ERROR, "voicewire.broker"):
            if method == "finished":
                good.send(p.Publish("t", b"x", 1, packet_id=1))
                good.expect(p.Puback(1))
                bad.send(p.Puback(bad.publication().packet_id))
            else:
                bad.send(p.Publish("boom" if method == "route" else "t", b"boom", 1, packet_id=1))
            bad.closed()
        good.quiet()
        assert eventually(lambda: len(b.broker.connections) == 1)
    records = [r for r in caplog.records if r.name == "voicewire.broker"]
    assert len(records) == 1 and "'bad'" in records[0].getMessage() and "made for this test" in records[0].getMessage()
    assert records[0].exc_info is not None and not [r for r in caplog.records if r.name == "asyncio"]


def test_an_exception_while_others_are_served_is_theirs(broker: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails for one subscriber neither ends the publisher nor keeps the message from the others."""
    from voicewire.mqtt.serving.connection import Connection

    b = broker()
    with (
        subscribed(b.port, "t", qos=1, client_id="bad") as bad,
        subscribed(b.port, "t", qos=1) as well,
        connect(b.port) as good,
    ):
        true = Connection.push

        def faulty(self: Connection, data: bytes) -> None:
            if self.session is not None and self.session.client_id == "bad":
                raise ZeroDivisionError
            true(self, data)

        monkeypatch.setattr(Connection, "push", faulty)
        good.send(p.Publish("t", b"x", 1, packet_id=1))
        good.expect(p.Puback(1))
        assert well.publication().payload == b"x"
        bad.closed()
        good.quiet()


def test_sweeps_go_on_after_an_exception(broker: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    b = broker(sys_interval=0.05, limits=Limits(connect_timeout=0.2))
    calls: list[int] = []

    def faulty() -> dict[str, int | str]:
        calls.append(1)
        raise ZeroDivisionError

    true = b.broker._sweep
    monkeypatch.setattr(b.broker, "statistics", faulty)
    assert eventually(lambda: len(calls) > 3)
    assert not any(task.done() for task in b.broker._tasks)
    with Wire(b.port) as silent:
        silent.closed()
    assert true is not None


# ---------------------------------------------------------------------- rules, when a message goes out
def test_rules_hold_for_restored_sessions(tmp_path: Path) -> None:
    """A session of before the restart is sent nothing that the rules deny, nor what waits since they allowed it."""

    (tmp_path / "users").write_text(USERS)

    def config(*rules: Access) -> Config:
        return Config(port=0, persist=tmp_path / "store", access=rules, password_file=tmp_path / "users")

    def publish(b: BrokerThread, topic: str, payload: bytes) -> None:
        with connect(b.port, username="ann", password=b"p") as ann:
            ann.send(p.Publish(topic, payload, 1, packet_id=1))
            ann.expect(p.Puback(1))

    with BrokerThread(config(*SECRET)) as b:
        wire = connect(b.port, "m", clean=False, username="mallory", password=b"p")
        wire.send(p.Subscribe(1, (("open/#", 1),)))
        wire.expect(p.Suback(1, (1,)))
        publish(b, "open/on-the-way", b"sent, not acknowledged")
        assert wire.publication().payload == b"sent, not acknowledged"
        wire.close()
        publish(b, "open/secret/x", b"denied before")
        publish(b, "open/later", b"allowed when it came")
    now = (*SECRET, Access("open/later", "mallory", "none"), Access("open/on-the-way", "mallory", "none"))
    with BrokerThread(config(*now)) as b:
        publish(b, "open/secret/x", b"denied after")
        publish(b, "open/fine", b"fine")
        assert b.broker.sessions["m"].permissions is not None
        with connect(b.port, "m", clean=False, present=True, username="mallory", password=b"p") as wire:
            assert wire.publication().payload == b"fine"
            wire.quiet()


def test_unknown_permissions_are_none(broker: Start) -> None:
    b = broker()
    with subscribed(b.port, "t", client_id="who") as wire, connect(b.port) as other:
        inside(b, lambda: (setattr(b.broker.sessions["who"], "permissions", None), b.broker.router.forget_routes()))
        other.send(p.Publish("t", b"x"), p.Publish("t", b"y", 1, packet_id=1))
        other.expect(p.Puback(1))
        wire.send(p.Publish("t", b"may not write either"))
        wire.quiet()


def test_rules_for_retained_wills_reports_and_statistics(broker: Start, tmp_path: Path) -> None:
    """Each way on which a message can reach a client asks the rules."""
    (tmp_path / "users").write_text(USERS)
    b = broker(access=SECRET, sys_interval=0.05, password_file=tmp_path / "users")
    known = {"password": b"p"}
    with (
        connect(b.port, "a", username="ann", **known) as ann,
        connect(b.port, "m", username="mallory", **known) as mallory,
    ):  # fmt: skip
        ann.send(p.Publish("open/secret/r", b"kept", retain=True), p.Publish("open/r", b"kept", retain=True))
        ann.quiet()
        mallory.send(p.Subscribe(1, (("open/#", 2), ("$SYS/#", 1), ("open/secret/r", 1), ("$e2e/#", 0))))
        mallory.expect(p.Suback(1, (2, 0x80, 0x80, 0)), p.Publish("open/r", b"kept", retain=True))
        mallory.quiet()  # neither what is retained below open/secret nor the broker's statistics
        connect(b.port, username="ann", **known, will=p.Will("open/secret/w", b"will", 1)).close()
        connect(b.port, username="ann", **known, will=p.Will("open/w", b"will", 1)).close()
        got = mallory.publication()
        assert (got.topic, got.payload) == ("open/w", b"will")
        mallory.send(p.Puback(got.packet_id))
        ann.send(p.Subscribe(2, (("open/secret/#", 1), ("$SYS/broker/uptime", 0))))
        ann.expect(p.Suback(2, (1, 0)))
        heard = {ann.publication().topic, ann.publication().topic}
        assert heard == {"open/secret/r", "$SYS/broker/uptime"}
        mallory.send(p.Publish("$e2e/1/open/secret/x", b"x", 1, packet_id=9))  # may not write: nobody gets it …
        told = mallory.publication()
        assert told.topic == "$e2e/report/1/open/secret/x"
        outcome = json.loads(told.payload)
        assert outcome["acknowledged"] == {} and outcome["missing"] == {}  # … and who listens there is not told


def test_reports_are_the_publishers_own(port: int) -> None:
    reader, asks, other = subscribed(port, "ro", qos=1), subscribed(port, "$e2e/#"), subscribed(port, "$e2e/#")
    with reader, asks, other:
        asks.send(p.Publish("$e2e/1/ro", b"x", 1, packet_id=1))
        reader.send(p.Puback(reader.publication().packet_id))
        asks.expect(p.Puback(1))
        assert asks.publication().topic == "$e2e/report/1/ro"
        other.quiet()


# ---------------------------------------------------------------------- limits in bytes and seconds
def test_connect_has_a_time_limit_however_it_trickles(broker: Start) -> None:
    b = broker(limits=Limits(connect_timeout=0.5))
    whole = p.encode(p.Connect("m" * 200))
    with Wire(b.port) as wire:
        for byte in whole:
            try:
                wire.send(bytes((byte,)))
                if wire.receive(0.05) is None:
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            pytest.fail("a whole CONNECT went in, one byte at a time, though each had to wait")
    assert eventually(lambda: not b.broker.connections)


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_inflight", 0), ("max_inflight", 65536), ("max_packet", 0), ("max_packet", 2**28), ("max_connections", 0),
     ("stall", 0.0), ("connect_timeout", float("nan")), ("hold_timeout", float("inf")), ("max_queued", -1),
     ("max_sessions", 1.5), ("max_retained", True), ("max_named", 0), ("out_low", 2**21), ("out_hard", 5)],
)  # fmt: skip
def test_limits_that_cannot_work_are_refused(field: str, value: float) -> None:
    with pytest.raises(ConfigError, match=field):
        Limits(**{field: value})  # type: ignore[arg-type]


def test_the_greatest_window_works(broker: Start) -> None:
    """With max_inflight at its limit all 65,535 ids are used, and the next message waits."""
    b = broker(limits=Limits(max_inflight=65535, max_queued_bytes=2**30))
    session = Session("x", clean=True)
    session.inflight = dict.fromkeys(range(1, 65535), (RELEASED, 1, 0))
    assert session.take_id() == 65535
    with subscribed(b.port, "t", qos=1, client_id="x") as wire, connect(b.port) as other:
        inside(b, lambda: b.broker.sessions["x"].inflight.update(dict.fromkeys(range(1, 65535), (RELEASED, 1, 0))))
        other.send(p.Publish("t", b"1", 1, packet_id=1), p.Publish("t", b"2", 1, packet_id=2))
        other.expect(p.Puback(1), p.Puback(2))
        assert wire.publication().packet_id == 65535
        wire.quiet()


def test_routes_are_bounded_in_bytes(broker: Start) -> None:
    b = broker(limits=Limits(max_route_bytes=2**20))
    with connect(b.port) as wire:
        for i in range(40):
            wire.send(*(p.Publish(f"{i}/{j}/" + "t" * 60_000) for j in range(5)))
            wire.quiet()
            assert b.broker.router.route_bytes <= 2**20
        known = sum(len(topic) for topic in b.broker.router.routes)
        assert 0 < known < 2**20
        wire.send(*(p.Publish(f"short/{i}") for i in range(3000)))
        wire.quiet()
        assert len(b.broker.router.routes) < 1100


def test_what_waits_and_is_retained_is_bounded_in_bytes(broker: Start) -> None:
    b = broker(limits=Limits(max_waiting_bytes=10_000, max_retained_bytes=10_000), sys_interval=0)
    for name in ("x", "y"):
        subscribed(b.port, "q", qos=1, client_id=name, clean=False).close()
    with connect(b.port) as wire:
        wire.send(*(p.Publish("q", bytes(1000), 1, packet_id=i + 1) for i in range(9)))
        wire.expect(*(p.Puback(i + 1) for i in range(9)))
        router = b.broker.router
        fits = int(0.875 * 10_000 / (2 * (1001 + OVERHEAD)))  # less than 1500 bytes: it counts for each
        assert router.shares.held <= 10_000 and router.dropped == 2 * (9 - fits)
        wire.send(*(p.Publish(f"r/{i}", bytes(1000), retain=True) for i in range(20)))
        wire.quiet()
        assert len(router.retained.messages) == 10_000 // (1000 + 3 + OVERHEAD)
        wire.send(*(p.Publish(f"r/{i}", b"", retain=True) for i in range(20)))
        wire.quiet()
        assert router.retained.size == 0
    for name in ("x", "y"):
        connect(b.port, name).close()
    assert eventually(lambda: router.shares.held == 0)


def test_filters_are_bounded_in_number_and_bytes(broker: Start) -> None:
    b = broker(limits=Limits(max_filters=3, max_subscription_bytes=1000))
    with connect(b.port) as wire:
        wire.send(p.Subscribe(1, (("a" * 600, 0), ("b" * 600, 0), ("c", 0))))
        wire.expect(p.Suback(1, (0, 0x80, 0)))
        wire.send(p.Unsubscribe(2, ("a" * 600,)), p.Subscribe(3, (("b" * 600, 0),)))
        wire.expect(p.Unsuback(2), p.Suback(3, (0,)))
        wire.send(p.Subscribe(4, (("a", 0), ("b", 0), ("c", 0), ("d", 0))))
        wire.closed()
    with connect(b.port) as wire:
        wire.send(p.Unsubscribe(4, ("a", "b", "c", "d")))
        wire.closed()
    with connect(b.port) as wire:
        for i in range(16):
            wire.send(p.Subscribe(1, ((f"$e2e/report/{i}", 0),)))
            wire.expect(p.Suback(1, (0,)))
        wire.send(p.Subscribe(1, (("$e2e/report/more", 0),)))
        wire.expect(p.Suback(1, (0x80,)))


def test_long_ids_deep_topics_and_many_names(broker: Start) -> None:
    b = broker(limits=Limits(max_client_id=20, max_named=3))
    with Wire(b.port) as wire:
        wire.send(p.Connect("x" * 21))
        wire.expect(p.Connack(False, 2), None)
    with connect(b.port) as wire:
        wire.send(p.Publish("a" + "/" * 200))
        wire.closed()
    with subscribed(b.port, "$e2e/hello", qos=3) as wire:
        wire.send(p.Publish("a", b"", 3, packet_id=1, waited=1, subscribers=("a", "b", "c"), report=True))
        assert isinstance(wire.receive(), p.Pubrec)
        wire.send(p.Publish("a", b"", 3, packet_id=2, waited=1, subscribers=("a", "b", "c", "d")))
        wire.closed()


def test_a_slow_reader_delays_publishers_for_so_long_only() -> None:
    """However it reads: a byte now and then does not keep publishers waiting for ever."""

    class Loop:
        now, due = 0.0, (0.0, print)

        def time(self) -> float:
            return self.now

        def call_later(self, seconds: float, call: Any) -> Any:
            self.due = (self.now + seconds, call)
            return self

        def cancel(self) -> None:
            pass

    class End:
        name, left, reading = "slow", 10**6, True

        def __init__(self) -> None:
            self.pressure = Pressure(self, Limits(stall=1.0, max_hold_back=5.0), loop, logging.getLogger("x"))  # type: ignore[arg-type]
            self.transport: Any = self

        def pause_reading(self) -> None:
            self.reading = False

        def read_again(self) -> None:
            self.reading = True

        def judge(self) -> None:
            pass

        def progress(self) -> int:
            self.left -= 1
            return self.left

    loop = Loop()
    slow, publisher = End(), End()
    slow.pressure.hold_back(publisher.pressure)
    while not publisher.reading and loop.now < 60:
        loop.now, call = loop.due
        call()
    assert publisher.reading and slow.pressure.stalled and 5 <= loop.now < 6.5
    slow.pressure.hold_back(publisher.pressure)  # nor again, until it has caught up
    assert publisher.reading
    slow.pressure.release()
    slow.pressure.hold_back(publisher.pressure)
    assert not publisher.reading
    publisher.pressure.forget()
    assert not slow.pressure.waiters


# ---------------------------------------------------------------------- work in slices
def lines_between_turns(b: BrokerThread, do: Callable[[], None]) -> int:
    """Return the greatest number of lines of this package that the broker ran in one callback of its loop."""
    most = count = 0

    def trace(frame: Any, event: str, argument: object) -> Any:
        nonlocal count, most
        if "/voicewire/mqtt/" not in frame.f_code.co_filename:
            if frame.f_code.co_name == "_run" and frame.f_code.co_filename.endswith("events.py"):
                count = 0
            return trace
        count += event == "line"
        most = max(most, count)
        return trace

    inside(b, lambda: sys.settrace(trace))
    try:
        do()
    finally:
        inside(b, lambda: sys.settrace(None))
    return most


LINES = 30 * (TURN + SLICE)
"""Lines that one callback may run: thirty for a step, of a turn's packets and of a slice of work."""


def test_many_filters_and_retained_messages_are_cut_into_slices(broker: Start) -> None:
    """So are the retained messages that they match, and forgetting it all; packets behind them wait their turn."""
    b = broker(sys_interval=0)
    with connect(b.port) as other:
        other.send(*(p.Publish(f"r/{i}/x", b"x", retain=True) for i in range(300)))
        other.quiet()
        wire = connect(b.port, "m")

        def ask() -> None:
            filters = tuple((f"r/{i}/+", 1) for i in range(6000))
            wire.send(p.Subscribe(1, (*filters, ("+/5/x", 0))))
            wire.send(p.Unsubscribe(2, tuple(f for f, _ in filters)), p.Pingreq())
            wire.expect(p.Suback(1, (1,) * 6000 + (0,)))
            got = {wire.publication().topic for _ in range(300 + 1)}
            assert got == {f"r/{i}/x" for i in range(300)}
            wire.expect(p.Unsuback(2), p.Pingresp())
            wire.close()
            assert eventually(lambda: b.broker.router.tree.count == 0 and not len(b.broker.work))

        assert lines_between_turns(b, ask) < LINES
        other.quiet()


def test_many_packets_at_once_are_cut_into_slices(broker: Start) -> None:
    b = broker(sys_interval=0)
    with connect(b.port) as wire:

        def ask() -> None:
            wire.send(b"\xc0\x00" * 60_000)
            wire.expect(*[p.Pingresp()] * 60_000)
            wire.send(b"".join(p.encode(p.Publish("t", b"", 1, packet_id=i)) for i in range(1, 20_001)))
            wire.expect(*(p.Puback(i) for i in range(1, 20_001)))

        assert lines_between_turns(b, ask) < LINES


def test_a_long_delivery_is_cut_into_slices(broker: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody gets it, in order; the answer and the hold wait for the last of them."""
    for module in (routes_module, work_module, incoming_module, routing_module):
        monkeypatch.setattr(module, "SLICE", 8)
    b = broker()
    wires = [subscribed(b.port, "t", qos=i % 3, client_id=f"c{i}") for i in range(30)]
    late = subscribed(b.port, "t", qos=1, client_id="kept", clean=False)
    late.close()
    with subscribed(b.port, "$e2e/hello", qos=3) as wire:
        wire.send(p.Publish("t", b"0"), p.Publish("t", b"1", 1, packet_id=1), p.Publish("t", b"2", 2, packet_id=2))
        wire.send(p.Publish("t", b"3", 3, packet_id=3, waited=p.WAIT_FOR_ALL, report=True), p.Pingreq())
        wire.expect(p.Puback(1), p.Pubrec(2), p.Pingresp())
        assert b.broker.router.publish_received == 4
        for i, each in enumerate(wires):
            got = [each.publication() for _ in range(4)]
            assert [g.payload for g in got] == [b"0", b"1", b"2", b"3"]
            if i % 3:
                each.send(p.Puback(got[3].packet_id) if i % 3 == 1 else p.Pubrec(got[3].packet_id))
        with connect(b.port, "kept", clean=False, present=True) as back:
            numbers = [back.publication().packet_id for _ in range(3)]
            back.send(p.Puback(numbers[2]))
            answer = wire.receive()
        assert isinstance(answer, p.Pubrec)
        report = Report.decode(answer.data)
        assert report.status is Status.COMPLETE and len(report.acknowledged) == 21
        assert set(report.missing) == {f"c{i}" for i in range(0, 30, 3)}
    for each in wires:
        each.close()


def test_work_stops_when_its_owner_is_full_or_gone_unless_it_lasts() -> None:
    class Owner:
        closing = congested = False
        asked = 0

        def full(self) -> bool:
            return self.congested

        def wait(self) -> None:
            self.asked += 1

        def proceed(self) -> None:
            self.asked += 100

    async def main() -> None:
        done: list[int] = []

        def steps() -> Any:
            for i in range(5):
                done.append(i)
                yield SLICE

        w = Work(lambda: None, logging.getLogger("voicewire.broker"))
        w.loop = asyncio.get_running_loop()
        owner: Any = Owner()
        w.run(steps(), owner)
        assert done == [0] and owner.asked == 1 and len(w) == 1
        owner.congested = True
        for _ in range(9):
            await asyncio.sleep(0)
        assert done == [0] and len(w) == 1  # parked: it does not even spin
        owner.congested = False
        w.unpark(owner)
        await asyncio.sleep(0)
        assert done == [0, 1]
        other: Any = Owner()
        w.run(steps(), other)
        other.closing = True
        for _ in range(9):
            await asyncio.sleep(0)
        assert done == [0, 1, 0, 2, 3, 4] and owner.asked == 101 and other.asked == 1 and not len(w)
        done.clear()
        last: Any = Owner()
        w.run(steps(), last, lasting=True)
        last.closing = last.congested = True
        for _ in range(9):
            await asyncio.sleep(0)
        assert done == [0, 1, 2, 3, 4] and last.asked == 1 and not len(w)  # what lasts is done to its end
        done.clear()
        w.run(steps(), other)
        w.run(steps(), last, lasting=True)
        w.end()
        assert done == [0, 0, 1, 2, 3, 4] and not len(w)

    asyncio.run(main())


# ---------------------------------------------------------------------- the store
def test_the_store_is_private(tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.touch(0o644)
    (tmp_path / "store-wal").touch(0o644)
    with BrokerThread(Config(port=0, persist=path)) as b, connect(b.port, "kept", clean=False) as wire:
        wire.quiet()
        for name in tmp_path.iterdir():
            assert stat.S_IMODE(name.stat().st_mode) == 0o600, name
    store = Store(tmp_path / "new")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600
    store.close()


def restored(path: Path) -> Router:
    """Return what a broker would know after a restart."""
    log = logging.getLogger("voicewire.broker")
    outbox = Outbox(log, lambda stuck: None)
    router = Router(Config(), outbox, Work(outbox.flush, log), log)
    store = Store(path)
    store.load(router, lambda hold: None)
    store.close()
    return router


def test_the_journal_keeps_its_order(tmp_path: Path) -> None:
    """What happens within one tick is written in the order in which it happened."""
    store = Store(tmp_path / "store")
    store.session("x", "ann")
    store.subscribe("x", "before", 1)
    store.forget("x")
    store.session("x", "bob")
    store.subscribe("x", "a", 1)
    store.subscribe("x", "a", 2)
    store.subscribe("x", "b", 1)
    store.unsubscribe("x", "b")
    store.retain("r", b"old", 1)
    store.retain("r", b"", 1)
    store.retain("r", b"new", 2)
    first, second, third = (store.outgoing("x", 0, 2, Message(b"t", b"%d" % i)) for i in range(3))
    store.sent(second, 7)
    store.sent(first, 8)
    store.released(second, Message(b"t", b"1"))
    store.done(first, Message(b"t", b"0"))
    store.received("x", 5)
    store.forget_received("x", 5)
    store.received("x", 6)
    assert store.pending
    store.commit()
    assert not store.pending
    store.close()
    router = restored(tmp_path / "store")
    session = router.sessions["x"]
    assert (session.username, session.subscriptions, list(session.received)) == ("bob", {"a": 2}, [6])
    assert {k: m is RELEASED for k, (m, _, _) in session.inflight.items()} == {7: True}
    assert [(m.payload, number) for m, _, number in session.queue or ()] == [(b"2", third)]
    assert {k: (m.payload, q) for k, (m, q, _) in router.retained.messages.items()} == {"r": (b"new", 2)}


def test_nothing_is_acknowledged_before_it_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither to the publisher nor to the subscriber does a byte go out before the transaction that it belongs to."""
    order: list[str] = []
    with BrokerThread(Config(port=0, persist=tmp_path / "store")) as b:
        from voicewire.mqtt.serving.connection import Connection

        reader = subscribed(b.port, "t", qos=1, client_id="s", clean=False)
        with reader, connect(b.port, "w", clean=False) as wire:
            commit, write = Store.commit, Connection.write

            def committing(self: Store) -> None:
                order.extend("journal" for _ in self._todo[:1])
                commit(self)

            def writing(self: Connection) -> None:
                order.append(f"write to {self.session.client_id}" if self.session else "write")
                write(self)

            monkeypatch.setattr(Store, "commit", committing)
            monkeypatch.setattr(Connection, "write", writing)
            wire.send(p.Publish("t", b"x", 2, packet_id=1))
            wire.expect(p.Pubrec(1))
            reader.publication()
            seen, order[:] = list(order), []
    assert seen[0] == "journal" and {"write to s", "write to w"} <= set(seen[1:])


def test_a_session_that_published_to_itself_ends_whole(tmp_path: Path) -> None:
    """Nothing of it is written after it was forgotten: the broker starts again on its store."""
    with BrokerThread(Config(port=0, persist=tmp_path / "store")) as b:
        wire = subscribed(b.port, "t", qos=3, client_id="self", clean=False)
        wire.send(p.Publish("t", b"x", 3, packet_id=1, waited=1))
        wire.publication()
        connect(b.port, "self").close()
        wire.close()
    with BrokerThread(Config(port=0, persist=tmp_path / "store")) as b:
        assert not b.broker.sessions


# ---------------------------------------------------------------------- starting
@pytest.mark.parametrize(
    ("settings", "warns"),
    [({}, False), ({"host": "0.0.0.0"}, True), ({"host": "0.0.0.0", "access": (Access("a"),)}, False),
     ({"host": "127.1.2.3"}, False), ({"host": "localhost"}, False),
     ({"host": "0.0.0.0", "access": (Access("a", "ann"),)}, True), ({"host": "::", "access": (Access("#"),)}, True),
     ({"host": "::", "access": (Access("home/%u/#"),)}, True),
     ({"host": "::", "access": (Access("#"), Access("a", allow="none"))}, False),
     ({"host": "::", "password_file": "users"}, False),
     ({"host": "::", "password_file": "users", "allow_anonymous": True}, True),
     ({"host": "::", "password_file": "users", "allow_anonymous": True, "access": (Access("#", "ann"),)}, False)],
)  # fmt: skip
def test_an_open_broker_warns_once(settings: dict[str, Any], warns: bool, caplog: pytest.LogCaptureFixture) -> None:
    config = Config(port=0, **settings)
    assert config.open_to_strangers is warns
    if settings.get("host") in ("0.0.0.0", "::"):
        return  # tests listen on loopback only
    with caplog.at_level(logging.WARNING, "voicewire.broker"), BrokerThread(config):
        pass
    assert not [r for r in caplog.records if "--password-file" in r.getMessage()]


def test_the_warning_says_what_to_do(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Config, "open_to_strangers", True)
    with caplog.at_level(logging.WARNING, "voicewire.broker"), BrokerThread(Config(port=0)):
        pass
    (line,) = [r.getMessage() for r in caplog.records if r.name == "voicewire.broker"]
    assert "127.0.0.1" in line and "--password-file" in line and "[[access]]" in line and "\n" not in line


def test_a_broker_that_does_not_start_is_stopped() -> None:
    port = broker_process.free_port()
    sleeper = [sys.executable, "-c", "import sys, time; print('dozing', file=sys.stderr, flush=True); time.sleep(600)"]
    pids: list[int] = []
    true = broker_process.subprocess.Popen

    def noting(*arguments: Any, **more: Any) -> Any:
        started = true(*arguments, **more)
        pids.append(started.pid)
        return started

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(broker_process.subprocess, "Popen", noting)
        with pytest.raises(RuntimeError, match="does not listen"):
            broker_process.start(sleeper, port, timeout=1.0)
        with pytest.raises(RuntimeError, match="ended with status 3: bad luck"):
            broker_process.start(
                [sys.executable, "-c", "import sys; print('bad luck', file=sys.stderr); sys.exit(3)"], port
            )
    for pid in pids:
        assert not Path(f"/proc/{pid}").exists()


# ---------------------------------------------------------------------- what earlier tests let through
@pytest.mark.parametrize(("sent", "granted", "expected"), [(2, 2, 2), (1, 2, 1), (2, 1, 1), (2, 0, 0), (0, 2, 0)])
def test_retained_messages_keep_their_qos(port: int, sent: int, granted: int, expected: int) -> None:
    topic = f"rq/{sent}/{granted}"
    with connect(port) as wire:
        wire.send(p.Publish(topic, b"x", sent, retain=True, packet_id=sent and 1))
        wire.quiet() if not sent else wire.receive()
    for pattern in (topic, f"rq/{sent}/{granted}/#"):
        with subscribed(port, pattern, qos=granted) as late:
            assert late.publication().qos == expected


def test_all_of_the_named(port: int) -> None:
    """Waiting for all, with names, is waiting for all of the named, and for nobody else."""
    wires = [subscribed(port, "an", qos=3, client_id=f"an-{i}") for i in range(3)]
    with subscribed(port, "$e2e/hello", qos=3) as asks:
        named = ("an-0", "an-2")
        asks.send(p.Publish("an", b"", 3, packet_id=1, waited=p.WAIT_FOR_ALL, subscribers=named, report=True))
        for i in (1, 0, 2):
            asks.quiet()
            wires[i].send(p.Pubrec(wires[i].publication().packet_id, 3))
            wires[i].receive()
        answer = asks.receive()
        assert isinstance(answer, p.Pubrec)
        assert sorted(Report.decode(answer.data).acknowledged) == ["an-0", "an-2"]
    for wire in wires:
        wire.close()


def test_all_of_the_named_includes_who_is_not_there(port: int) -> None:
    with subscribed(port, "ai", qos=3, client_id="ai-0") as one, subscribed(port, "$e2e/hello", qos=3) as asks:
        named = ("ai-0", "ai-nobody")
        asks.send(p.Publish("ai", b"", 3, packet_id=1, waited=p.WAIT_FOR_ALL, subscribers=named, report=True))
        one.send(p.Pubrec(one.publication().packet_id, 3))
        answer = asks.receive()
        assert isinstance(answer, p.Pubrec)
        report = Report.decode(answer.data)
        assert report.status is Status.SHORT and report.missing == {"ai-nobody": Missing.NOT_SUBSCRIBED}


def test_runs_of_messages_arrive_as_they_were_sent(port: int) -> None:
    """Messages of one topic, of several, of equal and of other sizes, behind each other in one write."""
    sent = [p.Publish(f"run/{t}", b"x" * n) for t, n in ((1, 1), (1, 1), (1, 1), (2, 1), (1, 1), (1, 2), (1, 200))]
    sent += [p.Publish("run/1", b"x" * 200)] * 3 + [p.Publish("run/2", b"")] * 2 + [p.Publish("run/3", b"last")]
    with subscribed(port, "run/#") as wire, connect(port) as other:
        other.send(*sent, p.Pingreq(), *sent)
        wire.expect(*sent, *sent)
        other.expect(p.Pingresp())
        other.send(p.encode(sent[0]) * 2 + b"\x30\x02\x00\x05")  # what is well formed arrives before the error
        other.closed()
        wire.expect(sent[0], sent[0])


def test_who_is_away_is_reported_missing(port: int) -> None:
    """One that was away when the message came, and one that left with it unanswered; both may still answer."""
    subscribed(port, "aw", qos=1, client_id="aw-before", clean=False).close()
    leaves = subscribed(port, "aw", qos=1, client_id="aw-after", clean=False)
    with subscribed(port, "$e2e/hello", qos=3) as asks:
        asks.send(p.Publish("aw", b"", 3, packet_id=1, waited=2, report=True, limit=100))
        leaves.publication()
        leaves.close()
        answer = asks.receive()
        assert isinstance(answer, p.Pubrec)
        report = Report.decode(answer.data)
        assert report.status is Status.TIMEOUT
        assert report.missing == {"aw-before": Missing.OFFLINE, "aw-after": Missing.OFFLINE}


def test_a_stalled_reader_holds_nobody_back_until_it_reads(broker: Start) -> None:
    """After `stall` seconds without a byte read its publishers go on, and are not held back for it again."""
    b = broker(limits=Limits(out_high=1 << 14, out_low=1 << 12, out_hard=1 << 16, stall=0.2))
    stuck = subscribed(b.port, "f", client_id="stuck")
    with connect(b.port, "flood") as flood:
        for _ in range(400):
            flood.send(p.Publish("f", bytes(60_000)))
        flood.quiet()  # 24 million bytes later it is still served
        reader = inside(b, lambda: b.broker.sessions["stuck"].connection)
        assert reader.pressure.stalled and not reader.slow
        assert not inside(b, lambda: b.broker.sessions["flood"].connection.pressure.blockers)
        assert b.broker.router.dropped > 0
        received = 0
        stuck.socket.settimeout(20)
        while inside(b, lambda: reader.congested):
            received += len(stuck.socket.recv(1 << 20))
        assert received and not inside(b, lambda: reader.pressure.stalled)
    stuck.close()


def test_a_store_that_fails_is_not_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with BrokerThread(Config(port=0, persist=tmp_path / "store")) as b, connect(b.port, "k", clean=False) as wire:
        commit = Store.commit
        full = True

        def failing(self: Store) -> None:
            if full and self.pending:
                raise sqlite3.OperationalError("database or disk is full")
            commit(self)

        monkeypatch.setattr(Store, "commit", failing)
        wire.send(p.Subscribe(1, (("a", 1),)))
        with pytest.raises(TimeoutError):
            wire.receive(0.3)
        full = False
        wire.expect(p.Suback(1, (1,)))
