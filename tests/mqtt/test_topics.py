"""Matching: the standard's own examples, and the tree against the plain definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.mqtt.topics import SubscriptionTree, check_filter, check_name, matches

EXAMPLES = [
    ("sport/tennis/player1/#", "sport/tennis/player1", True),
    ("sport/tennis/player1/#", "sport/tennis/player1/ranking", True),
    ("sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon", True), ("sport/#", "sport", True),
    ("#", "a/b", True), ("sport/tennis/+", "sport/tennis/player1", True),
    ("sport/tennis/+", "sport/tennis/p/ranking", False),
    ("sport/+", "sport", False), ("sport/+", "sport/", True), ("+/+", "/finance", True), ("/+", "/finance", True),
    ("+", "/finance", False), ("#", "$SYS/x", False), ("+/monitor/Clients", "$SYS/monitor/Clients", False),
    ("$SYS/#", "$SYS/monitor", True), ("$SYS/monitor/+", "$SYS/monitor/Clients", True), ("ACCOUNTS", "Accounts", False),
    ("/a", "a", False), ("a/", "a", False), ("a//b", "a/b", False), ("+//+", "a//b", True), ("a/+/#", "a", False),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "topic", "expected"), EXAMPLES)
def test_examples_of_section_4_7(pattern: str, topic: str, expected: bool) -> None:
    assert matches(pattern, topic) is expected
    tree = SubscriptionTree[int]()
    tree.add(pattern, 1, 0)
    assert (tree.match(topic) == {1: 0}) is expected


levels = st.lists(st.sampled_from(["", "a", "b", "$x"]), min_size=1, max_size=4).map("/".join).filter(bool)
patterns = st.tuples(
    st.lists(st.sampled_from(["", "a", "b", "+", "$x"]), max_size=3), st.sampled_from([[], ["#"], ["a"], ["+"]])
).map(lambda t: "/".join(t[0] + t[1])).filter(bool)  # fmt: skip


@given(st.lists(st.tuples(patterns, st.integers(0, 4), st.integers(0, 3)), max_size=12), st.data(), levels)
def test_the_tree_agrees_with_the_definition(
    entries: list[tuple[str, int, int]], data: st.DataObject, topic: str
) -> None:
    tree = SubscriptionTree[int]()
    known: dict[tuple[str, int], int] = {}
    for pattern, who, qos in entries:
        tree.add(pattern, who, qos)
        known[pattern, who] = qos
    for key in data.draw(st.lists(st.sampled_from(sorted(known)), unique=True)) if known else []:
        tree.remove(*key)
        del known[key]
    expected: dict[int, int] = {}
    for (pattern, who), qos in known.items():
        if matches(pattern, topic):
            expected[who] = max(qos, expected.get(who, 0))
    assert tree.match(topic) == expected
    assert tree.count == len(known)
    for key in known:
        tree.remove(*key)
    assert not tree._root.children and tree.count == 0


def test_removing_what_is_not_there() -> None:
    tree = SubscriptionTree[int]()
    tree.add("a/b", 1, 0)
    for pattern, who in (("a", 1), ("a/b", 2), ("a/b/c", 1), ("x", 1)):
        tree.remove(pattern, who)
    assert tree.match("a/b") == {1: 0}


def test_names_and_filters() -> None:
    assert check_name("$SYS/a") and check_filter("+/+/#") and check_name("x" * 65535)
    assert check_name("ü" * 32767 + "x") and check_filter("x" * 65533 + "/#")
    for bad in ("", "a+", "#", "a\0", "ü" * 40000, "ü" * 32768, "x" * 65536):
        with pytest.raises(ValueError):
            check_name(bad)
    for bad in ("", "a+", "#/a", "a#", "a/b+/c", "\0", "x" * 65534 + "/#"):
        with pytest.raises(ValueError):
            check_filter(bad)
