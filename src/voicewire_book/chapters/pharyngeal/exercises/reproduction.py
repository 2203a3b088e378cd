"""The exercises and the lab of chapter 4, *The reproduction: forensics of two tables, and what a tract can explain*."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from scipy import stats

from voicewire.pharyngeal.statistics import correlation
from voicewire.pharyngeal.statistics.table_forensics import agreement, decimals, mean_readings
from voicewire.stats import t_interval
from voicewire_book.chapters.pharyngeal import tracker_validation
from voicewire_book.kit._student_functions import Case
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import UNANSWERED, Feedback, function, unanswered
from voicewire_book.kit.records import Choice, Formula, Number, Stage
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given", "tracked"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

Rows = list[tuple[str, str, float]]


def _rise(first: float, up: float, second: float) -> Drawn:
    share = up / first
    rise = second * share
    return Drawn(
        f"F1 = {first:g} Hz, up by {up:g} Hz; F2 = {second:g} Hz",
        rise,
        (
            (float(up), "every formant rises by the same share, not by as many hertz."),
            (-314.15, "this is what the paper finds; what would a shorter tube do?"),
            (-rise, "a shorter tube raises every formant."),
            (second + rise, "this is where F2 would be; by how much has it moved?"),
        ),
        f"F1 moves by the share {up:g} / {first:g} = {share:.3g}.\n"
        f"All formants are divided by one number, so F2 rises by {share:.3g} · {second:g} = {rise:.0f} Hz.",
        unit="Hz",
        right=f"{100 * share:.0f} % of F2, upwards; the paper has it fall by 314 Hz.",
        tolerance=0.015,
    )


def _drawn_rise(rng: np.random.Generator) -> tuple[float, ...]:
    first, share = 20 * int(rng.integers(20, 31)), int(rng.choice([5, 10, 15, 20, 25]))
    return first, first * share / 100, 100 * int(rng.integers(11, 19))


EXERCISES["pharyngeal-ex-sign"] = Exercise("rise", (519.60, 138.52, 1573.44), _drawn_rise, _rise)
# Which tokens and which cut make 0.84 of 2.0, 2.6 and 3.2 cm.
EXERCISES["pharyngeal-ex-sd"] = Choice(
    "c",
    ["a", "b", "c", "d"],
    hints={
        "a": "the three lie 0.6, 0 and 0.6 cm from their mean: √(0.72 / 2) = 0.60.",
        "b": "of two tokens the population SD is half their distance: 0.60.",
        "d": "0.8485 rounds to 0.85.",
    },
    right="√(0.72 / 1) = 0.8485; and the mean can't tell, it is 2.6 for both choices.",
)  # fmt: skip

# Fewest tokens with which a test over all pairings can give a p below 0.01.
EXERCISES["pharyngeal-ex-pairings"] = Number(
    5,
    1e-3,
    hints={
        4.0: "of 24 pairings one is 4 %.",
        6.0: "six do, but fewer are enough.",
        100.0: "a hundred pairings, not a hundred tokens: n tokens can be paired in n! ways.",
        101.0: "a hundred pairings, not a hundred tokens: n tokens can be paired in n! ways.",
        7.0: "count pairings, n!, not subsets.",
        120.0: "this is the number of pairings; of how many tokens?",
    },
    right="5! = 120, and 1/120 = 0.0083; with four, 1/24 = 0.042.",
)  # fmt: skip

# A function x -> percentage of the smaller value, of a difference that is x % of the larger one.
EXERCISES["pharyngeal-ex-percent"] = Formula(
    lambda x: 100 * x / (100 - x),
    [(50.0,), (20.0,), (45.08,), (4.0,)],
    [
        (lambda x: x, "the divisor is smaller, so the percentage is larger."),
        (lambda x: 100 * x / (100 + x), "the other way round: from the smaller value's to the larger one's."),
        (lambda x: x / (100 - x), "this is the fraction; in percent a hundred times as much."),
        (lambda x: 100 - x, "this much of the larger value is left; give the difference over it."),
        (lambda x: 100 * 100 / (100 - x), "the larger value in percent of the smaller; how much more is it?"),
    ],
    right="100 x / (100 - x): what is left of the larger value is the smaller one.",
)  # fmt: skip

# A function n, decimals -> width (cm) of the range of one unlisted token, by a truncated mean over n + 1.
EXERCISES["pharyngeal-ex-missing"] = Formula(
    lambda n, decimals: (n + 1) * 10.0**-decimals,
    [(6, 4), (2, 4), (6, 2), (9, 3)],
    [
        (lambda n, d: 10.0**-d, "this is the mean's range; the token has to move the mean alone."),
        (lambda n, d: n * 10.0**-d, "the mean is over n + 1 tokens."),
        (lambda n, d: 10.0**-d / (n + 1), "the token moves by more than its mean, not by less."),
        (lambda n, d: (n + 1) / 2 * 10.0**-d,
         "this holds for one side of a rounded mean; a truncated one may lie a unit above."),
    ],
    right="(n + 1) units of the last decimal: 0.0007 cm for six tokens and four decimals.",
)  # fmt: skip

# What follows from a larynx that raises F2 in all 13 shapes.
EXERCISES["pharyngeal-ex-family"] = Choice(
    "b",
    ["a", "b", "c", "d"],
    hints={
        "a": "are thirteen shapes of a model all speakers, and does nothing else move in a speaker?",
        "c": "they come from many starts, and all have one sign: it does say something of the model.",
        "d": "the recordings aren't ours to judge, and the tongue explains the fall.",
    },
    right="the cause that the paper names doesn't do it alone; what moves with a larynx is another question.",
)  # fmt: skip


def without(x: Sequence[float], y: Sequence[float], far: Sequence[float] | np.ndarray) -> float:
    """Correlation without the point that is farthest."""
    which = int(np.argmax(far))
    return correlation.pearson(np.delete(x, which), np.delete(y, which))


# A function x, y -> correlation without the point of highest leverage.
EXERCISES["pharyngeal-ex-leverage"] = Formula(
    lambda x, y: without(x, y, correlation.leverage(x)),
    [
        ([1.0, 2.0, 3.0, 4.0, -5.0], [2.0, 1.0, 9.0, 3.0, -4.0]),
        ([0.2, 0.3, 0.35, 0.5, 0.6, 1.1], [640.0, 700.0, 600.0, 690.0, 610.0, 720.0]),
        ([5.0, 5.5, 6.0, 6.2, 1.0, 7.0], [3.0, 9.0, 2.0, 2.5, 3.5, 1.0]),
    ],
    [
        (correlation.pearson, "this is with all points; leave one out."),
        (lambda x, y: without(x, y, x), "leverage is high at either end, not at the largest x alone."),
        (lambda x, y: without(x, y, np.abs(y - np.polyval(np.polyfit(x, y, 1), x))),
         "this leaves out what is farthest off the line; leverage looks at x."),
        (lambda x, y: without(x, y, np.abs(y - np.mean(y))), "leverage looks at x, not at y."),
        (lambda x, y: abs(without(x, y, correlation.leverage(x))), "a correlation has a sign."),
    ],
    right="farthest from the mean of x, on either side.",
)  # fmt: skip

PRINTS = (
    (5.73215, "5.7321"), (5.73216, "5.7322"), (5.73211, "5.7321"), (5.7399, "5.7321"), (0.8048, "0.80"),
    (0.8448, "0.80"), (-11.2284, "-11.22"), (-1.1127, "-1.1"), (0.7 + 0.1, "0.8"),
)  # fmt: skip


@EXERCISES.judged("pharyngeal-ex-cut")
def _(answer: object) -> Feedback:
    """A function value, printed (text) -> "both", "rounded", "truncated" or "" for how the print was cut."""
    if unanswered(answer):
        return UNANSWERED
    if not callable(answer):
        return function(answer, [])
    for value, printed in PRINTS:
        wanted = agreement(printed, value)
        try:
            said = str(answer(value, printed))
        except Exception as error:  # whatever a student's code may raise
            return Feedback(False, f"your function, given {value!r} and {printed!r}, raises {type(error).__name__}.")
        if said == wanted:
            continue
        if value < 0 and said == agreement(printed, value - 10.0 ** -decimals(printed)):
            return Feedback(False, "truncated is towards zero; a floor goes down.")
        if printed.endswith("0"):
            return Feedback(False, f"{printed} has {decimals(printed)} decimals: the nought counts.")
        if abs(value - float(printed)) < 1e-6:
            return Feedback(False, f"{value!r} is {printed} but for binary dust: round to a dozen digits first.")
        return Feedback(False, f"of {value!r}, printed {printed}, it says {said[:20]!r}.")
    return Feedback(True, "both cuts, as many decimals as are printed.")


# The lab: from a table of tokens to a judged difference


def fits(
    printed: str, value: float, *, rounds: bool = True, cuts: bool = True, either: bool = False, tenths: bool = False
) -> int:
    """Whether a value gives the print; `rounds`, `cuts`, `either` (a unit off), `tenths` are right or a mistake."""
    if tenths:
        return int(float(printed) - 0.05 <= value < float(printed) + 0.1)
    if either:
        return int(abs(value - float(printed)) < 10.0 ** -decimals(printed))
    how = agreement(printed, value)
    return int((rounds and how in ("both", "rounded")) or (cuts and how in ("both", "truncated")))


# Stage 1: (printed, value) -> 1 if the value, rounded or truncated, gives the print.
EXERCISES["pharyngeal-token-lab-fits"] = Stage(
    [
        *(("1.5", value) for value in (1.58, 1.46, 1.61, 1.44, 1.52)), ("5.7321", 5.73215), ("5.7321", 5.73208),
        ("5.7321", 5.7322), ("0.654", 0.65483), ("3", 3.7), ("0.0877", 0.08775),
    ],
    fits,
    [
        (lambda *case: fits(*case, cuts=False),
         "a table may have been truncated: what follows the last decimal is dropped."),
        (lambda *case: fits(*case, rounds=False),
         "a table may have been rounded, too: the next lower number may be printed as this one."),
        (lambda *case: fits(*case, either=True),
         "below the print half a unit is the most; a whole unit is allowed above it only."),
        (lambda *case: fits(*case, tenths=True), "the unit is that of the last decimal that is printed."),
    ],
    "rounded or truncated, as the decimals tell.",
)  # fmt: skip


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


MEASURED = [4.6535, 5.5298, 5.9345, 5.1861, 5.9788, 5.7102]

# Stage 2: (printed, tokens) -> how many subsets have a mean that gives the print.
EXERCISES["pharyngeal-token-lab-subsets"] = Stage(
    [
        ("1.5", [1.0, 2.0, 3.0]), ("2", [2.0]), ("5.7321", MEASURED[:3]), ("5.7", MEASURED), ("5", MEASURED),
        ("4.6", MEASURED), ("1.5", [1.0, 2.0, 2.0]),
    ],
    lambda printed, tokens: len(mean_readings(printed, {str(i): t for i, t in enumerate(tokens)}).matches),
    [
        (lambda *case: subsets(*case, least=2), "one token alone is a subset, too."),
        (lambda *case: subsets(*case, runs=True), "any tokens may be left out, also from the middle."),
        (lambda *case: subsets(*case, median=True), "the mean is asked, not the median."),
        (lambda *case: subsets(*case, once=True), "two tokens of the same value are still two tokens."),
        (lambda printed, tokens: fits(printed, float(np.mean(tokens))), "try every subset, not all tokens only."),
    ],
    "as the package counts: each subset that is not empty.",
)  # fmt: skip

# Stage 3: (mean, listed) -> the token that is not listed.
EXERCISES["pharyngeal-token-lab-unlisted"] = Stage(
    [(4.0, [2.0, 3.0]), (1.5, [1.0]), (5.6, [5.2, 5.9, 5.98, 5.7, 5.65])],
    lambda mean, listed: (len(listed) + 1) * mean - sum(listed),
    [
        (lambda mean, listed: len(listed) * mean - sum(listed), "the mean is over one token more than are listed."),
        (lambda mean, listed: sum(listed) - (len(listed) + 1) * mean,
         "take the sum of all together, less the sum of the listed."),
        (lambda mean, listed: 2 * mean - sum(listed) / len(listed), "the listed tokens count one by one, not as one."),
    ],
    "one equation, one unknown.",
)  # fmt: skip


def pairings(
    x: Sequence[float], y: Sequence[float], *, strict: bool = False, sizes: bool = False, rounding: float = 1e-12
) -> float:
    """Share of pairings; `strict` (ties do not count), `sizes` (both signs) and no `rounding` are usual mistakes."""
    seen = correlation.pearson(x, y)
    all_of = np.array([correlation.pearson(x, one) for one in itertools.permutations(y)])
    if sizes:
        return float(np.mean(np.abs(all_of) >= abs(seen) - 1e-12))
    return float(np.mean(all_of > seen + 1e-12 if strict else all_of >= seen - rounding))


@EXERCISES.made("pharyngeal-token-lab-pairings")
def _() -> Stage:
    """Stage 4: (x, y) -> the share of all pairings that are correlated as highly."""
    rng = np.random.default_rng(102)
    cases: list[Case] = [([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]), ([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 1.0, 3.0])]
    cases += [(rng.normal(size=5).tolist(), rng.normal(size=5).tolist()) for _ in range(3)]
    cases.append(([0.1, 0.2, 0.3, 0.4, 0.7], [0.3, 0.9, 1.2, 1.5, 0.6]))  # ties that rounding parts
    return Stage(
        cases,
        lambda x, y: correlation.permutation_test(x, y).p_higher,
        [
            (lambda *case: pairings(*case, strict=True),
             "a pairing that ties counts; the one that was seen does, too."),
            (lambda *case: pairings(*case, rounding=0.0),
             "two pairings that tie may differ in the last digit that is computed: let 1e-12 pass."),
            (lambda *case: pairings(*case, sizes=True), "as high is asked, not as large in either direction."),
            (lambda x, y: 1 - pairings(x, y), "this is the share of the others."),
            (lambda x, y: correlation.pearson(x, y), "this is the correlation itself; the share of pairings is asked."),
        ],
        "chance, counted out.",
    )  # fmt: skip


def shifts(table: Rows, *, sign: float = 1.0, pairs: bool = False, named: bool = True) -> list[float]:
    """A shift for each speaker; `sign`, `pairs` (first tokens only) and `named` (order) are right or a mistake."""
    found, speakers = [], dict.fromkeys(row[0] for row in table)
    for speaker in sorted(speakers) if named else speakers:
        own = {c: [hz for s, context, hz in table if (s, context) == (speaker, c)] for c in ("plain", "tt")}
        means = {c: values[0] if pairs else float(np.mean(values)) for c, values in own.items()}
        found.append(sign * (means["tt"] - means["plain"]))
    return found


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


@EXERCISES.made("pharyngeal-token-lab-shifts")
def _() -> Stage:
    """Stage 5: (table) -> each speaker's shift, in the order of their names."""
    small = [
        ("a", "plain", 500.0), ("b", "tt", 700.0), ("a", "tt", 650.0), ("a", "plain", 520.0), ("b", "plain", 560.0),
    ]  # fmt: skip
    return Stage(
        [(small,), (tokens(1)[0],), (tokens(2, 4)[0],)],
        shifts,
        [
            (lambda table: shifts(table, sign=-1.0), "next to the emphatic less plain: a rise is positive."),
            (lambda table: shifts(table, pairs=True),
             "all tokens of a speaker count: take their mean in each context."),
            (lambda table: shifts(table, named=False), "in the order of the names, not of the first tokens."),
            (lambda table: [float(np.mean(shifts(table)))], "one shift for each speaker, not one for all."),
        ],
        "a speaker is one sample.",
    )  # fmt: skip


