"""Table 7.3: both ends send packets in turn through a channel with bit errors (derived in notebook 2).

Each end answers a packet with its own next one, so data carry the acknowledgements, and one packet is under way at
a time. A lost packet costs exactly one retransmission timeout: the timer started when the packet began to cross.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from voicewire._kit import checks
from voicewire._kit._compiled import njit
from voicewire.nfc import paper
from voicewire.nfc.channel import Channel, cross
from voicewire.nfc.errors import ParameterError, check_count, check_not_negative, check_positive
from voicewire.nfc.link import HEADER_BYTES, SYN_BYTES, Link, check_countable, slots_of_packet, slots_of_wait
from voicewire.nfc.session import MAXIMUM_RETRANSMISSIONS, RESPONSE_LATENCY, RTO

__all__ = ["Exchange", "Outcomes"]


@njit(cache=True)
def _turn(
    bits: int, rto: int, backoff: bool, limit: int, kind: int, to_bad: float, to_good: float, bad: bool,
    rng: np.random.Generator,
) -> tuple[int, int, bool]:  # fmt: skip
    """Cross the channel at last; return (slots lost to timeouts, losses, channel state). Losses > limit: gave up."""
    lost_time, losses, wait = 0, 0, rto
    while True:
        hit, bad = cross(bits, bad, kind, to_bad, to_good, rng)
        if not hit:
            return lost_time, losses, bad
        losses += 1
        if losses > limit:
            return lost_time, losses, bad
        lost_time += wait
        if backoff:
            wait *= 2


@njit(cache=True)
def _runs(
    runs: int, bits: np.ndarray, rto: int, backoff: bool, limit: int, kind: int, to_bad: float, to_good: float,
    start_bad: float, rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Repeat the exchange; return (slots lost to timeouts, losses, packets delivered), each of shape (runs,)."""
    lost_time = np.zeros(runs, np.int64)
    losses = np.zeros(runs, np.int64)
    through = np.zeros(runs, np.int64)
    for run in range(runs):
        bad = kind == 2 and rng.random() < start_bad
        for size in bits:
            time, times, bad = _turn(size, rto, backoff, limit, kind, to_bad, to_good, bad, rng)
            lost_time[run] += time
            losses[run] += times
            if times > limit:
                break
            through[run] += 1
    return lost_time, losses, through


