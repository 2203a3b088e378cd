"""What the reproduction of chapter 7 runs: sessions, lossy transfers, exchanges, and every reading of the tables.

A reading ("accounting") is one choice for each thing that the chapter leaves out. Each is run through the closed
forms or the simulation and compared with what is printed. Several fit: the printed numbers do not tell them apart.
Explained in notebook 3.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.nfc import paper
from voicewire.nfc.channel import Channel
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.exchange import Exchange, Outcomes
from voicewire.nfc.link import Link
from voicewire.nfc.session import LWIP, RESPONSE_LATENCY, RTO, Recovery, Result, Session
from voicewire.nfc.slot_sharing import DEFINITIONS, ROUNDINGS, SCOPES, Rounding, Scope, ShortSession
from voicewire_book.chapters.nfc.readings import (
    EFFICIENCY_WITHIN,
    SHORT_RESPONSE,
    LeftOpen,
    efficiency_readings,
    left_open,
    sessions_left,
)
from voicewire_book.ledger.loading import read
from voicewire_book.ledger.vocabulary import Plain

__all__ = [
    "EXCHANGES",
    "JOINT",
    "LOSSY_RUNS",
    "RULES",
    "SlotReading",
    "TableReading",
    "control_efficiency",
    "control_readings",
    "efficiencies_left_open",
    "error_channel",
    "exchanges",
    "gap_percentile",
    "heavy_losses",
    "lossy_gains",
    "lossy_percentiles",
    "lossy_times",
    "lossy_use",
    "run",
    "slot_readings",
    "table_left_open",
    "table_readings",
    "window_runs",
]

SEED = 2021
EXCHANGES = 1000
"""Exchanges of each cell of Table 7.3."""
LOSSY_RUNS = 200
"""Transfers of each bar of Fig. 7.5."""
RULES = ("one segment", "initial")
"""What the window restarts from after a loss: section 7.1 says both."""
JOINT = ShortSession(latency=SHORT_RESPONSE, overhead=11)
"""The reading of sections 7.4 and 7.5 that is nearest, on average, to all five of their efficiencies (notebook 3)."""


@dataclass(frozen=True)
class TableReading:
    """One reading of Table 7.2 and Fig. 7.2, and how far it is from them."""

    framing: int
    teardown: int
    size: int
    latency: float
    single_buffer: bool
    errors: tuple[float, ...]
    stall: float

    @property
    def worst(self) -> float:
        """Largest relative error over Table 7.2."""
        return max(abs(error) for error in self.errors)

    @checks.takes(error=ParameterError, table=checks.number(0.0, 1e6), stall=checks.number(0.0, 1e6))
    def fits(self, table: float = 0.01, stall: float = 0.1) -> bool:
        """Whether Table 7.2 holds within `table` and the stall within `stall`, both relative."""
        return self.worst <= table and abs(self.stall / paper.STALL_PRINTED - 1) <= stall


def table_readings() -> list[TableReading]:
    """Try every reading of Table 7.2; 11 framings x 2 teardowns x 2 sizes x 4 latencies x 2 buffers."""
    found = []
    choices = itertools.product(range(11), (5000, 5120), (0.05, SHORT_RESPONSE, RESPONSE_LATENCY, 0.1), (True, False))
    for framing, size, latency, single in choices:
        link = Link(framing=framing)
        three = [
            Session(size=size, mss=mss, latency=latency, single_buffer=single, link=link).run().seconds
            for mss in paper.TABLE_72
        ]
        ends = [
            Session(size=paper.FIGURE_72_BYTES, window=window, latency=latency, single_buffer=single, link=link)
            .run()
            .seconds
            for window in (min(paper.INITIAL_CWND_SIZES), max(paper.INITIAL_CWND_SIZES))
        ]
        for teardown in (3, 4):
            more = (teardown - 3) * link.slots(40) * link.period
            errors = tuple(
                (time + more) / printed - 1 for time, printed in zip(three, paper.TABLE_72.values(), strict=True)
            )
            found.append(TableReading(framing, teardown, size, latency, single, errors, ends[0] - ends[1]))
    return found


def table_left_open(readings: list[TableReading]) -> dict[str, LeftOpen]:
    """Take each number of Table 7.2 and the stall of Fig. 7.2 out in turn: what the readings that fit the rest give."""
    table = np.array(list(paper.TABLE_72.values()))
    printed = np.array([*table, 1e3 * paper.STALL_PRINTED])
    kept = [reading for reading in readings if reading.teardown == 3]
    values = [[*table * (1 + np.array(reading.errors)), 1e3 * reading.stall] for reading in kept]
    names = [*(f"nfc.table-7.2.mss-{mss}" for mss in paper.TABLE_72), "nfc.fig-7.2.stall"]
    within = printed * ([0.01] * len(table) + [0.1])
    return {name: left_open(values, printed, within, column) for column, name in enumerate(names)}


def efficiencies_left_open() -> tuple[dict[str, LeftOpen], dict[str, LeftOpen]]:
    """Take each of the five efficiencies out in turn: what the readings that fit the other four give for it."""
    printed = [*paper.EFFICIENCY.values(), paper.CONTROL_EFFICIENCY]
    places = [f"nfc.efficiency.{rate}" + ("-long" if active > 1.5 else "") for rate, active in paper.EFFICIENCY]
    values = {rounding: efficiency_readings(rounding) for rounding in ROUNDINGS}
    within = np.full(len(printed), EFFICIENCY_WITHIN)
    four = {name: left_open(values["none"], printed, within, i) for i, name in enumerate(places)}
    shared: dict[str, LeftOpen] = {
        rounding: left_open(values[rounding], printed, within, len(places)) for rounding in ROUNDINGS
    }
    rate, active = float(max(paper.RATES)), paper.SLOT_ACTIVE * 1e3
    whole = [
        100 * s.seconds(rate, active, 0.0, "section") / s.seconds(rate, active, 0.5, "section")
        for s in sessions_left(control=False)
    ]
    column = np.array(whole)[:, None]
    both = left_open(column, [paper.CONTROL_EFFICIENCY], [EFFICIENCY_WITHIN], 0)
    return four, {**shared, "section at frequency 0 too": both}


@dataclass(frozen=True)
class SlotReading:
    """One reading of section 7.4: a definition of efficiency and a way to count the latency."""

    definition: str
    session: ShortSession
    efficiencies: tuple[float, ...]

    @property
    def worst(self) -> float:
        """Largest distance from the four printed numbers, percentage points."""
        return max(
            abs(mine - printed) for mine, printed in zip(self.efficiencies, paper.EFFICIENCY.values(), strict=True)
        )


def slot_readings() -> list[SlotReading]:
    """Try every definition of efficiency with 26 overheads, 3 scopes and 2 sizes, the best fit first."""
    found = []
    for scope, overhead, size in itertools.product(SCOPES, range(26), (1000, 1024)):
        session = ShortSession(size=size, overhead=overhead, scope=scope)
        for name, define in DEFINITIONS.items():
            try:
                values = tuple(100 * define(session, *place) for place in paper.EFFICIENCY)
            except ParameterError:  # the overhead leaves a slot empty
                continue
            found.append(SlotReading(name, session, values))
    return sorted(found, key=lambda reading: (round(reading.worst, 9), reading.session.overhead))


def control_efficiency(scope: Scope, rounding: Rounding, overhead: int = 14, printed_zero: bool = True) -> float:
    """Give the efficiency of section 7.5 at 5 control slots in 10, per cent."""
    session = ShortSession(scope=scope, overhead=overhead)
    rate, active = float(max(paper.RATES)), paper.SLOT_ACTIVE * 1e3
    free = session.seconds(rate, active, 0.0, "none" if printed_zero else rounding)
    return 100 * free / session.seconds(rate, active, 0.5, rounding)


def control_readings() -> dict[tuple[Scope, Rounding], float]:
    """Give `control_efficiency` for every scope and rounding."""
    return {(scope, rounding): control_efficiency(scope, rounding) for scope in SCOPES for rounding in ROUNDINGS}


def window_runs() -> dict[tuple[float, int], Result]:
    """Run the sessions of Figures 7.2 and 7.3: 50 kB at each Ethernet delay with each initial window."""
    return {
        (delay, window): Session(paper.FIGURE_72_BYTES, window=window, ethernet_delay=delay).run(log=True)
        for delay in paper.ETHERNET_DELAYS
        for window in paper.INITIAL_CWND_SIZES
    }


@checks.takes(
    error=ParameterError,
    rule=checks.one_of(*RULES),
    runs=checks.whole(1, 10**6),
    channel=checks.maybe(checks.a(Channel)),
    duplicates=checks.whole(0, 10**6),
    recovery=checks.maybe(checks.a(Recovery)),
    rto=checks.number(above=0.0),
)
def lossy_times(
    rule: str, window: int, runs: int = LOSSY_RUNS, channel: Channel | None = None, duplicates: int = 3,
    recovery: Recovery | None = None, rto: float = RTO,
) -> NDArray[np.float64]:  # fmt: skip
    """Run the transfers of Fig. 7.5, 100 kB over a channel that loses one packet in 25."""
    session = _lossy(rule, window, duplicates, recovery or Recovery(), rto, channel)
    return np.array([session.run(np.random.default_rng([SEED, seed])).seconds for seed in range(runs)])


def _lossy(
    rule: str, window: int, duplicates: int, recovery: Recovery, rto: float, channel: Channel | None = None
) -> Session:
    """Make the session of Fig. 7.5 by one reading of what a loss does."""
    if channel is None:
        channel = Channel.random(1 - (1 - 1 / paper.LOSS_ONE_IN) ** (1 / (8 * (paper.MSS + 40))))
    restart = window if rule == "initial" else paper.MSS
    return Session(
        paper.LOSSY_BYTES, window=window, restart_window=restart, channel=channel, duplicates=duplicates,
        recovery=recovery, rto=rto,
    )  # fmt: skip


LOSSY_READINGS = {
    "fast retransmit": ("one segment", 3, Recovery(), RTO),
    "lwIP's own recovery": ("one segment", 3, LWIP, 10.0),  # a timer that runs on needs a timeout longer than the queue
    "fast retransmit, restart from initial": ("initial", 3, Recovery(), RTO),
    "every loss starts slow start": ("one segment", 0, Recovery(), RTO),
    "every loss starts slow start from initial": ("initial", 0, Recovery(), RTO),
}
"""Restart window, duplicates for a fast retransmit, rules of recovery and timeout (s), by the readings of Fig. 7.5."""
MEANS = 500
"""Means of as many runs as were made, drawn from them."""
RECOVERIES = {
    "own rules": Recovery(),
    "repeat waits": Recovery(repeat_waits=True),
    "counts bytes": Recovery(byte_counting=True),
    "timer runs on": Recovery(timer_runs_on=True),
    "outlasts a timeout": Recovery(outlasts_timeout=True),
    "halves the window": Recovery(halves_window=True),
    "all five": LWIP,
}
"""The model's own rules of recovery, each of lwIP's alone, and all of them."""


def heavy_losses() -> dict[str, dict[int, float]]:
    """Run 100 kB of which each so many-th data packet is lost, with each rule of lwIP's on, and with all."""
    return {
        name: {
            every: Session(
                paper.LOSSY_BYTES, rto=10.0, backoff=False, channel=Channel.periodic(every), recovery=recovery
            ).run().seconds
            for every in (3, 4, 5, 6, 8, 12, paper.LOSS_ONE_IN)
        }
        for name, recovery in RECOVERIES.items()
    }  # fmt: skip


