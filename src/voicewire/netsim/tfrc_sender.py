"""The TFRC sender, rule by rule, compiled: RFC 3448 section 4, RFC 4342 section 8.1, RFC 4828, RFC 5348.

`small` is TFRC-SP (RFC 4828), `restart_factor` 4 the thesis' Faster Restart, `floor_packets` its MD, `modern` the
sender of RFC 5348. Rates count payload bytes per second; the rules' packet size s is `f.segment`: the
flow's, or where packets differ that of the newest one, or their average (RFC 4342 section 5.3).
"""

from __future__ import annotations

import math

from voicewire.netsim.compilation import rule
from voicewire.netsim.compiled_link import transmit
from voicewire.netsim.equation import HEADER, NOMINAL_SEGMENT, throughput
from voicewire.netsim.flow_state import (
    BY_RATE,
    DROPPED_SENDER,
    FROM_GRID,
    FROM_SENT,
    NEVER,
    ONE_SIZE,
    QUEUE,
    RATES,
    SECOND,
    FlowState,
    World,
)

__all__: list[str] = []

LEAST_RTT = 1e-4  # seconds; a clock's grain, so that a path without delay has a rate too
OLD = 0.9  # weight of the packets before in their average size
T_MBI = 64.0  # seconds; RFC 3448 section 4.3: at least one packet in 64 s
GRAIN = 1e-6  # bytes; what rounding leaves of a rate that is a codec's must not pass for less
LESS = 1.0 - 1e-9  # what rounding leaves of "equal" must not pass for "less"


@rule
def equation_rate(f: FlowState, p: float) -> float:
    """X_calc in payload bytes per second: the equation, for TFRC-SP with s = 1460 less the headers' share."""
    if f.small:
        # RFC 4828 sections 3 and 4.2: the factor goes to the equation's result only
        return throughput(NOMINAL_SEGMENT, f.rtt, p) * f.segment / (f.segment + HEADER)
    return throughput(f.segment, f.rtt, p)


@rule
def apply_floor(f: FlowState) -> None:
    """MD, section 5.1 of the thesis: X never falls below so many packets per round trip."""
    if f.floor_packets > 0.0:
        f.x = max(f.x, f.floor_packets * f.segment / f.rtt)


@rule
def space(f: FlowState) -> None:
    """t_ipi of RFC 3448 section 4.6, from the rate X of now; for TFRC-SP at least 10 ms (RFC 4828 section 4.3)."""
    f.spacing = max(math.floor(f.segment / f.x * SECOND + 0.5), f.min_interval)


@rule
def nominal_time(f: FlowState, w: World) -> int:
    """When the packet at the head of the buffer is due, RFC 3448 section 4.6: t_ipi after the last one was.

    Not before it was there to be sent: a silence earns `credit` at most. KAME's timer runs on through a silence, and
    what comes after it waits for the timer's next tick.
    """
    due = f.nominal + f.spacing
    ready = w.frames[f.queue[f.q_head & (QUEUE - 1)]]
    if f.schedule == FROM_GRID:
        if due < ready:
            step = max(f.spacing, 1)
            due += (ready - due + step - 1) // step * step
        return due
    return max(due, ready - f.credit)


@rule
def reschedule(f: FlowState, w: World, now: int) -> None:
    """When may the next packet leave? Asked whenever the buffer or the spacing changes."""
    if f.q_head == f.q_tail:
        f.send_at = NEVER
    elif not f.started:
        f.send_at = now
    else:
        # RFC 4828 section 4.3: TFRC-SP leaves 10 ms between two packets, also where one of them is late
        f.send_at = max(now, nominal_time(f, w), f.last_send + f.min_interval)


@rule
def rate_changed(f: FlowState, w: World, now: int) -> None:
    """A new X changes t_ipi, also of the packet that waits; RFC 3448 leaves open whether, KAME does so."""
    if f.reschedules:
        space(f)
        reschedule(f, w, now)


@rule
def set_timer(f: FlowState, now: int) -> None:
    """Nofeedback timer: max(4R, 2s/X), RFC 3448 section 4.3 step 5; the sender counts as idle until it sends."""
    wait = max(4.0 * f.rtt, 2.0 * f.segment / f.x)
    f.timer = now + int(wait * SECOND)
    f.idle = 1


@rule
def initial_rate(f: FlowState) -> float:
    """Packets per RTT that a connection may begin with (RFC 3448: 1; RFC 4342 section 5 and RFC 5348: up to 4)."""
    return f.initial_packets * f.segment / f.rtt


@rule
def initialise(f: FlowState) -> None:
    """Sender initialisation, RFC 3448 section 4.2; the handshake has measured the RTT, so the first rate is s/R."""
    f.x_recv = 0.0
    f.tld = -NEVER
    f.x = initial_rate(f)
    f.set_size = 1
    f.set_value[0] = math.inf
    f.set_time[0] = 0
    apply_floor(f)
    space(f)
    set_timer(f, 0)


