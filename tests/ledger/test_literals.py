"""No literal is judged as if it had been computed: what is settled by reading two places says so in the ledger.

A syntax tree shows it. A value counts as typed in if it holds nothing but literals, names that hold only such,
constants of the package's modules, and the arithmetic of literals. Arithmetic on printed numbers counts as computing.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from types import ModuleType

import nbformat
import pytest

from voicewire_book import paths
from voicewire_book.kit import claims

PLAIN = {"abs", "bool", "complex", "dict", "float", "int", "len", "list", "max", "min", "range", "round", "set"}
PLAIN |= {"sorted", "sum", "tuple", "zip"}
"""Functions that make of literals what anybody could have typed."""


class Page:
    """The names of a notebook as its cells run: which hold only what was typed, and which are modules of ours."""

    def __init__(self) -> None:
        self.typed: set[str] = set()
        self.modules: dict[str, str] = {}

    def read(self, source: str) -> Iterator[tuple[str, ast.expr]]:
        """Yield the claim and the value of each call of ``judge`` whose value was typed in, in the code's order."""
        lines = [("pass" if line.lstrip().startswith(("%", "!")) else line) for line in source.splitlines()]
        for statement in ast.parse("\n".join(lines)).body:
            for call in ast.walk(statement):
                if isinstance(call, ast.Call) and _called(call) == "judge" and len(call.args) >= 2:
                    yield from self._judged(call)
            self._follow(statement)

    def _judged(self, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
        name = call.args[0]
        corrected = call.args[2:3] + [word.value for word in call.keywords if word.arg == "corrected"]
        if self.literal(call.args[1]) or any(self.literal(value) for value in corrected):
            yield (str(name.value) if isinstance(name, ast.Constant) else ast.unparse(name)), call.args[1]

    def _follow(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self._imported(statement)
        computed: set[str] = set()  # by one branch at least
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assigned(target, node.value)
                    names = {leaf.id for leaf in ast.walk(target) if isinstance(leaf, ast.Name)}
                    computed |= names - self.typed
            elif isinstance(node, ast.For | ast.AugAssign | ast.NamedExpr):
                self.typed -= {leaf.id for leaf in ast.walk(node.target) if isinstance(leaf, ast.Name)}
            elif isinstance(node, ast.FunctionDef):
                self.typed.discard(node.name)
        self.typed -= computed

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, part in zip(target.elts, value.elts, strict=True):
                self._assigned(one, part)
            return
        if not isinstance(target, ast.Name):  # an item of a mapping that is filled later is not typed any more
            self.typed -= {leaf.id for leaf in ast.walk(target) if isinstance(leaf, ast.Name)}
        elif self.literal(value):
            self.typed.add(target.id)
        else:
            self.typed.discard(target.id)

    def _imported(self, statement: ast.Import | ast.ImportFrom) -> None:
        for alias in statement.names:
            home = getattr(statement, "module", None)
            full = f"{home}.{alias.name}" if home else alias.name
            if not full.startswith("voicewire"):
                continue
            try:
                importlib.import_module(full)
                self.modules[alias.asname or alias.name] = full
            except ModuleNotFoundError:
                if _constant(importlib.import_module(str(home)), alias.name):
                    self.typed.add(alias.asname or alias.name)

    def literal(self, node: ast.expr, also: frozenset[str] = frozenset()) -> bool:
        """Say whether an expression holds only what was typed in."""

        def all_of(parts: list[ast.expr]) -> bool:
            return all(self.literal(part, also) for part in parts)

        match node:
            case ast.Constant():
                return True
            case ast.Name():
                return node.id in self.typed or node.id in also
            case ast.UnaryOp():
                return all_of([node.operand])
            case ast.Tuple() | ast.List() | ast.Set():
                return all_of(node.elts)
            case ast.Dict():
                return all_of(node.values)
            case ast.Compare():
                return all_of([node.left, *node.comparators])
            case ast.IfExp():
                return all_of([node.body, node.orelse])
            case ast.BinOp():
                return all_of([node.left, node.right]) and not self._printed(node)
            case ast.Subscript():
                return all_of([node.value])
            case ast.Attribute():
                return self._of_module(node)
            case ast.Call():
                return _called(node) in PLAIN and isinstance(node.func, ast.Name) and all_of(node.args)
            case ast.GeneratorExp() | ast.ListComp() | ast.DictComp() | ast.SetComp():
                return self._repeated(node, also)
        return False

    def _repeated(
        self, node: ast.GeneratorExp | ast.ListComp | ast.DictComp | ast.SetComp, also: frozenset[str]
    ) -> bool:
        for loop in node.generators:
            if not self.literal(loop.iter, also):
                return False
            also |= {leaf.id for leaf in ast.walk(loop.target) if isinstance(leaf, ast.Name)}
        return self.literal(node.value if isinstance(node, ast.DictComp) else node.elt, also)

    def _of_module(self, node: ast.Attribute) -> bool:
        if not (isinstance(node.value, ast.Name) and node.value.id in self.modules):
            return False
        return _constant(importlib.import_module(self.modules[node.value.id]), node.attr)

    def _printed(self, node: ast.BinOp) -> bool:
        """Say whether a sum holds a printed number: then it is arithmetic on the paper, not a typed formula."""
        return any(isinstance(part, ast.Attribute) and self._of_module(part) for part in ast.walk(node))


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


@cache
def _typed_of(name: str) -> frozenset[str]:
    """Return the names at the top of a module that hold only what was typed there."""
    page = Page()
    module = importlib.import_module(name)
    for statement in ast.parse(inspect.getsource(module)).body:
        if isinstance(statement, ast.AnnAssign) and statement.value and isinstance(statement.target, ast.Name):
            page._assigned(statement.target, statement.value)
        elif isinstance(statement, ast.Assign):
            page._follow(statement)
    return frozenset(page.typed)


def _constant(module: ModuleType, name: str) -> bool:
    return name.isupper() and name in _typed_of(module.__name__)


def typed(study: str) -> dict[str, str]:
    """Return each claim of a study that is judged on what was typed in, with the value as it stands on the page."""
    found = {}
    for path in paths.chapters(study):
        page = Page()
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                found |= {name: ast.unparse(value) for name, value in page.read(cell.source)}
    return found


@pytest.mark.parametrize("study", claims.studies())
def test_what_was_typed_in_is_judged_by_reading_only(study):
    ledger = claims.load(study).claims
    wrong = {
        name: value for name, value in typed(study).items() if name not in ledger or ledger[name].basis != "by-reading"
    }
    assert wrong == {}, "compute these, or name the two places they were read at (basis: by-reading)"


@pytest.mark.parametrize(
    "code",
    [
        "judge('x', 5.2)",
        "judge('x', -5)",
        "value = 5\njudge('x', value)",
        "a, b = 1, 2\njudge('x', {'least': a, 'most': b})",
        "judge('x', (False, True))",
        "judge('x', ('itu.int' == 'else.com', True))",
        "judge('x', 2 * (1 - 1e-4))",
        "n, m = 6000, 120\njudge('x', sum(50 * 50 * k for k in range(1, m + 1)) / (m * n**2))",
        "from voicewire.nfc import paper\njudge('x', paper.MSS)",
        "from voicewire.nfc import paper as p\njudge('x', float(p.MSS))",
        "from voicewire.nfc.paper import MSS\njudge('x', MSS)",
        "from voicewire.netsim import equation\njudge('x', equation.NOMINAL_SEGMENT)",
        "from voicewire.netsim import equation\njudge('x', [w for w in equation.WEIGHTS])",
        "judge('x', {f'w{i}': 1 if i < 4 else 1 - (i - 3) / 5 for i in range(8)})",
        "if compute():\n    a = 5\nelse:\n    a = 3\njudge('x', a)",
        "judge('x', compute(), 4)",
        "judge('x', compute(), corrected=4)",
        "ledger.judge(\n    'x',\n    [1, 2],\n    reason='Because.',\n)",
    ],
)
def test_it_finds_what_was_typed(code):
    assert [name for name, _ in Page().read(code)][-1:] == ["x"]


@pytest.mark.parametrize(
    "code",
    [
        "judge('x', compute())",
        "judge('x', (compute(), 5))",
        "value = 5\nvalue = compute()\njudge('x', value)",
        "found = {}\nfound['a'] = compute()\njudge('x', found)",
        "total = 0\nfor k in range(3):\n    total += compute(k)\njudge('x', total)",
        "from voicewire.nfc import paper\njudge('x', 100 * (paper.MSS / 3 - 1))",
        "judge('x', np.array([1, 2]) @ compute())",
        "judge('x', compute(), compute())",
        "try:\n    late = compute()\nexcept ValueError:\n    late = None\njudge('x', (late is None, True))",
        "value = 5\nfor value in compute():\n    judge('x', value + compute())",
        "%matplotlib inline\njudge('x', len('7'.encode('utf-16-be')))",
    ],
)
def test_it_lets_pass_what_was_computed(code):
    assert list(Page().read(code)) == []
