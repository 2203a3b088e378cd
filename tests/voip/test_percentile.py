"""Moon's playout rule: a percentile of the delays so far, spikes left out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.voip import playout
from voicewire.voip.calls import call
from voicewire.voip.errors import VoipError
from voicewire.voip.playout_rules.adaptive_playout import moon
from voicewire.voip.playout_rules.percentile_playout import logged, percentile, percentile_delays

DELAY = st.one_of(st.sampled_from([40.0, 90.0, 400.0, math.inf]), st.floats(1, 900))
TRACES = st.lists(st.tuples(st.integers(0, 5), DELAY), min_size=1, max_size=60).map(
    lambda frames: sorted(frames, key=lambda frame: frame[0])
)


@settings(max_examples=300, deadline=None)
@given(TRACES, st.floats(0.01, 1.0), st.integers(1, 70))
def test_the_compiled_rule_is_the_one_on_the_page(frames, share, memory):
    spurts, delays = [f[0] for f in frames], [f[1] for f in frames]
    fast = moon(delays, spurts, "G.729", share, memory)
    assert np.array_equal(fast.delays_ms, percentile_delays(delays, spurts, share, memory), equal_nan=True)
    assert fast.r <= playout.bound(delays, spurts, "G.729").r + 1e-9


@given(st.lists(st.floats(0, 500), min_size=1, max_size=50), st.floats(0.01, 1.0))
def test_within_the_percentile_lie_so_many_and_within_any_smaller_delay_fewer(delays, share):
    found = percentile(delays, share)
    assert np.mean(np.array(delays) <= found) >= share - 1e-12
    assert np.mean(np.array(delays) < found) < share


def test_a_spike_is_followed_and_forgotten():
    """From 100 ms: it begins beyond 400, is played as it comes, ends within 200, and leaves the percentile alone."""
    delays = [100.0, 100.0, 401.0, 900.0, 201.0, 200.0, 100.0]
    spurts = [0, 0, 1, 2, 2, 3, 4]
    assert percentile_delays(delays, spurts, 0.99, 100) == [100.0, 401.0, 900.0, 200.0, 100.0]
    assert math.isnan(logged(400.0, 100.0, math.nan, []))


def test_a_steady_path_is_played_at_its_own_delay():
    c = call("UDP", "G.729", delay_ms=60, seconds=20)
    assert set(moon(c.delays_ms, c.talk.spurts, "G.729").delays_ms) == {60.0}
    assert moon(c.delays_ms, c.talk.spurts, "G.729").r == pytest.approx(c.r)


@pytest.mark.parametrize("wrong", [{"share": 0.0}, {"share": 1.1}, {"memory": 0}])
def test_what_no_percentile_can_be_is_refused(wrong):
    with pytest.raises(VoipError, match=next(iter(wrong))):
        moon([50.0], [0], "G.729", **wrong)
