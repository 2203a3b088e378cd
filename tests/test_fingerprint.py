"""voicewire.sweep.fingerprint: what changes a result changes the key under which it lies, and nothing else does."""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import importlib
import json
import sys
import textwrap
import types
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from voicewire import stats
from voicewire.sweep import fingerprint
from voicewire.sweep.fingerprint import ContentError, environment, is_installed, of


def student(source: str, name: str = "student") -> types.ModuleType:
    """A module that is not installed, as a notebook's cells are."""
    made = types.ModuleType(name)
    exec(compile(textwrap.dedent(source), name, "exec", dont_inherit=True), made.__dict__)
    return made


PAIRS = {
    "elements moved between two": ([[1, 2], [3]], [[1], [2, 3]]),
    "elements of a tuple": ((1, 2), (1, 3)),
    "order of a list": ([1, 2], [2, 1]),
    "element of a set": ({1, 2}, {1, 3}),
    "frozen": ({1}, frozenset({1})),
    "value of a dictionary": ({"a": 1}, {"a": 2}),
    "key of a dictionary": ({"a": 1}, {"b": 1}),
    "key and value changed places": ({"a": "b", "c": "d"}, {"a": "d", "c": "b"}),
    "sign of zero": (0.0, -0.0),
    "last bit": (0.1 + 0.2, 0.3),
    "none and the dots": (None, ...),
    "array's data": (np.array([1, 2]), np.array([1, 3])),
    "array's shape": (np.zeros((2, 3)), np.zeros((3, 2))),
    "array's order of bytes": (np.array([1], "<i4"), np.array([16777216], ">i4")),
    "array's fields": (np.zeros(1, [("a", "i4")]), np.zeros(1, [("b", "i4")])),
    "array of objects": (np.array([1, "a"], object), np.array([1, "b"], object)),
    "array of objects, its shape": (np.array([[1, "a"]], object), np.array([1, "a"], object)),
    "array of objects, its order": (np.array([1, "a"], object), np.array(["a", 1], object)),
    "path": (Path("a"), Path("b")),
    "path and text": (Path("a"), "a"),
    "module": (json, hashlib),
    "built in": (len, max),
    "universal function": (np.sin, np.cos),
    "partial's function": (functools.partial(max, 1), functools.partial(min, 1)),
    "partial's arguments": (functools.partial(max, 1), functools.partial(max, 2)),
    "partial's names": (functools.partial(max, key=len), functools.partial(max, key=abs)),
    "object of a built-in method": ([1].append, [2].append),
    "generator behind a draw": (np.random.default_rng(1).normal, np.random.default_rng(2).normal),
    "class of a built-in method": (str.upper, bytes.upper),
    "class": (int, float),
    "function of a package": (stats.t_interval, stats.quartiles),
    "class of a package": (stats.Interval, stats.Quartiles),
    "dataclass's field": (stats.Interval(1, 0, 2, 0.9, 3), stats.Interval(1, 0, 3, 0.9, 3)),
    "generator of random numbers": (np.random.default_rng(1), np.random.default_rng(2)),
    "code": (compile("1", "a", "eval"), compile("2", "a", "eval")),
}


@pytest.mark.parametrize("name", PAIRS)
def test_what_differs_has_another_key(name):
    one, other = PAIRS[name]
    assert of(one) == of(one)
    assert of(one) != of(other)


def test_what_is_equal_has_the_same_key_in_whatever_order_it_was_made():
    assert of({"a": 1, "b": 2}) == of({"b": 2, "a": 1})
    assert of({"b", "c", "a"}) == of({"a", "c", "b"})
    assert of(np.arange(6).reshape(2, 3).T) == of(np.arange(6).reshape(2, 3).T.copy())
    assert of(np.random.default_rng(1)) == of(np.random.default_rng(1))
    assert of(compile("1", "a", "eval")) == of(compile("1", "elsewhere", "eval"))


def test_a_key_is_a_sha_256_that_hangs_on_where_the_parts_begin():
    assert len(of(1)) == 64
    assert of(["ab", "c"]) != of(["a", "bc"])
    long = "x" * 300
    assert of([long, "y"]) != of([long + "y", ""])


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Other(enum.Enum):
    RED = 1