def interval(
    samples: Sequence[float], t: float, *, ddof: int = 1, root: bool = True, known: bool = False
) -> list[float]:
    """Mean, low and high end; `ddof`, `root` and `known` (1.96 instead of t) are right or a usual mistake."""
    mean, n = float(np.mean(samples)), len(samples)
    half = (1.96 if known else t) * float(np.std(samples, ddof=ddof)) / (n**0.5 if root else 1.0)
    return [mean, mean - half, mean + half]


@EXERCISES.made("pharyngeal-token-lab-interval")
def _() -> Stage:
    """Stage 6: (samples, t) -> mean, low and high end of its interval."""
    drawn = ([1.0, 2.0, 3.0], [149.4, 133.7, 141.9, 135.4, 170.2], [-3.0, 5.0, 4.0, 1.0])
    return Stage(
        [(samples, float(stats.t.ppf(0.975, len(samples) - 1))) for samples in drawn],
        lambda samples, t: [(found := t_interval(samples)).estimate, found.low, found.high],
        [
            (lambda *case: interval(*case, ddof=0), "the sample SD: over n - 1."),
            (lambda *case: interval(*case, root=False), "the mean of n scatters by the SD over the root of n."),
            (lambda *case: interval(*case, known=True), "few samples: t, and not 1.96."),
            (lambda *case: interval(*case)[1:], "three numbers: mean, low end, high end."),
        ],
        "equal to the package's.",
        tolerance=1e-6,
    )  # fmt: skip


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
    table: Rows, printed: float, tolerance: float, t: float,
    *,
    touches: bool = False, sure: bool = False, pooled: bool = False, ends: bool = False, middle: bool = False,
) -> list[float]:  # fmt: skip
    """From tokens to a verdict; `touches`, `sure`, `pooled` (tokens), `ends` and `middle` (mean only) are mistakes."""
    moved = shifts(table)
    if pooled:
        plain = np.mean([hz for _, context, hz in table if context == "plain"])
        moved = [float(hz - plain) for _, context, hz in table if context == "tt"]
    mean, low, high = interval(moved, t)
    told = (mean, mean) if middle else (low, high)
    return [mean, low, high, verdict(*told, printed, tolerance, touches=touches, sure=sure, ends=ends)]


