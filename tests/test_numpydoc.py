"""Public docstrings: nothing is missing, and every example runs.

Public is what a module lists in ``__all__``. numpydoc says what is missing; `complaints` asks what numpydoc does not.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import typing
from collections.abc import Callable
from pathlib import Path

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


def modules() -> dict[str, Path]:
    """Return the files of both packages by their dotted name."""
    found = {}
    for path in (path for package in paths.PACKAGES for path in sorted(package.rglob("*.py"))):
        parts = path.relative_to(paths.TOP).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def public(module: str) -> list[str]:
    """Return the dotted names of the functions and classes that a file declares public, and of their methods."""
    loaded = importlib.import_module(module)
    names = []
    for name in getattr(loaded, "__all__", []):
        item = getattr(loaded, name)
        if not (inspect.isroutine(item) or inspect.isclass(item)) or not item.__module__.startswith("voicewire"):
            continue
        if "<locals>" in item.__qualname__:
            continue  # a constant that a call has made: what makes it is described
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


def complaints(name: str, value: Callable[..., object], held: bool) -> list[str]:
    """Return what a docstring lacks or has in the wrong place, beside what numpydoc says."""
    text = value.__doc__ or ""
    has, wrong = sections(text), []
    if list(has) != [section for section in SECTIONS if section in has]:
        wrong.append(f"{name}: sections {list(has)} are unknown or not in numpydoc's order")
    if inspect.isclass(value):
        error = issubclass(value, BaseException)
        bare = error or typing.is_typeddict(value) or not inspect.signature(value).parameters
        if not error and (held or not bare) and not {"Parameters", "Attributes"} & set(has):
            wrong.append(f"{name}: neither Parameters nor Attributes")
    else:
        takes = {p for p in inspect.signature(value).parameters if p not in ("self", "cls")}
        if missing := takes - named(has.get("Parameters", "")):
            wrong.append(f"{name}: Parameters lacks {sorted(missing)}")
        returns = inspect.signature(value).return_annotation
        if returns not in (None, "None", inspect.Signature.empty) and not {"Returns", "Yields"} & set(has):
            wrong.append(f"{name}: no Returns")
    if held and "." not in name and ">>> " not in has.get("Examples", ""):
        wrong.append(f"{name}: no example")
    return wrong


def held(module: str) -> bool:
    return not module.endswith("__main__")


def described(module: str) -> bool:
    return not module.endswith(("cli", "__main__"))


TOLD = [n for n in MODULES if n.startswith("voicewire.") and (described(n) or held(n)) and "._" not in n]
"""The library's; what the book adds is no API, and its docstrings say what they must."""


@pytest.mark.parametrize("module", TOLD)
def test_nothing_is_missing(module):
    loaded = importlib.import_module(module)
    if "\ndef " in MODULES[module].read_text(encoding="utf-8") or (held(module) and not hasattr(loaded, "__path__")):
        assert hasattr(loaded, "__all__"), "say in __all__ what is public"
    lacking = [
        f"{name}: {code} {CHECKS[code]}"
        for name in public(module)
        for code in (faults(name, module) if described(module) else ())
    ]
    for name in public(module):
        value: object = loaded
        for part in (own := name.removeprefix(f"{module}.")).split("."):
            value = getattr(value, part)
        lacking += complaints(own, value, held(module))
    assert lacking == []


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

    said = " ".join(complaints("poor", poor, held=True))
    assert "lacks ['more']" in said and "no Returns" in said and "no example" in said
    poor.__doc__ = "Twice.\n\nReturns\n-------\nfloat\n\nParameters\n----------\nx, *more : float\n"
    assert "order" in " ".join(complaints("poor", poor, held=False))
    said = " ".join(complaints("Poor", type("Poor", (), {"__doc__": "Nothing."}), held=True))
    assert "neither Parameters nor Attributes" in said


TRIED = [name for name, path in MODULES.items() if ">>> " in path.read_text(encoding="utf-8")]
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