def test_members_of_an_enumeration():
    assert len({of(Colour.RED), of(Colour.GREEN), of(Other.RED), of(1)}) == 4


def test_what_holds_itself_ends_and_tells_how():
    own: list[object] = [1]
    own.append(own)
    outer: list[object] = [1, [1]]
    outer[1].append(outer)  # type: ignore[attr-defined]
    inner: list[object] = [1, [1]]
    inner[1].append(inner[1])  # type: ignore[attr-defined]
    assert len({of(own), of(outer), of(inner), of([1, [1]])}) == 4
    twice = [1]
    assert of([twice, twice]) == of([[1], [1]])  # seen twice is no cycle


@pytest.mark.parametrize("value", [(x for x in "ab"), open], ids=["generator", "function that opens"])
def test_what_cannot_be_told_is_refused_not_stored_under_a_wrong_key(value):
    if value is open:
        value = Path(__file__).open(encoding="utf-8")  # noqa: SIM115 - closed below
    try:
        with pytest.raises(ContentError, match=r"the content of a .* can't be told"):
            of(value)
    finally:
        value.close()


FUNCTION = """
    from json import dumps
    scale = 2

    def helper(x):
        return scale * x

    def f(x, power=1, *, sign=1):
        try:
            return dumps([sign * (lambda y: helper(y) ** power)(x) for _ in range(1)])
        except ValueError:
            return None
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("scale = 2", "scale = 3"),
        ("scale = 2", "scale = 2.0"),
        ("scale * x", "scale + x"),
        ("** power", "* power"),
        ("power=1", "power=2"),
        ("sign=1", "sign=2"),
        ("range(1)", "range(2)"),
        ("def f(x, power=1, *", "def f(x, *, power=1"),
        ("f(x, power", "f(x, /, power"),
        ("ValueError", "TypeError"),
        ("return None", "return 0"),
        ("import dumps", "import loads as dumps"),
    ],
)
def test_a_function_is_all_that_it_uses(before, after):
    assert before in FUNCTION
    changed = FUNCTION.replace(before, after)
    if "*, power" in after:
        changed = changed.replace(", *, sign", ", sign")
    assert of(student(FUNCTION).f) == of(student(FUNCTION).f)
    assert of(student(changed).f) != of(student(FUNCTION).f)


def test_a_function_that_only_moved_or_was_commented_is_the_same():
    moved = "\n\n# elsewhere\n" + textwrap.dedent(FUNCTION).replace("scale = 2", "scale = 2  # twice")
    assert of(student(moved, "another").f) == of(student(FUNCTION).f)


def test_what_it_does_not_use_does_not_count():
    assert of(student(FUNCTION + "\n    unused = 5").f) == of(student(FUNCTION).f)


def test_which_instructions_a_try_covers_counts():
    wide = student(
        "def f(x):\n    try:\n        y = x + 1\n        y = y * 2\n    except ValueError:\n        y = 0\n    return y"
    )
    code = wide.f.__code__
    narrow = types.FunctionType(code.replace(co_exceptiontable=b""), {})
    assert of(narrow) != of(types.FunctionType(code, {}))


def closed(value: object) -> types.FunctionType:
    return student("def make(value):\n    return lambda: value").make(value)


def test_what_a_function_has_closed_over_counts():
    assert of(closed(1)) == of(closed(1))
    assert of(closed(1)) != of(closed(2))
    waiting = student(
        "def make():\n    def f():\n        return later\n    g = f\n    if False:\n        later = 1\n    return g"
    )
    assert of(waiting.make()) == of(waiting.make())


def test_a_global_that_cannot_be_told_is_named():
    module = student("def f():\n    return handle")
    module.handle = (x for x in "a")
    with pytest.raises(ContentError, match=r"f uses the global handle, and the content of a .*generator can't be told"):
        of(module.f)


def test_functions_that_call_each_other_end():
    source = "def f(x):\n    return g(x) + {}\ndef g(x):\n    return f(x)"
    assert of(student(source.format(1)).f) == of(student(source.format(1)).f)
    assert of(student(source.format(1)).f) != of(student(source.format(2)).f)


def test_a_method_is_its_function_and_its_object():
    source = "class A:\n    def __init__(self, x): self.x = x\n    def f(self): return self.x{}"
    a, b = student(source.format("")), student(source.format(" + 1"))
    assert of(a.A(1).f) == of(a.A(1).f)
    assert of(a.A(1).f) != of(a.A(2).f)
    assert of(a.A(1).f) != of(b.A(1).f)


def test_a_compiled_function_is_its_source():
    import numba

    one, other = student("def f(x):\n    return x + 1"), student("def f(x):\n    return x + 2")
    assert of(numba.njit(one.f)) == of(numba.njit(one.f))
    assert len({of(numba.njit(one.f)), of(numba.njit(other.f)), of(one.f)}) == 3


CLASS = """
    import dataclasses

    class Base:
        unit = "s"

    class A(Base):
        "What it is."
        kind = "a"
        __slots__ = ("x",)

        def __init__(self, x=0):
            self.x = x

        @property
        def twice(self):
            return 2 * self.x

        @twice.setter
        def twice(self, value):
            self.x = value / 2

        @staticmethod
        def half(x):
            return x / 2

        @classmethod
        def of(cls, x):
            return cls(x + 0)

    @dataclasses.dataclass
    class D:
        "Fields."
        x: int = 1
        y: float = dataclasses.field(default=2.0, compare=True)
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('unit = "s"', 'unit = "ms"'),
        ('kind = "a"', 'kind = "b"'),
        ("2 * self.x", "3 * self.x"),
        ("value / 2", "value / 3"),
        ("return x / 2", "return x / 3"),
        ("cls(x + 0)", "cls(x + 1)"),
        ("x=0", "x=1"),
        ("class A(Base)", "class A(object)"),
    ],
)
def test_a_class_is_its_bases_and_members(before, after):
    assert before in CLASS
    assert of(student(CLASS).A) == of(student(CLASS).A)
    assert of(student(CLASS.replace(before, after)).A) != of(student(CLASS).A)
    assert of(student(CLASS.replace(before, after)).A(5)) != of(student(CLASS).A(5))


