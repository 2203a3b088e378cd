"""Checks of the exercises: right in any form, and a hint for the usual mistakes."""

from __future__ import annotations

from voicewire.emqtt import counting
from voicewire.exercises import Feedback, choice, function, number, sequence

__all__ = [
    "check_break_even",
    "check_bridge",
    "check_contradiction",
    "check_first_byte",
    "check_lost_puback",
    "check_messages",
    "check_packets_qos2",
    "check_ratio",
    "check_remaining_length",
    "check_silence",
    "check_table3",
]


def check_first_byte(answer: object) -> Feedback:
    """Notebook 1: the first byte of a retained QoS 1 PUBLISH.

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
    Chapter ``notebooks/emqtt/01_packets``.

    Examples
    --------
    >>> bool(check_first_byte(0x33)), bool(check_first_byte(0x32))
    (True, False)
    """
    hints: dict[float, str] = {
        0x31: "the QoS bits are missing.",
        0x32: "RETAIN is bit 0.",
        0x35: "that is QoS 2.",
        33: "that is hex 33 read as decimal.",
    }
    return number(answer, 0x33, 0, hints=hints, right="0x33: type 3, QoS bits 01, RETAIN 1.")


def check_remaining_length(answer: object) -> Feedback:
    """Notebook 1: the bytes of Remaining Length 300.

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
    Chapter ``notebooks/emqtt/01_packets``.

    Examples
    --------
    >>> bool(check_remaining_length([172, 2])), bool(check_remaining_length([44, 2]))
    (True, False)
    """
    return sequence(answer, [0xAC, 0x02], 0, right="300 = 44 + 2·128; 44 with the continuation bit is 0xAC.")


def check_packets_qos2(answer: object) -> Feedback:
    """Notebook 1: packets for one QoS 2 message to five subscribers.

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
    Chapter ``notebooks/emqtt/01_packets``.

    Examples
    --------
    >>> bool(check_packets_qos2(24)), bool(check_packets_qos2(20))
    (True, False)
    """
    hints: dict[float, str] = {
        8: "that is one subscriber.",
        20: "the publisher's own four are missing.",
        40: "the publisher sends once, not five times.",
    }
    return number(answer, 24, 0, hints=hints, right="4 at the publisher and 4 for each of the five.")


def check_lost_puback(answer: object) -> Feedback:
    """Notebook 1: what a subscriber sees when its PUBACK is lost with the connection.

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
    Chapter ``notebooks/emqtt/01_packets``.

    Examples
    --------
    >>> bool(check_lost_puback("b")), bool(check_lost_puback("c"))
    (True, False)
    """
    options = {
        "a": "nothing",
        "b": "the message again, with DUP",
        "c": "the message again, without DUP",
        "d": "a PUBREL",
    }
    hints = {
        "a": "at QoS 1 the sender keeps the message until PUBACK.",
        "c": "a resent PUBLISH says so.",
        "d": "PUBREL belongs to QoS 2.",
    }
    return choice(answer, "b", options, hints=hints, right="At least once: the same packet id, DUP set.")


def check_messages(answer: object) -> Feedback:
    """Notebook 2: messages for a confirmed query to 80 subscribers in MQTT and E-MQTT.

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
    Chapter ``notebooks/emqtt/02_end_to_end``.

    Examples
    --------
    >>> bool(check_messages([964, 324])), bool(check_messages([960, 320]))
    (True, False)
    """
    return sequence(
        answer, {"MQTT": counting.messages("mqtt-2", 80), "E-MQTT": counting.messages("all", 80)}, 0,
        right="4 + 12·80 and 4 + 4·80: three times as many.",
    )  # fmt: skip


def check_break_even(answer: object) -> Feedback:
    """Notebook 2: from how many subscribers on is E-MQTT's PUBLISH with all ids longer than n QoS 0 responses?

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
    Chapter ``notebooks/emqtt/02_end_to_end``.

    Examples
    --------
    >>> bool(check_break_even("never")), bool(check_break_even("3"))
    (True, False)
    """
    return choice(
        answer, "never", ["1", "3", "never"],
        hints={"1": "compare 2n bytes of ids with n responses of at least 11 bytes each.",
            "3": "both grow linearly: compare the slopes."},
        right="An id costs 2 bytes, a response of this paper 11 and more.",
    )  # fmt: skip


def check_silence(answer: object) -> Feedback:
    """Notebook 2: what a stock publisher gets when too few subscribers exist.

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
    Chapter ``notebooks/emqtt/02_end_to_end``.

    Examples
    --------
    >>> bool(check_silence("b")), bool(check_silence("a"))
    (True, False)
    """
    options = {"a": "PUBREC at once", "b": "nothing", "c": "PUBREC after a time limit", "d": "PUBACK"}
    hints = {
        "a": "that would be a proof of something that hasn't happened.",
        "c": "a PUBREC has no room for a reason, so a late one would still be a lie.",
        "d": "PUBACK answers QoS 1, and would claim the same.",
    }
    return choice(
        answer, "b", options, hints=hints, right="Silence is the only honest answer that MQTT 3.1.1 has room for."
    )


def check_table3(answer: object) -> Feedback:
    """Notebook 3: the true size of Table 3's PUBLISH with 60 ids.

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
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> bool(check_table3(136)), bool(check_table3(134))
    (True, False)
    """
    expected = counting.publish_size(3, 60)
    hints: dict[float, str] = {
        counting.papers_count(expected): "the bytes of Remaining Length are left out, as in the paper.",
        expected - 1: "Remaining Length is above 127 here: it takes two bytes.",
    }
    return number(answer, expected, 0, unit="B", hints=hints, right="133 bytes follow, so Remaining Length takes two.")


def check_ratio(answer: object) -> Feedback:
    """Notebook 3: packets at the publisher, MQTT over E-MQTT, at 80 subscribers (both directions).

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
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> bool(check_ratio(81)), bool(check_ratio(40.5))
    (True, False)
    """
    ours = counting.received("mqtt-2", 80) + counting.sent("mqtt-2", 80)
    return number(
        answer, ours / 4, 0.001, hints={40.5: "count both directions above and below."}, right="324 packets against 4."
    )


def check_contradiction(answer: object) -> Feedback:
    """Notebook 3: which pair of the paper's numbers cannot come from one run?

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
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> bool(check_contradiction("a")), bool(check_contradiction("b"))
    (True, False)
    """
    options = {"a": "8.49 and 8.20", "b": "9.13 and 6.87", "c": "6.84 and 7.53"}
    hints = {
        "b": "MQTT's end-to-end delay may well exceed its completion.",
        "c": "PUBREC before PUBCOMP: that is as it should be.",
    }
    return choice(answer, "a", options, hints=hints, right="PUBREC cannot come after the PUBCOMP that follows it.")


def check_bridge(answer: object) -> Feedback:
    """Notebook 3: how many acknowledgements a hold must still get from beyond a bridge.

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
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> bool(check_bridge(lambda n, near: max(0, n - near))), bool(check_bridge(lambda n, near: n - near))
    (True, False)
    """
    cases = [((3, 1), 2), ((3, 3), 0), ((3, 5), 0), ((80, 0), 80)]
    return function(answer, cases, 0, right="so the bridge has to carry a count back, not only an acknowledgement.")
