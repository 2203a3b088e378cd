"""A figure as a telephone shows it: narrow, its panels below one another, its letters as large as in the wide one.

A figure of seven inches on a screen of 360 pixels has letters of five. So the same figure is laid out once more: as
wide as such a screen, its panels in one column, its words broken into lines, its legend in fewer columns. What is
drawn stays: the same axes, the same data, the same limits. After that the figure is as it was before.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.offsetbox import VPacker
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import Bbox, ScaledTranslation, TransformedBbox

__all__: list[str] = []  # for `figures` and `slider`, by name

WIDTH = 3.6
"""Inches: the width of a narrow figure."""

SCREEN = 304
"""CSS pixels that a figure has on a screen of 360, inside the page's margins and a slider's frame."""

SMALLEST = 9.3
"""CSS pixels: no letter of a narrow figure is smaller on such a screen (the bar is 9)."""


def smallest_text(figure: Figure) -> float:
    """Return the smallest size of letters that a figure shows, points."""
    sizes = [text.get_fontsize() for text in _texts(figure)]
    return float(min(sizes, default=np.inf))


def _texts(figure: Figure) -> list[Text]:
    every = figure.findobj(lambda artist: isinstance(artist, Text) and bool(artist.get_text().strip()))
    return [text for text in every if isinstance(text, Text) and _seen(text, figure)]


def _seen(text: Text, figure: Figure) -> bool:
    if not text.get_visible() or (text.axes is not None and not text.axes.get_visible()):
        return False
    box = _extent(text, figure)
    return box.width > 0 and box.height > 0


def _extent(artist: Any, figure: Figure) -> Bbox:
    box: Bbox = artist.get_window_extent(_renderer(figure))
    return box


@contextmanager
def narrowed(figure: Figure) -> Iterator[None]:
    """Lay a figure out as narrow as a telephone's screen, and give it back as it was."""
    with ExitStack() as undo:
        engine = figure.get_layout_engine()
        undo.callback(figure.set_layout_engine, engine or "none")
        for axes in figure.axes:
            undo.callback(axes._set_position, axes.get_position(original=True))  # type: ignore[attr-defined]
        _regrid(figure, undo)
        _enlarge(figure, WIDTH, undo)
        legends = [legend for axes in figure.axes if (legend := axes.get_legend()) is not None]
        written = [text for axes in figure.axes for text in axes.texts if text not in _stamps(axes)]
        for artist in (*legends, *written):  # what is wider than the axes would make them narrower
            undo.callback(artist.set_in_layout, artist.get_in_layout())
            artist.set_in_layout(False)
        _arrange(figure)
        for axes in figure.axes:
            _ticks(axes, figure, undo)
            _legend(axes, figure, undo)
        _wrap(figure, undo)
        for legend in legends:
            legend.set_in_layout(True)
        _arrange(figure)
        figure.set_layout_engine("none")
        for axes in figure.axes:
            _stack_above(axes, figure, undo)
        for text in written:
            text.set_in_layout(True)
            _inside(text, figure, undo)
        _enlarge(figure, _width(figure), undo)
        yield


