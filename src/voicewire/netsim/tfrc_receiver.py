"""The TFRC receiver, rule by rule, compiled: loss events (RFC 3448 section 5), feedback (RFC 4342 sections 6, 8).

The path keeps the order of packets, so a hole in the sequence numbers is a loss for good; it is *declared* when
three later packets have come (NDUPACK), at a nominal time interpolated between its neighbours.
"""

from __future__ import annotations

from voicewire.netsim.compilation import rule
from voicewire.netsim.compiled_link import send_back
from voicewire.netsim.equation import (
    HEADER,
    NOMINAL_SEGMENT,
    closed_mean,
    discount,
    discounted_interval,
    inverse,
    mean_interval,
)
from voicewire.netsim.flow_state import (
    DELIVERED,
    GAPS,
    HISTORY,
    SECOND,
    XRECV_CCID3,
    XRECV_KAME,
    XRECV_RTT,
    XRECV_THESIS,
    FlowState,
    Packet,
    World,
)

__all__: list[str] = []

NDUPACK = 3  # RFC 3448 section 5.1


@rule
def _bytes_since(f: FlowState, since: int) -> int:
    total = 0
    k = f.n_arrivals - 1
    oldest = max(f.n_arrivals - HISTORY, 0)
    while k >= oldest and f.arrivals[k & (HISTORY - 1)] > since:
        total += f.sizes[k & (HISTORY - 1)]
        k -= 1
    return total


@rule
def receive_rate(f: FlowState, now: int, rtt: float) -> float:
    """X_recv in bytes per second.

    CCID 3 (RFC 4342 section 8.3): the bytes of the most recent t, over t, the larger of the RTT and the time since
    the last report; so a silence counts in full. The thesis (section 5.2) divides by the time since the last report.
    KAME did so in 2005, in whole bits and microseconds, and multiplied in 32 bits: from 537 bytes on it wraps.
    """
    round_trip = int(rtt * SECOND)
    since = now - f.fb_time if f.r_first else round_trip
    if f.x_recv_rule == XRECV_RTT:  # RFC 3448 section 6.2
        return _bytes_since(f, now - round_trip) / rtt
    if f.x_recv_rule == XRECV_THESIS:
        return f.fb_bytes / (max(since, 1) / SECOND)
    if f.x_recv_rule == XRECV_KAME:
        bits = (f.fb_bytes * 8 * 1_000_000) & 0xFFFFFFFF
        return bits // max(since // 1000, 1) / 8.0
    if since >= round_trip or f.x_recv_rule != XRECV_CCID3:
        return f.fb_bytes / (max(since, round_trip) / SECOND)
    return _bytes_since(f, now - round_trip) / rtt


@rule
def loss_event_rate(f: FlowState, now: int, rtt: float) -> float:
    """p = 1 / I_mean, RFC 3448 section 5.4; I_0 runs from the last event's first packet to the newest.

    TFRC-SP leaves I_0 out while it is short, of at most two round trips (RFC 4828 section 4.4): as 0 it never raises
    the mean.
    """
    if f.events == 0:
        return 0.0
    short = f.small and not f.short_open and now - f.event_time <= 2 * int(rtt * SECOND)
    f.intervals[0] = 0.0 if short else float(f.r_seq - f.event_seq + 1)
    if f.least_discount < 1.0:
        return min(1.0 / discounted_interval(f.intervals, f.kept, f.closed, f.least_discount), 1.0)
    return min(1.0 / mean_interval(f.intervals, f.closed), 1.0)


@rule
def _keep(f: FlowState, length: float) -> None:
    """An interval that closes keeps the weight that it took from those before it (RFC 3448 section 5.5)."""
    df = discount(length, closed_mean(f.intervals, f.kept, f.closed), f.least_discount)
    for i in range(8, 1, -1):
        f.kept[i] = df * f.kept[i - 1]  # the newest has lost nothing: its 1 stays from the first event on


