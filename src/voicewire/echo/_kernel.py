"""The fast WL-DR-RLS-DCD: O(L) per sample, without ever moving R.

Blocks of R depend on absolute time only: block (k, l) at time n is block (k+1, l+1) at time n+1. So each time m owns a
row of R, and a position in every row; both are rings of length L, filled downwards, so that delay k lies k positions
above the newest sample. A new sample writes one row and a column. The column is written lazily: the newest rows are
also kept transposed (`recent`), a row that DCD picks fetches what it lacks (at most LANES-1 entries), and when a chunk
of LANES positions is complete its columns are written for all rows by small transpositions.
`reference.dr_rls_dcd` is the same algorithm straight from the paper's tables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voicewire._kit._compiled import njit
from voicewire.echo import _llvm_loops as v

LANES = v.LANES
BLOCK = v.BLOCK
_ALIGNMENT = 64
# Component p of a 2x2 entry (even real, even imaginary, odd real, odd imaginary): the signs with which it enters the
# real taps (h0, h1) and (h2, h3), and by them the error.
_FIRST = np.array([1, 1, 1, -1])
_SECOND = np.array([1, -1, -1, -1])


class State(NamedTuple):
    """Everything that changes from sample to sample."""

    R: NDArray[Any]
    r: NDArray[Any]
    h: NDArray[Any]
    ring: NDArray[Any]
    window: NDArray[Any]
    diagonal: NDArray[Any]
    recent: NDArray[Any]
    tops: NDArray[Any]
    clock: NDArray[np.int64]  # position of the newest sample; number of zero samples up to it


class Settings(NamedTuple):
    """Everything that doesn't change."""

    length: int
    row: int
    reuse: int
    updates: int
    bits: int
    forgetting: Any
    amplitude: Any
    tiny: Any
    steps: NDArray[Any]


