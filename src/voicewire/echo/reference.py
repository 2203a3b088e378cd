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
    """The window one sample later: x(n) and x*(n) in front.

    Parameters
    ----------
    window : ndarray of complex, shape (2L,)
        The window of sample n-1.
    x_n : complex
        The new sample, left + j right.

    Returns
    -------
    ndarray of complex, shape (2L,)
        The window of sample n, equation (4) of the paper; the oldest sample
        has left.

    Examples
    --------
    >>> shifted(np.array([1 + 2j, 1 - 2j, 5, 5]), 3 - 1j).tolist()
    [(3-1j), (3+1j), (1+2j), (1-2j)]
    """
    new = np.empty_like(window)
    new[:2] = x_n, np.conj(x_n)
    new[2:] = window[:-2]
    return new


def nlms_step(
    g: Complex, window: Complex, d_n: complex, mu: float, eps: float
) -> tuple[Complex, complex]:
    """One step of NLMS: the taps and the error before it.

    Parameters
    ----------
    g, window : ndarray of complex, shape (2L,)
        Taps and input.
    d_n : complex
        What the microphones heard.
    mu : float
        Step size, 0 < mu < 2; 1 silences the error of this window.
    eps : float
        Added to the window's energy, so that silence does not divide by zero.

    Returns
    -------
    g : ndarray of complex, shape (2L,)
        ``g + mu window e* / (window^H window + eps)``, equation
        ``eq-echo-nlms``.
    e : complex
        The a priori error, equation (10) of the paper.

    Examples
    --------
    Window (2, 1) of energy 5, error 10: the shortest change that gives 10 is
    (4, 2).

    >>> g, e = nlms_step(np.zeros(2), np.array([2, 1]), 10.0, 1.0, 0.0)
    >>> g.tolist(), float(e)
    ([4.0, 2.0], 10.0)
    """
    e = d_n - np.vdot(g, window)
    energy = np.vdot(window, window).real
    return g + mu / (energy + eps) * np.conj(e) * window, e


def nlms(
    x: Complex, d: Complex, L: int, mu: float = 0.5, eps: float = 1e-3
) -> tuple[Complex, Complex]:
    """NLMS over all samples: the last taps, and the errors.

    Parameters
    ----------
    x, d : ndarray of complex, shape (N,)
        Far end and microphones, left + j right.
    L : int
        Taps of each echo path.
    mu, eps : float
        As in `nlms_step`.

    Returns
    -------
    g : ndarray of complex, shape (2L,)
    e : ndarray of complex, shape (N,)

    See Also
    --------
    voicewire.echo.WLNLMS : the compiled filter.

    Examples
    --------
    >>> nlms(np.array([2 + 1j]), np.array([10 + 0j]), 1, 1.0, 0.0)[0].tolist()
    [(2+1j), (2-1j)]
    """
    g, window = np.zeros((2, 2 * L), complex)
    e = np.empty(x.size, complex)
    for n in range(x.size):
        window = shifted(window, x[n])
        g, e[n] = nlms_step(g, window, d[n], mu, eps)
    return g, e


def apa_step(
    g: Complex, X: Complex, d_last: Complex, mu: float, eps: float
) -> tuple[Complex, complex]:
    """One step of affine projection, on the last windows X.

    Parameters
    ----------
    g : ndarray of complex, shape (2L,)
        Taps.
    X : ndarray of complex, shape (2L, P)
        The last P windows as columns, newest first.
    d_last : ndarray of complex, shape (P,)
        What the microphones heard with each of them.
    mu : float
        Step size, 0 < mu < 2.
    eps : float
        Added to the diagonal of X^H X.

    Returns
    -------
    g : ndarray of complex, shape (2L,)
        ``g + mu X (X^H X + eps I)^-1 e*``, equation ``eq-echo-apa``.
    e : complex
        The a priori error of the newest window.

    Examples
    --------
    Two windows decide two taps at once: (1, 1) g = 5 and (0, 1) g = 3.

    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> apa_step(np.zeros(2), X, np.array([5.0, 3.0]), 1.0, 0.0)[0]
    array([2., 3.])
    """
    errors = d_last - X.T @ np.conj(g)
    gram = X.conj().T @ X + eps * np.eye(X.shape[1])
    return g + mu * X @ np.linalg.solve(gram, np.conj(errors)), errors[0]


