"""Import large libraries of a page when they are first asked for something, not when a cell names them.

A chapter's first cell imports what any of its cells needs; SymPy and pandas alone take a second and more each in a
browser, for a derivation or a table that most readers of a figure never run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

__all__ = ["LATE", "install"]

LATE: Final = frozenset({"mpmath", "pandas", "sympy"})
"""The libraries that wait."""


class _Waiting(ModuleType):
    """A module that is executed when it is asked for a name that it hasn't yet."""

    def __getattr__(self, name: str) -> Any:
        _wake(self)
        return getattr(self, name)


def _wake(module: ModuleType | None) -> None:
    if isinstance(module, _Waiting):
        waiting: Any = module
        waiting.__class__ = ModuleType
        try:
            waiting.__loader__.meant.exec_module(waiting)
        except BaseException:
            waiting.__class__ = _Waiting
            raise


class _Later(Loader):
    """A loader that leaves the module as it is until it is woken."""

    def __init__(self, meant: Loader) -> None:
        self.meant = meant

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Not yet."""
        module.__class__ = _Waiting


class _Late:
    """A finder that gives these libraries as modules that are executed when one of their names is first used."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how a library is found; before a part of it is imported, it is executed."""
        whole, dot, _ = name.partition(".")
        if whole not in LATE or dot:
            _wake(sys.modules.get(whole) if dot else None)
            return None
        found = PathFinder.find_spec(name, path, target)
        if found is not None and found.loader is not None:
            found.loader = _Later(found.loader)
        return found


def install() -> None:
    """Put the finder before all others, once.

    Examples
    --------
    >>> install()  # doctest: +SKIP
    """
    if not any(isinstance(finder, _Late) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Late())