def _arrange(figure: Figure) -> None:
    """Let the figure's layout find the axes' places."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def _width(figure: Figure) -> float:
    """Return how wide the picture becomes, inches."""
    inches: float = figure.get_tightbbox(_renderer(figure)).width
    return inches


def _renderer(figure: Figure) -> Any:
    return figure._get_renderer()  # type: ignore[attr-defined]


def _set(undo: ExitStack, setter: Callable[[Any], Any], before: Any, after: Any) -> None:
    undo.callback(setter, before)
    setter(after)


def _regrid(figure: Figure, undo: ExitStack) -> None:
    """Put the panels below one another, as many beside one another as there is room for."""
    wide, high = figure.get_size_inches()
    cells: dict[tuple[int, int], list[Axes]] = {}
    grids = set()
    for axes in figure.axes:
        spec = axes.get_subplotspec()
        if spec is not None:
            grids.add(spec.get_gridspec())
            cells.setdefault((spec.rowspan.start, spec.colspan.start), []).append(axes)
    rows, columns = next(iter(grids)).get_geometry() if len(grids) == 1 else (1, 1)
    if columns == 1:
        _set(undo, lambda size: figure.set_size_inches(*size), (wide, high), (min(wide, WIDTH), high))
        return
    fit = max(1, int(1.06 * WIDTH * columns / wide))
    after = -(-len(cells) // fit)
    _set(undo, lambda size: figure.set_size_inches(*size), (wide, high), (WIDTH, high / rows * after))
    grid = GridSpec(after, fit, figure=figure)
    for number, place in enumerate(sorted(cells)):
        first = cells[(place[0], min(c for r, c in cells if r == place[0]))][0]
        for axes in cells[place]:
            _set(undo, axes.set_subplotspec, axes.get_subplotspec(), grid[number // fit, number % fit])
        if number % fit == 0:
            _label_left(cells[place][0], first, undo)


def _label_left(axes: Axes, first: Axes, undo: ExitStack) -> None:
    """Give a panel that now begins a row the numbers and the name of the vertical axis that it shared."""
    if not axes.yaxis.get_tick_params()["labelleft"] and axes.axison:
        undo.callback(axes.tick_params, axis="y", labelleft=False)
        axes.tick_params(axis="y", labelleft=True)
    if axes is not first and axes.get_shared_y_axes().joined(axes, first) and not axes.get_ylabel():
        _set(undo, axes.set_ylabel, "", first.get_ylabel())


def _break(text: Text, figure: Figure, room: float, undo: ExitStack) -> None:
    """Break a text into lines of at most `room` pixels, formulas whole."""
    before = text.get_text()
    box = _extent(text, figure)
    long = box.height if text.get_rotation() == 90 else box.width
    if long <= room or " " not in before:
        return
    undo.callback(text.set_text, before)
    letters = max(len(line) for line in before.split("\n"))
    for width in range(int(letters * room / long) + 2, 5, -1):
        text.set_text("\n".join(_lines(line, width) for line in before.split("\n")))
        box = _extent(text, figure)
        if (box.height if text.get_rotation() == 90 else box.width) <= room:
            return


def _lines(text: str, width: int) -> str:
    """Fill lines of `width` letters; a space inside a formula does not break."""
    pieces = text.split("$")
    kept = "$".join(piece.replace(" ", "\x00") if n % 2 else piece for n, piece in enumerate(pieces))
    return textwrap.fill(kept, width, break_long_words=False, break_on_hyphens=False).replace("\x00", " ")


def _wrap(figure: Figure, undo: ExitStack) -> None:
    whole = figure.bbox
    suptitle = figure._suptitle  # type: ignore[attr-defined]
    if suptitle is not None:
        _break(suptitle, figure, whole.width, undo)
    for axes in figure.axes:
        box = axes.get_window_extent()
        for title in (axes.title, axes._left_title, axes._right_title):  # type: ignore[attr-defined]
            _break(title, figure, max(whole.width - box.x0, box.width), undo)
        _break(axes.xaxis.label, figure, box.width * 1.1, undo)
        _break(axes.yaxis.label, figure, box.height, undo)


def _inside(text: Text, figure: Figure, undo: ExitStack) -> None:
    """Keep a text within the figure: on more lines, and moved."""
    whole, place = figure.bbox, _extent(text, figure)
    axes = text.axes
    if axes is not None and text.get_horizontalalignment() == "right" and text.get_transform() == axes.transData:
        whole = Bbox([[axes.get_window_extent().x0, whole.y0], [whole.x1, whole.y1]])  # not over the names at the ticks
    if whole.x0 <= place.x0 and place.x1 <= whole.x1:
        return
    _break(text, figure, max(whole.x1 - max(place.x0, whole.x0), 0.4 * whole.width), undo)
    place = _extent(text, figure)
    over = max(place.x1 - whole.x1, 0) or min(place.x0 - whole.x0, 0)
    moved = text.get_transform() + ScaledTranslation(-over / figure.dpi, 0, figure.dpi_scale_trans)
    _set(undo, text.set_transform, text.get_transform(), moved)


def _ticks(axes: Axes, figure: Figure, undo: ExitStack) -> None:
    """Break long names at the ticks; turn those of the horizontal axis that would overlap."""
    if isinstance(axes.yaxis.get_major_locator(), FixedLocator):
        for label in axes.get_yticklabels():
            _break(label, figure, 0.3 * figure.bbox.width, undo)
    if not isinstance(axes.xaxis.get_major_locator(), FixedLocator):
        return
    labels = [label for label in axes.get_xticklabels() if label.get_text() and label.get_visible()]
    for label in labels:
        if label.get_rotation() == 0:
            _break(label, figure, 0.9 * axes.get_window_extent().width / max(len(labels), 1), undo)
    boxes = sorted((_extent(label, figure) for label in labels), key=lambda box: box.x0)
    if any(a.x1 > b.x0 - 2 for a, b in pairwise(boxes)):
        for label in labels:
            if label.get_rotation() == 0:
                _set(undo, label.set_rotation, 0, 90 if "\n" not in label.get_text() else 60)


def _legend(axes: Axes, figure: Figure, undo: ExitStack) -> None:
    """Put a legend above the axes, in as many columns as fit, and make the figure higher by that.

    Inside narrow axes it would cover curves.
    """
    legend = axes.get_legend()
    if legend is None:
        return
    axes_box, before = axes.get_window_extent(), _extent(legend, figure)
    holder: Any = legend._legend_handle_box  # type: ignore[attr-defined]
    columns = holder.get_children()
    items = [item for column in columns for item in column.get_children()]
    room = axes_box.width
    for name, value in (("_loc_real", 3), ("_bbox_to_anchor", TransformedBbox(Bbox([[0, 1], [0, 1]]), axes.transAxes))):
        undo.callback(setattr, legend, name, getattr(legend, name))
        setattr(legend, name, value)
    undo.callback(setattr, holder, "_children", columns)
    for count in range(min(3, len(items)), 0, -1):
        holder._children = _columns(items, count, columns[0])
        if _extent(legend, figure).width <= room:
            break
    over = _extent(legend, figure).width - room
    if over > 0:
        widest = max(_extent(text, figure).width for text in legend.get_texts())
        for text in legend.get_texts():
            _break(text, figure, widest - over, undo)
    added = _extent(legend, figure).height - (before.height if before.y0 >= axes_box.y1 else 0)
    wide, high = figure.get_size_inches()
    _set(undo, lambda size: figure.set_size_inches(*size), (wide, high), (wide, high + added / figure.dpi))


def _columns(items: list[Any], count: int, like: VPacker) -> list[VPacker]:
    """Pack a legend's entries into columns, as evenly as matplotlib does."""
    return [
        VPacker(pad=like.pad, sep=like.sep, align=like.align, children=[items[k] for k in group])
        for group in np.array_split(np.arange(len(items)), count)
        if len(group)
    ]


