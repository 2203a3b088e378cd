"""The checks of the lab of *The reproduction*: from a table of tokens to a judged difference, in seven stages.

Printed numbers are texts, because their decimals tell how they were cut; a verdict is 1, 0 or -1.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from voicewire.pharyngeal import correlation
from voicewire_book.chapters.pharyngeal import tracker_validation
from voicewire_book.chapters.pharyngeal._token_lab import (
    fits,
    interval,
    pairings,
    searched,
    shifts,
    student,
    subsets,
    tokens,
    trial,
)
from voicewire_book.kit._student import Case, staged
from voicewire_book.kit.exercises import Feedback

__all__ = [
    "check_fits",
    "check_interval",
    "check_pairings",
    "check_shifts",
    "check_subsets",
    "check_trial",
    "check_unlisted",
    "tracked",
]

Rows = list[tuple[str, str, float]]
SMALL: Rows = [
    ("a", "plain", 500.0),
    ("b", "tt", 700.0),
    ("a", "tt", 650.0),
    ("a", "plain", 520.0),
    ("b", "plain", 560.0),
]


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


def check_fits(answer: object) -> Feedback:
    """Stage 1: (printed, value) -> 1 if the value, rounded or truncated, gives the print."""
    values = (1.58, 1.46, 1.61, 1.44, 1.52)
    cases: list[Case] = [("1.5", value) for value in values]
    cases += [
        ("5.7321", 5.73215),
        ("5.7321", 5.73208),
        ("5.7321", 5.7322),
        ("0.654", 0.65483),
        ("3", 3.7),
        ("0.0877", 0.08775),
    ]
    return staged(
        answer,
        cases,
        fits,
        [
            (
                lambda *case: fits(*case, cuts=False),
                "a table may have been truncated: what follows the last decimal is dropped.",
            ),
            (
                lambda *case: fits(*case, rounds=False),
                "a table may have been rounded, too: the next lower number may be printed as this one.",
            ),
            (
                lambda *case: fits(*case, either=True),
                "below the print half a unit is the most; a whole unit is allowed above it only.",
            ),
            (lambda *case: fits(*case, tenths=True), "the unit is that of the last decimal that is printed."),
        ],
        "rounded or truncated, as the decimals tell.",
    )


def check_subsets(answer: object) -> Feedback:
    """Stage 2: (printed, tokens) -> how many subsets have a mean that gives the print."""
    tokens = [4.6535, 5.5298, 5.9345, 5.1861, 5.9788, 5.7102]
    cases: list[Case] = [
        ("1.5", [1.0, 2.0, 3.0]),
        ("2", [2.0]),
        ("5.7321", tokens[:3]),
        ("5.7", tokens),
        ("5", tokens),
        ("4.6", tokens),
        ("1.5", [1.0, 2.0, 2.0]),
    ]
    return staged(
        answer,
        cases,
        searched,
        [
            (lambda *case: subsets(*case, least=2), "one token alone is a subset, too."),
            (lambda *case: subsets(*case, runs=True), "any tokens may be left out, also from the middle."),
            (lambda *case: subsets(*case, median=True), "the mean is asked, not the median."),
            (lambda *case: subsets(*case, once=True), "two tokens of the same value are still two tokens."),
            (lambda printed, tokens: fits(printed, float(np.mean(tokens))), "try every subset, not all tokens only."),
        ],
        "as the package counts: each subset that is not empty.",
    )


def check_unlisted(answer: object) -> Feedback:
    """Stage 3: (mean, listed) -> the token that is not listed."""
    cases: list[Case] = [(4.0, [2.0, 3.0]), (1.5, [1.0]), (5.6, [5.2, 5.9, 5.98, 5.7, 5.65])]
    return staged(
        answer,
        cases,
        lambda mean, listed: (len(listed) + 1) * mean - sum(listed),
        [
            (lambda mean, listed: len(listed) * mean - sum(listed), "the mean is over one token more than are listed."),
            (
                lambda mean, listed: sum(listed) - (len(listed) + 1) * mean,
                "what all together make, less what the listed ones make.",
            ),
            (
                lambda mean, listed: 2 * mean - sum(listed) / len(listed),
                "the listed tokens count one by one, not as one.",
            ),
        ],
        "one equation, one unknown.",
    )


def check_pairings(answer: object) -> Feedback:
    """Stage 4: (x, y) -> the share of all pairings that are correlated as highly."""
    rng = np.random.default_rng(102)
    cases: list[Case] = [([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]), ([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 1.0, 3.0])]
    cases += [(rng.normal(size=5).tolist(), rng.normal(size=5).tolist()) for _ in range(3)]
    cases.append(([0.1, 0.2, 0.3, 0.4, 0.7], [0.3, 0.9, 1.2, 1.5, 0.6]))  # ties that rounding parts
    return staged(
        answer,
        cases,
        lambda x, y: correlation.permutation_test(x, y).p_higher,
        [
            (
                lambda *case: pairings(*case, strict=True),
                "a pairing that ties counts; the one that was seen does, too.",
            ),
            (
                lambda *case: pairings(*case, rounding=0.0),
                "two pairings that tie may differ in the last digit that is computed: let 1e-12 pass.",
            ),
            (lambda *case: pairings(*case, sizes=True), "as high is asked, not as large in either direction."),
            (lambda x, y: 1 - pairings(x, y), "this is the share of the others."),
            (lambda x, y: correlation.pearson(x, y), "this is the correlation itself; the share of pairings is asked."),
        ],
        "chance, counted out.",
    )


def check_shifts(answer: object) -> Feedback:
    """Stage 5: (table) -> each speaker's shift, in the order of their names."""
    cases: list[Case] = [(SMALL,), (tokens(1)[0],), (tokens(2, 4)[0],)]
    return staged(
        answer,
        cases,
        shifts,
        [
            (lambda table: shifts(table, sign=-1.0), "beside the emphatic less plain: a rise is positive."),
            (
                lambda table: shifts(table, pairs=True),
                "all tokens of a speaker count: take their mean in each context.",
            ),
            (lambda table: shifts(table, named=False), "in the order of the names, not of the first tokens."),
            (lambda table: [float(np.mean(shifts(table)))], "one shift for each speaker, not one for all."),
        ],
        "a speaker is one sample.",
    )


