"""Plain data between the marker and the student's process: numbers, texts, lists, arrays, as JSON and nothing else.

Nothing that is received is ever executed or unpickled: `decode` makes new objects of exactly the types named here, so
an object of the student's own (one that claims to equal everything, say) never reaches a comparison. What is no plain
data stays where it is and is sent as a number to ask for it by.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["LIMIT", "DataError", "decode", "dumps", "encode", "loads", "names_of"]

#: Bytes that one message may have.
LIMIT = 16 * 2**20
_DEPTH = 40
_ITERABLE: tuple[tuple[str, type, Callable[[Any], Iterator[Any]]], ...] = (
    ("tuple", tuple, tuple.__iter__),
    ("set", set, set.__iter__),
    ("frozenset", frozenset, frozenset.__iter__),
)
_DTYPES = {np.dtype(code).str for code in "?bhilqBHILQefdFD"}


class DataError(ValueError):
    """What should be sent, or was received, is no plain data; the message says what it is."""


def encode(value: Any, refer: Callable[[Any], dict[str, Any]], depth: int = 0) -> Any:
    """Turn a value into what JSON can hold."""
    if depth > _DEPTH:
        raise DataError("a value that is nested too deeply, or holds itself")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return _encode_array(value, refer)
    # The base classes' own methods: a derived class may have replaced them.
    if isinstance(value, int):
        return int.__add__(value, 0)
    if isinstance(value, float):
        return float.__add__(value, 0.0) if not math.isnan(value) else math.nan
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, list):
        return [encode(item, refer, depth + 1) for item in list.__iter__(value)]
    if isinstance(value, dict):
        pairs = dict.items(value)
        return {"dict": [[encode(k, refer, depth + 1), encode(v, refer, depth + 1)] for k, v in pairs]}
    for name, kind, items in _ITERABLE:
        if isinstance(value, kind):
            return {name: [encode(item, refer, depth + 1) for item in items(value)]}
    return _encode_rest(value, refer)


def _encode_rest(value: Any, refer: Callable[[Any], dict[str, Any]]) -> Any:
    if isinstance(value, bytes | bytearray):
        return {type(value).__mro__[-2].__name__: base64.b64encode(value).decode("ascii")}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if type(value) is Fraction:
        return {"fraction": [value.numerator, value.denominator]}
    return refer(value)


def _encode_array(value: Any, refer: Callable[[Any], dict[str, Any]]) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "US" and type(value) is np.ndarray:
        return {"texts": [list(value.shape), [encode(item, refer) for item in value.reshape(-1).tolist()]]}
    if isinstance(value, np.str_ | np.bytes_):
        return encode(value.item(), refer)
    if value.dtype.newbyteorder("=").str not in _DTYPES or (
        isinstance(value, np.ndarray) and type(value) is not np.ndarray
    ):
        return refer(value)
    array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("="))
    if array.nbytes > LIMIT:
        raise DataError(f"an array of {array.nbytes} bytes, more than {LIMIT}")
    shape = list(value.shape)  # ascontiguousarray makes a scalar one-dimensional
    content = base64.b64encode(array.tobytes()).decode("ascii")
    return {"number" if isinstance(value, np.generic) else "array": [array.dtype.str, shape, content]}


def decode(data: Any, refer: Callable[[dict[str, Any]], Any], depth: int = 0) -> Any:
    """Make the value that `encode` had, of the plain type itself."""
    if depth > _DEPTH:
        raise DataError("a value that is nested too deeply")
    if data is None or isinstance(data, bool | int | float | str):
        return data
    if isinstance(data, list):
        return [decode(item, refer, depth + 1) for item in data]
    if not isinstance(data, dict) or len(data) != 1:
        raise DataError("a message that holds no plain data")
    [(name, content)] = data.items()
    try:
        if name in _MAKERS:
            return _MAKERS[name](content, lambda item: decode(item, refer, depth + 1))
    except (TypeError, ValueError, KeyError, IndexError, ArithmeticError) as error:
        raise DataError(f"a message with a damaged {name}: {error}") from None
    return refer(data)


def _array(content: Any, item: Callable[[Any], Any]) -> np.ndarray:
    code, shape, raw = content
    if code not in _DTYPES or any(type(n) is not int or n < 0 for n in shape) or len(shape) > 8:
        raise ValueError("type or shape")
    flat: np.ndarray = np.frombuffer(base64.b64decode(raw, validate=True), dtype=code)
    if math.prod(shape) != flat.size:
        raise ValueError("size")
    if flat.dtype == bool:
        flat = flat.view(np.uint8) != 0  # any other byte than 0 and 1 would be a truth value of its own
    return flat.reshape(shape).copy()


def _texts(content: Any, item: Callable[[Any], Any]) -> np.ndarray:
    shape, flat = content
    if any(type(n) is not int or n < 0 for n in shape) or math.prod(shape) != len(flat):
        raise ValueError("size")
    if not all(isinstance(text, str) for text in flat):
        raise ValueError("texts")
    return np.array(flat, dtype=np.str_).reshape(shape)


_MAKERS: dict[str, Callable[[Any, Callable[[Any], Any]], Any]] = {
    "tuple": lambda content, item: tuple(item(part) for part in content),
    "set": lambda content, item: {item(part) for part in content},
    "frozenset": lambda content, item: frozenset(item(part) for part in content),
    "dict": lambda content, item: {item(key): item(value) for key, value in content},
    "bytes": lambda content, item: base64.b64decode(content, validate=True),
    "bytearray": lambda content, item: bytearray(base64.b64decode(content, validate=True)),
    "complex": lambda content, item: complex(float(content[0]), float(content[1])),
    "fraction": lambda content, item: Fraction(int(content[0]), int(content[1])),
    "number": lambda content, item: _array(content, item)[()],
    "array": _array,
    "texts": _texts,
}


def dumps(message: dict[str, Any]) -> bytes:
    """Return a message as one line."""
    return json.dumps(message, ensure_ascii=True, check_circular=False).encode("ascii") + b"\n"


def loads(line: bytes) -> dict[str, Any]:
    """Return the message in one line."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"no message: {type(error).__name__}") from None
    if not isinstance(message, dict):
        raise DataError("no message")
    return message


def names_of(error: BaseException) -> list[str]:
    """Return the names of an exception's classes, the narrowest first."""
    return [kind.__name__ for kind in type(error).__mro__]
