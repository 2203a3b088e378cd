"""RFC 791, section 3.2: how a datagram is cut, put together again, and what that costs on the link."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.nfc.channel import Channel
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.fragmentation import FragmentedSession, fragments, reassembled, slots_of_datagram
from voicewire.nfc.link import Link
from voicewire.nfc.reference import session as plainly
from voicewire.nfc.session import Session


def test_the_datagram_of_the_rfc_is_cut_as_printed_there():
    # appendix A, example 2 and its three fragments: 452 bytes of data, cut for an MTU of 280: 256 and 196
    parts = fragments(452, 280)
    assert [(part.offset, part.size, part.more) for part in parts] == [(0, 256, True), (32, 196, False)]


@given(st.integers(0, 65_515), st.integers(68, 9000), st.randoms())
def test_parts_fit_are_whole_units_and_come_together_in_any_order(data, mtu, shuffled):
    parts = fragments(data, mtu)
    assert all(20 + part.size <= mtu for part in parts)
    assert all(part.size % 8 == 0 and part.more for part in parts[:-1])
    assert not parts[-1].more
    mixed = [*parts, parts[0]]
    shuffled.shuffle(mixed)
    assert reassembled(mixed) == data


@given(st.integers(1500, 20_000), st.data())
def test_one_missing_part_leaves_nothing(data, draw):
    parts = fragments(data, 576)
    parts.pop(draw.draw(st.integers(0, len(parts) - 1)))
    assert reassembled(parts) is None


@pytest.mark.parametrize("mtu", [67, 0])
def test_every_module_must_forward_68_bytes(mtu):
    with pytest.raises(ParameterError, match="mtu"):
        fragments(100, mtu)


def test_each_part_pays_for_a_header_and_framing():
    link = Link()
    assert slots_of_datagram(link, 1500, 1500) == link.slots(1500)
    # 4000 bytes of data in parts of 1480, 1480 and 1040 bytes, 20 bytes of header and 6 of framing each
    assert slots_of_datagram(link, 4020, 1500) == 151 + 151 + 107


@given(st.integers(500, 5000), st.integers(1, 20_000))
def test_engine_and_reading_version_send_the_same_fragmented_session(mss, size):
    session = FragmentedSession(size=size, mss=mss, channel=Channel.periodic(4))
    fast, plain = session.run(), plainly.run(session, np.random.default_rng(0))
    assert (fast.slots, fast.timeouts) == (plain.slots, plain.sender.timeouts)
    assert fast.slots >= Session(size=size, mss=mss, channel=Channel.periodic(4)).run().slots


def test_bit_errors_are_refused_because_the_parts_headers_are_not_counted():
    with pytest.raises(ParameterError, match="without bit errors"):
        FragmentedSession(channel=Channel.random(1e-5))


def test_the_longest_uncut_segment_costs_the_same_with_and_without():
    assert FragmentedSession(mss=1460).run().slots == Session(mss=1460).run().slots
    assert FragmentedSession(mss=1461).run().slots > Session(mss=1461).run().slots
