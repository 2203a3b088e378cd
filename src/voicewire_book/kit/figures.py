"""One look for every figure of the book, and a fixed meaning for each of its colours.

Figures are drawn dark on white; the book's style sheet turns them for dark pages, hues kept. Colour is never the
only cue: `SERIES`, `LINESTYLES` and `MARKERS` go together, and each figure says where its data come from
(`origin`). The chapter "How to use this book" explains the colours to the reader.
"""

from __future__ import annotations

import matplotlib as mpl
from matplotlib.axes import Axes

from voicewire._kit.style import (
    COLOURS,
    LINESTYLES,
    MARKERS,
    SERIES,
    STYLE,
    Origin,
    interval_band,
    new_axes,
    origin,
)
from voicewire_book.kit import _shown
from voicewire_book.kit._shown import NARROW

__all__ = [
    "COLOURS",
    "LINESTYLES",
    "MARKERS",
    "NARROW",
    "SERIES",
    "STYLE",
    "Origin",
    "interval_band",
    "keep_shape",
    "new_axes",
    "origin",
    "use",
]

def use() -> None:
    """Give every figure drawn from here on the book's style. Call it once, in a notebook's import cell.

    A notebook then keeps two pictures of each figure, both with two pixels for each pixel of the page: the wide one,
    and under the type `NARROW` one for screens of some 360 pixels, with its panels below one another.
    """
    mpl.rcParams.update(STYLE)
    _shown.register()


def keep_shape(ax: Axes) -> Axes:
    """Leave the figure of `ax` in its one shape: on a narrow page a part of it is seen, and moves.

    For schematic drawings, whose words would lie on one another if they were laid out as narrow as a telephone.
    """
    if ax.figure is not None:  # axes that were removed have none
        _shown.keep(ax.figure.figure)  # of a figure within a figure the outer one, in Matplotlib 3.8 too
    return ax
