"""Libraries that only some chapters need: imported when they are used, so that the other chapters do without them."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["Library"]


class Library:
    """A module that is imported when something in it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        try:
            module = importlib.import_module(self._name)
        except ImportError as error:
            missing = self._name.partition(".")[0]
            raise ImportError(
                f"{missing} is not installed, and this function needs it: install it with pip, or with the package"
            ) from error
        found = self.__dict__[attribute] = getattr(module, attribute)  # asked for once
        return found
