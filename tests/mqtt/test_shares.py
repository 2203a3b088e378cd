"""What one user may have of the limits that all share: whoever uses up the own share takes nothing from another's."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import eventually

from voicewire.mqtt import BrokerThread, Config, ConfigError, Limits
from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import Wire, connect
from voicewire.mqtt.serving.connection import Connection
from voicewire.mqtt.serving.resource_limits import ENTRY, OVERHEAD, RESERVE, SHARED, Shares

Start = Callable[..., BrokerThread]
ANN = {"username": "ann", "password": b"a"}
MALLORY = {"username": "mallory", "password": b"m"}
LARGE = 1_000_000


@pytest.fixture
def users(tmp_path: Path) -> Path:
    path = tmp_path / "users"
    path.write_text("ann:a\nbob:b\nmallory:m\n")
    return path


def answer(port: int, client_id: str, clean: bool = False, **user: Any) -> int:
    """Connect, leave at once, and return the code of CONNACK."""
    with Wire(port) as wire:
        wire.send(p.Connect(client_id, clean, **user))
        got = wire.receive()
        assert isinstance(got, p.Connack)
        return got.code


# ---------------------------------------------------------------------- sessions, connections, what waits
def test_kept_sessions_of_one_user_leave_room_for_another(broker: Start, users: Path) -> None:
    b = broker(password_file=users, limits=Limits(max_sessions=8))
    assert answer(b.port, "ann-1", **ANN) == 0
    codes = [answer(b.port, f"m{i}", **MALLORY) for i in range(12)]
    assert answer(b.port, "ann-2", **ANN) == 0  # room for another
    connect(b.port, "ann-1", clean=False, present=True, **ANN).close()  # and the old one is there still
    assert codes == [0, 0] + [3] * 10
    connect(b.port, "m1", clean=False, present=True, **MALLORY).close()  # what mallory had, too
    connect(b.port, "m0", clean=True, **MALLORY).close()  # ends it
    assert answer(b.port, "m9", **MALLORY) == 0


def test_a_share_outlives_the_broker(users: Path, tmp_path: Path) -> None:
    from voicewire.mqtt import Config

    config = Config(port=0, password_file=users, persist=tmp_path / "store", limits=Limits(max_sessions=8))
    with BrokerThread(config) as b:
        assert [answer(b.port, f"m{i}", **MALLORY) for i in range(2)] == [0, 0]
    with BrokerThread(config) as b:
        assert [answer(b.port, f"m{i}", **MALLORY) for i in (1, 2)] == [0, 3]
        assert answer(b.port, "ann-1", **ANN) == 0


def test_sessions_that_are_not_kept_take_none_of_the_room(broker: Start) -> None:
    """A client that is present with a clean session keeps nobody from having one kept."""
    b = broker(limits=Limits(max_sessions=1))
    with connect(b.port, "here"):
        assert answer(b.port, "kept") == 0
        assert answer(b.port, "here") == 3  # taken over by a session that would have to be kept


def test_strangers_are_one_user_beside_the_named(broker: Start, users: Path) -> None:
    b = broker(password_file=users, allow_anonymous=True, limits=Limits(max_sessions=8))
    assert [answer(b.port, f"x{i}") for i in range(4)] == [0, 0, 3, 3]
    assert answer(b.port, "ann-1", **ANN) == 0
    b = broker(limits=Limits(max_sessions=8))  # no name is proven: one user has all
    assert [answer(b.port, f"x{i}", username=f"u{i}") for i in range(10)] == [0] * 8 + [3] * 2


def test_connections_of_one_user_leave_room_for_another(broker: Start, users: Path) -> None:
    b = broker(password_file=users, limits=Limits(max_connections=8))
    with ExitStack() as stack:
        for i in range(2):
            stack.enter_context(connect(b.port, f"m{i}", **MALLORY))
        for _ in range(6):
            assert answer(b.port, "more", clean=True, **MALLORY) == 3
            assert eventually(lambda: len(b.broker.connections) == 2)
        stack.enter_context(connect(b.port, "m1", **MALLORY))  # takes its own place
        with connect(b.port, "ann", **ANN) as ann:
            ann.quiet()
    assert eventually(lambda: not b.broker.connections)
    connect(b.port, "m3", **MALLORY).close()


def test_what_waits_for_one_user_leaves_room_for_another(broker: Start, users: Path) -> None:
    """Whoever lets the messages of many sessions pile up loses them alone."""
    b = broker(password_file=users, limits=Limits(max_waiting_bytes=40_000))
    for name, user in (("m0", MALLORY), ("m1", MALLORY), ("m2", MALLORY), ("m3", MALLORY), ("ann-1", ANN)):
        with connect(b.port, name, clean=False, **user) as wire:
            wire.send(p.Subscribe(1, (("q" if user is MALLORY else "mine", 1),)))
            wire.expect(p.Suback(1, (1,)))
    with connect(b.port, "pub", **MALLORY) as wire:
        wire.send(*(p.Publish("q", bytes(2000), 1, packet_id=i + 1) for i in range(20)))
        wire.expect(*(p.Puback(i + 1) for i in range(20)))
        wire.send(*(p.Publish("mine", b"%d" % i, 1, packet_id=i + 1) for i in range(20)))
        wire.expect(*(p.Puback(i + 1) for i in range(20)))
    with connect(b.port, "ann-1", clean=False, present=True, **ANN) as wire:
        assert [wire.publication().payload for _ in range(20)] == [b"%d" % i for i in range(20)]
    mallory = b.broker.router.shares.held_by["mallory"]
    assert mallory == 3 * (1 + 2000 + OVERHEAD + 3 * ENTRY)  # a quarter; each counts once
    for i in range(4):
        connect(b.port, f"m{i}", **MALLORY).close()
    assert eventually(lambda: not b.broker.router.shares.held_by["mallory"])
    with connect(b.port, "m0", clean=False, **MALLORY) as wire:
        wire.send(p.Subscribe(1, (("q", 1),)))
        wire.expect(p.Suback(1, (1,)))
    with connect(b.port, "pub", **MALLORY) as wire:  # the share is free again
        wire.send(p.Publish("q", b"again", 1, packet_id=1))
        wire.expect(p.Puback(1))
    with connect(b.port, "m0", clean=False, present=True, **MALLORY) as wire:
        assert wire.publication().payload == b"again"


@pytest.mark.parametrize("limits", [Limits(max_retained=8), Limits(max_retained_bytes=8 * (3 + 1000 + OVERHEAD))])
def test_what_one_user_retains_leaves_room_for_another(users: Path, tmp_path: Path, limits: Limits) -> None:
    from voicewire.mqtt import Config

    config = Config(port=0, password_file=users, persist=tmp_path / "store", sys_interval=0, limits=limits)

    def retain(b: BrokerThread, user: dict[str, Any], *topics: str, payload: bytes = bytes(1000)) -> None:
        with connect(b.port, **user) as wire:
            wire.send(*(p.Publish(t, payload, retain=True) for t in topics))
            wire.quiet()

    def kept(b: BrokerThread) -> set[str]:
        return set(b.broker.router.retained.messages)

    with BrokerThread(config) as b:
        retain(b, MALLORY, *(f"m/{i}" for i in range(8)))
        retain(b, ANN, "a/0")
        assert kept(b) == {"m/0", "m/1", "a/0"}
        retain(b, MALLORY, "m/0", "m/0", "m/1")  # in place of their own
        retain(b, MALLORY, "a/0")  # no room for what would be theirs from then on
    with BrokerThread(config) as b:  # whose they are outlives the broker
        retain(b, MALLORY, "m/2")
        retain(b, ANN, "a/1", "a/2")
        assert kept(b) == {"m/0", "m/1", "a/0", "a/1"}
        retain(b, MALLORY, "m/0", payload=b"")
        retain(b, MALLORY, "m/3", "m/4")
        assert kept(b) == {"m/1", "m/3", "a/0", "a/1"}
        with connect(b.port, "will", will=p.Will("w/0", bytes(1000), 0, True), **MALLORY):
            pass
        assert eventually(lambda: b.statistics()["clients/connected"] == 0)
        retain(b, ANN, "m/1", payload=b"")  # frees mallory's room, for it was mallory's
        retain(b, MALLORY, "m/5")
        assert eventually(lambda: kept(b) == {"m/5", "m/3", "a/0", "a/1"})


# ---------------------------------------------------------------------- packets that are not complete
def held(b: BrokerThread) -> int:
    """Bytes of packets that are not complete, counted where they lie."""

    async def count() -> int:
        return sum(len(c.rest) for c in b.broker.connections if c.rest is not None)

    return asyncio.run_coroutine_threadsafe(count(), b.broker.loop).result(20)


def half(wire: Wire, size: int = LARGE, share: float = 0.9) -> None:
    """Send so much of a PUBLISH of `size` bytes."""
    wire.send(p.encode(p.Publish("t", bytes(size)))[: int(size * share)])


def gone(wire: Wire) -> bool:
    wire.socket.setblocking(False)
    try:
        return not wire.socket.recv(100)
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_half_packets_of_one_user_are_bounded_in_all(broker: Start, users: Path) -> None:
    limits = Limits(max_packet=LARGE + 100, max_partial_bytes=12 * LARGE)
    b = broker(password_file=users, limits=limits)
    with connect(b.port, "ann", **ANN) as ann, ExitStack() as stack:
        whole = p.encode(p.Publish("t", bytes(LARGE), 1, packet_id=1))
        ann.send(whole[: LARGE // 2])
        hostile = []
        most = 0
        for i in range(20):
            hostile.append(stack.enter_context(connect(b.port, f"m{i}", **MALLORY)))
            with contextlib.suppress(OSError):
                half(hostile[-1])
            most = max(most, held(b))
        assert eventually(lambda: sum(map(gone, hostile)) >= 17)
        most = max(most, held(b))
        assert most <= 12 * LARGE / 4 + LARGE // 2 + 2**18  # a share, ann's, and what one read brings
        ann.send(whole[LARGE // 2 :])  # who holds less, and another user, is not touched
        ann.expect(p.Puback(1))
        alive = [w for w in hostile if not gone(w)]
        assert alive
        with connect(b.port, "m-late", **MALLORY) as late:  # small packets of the same user go through
            late.send(p.Publish("t", b"x", 1, packet_id=1))
            late.expect(p.Puback(1))
    assert eventually(lambda: not b.broker.connections and held(b) == 0)


def test_half_packets_of_strangers_and_of_all_are_bounded(broker: Start, users: Path) -> None:
    """CONNECTs that are not complete count as one user's; of all users together, who holds most gives way."""
    b = broker(password_file=users, limits=Limits(max_packet=2**18, max_partial_bytes=2**21))
    big = p.encode(p.Connect("c", will=p.Will("w", bytes(60_000)), username="u" * 60_000, password=bytes(60_000)))
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(b.port)) for _ in range(20)]
        for wire in wires:
            with contextlib.suppress(OSError):
                wire.send(big[:-1])
        assert eventually(lambda: sum(map(gone, wires)) >= 16)
        assert held(b) <= 2**19
        connect(b.port, "ann", **ANN).close()
    b = broker(password_file=users, limits=Limits(max_packet=2**18, max_partial_bytes=2**20, user_share=0.9))
    bob = {"username": "bob", "password": b"b"}
    with ExitStack() as stack:
        mine = stack.enter_context(connect(b.port, "ann", **ANN))
        half(mine, 250_000)
        for name, user in (("m", MALLORY), ("b", bob)):
            for i in range(4):
                wire = stack.enter_context(connect(b.port, f"{name}{i}", **user))
                with contextlib.suppress(OSError):
                    half(wire, 250_000)
        assert eventually(lambda: held(b) <= 2**20)
        mine.send(p.encode(p.Publish("t", bytes(250_000)))[225_000:])
        mine.quiet()


