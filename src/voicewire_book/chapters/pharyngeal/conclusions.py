"""What abstract, hypothesis and conclusion say beyond the tables' cells, and what would have failed the tests of them.

A rival is a mechanism without the effect, put through the same statistic; `data/pharyngeal/claims.yml` names each one.
Explained in notebook ``04_reproduction``.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from statistics import fmean
from typing import Any, Final

import numpy as np
from scipy.stats import rankdata

from voicewire.pharyngeal import paper
from voicewire.pharyngeal.paper import cell, tokens
from voicewire.pharyngeal.statistics import correlation
from voicewire_book.chapters.pharyngeal.articulatory_measurements import (
    IN_FRONT,
    LARYNX_OF_TT,
    Derived,
    distances,
    rise,
)
from voicewire_book.chapters.pharyngeal.recomputed_numbers import (
    BASELINES,
    context_means,
    printed_percent,
    raised,
    shifts,
)

__all__ = ["conclusions", "rivals"]

_RISES: Final = {"larynx ayn": "ayn", "hyoid ayn": "ayn", "larynx tt": "tt-ayntah", "hyoid tt": "tt-ayntah"}


def _alone(quantity: str, reading: str) -> dict[str, float]:
    """Return the rises of either consonant without the other, cm."""
    tt = LARYNX_OF_TT[reading]() if quantity == "larynx" else rise("tt-mean", quantity)
    return {"ayn": float(paper.AYN_EARLIER[f"{quantity}_rise"]), "tt": tt}


def _in_both(reading: str) -> dict[str, tuple[float, dict[str, float], str]]:
    """Return for each organ and consonant its rise in /ʕtˁah/, the rises alone, and which consonant it is."""
    found = {}
    for label, row in _RISES.items():
        quantity, consonant = label.split()
        found[label] = (rise(row, quantity), _alone(quantity, reading), consonant)
    return found


def _hyoid_of_three() -> dict[str, float]:
    """Divide the hyoid bone's rises in /ʕtˁah/ by the sum of both alone, that of /tˁ/ as the mean of all its tokens."""
    tt = float(cell(1, "rest", "hyoid")) - fmean(tokens(1, "hyoid", "tt").values())
    total = float(paper.AYN_EARLIER["hyoid_rise"]) + tt
    return {label.split()[1]: rise(row, "hyoid") / total for label, row in _RISES.items() if label.startswith("hyoid")}


def _superimposed() -> tuple[dict[str, dict[str, float]], str]:
    """Divide each rise in /ʕtˁah/ by the sum of both alone, under each reading."""
    three = _hyoid_of_three()
    return {
        name: {label: both / sum(alone.values()) for label, (both, alone, _) in _in_both(name).items()}
        for name in LARYNX_OF_TT
    }, (
        "By the plain contexts the larynx rises by a little more than the sum, by all three tokens by a little less; "
        "the hyoid bone by less in either. Its 0.87 cm, as printed, are of two tokens; with three it would give "
        f"{three['ayn']:.2f} and {three['tt']:.2f}. The hyoid bone of /tˁ/ is nearer to the larger alone."
    )


def _percents(context: str, formant: str) -> dict[str, float]:
    """Return the change of a formant in percent by either baseline."""
    return {name: 100 * shifts(context, name)[formant] / plain()[formant] for name, plain in BASELINES.items()}


def _ratios(order: Sequence[str], baseline: str) -> dict[str, float]:
    """Divide the shifts beside /ʕ/, taken in this order, by those beside /tˁ/."""
    ayn, tt = (shifts(context, baseline) for context in ("ayn", "tt"))
    return {f: ayn[g] / tt[f] for f, g in zip(paper.FORMANTS, order, strict=True)}


def _over_plain() -> dict[str, float]:
    """Return how much higher the larynx stands in each listed consonant than in the plain vowel on average, cm."""
    every = {"ayn": float(cell(1, "ayn", "larynx"))} | tokens(1, "larynx", "tt")
    return {name: float(cell(1, "plain-mean", "larynx")) - depth for name, depth in every.items()}


def _farthest(baseline: str) -> dict[str, float]:
    """Return the larger change of F3 and the smaller of F2 beside the two consonants, in percent."""
    sizes = {f: [abs(_percents(context, f)[baseline]) for context in ("tt", "ayn")] for f in ("F3", "F2")}
    return {"F3": max(sizes["F3"]), "F2": min(sizes["F2"])}


def _rows() -> list[tuple[str, str]]:
    """Return the rows of Table I with their contexts."""
    found = paper.table(1)[["row", "context"]].drop_duplicates()
    return list(found.itertuples(index=False, name=None))


def _steps_of_f1(baseline: str) -> dict[str, float]:
    """Return how much F1 rises from one consonant to both at most, and from none to one at least, Hz."""
    one = [shifts(context, baseline)["F1"] for context in ("tt", "ayn")]
    return {"both over one": shifts("ayntah", baseline)["F1"] - min(one), "one over plain": min(one)}


