"""The narrow picture of a figure: legible on a telephone, nothing cut, and the figure is as it was."""

from __future__ import annotations

import base64
import io
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from voicewire_book.kit import _narrow, _shown, figures
from voicewire_book.kit.figures import LINESTYLES, SERIES, new_axes, origin
from voicewire_book.publish.legible import LETTERS
from voicewire_book.publish.pages import pictures

pytestmark = pytest.mark.landing

TELEPHONE = 312
"""CSS pixels: what a page of 360 has for a figure."""


@pytest.fixture(autouse=True)
def _style():
    with plt.rc_context():
        figures.use()
        yield
    plt.close("all")


def curves():
    ax = new_axes(size=(7, 3.6))
    for k, line in enumerate(LINESTYLES[:5]):
        ax.plot([0, 1, 2], [k, k + 1, k], color=SERIES[k], linestyle=line, label=f"curve number {k} of a long list")
    ax.legend(ncols=5, loc="lower left", bbox_to_anchor=(0, 1), fontsize=6)
    ax.text(1.9, 3, "a remark of many words that begins near the right end of the axes")
    ax.set(xlabel="time (s)", ylabel="a quantity with a name that is rather long (units)")
    origin(ax, "theory")
    return ax.figure


def names():
    ax = new_axes(size=(7, 3.0))
    ax.bar(range(7), range(7))
    ax.set_xticks(range(7), [f"the case called {name}" for name in "abcdefg"])
    ax.set_title("A title that says in some more words than fit what is to be seen here")
    origin(ax, "simulated here")
    return ax.figure


def panels():
    figure, axes = plt.subplots(2, 3, figsize=(7.2, 4), sharey=True)
    axes[0, 0].set_ylabel("height (m)")
    for k, ax in enumerate(axes.flat):
        ax.plot([0, k], [k, 0])
        ax.set(xlabel="x (m)", title=f"case {k}")
        origin(ax, "theory")
    return figure


def heights():
    ax = new_axes(size=(6, 4))
    picture = ax.imshow(np.arange(100).reshape(10, 10))
    ax.figure.colorbar(picture, label="height (m)")
    return origin(ax, "theory").figure


KINDS = (curves, names, panels, heights)


@pytest.mark.parametrize("kind", KINDS)
def test_letters_are_large_enough_on_a_telephone_and_the_picture_is_narrow(kind):
    narrow = _shown.narrow(kind())
    assert narrow["letters"] * TELEPHONE / narrow["width"] >= LETTERS
    assert narrow["width"] <= 1.08 * 110 * _narrow.WIDTH  # a label's end may stick out a little
    image = Image.open(io.BytesIO(base64.b64decode(narrow["webp"])))
    assert image.format == "WEBP"
    assert image.width >= 2 * narrow["width"] - 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_figure_is_given_back_as_it_was(kind):
    figure = kind()
    _shown.png(figure)
    before = _shown.png(figure)
    _shown.narrow(figure)
    assert _shown.png(figure) == before


def test_panels_stand_below_one_another_each_with_its_numbers():
    figure = panels()
    with _narrow.narrowed(figure):
        boxes = [ax.get_window_extent() for ax in figure.axes]
        assert all(above.y0 > below.y1 for above, below in pairwise(boxes))
        assert all(any(t.get_visible() for t in ax.get_yticklabels()) for ax in figure.axes)
        assert [ax.get_ylabel() for ax in figure.axes[:3]] == ["height (m)"] * 3
    assert figure.axes[0].get_window_extent().y0 == figure.axes[2].get_window_extent().y0


def test_a_legend_covers_no_curve_and_no_text_leaves_the_figure():
    figure = curves()
    with _narrow.narrowed(figure):
        (ax,) = figure.axes
        figure.draw_without_rendering()
        assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1
        stamp = next(t for t in ax.texts if t.get_text() == "theory").get_window_extent()
        assert not stamp.overlaps(ax.get_legend().get_window_extent())
        for text in ax.texts:
            assert text.get_window_extent().x1 <= figure.bbox.x1 + 1


def test_names_at_ticks_that_would_overlap_are_turned():
    figure = names()
    with _narrow.narrowed(figure):
        labels = figure.axes[0].get_xticklabels()
        assert all(label.get_rotation() >= 60 for label in labels)
    assert all(label.get_rotation() == 0 for label in labels)


def test_pages_look_for_what_notebooks_keep():
    assert pictures.NARROW == figures.NARROW


def test_a_drawing_that_keeps_its_shape_has_one_picture():
    ax = figures.keep_shape(new_axes())
    ax.set_xlabel("x")
    _, told = _shown.wide(ax.figure)
    assert told["letters"] > 0
    assert _shown._bundle(ax.figure) == {}
