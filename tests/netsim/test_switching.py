"""A codec that changes within a flow (thesis, sections 3.1 and 3.6), and packets of different sizes."""

import math

import numpy as np
import pytest

from voicewire.netsim import Flow, NetsimError, Path, Tcp, Tfrc, Udp, simulate
from voicewire.netsim.reference.switching import chosen_size

MS = 1_000_000
LONG = np.arange(1500, dtype=np.int64) * 20 * MS
TWO = {"small": True, "lower": 20}


def run(sender, frames=LONG, path=None, **how):
    return simulate([Flow(frames, 160, sender, path or Path(50), **how)], log=True, seed=1).flows[0]


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("loss", [0.0, 0.02])
def test_one_size_given_for_each_frame_changes_nothing(small, loss):
    one, given = (run(Tfrc(small=small), path=Path(50, loss), **how) for how in ({}, {"sizes": np.full(1500, 160)}))
    for name in ("sent", "arrive", "fate", "rates", "levels"):
        assert np.array_equal(getattr(one, name), getattr(given, name))
    assert one.sizes.size == 0 and set(given.sizes[given.sent >= 0]) == {160}


def test_the_codec_is_the_best_that_the_rate_carries():
    """Sections 3.1 and 3.6: the upper one where X carries it, else the lower one, padded up to X."""
    flow = run(Tfrc(**TWO), path=Path(50, 0.01))
    at, x = flow.rates[:, 0], flow.rates[:, 1]
    for frame in range(50, 1500):
        before = np.searchsorted(at, LONG[frame], side="right") - 1
        if flow.sent[frame] >= 0 and at[before] < LONG[frame]:
            assert flow.sizes[frame] == min(160, max(20, math.floor(x[before] * 0.02 + 1e-6)))
    assert (flow.sizes == 160).any() and ((flow.sizes > 20) & (flow.sizes < 160)).any()


def test_without_padding_the_rate_never_lets_the_better_codec_return():
    """Section 3.1: the application should pad, to determine TFRC to increase the rate."""
    padded, bare = (run(Tfrc(pads=pads, **TWO)) for pads in (True, False))
    assert (padded.sizes[-500:] == 160).all()
    assert set(bare.sizes[bare.sent >= 0]) == {20}
    assert bare.rates[-1, 1] <= 2 * bare.rates[-1, 2] <= 2 * 1000 * 1.1  # at most twice what arrives


def test_late_choice_encodes_anew_what_still_waits():
    """Figure 3.6: frames that were handed over at a higher rate leave with the codec of now."""
    words = np.r_[np.arange(150), 250 + np.arange(100)].astype(np.int64) * 20 * MS
    early, late = (run(Tfrc(late=late, **TWO), words) for late in (False, True))
    began = early.rates[np.searchsorted(early.rates[:, 0], words[150]) - 1, 1]
    for flow in (early, late):
        waited = (flow.sent > words) & (words >= words[150])
        assert waited.any()
    moved = np.flatnonzero((late.sent > words) & (words > words[150]))
    for frame in moved:
        before = np.searchsorted(late.rates[:, 0], late.sent[frame], side="right") - 1
        if late.rates[before, 0] < late.sent[frame]:
            assert late.sizes[frame] == chosen_size(late.rates[before, 1], 0.02, 20, 160)
    assert began > 0 and not np.array_equal(early.sizes, late.sizes)


def test_what_the_receiver_counts_are_bytes():
    """X_recv of an even flow in which small and large frames take turns: the mean of both."""
    sizes = np.where(np.arange(1500) % 2, 40, 160)
    flow = run(Tfrc(floor_packets=50.0), sizes=sizes)
    at, x_recv = flow.rates[:, 0], flow.rates[:, 2]
    steady = x_recv[(at > 5e9) & (at < LONG[-1])]
    assert set(steady.round(6)) == {(3 * 160 + 2 * 40) / 0.1, (2 * 160 + 3 * 40) / 0.1}  # five packets a round trip
    assert np.array_equal(flow.sizes, np.where(flow.sent >= 0, sizes, 0))


def test_a_buffer_that_knows_what_is_important_loses_the_rest():
    """Chapter 6: priorities in the send buffer. As many frames leave; those that matter are among them."""
    words = np.r_[np.arange(50), 150 + np.arange(100)].astype(np.int64) * 20 * MS
    weight = np.where(np.arange(150) % 3, 1.0, 9.0)
    blind, knows = (
        simulate([Flow(words, 20, Tfrc(), Path(100), importance=worth)]).flows[0] for worth in (None, weight)
    )
    kept = [flow.sent >= 0 for flow in (blind, knows)]
    assert abs(int(kept[0].sum()) - int(kept[1].sum())) <= 5
    assert weight[kept[1]].sum() > 1.2 * weight[kept[0]].sum()
    assert kept[1][weight == 9].mean() > kept[0][weight == 9].mean()
    even = simulate([Flow(words, 20, Tfrc(), Path(100), importance=np.ones(150))]).flows[0]
    assert np.array_equal(even.fate, blind.fate) and np.array_equal(even.sent, blind.sent)


@pytest.mark.parametrize(
    ("flow", "why"),
    [
        (lambda: Flow([0, 1], 20, Tfrc(lower=20), Path(50)), "smaller than the flow's 20 bytes"),
        (lambda: Flow([0, 1], 160, Udp(), Path(50), sizes=[20, 160]), "for a Tfrc sender"),
        (lambda: Flow([0, 1], 160, Tfrc(lower=20), Path(50), sizes=[20, 160]), "choose its codec itself"),
        (lambda: Flow([0, 1], 160, Tfrc(), Path(50), sizes=[20]), "a size of 1 to 160 bytes for each frame"),
        (lambda: Flow([0, 1], 160, Tfrc(), Path(50), sizes=[20, 161]), "a size of 1 to 160 bytes for each frame"),
        (lambda: Flow([0, 1], 160, Tfrc(), Path(50), sizes=[0, 20]), "sizes"),
        (lambda: Flow([0, 1], 160, Udp(), Path(50), importance=[1, 2]), "importance is for a Tfrc sender"),
        (lambda: Flow([0, 1], 160, Tfrc(drop_oldest=True), Path(50), importance=[1, 2]), "importance is for"),
        (lambda: Flow([0, 1], 160, Tfrc(), Path(50), importance=[1]), "an importance for each frame"),
        (lambda: Flow([0, 1], 160, Tfrc(), Path(50), importance=[1, -1]), "importance"),
        (lambda: Tcp(cuts=True, joins=False), "cuts none"),
    ],
)
def test_what_cannot_be_is_said(flow, why):
    with pytest.raises(NetsimError, match=why):
        flow()
