"""Run flows in simulated time: the one door to the compiled engine.

result = simulate([Flow(frames_ns, 20, Tfrc(small=True), Path(50))], seed=1)
result.flows[0].arrive   # ns, -1 for a frame that never came
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.netsim import engine, flow_state
from voicewire.netsim.errors import NetsimError
from voicewire.netsim.links import Bottleneck, Path, number
from voicewire.netsim.senders import SENDERS, Ccid2, Sender, Tfrc
from voicewire.netsim.variable_frame_sizes import (
    as_stream,
    checked_importance,
    checked_sizes,
    room_for_importance,
    room_for_sizes,
)

__all__ = ["Flow", "FlowResult", "Result", "bulk", "simulate"]

_LOG_ROWS = 1 << 16
_MOST_ROUTERS = 64
_FLOW = {
    "payload": checks.whole(1, 65_000),
    "sender": checks.a(*SENDERS),
    "path": checks.a(Path),
    "header": checks.whole(0, 65_000),
    "sizes": checks.maybe(checks.array(kind="whole", low=1)),
    "importance": checks.maybe(checks.array(low=0.0)),
}


@dataclass(frozen=True)
class Flow:
    """One flow: when its frames are spoken, how large they are, who sends them, over which path.

    Attributes
    ----------
    frames : times in nanoseconds, not falling, from 0 on; shape (frames,)
    payload : bytes in a frame
    sender : `Udp`, `Tcp`, `Tfrc` or `Ccid2`
    path : `Path`
    header : bytes of headers on the wire; they load the bottleneck
    sizes : bytes of each frame, for a codec whose frames differ, at most `payload`; `Tfrc` only; shape (frames,)
    importance : of each frame, 0 or more: a full buffer loses what is least important; `Tfrc` only; shape (frames,)

    Examples
    --------
    >>> from voicewire.netsim import Path, Udp
    >>> Flow([0, 20_000_000], 20, Udp(), Path(50)).frames.tolist()
    [0, 20000000]
    """

    frames: ArrayLike
    payload: int
    sender: Sender
    path: Path
    header: int = 40
    sizes: ArrayLike | None = None
    importance: ArrayLike | None = None

    def __post_init__(self) -> None:
        checks.fields(self, NetsimError, **_FLOW)
        object.__setattr__(self, "frames", _frames(self.frames))
        if isinstance(self.sender, Tfrc | Ccid2):
            _buffered(cast("NDArray[np.int64]", self.frames), self.sender)
        object.__setattr__(self, "sizes", checked_sizes(self))
        object.__setattr__(self, "importance", checked_importance(self))


@dataclass(frozen=True)
class FlowResult:
    """What became of a flow.

    Attributes
    ----------
    sent, arrive : time in ns at which each frame was first sent and (in order, for TCP) delivered; -1: never
    fate : for each frame 0 waiting or under way, 1 delivered, 2 dropped by the sender, 3 by the queue, 4 lost
    packets : counts of packets: sent = delivered + dropped_queue + lost + in_flight, always
    rates : rate adjustments, a row (ns, X, X_recv, X_calc or -1, p, X_fast_max or 0) for each report and each
        time-out of the nofeedback timer; empty unless asked for; of TCP what each acknowledgement and time-out left
        behind, rows (ns, cwnd, ssthresh, bytes under way, the timer in s, 0)
    sizes : payload in bytes of the packet that carries each frame, 0 where it never left; empty where all are alike
    levels : send buffer, rows (ns, frames waiting); empty unless asked for

    Notes
    -----
    `simulate` has an example.

    Examples
    --------
    >>> from voicewire.netsim import Udp
    >>> flow = simulate([Flow([0, 20_000_000], 160, Udp(), Path(50.0))]).flows[0]
    >>> flow.arrive.tolist()
    [50000000, 70000000]
    """

    sent: NDArray[np.int64]
    arrive: NDArray[np.int64]
    fate: NDArray[np.int8]
    packets: dict[str, int]
    sizes: NDArray[np.int64]
    rates: NDArray[np.float64]
    levels: NDArray[np.float64]


@dataclass(frozen=True)
class Result:
    """What became of all flows, and of the bottleneck.

    Attributes
    ----------
    flows : one `FlowResult` each
    events : events processed
    bytes_through : what the bottleneck carried, or the last of several, headers included
    longest_queue : packets, in whichever was longest

    Notes
    -----
    `simulate` has an example.

    Examples
    --------
    >>> from voicewire.netsim import Udp
    >>> result = simulate([Flow([0, 20_000_000], 160, Udp(), Path(50.0))])
    >>> len(result.flows), result.events > 0
    (1, True)
    """

    flows: tuple[FlowResult, ...]
    events: int
    bytes_through: float
    longest_queue: int


@checks.takes(error=NetsimError, segments=checks.whole(1, 10**7), start_ns=checks.whole(0, 10**17))
def bulk(segments: int, start_ns: int = 0) -> NDArray[np.int64]:
    """Frames of a bulk transfer: all there at once. Give its flow a payload of one MSS.

    Parameters
    ----------
    segments : int
        How many segments there are to send, 1 to 10 million.
    start_ns : int
        When all of them are there, ns.

    Returns
    -------
    ndarray of int64, shape (segments,)
        Times in ns, all the same.

    Raises
    ------
    NetsimError
        For a number of segments or a time that is out of range.

    Notes
    -----
    The transfers that compete with calls.

    Examples
    --------
    >>> bulk(3, 5).tolist()
    [5, 5, 5]
    """
    return np.full(segments, start_ns, dtype=np.int64)


def _frames(frames: ArrayLike) -> NDArray[np.int64]:
    try:
        times = np.asarray(frames)
    except ValueError:
        raise NetsimError("frame times must be one row of nanoseconds: these rows are not equally long") from None
    if times.dtype == object:
        times = checks.array()("frames", frames, NetsimError)
    if times.ndim != 1 or times.size == 0:
        raise NetsimError("empty schedule: a flow needs at least one frame")
    if times.dtype.kind == "f":
        if not np.all(np.isfinite(times)):
            raise NetsimError("a frame's time is NaN or infinite: give nanoseconds")
        if np.abs(times).max() > 1e18:
            raise NetsimError("frame times run from 0 on, in nanoseconds, for nine years at most")
        times = np.round(times)
    elif times.dtype.kind not in "iu":
        raise NetsimError("frame times are numbers of nanoseconds")
    times = times.astype(np.int64)
    if times[0] < 0 or times[-1] >= flow_state.NEVER // 4:
        raise NetsimError("frame times run from 0 on, in nanoseconds, for nine years at most")
    if times.size > 1 and np.any(times[1:] < times[:-1]):
        raise NetsimError("frame times must not fall: sort them")
    return times


def _buffered(times: NDArray[np.int64], sender: Tfrc | Ccid2) -> None:
    """Refuse more frames at one time than a send buffer can hold: all but a few would be lost before they are sent."""
    most = int(np.unique(times, return_counts=True)[1].max())
    if most > flow_state.QUEUE:
        raise NetsimError(
            f"{most} frames come at one time, and the send buffer holds {sender.buffer}: the others would never be "
            "sent; give them times of their own (a bulk transfer: simulate_table), or use Tcp"
        )


def _fill(f: Any, flow: Flow, first: int, last: int, seeds: NDArray[Any], log: bool) -> None:
    """Write into a record of zeros what a flow is, and what it begins with."""
    path = flow.path
    f["payload"] = flow.payload
    f["header"] = flow.header
    f["first"] = f["next_frame"] = first
    f["last"] = last
    f["delay"] = round(path.delay_ms * 1e6)
    f["jitter"] = round(path.jitter_ms * 1e6)
    f["loss"] = path.loss
    f["loss_back"] = path.loss if path.loss_back is None else path.loss_back
    if path.burst is not None:
        f["to_bad"], f["to_good"], f["burst_loss"] = path.burst
    f["lossy_until"] = flow_state.NEVER if path.lossy_s is None else round(path.lossy_s * 1e9)
    f["rng"], f["rng_back"] = seeds
    f["send_at"] = f["timer"] = f["delayed_ack"] = flow_state.NEVER
    f["rtt"] = max(2 * path.delay_ms / 1e3, 1e-4)  # from the handshake
    f["r_seq"] = -1
    f["log"] = log
    flow.sender.fill(f)


def _ring(flow: Flow, row: Sequence[Bottleneck]) -> int:
    waiting = 2 * (flow.path.delay_ms + flow.path.jitter_ms)
    return 1 << (math.ceil(511 + waiting + sum(one.packets for one in row))).bit_length()


def _links(row: Sequence[Bottleneck], first: np.uint64, seed: int) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    """Records of the bottlenecks in a row, and rings for the departures from each."""
    links = flow_state.table(flow_state.Link, len(row))
    room = 1 << max((int(one.packets).bit_length() for one in row), default=0)
    links["mask"] = room - 1
    links["since_mark"] = -1
    links["rng"] = np.random.SeedSequence([seed, 1]).generate_state(links.size, np.uint64)
    links["rng"][:1] = first
    for link, one in zip(links, row, strict=True):
        link["rate"] = one.kbit_s * 125.0
        link["limit"] = one.packets
        if one.red is not None:
            red = one.red
            link["red"], link["ecn"] = 1, red.ecn
            link["low"], link["high"], link["max_p"], link["weight"] = red.low, red.high, red.max_p, red.weight
    return links, np.empty((links.size, room), dtype=np.int64)


def _world(
    links: Any, departures: Any, frames: NDArray[np.int64], packets: dict[str, NDArray[Any]], room: int, rows: int
) -> flow_state.World:
    """Give what the rules work on: room for so many packets under way, and so many rows of the logs."""
    arrays: dict[str, Any] = {
        "data": flow_state.room(flow_state.Packet, room),
        "acks": flow_state.room(flow_state.Ack, room),
        "segments": flow_state.room(flow_state.Segment, room),
        "sent": np.full(frames.size, -1, dtype=np.int64),
        "arrive": np.full(frames.size, -1, dtype=np.int64),
        "fate": np.zeros(frames.size, dtype=np.int8),
        "got": np.zeros(frames.size, dtype=np.int8),
        **packets,
        "rates": np.empty((rows, 6)),
        "levels": np.empty((rows, 2)),
    }
    return flow_state.World(links=links, departures=departures, frames=cast(Any, frames), **arrays)


def _result(f: NDArray[np.void], world: Any, pieces: int) -> FlowResult:
    """Cut a flow's part out of what all flows share; a frame in pieces is there with the last of them."""
    part = slice(int(f["first"]) + pieces - 1, int(f["last"]), pieces)
    rates, levels = world.rates[: f["n_rates"]], world.levels[: f["n_levels"]]
    sent = world.sent[part]
    sizes = np.where(sent >= 0, world.size[part], 0) if f["sizing"] else world.size[:0]
    return FlowResult(sent, world.arrive[part], world.fate[part], _packets(f), sizes, rates, levels)


