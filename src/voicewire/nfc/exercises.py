"""Checks for the exercises of the NFC part; each returns `voicewire.exercises.Feedback`."""

from voicewire.exercises import Feedback, choice, function, number, sequence
from voicewire.nfc import closed, paper
from voicewire.nfc.channel import Channel
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import Link
from voicewire.nfc.session import Session
from voicewire.nfc.slots import shared

__all__ = [
    "check_best_mss",
    "check_burst_p",
    "check_by_hand",
    "check_control",
    "check_delay_stall",
    "check_goodput",
    "check_identifiable",
    "check_packet_loss",
    "check_saved",
    "check_slots",
    "check_smallest_window",
    "check_wait",
    "check_wall",
    "expected_bulk",
]

RESPONSE_PRINTED_MS = 1e3 * paper.STALL_PRINTED


# Notebook 1


def check_slots(answer: object) -> Feedback:
    """Slots of an IP packet with 512 bytes of payload (ex. 1.1).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/01_slow_link``.

    Examples
    --------
    >>> check_slots(56)
    Right: 558 bytes in tens, rounded up, make 56 slots.
    """
    hints = {
        52.0: "the headers are missing: IP and TCP add 40 bytes, the tunnel 6.",
        55.0: "a part of a slot takes a whole slot: round up.",
        55.8: "a part of a slot takes a whole slot: round up.",
        40.0: "14 bytes are on air, but only 10 of them are usable.",
    }
    return number(answer, 56, 1e-9, unit="slots", hints=hints, right="558 bytes in tens, rounded up, make 56 slots.")


def check_by_hand(answer: object) -> Feedback:
    """Latency of 2000 bytes at an MSS of 1000 by the closed form, s (ex. 1.2).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/01_slow_link``.

    Examples
    --------
    >>> check_by_hand(2.98)
    Right: data, ACKs, six control packets, six responses.
    """
    expected = closed.latency(Session(size=2000, mss=1000)).total * paper.SLOT_PERIOD
    hints = {
        expected - 0.48: "the six response latencies are missing: they add 8 slots each.",
        expected - 0.30: "set-up and teardown are missing: six packets of five slots.",
        expected - 0.10: "the acknowledgements are missing: one for each segment.",
    }
    return number(
        answer, expected, 1e-6, unit="s", hints=hints, right="data, ACKs, six control packets, six responses."
    )


def check_delay_stall(answer: object) -> Feedback:
    """Extra latency of the smallest window at an Ethernet delay of 0.7 s, s (ex. 1.3).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/01_slow_link``.

    Examples
    --------
    >>> check_delay_stall(0.73)
    Right: the wait is 78 slots, and one ACK of 5 slots hides in it.
    """
    times = [
        Session(size=paper.FIGURE_72_BYTES, window=window, ethernet_delay=0.7).run().seconds for window in (2048, 8192)
    ]
    hints = {
        0.78: "nearly: one acknowledgement crosses during the wait, and need not cross later.",
        1.48: "the delay enters a round trip once, not twice.",
        0.7: "the response latency comes on top of the delay.",
    }
    right = "the wait is 78 slots, and one ACK of 5 slots hides in it."
    return number(answer, times[0] - times[1], 1e-6, unit="s", hints=hints, right=right)


def check_smallest_window(answer: object) -> Feedback:
    """Smallest initial window (bytes) without a stall at an MSS of 536 (ex. 1.4).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/01_slow_link``.

    Examples
    --------
    >>> check_smallest_window(1608)
    Right: three segments cover one response.
    """
    hints = {
        1072.0: "with two segments the sender still waits once for the first acknowledgement.",
        536.0: "one segment is stop and wait: it stalls at the very first acknowledgement.",
        3.0: "in bytes, please.",
    }
    return number(answer, 1608, 1e-9, unit="bytes", hints=hints, right="three segments cover one response.")


def check_goodput(answer: object) -> Feedback:
    """Share of the link's 8 kbit/s that a long error-free transfer gets, MSS 1024 (ex. 1.5).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/01_slow_link``.

    Examples
    --------
    >>> check_goodput(0.914)
    Right: 107 slots of data and 5 of ACK for 1024 bytes: 91 %.
    """
    hints = {
        1024 / 1070: "acknowledgements take slots too: the link is half duplex.",
        1024 / 1064: "the tunnel's framing and the acknowledgements take slots too.",
    }
    right = "107 slots of data and 5 of ACK for 1024 bytes: 91 %."
    return number(answer, 1024 / 1120, 0.003, hints=hints, right=right)


# Notebook 2


def check_packet_loss(answer: object) -> Feedback:
    """Loss of 500-byte packets at a bit error rate of 1e-5, independent errors (ex. 2.1).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> check_packet_loss(0.0423)
    Right: 1 − (1 − 1e-5)^4320.
    """
    hints = {
        Channel.random(1e-5).loss(4000): "the headers are in the packet too: 40 bytes.",
        Channel.random(1e-5).loss(540): "count bits, not bytes.",
        4320e-5: "the product is an upper bound; the exact probability is 1 − (1 − BER)^n.",
    }
    expected = Channel.random(1e-5).loss(4320)
    return number(answer, expected, 0.002, hints=hints, right="1 − (1 − 1e-5)^4320.")


