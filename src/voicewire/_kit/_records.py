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
    """Give the memory layout of a record: its fields in the order in which the class names them.

    Parameters
    ----------
    record : type
        A class whose annotations name the fields: ``int`` and ``float`` are 64 bits, other types NumPy's own;
        ``Annotated[MutableSequence[int], 8]`` is a field of eight numbers.

    Returns
    -------
    dtype
        Aligned, as a C compiler would lay it out.

    Examples
    --------
    >>> class Point:
    ...     x: float
    ...     n: int
    >>> layout(Point).names, layout(Point).itemsize
    (('x', 'n'), 16)
    """
    fields: list[tuple[Any, ...]] = []
    for name, kind in get_type_hints(record, include_extras=True).items():
        size: tuple[Any, ...] = ()
        if hasattr(kind, "__metadata__"):
            size = ((kind.__metadata__[0],),)
            kind = get_args(kind.__origin__)[0]
        fields.append((name, {int: np.int64, float: np.float64}.get(kind, kind), *size))
    return np.dtype(fields, align=True)


def table(record: type, count: int) -> NDArray[Any]:
    """Give `count` records, all zero: compiled rules and plain Python both read and write their fields by name.

    Parameters
    ----------
    record : type
        A class of named fields, as `layout` takes it.
    count : int
        How many.

    Returns
    -------
    ndarray, shape (count,)
        Of `layout(record)`.

    Examples
    --------
    >>> class Point:
    ...     x: float
    ...     n: int
    >>> table(Point, 2)["n"].tolist()
    [0, 0]
    """
    fields = layout(record)  # NumPy's own zeros fill a record field by field, which takes thrice as long
    return _named(np.ndarray(count, fields, bytearray(count * fields.itemsize)))


def room(record: type, count: int) -> NDArray[Any]:
    """Give room for `count` records: what lies there is anything, because a ring's entries are written, then read.

    Parameters
    ----------
    record : type
        A class of named fields, as `layout` takes it.
    count : int
        How many.

    Returns
    -------
    ndarray, shape (count,)
        Of `layout(record)`.

    Examples
    --------
    >>> class Point:
    ...     x: float
    ...     n: int
    >>> room(Point, 2).shape
    (2,)
    """
    return _named(np.empty(count, layout(record)))


def _named(memory: NDArray[Any]) -> NDArray[Any]:
    return memory if COMPILED else memory.view(np.recarray)
