"""The recorded rows under what the paper leaves open: how many messages a session has, quality of service, gap, unit.

Nothing is judged here: ``notebooks/transport/03_tcp_against_mqtt.ipynb`` hands what these functions return to its
ledger. The names of the readings are those of ``data/transport/claims.yml``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from voicewire.mqtt import packets as p
from voicewire.stats import Interval
from voicewire.transport import paper, theory
from voicewire.transport.analysis import Recorded, Samples

__all__ = [
    "SESSIONS", "axes_ratio", "broker_share", "forwarded", "growths", "header_by_mss", "header_curve",
    "header_farthest", "header_ranges", "header_ratio", "loop_growth", "loops", "overhead_ratios",
]  # fmt: skip

FRESH, OPEN = "a session for each message", "one session for all"
MIXED = "one session against a fresh connection"
LOOP_0, LOOP_1 = "150 publishes at QoS 0 against one connection", "150 publishes at QoS 1 against one connection"
LOOPS = "150 publishes against 150 payloads"
SESSIONS = {FRESH: ("fresh", "fresh"), OPEN: ("persistent", "persistent"), MIXED: ("persistent", "fresh")}
"""MQTT's session and TCP's, by the reading of which the paper gives none."""
KINDS = ("bytes", "file")
QUALITIES = (0, 1, 2)


def _rows(transport: str, session: str, sizes: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Payload and what else names a configuration, for all that were recorded of one kind of session."""
    kinds = ("bytes",) if session == "loop" else KINDS
    for size in sizes:
        for qos in (0,) if transport == "tcp" else QUALITIES:
            for kind in kinds:
                yield size, {"qos": qos, "kind": kind}


def header_ratio(
    r: Recorded,
    networks: Sequence[str],
    sizes: Sequence[int],
    sessions: tuple[str, str] = ("fresh", "fresh"),
    *,
    kinds: Sequence[str] = KINDS,
    transport: str = "mqtt",
) -> dict[str, float]:
    """Return the least ratio of mean header bytes over payloads, qualities of service and kinds, at either end.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    networks : sequence of str
        Of ``lan`` and ``internet``.
    sizes : sequence of int
        Payloads, bytes.
    sessions : tuple of str
        MQTT's session, and TCP's: ``fresh`` or ``persistent``.
    kinds : sequence of str
        Of ``bytes`` and ``file``.
    transport : str
        What stands in the numerator; ``tcp`` for the rival.

    Returns
    -------
    dict of str to float
        For the ``sending end`` and the ``receiving end``.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> header_ratio(r, ["lan"], paper.PAYLOADS)["sending end"] > 1.4
    True
    """
    return {
        name: min(
            float(
                r.header(n, transport, sessions[0], size, end, **more).mean()
                / r.header(n, "tcp", sessions[1], size, end, kind=more["kind"]).mean()
            )
            for n in networks
            for size, more in _rows(transport, sessions[0], sizes)
            if more["kind"] in kinds
        )
        for end, name in enumerate(("sending end", "receiving end"))
    }


def overhead_ratios(
    r: Recorded, networks: Sequence[str], *, instead: bool = False, own: bool = False
) -> dict[str, float]:
    """Return MQTT's header bytes over TCP's at the sending end, the least over the axes' payloads, by reading.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    networks : sequence of str
        Of ``lan`` and ``internet``.
    instead : bool
        Put bare TCP in MQTT's place: the rival.
    own : bool
        Count MQTT's own bytes with the headers, over the headers of TCP.

    Returns
    -------
    dict of str to float
        By reading.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> overhead_ratios(r, ["lan"])["150 publishes at QoS 1 against one connection"] > 10
    True
    """
    top = "tcp" if instead else "mqtt"
    end = "sender" if instead else "publisher"

    def cost(n: str, session: str, size: int, qos: int) -> float:
        found = r.cell(n, top, session, size, qos=0 if instead else qos)
        total = found[f"{end}_header"]
        if own:
            total = total + found[f"{end}_payload"] - size * (paper.LOOP if session == "loop" else 1)
        return float(total.mean())

    def least(session: str, qualities: Sequence[int], against: str) -> float:
        return min(
            cost(n, session, size, qos) / float(r.header(n, "tcp", against, size).mean())
            for n in networks
            for size in paper.PAYLOADS
            for qos in qualities
        )

    return {
        FRESH: least("fresh", QUALITIES, "fresh"),
        OPEN: least("persistent", QUALITIES, "persistent"),
        MIXED: least("persistent", QUALITIES, "fresh"),
        LOOP_0: least("loop", (0,), "fresh"),
        LOOP_1: least("loop", (1,), "fresh"),
        LOOPS: least("loop", QUALITIES, "loop"),
    }


