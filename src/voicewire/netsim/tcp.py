"""TCP, rule by rule, compiled: RFC 2581 (congestion control), 2988 (timer), 3390 (initial window), 3517 (SACK).

The stream is counted in frames: a segment carries whole frames, at most MSS // payload of them (a stream socket may
cut frames; this is the named simplification). With NODELAY each frame leaves at once while the window is open;
what has to wait is joined into larger segments; a repeat keeps its segment's bounds. Only what arrives *in order*
counts as delivered to the listener.
"""

from __future__ import annotations

import numpy as np

from voicewire.netsim.compilation import rule
from voicewire.netsim.compiled_link import send_back, transmit
from voicewire.netsim.flow_state import DELIVERED, NEVER, SECOND, Ack, FlowState, Packet, Segment, World

__all__: list[str] = []

DUPTHRESH = 3  # RFC 3517
FAST, TIMED_OUT = 1, 2  # what began the repair: SACK, which holds the window, or the timer, and slow start goes on


@rule
def initialise(f: FlowState) -> None:
    """Connection just opened: the handshake has measured one round trip (RFC 2988 section 2.2)."""
    f.most = max(f.mss // f.payload, 1) if f.joins else 1
    f.cwnd = f.initial_window
    f.ssthresh = 1e18
    f.una = f.nxt = f.first
    f.rcv_next = f.first
    f.srtt = f.rtt
    f.rttvar = f.rtt / 2.0
    f.rto = max(f.srtt + 4.0 * f.rttvar, f.rto_min)
    f.backoff = 1.0
    f.last_send = f.last_heard = -NEVER
    f.old_lo = f.old_hi = 0


@rule
def _start_timer(f: FlowState, now: int) -> None:
    f.timer = now + int(min(f.rto * f.backoff, 64.0) * SECOND)


@rule
def _send_segment(f: FlowState, w: World, segment: Segment, now: int) -> None:
    segment.sent = now
    size = segment.count * f.payload
    f.pipe += size
    f.last_send = now
    transmit(f, w, now, segment.frame, segment.count, 0, size)
    if f.timer == NEVER:
        _start_timer(f, now)


@rule
def push(f: FlowState, w: World, now: int) -> None:
    """Send what the window allows: lost segments first (RFC 3517 NextSeg), then new frames."""
    window = min(f.cwnd, f.window_limit)
    if f.recovering:
        k = f.seg_head
        while k < f.seg_tail:
            segment = w.segments[f.ring + (k & f.mask)]
            if segment.lost and not segment.again and not segment.sacked:
                if f.pipe > 0.0 and f.pipe + segment.count * f.payload > window:
                    return
                segment.again = 1
                f.retransmitted += 1
                _send_segment(f, w, segment, now)
            k += 1
    silent = now - (f.last_heard if f.idle_heard else f.last_send)  # RFC 2581 section 4.1; FreeBSD: since heard
    if f.nxt < f.next_frame and f.seg_head == f.seg_tail and silent > int(f.rto * SECOND):
        f.cwnd = min(f.cwnd, f.initial_window)  # RFC 2581 section 4.1: restart window after idleness
        window = min(f.cwnd, f.window_limit)
    while f.nxt < f.next_frame and f.seg_tail - f.seg_head <= f.mask:
        count = min(f.next_frame - f.nxt, f.most)
        if f.nagle and count < f.most and f.seg_head < f.seg_tail:
            return  # Nagle (RFC 896): what does not fill a segment waits until all that is out is acknowledged
        fits = int((window - f.pipe) / f.payload)
        if f.pipe > 0.0 and fits < count:
            return  # silly window avoidance (RFC 1122 section 4.2.3.4): wait until all of it fits
        segment = w.segments[f.ring + (f.seg_tail & f.mask)]
        segment.frame = f.nxt
        segment.count = count
        segment.sacked = 0
        segment.lost = 0
        segment.again = 0
        f.seg_tail += 1
        for k in range(f.nxt, f.nxt + count):
            w.sent[k] = now
        f.nxt += count
        _send_segment(f, w, segment, now)


@rule
def _measure(f: FlowState, now: int, echo: int) -> None:
    sample = (now - echo) / SECOND  # timestamps: every acknowledgement measures (RFC 1323)
    f.rttvar = 0.75 * f.rttvar + 0.25 * abs(f.srtt - sample)
    f.srtt = 0.875 * f.srtt + 0.125 * sample
    f.rto = max(f.srtt + 4.0 * f.rttvar, f.rto_min)


@rule
def on_ack(f: FlowState, ack: Ack, w: World, now: int) -> None:
    """An acknowledgement arrives: cumulative part, SACK blocks, losses, window."""
    f.last_heard = now
    _measure(f, now, ack.echo)
    progress = ack.upto > f.una
    if progress:
        f.una = ack.upto
        f.backoff = 1.0
        while f.seg_head < f.seg_tail:
            segment = w.segments[f.ring + (f.seg_head & f.mask)]
            if segment.frame + segment.count > f.una:
                break
            if not segment.sacked and (not segment.lost or segment.again):
                f.pipe -= segment.count * f.payload
            f.seg_head += 1
        if f.recovering and f.una >= f.recover:
            f.recovering = 0
    if ack.hi0 > ack.lo0:
        # mark what was SACKed; whatever has three SACKed segments above it is lost (RFC 3517 IsLost)
        above = 0
        k = f.seg_tail - 1
        found = False
        while k >= f.seg_head:
            segment = w.segments[f.ring + (k & f.mask)]
            inside = (ack.lo0 <= segment.frame < ack.hi0) or (ack.lo1 <= segment.frame < ack.hi1)
            if inside and not segment.sacked:
                segment.sacked = 1
                if not segment.lost or segment.again:
                    f.pipe -= segment.count * f.payload
            if segment.sacked:
                above += 1
            elif above >= DUPTHRESH and not segment.lost:
                segment.lost = 1
                f.pipe -= segment.count * f.payload
                found = True
            k -= 1
        if found and not f.recovering:
            f.ssthresh = max((f.nxt - f.una) * f.payload / 2.0, 2.0 * f.mss)  # RFC 2581 equation 3
            f.cwnd = f.ssthresh
            f.recovering = FAST
            f.recover = f.nxt
    if ack.mark and f.una > f.ecn_until:
        f.ssthresh = max(f.cwnd / 2.0, 2.0 * f.mss)  # RFC 3168 section 6.1.2: once per window
        f.cwnd = f.ssthresh
        f.ecn_until = f.nxt
    elif progress and f.recovering != FAST:  # RFC 2581 section 3.1: slow start, also while the timer's repair lasts
        f.cwnd += f.mss if f.cwnd < f.ssthresh else f.mss * f.mss / f.cwnd
    if f.seg_head == f.seg_tail:
        f.timer = NEVER
    elif progress:
        _start_timer(f, now)
    push(f, w, now)


@rule
def on_timer(f: FlowState, w: World, now: int) -> None:
    """Retransmission timer: RFC 2581 section 3.1 and RFC 2988 section 5."""
    f.timer = NEVER
    if f.backoff == 1.0:  # RFC 5681 equation 4: not if the timer has sent this segment before
        f.ssthresh = max((f.nxt - f.una) * f.payload / 2.0, 2.0 * f.mss)
    f.cwnd = float(f.mss)
    f.backoff = min(f.backoff * 2.0, 64.0)
    for k in range(f.seg_head, f.seg_tail):
        segment = w.segments[f.ring + (k & f.mask)]
        segment.lost = 1
        segment.again = 0
        segment.sacked = 0  # RFC 2018 section 8: what was SACKed may have been forgotten
    f.pipe = 0.0
    f.recovering = TIMED_OUT
    f.recover = f.nxt  # until it is passed SACK begins no new repair (RFC 3517 section 5.1)
    push(f, w, now)


@rule
def _acknowledge(f: FlowState, w: World, echo: int, frame: int, now: int) -> None:
    f.unacked = 0
    f.delayed_ack = NEVER
    mark = f.pending_mark
    f.pending_mark = 0
    lo = hi = 0
    if frame >= f.rcv_next:
        # first block: the run of frames around the one that triggered this acknowledgement (RFC 2018 section 4)
        lo = frame
        while lo - 1 > f.rcv_next and w.got[lo - 1]:
            lo -= 1
        hi = frame
        while hi < f.last and w.got[hi]:
            hi += 1
    if send_back(f, w, now):
        ack = w.acks[f.ring + ((f.ack_tail - 1) & f.mask)]
        ack.echo = echo
        ack.upto = f.rcv_next
        ack.lo0 = lo
        ack.hi0 = hi
        ack.lo1 = f.old_lo
        ack.hi1 = f.old_hi
        ack.mark = mark
    if hi > lo and lo != f.old_lo:
        f.old_lo = lo
        f.old_hi = hi


@rule
def on_packet(f: FlowState, packet: Packet, w: World) -> None:
    """A segment arrives: in-order delivery, delayed acknowledgements (RFC 2581 section 4.2)."""
    now = packet.time
    f.delivered += 1
    f.pending_mark |= packet.mark
    hole = packet.frame > f.rcv_next
    filled = False
    for k in range(packet.frame, packet.frame + packet.count):
        w.got[k] = 1
    while f.rcv_next < f.last and w.got[f.rcv_next]:
        w.arrive[f.rcv_next] = now
        w.fate[f.rcv_next] = DELIVERED
        f.rcv_next += 1
    filled = f.rcv_next > packet.frame + packet.count  # a hole was filled: acknowledge at once
    stale = packet.frame + packet.count <= f.old_hi and not hole
    if f.unacked == 0:
        f.ack_echo = packet.sent
    f.unacked += 1
    if hole or filled or stale or packet.mark or f.unacked >= f.ack_every:
        _acknowledge(f, w, packet.sent if hole else f.ack_echo, packet.frame, now)
    elif f.delayed_ack == NEVER:
        f.delayed_ack = now + f.ack_delay


@rule
def on_delayed_ack(f: FlowState, w: World, now: int) -> None:
    """The delayed-acknowledgement timer runs out."""
    _acknowledge(f, w, f.ack_echo, -1, now)


@rule
def vector_shift(vector: np.uint64, by: int) -> np.uint64:
    """Acknowledgement vector after `by` newer packets, the last of which arrived: bit i is packet highest - i."""
    moved = vector << np.uint64(by) if by < 64 else np.uint64(0)
    return moved | np.uint64(1)
