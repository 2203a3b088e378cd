"""The reading version against the compiled engine: the same packets in the same slots from the same random numbers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from voicewire.nfc import engine
from voicewire.nfc.beyond.ethernet import Ethernet
from voicewire.nfc.channel import Channel, error_bits
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import Link
from voicewire.nfc.reference import exchange as exchange_to_read
from voicewire.nfc.reference import session as session_to_read
from voicewire.nfc.session import LWIP, Recovery, Session

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)  # a failing case is small enough as it is drawn

ethernets = st.builds(
    Ethernet,
    loss=st.sampled_from([0.0, 0.0, 0.1]),
    load=st.sampled_from([0.0, 0.5, 0.8]),
    service=st.sampled_from([0.0, 0.01, 0.25]),
    room=st.sampled_from([0, 1, 4, 12]),
)
channels = st.one_of(
    st.just(Channel()),
    st.floats(0, 2e-4).map(Channel.random),
    st.floats(0, 2e-4).map(Channel.burst),
    st.integers(2, 12).map(Channel.periodic),
)


def the_same(session, seed):
    fast = session.run(np.random.default_rng(seed), log=True)
    plain = session_to_read.run(session, np.random.default_rng(seed))
    assert fast.packets.tolist() == [list(row) for row in plain.packets]
    assert (plain.slots, plain.delivered, plain.gave_up) == (fast.slots, fast.delivered, fast.gave_up)
    sender, appliance = plain.sender, plain.appliance
    assert (sender.timeouts, sender.fast) == (fast.timeouts, fast.fast)
    assert (appliance.arrived, appliance.duplicates) == (fast.data_arrived, fast.duplicates)
    data = [row for row in plain.packets if row[2] == 0 and row[3] >= 0]
    acks = [row for row in plain.packets if row[2] == 1 and row[3] >= 0]
    assert (len(data), sum(row[4] for row in data)) == (fast.data_sent, fast.data_lost)
    assert (len(acks), sum(row[4] for row in acks)) == (fast.acks_sent, fast.acks_lost)
    assert fast.acks_arrived == fast.acks_sent - fast.acks_lost
    assert sum(row[1] for row in plain.packets) == fast.air
    assert plain.dropped == fast.dropped
    return fast


@settings(max_examples=150, deadline=None, phases=QUICK)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 30_000),
    mss=st.integers(100, 1460),
    window=st.integers(1, 8192),
    limit=st.integers(1, 12_000),
    restart=st.one_of(st.none(), st.integers(1, 8192)),
    response=st.integers(0, 150),
    delay=st.sampled_from([0, 0, 300, 1000]),
    rto=st.sampled_from([0.5, 3.0, 5.0]),
    backoff=st.booleans(),
    retransmissions=st.integers(0, 4),
    duplicates=st.sampled_from([0, 1, 2, 3]),
    single=st.booleans(),
    framing=st.integers(0, 12),
    channel=channels,
    recovery=st.one_of(st.just(Recovery()), st.just(LWIP), st.builds(Recovery, *[st.booleans()] * 5)),
)
def test_a_session_is_the_engine_s(
    seed, size, mss, window, limit, restart, response, delay, rto, backoff, retransmissions, duplicates, single,
    framing, channel, recovery,
):  # fmt: skip
    session = Session(
        size=size, mss=mss, window=window, window_limit=limit, restart_window=restart, latency=response / 1000,
        ethernet_delay=delay / 1000, rto=rto, backoff=backoff, retransmissions=retransmissions,
        duplicates=duplicates, single_buffer=single, link=Link(framing=framing), channel=channel, recovery=recovery,
    )  # fmt: skip
    the_same(session, seed)


@settings(max_examples=150, deadline=None, phases=QUICK)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 30_000),
    mss=st.integers(100, 1460),
    window=st.integers(1, 8192),
    limit=st.integers(1, 12_000),
    delay=st.sampled_from([0, 0, 300, 1000]),
    rto=st.sampled_from([0.5, 3.0]),
    floor=st.one_of(st.none(), st.sampled_from([0.2, 1.0])),
    retransmissions=st.integers(0, 6),
    duplicates=st.sampled_from([0, 1, 3]),
    channel=channels,
    recovery=st.builds(Recovery, *[st.booleans()] * 5),
    ethernet=ethernets,
)
def test_a_session_with_a_busy_ethernet_and_an_estimated_timeout_is_the_engine_s(
    seed, size, mss, window, limit, delay, rto, floor, retransmissions, duplicates, channel, recovery, ethernet
):
    if floor is not None:
        recovery = replace(recovery, timer_runs_on=True)
    session = Session(
        size=size, mss=mss, window=window, window_limit=limit, ethernet_delay=delay / 1000, rto=rto, rto_floor=floor,
        retransmissions=retransmissions, duplicates=duplicates, channel=channel, recovery=recovery, ethernet=ethernet,
    )  # fmt: skip
    the_same(session, seed)


@pytest.mark.parametrize("floor", [None, 0.2])
@pytest.mark.parametrize("ethernet", [Ethernet(0.1), Ethernet(load=0.8, service=0.25), Ethernet(load=0.8, room=20)])
def test_a_long_session_over_a_busy_ethernet_is_the_engine_s(ethernet, floor):
    """Drops, delays and repairs of every kind, in a window of forty segments."""
    session = Session(
        size=60_000, mss=300, window_limit=12_000, ethernet=ethernet, rto_floor=floor,
        recovery=Recovery(timer_runs_on=True),
    )  # fmt: skip
    done = the_same(session, 3)
    assert done.delivered == 60_000
    if ethernet.loss or ethernet.room:
        assert done.dropped > 0
        assert done.fast + done.timeouts > 0


@pytest.mark.parametrize("recovery", [Recovery(), LWIP])
@pytest.mark.parametrize("duplicates", [1, 3])
@pytest.mark.parametrize("seed", range(10))
def test_time_outs_in_the_middle_of_a_fast_recovery_are_the_engine_s(seed, duplicates, recovery):
    """So many losses that each state of the sender meets a time-out; windows far below their limit."""
    session = Session(
        size=60_000, mss=200, window=4096, window_limit=60_000, channel=Channel.random(1.5e-4), rto=1.5,
        duplicates=duplicates, restart_window=3000, backoff=False, recovery=recovery,
    )  # fmt: skip
    the_same(session, seed)


@pytest.mark.parametrize(("latency", "delay"), [(0.0, 10.0), (10.0, 0.0)])
@pytest.mark.parametrize("mss", [50, 200])
def test_many_answers_under_way_are_the_engine_s(latency, delay, mss):
    """A timer so short that far more answers are under way than there are segments: none is lost or put off."""
    session = Session(
        size=400, mss=mss, latency=latency, ethernet_delay=delay, rto=0.01, backoff=False, retransmissions=500
    )
    done = the_same(session, 0)
    assert done.duplicates > 4 * len(session.data_slots())


def test_more_answers_than_there_is_room_for_are_refused(monkeypatch):
    monkeypatch.setattr(engine, "ROOM", 16)
    with pytest.raises(ParameterError, match="16 packets are under way: lower the latency"):
        Session(size=400, mss=50, ethernet_delay=10.0, rto=0.01, backoff=False, retransmissions=500).run()


def test_bursts_of_one_bit_are_the_engine_s():
    """The chain leaves the bad state after each bit, without a draw."""
    assert the_same(Session(size=40_000, channel=Channel.burst(1e-4, 1)), 0).data_lost > 0


@pytest.mark.parametrize("channel", [Channel.random(2e-5), Channel.burst(8e-5), Channel.periodic(7)])
def test_a_long_session_with_every_kind_of_repair_is_the_engine_s(channel):
    """So long that the window grows beyond slow start, with fast retransmits and time-outs: each rule decides."""
    session = Session(size=120_000, mss=300, window_limit=60_000, channel=channel)
    done = the_same(session, 3)
    assert done.fast > 0
    if channel.every == 0:
        assert done.timeouts > 0


@settings(max_examples=100, deadline=None, phases=QUICK)
@given(st.integers(0, 500), st.booleans(), st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**32))
def test_bit_by_bit_is_the_definition(bits, bad, p, q, seed):
    hit, _ = exchange_to_read.bits_in_turn(bits, bad, p, q, np.random.default_rng(seed))
    assert hit == error_bits(bits, bad, p, q, np.random.default_rng(seed)).any()


def test_whole_stays_have_the_law_of_single_bits():
    """The share of lost packets and of pairs of them, within four standard errors of the exact loss."""
    channel = Channel.burst(2e-3, 6)
    packets, bits = 4000, 400
    air = exchange_to_read.Air(channel, False, np.random.default_rng(1))
    stays = np.array([exchange_to_read.spoils(air, bits, True) for _ in range(packets)])
    bad, rng, single = False, np.random.default_rng(2), []
    for _ in range(packets):
        hit, bad = exchange_to_read.bits_in_turn(bits, bad, channel.to_bad, channel.to_good, rng)
        single.append(hit)
    error = np.sqrt(channel.loss(bits) * (1 - channel.loss(bits)) / packets)
    assert abs(stays.mean() - channel.loss(bits)) < 4 * error
    assert abs(np.mean(single) - channel.loss(bits)) < 4 * error


@example(seed=0, packets=20, ber=2e-4, burst=True, backoff=True, limit=12)
@example(seed=1, packets=10, ber=2e-311, burst=True, backoff=True, limit=3)
@settings(max_examples=150, deadline=None, phases=QUICK)
@given(
    seed=st.integers(0, 2**32),
    packets=st.integers(1, 40),
    ber=st.floats(0, 4e-4),
    burst=st.booleans(),
    backoff=st.booleans(),
    limit=st.integers(0, 12),
)
def test_stop_and_wait_is_the_engine_s(seed, packets, ber, burst, backoff, limit):
    channel = Channel.burst(ber) if burst else Channel.random(ber)
    exchange = Exchange(packets=packets, channel=channel, backoff=backoff, retransmissions=limit)
    fast = exchange.run(1, np.random.default_rng(seed))
    cost, losses, through = exchange_to_read.stop_and_wait(exchange, np.random.default_rng(seed))
    assert (losses, through) == (int(fast.losses[0]), bool(fast.delivered[0]))
    assert fast.seconds[0] == exchange.floor + cost * exchange.link.period


class Drawn:
    """A generator of random numbers that draws what it is told."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def random(self):
        return self.numbers.pop(0)


