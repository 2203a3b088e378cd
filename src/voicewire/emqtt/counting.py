"""How many packets and bytes a confirmed query costs: closed forms, to be held against live traces.

A query goes to n subscribers, and the publisher wants to know that each has it. Notebook 2 derives the forms.
"""

from __future__ import annotations

from voicewire._kit import checks
from voicewire.emqtt import paper
from voicewire.mqtt import packets as p

__all__ = [
    "LABELS", "READINGS", "messages", "papers_count", "publish_size", "received", "sent", "with_subscriptions",
    "without_count",
]  # fmt: skip

READINGS = ("mqtt-2", "mqtt-0", "first", "one", "half", "all", "unmodified")
"""MQTT with responses at QoS 2 and at QoS 0; E-MQTT asynchronous, waiting for 1, for half, for all; `$e2e` at QoS 2."""
LABELS = {
    "mqtt-2": "MQTT, responses at QoS 2",
    "mqtt-0": "MQTT, responses at QoS 0",
    "first": "E-MQTT, asynchronous (first)",
    "one": "E-MQTT, synchronous (one of n)",
    "half": "E-MQTT, half of n",
    "all": "E-MQTT, synchronous (all n)",
    "unmodified": "$e2e/n/T, unmodified client",
}


@checks.takes(reading=checks.one_of(*READINGS), n=checks.whole(1))
def messages(reading: str, n: int) -> int:
    """Return the packets of one confirmed query to `n` subscribers, on all connections together.

    Parameters
    ----------
    reading : str
        One of `READINGS`.
    n : int
        Number of subscribers.

    Returns
    -------
    int
        4 + 12n (responses at QoS 2), 4 + 6n (responses at QoS 0) or 4 + 4n (E-MQTT).

    Raises
    ------
    ValueError
        For another reading, or nobody to ask.

    Examples
    --------
    >>> messages("mqtt-2", 80), messages("all", 80)
    (964, 324)
    """
    _check(reading, n)
    return 4 + {"mqtt-2": 12, "mqtt-0": 6}.get(reading, 4) * n


@checks.takes(reading=checks.one_of(*READINGS), n=checks.whole(1))
def received(reading: str, n: int) -> int:
    """Return the packets that the publisher receives for one confirmed query: 2 + 2n, 2 + n, or 2.

    Parameters
    ----------
    reading : str
        One of `READINGS`.
    n : int
        Number of subscribers.

    Returns
    -------
    int
        Packets.

    Examples
    --------
    >>> received("mqtt-2", 80), received("all", 80)
    (162, 2)
    """
    _check(reading, n)
    return 2 + {"mqtt-2": 2, "mqtt-0": 1}.get(reading, 0) * n


@checks.takes(reading=checks.one_of(*READINGS), n=checks.whole(1))
def sent(reading: str, n: int) -> int:
    """Return the packets that the publisher sends for one confirmed query: 2 + 2n, or 2.

    Parameters
    ----------
    reading : str
        One of `READINGS`.
    n : int
        Number of subscribers.

    Returns
    -------
    int
        Packets.

    Examples
    --------
    >>> sent("mqtt-2", 80), sent("all", 80)
    (162, 2)
    """
    _check(reading, n)
    return 2 + (2 * n if reading == "mqtt-2" else 0)


def _check(reading: str, n: int) -> None:
    if reading not in READINGS:
        raise ValueError(f"unknown reading {reading!r}; one of {', '.join(READINGS)}")
    if n < 1:
        raise ValueError(f"{n} subscribers; at least 1 is needed")


@checks.takes(reading=checks.one_of(*READINGS), n=checks.whole(1))
def with_subscriptions(reading: str, n: int, count_suback: bool = False) -> int:
    """Return `messages` plus the SUBSCRIBE packets that the paper counts, and perhaps their SUBACKs.

    MQTT needs n + 1 subscriptions (the publisher subscribes to the topic of the responses), E-MQTT needs n.

    Parameters
    ----------
    reading : str
        One of `READINGS`.
    n : int
        Number of subscribers.
    count_suback : bool
        Count the broker's answers too.

    Returns
    -------
    int
        Packets.

    Examples
    --------
    The paper's 18 against 9 for one subscriber.

    >>> with_subscriptions("mqtt-2", 1), with_subscriptions("all", 1)
    (18, 9)
    """
    subscriptions = n + (reading in ("mqtt-2", "mqtt-0"))
    return messages(reading, n) + subscriptions * (2 if count_suback else 1)


@checks.takes(qos=checks.whole(0, 3), ids=checks.whole(0, 16_382))
def publish_size(qos: int, ids: int = 0) -> int:
    """Return the bytes of the paper's PUBLISH on the wire, with `ids` subscriber ids of one character each.

    Parameters
    ----------
    qos : int
        0 to 3.
    ids : int
        At QoS 3; other packets name nobody.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    Two bytes more at QoS 3 than at QoS 2, then two for each id.

    >>> publish_size(2), publish_size(3), publish_size(3, 5)
    (13, 15, 25)
    """
    names = tuple(chr(0x30 + i % 10) for i in range(ids))
    packet = p.Publish(
        paper.TOPIC, paper.PAYLOAD, qos, packet_id=1 if qos else 0,
        waited=ids if qos == 3 else 0, subscribers=names if qos == 3 else (),
    )  # fmt: skip
    return len(p.encode(packet))


@checks.takes(size=checks.whole(2, 268_435_460))
def papers_count(size: int) -> int:
    """Return what the paper counts for a packet of `size` bytes: 1 + Remaining Length."""
    return size - (1 if size <= 129 else 2)


def without_count(ids: tuple[str, ...], payload: bytes) -> bytes:
    """Return the end of a PUBLISH in the paper's own layout: UTF-16 ids, then the payload, and nothing between.

    Parameters
    ----------
    ids : tuple of str
        Subscribers.
    payload : bytes
        The message.

    Returns
    -------
    bytes
        From which nobody can tell where the ids end.

    Examples
    --------
    >>> without_count(("1",), b"hi") == without_count((), b"\\x001hi")
    True
    """
    return b"".join(name.encode("utf-16-be") for name in ids) + payload
