"""Whole numbers that leave 32 bits are made with 64: NumPy's own integer has 32 in a browser, and on old Windows.

Found on the syntax tree, in the package and in every cell of the book: an array of integers made without a dtype,
multiplied by a number so large that a few hundred entries overflow. The number's own type saves nothing: before
NumPy 2.0 an array of 32 bits times `np.int64(20_000_000)` keeps 32 bits.
"""

from __future__ import annotations

import ast
import functools
import json
import math
from collections.abc import Iterator

import numpy as np
import pytest

from voicewire_book import paths

pytestmark = pytest.mark.landing

ROOT = paths.root()
LARGE = 100_000
"""Times 21,475 it leaves 32 bits; a factor of a million (ms in ns) at 2,148."""

MAKERS = {"arange", "array", "asarray", "cumsum", "flatnonzero", "r_", "full", "ones_like", "searchsorted", "repeat"}
"""What NumPy makes integers with, in its own width unless a dtype, or an array of 64 bits, says otherwise."""

WIDE = {"int64", "uint64", "float", "float64", "int8"}


def sources() -> dict[str, str]:
    """Return the text of every file of the package, and of each notebook's cells together."""
    found = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")}
    for path in (ROOT / "notebooks").rglob("*.ipynb"):
        cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
        texts = ("".join(cell["source"]) for cell in cells)
        plain = (line for text in texts for line in text.splitlines() if not line.lstrip().startswith(("%", "!")))
        found[path.relative_to(ROOT).as_posix()] = "\n".join(plain)
    return found