@pytest.mark.parametrize(
    ("leave", "drawn", "bits"),
    [
        (0.5, 0.0, 1), (0.5, 0.49, 1), (0.5, 0.51, 2), (0.5, 0.74, 2), (0.5, 0.76, 3),
        (0.1, 0.0999, 1), (0.1, 0.1001, 2), (0.1, 0.1899, 2), (0.1, 0.1901, 3),
        (1e-300, 0.5, 1e18),  # more than any packet has
    ],
)  # fmt: skip
def test_a_stay_is_k_bits_with_the_share_of_k_minus_one_that_stay_and_one_that_leaves(leave, drawn, bits):
    """Stays are geometric: one of k bits or fewer has the probability 1 - (1 - leave)^k."""
    assert exchange_to_read.stays(leave, Drawn(drawn)) == bits


def test_a_chain_that_leaves_at_once_draws_nothing():
    assert exchange_to_read.stays(1.0, Drawn()) == 1.0


@pytest.mark.parametrize(
    ("bad", "drawn", "bits", "lost", "after"),
    [
        (True, [0.3], 1, True, True),  # a stay of two bits or more: the packet ends in the bad state
        (False, [0.8], 1, False, False),
        (False, [0.1, 0.8], 1, False, True),  # a good stay of one bit fills the packet, the next packet begins bad
        (False, [0.1, 0.8], 2, True, True),
        (True, [0.1, 0.8], 2, True, False),
    ],
)
def test_a_packet_is_lost_if_one_of_its_bits_is_bad(bad, drawn, bits, lost, after):
    """Both stays are one bit up to a draw of 0.25, for the channel leaves either state with 0.25."""
    channel = Channel(Channel.burst(1e-4).kind, 0.25, 0.25)
    air = exchange_to_read.Air(channel, bad, Drawn(*drawn))
    assert exchange_to_read.spoils(air, bits, True) is lost
    assert air.bad is after


def test_bursts_too_rare_for_a_float_spoil_nothing():
    channel = Channel.burst(5e-324)
    assert channel.to_bad == 0
    assert not exchange_to_read.spoils(exchange_to_read.Air(channel, True, Drawn()), 10**6, True)
