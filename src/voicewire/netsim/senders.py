"""Senders as a user describes them: UDP, TCP, TFRC with its variants, CCID 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from voicewire._kit import checks
from voicewire.netsim import flow_state
from voicewire.netsim.errors import NetsimError
from voicewire.netsim.links import number

__all__ = ["Ccid2", "Sender", "Tcp", "Tfrc", "Udp", "initial_window"]

_X_RECV = {
    "ccid3": flow_state.XRECV_CCID3,
    "thesis": flow_state.XRECV_THESIS,
    "since": flow_state.XRECV_SINCE,
    "rtt": flow_state.XRECV_RTT,
    "kame": flow_state.XRECV_KAME,
}
_SIZING = {"newest": 0, "average": 1}
_SCHEDULE = {"nominal": flow_state.FROM_NOMINAL, "sent": flow_state.FROM_SENT, "grid": flow_state.FROM_GRID}


@checks.takes(error=NetsimError, rfc=checks.one_of(2581, 3390))
def initial_window(mss: float, rfc: int = 3390) -> float:
    """Initial (and restart) window in bytes: RFC 2581: 2 MSS; RFC 3390: min(4 MSS, max(2 MSS, 4380)).

    Parameters
    ----------
    mss : float
        Segment size in bytes, 1 or more.
    rfc : int
        3390 or 2581.

    Returns
    -------
    float
        Bytes.

    Raises
    ------
    NetsimError
        for a segment size below one byte, or an RFC that is neither.

    Examples
    --------
    >>> initial_window(1460), initial_window(1460, 2581), initial_window(160)
    (4380.0, 2920.0, 640.0)
    """
    return _window(number(mss, "the segment size in bytes", 1, 1e9), rfc)


def _window(mss: float, rfc: int) -> float:
    return 2.0 * mss if rfc == 2581 else min(4.0 * mss, max(2.0 * mss, 4380.0))


@dataclass(frozen=True)
class Udp:
    """No control at all: each frame leaves when it is spoken.

    Attributes
    ----------
    none
        UDP has no settings.

    Examples
    --------
    >>> Udp() == Udp()
    True
    """

    def fill(self, f: Any) -> None:
        """Write the sender's parameters into a flow record.

        Parameters
        ----------
        f : numpy.void
            The flow's record, as `netsim.flow_state.FlowState` lays it out.
        """
        f["kind"] = flow_state.UDP


_WINDOWED = {
    "ack_every": checks.whole(1, 10_000),
    "ack_delay_ms": checks.number(0.0, 1e7),
    "rto_min": checks.number(0.001, 1e4),
}
_TCP = {
    "mss": checks.whole(1, 65_000),
    "rfc": checks.one_of(2581, 3390),
    "window": checks.whole(1, 1 << 30),
    "idle_since": checks.one_of("sent", "received"),
    **_WINDOWED,
}
_BUFFER = checks.whole(1, flow_state.QUEUE)
_TFRC = {
    "restart": checks.number(1.0, 1e6),
    "start": checks.number(1.0, 1e6),
    "floor_packets": checks.number(0.0, 1e6),
    "buffer": _BUFFER,
    "credit_ms": checks.number(0.0, 1e7),
    "x_recv": checks.one_of(*_X_RECV),
    "schedule": checks.one_of(*_SCHEDULE),
    "report_after": checks.whole(1, 15),
    "first_interval": checks.one_of("x_recv", "counted"),
    "initial_packets": checks.number(0.01, 1e6),
    "idle_packets": checks.number(0.0, 1e6),
    "restart_packets": checks.number(0.0, 1e6),
    "discount": checks.number(0.01, 1.0),
    "lower": checks.whole(0, 65_000),
    "frame_ms": checks.number(0.1, 10_000.0),
    "packet_size": checks.one_of(*_SIZING),
}


@dataclass(frozen=True)
class Tcp:
    """TCP with SACK, timestamps, NODELAY and a restart window after idleness.

    Attributes
    ----------
    mss : bytes
    rfc : 3390 or 2581, which says the initial window
    rto_min : least retransmission time-out in seconds (RFC 2988: 1 s)
    ack_every, ack_delay_ms : delayed acknowledgements (RFC 2581 section 4.2)
    window : receiver's window in bytes
    nodelay : False: Nagle's algorithm (RFC 896; RFC 1122 section 4.2.3.4): what does not fill a segment waits until
        all that is out is acknowledged; True: the socket option of the thesis (section 5.1), which switches it off
    joins : frames that have to wait leave together in one segment; False: each has a segment of its own
    cuts : a segment ends where it is full, within a frame too, as in a stream of bytes; False: it has whole frames
    idle_since : from when a silence counts after which the window is restarted: the last segment "sent" (RFC 2581
        section 4.1), or the last one "received" (Jacobson, and FreeBSD in 2006)
    ecn : understands congestion marks

    Notes
    -----
    RFC 2018, 2581, 2988, 3390 and 3517.

    Examples
    --------
    >>> Tcp(rfc=2581).mss
    1460
    """

    mss: int = 1460
    rfc: int = 3390
    rto_min: float = 1.0
    ack_every: int = 2
    ack_delay_ms: float = 200.0
    window: int = 65535
    nodelay: bool = True
    joins: bool = True
    cuts: bool = False
    idle_since: Literal["sent", "received"] = "sent"
    ecn: bool = False

    def __post_init__(self) -> None:
        checks.fields(self, NetsimError, **_TCP)
        number(self.window, "the receiver's window in bytes", self.mss)
        if self.cuts and not self.joins:
            raise NetsimError("a segment that holds one frame cuts none: give joins or leave out cuts")

    def fill(self, f: Any) -> None:
        """Write the sender's parameters into a flow record.

        Parameters
        ----------
        f : numpy.void
            The flow's record, as `netsim.flow_state.FlowState` lays it out.
        """
        f["kind"] = flow_state.TCP
        f["mss"] = self.mss
        f["initial_window"] = _window(float(self.mss), self.rfc)
        f["rto_min"] = self.rto_min
        f["ack_every"] = self.ack_every
        f["ack_delay"] = round(self.ack_delay_ms * 1e6)
        f["window_limit"] = self.window
        f["nagle"] = not self.nodelay
        f["joins"] = self.joins
        f["idle_heard"] = self.idle_since == "received"
        f["ecn"] = self.ecn


@dataclass(frozen=True)
class Tfrc:
    """TFRC behind a small send buffer, as CCID 3 carries it.

    Attributes
    ----------
    small : TFRC-SP (RFC 4828)
    restart : factor on X_recv in congestion avoidance: 2 (RFC 3448), or 4 (Faster Restart as the thesis has it)
    start : factor by which slow start raises the rate in a round trip, and on X_recv there: 2, or 4 as the thesis would
        have Faster Restart do (section 5.1, on Figure 5.3 c)
    fast_max : `restart` holds up to the largest X_recv of the last time without loss, halved at each loss event; above
        it, and after a time-out, the factor is 2 (section 2.2.4)
    floor_packets : MD: packets per RTT below which X never falls; 0: no floor
    modern : the sender of RFC 5348 instead of RFC 3448's
    buffer : frames that wait in the sender at most
    drop_oldest : a full buffer loses its oldest frame instead of the new one
    schedule : from what the next packet is timed. "nominal": from when this one was due (RFC 3448 section 4.6); "sent":
        from when it left; "grid": as "nominal", but after a silence on the next tick of a timer that ran on (KAME)
    credit_ms : sending time that a silent sender may save up; RFC 3448 sets no limit
    report_moves : a report's rate moves the packet that waits (KAME); else its time stands since the one before left
    timeout_restart : the nofeedback timer recalculates X with `restart` (RFC 3448 section 4.4 (2) by point (4) of
        section 4.3); else with 2
    x_recv : "ccid3" (RFC 4342 section 8.3), "thesis" (section 5.2), "since" (bytes since the last report over
        max(RTT, time since)), "rtt" (RFC 3448 section 6.2), or "kame" (as "thesis", in 32 bits that wrap)
    report_after : quarters of a round trip on the window counter until a report is due (RFC 4342 section 6: 4;
        KAME: 5)
    short_open : TFRC-SP counts an open loss interval of at most two round trips, too (RFC 4828 section 4.4: no)
    first_interval : "x_recv" (RFC 3448 section 6.3.1) or "counted"
    initial_packets : packets per RTT at the start; RFC 3448 has 1, RFC 4342 and RFC 5348 up to 4
    idle_packets : an idle sender's X_recv isn't halved below so many packets per RTT (RFC 3448 section 4.4)
    restart_packets : packets per RTT that a sender may begin with after it was idle until its timer went off; Faster
        Restart has 8 (section 2.2.4 of the thesis, which ran it without); 0: no such rule
    discount : history discounting (RFC 3448 section 5.5): the least share of their weight that a long open interval
        leaves to those before it, 0.5 in RFC 3448 and 0.25 in RFC 5348; 1: none, as the thesis ran it
    lower : bytes of a frame of a second codec, to which the application changes while the allowed rate does not carry
        the flow's own (thesis, sections 3.1 and 3.6); 0: there is none
    frame_ms : time between two frames of an application that changes its codec
    pads : a packet of the lower codec is padded up to the allowed rate, so that this can rise again (section 3.1)
    late : the codec is chosen as the frame leaves (a packet ring; Figure 3.6), not as it is handed over
    packet_size : where packets differ, the rules' s is the "newest" one's, or their "average" (RFC 4342 section 5.3),
        in which the packets before weigh 0.9
    ecn : understands congestion marks

    Notes
    -----
    RFC 3448, 4342, 4828 and 5348.

    Examples
    --------
    >>> Tfrc(small=True, restart=4.0).floor_packets
    0.0
    """

    small: bool = False
    restart: float = 2.0
    start: float = 2.0
    fast_max: bool = False
    floor_packets: float = 0.0
    modern: bool = False
    buffer: int = 5
    drop_oldest: bool = False
    schedule: Literal["nominal", "sent", "grid"] = "nominal"
    credit_ms: float = 0.0
    report_moves: bool = True
    timeout_restart: bool = True
    x_recv: Literal["ccid3", "thesis", "since", "rtt", "kame"] = "ccid3"
    report_after: int = 4
    short_open: bool = False
    first_interval: Literal["x_recv", "counted"] = "x_recv"
    initial_packets: float = 1.0
    idle_packets: float = 4.0
    restart_packets: float = 0.0
    discount: float = 1.0
    lower: int = 0
    frame_ms: float = 20.0
    pads: bool = True
    late: bool = False
    packet_size: Literal["newest", "average"] = "newest"
    ecn: bool = False

    def __post_init__(self) -> None:
        checks.fields(self, NetsimError, **_TFRC)

    def fill(self, f: Any) -> None:
        """Write the sender's parameters into a flow record.

        Parameters
        ----------
        f : numpy.void
            The flow's record, as `netsim.flow_state.FlowState` lays it out.
        """
        f["kind"] = flow_state.TFRC
        f["small"] = self.small
        f["restart_factor"] = self.restart
        f["start_factor"] = self.start
        f["has_fast_max"] = self.fast_max
        f["floor_packets"] = self.floor_packets
        f["modern"] = self.modern
        f["buffer"] = self.buffer
        f["drop_oldest"] = self.drop_oldest
        f["schedule"] = _SCHEDULE[self.schedule]
        f["credit"] = round(self.credit_ms * 1e6)
        f["reschedules"] = self.report_moves
        f["timeout_factor"] = self.restart if self.timeout_restart and not self.fast_max else 2.0
        f["report_after"] = self.report_after
        f["short_open"] = self.short_open
        f["min_interval"] = 10_000_000 if self.small else 0  # RFC 4828 section 4.3: 10 ms
        f["x_recv_rule"] = _X_RECV[self.x_recv]
        f["seed_rule"] = self.first_interval == "counted"
        f["initial_packets"] = self.initial_packets
        f["idle_packets"] = self.idle_packets
        f["restart_packets"] = self.restart_packets
        f["least_discount"] = self.discount
        f["low"] = self.lower
        f["frame_s"] = self.frame_ms / 1e3
        f["pads"] = self.pads
        f["late"] = self.late
        f["averages"] = _SIZING[self.packet_size]
        f["sizing"] = flow_state.BY_RATE if self.lower else flow_state.ONE_SIZE
        f["segment"] = self.lower or f["payload"]  # it begins with the codec that needs less
        f["ecn"] = self.ecn


@dataclass(frozen=True)
class Ccid2:
    """DCCP's TCP-like congestion control (RFC 4341): a window in packets, no retransmission.

    Attributes
    ----------
    buffer, drop_oldest : as for `Tfrc`
    ack_every : the Ack Ratio
    ack_delay_ms, rto_min, ecn : as for `Tcp`

    Notes
    -----
    RFC 4341.

    Examples
    --------
    >>> Ccid2(ack_every=4).ack_delay_ms
    200.0
    """

    buffer: int = 5
    drop_oldest: bool = False
    ack_every: int = 2
    ack_delay_ms: float = 200.0
    rto_min: float = 1.0
    ecn: bool = False

    def __post_init__(self) -> None:
        checks.fields(self, NetsimError, buffer=_BUFFER, **_WINDOWED)

    def fill(self, f: Any) -> None:
        """Write the sender's parameters into a flow record.

        Parameters
        ----------
        f : numpy.void
            The flow's record, as `netsim.flow_state.FlowState` lays it out.
        """
        f["kind"] = flow_state.CCID2
        payload = float(f["payload"])
        f["initial_window"] = _window(payload, 3390) // payload  # RFC 4341 section 5, in packets
        f["buffer"] = self.buffer
        f["drop_oldest"] = self.drop_oldest
        f["ack_every"] = self.ack_every
        f["ack_delay"] = round(self.ack_delay_ms * 1e6)
        f["rto_min"] = self.rto_min
        f["ecn"] = self.ecn


Sender = Udp | Tcp | Tfrc | Ccid2
SENDERS = (Udp, Tcp, Tfrc, Ccid2)
