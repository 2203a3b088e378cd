"""A hold alone: when it is decided, what it tells, and that it comes back from the store as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.packets import WAIT_FOR_ALL
from voicewire.mqtt.sessions.hold import ENTRY, Hold, Missing, Report, Status


class Timer:
    cancelled = 0

    def cancel(self):
        self.cancelled += 1


def held(need, *expected, named=(), room=2**20):
    """A hold that waits for some clients, and the list of those that it says are settled."""
    settled = []
    hold = Hold(None, 7, 2, need, named, True, "", settled.append, room)
    for name in expected:
        hold.expect(name)
    return hold, settled


@pytest.mark.parametrize(
    ("need", "named", "enough"),
    [
        (0, (), 1),  # asynchronous: the first one
        (1, (), 1),
        (2, (), 2),
        (3, (), 3),
        (WAIT_FOR_ALL, (), 3),
        (WAIT_FOR_ALL, ("a", "c"), 2),
        (1, ("c",), 1),
        (0, ("c",), 1),  # nobody is named in the asynchronous mode
    ],
)
def test_it_is_complete_when_enough_have_acknowledged_and_not_before(need, named, enough):
    hold, settled = held(need, *"abc", named=named)
    hold.begin()
    counted = [name for name in "abc" if not named or need == 0 or name in named]
    for number, name in enumerate(counted[:enough], start=1):
        assert hold.status is None
        hold.acknowledge(name)
        hold.acknowledge(name)  # counts once
        assert len(hold.acknowledged) == number
    assert hold.status is Status.COMPLETE
    assert settled == [hold]
    assert (hold.need, set(hold.waiting)) == (enough, set(counted[enough:]))


def test_it_is_short_when_nobody_is_left_to_wait_for():
    hold, settled = held(2, "a", "b")
    hold.begin()
    hold.lose("a", Missing.SESSION_ENDED)
    hold.lose("stranger", Missing.SESSION_ENDED)
    assert hold.status is None
    hold.acknowledge("b")
    assert hold.status is Status.SHORT
    assert hold.missing == {"a": Missing.SESSION_ENDED}
    assert settled == [hold]


@pytest.mark.parametrize(("need", "wanted"), [(0, 1), (1, 1), (3, 3), (WAIT_FOR_ALL, 1)])
def test_with_nobody_to_wait_for_it_is_short_at_once(need, wanted):
    hold, settled = held(need)
    hold.begin()
    assert (hold.status, hold.need, settled) == (Status.SHORT, wanted, [hold])


def test_nothing_is_decided_before_all_have_been_sent_it():
    """The first may answer while the others are still being sent theirs: "all" is not known yet."""
    hold, settled = held(WAIT_FOR_ALL, "a")
    hold.acknowledge("a")
    hold.lose("a", Missing.NO_ANSWER)
    hold.expect("b")
    hold.expect("a")  # it has answered
    assert hold.status is None
    hold.begin()
    assert (hold.status, hold.need) == (None, 2)
    hold.acknowledge("b")
    assert hold.status is Status.COMPLETE
    early, settled = held(1, "a")
    early.expire()
    early.begin()
    assert (early.status, settled) == (Status.TIMEOUT, [early])


def test_only_who_is_named_counts_and_is_missed():
    hold, _ = held(WAIT_FOR_ALL, *"ab", named=("a", "x", "y", "z"))
    hold.cannot("b", Missing.OFFLINE)
    hold.cannot("y", Missing.QOS_0)
    hold.acknowledge("a")
    hold.expect("z")
    hold.begin()
    assert hold.missing == {"x": Missing.NOT_SUBSCRIBED, "y": Missing.QOS_0}
    assert hold.waiting == {"z"}
    assert (hold.need, hold.status) == (4, None)


def test_after_its_end_nothing_moves_it_and_its_clock_is_stopped():
    hold, settled = held(2, *"abc")
    timer = hold.timer = Timer()
    hold.begin()
    hold.expire()
    hold.expire()
    hold.acknowledge("a")
    hold.lose("b", Missing.SESSION_ENDED)
    assert (hold.status, hold.acknowledged, hold.missing, hold.waiting) == (Status.TIMEOUT, {}, {}, set("abc"))
    assert (timer.cancelled, hold.timer, settled) == (1, None, [hold])


def test_who_comes_back_and_answers_is_missing_no_more():
    hold, _ = held(2, "a", "b")
    hold.cannot("a", Missing.OFFLINE)
    hold.begin()
    hold.acknowledge("a", b"here")
    assert hold.missing == {}
    assert hold.outcome() == Report(Status.TIMEOUT, dict(hold.acknowledged), {"b": Missing.NO_ANSWER})


def test_an_answer_is_kept_as_long_as_there_is_room(monkeypatch):
    monkeypatch.setattr("time.monotonic", iter((10.0, 10.25, 12.0, 13.0)).__next__)
    hold, _ = held(4, *"abc", room=1000)
    hold.acknowledge("a", b"x" * 600)
    hold.acknowledge("b", b"y" * 400)
    assert not hold.cut
    hold.acknowledge("c", b"z")
    assert hold.cut
    assert hold.acknowledged == {"a": (250_000, b"x" * 600), "b": (2_000_000, b"y" * 400), "c": (3_000_000, b"")}


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6), st.integers(0, 2000))
def test_a_report_lists_as_many_as_fit_and_says_whether_all_are_there(answered, silent, away, room):
    hold, _ = held(99, *(f"a{i}" for i in range(answered)), *(f"s{i}" for i in range(silent)), room=room)
    for i in range(answered):
        hold.acknowledge(f"a{i}", b"data" * 20)
    for i in range(away):
        hold.cannot(f"é{i}", Missing.OFFLINE)
    report = hold.outcome()
    costs = [ENTRY + 2 + 80 * (hold.acknowledged[f"a{i}"][1] != b"") for i in range(answered)]
    costs += [ENTRY + 2] * silent + [ENTRY + 3] * away  # two bytes for é
    fits = sum(sum(costs[: n + 1]) <= room for n in range(len(costs)))
    kinds = "a" * answered + "s" * silent + "é" * away
    listed = [*report.acknowledged, *report.missing]
    assert "".join(name[0] for name in listed) == kinds[:fits]
    assert set(listed) <= {*hold.acknowledged, *hold.waiting, *hold.missing} and len(set(listed)) == len(listed)
    assert report.acknowledged == dict(list(hold.acknowledged.items())[:fits])
    assert report.cut == (hold.cut or fits < len(kinds))
    assert set(report.missing.values()) <= {Missing.NO_ANSWER, Missing.OFFLINE}
    assert all((why is Missing.NO_ANSWER) == (name[0] == "s") for name, why in report.missing.items())


def test_words_for_those_who_cannot_receive_a_report():
    hold, _ = held(2, "a", "b")
    hold.cannot("c", Missing.QOS_0)
    hold.begin()
    hold.acknowledge("a", b"not told")
    hold.lose("b", Missing.SESSION_ENDED)
    told = json.loads(hold.as_json())
    assert told == {
        "status": "short",
        "needed": 2,
        "acknowledged": {"a": hold.acknowledged["a"][0]},
        "missing": {"c": "subscribed at QoS 0", "b": "session ended"},
    }
    hold.room = ENTRY
    assert json.loads(hold.as_json())["cut"] is True


@pytest.mark.parametrize("decided", [False, True])
def test_it_comes_back_from_the_store_as_it_was(decided):
    hold, _ = held(2, *"abc", named="abcx")
    hold.begin()
    hold.acknowledge("a", b"\x00\xff")
    if decided:
        hold.acknowledge("b")
    settled = []
    again = Hold.restore(hold.dump(), None, settled.append)
    kept = ("packet_id", "qos", "need", "named", "report", "address", "acknowledged", "missing", "waiting", "status")
    assert [getattr(again, name) for name in kept] == [getattr(hold, name) for name in kept]
    assert again.dump() == hold.dump()
    again.acknowledge("b")  # it goes on where it stood
    assert (again.status, settled) == (Status.COMPLETE, [] if decided else [again])


@given(
    st.sampled_from(Status),
    st.dictionaries(st.text(max_size=5), st.tuples(st.integers(0, 2**32 - 1), st.binary(max_size=9)), max_size=4),
    st.dictionaries(st.text(max_size=5), st.sampled_from(Missing), max_size=4),
    st.booleans(),
)
def test_a_report_is_read_as_it_was_written_and_no_byte_may_be_lost_or_added(status, acknowledged, missing, cut):
    report = Report(status, acknowledged, missing, cut)
    raw = report.encode()
    assert Report.decode(raw) == report
    for wrong in (raw + b"\0", raw[:-1], raw[:1]):
        with pytest.raises(MalformedError):
            Report.decode(wrong)


def test_numbers_that_a_report_can_hold():
    assert Report.decode(Report(Status.SHORT, {"a": (2**32, b"")}).encode()).acknowledged == {"a": (2**32 - 1, b"")}
    whole = {str(n): Missing.OFFLINE for n in range(65_535)}
    assert Report.decode(Report(Status.SHORT, {}, whole).encode()).missing == whole
    for raw in (bytes((3, 0, 0, 0, 0)), bytes((0, 0, 0, 0, 1, 0, 1, 65, 7)), bytes((0, 0, 0, 0, 1, 0, 1, 0xFF, 1))):
        with pytest.raises(MalformedError, match="not a report"):
            Report.decode(raw)
