"""Loss models: what is drawn follows the formula, and the skipping walk follows the bit-by-bit one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from voicewire.nfc.channel import BURST, PERIODIC, Channel, cross, error_bits
from voicewire.nfc.errors import ParameterError


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


@pytest.mark.parametrize("bits", [1, 2, 4320])
@pytest.mark.parametrize(("p", "q"), [(1e-3, 0.25), (0.2, 0.5), (1e-6, 1.0)])
def test_the_loss_of_a_packet_is_that_it_starts_bad_or_turns_bad(bits, p, q):
    good = q / (p + q)
    assert Channel(BURST, p, q).ber == pytest.approx(p / (p + q))
    assert Channel(BURST, p, q).loss(bits) == pytest.approx(1 - good * (1 - p) ** (bits - 1))
    assert Channel.random(p).loss(bits) == pytest.approx(1 - (1 - p) ** bits)


def test_losses_at_the_edges():
    for channel in (Channel.random(0.5), Channel.burst(0.4, 5), Channel(BURST, 1.0, 0.5)):
        assert channel.loss(0) == 0
    always = Channel(BURST, 1.0, 0.5)  # a good bit is followed by a bad one
    assert (always.loss(1), always.loss(2), always.loss(3)) == (pytest.approx(2 / 3), 1.0, 1.0)
    assert Channel.periodic(2).loss(1) == Channel.periodic(2).loss(4320) == 0.5
    assert Channel.periodic(25).loss(7) == 0.04
    assert Channel(BURST, 0.0, 0.5).loss(100) == 0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Channel.burst(0.1, 0.99), "at least 1"),
        (lambda: Channel.burst(0.9, 2), "lengthen them"),
        (lambda: Channel.burst(0.6, 1), "lengthen them"),
        (lambda: Channel.periodic(1), "at least 2"),
        (lambda: Channel.periodic(2.5), "whole number"),
        (lambda: Channel.random(1.0), "bit error rate"),
        (lambda: Channel.burst(-0.1), "bit error rate"),
        (lambda: Channel(PERIODIC), "every"),
    ],
)
def test_channels_that_cannot_be(make, said):
    with pytest.raises(ParameterError, match=said):
        make()


def test_the_least_that_can_be():
    assert Channel.burst(0.1, 1).to_good == 1.0
    assert Channel.burst(0.5, 1).to_bad == 1.0  # good and bad bits in turn
    assert Channel.periodic(2).every == 2


def test_only_bursts_begin_in_a_state_and_that_as_often_as_it_lasts():
    rng = np.random.default_rng(5)
    begins = sum(Channel.burst(0.3, 5).start(rng) for _ in range(2000))
    assert stats.binomtest(begins, 2000, 0.3).pvalue > 1e-3
    before = rng.bit_generator.state
    assert not any(channel.start(rng) for channel in (Channel.random(0.9), Channel.perfect(), Channel.periodic(2)))
    assert rng.bit_generator.state == before  # nothing is drawn where there is nothing to draw


@pytest.mark.parametrize(
    ("bits", "bad", "p", "q", "hit", "after"),
    [
        (1, True, 0.0001, 1.0, True, False),  # one bit in the bad state, which it leaves at once
        (1, False, 1.0, 1.0, False, True),  # the bit after it would be bad
        (2, False, 1.0, 1.0, True, False),
        (3, False, 1.0, 1.0, True, True),
        (0, True, 0.5, 1.0, False, True),  # nothing is sent: nothing moves
    ],
)
def test_a_chain_that_leaves_its_state_at_once_is_followed_bit_by_bit(bits, bad, p, q, hit, after):
    rng = np.random.default_rng(1)
    assert cross(bits, bad, BURST, p, q, rng) == (hit, after)