def aligned(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Zeros at the start of a cache line: a vector that straddles two lines costs twice."""
    spare = _ALIGNMENT // dtype.itemsize
    base = np.zeros(size + spare, dtype)
    start = (-base.ctypes.data % _ALIGNMENT) // dtype.itemsize
    return base[start : start + size]


def place(position: int) -> int:
    """Offset of a position in a row of blocks."""
    return position // LANES * BLOCK + position % LANES


def row_size(length: int, dtype: np.dtype[Any]) -> int:
    """Numbers in a row of R: one spare block, and an odd number of cache lines so that rows don't share sets."""
    line = _ALIGNMENT // dtype.itemsize
    lines = -(-(-(-length // LANES) + 1) * BLOCK // line)
    return (lines | 1) * line


def fresh(length: int, regularization: float, dtype: np.dtype[Any]) -> State:
    """The state before the first sample: R = regularization * I, all else zero."""
    count = -(-length // LANES)
    row = row_size(length, dtype)
    R = aligned(count * LANES * row, dtype)
    for q in range(length):
        R[q * row + place(q)] = regularization
    diagonal = aligned(length, dtype)
    diagonal[:] = regularization
    return State(
        R=R,
        r=aligned((count + 1) * BLOCK, dtype),
        h=aligned(count * BLOCK, dtype),
        ring=aligned(count * 2 * LANES, dtype),
        window=aligned(4 * (length + LANES), dtype),
        diagonal=diagonal,
        recent=aligned(count * BLOCK * LANES, dtype),
        tops=aligned(-(-length // v.WORD) * v.WORD, dtype),
        clock=np.array([0, length], np.int64),
    )


_place = njit(cache=True, inline="always")(place)


@njit(cache=True, inline="always")
def newest(tops: Any, words: int, top: Any, c: int) -> int:
    """Position of the smallest delay at which `tops` equals top (the newest sample is at c)."""
    first = c // v.WORD
    mask = (1 << (c - first * v.WORD)) - 1
    found = v.matches(tops, first, top) & ~mask
    if found != 0:
        return first * v.WORD + v.lowest_bit(found)
    for word in range(first + 1, words):
        found = v.matches(tops, word, top)
        if found != 0:
            return word * v.WORD + v.lowest_bit(found)
    for word in range(first + 1):
        found = v.matches(tops, word, top)
        if found != 0:
            return word * v.WORD + v.lowest_bit(found)
    return c


@njit(cache=True)
def _complete(R: Any, r: Any, row: int, count: int, c: int, length: int, tiny: Any) -> None:
    """A chunk of rows is complete: write its columns everywhere; drop what is about to become subnormal (slow)."""
    first = c // LANES
    v.mirror(R, count, row, first)
    for m in range(c, min(c + LANES, length)):
        for t in range(c, m):
            to, source = m * row + _place(t), t * row + _place(m)
            for plane in range(4):
                value = R[source + plane * LANES]
                R[to + plane * LANES] = -value if plane == 1 else value
    for i in range(count * BLOCK):
        r[i] = r[i] if abs(r[i]) > tiny else 0
        R[c * row + i] = R[c * row + i] if abs(R[c * row + i]) > tiny else 0


@njit(cache=True, inline="always")
def _enter(window: Any, ring: Any, c: int, length: int, re: Any, im: Any) -> None:
    """A sample enters the ring at position c, and the window twice, so that any L delays lie there in a row."""
    half = window.size // 2
    window[c] = window[c + length] = re
    window[half + c] = window[half + c + length] = im
    at = c // LANES * 2 * LANES + c % LANES
    ring[at] = re
    ring[at + LANES] = im


@njit(cache=True, inline="always")
def _age(state: State, settings: Settings, c: int, re: Any, im: Any) -> None:
    """The row of R for the newest sample, at c, from the row before it; the rings are closed for the shift by now."""
    count = (settings.length + LANES - 1) // LANES
    new = c * settings.row
    old = 0 if c == settings.length - 1 else new + settings.row
    shift = c % LANES * count * BLOCK
    v.next_row(state.R, count, new, old, settings.forgetting, state.ring, re, im, state.recent, shift)
    state.diagonal[c] = state.R[new + _place(c)]


@njit(cache=True, inline="always")
def _component(r: Any, at: int, top: Any) -> tuple[int, Any]:
    """The first of the four planes of r whose entry at this place is as large as top, and that entry."""
    a0, a1, a2, a3 = r[at], r[at + LANES], r[at + 2 * LANES], r[at + 3 * LANES]
    p = 0 if abs(a0) == top else (1 if abs(a1) == top else (2 if abs(a2) == top else 3))
    return p, a0 if p == 0 else (a1 if p == 1 else (a2 if p == 2 else a3))


@njit(cache=True, inline="always")
def _subtract(state: State, settings: Settings, c: int, q: int, p: int, s: Any) -> Any:
    """Take s times column q of R from the residual, by way of component p; the largest magnitude that is left."""
    length = settings.length
    count = (length + LANES - 1) // LANES
    here, low = c // LANES, c % LANES
    chunk, lane = q // LANES, q % LANES
    column = q * settings.row
    high = lane if chunk == here and lane >= low else min(LANES, length - here * LANES)
    entry = chunk * BLOCK + (lane % 4 * 2 + lane // 4) * 4
    v.fetch(state.R, column + here * BLOCK, state.recent, count * BLOCK, entry, low, high)
    planes = (p * LANES, (p ^ 1) * LANES, (p ^ 2) * LANES, (p ^ 3) * LANES)
    sources = (column + planes[0], column + planes[1], column + planes[2], column + planes[3])
    s0 = -s if p & 1 else s
    return v.subtract_column(state.r, count, state.tops, state.R, sources, (s0, s, s, -s0))


@njit(cache=True, inline="always")
def _descend(state: State, settings: Settings, c: int, top: Any, er: Any, ei: Any) -> tuple[Any, Any]:
    """Up to `updates` steps of dichotomous coordinate descent, each on the largest component; the error after them."""
    r, h, ring = state.r, state.h, state.ring
    real = r.dtype.type
    words = (settings.length + v.WORD - 1) // v.WORD
    m = 1
    for _ in range(settings.updates):
        if top == 0:
            break
        q = newest(state.tops, words, top, c)
        m = max(m, v.halvings(settings.amplitude * state.diagonal[q], top))
        if m > settings.bits:
            break
        p, value = _component(r, _place(q), top)
        s = settings.steps[m] if value > 0 else -settings.steps[m]
        s1, s2 = s * real(_FIRST[p]), s * real(_SECOND[p])
        odd = p & 1
        sample = q // LANES * 2 * LANES + q % LANES
        er -= s1 * ring[sample + odd * LANES]
        ei -= s2 * ring[sample + (1 - odd) * LANES]
        k = q - c if q >= c else q - c + settings.length
        tap = _place(k) + odd * LANES
        h[tap] += s1
        h[tap + 2 * LANES] += s2
        top = _subtract(state, settings, c, q, p, s)
    return er, ei


# Nothing is allocated in here, so numba need not count references (`_nrt`): the arrays' passing from piece to piece,
# counted, would cost a fifth of the time.
@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", _nrt=False)
def run(x: Any, d: Any, e: Any, state: State, settings: Settings) -> None:
    """Adapt over the samples x, d; e receives the a priori errors."""
    R, r, h, ring, window, _diagonal, _recent, tops, clock = state
    L, row = settings.length, settings.row
    one = r.dtype.type(1)
    count = (L + LANES - 1) // LANES
    beyond = _place(L)
    c = clock[0]
    quiet = clock[1]
    for i in range(x.size):
        xr, xi = x[i].real, x[i].imag
        quiet = quiet + 1 if xr == 0 and xi == 0 else 0
        if quiet >= L:  # nothing in the window: ageing R would end in 0/0, so the filter waits
            quiet = L
            _enter(window, ring, c, L, 0, 0)
            e[i] = d[i]
            continue
        if c % LANES == 0:
            _complete(R, r, row, count, c, L, settings.tiny)
        old = c * row
        c = c - 1 if c > 0 else L - 1
        _enter(window, ring, c, L, xr, xi)
        for plane in range(0, BLOCK, LANES):  # close the rings for the shift
            R[old + beyond + plane] = R[old + plane]
            r[beyond + plane] = r[plane]
        _age(state, settings, c, xr, xi)
        left, right = v.output(h, count, window, c, window.size // 2)
        er, ei = d[i].real - left, d[i].imag - right
        e[i] = complex(er, ei)
        top = v.add_first(r, count, tops, settings.forgetting, ring, er, ei)
        for plane in range(0, BLOCK, LANES):
            R[old + beyond + plane] = 0
            r[beyond + plane] = 0
        for phi in range(settings.reuse):
            if phi > 0:
                top = v.add_again(r, count, tops, one, ring, er, ei)
            er, ei = _descend(state, settings, c, top, er, ei)
    clock[0] = c
    clock[1] = quiet
