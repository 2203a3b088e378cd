"""The datagram proxy: everything arrives, half a round trip late each way, and nothing stays."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from voicewire.testbed.udp_proxy import DatagramProxy


def test_datagrams_go_there_and_back_one_round_trip_late() -> None:
    threads = set(threading.enumerate())  # those of another test's pool may end meanwhile
    with (
        socket.socket(type=socket.SOCK_DGRAM) as server,
        socket.socket(type=socket.SOCK_DGRAM) as one,
        socket.socket(type=socket.SOCK_DGRAM) as two,
    ):
        server.bind(("127.0.0.1", 0))
        for s in (server, one, two):
            s.settimeout(10)
        with DatagramProxy(server.getsockname(), 0.020) as proxy:
            for client, word in ((one, b"one"), (two, b"two"), (one, b"again")):
                start = time.perf_counter()
                client.sendto(word, proxy.address)
                data, sender = server.recvfrom(100)
                halfway = time.perf_counter() - start
                server.sendto(data + b"!", sender)
                assert client.recv(100) == word + b"!"
                whole = time.perf_counter() - start
                assert halfway >= 0.0195  # event loops count in whole steps of their clock, half a millisecond at most
                assert whole >= 0.039
    assert set(threading.enumerate()) <= threads


def test_delays_are_checked() -> None:
    with pytest.raises(ValueError, match="delay must be"):
        DatagramProxy(("127.0.0.1", 1), -1)
