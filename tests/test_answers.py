"""The record of what all checks answer: no check is left out, a chapter runs as far as needed, differences are told."""

from __future__ import annotations

import json
from pathlib import Path

import answers
import asked
import asking
import pytest
import usual
from asking import of

pytestmark = pytest.mark.landing

CHAPTERS = sorted(answers.CHAPTERS.glob("*/[0-9]*.ipynb"))
CELLS = [
    ("", "def check(label, answer):\n    return Feedback(answer == 4, label)"),
    ("", "from voicewire_book.kit.exercises import Feedback, number\nimport no_such_module"),
    ("", "%matplotlib inline\nspoilt = 1 / 0\nnumbers = [2]\nnumbers.append(4)\nfor n in spoilt:\n    print(n)"),
    ("check", "check('twice', answer_twice)"),
    ("solution", "for n in numbers:\n    solved = n\ncheck('twice', solved)\nprint(check('twice', spoilt))"),
]


def statements() -> list[asked.Statement]:
    return [row for path in CHAPTERS for row in asked.statements(path)]


def test_every_check_is_asked_by_a_chapter_and_answered_by_its_solution() -> None:
    rows = statements()
    said = {kind: [label for row in rows if row.kind == kind for label in asked.called(row.node)]
            for kind in ("check", "solution")}  # fmt: skip
    assert set(said["check"]) == set(said["solution"])
    made = [label for table in asking.tables().values() for label in table]
    assert len(made) > 300
    assert sorted(made) == sorted(said["check"])


def test_of_a_chapter_only_what_a_solution_needs_is_run_and_what_fails_is_told(tmp_path: Path) -> None:
    cells = [{"id": f"c{i}", "cell_type": "code", "source": source, "metadata": {"tags": [kind]}}
             for i, (kind, source) in enumerate(CELLS)]  # fmt: skip
    path = tmp_path / "01_made.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    before = Path.cwd()
    found = asked.chapter(path)
    assert Path.cwd() == before
    assert found.solutions == {"twice": [(4,)]}
    assert found.without == {"twice": "cell c2: ZeroDivisionError: division by zero"}
    assert found.labels == ["twice"]
    check = asking.of("nfc-ex-gap")
    assert answers.said(check, ("c",))["verdict"] == "right"
    assert answers.said(check, ([],))["verdict"] == "wrong"
    assert answers.said(check, ())["verdict"] == "raises TypeError"


def test_a_check_that_hangs_is_named() -> None:
    def check_hangs(answer: object) -> object:
        while True:
            pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers, "ASK_SECONDS", 0.1)
        assert answers.said(check_hangs, (1,))["verdict"] == "too long"


def test_the_mistakes_of_a_check_are_those_in_its_tables() -> None:
    assert {"1.7777777777777777", "3.0"} <= {label for label, _ in usual.mistakes(of("echo-ex-rls"), [(1.0,)])}
    assert sum(label.startswith("the mistake") for label, _ in usual.mistakes(of("echo-ex-unknowns"), [(max,)])) == 6
    assert len(usual.mistakes(of("echo-ex-erle"), [(1.0,)])) >= 4
    assert [wrong for _, wrong in usual.mistakes(of("foundations-signals-pole"), [([1.0, 2.0],)])][-1][0] == 2000


def test_junk_is_made_anew() -> None:
    made = [usual.junk(source) for source in usual.JUNK]
    assert len(made) == len(set(usual.JUNK))
    assert usual.junk("[1]") is not usual.junk("[1]")


def test_differences_are_told() -> None:
    row = {"answer": "4", "kind": "solution", "verdict": "right", "sentence": "four."}
    old = {"a/b": [row, {**row, "answer": "5"}], "a/c": [row]}
    assert answers.differences(old, old) == []
    now = {"a/b": [{**row, "verdict": "wrong"}], "a/d": [row]}
    assert answers.differences(old, now) == [
        "a/b, 4\n  was right: four.\n  is  wrong: four.",
        "a/b, 5\n  was right: four.\n  is  not asked",
        "a/c: not found any more",
        "a/d: new",
    ]
