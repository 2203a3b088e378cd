"""The event loop, compiled: many flows, one clock, events in a fixed order on every tie.

Each flow knows its own next event: the head of a ring of acknowledgements, the head of a ring of packets, the next
frame of its codec, its next permitted sending, its timers. The bottleneck needs no events: a FIFO queue knows a
packet's departure when it takes it. So the next event of all is a minimum over a handful of numbers, without a heap.
"""

from __future__ import annotations

from typing import Any

from voicewire.netsim import ccid2, tcp, tfrc_receiver, tfrc_sender
from voicewire.netsim.compiled import rule
from voicewire.netsim.records import (
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
)
from voicewire.netsim.wire import transmit

__all__: list[str] = []

Record = Any


@rule
def _next_event(f: Record, data: Any, acks: Any, frames: Any) -> int:
    """Time × 8 + kind of the flow's next event."""
    best = NEVER * 8
    if f.ack_head < f.ack_tail:
        best = acks[f.ring + (f.ack_head & f.mask)].time * 8 + EV_FEEDBACK
    if f.data_head < f.data_tail:
        best = min(best, data[f.ring + (f.data_head & f.mask)].time * 8 + EV_ARRIVAL)
    if f.next_frame < f.last:
        best = min(best, frames[f.next_frame] * 8 + EV_FRAME)
    best = min(best, f.send_at * 8 + EV_SEND)
    best = min(best, f.timer * 8 + EV_TIMER)
    return min(best, f.delayed_ack * 8 + EV_DELAYED_ACK)


@rule
def _log_rate(f: Record, rates: Any, now: int) -> None:
    if f.log and f.n_rates < rates.shape[0]:
        rates[f.n_rates, 0] = now
        rates[f.n_rates, 1] = f.x
        rates[f.n_rates, 2] = f.x_recv
        rates[f.n_rates, 3] = f.x_calc if f.p > 0.0 else -1.0
        rates[f.n_rates, 4] = f.p
        f.n_rates += 1


@rule
def _log_level(f: Record, levels: Any, now: int) -> None:
    if f.log and f.n_levels < levels.shape[0]:
        levels[f.n_levels, 0] = now
        levels[f.n_levels, 1] = f.q_tail - f.q_head
        f.n_levels += 1


@rule
def _frame(
    f: Record, link: Record, departures: Any, data: Any, segments: Any, frames: Any, sent: Any, fate: Any, now: int
) -> None:
    if f.kind == TCP:
        # the socket takes every frame that is ready now: bulk data come all at once
        while f.next_frame < f.last and frames[f.next_frame] <= now:
            f.next_frame += 1
        tcp.push(f, link, departures, data, fate, sent, segments, now)
        return
    frame = f.next_frame
    f.next_frame += 1
    if f.kind == UDP:
        sent[frame] = now
        transmit(f, link, departures, data, fate, now, frame, 1, 0)
    elif f.kind == TFRC:
        tfrc_sender.new_frame(f, link, departures, data, fate, sent, now, frame)
    else:
        ccid2.new_frame(f, link, departures, data, fate, sent, segments, now, frame)


@rule
def run(
    flows: Any,
    link: Record,
    departures: Any,
    data: Any,
    acks: Any,
    segments: Any,
    frames: Any,
    sent: Any,
    arrive: Any,
    fate: Any,
    got: Any,
    rates: Any,
    levels: Any,
    upcoming: Any,
    until: int,
) -> int:
    """Run all flows up to and including the time `until`; the number of events is returned."""
    n = flows.size
    for k in range(n):
        f = flows[k]
        if f.kind == TFRC:
            tfrc_sender.initialise(f)
        elif f.kind == TCP:
            tcp.initialise(f)
        elif f.kind == CCID2:
            ccid2.initialise(f)
        upcoming[k] = _next_event(f, data, acks, frames)
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
            packet = data[f.ring + (f.data_head & f.mask)]
            f.data_head += 1
            if f.kind == UDP:
                f.delivered += 1
                arrive[packet.frame] = now
                fate[packet.frame] = DELIVERED
            elif f.kind == TFRC:
                tfrc_receiver.on_packet(f, packet, acks, arrive, fate)
            elif f.kind == TCP:
                tcp.on_packet(f, packet, acks, got, arrive, fate)
            else:
                ccid2.on_packet(f, packet, acks, arrive, fate)
        elif kind == EV_FRAME:
            _frame(f, link, departures, data, segments, frames, sent, fate, now)
            _log_level(f, levels, now)
        elif kind == EV_FEEDBACK:
            ack = acks[f.ring + (f.ack_head & f.mask)]
            f.ack_head += 1
            if f.kind == TFRC:
                tfrc_sender.on_feedback(f, now, ack.echo, ack.counter, ack.x_recv, ack.p)
                _log_rate(f, rates, now)
            elif f.kind == TCP:
                tcp.on_ack(f, ack, link, departures, data, fate, sent, segments, now)
            else:
                ccid2.on_ack(f, ack, link, departures, data, fate, sent, segments, now)
        elif kind == EV_SEND:
            tfrc_sender.send(f, link, departures, data, fate, sent, now)
            _log_level(f, levels, now)
        elif kind == EV_TIMER:
            if f.kind == TFRC:
                tfrc_sender.on_timer(f, now)
                _log_rate(f, rates, now)
            elif f.kind == TCP:
                tcp.on_timer(f, link, departures, data, fate, sent, segments, now)
            else:
                ccid2.on_timer(f, link, departures, data, fate, sent, segments, now)
        elif f.kind == TCP:
            tcp.on_delayed_ack(f, acks, got, now)
        else:
            ccid2.on_delayed_ack(f, acks, now)
        upcoming[who] = _next_event(f, data, acks, frames)
