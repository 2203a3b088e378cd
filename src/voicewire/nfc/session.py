"""One TCP session through the link: what is asked, what comes back (notebook 1)."""

import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from voicewire._kit import checks
from voicewire.nfc import engine, paper
from voicewire.nfc.beyond.ethernet import Ethernet
from voicewire.nfc.channel import Channel
from voicewire.nfc.errors import (
    ParameterError,
    check_count,
    check_not_negative,
    check_positive,
)
from voicewire.nfc.link import (
    HEADER_BYTES,
    LARGEST,
    SYN_BYTES,
    Link,
    check_countable,
    segment_sizes,
    slots_of_packet,
    slots_of_wait,
)
from voicewire.nfc.tcp.tcp_session_state import Around, Settings

__all__ = ["LWIP", "MAXIMUM_RETRANSMISSIONS", "RESPONSE_LATENCY", "RTO", "Recovery", "Result", "Session", "run_session"]

RESPONSE_LATENCY = paper.STALL_PRINTED  # s at each end: one window stall is one response (assumption, notebook 1)
RTO = 3.0  # s, constant: the initial value that lwIP ships with (assumption, notebook 2)
MAXIMUM_RETRANSMISSIONS = 12  # lwIP's TCP_MAXRTX
NEVER = 1 << 40
NO_LUCK = np.random.default_rng(0)
"""For a channel that draws nothing."""


@dataclass(frozen=True)
class Recovery:
    """Five rules by which a real lwIP recovers from losses otherwise than the model does (notebook 3 shows each).

    Parameters
    ----------
    repeat_waits : bool
        A fast retransmit queues behind what waits for the link, from which nothing is taken back. Otherwise it goes
        first, and a repeat that is not needed any more leaves the queue.
    byte_counting : bool
        The window grows by the bytes acknowledged, at most two segments an ACK in slow start and one after a timeout
        (RFC 3465). Otherwise it grows by a segment an ACK, then by a segment a window.
    timer_runs_on : bool
        The timer runs from the first segment handed to the link, anew from each acknowledgement of new data (RFC
        6298), also while segments wait. Otherwise it counts from the end of each packet, while nothing waits.
    outlasts_timeout : bool
        A timeout does not end fast recovery: the next acknowledgement of new data sets the window to the threshold.
    halves_window : bool
        A loss sets the threshold to half of the window. Otherwise to half of what is under way, if that is less.

    Raises
    ------
    ParameterError
        For a setting that is not True or False.

    Examples
    --------
    >>> Session(20_000, channel=Channel.periodic(5), recovery=LWIP).run().outcome
    'delivered'
    """

    repeat_waits: bool = False
    byte_counting: bool = False
    timer_runs_on: bool = False
    outlasts_timeout: bool = False
    halves_window: bool = False

    def __post_init__(self) -> None:
        either = checks.one_of(False, True)
        checks.fields(
            self, ParameterError, repeat_waits=either, byte_counting=either, timer_runs_on=either,
            outlasts_timeout=either, halves_window=either,
        )  # fmt: skip


OWN = Recovery()
QUIET = Ethernet()
LWIP = Recovery(True, True, True, True, True)
"""All five rules of lwIP 2.1.3."""


