"""An assignment with hidden tests whose inputs come from the instructor's secret.

What a part's ``exam.py`` draws are calls of the functions that the assignment asks for. The assignment's own solutions
say what each has to give; the tests are added to those that stand in the source, so nothing that was tested is lost.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat

from voicewire_book.course.key import GradingError, read_key
from voicewire_book.course.secret import generator

__all__ = ["drawn", "with_tests"]


def drawn(part: str, secret: str) -> dict[str, list[tuple[str, str]]]:
    """Return the calls for a part's assignment."""
    name = f"voicewire_book.chapters.{part}.exam"
    if importlib.util.find_spec(f"voicewire_book.chapters.{part}") is None or importlib.util.find_spec(name) is None:
        return {}
    module = importlib.import_module(name)
    made: dict[str, list[tuple[str, str]]] = module.hidden(generator(secret, f"hidden {part}"))
    return made


def with_tests(source: Path, calls: Mapping[str, Sequence[tuple[str, str]]]) -> Any:
    """Return an assignment with more hidden tests: what its own solutions give is what is wanted."""
    key = read_key(source)
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in key.cells:
        if cell.code and not cell.test:
            exec(compile(cell.source, source.parent.name, "exec", dont_inherit=True), names)
    notebook = nbformat.read(source, as_version=4)
    tests = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
    for test, wanted in calls.items():
        if test not in tests:
            raise GradingError(f"{source.parent.name}/{source.name} has no tests {test!r} to add to")
        lines = [_assertion(call, when, names, source.parent.name) for call, when in wanted]
        tests[test].source += "\n".join(["\n### BEGIN HIDDEN TESTS", *lines, "### END HIDDEN TESTS"])
    return notebook


def _assertion(call: str, when: str, names: dict[str, Any], study: str) -> str:
    try:
        value = eval(call, names)
    except Exception as error:  # a solution may raise anything
        raise GradingError(f"the solutions of {study} fail at {call}: {type(error).__name__}: {error}") from None
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        held = f"abs({call} - {value!r}) < {max(1e-9, 1e-6 * abs(value))!r}"
    elif isinstance(value, float):
        held = f'{call} == float("{value}")'
    else:
        held = f"{call} == {value!r}"
    return f"if {when}:\n    assert {held}" if when else f"assert {held}"