@rule
def limited(f: FlowState, now: int) -> None:
    """Note that the sender is not data-limited: it holds a frame that it may not send yet (RFC 5348, 8.2.1)."""
    if f.limited1 <= f.last_acked_send:
        f.limited1 = now
    elif f.limited2 <= f.t_next:
        f.limited2 = now


@rule
def chosen_size(f: FlowState) -> int:
    """Give a frame the codec that X carries; one of the lower codec is padded up to X (thesis, sections 3.1, 3.6)."""
    room = math.floor(f.x * f.frame_s + GRAIN)
    if room >= f.payload:
        return f.payload
    return max(f.low, room) if f.pads else f.low


@rule
def _size(f: FlowState, w: World, frame: int) -> int:
    """Bytes of the packet that leaves now; s follows it."""
    if f.sizing == ONE_SIZE:
        return f.payload
    if f.late:
        w.size[frame] = chosen_size(f)
    size = w.size[frame]
    f.segment = OLD * f.segment + (1.0 - OLD) * size if f.averages else float(size)
    return size


@rule
def send(f: FlowState, w: World, now: int) -> None:
    """Send the frame at the head of the buffer, marked with the window counter (RFC 4342 section 8.1)."""
    frame = f.queue[f.q_head & (QUEUE - 1)]
    if f.started:
        f.nominal = nominal_time(f, w)
        if f.schedule == FROM_SENT:
            f.nominal = max(f.nominal, now - f.credit)
        quarters = (now - f.wc_time) * 4 // int(f.rtt * SECOND)
        if quarters > 0:
            f.wc = (f.wc + min(quarters, 5)) & 15
            f.wc_time = now
    else:
        f.started = 1
        f.nominal = now
        f.wc_time = now
    f.q_head += 1
    f.idle = 0
    f.last_send = now
    w.sent[frame] = now
    transmit(f, w, now, frame, 1, f.wc, _size(f, w, frame))
    if f.sizing != ONE_SIZE or not f.reschedules:
        space(f)  # else it is of now already
    reschedule(f, w, now)
    if f.modern and f.q_head != f.q_tail:
        limited(f, now)


@rule
def _spare(f: FlowState, w: World, frame: int) -> bool:
    """Drop the least important of what waits and the new frame, the new one on a tie; True if that is the new one."""
    at = -1
    least = w.worth[frame]
    for k in range(f.q_head, f.q_tail):
        if w.worth[f.queue[k & (QUEUE - 1)]] < least:
            at = k
            least = w.worth[f.queue[k & (QUEUE - 1)]]
    if at < 0:
        w.fate[frame] = DROPPED_SENDER
        return True
    w.fate[f.queue[at & (QUEUE - 1)]] = DROPPED_SENDER
    for k in range(at, f.q_tail - 1):
        f.queue[k & (QUEUE - 1)] = f.queue[(k + 1) & (QUEUE - 1)]
    f.q_tail -= 1
    return False


@rule
def new_frame(f: FlowState, w: World, now: int, frame: int) -> None:
    """The codec hands over a frame: send it, keep it, or drop it when the buffer is full (thesis, section 5.1)."""
    if f.sizing == BY_RATE and not f.late:
        w.size[frame] = chosen_size(f)
    if f.q_tail - f.q_head >= f.buffer:
        f.dropped_sender += 1
        if f.weighs:
            if _spare(f, w, frame):
                return
        elif f.drop_oldest:
            w.fate[f.queue[f.q_head & (QUEUE - 1)]] = DROPPED_SENDER
            f.q_head += 1
        else:
            w.fate[frame] = DROPPED_SENDER
            return
    f.queue[f.q_tail & (QUEUE - 1)] = frame
    f.q_tail += 1
    if f.send_at == NEVER:
        reschedule(f, w, now)
    if f.send_at <= now:
        send(f, w, now)
    elif f.modern:
        limited(f, now)


@rule
def _receive_limit(f: FlowState, now: int, x_recv: float, worse: bool, limited_by_data: bool) -> float:
    """recv_limit from X_recv_set, RFC 5348 section 4.3 step 4."""
    if limited_by_data:
        if worse:
            for i in range(f.set_size):
                f.set_value[i] *= 0.5
            x_recv *= 0.85
        # Maximize X_recv_set(): one value is kept, the largest
        top = x_recv
        for i in range(f.set_size):
            if f.set_value[i] < math.inf:
                top = max(top, f.set_value[i])
        f.set_size = 1
        f.set_value[0] = top
        f.set_time[0] = now
        return top if worse else 2.0 * top
    # Update X_recv_set(): values of the last two round trips
    kept = 0
    for i in range(f.set_size):
        if f.set_time[i] >= now - 2 * int(f.rtt * SECOND):
            f.set_value[kept] = f.set_value[i]
            f.set_time[kept] = f.set_time[i]
            kept += 1
    if kept == RATES:
        for i in range(1, RATES):
            f.set_value[i - 1] = f.set_value[i]
            f.set_time[i - 1] = f.set_time[i]
        kept -= 1
    f.set_value[kept] = x_recv
    f.set_time[kept] = now
    f.set_size = kept + 1
    top = 0.0
    for i in range(f.set_size):
        top = max(top, f.set_value[i])
    return 2.0 * top


