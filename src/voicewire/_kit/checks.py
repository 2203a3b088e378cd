"""Checks at the public door: an argument is right, or is refused in one sentence that names it and says what to do.

A rule takes the argument's name, its value and the error to raise, and returns the value that the function computes
with: a plain `float` or `int`, or a contiguous float64 (complex128) copy of an array of any numeric type. `takes`
puts rules before a function, `fields` before a dataclass. Loops inside a study call what lies behind the door.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import bounds

__all__ = [
    "a", "array", "complex_number", "each", "fields", "flags", "function", "generator", "maybe", "number", "one_of",
    "plain", "positive", "seed", "share", "table", "takes", "whole",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")
LARGEST, MOST = bounds.LARGEST, bounds.MOST


class Rule(Protocol):
    """What checks one argument and gives it back as the function needs it."""

    def __call__(self, name: str, value: object, error: type[ValueError]) -> Any:
        """Return the value, or raise `error`."""


def takes(
    same: tuple[str, ...] = (), together: tuple[str, ...] = (), error: type[ValueError] = ValueError, **rules: Rule
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Put rules before a function: each argument that is given and has a rule goes through it; defaults do not."""

    def wrap(inner: Callable[P, R]) -> Callable[P, R]:
        names = tuple(inspect.signature(inner).parameters)
        unknown = [name for name in (*rules, *same, *together) if name not in names]
        assert not unknown, f"{inner.__qualname__} has no argument {unknown}"
        ruled = [(at, name, rules[name]) for at, name in enumerate(names) if name in rules]

        @functools.wraps(inner)
        def outer(*args: P.args, **kwargs: P.kwargs) -> R:
            given: Any = list(args)
            named: Any = kwargs
            for at, name, rule in ruled:
                if at < len(given):
                    given[at] = rule(name, given[at], error)
                elif name in named:
                    named[name] = rule(name, named[name], error)
            if same or together:
                everything = {**dict(zip(names, given, strict=False)), **named}
                _equally_long(same, everything, error)
                if together:
                    _broadcast(together, everything, error)
            return inner(*given, **named)

        return outer

    return wrap


def fields(thing: object, error: type[ValueError] = ValueError, **rules: Rule) -> None:
    """Check the fields of a dataclass, in its ``__post_init__``, and keep them as the rules give them back."""
    for name, rule in rules.items():
        value = getattr(thing, name)
        checked = rule(name.replace("_", " "), value, error)
        if checked is not value and not (type(value) is int and checked == value):
            object.__setattr__(thing, name, checked)


def _equally_long(names: tuple[str, ...], given: Mapping[str, Any], error: type[ValueError]) -> None:
    sizes = {name: len(given[name]) for name in names if given.get(name) is not None}
    if len(set(sizes.values())) > 1:
        shown = " and ".join(f"{name} has {size}" for name, size in sizes.items())
        raise error(f"{shown} entries: they must be equally long, cut them to the same span")


def _broadcast(names: tuple[str, ...], given: Mapping[str, Any], error: type[ValueError]) -> None:
    shapes = {name: np.shape(given[name]) for name in names if given.get(name) is not None}
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        shown = " and ".join(f"{name} has shape {shape}" for name, shape in shapes.items())
        raise error(f"{shown}: give one number for all, or equally many of each") from None


def number(
    low: float = -LARGEST, high: float = LARGEST, *, above: float | None = None, below: float | None = None,
    infinite: bool = False, nan: bool = False,
) -> Rule:  # fmt: skip
    """A real number from `low` to `high`, or strictly between `above` and `below`; or +inf or NaN, if they may be."""

    def rule(name: str, value: object, error: type[ValueError]) -> float:
        plain = _scalar(name, value, error)
        if (infinite and plain == math.inf) or (nan and math.isnan(plain)):
            return plain
        if said := bounds.wrong(plain, low, high, above, below):
            raise error(f"{name} is {said}")
        return plain

    return rule


