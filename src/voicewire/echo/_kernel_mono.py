"""`_kernel.run` for one loudspeaker and one microphone: the same numbers from a quarter of the memory.

It is there for its speed: in float32 with one pass a mono sample takes 0.8 instead of 2.4 us at 512 taps, 2.5 instead
of 10.6 us at 1280 (80 ms at 16 kHz) and 4.9 instead of 17.7 us at 2048, on one machine. What is the same in both is
taken from `_kernel` and `_llvm_loops`; what is left here is what one plane instead of four makes different.

With real x and d all of R is real, its even and odd entries are alike but on the diagonal (epsilon stands in the even
ones only), and r has two real planes. Rows and positions are those of `_kernel`; columns are written for all rows when
a chunk of `LANES` rows is complete.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voicewire._kit._compiled import njit
from voicewire.echo import _llvm_loops as v
from voicewire.echo import _llvm_mono as w
from voicewire.echo._kernel import BLOCK, LANES, Settings, State, aligned, newest, place

__all__ = ["Mono", "fresh", "run", "widened"]


class Mono(NamedTuple):
    """Everything that changes from sample to sample; `even` is the diagonal of R's even entries."""

    R: NDArray[Any]
    r: NDArray[Any]
    h: NDArray[Any]
    ring: NDArray[Any]
    window: NDArray[Any]
    even: NDArray[Any]
    tops: NDArray[Any]
    clock: NDArray[np.int64]


