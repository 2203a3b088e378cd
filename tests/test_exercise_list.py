"""The exercises as a reader meets them: what they ask, what stands above them, and whether a solution explains itself.

`exercises.txt` lists each with what it asks, by the rule at its top.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from functools import cache
from pathlib import Path

import asking
import nbformat
import numpy as np
import pytest

from voicewire_book import paths

pytestmark = pytest.mark.landing

CHAPTERS = {f"{path.parent.name}/{path.stem}": path for path in paths.chapters()}
chapters = pytest.mark.parametrize("chapter", CHAPTERS)
ASKED = re.compile(r"```\{exercise\} (?P<title>.+) \((?P<kind>[\w ]+), (?P<level>\w+)\)\n:label: (?P<label>\S+)\n")
KINDS, LEVELS = {"by hand", "derive", "interpret", "build"}, {"easy", "medium", "hard"}
ASKS = {"recall", "plug-in", "more"}
LEAST_WORDS = 25
"""Words of a worked solution beside its formulas: enough to say how one finds it."""


@cache
def cells(chapter: str) -> list[nbformat.NotebookNode]:
    return nbformat.read(CHAPTERS[chapter], as_version=4).cells


def exercises(chapter: str) -> dict[str, tuple[re.Match[str], list[nbformat.NotebookNode]]]:
    """Each exercise's heading and its cells, up to the end of its solution, by its label; the lab is test_labs'."""
    found = {}
    for i, cell in enumerate(cells(chapter)):
        head = ASKED.match(cell.source)
        if head:
            end = next(j for j in range(i, len(cells(chapter))) if "{solution-end}" in cells(chapter)[j].source)
            found[head["label"]] = head, cells(chapter)[i : end + 1]
    return found


def listed() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for line in Path(__file__).with_name("exercises.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            found[line[3:]] = {}
        elif line and not line.startswith("#"):
            label, _, asks = line.partition(" = ")
            found[list(found)[-1]][label] = asks
    return found


LIST = listed()


def test_the_list_is_that_of_the_chapters():
    assert {name: list(asks) for name, asks in LIST.items()} == {name: list(exercises(name)) for name in CHAPTERS}
    assert {asks for chapter in LIST.values() for asks in chapter.values()} == ASKS


@chapters
def test_a_chapter_has_six_or_more_of_four_kinds_and_each_says_its_level(chapter):
    heads = [head for head, _ in exercises(chapter).values()]
    assert len(heads) >= 6
    assert {head["kind"] for head in heads} == KINDS
    assert {head["level"] for head in heads} <= LEVELS
    text = "\n".join(cell.source for cell in cells(chapter))
    assert len(re.findall(r"^```\{exercise\}", text, re.M)) == len(heads) + 1  # the lab's stages


@chapters
def test_a_quarter_at_most_is_recall_or_plug_in(chapter):
    asks = Counter(LIST[chapter].values())
    assert asks["recall"] + asks["plug-in"] <= len(LIST[chapter]) / 4


def test_a_quarter_at_most_is_recall_or_plug_in_in_all():
    asks = Counter(word for chapter in LIST.values() for word in chapter.values())
    print(asks)
    assert asks["recall"] + asks["plug-in"] <= asks.total() / 4
    for name in CHAPTERS:  # what is derived or built is never a look-up; a look-up is marked easy or medium
        for label, (head, _) in exercises(name).items():
            assert LIST[name][label] == "more" or head["level"] != "hard"
            assert LIST[name][label] == "more" or head["kind"] != "derive"


def words(rows: list[nbformat.NotebookNode]) -> int:
    prose = " ".join(cell.source for cell in rows if cell.cell_type == "markdown")
    prose = re.sub(r"^\*With the numbers of this page; yours are worked out below\.\*", "", prose)
    bare = re.sub(r"\$\$[^$]*\$\$|\$[^$]*\$|\{\w+\}`[^`]*`|`[^`]*`", " ", prose)
    return len(re.findall(r"[A-Za-z]{2,}", bare))


@chapters
def test_a_place_to_answer_then_the_check_then_a_folded_solution_that_explains_itself_before_its_code(chapter):
    for label, (_, rows) in exercises(chapter).items():
        question, place, check, start, *solution, _ = rows
        assert question.cell_type == "markdown"
        assert re.search(r"^answer_\w+ = None  # your \w.*$", place.source, re.M), label
        assert check.metadata["tags"] == ["check"] and "not answered yet" in str(check.outputs), label
        assert start.source.startswith(f"```{{solution-start}} {label}\n:class: dropdown"), label
        first = next((i for i, cell in enumerate(solution) if cell.cell_type == "code"), len(solution))
        assert words(solution[:first]) >= LEAST_WORDS, f"{label}: say how one finds it, before any code"
        assert all(cell.metadata.get("tags") == ["solution"] for cell in solution if cell.cell_type == "code"), label
        assert "Right: " in str([cell.get("outputs") for cell in solution]), label


@chapters
def test_each_solution_is_folded_in_jupyterlab_too(chapter):
    """There a directive folds nothing; `voicewire_book.publish.notebooks` collapses the cells between its fences.

    JupyterLab shows the first line of what it has collapsed, so that line says nothing of the solution.
    """
    inside, folded = False, []
    for cell in cells(chapter):
        ends = cell.source.startswith("```{solution-end}")
        hidden = cell.metadata.get("jupyter", {})
        if inside and not ends:
            assert cell.source.startswith("# solution\n" if cell.cell_type == "code" else "<!-- solution -->\n")
            folded.append(hidden.get("source_hidden") and (hidden.get("outputs_hidden") or cell.cell_type != "code"))
        in_view = re.search(r"^answer_\w+ = None|^```\{exercise\}", cell.source, re.M)
        if in_view or "check" in cell.metadata.get("tags", []):
            assert not hidden, "a question, its place and its check are in view"
        inside = cell.source.startswith("```{solution-start}") or (inside and not ends)
    assert len(folded) >= 12 and all(folded)


def shown(cell: nbformat.NotebookNode) -> str:
    outputs = "\n".join(str(o.get("text", "") or o.get("data", {}).get("text/plain", ""))
                        for o in cell.get("outputs", []))  # fmt: skip
    return f"{cell.source}\n{outputs}"


def page(chapter: str) -> str:
    """What stands on a page with its solutions folded, but for the line that says how long it takes."""
    folded, said = False, []
    for cell in cells(chapter):
        folded = "{solution-start}" in cell.source or (folded and "{solution-end}" not in cell.source)
        said += [] if folded else [shown(cell)]
    return re.sub(r"(?m)^\*\*Time\*\*.*$", "", "\n".join(said))


@cache
def imported(chapter: str) -> dict[str, object]:
    """What a chapter imports, and the functions that its cells define."""
    names: dict[str, object] = {"np": np, "math": math}
    for cell in cells(chapter):
        if cell.cell_type == "code" and not cell.source.startswith(("%", "!")):
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef):
                    with suppress(Exception):  # a default or a decorator may need what other cells compute
                        exec(compile(ast.Module([node], []), chapter, "exec"), names)
    return names


def results(chapter: str, rows: list[nbformat.NotebookNode]) -> list[float]:
    """The numbers that a solution hands over, where its last cell says them without the page's own names."""
    code = [cell.source for cell in rows if cell.cell_type == "code"][-1]
    drawn = re.search(r'print\(given\("(.+)", my_seed\)\.worked\)', code)
    if drawn:
        answer = asking.record(drawn[1]).own().answer
        return list(answer) if isinstance(answer, tuple) else [answer]
    names = dict(imported(chapter))
    try:
        tree = ast.parse(code)
        tree.body = tree.body[:-1]
        exec(compile(tree, "solution", "exec"), names)
    except Exception:  # it uses what the chapter has built: the study's own tests hold those
        return []
    own = (v for name, v in names.items() if name.startswith("solved_") and name not in imported(chapter))
    value = next(own, None)
    flat = value.ravel() if isinstance(value, np.ndarray) else value if isinstance(value, list | tuple) else [value]
    return [float(v) for v in flat if isinstance(v, int | float | np.number) and not isinstance(v, bool)]


