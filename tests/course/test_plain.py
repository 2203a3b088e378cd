"""Plain data: what goes over comes back as it was, and nothing else comes out of a message."""

from __future__ import annotations

import contextlib
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from voicewire_book.course import plain

PLAIN = (bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, Fraction, type(None))


class Stays:
    """Stands for a reference to what stays in the other process."""


def refuse(value: Any) -> dict[str, Any]:
    raise plain.DataError(f"a {type(value).__name__}")


def there_and_back(value: Any) -> Any:
    line = plain.dumps({"value": plain.encode(value, refuse)})
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    return plain.decode(plain.loads(line)["value"], refuse)


def same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    return a == b or (a != a and b != b)


hashable = st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.fractions() | st.floats()
numeric = (
    hnp.boolean_dtypes() | hnp.integer_dtypes(endianness="=") | hnp.floating_dtypes(sizes=(32, 64), endianness="=")
)
arrays = hnp.arrays(numeric, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))
scalars = arrays.filter(lambda array: array.size > 0).map(lambda array: array.reshape(-1)[0])
values = st.recursive(
    hashable | st.complex_numbers(allow_nan=False) | arrays | scalars,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(hashable, inner) | st.sets(st.integers())
    ),
    max_leaves=12,
)
lines = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(sorted(plain._MAKERS)), inner, max_size=2)
    ),
    max_leaves=20,
)


@given(values)
def test_plain_data_arrives_as_they_were(value):
    assert same(there_and_back(value), value)


def only_plain(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and value.dtype.kind in "biufcU"
    if isinstance(value, np.generic):
        return type(value).__module__ == "numpy"
    if isinstance(value, dict):
        return type(value) is dict and all(only_plain(k) and only_plain(v) for k, v in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return type(value) in PLAIN and all(map(only_plain, value))
    return type(value) in PLAIN or type(value) is Stays


@given(lines)
def test_whatever_a_message_holds_only_plain_data_come_of_it(message):
    try:
        value = plain.decode(json.loads(json.dumps(message)), lambda reference: Stays())
    except plain.DataError:
        return
    assert only_plain(value)


@given(st.binary())
def test_a_line_is_a_message_or_refused(line):
    with contextlib.suppress(plain.DataError):
        assert isinstance(plain.loads(line), dict)


def test_derived_objects_arrive_as_what_they_derive_from():
    class Equal(float):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = float.__hash__
        __add__ = __radd__ = lambda self, other: self

    class Items(list):
        def __iter__(self):
            return iter([1, 2, 3])

    got = there_and_back([Equal(2.5), Items([7]), Equal(math.inf)])
    assert [type(item) for item in got] == [float, list, float]
    assert got == [2.5, [7], math.inf]


def test_arrays_of_texts_arrive():
    words = np.array([["a", "\u00e9\n"], ["", "abc"]])
    assert same(there_and_back(words), words)
    assert there_and_back(np.array([], dtype=str)).shape == (0,)


def test_what_is_nested_without_end_or_too_long_is_refused():
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(plain.DataError, match="holds itself"):
        plain.encode(endless, refuse)
    with pytest.raises(plain.DataError, match="bytes, more than"):
        plain.encode(np.zeros(plain.LIMIT), refuse)
    for bad in (b"[" * 10**5, b'{"a": ' + b"9" * 10**5 + b"}", b"1", b"\xff"):
        with pytest.raises(plain.DataError):
            plain.loads(bad)


@pytest.mark.parametrize("content", [[[1], [None]], [[2], ["a"]], [[-1], ["a"]], [[1], [["a"]]], [[1], "a", 0]])
def test_damaged_texts_are_refused(content):
    with pytest.raises(plain.DataError):
        plain.decode({"texts": content}, refuse)


@pytest.mark.parametrize(
    "content",
    [
        ["<f8", [2], "AAAAAAAAAAA="],
        ["<f8", [10**18, 0], "AAAAAAAAAAA="],
        ["|O", [1], "AAAAAAAAAAA="],
        ["<f8", [-1], "AAAAAAAAAAA="],
        ["<f8", [True], "AAAAAAAAAAA="],
        ["<f8", 1, "AAAAAAAAAAA="],
        ["<f8", [1], "not base64"],
    ],
)
def test_a_damaged_array_is_refused(content):
    with pytest.raises(plain.DataError):
        plain.decode({"array": content}, refuse)
