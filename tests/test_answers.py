"""The record of what all checks answer: no check is left out, a chapter runs as far as needed, differences are told."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import answers
import asked
import pytest
import usual

pytestmark = pytest.mark.landing

CHAPTERS = sorted(answers.CHAPTERS.glob("*/[0-9]*.ipynb"))
SOURCE = answers.ROOT / "src"
CELLS = [
    ("", "def check_twice(answer):\n    '''Twice.'''\n    return Feedback(answer == 4, 'twice.')"),
    ("", "from voicewire_book.kit.exercises import Feedback, number\nimport no_such_module"),
    ("", "%matplotlib inline\nspoilt = 1 / 0\nnumbers = [2]\nnumbers.append(4)\nfor n in spoilt:\n    print(n)"),
    ("check", "check_twice(answer_twice)"),
    ("solution", "for n in numbers:\n    solved = n\ncheck_twice(solved)\nprint(check_twice(spoilt))"),
]


def statements() -> list[asked.Statement]:
    return [row for path in CHAPTERS for row in asked.statements(path)]


def test_every_check_is_asked_by_a_chapter_and_answered_by_its_solution() -> None:
    rows = statements()
    said = {kind: {(row.cell, row.key(asked.name_of(call))) for row in rows if row.kind == kind
                   for call in asked.called(row.node)} for kind in ("check", "solution")}  # fmt: skip
    names = {kind: {key for _, key in pairs} for kind, pairs in said.items()}
    assert names["check"] == names["solution"]
    made = [node.name for path in SOURCE.rglob("*.py") for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef) and asked.NAMED.fullmatch(node.name) and node.returns
            and "Feedback" in ast.unparse(node.returns)]  # fmt: skip
    assert len(made) > 300
    assert {name.removeprefix("check_") for name in made} == {key.removeprefix("lab/") for key in names["check"]}


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
    check = found.checks["twice"]
    assert answers.said(check, (4,)) == {"verdict": "right", "sentence": "twice."}
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
    from voicewire_book.chapters.echo.exercises import check_erle, check_rls, check_unknowns
    from voicewire_book.chapters.foundations.signals_exercises import check_pole

    assert {"1.7777777777777777", "3.0"} <= {label for label, _ in usual.mistakes(check_rls, [(1.0,)])}
    assert sum(label.startswith("the mistake") for label, _ in usual.mistakes(check_unknowns, [(max,)])) == 6
    assert len(usual.mistakes(check_erle, [(1.0,)])) >= 4
    assert [wrong for _, wrong in usual.mistakes(check_pole, [([1.0, 2.0],)])][-1][0] == 2000


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
