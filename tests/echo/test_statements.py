"""What the text says beside the figures: as recorded, as computed by hand, and able to come out otherwise."""

import numpy as np
import pytest

from voicewire.echo import dcd_uncompiled
from voicewire.echo.metrics import dcd_operations, woodbury_operations
from voicewire.echo.operation_counts import count_operations, count_search
from voicewire_book.chapters.echo import experiments, prose_claims


def test_what_correlated_input_costs_is_as_recorded():
    rows = experiments.read("correlation")
    assert len(rows) == 40 and {row["seed"] for row in rows} == set(prose_claims.FRESH_SEEDS)
    (now,) = (row for row in prose_claims.correlation([20]) if (row["input"], row["reuse"]) == ("AR(1)", 1))
    (then,) = experiments.column(rows, "later", input="AR(1)", reuse=1, seed=20)
    assert now["later"] == pytest.approx(then, abs=1e-2)


def test_a_move_that_is_no_power_of_two_is_counted(monkeypatch):
    R, r = np.eye(2) * 4 + 0j, np.array([3, 3]) + 0j
    assert prose_claims.products_of_search(R, r, 5) == 0
    monkeypatch.setattr(prose_claims.reference, "dcd", lambda R, r, N_u: (r.real * 0.25, r))  # moves of 0.75
    assert prose_claims.products_of_search(R, r, 5) == 10


def test_a_curve_drifts_by_what_its_last_memory_lies_below_the_fifth_before():
    for figure, setting in ((1, experiments.paper.FIGURE_1), (2, experiments.paper.FIGURE_2)):
        memory = setting.memory * setting.length
        gaps = []
        for curve in experiments.read_curves(figure).values():
            ago = (setting.change_at - curve.samples) // memory  # whole memories before the change
            last, before = (10 ** (curve.decibels[ago == k] / 10) for k in (0, 4))
            gaps.append(10 * np.log10(last.mean() / before.mean()))
        assert prose_claims.drifts()[f"Figure {figure}"] == pytest.approx(max(gaps, key=abs))
    assert all(abs(drift) > 10 for drift in prose_claims.drifts(first=True).values())


def test_in_the_mean_only_curves_without_predistortion_still_fall():
    """Thirds of the time before the change, by hand; the sentence of the reason is that of this test."""
    for figure, setting in ((1, experiments.paper.FIGURE_1), (2, experiments.paper.FIGURE_2)):
        third, gaps = setting.change_at // 3, {}
        for key, curve in experiments.read_curves(figure).items():
            ago = (setting.change_at - curve.samples) // third
            last, before = (10 ** (curve.decibels[(ago == k) & (curve.samples > 0)] / 10) for k in (0, 1))
            gaps[key] = 10 * np.log10(last.mean() / before.mean())
        assert prose_claims.drifts(thirds=True)[f"Figure {figure}"] == pytest.approx(max(gaps.values(), key=abs))
        assert all(abs(gap) < 1 for (_, alpha), gap in gaps.items() if alpha > 0)
        assert [key for key, gap in gaps.items() if gap < -1] == [(5, 0.0)]
    assert all(abs(drift) > 5 for drift in prose_claims.drifts(first=True, thirds=True).values())


@pytest.mark.parametrize("length", [3, 8])
def test_only_steps_that_are_powers_of_two_spare_the_search_its_products(length):
    assert prose_claims.multiplications_of_search(length) == prose_claims.multiplications_of_search(length, H=2.0) == 0
    assert prose_claims.multiplications_of_search(length, H=0.9) >= 4 * length  # one move at least: 2L complex numbers


def test_a_search_shifts_a_column_for_each_move():
    R, r = np.eye(2) * 4 + 0j, np.array([3, 3]) + 0j
    found = count_search(R, r)
    assert (found.multiplications, found.shifts, found.additions) == (
        0,
        4 * 4,
        4 * 4,
    )  # four moves, two complex numbers
    assert found.comparisons == 4 * (2 + 1)  # which part of each is larger, and which of the two


def test_work_grows_by_every_kind_of_operation():
    found = experiments.work()
    slight = found["echo.complexity-slight-increase"]
    assert set(slight) == {"the least", "as the tables run"}
    for way, count in (
        ("the least", lambda n: dcd_operations(128, n, 4)),
        ("as the tables run", lambda n: count_operations(128, n)),
    ):
        assert slight[way]["additions, 3 passes"] == count(3).additions / count(1).additions
        assert slight[way]["multiplications, 5 passes"] == count(5).multiplications / count(1).multiplications
        assert (slight[way]["shifts, 3 passes"], slight[way]["comparisons, 5 passes"]) == (
            3,
            count(5).comparisons / count(1).comparisons,
        )
    below = found["echo.complexity-below-woodbury"]
    labels = [f"{kind}, L = {n}" for n in (128, 256) for kind in ("additions", "multiplications")]
    assert all(list(found) == labels for found in below.values())
    for way, exact, searched in (  # both sides are counted alike
        ("complex numbers as they stand", woodbury_operations(256), count_operations(256, 5)),
        ("the structure of two channels", experiments.stereo_rls_operations(256), dcd_operations(256, 5, 4)),
    ):
        assert below[way]["multiplications, L = 256"] == exact.multiplications / searched.multiplications


def test_the_real_inverse_costs_a_quarter_of_the_complex_one():
    """As `StereoRLS` says of itself, for long filters."""
    exact, real = woodbury_operations(1000), experiments.stereo_rls_operations(1000)
    assert exact.additions / real.additions == pytest.approx(4, rel=0.01)
    assert exact.multiplications / real.multiplications == pytest.approx(3.5, rel=0.01)


def test_the_time_that_no_number_of_passes_goes_below():
    assert experiments.limit({n: 3.0 + 6.0 / n for n in (1, 2, 4)}) == pytest.approx(3.0)
    assert experiments.limit({n: 6.0 / n for n in (1, 3, 5)}) == pytest.approx(0.0, abs=1e-9)


def test_passes_share_the_matrix_of_their_sample():
    rng = np.random.default_rng(2)
    x, d = rng.standard_normal((2, 50)) + 1j * rng.standard_normal((2, 50))
    filters = [dcd_uncompiled.WLDRRLSDCD(3, 0.9, n) for n in (1, 4)]
    for filter_ in filters:
        filter_.process(x, d)
    assert (filters[0].R == filters[1].R).all() and (filters[0].g != filters[1].g).any()