@dataclass(frozen=True)
class Session:
    """A bulk transfer from the end-user device to the appliance.

    Parameters
    ----------
    size, mss : int
        Bytes to transfer, and at most in a segment.
    window : int
        Initial congestion window, bytes.
    window_limit : int
        The least of maximum congestion window, send buffer and receive window, bytes.
    restart_window : int or None
        Congestion window after a timeout, bytes; None: one MSS (the chapter's text on Table 7.1).
    latency : float
        Response latency at each end, outside the air time, s.
    ethernet_delay : float
        Delay between bridge and end-user device, s; it enters a round trip once.
    rto : float
        Retransmission timeout, s, counted while nothing waits for the link or is on it.
    backoff : bool
        Double the timeout at each further retransmission of the same segment.
    retransmissions : int
        Give up after so many in a row.
    duplicates : int
        Duplicate acknowledgements that make a fast retransmit; 0: none, every loss waits for its timeout.
    single_buffer : bool
        The appliance reads its next packet only when its own is on its way (True), or latency and transmission
        overlap (False). Notebook 3 shows which of the two fits.
    link : Link
        The slotted link.
    channel : Channel
        Bit errors or packet losses.
    recovery : Recovery
        What differs from the model's own rules once segments are lost.
    rto_floor : float or None
        Floor of a timeout that is estimated from round trips as RFC 6298 has it, s; `rto` is then the first one.
        None: `rto` stays. It needs a timer that runs on and doubles.
    ethernet : Ethernet
        What packets meet between bridge and end-user device, beside the delay.

    Raises
    ------
    ParameterError
        Naming the first parameter that is impossible.

    Examples
    --------
    >>> Session(mss=1024).run().seconds
    6.26
    """

    size: int = paper.TABLE_72_BYTES
    mss: int = paper.MSS
    window: int = paper.INITIAL_CWND
    window_limit: int = paper.MAXIMUM_CWND
    restart_window: int | None = None
    latency: float = RESPONSE_LATENCY
    ethernet_delay: float = 0.0
    rto: float = RTO
    backoff: bool = True
    retransmissions: int = MAXIMUM_RETRANSMISSIONS
    duplicates: int = 3
    single_buffer: bool = True
    link: Link = field(default_factory=Link)
    channel: Channel = field(default_factory=Channel)
    recovery: Recovery = OWN
    rto_floor: float | None = None
    ethernet: Ethernet = QUIET

    def __post_init__(self) -> None:
        check_count("bytes to transfer", self.size)
        check_count("MSS", self.mss)
        check_count("initial window", self.window)
        check_count("window limit", self.window_limit)
        check_not_negative("response latency", self.latency, "s")
        check_not_negative("Ethernet delay", self.ethernet_delay, "s")
        check_positive("retransmission timeout", self.rto, "s")
        check_count("retransmissions", self.retransmissions, least=0)
        checks.fields(
            self, ParameterError, link=checks.a(Link), channel=checks.a(Channel), recovery=checks.a(Recovery),
            ethernet=checks.a(Ethernet), rto_floor=checks.maybe(checks.number(above=0.0, high=1e7)),
        )  # fmt: skip
        check_count("duplicates for a fast retransmit", self.duplicates, least=0)
        if self.restart_window is not None:
            check_count("restart window", self.restart_window)
        if self.mss > 65_495:
            raise ParameterError(f"MSS is {self.mss} bytes: an IP packet holds at most 65495 after its headers")
        if self.size > LARGEST:
            raise ParameterError(f"bytes to transfer is {self.size}: more than {LARGEST} cannot be simulated")
        check_countable(self.link, self.rto, self.backoff, self.retransmissions, 1)
        if self.rto_floor is not None and not (self.backoff and self.recovery.timer_runs_on):
            raise ParameterError(
                "an estimated timeout (rto_floor) needs the standard's timer: set backoff=True and "
                "recovery=Recovery(timer_runs_on=True)"
            )
        if self.far >= NEVER:
            raise ParameterError("response latency and Ethernet delay are longer than any session: lower them")

    @cached_property
    def near(self) -> int:
        """Response latency of the appliance, slots."""
        return self.link.slots_of_time(self.latency)

    @cached_property
    def far(self) -> int:
        """Response latency of the end-user device with the Ethernet delay, slots."""
        return self.link.slots_of_time(self.latency + self.ethernet_delay)

    @cached_property
    def pace(self) -> float:
        """Slots that a packet of others takes on the Ethernet."""
        return self.ethernet.service / self.link.period

    def data_slots(self) -> np.ndarray:
        """Give the slots of each data segment, shape (n,).

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        return self._segments[1].copy()

    @cached_property
    def _segments(self) -> tuple[np.ndarray, np.ndarray]:
        """Bytes and slots of each data segment, worked out once for all runs."""
        sizes = segment_sizes(self.size, self.mss)
        return sizes, slots_of_packet(self.link, sizes + HEADER_BYTES)

    @checks.takes(error=ParameterError, rng=checks.maybe(checks.generator))
    def run(self, rng: np.random.Generator | None = None, log: bool = False) -> "Result":
        """Simulate the session.

        Parameters
        ----------
        rng : Generator, optional
            Needed by a channel with random errors, or an Ethernet with losses or other traffic.
        log : bool
            Keep the list of all packets (`Result.packets`).

        Returns
        -------
        Result

        Raises
        ------
        ParameterError
            If something is random and no generator is given.
        """
        if rng is None:
            if self.channel.kind in (1, 2) and self.channel.to_bad > 0:
                raise ParameterError("a random channel needs a generator: pass rng=numpy.random.default_rng(seed)")
            if self.ethernet.loss > 0 or self.ethernet.load > 0:
                raise ParameterError("a busy Ethernet needs a generator: pass rng=numpy.random.default_rng(seed)")
            rng = NO_LUCK
        sizes, slots = self._segments
        bad = self.channel.start(rng)
        return Result(self, *engine.session(self._settings, slots, sizes, bad, rng, log, self._around))

    @cached_property
    def _around(self) -> Around | None:
        """What the engine needs of Ethernet and estimator; None if neither is asked for."""
        if self.ethernet.quiet and self.rto_floor is None:
            return None
        port, least = self.ethernet, self.rto_floor
        return Around(
            loss=port.loss, load=port.load, room=port.room, pace=self.pace, rto=self.rto, period=self.link.period,
            least=0.0 if least is None else least, estimates=least is not None,
        )  # fmt: skip

    @cached_property
    def _settings(self) -> Settings:
        """What the engine needs, in slots and bytes, worked out once for all runs."""
        return Settings(
            ack=slots_of_packet(self.link, HEADER_BYTES),
            syn=slots_of_packet(self.link, SYN_BYTES),
            near=self.near,
            far=self.far,
            mss=self.mss,
            window=self.window,
            window_limit=self.window_limit,
            restart=self.mss if self.restart_window is None else self.restart_window,
            rto=max(1, slots_of_wait(self.link, self.rto)),
            backoff=self.backoff,
            limit=self.retransmissions,
            threshold=self.duplicates if self.duplicates else NEVER,
            single_buffer=self.single_buffer,
            kind=self.channel.kind,
            to_bad=self.channel.to_bad,
            to_good=self.channel.to_good,
            every=self.channel.every,
            waits=self.recovery.repeat_waits,
            counting=self.recovery.byte_counting,
            runs_on=self.recovery.timer_runs_on,
            outlasts=self.recovery.outlasts_timeout,
            whole=self.recovery.halves_window,
        )


@dataclass(frozen=True)
class Result:
    r"""What a simulated session did. Times in slots unless the name says otherwise.

    Parameters
    ----------
    session : Session
        What was asked.
    slots : int
        Slots from the first SYN to the end of the last packet.
    delivered : int
        Bytes handed to the appliance, in order.
    data_sent, data_lost, data_arrived, duplicates : int
        Data packets put on the link, lost there, arrived, and arrived though already there.
    acks_sent, acks_lost, acks_arrived : int
        The same for acknowledgements.
    timeouts, fast : int
        Retransmission timeouts and fast retransmits.
    gave_up : bool
        True if the limit of retransmissions ended the session.
    air : int
        Slots in which the link was busy.
    packets : ndarray of int64, shape (k, 5)
        Columns: first slot, slots, direction (0 to the appliance, 1 back), segment (-1: control; of an ACK the next
        one expected), lost. Empty unless asked for.
    dropped : int
        Packets that did not come through the Ethernet, either way.

    Examples
    --------
    >>> result = Session(size=2000, mss=1000).run(log=True)
    >>> result.data_sent, result.acks_arrived, result.outcome
    (2, 2, 'delivered')
    >>> print("\n".join(result.lines(4)))
    slot   0 to   4  -> appliance  control
    slot  13 to  17  <- appliance  control
    slot  26 to  30  -> appliance  control
    slot  31 to 135  -> appliance  data 0
    """

    session: Session
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
    packets: np.ndarray
    dropped: int = 0

    @property
    def seconds(self) -> float:
        """Session latency, s."""
        return self.slots * self.session.link.period

    @property
    def goodput(self) -> float:
        """Application bytes delivered, over the whole session, bit/s."""
        return math.nan if self.slots == 0 else 8 * self.delivered / self.seconds

    @checks.takes(error=ParameterError, count=checks.maybe(checks.whole()))
    def lines(self, count: int | None = None) -> list[str]:
        """Tell the first `count` packets (all if None) of a logged run, one line each (notebook 1).

        Parameters
        ----------
        count : int, optional
            How many packets.

        Returns
        -------
        list of str
        """
        told = []
        for first, slots, back, segment, lost in self.packets[:count].tolist():
            name = "control" if segment < 0 else f"{'ACK' if back else 'data'} {segment}"
            way = "<- appliance" if back else "-> appliance"
            told.append(f"slot {first:3d} to {first + slots - 1:3d}  {way}  {name}{', lost' if lost else ''}")
        return told

    @property
    def outcome(self) -> str:
        """How the session ended, in words."""
        if self.gave_up:
            return f"gave up after {self.session.retransmissions} retransmissions"
        return "delivered"


@checks.takes(error=ParameterError, seed=checks.seed)
def run_session(size: int, *, seed: int = 0, log: bool = False, **settings: Any) -> Result:
    """Transfer so many bytes through the bridge once, and say what came of it.

    Parameters
    ----------
    size : int
        Bytes to transfer.
    seed : int
        Of the channel's and the Ethernet's errors.
    log : bool
        Keep the list of all packets (`Result.packets`).
    **settings
        Those of `Session`, such as ``mss=256`` (bytes) or ``channel=Channel.random(1e-4)``.

    Returns
    -------
    Result
        What came of it; its times are in seconds.

    Raises
    ------
    ParameterError
        For a setting that no session can have.

    Examples
    --------
    >>> run_session(5000, mss=256).outcome
    'delivered'
    """
    known = {each.name for each in fields(Session)} - {"size"}
    if unknown := sorted(settings.keys() - known):
        raise ParameterError(f"a session has no {', '.join(unknown)}: its settings are {', '.join(sorted(known))}")
    return Session(size, **settings).run(np.random.default_rng(seed), log)