@dataclass(frozen=True)
class Exchange:
    """Section 7.3: `packets` packets of `size` bytes from each end, in turn.

    Parameters
    ----------
    packets, size : int
        Packets from each end, and payload bytes of each.
    latency : float
        Response latency at each end, s.
    rto : float
        Retransmission timeout, s, from the moment a packet begins to cross.
    backoff : bool
        Double it at each further loss of the same packet (lwIP and RFC 6298), or keep it constant.
    retransmissions : int
        Give up after so many of one packet. With a constant timeout the chapter's 10^-4 needs the full twelve.
    link : Link
        The slotted link.
    channel : Channel
        What spoils it.

    Raises
    ------
    ParameterError
        Naming the first parameter that is impossible, or a channel of the wrong kind.

    Examples
    --------
    >>> exchange = Exchange(channel=Channel.random(1e-5))
    >>> f"{exchange.floor:.2f} s without an error, {exchange.mean:.2f} s on average"
    '126.62 s without an error, 153.11 s on average'
    """

    packets: int = paper.EXCHANGE_PACKETS
    size: int = paper.EXCHANGE_BYTES
    latency: float = RESPONSE_LATENCY
    rto: float = RTO
    backoff: bool = False
    retransmissions: int = MAXIMUM_RETRANSMISSIONS
    link: Link = field(default_factory=Link)
    channel: Channel = field(default_factory=Channel)

    def __post_init__(self) -> None:
        check_count("packets", self.packets)
        check_count("bytes of a packet", self.size)
        check_not_negative("response latency", self.latency, "s")
        check_positive("retransmission timeout", self.rto, "s")
        check_count("retransmissions", self.retransmissions, least=0)
        checks.fields(self, ParameterError, link=checks.a(Link), channel=checks.a(Channel))
        check_countable(self.link, self.rto, self.backoff, self.retransmissions, 2 * self.packets)
        if self.channel.kind == 3:
            raise ParameterError("an exchange takes bit errors: build the channel with Channel.random or Channel.burst")

    @property
    def bits(self) -> int:
        """Bits of a packet that an error can hit: the IP packet's."""
        return 8 * (self.size + HEADER_BYTES)

    @property
    def loss(self) -> float:
        """Probability that a packet is lost."""
        return self.channel.loss(self.bits)

    @cached_property
    def _all_bits(self) -> np.ndarray:
        """Bits of each packet of one run, shape (2 * packets,)."""
        return np.full(2 * self.packets, self.bits, dtype=np.int64)

    @property
    def floor(self) -> float:
        """Latency without a single error, s: every packet and every response, set-up and teardown around them."""
        return self._floor

    @cached_property
    def _floor(self) -> float:
        link, response = self.link, slots_of_wait(self.link, self.latency)
        ack, syn = slots_of_packet(link, HEADER_BYTES), slots_of_packet(link, SYN_BYTES)
        turn = slots_of_packet(link, self.size + HEADER_BYTES) + response
        return (2 * self.packets * turn + 2 * syn + ack + 3 * ack + 4 * response) * link.period

    @property
    def mean(self) -> float:
        """Expected latency, s, without a limit on retransmissions: floor + 2 N RTO times the wait of one packet.

        p/(1 - p) for a constant timeout, p/(1 - 2p) with backoff, and infinite from p = 1/2 on.
        """
        p = self.loss
        if p >= (0.5 if self.backoff else 1.0):
            return float("inf")
        factor = p / (1 - 2 * p) if self.backoff else p / (1 - p)
        return self.floor + 2 * self.packets * self.timeout * factor

    @property
    def timeout(self) -> float:
        """Retransmission timeout, s, rounded up to whole slots."""
        return max(1, slots_of_wait(self.link, self.rto)) * self.link.period

    @property
    def deviation(self) -> float:
        """Standard deviation of the latency for a constant timeout and independent losses, s (geometric law)."""
        p = self.loss
        if p >= 1:
            return float("inf")
        return float(self.timeout * np.sqrt(2 * self.packets * p) / (1 - p))

    @checks.takes(error=ParameterError, rng=checks.generator)
    def trace(self, rng: np.random.Generator) -> np.ndarray:
        """Follow one exchange packet by packet; with the same generator it is the one that `run(1, rng)` draws.

        Parameters
        ----------
        rng : Generator
            Where chance comes from.

        Returns
        -------
        ndarray of float, shape (k, 3)
            Columns: moment at which a packet begins to cross (s), its number, 1 if it was lost.
        """
        link, channel = self.link, self.channel
        response = slots_of_wait(link, self.latency)
        turn = slots_of_packet(link, self.size + HEADER_BYTES) + response
        now = 2 * slots_of_packet(link, SYN_BYTES) + slots_of_packet(link, HEADER_BYTES) + 2 * response
        first_wait = max(1, slots_of_wait(link, self.rto))
        bad, rows = channel.start(rng), []
        for number in range(2 * self.packets):
            wait = first_wait
            for _ in range(self.retransmissions + 1):
                hit, bad = cross(self.bits, bad, channel.kind, channel.to_bad, channel.to_good, rng)
                rows.append((now * link.period, number, hit))
                if not hit:
                    break
                now += wait
                wait *= 2 if self.backoff else 1
            else:
                break  # gave up
            now += turn
        return np.array(rows, dtype=float)

    @checks.takes(error=ParameterError, runs=checks.whole(1, 10**8), rng=checks.generator)
    def run(self, runs: int, rng: np.random.Generator) -> "Outcomes":
        """Repeat the exchange `runs` times. Set-up and teardown are spared the errors (7 packets in 207).

        Parameters
        ----------
        runs : int
            How often.
        rng : Generator
            Where chance comes from.

        Returns
        -------
        Outcomes
        """
        channel, bits = self.channel, self._all_bits
        slots = max(1, slots_of_wait(self.link, self.rto))
        lost, losses, through = _runs(
            runs, bits, slots, self.backoff, self.retransmissions, channel.kind, channel.to_bad, channel.to_good,
            channel.ber, rng,
        )  # fmt: skip
        return Outcomes(self._floor + lost * self.link.period, losses, through == len(bits))


@dataclass(frozen=True)
class Outcomes:
    """What repeated exchanges came to, each array of shape (runs,).

    Parameters
    ----------
    seconds : ndarray
        Latency; of an exchange that gave up, its time in timeouts on top of the floor.
    losses : ndarray of int64
        Packets lost.
    delivered : ndarray of bool
        False where an end gave up.

    Examples
    --------
    >>> out = Exchange(packets=5, channel=Channel.random(1e-4)).run(100, np.random.default_rng(1))
    >>> out.percentile(out.seconds.max())
    100.0
    """

    seconds: np.ndarray
    losses: np.ndarray
    delivered: np.ndarray

    @checks.takes(error=ParameterError, seconds=checks.number())
    def percentile(self, seconds: float) -> float:
        """Give the share of runs, in per cent, that were at most this long.

        Parameters
        ----------
        seconds : float
            A latency, s.

        Returns
        -------
        float
            0 to 100.
        """
        return float(100 * np.mean(self.seconds <= seconds))
