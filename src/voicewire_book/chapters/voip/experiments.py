"""The experiments of chapter 5 and what chapter 6 leaves open.

A point of a figure is a median with quartiles over calls; call k uses seed k whatever the transport, so all
transports carry the same words over the same losses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.netsim.links import Bottleneck, Path, Red
from voicewire.netsim.senders import Tcp
from voicewire.netsim.simulation import Flow, bulk, simulate
from voicewire.sweep.runner import sweep
from voicewire.voip import paper, playout
from voicewire.voip.calls import call, late_by
from voicewire.voip.conversation import Talk, drawn
from voicewire.voip.emodel import codec as codec_of
from voicewire.voip.errors import VoipError
from voicewire.voip.transports import NAMES, PRINTED, TFRC_VARIANTS, transport
from voicewire_book.chapters.voip.operating_points import DELAYS, FIGURES, LOSSES, Curve
from voicewire_book.chapters.voip.readings import under
from voicewire_book.ledger.vocabulary import Plain

__all__ = [
    "DELAYS",
    "FIGURES",
    "LOSSES",
    "Curve",
    "adaptive_choice",
    "curves",
    "jain",
    "point",
    "record",
    "run",
    "sensitivity",
    "shared_link",
]


def point(
    rng: np.random.Generator, name: str, codec: str, delay_ms: float, loss: float, calls: int, seconds: float
) -> list[float]:
    """R of `calls` calls with seeds 0, 1, …: one task of the sweep. `rng` is unused: the seeds pair the transports."""
    del rng
    return [call(name, codec, delay_ms=delay_ms, loss=loss, seconds=seconds, seed=k).r for k in range(calls)]


def curves(
    figure: str,
    *,
    names: Sequence[str] = NAMES,
    x: Iterable[float] | None = None,
    calls: int = 30,
    seconds: float = 300.0,
    **how: Any,
) -> dict[str, Curve]:
    """The curves of Figures 5.1 to 5.6, through `voicewire.sweep`; `how` goes there (workers, scheduler, cache)."""
    if figure not in FIGURES:
        raise VoipError(f"Figure {figure} isn't a quality plot: choose from {', '.join(FIGURES)}")
    if calls < 1:
        raise VoipError("a point needs at least one call")
    codec, varies, fixed = FIGURES[figure]
    points = [float(v) for v in (x if x is not None else (DELAYS if varies == "delay" else LOSSES))]
    grid: dict[str, Iterable[Any]] = {"name": list(names), "codec": [codec]}
    grid["delay_ms"] = points if varies == "delay" else [fixed]
    grid["loss"] = [fixed] if varies == "delay" else points
    grid["calls"], grid["seconds"] = [calls], [float(seconds)]
    rows = sweep(point, grid=grid, **how)
    table = {(r.params["name"], r.params["delay_ms" if varies == "delay" else "loss"]): r.value for r in rows}
    return {name: Curve(np.array(points), np.array([table[name, v] for v in points])) for name in names}


@checks.takes(error=VoipError, rates=checks.array(low=0.0, high=1e50))
def jain(rates: Iterable[float]) -> float:
    """Jain's fairness index (Σx)² / (n Σx²): 1 when all get the same, 1/n when one gets all."""
    x = np.asarray(rates, dtype=float)
    if x.size == 0 or np.any(~np.isfinite(x)) or np.any(x < 0) or not x.any():
        raise VoipError("Jain's index needs rates of 0 or more, at least one of them above 0")
    return float(x.sum() ** 2 / (x.size * (x * x).sum()))


@dataclass(frozen=True)
class Shared:
    """Several calls over one bottleneck.

    Attributes
    ----------
    r : R of each call under the playout bound; shape (calls,)
    delivered : fraction of its frames that each call delivered; shape (calls,)
    jain : Jain's index of the delivered fractions
    bulk_kbit_s : what the competing TCP transfers got together
    packets : counts over all voice flows
    longest_queue : packets
    """

    r: NDArray[np.float64]
    delivered: NDArray[np.float64]
    jain: float
    bulk_kbit_s: float
    packets: dict[str, int]
    longest_queue: int


