"""TFRC and TCP, engine and reading version, over the same lost packets: run without a compiler by its test.

Which packet is lost is drawn by hypothesis, one by one and in both directions, and put into both simulators in place
of their random numbers. The engine runs as plain Python here, because compiled rules cannot be given a list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_reference import FIELDS, MS, QUICK, SECOND, TFRC, Told, talks, the_same

from voicewire._kit._compiled import COMPILED
from voicewire.netsim import Flow, Path, Tcp, Tfrc, compiled_link, initial_window, reference, simulate

assert not COMPILED, "set NUMBA_DISABLE_JIT=1"

COUNTS = {"flows": 0, "lost": 0, "answers lost": 0, "loss events": 0, "sent again": 0}
PATTERNS = st.one_of(
    st.lists(st.booleans(), max_size=60),
    st.sets(st.integers(0, 119), max_size=40).map(lambda lost: [k in lost for k in range(120)]),
)
DELAYS = st.sampled_from([5.0, 50.0, 73.5, 150.0])
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
HOW = {"max_examples": 120, "deadline": None, "database": None, "derandomize": True, "phases": QUICK}


class Listed(reference.Way):
    """A direction that loses what a list says, and nothing beyond its end."""

    def __init__(self, delay: int, lost: list[bool]) -> None:
        super().__init__(delay, 1.0, 0)
        self.fates = iter(lost)

    def uniform(self) -> float:
        return 0.0 if next(self.fates, False) else 1.0


def both(times, payload, fast, sender, receiver, delay, there, back):
    """Run one flow in the engine and in the reading version; return the engine's flow and both ways of the other."""
    fates: dict[str, Iterator[bool]] = {"there": iter(there), "back": iter(back)}
    compiled_link.uniform = lambda f: 0.0 if next(fates["there"], False) else 1.0
    compiled_link.uniform_back = lambda f: 0.0 if next(fates["back"], False) else 1.0
    end = int(times[-1]) // SECOND + 20
    flow = simulate([Flow(times, payload, fast, Path(delay, 1.0))], until_s=end, log=True).flows[0]
    ways = Listed(round(delay * 1e6), there), Listed(round(delay * 1e6), back)
    reference.carry([int(t) for t in times], sender, receiver, *ways, end * SECOND)
    the_same(flow, sender, receiver, ways)
    COUNTS["flows"] += 1
    COUNTS["lost"] += ways[0].lost
    COUNTS["answers lost"] += ways[1].lost
    COUNTS["sent again"] += flow.packets["retransmitted"]
    return flow


@settings(**HOW, suppress_health_check=SLOW)
@given(talks(), st.sampled_from(sorted(TFRC)), st.sampled_from([20, 160, 1000]), DELAYS, PATTERNS, PATTERNS)
def tfrc(times, name, payload, delay, there, back):
    how, kind = TFRC[name]
    fast = Tfrc(modern=kind is reference.TfrcSender5348, **{FIELDS.get(k, k): v for k, v in how.items()})
    sender = type("Told", (Told, kind), {"rows": []})(payload, 2 * delay / 1e3, **how)
    receiver = reference.TfrcReceiver(payload, how.get("small", False))
    flow = both(times, payload, fast, sender, receiver, delay, there, back)
    assert len(sender.dropped) == flow.packets["dropped_sender"]
    assert np.array_equal(np.array(sender.rows).reshape(-1, 6), flow.rates)
    COUNTS["loss events"] += receiver.history.events


@settings(**HOW, suppress_health_check=SLOW)
@given(
    st.one_of(talks(), st.integers(1, 200).map(lambda n: np.zeros(n, np.int64))),
    st.sampled_from([2581, 3390]), st.sampled_from([160, 1460]), DELAYS, PATTERNS, PATTERNS,
)  # fmt: skip
def tcp(times, rfc, payload, delay, there, back):
    sender = reference.TcpSender(payload, 2 * delay / 1e3, initial=initial_window(1460, rfc))
    both(times, payload, Tcp(rfc=rfc), sender, reference.TcpReceiver(len(times)), delay, there, back)


def each_single_and_double_loss():
    """Every one and every two of the first packets of a talkspurt, in every sender: no pattern so small is left out."""
    times = np.arange(40, dtype=np.int64) * 20 * MS
    patterns = [[k in (a, b) for k in range(12)] for a in range(12) for b in range(a, 12)]
    for there in patterns:
        for name, (how, kind) in TFRC.items():
            fast = Tfrc(modern=kind is reference.TfrcSender5348, **{FIELDS.get(k, k): v for k, v in how.items()})
            sender = type("Told", (Told, kind), {"rows": []})(160, 0.1, **how)
            receiver = reference.TfrcReceiver(160, how.get("small", False))
            flow = both(times, 160, fast, sender, receiver, 50.0, there, [])
            assert np.array_equal(np.array(sender.rows).reshape(-1, 6), flow.rates), name
            COUNTS["loss events"] += receiver.history.events
        sender = reference.TcpSender(1460, 0.1)
        both(times, 1460, Tcp(), sender, reference.TcpReceiver(len(times)), 50.0, there, [])


if __name__ == "__main__":
    tfrc()
    tcp()
    each_single_and_double_loss()
    print(json.dumps(COUNTS))
