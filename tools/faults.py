"""What a fault is: one change of one place in the syntax tree of a function. `mutate` tries them."""

from __future__ import annotations

import ast
import copy
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).resolve().parents[1]
BAR = 85.0  # per cent of all faults


@dataclass(frozen=True)
class Target:
    """A file, the tests that should notice its faults, and whether engines run as plain Python meanwhile."""

    file: str
    tests: tuple[str, ...]
    plain: bool = False
    bar: float = BAR

    @property
    def module(self) -> str:
        """The name under which the file is imported."""
        name = self.file.removeprefix("src/").removesuffix(".py").replace("/", ".")
        return name.removesuffix(".__init__")

    @property
    def study(self) -> str:
        """The room that holds it, whichever package that is in; what stands in no folder is the chapter kit."""
        rooms = [part.lstrip("_") for part in Path(self.file).parts[2:-1] if part != "chapters"]
        return rooms[0] if rooms else "kit"


_COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_LOGS = {"debug", "info", "warning", "error", "exception"}


def _changes(node: ast.AST) -> list[ast.AST]:
    """Give what may stand in the place of this node."""
    made: list[ast.AST] = []
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            for other in _COMPARE.get(type(op), ()):
                changed = copy.deepcopy(node)
                changed.ops[place] = other()
                made.append(changed)
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _OPERATOR:
        changed_op = copy.deepcopy(node)
        changed_op.op = _OPERATOR[type(node.op)]()
        made.append(changed_op)
    elif isinstance(node, ast.BoolOp):
        made.append(ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        made.append(node.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        made.append(ast.Constant(not node.value))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        made.append(ast.Constant(node.value + 1))
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        made.append(ast.Constant(2 * node.value if node.value else 1.0))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SWAPPED:
        made.append(ast.Call(ast.Name(_SWAPPED[node.func.id], ast.Load()), node.args, node.keywords))
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        turned = copy.deepcopy(node)
        turned.test = ast.UnaryOp(ast.Not(), node.test)
        made.append(turned)
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    if called or isinstance(node, ast.Assign | ast.AugAssign):
        made.append(ast.Pass())
    return made


def _no_code(node: ast.AST) -> bool:
    """Whether this says something to a person: an error, a line of a log."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        return isinstance(called, ast.Attribute) and called.attr in _LOGS and "log" in ast.unparse(called.value)
    return isinstance(node, ast.Raise | ast.Assert)


@dataclass(frozen=True)
class Fault:
    """One changed place: the node that holds it, what stands there, what shall, and the lines of its statement."""

    target: Target
    function: str
    change: str
    tree: ast.Module = field(repr=False)
    place: tuple[ast.AST, str, int | None]
    node: ast.AST
    changed: ast.AST
    lines: tuple[int, int]

    @property
    def name(self) -> tuple[str, str]:
        """What it is recorded under: its function, and what is changed into what."""
        return self.function, self.change

    def code(self) -> CodeType:
        """Compile the changed file; its lines keep their numbers."""
        new = ast.copy_location(self.changed, self.node)
        _put(*self.place, new)
        try:
            return compile(ast.fix_missing_locations(self.tree), str(ROOT / self.target.file), "exec")
        finally:
            _put(*self.place, self.node)

    def __str__(self) -> str:
        return f"{self.target.file}:{getattr(self.node, 'lineno', 0)}: {self.change}"


def _change(node: ast.AST, changed: ast.AST) -> str:
    return f"{_head(node)}  ->  {'nothing' if isinstance(changed, ast.Pass) else _head(changed)}"


def _head(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).splitlines()[0][:70]


def _put(parent: ast.AST, name: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


def _children(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
            continue
        for index, each in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(each, ast.AST):
                yield node, name, index if isinstance(value, list) else None, each


def _head_lines(node: ast.stmt) -> tuple[int, int]:
    """Give the first and last line of a statement, of a compound one those before its body."""
    body = getattr(node, "body", None)
    return node.lineno, max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno


def faults(target: Target) -> list[Fault]:
    """Give every fault in the functions of a file, in the order of its syntax tree."""
    tree = ast.parse((ROOT / target.file).read_text(encoding="utf-8"))
    made: list[Fault] = []

    def walk(node: ast.AST, function: str, inside: bool, lines: tuple[int, int]) -> None:
        for parent, name, index, child in _children(node):
            if _no_code(child):
                continue
            at = _head_lines(child) if isinstance(child, ast.stmt) else lines
            if inside:
                place = (parent, name, index)
                made.extend(
                    Fault(target, function, _change(child, changed), tree, place, child, changed, at)
                    for changed in _changes(child)
                )
            called = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                walk(child, f"{function}.{child.name}".lstrip("."), inside or called, at)
            else:
                walk(child, function, inside, at)

    walk(tree, "", False, (0, 0))
    return made


def named(targets: Sequence[Target]) -> list[Fault]:
    """Give every fault of the files that are recorded together, each with a name of its own.

    A function is called after its study; where several files of the study have one of this name, after its file too.
    Of equal changes of one function all but the first have a number.
    """
    every = [fault for target in targets for fault in faults(target)]
    files: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for fault in every:
        files[fault.target.study, fault.function].add(fault.target.file)
    seen: Counter[tuple[str, str]] = Counter()
    found: list[Fault] = []
    for fault in every:
        alone = len(files[fault.target.study, fault.function]) == 1
        place = fault.target.study if alone else f"{fault.target.study}.{Path(fault.target.file).stem}"
        function = f"{place}.{fault.function}"
        seen[function, fault.change] += 1
        number = seen[function, fault.change]
        change = fault.change if number == 1 else f"{fault.change} ({number})"
        found.append(replace(fault, function=function, change=change))
    return found
