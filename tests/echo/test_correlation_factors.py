"""What makes hard input hard: the source's colour, one source for both channels, gradient noise; and the cap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.echo import paper
from voicewire.echo.gradient import WLNLMS
from voicewire.echo.metrics import follow
from voicewire.echo.scenes.scene import Scene
from voicewire.stats import t_interval
from voicewire_book.chapters.echo import alternative_mechanisms, correlation_factors, experiments, tracking_cap
from voicewire_book.kit import claims

LENGTH = paper.FIGURE_1.length
NUMBERS = st.floats(-40, 40)


def test_two_sources_change_the_right_channel_and_nothing_else():
    one, other = (Scene(16, 4000, seed, change="sign", change_at=2000).signals() for seed in (3, 1003))
    both = correlation_factors.two_sources(one, other)
    assert (both.x.real == one.x.real).all() and (both.x.imag == other.x.imag).all()
    assert both.before is one.before and both.after is one.after and both.change_at == one.change_at
    heard = both.d - both.noise
    for part in ("real", "imag"):
        levels = [np.std(getattr(signal, part)) for signal in (heard, both.noise)]
        assert 20 * np.log10(levels[0] / levels[1]) == pytest.approx(paper.SNR_DB)
    assert abs(np.corrcoef(one.x.real, one.x.imag)[0, 1]) > abs(np.corrcoef(both.x.real, both.x.imag)[0, 1])


def test_the_four_scenes_are_as_recorded():
    """NLMS alone, the quick one; the scene of coloured noise from one source is that of `peers`."""
    for colour, channels, signals in correlation_factors._scenes(4, 60_000):
        now = follow(WLNLMS(LENGTH), signals, 2000).decibels[-1]
        assert correlation_factors.later("NLMS", colour, channels)[4] == pytest.approx(now, abs=1e-2)
    for kind in ("NLMS", "exact", "DCD"):
        assert correlation_factors.later(kind) == pytest.approx(alternative_mechanisms.peer("later", kind))


@given(NUMBERS, NUMBERS, NUMBERS)
def test_effects_that_add_up_have_no_interaction(base, colour, common):
    def measure(source, channels):
        return [base + colour * (source == "coloured") + common * (channels == "one source")]

    found = correlation_factors.effects(measure)
    assert found["interaction"] == pytest.approx([0], abs=1e-9)
    for name, size in (("colour", colour), ("common source", common)):
        assert found[f"{name}, main effect"] == pytest.approx([size], abs=1e-9)
        assert found[f"{name} taken away"] == pytest.approx([size], abs=1e-9)


@given(st.floats(1, 40))
def test_where_either_suffices_taking_one_away_changes_nothing_and_the_main_effects_tell(size):
    found = correlation_factors.effects(lambda s, c: [size * (s == "coloured" or c == "one source")])
    assert found["colour taken away"] == found["common source taken away"] == [0]
    assert found["colour, main effect"] == found["common source, main effect"] == pytest.approx([size / 2])
    assert found["interaction"] == pytest.approx([-size])


def test_exchanged_scenes_have_no_main_effect():
    def measure(source, channels):
        return correlation_factors.gap("NLMS", "exact", source, channels)

    runs = correlation_factors.exchanged(measure, np.random.default_rng(1), 400)
    sizes = np.array([run.mean() for run in runs])
    assert abs(sizes.mean()) < 1 and correlation_factors.effects(measure)["colour, main effect"].mean() > sizes.max()


def test_a_filter_of_mean_steps_learns_as_nlms_does_with_small_ones():
    """White noise from two sources: the mean is over the scene's own windows, so it is some tenths of a decibel off."""
    gaps = []
    for seed in (1, 2, 3, 4):
        one, other = (
            Scene(8, 12_000, s, source="white", snr=90.0, predistortion=0.0, far_length=1).signals()
            for s in (seed, seed + 50)
        )
        signals = correlation_factors.two_sources(one, other)
        still = follow(WLNLMS(8, 0.005), signals, 12_000).decibels[-1]
        assert still < -30
        gaps.append(correlation_factors.mean_gradient(signals, 8, 0.005) - still)
    assert abs(np.mean(gaps)) < 1


def test_gradient_noise_is_as_recorded():
    row = next(row for row in experiments.read("gradient") if row["gradient"] == "mean")
    signals = experiments.scene(row["seed"], 80_000, change_at=60_000)
    assert correlation_factors.mean_gradient(signals, LENGTH, 0.5) == pytest.approx(row["later"], abs=1e-2)
    assert all(abs(gain.mean()) < 1.5 for gain in correlation_factors.gradient_gains().values())


def test_the_largest_step_had_settled_before_its_misadjustment_was_taken():
    """Then it is that of the step, step / (2 - step), whatever the colour; after 200,000 samples it was not."""
    for source in correlation_factors.COLOURS:
        share = correlation_factors.misadjustments()[source, 0.5].mean()
        assert share == pytest.approx(0.5 / (2 - 0.5), rel=0.1)


# The cap


@given(st.floats(500, 5000), st.floats(5000, 30_000))
def test_a_floor_is_told_from_a_power(floor, gain):
    passes = range(1, 7)
    with_floor = {n: [floor + gain / n + (-1) ** n] for n in passes}
    for_ever = {n: [(floor + gain) / n**0.7 + (-1) ** n] for n in passes}
    assert tracking_cap.floor_over_power(with_floor) > 3
    assert tracking_cap.floor_over_power(for_ever) < -3


def test_times_without_a_cap_do_not_pass():
    six = tracking_cap.six_passes(experiments.read("tracking"))
    assert t_interval(tracking_cap.floor_over_power(six)).low > 0
    runs = tracking_cap.without_cap(six, np.random.default_rng(3))
    assert np.mean([t_interval(run).low >= 0 for run in runs]) <= 0.05


def test_the_ledger_says_what_cannot_come_out_otherwise():
    ledger = claims.load("echo").claims
    assert ledger["echo.one-matrix"].implements and not ledger["echo.cap-exists"].implements