def check_burst_p(answer: object) -> Feedback:
    """Transition probability p for a bit error rate of 1e-3 and bursts of 5 bits (ex. 2.2).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> check_burst_p(0.0002002)
    Right: p = q BER/(1 − BER).
    """
    hints = {
        1e-3: "this is the share of time in the bad state, not the rate of entering it.",
        0.2: "this is q: one over the burst length.",
        5e-3: "q is one over the burst length.",
    }
    return number(answer, 0.2 * 1e-3 / (1 - 1e-3), 0.002, hints=hints, right="p = q BER/(1 − BER).")


def check_wait(answer: object) -> Feedback:
    """A function p -> expected number of (first) timeouts with doubling, below p = 1/2 (ex. 2.3).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> check_wait(lambda p: p / (1 - 2 * p))
    Right: p/(1 − 2p): each loss doubles the wait and costs a factor p.
    """
    cases = [((p,), p / (1 - 2 * p)) for p in (0.0, 0.1, 0.25, 0.4)]
    return function(answer, cases, 1e-6, right="p/(1 − 2p): each loss doubles the wait and costs a factor p.")


def check_wall(answer: object) -> Feedback:
    """Bit error rate at which a doubling timeout has no finite mean, 540-byte packets (ex. 2.4).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> check_wall(1.6044e-4)
    Right: the wall stands at ln 2 bits in error a packet.
    """
    hints = {
        0.5 ** (1 / 4320): "this is the probability that a bit survives; the error rate is one minus it.",
        0.5 / 4320: "first order only: solve (1 − BER)^4320 = 1/2 exactly.",
    }
    expected = 1 - 0.5 ** (1 / 4320)
    return number(answer, expected, 0.005, hints=hints, right="the wall stands at ln 2 bits in error a packet.")


# Notebook 3


def check_saved(answer: object) -> Feedback:
    """Reduction (per cent) that Table 7.3 gives bursts at 1e-5 (ex. 3.1).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/03_reproduction``.

    Examples
    --------
    >>> check_saved(10.4)
    Right: 10.4 % it is.
    """
    expected = 100 * (1 - paper.TABLE_73[("burst", 1e-5)] / paper.TABLE_73[("random", 1e-5)])
    hints = {100 * (150.07 / 134.46 - 1): "relative to the random errors: they are the whole."}
    return number(answer, expected, 0.005, unit="%", hints=hints)


def check_identifiable(answer: object) -> Feedback:
    """Which printed number tells an overlapping appliance from a single-buffered one (ex. 3.2).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/03_reproduction``.

    Examples
    --------
    >>> check_identifiable("b")
    Right: only the stall separates them: 80 ms against 30 ms.
    """
    options = {"a": "Table 7.2", "b": "the stall of Fig. 7.2", "c": "Table 7.3", "d": "the efficiencies of section 7.4"}
    hints = {
        "a": "readings of both kinds fit Table 7.2 within 1 %.",
        "c": "in an exchange nothing overlaps: both kinds give the same.",
        "d": "section 7.4 has one segment only: nothing overlaps.",
    }
    return choice(answer, "b", options, hints=hints, right="only the stall separates them: 80 ms against 30 ms.")


def check_control(answer: object) -> Feedback:
    """Slots of a 9-slot packet at shares 0, 0.2 and 0.5, rounded to sections of 10 (ex. 3.3).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/03_reproduction``.

    Examples
    --------
    >>> check_control([10, 20, 20])
    Right: 10, 20 and 20: the section hides the share.
    """
    expected = [shared(9, share, "section") for share in (0.0, 0.2, 0.5)]
    return sequence(answer, expected, 1e-9, unit="slots", right="10, 20 and 20: the section hides the share.")


def check_best_mss(answer: object) -> Feedback:
    """MSS of the four of Table 7.2 that is best at a random bit error rate of 1e-4 (ex. 3.4).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/nfc/03_reproduction``.

    Examples
    --------
    >>> check_best_mss("512")
    Right: between losses and headers: 512 bytes.
    """
    options = [str(mss) for mss in paper.TABLE_72]
    hints = {
        "1460": "a 1500-byte packet is lost seven times in ten at this error rate.",
        "1024": "every second packet is lost: a shorter one gets through more often.",
        "256": "fewer are lost, but headers and acknowledgements now cost more than that saves.",
    }
    return choice(answer, "512", options, hints=hints, right="between losses and headers: 512 bytes.")


def expected_bulk(mss: int, ber: float, size: int = 50_000, rto: float = 3.0) -> float:
    """Expected latency, s, of stop-and-wait data packets of `mss` bytes with a constant timeout (ex. 3.4).

    Parameters
    ----------
    mss : int
        Bytes of a packet's payload.
    ber : float
        Bit error rate.
    size : int
        Bytes to transfer.
    rto : float
        Timeout, s.

    Returns
    -------
    float

    Notes
    -----
    Chapter ``notebooks/nfc/03_reproduction``.

    Examples
    --------
    >>> expected_bulk(512, 1e-4) < expected_bulk(1460, 1e-4)
    True
    """
    link = Link()
    count = -(-size // mss)
    one = Exchange(packets=1, size=mss, rto=rto, channel=Channel.random(ber))
    slots = link.slots(mss + 40) + link.slots(40)
    return count * (slots * link.period + one.timeout * one.loss / (1 - one.loss))
