"""Losses in bursts: the burst ratio against its definition and against chance, G.107's rule against its own limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.voip import emodel, loss_bursts
from voicewire.voip.errors import VoipError
from voicewire_book.chapters.voip import figures


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_the_ratio_is_the_mean_burst_over_that_of_chance(lost):
    lengths = [len(run) for run in "".join("x" if frame else "-" for frame in lost).split("-") if run]
    share = sum(lost) / len(lost)
    expected = np.mean(lengths) * (1 - share) if 0 < share < 1 else 1.0
    assert loss_bursts.burst_ratio(lost) == pytest.approx(expected)


def test_losses_at_random_have_a_ratio_of_one_and_a_gilbert_channel_its_own():
    rng = np.random.default_rng(1)
    assert loss_bursts.burst_ratio(rng.random(200_000) < 0.2) == pytest.approx(1, abs=0.02)
    begin, end, state = 0.05, 0.25, False  # bursts of four in the mean
    lost = []
    for u in rng.random(200_000):
        state = u >= end if state else u < begin
        lost.append(state)
    assert loss_bursts.burst_ratio(lost) == pytest.approx(1 / (begin + end), rel=0.03)


@given(st.floats(0, 95), st.floats(0.1, 100), st.floats(0.1, 20))
def test_without_loss_the_codec_alone_counts_and_robustness_is_the_half(ie, bpl, burst):
    assert loss_bursts.effective_impairment(0.0, ie, bpl, burst) == ie
    assert loss_bursts.effective_impairment(bpl / 100, ie, bpl) == pytest.approx((ie + 95) / 2)


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(sorted(loss_bursts.ROBUSTNESS)), st.floats(1, 30))
def test_more_loss_and_longer_bursts_never_cost_less(one, other, codec, burst):
    less, more = sorted((one, other))
    cost = loss_bursts.effective_impairment
    robust = loss_bursts.ROBUSTNESS[codec]
    assert cost(less, *robust, burst) <= cost(more, *robust, burst) <= 95
    assert cost(less, *robust) <= cost(less, *robust, burst)


def test_the_best_delay_is_the_best_of_all_that_were_tried():
    rng = np.random.default_rng(2)
    delays = np.where(rng.random(150) < 0.05, np.inf, 60 + rng.gamma(2, 30, 150))
    found = loss_bursts.best_fixed(delays, 11.0, 19.0)
    rated = []
    for d in delays[np.isfinite(delays)]:
        late = delays > d
        cost = loss_bursts.effective_impairment(float(late.mean()), 11.0, 19.0, loss_bursts.burst_ratio(late))
        rated.append((94.2 - cost - float(emodel.delay_impairment(d)), d))
    assert (found.r, found.delay_ms) == pytest.approx(max(rated))


def test_nothing_arrives():
    found = loss_bursts.best_fixed([np.inf] * 3, 0.0, 25.1)
    assert found.loss == 1 and found.delay_ms == np.inf and found.r == pytest.approx(94.2 - 95 * 100 / 125.1)


@pytest.mark.parametrize("lost", [[], [[True]], [0, 1], ["x"], np.array(True)])
def test_anything_but_a_row_of_booleans_is_refused(lost):
    with pytest.raises(VoipError, match="row of booleans"):
        loss_bursts.burst_ratio(lost)


def test_the_figure_draws_both_rules():
    lines = {line.get_label(): line for line in figures.loss_rules().lines}
    x, y = lines["G.729, G.107"].get_data()
    at = int(np.argmin(abs(x - 5)))
    assert y[at] == pytest.approx(28.5)
    assert lines["G.729, thesis"].get_ydata()[at] == pytest.approx(40.69, abs=0.01)
