"""Records that compiled rules share: a memory layout from a class of named fields, and how the rules are compiled."""

from __future__ import annotations

from functools import cache
from typing import Any, cast, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from voicewire._kit._compiled import COMPILED, njit

__all__ = ["layout", "room", "rule", "table"]

#: Compiled, cached on disk, and without reference counts: the rules allocate nothing, and counting each array's
#: owners up and down at every call would cost several times more than the rules themselves. Inlined, because a
#: tuple of records handed from rule to rule is some eighty numbers, which cost more to pass than most rules do.
rule: Any = cast(Any, njit)(cache=True, _nrt=False, forceinline=True)


@cache
def layout(record: type) -> np.dtype[np.void]:
    """Give the memory layout of a record: its fields in the order in which the class names them."""
    fields: list[tuple[Any, ...]] = []
    for name, kind in get_type_hints(record, include_extras=True).items():
        size: tuple[Any, ...] = ()
        if hasattr(kind, "__metadata__"):
            size = ((kind.__metadata__[0],),)
            kind = get_args(kind.__origin__)[0]
        fields.append((name, {int: np.int64, float: np.float64}.get(kind, kind), *size))
    return np.dtype(fields, align=True)


def table(record: type, count: int) -> NDArray[Any]:
    """Give `count` records, all zero: compiled rules and plain Python both read and write their fields by name."""
    fields = layout(record)  # NumPy's own zeros fill a record field by field, which takes thrice as long
    return _named(np.ndarray(count, fields, bytearray(count * fields.itemsize)))


def room(record: type, count: int) -> NDArray[Any]:
    """Give room for `count` records: what lies there is anything, because a ring's entries are written, then read."""
    return _named(np.empty(count, layout(record)))


def _named(memory: NDArray[Any]) -> NDArray[Any]:
    return memory if COMPILED else memory.view(np.recarray)