@rule
def _modern_limit(f: FlowState, now: int, sent: int, x_recv: float, worse: bool) -> float:
    """Was the interval that the feedback covers data-limited throughout? (RFC 5348 section 8.2.1) Then the limit."""
    old = sent - int(f.rtt * SECOND)
    one = old < f.limited1 <= sent
    two = old < f.limited2 <= sent
    f.last_acked_send = sent
    f.t_next = now
    if f.limited1 <= sent and f.limited2 > sent:
        f.limited1 = f.limited2
    return _receive_limit(f, now, x_recv, worse, not (one or two))


@rule
def allowed(f: FlowState, now: int, limit: float) -> None:
    """Step 4 of RFC 3448 section 4.3: the allowed rate from X_calc and the receive limit."""
    if f.p > 0.0:
        f.x_calc = equation_rate(f, f.p)
        f.x = max(min(f.x_calc, limit), f.segment / T_MBI)
    elif now - f.tld >= int(f.rtt * SECOND):
        # slow start doubles (or quadruples); its floor is one packet per RTT (RFC 5348: the initial rate)
        floor = initial_rate(f) if f.modern else f.segment / f.rtt
        f.x = max(min(f.start_factor * f.x, limit), floor)
        f.tld = now
    apply_floor(f)


@rule
def _safe_limit(f: FlowState, limit: float, worse: bool) -> float:
    """Faster Restart with its maximum (thesis, section 2.2.4): beyond what was reached without loss twice X_recv."""
    f.fast_max = f.fast_max / 2.0 if worse else max(f.fast_max, f.x_recv)
    return limit if f.p == 0.0 else max(2.0 * f.x_recv, min(limit, f.fast_max))


@rule
def on_feedback(f: FlowState, w: World, now: int, sent: int, counter: int, x_recv: float, p: float) -> None:
    """A feedback packet arrives: RFC 3448 section 4.3, steps 1 to 5."""
    sample = (now - sent) / SECOND
    f.rtt = max(0.9 * f.rtt + 0.1 * sample, LEAST_RTT)
    worse = p > f.p
    f.p = p
    f.x_recv = x_recv
    # Faster Restart as the thesis emulates it (section 2.2.4): four times, in congestion avoidance only if start is 2
    limit = (f.restart_factor if p > 0.0 else f.start_factor) * x_recv
    if f.modern:
        limit = _modern_limit(f, now, sent, x_recv, worse)
    if f.has_fast_max:
        limit = _safe_limit(f, limit, worse)
    allowed(f, now, limit)
    # RFC 4342 section 8.1: later packets carry at least the acknowledged counter + 4
    ahead = (f.wc - counter) & 15
    if ahead < 4:
        f.wc = (counter + 4) & 15
        f.wc_time = now
    set_timer(f, now)
    rate_changed(f, w, now)


@rule
def on_timer(f: FlowState, w: World, now: int) -> None:
    """The nofeedback timer expires: RFC 3448 section 4.4 (slow start as in its erratum), RFC 5348 section 4.4."""
    s = f.segment
    if f.modern:
        top = 0.0
        for i in range(f.set_size):
            top = max(top, f.set_value[i])
        recover = initial_rate(f)
        if f.idle and ((f.p > 0.0 and top < recover) or (f.p == 0.0 and f.x < 2.0 * recover)):
            pass  # never less than the recover rate because of idleness
        elif f.p == 0.0:
            f.x = max(f.x / 2.0, s / T_MBI)
        else:
            half = top if f.x_calc > 2.0 * top else f.x_calc / 2.0
            f.set_size = 1
            f.set_value[0] = max(half, s / T_MBI) / 2.0
            f.set_time[0] = now
            allowed(f, now, 2.0 * f.set_value[0])
    elif f.idle and f.x_recv * f.rtt < f.idle_packets * s * LESS:
        pass  # idle, and X_recv below four packets per RTT: leave it
    elif f.p > 0.0:
        if f.x_calc > 2.0 * f.x_recv:
            f.x_recv = max(f.x_recv / 2.0, s / (2.0 * T_MBI))
        else:
            f.x_recv = f.x_calc / 4.0
        # point (2): X is recalculated as point (4) of section 4.3 has it, so with Faster Restart's factor there
        allowed(f, now, f.timeout_factor * f.x_recv)
    else:
        # X_calc doesn't exist yet: halve X_recv and hold X under twice that, never below one packet per RTT
        f.x_recv = max(f.x_recv / 2.0, s / (2.0 * T_MBI))
        f.x = max(min(f.x, 2.0 * f.x_recv), s / f.rtt)
    if f.idle and f.restart_packets > 0.0:
        f.x = max(f.x, f.restart_packets * s / f.rtt)  # Faster Restart's second rule (thesis, section 2.2.4)
    apply_floor(f)
    set_timer(f, now)
    rate_changed(f, w, now)
