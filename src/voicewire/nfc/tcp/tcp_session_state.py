"""What the rules of a session work on: both ends, the link between them, what is counted; times are whole slots."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import NamedTuple

__all__: list[str] = []


class Settings(NamedTuple):
    """A session as the rules take it: times in slots, windows in bytes (`session.Session` explains them)."""

    ack: int  # slots of an acknowledgement
    syn: int  # slots of a SYN
    near: int
    far: int
    mss: int
    window: int
    window_limit: int
    restart: int
    rto: int
    backoff: bool
    limit: int  # timeouts in a row
    threshold: int  # duplicates for a fast retransmit
    single_buffer: bool
    kind: int
    to_bad: float
    to_good: float
    every: int
    waits: bool  # the five rules of `session.Recovery`
    counting: bool
    runs_on: bool
    outlasts: bool
    whole: bool


class Around(NamedTuple):
    """What a session may have beside its settings: a busy Ethernet, a timeout that is estimated."""

    loss: float
    load: float
    room: int
    pace: float  # slots that a packet of others takes
    rto: float  # before anything is measured, s
    period: float  # of a slot, s
    least: float  # floor of the timeout, s
    estimates: bool


class Sender:
    """The end-user device; `srtt`, `rttvar`, `rto` and `least` are those of `reference.rto_estimator.Estimator`."""

    una: int  # first unacknowledged segment
    next: int  # the next to hand to the link
    flight: int  # bytes handed over and not acknowledged
    cwnd: float
    ssthresh: float
    acked: int  # bytes acknowledged since the window last grew, where bytes are counted
    careful: int  # up to this segment slow start adds at most one an ACK, where bytes are counted
    dup: int  # duplicate ACKs in a row
    recovering: bool  # since a fast retransmit
    at: int  # when the timer fires
    tries: int  # timeouts in a row
    wait: int  # the timeout, slots
    estimates: bool  # whether it is estimated
    rto: float  # the timeout, s
    least: float  # its floor, s
    srtt: float
    rttvar: float
    period: float  # of a slot, s
    timed: int  # the segment that is timed, or nobody
    since: int  # slot in which it was handed over
    fresh: int  # from this segment on none has been sent yet
    head: int  # of the ring of segments that wait for the link: entry k at k & mask
    tail: int
    seen_head: int  # of the ring of acknowledgements that it digests
    seen_tail: int


class Appliance:
    """The receiver."""

    expected: int  # first segment that is missing
    busy_until: int  # its transmitter
    head: int  # of the ring of answers that wait for their turn
    tail: int


class Air:
    """The link: what is on it, and the channel's state."""

    now: int
    bad: bool  # state of the channel
    on: int  # direction of the packet on the link, or NOTHING
    last: int  # direction of the one before
    number: int
    length: int
    lost: bool
    busy_until: int
    overflow: bool  # of a ring
    busy: bool  # whether the Ethernet does anything to packets
    loss: float
    load: float
    room: int  # packets that the bridge's memory holds, or 0
    pace: float  # slots that a packet of others takes
    dropped: int  # packets that did not come through
    back: int  # slot in which the last acknowledgement comes to the sender


class Answer:
    """An acknowledgement under way: when it can be sent, or is digested, and the segment that it asks for."""

    at: int
    number: int


class Tally:
    """What is counted, in the order of `session.Result`."""

    slots: int
    delivered: int
    data_sent: int
    data_lost: int
    data_arrived: int
    duplicates: int
    acks_sent: int
    acks_lost: int
    acks_arrived: int
    timeouts: int
    fast: int
    gave_up: bool
    air: int


class World(NamedTuple):
    """What all rules of a session work on."""

    settings: Settings
    sender: Sender
    appliance: Appliance
    air: Air
    tally: Tally
    slots: Sequence[int]  # of each segment on the link
    sizes: Sequence[int]  # of each segment, bytes
    queue: MutableSequence[int]  # ring of segments that wait for the link
    have: MutableSequence[bool]  # which segments the appliance has
    answers: Sequence[Answer]  # ring: they wait for the appliance's turn
    seen: Sequence[Answer]  # ring: they wait for the sender's attention