def _between_on_f2() -> float:
    """Return how far F2 beside the one consonant lies from that beside the other, Hz."""
    return abs(float(cell(2, "ayn-mean", "F2")) - float(cell(2, "tt-mean", "F2")))


def _if_added() -> str:
    """Say where F2 would lie beside both if the two shifts merely added up."""
    far = [[abs(shifts(other, name)["F2"]) for other in ("ayn", "tt")] for name in BASELINES]
    said = ", ".join(
        f"{tt:.0f} Hz from that beside /tˁ/ and {ayn:.0f} Hz from that beside /ʕ/ by the plain vowel of {name}"
        for (tt, ayn), name in zip(far, BASELINES, strict=True)
    )
    return f"If the two shifts merely added up, F2 would lie {said}."


def _larger_on_f1() -> tuple[str, str]:
    """Return which consonant raises F1 more, by the text's hertz and by the printed percentages."""
    hertz = {name: float(paper.TEXT_SHIFT[row]["F1"]) for name, row in (("/tˁ/", "tt"), ("/ʕ/", "ayn"))}
    percent = {name: printed_percent(row, "F1") for name, row in (("/tˁ/", "tt"), ("/ʕ/", "ayn"))}
    return max(hertz, key=hertz.__getitem__), max(percent, key=percent.__getitem__)


_IN_WORDS: Derived = {
    "conclusion.f4-two-words": (
        ("a moderate increase", "not influenced"),
        "It is 0.6 % by the text's plain vowel; the one place calls that moderate, the other nothing.",
    ),
    "method.one-constriction": (
        ("one point a frame", "two constrictions"),
        "The rule names one point a frame; the figures of the second constriction stand in rows of the vowel.",
    ),
}
"""What two places of the paper say in words, and what there is to say of it."""


def conclusions() -> Derived:
    """Compute what abstract, hypothesis and conclusion say: claim id -> (value, what there is to say)."""
    over = _over_plain()
    least = min(over, key=over.__getitem__)
    f2 = {row: float(cell(2, f"{row}-mean", "F2")) for row in ("tt", "ayn")}
    both = float(cell(2, "a-ayntah", "F2"))
    up = rise("plain-mean", "larynx")
    return {
        "abstract.similar-effects": (
            {name: _ratios(paper.FORMANTS, name) for name in BASELINES},
            "F1 rises alike, and F3 hardly moves; F2 falls beside the one and rises beside the other. The row of /ʕ/ "
            "is taken as mended.",
        ),
        "intro.larynx-raised": (
            {"above the plain vowel": over[least], "above rest": up + over[least]},
            f"The larynx stands above rest in every token, but so it does in the plain vowel; in {least} it is lower. "
            "Needed: the larynx in plain consonants. (Judged before above the plain vowel alone: not reproduced.)",
        ),
        "text.location-close": (distances(list(tokens(1, "location", "tt").values())), IN_FRONT),
        "text.f3-f4-moderate": (
            {name: {f: _percents("tt", f)[name] for f in ("F3", "F4")} for name in BASELINES},
            "From Table II's plain row both fall, as it prints.",
        ),
        "conclusion.f1-moderate": ({name: _steps_of_f1(name) for name in BASELINES}, ""),
        "table-1.title": (
            sum(row.startswith("ayn") for row, _ in _rows()),
            "It is that in /ʕtˁah/; what the text sets beside /tˁ/ are means of the earlier study.",
        ),
        "text.f2-considerable-drop": (_percents("tt", "F2"), ""),
        "text.f4-order": (
            {name: {c: abs(shifts(c, name)["F4"]) for c in ("tt", "ayn")} for name in BASELINES},
            "The 91.89 Hz beside /ʕ/ are as printed: Table II has lost that F4.",
        ),
        "conclusion.f3-less-influenced": (
            {name: _farthest(name) for name in BASELINES},
            "F1 changes more still. F4 is no measure here: by the same sentence /tˁ/ does not influence it.",
        ),
        **_IN_WORDS,
        "conclusion.tt-dominant": ({f"to {row}": abs(both - value) for row, value in f2.items()}, _if_added()),
        "conclusion.f2-effects-reduced": (
            {name: _reduced("ayntah", name) for name in BASELINES},
            "That of /tˁ/ is; that of /ʕ/, a rise, turns into a fall, nearly twice its size from the text's plain "
            "vowel and a quarter of it from Table II's. (Judged before by the former alone: partly.)",
        ),
        "conclusion.superimposed": _superimposed(),
        "conclusion.doubled": (
            {
                name: {label: both / alone[one] for label, (both, alone, one) in _in_both(name).items()}
                for name in LARYNX_OF_TT
            },
            "The larynx of /tˁ/ rises three times as much by Table I's mean, which gives 0.44 cm, not 0.8 cm. "
            "Its hyoid bone rises nearer to once than to twice, by either.",
        ),
        "table-2.f1-larger-effect": (
            _larger_on_f1(),
            "In hertz it is /tˁ/, in the printed percentages /ʕ/; 39.49 % follows from no two of the values.",
        ),
    }  # fmt: skip


