"""Conservation, closed forms and rules of the simulator."""

import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from voicewire.netsim import (
    Bottleneck,
    Ccid2,
    Flow,
    NetsimError,
    Path,
    Red,
    Tcp,
    Tfrc,
    Udp,
    bulk,
    initial_window,
    simulate,
)

MS = 1_000_000
SENDERS = {
    "UDP": Udp(),
    "TCP": Tcp(ecn=True),
    "TCP 2581": Tcp(rfc=2581),
    "TFRC": Tfrc(),
    "SP": Tfrc(small=True),
    "FR": Tfrc(small=True, restart=4.0),
    "MD": Tfrc(small=True, restart=4.0, floor_packets=8, ecn=True),
    "RFC 5348": Tfrc(small=True, modern=True, initial_packets=4),
    "CCID 2": Ccid2(ecn=True),
}


def talk(seed=0, seconds=60):
    rng = np.random.default_rng(seed)
    at, out = 0, []
    while at < seconds * 50:
        n = 1 + int(rng.exponential(50))
        out.append(at + np.arange(n))
        at += n + 1 + int(rng.exponential(75))
    return np.concatenate(out) * 20 * MS


schedules = st.lists(st.lists(st.integers(0, 3000), min_size=1, max_size=60), min_size=12, max_size=12)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    schedules,
    st.sampled_from(sorted(SENDERS)),
    st.integers(8, 400),
    st.sampled_from([0.0, 0.05]),
    st.booleans(),
    st.integers(50, 4000),
)
def test_packets_are_conserved(times, name, kbit, loss, red, until):
    flows = [Flow(np.sort(t) * MS, 20, SENDERS[name], Path(20, loss)) for t in times]
    link = Bottleneck(kbit, 10, Red(2, 6, 0.5, 0.2, ecn=True) if red else None)
    for f in simulate(flows, bottleneck=link, until_s=until / 1000, seed=1).flows:
        c = f.packets
        assert c["sent"] == c["delivered"] + c["dropped_queue"] + c["lost"] + c["in_flight"]
        assert np.all((f.arrive < 0) == (f.fate != 1))


@pytest.mark.parametrize("name", SENDERS)
def test_twelve_flows_run_dry(name):
    flows = [Flow(talk(k), 20, SENDERS[name], Path(50)) for k in range(12)]
    result = simulate(flows, bottleneck=Bottleneck(150, 50))
    for f in result.flows:
        c = f.packets
        assert c["in_flight"] == 0
        assert c["sent"] == c["delivered"] + c["dropped_queue"] + c["lost"]
    assert result.longest_queue <= 50


def test_udp_delay_is_the_paths():
    t = talk()
    f = simulate([Flow(t, 20, Udp(), Path(73.5))]).flows[0]
    assert np.all(f.arrive - t == 73_500_000)


@pytest.mark.parametrize("delay", [25, 50, 200, 400])
def test_tcp_equals_udp_for_a_thin_codec(delay):
    t = talk(3, 300)
    a, b = (simulate([Flow(t, 20, s, Path(delay))]).flows[0].arrive for s in (Tcp(), Udp()))
    assert np.array_equal(a, b)


@pytest.mark.parametrize("payload", [20, 160])
@pytest.mark.parametrize("delay", [10, 50, 137, 400])
def test_faster_restart_is_idle_without_loss(delay, payload):
    t = talk(4, 200)
    a, b = (simulate([Flow(t, payload, SENDERS[n], Path(delay))]).flows[0] for n in ("SP", "FR"))
    assert np.array_equal(a.arrive, b.arrive)
    assert np.array_equal(a.sent, b.sent)


@pytest.mark.parametrize("loss", [0.0, 1e-3, 1e-2])
@pytest.mark.parametrize("delay", [25, 50, 80])
def test_md_equals_udp_while_eight_packets_a_round_trip_suffice(delay, loss):
    t = talk(5, 200)
    a, b = (simulate([Flow(t, 20, SENDERS[n], Path(delay, loss))], seed=2).flows[0].arrive for n in ("MD", "UDP"))
    assert np.array_equal(a, b)


def test_md_falls_behind_udp_beyond_80_ms():
    t = talk(5, 200)
    a, b = (simulate([Flow(t, 20, SENDERS[n], Path(90))]).flows[0].arrive for n in ("MD", "UDP"))
    assert not np.array_equal(a, b)


