"""Filters that learn, to read: LMS, NLMS, affine projection, RLS.

Nothing here is clever. Each function is one thought of its chapter and is
woven into it; the part on echoes has the complex ones and the fast ones.
A window is the last L samples, the newest first. Every filter starts from
zero taps and gives its taps after each sample, and its errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# fmt: off (lines as short as the page of the book is wide)

__all__ = [
    "affine",
    "descent",
    "lms",
    "misalignment",
    "nlms",
    "rls",
    "windows",
]

Samples = NDArray[Any]


def windows(x: Samples, L: int) -> Samples:
    """The window at each sample, a row for each; zeros came before.

    Parameters
    ----------
    x : ndarray of float, shape (N,)
        Samples.
    L : int
        Length of a window.

    Returns
    -------
    ndarray of float, shape (N, L)

    Examples
    --------
    >>> windows(np.array([1.0, 2.0, 3.0]), 2).tolist()
    [[1.0, 0.0], [2.0, 1.0], [3.0, 2.0]]
    """
    rows = np.zeros((len(x), L))
    for k in range(L):
        rows[k:, k] = x[: max(0, len(x) - k)]
    return rows


def misalignment(G: Samples, h: Samples) -> Samples:
    """How far the taps are from the path, in decibels.

    Parameters
    ----------
    G : ndarray of float, shape (N, L)
        Taps.
    h : ndarray of float, shape (L,) or (N, L)
        The path; a row for each sample if it changes.

    Returns
    -------
    ndarray of float, shape (N,)
        Equation ``eq-foundations-misalignment``.

    Examples
    --------
    >>> misalignment(np.array([[0.0, 0.0], [2.7, 0.0]]), np.array([3.0, 0.0]))
    array([  0., -20.])
    """
    off = np.sum((h - G) ** 2, axis=1)
    return 10 * np.log10(off / np.sum(h**2, axis=-1))


def descent(R: Samples, p: Samples, mu: float, steps: int) -> Samples:
    """Steepest descent: always down the steepest slope of the bowl.

    Parameters
    ----------
    R : ndarray of float, shape (L, L)
        Correlation of the window with itself.
    p : ndarray of float, shape (L,)
        Correlation of the window with what is heard.
    mu : float
        Step size.
    steps : int
        How many.

    Returns
    -------
    ndarray of float, shape (steps, L)
        Taps after each step, equation ``eq-foundations-descent``.

    Examples
    --------
    >>> descent(np.eye(1), np.array([4.0]), 0.5, 3).ravel().tolist()
    [2.0, 3.0, 3.5]
    """
    g, path = np.zeros(len(p)), np.zeros((steps, len(p)))
    for n in range(steps):
        g = g + mu * (p - R @ g)
        path[n] = g
    return path


def lms(
    X: Samples, d: Samples, mu: float
) -> tuple[Samples, Samples]:
    """LMS: one sample in the place of the mean.

    Parameters
    ----------
    X : ndarray of float, shape (N, L)
        Windows.
    d : ndarray of float, shape (N,)
        What is heard.
    mu : float
        Step size.

    Returns
    -------
    tuple of ndarray
        Taps, shape (N, L), equation ``eq-foundations-lms``; errors, (N,).

    Examples
    --------
    >>> lms(np.array([[1.0, 2.0]]), np.array([10.0]), 0.1)[0].tolist()
    [[1.0, 2.0]]
    """
    g, e = np.zeros(X.shape[1]), np.zeros(len(d))
    G = np.zeros(X.shape)
    for n, x in enumerate(X):
        e[n] = d[n] - x @ g
        G[n] = g = g + mu * x * e[n]
    return G, e


def nlms(
    X: Samples, d: Samples, mu: float = 1.0, eps: float = 1e-6
) -> tuple[Samples, Samples]:
    """NLMS: the smallest change that silences the error.

    Parameters
    ----------
    X : ndarray of float, shape (N, L)
        Windows.
    d : ndarray of float, shape (N,)
        What is heard.
    mu : float
        Share of the way, 0 < mu < 2.
    eps : float
        Energy added, against division by silence.

    Returns
    -------
    tuple of ndarray
        Taps, shape (N, L), equation ``eq-foundations-nlms``; errors, (N,).

    Examples
    --------
    >>> taps, _ = nlms(np.array([[2.0, 1.0]]), np.array([10.0]), eps=0.0)
    >>> taps.tolist()
    [[4.0, 2.0]]
    """
    g, e = np.zeros(X.shape[1]), np.zeros(len(d))
    G = np.zeros(X.shape)
    for n, x in enumerate(X):
        e[n] = d[n] - x @ g
        G[n] = g = g + mu * x * e[n] / (x @ x + eps)
    return G, e


def affine(
    X: Samples, d: Samples, P: int, mu: float = 1.0, eps: float = 1e-6
) -> tuple[Samples, Samples]:
    """Affine projection: right for the last P windows at once.

    Parameters
    ----------
    X : ndarray of float, shape (N, L)
        Windows.
    d : ndarray of float, shape (N,)
        What is heard.
    P : int
        How many windows; 1 is NLMS.
    mu, eps : float
        As `nlms`.

    Returns
    -------
    tuple of ndarray
        Taps, shape (N, L), equation ``eq-foundations-affine``; errors,
        (N,).

    Examples
    --------
    >>> X, d = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([5.0, 3.0])
    >>> affine(X, d, 2, eps=0.0)[0][1].round(9).tolist()
    [2.0, 3.0]
    """
    g, e = np.zeros(X.shape[1]), np.zeros(len(d))
    G = np.zeros(X.shape)
    for n in range(len(d)):
        last = slice(max(0, n - P + 1), n + 1)
        A, off = X[last], d[last] - X[last] @ g
        e[n] = off[-1]
        gram = A @ A.T + eps * np.eye(len(A))
        G[n] = g = g + mu * A.T @ np.linalg.solve(gram, off)
    return G, e


def rls(
    X: Samples, d: Samples, lam: float = 1.0, eps: float = 1.0
) -> tuple[Samples, Samples]:
    """RLS: the least squares of the whole past, old errors weighing less.

    Parameters
    ----------
    X : ndarray of float, shape (N, L)
        Windows.
    d : ndarray of float, shape (N,)
        What is heard.
    lam : float
        Forgetting factor, 0 < lam <= 1.
    eps : float
        Energy that every direction is taken to have had before the first.

    Returns
    -------
    tuple of ndarray
        Taps, shape (N, L), equation ``eq-foundations-rls``; errors, (N,).

    Examples
    --------
    >>> rls(np.array([[3.0]]), np.array([20.0]))[0].round(9).tolist()
    [[6.0]]
    """
    g, P = np.zeros(X.shape[1]), np.eye(X.shape[1]) / eps
    G, e = np.zeros(X.shape), np.zeros(len(d))
    for n, x in enumerate(X):
        k = P @ x / (lam + x @ P @ x)
        e[n] = d[n] - x @ g
        G[n] = g = g + k * e[n]
        P = (P - np.outer(k, x @ P)) / lam
        P = (P + P.T) / 2  # rounding must not skew it
    return G, e