def row_size(length: int, dtype: np.dtype[Any]) -> int:
    """Numbers in a row of R: whole chunks, one to spare, and an odd number of cache lines."""
    line = 64 // dtype.itemsize
    lines = -(-(-(-length // LANES) + 1) * LANES // line)
    return (lines | 1) * line


def fresh(length: int, regularization: float, dtype: np.dtype[Any]) -> Mono:
    """The state before the first sample."""
    size = -(-length // LANES) * LANES
    even = aligned(length, dtype)
    even[:] = regularization
    return Mono(
        R=aligned(size * row_size(length, dtype), dtype),
        r=aligned(2 * (size + LANES), dtype),
        h=aligned(2 * size, dtype),
        ring=aligned(size + LANES, dtype),
        window=aligned(2 * length + LANES, dtype),
        even=even,
        tops=aligned(-(-size // v.WORD) * v.WORD, dtype),
        clock=np.array([0, length], np.int64),
    )


@njit(cache=True, inline="always")
def _fetch(R: Any, row: int, q: int, c: int, length: int) -> None:
    """Row q gets from the newest rows what wasn't written into it yet."""
    last = min(c // LANES * LANES + LANES, length)
    high = q if q // LANES == c // LANES and q >= c else last
    for t in range(c, high):
        R[q * row + t] = R[t * row + q]


@njit(cache=True)
def _complete(state: Any, row: int, size: int, c: int, length: int, tiny: Any) -> None:
    """A chunk of rows is complete: write its columns everywhere; drop what is about to become subnormal."""
    R, r = state.R, state.r
    w.mirror(R, size // LANES, row, c // LANES)
    for m in range(c, min(c + LANES, length)):
        for t in range(c, m):
            R[m * row + t] = R[t * row + m]
    for i in range(r.size):
        r[i] = r[i] if abs(r[i]) > tiny else 0
    for i in range(c * row, c * row + size):
        R[i] = R[i] if abs(R[i]) > tiny else 0


@njit(cache=True, inline="always")
def _descend(state: Any, settings: Any, c: int, top: Any, e: Any) -> Any:
    """Up to `updates` steps on the largest component; the error after them."""
    R, r, h, ring, _window, even, tops, _clock = state
    length, row = settings.length, settings.row
    chunks = (length + LANES - 1) // LANES
    size = chunks * LANES
    beyond = size + LANES
    words = (length + v.WORD - 1) // v.WORD
    m = 1
    for _ in range(settings.updates):
        if top == 0:
            break
        q = newest(tops, words, top, c)
        m = max(m, v.halvings(settings.amplitude * even[q], top))
        if m > settings.bits:
            break
        odd = abs(r[q]) != top
        value = r[beyond + q] if odd else r[q]
        s = settings.steps[m] if value > 0 else -settings.steps[m]
        e -= s * ring[q]
        k = q - c if q >= c else q - c + length
        h[k] += s
        h[size + k] += -s if odd else s
        _fetch(R, row, q, c, length)
        at = q * row + q
        here = R[at]
        own, other = (here, even[q]) if odd else (even[q], here)
        left, right = r[q] - s * own, r[beyond + q] - s * other
        r[q] = r[beyond + q] = R[at] = 0  # the one place where the two columns differ is done by hand
        top = w.subtract_column(r, chunks, tops, R, q * row, s)
        r[q], r[beyond + q], R[at] = left, right, here
        tops[q] = max(abs(left), abs(right))
        top = max(top, tops[q])
    return e


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", _nrt=False)
def run(x: Any, d: Any, e: Any, state: Any, settings: Any) -> None:
    """Adapt over the samples x, d; e receives the a priori errors."""
    R, r, h, ring, window, even, tops, clock = state
    L, row = settings.length, settings.row
    one = r.dtype.type(1)
    chunks = (L + LANES - 1) // LANES
    size = chunks * LANES
    beyond = size + LANES
    c = clock[0]
    quiet = clock[1]
    for i in range(x.size):
        new = x[i]
        quiet = quiet + 1 if new == 0 else 0
        if quiet >= L:
            quiet = L
            ring[c] = window[c] = window[c + L] = 0
            e[i] = d[i]
            continue
        if c % LANES == 0:
            _complete(state, row, size, c, L, settings.tiny)
        old = c
        c = c - 1 if c > 0 else L - 1
        ring[c] = window[c] = window[c + L] = new
        R[old * row + L] = R[old * row]  # close the rings for the shift
        r[L] = r[0]
        r[beyond + L] = r[beyond]
        diagonal = settings.forgetting * even[old]
        w.next_row(R, chunks, c * row, old * row, settings.forgetting, ring, new)
        even[c] = diagonal + new * new
        error = d[i] - w.output(h, chunks, window, c)
        e[i] = error
        top = w.add_first(r, chunks, tops, settings.forgetting, ring, error)
        R[old * row + L] = 0
        r[L] = r[beyond + L] = 0
        for phi in range(settings.reuse):
            if phi > 0:
                top = w.add_again(r, chunks, tops, one, ring, error)
            error = _descend(state, settings, c, top, error)
    clock[0] = c
    clock[1] = quiet


def widened(mono: Mono, settings: Settings, wide: State) -> None:
    """Bring a state to that of `_kernel.run`, which takes stereo."""
    length, c = settings.length, int(mono.clock[0])
    size = -(-length // LANES) * LANES
    row = row_size(length, mono.R.dtype)
    R = mono.R.reshape(size, row)[:length, :length].copy()
    newest = range(c, min(c // LANES * LANES + LANES, length))
    for t in newest:  # what rows older than t don't have yet
        older = np.r_[:c, t:length]
        R[older, t] = R[t, older]
    even = R.copy()
    np.fill_diagonal(even, mono.even)
    at = np.array([place(q) for q in range(length)])
    rows = wide.R.reshape(-1, settings.row)
    rows[:] = 0
    rows[np.arange(length)[:, None], at] = even
    rows[np.arange(length)[:, None], at + 2 * LANES] = R
    for plane, values in ((0, mono.r[:length]), (2, mono.r[size + LANES : size + LANES + length])):
        wide.r[at + plane * LANES] = values
    for plane, values in ((0, mono.h[:length]), (2, mono.h[size : size + length])):
        wide.h[at + plane * LANES] = values
    lane = np.arange(length) % LANES
    entry = np.arange(length) // LANES * BLOCK + (lane % 4 * 2 + lane // 4) * 4
    recent = wide.recent.reshape(LANES, -1)
    for t in newest:
        recent[t % LANES, entry], recent[t % LANES, entry + 2] = even[t], R[t]
    wide.ring[np.arange(length) // LANES * 2 * LANES + lane] = mono.ring[:length]
    wide.window[: 2 * length] = mono.window[: 2 * length]
    wide.diagonal[:] = mono.even
    wide.tops[: mono.tops.size] = mono.tops[: wide.tops.size]
    wide.clock[:] = mono.clock
