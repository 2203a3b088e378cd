"""An articulatory model by principal components of tracked contours, as the paper's software builds one.

Explained in notebook ``03_articulators``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArticulatoryModel", "fit"]

from voicewire import checks

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
        Orthonormal rows, shape (k, n).
    spread : ndarray of float
        Standard deviation of each component's score, cm, shape (k,).
    explained : ndarray of float
        Share of the variance each component explains, shape (k,).

    Notes
    -----
    Chapter ``notebooks/pharyngeal/03_articulators``.

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
        return np.asarray((np.atleast_2d(contours) - self.mean) @ self.components.T / self.spread)

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

    Notes
    -----
    Chapter ``notebooks/pharyngeal/03_articulators``.

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