def rivals() -> dict[str, list[Any]]:
    """Run the rivals of all claims that rest on the printed numbers: claim id -> what came out of each run."""
    openings = [*tokens(1, "opening", "tt").values(), *_vowel_openings()]
    splits = [set(chosen) for chosen in itertools.combinations(range(6), 3)]
    rises, f1 = context_means()
    tt = {name: shifts("tt", name)["F2"] for name in BASELINES}
    return {
        "text.constriction-order": [
            {
                "primary": [v for i, v in enumerate(openings) if i in chosen],
                "secondary": [v for i, v in enumerate(openings) if i not in chosen],
            }
            for chosen in splits
        ],
        "text.f3-shift-ayntah": [shifts("ayntah", "the text")[f] for f in ("F1", "F2", "F4")],
        "text.f3-f4-increase": [dict.fromkeys(("F3", "F4"), fall) for fall in tt.values()],
        "text.f1-similar": [_ratios(paper.FORMANTS, "the text")[f] for f in ("F2", "F4")],
        "text.f4-superposed": [_larger_of_f4() / shifts("ayntah", "the text")["F4"]],
        "text.f4-uninfluenced": [_percents("tt", f)[name] for f in ("F1", "F2") for name in BASELINES],
        "text.f3-f4-moderate": [
            {"F3": _percents("tt", "F1")[name], "F4": _percents("tt", "F2")[name]} for name in BASELINES
        ],
        "text.f3-variation": [
            max(abs(_percents(context, f)["Table II"]) for context in ("tt", "ayntah")) for f in ("F1", "F2")
        ],
        "table-2.order-f1": [raised("F3")],
        "larynx-f1-correlation": [
            correlation.permutation_test(rankdata(rises), rankdata(paired)).p_higher
            for paired in itertools.permutations(f1)
        ],
        "abstract.similar-effects": [
            _ratios(order, "the text") for order in itertools.permutations(paper.FORMANTS) if order != paper.FORMANTS
        ],
        "intro.larynx-raised": _plain_vowels(len(_over_plain())),
        "intro.f3-unchanged": [value for f in ("F1", "F2") for value in _percents("tt", f).values()],
        "intro.f1-rises-f2-falls": [
            {"rise of F1": shifts("ayn", name)["F1"], "fall of F2": -shifts("ayn", name)["F2"]} for name in BASELINES
        ],
        "text.f2-considerable-drop": [_percents("ayn", "F2")],
        "conclusion.f3-less-influenced": [
            _farthest(name) | {"F3": max(abs(_percents(c, "F1")[name]) for c in ("tt", "ayn"))} for name in BASELINES
        ],
        "conclusion.tt-dominant": [dict.fromkeys(("to tt", "to ayn"), _between_on_f2() / 2)],
        "conclusion.f1-moderate": [
            _steps_of_f1(name) | {"both over one": max(shifts(c, name)["F1"] for c in ("tt", "ayn"))}
            for name in BASELINES
        ],
        "conclusion.f2-effects-reduced": [_reduced("tt", name) for name in BASELINES],
        "conclusion.superimposed": [
            {label: max(alone.values()) / sum(alone.values()) for label, (_, alone, _) in _in_both(name).items()}
            for name in LARYNX_OF_TT
        ],
        "conclusion.doubled": [
            {label: alone[c] / alone[c] for label, (_, alone, c) in _in_both(name).items()} for name in LARYNX_OF_TT
        ],
    }  # fmt: skip


def _plain_vowels(number: int, runs: int = 200) -> list[float]:
    """Draw plain vowels by Table I's mean and deviation: how far the larynx of the lowest stands above rest, cm."""
    rng = np.random.default_rng(20)
    spread = float(cell(1, "plain-sd", "larynx"))
    drawn = rng.normal(rise("plain-mean", "larynx"), spread, (runs, number))
    return [float(least) for least in drawn.min(axis=1)]


def _reduced(together: str, baseline: str) -> dict[str, float]:
    """Divide the change of F2 in a context by those beside either consonant alone, without regard to sign."""
    both = shifts(together, baseline)["F2"]
    return {f"of {row}": abs(both / shifts(row, baseline)["F2"]) for row in ("tt", "ayn")}


def _larger_of_f4() -> float:
    """Return the larger of the shifts of F4 beside either consonant, Hz."""
    return max(shifts(context, "the text")["F4"] for context in ("ayn", "tt"))


def _vowel_openings() -> list[float]:
    """Return the openings of the three vowels whose figures the text gives to the second constriction, cm."""
    return [float(cell(1, row, "opening")) for row in ("a1-mattaruf", "a1-batta", "a3-batta")]
