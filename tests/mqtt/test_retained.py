"""What is retained, to its last byte, and who is sent it: without a socket."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from voicewire.mqtt.config import Config, Limits
from voicewire.mqtt.routes import Route
from voicewire.mqtt.serving.resource_limits import Shares
from voicewire.mqtt.sessions.retained_messages import Retained
from voicewire.mqtt.sessions.session import Message


class Journal:
    """The store as the retained messages use it."""

    def __init__(self) -> None:
        self.told: list[tuple[str, bytes, int, str | None]] = []

    def retain(self, name: str, payload: bytes, qos: int, owner: str | None) -> None:
        self.told.append((name, payload, qos, owner))


def made(password_file: Path | None = None, **limits: Any) -> tuple[Retained, list[tuple[str, bytes, int]]]:
    """Retained messages, and what is sent from them: name, payload, QoS."""
    sent: list[tuple[str, bytes, int]] = []

    def send(session: Any, connection: Any, message: Message, qos: int) -> None:
        assert message.retain
        sent.append((message.topic.decode(), message.payload, qos))

    config = Config(limits=Limits(**limits), password_file=password_file)
    return Retained(config.limits, Shares(config), send, logging.getLogger("retained")), sent


def keep(retained: Retained, name: str, payload: bytes, qos: int = 0, owner: str | None = None) -> None:
    retained.keep(Route(name.encode(), name, []), payload, qos, owner)


def reader(*forbidden: str) -> Any:
    return SimpleNamespace(permissions=SimpleNamespace(may_read=lambda name: name not in forbidden))


def size(name: str, payload: bytes) -> int:
    return Message(name.encode(), payload, True).size


def bytes_of(retained: Retained) -> int:
    return sum(message.size for message, _, _ in retained.messages.values())


def test_the_last_one_stays_and_an_empty_one_clears() -> None:
    retained, _ = made()
    keep(retained, "a", b"first", 1)
    keep(retained, "a", b"second message", 2)
    keep(retained, "b", b"x")
    assert {name: (m.payload, qos) for name, (m, qos, _) in retained.messages.items()} == {
        "a": (b"second message", 2),
        "b": (b"x", 0),
    }
    assert retained.size == bytes_of(retained) == size("a", b"second message") + size("b", b"x")
    keep(retained, "a", b"")
    keep(retained, "nothing there", b"")
    assert retained.size == bytes_of(retained) == size("b", b"x")
    keep(retained, "b", b"")
    assert (retained.messages, retained.size) == ({}, 0)


def test_so_many_topics_and_no_more_but_each_may_change(caplog: pytest.LogCaptureFixture) -> None:
    retained, _ = made(max_retained=2)
    for name in "abc":
        keep(retained, name, b"1")
    assert set(retained.messages) == {"a", "b"}
    assert "not retained, 2 topics are: 'c'" in caplog.text
    keep(retained, "b", b"2")
    assert retained.messages["b"][0].payload == b"2"
    keep(retained, "a", b"")
    keep(retained, "c", b"3")
    assert set(retained.messages) == {"b", "c"}
    assert retained.size == bytes_of(retained)


def test_so_many_bytes_and_no_more() -> None:
    room = size("a", b"12345") + size("b", b"12345")
    retained, _ = made(max_retained_bytes=room)
    keep(retained, "a", b"12345")
    keep(retained, "b", b"12345")
    assert retained.size == room  # the last byte is used
    keep(retained, "b", b"123456")  # one too many: the former one stays
    assert retained.messages["b"][0].payload == b"12345"
    assert retained.size == room
    keep(retained, "a", b"1234")
    keep(retained, "b", b"123456")
    assert retained.messages["b"][0].payload == b"123456"
    assert retained.size == bytes_of(retained) == room


@pytest.fixture
def users(tmp_path: Path) -> Path:
    (tmp_path / "passwords").write_text("", encoding="utf-8")
    return tmp_path / "passwords"


def test_one_user_has_half_the_topics_and_no_more(users: Path) -> None:
    retained, _ = made(users, max_retained=4, user_share=0.5)
    for name in "abc":
        keep(retained, name, b"1", owner="ann")
    assert set(retained.messages) == {"a", "b"}
    keep(retained, "a", b"2", owner="ann")  # in the place of the former one
    keep(retained, "c", b"1", owner="bob")
    keep(retained, "a", b"3", owner="bob")  # a topic is whose message it holds
    assert retained.messages["a"][0].payload == b"3"
    keep(retained, "d", b"1", owner="bob")
    assert "d" not in retained.messages
    keep(retained, "d", b"1", owner="ann")
    keep(retained, "b", b"", owner="bob")  # clears what ann has: hers again
    keep(retained, "e", b"1", owner="ann")
    assert {name: owner for name, (_, _, owner) in retained.messages.items()} == {
        "a": "bob", "c": "bob", "d": "ann", "e": "ann"
    }  # fmt: skip


def test_all_users_together_have_no_more_than_the_limit(users: Path) -> None:
    retained, _ = made(users, max_retained=2, user_share=0.5)
    for owner in ("ann", "bob", "cat"):
        keep(retained, f"of {owner}", b"1", owner=owner)
    assert set(retained.messages) == {"of ann", "of bob"}
    keep(retained, "of bob", b"2", owner="cat")  # takes its place
    assert retained.messages["of bob"][2] == "cat"


def test_one_user_has_half_the_bytes_and_no_more(users: Path) -> None:
    retained, _ = made(users, max_retained_bytes=2 * size("a", b"12345"), user_share=0.5)
    keep(retained, "a", b"123456", owner="ann")
    assert retained.messages == {}
    keep(retained, "a", b"12345", owner="ann")  # the last byte is used
    keep(retained, "a", b"54321", owner="ann")
    keep(retained, "b", b"1", owner="ann")
    keep(retained, "c", b"12345", owner="bob")
    assert {name: m.payload for name, (m, _, _) in retained.messages.items()} == {"a": b"54321", "c": b"12345"}
    assert retained.size == bytes_of(retained)
    keep(retained, "a", b"", owner="ann")
    retained.restore("r", b"12345", 0, "ann")
    keep(retained, "a", b"", owner="ann")
    keep(retained, "a", b"1", owner="ann")  # what was restored counts
    assert set(retained.messages) == {"c", "r"}


def test_the_store_is_told_but_not_of_the_broker_s_own() -> None:
    retained, _ = made(max_retained=2)
    keep(retained, "before", b"x")
    journal = retained.store = Journal()  # type: ignore[assignment]
    keep(retained, "a", b"1", 2, "ann")
    keep(retained, "a", b"", 0, "bob")
    keep(retained, "b", b"1")
    keep(retained, "refused", b"1")
    retained.show("$SYS/y", b"$SYS/y", b"1")
    assert journal.told == [("a", b"1", 2, "ann"), ("a", b"", 0, "bob"), ("b", b"1", 0, None)]


def test_what_is_restored_counts_and_the_broker_s_own_does_not() -> None:
    retained, _ = made()
    retained.restore("ü", b"kept", 2, "ann")
    retained.show("$SYS/x", b"$SYS/x", b"shown")
    message, qos, owner = retained.messages["ü"]
    assert (message.topic, message.payload, message.retain, qos, owner) == ("ü".encode(), b"kept", True, 2, "ann")
    assert retained.size == size("ü", b"kept")
    message, qos, _ = retained.messages["$SYS/x"]
    assert (message.topic, message.payload, message.retain, qos) == (b"$SYS/x", b"shown", True, 0)


def give(retained: Retained, session: Any, *granted: tuple[str, int]) -> int:
    """Send a subscriber what is retained; return how many steps that was."""
    steps = list(retained.send_to(session, object(), granted))  # type: ignore[arg-type]
    assert all(step > 0 for step in steps)
    return sum(steps)


def test_a_subscriber_is_sent_what_each_filter_matches_at_the_lower_qos() -> None:
    retained, sent = made()
    for name, qos in (("a/b", 2), ("a/c", 1), ("d", 0), ("$SYS/x", 0)):
        keep(retained, name, name.encode(), qos)
    give(retained, reader(), ("a/b", 1))
    assert sent == [("a/b", b"a/b", 1)]
    sent.clear()
    give(retained, reader(), ("a/+", 2), ("a/b", 0), ("none", 2))
    assert sorted(sent) == [("a/b", b"a/b", 0), ("a/b", b"a/b", 2), ("a/c", b"a/c", 1)]
    sent.clear()
    give(retained, reader(), ("#", 1))
    assert sorted(sent) == [("a/b", b"a/b", 1), ("a/c", b"a/c", 1), ("d", b"d", 0)]
    sent.clear()
    give(retained, reader(), ("a/#", 0), ("+/b", 2))  # once for each filter
    assert sorted(sent) == [("a/b", b"a/b", 0), ("a/b", b"a/b", 2), ("a/c", b"a/c", 0)]


def test_nobody_is_sent_what_he_may_not_read() -> None:
    retained, sent = made()
    keep(retained, "a", b"1")
    keep(retained, "b", b"2")
    give(retained, reader("a"), ("#", 0), ("a", 0))
    assert sent == [("b", b"2", 0)]
    give(retained, SimpleNamespace(permissions=None), ("#", 0), ("b", 0))
    assert sent == [("b", b"2", 0)]


def test_what_went_meanwhile_is_not_sent() -> None:
    """The steps are done in slices; others publish between them."""
    retained, sent = made()
    keep(retained, "a", b"1")
    keep(retained, "b", b"2")
    steps = retained.send_to(reader(), object(), [("+", 0)])  # type: ignore[arg-type]
    next(steps)  # the filter is taken apart
    next(steps)  # the names are listed, and the first is matched
    keep(retained, "a", b"")
    keep(retained, "c", b"3")
    assert all(step > 0 for step in steps)
    assert sent == [("b", b"2", 0)]


def test_the_steps_tell_of_the_work() -> None:
    """More names, more filters, longer names, deeper ones and larger messages: each is more, none is free."""

    def steps(names: list[str], payload: bytes = b"1", granted: tuple[tuple[str, int], ...] = (("#", 0),)) -> int:
        retained, _ = made()
        for name in names:
            keep(retained, name, payload)
        return give(retained, reader(), *granted)

    one = steps(["a"])
    assert steps(list("abcd")) >= one + 3
    assert steps(["a/" * 50]) >= one + 40
    assert steps(["a" * 5000]) >= one + 15
    assert steps(["a"], bytes(1 << 20)) >= one + 200
    assert steps(["b"], granted=(("a", 0),)) >= 1
    assert steps(["b"], granted=(("a/" * 50 + "a", 0),)) >= 50
    assert steps(["b"], granted=(("a" * 5000, 0),)) >= 15
    assert steps(["a"], granted=(("#", 0), ("+", 0), ("a", 0))) >= one + 4
