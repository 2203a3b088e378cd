"""From consonant to vowel: the fit finds what was put in, in numbers and in sound, and is the one to read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.pharyngeal import formant_transitions, formants, reference, synthesis


@given(st.floats(200, 3000), st.floats(50, 900), st.booleans(), st.sampled_from(formant_transitions.TAUS))
def test_an_exponential_is_found(target, extent, up, tau):
    times = np.linspace(0.0, 0.12, 40)
    extent = extent if up else -min(extent, target / 2)
    found = formant_transitions.fit(times, target + extent * np.exp(-times / tau))
    assert found.tau == tau
    assert (found.target, found.extent) == pytest.approx((target, extent), abs=1e-5)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_the_fit_to_read_is_the_fit(seed):
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0.0, 0.15, 25))
    values = 1500 + 300 * np.exp(-times / 0.03) + rng.normal(0, 30, 25)
    found = formant_transitions.fit(times, values)
    assert reference.approach(times, values, formant_transitions.TAUS) == pytest.approx(
        (found.onset, found.target, found.tau), rel=1e-6
    )


def test_beside_an_emphatic_f2_starts_low_and_beside_a_plain_consonant_high():
    """Heard through a tracker, against the synthesiser's own loci."""
    found = {}
    for context in ("plain", "tt"):
        token = synthesis.vowel(context, synthesis.Speaker("x"), np.random.default_rng(2))
        track = formants.track(token.sound)
        seen = (track.times > 0.01) & (track.times < token.sound.duration - 0.03) & np.isfinite(track.frequencies[:, 1])
        found[context] = formant_transitions.fit(track.times[seen], track.frequencies[seen, 1])
        truth = formant_transitions.fit(token.times, token.truth[:, 1])
        assert found[context].target == pytest.approx(truth.target, abs=40)
        assert found[context].onset == pytest.approx(truth.onset, abs=120)
    assert found["tt"].extent < 0 < found["plain"].extent


@pytest.mark.parametrize(
    ("times", "values", "said"),
    [(np.arange(5.0), np.ones(4), "5 times and 4 values"), (np.ones(5), np.ones(5), "all times are the same")],
)
def test_what_is_no_transition_is_refused(times, values, said):
    with pytest.raises(ValueError, match=said):
        formant_transitions.fit(times, values)
