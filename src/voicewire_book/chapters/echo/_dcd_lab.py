"""What the lab of *RLS by additions and shifts* compares with: what is right, and usual mistakes as options."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo.channels import next_block
from voicewire.echo.reference import dcd, next_matrix, reuse_step, shifted

Array = NDArray[Any]


def rows(seed: int, size: int = 6) -> tuple[Array, Array]:
    """A matrix of correlations of many windows, and a right-hand side, both real."""
    rng = np.random.default_rng([71, seed])
    windows = rng.standard_normal((3 * size, size))
    return windows.T @ windows / size, rng.standard_normal(size)


def matrix(
    R: Array, window: Array, lam: float,
    *,
    ages: bool = True, moves: bool = True, whole: bool = False, fades: bool = False, mirrors: bool = True,
) -> Array:  # fmt: skip
    """One loudspeaker's matrix; what may be chosen is right and a usual mistake each."""
    if whole:
        return np.asarray(lam * R + np.outer(window, window))
    new = next_block(R, window, lam if ages else 1.0, 1)
    if not moves:
        new[1:, 1:] = R[1:, 1:]
    new[1:, 1:] *= lam if fades else 1.0
    new[0, 1:] = new[0, 1:] if mirrors else R[0, 1:]
    return new


def move(
    R: Array, r: Array, alpha: float, *, part: float = 0.5, signed: bool = True, size: bool = True, own: bool = True
) -> tuple[int, float]:
    p = int(np.argmax(np.abs(r) if size else r))
    if abs(r[p]) <= part * alpha * (R[p, p] if own else R[0, 0]):
        return p, 0.0
    return p, alpha * (np.sign(r[p]) if signed else 1.0)


def search(R: Array, r: Array, N_u: int, M_b: int, H: float) -> tuple[Array, Array]:
    change, left = dcd(R + 0j, r + 0j, N_u, M_b, H)
    return change.real, left.real


def searched(
    R: Array, r: Array, N_u: int, M_b: int, H: float,
    *,
    keeps: bool = True, tries: bool = False, goes_on: bool = False, leaves: bool = True,
) -> tuple[Array, Array]:  # fmt: skip
    """A step that does not keep (`keeps`), tests that count (`tries`), halved after each move, r that stays."""
    change, alpha, m, moves = np.zeros(r.size), H / 2, 1, 0
    while moves < N_u and m <= M_b:
        p, step = move(R, r, alpha)
        moves += bool(step) or tries
        change[p] += step
        r = r - step * R[:, p] if leaves else r
        if not step or goes_on:
            alpha, m = alpha / 2, m + 1
        elif not keeps:
            alpha, m = H / 2, 1
    return change, r


def sample(
    h: Array, r: Array, R: Array, window: Array, d_n: float, lam: float, N_it: int,
    *,
    sign: float = -1.0, ages: tuple[float, float] | None = None,
) -> tuple[Array, Array, float]:  # fmt: skip
    """One sample; `sign` 0 and 1 for the error are the paper's slips, `ages` how the residual ages first and later."""
    first_age, later = ages or (lam, 1.0)
    e = first = float(d_n - h @ window)
    for phi in range(N_it):
        r = (first_age if phi == 0 else later) * r + e * window
        change, r = search(R, r, 4, 16, 1.0)
        h, e = h + change, e + sign * float(change @ window)
    return h, r, first


def cancel(
    x: Array, d: Array, L: int, lam: float, N_it: int,
    *,
    start: float = 1.0, skips: bool = True, after: bool = False, late: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """One loudspeaker, one microphone; what may be chosen is right and a usual mistake each."""
    (h, r, window), e = np.zeros((3, L)), np.array(d, float)
    R = start * np.eye(L)
    for n in range(len(x)):
        window = np.append(x[n], window[:-1])
        if window.any() or not skips:
            before, R = R, next_block(R, window, lam, 1)
            h, r, e[n] = sample(h, r, before if late else R, window, d[n], lam, N_it)
            e[n] = d[n] - h @ window if after else e[n]
    return h, e


def stereo(
    x: Array, d: Array, L: int, lam: float, N_it: int, *, guess: bool = True, turned: bool = False, one: bool = False
) -> tuple[Array, Array]:
    """Stereo with a usual mistake: a guess without conjugate, R transposed, or one column of R instead of two."""
    (g, r, window), e = np.zeros((3, 2 * L), complex), np.array(d, complex)
    R = np.eye(2 * L, dtype=complex)
    for n in range(x.size):
        window = shifted(window, x[n])
        if window.any():
            R = next_matrix(R, np.conj(window) if turned else window, lam)
            if one:
                R[2:, 1] = np.conj(R[1, 2:])
                R[1, 1], R[1, 0], R[0, 1] = 1.0, 0.0, 0.0
            heard = d[n] if guess else d[n] + np.vdot(g, window) - g @ window
            g, r, e[n] = reuse_step(g, r, R, window, heard, lam, N_it)
    return g, e


def mono(seed: int, size: int = 300, quiet: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng([72, seed])
    x = rng.standard_normal(size)
    x[:quiet] = 0.0
    path = rng.standard_normal(6) * 0.5 ** np.arange(6)
    return x, np.convolve(x, path)[:size] + 0.01 * rng.standard_normal(size)