@checks.takes(error=ParameterError, runs=checks.whole(1, 10**6))
def lossy_gains(runs: int = LOSSY_RUNS) -> dict[str, dict[int, NDArray[np.float64] | float]]:
    """Compute what a larger initial window gains in the transfers of Fig. 7.5, under each reading."""
    least, *larger = paper.INITIAL_CWND_SIZES
    found: dict[str, dict[int, NDArray[np.float64] | float]] = {}
    for name, (rule, duplicates, recovery, rto) in LOSSY_READINGS.items():
        times = {w: lossy_times(rule, w, runs, None, duplicates, recovery, rto) for w in (least, *larger)}
        found[name] = {w: 100 * (1 - times[w] / _mean(times[least])) for w in larger}
    exact = Channel.periodic(paper.LOSS_ONE_IN)
    base = _mean(lossy_times("one segment", least, 1, exact))
    found["each 25th packet, exactly"] = {
        w: 100 * (1 - _mean(lossy_times("one segment", w, 1, exact)) / base) for w in larger
    }
    return found


@checks.takes(error=ParameterError, runs=checks.whole(1, 10**6), grows=checks.a(bool))
def lossy_use(runs: int = LOSSY_RUNS, grows: bool = True) -> dict[str, NDArray[np.float64] | float]:
    """Give the share of slots, %, in which something crosses the link with the smallest window of Fig. 7.5.

    Without `grows` it is a window of one segment that stays so, whatever has arrived.
    """
    window = min(paper.INITIAL_CWND_SIZES) if grows else paper.MSS
    limit = paper.MAXIMUM_CWND if grows else paper.MSS

    def used(session: Session, seed: int) -> float:
        result = replace(session, window_limit=limit).run(np.random.default_rng([SEED, seed]))
        return 100 * result.air / result.slots

    found: dict[str, NDArray[np.float64] | float] = {
        name: np.array([used(_lossy(rule, window, duplicates, recovery, rto), seed) for seed in range(runs)])
        for name, (rule, duplicates, recovery, rto) in LOSSY_READINGS.items()
    }
    exact = _lossy("one segment", window, 3, Recovery(), RTO, Channel.periodic(paper.LOSS_ONE_IN))
    return found | {"each 25th packet, exactly": used(exact, 0)}


