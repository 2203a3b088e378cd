"""TCP_INFO and capture agree to the byte, at both ends; this is what every number of the study rests on."""

from __future__ import annotations

import socket
import threading

import pytest

from voicewire.testbed import Capture, Host, Link, LinkSpec, TestbedError, capture, counters
from voicewire.testbed.offload import offloads, switch_off

pytestmark = pytest.mark.needs("namespaces")


def exchange(engine: str, size: int, spec: LinkSpec) -> dict[str, object]:
    """One connection that sends `size` bytes one way and 10 back; counters and captures of both ends."""
    with Host("a", sack=False) as a, Host("b", sack=False) as b, Link(a, b, spec, engine) as link:
        for host, device in ((a, link.device_a), (b, link.device_b)):
            with host.inside():
                switch_off(device)
                assert not any(offloads(device).get(name) for name in ("tso", "gso", "gro"))
        with Capture(a, link.device_a) as at_a, Capture(b, link.device_b) as at_b:
            with b.inside(), socket.create_server((link.address_b, 5000)) as server:
                with a.inside():
                    active = socket.create_connection((link.address_b, 5000))
                passive, _ = server.accept()

                def answer() -> None:
                    while passive.recv(1 << 16):
                        pass
                    passive.sendall(b"y" * 10)
                    passive.shutdown(socket.SHUT_WR)

                thread = threading.Thread(target=answer)
                thread.start()
                active.sendall(b"x" * size)
                active.shutdown(socket.SHUT_WR)
                while active.recv(1 << 16):
                    pass
                thread.join(timeout=20)
                ends = {
                    "a": counters.settled(active, passive=False),
                    "b": counters.settled(passive, passive=True),
                }
                active.close()
                passive.close()
            threading.Event().wait(spec.rtt + 0.05)  # the last acknowledgement is still on its way
        return {"ends": ends, "a": at_a.segments(), "b": at_b.segments()}


@pytest.mark.parametrize("engine", ["tun", "veth"])
@pytest.mark.parametrize("size", [1, 1448, 1449, 300_000])
def test_counters_equal_capture_to_the_byte(engine: str, size: int) -> None:
    spec = LinkSpec(delay=0.002 if engine == "tun" else 0.0)
    result = exchange(engine, size, spec)
    for end in ("a", "b"):
        info, seen = result["ends"][end], result[end]
        assert info.segments_out == sum(s.outgoing for s in seen)
        assert info.segments_in == sum(not s.outgoing for s in seen)
        assert info.header_bytes == sum(s.header for s in seen)
        assert info.ip_bytes == sum(s.ip_header for s in seen)
        assert info.data_out == sum(s.outgoing and s.length > 0 for s in seen)
        assert (info.payload_out, info.payload_in) == ((size, 10) if end == "a" else (10, size))


def test_they_agree_on_retransmissions_too() -> None:
    result = exchange("tun", 200_000, LinkSpec(delay=0.002, rate=5e6, queue=8))  # the queue overflows for certain
    info, seen = result["ends"]["a"], result["a"]
    assert info.retransmitted > 0
    assert info.header_bytes == sum(s.header for s in seen)
    assert info.payload_out == 200_000  # each byte once
    assert sum(s.length for s in seen if s.outgoing) > 200_000


def test_sock_diag_knows_the_same_as_the_socket() -> None:
    with (
        Host("a") as a,
        a.inside(),
        socket.create_server(("127.0.0.1", 5000)) as server,
        socket.create_connection(("127.0.0.1", 5000)) as client,
    ):
        peer, _ = server.accept()
        with peer:
            client.sendall(b"abc")
            peer.recv(3)
            mine = [c for c in counters.connections(5000) if c[1] == client.getsockname()]
            assert len(mine) == 1
            assert mine[0][2].segments == counters.read(peer, passive=True).segments
            assert mine[0][2].payload_in == 3


def test_a_capture_written_to_a_file_comes_back(tmp_path) -> None:
    spec = LinkSpec()
    with Host("a") as a, Host("b") as b, Link(a, b, spec) as link, Capture(a, link.device_a) as seen:
        with (
            b.inside(),
            socket.create_server((link.address_b, 5000)) as server,
            a.inside(),
            socket.create_connection((link.address_b, 5000)) as client,
        ):
            peer, _ = server.accept()
            # Their names are asked for now: once both ends have closed, the socket may know no peer any more.
            source, target = client.getsockname(), client.getpeername()
            client.sendall(b"hello " * 1000)
            client.shutdown(socket.SHUT_WR)
            while peer.recv(1 << 16):
                pass
            peer.close()
        here = link.address_a
    capture.write_pcap(tmp_path / "x.pcap", seen.packets)
    back = list(capture.read_pcap(tmp_path / "x.pcap", here))
    assert [(s.seq, s.flags, s.payload, s.outgoing) for s in back] == [
        (s.seq, s.flags, s.payload, s.outgoing) for s in seen.segments()
    ]
    assert capture.stream(back, source, target) == b"hello " * 1000
    whole = (tmp_path / "x.pcap").read_bytes()
    (tmp_path / "y.pcap").write_bytes(whole[:-1])
    with pytest.raises(TestbedError, match="cut short"):
        list(capture.read_pcap(tmp_path / "y.pcap"))


def test_a_capture_whose_device_goes_away_ends_with_the_reason():
    with Host("a") as a, Host("b") as b:
        with Link(a, b, LinkSpec()) as link:
            seen = Capture(a, link.device_a)
        assert seen._thread is not None
        seen._thread.join(10)  # it ends by itself
        with pytest.raises(TestbedError, match=f"the capture on {link.device_a} ended early: Network is down"):
            seen.stop()
