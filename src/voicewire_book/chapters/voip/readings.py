"""The rules of TFRC and TCP that the thesis leaves open: each reading is one set of rules for the whole study.

What it sets in `netsim.Tfrc` and `netsim.Tcp`, and what speaks for it. All are run over the points of Figures 5.1 to
5.6 with the same calls; the first is the one that every other number of the study rests on.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from voicewire._kit import paths, sheets
from voicewire.sweep.runner import sweep
from voicewire.voip.calls import call
from voicewire.voip.transports import PRINTED, TFRC_VARIANTS
from voicewire_book.chapters.voip.operating_points import DELAYS, FIGURES, LOSSES, Curve

__all__ = ["READINGS", "Reading", "load", "measured", "record", "under"]

T = TypeVar("T")


@dataclass(frozen=True)
class Reading:
    """One way to read what the thesis leaves open.

    Attributes
    ----------
    name : what the ledger calls it
    tfrc, tcp : settings of `netsim.Tfrc` and `netsim.Tcp` that differ from the defaults
    """

    name: str
    tfrc: dict[str, Any] = field(default_factory=dict)
    tcp: dict[str, Any] = field(default_factory=dict)


READINGS = (
    Reading("the RFCs"),
    Reading("timed from departure", {"schedule": "sent"}),
    Reading("time settled once", {"report_moves": False}),
    Reading("X_recv as the thesis words it", {"x_recv": "thesis"}),
    Reading("twice X_recv after a time-out", {"timeout_restart": False}),
    Reading("KAME's stack", {"schedule": "grid", "x_recv": "kame", "report_after": 5}, {"idle_since": "received"}),
    Reading("silence saved up", {"credit_ms": 1e7}),
)
"""The readings, in the order of the ledger; the source of each stands there."""


def measured(
    rng: np.random.Generator, reading: str, figure: str, name: str, x: float, calls: int, seconds: float
) -> list[float]:
    """R of each call at one point of a figure under one reading: one task of the sweep."""
    del rng
    codec, varies, fixed = FIGURES[figure]
    delay, loss = (x, fixed) if varies == "delay" else (fixed, x)
    rules = next(one for one in READINGS if one.name == reading)
    changes = rules.tfrc if name in TFRC_VARIANTS else rules.tcp if name == "TCP" else {}
    where: dict[str, Any] = {"delay_ms": delay, "loss": loss, "seconds": seconds, **changes}
    return [call(name, codec, seed=k, **where).r for k in range(calls)]


def _grids(names: Iterable[str] | None, x: Iterable[float] | None) -> Iterator[dict[str, list[Any]]]:
    """Give the grids of the sweeps: readings that concern the same transports, figures that vary the same."""
    first, *others = READINGS
    for readings, own in (
        ([first], PRINTED),
        (others, TFRC_VARIANTS),
        ([one for one in others if one.tcp], ("TCP",)),
    ):
        for kind, usual in (("delay", DELAYS), ("loss", LOSSES)):
            yield {
                "reading": [one.name for one in readings],
                "figure": [figure for figure, (_, varies, _) in FIGURES.items() if varies == kind],
                "name": [name for name in own if names is None or name in names],
                "x": [float(v) for v in x or usual],
            }


def record(
    path: Path,
    calls: int = 30,
    seconds: float = 300.0,
    names: Iterable[str] | None = None,
    x: Iterable[float] | None = None,
    **how: Any,
) -> int:
    """Write R of each call, under each reading, at each point of the six figures."""
    grids = [grid for grid in _grids(names, x) if grid["name"]]
    rows = 0
    scratch = path.with_name(f"{path.name}.part")
    try:
        with scratch.open("w", newline="", encoding="utf-8") as file:  # tried before the work
            writer = sheets.Writer(file, lineterminator="\r\n")
            writer.writerow(["reading", "figure", "transport", "x", "r"])
            for grid in grids:
                for row in sweep(measured, grid=grid | {"calls": [calls], "seconds": [float(seconds)]}, **how):
                    p = row.params
                    r = " ".join(f"{v:.2f}" for v in row.value)
                    writer.writerow([p["reading"], p["figure"], p["name"], p["x"], r])
                    rows += 1
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)
    return rows


def load(path: Path | None = None) -> dict[str, dict[str, dict[str, Curve]]]:
    """Read what was recorded: reading to figure to transport to its curve.

    What a reading does not change (UDP, and mostly TCP) is that of the first.
    """
    points: dict[tuple[str, str, str], list[tuple[float, list[float]]]] = {}
    with (path or paths.data("voip") / "readings.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = row["reading"], row["figure"], row["transport"]
            points.setdefault(key, []).append((float(row["x"]), [float(v) for v in row["r"].split()]))
    found: dict[str, dict[str, dict[str, Curve]]] = {one.name: {figure: {} for figure in FIGURES} for one in READINGS}
    for (reading, figure, name), rows in points.items():
        curve = Curve(np.array([x for x, _ in rows]), np.array([r for _, r in rows]))
        for known in found if reading == READINGS[0].name else [reading]:
            found[known][figure][name] = curve
    return found


def under(value: Callable[[dict[str, dict[str, Curve]]], T], path: Path | None = None) -> dict[str, T]:
    """Compute a claim's value under each reading: what the ledger's `judge` takes."""
    return {name: value(figures) for name, figures in load(path).items()}
