"""The fallback without privileges: a fresh byte is 1.5 round trips late, a later one half a round trip."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from voicewire.testbed import DelayProxy, counters
from voicewire.testbed.tcp_proxy import ETHERNET_MSS


def test_times_and_bytes() -> None:
    delay = 0.05
    with socket.create_server(("127.0.0.1", 0)) as server, DelayProxy(server.getsockname(), delay) as proxy:
        start = time.perf_counter()
        with socket.create_connection(proxy.address) as client:
            client.sendall(b"x")
            peer, _ = server.accept()
            with peer:
                assert peer.recv(1) == b"x"
                fresh = time.perf_counter() - start
                start = time.perf_counter()
                peer.sendall(b"y")
                assert client.recv(1) == b"y"
                warm = time.perf_counter() - start
                client.shutdown(socket.SHUT_WR)
                assert peer.recv(1) == b""
    # the lower ends are exact; the upper ones leave room for a busy machine
    assert 3 * delay <= fresh < 3 * delay + 1
    assert delay <= warm < delay + 1


def test_segments_have_ethernets_size() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        DelayProxy(server.getsockname(), 0.0) as proxy,
        socket.create_connection(proxy.address) as client,
    ):
        peer, _ = server.accept()
        thread = threading.Thread(target=client.sendall, args=(bytes(100_000),))
        thread.start()
        got = 0
        while got < 100_000:
            got += len(peer.recv(1 << 16))
        thread.join()
        info = counters.read(client, passive=False)
        assert info.mss == ETHERNET_MSS - 12  # less the timestamps
        assert info.data_out >= 100_000 / info.mss
        peer.close()


def test_rate_limits() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        DelayProxy(server.getsockname(), 0.0, 8e6) as proxy,
        socket.create_connection(proxy.address) as client,
    ):
        peer, _ = server.accept()
        start = time.perf_counter()
        client.sendall(bytes(200_000))
        got = 0
        while got < 200_000:
            got += len(peer.recv(1 << 16))
        assert time.perf_counter() - start > 0.19  # 1.6 Mbit at 8 Mbit/s, the first bytes at once
        peer.close()


@pytest.mark.parametrize(("delay", "rate"), [(-1, None), (11, None), (0, 0)])
def test_impossible_proxies_are_refused(delay: float, rate: float | None) -> None:
    with pytest.raises(ValueError, match="must be"):
        DelayProxy(("127.0.0.1", 1), delay, rate)
