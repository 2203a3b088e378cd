"""The event loop, compiled: many flows, one clock, events in a fixed order on every tie.

Each flow knows its own next event: the head of a ring of acknowledgements, the head of a ring of packets, the next
frame of its codec, its next permitted sending, its timers. The bottleneck needs no events: a FIFO queue knows a
packet's departure when it takes it. So the next event of all is a minimum over a handful of numbers, without a heap.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Any

from voicewire.netsim import ccid2, tcp, tfrc_receiver, tfrc_sender
from voicewire.netsim.compilation import rule
from voicewire.netsim.compiled_link import transmit
from voicewire.netsim.flow_state import (
    CCID2,
    DELIVERED,
    EV_ARRIVAL,
    EV_DELAYED_ACK,
    EV_FEEDBACK,
    EV_FRAME,
    EV_SEND,
    EV_TIMER,
    NEVER,
    TCP,
    TFRC,
    UDP,
    FlowState,
    World,
)

__all__: list[str] = []


@rule
def _next_event(f: FlowState, w: World) -> int:
    """Time × 8 + kind of the flow's next event."""
    best = NEVER * 8
    if f.ack_head < f.ack_tail:
        best = w.acks[f.ring + (f.ack_head & f.mask)].time * 8 + EV_FEEDBACK
    if f.data_head < f.data_tail:
        best = min(best, w.data[f.ring + (f.data_head & f.mask)].time * 8 + EV_ARRIVAL)
    if f.next_frame < f.last:
        best = min(best, w.frames[f.next_frame] * 8 + EV_FRAME)
    best = min(best, f.send_at * 8 + EV_SEND)
    best = min(best, f.timer * 8 + EV_TIMER)
    return min(best, f.delayed_ack * 8 + EV_DELAYED_ACK)


@rule
def _log_rate(f: FlowState, w: World, now: int) -> None:
    if f.log and f.n_rates < w.rates.shape[0]:
        w.rates[f.n_rates, 0] = now
        w.rates[f.n_rates, 1] = f.x
        w.rates[f.n_rates, 2] = f.x_recv
        w.rates[f.n_rates, 3] = f.x_calc if f.p > 0.0 else -1.0
        w.rates[f.n_rates, 4] = f.p
        w.rates[f.n_rates, 5] = f.fast_max
        f.n_rates += 1


@rule
def _log_window(f: FlowState, w: World, now: int) -> None:
    if f.log and f.n_rates < w.rates.shape[0]:
        w.rates[f.n_rates, 0] = now
        w.rates[f.n_rates, 1] = f.cwnd
        w.rates[f.n_rates, 2] = f.ssthresh
        w.rates[f.n_rates, 3] = f.pipe
        w.rates[f.n_rates, 4] = f.rto * f.backoff
        w.rates[f.n_rates, 5] = 0.0
        f.n_rates += 1


@rule
def _log_level(f: FlowState, w: World, now: int) -> None:
    if f.log and f.n_levels < w.levels.shape[0]:
        w.levels[f.n_levels, 0] = now
        w.levels[f.n_levels, 1] = f.q_tail - f.q_head
        f.n_levels += 1


@rule
def _frame(f: FlowState, w: World, now: int) -> None:
    if f.kind == TCP:
        # the socket takes every frame that is ready now: bulk data come all at once
        while f.next_frame < f.last and w.frames[f.next_frame] <= now:
            f.next_frame += 1
        tcp.push(f, w, now)
        return
    frame = f.next_frame
    f.next_frame += 1
    if f.kind == UDP:
        w.sent[frame] = now
        transmit(f, w, now, frame, 1, 0, f.payload)
    elif f.kind == TFRC:
        tfrc_sender.new_frame(f, w, now, frame)
    else:
        ccid2.new_frame(f, w, now, frame)


@rule
def _start(f: FlowState) -> None:
    if f.kind == TFRC:
        tfrc_sender.initialise(f)
    elif f.kind == TCP:
        tcp.initialise(f)
    elif f.kind == CCID2:
        ccid2.initialise(f)


@rule
def _arrival(f: FlowState, w: World, now: int) -> None:
    packet = w.data[f.ring + (f.data_head & f.mask)]
    f.data_head += 1
    if f.kind == UDP:
        f.delivered += 1
        w.arrive[packet.frame] = now
        w.fate[packet.frame] = DELIVERED
    elif f.kind == TFRC:
        tfrc_receiver.on_packet(f, packet, w)
    elif f.kind == TCP:
        tcp.on_packet(f, packet, w)
    else:
        ccid2.on_packet(f, packet, w)


@rule
def _feedback(f: FlowState, w: World, now: int) -> None:
    ack = w.acks[f.ring + (f.ack_head & f.mask)]
    f.ack_head += 1
    if f.kind == TFRC:
        tfrc_sender.on_feedback(f, w, now, ack.echo, ack.counter, ack.x_recv, ack.p)
        _log_rate(f, w, now)
    elif f.kind == TCP:
        tcp.on_ack(f, ack, w, now)
        _log_window(f, w, now)
    else:
        ccid2.on_ack(f, ack, w, now)


@rule
def _timer(f: FlowState, w: World, now: int) -> None:
    if f.kind == TFRC:
        tfrc_sender.on_timer(f, w, now)
        _log_rate(f, w, now)
    elif f.kind == TCP:
        tcp.on_timer(f, w, now)
        _log_window(f, w, now)
    else:
        ccid2.on_timer(f, w, now)


@rule
def _run(flows: Sequence[FlowState], w: World, upcoming: MutableSequence[int], until: int) -> int:
    n = len(flows)
    for k in range(n):
        _start(flows[k])
        upcoming[k] = _next_event(flows[k], w)
    limit = until * 8 + 7
    events = 0
    while True:
        who = 0
        best = upcoming[0]
        for k in range(1, n):
            if upcoming[k] < best:
                best = upcoming[k]
                who = k
        if best > limit:
            return events
        events += 1
        now = best >> 3
        kind = best & 7
        f = flows[who]
        if kind == EV_ARRIVAL:
            _arrival(f, w, now)
        elif kind == EV_FRAME:
            _frame(f, w, now)
            _log_level(f, w, now)
        elif kind == EV_FEEDBACK:
            _feedback(f, w, now)
        elif kind == EV_SEND:
            tfrc_sender.send(f, w, now)
            _log_level(f, w, now)
        elif kind == EV_TIMER:
            _timer(f, w, now)
        elif f.kind == TCP:
            tcp.on_delayed_ack(f, w, now)
        else:
            ccid2.on_delayed_ack(f, w, now)
        upcoming[who] = _next_event(f, w)


@rule
def run(flows: Sequence[FlowState], upcoming: MutableSequence[int], until: int, *world: Any) -> int:
    """Run all flows up to and including the time `until`; the number of events is returned.

    The fields of `World` come one by one, because numba takes 0.4 ms to recognise a tuple of records that comes whole.
    """
    return _run(flows, World(*world), upcoming, until)
