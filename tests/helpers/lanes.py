"""Which tests run when: for a reader, before a landing, by night; and in which order, so that no core waits at the end.

A test without a mark is a reader's: ``make test`` runs it. ``pytest.mark.landing`` is for what only those who change
the book need, ``pytest.mark.night`` for what takes long. ``pytest`` without ``--lane`` runs everything it is given.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import needs
import pytest

LANES = ("reader", "landing", "night")
ROOT = Path(__file__).resolve().parents[2]
PAGES = {"pages", "live", "printed"}
"""What a test needs that needs the built book."""
KEPT = ROOT / ".cache" / "test-seconds.json"
"""What each file took where it was run last, here."""
KNOWN = ROOT / "tests" / "seconds.json"
"""The same, as it was recorded once: for the first run in a clone."""
WORTH = 3.0
"""Seconds; files that take less come in any order."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("voicewire")
    group.addoption("--lane", choices=LANES, help="only the tests of this lane (default: every test)")
    group.addoption("--needing", default="", help="a reader's tests that need one of these, to those of the landing")
    group.addoption("--pages", choices=("with", "without"), help="only tests that need the built book, or no such test")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--lane") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Seconds())


def lane_of_file(text: str) -> str | None:
    """The lane that a file's `pytestmark` names, or None: the file need not be imported to know."""
    if "mark.landing" not in text and "mark.night" not in text:
        return None
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            marks = {part.attr for part in ast.walk(node.value) if isinstance(part, ast.Attribute)}
            return next((lane for lane in ("night", "landing") if lane in marks), None)
    return None


def lane_of(item: pytest.Item) -> str:
    """The lane of a test: the latest that its own marks or its file's name."""
    return next((lane for lane in ("night", "landing") if item.get_closest_marker(lane)), "reader")


def may_need(text: str, names: Iterable[str]) -> bool:
    """Whether a test of a file may need one of these: its marks name one, are computed, or are another file's."""
    marks = " ".join(re.findall(r"\bneeds\(([^)]*)", text))
    return "from tests." in text or "*" in marks or not set(names).isdisjoint(re.findall(r"[\w-]+", marks))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file that has nothing for this lane: importing all of them keeps each worker busy for half a minute."""
    lane = config.getoption("--lane")
    if lane is None or collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    if config.getoption("--pages") == "with" and not may_need(text, PAGES):
        return True
    whole = lane_of_file(text)
    if whole:
        return None if whole == lane else True
    words = {"reader": [""], "landing": ["mark.landing"], "night": ["mark.night"]}[lane]
    if "lanes.sampled" in text or any(word in text for word in words):
        return None
    asked = filter(None, config.getoption("--needing").split(","))
    return None if lane == "landing" and may_need(text, asked) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the lane, and those that an earlier lane had to skip; longest files first."""
    needed = {item: needs.of(item) for item in items}  # a name that isn't known ends it, whatever is selected
    lane, asked = config.getoption("--lane"), set(needs.known(filter(None, config.getoption("--needing").split(","))))
    if lane is None and not asked:
        return

    pages = config.getoption("--pages")

    def wanted(item: pytest.Item) -> bool:
        own = lane_of(item)
        if pages and (pages == "with") == PAGES.isdisjoint(needed[item]):
            return False
        return own == lane or (own == "reader" and lane in ("landing", None) and not asked.isdisjoint(needed[item]))

    left = [item for item in items if not wanted(item)]
    spent = seconds()
    items[:] = sorted(filter(wanted, items), key=lambda item: -spent.get(item.nodeid.partition("::")[0], 0.0))
    config.hook.pytest_deselected(items=left)


def sampled(names: Sequence[str], count: int) -> list[Any]:
    """Parameters of which the first and others at even distances come before a landing, and the rest by night."""
    kept = {names[len(names) * k // count] for k in range(count)} if names else set()
    return [name if name in kept else pytest.param(name, marks=pytest.mark.night) for name in names]


class Seconds:
    """Adds up what each file takes, and keeps it for the order of the next run."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a test's set-up, run or tear-down to its file."""
        self.spent[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Keep what is worth it."""
        new = {name: round(spent, 1) for name, spent in self.spent.items() if spent >= WORTH}
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(seconds() | new, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def seconds() -> dict[str, float]:
    """What files took, as far as it is known."""
    found: dict[str, float] = {}
    for file in (KNOWN, KEPT):
        if file.is_file():
            found |= json.loads(file.read_text(encoding="utf-8"))
    return found