@checks.takes(error=ParameterError, runs=checks.whole(1, 10**6), alike=checks.a(bool))
def lossy_percentiles(runs: int = LOSSY_RUNS, alike: bool = False) -> dict[str, float]:
    """Say where the printed gain of Fig. 7.5 lies among ours: the better of two larger windows against the smallest."""
    windows = paper.INITIAL_CWND_SIZES[:1] * 3 if alike else paper.INITIAL_CWND_SIZES
    exact = Channel.periodic(paper.LOSS_ONE_IN)
    once = [lossy_times("one segment", window, 1, exact) for window in windows]
    found = {"each 25th packet, exactly": _at_most(*once)}
    means = []
    draw = np.random.default_rng([SEED, runs]).integers(0, runs, (3, MEANS, runs))
    for name, (rule, duplicates, recovery, rto) in LOSSY_READINGS.items():
        times = [lossy_times(rule, window, runs, None, duplicates, recovery, rto) for window in windows]
        of_means = [time[which].mean(axis=1) for time, which in zip(times, draw, strict=True)]
        means.append(_at_most(*of_means))
        shifted = [np.roll(time, k) for k, time in enumerate(times)]  # the two larger windows: never the same seed
        found[name] = _at_most(*shifted)
    return found | {"means of many runs": min(means)}


