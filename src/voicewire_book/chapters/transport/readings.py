"""The recorded rows under what the paper leaves open: how many messages a session has, quality of service, gap, unit.

Nothing is judged here: ``notebooks/transport/03_tcp_against_mqtt.ipynb`` hands what these functions return to its
ledger. The names of the readings are those of ``data/transport/claims.yml``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from voicewire.mqtt import packets as p
from voicewire.transport import overhead_formulas, paper
from voicewire_book.chapters.transport.analysis import Recorded, Samples

__all__ = [
    "BY_QUALITY", "COMPARED", "PER_OBJECT", "SESSIONS", "axes_ratio", "broker_headers", "broker_share", "forwarded",
    "growths", "header_by_mss", "header_curve", "header_farthest", "header_ranges", "header_ratio", "headers",
    "loop_growth", "overhead_ratios", "recorded_as", "slowest_growth",
]  # fmt: skip

FRESH, OPEN = "a session for each message", "one session for all"
MIXED = "one session against a fresh connection"
LOOP_0, LOOP_1 = "150 publishes at QoS 0 against one connection", "150 publishes at QoS 1 against one connection"
LOOPS = "150 publishes against 150 payloads"
SESSIONS = {FRESH: ("fresh", "fresh"), OPEN: ("persistent", "persistent"), MIXED: ("persistent", "fresh")}
"""MQTT's session and TCP's, by the reading of which the paper gives none."""
ENDS = ("sending end", "receiving end")
KINDS = ("bytes", "file")
QUALITIES = (0, 1, 2)
COMPARED = {name: (*pair, QUALITIES) for name, pair in SESSIONS.items()} | {
    LOOP_0: ("loop", "fresh", (0,)), LOOP_1: ("loop", "fresh", (1,)),
}  # fmt: skip
"""The same with MQTT's qualities of service, and with 150 publishes against one TCP connection."""
PER_OBJECT = {name: name.replace("150 publishes", "each of 150 publishes") for name in COMPARED}
"""Their names where what 150 publishes need is shared among 150 payloads."""
BY_QUALITY = {f"{FRESH}, QoS {qos}": ("fresh", "fresh", (qos,)) for qos in QUALITIES} | {LOOP_0: COMPARED[LOOP_0]}
"""Readings of the times in which no two qualities of service are put together."""


