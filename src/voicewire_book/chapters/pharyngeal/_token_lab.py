"""What the lab of *The reproduction* compares with: right, and usual mistakes as options."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from scipy import stats

from voicewire.pharyngeal import correlation, table_forensics
from voicewire.stats import t_interval

Rows = list[tuple[str, str, float]]
SMALL: Rows = [
    ("a", "plain", 500.0),
    ("b", "tt", 700.0),
    ("a", "tt", 650.0),
    ("a", "plain", 520.0),
    ("b", "plain", 560.0),
]


def fits(
    printed: str, value: float, *, rounds: bool = True, cuts: bool = True, either: bool = False, tenths: bool = False
) -> int:
    """Whether a value gives the print; `rounds`, `cuts`, `either` (a unit off), `tenths` are right or a mistake."""
    if tenths:
        return int(float(printed) - 0.05 <= value < float(printed) + 0.1)
    if either:
        return int(abs(value - float(printed)) < 10.0 ** -table_forensics.decimals(printed))
    how = table_forensics.agreement(printed, value)
    return int((rounds and how in ("both", "rounded")) or (cuts and how in ("both", "truncated")))


def subsets(
    printed: str, tokens: Sequence[float],
    *,
    least: int = 1, runs: bool = False, median: bool = False, once: bool = False,
) -> int:  # fmt: skip
    """How many subsets give the print; `least`, `runs` (neighbours only), `median`, `once` are right or a mistake."""
    tokens = sorted(set(tokens)) if once else tokens
    n, count = len(tokens), 0
    for size in range(least, n + 1):
        for chosen in itertools.combinations(range(n), size):
            if not runs or chosen[-1] - chosen[0] == size - 1:
                values = [tokens[i] for i in chosen]
                count += fits(printed, float(np.median(values) if median else np.mean(values)))
    return count


def searched(printed: str, tokens: Sequence[float]) -> int:
    named = {str(i): value for i, value in enumerate(tokens)}
    return len(table_forensics.mean_readings(printed, named).matches)


def pairings(
    x: Sequence[float], y: Sequence[float], *, strict: bool = False, sizes: bool = False, rounding: float = 1e-12
) -> float:
    """Share of pairings; `strict` (ties do not count), `sizes` (both signs) and no `rounding` are usual mistakes."""
    seen = correlation.pearson(x, y)
    all_of = np.array([correlation.pearson(x, one) for one in itertools.permutations(y)])
    if sizes:
        return float(np.mean(np.abs(all_of) >= abs(seen) - 1e-12))
    return float(np.mean(all_of > seen + 1e-12 if strict else all_of >= seen - rounding))


def shifts(table: Rows, *, sign: float = 1.0, pairs: bool = False, named: bool = True) -> list[float]:
    """A shift for each speaker; `sign`, `pairs` (first tokens only) and `named` (order) are right or a mistake."""
    found, speakers = [], dict.fromkeys(row[0] for row in table)
    for speaker in sorted(speakers) if named else speakers:
        own = {c: [hz for s, context, hz in table if (s, context) == (speaker, c)] for c in ("plain", "tt")}
        means = {c: values[0] if pairs else float(np.mean(values)) for c, values in own.items()}
        found.append(sign * (means["tt"] - means["plain"]))
    return found


def interval(
    samples: Sequence[float], t: float, *, ddof: int = 1, root: bool = True, known: bool = False
) -> list[float]:
    """Mean, low and high end; `ddof`, `root` and `known` (1.96 instead of t) are right or a usual mistake."""
    mean, n = float(np.mean(samples)), len(samples)
    half = (1.96 if known else t) * float(np.std(samples, ddof=ddof)) / (n**0.5 if root else 1.0)
    return [mean, mean - half, mean + half]


def student(samples: Sequence[float], t: float) -> list[float]:
    """As the package has it: `t` is Student's value for 95 % there."""
    found = t_interval(samples)
    return [found.estimate, found.low, found.high]


def verdict(
    low: float, high: float, printed: float, tolerance: float,
    *,
    touches: bool = False, sure: bool = False, ends: bool = False,
) -> int:  # fmt: skip
    """1, 0 or -1; `touches` (some of it inside is enough), `sure` and `ends` (both out refute) are mistakes."""
    least, most = printed - tolerance, printed + tolerance
    if low >= least and high <= most:
        return 1
    if high < least or low > most:
        return -1
    return 1 if touches else -1 if sure or (ends and low < least and high > most) else 0


def trial(
    table: Rows,
    printed: float,
    tolerance: float,
    t: float,
    *,
    touches: bool = False,
    sure: bool = False,
    pooled: bool = False,
    ends: bool = False,
    middle: bool = False,
) -> list[float]:
    """From tokens to a verdict; `touches`, `sure`, `pooled` (tokens), `ends` and `middle` (mean only) are mistakes."""
    moved = shifts(table)
    if pooled:
        plain = np.mean([hz for _, context, hz in table if context == "plain"])
        moved = [float(hz - plain) for _, context, hz in table if context == "tt"]
    mean, low, high = interval(moved, t)
    told = (mean, mean) if middle else (low, high)
    return [mean, low, high, verdict(*told, printed, tolerance, touches=touches, sure=sure, ends=ends)]


def tokens(seed: int, speakers: int = 5, shift: float = 140.0, scatter: float = 12.0) -> tuple[Rows, float]:
    """A table of tokens as a tracker might give it, rows mixed; and Student's value for so many speakers."""
    rng = np.random.default_rng([101, seed])
    rows: Rows = []
    for k in range(speakers):
        base, own = rng.normal(520, 40), rng.normal(shift, scatter)
        rows += [(f"s{k}", "plain", round(float(base + rng.normal(0, 8)), 1)) for _ in range(3)]
        rows += [(f"s{k}", "tt", round(float(base + own + rng.normal(0, 8)), 1)) for _ in range(2)]
    rng.shuffle(rows)
    return [(str(s), str(c), float(hz)) for s, c, hz in rows], float(stats.t.ppf(0.975, speakers - 1))
