"""The Ethernet side of the bridge: tail drop (RFC 7567, section 2), other traffic, losses, and what they leave."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.nfc.beyond.ethernet import Ethernet
from voicewire.nfc.channel import Channel
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.reference.ethernet import LOST, Port, comes_back, met, reaches
from voicewire.nfc.session import Recovery, Session


def test_rfc_7567_section_2_packets_are_accepted_until_the_memory_is_full_and_then_rejected_until_one_leaves():
    port = Port(Ethernet(room=3), 1.0, np.random.default_rng(1))
    waiting, fate = 0, []
    for leaves in (0, 0, 0, 0, 0, 1, 0, 2, 0, 0):
        waiting -= leaves
        fate.append(reaches(port, waiting))
        waiting += fate[-1]
    assert fate == [True, True, True, False, False, True, False, True, True, False]
    assert port.dropped == fate.count(False)


@pytest.mark.parametrize(("room", "came"), [(3, 3), (8, 8), (9, 8)])
def test_of_a_first_window_of_eight_segments_as_many_come_as_there_is_room(room, came):
    session = Session(8192, window=8192, ethernet=Ethernet(room=room), duplicates=0)
    result = session.run(log=True)
    assert result.delivered == 8192
    before = result.packets[result.packets[:, 0] < 31 + came * 112 + 100]  # no timeout has been yet
    assert ((before[:, 2] == 0) & (before[:, 3] >= 0)).sum() == came
    assert (result.dropped > 0) == (came < 8)


@pytest.mark.parametrize("load", [0.2, 0.5, 0.9])
def test_before_a_packet_are_n_or_more_others_with_load_to_the_n(load):
    """Within four standard errors; the mean wait is that of a queue with random arrivals."""
    rng, runs = np.random.default_rng(7), 40_000
    before = np.array([met(0.0, load, 0, 0, rng) for _ in range(runs)])
    for n in range(1, 6):
        assert np.mean(before >= n) == pytest.approx(load**n, abs=4 * math.sqrt(load**n * (1 - load**n) / runs))
    port = Ethernet(load=load, service=0.02)
    assert 0.02 * before.mean() == pytest.approx(port.wait, abs=4 * 0.02 * before.std() / math.sqrt(runs))


@pytest.mark.parametrize(
    ("port", "waiting"), [(Ethernet(0.1), 5), (Ethernet(load=0.8, room=6), 0), (Ethernet(0.05, 0.8, 0.01, 6), 4)]
)
def test_the_share_of_dropped_packets_is_the_formula_s(port, waiting):
    rng, runs = np.random.default_rng(8), 20_000
    lost = np.mean([met(port.loss, port.load, port.room, waiting, rng) == LOST for _ in range(runs)])
    wanted = port.dropped(waiting)
    assert lost == pytest.approx(wanted, abs=4 * math.sqrt(wanted * (1 - wanted) / runs))
    assert Ethernet(room=6).dropped(6) == 1 and Ethernet(room=6).dropped(5) == 0


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.integers(0, 2**32), st.floats(0, 30))
def test_acknowledgements_come_in_their_order_and_never_early(gaps, seed, pace):
    port = Port(Ethernet(load=0.7), pace, np.random.default_rng(seed))
    due = np.cumsum(gaps).tolist()
    came = [comes_back(port, at) for at in due]
    assert came == sorted(came)
    assert all(there >= at for there, at in zip(came, due, strict=True))


@pytest.mark.parametrize("channel", [Channel(), Channel.random(2e-5), Channel.burst(8e-5), Channel.periodic(9)])
def test_a_quiet_ethernet_changes_no_slot_and_draws_no_number(channel):
    plain, quiet = (Session(30_000, channel=channel, **more) for more in ({}, {"ethernet": Ethernet(service=1.0)}))
    one, other = np.random.default_rng(4), np.random.default_rng(4)
    assert plain.run(one, log=True).packets.tolist() == quiet.run(other, log=True).packets.tolist()
    assert one.random() == other.random()


def test_a_memory_that_is_never_full_changes_no_slot():
    plain, roomy = Session(30_000), Session(30_000, ethernet=Ethernet(room=9))
    assert plain.run(log=True).packets.tolist() == roomy.run(log=True).packets.tolist()


def test_what_the_ethernet_drops_takes_no_slot_and_is_sent_again():
    session = Session(50_000, ethernet=Ethernet(loss=0.1))
    result = session.run(np.random.default_rng(2), log=True)
    segments = len(session.data_slots())
    assert result.delivered == 50_000
    assert result.dropped > 0
    assert result.data_sent == result.data_arrived == segments + result.duplicates
    assert result.fast > 0  # RFC 5681, section 3.2: three duplicates repair a hole without a timeout


def test_other_traffic_delays_the_sender_by_its_mean_wait():
    """Stop and wait: each round trip crosses the Ethernet once; so does the handshake, and the end."""
    port = Ethernet(load=0.5, service=0.4)
    alone = Session(20_000, mss=500, window=500, window_limit=500, rto=60.0)
    shared = Session(20_000, mss=500, window=500, window_limit=500, rto=60.0, ethernet=port)
    late = [shared.run(np.random.default_rng(seed)).seconds - alone.run().seconds for seed in range(200)]
    error = np.std(late) / math.sqrt(len(late))
    assert np.mean(late) == pytest.approx((40 + 2) * port.wait, abs=4 * error)


def test_a_busy_ethernet_needs_a_generator():
    for busy in (Ethernet(loss=0.1), Ethernet(load=0.1)):
        with pytest.raises(ParameterError, match="busy Ethernet needs a generator"):
            Session(ethernet=busy).run()
    assert Session(ethernet=Ethernet(room=2)).run().delivered == 5000


def test_nothing_gets_through_and_the_session_is_given_up():
    result = Session(ethernet=Ethernet(loss=0.99), retransmissions=3).run(np.random.default_rng(1))
    assert result.gave_up
    assert result.delivered == 0


def test_an_acknowledgement_that_others_keep_for_long_finds_room():
    """Thousands of slots behind others, while a short timer goes on repeating."""
    session = Session(
        2000, mss=100, rto=0.2, backoff=False, retransmissions=3000, ethernet=Ethernet(load=0.9, service=5.0),
        recovery=Recovery(),
    )  # fmt: skip
    assert session.run(np.random.default_rng(3)).delivered == 2000