def test_a_packet_that_trickles_is_closed_in_time(broker: Start) -> None:
    b = broker(limits=Limits(packet_timeout=0.6, min_rate=100_000.0))
    head = p.encode(p.Publish("t", bytes(16 * 2**20 - 100)))
    with connect(b.port, "early") as early, connect(b.port, "stalls") as stalls, connect(b.port, "well") as well:
        began = time.monotonic()
        for wire in (early, stalls):
            wire.send(head[: 1 if wire is early else 100_000])
        end = began + 20
        closed: dict[str, float] = {}
        at = 1
        while len(closed) < 2 and time.monotonic() < end:
            with contextlib.suppress(OSError):
                early.send(head[at : at + 1])  # a byte at a time
            at += 1
            for name, wire in (("early", early), ("stalls", stalls)):
                if name not in closed and gone(wire):
                    closed[name] = time.monotonic() - began
            time.sleep(0.05)
        well.quiet()
        assert closed["early"] >= 0.6 and closed["stalls"] >= 1.6  # not before, and 20 s is the end
    assert eventually(lambda: not b.broker.connections)


def test_a_slow_honest_client_with_a_large_packet_is_served(broker: Start) -> None:
    """It takes more than twice `packet_timeout`, at twice the least rate."""
    b = broker(limits=Limits(packet_timeout=2.0, min_rate=20_000.0))
    whole = p.encode(p.Publish("t", bytes(200_000), 1, packet_id=1))
    with connect(b.port) as wire:
        began, at = time.monotonic(), 0
        while at < len(whole):
            due = int(40_000 * (time.monotonic() - began)) + 1000
            if due > at:
                wire.send(whole[at:due])
                at = due
            time.sleep(0.02)
        assert time.monotonic() - began > 2 * 2.0
        wire.expect(p.Puback(1))