def _at_most(least: NDArray[np.float64], second: NDArray[np.float64], third: NDArray[np.float64]) -> float:
    """Share of the gains that are at most as printed, %: each run with `least` against each of the others' pairs."""
    gains = 100 * (1 - np.minimum(second, third)[None, :] / least[:, None])
    return float(100 * np.mean(gains <= paper.LOSSY_REDUCTION_PRINTED))


@checks.takes(error=ParameterError, kind=checks.one_of("random", "burst"))
def error_channel(kind: str, rate: float) -> Channel:
    """Make the channel of one cell of Table 7.3."""
    return Channel.random(rate) if kind == "random" else Channel.burst(rate)


@checks.takes(error=ParameterError, runs=checks.whole(1, 10**6), latency=checks.number(0.0), backoff=checks.a(bool))
def exchanges(
    runs: int = EXCHANGES, latency: float = RESPONSE_LATENCY, backoff: bool = False,
) -> dict[tuple[str, float], Outcomes]:  # fmt: skip
    """Run the exchanges of Table 7.3, each cell with a seed of its own."""
    return {
        (kind, rate): Exchange(latency=latency, backoff=backoff, channel=error_channel(kind, rate)).run(
            runs, np.random.default_rng([SEED, number])
        )
        for number, (kind, rate) in enumerate(paper.TABLE_73)
    }


