"""Flows that share a link, as a table in seconds and bits a second."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.netsim import Flow, NetsimError, Path, SharedLink, Tfrc, Udp, bulk, simulate_table

PROTOCOLS = st.lists(st.sampled_from(["TCP", "TFRC", "CCID2"]), min_size=1, max_size=4)


@settings(max_examples=15, deadline=None)
@given(PROTOCOLS, st.floats(2e5, 2e6), st.floats(0.005, 0.1), st.integers(10, 60))
def test_bulk_flows_fill_the_link_and_no_more(protocols, rate, delay, queue):
    """Each always has data: together they carry most of what the link does, and each carries something."""
    table = simulate_table(protocols, SharedLink(rate, delay, queue), seconds=20)
    assert table["protocol"].tolist() == protocols
    assert (table["throughput"] > 0).all() and (table["not_sent"] == 0).all()
    assert table["throughput"].sum() <= rate
    assert (table["delay"] >= delay).all()
    under_way = table["sent"] - table["delivered"] - table["queue"] - table["lost"]
    assert (under_way >= -table["sent"]).all()


def test_a_bulk_transfer_by_tfrc_is_no_handful_of_packets():
    table = simulate_table(["TFRC"], SharedLink(1e6, 0.02), seconds=30)
    assert table["throughput"][0] > 0.7e6


def test_a_flow_of_ones_own_says_what_its_buffer_dropped():
    frames = [0, 0, 0, 0, 0, 0, 0, 0, 10**9]
    flows = [Flow(frames, 100, Tfrc(buffer=2), Path(10)), Flow([0], 100, Udp(), Path(10))]
    table = simulate_table(flows, SharedLink(1e6, 0.02), seconds=5)
    assert table["not_sent"].tolist() == [5, 0]
    assert table["delivered"].tolist() == [4, 1]


def test_frames_that_no_buffer_holds_are_refused_before_they_are_lost():
    with pytest.raises(NetsimError, match="20000 frames come at one time, and the send buffer holds 5"):
        Flow(bulk(20_000), 1460, Tfrc(), Path(10))
    with pytest.raises(NetsimError, match="'UDP' has no bulk transfer: give TCP, TFRC, CCID2"):
        simulate_table(["UDP"], SharedLink(1e6, 0.02))


@pytest.mark.parametrize("flows", ["TCP", {"TCP": 2}, None, 20, [20]])
def test_what_is_no_list_of_flows_is_refused(flows):
    with pytest.raises(NetsimError, match="must be a list|has no bulk transfer"):
        simulate_table(flows, SharedLink(1e6, 0.02))


def test_flows_may_come_one_by_one():
    assert len(simulate_table((name for name in ("TCP", "TFRC")), SharedLink(1e5, 0.02), seconds=2)) == 2
