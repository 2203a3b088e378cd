"""The engine without a compiler: the same rules as plain Python give the same numbers."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from voicewire.netsim import flow_state

CASES = """
import hashlib, json
import numpy as np
from voicewire._kit._compiled import COMPILED
from voicewire.netsim import Bottleneck, Ccid2, Flow, Path, Red, Tcp, Tfrc, Udp, simulate

def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()

times = np.concatenate((np.arange(60), 200 + np.arange(60))) * np.int64(20_000_000)
senders = [Udp(), Tcp(ecn=True), Tfrc(small=True, ecn=True), Tfrc(modern=True, x_recv="rtt"), Ccid2(ecn=True)]
out = []
for seed in range(3):
    path = Path(40, 0.02, jitter_ms=5, burst=(0.02, 0.3, 0.5) if seed else None)
    flows = [Flow(times, 160, sender, path) for sender in senders]
    result = simulate(flows, bottleneck=Bottleneck(200, 12, Red(2, 8, 0.3, 0.2, ecn=True)), seed=seed, log=True)
    out.append([result.events, result.bytes_through])
    out += [digest(f.sent, f.arrive, f.fate, f.rates, f.levels) for f in result.flows]
print(json.dumps([COMPILED, out]))
"""


def run(**environment):
    done = subprocess.run(
        [sys.executable, "-c", CASES], capture_output=True, text=True, check=False, timeout=300,
        env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_plain_python_gives_the_compiled_engine_s_numbers():
    compiled, fast = run(NUMBA_DISABLE_JIT="0")
    plain, slow = run(NUMBA_DISABLE_JIT="1")
    assert compiled and not plain
    assert fast == slow


@pytest.mark.parametrize(
    "record", [flow_state.Packet, flow_state.Ack, flow_state.Segment, flow_state.FlowState, flow_state.Link]
)
def test_no_field_hides_behind_numpy_s_own_names(record):
    """In plain Python a field is an attribute of a NumPy record: `base` or `mean` would be NumPy's."""
    assert [name for name in flow_state.layout(record).names if hasattr(np.void, name)] == []