@rule
def _loss(f: FlowState, seq: int, when: int, now: int, rtt: float, size: int) -> bool:
    """Book one lost or marked packet; True if it starts a loss event (RFC 3448 section 5.2)."""
    round_trip = int(rtt * SECOND)
    if f.events == 0:
        # RFC 3448 section 6.3.1: the first interval is the one whose rate is X_recv
        x = receive_rate(f, now, rtt)
        if f.seed_rule == 1:  # sensitivity: the packets counted until the first loss
            first = float(seq)
        elif f.small:
            first = 1.0 / inverse(x * (size + HEADER) / size, NOMINAL_SEGMENT, rtt)
        else:
            first = 1.0 / inverse(x, float(size), rtt)
        f.intervals[1] = max(first, 1.0)
        f.kept[1] = 1.0
        f.closed = 1
    elif when <= f.event_time + round_trip:
        f.event_losses += 1
        return False
    else:
        length = float(seq - f.event_seq)
        if f.small and when - f.event_time <= 2 * round_trip:
            length /= f.event_losses  # RFC 4828 section 4.4: N/K in short intervals
        if f.least_discount < 1.0:
            _keep(f, max(length, 1.0))
        for i in range(8, 1, -1):
            f.intervals[i] = f.intervals[i - 1]
        f.intervals[1] = max(length, 1.0)
        f.closed = min(f.closed + 1, 8)
    f.events += 1
    f.event_seq = seq
    f.event_time = when
    f.event_losses = 1
    return True


@rule
def _find_losses(f: FlowState, seq: int, now: int, rtt: float, size: int) -> bool:
    """Note a new hole, and declare those that three later packets have passed (RFC 3448 section 5.1)."""
    fresh = False
    kept = 0
    for g in range(f.gaps):
        f.gap_later[g] += 1
        if f.gap_later[g] < NDUPACK:
            f.gap_first[kept] = f.gap_first[g]
            f.gap_count[kept] = f.gap_count[g]
            f.gap_before[kept] = f.gap_before[g]
            f.gap_after[kept] = f.gap_after[g]
            f.gap_later[kept] = f.gap_later[g]
            kept += 1
            continue
        count = f.gap_count[g]
        span = f.gap_after[g] - f.gap_before[g]
        for k in range(count):
            when = f.gap_before[g] + span * (k + 1) // (count + 1)
            if _loss(f, f.gap_first[g] + k, when, now, rtt, size):
                fresh = True
    f.gaps = kept
    if seq > f.r_seq + 1 and f.gaps < GAPS:
        f.gap_first[f.gaps] = f.r_seq + 1
        f.gap_count[f.gaps] = seq - f.r_seq - 1
        f.gap_before[f.gaps] = f.r_time if f.r_seq >= 0 else now
        f.gap_after[f.gaps] = now
        f.gap_later[f.gaps] = 1
        f.gaps += 1
    return fresh


@rule
def on_packet(f: FlowState, packet: Packet, w: World) -> None:
    """A data packet arrives: deliver it, look for losses, and report if a report is due."""
    now = packet.time
    rtt = packet.rtt
    f.delivered += 1
    w.arrive[packet.frame] = now
    w.fate[packet.frame] = DELIVERED
    f.arrivals[f.n_arrivals & (HISTORY - 1)] = now
    f.sizes[f.n_arrivals & (HISTORY - 1)] = packet.payload
    f.n_arrivals += 1
    f.fb_bytes += packet.payload
    fresh = _find_losses(f, packet.seq, now, rtt, packet.payload)
    if packet.mark and _loss(f, packet.seq, now, now, rtt, packet.payload):
        fresh = True
    f.r_seq = packet.seq
    f.r_time = now
    # RFC 4342 section 6: report on the first packet, after four quarters of an RTT, or on a new loss event
    if f.r_first and not fresh and (packet.counter - f.fb_counter) & 15 < f.report_after:
        return
    x_recv = receive_rate(f, now, rtt)
    p = loss_event_rate(f, now, rtt)
    f.r_first = 1
    f.fb_time = now
    f.fb_bytes = 0
    f.fb_counter = packet.counter
    if send_back(f, w, now):
        ack = w.acks[f.ring + ((f.ack_tail - 1) & f.mask)]
        ack.echo = packet.sent
        ack.counter = packet.counter
        ack.x_recv = x_recv
        ack.p = p
