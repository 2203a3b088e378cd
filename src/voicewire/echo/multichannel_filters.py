"""A real filter for each path, side by side; any number of channels.

Nothing is complex here. Windows hold a row for each delay, newest first, and
a column for each loudspeaker; taps have one such table a microphone. With two
loudspeakers and two microphones these are the four filters that the widely
linear form writes as one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo.reference import reuse_step, rls_gain

# fmt: off (lines as short as the page of the book is wide)

__all__ = [
    "in_front",
    "next_block",
    "nlms_apart",
    "nlms_together",
    "reuse_together",
    "rls_together",
]

Real = NDArray[Any]


def in_front(windows: Real, x_n: Real) -> Real:
    """The windows one sample later, of all loudspeakers at once."""
    return np.vstack([x_n, windows[:-1]])


def nlms_together(
    h: Real, windows: Real, d_n: Real, mu: float, eps: float
) -> tuple[Real, Real]:
    """A step of NLMS: the filters of a microphone share one error.

    Parameters
    ----------
    h : ndarray, shape (M, L, S)
        Taps of a filter from each loudspeaker to each microphone.
    windows : ndarray, shape (L, S)
        Input.
    d_n : ndarray, shape (M,)
        What each microphone heard.
    mu, eps : float
        Step size; added to the energy.

    Returns
    -------
    h : ndarray, shape (M, L, S)
    e : ndarray, shape (M,)
        The a priori error at each microphone.

    Notes
    -----
    With S = M = 2 it is
    `voicewire.echo.reference.nlms_step` with an eps twice as large.

    Examples
    --------
    One delay, loudspeakers 2 and 1, of energy 5; one microphone hears 10.

    >>> h = nlms_together(np.zeros((1, 1, 2)), np.array([[2, 1]]), 10, 1, 0)
    >>> h[0].tolist(), h[1].tolist()
    ([[[4.0, 2.0]]], [10.0])
    """
    e = d_n - np.tensordot(h, windows)
    energy = np.sum(windows**2) + eps
    return h + mu / energy * np.multiply.outer(e, windows), e


def nlms_apart(
    h: Real, windows: Real, d_n: Real, mu: float, eps: float
) -> tuple[Real, Real]:
    """The same with each filter on its own: an error for each path.

    Parameters
    ----------
    h, windows, d_n : ndarray, shapes (M, L, S), (L, S) and (M,)
        As in `nlms_together`.
    mu, eps : float
        As in `nlms_together`; eps is added to the energy of each loudspeaker.

    Returns
    -------
    h : ndarray, shape (M, L, S)
    e : ndarray, shape (M, S)
        What each filter alone leaves of its microphone.

    Examples
    --------
    Each filter claims the whole echo for itself.

    >>> h = nlms_apart(np.zeros((1, 1, 2)), np.array([[2, 1]]), [10], 1, 0)[0]
    >>> h.tolist()
    [[[5.0, 10.0]]]
    """
    e = np.reshape(d_n, (-1, 1)) - np.einsum("mls,ls->ms", h, windows)
    energy = np.sum(windows**2, axis=0) + eps
    return h + mu * (e / energy)[:, None, :] * windows, e


def rls_together(
    h: Real, P: Real, window: Real, d_n: Real, lam: float, N_it: int = 1
) -> tuple[Real, Real, Real]:
    """A sample of data-reuse RLS: all microphones share one gain.

    Parameters
    ----------
    h : ndarray, shape (M, L S)
        Taps of each microphone's filters, in the order of the window.
    P : ndarray, shape (L S, L S)
        Inverse of the loudspeakers' correlation matrix.
    window : ndarray, shape (L S,)
        The windows in a row.
    d_n : ndarray, shape (M,)
        What each microphone heard.
    lam : float
        Forgetting factor.
    N_it : int
        Passes.

    Returns
    -------
    h : ndarray, shape (M, L S)
    P : ndarray, shape (L S, L S)
    e : ndarray, shape (M,)
        The a priori errors.

    See Also
    --------
    voicewire.echo.StereoRLS : compiled, for two of each.

    Examples
    --------
    Two microphones behind one loudspeaker: R = 1 meets the window 3.

    >>> h, P, e = rls_together(
    ...     np.zeros((2, 1)), np.eye(1), np.array([3]), np.array([10, 20]), 1)
    >>> h.ravel().round(9).tolist(), e.tolist()
    ([3.0, 6.0], [10.0, 20.0])
    """
    k, P = rls_gain(P, window, lam)
    e = first = d_n - h @ window
    for _ in range(N_it):
        h = h + np.outer(e, k)
        e = d_n - h @ window
    return h, P, first


def next_block(R: Real, window: Real, lam: float, S: int) -> Real:
    """R(n) from R(n-1) for S loudspeakers: S columns are new.

    Notes
    -----
    Step 2 of Tables I and II
    for more than two channels.
    """
    new = np.empty_like(R)
    new[S:, S:] = R[:-S, :-S]
    new[:, :S] = lam * R[:, :S] + np.outer(window, window[:S])
    new[:S, :] = new[:, :S].T
    return new


def reuse_together(
    h: Real, r: Real, R: Real, window: Real, d_n: Real,
    lam: float, N_it: int = 1, **search: Any,
) -> tuple[Real, Real, Real]:
    """A sample of DR-RLS-DCD: one search a microphone, on a common R.

    Parameters
    ----------
    h, r : ndarray, shape (M, L S)
        Taps and residual of each microphone.
    R : ndarray, shape (L S, L S)
        Correlation matrix with this window in it.
    window : ndarray, shape (L S,)
        The windows in a row.
    d_n : ndarray, shape (M,)
        What each microphone heard.
    lam : float
        Forgetting factor.
    N_it : int
        Passes.
    **search : int or float
        N_u, M_b and H of `voicewire.echo.reference.dcd`.

    Returns
    -------
    h, r : ndarray, shape (M, L S)
    e : ndarray, shape (M,)
        The a priori errors.

    Notes
    -----
    Table II, mended, for any
    number of channels.

    Examples
    --------
    One tap: 2 > 1/4 * 4 moves it by 1/2, and nothing is left.

    >>> one, nought = np.ones(1), np.zeros((1, 1))
    >>> state = nought, nought, 4 * np.eye(1), 2 * one
    >>> h, r, e = reuse_together(*state, one, 1)
    >>> h.tolist(), r.tolist(), e.tolist()
    ([[0.5]], [[0.0]], [1.0])
    """
    state = h + 0j, r + 0j, R + 0j, window + 0j
    for m, d_m in enumerate(d_n):
        own = state[0][m], state[1][m], *state[2:], complex(d_m)
        state[0][m], state[1][m], _ = reuse_step(*own, lam, N_it, **search)
    return state[0].real, state[1].real, d_n - h @ window
