"""What a simulated flow remembers: the memory layout shared by all compiled rules.

One record a flow, one a bottleneck, one a packet or acknowledgement in flight. Times are integers in
nanoseconds, so that ties are ties (a round trip of 100 ms is five frames of 20 ms *exactly*); rates are bytes a second.
"""

from __future__ import annotations

import numpy as np

__all__: list[str] = []

NEVER = 2**60 - 1  # later than any time; eight times it still fits into 64 bits
SECOND = 1_000_000_000

UDP, TCP, TFRC, CCID2 = 0, 1, 2, 3
WAITING, DELIVERED, DROPPED_SENDER, DROPPED_QUEUE, LOST = 0, 1, 2, 3, 4  # fate of a frame

# order of events that fall on the same nanosecond (the notes' fixed order; receiver's timer last)
EV_FEEDBACK, EV_ARRIVAL, EV_FRAME, EV_SEND, EV_TIMER, EV_DELAYED_ACK = 0, 1, 2, 3, 4, 5

# how the receiver measures X_recv
XRECV_CCID3, XRECV_THESIS, XRECV_SINCE, XRECV_RTT = 0, 1, 2, 3

HISTORY = 256  # arrivals that the receiver remembers for X_recv
GAPS = 8  # holes in the sequence space that still wait for three later packets
QUEUE = 256  # frames that a send buffer can hold at most
RATES = 8  # entries of X_recv_set, RFC 5348

_i, _f = np.int64, np.float64

#: a packet on its way to the receiver
PACKET = np.dtype(
    [("time", _i), ("seq", _i), ("frame", _i), ("count", _i), ("sent", _i), ("counter", _i), ("rtt", _f), ("mark", _i)],
    align=True,
)

#: a feedback packet (TFRC), acknowledgement (TCP) or acknowledgement vector (CCID 2) on its way back
ACK = np.dtype(
    [
        ("time", _i),
        ("echo", _i),
        ("counter", _i),
        ("x_recv", _f),
        ("p", _f),
        ("upto", _i),
        ("lo0", _i),
        ("hi0", _i),
        ("lo1", _i),
        ("hi1", _i),
        ("vector", np.uint64),
        ("mark", _i),
    ],
    align=True,
)

#: a segment that the TCP sender (or a packet that the CCID 2 sender) still waits for
SEGMENT = np.dtype(
    [("frame", _i), ("count", _i), ("sent", _i), ("sacked", _i), ("lost", _i), ("again", _i)], align=True
)

FLOW = np.dtype(
    [
        # what the flow is
        ("kind", _i),
        ("payload", _i),
        ("header", _i),
        ("first", _i),
        ("last", _i),
        ("next_frame", _i),
        # path: delay and jitter in ns; losses there and back; Gilbert-Elliott with its state
        ("delay", _i),
        ("jitter", _i),
        ("loss", _f),
        ("loss_back", _f),
        ("burst_loss", _f),
        ("to_bad", _f),
        ("to_good", _f),
        ("bad", _i),
        ("bad_back", _i),
        ("rng", np.uint64),
        ("rng_back", np.uint64),
        ("shared", _i),
        ("ecn", _i),
        ("last_arrival", _i),
        ("last_ack", _i),
        # rings of packets and acknowledgements in flight: counters that only grow, entry k at ring + (k & mask)
        ("data_head", _i),
        ("data_tail", _i),
        ("ack_head", _i),
        ("ack_tail", _i),
        ("ring", _i),
        ("mask", _i),
        ("overflow", _i),
        # send buffer of frames
        ("buffer", _i),
        ("drop_oldest", _i),
        ("queue", _i, (QUEUE,)),
        ("q_head", _i),
        ("q_tail", _i),
        # clocks
        ("send_at", _i),
        ("timer", _i),
        ("delayed_ack", _i),
        # counts; sent = delivered + dropped + lost + in flight, whatever happens
        ("seq", _i),
        ("sent", _i),
        ("delivered", _i),
        ("dropped_queue", _i),
        ("lost", _i),
        ("dropped_sender", _i),
        ("acks_sent", _i),
        ("acks_lost", _i),
        ("retransmitted", _i),
        ("marked", _i),
        # TFRC sender, RFC 3448 section 4
        ("small", _i),
        ("restart_factor", _f),
        ("floor_packets", _f),
        ("modern", _i),
        ("credit", _i),
        ("min_interval", _i),
        ("initial_packets", _f),
        ("idle_packets", _f),
        ("x", _f),
        ("x_recv", _f),
        ("x_calc", _f),
        ("p", _f),
        ("rtt", _f),
        ("tld", _i),
        ("base", _i),
        ("started", _i),
        ("idle", _i),
        ("wc", _i),
        ("wc_time", _i),
        ("last_acked_send", _i),
        ("t_next", _i),
        ("limited1", _i),
        ("limited2", _i),
        ("set_value", _f, (RATES,)),
        ("set_time", _i, (RATES,)),
        ("set_size", _i),
        # TFRC receiver, RFC 3448 sections 5 and 6, RFC 4342 section 8
        ("r_seq", _i),
        ("r_time", _i),
        ("r_first", _i),
        ("x_recv_rule", _i),
        ("seed_rule", _i),
        ("fb_time", _i),
        ("fb_packets", _i),
        ("fb_counter", _i),
        ("arrivals", _i, (HISTORY,)),
        ("n_arrivals", _i),
        ("gap_first", _i, (GAPS,)),
        ("gap_count", _i, (GAPS,)),
        ("gap_before", _i, (GAPS,)),
        ("gap_after", _i, (GAPS,)),
        ("gap_later", _i, (GAPS,)),
        ("gaps", _i),
        ("event_seq", _i),
        ("event_time", _i),
        ("event_losses", _i),
        ("events", _i),
        ("intervals", _f, (9,)),
        ("closed", _i),
        # TCP and CCID 2 sender, RFC 2581, 2988, 3390, 3517; RFC 4341
        ("mss", _i),
        ("most", _i),
        ("initial_window", _f),
        ("cwnd", _f),
        ("ssthresh", _f),
        ("una", _i),
        ("nxt", _i),
        ("seg_head", _i),
        ("seg_tail", _i),
        ("pipe", _f),
        ("recovering", _i),
        ("recover", _i),
        ("srtt", _f),
        ("rttvar", _f),
        ("rto", _f),
        ("rto_min", _f),
        ("backoff", _f),
        ("last_send", _i),
        ("ecn_until", _i),
        ("window_limit", _f),
        # TCP and CCID 2 receiver
        ("rcv_next", _i),
        ("unacked", _i),
        ("ack_every", _i),
        ("ack_delay", _i),
        ("ack_echo", _i),
        ("old_lo", _i),
        ("old_hi", _i),
        ("highest", _i),
        ("vector", np.uint64),
        ("pending_mark", _i),
        # log of the rate adjustments and of the send buffer
        ("log", _i),
        ("n_rates", _i),
        ("n_levels", _i),
    ],
    align=True,
)

LINK = np.dtype(
    [
        ("on", _i),
        ("rate", _f),
        ("limit", _i),
        ("red", _i),
        ("ecn", _i),
        ("low", _f),
        ("high", _f),
        ("max_p", _f),
        ("weight", _f),
        ("mean", _f),
        ("since_mark", _i),
        ("idle_from", _i),
        ("busy_until", _i),
        ("head", _i),
        ("tail", _i),
        ("mask", _i),
        ("rng", np.uint64),
        ("longest", _i),
        ("bytes", _f),
    ],
    align=True,
)