@EXERCISES.made("pharyngeal-token-lab-trial")
def _() -> Stage:
    """Stage 7: (table, printed, tolerance, t) -> mean, interval and verdict."""
    goals = ((11, 140.0, 40.0), (12, 140.0, 8.0), (13, 60.0, 20.0), (14, 155.0, 14.0), (15, 314.0, 60.0))
    return Stage(
        [(table, printed, tolerance, t) for seed, printed, tolerance in goals for table, t in [tokens(seed)]],
        trial,
        [
            (lambda *case: trial(*case, touches=True), "an interval astride an edge decides nothing: 0."),
            (lambda *case: trial(*case, sure=True),
             "only an interval that lies wholly outside refutes; astride an edge it is 0."),
            (lambda *case: trial(*case, ends=True),
             "both ends are outside, but on either side: an interval that holds the whole band decides nothing, 0."),
            (lambda *case: trial(*case, middle=True), "the whole interval is judged, not its mean."),
            (lambda *case: trial(*case, pooled=True), "tokens of one speaker are not independent: stage 5 first."),
        ],
        "judged on tokens that you had not seen.",
        tolerance=1e-6,
    )  # fmt: skip


def tracked(formant: int = 2) -> Rows:
    """Tokens of five made speakers, two a context, as Praat tracks them."""
    made = [
        one for one in tracker_validation.tokens(speakers=5, repetitions=2, snr=30.0) if one.context in ("plain", "tt")
    ]
    off = tracker_validation.errors(made, *tracker_validation.METHODS["Praat Burg, male settings"])[:, formant - 1]
    return [
        (one.speaker, one.context, float(one.at(0.09)[formant - 1] + error))
        for one, error in zip(made, off, strict=True)
    ]