def test_silence_makes_the_first_report_small():
    words = np.r_[np.arange(100), 250 + np.arange(50)] * 20 * MS
    rates = simulate([Flow(words, 20, Tfrc(small=True), Path(50))], log=True).flows[0].rates
    first = rates[rates[:, 0] >= 5.1e9][0]
    assert first[2] < 6 * 20 / 3.0  # at most a round trip of packets, spread over the silence
    assert first[1] == pytest.approx(20 / 0.1)


def test_rfc5348_does_not_collapse():
    words = np.r_[np.arange(100), 250 + np.arange(50)] * 20 * MS
    f = simulate([Flow(words, 20, SENDERS["RFC 5348"], Path(50))]).flows[0]
    assert (f.arrive[100:] >= 0).all()


def test_tcp_delivers_everything_in_order_under_loss():
    t = talk(6, 120)
    f = simulate([Flow(t, 160, Tcp(), Path(50, 0.03))], seed=5, until_s=600).flows[0]
    assert np.all(f.arrive >= 0)
    assert np.all(np.diff(f.arrive) >= 0)
    assert f.packets["retransmitted"] > 0


def test_bulk_fills_the_link():
    f = simulate([Flow(bulk(4000), 1460, Tcp(), Path(10))], bottleneck=Bottleneck(1000, 50), until_s=30)
    goodput = (f.flows[0].arrive >= 0).sum() * 1460 * 8 / 30
    assert 0.85e6 < goodput < 1e6


def test_losses_have_their_rate_and_burst():
    t = np.arange(200_000) * 20 * MS
    plain = simulate([Flow(t, 20, Udp(), Path(10, 0.02))], seed=3).flows[0]
    assert plain.packets["lost"] / t.size == pytest.approx(0.02, rel=0.1)
    burst = simulate([Flow(t, 20, Udp(), Path(10, 0.0, burst=(0.01, 0.2, 0.5)))], seed=3).flows[0]
    assert burst.packets["lost"] / t.size == pytest.approx(0.5 * 0.01 / 0.21, rel=0.15)
    lost = burst.arrive < 0
    assert (lost[1:] & lost[:-1]).sum() / lost.sum() > 0.2


def test_jitter_keeps_order():
    t = np.arange(2000) * 20 * MS
    f = simulate([Flow(t, 20, Udp(), Path(30, jitter_ms=60))]).flows[0]
    assert np.all(np.diff(f.arrive) >= 0)
    assert np.all((f.arrive - t >= 30 * MS) & (f.arrive - t <= 90 * MS))


def test_same_seed_same_numbers():
    t = talk(8)
    runs = [simulate([Flow(t, 20, SENDERS["FR"], Path(60, 0.01))], seed=9).flows[0].arrive for _ in range(2)]
    assert np.array_equal(*runs)


@pytest.mark.parametrize("mss, expected", [(1460, 4380), (536, 2144), (2190, 4380), (3000, 6000)])
def test_initial_window(mss, expected):
    assert initial_window(mss) == expected
    assert initial_window(mss, 2581) == 2 * mss


@pytest.mark.parametrize(
    "make",
    [
        lambda: Path(-1),
        lambda: Path(10, 1.5),
        lambda: Path(float("nan")),
        lambda: Path(10, burst=(2, 0, 0)),
        lambda: Bottleneck(0),
        lambda: Red(10, 5),
        lambda: simulate([]),
        lambda: simulate([Flow([], 20, Udp(), Path(1))]),
        lambda: simulate([Flow([float("nan")], 20, Udp(), Path(1))]),
        lambda: simulate([Flow([2, 1], 20, Udp(), Path(1))]),
        lambda: simulate([Flow([-2, 1], 20, Udp(), Path(1))]),
        lambda: simulate([Flow([1], 0, Udp(), Path(1))]),
        lambda: simulate([Flow([1], 20, Tfrc(x_recv="no"), Path(1))]),
        lambda: initial_window(1460, 793),
    ],
)
def test_bad_input(make):
    with pytest.raises(NetsimError):
        make()


def test_a_frame_of_udp_is_two_events_a_departure_and_an_arrival():
    frames = np.arange(50) * 20 * MS
    assert simulate([Flow(frames, 20, Udp(), Path(50))]).events == 2 * len(frames)


def test_a_log_that_is_full_keeps_its_beginning(monkeypatch):
    flow = Flow(np.arange(100) * 20 * MS, 20, Tfrc(), Path(50))
    whole = simulate([flow], log=True).flows[0]
    monkeypatch.setattr(sys.modules[simulate.__module__], "_LOG_ROWS", 5)
    part = simulate([flow], log=True).flows[0]
    assert np.array_equal(part.levels, whole.levels[:5])
    assert np.array_equal(part.rates, whole.rates[:5])