def apa(
    x: Complex, d: Complex, L: int, P: int, mu: float = 0.5, eps: float = 1e-3
) -> tuple[Complex, Complex]:
    """Affine projection of order P: the last taps, and the errors.

    Parameters
    ----------
    x, d : ndarray of complex, shape (N,)
        Far end and microphones, left + j right.
    L, P : int
        Taps of each echo path; windows that a step looks at.
    mu, eps : float
        As in `apa_step`.

    Returns
    -------
    g : ndarray of complex, shape (2L,)
    e : ndarray of complex, shape (N,)

    See Also
    --------
    voicewire.echo.WLAPA : the compiled filter.

    Examples
    --------
    Order 1 is NLMS.

    >>> x, d = np.array([1 + 1j, 2, 1j]), np.array([1, 2j, 3])
    >>> bool(np.allclose(apa(x, d, 2, 1)[1], nlms(x, d, 2)[1]))
    True
    """
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
    """The gain, and the inverse P of R after one more window.

    Parameters
    ----------
    P : ndarray, shape (M, M)
        Inverse of the correlation matrix before this window; Hermitian.
    window : ndarray, shape (M,)
        The new input.
    lam : float
        Forgetting factor, 0 < lam <= 1.

    Returns
    -------
    k : ndarray, shape (M,)
        The gain, ``P window / (lam + window^H P window)``, equation
        ``eq-echo-gain``.
    P : ndarray, shape (M, M)
        ``(lam R + window window^H)^-1`` by the matrix inversion lemma,
        equation ``eq-echo-lemma``.

    Examples
    --------
    R = 1 grows by 3 * 3 to 10; its inverse is a tenth.

    >>> rls_gain(np.array([[1.0]]), np.array([3.0]), 1.0)
    (array([0.3]), array([[0.1]]))
    """
    Px = P @ window
    k = Px / (lam + np.vdot(window, Px).real)
    P = (P - np.outer(k, np.conj(Px))) / lam
    return k, (P + P.conj().T) / 2  # rounding must not skew it


