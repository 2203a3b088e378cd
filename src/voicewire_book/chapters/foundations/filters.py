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
    """The window at each sample, a row for each; zeros came before."""
    rows = np.zeros((len(x), L))
    for k in range(L):
        rows[k:, k] = x[: max(0, len(x) - k)]
    return rows


def misalignment(G: Samples, h: Samples) -> Samples:
    """How far the taps are from the path, in decibels."""
    off = np.sum((h - G) ** 2, axis=1)
    return 10 * np.log10(off / np.sum(h**2, axis=-1))


def descent(R: Samples, p: Samples, mu: float, steps: int) -> Samples:
    """Steepest descent: always down the steepest slope of the bowl."""
    g, path = np.zeros(len(p)), np.zeros((steps, len(p)))
    for n in range(steps):
        g = g + mu * (p - R @ g)
        path[n] = g
    return path


def lms(
    X: Samples, d: Samples, mu: float
) -> tuple[Samples, Samples]:
    """LMS: one sample in the place of the mean."""
    g, e = np.zeros(X.shape[1]), np.zeros(len(d))
    G = np.zeros(X.shape)
    for n, x in enumerate(X):
        e[n] = d[n] - x @ g
        G[n] = g = g + mu * x * e[n]
    return G, e


def nlms(
    X: Samples, d: Samples, mu: float = 1.0, eps: float = 1e-6
) -> tuple[Samples, Samples]:
    """NLMS: the smallest change that silences the error."""
    g, e = np.zeros(X.shape[1]), np.zeros(len(d))
    G = np.zeros(X.shape)
    for n, x in enumerate(X):
        e[n] = d[n] - x @ g
        G[n] = g = g + mu * x * e[n] / (x @ x + eps)
    return G, e


def affine(
    X: Samples, d: Samples, P: int, mu: float = 1.0, eps: float = 1e-6
) -> tuple[Samples, Samples]:
    """Affine projection: right for the last P windows at once."""
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
    """RLS: the least squares of the whole past, old errors weighing less."""
    g, P = np.zeros(X.shape[1]), np.eye(X.shape[1]) / eps
    G, e = np.zeros(X.shape), np.zeros(len(d))
    for n, x in enumerate(X):
        k = P @ x / (lam + x @ P @ x)
        e[n] = d[n] - x @ g
        G[n] = g = g + k * e[n]
        P = (P - np.outer(k, x @ P)) / lam
        P = (P + P.T) / 2  # rounding must not skew it
    return G, e
