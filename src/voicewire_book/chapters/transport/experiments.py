"""What the reproduction runs on the recorded rows: each function computes what one group of claims asks for.

Nothing is judged here: the verdicts are given in ``notebooks/transport/03_tcp_against_mqtt.ipynb``. The rows
themselves are measured by ``voicewire record transport``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from voicewire.stats import Interval
from voicewire.transport import measurement_runs, overhead_formulas, paper
from voicewire_book import paths
from voicewire_book.chapters.transport import readings, time_ratios
from voicewire_book.chapters.transport.analysis import Recorded, Samples
from voicewire_book.ledger.vocabulary import Plain

__all__ = [
    "coap_share",
    "efficiency",
    "header_ratios",
    "header_time_share",
    "icto_ratios",
    "icto_time",
    "mqtt_overhead",
    "pooled_times",
    "run",
]

KINDS, QUALITIES = time_ratios.KINDS, time_ratios.QUALITIES
UDP = overhead_formulas.IP_HEADER + 8  # with IP's header, bytes
SHORTEST = 302  # bytes of the recorded object with one byte in it
LINES = {"our private network": None, "54 Mbit/s": 54e6, "6 Mbit/s": 6e6}
"""Rates of the line, bit/s, by the reading of which the paper gives none: our own, and those of IEEE 802.11g."""


def header_ratios(r: Recorded, network: str, size: int = 100) -> dict[str, float]:
    """Return MQTT's header bytes over TCP's (means, QoS 0, sender's end), by reading."""

    def mean(transport: str, session: str) -> float:
        return float(r.header(network, transport, session, size).mean())

    return {
        "fresh against fresh": mean("mqtt", "fresh") / mean("tcp", "fresh"),
        "warm against warm": mean("mqtt", "persistent") / mean("tcp", "persistent"),
        "warm against fresh": mean("mqtt", "persistent") / mean("tcp", "fresh"),
        "loop against one fresh": mean("mqtt", "loop") / mean("tcp", "fresh"),
        "loop against loop": mean("mqtt", "loop") / mean("tcp", "loop"),
    }


def pooled_times(
    r: Recorded, network: str, transport: str, session: str = "fresh", qualities: Sequence[int] = QUALITIES
) -> Samples:
    """Average the times over payloads and kinds, iteration by iteration, at the quality of service that is fastest."""
    pooled = [
        np.mean(
            [
                r.time(network, transport, session, size, qos=q, kind=readings.recorded_as(transport, session, q, k))
                for size in paper.PAYLOADS
                for k in KINDS
            ],
            0,
        )
        for q in ((0,) if transport == "tcp" else qualities)
    ]
    return min(pooled, key=lambda times: float(times.mean()))


def header_time_share(r: Recorded, network: str, rate: float | None = None) -> float:
    """Return the share of MQTT's extra time that its extra headers take on the line, at most."""
    own = paper.NETWORKS[network].rate or np.inf
    speed = rate or own

    def share(size: int, session: str, qos: int) -> float:
        mqtt = r.cell(network, "mqtt", session, size, qos=qos)
        segments = mqtt.publisher_segments + mqtt.subscriber_segments
        headers = (mqtt.publisher_header + mqtt.subscriber_header + overhead_formulas.IP_HEADER * segments).mean()
        plain = r.cell(network, "tcp", "fresh", size)
        extra = headers - (plain.sender_header + overhead_formulas.IP_HEADER * plain.sender_segments).mean()
        beside = (mqtt.publisher_payload + mqtt.subscriber_payload).mean() - plain.sender_payload.mean()
        later = np.median(mqtt.time_ms) - np.median(plain.time_ms)
        later += 8e3 * (extra + beside) * (1 / speed - 1 / own)
        return float(8e3 * extra / speed / later)

    more = [readings.COMPARED[name] for name in (readings.FRESH, readings.LOOP_0, readings.LOOP_1)]
    return max(share(size, session, qos) for size in paper.PAYLOADS for session, _, each in more for qos in each)


def _objects(reading: str) -> tuple[str, list[int]]:
    """Return what was recorded of cipher objects, or stands for them, and their sizes."""
    if reading == readings.FRESH:
        return "icto", list(paper.SIZES)
    known = paper.PAYLOADS if readings.COMPARED[reading][0] == "loop" else paper.SIZES
    return "bytes", [size for size in known if size >= SHORTEST]


def icto_time(r: Recorded, reading: str = readings.FRESH, *, resamples: int = 1000) -> Interval:
    """Return the ratio of mean times of `icto_ratios` where it is least, with its 95 % bootstrap interval."""
    session, plain, qualities = readings.COMPARED[reading]
    kind, sizes = _objects(reading)
    objects, qos = (paper.LOOP, qualities[0]) if session == "loop" else (1, 1)
    pairs = [
        (r.time(n, "mqtt", session, size, qos=qos, kind=kind) / objects, r.time(n, "tcp", plain, size, kind=kind))
        for n in paper.NETWORKS
        for size in sizes
    ]
    mqtt, tcp = min(pairs, key=lambda pair: float(pair[0].mean() / pair[1].mean()))
    rng = np.random.default_rng(2)
    drawn = [rng.choice(x, (resamples, x.size)).mean(axis=1) for x in (mqtt, tcp)]
    low, high = np.quantile(drawn[0] / drawn[1], (0.025, 0.975))
    return Interval(float(mqtt.mean() / tcp.mean()), float(low), float(high), paper.CONFIDENCE, resamples)


def icto_ratios(r: Recorded, reading: str = readings.FRESH, *, instead: bool = False) -> dict[str, float]:
    """Return what each cipher object costs over MQTT, over what it costs over TCP: bytes above IP, and time."""

    session, plain, qualities = readings.COMPARED[reading]
    kind, sizes = _objects(reading)

    def total(network: str, transport: str, ends: tuple[str, ...], size: int) -> float:
        over_tcp = transport == "tcp"
        qos = 0 if over_tcp else qualities[0] if session == "loop" else 1
        cell = r.cell(network, transport, plain if over_tcp else session, size, qos=qos, kind=kind)
        objects = paper.LOOP if session == "loop" and not over_tcp else 1
        if not ends:
            return float(cell.time_ms.mean()) / objects
        return float(sum((cell[f"{end}_header"] + cell[f"{end}_payload"]).mean() for end in ends)) / objects

    def least(ends: tuple[str, ...]) -> float:
        top, counted = ("tcp", ("sender",) if ends else ()) if instead else ("mqtt", ends)
        return min(
            total(n, top, counted, size) / total(n, "tcp", ("sender",) if ends else (), size)
            for n in paper.NETWORKS
            for size in sizes
        )

    return {
        "bytes, sender's link": least(("publisher",)),
        "bytes, all links": least(("publisher", "subscriber")),
        "time": least(()),
    }


def efficiency(r: Recorded, reading: str = readings.FRESH, *, instead: bool = False) -> dict[str, float]:
    """Return the share of the wire's TCP bytes that is payload, over TCP and divided by that over MQTT, by payload."""
    session, plain, qualities = readings.COMPARED[reading]
    end = "sender" if instead else "publisher"

    def share(network: str, size: int, qos: int) -> float:
        """Payloads over themselves and all that goes with them."""
        found = r.cell(network, "tcp", session, size) if instead else r.cell(network, "mqtt", session, size, qos=qos)
        times = paper.LOOP if session == "loop" else 1
        return float((size * times / (found[f"{end}_header"] + found[f"{end}_payload"])).mean())

    def ratio(network: str, size: int, qos: int) -> float:
        return float(r.goodput(network, "tcp", plain, size).mean()) / share(network, size, qos)

    return {
        f"{size} B": min(ratio(n, size, qos) for n in paper.NETWORKS for qos in qualities) for size in paper.PAYLOADS
    }


def mqtt_overhead(r: Recorded, size: int, session: str = "persistent") -> float:
    """Return the IP bytes beside the payload of one MQTT message (QoS 1, publisher's link, LAN)."""
    cell = r.cell("lan", "mqtt", session, size, qos=1)
    whole = cell.publisher_header + cell.publisher_payload + overhead_formulas.IP_HEADER * cell.publisher_segments
    return float(whole.mean()) - size


def coap_share(
    more: Mapping[str, Any], transport: int = 2 * (overhead_formulas.HEADER + overhead_formulas.IP_HEADER)
) -> float:
    """Return the share of the bytes that MQTT needs more than CoAP which UDP and TCP make, for one small message.

    Notes
    -----
    What is left of either is the protocol's own.
    """
    size = more["size"]
    coap = more["coap"][str(size)]
    udp = UDP * coap["datagrams"]
    own = more["mqtt"]["persistent"]["payload"] - (coap["ip_bytes"] - udp)
    return float((transport - udp) / (transport - udp + own))


def run(quick: bool = False) -> dict[str, Plain]:
    """Compute the study's main results from the recorded experiment: headers, times and their ratios.

    It takes three seconds. Measuring anew takes hours: that is ``voicewire record transport``.
    """
    r = Recorded(measurement_runs.load_iterations(paths.data("transport")))
    factors = time_ratios.Factors(r, 100 if quick else 1000)
    found: dict[str, Plain] = {
        "transport.tcp-header-constant": {
            name: readings.header_curve(r, paper.PAYLOADS, session)
            for name, session in (
                ("a connection for each payload", "fresh"),
                ("one connection for all", "persistent"),
                ("150 payloads in one connection", "loop"),
            )
        },
        "transport.mqtt-header-range": readings.header_ranges(r),
        "transport.mqtt-header-order-of-magnitude": readings.overhead_ratios(r, ["lan"]),
        "transport.overhead-everywhere": readings.overhead_ratios(r, list(paper.NETWORKS)),
        "transport.mqtt-header-grows": readings.growths(r, "lan"),
        "transport.header-explains-time": {way: header_time_share(r, "lan", rate) for way, rate in LINES.items()},
        "transport.icto-over-tcp": {readings.PER_OBJECT[way]: icto_ratios(r, way) for way in readings.COMPARED},
    }
    for name, networks in (
        ("time-factor-2", ["lan"]),
        ("internet-time-factor-2", ["internet"]),
        ("delay-much-greater", list(paper.NETWORKS)),
    ):
        found[f"transport.{name}"] = {way: factors.typical(networks, way).estimate for way in readings.BY_QUALITY}
    found["transport.time-difference-observable"] = {
        way: time_ratios.least_difference(r, "lan", way) for way in readings.COMPARED
    }
    found["transport.internet-tcp-faster"] = {
        way: {
            "TCP": float(pooled_times(r, "internet", "tcp", plain).mean()),
            "MQTT": float(pooled_times(r, "internet", "mqtt", session, qualities).mean()),
        }
        for way, (session, plain, qualities) in readings.COMPARED.items()
    }
    return found
