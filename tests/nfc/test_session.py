"""The simulation against its closed form, and what must be conserved when packets are lost."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from voicewire.nfc import paper
from voicewire.nfc.channel import Channel
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.latency_formulas import OutsideRegimeError, latency
from voicewire.nfc.link import Link
from voicewire.nfc.session import Session


@settings(max_examples=400, deadline=None)
@given(
    mss=st.integers(1, 1500),
    segments=st.integers(1, 12),
    cut=st.integers(0, 1499),
    window=st.integers(1, 9000),
    limit=st.integers(1, 12_000),
    response=st.integers(0, 300),
    delay=st.integers(0, 1200),
    framing=st.integers(0, 12),
)
def test_simulation_equals_the_closed_form(mss, segments, cut, window, limit, response, delay, framing):
    session = Session(
        size=max(1, segments * mss - cut % mss), mss=mss, window=window, window_limit=limit,
        latency=response / 1000, ethernet_delay=delay / 1000, link=Link(framing=framing),
    )  # fmt: skip
    try:
        parts = latency(session)
    except OutsideRegimeError:
        assume(False)
    result = session.run()
    assert result.slots == parts.total
    assert result.air == parts.handshake + parts.data + parts.acks + parts.teardown


def test_the_closed_form_covers_a_good_part_of_what_can_be_asked():
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        mss = int(rng.integers(200, 1461))
        session = Session(size=int(rng.integers(1, 20_000)), mss=mss, window=int(rng.integers(mss, 8193)))
        try:
            assert latency(session).total == session.run().slots
            covered += 1
        except OutsideRegimeError:
            pass
    assert covered > 250


@pytest.mark.parametrize(("mss", "seconds"), [(1460, 6.26), (1024, 6.26), (512, 6.76), (256, 7.86)])
def test_table_72(mss, seconds):
    result = Session(mss=mss).run()
    assert result.seconds == pytest.approx(seconds)
    assert result.seconds == pytest.approx(paper.TABLE_72[mss], rel=0.01)


def test_the_first_packets_by_hand():
    """Two segments of 10 slots: SYN, SYN+ACK, ACK; two data, an ACK between turns; FIN, FIN+ACK, ACK."""
    link = Link(framing=0)
    rows = Session(size=120, mss=60, latency=0.02, link=link).run(log=True).packets
    starts = [(int(first), int(length), int(direction)) for first, length, direction, _, _ in rows]
    assert starts == [
        (0, 5, 0), (7, 5, 1), (14, 4, 0), (18, 10, 0), (28, 10, 0), (38, 4, 1), (44, 4, 1), (50, 4, 0), (56, 4, 1),
        (62, 4, 0),
    ]  # fmt: skip


def test_packets_never_overlap_and_every_slot_is_accounted_for():
    result = Session(size=30_000, channel=Channel.random(2e-5)).run(np.random.default_rng(3), log=True)
    ends = result.packets[:, 0] + result.packets[:, 1]
    assert (result.packets[1:, 0] >= ends[:-1]).all()
    assert result.packets[:, 1].sum() == result.air
    assert ends[-1] == result.slots


# a needless repeat is still on the link when the last acknowledgement comes
@example(
    seed=0, size=833, mss=64, window=704, ber=0.00023793042739411025, burst=False, duplicates=3, single=False, limit=1
)
@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 30_000),
    mss=st.integers(64, 1460),
    window=st.integers(1, 8192),
    ber=st.floats(0, 3e-4),
    burst=st.booleans(),
    duplicates=st.sampled_from([0, 3]),
    single=st.booleans(),
    limit=st.integers(0, 12),
)
def test_bytes_and_segments_are_conserved_and_a_session_always_ends(
    seed, size, mss, window, ber, burst, duplicates, single, limit
):
    channel = Channel.burst(ber) if burst else Channel.random(ber)
    session = Session(
        size=size, mss=mss, window=window, channel=channel, duplicates=duplicates, single_buffer=single,
        retransmissions=limit,
    )  # fmt: skip
    result = session.run(np.random.default_rng(seed), log=True)
    assert result.data_sent == result.data_lost + result.data_arrived
    assert result.acks_sent == result.acks_lost + result.acks_arrived
    ends = result.packets[:, 0] + result.packets[:, 1]
    assert (result.packets[1:, 0] >= ends[:-1]).all()
    distinct = result.data_arrived - result.duplicates
    assert distinct <= len(session.data_slots())
    if result.gave_up:
        assert result.outcome == f"gave up after {limit} retransmissions"
    else:
        assert result.outcome == "delivered"
        assert result.delivered == size
        assert distinct == len(session.data_slots())
    data = result.packets[(result.packets[:, 2] == 0) & (result.packets[:, 3] >= 0)]
    assert len(data) == result.data_sent
    assert data[:, 4].sum() == result.data_lost
    in_order = 0
    arrived = set(data[data[:, 4] == 0, 3].tolist())
    while in_order in arrived:
        in_order += 1
    assert result.delivered >= min(size, in_order * mss) - mss


def test_a_channel_that_lets_nothing_through_is_given_up():
    result = Session(channel=Channel.random(0.5), retransmissions=4).run(np.random.default_rng(1))
    assert result.gave_up
    assert result.outcome == "gave up after 4 retransmissions"
    assert result.delivered == 0


def test_one_lost_packet_is_repaired_by_duplicates_without_a_timeout():
    result = Session(size=20_480, channel=Channel.periodic(5)).run(log=True)
    assert result.delivered == 20_480
    assert result.fast > 0


def test_without_fast_retransmit_each_hole_waits_for_its_timeout():
    slow = Session(size=20_480, channel=Channel.periodic(10), duplicates=0).run()
    fast = Session(size=20_480, channel=Channel.periodic(10)).run()
    assert slow.timeouts > fast.timeouts
    assert slow.seconds > fast.seconds


def test_the_same_seed_gives_the_same_session():
    session = Session(size=50_000, channel=Channel.burst(1e-4))
    first, second = (session.run(np.random.default_rng(9), log=True) for _ in range(2))
    assert first.slots == second.slots
    assert (first.packets == second.packets).all()


def test_stall_and_delay_of_section_71():
    def extra(delay):
        small, large = (
            Session(size=paper.FIGURE_72_BYTES, window=window, ethernet_delay=delay).run().seconds
            for window in (2048, 8192)
        )
        return small - large

    assert extra(0.0) == pytest.approx(0.08)
    assert extra(1.0) == pytest.approx(1.03)


@pytest.mark.parametrize("delay", [0.0, 0.5])
def test_stop_and_wait_pays_both_responses_for_each_segment(delay):
    session = Session(size=10_000, mss=1000, window=1000, window_limit=1000, ethernet_delay=delay)
    assert latency(session).stalls == 9 * (8 + session.far)
    assert session.run().slots == latency(session).total


def test_the_closed_form_says_what_it_does_not_cover():
    with pytest.raises(ParameterError, match="without errors"):
        latency(Session(channel=Channel.random(1e-5)))
    with pytest.raises(ParameterError, match="single-buffered"):
        latency(Session(single_buffer=False))
    with pytest.raises(OutsideRegimeError, match="shorter than a response"):
        latency(Session(mss=10))
    with pytest.raises(OutsideRegimeError, match="first window of 1"):
        latency(Session(window=1024))


def test_packets_told_in_words():
    result = Session(size=2000, mss=1000, channel=Channel.periodic(2), duplicates=0).run(log=True)
    told = result.lines()
    assert told[0] == "slot   0 to   4  -> appliance  control"
    assert told[1] == "slot  13 to  17  <- appliance  control"
    assert told[3].endswith("-> appliance  data 0")
    assert told[4].endswith("-> appliance  data 1, lost")
    assert told[5].endswith("<- appliance  ACK 1")
    assert result.lines(2) == told[:2]


def test_a_timer_fires_one_timeout_after_the_lost_packet_has_crossed():
    """Nothing but the timer repairs a hole at the end; the second loss of the same segment doubles the wait."""
    once = Session(size=2000, mss=1000, channel=Channel.periodic(2), duplicates=0, rto=5.0).run(log=True)
    data = once.packets[(once.packets[:, 2] == 0) & (once.packets[:, 3] == 1)]
    assert data[0, 4] == 1
    assert data[1, 0] - (data[0, 0] + data[0, 1]) == pytest.approx(500, abs=20)
    dead = {b: Session(channel=Channel.random(0.5), retransmissions=3, backoff=b).run(np.random.default_rng(1)) for b in
            (True, False)}  # fmt: skip
    assert dead[True].slots == 4 * 5 + 300 * (1 + 2 + 4 + 8)
    assert dead[False].slots == 4 * 5 + 300 * 4


def test_after_a_timeout_the_window_restarts_where_it_is_told():
    def starts(restart):
        session = Session(size=20_480, window=8192, restart_window=restart, channel=Channel.periodic(10), duplicates=0)
        return session.run(log=True)

    small, large = starts(None), starts(8192)
    assert small.timeouts > 0
    assert small.slots > large.slots
