"""The reading versions against the functions for arrays and the compiled ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.voip import emodel, playout, reference, transmission_rating
from voicewire.voip.paper import CODECS, MOS_TABLE
from voicewire.voip.playout_rules.adaptive_playout import ramjee
from voicewire_book.chapters.voip import playout_recursion

delays = st.one_of(st.sampled_from([60.0, 120.0, 177.3, 240.0, np.inf]), st.floats(0, 900))
traces = st.lists(st.tuples(delays, st.integers(0, 6)), min_size=1, max_size=120).map(
    lambda frames: sorted(frames, key=lambda frame: frame[1])
)


@pytest.mark.parametrize("codec", CODECS)
@given(d=st.floats(0, 1000), e=st.floats(0, 1))
def test_r_is_the_array_function_s(codec, d, e):
    r = 94.2 - reference.loss_impairment(e, CODECS[codec]) - reference.delay_impairment(d)
    assert r == pytest.approx(float(emodel.r_factor(d, e, codec)), abs=1e-12)


def test_impairments_by_hand():
    """Each term of the printed formulas, with numbers that can be followed on paper."""
    assert reference.delay_impairment(100.0) == pytest.approx(2.4)
    assert reference.delay_impairment(277.3) == pytest.approx(0.024 * 277.3 + 11.0)
    assert reference.loss_impairment(0.1, CODECS["G.729"]) == pytest.approx(10 + 47.82 * np.log(2.8))
    for r, printed in MOS_TABLE.items():
        assert reference.mean_opinion_score(r) == pytest.approx(printed, abs=0.007)


@given(st.floats(-100, 200))
def test_mos_is_the_array_function_s(r):
    assert reference.mean_opinion_score(r) == float(emodel.mos(r))


@settings(max_examples=300, deadline=None)
@given(traces, st.sampled_from(sorted(CODECS)))
def test_the_best_playout_is_the_compiled_one(frames, codec):
    d, k = [f[0] for f in frames], [f[1] for f in frames]
    r = reference.best_playout(d, k, CODECS[codec])
    assert r == pytest.approx(playout.bound(d, k, codec).r, abs=1e-10)


@settings(max_examples=200, deadline=None)
@given(traces.map(lambda frames: sorted(frames[:7], key=lambda f: f[1])), st.sampled_from(sorted(CODECS)))
def test_the_best_playout_is_brute_force(frames, codec):
    d, k = [f[0] for f in frames], [f[1] % 3 for f in frames]
    frames = sorted(zip(d, k, strict=True), key=lambda f: f[1])
    d, k = [f[0] for f in frames], [f[1] for f in frames]
    assert reference.best_playout(d, k, CODECS[codec]) == pytest.approx(
        playout_recursion.brute_force(d, k, codec), abs=1e-9
    )


@given(st.lists(st.floats(0, 100), min_size=1, max_size=20))
def test_nothing_lies_below_the_hull(costs):
    corners = reference.lower_hull(costs)
    assert corners[0] == 0 and corners[-1] == len(costs) - 1
    line = np.interp(np.arange(len(costs)), corners, [costs[j] for j in corners])
    assert (np.array(costs) >= line - 1e-9).all()
    slopes = np.diff([costs[j] for j in corners]) / np.diff(corners)
    assert (np.diff(slopes) > -1e-9).all()


@settings(max_examples=300, deadline=None)
@given(traces)
def test_ramjee_s_rule_is_the_compiled_one(frames):
    d, k = [f[0] for f in frames], [f[1] for f in frames]
    assert np.array_equal(reference.adaptive_delays(d, k), ramjee(d, k, "G.729").delays_ms, equal_nan=True)


def test_ramjee_s_rule_by_hand():
    """Steady at 100 ms; a spike to 400 is jumped to at once; its way down is followed by an eighth."""
    steady = (100.0, 0.0, -1.0)
    assert reference.followed(100.0, 100.0, 100.0, steady) == steady
    assert reference.followed(150.0, 100.0, 100.0, steady) == pytest.approx((100.0999, 0.0997, -1.0), abs=1e-4)
    spike = reference.followed(400.0, 100.0, 100.0, steady)
    assert spike == (400.0, 0.0, 0.0)
    mean, variation, slope = reference.followed(900.0, 400.0, 100.0, (400.0, 0.0, 10.0))
    assert slope == 5 + abs(1800 - 500) / 8
    assert (mean, variation) == (0.125 * 900 + 0.875 * 400, 0.0)
    low = reference.followed(390.0, 400.0, 390.0, (400.0, 0.0, 10.0))
    assert low == pytest.approx((400.0, 0.001998 * 10, -1.0))


@pytest.mark.parametrize(("jump", "followed"), [(100.0, False), (100.01, True), (-100.0, False), (-100.01, True)])
def test_a_spike_is_a_jump_of_more_than_100_ms(jump, followed):
    """From a steady 300 ms. A smaller jump counts as variation, and a thousandth of it, a thousandfold, is much."""
    trace = [300.0, 300.0 + jump, 300.0 + jump], [0, 0, 1]
    narrow, wide = (ramjee(*trace, "G.729", factor=factor).delays_ms[1] for factor in (0.0, 1000.0))
    assert (wide - narrow == 0) == followed
    assert followed or wide - narrow > 100


@pytest.mark.parametrize(("back", "ended"), [(281.4, True), (281.5, True), (281.52, False), (281.6, False)])
def test_a_spike_ends_when_its_slope_has_fallen_to_63_samples_of_8_khz(back, ended):
    """100 ms, a jump to 400, then back: the slope there is |2 · 281.5 - 400 - 100| / 8 = 7.875 ms, 63 samples."""
    (_, delay) = ramjee([100.0, 400.0, back, back], [0, 0, 0, 1], "G.729", factor=0.0).delays_ms
    if ended:  # the estimate creeps from the spike's top
        assert delay == pytest.approx(0.998002 * 400 + 0.001998 * back)
    else:  # it follows by eighths, twice
        assert delay == pytest.approx(back + 0.875**2 * (400 - back))
    assert reference.adaptive_delays([100.0, 400.0, back, back], [0, 0, 0, 1])[1] == pytest.approx(
        ramjee([100.0, 400.0, back, back], [0, 0, 0, 1], "G.729").delays_ms[1]
    )


def rated(ps: float, pr: float, slr: float, rlr: float, stmr: float, units: float) -> float:
    no = transmission_rating.circuit_noise(ps, pr, slr, rlr)
    r0 = transmission_rating.signal_to_noise(no, slr)
    costs = (
        transmission_rating.loudness_cost(no, slr, rlr),
        transmission_rating.sidetone_cost(stmr),
        transmission_rating.quantising_cost(r0, units),
    )
    return r0 - sum(costs)


@given(
    *(st.floats(35, 85), st.floats(35, 85), st.floats(0, 18)),
    *(st.floats(-5, 14), st.floats(10, 20), st.floats(1, 14)),
)
def test_what_is_planned_is_the_array_functions(ps, pr, slr, rlr, stmr, units):
    ours = rated(ps, pr, slr, rlr, stmr, units)
    assert ours == pytest.approx(float(emodel.planned(ps, pr, slr, rlr, stmr, units)), abs=1e-9)


def test_the_defaults_of_g107_give_the_rating_that_it_prints():
    """Clause 7.7: 93.2. Without a delay what is left of Id is the listener's echo, with WEPL = 110 dB (clause 7.4)."""
    r0 = transmission_rating.signal_to_noise(transmission_rating.circuit_noise(35, 35))
    far = (r0 - 10.5 * (110 + 7)) / 2
    echo = far + np.sqrt(far**2 + 169)
    assert r0 == pytest.approx(94.77, abs=0.005)
    assert round(rated(35, 35, 8, 2, 15, 1) - echo, 1) == 93.2


def test_a_costs_part_is_nought_where_nothing_is_wrong():
    """A quiet call coded once: neither too loud nor too soft, hardly any sidetone; noise costs 1.5 a decibel."""
    assert (
        transmission_rating.loudness_cost(-61.2, slr=18)
        < 0.02
        < 2
        < transmission_rating.loudness_cost(-61.2, slr=0, rlr=0)
    )
    assert abs(transmission_rating.sidetone_cost(15)) < 0.001 < 3 < transmission_rating.sidetone_cost(5)
    assert transmission_rating.quantising_cost(95, 14) > 20 * transmission_rating.quantising_cost(95, 1)
    assert transmission_rating.signal_to_noise(-60) - transmission_rating.signal_to_noise(-59) == pytest.approx(1.5)
    assert transmission_rating.added(-60, -60) == pytest.approx(-60 + 10 * np.log10(2))
