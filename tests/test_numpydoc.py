"""Public docstrings: numpydoc finds nothing missing in the rooms that are finished, and every example runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
from collections import Counter
from pathlib import Path

import pytest

from voicewire import paths

validate = pytest.importorskip("numpydoc.validate", reason="needs the extra 'test' (numpydoc)").validate

PACKAGE = paths.root() / "src" / "voicewire"

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

UNFINISHED = {
    *(part.name for part in paths.PARTS if part.name not in ("echo", "pharyngeal")),
    *("_code_cache", "_compiled", "_optional", "checks", "course", "foundations", "options", "verbs"),
    *("mqtt", "netsim", "publish", "sweep", "testbed"),
}
"""Rooms whose docstrings are still being written; a room that leaves this set is held to `CHECKS` from then on."""

EXEMPT: dict[str, str] = {}
"""Names that may lack something, each with the code and the reason; never longer than ten lines."""


def modules() -> dict[str, Path]:
    """Return the public files of the package by their dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("voicewire", *path.relative_to(PACKAGE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def room(module: str) -> str:
    return module.partition(".")[2].partition(".")[0]


def public(module: str) -> list[str]:
    """Return the dotted names of the functions and classes that a file declares public, and of their methods."""
    loaded = importlib.import_module(module)
    names = []
    for name in getattr(loaded, "__all__", []):
        item = getattr(loaded, name)
        if not (inspect.isroutine(item) or inspect.isclass(item)) or not item.__module__.startswith("voicewire"):
            continue
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


FINISHED = [
    name
    for name in MODULES
    if room(name) not in UNFINISHED and not name.endswith(("cli", "__main__")) and "._" not in name
]


@pytest.mark.parametrize("module", FINISHED)
def test_nothing_is_missing_in_a_finished_room(module):
    if "\ndef " in MODULES[module].read_text(encoding="utf-8"):
        assert hasattr(importlib.import_module(module), "__all__"), "say in __all__ what is public"
    lacking = [
        f"{name}: {code} {CHECKS[code]}"
        for name in public(module)
        for code in faults(name, module)
        if not EXEMPT.get(name, "").startswith(code)
    ]
    assert lacking == []


def test_few_are_exempt_and_the_unfinished_rooms_are_counted():
    assert len(EXEMPT) <= 10
    rooms = Counter(room(module) for module in MODULES)
    print(f"finished: {len(set(rooms) - UNFINISHED)} of {len(rooms)} rooms; not yet: {', '.join(sorted(UNFINISHED))}")
    assert set(rooms) - UNFINISHED


def test_the_check_can_fail():
    """numpydoc sees what is missing: the same check on a function of the standard library, which has other sections."""
    assert {"PR01", "EX01"} <= {code for code, _ in validate("textwrap.wrap")["errors"]}


EXAMPLES = [name for name, path in MODULES.items() if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("module", EXAMPLES)
def test_the_examples_run(module):
    loaded = importlib.import_module(module)
    result = doctest.testmod(loaded, optionflags=doctest.ELLIPSIS)
    print(f"{module}: {result.attempted} examples")
    assert result.failed == 0