def spoken_by(calls: int, seconds: float, seed: int, interval_ms: float) -> list[Talk]:
    """Give what is said in several calls at a time."""
    return [drawn(np.random.default_rng([seed, 2, k]), seconds, *paper.TALK, interval_ms) for k in range(calls)]


def transfers(kbit_s: float, seconds: float, count: int, path: Path, ecn: bool = False) -> list[Flow]:
    """Give TCP transfers that last as long as the calls beside them, whatever they get of the link."""
    enough = int(kbit_s * 125 * (seconds + 30) / 1500) + 100
    return [Flow(bulk(enough, 200_000_000 * k), 1460, Tcp(ecn=ecn), path) for k in range(count)]


@checks.takes(
    error=VoipError, kbit_s=checks.number(0.001, 1e7), calls=checks.whole(1, 10_000),
    seconds=checks.number(0.02, 86_400.0), delay_ms=checks.number(0.0, 3_600_000.0),
    bulk_flows=checks.whole(0, 10_000), red=checks.maybe(checks.a(Red)), seed=checks.seed,
    packets=checks.whole(1, 10**6),
)  # fmt: skip
def shared_link(
    name: str,
    codec: str = "G.729",
    *,
    kbit_s: float,
    calls: int = paper.SOURCES * paper.ENCODERS,
    seconds: float = 120.0,
    delay_ms: float = 50.0,
    bulk_flows: int = 0,
    red: Red | None = None,
    seed: int = 0,
    packets: int = paper.ROUTER_BUFFER,
    **changes: Any,
) -> Shared:
    """Twelve calls (section 4.4) over one link, with competing bulk TCP, RED or ECN if asked for (chapter 6)."""
    voice = codec_of(codec)
    spoken = spoken_by(calls, seconds, seed, voice.interval_ms)
    path = Path(delay_ms)
    flows = [Flow(t.times, voice.payload, transport(name, voice, **changes), path) for t in spoken]
    ecn = bool(red and red.ecn)
    flows += transfers(kbit_s, seconds, bulk_flows, path, ecn)
    result = simulate(flows, bottleneck=Bottleneck(kbit_s, packets, red), seed=seed, until_s=seconds + 10)
    scores, share = np.empty(calls), np.empty(calls)
    for k, t in enumerate(spoken):
        delay = late_by(t.times, result.flows[k].arrive)
        scores[k] = playout.best_r(delay, playout.starts_of(delay, t.spurts), voice)
        share[k] = float(np.isfinite(delay).mean())
    carried = sum(int((f.arrive >= 0).sum()) for f in result.flows[calls:])
    counts = {key: sum(f.packets[key] for f in result.flows[:calls]) for key in result.flows[0].packets}
    return Shared(scores, share, jain(share), carried * 1460 * 8 / 1000 / (seconds + 10), counts, result.longest_queue)


#: what the thesis doesn't say: (name, what is assumed, what else it could be, settings)
ASSUMPTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("as assumed", "RFC 3448 scheduling, RFC 4342 X_recv, buffer 5, no credit", {}),
    ("scheduling", "the next packet is timed from when this one left", {"schedule": "sent"}),
    ("scheduling", "a report doesn't move the packet that waits", {"report_moves": False}),
    ("scheduling", "KAME: after a silence, the next tick of the timer", {"schedule": "grid"}),
    ("X_recv", "as the thesis puts it: over the time since the last report", {"x_recv": "thesis"}),
    ("X_recv", "bytes since the last report over max(RTT, time since)", {"x_recv": "since"}),
    ("X_recv", "RFC 3448: over the last round trip only", {"x_recv": "rtt"}),
    ("X_recv", "KAME: as the thesis puts it, in 32 bits that wrap", {"x_recv": "kame"}),
    ("reports", "KAME: after more than four quarters of a round trip", {"report_after": 5}),
    ("buffer", "1 packet", {"buffer": 1}),
    ("buffer", "50 packets", {"buffer": 50}),
    ("buffer", "5 packets, the oldest is dropped", {"drop_oldest": True}),
    ("credit", "sending time of 100 ms may be saved", {"credit_ms": 100.0}),
    ("credit", "silence is saved without limit (RFC 3448 to the letter)", {"credit_ms": 1e7}),
    ("first interval", "packets counted until the first loss", {"first_interval": "counted"}),
    ("initial rate", "4 packets per RTT (RFC 4342)", {"initial_packets": 4.0}),
    ("open interval", "TFRC-SP counts it while it is short, too", {"short_open": True}),
    ("idle rule", "X_recv is halved however low", {"idle_packets": 0.0}),
    ("time-out", "X is recalculated with 2 X_recv, whatever the restart", {"timeout_restart": False}),
)


