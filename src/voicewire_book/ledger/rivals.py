"""Rivals that need no model of their own: the same numbers, of which nobody knows any more where they belong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire_book.ledger.vocabulary import ClaimError

__all__ = ["exchanged"]

Label = TypeVar("Label")


def exchanged(
    samples: Mapping[Label, ArrayLike], rng: np.random.Generator, runs: int = 400, paired: bool = False
) -> list[dict[Label, NDArray[np.float64]]]:
    """Exchange the labels at random: an order by label can only be luck then.

    Parameters
    ----------
    samples : mapping
        For each label its samples, shape (n,), equally many for all.
    rng : numpy.random.Generator
        Draws the exchanges.
    runs : int
        How often all is exchanged.
    paired : bool
        Whether the i-th samples of all labels belong together, as those of one seed do: labels are exchanged within
        each seed then, else among all samples.

    Returns
    -------
    list of dict
        One mapping of the form of `samples` for each run.

    Raises
    ------
    ClaimError
        If the labels have different numbers of samples, or fewer than two labels are there.

    See Also
    --------
    voicewire_book.ledger.judging.Ledger.judge : takes it as `rival`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> (one,) = exchanged({"a": [1, 2], "b": [5, 6]}, rng, runs=1, paired=True)
    >>> [sorted(float(one[label][i]) for label in one) for i in range(2)]
    [[1.0, 5.0], [2.0, 6.0]]
    """
    rows = [np.asarray(values, dtype=float) for values in samples.values()]
    if len(rows) < 2 or any(row.ndim != 1 or row.shape != rows[0].shape for row in rows):
        raise ClaimError("labels can be exchanged among two or more rows of equally many samples")
    table = np.array(rows)
    mixed = (rng.permuted(table, axis=0 if paired else None) for _ in range(runs))
    return [dict(zip(samples, drawn, strict=True)) for drawn in mixed]
