"""The larynx in a second tract: what is kept, what the chapters say of it, and the recording by a stand-in program."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from voicewire.pharyngeal import paper, tract, tube
from voicewire_book import paths
from voicewire_book.chapters.pharyngeal import second_tract

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def kept():
    return pd.read_csv(paths.data("pharyngeal") / "larynx_mri.csv")


def said(chapter):
    cells = json.loads((ROOT / "notebooks" / "pharyngeal" / f"{chapter}.ipynb").read_text("utf-8"))["cells"]
    return " ".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def rows(table, **where):
    for name, value in where.items():
        table = table[table[name] == value]
    return table


def test_the_kept_numbers_agree_among_themselves(kept):
    assert tuple(kept.columns) == second_tract.COLUMNS and set(kept["rise"]) == set(second_tract.RISES)
    assert set(kept["vowel"]) == set(second_tract.VOWELS) and not kept.isna().any(axis=None)
    for vowel in second_tract.VOWELS:
        held, follows = (rows(kept, vowel=vowel, root=root) for root in second_tract.ROOTS)
        assert list(held["rise"]) == list(follows["rise"]) and (held["root_back"] == 0).all()
        at_rest = rows(held, rise=0.0).iloc[0, 2:], rows(follows, rise=0.0).iloc[0, 2:]
        np.testing.assert_array_equal(*(row.to_numpy(dtype=float) for row in at_rest))
        # what it is raised by it loses in length, whatever the root does
        for group in (held, follows):
            assert (np.diff(group["length"]) < 0).all()
    assert (np.diff(kept[["F1", "F2", "F3"]], axis=1) > 100).all()
    # two ways of computing one tube, the book's without what lies beside it: neither may take one formant for another
    apart = kept[["book_F1", "book_F2", "book_F3"]].to_numpy() / kept[["F1", "F2", "F3"]].to_numpy() - 1
    assert (np.abs(np.median(apart, axis=0)) < 0.1).all() and np.abs(apart).max() < 0.4


def test_neither_program_nor_tract_is_here():
    tracked = [path.name for path in ROOT.glob("data/**/*")] + [path.name for path in ROOT.glob("src/**/*")]
    assert not [name for name in tracked if name.endswith(".speaker") or "vocaltractlab" in name.lower()]
    locks = [*ROOT.glob("requirements*.lock")]
    assert locks
    for file in (ROOT / "pyproject.toml", ROOT / "environment.yml", *locks):
        assert "vocaltractlab" not in file.read_text("utf-8")


def test_chapter_1_says_what_the_file_says(kept):
    text = said("01_tract_to_formants")
    step = rows(second_tract.changes(kept), rise=0.2)
    held, follows = (step[step["root"] == root] for root in second_tract.ROOTS)
    assert (held[["F1", "F2"]] > 0).all(axis=None) and len(held) == 16
    assert "at this step neither falls in any of the 16 vowels" in text
    rest = float(rows(kept, vowel="@", root="held", rise=0.0)["length"].iloc[0])
    assert f"is {rest:.1f} cm long, and 0.2 cm is {100 * 0.2 / rest:.1f} % of that" in text
    assert round(held["F1"].median(), 1) == round(100 * 0.2 / rest, 1)
    assert f"F2's by {held['F2'].median():.1f} %" in text
    assert f"F2 falls in {sum(follows['F2'] < 0)} of 16 vowels" in text
    assert follows["F1"].median() / held["F1"].median() == pytest.approx(2, abs=0.15) and "twice as fast" in text
    assert f"in /a/ by {-rows(follows, vowel='a')['F2'].iloc[0]:.0f} %" in text
    moved = second_tract.changes(kept)
    moved = moved[moved["rise"] != 0]
    same = [100 * np.mean(np.sign(moved[f"F{k}"]) == np.sign(moved[f"book_F{k}"])) for k in (1, 2)]
    assert f"the same sign in {same[0]:.0f} % of all cases, and of F2 in {same[1]:.0f} %" in text
    assert f"With the root held the program has it rising in {sum(held['F3'] > 0)} of 16 vowels" in text
    assert f"on the same areas in {sum(held['book_F3'] > 0)}:" in text
    narrow = {
        (root, rise): float(rows(kept, vowel="a", root=root, rise=rise)["narrowest"].iloc[0])
        for root in second_tract.ROOTS for rise in (0.0, 0.4)
    }  # fmt: skip
    assert f"{narrow['held', 0.0]:.2f} cm² at rest. With the larynx 0.4 cm higher it" in text
    assert f"shrinks to {narrow['held', 0.4]:.2f} cm² with the root held" in text
    assert f"to {narrow['follows', 0.4]:.2f} cm² with it moving" in text


def beyond_its_grain(table, k):
    """How many vowels' changes at 0.2 cm lie above and below twice the grain of their row over the height."""
    grains = []
    for _, one in table.groupby("vowel"):
        left = one[k] - np.polynomial.Polynomial.fit(one["rise"], one[k], 2)(one["rise"])
        grains.append(np.sqrt(2 * np.sum(left**2) / (len(one) - 3)))
    change, grain = rows(table, rise=0.2)[k], np.median(grains)
    return int((change > 2 * grain).sum()), int((change < -2 * grain).sum())


