"""Slots, segments and what no link can have."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.nfc import paper
from voicewire.nfc.channel import Channel
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import Link, segment_sizes
from voicewire.nfc.session import Session
from voicewire.nfc.slot_sharing import ShortSession, shared


def test_the_printed_rate_is_one_chunk_a_slot():
    link = Link.from_rate(paper.RATE_SLOTTED)
    assert link.period == pytest.approx(paper.SLOT_PERIOD)
    assert link.goodput == pytest.approx(paper.GOODPUT_PRINTED)


@pytest.mark.parametrize(
    ("ip_bytes", "slots"), [(40, 5), (44, 5), (45, 6), (540, 55), (552, 56), (1064, 107), (1500, 151)]
)
def test_slots_of_a_packet(ip_bytes, slots):
    assert Link().slots(ip_bytes) == slots


def test_a_time_of_whole_slots_is_not_rounded_up_by_its_binary_representation():
    assert [Link().slots_of_time(t) for t in (0.0, 0.08, 0.29, 0.0801, 0.07607)] == [0, 8, 29, 9, 8]


@settings(deadline=None)
@given(st.integers(1, 10**6), st.integers(1, 65_000))
def test_segments_add_up_and_only_the_last_is_short(total, mss):
    sizes = segment_sizes(total, mss)
    assert sizes.sum() == total
    assert (sizes[:-1] == mss).all()
    assert 0 < sizes[-1] <= mss


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Session(mss=0), "MSS is 0"),
        (lambda: Session(mss=70_000), "MSS is 70000"),
        (lambda: Session(size=0), "bytes to transfer is 0"),
        (lambda: Session(window=0), "initial window is 0"),
        (lambda: Session(latency=-0.1), "response latency is -0.1 s"),
        (lambda: Session(latency=math.nan), "response latency is nan"),
        (lambda: Session(ethernet_delay=-1), "Ethernet delay is -1 s"),
        (lambda: Session(rto=0), "retransmission timeout is 0 s"),
        (lambda: Session(rto=math.inf), "retransmission timeout is inf"),
        (lambda: Session(retransmissions=-1), "retransmissions is -1"),
        (lambda: Session(mss=math.nan), "MSS is nan"),
        (lambda: Link.from_rate(0), "bit rate is 0"),
        (lambda: Link.from_rate(math.nan), "bit rate is nan"),
        (lambda: Link.from_rate(11_200, chunk=8), "cannot carry 10"),
        (lambda: Link(payload=0), "usable bytes of a slot is 0"),
        (lambda: Channel.random(1), "bit error rate is 1"),
        (lambda: Channel.random(math.nan), "bit error rate is nan"),
        (lambda: Channel.burst(-0.1), "bit error rate is -0.1"),
        (lambda: Channel.burst(1e-4, 0.5), "burst length is 0.5"),
        (lambda: Channel.burst(0.9, 1.0), "lengthen them"),
        (lambda: Channel.periodic(1), "one lost packet in 1"),
        (lambda: Exchange(packets=0), "packets is 0"),
        (lambda: Exchange(channel=Channel.periodic(5)), "takes bit errors"),
        (lambda: shared(5, 1.0), "control share is 1"),
        (lambda: shared(5, -0.1), "control share is -0.1"),
        (lambda: shared(5, math.nan), "control share is nan"),
        (lambda: shared(5, 0.1, "up"), "unknown rounding"),
        (lambda: ShortSession().seconds(0, 1.5), "bit rate is 0"),
        (lambda: ShortSession().seconds(212, 11), "does not fit"),
        (lambda: ShortSession(overhead=60).seconds(212, 1.5), "no room"),
        (lambda: ShortSession(scope="all"), "unknown scope"),
        (lambda: Session(channel=Channel.random(0.1)).run(), "needs a generator"),
    ],
)
def test_impossible_parameters_get_one_clear_error(make, words):
    with pytest.raises(ParameterError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)