def constants(tree: ast.Module) -> dict[str, int]:
    """Return the whole numbers that a file gives a name to."""
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and type(node.value.value) is int
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class Finder:
    """Looks for products in one file; `named` are the whole numbers that have a name anywhere in the package."""

    def __init__(self, tree: ast.Module, named: dict[str, int]) -> None:
        self.tree, self.named = tree, named
        self.narrow_names: set[str] = set()
        for node in ast.walk(tree):  # twice: a name may come from another
            self.note(node)
        for node in ast.walk(tree):
            self.note(node)

    def note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign) and self.narrow(node.value):
            self.narrow_names |= {target.id for target in node.targets if isinstance(target, ast.Name)}

    def size(self, node: ast.expr) -> int:
        """Return the whole number that an expression is, or 0."""
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Call) and last(node.func) in ("int", "int64", "int32") and len(node.args) == 1:
            return self.size(node.args[0])
        if isinstance(node, ast.BinOp):
            left, right = self.size(node.left), self.size(node.right)
            if isinstance(node.op, ast.Pow):
                return min(left**right, 2**63) if left and 0 < right < 64 else 0
            return left * right if isinstance(node.op, ast.Mult) else 0
        return self.named.get(last(node), 0)

    def narrow(self, node: ast.expr) -> bool:
        """Tell whether an expression holds integers of NumPy's own width, and nothing that widens it."""
        inside = list(ast.walk(node))
        if any(isinstance(n, ast.keyword) and n.arg == "dtype" for n in inside):
            return False
        if any(isinstance(n, ast.Constant) and isinstance(n.value, float | complex) for n in inside):
            return False
        if any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div) for n in inside):
            return False
        if any(isinstance(n, ast.Attribute) and n.attr == "astype" for n in inside):
            return False
        return self.made(node)

    def made(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.narrow_names
        if isinstance(node, ast.BinOp):
            return self.made(node.left) or self.made(node.right)
        if isinstance(node, ast.Subscript):
            return self.row(node.slice) if last(node.value) == "r_" else self.made(node.value)
        if isinstance(node, ast.Call):
            name = last(node.func)
            if any(last(argument) in WIDE for argument in node.args):
                return False  # a dtype by its place
            if name in ("array", "asarray"):
                return bool(node.args) and isinstance(node.args[0], ast.List) and self.whole(node.args[0])
            return name in MAKERS - {"r_", "full", "repeat"} or (
                name in ("full", "repeat", "concatenate", "sort") and any(map(self.made, node.args))
            )
        return isinstance(node, ast.Tuple | ast.List) and any(map(self.made, node.elts))

    def row(self, node: ast.expr) -> bool:
        """Tell whether `np.r_` of these gets its integers from NumPy's own, or from plain numbers alone."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        return any(map(self.made, parts)) or all(isinstance(part, ast.Constant | ast.Slice) for part in parts)

    def whole(self, node: ast.List) -> bool:
        return bool(node.elts) and all(self.size(entry) or last(entry) in self.named for entry in node.elts[-1:])

    def factors(self, node: ast.expr) -> list[ast.expr]:
        """Return what a product is made of, as 20 * 1_000 * x has three factors."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            return self.factors(node.left) + self.factors(node.right)
        return [node]

    def products(self) -> Iterator[int]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
                parts = self.factors(node)
                numbers = [part for part in parts if self.size(part)]
                rest = [part for part in parts if not self.size(part)]
                large = abs(math.prod(map(self.size, numbers))) >= LARGE
                if large and any(map(self.narrow, rest)) and self.narrow_only(rest):
                    yield node.lineno

    def narrow_only(self, parts: list[ast.expr]) -> bool:
        """Tell whether no factor of the product is a float or has 64 bits."""
        return all(self.narrow(part) or isinstance(part, ast.Name) for part in parts)


SOURCES = sources()


@functools.cache
def trees() -> dict[str, ast.Module]:
    """Return every source, parsed: by the worker that runs these tests, not by each that collects them."""
    return {name: ast.parse(text) for name, text in SOURCES.items()}


@functools.cache
def named() -> dict[str, int]:
    return {key: value for tree in trees().values() for key, value in constants(tree).items() if value >= LARGE}


def found(text: str) -> list[int]:
    return list(Finder(ast.parse(text), named()).products())


def test_no_array_of_narrow_integers_is_multiplied_by_a_large_number():
    hits = [
        f"{name}:{line}: {SOURCES[name].splitlines()[line - 1].strip()}"
        for name, tree in trees().items()
        for line in Finder(tree, named()).products()
    ]
    print(f"{len(trees())} files, {len(named())} large numbers with a name")
    assert hits == []


def test_what_is_counted_has_the_width_that_counting_takes():
    """``np.bincount`` refuses 64 bits where NumPy's own integer has 32: in a browser."""
    counted = [
        (name, node)
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and last(node.func) == "bincount"
    ]
    assert counted
    for name, node in counted:
        said = ast.unparse(node.args[0])
        made = [line for line in SOURCES[name].splitlines() if line.strip().startswith(f"{said} = ")]
        assert any("astype(np.intp)" in line for line in [said, *made]), f"{name}: {ast.unparse(node)}"


@pytest.mark.parametrize(
    "text",
    [
        "np.arange(6000) * 20_000_000",
        "np.r_[np.arange(100), 200 + np.arange(100)] * 20_000_000",
        "np.arange(5) * np.int64(20_000_000)",
        "20 * 10**6 * np.arange(5)",
        "t = np.flatnonzero(x)\nu = t + 1\nu * 1_000_000",
        "np.array([0, 150]) * SECOND",
        "SECOND * np.cumsum(gaps)",
        "np.arange(5) * 20 * 1_000 * 1_000",
    ],
)
def test_the_class_is_seen(text):
    assert "SECOND" in named()
    assert found(text)


@pytest.mark.parametrize(
    "text",
    [
        "np.arange(6000, dtype=np.int64) * 20_000_000",
        "np.arange(0.0, 5.0) * 20_000_000",
        "np.arange(5) / 10 * 1_000_000",
        "np.arange(5).astype(np.int64) * 20_000_000",
        "np.array([0.5]) * 1_000_000",
        "np.arange(5) * 20",
        "times * 20_000_000",
        "t = np.arange(50, dtype=np.int64)\nnp.r_[t, 150 + t] * 20_000_000",
        "np.arange(5) * 1e-3 * 1_000_000",
    ],
)
def test_what_is_wide_or_small_is_left_alone(text):
    assert not found(text)


def test_what_would_happen():
    """The fault itself, in the width that NumPy has there."""
    assert (np.arange(200, dtype=np.int32) * np.int32(20_000_000))[-1] != 199 * 20_000_000


def test_numbers_are_counted_in_the_width_that_bincount_takes():
    """`np.bincount` refuses 64 bits where NumPy's own integer has 32; `spurts` and the like have 64 everywhere."""
    found = [
        (name, node.lineno, ast.unparse(node.args[0]))
        for name, text in sources().items()
        if name.startswith("src/")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and last(node.func) == "bincount"
    ]
    assert found and [place for place in found if "astype(np.intp)" not in place[2]] == []