def test_chapter_1_counts_changes_that_are_larger_than_their_grain(kept):
    text = said("01_tract_to_formants")
    moved = second_tract.changes(kept)
    held, follows = (rows(moved, root=root) for root in second_tract.ROOTS)
    assert beyond_its_grain(held, "F1")[1] == beyond_its_grain(held, "F2")[1] == 0
    rises = beyond_its_grain(held, "F2")[0]
    assert f"F1 and F2 fall by more than that in no vowel; F2 rises by more in {rises}" in text
    up, down = beyond_its_grain(follows, "F2")
    assert f"F2 falls by more than that in {down} of 16 vowels and rises by more in {up}" in text
    ups, downs = zip(*(beyond_its_grain(each, "F3") for each in (held, follows)), strict=True)
    assert max(*ups, *downs) < 8 and "F3 has no common sign in this tract, whatever the root does" in text


def test_chapter_4_says_what_the_file_says(kept):
    text = said("04_reproduction")
    moved = second_tract.changes(kept)
    assert f"goes back by {second_tract.coupling(kept):.1f} cm for each centimetre" in text
    held, follows = (rows(moved, vowel="a", root=root, rise=0.14).iloc[0] for root in second_tract.ROOTS)
    assert f"F1 rises by {held['F1']:.1f} % and F2 by {held['F2']:.1f} %" in text
    assert abs(follows["F1"]) < 0.1 and f"F2 falls by {-follows['F2']:.1f} %" in text
    plain = float(paper.cell(2, "tt-mean", "F2")) + 314.15
    fall = 100 * 314.15 / plain
    assert f"a seventh of the paper's {fall:.0f} %" in text and fall / -follows["F2"] == pytest.approx(7, abs=0.5)
    down = rows(moved, root="held", rise=-0.2)
    falls = [int((down[name] < 0).sum()) for name in ("F1", "F2", "F3")]
    assert falls[0] == len(down) and falls[1] == len(down) - 1
    said_of_f1 = f"F1 falls in all {falls[0]} vowels whose larynx can go that low"
    assert f"{said_of_f1}, F2 in {falls[1]} and F3 in {falls[2]}" in text


def test_both_tracts_are_drawn_each_with_its_origin(kept):
    shapes = second_tract.able(np.random.default_rng(1), 3, 0.8)
    axes = second_tract.beside(kept, shapes)
    origins = [[text.get_text() for text in ax.texts] for ax in axes]
    assert origins == [["simulated here"], ["recorded elsewhere"]] * 2
    own = np.median(second_tract.own_changes(shapes, [-0.4, -0.2, 0.0, 0.2, 0.4], 0.0), axis=1)
    moved = rows(second_tract.changes(kept), root="held")
    for k, (left, right) in enumerate((axes[:2], axes[2:])):
        np.testing.assert_allclose(left.lines[0].get_ydata(), own[:, k])
        medians = moved[moved["rise"].abs() < 0.41].groupby("rise")[f"F{k + 1}"].median()
        np.testing.assert_allclose(right.lines[0].get_ydata(), medians)
    plt.close("all")


