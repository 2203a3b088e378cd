"""Checks of this part's exercises. Each returns a `voicewire.exercises.Feedback`, whatever it is given."""

from __future__ import annotations

import math

from voicewire.exercises import Feedback, choice, number, sequence
from voicewire.transport import paper, theory
from voicewire.transport.icto_format import overhead

__all__ = [
    "check_break_even", "check_cheapest", "check_effective_samples", "check_half_width", "check_header_bytes",
    "check_icto_overhead",
    "check_independent_channel", "check_loop_without_merging", "check_publish_bytes", "check_reading",
    "check_remaining_length", "check_round_trips", "check_secure_session", "check_undercount",
]  # fmt: skip


def check_header_bytes(answer: object) -> Feedback:
    """TCP header bytes of a fresh connection with eight segments, two of them SYNs (01).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/01_sockets_and_segments``.

    Examples
    --------
    >>> bool(check_header_bytes(272)), bool(check_header_bytes(256))
    (True, False)
    """
    return number(
        answer, 272, 0, absolute=0.5, unit="bytes",
        hints={256: "the two SYNs carry 8 bytes more each.", 160: "the timestamps add 12 bytes to each header.",
               264: "there are two SYNs, one from each side.", 320: "only the two SYNs carry the longer options."},
        right="8 · 32 + 2 · 8 = 272 bytes, to move as little as one.",
    )  # fmt: skip


def check_publish_bytes(answer: object) -> Feedback:
    """Bytes of a QoS 1 PUBLISH of 200 bytes on the topic "ict/object" (01).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/01_sockets_and_segments``.

    Examples
    --------
    >>> bool(check_publish_bytes(217)), bool(check_publish_bytes(216))
    (True, False)
    """
    expected = theory.packet_bytes(200, 1)
    return number(
        answer, expected, 0, absolute=0.5, unit="bytes",
        hints={expected - 1: "the Remaining Length is above 127, so it takes two bytes.",
               expected - 2: "QoS 1 needs a packet identifier of two bytes.",
               expected - 3: "identifier and a second byte of length are missing."},
        right="1 + 2 + (2 + 10) + 2 + 200: the envelope takes 17 bytes.",
    )  # fmt: skip


def check_remaining_length(answer: object) -> Feedback:
    """The two bytes that encode a Remaining Length of 321, lowest first (01).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/01_sockets_and_segments``.

    Examples
    --------
    >>> bool(check_remaining_length([193, 2])), bool(check_remaining_length([65, 2]))
    (True, False)
    """
    return sequence(answer, [193, 2], 0, absolute=0.5, right="321 = 65 + 2 · 128, and 65 + 128 says: more follows.")


def check_undercount(answer: object) -> Feedback:
    """Segments that a capture above a 64 kB segmentation offload misses (02).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/02_measuring_honestly``.

    Examples
    --------
    >>> bool(check_undercount(45)), bool(check_undercount(46))
    (True, False)
    """
    return number(
        answer, 45, 0, absolute=0.5,
        hints={46: "the capture did see one of them.", 45.26: "segments are whole: round up, then take away the one."},
        right="46 segments leave the card, one is seen: 45 are missed, and with them 45 · 32 header bytes.",
    )  # fmt: skip


def check_half_width(answer: object) -> Feedback:
    """Iterations for a half width of 2 % at a standard deviation of 20 % of the mean, by the normal quantile (02).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/02_measuring_honestly``.

    Examples
    --------
    >>> bool(check_half_width(385)), bool(check_half_width(20))
    (True, False)
    """
    expected = math.ceil((1.96 * 0.2 / 0.02) ** 2)
    return number(
        answer, expected, 0.005,
        hints={math.ceil(1.96 * 0.2 / 0.02): "square it: the width falls with the square root of n.",
               4 * expected: "the half width is asked, not the whole."},
        right="(1.96 · 0.2 / 0.02)², about 385: more than the paper's 150.",
    )  # fmt: skip


def check_effective_samples(answer: object) -> Feedback:
    """Independent samples that 150 are worth at a lag-1 correlation of 0.5 (02).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/02_measuring_honestly``.

    Examples
    --------
    >>> bool(check_effective_samples(50)), bool(check_effective_samples(75))
    (True, False)
    """
    return number(
        answer, 50, 0.01,
        hints={75: "the factor is (1 − r)/(1 + r), not 1 − r.", 450: "dependence takes samples away."},
        right="150 · (1 − 0.5)/(1 + 0.5) = 50: the interval is √3 times too narrow if nobody looks.",
    )  # fmt: skip


def check_round_trips(answer: object) -> Feedback:
    """Time for a fresh MQTT message at QoS 2 over links of 40 ms round trip (03).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> bool(check_round_trips(200)), bool(check_round_trips(120))
    (True, False)
    """
    return number(
        answer, 200, 0.005, unit="ms",
        hints={120: "that is QoS 1: the broker passes a QoS 2 message on only after PUBREL.",
               160: "the subscriber's own PUBREC and PUBREL take another round trip.",
               60: "that is bare TCP."},
        right="ten flights of 20 ms each.",
    )  # fmt: skip