@checks.takes(error=VoipError, calls=checks.whole(1, 10**6))
def sensitivity(
    name: str,
    codec: str = "G.729",
    *,
    delay_ms: float = 50.0,
    loss: float = 1e-3,
    calls: int = 10,
    seconds: float = 120.0,
) -> list[tuple[str, str, float]]:
    """Median R of a TFRC variant under each assumption that the thesis leaves open: (what, choice, median R)."""
    rows = []
    for what, choice, settings in ASSUMPTIONS:
        r = [
            call(name, codec, delay_ms=delay_ms, loss=loss, seconds=seconds, seed=k, **settings).r for k in range(calls)
        ]
        rows.append((what, choice, float(np.median(r))))
    return rows


def adaptive_choice(kbit_s: float, calls: int = 12, **how: Any) -> dict[str, float]:
    """An adaptive codec in its simplest form: the one that scores better on this link, chosen before the calls.

    Median R over the calls for G.711, for G.729, and for the better of both; nothing changes during a call.
    """
    scores = {
        c: float(np.median(shared_link("UDP", c, kbit_s=kbit_s, calls=calls, **how).r)) for c in ("G.711", "G.729")
    }
    return {**scores, "adaptive": max(scores.values())}


def record(calls: int = 30, seconds: float = 300.0, **how: Any) -> list[dict[str, Any]]:
    """All six figures as rows (figure, transport, x, quartiles): the long sweep, kept in data/voip/quality.csv."""
    rows = []
    for figure in FIGURES:
        for transport_name, curve in curves(figure, calls=calls, seconds=seconds, **how).items():
            low, high = curve.quartiles
            for x, q1, q2, q3 in zip(curve.x, low, curve.median, high, strict=True):
                rows.append(
                    {
                        "figure": figure,
                        "transport": transport_name,
                        "x": float(x),
                        "q1": round(float(q1), 4),
                        "median": round(float(q2), 4),
                        "q3": round(float(q3), 4),
                        "calls": calls,
                    }
                )
    return rows


def run(quick: bool = False) -> dict[str, Plain]:
    """Compute the study's main results: what the thesis says of Figures 5.1 to 5.6, over all their points.

    It takes some ten seconds on one core, `quick` two; the first run compiles the simulator, once. What is judged under
    several readings of the rules is read from what was recorded with each (`record voip readings`), not run again.
    """
    how: dict[str, Any] = {"names": PRINTED, "workers": 1, "cache": False, "progress": False}
    how |= {"calls": 3, "seconds": 60.0} if quick else {"calls": 30, "seconds": 300.0}
    found = {figure: curves(figure, **how) for figure in FIGURES}

    return _of_delays(found) | _of_losses(found) | _under_readings()


