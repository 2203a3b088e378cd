"""What the lab of *Adaptive filters you can hear* compares with: right, and usual mistakes as options."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo.reference import rls_gain, shifted

Array = NDArray[Any]


def both_windows(
    left: Array, right: Array, L: int, n: int,
    *,
    turned: bool = False, late: int = 0, paired: bool = False, wraps: bool = False,
) -> Array:  # fmt: skip
    """Both loudspeakers' windows; `turned`, `late`, `paired` and `wraps` are usual mistakes."""
    last = [n - late - k for k in range(L)]
    both = [[float(x[i]) if i >= 0 or wraps else 0.0 for i in last] for x in (left, right)]
    if turned:
        both = [one[::-1] for one in both]
    return np.array(both).T.ravel() if paired else np.array(both).ravel()


def nearest(
    g: Array, row: Array, d_n: float, mu: float, eps: float, *, power: float = 1.0, sign: float = 1.0
) -> tuple[Array, float]:
    """NLMS; `power` of the energy and `sign` of the step are what is right and a usual mistake each."""
    e = float(d_n - g @ row)
    return g + sign * mu * e * row / (row @ row + eps) ** power, e


def several(g: Array, X: Array, d_last: Array, mu: float, eps: float, *, shared: bool = True) -> tuple[Array, float]:
    """Affine projection; not `shared`: each window corrects by itself."""
    errors = d_last - X.T @ g
    gram = X.T @ X + eps * np.eye(X.shape[1])
    c = np.linalg.solve(gram, errors) if shared else errors / np.diag(gram)
    return g + mu * X @ c, float(errors[0])


def gain(
    P: Array, row: Array, lam: float, *, in_gain: bool = True, in_P: bool = True, sign: float = 1.0
) -> tuple[Array, Array]:
    """The gain and the inverse; `in_gain`, `in_P` and `sign` are what is right and a usual mistake each."""
    Px = P @ row
    k = Px / ((lam if in_gain else 1.0) + row @ Px)
    return k, (P - sign * np.outer(k, Px)) / (lam if in_P else 1.0)


def cancel(
    left: Array,
    right: Array,
    d: Array,
    L: int,
    lam: float,
    *,
    start: float = 1.0,
    skips: bool = True,
    after: bool = False,
) -> tuple[Array, Array]:
    """RLS for one microphone; `start`, `skips` and `after` are what is right and a usual mistake each."""
    g, P, e = np.zeros(2 * L), start * np.eye(2 * L), np.array(d, float)
    for n in range(len(d)):
        row = both_windows(left, right, L, n)
        if row.any() or not skips:
            k, P = rls_gain(P, row, lam)
            e[n] = d[n] - g @ row
            g = g + k * e[n]
            e[n] = d[n] - g @ row if after else e[n]
    return g, e


def silent(left: Array, right: Array, L: int, *, first: int | None = None) -> int:
    """Directions that nobody hears; `first` is the sample of the first row."""
    start = L - 1 if first is None else first
    rows = [both_windows(left, right, L, n) for n in range(start, len(left))]
    return 2 * L - int(np.linalg.matrix_rank(np.array(rows)))


def stereo(
    x: Array, d: Array, L: int, lam: float,
    *,
    guess: bool = True, error: bool = True, skips: bool = True, own: bool = True,
) -> tuple[Array, Array]:  # fmt: skip
    """Stereo RLS; what may be chosen is right and a usual mistake each, such as P x times itself (not `own`)."""
    (g, window), P, e = np.zeros((2, 2 * L), complex), np.eye(2 * L) + 0j, np.array(d, complex)
    for n in range(x.size):
        window = shifted(window, x[n])
        if window.any() or not skips:
            Px, old = P @ window, P
            k, P = rls_gain(P, window, lam)
            P = P if own else (old - np.outer(k, Px)) / lam
            e[n] = d[n] - (np.vdot(g, window) if guess else g @ window)
            g = g + k * (np.conj(e[n]) if error else e[n])
    return g, e


def talk(seed: int, M: int, size: int = 60) -> tuple[Array, Array]:
    """Two loudspeakers that play one talker through a far room of `M` samples, cut out of a longer talk."""
    rng = np.random.default_rng([81, seed])
    s = rng.standard_normal(size + 20)
    left, right = (np.convolve(s, rng.standard_normal(M))[10 : size + 10] for _ in range(2))
    return left, right


def heard(seed: int, quiet: int = 0) -> tuple[Array, Array, Array]:
    """Two loudspeakers, and what a microphone hears of them over paths of three taps."""
    rng = np.random.default_rng([82, seed])
    left, right = rng.standard_normal((2, 120))
    left[:quiet] = right[:quiet] = 0.0
    paths = rng.standard_normal((2, 3))
    d = np.convolve(left, paths[0])[:120] + np.convolve(right, paths[1])[:120]
    return left, right, d + 0.01 * rng.standard_normal(120)