def _packets(f: NDArray[np.void]) -> dict[str, int]:
    names = (
        "sent",
        "delivered",
        "dropped_queue",
        "lost",
        "dropped_sender",
        "acks_sent",
        "acks_lost",
        "retransmitted",
        "marked",
    )
    counts = {name: int(f[name]) for name in names}
    counts["in_flight"] = int(f["data_tail"] - f["data_head"])
    return counts


def _row(given: object) -> tuple[Bottleneck, ...]:
    if given is None or isinstance(given, Bottleneck):
        return () if given is None else (given,)
    row: tuple[Bottleneck, ...] = checks.each(checks.a(Bottleneck), least=1)("bottleneck", given, NetsimError)
    if len(row) > _MOST_ROUTERS:
        raise NetsimError(f"{len(row)} bottlenecks in a row: {_MOST_ROUTERS} at most")
    return row


@checks.takes(
    error=NetsimError, flows=checks.each(checks.a(Flow), least=0), seed=checks.seed,
)  # fmt: skip
def simulate(
    flows: Sequence[Flow],
    *,
    bottleneck: Bottleneck | Sequence[Bottleneck] | None = None,
    seed: int = 0,
    until_s: float | None = None,
    log: bool = False,
) -> Result:
    """Simulate all flows together; they meet in the bottleneck, if there is one.

    Parameters
    ----------
    flows : sequence of Flow
        At least one.
    bottleneck : Bottleneck or sequence of Bottleneck, optional
        Shared by all flows, before their paths' delays and losses; several stand in a row, and all flows pass them in
        this order; without any every path has room enough.
    seed : int
        Of all losses, jitter and RED decisions; flow k's luck depends on (seed, k) only.
    until_s : float, optional
        Simulated seconds after which to stop; without it 30 s after the last frame was spoken.
    log : bool
        Keep the rate adjustments (or TCP's windows) and buffer levels of the first flow.

    Returns
    -------
    Result
        What became of each flow, and of the bottleneck.

    Raises
    ------
    NetsimError
        for a schedule or parameter that no network can have.

    Notes
    -----
    Times are whole nanoseconds. What falls on one nanosecond has a fixed order: feedback, arrival, frame, sending,
    timer.

    Examples
    --------
    Two frames over UDP, 50 ms away:

    >>> from voicewire.netsim import Path, Udp
    >>> flow = Flow([0, 20_000_000], 20, Udp(), Path(50))
    >>> simulate([flow]).flows[0].arrive.tolist()
    [50000000, 70000000]
    """
    if not flows:
        raise NetsimError("give at least one flow")
    row = _row(bottleneck)
    flows, pieces = zip(*map(as_stream, flows), strict=True)
    schedules = [np.asarray(flow.frames) for flow in flows]
    ends = np.cumsum([s.size for s in schedules])
    last = max(int(s[-1]) for s in schedules)
    until = last + 30 * flow_state.SECOND if until_s is None else round(1e9 * number(until_s, "the end in s", 0, 2e9))
    seeds = np.random.SeedSequence(seed).generate_state(2 * len(flows) + 1, np.uint64)
    state = flow_state.table(flow_state.FlowState, len(flows))
    for k, flow in enumerate(flows):
        end = int(ends[k])
        luck = seeds[2 * k + 1 : 2 * k + 3]
        _fill(state[k], flow, end - schedules[k].size, end, luck, log)
    room = max(_ring(flow, row) for flow in flows)
    state["ring"] = np.arange(len(flows), dtype=np.int64) * room
    state["mask"] = room - 1
    links, departures = _links(row, seeds[0], seed)
    frames = schedules[0] if len(schedules) == 1 else np.concatenate(schedules)
    # one log for all flows would mix them: only the first flow is logged
    state["log"][1:] = 0
    packets = {
        "size": room_for_sizes(flows, state, frames.size),
        "worth": room_for_importance(flows, state, frames.size),
    }
    world = _world(links, departures, frames, packets, len(flows) * room, _LOG_ROWS if log else 0)
    with np.errstate(over="ignore"):  # the random numbers wrap at 64 bits; only plain Python would mention it
        events = engine.run(state, np.empty(len(flows), np.int64), until, *world)
    if state["overflow"].any():
        raise NetsimError("more packets under way than the simulator holds: shorten the delay or the initial burst")
    results = tuple(_result(state[k], world, pieces[k]) for k in range(len(flows)))
    return Result(results, int(events), float(links["bytes"][-1:].sum()), int(links["longest"].max(initial=0)))