def _of_delays(found: Mapping[str, Mapping[str, Curve]]) -> dict[str, Plain]:
    """What is said of Figures 5.1 to 5.4."""

    def r(figure: str, name: str) -> NDArray[np.float64]:
        return found[figure][name].r

    def best(figure: str, names: Sequence[str] = TFRC_VARIANTS) -> NDArray[np.float64]:
        best_of: NDArray[np.float64] = np.array([r(figure, name) for name in names]).max(axis=0)
        return best_of

    def falls(name: str) -> NDArray[np.float64]:
        return r("5.1", name)[0] - r("5.1", name)[1:]

    sharply: NDArray[np.float64] = np.array([falls(name) for name in TFRC_VARIANTS[:3]]).min(axis=0) - falls("UDP")
    lift = r("5.1", "TFRC SP FR MD") - r("5.1", "TFRC SP FR")
    return {
        "voip.tfrc-falls-with-delay": _along(found["5.1"]["TFRC"]),
        "voip.sp-falls-with-delay": _along(found["5.1"]["TFRC SP"]),
        "voip.falls-sharply": _by_delay(sharply, DELAYS[1:]),
        "voip.md-above-fr": _by_delay(lift[:9], DELAYS[:9]),
        "voip.md-below-tcp-g729": _by_delay(r("5.1", "TCP") - r("5.1", "TFRC SP FR MD")),
        "voip.g711-tfrc-below-tcp": _by_delay(r("5.2", "TCP") - best("5.2")),
        "voip.g711-tcp-below-udp": _by_delay(r("5.2", "UDP") - r("5.2", "TCP")),
        "voip.plain-incapable": _by_delay(r("5.3", "TFRC")),
        "voip.sp-no-gain": _by_delay((r("5.3", "TFRC SP") - r("5.3", "TFRC"))[:8], DELAYS[:8]),
        "voip.fr-gains-from-loss": _by_delay((r("5.3", "TFRC SP FR") - r("5.1", "TFRC SP FR"))[:7], DELAYS[:7]),
        "voip.md-like-tcp-small-loss": _by_delay(r("5.3", "TFRC SP FR MD") - r("5.3", "TCP")),
        "voip.g711-small-loss": _by_delay(r("5.4", "TCP") - best("5.4")),
    }


def _of_losses(found: Mapping[str, Mapping[str, Curve]]) -> dict[str, Plain]:
    """What is said of Figures 5.5 and 5.6."""
    md = found["5.6"]["UDP"].r - found["5.6"]["TFRC SP FR MD"].r
    return {
        "voip.tcp-falls-with-loss": _along(found["5.5"]["TCP"]),
        "voip.md-rises-with-loss": _along(found["5.5"]["TFRC SP FR MD"]),
        "voip.sp-like-tfrc-loss": _by_loss(found["5.5"]["TFRC SP"].r - found["5.5"]["TFRC"].r),
        "voip.g711-loss-like-udp": _by_loss(md),
    }


def _under_readings() -> dict[str, Plain]:
    """What is judged under several readings of the rules, from what was recorded with each.

    At delays at which nothing is played with either of two, under one of these, they are not compared.
    """

    def gap(c: Mapping[str, Mapping[str, Curve]], figure: str, one: str, other: str, points: int) -> dict[str, Plain]:
        return _by_delay((c[figure][one].r - c[figure][other].r)[:points], DELAYS[:points])

    def farthest(c: Mapping[str, Mapping[str, Curve]]) -> float:
        return float(np.abs(c["5.5"]["TFRC SP FR MD"].r - c["5.5"]["UDP"].r).max())

    return {
        "voip.sp-as-tfrc-lossless": dict(under(lambda c: gap(c, "5.1", "TFRC SP", "TFRC", 7))),
        "voip.fr-above-sp": dict(under(lambda c: gap(c, "5.3", "TFRC SP FR", "TFRC SP", 8))),
        "voip.md-equals-udp-50ms": dict(under(farthest)),
        "voip.fr-rises-with-loss": dict(under(lambda c: _along(c["5.5"]["TFRC SP FR"]))),
    }


def _by_delay(gap: NDArray[np.float64], delays: Sequence[float] = DELAYS) -> dict[str, Plain]:
    return {f"{delay} ms": float(mean) for delay, mean in zip(delays, gap.mean(axis=1), strict=True)}


def _by_loss(gap: NDArray[np.float64]) -> dict[str, Plain]:
    """Means by loss, labelled as the ledger has them."""
    return {_label(loss): float(mean) for loss, mean in zip(LOSSES, gap.mean(axis=1), strict=True)}


def _label(loss: float) -> str:
    digits, _, power = f"{loss:.2e}".partition("e")
    return f"{digits.rstrip('0').rstrip('.')}e{power}"


def _along(curve: Curve) -> list[Plain]:
    return [float(mean) for mean in curve.r.mean(axis=1)]