@checks.takes(error=ParameterError, burst=checks.array(1), random=checks.array(1))
def gap_percentile(burst: ArrayLike, random: ArrayLike) -> float:
    """Say where the gap that section 7.3 prints for 1e-4 lies among pairs of single runs."""
    shorter, longer = np.asarray(burst, dtype=float), np.asarray(random, dtype=float)
    gaps = 1 - shorter[:, None] / longer[None, :]
    printed = 1 - paper.TABLE_73["burst", 1e-4] / paper.TABLE_73["random", 1e-4]
    return float(100 * np.mean(gaps <= printed))


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean())


def run(quick: bool = False) -> dict[str, Plain]:
    """Compute the study's main results: Table 7.2, where Table 7.3 lies among runs, the windows, the slots.

    It takes less than a second, and so does `quick`; the first run compiles the model, once.
    """
    share = 20 if quick else 1
    found: dict[str, Plain] = {name: dict(left.named()) for name, left in table_left_open(table_readings()).items()}
    windows = window_runs()
    cost = [windows[delay, 2048].seconds - windows[delay, 8192].seconds for delay in paper.ETHERNET_DELAYS]
    found |= {"nfc.fig-7.3.delay-1s": cost[-1], "nfc.fig-7.3.growth": cost}
    found["nfc.goodput-window-free"] = [windows[0.0, w].goodput / 1e3 for w in paper.INITIAL_CWND_SIZES]
    found["nfc.lossy-7.5-percent"] = _held("nfc.lossy-7.5-percent", lossy_percentiles(LOSSY_RUNS // share))
    by_reading = {
        "responses of 8 slots": exchanges(EXCHANGES // share),
        "responses of 7 slots": exchanges(EXCHANGES // share, SHORT_RESPONSE),
        "timeouts that double": exchanges(EXCHANGES // share, backoff=True),
    }
    for (kind, rate), printed in paper.TABLE_73.items():
        claim = f"nfc.table-7.3.{kind}-{rate:.0e}".replace("e-0", "e-")
        found[claim] = _held(claim, {
            name: float(cell.seconds.mean()) if rate < 1e-5 else cell.percentile(printed)
            for name, cell in ((name, runs[kind, rate]) for name, runs in by_reading.items())
        })  # fmt: skip
    found["nfc.table-7.3.gap-simulated"] = {
        name: gap_percentile(runs["burst", 1e-4].seconds, runs["random", 1e-4].seconds)
        for name, runs in by_reading.items()
    }
    four, shared = efficiencies_left_open()
    found |= {name: dict(left.named()) for name, left in four.items()}
    labels = (
        "Eq. 7.4 as printed", "packet rounded up", "section rounded up", "section rounded up at frequency 0 too",
    )  # fmt: skip
    every = {
        f"{label}, {name}": value
        for label, left in zip(labels, shared.values(), strict=True)
        for name, value in left.named().items()
    }
    found["nfc.control-share-72"] = _held("nfc.control-share-72", every)
    return found


def _held(claim: str, values: Mapping[str, float]) -> dict[str, Plain]:
    """Return the values under the readings that the ledger holds."""
    return {reading["name"]: values[reading["name"]] for reading in read("nfc")[claim].readings}
