"""Bottleneck, RED, bursts and jitter against the plain wire, to the nanosecond."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from plain_wire import Queue, Wire, row, seeds

from voicewire.netsim import Bottleneck, Flow, NetsimError, Path, Red, Tcp, Udp, bulk, simulate
from voicewire.netsim.reference import Packet

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)  # a failing case is small enough as it is drawn
times = st.one_of(
    st.lists(st.integers(0, 3000), min_size=1, max_size=80).map(lambda t: np.sort(t) * 1_000_000),
    st.integers(1, 60).map(lambda n: np.arange(n, dtype=np.int64) * 20_000_000),
)
share = st.sampled_from([0.0, 0.05, 0.4, 1.0])
paths = st.builds(
    Path,
    st.sampled_from([0.0, 7.5, 40.0]),
    share,
    jitter_ms=st.sampled_from([0.0, 3.0, 60.0]),
    burst=st.none() | st.tuples(share, st.sampled_from([0.05, 0.3, 1.0]), share),
)
reds = st.builds(
    Red,
    st.sampled_from([0.0, 1.0, 2.5]),
    st.sampled_from([3.0, 6.0]),
    st.sampled_from([0.1, 0.5, 1.0]),
    st.sampled_from([0.02, 0.2, 1.0]),
)
links = st.builds(Bottleneck, st.sampled_from([8, 33.3, 200]), st.integers(1, 12), st.none() | reds)
queues = st.none() | links


@settings(max_examples=400, deadline=None, phases=QUICK)
@given(
    st.lists(st.tuples(times, st.sampled_from([20, 160]), paths), min_size=1, max_size=3), queues, st.integers(0, 99)
)
def test_the_wire_is_the_plain_one(given_flows, bottleneck, seed):
    """Whose turn it is on one nanosecond: the first flow of the list."""
    luck, ways = seeds(seed, len(given_flows))
    queue = None if bottleneck is None else Queue(bottleneck, luck)
    wires = [Wire(path, path.loss, way[0], queue) for (_, _, path), way in zip(given_flows, ways, strict=True)]
    turns = sorted((int(t), k, n) for k, (at, _, _) in enumerate(given_flows) for n, t in enumerate(at))
    for now, k, n in turns:
        wires[k].size = given_flows[k][1] + 40
        wires[k].send(now, Packet(n, n, 1, now))
    result = simulate([Flow(t, size, Udp(), path) for t, size, path in given_flows], bottleneck=bottleneck, seed=seed)
    for flow, wire, (at, _, _) in zip(result.flows, wires, given_flows, strict=True):
        assert flow.sent.tolist() == list(at)
        assert {n: t for n, t in enumerate(flow.arrive.tolist()) if t >= 0} == {p.first: t for t, p in wire.flight}
        assert np.flatnonzero(flow.fate == 3).tolist() == wire.full
        assert np.flatnonzero(flow.fate == 4).tolist() == wire.gone
        counts = [flow.packets[name] for name in ("sent", "lost", "dropped_queue", "delivered", "in_flight")]
        assert counts == [wire.sent, wire.lost, len(wire.full), len(wire.flight), 0]
    if queue is not None:
        assert (result.bytes_through, result.longest_queue) == (queue.carried, queue.longest)


@settings(max_examples=200, deadline=None, phases=QUICK)
@given(
    st.lists(st.tuples(times, st.sampled_from([20, 160]), paths), min_size=1, max_size=3),
    st.lists(links, min_size=1, max_size=4),
    st.integers(0, 99),
)
def test_routers_in_a_row_are_the_plain_ones(given_flows, bottlenecks, seed):
    luck, ways = seeds(seed, len(given_flows))
    queues = row(bottlenecks, luck, seed)
    wires = [Wire(path, path.loss, way[0], queues) for (_, _, path), way in zip(given_flows, ways, strict=True)]
    turns = sorted((int(t), k, n) for k, (at, _, _) in enumerate(given_flows) for n, t in enumerate(at))
    for now, k, n in turns:
        wires[k].size = given_flows[k][1] + 40
        wires[k].send(now, Packet(n, n, 1, now))
    flows = [Flow(t, size, Udp(), path) for t, size, path in given_flows]
    result = simulate(flows, bottleneck=bottlenecks, seed=seed)
    for flow, wire in zip(result.flows, wires, strict=True):
        assert {n: t for n, t in enumerate(flow.arrive.tolist()) if t >= 0} == {p.first: t for t, p in wire.flight}
        assert np.flatnonzero(flow.fate == 3).tolist() == wire.full
    assert result.bytes_through == queues.queues[-1].carried
    assert result.longest_queue == max(queue.longest for queue in queues.queues)
    if len(bottlenecks) == 1:
        alone = simulate(flows, bottleneck=bottlenecks[0], seed=seed)
        assert [f.arrive.tolist() for f in alone.flows] == [f.arrive.tolist() for f in result.flows]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_only_the_router_that_is_congested_marks_or_drops(place):
    """RFC 3168 section 5: a router marks where it would else have dropped, so the fast ones do neither."""

    def run(edge_marks):
        rates = [10_000.0, 20_000.0]
        rates.insert(place, 300.0)
        routers = [Bottleneck(v, 50, Red(5, 15, ecn=(v == 300) == edge_marks)) for v in rates]
        flows = [Flow(bulk(1500), 1460, Tcp(ecn=True), Path(20)) for _ in range(2)]
        return simulate(flows, bottleneck=routers, until_s=40).flows[0].packets

    assert run(edge_marks=True)["marked"] > 0
    assert run(edge_marks=False)["marked"] == 0
    assert run(edge_marks=False)["dropped_queue"] > 0


@pytest.mark.parametrize("given_row", [[], [Path(5)], 7, [Bottleneck(100)] * 65])
def test_impossible_rows_of_routers(given_row):
    with pytest.raises(NetsimError, match="bottleneck"):
        simulate([Flow([0], 20, Udp(), Path(5))], bottleneck=given_row)


def test_the_second_packet_in_a_row_that_red_spares_at_one_half_is_the_last():
    """Four at once, weight 1: levels 1, 2, 3 give p_b = 0, 1/4, 1/2; two spared before, 1 - 2 · 1/2 leaves nothing."""
    link = Bottleneck(200, 12, Red(1, 5, 1.0, 1.0))
    fates = [simulate([Flow([0] * 4, 20, Udp(), Path(5))], bottleneck=link, seed=n).flows[0].fate for n in range(20)]
    spared = [fate for fate in fates if fate[2] == 1]
    assert 5 < len(spared) < 20
    assert all(fate.tolist() == [1, 1, 1, 3] for fate in spared)
