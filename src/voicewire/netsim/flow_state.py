"""What a simulated flow remembers: the memory layout shared by all compiled rules.

One record a flow, one a bottleneck, one a packet or acknowledgement in flight. Times are integers in
nanoseconds, so that ties are ties (a round trip of 100 ms is five frames of 20 ms *exactly*); rates are bytes a second.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voicewire._kit._records import layout, room, table

__all__ = ["layout", "room", "table"]

NEVER = 2**60 - 1  # later than any time; eight times it still fits into 64 bits
SECOND = 1_000_000_000

UDP, TCP, TFRC, CCID2 = 0, 1, 2, 3
WAITING, DELIVERED, DROPPED_SENDER, DROPPED_QUEUE, LOST = 0, 1, 2, 3, 4  # fate of a frame

# order of events that fall on the same nanosecond (the notes' fixed order; receiver's timer last)
EV_FEEDBACK, EV_ARRIVAL, EV_FRAME, EV_SEND, EV_TIMER, EV_DELAYED_ACK = 0, 1, 2, 3, 4, 5

# how the receiver measures X_recv
XRECV_CCID3, XRECV_THESIS, XRECV_SINCE, XRECV_RTT, XRECV_KAME = 0, 1, 2, 3, 4

# whose size a packet of TFRC has: the flow's, one given for each frame, or that of the codec which the rate carries
ONE_SIZE, GIVEN_SIZES, BY_RATE = 0, 1, 2

# from what the next packet of TFRC is timed
FROM_SENT, FROM_NOMINAL, FROM_GRID = 0, 1, 2

HISTORY = 256  # arrivals that the receiver remembers for X_recv
GAPS = 8  # holes in the sequence space that still wait for three later packets
QUEUE = 256  # frames that a send buffer can hold at most
RATES = 8  # entries of X_recv_set, RFC 5348


class Packet:
    """A packet on its way to the receiver."""

    time: int
    seq: int
    frame: int
    count: int
    sent: int
    counter: int
    rtt: float
    mark: int
    payload: int


class Ack:
    """A feedback packet (TFRC), acknowledgement (TCP) or acknowledgement vector (CCID 2) on its way back."""

    time: int
    echo: int
    counter: int
    x_recv: float
    p: float
    upto: int
    lo0: int
    hi0: int
    lo1: int
    hi1: int
    vector: np.uint64
    mark: int


class Segment:
    """A segment that the TCP sender (or a packet that the CCID 2 sender) still waits for."""

    frame: int
    count: int
    sent: int
    sacked: int
    lost: int
    again: int


class FlowState:
    """All that one flow remembers, from its path to both its ends."""

    # what the flow is
    kind: int
    payload: int
    header: int
    first: int
    last: int
    next_frame: int

    # path: delay and jitter in ns; losses there and back; Gilbert-Elliott with its state
    delay: int
    jitter: int
    loss: float
    loss_back: float
    burst_loss: float
    to_bad: float
    to_good: float
    bad: int
    bad_back: int
    lossy_until: int
    rng: np.uint64
    rng_back: np.uint64
    ecn: int
    last_arrival: int
    last_ack: int

    # rings of packets and acknowledgements in flight: counters that only grow, entry k at ring + (k & mask)
    data_head: int
    data_tail: int
    ack_head: int
    ack_tail: int
    ring: int
    mask: int
    overflow: int

    # send buffer of frames
    buffer: int
    drop_oldest: int
    weighs: int
    queue: Annotated[MutableSequence[int], QUEUE]
    q_head: int
    q_tail: int

    # clocks
    send_at: int
    timer: int
    delayed_ack: int

    # counts; sent = delivered + dropped + lost + in flight, whatever happens
    seq: int
    sent: int
    delivered: int
    dropped_queue: int
    lost: int
    dropped_sender: int
    acks_sent: int
    acks_lost: int
    retransmitted: int
    marked: int

    # TFRC sender, RFC 3448 section 4
    small: int
    restart_factor: float
    start_factor: float
    has_fast_max: int
    fast_max: float
    floor_packets: float
    modern: int
    timeout_factor: float
    schedule: int
    reschedules: int
    spacing: int
    credit: int
    min_interval: int
    initial_packets: float
    idle_packets: float
    restart_packets: float
    segment: float
    sizing: int
    averages: int
    late: int
    pads: int
    low: int
    frame_s: float
    x: float
    x_recv: float
    x_calc: float
    p: float
    rtt: float
    tld: int
    nominal: int
    started: int
    idle: int
    wc: int
    wc_time: int
    last_acked_send: int
    t_next: int
    limited1: int
    limited2: int
    set_value: Annotated[MutableSequence[float], RATES]
    set_time: Annotated[MutableSequence[int], RATES]
    set_size: int

    # TFRC receiver, RFC 3448 sections 5 and 6, RFC 4342 section 8
    r_seq: int
    r_time: int
    r_first: int
    x_recv_rule: int
    seed_rule: int
    short_open: int
    report_after: int
    fb_time: int
    fb_bytes: int
    fb_counter: int
    arrivals: Annotated[MutableSequence[int], HISTORY]
    sizes: Annotated[MutableSequence[int], HISTORY]
    n_arrivals: int
    gap_first: Annotated[MutableSequence[int], GAPS]
    gap_count: Annotated[MutableSequence[int], GAPS]
    gap_before: Annotated[MutableSequence[int], GAPS]
    gap_after: Annotated[MutableSequence[int], GAPS]
    gap_later: Annotated[MutableSequence[int], GAPS]
    gaps: int
    event_seq: int
    event_time: int
    event_losses: int
    events: int
    intervals: Annotated[MutableSequence[float], 9]
    closed: int
    least_discount: float
    kept: Annotated[MutableSequence[float], 9]

    # TCP and CCID 2 sender, RFC 2581, 2988, 3390, 3517; RFC 4341
    mss: int
    most: int
    nagle: int
    joins: int
    initial_window: float
    cwnd: float
    ssthresh: float
    una: int
    nxt: int
    seg_head: int
    seg_tail: int
    pipe: float
    recovering: int
    recover: int
    srtt: float
    rttvar: float
    rto: float
    rto_min: float
    backoff: float
    last_send: int
    last_heard: int
    idle_heard: int
    ecn_until: int
    window_limit: float

    # TCP and CCID 2 receiver
    rcv_next: int
    unacked: int
    ack_every: int
    ack_delay: int
    ack_echo: int
    old_lo: int
    old_hi: int
    highest: int
    vector: np.uint64
    pending_mark: int

    # log of the rate adjustments and of the send buffer
    log: int
    n_rates: int
    n_levels: int


class Link:
    """A bottleneck: its rate, its queue, and RED in front of it."""

    rate: float
    limit: int
    red: int
    ecn: int
    low: float
    high: float
    max_p: float
    weight: float
    filtered: float
    since_mark: int
    idle_from: int
    busy_until: int
    head: int
    tail: int
    mask: int
    rng: np.uint64
    longest: int
    bytes: float


class World(NamedTuple):
    """What all rules of a simulation work on, beside the flow whose turn it is."""

    links: Sequence[Link]  # in the order in which all flows pass them
    departures: Sequence[MutableSequence[int]]  # of the packets in each, ns; a ring
    data: Sequence[Packet]  # rings of all flows, one after the other
    acks: Sequence[Ack]
    segments: Sequence[Segment]
    frames: Sequence[int]  # when each frame is spoken, ns
    sent: MutableSequence[int]  # when it first left, ns
    arrive: MutableSequence[int]  # when it was delivered, ns
    fate: MutableSequence[int]
    got: MutableSequence[int]  # 1 if TCP's receiver has it
    size: MutableSequence[int]  # payload in bytes of the packet that carries it; empty where each flow has one size
    worth: MutableSequence[float]  # how important it is; empty where no flow says so
    rates: NDArray[np.float64]  # log of the first flow: rate adjustments
    levels: NDArray[np.float64]  # and levels of its send buffer
