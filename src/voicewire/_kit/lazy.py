"""What a room declares is loaded when it is first used; its stub, ``__init__.pyi``, says from where.

This is SPEC 1 of Scientific Python, with names in full and new names (``read as read_sound``) allowed.
"""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable

from voicewire._kit._optional import needed

__all__ = ["homes", "lazily"]


@functools.cache
def homes(package: str) -> dict[str, tuple[str, str]]:
    """Return, for each name that a room declares, the module that holds it and its name there."""
    stub = pkgutil.get_data(package, "__init__.pyi")
    assert stub is not None, f"{package} lies where no file can be read"
    lines = ast.parse(stub).body
    return {
        each.asname or each.name: (line.module, each.name)
        for line in lines if isinstance(line, ast.ImportFrom) and line.module for each in line.names
    }  # fmt: skip


def lazily(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return a room's ``__getattr__``, which loads what ``__all__`` declares, and ``__dir__``, which shows no more."""
    room = sys.modules[package]

    def load(name: str) -> object:
        if name not in room.__all__:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, own = homes(package)[name]
        whole = module == package  # a module is declared
        with needed():
            home = importlib.import_module(f"{module}.{own}" if whole else module)
        value = home if whole else getattr(home, own)
        setattr(room, name, value)
        return value

    def listed() -> list[str]:
        return sorted(room.__all__)

    return load, listed
