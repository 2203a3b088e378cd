"""The emulated link does what it was asked: delay, loss, rate, order, queue."""

from __future__ import annotations

import socket
import struct
import threading
import time

import pytest
from scipy.stats import binom

from voicewire.testbed import Host, Link, LinkSpec, TestbedError
from voicewire.testbed.link import netem_arguments

root = pytest.mark.needs("namespaces")


class Udp:
    """A datagram socket at either end of a link."""

    def __init__(self, spec: LinkSpec, seed: int = 1) -> None:
        self.a, self.b = Host("a"), Host("b")
        self.link = Link(self.a, self.b, spec, seed=seed)
        with self.a.inside():
            self.near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.near.bind((self.link.address_a, 7))
            self.near.connect((self.link.address_b, 7))
        with self.b.inside():
            self.far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.far.bind((self.link.address_b, 7))
            self.far.connect((self.link.address_a, 7))
        for s in (self.near, self.far):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
            s.settimeout(2)

    def __enter__(self) -> Udp:
        return self

    def __exit__(self, *_: object) -> None:
        self.near.close()
        self.far.close()
        self.link.close()
        self.a.close()
        self.b.close()


def numbers(s: socket.socket, wait: float = 0.5) -> list[int]:
    """Every numbered datagram that arrives until nothing more does."""
    s.settimeout(wait)
    seen = []
    try:
        while True:
            seen.append(struct.unpack_from("!I", s.recv(2000))[0])
    except TimeoutError:
        return seen


@root
@pytest.mark.parametrize("delay", [0.01, 0.04])
def test_the_round_trip_is_what_was_asked(delay: float) -> None:
    with Udp(LinkSpec(delay=delay)) as net:
        thread = threading.Thread(target=lambda: [net.far.send(net.far.recv(100)) for _ in range(30)])
        thread.start()
        times = []
        for _ in range(30):
            start = time.perf_counter()
            net.near.send(b"x")
            net.near.recv(100)
            times.append(time.perf_counter() - start)
        thread.join()
    # never early by more than the stated 0.08 ms a direction; how late depends on who else uses the processor, so the
    # half millisecond of the bar is held by the benchmark, and here the quickest must not be a direction's delay late
    assert 2 * delay - 0.0002 < min(times) < 3 * delay


@root
def test_loss_is_binomial_and_seeded() -> None:
    p, n = 0.1, 4000
    arrived = []
    for seed in (5, 5, 6):
        with Udp(LinkSpec(delay=0.001, loss=p), seed) as net:
            for i in range(n):
                net.near.send(struct.pack("!I", i))
                if i % 100 == 99:
                    time.sleep(0.002)
            seen = numbers(net.far)
            assert net.link.counts(0).lost == n - len(seen)
            arrived.append(seen)
    low, high = binom.interval(0.9999, n, p)
    for seen in arrived:
        assert low <= n - len(seen) <= high
        assert seen == sorted(seen)
    assert arrived[0] == arrived[1] != arrived[2]


@root
@pytest.mark.parametrize("reorder", [False, True])
def test_order_is_kept_unless_asked(reorder: bool) -> None:
    with Udp(LinkSpec(delay=0.01, jitter=0.005, reorder=reorder)) as net:
        for i in range(500):
            net.near.send(struct.pack("!I", i))
            time.sleep(0.0002)
        seen = numbers(net.far)
    assert len(seen) == 500
    assert (seen == sorted(seen)) is not reorder


@root
def test_rate_and_queue() -> None:
    # 1000-byte packets at 8 Mbit/s take 1 ms each; 200 at once into a queue of 50 leave about 50 in time
    with Udp(LinkSpec(rate=8e6, queue=50)) as net:
        for i in range(200):
            net.near.send(struct.pack("!I", i) + bytes(968))
        start = time.perf_counter()
        seen = numbers(net.far)
        took = time.perf_counter() - start - 0.5
        counts = net.link.counts(0)
    assert len(seen) + counts.queue_dropped == 200
    assert 50 <= len(seen) <= 120
    assert counts.queue_dropped > 0
    assert took > 0.9e-3 * (len(seen) - 10)  # the line takes its time
    assert counts.octets == len(seen) * 1000


@root
def test_a_delay_holds_back_no_bandwidth() -> None:
    """As much in flight as 200 Mbit/s over 40 ms need: nothing overflows."""
    with Udp(LinkSpec(delay=0.02)) as net:
        for i in range(1000):
            net.near.send(struct.pack("!I", i) + bytes(996))
        assert len(numbers(net.far)) == 1000
        assert net.link.counts(0).overflowed == 0


@root
def test_hosts_have_names_of_their_own_and_pinned_settings() -> None:
    with Host("x") as one, Host("x") as two:
        assert one.name != two.name
        with one.inside():
            from pathlib import Path

            folder = Path("/proc/sys/net/ipv4")
            assert (folder / "tcp_congestion_control").read_text().strip() == "reno"
            assert (folder / "tcp_no_metrics_save").read_text().strip() == "1"
    with pytest.raises(TestbedError, match="is closed"):
        one.fileno()
    with pytest.raises(TestbedError, match="not in this kernel"):
        Host("x", congestion="none-such")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("delay", -1, "between 0 and 10 s"),
        ("jitter", 1, "between 0 and the delay"),
        ("rate", 0, "must be positive"),
        ("queue", 0, "packets"),
        ("loss", 1, "probability"),
        ("mtu", 100, "between 576 and 2000"),
    ],
)
def test_impossible_links_are_refused(field: str, value: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinkSpec(**{field: value})


def test_what_netem_is_told() -> None:
    spec = LinkSpec(delay=0.02, jitter=0.001, rate=5e6, loss=0.01, queue=100)
    assert netem_arguments(spec) == ["limit", "100", "delay", "20000us", "1000us", "loss", "1%", "rate", "5000000bit"]
    assert netem_arguments(LinkSpec()) == ["limit", "1000"]


def test_a_link_whose_start_was_broken_off_is_closed_all_the_same() -> None:
    """Ctrl-C may come while a thread is starting: nothing can wait for it then."""
    link = object.__new__(Link)
    link._stop, link._fds, link.engine = [0, 0], [], "tun"  # type: ignore[assignment]
    link._thread = threading.Thread(target=time.sleep, args=(0,))
    link.close()
    assert link._stop[0] == 1
    assert link._thread is None
