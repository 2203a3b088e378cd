"""The outbox alone: who is written to, when, and what a store that cannot be written to holds back."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mqtt_doubles import Loop

from voicewire.mqtt.serving.connection import cut
from voicewire.mqtt.sessions.outbox import PATIENCE, PIECE, RETRY, SHORT, TURN, Outbox


class Peer:
    """A connection that notes in `told` when it writes."""

    def __init__(self, box, told, name, closing=False, error=None):
        self.box, self.told, self.name, self.closing, self.error = box, told, name, closing, error
        self.out, self.dirty, self.transport = [], False, self
        self.weighed = 0

    def is_closing(self):
        return self.closing

    @property
    def out_size(self):
        return sum(map(len, self.out))

    def push(self, data=b"x"):
        self.out.append(data)
        if not self.dirty:
            self.dirty = True
            self.box.dirty.append(self)

    def write(self):
        if self.error:
            raise self.error
        self.told.append((self.name, len(self.out)))
        self.out, self.dirty = [], False

    def weigh(self):
        self.weighed += 1

    def write_piece(self):
        """Write the first of what there is; more than that it never takes."""
        if self.error:
            raise self.error
        if not self.out or self.out[0] == b"":
            return 0  # the socket is full
        self.told.append((self.name, len(self.out[0])))
        return len(self.out.pop(0))

    def broke(self, error):
        self.told.append((self.name, error))


class Disk:
    """A store that may be full."""

    def __init__(self, told):
        self.told, self.pending, self.full = told, True, False

    def commit(self):
        if self.full:
            raise OSError("no room")
        self.told.append("committed")
        self.pending = False


@pytest.fixture
def told():
    return []


@pytest.fixture
def box(told):
    made = Outbox(logging.getLogger("outbox under test"), lambda stuck: told.append(("halt", stuck)))
    made.loop = Loop()
    return made


def test_a_flush_writes_what_each_has_and_a_broken_one_breaks_alone(box, told):
    error = OSError("gone")
    first, broken, closing, last = (
        Peer(box, told, "first"),
        Peer(box, told, "broken", error=error),
        Peer(box, told, "closing", closing=True),
        Peer(box, told, "last"),
    )
    for peer in (first, broken, closing, last, first):
        peer.push()
    box.flush()
    assert told == [("first", 2), ("broken", error), ("last", 1)]
    box.flush()
    assert len(told) == 3
    assert box.loop.asked == []


def test_what_is_written_waits_for_one_commit_of_all_that_a_turn_brings(box, told):
    box.store = Disk(told)
    for name in "ab":
        Peer(box, told, name).push()
        box.flush()
    assert told == []
    assert box.loop.turn() == [0.0]
    assert told == ["committed", ("a", 1), ("b", 1)]
    Peer(box, told, "c").push()
    box.flush()  # with nothing to commit there is nothing to wait for
    assert told[3:] == [("c", 1)]


def test_a_full_disk_is_told_once_and_holds_all_back_until_there_is_room(box, told, caplog):
    box.store = disk = Disk(told)
    disk.full = True
    Peer(box, told, "a").push()
    box.flush()
    assert box.loop.turn() == [0.0]
    assert told == [("halt", True)]
    disk.pending = False  # what is due waits all the same
    Peer(box, told, "b").push()
    box.flush()
    assert [box.loop.turn() for _ in range(3)] == [[RETRY]] * 3
    assert told == [("halt", True)]
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    disk.full = False
    assert box.loop.turn() == [RETRY]
    assert told[1:] == ["committed", ("halt", False), ("a", 1), ("b", 1)]
    assert box.loop.asked == []
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    box.commit()
    assert told[5:] == ["committed"]


def test_what_was_put_off_is_written_once_when_the_patience_is_over(box, told):
    peers = [Peer(box, told, name) for name in "abc"]
    for peer in peers:
        peer.out.append(b"x")
        box.put_off(peer)
    peers[0].push()  # something else has come for it: it goes with that
    peers[1].push()
    box.flush()
    assert told == [("a", 2), ("b", 2)]
    peers[1].push()  # waits for the next flush already
    assert box.loop.turn() == [PATIENCE]
    assert told[2:] == [("b", 1), ("c", 1)]
    assert (box.patient, box.dirty, box.loop.asked) == ([], [], [])


def test_patience_ends_early_when_a_publisher_s_turn_comes(box, told):
    peer = Peer(box, told, "a")
    peer.out.append(b"x")
    box.put_off(peer)
    box.end_patience()
    peer.push()
    assert told == []
    box.flush()
    assert told == [("a", 2)]
    peer.push()
    box.loop.turn()  # nobody is waiting any more: no flush of its own
    assert told == [("a", 2)]
    box.put_off(peer)
    assert [seconds for seconds, _ in box.loop.asked] == [PATIENCE]


# ---------------------------------------------------------------------- what is long
def test_what_is_long_is_written_in_turns_and_answers_are_not_behind_it(box, told):
    long, other, answer = Peer(box, told, "long"), Peer(box, told, "other"), Peer(box, told, "answer")
    for _ in range(3):
        long.push(bytes(PIECE))
    other.push(bytes(PIECE + 1))
    answer.push(bytes(SHORT))
    box.flush()
    assert told == [("answer", 1)] and (long.weighed, other.weighed) == (1, 1)
    told.clear()
    assert box.loop.turn() == [0.0]
    assert told == [("long", PIECE), ("other", PIECE + 1), ("long", PIECE), ("long", PIECE)]
    assert not (long.dirty or other.dirty or box.long or box.loop.asked)


def test_a_turn_ends_after_so_many_bytes_and_the_next_goes_on(box, told):
    peers = [Peer(box, told, n) for n in range(2 * TURN // PIECE + 1)]
    for peer in peers:
        peer.push(bytes(PIECE))
    box.flush()  # no more at once than a turn's worth
    assert len(told) == TURN // PIECE
    assert box.loop.turn() == [0.0] and len(told) == 2 * TURN // PIECE
    assert box.loop.turn() == [0.0] and [name for name, _ in told] == list(range(len(peers)))
    assert box.loop.asked == []


def test_who_takes_no_more_has_no_turn_until_asked_for(box, told):
    full, broken, closing = Peer(box, told, "full"), Peer(box, told, "broken"), Peer(box, told, "closing")
    for peer in (full, broken, closing):
        peer.push(bytes(PIECE))
        peer.push(b"")
        peer.push(bytes(PIECE))
    box.flush()
    broken.error, closing.closing = OSError("gone"), True
    box.loop.turn()
    box.loop.turn()
    assert told == [("full", PIECE), ("broken", broken.error)]
    assert not full.dirty and not box.long and not box.loop.asked
    del full.out[0]
    box.later(full)
    box.loop.turn()
    assert told[2:] == [("full", PIECE)]


def test_a_turn_writes_no_promise_that_the_store_does_not_have(box, told):
    box.store = disk = Disk(told)
    disk.pending, peer = False, Peer(box, told, "a")
    peer.push(bytes(PIECE + 1))
    box.flush()
    disk.pending = disk.full = True  # something has been promised since
    peer.push()
    assert box.loop.turn() == [0.0]
    assert told == [("halt", True)]
    disk.full = False
    assert box.loop.turn() == [RETRY]
    assert told[1:] == ["committed", ("halt", False), ("a", PIECE + 1), ("a", 1)]


@given(st.lists(st.binary(max_size=20), max_size=10), st.integers(0, 150))
def test_cutting_copies_nothing_and_loses_nothing(chunks, size):
    first, rest = cut(list(chunks), size)
    whole = b"".join(chunks)
    assert (b"".join(first), b"".join(rest)) == (whole[:size], whole[size:])
    for piece in (*first, *rest):
        assert any((piece.obj if isinstance(piece, memoryview) else piece) is chunk for chunk in chunks)