def rls(
    x: Complex, d: Complex, L: int, lam: float, eps: float = 1.0
) -> tuple[Complex, Complex]:
    """RLS: the last taps, and the errors.

    Parameters
    ----------
    x, d : ndarray of complex, shape (N,)
        Far end and microphones, left + j right.
    L : int
        Taps of each echo path.
    lam : float
        Forgetting factor, 0 < lam <= 1.
    eps : float
        R(0) = eps I.

    Returns
    -------
    g : ndarray of complex, shape (2L,)
    e : ndarray of complex, shape (N,)

    See Also
    --------
    voicewire.echo.WLRLS, voicewire.echo.StereoRLS : the compiled filters.

    Examples
    --------
    Two samples decide the two taps of one delay; a small eps hardly disturbs.

    >>> x = np.array([2 + 1j, 1j])
    >>> g, e = rls(x, 2 * x, 1, 1.0, 1e-9)
    >>> bool(np.allclose(g, [2, 0]))
    True
    """
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

    Parameters
    ----------
    a : complex
        The factor.
    v : ndarray of complex
        The vector.

    Returns
    -------
    ndarray of complex, of v's shape

    Examples
    --------
    >>> times(1 + 2j, np.array([3 - 1j]))
    array([5.+5.j])
    """
    re = a.real * v.real - a.imag * v.imag
    return re + 1j * (a.real * v.imag + a.imag * v.real)


def next_matrix(R: Complex, window: Complex, lam: float) -> Complex:
    """R(n) from R(n-1): two columns are computed, the rest moves.

    Parameters
    ----------
    R : ndarray of complex, shape (2L, 2L)
        Correlation matrix of sample n-1.
    window : ndarray of complex, shape (2L,)
        Window of sample n.
    lam : float
        Forgetting factor.

    Returns
    -------
    ndarray of complex, shape (2L, 2L)
        ``lam R + window window^H``, by equation ``eq-echo-column`` (steps 1
        and 2 of Tables I and II).

    Examples
    --------
    The block of the newest sample moves one delay down the diagonal.

    >>> nought = np.zeros((4, 4), complex)
    >>> R = next_matrix(nought, np.array([2, 2, 0, 0]), 0.5)
    >>> next_matrix(R, np.array([3, 3, 2, 2]), 0.5)[:, [0, 2]].real
    array([[11.,  6.],
           [11.,  6.],
           [ 6.,  4.],
           [ 6.,  4.]])
    """
    new = np.empty_like(R)
    new[2:, 2:] = R[:-2, :-2]
    for j in range(2):
        column = times(np.conj(window[j]), window)
        new[:, j] = lam * R[:, j] + column
    new[:2, :] = new[:, :2].conj().T
    return new


def leading(r: Complex) -> tuple[int, complex, float]:
    """The largest component of r: where, along 1 or j, and its value.

    Parameters
    ----------
    r : ndarray of complex, shape (M,)
        Residual.

    Returns
    -------
    p : int
        Index of the element.
    unit : complex
        1 if its real part is the larger one, 1j if it is the imaginary one.
    v : float
        That part, with its sign.

    Examples
    --------
    >>> leading(np.array([2 + 1j, 1 - 3j]))
    (1, 1j, -3.0)
    """
    p = int(np.argmax(np.maximum(abs(r.real), abs(r.imag))))
    if abs(r[p].real) >= abs(r[p].imag):
        return p, 1 + 0j, float(r[p].real)
    return p, 1j, float(r[p].imag)


def dcd(
    R: Complex, r: Complex, N_u: int = 4, M_b: int = 16, H: float = 1.0
) -> tuple[Complex, Complex]:
    """Solve R change = r roughly: the change, and what is left of r.

    Parameters
    ----------
    R : ndarray of complex, shape (M, M)
        Hermitian, positive definite.
    r : ndarray of complex, shape (M,)
        Right-hand side.
    N_u, M_b : int
        Most moves, most halvings of the step.
    H : float
        Range of the solution; the first step is H/2.

    Returns
    -------
    change : ndarray of complex, shape (M,)
        Each component a sum of powers of two times H.
    r : ndarray of complex, shape (M,)
        ``r - R change``.

    Notes
    -----
    Chapter ``notebooks/echo/02_rls_by_shifts``, equation ``eq-echo-test``.

    Examples
    --------
    By hand: 3 > 1/4 * 4, so tap 0 moves by 1/2, and r loses half of column 0;
    then 2 > 1/4 * 4 moves tap 1.

    >>> R = np.array([[4, 2], [2, 4]]) + 0j
    >>> change, left = dcd(R, np.array([3, 3]) + 0j, N_u=2)
    >>> change.real, left.real
    (array([0.5, 0.5]), array([0., 0.]))
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

    Parameters
    ----------
    g, r : ndarray of complex, shape (2L,)
        Taps and residual.
    R : ndarray of complex, shape (2L, 2L)
        Correlation matrix with this window in it.
    window : ndarray of complex, shape (2L,)
        Input.
    d_n : complex
        What the microphones heard.
    lam : float
        Forgetting factor.
    N_it : int
        Passes.
    **search : int or float
        N_u, M_b and H of `dcd`.

    Returns
    -------
    g, r : ndarray of complex, shape (2L,)
    e : complex
        The a priori error, before the first pass.

    Notes
    -----
    Chapter ``notebooks/echo/02_rls_by_shifts``, equation ``eq-echo-error``:
    Table II of the paper with its misprints repaired; Table I is N_it = 1.

    Examples
    --------
    The residual is 2 * 1; 2 > 1/4 * 4 moves the tap by 1/2, nothing is left.

    >>> R, x = np.array([[4 + 0j]]), np.array([2 + 0j])
    >>> nought = np.array([0j])
    >>> g, r, e = reuse_step(nought, nought, R, x, 1 + 0j, lam=1.0, N_u=1)
    >>> g.tolist(), r.tolist(), complex(e)
    ([(0.5+0j)], [0j], (1+0j))
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
    """WL-DR-RLS-DCD: the last taps, and the errors.

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
    eps : float
        R(0) = eps I.
    **search : int or float
        N_u, M_b and H of `dcd`.

    Returns
    -------
    g : ndarray of complex, shape (2L,)
    e : ndarray of complex, shape (N,)

    See Also
    --------
    voicewire.echo.WLDRRLSDCD : the compiled filter, with the same taps to the
        last bit.

    Examples
    --------
    R = 1 + 4 grows with the sample x = 2, the residual is 2 * 1, and 2 > 1/4
    * 5 moves the first tap by 1/2.

    >>> x, d = np.array([2 + 0j]), np.array([1 + 0j])
    >>> g, e = dr_rls_dcd(x, d, 1, 1.0, N_u=1)
    >>> g.tolist(), e.tolist()
    ([(0.5+0j), 0j], [(1+0j)])
    """
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

    Parameters
    ----------
    g : ndarray, shape (M,)
        Taps: complex and interleaved, or real, of one channel or of several.
    P : ndarray, shape (M, M)
        Inverse of the correlation matrix before this window.
    window : ndarray, shape (M,)
        The input, as the taps.
    d_n : complex
        What the microphones heard.
    lam : float
        Forgetting factor, 0 < lam <= 1.
    N_it : int
        Passes; 1 is RLS.

    Returns
    -------
    g : ndarray, shape (M,)
    P : ndarray, shape (M, M)
        As after `rls_gain`, whatever N_it is.
    e : complex
        The a priori error, before the first pass.

    Notes
    -----
    Chapter ``notebooks/echo/02_rls_by_shifts``: steps 4 to 7 of the paper's
    Table II with (12) and (13), misprints repaired, where R change = p_0 is
    solved exactly, so that no residual is left. All passes together are
    equation ``eq-echo-passes``.

    Examples
    --------
    R = 1 meets the window 3, the gain is 3/10: a pass leaves a tenth of the
    error, and two leave a hundredth.

    >>> g, P, e = dr_rls_step(
    ...     np.zeros(1), np.eye(1), np.array([3.0]), 3.0, 1.0, N_it=2)
    >>> g.round(9).tolist(), float(e)
    ([0.99], 3.0)
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
    """WL-DR-RLS, without DCD: the last taps, and the errors.

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
    eps : float
        R(0) = eps I.

    Returns
    -------
    g : ndarray of complex, shape (2L,)
    e : ndarray of complex, shape (N,)

    See Also
    --------
    voicewire.echo.WLRLS, voicewire.echo.StereoRLS : the compiled filters,
        which make all passes as one.

    Examples
    --------
    With one pass it is RLS.

    >>> x = np.array([2 + 1j, 1j, -1])
    >>> (dr_rls(x, 2 * x, 1, 0.9)[0] == rls(x, 2 * x, 1, 0.9)[0]).all()
    np.True_
    """
    g, window = np.zeros((2, 2 * L), complex)
    P, e = np.eye(2 * L) / eps, np.array(d, complex)
    for n in range(x.size):
        window = shifted(window, x[n])
        if window.any():  # silence teaches nothing
            state = g, P, window, d[n], lam, N_it
            g, P, e[n] = dr_rls_step(*state)
    return g, e
