"""Count what the reading version of WL-DR-RLS-DCD computes on vectors, while it computes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.echo.metrics import Operations
from voicewire.echo.reference import dcd, next_matrix, reuse_step, shifted

__all__ = ["count_operations", "count_search"]

Complex = NDArray[Any]
SAMPLES = 24
UPDATES = 4  # moves a pass, N_u, as in the paper
KINDS = ("additions", "multiplications", "shifts", "comparisons")


@checks.takes(length=checks.whole(1), reuse=checks.whole(1))
def count_operations(
    length: int, reuse: int, update: Callable[[Complex, Complex, float], Complex] = next_matrix
) -> Operations:
    """Count the operations on real numbers of the most costly of some samples (Table II), in the reading version.

    A product by a power of two is a shift, one by 1 or j, a sign and a move are free. Counted are vectors only: the
    search's few steps on single numbers do not depend on the length. The reading version uses neither that half of its
    numbers are conjugates of the others nor that a change is mostly zeros, so it computes more than
    `voicewire.echo.metrics.dcd_operations` has, which is the least.

    Parameters
    ----------
    length : int
        Taps of each echo path, L.
    reuse : int
        Passes a sample, N_it.
    update : callable
        Step 2: R(n) from R(n-1), the window and the forgetting factor.

    Returns
    -------
    Operations

    Examples
    --------
    Each of four moves shifts a column of 2L complex numbers.

    >>> count_operations(8, 1).shifts == 4 * 4 * 8
    True
    """
    rng = np.random.default_rng(length)
    tally: Counter[str] = Counter()
    counted: list[Complex] = [_Counted.of(np.zeros(2 * length, complex), tally) for _ in range(3)]
    g, r, window = counted
    R: Complex = _Counted.of(np.eye(2 * length, dtype=complex), tally)
    most = Operations(0, 0, 0, 0)
    for x_n, d_n in rng.standard_normal((SAMPLES, 2, 2)).view(complex)[..., 0]:
        tally.clear()
        window = shifted(window, x_n)
        R = update(R, window, 0.99)
        g, r, _ = reuse_step(g, r, R, window, d_n, 0.99, reuse, N_u=UPDATES)
        most = max(most, Operations(*(tally[kind] for kind in KINDS)), key=lambda found: found.additions)
    return most


def count_search(R: Complex, r: Complex, H: float = 1.0) -> Operations:
    """Count what one search computes on vectors, four moves at the most."""
    tally: Counter[str] = Counter()
    dcd(_Counted.of(R, tally), _Counted.of(r, tally), UPDATES, H=H)
    return Operations(*(tally[kind] for kind in KINDS))


class _Counted(np.ndarray[Any, Any]):
    """An array that enters into `tally` what is computed with it."""

    tally: Counter[str]

    @classmethod
    def of(cls, array: NDArray[Any], tally: Counter[str]) -> _Counted:
        counted = array.view(cls)
        counted.tally = tally
        return counted

    def __array_finalize__(self, source: Any) -> None:
        shared: Counter[str] | None = getattr(source, "tally", None)
        self.tally = Counter() if shared is None else shared

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **more: Any) -> Any:
        if method != "__call__" or "out" in more:
            raise TypeError(f"{ufunc.__name__}.{method} is not counted")
        plain = [x.view(np.ndarray) if isinstance(x, np.ndarray) else x for x in inputs]
        result = ufunc(*plain, **more)
        _enter(self.tally, ufunc.__name__, plain, np.size(result))
        return _Counted.of(result, self.tally) if isinstance(result, np.ndarray) else result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.vdot:
            n = args[0].size
            self.tally.update(multiplications=4 * n, additions=2 * n + 2 * (n - 1))
        elif function is np.argmax:
            self.tally.update(comparisons=args[0].size - 1)
        elif function not in (np.zeros_like, np.empty_like, np.copyto):
            raise TypeError(f"{function.__name__} is not counted")
        return super().__array_function__(function, types, args, kwargs)


def _enter(tally: Counter[str], name: str, inputs: list[Any], n: int) -> None:
    """Enter one operation of NumPy's that has n numbers as its result."""
    parts = [2 if np.iscomplexobj(x) else 1 for x in inputs]
    if name in ("add", "subtract"):
        tally["additions"] += min(parts) * n
    elif name == "multiply":
        factor = next((x for x in inputs if np.ndim(x) == 0), None)
        if factor is not None and (complex(factor).real == 0 or complex(factor).imag == 0):
            size = abs(complex(factor))
            if size != 1:
                kind = "shifts" if np.frexp(size)[0] == 0.5 else "multiplications"
                tally[kind] += n * max(parts[0] if np.ndim(inputs[0]) else 1, parts[1] if np.ndim(inputs[1]) else 1)
        else:
            tally["multiplications"] += parts[0] * parts[1] * n
            tally["additions"] += 2 * n if parts == [2, 2] else 0
    elif name == "maximum":
        tally["comparisons"] += n
    elif name not in ("absolute", "conjugate", "negative"):
        raise TypeError(f"{name} is not counted")
