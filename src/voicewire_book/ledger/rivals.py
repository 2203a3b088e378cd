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
    """Exchange the labels at random: an order by label can only be luck then."""
    rows = [np.asarray(values, dtype=float) for values in samples.values()]
    if len(rows) < 2 or any(row.ndim != 1 or row.shape != rows[0].shape for row in rows):
        raise ClaimError("labels can be exchanged among two or more rows of equally many samples")
    table = np.array(rows)
    mixed = (rng.permuted(table, axis=0 if paired else None) for _ in range(runs))
    return [dict(zip(samples, drawn, strict=True)) for drawn in mixed]