def header_farthest(r: Recorded, session: str, ends: tuple[str, str] = ("sender", "receiver")) -> dict[str, float]:
    """Return TCP's mean header bytes on the private network that lies farthest from the printed range, by end.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    session : str
        ``fresh`` or ``persistent``.
    ends : tuple of str
        Names of the sending and the receiving end.

    Returns
    -------
    dict of str to float
        Bytes.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> header_farthest(r, "fresh")["receiver"]
    272.0
    """
    low, high = paper.TCP_HEADER_RANGE
    found = {}
    for end, name in enumerate(ends):
        means = [
            float(r.header("lan", "tcp", session, size, end, **more).mean())
            for size, more in _rows("tcp", session, paper.PAYLOADS)
        ]
        found[name] = max(means, key=lambda mean: max(low - mean, mean - high))
    return found


def header_curve(r: Recorded, sizes: Sequence[int], session: str = "fresh") -> list[float]:
    """Return TCP's mean header bytes on the private network by payload, at the end and of the kind that differ most.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    sizes : sequence of int
        Payloads, bytes.
    session : str
        ``fresh``, ``persistent`` or ``loop``.

    Returns
    -------
    list of float
        Bytes.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> header_curve(r, [1, 1000])
    [272.0, 272.0]
    """
    kinds = ("bytes",) if session == "loop" else KINDS
    curves = [
        [float(r.header("lan", "tcp", session, size, end, kind=kind).mean()) for size in sizes]
        for end in (0, 1)
        for kind in kinds
    ]
    return max(curves, key=lambda curve: max(curve) - min(curve))


