"""What a quality of service bounds: messages under loss, whether each arrives and when.

Recorded by ``voicewire record transport bounds``. Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import json
import os
import queue
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from voicewire._kit import checks, sheets
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.link import LinkSpec
from voicewire.transport import measurement_runs, overhead_formulas, paper
from voicewire.transport.linear_topology import Bed
from voicewire.transport.run_mqtt import ROLES, Session, broker
from voicewire_book.chapters.transport.analysis import Samples

__all__ = ["SPEC", "bound", "load_bounds", "measure", "met", "record_bounds", "reliability"]

SPEC = LinkSpec(delay=0.020, loss=0.05)
"""Both links: loss in each direction, and a delay beside which the work of the programs is small."""
SIZE = 100
SLACK = 0.5
"""Round trips that a bound leaves for the work of the programs."""
TIMEOUT = 0.2
"""Least timeout of Linux's TCP, s, beside the round trip (RFC 6298 has 1 s)."""
LEGS = 2
GIVEN_UP = 30.0


@checks.takes(qos=checks.whole(0, 2), rtt=checks.number(above=0.0))
def bound(qos: int, rtt: float, timeouts: bool = False) -> float:
    r"""Return the time that a quality of service bounds a message in an open session to.

    .. math:: T = (n_\mathrm{qos} + \tfrac12)\,\mathrm{RTT} \; [\, + 2\,(\mathrm{RTT} + 0.2\,\mathrm{s})\,]
    """
    own = (overhead_formulas.round_trips("mqtt", qos, "persistent") + SLACK) * rtt
    return own + (LEGS * (rtt + TIMEOUT) if timeouts else 0.0)


def measure(spec: LinkSpec = SPEC, *, bed: str = "namespaces", which: str = "embedded", messages: int = 200) -> Any:
    """Send messages one after the other at each quality of service over links with loss."""
    if spec.loss and bed != "namespaces":
        raise TestbedError("nothing is lost on loopback: this recording needs network namespaces (root)")
    rows = []
    for qos in range(3):
        with (
            Bed(ROLES, spec, bed, seed=3 + qos) as place,
            broker(place, which) as port,
            Session(place, "subscriber", place.route("subscriber", "broker", port)) as sub,
            Session(place, "publisher", place.route("publisher", "broker", port)) as pub,
        ):
            sub.connect().ready().subscribe(qos)
            pub.connect().ready()
            rows += [{"qos": qos, "iteration": i, "time_ms": _one(pub, sub, qos, i)} for i in range(messages)]
    return pd.DataFrame(rows)


def _one(pub: Session, sub: Session, qos: int, number: int) -> float:
    """Send one message and wait for it; what belongs to an earlier one is passed over."""
    payload = number.to_bytes(4, "big") + bytes(SIZE - 4)
    start = time.perf_counter()
    sent = pub.client.publish(paper.TOPIC, payload, qos)
    try:
        while True:
            done, got = sub.messages.get(timeout=GIVEN_UP)
            if got == payload:
                break
    except queue.Empty:
        return float("nan")
    sent.wait_for_publish(GIVEN_UP)  # a message begins where the one before it is done with
    return 1e3 * (done - start)


def reliability(rows: pd.DataFrame, qos: int) -> Samples:
    """Return for each message whether it arrived."""
    return np.asarray(rows[rows.qos == qos].time_ms.notna(), dtype=np.float64)


def met(rows: pd.DataFrame, qos: int, rtt: float, timeouts: bool = False) -> Samples:
    """Return for each message whether it arrived within the `bound` of its quality of service."""
    return np.asarray(rows[rows.qos == qos].time_ms <= 1e3 * bound(qos, rtt, timeouts), dtype=np.float64)


def record_bounds(folder: Path, *, messages: int, which: str, command: str) -> pd.DataFrame:
    """Measure, and write ``bounds.csv`` and ``bounds.json``."""
    before, begin = os.getloadavg()[0], time.monotonic()
    rows: pd.DataFrame = measure(which=which, messages=messages)
    about = measurement_runs.facts(command, (time.monotonic() - begin) / 60, "namespaces", which, {"lossy": SPEC})
    about["load average (1 min) at the start, at the end"] = [round(before, 2), round(os.getloadavg()[0], 2)]
    about["seeds"] = "3, 4 and 5 for the losses at QoS 0, 1 and 2"
    about["messages"] = f"{SIZE} bytes, one after the other in an open session"
    text = sheets.to_csv(rows, index=False, float_format="%.3f", lineterminator="\n")
    (folder / "bounds.csv").write_text(text, encoding="utf-8")
    (folder / "bounds.json").write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return rows


def load_bounds(folder: Path) -> pd.DataFrame:
    """Read what `record_bounds` wrote."""
    return pd.read_csv(folder / "bounds.csv")
