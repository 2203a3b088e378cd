"""The userspace link's loop on plain sockets: rate, queue, loss and order by its own records, whatever the machine."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence

import numpy as np
import pytest

from voicewire.testbed import _engine

pytestmark = pytest.mark.needs("compiled", "linux")  # the loop calls Linux's C library
SLOTS = 256


def passed(sizes: Sequence[int], **rules: float) -> tuple[list[int], _engine.Line]:
    """Put packets on the link before it starts; return the numbers of those that came through, and its records."""
    (near, inside), (far, outside) = (socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2))
    with near, inside, far, outside:
        for end in (inside, outside):
            end.setblocking(False)
        for number, size in enumerate(sizes):
            near.send(number.to_bytes(4, "big") + bytes(size - 4))
        table = np.zeros(2, _engine.RULES)
        table["fd"] = inside.fileno(), outside.fileno()
        table["limit"], table["random"] = 1000, (1, 2)
        for name, value in rules.items():
            table[name] = value
        line = _engine.new_line(table, np.zeros(2, _engine.COUNTS), SLOTS)
        stop = np.zeros(2, np.int64)
        loop = threading.Thread(target=_engine.run, args=(line, stop), daemon=True)
        loop.start()
        counts, latest = line.counts[0], time.monotonic() + 120
        while counts["delivered"] + counts["lost"] + counts["queue_dropped"] < len(sizes):
            assert time.monotonic() < latest, counts
            time.sleep(0.001)
        stop[0] = 1
        loop.join()
        far.settimeout(5)
        return [int.from_bytes(far.recv(2000)[:4], "big") for _ in range(int(counts["delivered"]))], line


def test_a_rate_is_kept_to_the_nanosecond():
    came, line = passed([500] * 60, ns_per_byte=400.0)  # 20 Mbit/s
    assert came == list(range(60))
    assert set(np.diff(line.due[0, :60])) == {200_000}
    assert tuple(line.counts[0].item()) == (60, 60, 0, 0, 0, 30_000)


def test_a_full_queue_drops_what_comes_on_top():
    came, line = passed([1000] * 60, ns_per_byte=80.0, limit=20)
    # one is on the line, 20 wait
    assert came == list(range(21))
    assert line.counts[0]["queue_dropped"] == 39


def test_loss_is_the_seeds():
    one, line = passed([100] * 120, loss=0.2)
    again, _ = passed([100] * 120, loss=0.2)
    assert one == again
    assert len(one) == 120 - line.counts[0]["lost"]
    assert 8 <= line.counts[0]["lost"] <= 44  # five standard deviations about 24


@pytest.mark.parametrize("reorder", [0, 1])
def test_jitter_changes_the_order_only_if_it_may(reorder):
    came, line = passed([100] * 60, delay=5_000_000, jitter=5_000_000, reorder=reorder)
    due = line.due[0, :60]
    assert (came == list(range(60))) is not bool(reorder)
    assert came == np.argsort(due, kind="stable").tolist()
    assert np.ptp(due) <= 10_000_000