def check_secure_session(answer: object) -> Feedback:
    """Time for a fresh MQTT message over TLS 1.3 at a round trip of 30 ms, Nagle's algorithm left on (03).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> bool(check_secure_session(150)), bool(check_secure_session(120))
    (True, False)
    """
    return number(
        answer, 150, 0.005, unit="ms",
        hints={120: "CONNECT follows the client's Finished, and Nagle's algorithm holds it until that is acknowledged.",
               90: "that is MQTT without TLS.", 180: "TLS 1.3 adds one round trip; two was TLS 1.2.",
               75: "that is half: MQTT alone takes three round trips."},
        right="three round trips for MQTT, one for TLS, one for Nagle's algorithm.",
    )  # fmt: skip


def check_loop_without_merging(answer: object) -> Feedback:
    """Header bytes of 150 publishes at QoS 0, each in a segment of its own with its own acknowledgement (03).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> bool(check_loop_without_merging(9600)), bool(check_loop_without_merging(4800))
    (True, False)
    """
    return number(
        answer, 9600, 0, absolute=0.5, unit="bytes",
        hints={4800: "every one of them is acknowledged, too.", 7200: "one acknowledgement for each message."},
        right="150 · 2 · 32 bytes: above the printed axis, so in the paper's runs something was merged.",
    )  # fmt: skip


def check_break_even(answer: object) -> Feedback:
    """Messages from which one MQTT session at QoS 0 costs fewer header bytes than a TCP connection each (03).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> bool(check_break_even(2)), bool(check_break_even(3))
    (True, False)
    """
    return number(
        answer, 2, 0, absolute=0.4,
        hints={1: "with one message 400 stand against 272.", 3: "try two: 400 + 64 against 2 · 272."},
        right="400 + 64 (n − 1) < 272 n from n = 2 on.",
    )  # fmt: skip


def check_cheapest(answer: object) -> Feedback:
    """The option with the fewest bytes on the sender's link for ten receivers (04).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/04_which_transport``.

    Examples
    --------
    >>> bool(check_cheapest("MQTT QoS 0")), bool(check_cheapest("TCP, kept open"))
    (True, False)
    """
    options = [o.name for o in theory.advise(rtt=0.04, size=100, messages=10, subscribers=10)]
    return choice(
        answer, options[0], options,
        hints={"TCP, kept open": "that link carries each object ten times.",
               "TCP, a connection each": "that link carries each object ten times, and opens a connection for each."},
        right="each object crosses the sender's link once, without acknowledgements by MQTT.",
    )  # fmt: skip


def check_icto_overhead(answer: object) -> Feedback:
    """Bytes that an object with one part and the three readers r0, r1, r2 adds (03).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> bool(check_icto_overhead(462)), bool(check_icto_overhead(294))
    (True, False)
    """
    one, three = overhead(["r0"], {"part": 1}), overhead(["r0", "r1", "r2"], {"part": 3})
    return number(
        answer, three, 0, absolute=0.5, unit="bytes",
        hints={one: "that is one reader; each further one adds a name, a key, a number and an envelope.",
               one + 2 * 48: "each reader also stands in the list: a length, a name, a key, and a number in the rule."},
        right="84 bytes for each further reader: 1 + 2 + 32 in the list, 1 in the rule, 48 for the envelope.",
    )  # fmt: skip


def check_independent_channel(answer: object) -> Feedback:
    """Whether a sealed object hides from the broker who talks to whom, and how much (03).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> bool(check_independent_channel(False)), bool(check_independent_channel(True))
    (True, False)
    """
    return choice(
        answer, False,
        hints={"yes": "the topic, the size, the times, and the names in the rules are all in the open."},
        right="it hides the content. Names, sizes, times and topic remain, so metadata may still need TLS.",
    )  # fmt: skip


def check_reading(answer: object) -> Feedback:
    """Which reading brings MQTT's header bytes into the printed range and lets them rise (03).

    Parameters
    ----------
    answer : object
        What the reader wrote, in any form.

    Returns
    -------
    Feedback
        Whether it is right, and a hint for the usual mistakes.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> bool(check_reading("loop")), bool(check_reading("fresh"))
    (True, False)
    """
    options = {
        "fresh": "a session for each message",
        "warm": "one message in an open session",
        "loop": f"{paper.LOOP} publishes in one session, without a gap",
        "spaced": f"{paper.LOOP} publishes in one session, two round trips apart",
    }
    return choice(
        answer, "loop", options,
        hints={"fresh": "about 400 bytes, whatever the payload.", "warm": "64 bytes, whatever the payload.",
               "spaced": "near 9600 bytes, whatever the payload: steady, but above the range."},
        right="small messages share a segment, large ones fill it: only this reading rises, and to the printed range.",
    )  # fmt: skip
