"""Tables I and II to the letter: what each misprint does, and that nothing else differs from the mended program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.echo import paper_tables, reference
from voicewire.echo.scenes.scene import Scene
from voicewire_book.chapters.echo import figures, misprint_effects


def signals(length, seed, samples=60):
    x, d = np.random.default_rng(seed).standard_normal((2, samples, 2)).view(complex)[..., 0]
    x[20 : 20 + length + 2] = 0  # silence longer than the window
    return x, d


CASES = given(
    length=st.integers(1, 6), reuse=st.integers(1, 5), memory=st.floats(1.5, 64), seed=st.integers(0, 2**32 - 1)
)


@settings(max_examples=25, deadline=None)
@CASES
def test_with_all_mended_it_is_the_algorithm_to_read(length, reuse, memory, seed):
    x, d = signals(length, seed)
    lam = 1 - 1 / (memory * length + 1)
    found = paper_tables.table_2(x, d, length, lam, reuse, left_in=(), N_u=3)
    assert all(map(np.array_equal, found, reference.dr_rls_dcd(x, d, length, lam, reuse, N_u=3)))


@settings(max_examples=25, deadline=None)
@CASES
def test_to_the_letter_table_2_never_hears_the_microphones(length, reuse, memory, seed):
    x, d = signals(length, seed)
    lam = 1 - 1 / (memory * length + 1)
    for left_in in (paper_tables.MISPRINTS, ["count"], ["count", "reset"]):
        taps, errors = paper_tables.table_2(x, d, length, lam, reuse, left_in)
        assert not taps.any()
        assert np.array_equal(errors, d)


@settings(max_examples=25, deadline=None)
@CASES
def test_never_set_back_phi_lets_the_first_sample_through_and_no_other(length, reuse, memory, seed):
    x, d = signals(length, seed)
    lam = 1 - 1 / (memory * length + 1)
    other = np.concatenate([d[:1], 5 + d[1:]])
    taps = [paper_tables.table_2(x, heard, length, lam, reuse, ["reset"])[0] for heard in (d, other)]
    assert np.array_equal(*taps)
    assert abs(d[0]) < 0.2 or taps[0].any()


@settings(max_examples=25, deadline=None)
@CASES
def test_table_1_is_table_2_with_one_pass(length, reuse, memory, seed):
    x, d = (part[:18] for part in signals(length, seed))
    lam = 1 - 1 / (memory * length + 1)
    for update, left_in in ((paper_tables.one_column, ["column"]), (reference.next_matrix, ())):
        one = paper_tables.table_1(x, d, length, lam, update)
        assert all(map(np.array_equal, one, paper_tables.table_2(x, d, length, lam, 1, left_in)))


def test_what_12_gives_is_never_read_while_13_repeats_e_0():
    x, d = signals(4, 1)
    both, alone = (paper_tables.table_2(x, d, 4, 0.9, 3, left_in) for left_in in (["e_0", "plus"], ["e_0"]))
    assert np.array_equal(both[0], alone[0])
    assert not np.array_equal(both[0], paper_tables.table_2(x, d, 4, 0.9, 3, ["plus"])[0])


def test_two_passes_by_hand():
    """One tap (of x alone), R = 2, window 1, heard 1: the tap moves by 1/2 and the error is 1/2, or 3/2 with a plus."""
    right = {(): (0.5, 1.0 - 0.5), ("plus",): (0.5, 1.0 + 0.5)}
    for left_in, (tap, error) in right.items():
        s = paper_tables.fresh(1, eps=2.0)
        s.window = np.array([1 + 0j, 0])
        paper_tables.one_pass(s, 1 + 0j, 1.0, left_in, N_u=1)
        assert s.g[0] == tap and s.e == 1
        s.phi = 1
        paper_tables.one_pass(s, 99 + 0j, 1.0, left_in, N_u=1)  # what is heard is not read again
        assert s.e == error


@pytest.mark.parametrize(("channels", "right"), [("one", True), ("two", False)])
def test_one_new_column_is_right_for_one_channel_only(channels, right):
    x, _ = signals(3, 5)
    whole, R, window = np.zeros((6, 6), complex), np.zeros((6, 6), complex), np.zeros(6, complex)
    for x_n in x:
        window = np.append(x_n.real, window[:-1]) if channels == "one" else reference.shifted(window, x_n)
        whole = 0.9 * whole + np.outer(window, window.conj())
        R = paper_tables.one_column(R, window, 0.9)
    assert np.allclose(R, whole) is right


def test_the_data_of_the_figure():
    """Over four conversations, after the first 1000 samples."""
    floors = {}
    for seed in range(4):
        scene = Scene(4, 2000, seed, far_length=8).signals()
        for name, curve in misprint_effects.misprints(scene, 4, 3).items():
            floors.setdefault(name, []).append(curve.steady(1000, 2000))
    assert set(floors) == set(misprint_effects.NAMES)
    mended, plus, e_0, column, reset, whole = (np.array(values) for values in floors.values())
    assert (mended < -10).all()  # a tenth of the power, as the least that is of use
    assert (plus > mended).all() and np.mean(plus - mended) > 3
    assert np.mean(e_0 - mended) > 1
    assert (column > 10).all()
    assert (reset > mended + 6).all()  # one sample tells little
    assert (whole == 0).all()
    ax = figures.misprints(misprint_effects.misprints(scene, 4, 3, every=500))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(misprint_effects.NAMES)
    assert list(ax.lines[5].get_ydata()) == [0, 0, 0, 0]


def test_more_points_than_samples_and_a_memory_that_forgets_all_are_refused():
    scene = Scene(4, 100, 1).signals()
    with pytest.raises(ValueError, match="every is 200"):
        misprint_effects.misprints(scene, 4, every=200)
    with pytest.raises(ValueError, match=r"above 0\.25"):
        misprint_effects.misprints(scene, 0.25)
