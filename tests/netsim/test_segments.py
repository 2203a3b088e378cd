"""How TCP makes segments of frames: Nagle's algorithm, a segment for each frame, segments that cut frames."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.netsim import Flow, Path, Tcp, simulate

MS = 1_000_000
TALK = np.arange(500, dtype=np.int64) * 20 * MS


def run(sender, frames=TALK, payload=20, path=None, seed=1):
    return simulate([Flow(frames, payload, sender, path or Path(50))], seed=seed).flows[0]


def test_nagle_has_one_small_segment_out():
    """RFC 896: while something is out that is not acknowledged, what does not fill a segment waits."""
    flow = run(Tcp(nodelay=False, ack_every=1))
    left = np.unique(flow.sent)
    assert (np.diff(left) >= 100 * MS).all()  # each waits for the acknowledgement of the one before
    assert flow.packets["sent"] == left.size == 101  # of one frame, of four, then of five a round trip
    plain = run(Tcp(ack_every=1))
    assert plain.packets["sent"] == 500 and np.array_equal(plain.sent, TALK)


def test_nagle_and_a_delayed_acknowledgement_wait_for_each_other():
    """RFC 1122 section 4.2.3.4 has the option for this: 200 ms on top of the round trip."""
    assert np.diff(np.unique(run(Tcp(nodelay=False)).sent)).max() == 300 * MS


def test_nagle_lets_full_segments_leave():
    flow = run(Tcp(nodelay=False, mss=100), np.zeros(13, np.int64))
    assert np.count_nonzero(flow.sent == 0) == 10  # two full segments of five frames; three frames wait
    assert (flow.sent[10:] > 0).all()


def test_a_segment_for_each_frame():
    frames = np.zeros(40, np.int64)
    assert run(Tcp(joins=False), frames).packets["sent"] == 40
    assert run(Tcp(), frames).packets["sent"] == 1


@given(payload=st.integers(1, 200), mss=st.integers(1, 300), frames=st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_a_stream_is_cut_where_a_segment_is_full(payload, mss, frames):
    """By bytes: frame k is whole with the segment that has its last byte; all segments but the last are full."""
    sender = Tcp(cuts=True, mss=mss, window=max(65_535, mss))
    flow = run(sender, np.zeros(frames, np.int64), payload)
    assert flow.packets["sent"] == math.ceil(frames * payload / mss)
    holds = ((np.arange(frames) + 1) * payload - 1) // mss  # segment of the last byte
    for k in range(1, frames):
        assert (flow.arrive[k] == flow.arrive[k - 1]) or holds[k] > holds[k - 1]
    assert (flow.arrive >= 0).all() and flow.sent.size == frames


@given(payload=st.sampled_from([20, 146, 730]), loss=st.sampled_from([0.0, 0.05]), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_where_whole_frames_fill_a_segment_nothing_is_cut(payload, loss, seed):
    whole, cut = (run(Tcp(cuts=cuts), payload=payload, path=Path(50, loss), seed=seed) for cuts in (False, True))
    assert np.array_equal(whole.sent, cut.sent) and np.array_equal(whole.arrive, cut.arrive)


def test_too_many_pieces_are_refused():
    frames = np.zeros(2000, np.int64)
    with pytest.raises(ValueError, match="64999 pieces each, too many"):
        run(Tcp(cuts=True, mss=1460), frames, 64_999)
