"""Flows that share a link, as a table: rates in bits a second, times in seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voicewire._kit import checks
from voicewire.netsim.errors import NetsimError
from voicewire.netsim.links import Bottleneck, Path
from voicewire.netsim.senders import Ccid2, Sender, Tcp, Tfrc
from voicewire.netsim.simulation import Flow, FlowResult, bulk, simulate

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SharedLink", "simulate_table"]

MSS = 1460
"""Payload of a bulk flow's segment, bytes: an Ethernet frame's with 40 bytes of headers."""

OFFERED = 1.25
"""A bulk flow of TFRC or CCID 2 is offered so much more than the link carries, so it never waits for data."""

WAITING = 50
"""Frames that wait in the sender of such a flow; its source offers no more than that."""

SENDERS: dict[str, Sender] = {"TCP": Tcp(), "TFRC": Tfrc(buffer=WAITING), "CCID2": Ccid2(buffer=WAITING)}


@dataclass(frozen=True)
class SharedLink:
    """A link that all flows share, with its queue and what lies behind it.

    Attributes
    ----------
    rate : float
        Bits a second, headers included.
    delay : float
        One-way delay of each path, s.
    queue : int
        Packets that the queue holds; drop-tail beyond.
    loss : float
        Probability that a packet is lost behind the queue, on the way there and on the way back.

    Raises
    ------
    NetsimError
        For a number that no link can have.

    Examples
    --------
    >>> SharedLink(10e6, 0.02)
    SharedLink(rate=10000000.0, delay=0.02, queue=50, loss=0.0)
    """

    rate: float
    delay: float
    queue: int = 50
    loss: float = 0.0

    def __post_init__(self) -> None:
        checks.fields(
            self, NetsimError, rate=checks.number(1.0, 1e12), delay=checks.number(0.0, 3600.0),
            queue=checks.whole(1, 1_000_000), loss=checks.share,
        )  # fmt: skip


@checks.takes(
    error=NetsimError, link=checks.a(SharedLink), seconds=checks.number(0.01, 1e5), seed=checks.seed,
)  # fmt: skip
def simulate_table(
    flows: Sequence[str | Flow], link: SharedLink, *, seconds: float = 30.0, seed: int = 0
) -> pd.DataFrame:
    """Simulate flows that share a link, and return a row for each.

    Parameters
    ----------
    flows : sequence of str or Flow
        ``TCP``, ``TFRC`` or ``CCID2`` is a bulk transfer that always has data; a `Flow` is what it says, over the path
        of its own.
    link : SharedLink
        What they share.
    seconds : float
        Simulated time, s.
    seed : int
        Of losses.

    Returns
    -------
    pandas.DataFrame
        For each flow: `flow` (its number), `protocol`, packets `sent`, `delivered`, dropped by the queue (`queue`),
        `lost` behind it, and of a `Flow` the frames that its sender's own buffer dropped, so that they were `not_sent`;
        `throughput` (payload delivered, bit/s) and mean `delay` from a frame's first sending to its delivery, s (of
        TCP in order, so with the wait for repeats).

    Raises
    ------
    NetsimError
        For a protocol that has no bulk transfer, and for parameters that no network can have.

    Examples
    --------
    >>> table = simulate_table(["TCP", "TCP"], SharedLink(1e6, 0.02), seconds=20)
    >>> table["protocol"].tolist(), bool(table["throughput"].sum() < 1e6)
    (['TCP', 'TCP'], True)
    """
    import pandas as pd

    if isinstance(flows, str | Mapping) or not isinstance(flows, Iterable):
        raise NetsimError(f"flows must be a list, such as ['TCP', 'TFRC'], not {flows!r:.40}")
    flows = list(flows)
    made = [_flow(flow, link, seconds) for flow in flows]
    narrow = Bottleneck(link.rate / 1e3, link.queue)
    result = simulate(made, bottleneck=narrow, seed=seed, until_s=seconds)
    told = [flow if isinstance(flow, str) else type(flow.sender).__name__.upper() for flow in flows]
    left = [
        0 if isinstance(flow, str) else came.packets["dropped_sender"]
        for flow, came in zip(flows, result.flows, strict=True)
    ]
    rows = [
        {"flow": number, "protocol": name, **_row(flow, came, seconds), "not_sent": unsent}
        for number, (name, flow, came, unsent) in enumerate(zip(told, made, result.flows, left, strict=True))
    ]
    return pd.DataFrame(rows)


def _flow(flow: str | Flow, link: SharedLink, seconds: float) -> Flow:
    """Make a bulk transfer of a protocol's name."""
    if isinstance(flow, Flow):
        return flow
    if not isinstance(flow, str) or flow not in SENDERS:
        raise NetsimError(
            f"{flow!r:.40} has no bulk transfer: give {', '.join(SENDERS)}, or a Flow that says when it has data"
        )
    packets = int(OFFERED * link.rate * seconds / (8 * (MSS + 40))) + 100
    if packets > 10**7:
        raise NetsimError(f"{seconds:g} s at {link.rate:g} bit/s are {packets} packets a flow: at most ten million")
    if flow == "TCP":
        frames = bulk(packets)
    else:
        frames = np.arange(packets) * round(8e9 * (MSS + 40) / (OFFERED * link.rate))
    return Flow(frames, MSS, SENDERS[flow], Path(1e3 * link.delay, link.loss))


def _row(flow: Flow, came: FlowResult, seconds: float) -> dict[str, float]:
    """Count what became of a flow."""
    there = came.arrive >= 0
    carried = came.sizes[there].sum() if came.sizes.size else flow.payload * int(there.sum())
    waited = (came.arrive - came.sent)[there]
    return {
        "sent": came.packets["sent"],
        "delivered": came.packets["delivered"],
        "queue": came.packets["dropped_queue"],
        "lost": came.packets["lost"],
        "throughput": 8 * float(carried) / seconds,
        "delay": float(waited.mean()) / 1e9 if waited.size else float("nan"),
    }
