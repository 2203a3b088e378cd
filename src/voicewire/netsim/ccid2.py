"""CCID 2, TCP-like congestion control without retransmission, compiled: RFC 4341, windows counted in packets."""

from __future__ import annotations

import numpy as np

from voicewire.netsim.compilation import rule
from voicewire.netsim.compiled_link import send_back, transmit
from voicewire.netsim.flow_state import DELIVERED, DROPPED_SENDER, NEVER, QUEUE, SECOND, Ack, FlowState, Packet, World
from voicewire.netsim.tcp import _measure, _start_timer, vector_shift

__all__: list[str] = []

NDUPACK = 3  # RFC 4341 section 5


@rule
def initialise(f: FlowState) -> None:
    """RFC 4341 section 5: the initial window is RFC 3390's, in packets of the flow's size: four for voice."""
    f.cwnd = f.initial_window
    f.ssthresh = 1e18
    f.srtt = f.rtt
    f.rttvar = f.rtt / 2.0
    f.rto = max(f.srtt + 4.0 * f.rttvar, f.rto_min)
    f.backoff = 1.0
    f.last_send = -NEVER
    f.recover = -1
    f.highest = -1


@rule
def push(f: FlowState, w: World, now: int) -> None:
    """Send from the buffer while the window is open."""
    if f.q_head < f.q_tail and f.seg_head == f.seg_tail and now - f.last_send > int(f.rto * SECOND):
        f.cwnd = min(f.cwnd, f.initial_window)  # RFC 4341 section 5.1, as RFC 2581 section 4.1
    while f.q_head < f.q_tail and f.pipe + 1.0 <= f.cwnd and f.seg_tail - f.seg_head <= f.mask:
        frame = f.queue[f.q_head & (QUEUE - 1)]
        f.q_head += 1
        segment = w.segments[f.ring + (f.seg_tail & f.mask)]
        f.seg_tail += 1
        segment.sent = now
        segment.lost = 0
        segment.sacked = 0
        f.pipe += 1.0
        f.last_send = now
        w.sent[frame] = now
        segment.frame = transmit(f, w, now, frame, 1, 0, f.payload)  # its sequence number
        if f.timer == NEVER:
            _start_timer(f, now)


@rule
def new_frame(f: FlowState, w: World, now: int, frame: int) -> None:
    """The codec hands over a frame: the send buffer is the one that TFRC has."""
    if f.q_tail - f.q_head >= f.buffer:
        f.dropped_sender += 1
        if not f.drop_oldest:
            w.fate[frame] = DROPPED_SENDER
            return
        w.fate[f.queue[f.q_head & (QUEUE - 1)]] = DROPPED_SENDER
        f.q_head += 1
    f.queue[f.q_tail & (QUEUE - 1)] = frame
    f.q_tail += 1
    push(f, w, now)


@rule
def _congestion(f: FlowState, seq: int) -> None:
    if seq > f.recover:  # one halving per window of data
        f.cwnd = max(f.cwnd / 2.0, 1.0)
        f.ssthresh = max(f.cwnd, 2.0)
        f.recover = f.seq - 1


@rule
def on_ack(f: FlowState, ack: Ack, w: World, now: int) -> None:
    """An acknowledgement vector arrives: `upto` is the highest packet, bit i of the vector packet upto - i."""
    _measure(f, now, ack.echo)
    progress = False
    for k in range(f.seg_head, f.seg_tail):
        segment = w.segments[f.ring + (k & f.mask)]
        age = ack.upto - segment.frame
        if age < 0:
            break
        if segment.sacked or segment.lost:
            continue
        if age < 64 and (ack.vector >> np.uint64(age)) & np.uint64(1):
            segment.sacked = 1
            f.pipe -= 1.0
            progress = True
            f.cwnd += 1.0 if f.cwnd < f.ssthresh else 1.0 / f.cwnd
        elif age >= NDUPACK:
            segment.lost = 1
            f.pipe -= 1.0
            _congestion(f, segment.frame)
    while f.seg_head < f.seg_tail:
        segment = w.segments[f.ring + (f.seg_head & f.mask)]
        if not (segment.sacked or segment.lost):
            break
        f.seg_head += 1
    if ack.mark:
        _congestion(f, ack.upto)
    if f.seg_head == f.seg_tail:
        f.timer = NEVER
    elif progress:
        f.backoff = 1.0
        _start_timer(f, now)
    push(f, w, now)


@rule
def on_timer(f: FlowState, w: World, now: int) -> None:
    """Timeout: everything outstanding counts as lost, the window is one packet (RFC 4341 section 5)."""
    f.timer = NEVER
    f.ssthresh = max(f.cwnd / 2.0, 2.0)
    f.cwnd = 1.0
    f.pipe = 0.0
    f.backoff = min(f.backoff * 2.0, 64.0)
    f.seg_head = f.seg_tail
    f.recover = f.seq - 1
    push(f, w, now)


@rule
def _acknowledge(f: FlowState, w: World, now: int) -> None:
    f.unacked = 0
    f.delayed_ack = NEVER
    mark = f.pending_mark
    f.pending_mark = 0
    if send_back(f, w, now):
        ack = w.acks[f.ring + ((f.ack_tail - 1) & f.mask)]
        ack.echo = f.ack_echo
        ack.upto = f.highest
        ack.vector = f.vector
        ack.mark = mark


@rule
def on_packet(f: FlowState, packet: Packet, w: World) -> None:
    """A packet arrives: one acknowledgement vector for every second packet, at once when one is missing."""
    now = packet.time
    f.delivered += 1
    w.arrive[packet.frame] = now
    w.fate[packet.frame] = DELIVERED
    missing = packet.seq > f.highest + 1
    f.vector = vector_shift(f.vector, packet.seq - f.highest)
    f.highest = packet.seq
    f.pending_mark |= packet.mark
    if f.unacked == 0:
        f.ack_echo = packet.sent
    f.unacked += 1
    if missing or packet.mark or f.unacked >= f.ack_every:
        _acknowledge(f, w, now)
    elif f.delayed_ack == NEVER:
        f.delayed_ack = now + f.ack_delay


@rule
def on_delayed_ack(f: FlowState, w: World, now: int) -> None:
    """The delayed-acknowledgement timer runs out."""
    _acknowledge(f, w, now)
