"""Loss models: what is drawn follows the formula, and the skipping walk follows the bit-by-bit one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from voicewire.nfc.channel import Channel, cross, error_bits


@settings(deadline=None)
@given(st.floats(1e-9, 0.3), st.floats(1, 100))
def test_a_burst_channel_has_the_rate_and_length_asked_for(ber, length):
    channel = Channel.burst(ber, length) if ber / length / (1 - ber) <= 1 else Channel.burst(ber, 100)
    assert channel.ber == pytest.approx(ber, rel=1e-9)


def test_the_papers_own_example():
    channel = Channel.burst(1e-4, 4)
    assert channel.to_good == 0.25
    assert channel.to_bad == pytest.approx(25e-6, rel=1e-3)


@settings(deadline=None)
@given(st.integers(1, 10_000), st.floats(1e-8, 0.01), st.floats(1, 50))
def test_bursts_of_the_same_rate_hit_fewer_packets(bits, ber, length):
    """With bursts of one bit the chain cannot err twice running: there alone it may hit more."""
    burst, random = Channel.burst(ber, max(length, 1.02 / (1 - ber))), Channel.random(ber)
    assert burst.loss(bits) <= random.loss(bits) * (1 + 1e-9) + 1e-12


@settings(deadline=None)
@given(st.integers(2, 10_000), st.floats(1e-8, 1e-3))
def test_longer_packets_are_lost_more_often(bits, ber):
    for channel in (Channel.random(ber), Channel.burst(ber)):
        assert channel.loss(bits) > channel.loss(bits - 1)


def test_no_errors_no_loss():
    for channel in (Channel.perfect(), Channel.random(0), Channel.burst(0)):
        assert channel.loss(10_000) == 0
        assert channel.ber == 0


@pytest.mark.parametrize("channel", [Channel.random(1e-4), Channel.burst(1e-4), Channel.burst(1e-3, 20)])
def test_packets_are_lost_as_often_as_the_formula_says(channel):
    rng = np.random.default_rng(11)
    trials, hits = 20_000, 0
    for _ in range(trials):
        hit, _ = cross(4320, channel.start(rng), channel.kind, channel.to_bad, channel.to_good, rng)
        hits += hit
    assert stats.binomtest(hits, trials, channel.loss(4320)).pvalue > 1e-3


def test_the_skipping_walk_and_the_bit_by_bit_walk_agree():
    """Same law: losses of packets sent one after the other, the chain keeping its state between them."""
    channel = Channel.burst(2e-3, 6)
    rng = np.random.default_rng(4)
    bits = error_bits(400 * 5000, False, channel.to_bad, channel.to_good, rng)
    slow = bits.reshape(5000, 400).any(axis=1)
    bad, fast = False, []
    for _ in range(5000):
        hit, bad = cross(400, bad, channel.kind, channel.to_bad, channel.to_good, rng)
        fast.append(hit)
    table = [[slow.sum(), 5000 - slow.sum()], [sum(fast), 5000 - sum(fast)]]
    assert stats.chi2_contingency(table).pvalue > 1e-3
    both_slow = np.mean(slow[1:] & slow[:-1])
    both_fast = np.mean(np.array(fast[1:]) & np.array(fast[:-1]))
    assert both_slow == pytest.approx(both_fast, abs=0.02)


def test_bursts_have_their_mean_length():
    channel = Channel.burst(1e-2, 4)
    errors = error_bits(2_000_000, False, channel.to_bad, channel.to_good, np.random.default_rng(2))
    starts = np.count_nonzero(errors[1:] & ~errors[:-1])
    assert errors.sum() / starts == pytest.approx(4, rel=0.03)
    assert errors.mean() == pytest.approx(1e-2, rel=0.05)