def _scalar(name: str, value: object, error: type[ValueError]) -> float:
    # most are plain, and an isinstance of an abstract class costs more than all the rest
    if type(value) is float:
        return value
    if type(value) is int and -MOST <= value <= MOST:
        return float(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise error(f"{name} must be a number, not {_shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise error(f"{name} is {_shown(value)}: it must be within {LARGEST:g} of zero") from None


def _shown(value: object) -> str:
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"{value!r:.60}"


positive: Rule = number(above=0.0)
"""A finite number above zero."""
share: Rule = number(0.0, 1.0)
"""A probability or a fraction, 0 to 1."""


def whole(least: int = 0, most: int = MOST) -> Rule:
    """A whole number from `least` to `most`; 3.0 is one, 3.5 is not."""

    def rule(name: str, value: Any, error: type[ValueError]) -> int:
        if type(value) is int and least <= value <= most:  # the usual case, and not a bool
            return value
        plain = _scalar(name, value, error)
        if not math.isfinite(plain) or plain != int(plain) or not least <= plain <= most:
            raise error(f"{name} is {_shown(value)}: it must be a whole number from {least} to {most}")
        return int(value)

    return rule


seed: Rule = whole(0, 2**64 - 1)
"""What a generator is made from."""


def complex_number(name: str, value: object, error: type[ValueError]) -> complex:
    """A finite number, complex or real (a rule)."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Complex):
        raise error(f"{name} must be a number, not {_shown(value)}")
    plain = complex(value)
    if not (math.isfinite(plain.real) and math.isfinite(plain.imag)):
        raise error(f"{name} is {plain}: give a finite number")
    return plain


def generator(name: str, value: object, error: type[ValueError]) -> np.random.Generator:
    """A source of random numbers (a rule)."""
    if not isinstance(value, np.random.Generator):
        raise error(f"{name} must be a generator, as numpy.random.default_rng(seed) gives, not {_shown(value)}")
    return value


def array(
    ndim: int | tuple[int, ...] = 1, *, least: int = 1, low: float = -LARGEST, high: float = LARGEST,
    columns: int | None = None, kind: str = "real", sound: bool = False, allow: str = "", most: int = 10**8,
) -> Rule:  # fmt: skip
    """An array of numbers, given back as contiguous float64 (`kind` "real"), complex128 ("complex") or int64 ("whole").
    """
    dimensions = (ndim,) if isinstance(ndim, int) else ndim
    unbounded = allow == "nan inf" and low == -math.inf and high == math.inf

    def rule(name: str, value: object, error: type[ValueError]) -> NDArray[Any]:
        found = _numbers(name, value, kind, sound, error)
        if found.ndim not in dimensions:
            wanted = " or ".join(str(n) for n in dimensions)
            raise error(f"{name} must have {wanted} dimension(s), it has shape {found.shape}")
        if found.ndim and found.shape[0] < least:
            raise error(f"{name} has {found.shape[0]} entries: at least {least} must be given")
        if found.size > most:
            raise error(f"{name} has {found.size} entries: at most {most} can be worked on at once, cut it")
        if columns is not None and found.shape[-1] != columns:
            raise error(f"{name} must have {columns} columns, it has shape {found.shape}")
        if not unbounded and (found.dtype.kind in "fc" or low > -LARGEST or high < LARGEST):
            _inside(name, found, low, high, allow, error)
        return found

    return rule


def plain(name: str, value: object, error: type[ValueError]) -> NDArray[Any]:
    """An array of whatever type (a rule): what `numpy.asarray` gives, or a refusal of rows of unequal length."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError):
        raise error(f"{name} must be an array of numbers: its rows are not equally long") from None


_COMMON = {"real": np.dtype(np.float64), "complex": np.dtype(np.complex128), "whole": np.dtype(np.int64)}
"""What needs no change, by the kind that is asked for."""


def _numbers(name: str, value: Any, kind: str, sound: bool, error: type[ValueError]) -> NDArray[Any]:
    if type(value) is np.ndarray and value.dtype == _COMMON[kind] and value.flags.c_contiguous:
        return value  # as nearly all are
    raw = plain(name, value, error)
    if raw.dtype == object:
        entries = raw.ravel().tolist()
        if any(isinstance(entry, bool) or not isinstance(entry, numbers.Complex) for entry in entries):
            raise error(f"{name} must be an array of numbers, not {_shown(value)}")
        raw = raw.astype(complex if any(not isinstance(entry, numbers.Real) for entry in entries) else float)
    if raw.dtype.kind not in "iufc" and not (raw.size == 0 and raw.dtype.kind != "U"):
        raise error(f"{name} must be an array of numbers, not of {raw.dtype}")
    if raw.dtype.kind == "c" and kind != "complex":
        raise error(f"{name} must be real, and it is complex: take its real part, or its channels one by one")
    if sound and raw.dtype.kind in "iu" and raw.size:
        raise error(
            f"{name} holds whole numbers ({raw.dtype}), whose full scale is not 1: divide them by their full scale, "
            "for example samples / 32768 for 16 bits"
        )
    return np.ascontiguousarray(raw, raw.dtype if kind == "whole" else _COMMON[kind]).reshape(raw.shape)


def _inside(name: str, found: NDArray[Any], low: float, high: float, allow: str, error: type[ValueError]) -> None:
    """Refuse entries that are no numbers, infinite or out of bounds, saying where the first one stands."""
    if not found.size or (found.dtype.kind != "c" and low <= found.min().item() and found.max().item() <= high):
        return  # a NaN is neither above nor below
    sizes = np.abs(found) if found.dtype.kind == "c" else found
    bad = ~np.isfinite(found)
    if "nan" in allow:
        bad &= ~np.isnan(found)
    if "inf" in allow:
        bad &= ~(sizes == np.inf)
    if bad.any():
        at = np.argwhere(bad)[0].tolist()
        raise error(f"{name} is {found[tuple(at)]} at {at}: repair it, or leave the entry out")
    with np.errstate(invalid="ignore"):
        outside = (sizes < low) | (np.isfinite(sizes) & (sizes > high))
    if outside.any():
        at = np.argwhere(outside)[0].tolist()
        raise error(f"{name} is {found[tuple(at)]:g} at {at}: it must be {bounds.span(low, high, None, None)}")


def flags(name: str, value: object, error: type[ValueError]) -> NDArray[np.bool_]:
    """A row of yes and no: bool, or 0 and 1 (a rule)."""
    found = plain(name, value, error)
    if found.dtype != bool:
        found = array(low=0.0, high=1.0)(name, value, error)
        if not np.isin(found, (0.0, 1.0)).all():
            raise error(f"{name} must hold 0 and 1, or True and False, only")
    if found.ndim != 1 or found.size == 0:
        raise error(f"{name} must be a row of at least one entry, it has shape {found.shape}")
    return found.astype(bool)


def one_of(*choices: object) -> Rule:
    """One of a few values."""

    def rule(name: str, value: object, error: type[ValueError]) -> Any:
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            raise error(f"{name} is {_shown(value)}: choose one of {', '.join(str(choice) for choice in choices)}")
        return value

    return rule


def a(*kinds: type) -> Rule:
    """An object of one of these classes."""

    def rule(name: str, value: object, error: type[ValueError]) -> Any:
        if not isinstance(value, kinds):
            raise error(f"{name} must be a {' or '.join(kind.__name__ for kind in kinds)}, not {_shown(value)}")
        return value

    return rule


def table(name: str, value: object, error: type[ValueError]) -> Any:
    """A table of pandas, which is not imported before there is something to check (a rule)."""
    import pandas as pd

    return a(pd.DataFrame)(name, value, error)


def function(name: str, value: object, error: type[ValueError]) -> Any:
    """Something that can be called (a rule)."""
    if not callable(value):
        raise error(f"{name} must be a function, not {_shown(value)}")
    return value


def maybe(rule: Rule) -> Rule:
    """None, or what the rule asks for."""
    return lambda name, value, error: None if value is None else rule(name, value, error)


def each(rule: Rule, least: int = 1) -> Rule:
    """A sequence, every entry of which the rule takes; given back as a tuple."""

    def every(name: str, value: object, error: type[ValueError]) -> tuple[Any, ...]:
        if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
            raise error(f"{name} must be a sequence, not {_shown(value)}")
        if isinstance(value, np.ndarray) and value.ndim == 0:
            raise error(f"{name} must be a sequence, not {_shown(value)}")
        found = tuple(rule(f"{name}[{at}]", entry, error) for at, entry in enumerate(value))
        if len(found) < least:
            raise error(f"{name} has {len(found)} entries: at least {least} must be given")
        return found

    return every
