"""The style's promises: colours that can be told apart and read, origins that exist, nothing that drifts."""

from __future__ import annotations

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from skimage.color import deltaE_ciede2000, rgb2lab

from voicewire_book.kit import figures

pytestmark = pytest.mark.landing


def luminance(colour: str) -> float:
    channels = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], channels))


def test_meanings_are_readable_on_white():
    for name, colour in figures.COLOURS.items():
        assert 1.05 / (luminance(colour) + 0.05) >= 3.8, name


def test_no_two_curves_look_alike():
    looks = list(zip(figures.SERIES, figures.LINESTYLES, figures.MARKERS, strict=True))
    assert len({str(line) for _, line, _ in looks}) == len(looks)
    for (a, *_), (b, *_) in itertools.combinations(looks, 2):
        assert np.abs(np.subtract(to_rgb(a), to_rgb(b))).max() > 0.1


def test_no_curves_colour_says_where_data_come_from():
    """As the eye parts colours, which CIEDE2000 measures; 2.3 can just be seen."""
    lab = {colour: rgb2lab([[to_rgb(colour)]])[0, 0] for colour in {*figures.COLOURS.values(), *figures.SERIES}}
    for name, colour in figures.COLOURS.items():
        assert all(deltaE_ciede2000(lab[colour], lab[one]) > 12 for one in figures.SERIES), name
    for one, other in itertools.combinations(figures.COLOURS.values(), 2):
        assert deltaE_ciede2000(lab[one], lab[other]) > 20


def test_axes_are_returned_as_given_or_made():
    given = plt.subplots()[1]
    assert figures.new_axes(given) is given
    made = figures.new_axes(size=(4, 2))
    assert made is not given
    assert made.figure.get_size_inches().tolist() == [4, 2]
    plt.close("all")


def test_origin_is_stamped_and_checked():
    ax = figures.new_axes()
    figures.origin(ax, "measured here")
    assert any(text.get_text() == "measured here" for text in ax.texts)
    with pytest.raises(ValueError, match="unknown origin 'guessed'"):
        figures.origin(ax, "guessed")
    plt.close("all")


def test_the_band_covers_the_interval():
    ax = figures.new_axes()
    figures.interval_band(ax, [0, 1], [1, 2], [3, 4], color="#000000")
    (low, high) = (line.get_ydata() for line in ax.lines)
    assert list(low) == [1, 2]
    assert list(high) == [3, 4]
    plt.close("all")


def test_the_origin_stands_above_the_upper_right_corner_in_small_letters():
    ax = figures.new_axes()
    figures.origin(ax, "published")
    (text,) = (text for text in ax.texts if text.get_text() == "published")
    assert text.get_position()[0] == 1.0
    assert 1.0 < text.get_position()[1] < 1.1
    assert text.get_transform() == ax.transAxes
    assert text.get_size() < plt.rcParams["font.size"]
    plt.close("all")


def test_the_band_is_lighter_than_its_edges_and_hides_no_curve():
    ax = figures.new_axes()
    figures.interval_band(ax, [0, 1], [1, 2], [3, 4], color="#ff0000", label="95 %")
    (band,) = ax.collections
    assert band.get_facecolor()[0][:3].tolist() == [1, 0, 0]
    assert 0 < band.get_facecolor()[0][3] < ax.lines[0].get_alpha() < 1
    assert band.get_linewidth() == [0]
    assert band.get_label() == "95 %"
    assert all(line.get_linewidth() < plt.rcParams["lines.linewidth"] for line in ax.lines)
    plt.close("all")


def test_the_style_holds_from_the_call_on():
    with plt.rc_context():
        plt.rcdefaults()
        figures.use()
        assert all(
            plt.rcParams[name] == value for name, value in figures.STYLE.items() if isinstance(value, int | float)
        )
