"""What an assignment asks, read from the instructor's source in nbgrader's mark-up."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ASSIGNMENT", "PROJECT", "GradingError", "Key", "KeyCell", "read_key", "read_keys"]

ASSIGNMENT = "assignment.ipynb"
PROJECT = "project.md"  # the second one of a part, with the rubric that a person marks it by
_HIDDEN = re.compile(r"^[^\n]*### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS[^\n]*\n?", re.MULTILINE | re.DOTALL)
_SOLUTION = re.compile(r"^([ \t]*)### BEGIN SOLUTION.*?### END SOLUTION[^\n]*", re.MULTILINE | re.DOTALL)


class GradingError(ValueError):
    """Nothing can be released or graded; the message says why and what to do."""


@dataclass(frozen=True)
class KeyCell:
    """One cell of an assignment that has an id.

    Attributes
    ----------
    id : str
        Its name in nbgrader's mark-up.
    code : bool
        Whether it is a code cell.
    source : str
        What the instructor wrote, with solution and hidden tests.
    visible : str
        What the student gets.
    answer : bool
        Whether the student is to write in it.
    points : float or None
        What it is worth; None where it isn't graded.
    """

    id: str
    code: bool
    source: str
    visible: str
    answer: bool
    points: float | None

    @property
    def test(self) -> bool:
        """Whether a program marks it."""
        return self.points is not None and not self.answer and self.code


@dataclass(frozen=True)
class Key:
    """An assignment as the instructor has it.

    Attributes
    ----------
    study : str
        Whose assignment it is.
    path : Path
        The notebook.
    cells : tuple of KeyCell
        Those with an id, in order.
    """

    study: str
    path: Path
    cells: tuple[KeyCell, ...]

    @property
    def asked(self) -> list[str]:
        """Names that a student's answers give: what the solutions define."""
        return sorted({name for tree in self._solutions() for name in _bound(tree)})

    @property
    def imports(self) -> str:
        """The import statements of the solutions' cells: a test may use what they import."""
        nodes = [n for tree in self._solutions() for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
        return "\n".join(map(ast.unparse, nodes))

    def _solutions(self) -> Iterator[ast.Module]:
        return (ast.parse(cell.source) for cell in self.cells if cell.answer and cell.code)


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))


def read_key(path: Path) -> Key:
    """Read one ``assignment.ipynb`` of the instructor's."""
    name = f"notebooks/{path.parent.name}/{path.name}"
    cells = []
    try:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            mark = cell["metadata"].get("nbgrader")
            if not mark:
                continue
            source = "".join(cell["source"])
            visible = _SOLUTION.sub(r"\1raise NotImplementedError()", _HIDDEN.sub("", source))
            points = float(mark["points"]) if mark.get("grade") else None
            code = cell["cell_type"] == "code"
            if code:
                ast.parse(source)
            cells.append(KeyCell(mark["grade_id"], code, source, visible, bool(mark.get("solution")), points))
    except (KeyError, TypeError, AttributeError, ValueError, SyntaxError) as error:
        raise GradingError(f"{name} can't be graded against: {type(error).__name__}: {error}") from None
    twice = {cell.id for cell in cells if sum(cell.id == other.id for other in cells) > 1}
    if twice:
        raise GradingError(f"{name}: two cells are called {min(twice)}")
    if not any(cell.points is not None for cell in cells):
        raise GradingError(f"{name} has no graded cell")
    return Key(path.parent.name, path, tuple(cells))


def read_keys(base: Path, folder: Path | None = None) -> dict[str, Key]:
    """Return the assignments of a checkout by study."""
    found = sorted((folder or base / "notebooks").glob(f"*/{ASSIGNMENT}"))
    if not found and folder is not None:
        raise GradingError(f"{folder} has no <study>/{ASSIGNMENT} to grade against")
    if not found:
        raise GradingError(f"the checkout has no notebooks/<study>/{ASSIGNMENT} to grade against")
    return {path.parent.name: read_key(path) for path in found}