def test_a_class_that_was_only_described_anew_or_moved_is_the_same():
    changed = "\n\n" + textwrap.dedent(CLASS).replace("What it is.", "What it does.").replace("Fields.", "Its fields.")
    assert of(student(changed).A) == of(student(CLASS).A)
    assert of(student(changed).D) == of(student(CLASS).D)


@pytest.mark.parametrize(("before", "after"), [("x: int = 1", "x: int = 2"), ("y: float", "z: float")])
def test_the_fields_of_a_dataclass_count(before, after):
    changed = student(CLASS.replace(before, after))
    assert of(student(CLASS).D) == of(student(CLASS).D)
    assert of(changed.D) != of(student(CLASS).D)


ANNOTATED = """
    class Unit:
        factor = 1

    class A:
        x: Unit

    class Plain:
        pass
"""


@pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
def test_asking_for_the_annotations_of_a_class_changes_nothing(future):
    made = student(future + textwrap.dedent(ANNOTATED))
    for cls in (made.A, made.Plain, made.A, made.Plain):
        before = of(cls)
        for name in ("__annotate__", "__annotations__"):  # Python notes what it was asked for
            getattr(cls, name, None)
        assert of(cls) == before


@pytest.mark.parametrize(("before", "after"), [("x: Unit", "x: int"), ("x: Unit", "y: Unit"), ("= 1", "= 2")])
def test_the_annotations_of_a_class_count(before, after):
    assert before in ANNOTATED
    assert of(student(ANNOTATED).A) == of(student(ANNOTATED).A)
    assert of(student(ANNOTATED.replace(before, after)).A) != of(student(ANNOTATED).A)


def test_values_of_a_dataclass_count_by_name():
    made = student(CLASS).D
    assert of(made(1, 2.0)) == of(made(1, 2.0))
    assert of(made(1, 2.0)) != of(made(2, 1.0))