def header_by_mss(size: int, mss: int) -> int:
    """Return the header bytes of a fresh connection whose payload is cut into segments of at most `mss` bytes.

    Parameters
    ----------
    size, mss : int
        Payload and largest segment, bytes.

    Returns
    -------
    int

    Notes
    -----
    Eight segments, of which two are SYNs, and for each further one of data another with its acknowledgement.
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> header_by_mss(500, 536), header_by_mss(1000, 536)
    (272, 336)
    """
    return 8 * theory.HEADER + 2 * theory.SYN_EXTRA + 2 * theory.HEADER * (-(-size // mss) - 1)


def header_ranges(r: Recorded, transport: str = "mqtt") -> dict[str, dict[str, float]]:
    """Return the least and the largest mean header bytes on the private network over the axes' payloads and both ends.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    transport : str
        ``mqtt``, or ``tcp`` for the rival.

    Returns
    -------
    dict of str to dict
        By reading, bytes, for ``least`` and ``largest``.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> header_ranges(r)["a session for each message"]["least"]
    400.0
    """

    def span(session: str, qualities: Sequence[int]) -> dict[str, float]:
        means = [
            float(r.header("lan", transport, session, size, end, qos=qos).mean())
            for size in paper.PAYLOADS
            for qos in qualities
            for end in (0, 1)
        ]
        return {"least": min(means), "largest": max(means)}

    if transport == "tcp":
        return {"150 payloads": span("loop", (0,))}
    alone = float(theory.HEADER * 2 * paper.LOOP)
    return {
        FRESH: span("fresh", QUALITIES),
        OPEN: span("persistent", QUALITIES),
        **{f"150 publishes at QoS {qos}": span("loop", (qos,)) for qos in QUALITIES},
        "150 publishes that never merge": {"least": alone, "largest": alone},
    }


def growths(r: Recorded, network: str) -> dict[str, float]:
    """Return the mean header bytes of MQTT's sending end at 1000 bytes of payload over those at one byte, by reading.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    network : str
        ``lan`` or ``internet``.

    Returns
    -------
    dict of str to float
        By reading; the two with sessions at QoS 0.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> growths(r, "lan")["a session for each message"]
    1.0
    """

    def grown(session: str, qos: int = 0) -> float:
        large = r.header(network, "mqtt", session, paper.PAYLOADS[-1], qos=qos)
        return float(large.mean() / r.header(network, "mqtt", session, paper.PAYLOADS[0], qos=qos).mean())

    return {
        FRESH: grown("fresh"),
        OPEN: grown("persistent"),
        **{f"150 publishes at QoS {qos}": grown("loop", qos) for qos in QUALITIES},
    }


def loops(r: Recorded, network: str, qos: int) -> Samples:
    """Return the header bytes of MQTT's sending end for each loop without a gap.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    network : str
        ``lan`` or ``internet``.
    qos : {0, 1, 2}
        Quality of service.

    Returns
    -------
    ndarray of float, shape (payloads of the axes, iterations)
        Bytes.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> loops(r, "lan", 0).shape
    (5, 150)
    """
    return np.array([r.header(network, "mqtt", "loop", size, qos=qos) for size in paper.PAYLOADS])


def loop_growth(r: Recorded, network: str, qos: int = 0, gap: float = 0.0) -> Samples:
    """Return the header bytes of each loop with 1000 bytes a message over the mean of the loops with one byte.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    network : str
        ``lan`` or ``internet``.
    qos : {0, 1, 2}
        Quality of service.
    gap : float
        Pause between the messages, round trips.

    Returns
    -------
    ndarray of float, shape (iterations,)

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> bool(loop_growth(r, "lan").mean() > 10)
    True
    """
    small = r.header(network, "mqtt", "loop", paper.PAYLOADS[0], qos=qos, gap=gap)
    return r.header(network, "mqtt", "loop", paper.PAYLOADS[-1], qos=qos, gap=gap) / small.mean()


def forwarded(r: Recorded) -> tuple[Samples, Samples]:
    """Return the bytes above TCP of all recorded sessions of MQTT at the publisher, and behind it: both must be equal.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.

    Returns
    -------
    (ndarray of float, ndarray of float), shape (3 * sessions,)
        What the publisher's kernel counts, against the subscriber's less what it takes to subscribe; then either
        kernel's count, against what the broker's host saw of that leg, at most as much (a capture sees repeats, too).

    Notes
    -----
    Fresh sessions and loops are taken one by one; open sessions are summed by configuration, as an acknowledgement may
    cross after the next message has begun. Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> left, right = forwarded(Recorded(recording.load_iterations(paths.data("transport"))))
    >>> float(abs(left - right).max()) <= 8
    True
    """
    own = ["publisher_payload", "subscriber_payload", "broker_in_payload", "broker_out_payload"]
    rows = r.rows[r.rows.transport == "mqtt"]
    alone = rows[rows.session != "persistent"]
    keys = ["network", "qos", "kind", "size", "nodelay"]
    summed = rows[rows.session == "persistent"].groupby(keys)[own].sum()
    counts = np.concatenate([alone[own].to_numpy(float), summed.to_numpy(float)])
    subscribing = len(p.encode(p.Subscribe(1, ((paper.TOPIC, 0),)))) + len(p.encode(p.Suback(1, (0,))))
    counts[: len(alone), 1] -= subscribing
    counts[: len(alone), 3] -= subscribing
    sent, got, seen_in, seen_out = counts.T
    return (
        np.concatenate([sent, sent, got]),
        np.concatenate([got, np.minimum(seen_in, sent), np.minimum(seen_out, got)]),
    )


def axes_ratio(below: tuple[int, int], above: tuple[int, int]) -> Interval:
    """Return the ratio of two numbers of which only the ranges of their axes are known.

    Parameters
    ----------
    below, above : tuple of int
        Ends of the axis of the divisor, and of the dividend.

    Returns
    -------
    Interval
        From the nearest to the farthest ends; it says nothing of chance, its confidence is nominal.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> axes_ratio((300, 370), (3000, 7000)).low < 10
    True
    """
    return Interval(sum(above) / sum(below), above[0] / below[1], above[1] / below[0], paper.CONFIDENCE, 2)


def broker_share(session: bool, leg: float = 0.5) -> dict[str, float]:
    """Return the broker's share of the round trips that MQTT adds to TCP at QoS 0, counted on paper.

    Parameters
    ----------
    session : bool
        Whether opening the session with the broker counts as the broker's.
    leg : float
        What the broker's leg to the subscriber takes, round trips.

    Returns
    -------
    dict of str to float
        For ``fresh`` and ``warm`` sessions.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> broker_share(session=True)
    {'fresh': 1.0, 'warm': 1.0}
    """
    found = {}
    for name, kind in (("fresh", "fresh"), ("warm", "persistent")):
        opening = 0.5 * sum(flight in ("CONNECT", "CONNACK") for flight in theory.flights("mqtt", 0, kind))
        added = theory.round_trips("mqtt", 0, kind) - theory.round_trips("tcp", 0, kind) - 0.5 + leg
        found[name] = (leg + opening * session) / added if added else 0.0
    return found
