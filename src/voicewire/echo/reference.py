"""Adaptive filters to read: NLMS, affine projection, RLS, DCD, WL-DR-RLS-DCD.

Nothing here is clever. A filter is a loop over the samples and a step that
the chapter explains; it is woven into the chapters piece by piece. The
classes of `voicewire.echo` compute the same, some hundred times as fast.

Signals are complex, left + j right. A *window* holds the last L samples and
their conjugates, newest first: x(n), x*(n), x(n-1), x*(n-1), …; g are the 2L
taps that meet it, and the echo is g^H window.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# fmt: off (lines as short as the page of the book is wide)

__all__ = [
    "apa",
    "apa_step",
    "dcd",
    "dr_rls",
    "dr_rls_dcd",
    "dr_rls_step",
    "leading",
    "next_matrix",
    "nlms",
    "nlms_step",
    "reuse_step",
    "rls",
    "rls_gain",
    "shifted",
    "times",
]

Complex = NDArray[Any]  # of complex numbers


def shifted(window: Complex, x_n: complex) -> Complex:
    """The window one sample later: x(n) and x*(n) in front."""
    new = np.empty_like(window)
    new[:2] = x_n, np.conj(x_n)
    new[2:] = window[:-2]
    return new


def nlms_step(
    g: Complex, window: Complex, d_n: complex, mu: float, eps: float
) -> tuple[Complex, complex]:
    """One step of NLMS: the taps and the error before it."""
    e = d_n - np.vdot(g, window)
    energy = np.vdot(window, window).real
    return g + mu / (energy + eps) * np.conj(e) * window, e


def nlms(
    x: Complex, d: Complex, L: int, mu: float = 0.5, eps: float = 1e-3
) -> tuple[Complex, Complex]:
    """NLMS over all samples: the last taps, and the errors."""
    g, window = np.zeros((2, 2 * L), complex)
    e = np.empty(x.size, complex)
    for n in range(x.size):
        window = shifted(window, x[n])
        g, e[n] = nlms_step(g, window, d[n], mu, eps)
    return g, e


def apa_step(
    g: Complex, X: Complex, d_last: Complex, mu: float, eps: float
) -> tuple[Complex, complex]:
    """One step of affine projection, on the last windows X."""
    errors = d_last - X.T @ np.conj(g)
    gram = X.conj().T @ X + eps * np.eye(X.shape[1])
    return g + mu * X @ np.linalg.solve(gram, np.conj(errors)), errors[0]


def apa(
    x: Complex, d: Complex, L: int, P: int, mu: float = 0.5, eps: float = 1e-3
) -> tuple[Complex, Complex]:
    """Affine projection of order P: the last taps, and the errors."""
    g, X = np.zeros(2 * L, complex), np.zeros((2 * L, P), complex)
    e, d_last = np.empty(x.size, complex), np.zeros(P, complex)
    for n in range(x.size):
        newest = shifted(X[:, 0], x[n])
        X = np.column_stack([newest, X[:, :-1]])
        d_last = np.append(d[n], d_last[:-1])
        g, e[n] = apa_step(g, X, d_last, mu, eps)
    return g, e


def rls_gain(
    P: Complex, window: Complex, lam: float
) -> tuple[Complex, Complex]:
    """The gain, and the inverse P of R after one more window."""
    Px = P @ window
    k = Px / (lam + np.vdot(window, Px).real)
    P = (P - np.outer(k, np.conj(Px))) / lam
    return k, (P + P.conj().T) / 2  # rounding must not skew it


def rls(
    x: Complex, d: Complex, L: int, lam: float, eps: float = 1.0
) -> tuple[Complex, Complex]:
    """RLS: the last taps, and the errors."""
    g, window = np.zeros((2, 2 * L), complex)
    P, e = np.eye(2 * L) / eps, np.array(d, complex)
    for n in range(x.size):
        window = shifted(window, x[n])
        if window.any():  # silence teaches nothing
            k, P = rls_gain(P, window, lam)
            e[n] = d[n] - np.vdot(g, window)
            g = g + k * np.conj(e[n])
    return g, e


def times(a: complex, v: Complex) -> Complex:
    """a v, each product rounded by itself.

    NumPy's own complex product fuses two roundings on some machines; the
    compiled filter does not, and the two shall give the same numbers on all.
    """
    re = a.real * v.real - a.imag * v.imag
    return re + 1j * (a.real * v.imag + a.imag * v.real)


def next_matrix(R: Complex, window: Complex, lam: float) -> Complex:
    """R(n) from R(n-1): two columns are computed, the rest moves."""
    new = np.empty_like(R)
    new[2:, 2:] = R[:-2, :-2]
    for j in range(2):
        column = times(np.conj(window[j]), window)
        new[:, j] = lam * R[:, j] + column
    new[:2, :] = new[:, :2].conj().T
    return new


def leading(r: Complex) -> tuple[int, complex, float]:
    """The largest component of r: where, along 1 or j, and its value."""
    p = int(np.argmax(np.maximum(abs(r.real), abs(r.imag))))
    if abs(r[p].real) >= abs(r[p].imag):
        return p, 1 + 0j, float(r[p].real)
    return p, 1j, float(r[p].imag)


def dcd(
    R: Complex, r: Complex, N_u: int = 4, M_b: int = 16, H: float = 1.0
) -> tuple[Complex, Complex]:
    """Solve R change = r roughly: the change, and what is left of r.

    Notes
    -----
    Equation ``eq-echo-test``.
    """
    change, alpha, m = np.zeros_like(r), H / 2, 1
    for _ in range(N_u):
        p, unit, v = leading(r)
        while m <= M_b and abs(v) <= alpha / 2 * R[p, p].real:
            alpha, m = alpha / 2, m + 1
        if m > M_b:
            break
        step = np.sign(v) * alpha * unit
        change[p] += step
        r = r - step * R[:, p]
    return change, r


def reuse_step(
    g: Complex, r: Complex, R: Complex, window: Complex, d_n: complex,
    lam: float, N_it: int = 1, **search: Any,
) -> tuple[Complex, Complex, complex]:
    """One sample, used N_it times: taps, residual and first error.

    Notes
    -----
    Equation ``eq-echo-error``:
    Table II of the paper with its misprints repaired; Table I is N_it = 1.
    """
    e = first = d_n - np.vdot(g, window)
    for phi in range(N_it):
        r = (lam if phi == 0 else 1) * r + times(np.conj(e), window)
        change, r = dcd(R, r, **search)
        g = g + change
        e = e - np.vdot(change, window)
    return g, r, first


def dr_rls_dcd(
    x: Complex, d: Complex, L: int, lam: float, N_it: int = 1,
    eps: float = 1.0, **search: Any,
) -> tuple[Complex, Complex]:
    """WL-DR-RLS-DCD: the last taps, and the errors."""
    (g, r, window), e = np.zeros((3, 2 * L), complex), np.array(d, complex)
    R = eps * np.eye(2 * L, dtype=complex)
    for n in range(x.size):
        window = shifted(window, x[n])
        if window.any():  # silence teaches nothing
            R = next_matrix(R, window, lam)
            state = g, r, R, window, d[n], lam, N_it
            g, r, e[n] = reuse_step(*state, **search)
    return g, e


def dr_rls_step(
    g: Complex, P: Complex, window: Complex, d_n: complex,
    lam: float, N_it: int = 1,
) -> tuple[Complex, Complex, complex]:
    """One sample of RLS, used N_it times: taps, inverse, first error.

    Notes
    -----
    Steps 4 to 7 of the paper's
    Table II with (12) and (13), misprints repaired, where R change = p_0 is
    solved exactly, so that no residual is left. All passes together are
    equation ``eq-echo-passes``.
    """
    k, P = rls_gain(P, window, lam)
    e = first = d_n - np.vdot(g, window)
    for _ in range(N_it):
        change = k * np.conj(e)
        g = g + change
        e = e - np.vdot(change, window)
    return g, P, first


def dr_rls(
    x: Complex, d: Complex, L: int, lam: float, N_it: int = 1,
    eps: float = 1.0,
) -> tuple[Complex, Complex]:
    """WL-DR-RLS, without DCD: the last taps, and the errors."""
    g, window = np.zeros((2, 2 * L), complex)
    P, e = np.eye(2 * L) / eps, np.array(d, complex)
    for n in range(x.size):
        window = shifted(window, x[n])
        if window.any():  # silence teaches nothing
            state = g, P, window, d[n], lam, N_it
            g, P, e[n] = dr_rls_step(*state)
    return g, e
