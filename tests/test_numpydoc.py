"""Docstrings: of what the library declares nothing is missing, all else says what it does, and every example runs.

numpydoc says what is missing; `complaints` asks what numpydoc does not.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator

import declared
import matplotlib.pyplot as plt
import needed
import pytest
from numpydoc.validate import validate

from voicewire_book import paths

pytestmark = pytest.mark.landing

CHECKS = {
    "GL08": "no docstring",
    "SS01": "no summary",
    "PR01": "a parameter isn't described",
    "PR02": "a parameter that doesn't exist",
    "PR03": "parameters in another order",
    "PR04": "a parameter without a type",
    "PR07": "a parameter without a description",
    "RT01": "no Returns section",
    "YD01": "no Yields section",
    "EX01": "no example",
}
"""What is asked of a docstring; the rest of numpydoc's list is a matter of layout."""

SECTIONS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "See Also", "Notes", "References", "Examples")


API: dict[str, list[str]] = defaultdict(list)
for _module, _own in declared.names():
    API[_module].append(_own)

SOURCES = {
    ".".join(path.relative_to(paths.TOP).with_suffix("").parts).removesuffix(".__init__"): path
    for package in paths.PACKAGES for path in sorted(package.rglob("*.py"))
}  # fmt: skip
"""The files of both packages by their dotted name."""


def public(module: str) -> list[str]:
    """Return the dotted names of the functions and classes of a file that a room declares, and of their methods."""
    loaded = importlib.import_module(module)
    names = []
    for name in API[module]:
        item = getattr(loaded, name)
        if not (inspect.isroutine(item) or inspect.isclass(item)) or "<locals>" in item.__qualname__:
            continue  # a constant, also one that a call has made: what makes it is described
        names.append(f"{module}.{name}")
        if inspect.isclass(item):
            own = [key for key, value in vars(item).items() if not key.startswith("_") and inspect.isfunction(value)]
            names += [f"{module}.{name}.{key}" for key in own]
    return names


def faults(name: str, module: str) -> list[str]:
    """Return what a docstring lacks, by numpydoc's codes."""
    found = {code for code, _ in validate(name)["errors"]} & set(CHECKS)
    own = name.removeprefix(f"{module}.")
    item = None if "." in own else getattr(importlib.import_module(module), own)
    if inspect.isclass(item) and "Attributes\n" in (item.__doc__ or ""):
        found.discard("PR01")  # numpydoc's other section for what a class holds
    if item is None or inspect.isclass(item):
        found.discard("EX01")  # a class and its methods share the examples of the function that makes or uses them
    return sorted(found)


def sections(text: str) -> dict[str, str]:
    """Return the sections of a numpydoc docstring by name, in order."""
    found = re.split(r"^(\w[\w ]*)\n-+$", inspect.cleandoc(text), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def named(section: str) -> set[str]:
    """Return the names that a Parameters or Attributes section describes."""
    heads = re.findall(r"^(\S.*?)(?: : .*)?$", section, flags=re.MULTILINE)
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def complaints(name: str, value: Callable[..., object]) -> list[str]:
    """Return what a docstring lacks or has in the wrong place, beside what numpydoc says."""
    text = value.__doc__ or ""
    has, wrong = sections(text), []
    if list(has) != [section for section in SECTIONS if section in has]:
        wrong.append(f"{name}: sections {list(has)} are unknown or not in numpydoc's order")
    if inspect.isclass(value):
        if not issubclass(value, BaseException) and not {"Parameters", "Attributes"} & set(has):
            wrong.append(f"{name}: neither Parameters nor Attributes")
    else:
        takes = {p for p in inspect.signature(value).parameters if p not in ("self", "cls")}
        if missing := takes - named(has.get("Parameters", "")):
            wrong.append(f"{name}: Parameters lacks {sorted(missing)}")
        returns = inspect.signature(value).return_annotation
        if returns not in (None, "None", inspect.Signature.empty) and not {"Returns", "Yields"} & set(has):
            wrong.append(f"{name}: no Returns")
    if "." not in name and ">>> " not in has.get("Examples", ""):
        wrong.append(f"{name}: no example")
    return wrong


@pytest.mark.parametrize("module", API)
def test_of_what_is_declared_nothing_is_missing(module):
    loaded = importlib.import_module(module)
    lacking = [f"{name}: {code} {CHECKS[code]}" for name in public(module) for code in faults(name, module)]
    for name in public(module):
        value: object = loaded
        for part in (own := name.removeprefix(f"{module}.")).split("."):
            value = getattr(value, part)
        lacking += complaints(own, value)
    assert not lacking, "\n".join(lacking)


def inside() -> Iterator[tuple[str, str]]:
    """Give the docstrings of functions and classes that no room declares, with their names."""
    for module, path in SOURCES.items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name not in API[module]:
                for each in (node, *(node.body if isinstance(node, ast.ClassDef) else ())):
                    if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                        yield f"{module}.{node.name}.{each.name}", ast.get_docstring(each) or ""


def test_what_is_not_declared_says_what_it_does_and_no_more():
    """What it takes and gives is told at the door; what must be explained, a rule or a trap, is a note."""
    found = {name: sections(text) for name, text in inside()}
    print(f"{len(found)} docstrings of what no room declares")
    cut = {"Parameters", "Returns", "Raises", "Examples"}
    more = {name: list(has) for name, has in found.items() if set(has) & cut}
    assert len(found) > 1000
    assert more == {}


def test_the_check_can_fail():
    """numpydoc sees what is missing: the same check on a function of the standard library, which has other sections."""
    assert {"PR01", "EX01"} <= {code for code, _ in validate("textwrap.wrap")["errors"]}


def test_a_poor_docstring_is_noticed():
    def poor(x: float, *more: float) -> float:
        """Twice.

        Parameters
        ----------
        x : float
        """
        return 2 * x

    said = " ".join(complaints("poor", poor))
    assert "lacks ['more']" in said and "no Returns" in said and "no example" in said
    poor.__doc__ = "Twice.\n\nReturns\n-------\nfloat\n\nParameters\n----------\nx, *more : float\n"
    assert "order" in " ".join(complaints("poor", poor))
    said = " ".join(complaints("Poor", type("Poor", (), {"__doc__": "Nothing."})))
    assert "neither Parameters nor Attributes" in said


TRIED = [name for name, path in SOURCES.items() if ">>> " in path.read_text(encoding="utf-8")]
EXAMPLES = [  # a third of them before a landing
    pytest.param(name, marks=[pytest.mark.needs(*needed.examples(name)), *([pytest.mark.night] if k % 3 else [])])
    for k, name in enumerate(TRIED)
]


@pytest.mark.parametrize("module", EXAMPLES)
def test_the_examples_run(module):
    loaded = importlib.import_module(module)
    result = doctest.testmod(loaded, optionflags=doctest.ELLIPSIS)
    plt.close("all")
    print(f"{module}: {result.attempted} examples")
    assert result.failed == 0