def spellings(value: float) -> list[str]:
    """How a result of three or more significant digits is written: whole, or to three or four digits."""
    if abs(Fraction(value).limit_denominator(12) - Fraction(value)) < 1e-9 and value != round(value):
        return []  # two thirds is no number of three digits, however it is printed
    if value == round(value) and abs(value) < 1e15:
        whole = f"{abs(round(value))}"
        forms = [whole, f"{abs(round(value)):,}"]
        return forms if len(whole.strip("0")) >= 3 else []
    return [form for form in {f"{abs(value):.3g}", f"{abs(value):.4g}"}
            if len(form.replace(".", "").strip("0")) >= 3 and "e" not in form]  # fmt: skip


def stands(form: str, text: str) -> bool:
    return re.search(rf"(?<![\w.,]){re.escape(form)}(?![\d]|[.,]\d)", text) is not None


def test_how_a_result_is_searched_for():
    assert spellings(656.0) == ["656", "656"] and spellings(1200.0) == [] and spellings(0.25) == []
    assert stands("656", "about 656 bytes.") and stands("1,197", "1,197 of them")
    assert not stands("656", "1656 or 656.5 or 6560")


@chapters
def test_no_result_of_three_digits_stands_on_the_page(chapter):
    text = page(chapter)
    found = {label: results(chapter, rows) for label, (_, rows) in exercises(chapter).items()}
    answered = [(label, form) for label, values in found.items() for value in values for form in spellings(value)
                if stands(form, text)]  # fmt: skip
    assert answered == []


def test_the_search_reaches_most_results():
    """Those of solutions that use what a chapter's cells have computed are left to the tests of its study."""
    found = {label: results(name, rows) for name in CHAPTERS for label, (head, rows) in exercises(name).items()
             if head["kind"] == "by hand"}  # fmt: skip
    without = [label for label, values in found.items() if not values]
    assert len(without) <= len(found) / 5, without