def _enlarge(figure: Figure, inches: float, undo: ExitStack) -> None:
    """Raise letters that would be too small on the screen, where the picture is as wide as that."""
    least = SMALLEST * 72 * inches / SCREEN
    for text in _texts(figure):
        if float(text.get_fontsize()) < least - 0.01:
            _set(undo, text.set_fontsize, text.get_fontsize(), least)


def _stamps(axes: Axes) -> list[Text]:
    """Return what `voicewire_book.kit.figures.origin` wrote above the right corner."""
    right = [text for text in axes.texts if text.get_horizontalalignment() == "right"]
    return [text for text in right if text.get_position() == (1.0, 1.01)]


def _stack_above(axes: Axes, figure: Figure, undo: ExitStack) -> None:
    """Set what stands above the axes over one another: the legend, the origin of the data, the title."""
    legend = axes.get_legend()
    top = axes.get_window_extent().y1
    stamps, titles = _stamps(axes), [axes.title, axes._left_title, axes._right_title]  # type: ignore[attr-defined]
    below = [_extent(text, figure) for text in axes.texts if text not in stamps]
    below = [box for box in below if box.y1 > top]
    if legend is not None:
        place = _extent(legend, figure)
        lift = max((box.y1 - place.y0 for box in below if box.overlaps(place)), default=0.0)
        anchor = legend._bbox_to_anchor  # type: ignore[attr-defined]
        moved = ScaledTranslation(0, lift / figure.dpi, figure.dpi_scale_trans)
        legend._bbox_to_anchor = TransformedBbox(anchor, moved)  # type: ignore[attr-defined]
        below.append(_extent(legend, figure))
    for text in [*stamps, *titles]:
        if not text.get_text():
            continue
        place = _extent(text, figure)
        beside = [box for box in below if text in titles or (box.x0 < place.x1 and place.x0 < box.x1)]
        met = [box.y1 for box in beside if box.y1 > place.y0]
        if met:
            lift = (max(met) - place.y0) / figure.dpi + 0.02
            moved = text.get_transform() + ScaledTranslation(0, lift, figure.dpi_scale_trans)
            _set(undo, text.set_transform, text.get_transform(), moved)
        below.append(_extent(text, figure))
