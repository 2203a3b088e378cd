"""Strategy 3 of section 3.1: idle data before the talk, a call that is cleared; and Chernov's playout delay (4.3)."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.netsim import Bottleneck
from voicewire.voip.errors import VoipError
from voicewire.voip.playout_rules.chernoff_bound import chernov_delay
from voicewire_book.chapters.voip.startup_padding import exchange


def test_the_rate_doubles_each_round_trip_until_it_is_the_codec_s():
    """From one packet a round trip of 0.2 s, 100 B/s: the codec's 1000 B/s takes four doublings and their reports."""
    at = exchange("TFRC", "G.729", delay_ms=100)
    assert 4 * 0.2 <= at <= 8 * 0.2
    assert exchange("TFRC", "G.729", delay_ms=200) == pytest.approx(2 * at, rel=0.4)
    assert exchange("TFRC SP FR MD", "G.729", delay_ms=50) < exchange("TFRC SP", "G.729", delay_ms=50)


def test_a_call_that_does_not_reach_the_rate_in_time_is_cleared():
    at = exchange("TFRC", "G.729", delay_ms=100)
    assert exchange("TFRC", "G.729", delay_ms=100, patience_s=at) == at
    assert exchange("TFRC", "G.729", delay_ms=100, patience_s=at - 0.02) == math.inf
    thin = Bottleneck(8.0, 50)  # G.729 takes 24 kbit/s with its headers
    assert exchange("TFRC SP", "G.729", delay_ms=100, bottleneck=thin, patience_s=30.0) == math.inf


def test_only_tfrc_has_an_allowed_rate():
    with pytest.raises(VoipError, match="no allowed rate"):
        exchange("UDP", "G.729", delay_ms=50)


delays = st.lists(st.one_of(st.floats(0, 1000), st.just(math.inf)), min_size=1, max_size=60)


@settings(deadline=None)
@given(delays, st.floats(1e-4, 0.9))
def test_no_more_frames_are_late_than_the_bound_allows(drawn, late):
    came = np.array([d for d in drawn if d < math.inf])
    d = chernov_delay(drawn, late)
    if not came.size:
        assert math.isnan(d)
        return
    assert came.mean() - 1e-9 <= d <= came.max()
    assert (came > d + 1e-9).mean() <= late + 1e-12


@settings(deadline=None)
@given(st.lists(st.floats(0, 500), min_size=2, max_size=30), st.floats(1e-3, 0.5))
def test_it_is_the_least_over_all_exponents(drawn, late):
    """Section 4.3: P(D > d) <= E[exp(s (D - d))] for each s > 0; the best s on a fine grid does no better."""
    came = np.array(drawn)
    s = np.geomspace(1e-5, 1e3, 20_001)[:, None]
    high = came.max()
    grid = high + (np.log(np.mean(np.exp(s * (came - high)), axis=1)) - np.log(late)) / s[:, 0]
    assert chernov_delay(drawn, late) == pytest.approx(min(grid.min(), high), abs=1e-3, rel=1e-5)


def test_of_a_normal_delay_it_is_the_mean_and_so_many_deviations():
    """ln E[exp(sD)] = mu s + sigma² s²/2, so d = mu + sigma sqrt(2 ln(1/late))."""
    drawn = np.random.default_rng(5).normal(200.0, 10.0, 400_000)
    for late in (0.1, 0.01):
        assert chernov_delay(drawn, late) == pytest.approx(200 + 10 * np.sqrt(2 * np.log(1 / late)), rel=2e-3)


def test_the_bound_asks_for_more_than_the_quantile():
    skewed = np.random.default_rng(6).exponential(50.0, 5000)
    assert chernov_delay(skewed, 0.05) > np.quantile(skewed, 0.95)
    assert chernov_delay(skewed, 1e-9) == skewed.max()
    assert chernov_delay([70.0, 70.0], 0.1) == 70.0


def test_delays_that_differ_by_next_to_nothing_scale_as_others_do():
    """The bound of delays times a power of two is as many times the bound, down to the least number there is."""
    assert chernov_delay([0.0, 5e-324], 0.5) == 5e-324
    for late in (0.3, 0.5, 0.9):
        assert chernov_delay([0.0, 2.0**-1000, 2.0**-998], late) == 2.0**-1000 * chernov_delay([0.0, 1.0, 4.0], late)
