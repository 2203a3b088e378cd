"""An articulatory model by principal components of tracked contours, as the paper's software builds one.

Explained in notebook ``03_articulators``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArticulatoryModel", "fit", "guided"]

from voicewire._kit import checks

Array = NDArray[np.float64]


def _columns(name: str, table: Array, count: int) -> None:
    if table.shape[-1] != count:
        raise ValueError(f"{name} has shape {table.shape}: each row needs {count} entries, as the model has")


@dataclass(frozen=True)
class ArticulatoryModel:
    """Mean contour and principal components.

    Attributes
    ----------
    mean : ndarray of float
        Mean opening along the wall, cm, shape (n,).
    components : ndarray of float
        Rows of length one, shape (k, n); those of `fit` are at right angles too.
    spread : ndarray of float
        Standard deviation of each component's score, cm, shape (k,).
    explained : ndarray of float
        Share of the variance each component explains, shape (k,).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> model = fit(rng.standard_normal((20, 1)) * np.array([1.0, 2.0, 0.5]), count=1)
    >>> model.components.shape
    (1, 3)
    """

    mean: Array
    components: Array
    spread: Array
    explained: Array

    @checks.takes(contours=checks.array((1, 2)))
    def scores(self, contours: Array) -> Array:
        """Return the scores of contours, in standard deviations, shape (m, k).

        Parameters
        ----------
        contours : ndarray of float, shape (m, n)
            Openings along the wall, cm.

        Returns
        -------
        ndarray of float, shape (m, k)
            In standard deviations.
        """
        _columns("contours", contours, self.mean.size)
        inverse = np.linalg.pinv(self.components)
        return np.asarray((np.atleast_2d(contours) - self.mean) @ inverse / self.spread)

    @checks.takes(scores=checks.array((1, 2)))
    def contour(self, scores: Array) -> Array:
        """Return the contours (cm) of scores given in standard deviations, shape (m, n).

        Parameters
        ----------
        scores : ndarray of float, shape (m, k)
            In standard deviations.

        Returns
        -------
        ndarray of float, shape (m, n)
            cm.
        """
        _columns("scores", scores, self.spread.size)
        return np.asarray(np.atleast_2d(scores) * self.spread @ self.components + self.mean)

    @checks.takes(contours=checks.array((1, 2)))
    def error(self, contours: Array) -> float:
        """Return the root mean square error (cm) with which the model rebuilds contours.

        Parameters
        ----------
        contours : ndarray of float, shape (m, n)
            Openings along the wall, cm.

        Returns
        -------
        float
            cm.
        """
        rest = np.atleast_2d(contours) - self.contour(self.scores(contours))
        return float(np.sqrt(np.mean(rest**2)))


@checks.takes(contours=checks.array(2, least=2), count=checks.whole(1, 1000))
def fit(contours: Array, count: int = 3) -> ArticulatoryModel:
    """Fit a model to contours.

    Parameters
    ----------
    contours : ndarray of float
        Openings along the wall, cm, one contour a row, shape (m, n).
    count : int
        How many components; the paper's software takes three for the tongue.

    Returns
    -------
    ArticulatoryModel

    Raises
    ------
    ValueError
        If there are not more contours than components, or values that are not numbers.

    Examples
    --------
    Contours that differ by one number are rebuilt by one component.

    >>> rng = np.random.default_rng(1)
    >>> contours = rng.standard_normal((20, 1)) * np.array([1.0, 2.0, 0.5])
    >>> round(fit(contours, count=1).error(contours), 9)
    0.0
    """
    data = np.asarray(contours, dtype=float)
    if data.ndim != 2 or data.shape[0] <= count:
        raise ValueError(f"{count} components need more than {count} contours of equal length")
    if not np.isfinite(data).all():
        raise ValueError("the contours hold values that are not numbers; leave those frames out")
    mean = data.mean(axis=0)
    _, singular, rows = np.linalg.svd(data - mean, full_matrices=False)
    # a component and its negative are the same: let the largest element be positive
    sign = np.sign(rows[np.arange(rows.shape[0]), np.argmax(np.abs(rows), axis=1)])
    rows = rows * sign[:, None]
    share = singular**2 / float(np.sum(singular**2))
    return ArticulatoryModel(mean, rows[:count], singular[:count] / np.sqrt(data.shape[0] - 1), share[:count])


@checks.takes(
    contours=checks.array(2, least=2), guides=checks.array(2, least=2), count=checks.whole(1, 1000),
)  # fmt: skip
def guided(contours: Array, guides: Array, count: int) -> ArticulatoryModel:
    """Fit a model whose first components follow what was measured, one guide after the other; the rest is as in `fit`.

    A principal component mixes the articulators; a guided one has the name of its guide (Maeda 1979).

    Parameters
    ----------
    contours : ndarray of float, shape (m, n)
        Contours, one a row, cm.
    guides : ndarray of float, shape (m, g)
        What is measured on each contour: the lips' aperture, the larynx's height. What a later guide has in common with
        an earlier one counts as the earlier one's.
    count : int
        How many components, at least g.

    Returns
    -------
    ArticulatoryModel

    Raises
    ------
    ValueError
        If the rows differ in number, there are more guides than components, or a guide adds nothing to those before it.

    Examples
    --------
    Two movements at a slant: the first component is the guide's, not the widest.

    >>> rng = np.random.default_rng(1)
    >>> moves = rng.standard_normal((50, 2))
    >>> contours = moves @ np.array([[1.0, 0.0, 0.0], [2.0, 2.0, 0.0]])
    >>> model = guided(contours, moves[:, :1], count=2)
    >>> bool(abs(model.scores(contours)[:, 0] @ moves[:, 0]) > 40), round(model.error(contours), 9)
    (True, 0.0)
    """
    rows, many = contours.shape[0], guides.shape[1]
    if guides.shape[0] != rows:
        raise ValueError(f"{rows} contours and {guides.shape[0]} rows of guides: give one row a contour")
    if not many <= count < rows:
        raise ValueError(f"{count} components need at most {count} guides, not {many}, and more than {count} contours")
    mean = contours.mean(axis=0)
    rest, total = contours - mean, float(np.sum((contours - mean) ** 2))
    found: list[Array] = []
    ways = np.zeros((0, rows))
    for guide in (guides - guides.mean(axis=0)).T:
        own = guide - ways.T @ (ways @ guide)
        size = float(np.linalg.norm(own))
        moved = own @ rest / size if size > 1e-9 * float(np.linalg.norm(guide)) else np.zeros(contours.shape[1])
        if not np.linalg.norm(moved) > 0:
            raise ValueError("a guide moves no contour, or only as the guides before it do: leave it out")
        ways = np.vstack([ways, own / size])
        rest = rest - np.outer(own / size, moved)
        found.append(moved)
    if count > many:
        _, singular, others = np.linalg.svd(rest, full_matrices=False)
        found += list(singular[: count - many, None] * others[: count - many])
    sizes = np.array([float(np.linalg.norm(one)) for one in found])
    units = np.array([one / size for one, size in zip(found, sizes, strict=True)])
    return ArticulatoryModel(mean, units, sizes / np.sqrt(rows - 1), sizes**2 / total)