def check_interval(answer: object) -> Feedback:
    """Stage 6: (samples, t) -> mean, low and high end of its interval."""
    drawn = ([1.0, 2.0, 3.0], [149.4, 133.7, 141.9, 135.4, 170.2], [-3.0, 5.0, 4.0, 1.0])
    cases: list[Case] = [(samples, float(stats.t.ppf(0.975, len(samples) - 1))) for samples in drawn]
    return staged(
        answer,
        cases,
        student,
        [
            (lambda *case: interval(*case, ddof=0), "the sample SD: over n - 1."),
            (lambda *case: interval(*case, root=False), "the mean of n scatters by the SD over the root of n."),
            (lambda *case: interval(*case, known=True), "few samples: t, and not 1.96."),
            (lambda *case: interval(*case)[1:], "three numbers: mean, low end, high end."),
        ],
        "equal to the package's.",
        tolerance=1e-6,
    )


def check_trial(answer: object) -> Feedback:
    """Stage 7: (table, printed, tolerance, t) -> mean, interval and verdict."""
    cases: list[Case] = []
    for seed, printed, tolerance in (
        (11, 140.0, 40.0),
        (12, 140.0, 8.0),
        (13, 60.0, 20.0),
        (14, 155.0, 14.0),
        (15, 314.0, 60.0),
    ):
        table, t = tokens(seed)
        cases.append((table, printed, tolerance, t))
    return staged(
        answer,
        cases,
        trial,
        [
            (lambda *case: trial(*case, touches=True), "an interval astride an edge decides nothing: 0."),
            (
                lambda *case: trial(*case, sure=True),
                "only an interval that lies wholly outside refutes; astride an edge it is 0.",
            ),
            (
                lambda *case: trial(*case, ends=True),
                "both ends are outside, but on either side: an interval that holds the whole band decides nothing, 0.",
            ),
            (lambda *case: trial(*case, middle=True), "the whole interval is judged, not its mean."),
            (lambda *case: trial(*case, pooled=True), "tokens of one speaker are not independent: stage 5 first."),
        ],
        "judged on tokens that you had not seen.",
        tolerance=1e-6,
    )
