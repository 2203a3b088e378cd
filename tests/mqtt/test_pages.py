"""The two pages of the book that list rules and their tests say what the tests say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
BOOK = HERE.parents[1] / "book" / "emqtt"


def docstrings(*names: str) -> Iterator[tuple[str, str]]:
    for name in names:
        for node in ast.parse((HERE / name).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield node.name, " ".join((ast.get_docstring(node) or "").split())


def test_conformance_table() -> None:
    expected: dict[str, list[str]] = {}
    for name, text in docstrings("test_conformance_connect.py", "test_conformance_messages.py"):
        for statement in re.findall(r"\[(MQTT[^\]]+)\]", text):
            expected.setdefault(statement, []).append(name)
    page = (BOOK / "conformance.md").read_text(encoding="utf-8")
    found = {a: re.findall(r"`(\w+)`", b) for a, b in re.findall(r"^\| (MQTT\S+) \| (.+) \|$", page, re.M)}
    assert found == expected
    assert len(found) > 110


def test_rules_of_the_completed_page() -> None:
    expected = {}
    for name, text in docstrings("test_e2e.py", "test_store.py"):
        rule = re.match(r"\[[^\]]+\] (.*)", text)
        if rule:
            expected[name] = rule[1]
    page = (BOOK / "completed.md").read_text(encoding="utf-8")
    assert {name: rule for rule, name in re.findall(r"^\| (.+) \| `(test_\w+)` \|$", page, re.M)} == expected