def test_time_in_which_the_broker_does_not_read_is_not_the_clients(broker: Start) -> None:
    """A publisher that is held back for a slow reader, with a packet that has come in part, is not closed for that."""
    b = broker(limits=Limits(packet_timeout=3.0, stall=4.0))
    with connect(b.port, "deaf"), connect(b.port, "busy") as busy:
        deaf, held_back = (b.broker.sessions[name].connection for name in ("deaf", "busy"))
        assert isinstance(deaf, Connection) and isinstance(held_back, Connection)
        whole = p.encode(p.Publish("x", b"y" * 1000, 1, packet_id=9))
        busy.send(whole[:500])
        assert eventually(lambda: held_back.rest is not None)
        b.broker.loop.call_soon_threadsafe(deaf.pressure.hold_back, held_back.pressure)
        assert eventually(lambda: deaf.pressure.stalled)  # for 4 s
        time.sleep(0.6)  # time for a look or two at who is late
        busy.send(whole[500:])
        busy.expect(p.Puback(9))


@pytest.mark.parametrize("reads", [True, False])
def test_who_does_not_read_gets_so_much_time_only(broker: Start, reads: bool) -> None:
    """A half packet of a client for which too much waits: no time while it does not read, but not for ever."""
    limits = Limits(
        packet_timeout=1.0, min_rate=20_000.0, out_high=1 << 14, out_low=1 << 12, out_hard=80_000, stall=0.2,
        max_hold_back=0.2,
    )  # fmt: skip
    b = broker(limits=limits)  # 80,000 bytes at 20,000 a second: 4 s
    with connect(b.port, "deaf") as deaf, connect(b.port, "busy") as busy:
        deaf.send(p.Subscribe(1, (("f", 0),)))
        deaf.expect(p.Suback(1, (0,)))
        connection = b.broker.sessions["deaf"].connection
        assert connection is not None
        for _ in range(2000):
            if connection.congested:
                break
            busy.send(*[p.Publish("f", bytes(60_000))] * 3)
            busy.quiet()
        assert connection.congested
        last = p.encode(p.Publish("x", b"y" * 1000, 1, packet_id=9))
        asyncio.run_coroutine_threadsafe(begin(connection, last[:500]), b.broker.loop).result(20)
        began = time.monotonic()
        if reads:
            time.sleep(2.0)
            deaf.send(last[500:])
            while (got := deaf.receive()) != p.Puback(9):
                assert isinstance(got, p.Publish)
        else:
            assert eventually(lambda: connection.closing) and time.monotonic() - began > 4.0


