"""Public names say what they take, give and refuse, with an example that runs, and name their chapter.

Public is what a module lists in ``__all__``. Held here: the modules of `HELD`; the list grows until it is all.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re

import matplotlib.pyplot as plt
import pytest

EMQTT = ("counting", "dissect", "population", "reference")
TRANSPORT = ("dissect", "icto", "icto_format", "reference", "theory")
HELD = (
    "echo",
    "pharyngeal",
    *(f"emqtt.{name}" for name in EMQTT),
    *(f"transport.{name}" for name in TRANSPORT),
)
SECTIONS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "See Also", "Notes", "References", "Examples")


def modules():
    for room in HELD:
        found = importlib.import_module(f"voicewire.{room}")
        if not hasattr(found, "__path__"):
            yield found.__name__
            continue
        for module in pkgutil.iter_modules(found.__path__, found.__name__ + "."):
            if not module.name.rpartition(".")[2].startswith("_"):
                yield module.name


def public(module):
    """(name, function or class) of what a module defines and lists."""
    for name in module.__all__:
        value = getattr(module, name)
        if (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == module.__name__:
            yield name, value
            if inspect.isclass(value):
                for method, function in vars(value).items():
                    if not method.startswith("_") and inspect.isfunction(function):
                        yield f"{name}.{method}", function


def sections(text):
    """Sections of a numpydoc docstring by name, in order."""
    found = re.split(r"^(\w[\w ]*)\n-+$", inspect.cleandoc(text), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def named(section):
    """Names that a Parameters or Attributes section describes."""
    heads = re.findall(r"^(\S.*?)(?: : .*)?$", section, flags=re.MULTILINE)
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def complaints(name, value):
    text = value.__doc__ or ""
    if not text.strip():
        return [f"{name}: no docstring"]
    has, wrong = sections(text), []
    if list(has) != [section for section in SECTIONS if section in has]:
        wrong.append(f"{name}: sections {list(has)} are unknown or not in numpydoc's order")
    if inspect.isclass(value):
        error = issubclass(value, Exception)
        if not error and not {"Parameters", "Attributes"} & set(has):
            wrong.append(f"{name}: neither Parameters nor Attributes")
    else:
        takes = {p for p in inspect.signature(value).parameters if p not in ("self", "cls")}
        if missing := takes - named(has.get("Parameters", "")):
            wrong.append(f"{name}: Parameters lacks {sorted(missing)}")
        returns = inspect.signature(value).return_annotation
        if returns not in (None, "None", inspect.Signature.empty) and not {"Returns", "Yields"} & set(has):
            wrong.append(f"{name}: no Returns")
    if "." not in name:
        if ">>> " not in has.get("Examples", ""):
            wrong.append(f"{name}: no example")
        if not re.search(r"[Nn]otebook|``\d\d_\w+``", text):
            wrong.append(f"{name}: no chapter")
    return wrong


@pytest.mark.parametrize("name", sorted(modules()))
def test_what_is_public_is_described(name):
    module = importlib.import_module(name)
    assert hasattr(module, "__all__"), "list the public names in __all__"
    assert [wrong for item in public(module) for wrong in complaints(*item)] == []


@pytest.mark.parametrize("name", sorted(modules()))
def test_the_examples_run(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    plt.close("all")
    assert result.failed == 0


def test_a_poor_docstring_is_noticed():
    def poor(x: float, *more: float) -> float:
        """Twice.

        Parameters
        ----------
        x : float
        """
        return 2 * x

    said = " ".join(complaints("poor", poor))
    assert "lacks ['more']" in said and "no Returns" in said and "no example" in said and "no chapter" in said
    poor.__doc__ = "Twice.\n\nReturns\n-------\nfloat\n\nParameters\n----------\nx, *more : float\n"
    assert "order" in " ".join(complaints("poor", poor))