def _rows(transport: str, session: str, sizes: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Payload and what else names a configuration, for all that were recorded of one kind of session."""
    for size in sizes:
        for qos in (0,) if transport == "tcp" else QUALITIES:
            for kind in KINDS:
                if recorded_as(transport, session, qos, kind) == kind:
                    yield size, {"qos": qos, "kind": kind}


def recorded_as(transport: str, session: str, qos: int, kind: str) -> str:
    """Say as what a kind of payload was recorded: loops as bytes, and as files over MQTT at QoS 0 alone."""
    return "bytes" if session == "loop" and (transport, qos) != ("mqtt", 0) else kind


def header_ratio(
    r: Recorded,
    networks: Sequence[str],
    sizes: Sequence[int],
    sessions: tuple[str, str] = ("fresh", "fresh"),
    *,
    kinds: Sequence[str] = KINDS,
    qualities: Sequence[int] = QUALITIES,
    transport: str = "mqtt",
) -> dict[str, float]:
    """Return the least ratio of mean header bytes over payloads, qualities of service and kinds, at either end."""
    return {
        name: min(
            float(
                r.header(n, transport, sessions[0], size, end, **more).mean()
                / r.header(n, "tcp", sessions[1], size, end, kind=more["kind"]).mean()
            )
            for n in networks
            for size, more in _rows(transport, sessions[0], sizes)
            if more["kind"] in kinds and (transport == "tcp" or more["qos"] in qualities)
        )
        for end, name in enumerate(ENDS)
    }


def overhead_ratios(
    r: Recorded, networks: Sequence[str], *, instead: bool = False, own: bool = False
) -> dict[str, float]:
    """Return MQTT's header bytes over TCP's, the least over the axes' payloads, both ends and kinds, by reading."""
    top = "tcp" if instead else "mqtt"
    ends = ("sender", "receiver") if instead else ("publisher", "subscriber")

    def cost(n: str, session: str, size: int, qos: int, kind: str, end: str) -> float:
        found = r.cell(n, top, session, size, qos=0 if instead else qos, kind=kind)
        total = found[f"{end}_header"]
        if own:
            total = total + found[f"{end}_payload"] - size * (paper.LOOP if session == "loop" else 1)
        return float(total.mean())

    def least(session: str, qualities: Sequence[int], against: str) -> float:
        return min(
            cost(n, session, size, qos, kind, end)
            / float(r.header(n, "tcp", against, size, at, kind=recorded_as("tcp", against, 0, kind)).mean())
            for n in networks
            for size in paper.PAYLOADS
            for qos in qualities
            for kind in KINDS
            for at, end in enumerate(ends)
            if recorded_as(top, session, qos, kind) == kind
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
    """Return TCP's mean header bytes on the private network that lies farthest from the printed range, by end."""
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
    """Return TCP's mean header bytes on the private network by payload, at the end and of the kind that differ most."""
    kinds = ("bytes",) if session == "loop" else KINDS
    curves = [
        [float(r.header("lan", "tcp", session, size, end, kind=kind).mean()) for size in sizes]
        for end in (0, 1)
        for kind in kinds
    ]
    return max(curves, key=lambda curve: max(curve) - min(curve))


def header_by_mss(size: int, mss: int) -> int:
    """Return the header bytes of a fresh connection whose payload is cut into segments of at most `mss` bytes.

    Notes
    -----
    Eight segments, of which two are SYNs, and for each further one of data another with its acknowledgement.
    """
    return (
        8 * overhead_formulas.HEADER
        + 2 * overhead_formulas.SYN_EXTRA
        + 2 * overhead_formulas.HEADER * (-(-size // mss) - 1)
    )


def header_ranges(r: Recorded, transport: str = "mqtt") -> dict[str, dict[str, float]]:
    """Return the least and the largest mean header bytes on the private network over payloads, both ends and kinds."""

    def span(session: str, qualities: Sequence[int]) -> dict[str, float]:
        means = [
            float(r.header("lan", transport, session, size, end, **more).mean())
            for size, more in _rows(transport, session, paper.PAYLOADS)
            for end in (0, 1)
            if more["qos"] in qualities
        ]
        return {"least": min(means), "largest": max(means)}

    if transport == "tcp":
        return {"150 payloads": span("loop", (0,))}
    alone = float(overhead_formulas.HEADER * 2 * paper.LOOP)
    return {
        FRESH: span("fresh", QUALITIES),
        OPEN: span("persistent", QUALITIES),
        **{f"150 publishes at QoS {qos}": span("loop", (qos,)) for qos in QUALITIES},
        "150 publishes that never merge": {"least": alone, "largest": alone},
    }


def growths(r: Recorded, network: str, pick: Callable[[list[float]], float] = min) -> dict[str, dict[str, float]]:
    """Return MQTT's mean header bytes at 1000 bytes of payload over those at one byte, by reading and end."""

    def grown(session: str, qualities: Sequence[int] = QUALITIES) -> dict[str, float]:
        return {
            name: pick([_grown(found) for found in _curves(r, network, session, qualities, end)])
            for end, name in enumerate(ENDS)
        }

    return {
        FRESH: grown("fresh"),
        OPEN: grown("persistent"),
        **{f"150 publishes at QoS {qos}": grown("loop", (qos,)) for qos in (0, 1)},
    }


def _curves(
    r: Recorded, network: str, session: str, qualities: Sequence[int], end: int, kinds: Sequence[str] = KINDS
) -> Iterator[Samples]:
    for qos in qualities:
        for kind in kinds:
            if recorded_as("mqtt", session, qos, kind) == kind:
                yield headers(r, network, session, qos, end, kind)


def _grown(found: Samples) -> float:
    return float(found[-1].mean() / found[0].mean())


def headers(
    r: Recorded, network: str, session: str = "loop", qos: int = 0, end: int = 0, kind: str = "bytes"
) -> Samples:
    """Return MQTT's header bytes by payload and iteration, at one end."""
    return np.array([r.header(network, "mqtt", session, size, end, qos=qos, kind=kind) for size in paper.PAYLOADS])


def slowest_growth(
    r: Recorded, network: str, session: str, qualities: Sequence[int] = (0,), kinds: Sequence[str] = KINDS
) -> Samples:
    """Return the same where they grow least from smallest to largest payload: over ends, kinds and qualities."""
    return min((found for end in (0, 1) for found in _curves(r, network, session, qualities, end, kinds)), key=_grown)


def loop_growth(r: Recorded, network: str, qos: int = 0, gap: float = 0.0, end: int = 0) -> Samples:
    """Return the header bytes of each loop with 1000 bytes a message over the mean of the loops with one byte."""
    small = r.header(network, "mqtt", "loop", paper.PAYLOADS[0], end, qos=qos, gap=gap)
    return r.header(network, "mqtt", "loop", paper.PAYLOADS[-1], end, qos=qos, gap=gap) / small.mean()


def forwarded(r: Recorded) -> tuple[Samples, Samples]:
    """Return the bytes above TCP of all recorded sessions of MQTT at the publisher, and behind it: both must be equal.

    Notes
    -----
    Fresh sessions and loops are taken one by one; open sessions are summed by configuration, as an acknowledgement may
    cross after the next message has begun.
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


def axes_ratio(below: tuple[int, int], above: tuple[int, int]) -> dict[str, float]:
    """Return the ratio of two numbers of which only the ranges of their axes are known."""
    return {"the nearest ends": above[0] / below[1], "the farthest ends": above[1] / below[0]}


def broker_share(session: bool, leg: float = 0.5) -> dict[str, float]:
    """Return the broker's share of the round trips that MQTT adds to TCP at QoS 0, counted on paper."""
    found = {}
    for name, kind in (("fresh", "fresh"), ("warm", "persistent")):
        opening = 0.5 * sum(flight in ("CONNECT", "CONNACK") for flight in overhead_formulas.flights("mqtt", 0, kind))
        added = (
            overhead_formulas.round_trips("mqtt", 0, kind) - overhead_formulas.round_trips("tcp", 0, kind) - 0.5 + leg
        )
        found[name] = (leg + opening * session) / added if added else 0.0
    return found


def broker_headers(r: Recorded, leg: bool = True, size: int = 100) -> dict[str, float]:
    """Return the share of MQTT's further header bytes (QoS 0, private network) that is on the link behind the broker.

    Notes
    -----
    Further than those of TCP, summed over both links; without that link (`leg`) nothing of it is left.
    """
    found = {}
    for name, kind in (("fresh", "fresh"), ("warm", "persistent")):
        near, behind = (float(r.header("lan", "mqtt", kind, size, end).mean()) for end in (0, 1))
        behind *= leg
        further = near + behind - float(r.header("lan", "tcp", kind, size).mean())
        found[name] = behind / further if further else 0.0
    return found
