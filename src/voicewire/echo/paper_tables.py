"""Tables I and II of the paper to the letter, and with each misprint mended.

A slip that is named in `left_in` stays as it is printed; all others are
mended. With none left in, the program is that of `voicewire.echo.reference`;
with all of them it is what somebody gets who types the tables in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo.reference import dcd, next_matrix, shifted
from voicewire.echo.reference import times as product

# fmt: off (lines as short as the page of the book is wide)

__all__ = [
    "MISPRINTS",
    "Memory",
    "fresh",
    "one_column",
    "one_pass",
    "one_sample",
    "table_1",
    "table_2",
]

Complex = NDArray[Any]  # of complex numbers
Update = Callable[[Complex, Complex, float], Complex]

def one_column(R: Complex, window: Complex, lam: float) -> Complex:
    """Step 2 to the letter: one new column, the rest moves by one place.

    Notes
    -----
    Tables I and II, step 2.
    """
    new = np.empty_like(R)
    new[1:, 1:] = R[:-1, :-1]
    new[:, 0] = lam * R[:, 0] + product(np.conj(window[0]), window)
    new[0, :] = new[:, 0].conj()
    return new


def table_1(
    x: Complex, d: Complex, L: int, lam: float, update: Update = one_column,
    eps: float = 1.0, **search: Any,
) -> tuple[Complex, Complex]:
    """Table I, as printed unless told otherwise: last taps and errors.

    Notes
    -----
    The comments count the steps.
    """
    g, r, window, e = *np.zeros((3, 2 * L), complex), np.array(d, complex)
    R = eps * np.eye(2 * L, dtype=complex)
    for n in range(x.size):
        window = shifted(window, x[n])  # 1
        R = update(R, window, lam)  # 2
        e[n] = d[n] - np.vdot(g, window)  # 3, 4
        p_0 = lam * r + product(np.conj(e[n]), window)  # 5
        change, r = dcd(R, p_0, **search)  # 6
        g = g + change  # 7
    return g, e


MISPRINTS = ("column", "plus", "e_0", "count", "reset")
"""Step 2; the sign of (12); the error in (13); step 3, twice."""


@dataclass
class Memory:
    """What the program keeps from step to step; zero until it is set.

    Attributes
    ----------
    g, r, change, window : ndarray of complex, shape (2L,)
        Taps, residual, last solution, input.
    R : ndarray of complex, shape (2L, 2L)
        Correlation matrix.
    e, e_0 : complex
        Error, and error of the pass with phi = 0.
    phi : int
        The pass.

    Notes
    -----
    Tables I and II, Init.
    """

    g: Complex
    r: Complex
    change: Complex
    window: Complex
    R: Complex
    e: complex = 0j
    e_0: complex = 0j
    phi: int = 0


def fresh(L: int, eps: float = 1.0) -> Memory:
    """Init.: nothing is known, and R(0) = eps I.

    Notes
    -----
    Tables I and II, Init.
    """
    g, r, change, window = np.zeros((4, 2 * L), complex)
    return Memory(g, r, change, window, eps * np.eye(2 * L) + 0j)


def one_pass(
    s: Memory, d_n: complex, lam: float, left_in: Collection[str],
    **search: Any,
) -> None:
    """Steps 4 to 7 of Table II, by (12) and (13)."""
    if s.phi == 0:
        s.e = s.e_0 = d_n - np.vdot(s.g, s.window)
    else:
        gain = np.vdot(s.change, s.window)
        s.e = s.e + gain if "plus" in left_in else s.e - gain
    used = s.e_0 if "e_0" in left_in else s.e
    kept = s.r if s.phi else lam * s.r
    s.r = kept + product(np.conj(used), s.window)
    s.change, s.r = dcd(s.R, s.r, **search)
    s.g = s.g + s.change


def one_sample(
    s: Memory, d_n: complex, lam: float, N_it: int,
    left_in: Collection[str], **search: Any,
) -> None:
    """Steps 2 to 7 of Table II, with its loop over phi."""
    update = one_column if "column" in left_in else next_matrix
    s.R = update(s.R, s.window, lam)
    if "reset" not in left_in:
        s.phi = 0
    while True:
        s.phi += "count" in left_in  # step 3 stands before the first use
        one_pass(s, d_n, lam, left_in, **search)
        s.phi += "count" not in left_in
        if s.phi >= N_it:
            return


def table_2(
    x: Complex, d: Complex, L: int, lam: float, N_it: int = 1,
    left_in: Collection[str] = MISPRINTS, eps: float = 1.0, **search: Any,
) -> tuple[Complex, Complex]:
    """Table II, as printed unless told otherwise: last taps and errors."""
    s, e = fresh(L, eps), np.array(d, complex)
    for n in range(x.size):
        s.window = shifted(s.window, x[n])
        if s.window.any():  # silence teaches nothing
            e[n] = d[n] - np.vdot(s.g, s.window)
            one_sample(s, d[n], lam, N_it, left_in, **search)
    return s.g, e