async def begin(connection: Any, part: bytes) -> None:
    """Let half a packet lie at a connection that is not read from, where none does: it has come just before."""
    if connection.rest is None:
        connection.data_received(part)


def test_shares_that_cannot_work_are_refused() -> None:
    for settings in (
        {"user_share": 0.0}, {"user_share": 1.5}, {"user_share": float("nan")}, {"min_rate": 0.0},
        {"packet_timeout": float("inf")}, {"max_partial_bytes": -1},
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=next(iter(settings))):
            Limits(**settings)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="could never be complete"):
        Limits(max_packet=100 * 2**20)
    Limits(max_packet=100 * 2**20, max_partial_bytes=2**30)


class Body:
    """A message as it is counted."""

    def __init__(self, size: int) -> None:
        self.size, self.holders = size + OVERHEAD, None


USERS = (None, "ann", "bob")
SIZES = (0, 1, SHARED - OVERHEAD - 1, SHARED - OVERHEAD, 5000)
STEPS = st.lists(st.tuples(st.sampled_from(USERS), st.integers(0, len(SIZES) - 1)), max_size=40)


@pytest.mark.parametrize("named", [False, True])
@given(STEPS, st.integers(0, 30_000), st.integers(1, 5), st.randoms(use_true_random=False))
def test_what_is_held_counts_as_a_plain_sum_does(named, asked, limit, sessions, random):
    """A long message once in all and once for each user, a short one for each client, whatever comes and goes."""
    file = Path("users") if named else None
    shares = Shares(Config(password_file=file, limits=Limits(max_waiting_bytes=limit, user_share=0.5)))
    bodies = [Body(size) for size in SIZES]
    held: list[tuple[str | None, int]] = []

    def plain(entries: list[tuple[str | None, int]]) -> int:
        short = sum(bodies[w].size for _, w in entries if bodies[w].size < SHARED)
        long = [w for _, w in entries if bodies[w].size >= SHARED]
        return short + ENTRY * len(long) + sum(bodies[w].size - ENTRY for w in set(long))

    def mine(user: str | None) -> int:
        return plain([entry for entry in held if entry[0] == user])

    for owner, which in asked:
        load, before, size = mine(owner), plain(held), bodies[which].size
        with_it = plain([*held, (owner, which)])
        fits = with_it <= limit and (with_it <= (1 - RESERVE) * limit or load + size <= RESERVE * limit / sessions)
        if named:
            fits = fits and plain([*(entry for entry in held if entry[0] == owner), (owner, which)]) <= limit // 2
        assert shares.take(owner, bodies[which], load, sessions) == fits
        if fits:
            held.append((owner, which))
        else:
            assert shares.held == before
            if held and random.random() < 0.5:
                gone = held.pop(random.randrange(len(held)))
                shares.leave(gone[0], bodies[gone[1]])
        assert shares.held == plain(held)
        assert not named or all(shares.held_by[user] == mine(user) for user in USERS)
    for owner, which in held:
        shares.leave(owner, bodies[which])
    assert shares.held == shares.held_by.total() == 0


def test_who_holds_little_is_served_when_others_hold_all_they_may() -> None:
    """One that acknowledges nothing fills what is open to all; ten others go on, each with a part of the rest."""
    shares = Shares(Config(limits=Limits(max_waiting_bytes=1_000_000)))
    load, body = 0, Body(10_000)
    while shares.take(None, body, load, 11):
        load += body.size
        body = Body(10_000)
    assert 860_000 < load < 875_000
    for _ in range(10):
        assert shares.take(None, Body(5000), 0, 11)
    assert not shares.take(None, Body(5000), 2 * 5300, 11)
    assert shares.held <= 1_000_000
