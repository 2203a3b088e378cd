"""What would have failed the claims: the same scenes under mechanisms without the effect, and under other epsilons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo import paper, paper_tables, reference
from voicewire.echo.adaptive_filter import AdaptiveFilter
from voicewire.echo.gradient import WLNLMS
from voicewire.echo.metrics import Curve, follow
from voicewire.echo.rls import StereoRLS
from voicewire.echo.scenes.room_impulse_responses import decaying
from voicewire.echo.scenes.scene import Scene, Signals, changed
from voicewire.echo.scenes.speech import talk
from voicewire.echo.widely_linear import Responses, echo
from voicewire_book.chapters.echo import recorded_conversations
from voicewire_book.chapters.echo.experiments import (
    CHANGE_AT,
    SEEDS,
    column,
    paper_filter,
    read,
    read_curves,
    scene,
    track,
)

__all__ = [
    "EPSILONS",
    "FIRST",
    "RECORDINGS",
    "by_epsilon",
    "first",
    "first_column_mirrored",
    "first_column_only",
    "independent",
    "larger_epsilons",
    "peers",
    "runs",
    "under_epsilon",
]

Rows = list[dict[str, Any]]
Complex = NDArray[np.complex128]
Real = NDArray[np.float64]
EPSILONS = (1e-4, 1.0, 100.0)
"""What the paper's small positive epsilon may be, for signals of power 1; the ledger gives each one's reason."""
LARGER = (1e3, 1e4)
"""Beyond what the ledger's readings hold: to see whether the first convergence gets better still."""
FIRST = 5 * paper.FIGURE_1.memory * paper.FIGURE_1.length
"""Samples of the first convergence: five memories of Figure 1."""
FINE = 64
"""Samples between two looks at the first convergence: an overshoot may be over in some hundred."""
AFTER = "five passes after the change"
"""The five memories behind the change of the shorter Figure 1, which a plot without the beginning shows."""
EVERY = FIRST // 16
RIVAL_SEEDS = range(100, 200)
"""Twenty runs of five seeds each."""
SPEECH_SEEDS = range(2, 23)
"""Runs of one conversation each: twenty, and one in which no filter is back before the end."""
PEER_SEEDS = range(20)
"""The first five are the claims' own; all are four runs of the rivals."""
LABELS: dict[str, Sequence[str]] = {
    "echo.tracking-improves-with-nit": [*(f"decaying {n}" for n in range(2, 7)), "room 3", "room 5"],
    "echo.nit-below-10": ["decaying", "room"],
    "echo.alpha08-slower-than-dr": ["3", "5"],
    "echo.dr-costs-accuracy": ["decaying", "room"],
}
"""Of the claims that are asked at several points."""
CURVES = ((1, 0.4), (3, 0.4), (5, 0.4), (1, 0.0), (5, 0.0), (1, 0.8))
SPOKEN = ((1, 0.4), (3, 0.4), (5, 0.4), (1, 0.0), (3, 0.0), (5, 0.0))


