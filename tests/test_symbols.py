"""Symbols in formulas have the colour of their curve: what is listed stands on the page, and the figure agrees."""

from __future__ import annotations

import re
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from skimage.color import deltaE_ciede2000, rgb2lab

from voicewire.voip.calls import call
from voicewire_book import paths
from voicewire_book.chapters.echo import figures as echo_figures
from voicewire_book.chapters.foundations import filters_figures, signals_figures
from voicewire_book.chapters.nfc import figures as nfc_figures
from voicewire_book.chapters.voip import figures as voip_figures
from voicewire_book.kit import figures
from voicewire_book.publish.pages import light, symbols

pytestmark = pytest.mark.landing

ROOT = paths.root()
LISTED = {
    f"{part.name}/{chapter}": found
    for part in sorted((ROOT / "notebooks").iterdir())
    if part.is_dir()
    for chapter, found in symbols.listed(part).items()
}
NONE = "the plain formula"
DRAWN: dict[str, Callable[[], Axes]] = {
    "foundations/01_signals": lambda: signals_figures.foretold([8, 4, 2, 1], [8, 0, 0, 0], 8000),
    "foundations/02_filters": lambda: filters_figures.guesses([1.0, 0.5], [[0.2, 0.1], [0.9, 0.4]], [2]),
    "nfc/02_errors_and_timers": lambda: nfc_figures.losses(4320),
    "echo/01_adaptive_filters": lambda: echo_figures.responses({"LL": [1], "LR": [1], "RL": [1], "RR": [1]}),
    "voip/03_reproduction": lambda: voip_figures.trace(
        call("TFRC SP FR", "G.729", delay_ms=150, seconds=10, seed=1, log=True), (0, 10)
    ).axes[5],
}
"""The figure of each chapter that draws what is listed."""


def base(symbol: str) -> str:
    """A symbol as figures write it: without another moment's index, and words as in TeX's upright letters."""
    plain = re.sub(r"\\(?:text|mathrm)(\{\w+\})", r"\1", symbol)
    return re.sub(r"_\{n[-+]\w\}", "_n", plain)


@pytest.mark.parametrize("chapter", LISTED)
def test_the_curve_has_the_symbols_name_and_colour(chapter):
    ax = DRAWN[chapter]()
    named = [(line.get_label(), line.get_color()) for line in ax.lines]
    named += [(text.get_text(), text.get_color()) for text in ax.texts]
    for symbol, place in LISTED[chapter].items():
        found = [colour for label, colour in named if f"${base(symbol)}$" in str(label).replace(" ", "")]
        assert found == [figures.SERIES[place]], symbol
    plt.close("all")


def test_each_listed_chapter_has_its_figure():
    assert set(DRAWN) == set(LISTED) > set()


def test_letters_can_be_read_and_are_the_curves_colour():
    style = (ROOT / "book/_static/book.css").read_text(encoding="utf-8")
    for place, shade in enumerate(symbols.SHADES):
        assert f"\n.vw-s{place} {{ color: {shade}; }}" in style
        assert style.count(f".vw-s{place} ") == 2, "light and dark"
        lab = [rgb2lab([[to_rgb(one)]])[0, 0] for one in (shade, figures.SERIES[place])]
        assert deltaE_ciede2000(*lab) < 10, place
        linear = np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(shade)])
        assert 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05) >= 4.5


@pytest.mark.needs("pages")
@pytest.mark.parametrize("chapter", LISTED)
def test_each_listed_symbol_stands_coloured_on_the_page(chapter):
    page = ROOT / "_build" / "html" / "notebooks" / f"{chapter}.html"
    text = page.read_text(encoding="utf-8")
    style = (ROOT / "_build" / "html" / "_static" / "book.css").read_text(encoding="utf-8")
    for symbol, place in LISTED[chapter].items():
        letter, _, index = symbol.partition("_")
        start = f"\\class{{vw-s{place}}}"
        beside_exponent = f"{start}{{{letter}}}_{{{start}{{{index}}}}}"
        assert f"{start}{{{symbol}}}" in text or beside_exponent in text, symbol
        assert style.count(f".vw-s{place}{{color:") == 2, "the site's style sheet has lost a colour, light or dark"


def test_a_sheet_keeps_the_classes_that_formulas_name(tmp_path):
    formula = symbols.coloured("e_n = x_n", {"e_n": 1})
    (tmp_path / "a.html").write_text(f'<span class="math">{formula}</span>', encoding="utf-8")
    style = (ROOT / "book/_static/book.css").read_text(encoding="utf-8")
    left = light.purge(style, light.words(tmp_path).__contains__)
    assert left.count(f".vw-s1{{color: {symbols.SHADES[1]};}}") == 1
    assert left.count(".vw-s1{") == 2, "light and dark"
    assert ".vw-s0" not in left


@given(st.text(alphabet=r"\hxe_n{}^ text+-1", max_size=40))
def test_nothing_but_the_class_is_added(tex):
    known = {"h": 0, "x_n": 1, r"\text{e}": 2}
    done = symbols.coloured(tex, known)
    whole = re.sub(r"\\class\{vw-s1\}\{x\}_\{\\class\{vw-s1\}\{n\}\}(?=\s*\^)", "x_n", done)
    assert re.sub(r"\\class\{vw-s\d\}\{(h|x_n|\\text\{e\})\}", r"\1", whole) == tex


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"\hat x_n", NONE),
        (r"e^h", NONE),
        (r"e^{h}", r"e^{\class{vw-s0}{h}}"),
        (r"\text{h}\mathrm{h}", NONE),
        (r"h_0 + h _1", NONE),
        (r"\alpha h", r"\alpha \class{vw-s0}{h}"),
        (r"x_n + x_n^2", r"\class{vw-s1}{x_n} + \class{vw-s1}{x}_{\class{vw-s1}{n}}^2"),
        (r"x_n ^2", r"\class{vw-s1}{x}_{\class{vw-s1}{n}} ^2"),
        (r"\begin{h}", NONE),
    ],
)
def test_what_is_a_symbol(tex, expected):
    assert symbols.coloured(tex, {"h": 0, "x_n": 1}) == (tex if expected is NONE else expected)


def test_a_colour_that_letters_do_not_have_is_refused(tmp_path):
    (tmp_path / "symbols.toml").write_text("[01_a]\nh = 7\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"h of 01_a has colour 7: write 0 to 4"):
        symbols.listed(tmp_path)
