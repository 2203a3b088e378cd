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

    Parameters
    ----------
    R : ndarray of complex, shape (M, M)
        Matrix of sample n-1.
    window : ndarray of complex, shape (M,)
        Window of sample n.
    lam : float
        Forgetting factor.

    Returns
    -------
    ndarray of complex, shape (M, M)
        The correlation matrix if the window moves by one place a sample, as
        that of a single channel does; not that of the interleaved window.

    Notes
    -----
    Chapter ``notebooks/echo/03_data_reuse``, Tables I and II, step 2.

    Examples
    --------
    One real channel: 2, then 3, with a forgetting factor of 1/2.

    >>> R = one_column(np.zeros((2, 2)) + 0j, np.array([2, 0]), 0.5)
    >>> one_column(R, np.array([3, 2]), 0.5).real
    array([[11.,  6.],
           [ 6.,  4.]])
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

    Parameters
    ----------
    x, d : ndarray of complex, shape (N,)
        Far end and microphones, left + j right.
    L : int
        Taps of each echo path.
    lam : float
        Forgetting factor, 0 < lam <= 1.
    update : callable
        Step 2: `one_column` to the letter, or
        `voicewire.echo.reference.next_matrix`.
    eps : float
        R(0) = eps I.
    **search : int or float
        N_u, M_b and H of `voicewire.echo.reference.dcd`.

    Returns
    -------
    g : ndarray of complex, shape (2L,)
    e : ndarray of complex, shape (N,)
        A priori errors.

    Notes
    -----
    Chapter ``notebooks/echo/03_data_reuse``; the comments count the steps.

    Examples
    --------
    With step 2 mended it is Table II with one pass.

    >>> x = np.array([2 + 1j, 1j, -1])
    >>> g, _ = table_1(x, x, 1, 0.9, next_matrix)
    >>> (g == table_2(x, x, 1, 0.9, left_in=())[0]).all()
    np.True_
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
    Chapter ``notebooks/echo/03_data_reuse``, Tables I and II, Init.

    Examples
    --------
    >>> fresh(1).phi
    0
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

    Parameters
    ----------
    L : int
        Taps of each echo path.
    eps : float
        The small positive constant.

    Returns
    -------
    Memory

    Notes
    -----
    Chapter ``notebooks/echo/03_data_reuse``, Tables I and II, Init.

    Examples
    --------
    >>> fresh(1, 0.5).R.real.tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    g, r, change, window = np.zeros((4, 2 * L), complex)
    return Memory(g, r, change, window, eps * np.eye(2 * L) + 0j)


def one_pass(
    s: Memory, d_n: complex, lam: float, left_in: Collection[str],
    **search: Any,
) -> None:
    """Steps 4 to 7 of Table II, by (12) and (13).

    Parameters
    ----------
    s : Memory
        Is changed.
    d_n : complex
        What the microphones heard.
    lam : float
        Forgetting factor.
    left_in : collection of str
        Of `MISPRINTS`.
    **search : int or float
        N_u, M_b and H of `voicewire.echo.reference.dcd`.

    Examples
    --------
    The microphones are heard where phi is 0, and nowhere else.

    >>> s = fresh(1, eps=2.0)
    >>> s.window = np.array([1 + 0j, 0])
    >>> one_pass(s, 1 + 0j, 1.0, (), N_u=1)
    >>> s.g.real.tolist(), complex(s.e)
    ([0.5, 0.0], (1+0j))
    """
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
    """Steps 2 to 7 of Table II, with its loop over phi.

    Parameters
    ----------
    s : Memory
        With the sample in its window; is changed.
    d_n : complex
        What the microphones heard.
    lam : float
        Forgetting factor.
    N_it : int
        Passes.
    left_in : collection of str
        Of `MISPRINTS`.
    **search : int or float
        N_u, M_b and H of `voicewire.echo.reference.dcd`.

    Examples
    --------
    Raised before its first use, phi is never 0: nothing is heard.

    >>> s = fresh(1)
    >>> s.window = np.array([1 + 0j, 1])
    >>> one_sample(s, 1 + 0j, 1.0, 3, ["count"])
    >>> s.phi, s.g.tolist()
    (3, [0j, 0j])
    """
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
    """Table II, as printed unless told otherwise: last taps and errors.

    Parameters
    ----------
    x, d : ndarray of complex, shape (N,)
        Far end and microphones, left + j right.
    L : int
        Taps of each echo path.
    lam : float
        Forgetting factor, 0 < lam <= 1.
    N_it : int
        Passes a sample.
    left_in : collection of str
        Misprints that stay, of `MISPRINTS`.
    eps : float
        R(0) = eps I.
    **search : int or float
        N_u, M_b and H of `voicewire.echo.reference.dcd`.

    Returns
    -------
    g : ndarray of complex, shape (2L,)
    e : ndarray of complex, shape (N,)
        A priori errors.

    See Also
    --------
    voicewire.echo.reference.dr_rls_dcd : with all misprints mended, and the
        same taps to the last bit.

    Examples
    --------
    >>> x = np.array([2 + 1j, 1j, -1])
    >>> abs(table_2(x, x, 1, 0.9, 3)[0]).tolist()
    [0.0, 0.0]
    >>> abs(table_2(x, x, 1, 0.9, 3, left_in=())[0]).round(3).tolist()
    [1.028, 0.025]
    """
    s, e = fresh(L, eps), np.array(d, complex)
    for n in range(x.size):
        s.window = shifted(s.window, x[n])
        if s.window.any():  # silence teaches nothing
            e[n] = d[n] - np.vdot(s.g, s.window)
            one_sample(s, d[n], lam, N_it, left_in, **search)
    return s.g, e
