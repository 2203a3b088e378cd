"""Import large libraries of a page when they are first asked for something, not when a cell names them.

A chapter's first cell imports what any of its cells needs; SymPy and pandas alone take a second and more each in a
browser, for a derivation or a table that most readers of a figure never run, and so do parts of SciPy. Matplotlib lists
the properties of each of its hundred classes in their help when it is imported; here the help points to its pages.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

__all__ = ["CALLED", "LATE", "install"]

CALLED: Final = {
    "scipy.fft": (),
    "scipy.integrate": ("quad",),
    "scipy.interpolate": ("BSpline", "CubicSpline", "PchipInterpolator", "make_interp_spline"),
    "scipy.linalg": ("convolution_matrix", "solve_toeplitz"),
    "scipy.ndimage": ("convolve1d",),
    "scipy.optimize": ("brentq", "least_squares", "minimize_scalar"),
    "scipy.signal": ("coherence", "correlate", "fftconvolve", "lfilter", "resample_poly", "sosfilt"),
    "scipy.spatial": ("cKDTree",),
    "scipy.stats": ("rankdata", "scoreatpercentile"),
    "tqdm": ("tqdm",),
}
"""What waits and is imported from by name: what the book, and `scipy.signal`, take there and only call waits too."""
LATE: Final = frozenset({"mpmath", "pandas", "sympy", *CALLED})
"""The libraries that wait."""
PROPERTIES: Final = "Properties: see https://matplotlib.org/stable/api/artist_api.html"
"""What the help of Matplotlib's classes says in a page in place of a list."""


class _Waiting(ModuleType):
    """A module that is executed when it is asked for a name that it hasn't yet."""

    def __getattr__(self, name: str) -> Any:
        if name in CALLED.get(self.__name__, ()):
            return _Called(self.__name__, name)
        _wake(self)
        return getattr(self, name)


class _Called:
    """Stands for a function or a class of a module that waits, which is executed when this is called or looked at."""

    def __init__(self, module: str, name: str) -> None:
        self._place = module, name

    def __call__(self, *given: Any, **named: Any) -> Any:
        return _meant(*self._place)(*given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(_meant(*self._place), name)

    def __instancecheck__(self, thing: object) -> bool:
        return isinstance(thing, _meant(*self._place))

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[Any]:
        return (_meant(*self._place),)

    def __repr__(self) -> str:
        return repr(_meant(*self._place))

    def __reduce__(self) -> tuple[Any, ...]:
        return _meant, self._place


def _meant(module: str, name: str) -> Any:
    _wake(sys.modules[module])
    return getattr(sys.modules[module], name)


def _wake(module: ModuleType | None) -> None:
    if isinstance(module, _Waiting):
        waiting: Any = module
        waiting.__class__ = ModuleType
        try:
            waiting.__loader__.meant.exec_module(waiting)
        except BaseException:
            waiting.__class__ = _Waiting
            raise


class _Later(Loader):
    """A loader that leaves the module as it is until it is woken."""

    def __init__(self, meant: Loader) -> None:
        self.meant = meant

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Not yet."""
        module.__class__ = _Waiting


class _WithoutLists(Loader):
    """A loader of `matplotlib.artist` that leaves the lists of properties out of its classes' help."""

    def __init__(self, meant: Loader) -> None:
        self.meant = meant

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.meant.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Execute it, and let its function that lists them say where they are listed."""
        self.meant.exec_module(module)
        module.kwdoc = lambda artist: PROPERTIES  # type: ignore[attr-defined]


class _Late:
    """A finder that gives these libraries as modules that are executed when one of their names is first used."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how a library is found; before a part of it is imported, it is executed."""
        if name == "matplotlib.artist":
            return _led(name, path, target, _WithoutLists)
        if name not in LATE:
            parts = name.split(".")
            for length in range(1, len(parts)):
                if (around := ".".join(parts[:length])) in LATE:
                    _wake(sys.modules.get(around))
            return None
        return _led(name, path, target, _Later)


def _led(
    name: str, path: Sequence[str] | None, target: ModuleType | None, by: type[_Later] | type[_WithoutLists]
) -> ModuleSpec | None:
    found = PathFinder.find_spec(name, path, target)
    if found is not None and found.loader is not None:
        found.loader = by(found.loader)
    return found


def install() -> None:
    """Put the finder before all others, once."""
    if not any(isinstance(finder, _Late) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Late())