def test_in_both_tracts_the_root_turns_f2_and_not_f1(kept):
    """The signs of the text, in the book's tract with many more shapes than the figure has."""
    share = second_tract.coupling(kept)
    shapes = second_tract.able(np.random.default_rng(7), 60, share)
    held, moving = (second_tract.own_changes(shapes, [0.2], s)[0] for s in (0.0, share))
    assert (held > 0).all() and np.median(moving[:, 1]) < 0
    # each sign of a root alone fails in about one shape in ten (chapter 1); all of them was asked first, and failed
    assert (moving[:, 0] > held[:, 0]).mean() > 0.85 and (moving[:, 1] < held[:, 1]).mean() > 0.85


def test_a_vowel_without_its_row_at_rest_is_refused(kept):
    with pytest.raises(ValueError, match="at rest"):
        second_tract.changes(kept[kept["rise"] != 0])


class Program:
    """A stand-in: a uniform tube of 4 cm² whose length is 12 cm less the hyoid's height, with peaks at its formants."""

    names, highest = ("HX", "HY", "TRX"), -3.5

    def __init__(self):
        self.follows = True

    def get_param_info(self, _):
        return [{"name": name, "min": -6.0, "max": self.highest} for name in self.names]

    def get_shape(self, name, kind):
        return np.array([0.0, -5.0, 0.0])

    def calculate_tongueroot_automatically(self, on):
        self.follows = on

    def tract_state_to_limited_tract_state(self, state):
        return np.array([*state[:2], -0.5 * (state[1] + 5)]) if self.follows else np.array(state)

    def tract_state_to_tube_state(self, state):
        return {"tube_length": np.full(10, (12 - state[1]) / 10), "tube_area": np.full(10, 4.0)}

    def tract_state_to_transfer_function(self, state, n_spectrum_samples):
        hertz = np.arange(n_spectrum_samples) * 44_100 / n_spectrum_samples
        gain = sum(1 / (1 + ((hertz - f) / 40) ** 2) for f in tube.uniform(12 - state[1], 5))
        return {"magnitude_spectrum": gain}


def test_the_recording_finds_a_known_tubes_formants_and_keeps_to_the_limits(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vocaltractlab_cython", Program())
    table = pd.read_csv(second_tract.record(tmp_path))
    one = rows(table, vowel="a", root="follows")
    assert list(one["rise"]) == list(second_tract.RISES)
    np.testing.assert_allclose(one["root_back"], 0.5 * one["rise"], atol=1e-3)
    np.testing.assert_allclose(one["length"], 17 - one["rise"], atol=1e-3)
    for k in (1, 2, 3):
        true = [tube.uniform(length, 3)[k - 1] for length in 17 - one["rise"]]
        np.testing.assert_allclose(one[f"F{k}"], true, atol=3)
    monkeypatch.setattr(Program, "highest", -4.9)
    table = pd.read_csv(second_tract.record(tmp_path))
    assert sorted(set(table["rise"])) == [rise for rise in second_tract.RISES if rise < 0.1]


def test_without_the_program_the_recording_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vocaltractlab_cython", None)
    with pytest.raises(ValueError, match="vocaltractlab-cython==0.0.16"):
        second_tract.record(tmp_path)
    flat = SimpleNamespace(
        tract_state_to_tube_state=lambda state: {"tube_length": np.ones(2), "tube_area": np.ones(2)},
        tract_state_to_transfer_function=lambda state, n_spectrum_samples: {"magnitude_spectrum": np.ones(16384)},
    )
    with pytest.raises(ValueError, match="0 peaks"):
        second_tract._row(flat, np.zeros(3))


def test_shapes_that_are_drawn_stay_open(kept):
    for shape in second_tract.able(np.random.default_rng(3), 5, 0.8):
        for rise in (-0.4, 0.4):
            for root in (0.0, 0.8 * rise):
                assert tract.outline(tract.moved(shape, larynx=rise, root=root)).opening.min() > 0.05