def test_an_object_is_what_a_pickle_of_it_would_hold():
    class Held:
        def __init__(self, values):
            self.values = values

        def __reduce_ex__(self, protocol):
            return (list, (), None, iter(self.values))

    class Named:
        def __init__(self, name):
            self.name = name

        def __reduce_ex__(self, protocol):
            return self.name

    assert of(Held([1, 2])) == of(Held([1, 2]))
    assert of(Held([1, 2])) != of(Held([1, 3]))
    assert of(Named("a")) == of(Named("a"))
    assert of(Named("a")) != of(Named("b"))


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (None, False),
        ("__main__", False),
        ("voicewire", True),
        ("voicewire.stats", True),
        ("json.decoder", True),
        ("sys", True),
        ("numpy.linalg", True),
        ("voicewire_student", False),
        ("nowhere.at_all", False),
    ],
)
def test_what_is_installed(module, expected):
    assert is_installed(module) is expected


def test_a_module_beside_a_notebook_is_not_installed(tmp_path, monkeypatch):
    (tmp_path / "beside_a_notebook.py").write_text("def f():\n    return 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("beside_a_notebook")
    assert not is_installed("beside_a_notebook")
    monkeypatch.setitem(sys.modules, "made_by_hand", types.ModuleType("made_by_hand"))
    assert is_installed("made_by_hand")  # has no file: built into an extension


def test_a_function_of_a_package_is_its_name_but_not_one_made_inside_another():
    def renamed(name, module, code="lambda: 1"):
        function = eval(code)
        function.__qualname__, function.__module__ = name, module
        return function

    assert of(renamed("f", "json")) == of(renamed("f", "json", "lambda: 2"))
    assert of(renamed("f", "json")) != of(renamed("g", "json"))
    assert of(renamed("f.<locals>.g", "json")) != of(renamed("f.<locals>.g", "json", "lambda: 2"))
    assert of(renamed("f.<locals>.g", "json")) != of(renamed("f.<locals>.h", "json"))
    assert of(renamed("f", "student")) != of(renamed("f", "student", "lambda: 2"))


def test_a_class_of_a_package_is_its_name_but_not_one_made_inside_another():
    def made(name, module, value):
        return type("A", (), {"value": value, "__qualname__": name, "__module__": module})

    assert of(made("A", "json", 1)) == of(made("A", "json", 2))
    assert of(made("A", "json", 1)) != of(made("B", "json", 1))
    assert of(made("f.<locals>.A", "json", 1)) != of(made("f.<locals>.A", "json", 2))
    assert of(made("A", "student", 1)) != of(made("A", "student", 2))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package in place of this one, whose environment is asked anew each time."""
    (tmp_path / "a.py").write_text("x = 1", encoding="utf-8")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "b.json").write_text("{}", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not code", encoding="utf-8")
    monkeypatch.setattr(fingerprint.paths, "TOP", tmp_path.parent)
    monkeypatch.setattr(fingerprint.paths, "PACKAGES", (tmp_path,))
    return tmp_path, environment.__wrapped__


def test_the_environment_is_every_source_of_the_package(package):
    folder, ask = package
    before = ask()
    assert ask() == before
    (folder / "notes.txt").write_text("changed", encoding="utf-8")
    assert ask() == before
    (folder / "inner" / "b.json").write_text("[]", encoding="utf-8")
    changed = ask()
    (folder / "a.py").rename(folder / "c.py")
    moved = ask()
    assert len({before, changed, moved}) == 3


@pytest.mark.parametrize("name", ["numpy", "numba", "scipy"])
def test_the_environment_is_every_version_it_computes_with(package, monkeypatch, name):
    _, ask = package
    before, version = ask(), metadata.version
    monkeypatch.setattr(metadata, "version", lambda asked: "0" if asked == name else version(asked))
    assert ask() != before


def test_the_environment_is_the_version_of_python_and_no_extra(package, monkeypatch):
    _, ask = package
    before, version = ask(), metadata.version
    monkeypatch.setattr(metadata, "version", lambda asked: "0" if asked == "pytest" else version(asked))
    assert ask() == before
    monkeypatch.setattr(sys, "version", "4.0")
    assert ask() != before


def test_a_dataclass_may_hold_another():
    @dataclasses.dataclass
    class Outer:
        inner: object

    assert of(Outer(stats.Quartiles(1, 2, 3))) != of(Outer(stats.Quartiles(1, 2, 4)))