def _levels(curve: Curve, end: int) -> dict[str, float]:
    return {
        "highest": float(curve.decibels[curve.samples <= end].max()),
        "before": curve.steady(end - end // 12, end),
    }


def under_epsilon() -> Rows:
    """Run Figure 1 up to its change for each epsilon, over seeds."""
    rows: Rows = []
    setting = paper.FIGURE_1
    for seed in SEEDS:
        for alpha in (0.4, 0.0, 0.8):
            signals = Scene(setting.length, setting.change_at, seed, predistortion=alpha).signals()
            for reuse in (reuse for reuse, other in CURVES if other == alpha):
                for epsilon in EPSILONS:
                    curve = follow(paper_filter(setting, reuse, regularization=epsilon), signals, EVERY)
                    row = {"epsilon": epsilon, "alpha": alpha, "reuse": reuse, "seed": seed}
                    rows.append(row | _levels(curve, setting.change_at))
    return rows


def _spoken(seconds: float, seed: int, alpha: float, far_length: int | None = None) -> Signals:
    setting = paper.FIGURE_2
    change_at = int(seconds * paper.RATE)
    source = talk(1.2 * seconds, seed)
    return Scene(
        setting.length, source.size, seed, source=source, predistortion=alpha, change="swap", change_at=change_at,
        far_length=far_length,
    ).signals()  # fmt: skip


def _speech_row(signals: Signals, reuse: int, **other: Any) -> dict[str, float]:
    curve = follow(paper_filter(paper.FIGURE_2, reuse, **other), signals, 2000)
    end = signals.change_at
    return {"t15": curve.tracking_time(end, -15), "before": curve.steady(end - end // 5, end)}


def speech_under_epsilon() -> Rows:
    """Run Figure 2 to just after its change, for the smaller and the larger epsilon."""
    rows: Rows = []
    for alpha in (0.4, 0.0):
        signals = _spoken(150, 1, alpha)
        for reuse in (reuse for reuse, other in SPOKEN if other == alpha):
            for epsilon in (EPSILONS[0], EPSILONS[2]):
                row = {"epsilon": epsilon, "alpha": alpha, "reuse": reuse, "seed": 1}
                rows.append(row | _speech_row(signals, reuse, regularization=epsilon))
    return rows


def _moves() -> Iterator[dict[str, Any]]:
    for seed in RIVAL_SEEDS:
        for alpha, moves in ((0.4, (4, 12)), (0.8, (4,))):
            signals = scene(seed, samples=CHANGE_AT + 40_000, predistortion=alpha)
            for updates in moves:
                found = track(signals, updates=updates)
                yield {"what": "moves", "alpha": alpha, "reuse": 1, "updates": updates, "seed": seed} | {
                    name: found[name] for name in ("t15", "before")
                }


def _far_room() -> Iterator[dict[str, Any]]:
    far_length = 4 * paper.FIGURE_1.length
    for seed in RIVAL_SEEDS:
        for alpha in (0.4, 0.0, 0.8):
            signals = scene(seed, samples=CHANGE_AT, change="none", far_length=far_length, predistortion=alpha)
            for reuse in (reuse for reuse, other in CURVES if other == alpha):
                levels = _levels(follow(paper_filter(paper.FIGURE_1, reuse), signals, EVERY), CHANGE_AT)
                row = {"what": "far room", "alpha": alpha, "reuse": reuse, "updates": 4, "seed": seed}
                yield row | {"before": levels["before"]}


def _best(filter_: AdaptiveFilter, signals: Signals, start: int = 0) -> dict[str, float]:
    """Return a run's best misalignment from a sample on, looked at each `FINE` samples, and after how many it came."""
    curve = follow(filter_, signals, FINE)
    late = curve.samples > start
    decibels, samples = curve.decibels[late], curve.samples[late] - start
    best = int(decibels.argmin())
    return {"best": float(decibels[best]), "after": int(samples[best])}


def first(seeds: Sequence[int] = SEEDS, rival_seeds: Sequence[int] = RIVAL_SEEDS) -> Rows:
    """Run the first convergence of Figure 1 without pre-distortion, and after its change: five passes, and NLMS."""
    rows: Rows = []
    length, whole = paper.FIGURE_1.length, paper.FIGURE_1.change_at
    for seed in seeds:
        signals = Scene(length, whole, seed, predistortion=0.0).signals()  # its level is that of the whole
        begun = replace(signals, **{name: getattr(signals, name)[:FIRST] for name in ("x", "d", "noise", "near_end")})
        for epsilon in (*EPSILONS, *LARGER):
            found = _best(paper_filter(paper.FIGURE_1, 5, regularization=epsilon), begun)
            rows.append({"filter": "five passes", "epsilon": epsilon, "seed": seed} | found)
        turned = scene(seed, samples=CHANGE_AT + FIRST, predistortion=0.0)
        for epsilon in EPSILONS:
            found = _best(paper_filter(paper.FIGURE_1, 5, regularization=epsilon), turned, CHANGE_AT)
            rows.append({"filter": AFTER, "epsilon": epsilon, "seed": seed} | found)
    for seed in rival_seeds:
        signals = Scene(length, FIRST, seed, predistortion=0.0).signals()
        rows.append({"filter": "NLMS", "epsilon": 0.0, "seed": seed} | _best(WLNLMS(length), signals))
    return rows


def _speech() -> Iterator[dict[str, Any]]:
    far_length = 4 * paper.FIGURE_2.length
    for seed in SPEECH_SEEDS:
        signals = _spoken(60, seed, 0.4)
        for updates in (4, 12):
            row = {"what": "speech, moves", "alpha": 0.4, "reuse": 1, "updates": updates, "seed": seed}
            yield row | _speech_row(signals, 1, updates=updates)
        for alpha in (0.4, 0.0):
            signals = _spoken(60, seed, alpha, far_length)
            for reuse in (1, 3, 5):
                row = {"what": "speech, far room", "alpha": alpha, "reuse": reuse, "updates": 4, "seed": seed}
                yield row | _speech_row(signals, reuse)


def rivals() -> Rows:
    """Run the mechanisms that the ledger names: more moves in place of reuse, a long far room."""
    return [row for run in (_moves, _far_room, _speech) for row in run()]


def independent(seed: int, samples: int, change_at: int) -> Signals:
    """A far end without any correlation: white noise, independent left and right; the rest as in Figure 1."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(samples) + 1j * rng.standard_normal(samples)
    length = paper.FIGURE_1.length
    before = Responses(*(decaying(length, rng, length / 5) for _ in range(4)))
    after = changed(before, "sign", rng)
    heard = echo(before, x)
    heard[change_at:] = echo(after, x)[change_at:]
    level = 10 ** (-paper.SNR_DB / 20) / np.sqrt(2)
    noise = level * np.std(heard) * (rng.standard_normal(samples) + 1j * rng.standard_normal(samples))
    return Signals(x, heard + noise, noise, np.zeros(samples, complex), before, after, change_at, False)


def peers(seeds: Sequence[int] = PEER_SEEDS, change_at: int = 60_000) -> Rows:
    """Compare exact RLS, DCD with one pass and NLMS at the size of Figure 1, on AR(1) and on input without correlation.
    """
    rows: Rows = []
    length, forgetting = paper.FIGURE_1.length, paper.FIGURE_1.forgetting
    samples = change_at + 20_000
    for seed in seeds:
        inputs = {
            "AR(1)": scene(seed, samples=samples, change_at=change_at),
            "uncorrelated": independent(seed, samples, change_at),
        }
        for name, signals in inputs.items():
            filters: dict[str, AdaptiveFilter] = {
                "exact": StereoRLS(length, forgetting),
                "DCD": paper_filter(paper.FIGURE_1, 1),
                "NLMS": WLNLMS(length),
            }
            for kind, filter_ in filters.items():
                curve = follow(filter_, signals, 2000)
                row = {"input": name, "filter": kind, "seed": seed}
                found = {"before": curve.steady(change_at - 20_000, change_at), "later": float(curve.decibels[-1])}
                rows.append(row | found)
    return rows


def by_epsilon() -> dict[str, dict[str, Real]]:
    """Judge Figure 1 without pre-distortion under each epsilon, from what was recorded."""
    rows, beginnings = read("epsilon"), read("first")
    found: dict[str, dict[str, Real]] = {}
    for name, epsilon in zip(("1e-4", "1", "100"), EPSILONS, strict=True):

        def of(what: str, alpha: float, reuse: int, epsilon: float = epsilon) -> Real:
            return np.array(column(rows, what, epsilon=epsilon, alpha=alpha, reuse=reuse))

        floors = {(reuse, alpha): of("before", alpha, reuse) for reuse, alpha in CURVES}
        found.setdefault("echo.alpha0-worst", {})[name] = _worst(floors)
        best = column(beginnings, "best", filter="five passes", epsilon=epsilon)
        found.setdefault("echo.alpha0-nit5-converges-first", {})[name] = np.array(best)
        found.setdefault("echo.alpha0-nit5-steady", {})[name] = floors[5, 0.0] - floors[5, 0.4]
    after = np.array(column(beginnings, "best", filter=AFTER, epsilon=EPSILONS[-1]))
    found["echo.alpha0-nit5-converges-first"]["100, after the change"] = after
    return found


def larger_epsilons() -> dict[float, Real]:
    """Return the best misalignment of the first convergence from an epsilon beyond the ledger's readings, dB."""
    rows = read("first")
    return {e: np.array(column(rows, "best", filter="five passes", epsilon=e)) for e in LARGER}


def _worst(floors: dict[tuple[int, float], Real]) -> Real:
    """Return the lowest floor of the curves without pre-distortion over the highest of those with it, dB."""
    without = [floor for (_, alpha), floor in floors.items() if alpha == 0]
    return np.asarray(np.min(without, axis=0) - np.max([f for (_, a), f in floors.items() if a > 0], axis=0))


def speech_gaps() -> dict[str, dict[str, float | Real]]:
    """Return how far the floor without pre-distortion lies above that with it on speech, under each epsilon."""
    rows = read("epsilon-speech")
    figure = read_curves(2)
    end = paper.FIGURE_2.change_at
    found: dict[str, dict[str, float | Real]]
    found = {"1": {str(n): _floor(figure[n, 0.0], end) - _floor(figure[n, 0.4], end) for n in (1, 3, 5)}}
    for name, epsilon in (("1e-4", EPSILONS[0]), ("100", EPSILONS[2])):
        floors = {key: column(rows, "before", epsilon=epsilon, reuse=key[0], alpha=key[1])[0] for key in SPOKEN}
        found[name] = {str(n): floors[n, 0.0] - floors[n, 0.4] for n in (1, 3, 5)}
    for name, epsilon in (("1e-4", EPSILONS[0]), ("1", EPSILONS[1]), ("100", EPSILONS[2])):
        found[name] |= {f"{n}, recorded voices": gap for n, gap in recorded_conversations.gaps(epsilon=epsilon).items()}
    return found


def speech_times() -> dict[str, float | Real]:
    """Return by what time to -15 dB more passes follow the change of Figure 2, over that of fewer, wherever recorded.
    """
    figure, rows = read_curves(2), read("epsilon-speech")
    times = {n: figure[n, 0.4].tracking_time(paper.FIGURE_2.change_at, -15) for n in (1, 2, 3, 5)}
    found: dict[str, float | Real]
    found = {f"{n} after {less}": times[n] / times[less] for less, n in ((1, 2), (2, 3), (3, 5))}
    for name, epsilon in (("1e-4", EPSILONS[0]), ("100", EPSILONS[2])):
        of = {n: column(rows, "t15", epsilon=epsilon, reuse=n, alpha=0.4)[0] for n in (1, 3, 5)}
        found |= {f"{n} after {less}, epsilon {name}": of[n] / of[less] for less, n in ((1, 3), (3, 5))}
    for family, name in zip(recorded_conversations.FAMILIES, ("", ", image sources"), strict=True):
        people = recorded_conversations.times(family)
        found |= {
            f"{n} after {less}, recorded voices{name}": people[n] / people[less] for less, n in ((1, 2), (2, 3), (3, 5))
        }
    return found


def _floor(curve: Curve, end: int) -> float:
    return curve.steady(end - end // 5, end)


def peer(what: str, filter_: str, input_: str = "AR(1)") -> Real:
    """Read one column of `peers`, over its seeds."""
    return np.array(column(read("peers"), what, filter=filter_, input=input_))


def _fives(values: Real, draws: int = 200) -> Real:
    """Draw five of the seeds, none twice, as often as asked."""
    rng = np.random.default_rng(5)
    return np.array([rng.choice(values, 5, replace=False) for _ in range(draws)])


def runs() -> dict[str, list[Any]]:
    """Return what came out of the rivals, five seeds a run, on speech one: claim id -> runs, as the claim's value."""
    rows = read("rivals")

    def of(what: str, name: str, **where: Any) -> Real:
        return np.array(column(rows, name, what=what, **where)).reshape(-1, 5)

    four, twelve = (of("moves", "t15", alpha=0.4, updates=n) for n in (4, 12))
    more = of("moves", "before", alpha=0.4, updates=12) - of("moves", "before", alpha=0.4, updates=4)
    far = {(reuse, alpha): of("far room", "before", alpha=alpha, reuse=reuse) for reuse, alpha in CURVES}
    given = {
        "echo.tracking-improves-with-nit": twelve / four,
        "echo.nit-below-10": four / twelve,
        "echo.alpha08-slower-than-dr": of("moves", "t15", alpha=0.8) / twelve,
        "echo.dr-costs-accuracy": more,
        "echo.alpha0-worst": _worst(far),
        "echo.alpha0-nit5-steady": far[5, 0.0] - far[5, 0.4],
        "echo.comparable-to-woodbury": _fives(peer("before", "NLMS") - peer("before", "exact")),
        "echo.comparable-tracking": _fives(peer("later", "NLMS") - peer("later", "exact")),
    }
    found: dict[str, list[Any]] = {name: list(values.reshape(-1, 5)) for name, values in given.items()}
    for name, labels in LABELS.items():  # one run of a rival stands for each label
        found[name] = [dict.fromkeys(labels, run) for run in found[name]]
    return found | _spoken_runs(rows)


def _spoken_runs(rows: Rows) -> dict[str, list[Any]]:
    """Return the rivals on speech, one conversation a run."""

    def of(what: str, name: str, **where: Any) -> Real:
        return np.array(column(rows, name, what=f"speech, {what}", **where))

    far = {(n, alpha): of("far room", "before", alpha=alpha, reuse=n) for n, alpha in SPOKEN}
    gaps = {n: far[n, 0.0] - far[n, 0.4] for n in (1, 3, 5)}
    four, twelve = (of("moves", "t15", updates=n) for n in (4, 12))
    back = np.isfinite(four)  # within the 12 s after the change
    return {
        "echo.speech-tracking-with-nit": [
            dict.fromkeys(speech_times(), ratio) for ratio in twelve[back] / four[back]
        ],
        "echo.speech-predistortion-gap": [
            {f"{n}{whose}": gap[i] for n, gap in gaps.items() for whose in ("", ", recorded voices")}
            for i in range(gaps[1].size)
        ],
    }


def first_column_only(x: Complex, length: int, forgetting: float) -> Complex:
    """Update R by step 2 of Tables I and II with the printed column alone, the rest moved by one place."""
    R = np.zeros((2 * length, 2 * length), complex)
    window = np.zeros(2 * length, complex)
    for x_n in x:
        window = reference.shifted(window, x_n)
        R = paper_tables.one_column(R, window, forgetting)
    return R


def first_column_mirrored(x: Complex, length: int, forgetting: float) -> Complex:
    """Update R by the printed column and the shift of the input by a sample, which brings two entries of the window.

    The second new column is the first one's conjugate, interchanged in pairs.
    """
    R = np.zeros((2 * length, 2 * length), complex)
    window = np.zeros(2 * length, complex)
    pairs = np.arange(2 * length) ^ 1
    for x_n in x:
        window = reference.shifted(window, x_n)
        moved, R = R, np.empty_like(R)
        R[2:, 2:] = moved[:-2, :-2]
        R[:, 0] = forgetting * moved[:, 0] + np.conj(window[0]) * window
        R[:, 1] = R[pairs, 0].conj()
        R[:2] = R[:, :2].conj().T
    return R


RECORDINGS: dict[str, Callable[[], Rows]] = {
    "epsilon": under_epsilon,
    "epsilon-speech": speech_under_epsilon,
    "first": first,
    "rivals": rivals,
    "peers": peers,
}
