"""What abstract, hypothesis and conclusion say beyond the tables' cells, and what would have failed the tests of them.

A rival is a mechanism without the effect, put through the same statistic; `data/pharyngeal/claims.yml` names each one.
Explained in notebook ``04_reproduction``.
"""

from __future__ import annotations

import itertools
from typing import Any, Final

import numpy as np

from voicewire.pharyngeal import correlation, paper
from voicewire.pharyngeal.articulated import Derived, rise
from voicewire.pharyngeal.derived import BASELINES, context_means, printed_percent, raised, shifts
from voicewire.pharyngeal.paper import cell, tokens

__all__ = ["conclusions", "rivals"]

_SHARED: Final = ("F1", "F2", "F4")  # formants for which the text has a shift beside either consonant
_RISES: Final = {"larynx ayn": "ayn", "hyoid ayn": "ayn", "larynx tt": "tt-ayntah", "hyoid tt": "tt-ayntah"}


def _alone(quantity: str) -> dict[str, float]:
    """Return the rises of either consonant without the other, cm."""
    return {"ayn": float(paper.AYN_EARLIER[f"{quantity}_rise"]), "tt": rise("tt-mean", quantity)}


def _in_both() -> dict[str, tuple[float, dict[str, float], str]]:
    """Return for each organ and consonant its rise in /ʕtˁah/, the rises alone, and which consonant it is."""
    found = {}
    for label, row in _RISES.items():
        quantity, consonant = label.split()
        found[label] = (rise(row, quantity), _alone(quantity), consonant)
    return found


def _percents(context: str, formant: str) -> dict[str, float]:
    """Return the change of a formant in percent by either baseline."""
    return {name: 100 * shifts(context, name)[formant] / plain()[formant] for name, plain in BASELINES.items()}


def _ratios(order: tuple[str, ...]) -> dict[str, float]:
    """Divide the shifts beside /ʕ/, taken in this order, by those beside /tˁ/."""
    text = paper.TEXT_SHIFT
    return {f: float(text["ayn"][g]) / float(text["tt"][f]) for f, g in zip(_SHARED, order, strict=True)}


def _over_plain() -> dict[str, float]:
    """Return how much higher the larynx stands in each listed consonant than in the plain vowel on average, cm."""
    every = {"ayn": float(cell(1, "ayn", "larynx"))} | tokens(1, "larynx", "tt")
    return {name: float(cell(1, "plain-mean", "larynx")) - depth for name, depth in every.items()}


def conclusions() -> Derived:
    """Compute what abstract, hypothesis and conclusion say: claim id -> (value, what there is to say).

    Returns
    -------
    dict of str to (value, str)
        Claim to what was computed and the likely reason.

    Notes
    -----
    Chapter ``notebooks/pharyngeal/04_reproduction``.

    Examples
    --------
    >>> round(conclusions()["intro.larynx-raised"][0], 2)
    -0.12
    """
    over = _over_plain()
    least = min(over, key=over.__getitem__)
    f2 = {row: float(cell(2, f"{row}-mean", "F2")) for row in ("tt", "ayn")}
    both = float(cell(2, "a-ayntah", "F2"))
    more = {
        "hertz": float(paper.TEXT_SHIFT["tt"]["F1"]) > float(paper.TEXT_SHIFT["ayn"]["F1"]),
        "percent": printed_percent("tt", "F1") > printed_percent("ayn", "F1"),
    }
    sizes = {
        name: {f: float(np.mean([abs(_percents(c, f)[name]) for c in ("tt", "ayn", "ayntah")])) for f in ("F3", "F2")}
        for name in BASELINES
    }
    return {
        "abstract.similar-effects": (
            _ratios(_SHARED),
            "F1 rises alike; F2 falls beside the one and rises beside the other.",
        ),
        "intro.larynx-raised": (
            over[least],
            f"It stands above rest in every token, but so it does in the plain vowel; in {least} it stands lower.",
        ),
        "text.f2-considerable-drop": (_percents("tt", "F2"), ""),
        "text.f4-order": (
            {name: {c: abs(shifts(c, name)["F4"]) for c in ("tt", "ayn")} for name in BASELINES},
            "By Table II's plain row F4 falls beside both, and more beside /tˁ/.",
        ),
        "conclusion.f3-less-influenced": (sizes, ""),
        "conclusion.tt-dominant": ({f"to {row}": abs(both - value) for row, value in f2.items()}, ""),
        "conclusion.superimposed": (
            {label: up / sum(alone.values()) for label, (up, alone, _) in _in_both().items()},
            "The larynx rises by a little more than the sum, the hyoid bone by less.",
        ),
        "conclusion.doubled": (
            {label: up / alone[consonant] for label, (up, alone, consonant) in _in_both().items()},
            "The larynx of /tˁ/ rises three times as much by Table I's mean, which gives 0.44 cm, not 0.8 cm.",
        ),
        "table-2.f1-larger-effect": (
            (more["hertz"], more["percent"]),
            "In hertz it is /tˁ/, in the printed percentages /ʕ/; 39.49 % follows from no two of the values.",
        ),
    }  # fmt: skip


def rivals() -> dict[str, list[Any]]:
    """Run the rivals of all claims that rest on the printed numbers: claim id -> what came out of each run.

    Returns
    -------
    dict of str to list
        Each run of the form of the claim's value.

    Notes
    -----
    Chapter ``notebooks/pharyngeal/04_reproduction``.

    Examples
    --------
    >>> len(rivals()["text.constriction-order"])
    20
    """
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
        "text.f3-shift-ayntah": [shifts("ayntah", "the text")[f] for f in _SHARED],
        "text.f3-f4-increase": [dict.fromkeys(("F3", "F4"), fall) for fall in tt.values()],
        "text.f1-similar": [_ratios(_SHARED)[f] for f in ("F2", "F4")],
        "text.f3-variation": [
            max(abs(_percents(context, f)["Table II"]) for context in ("tt", "ayntah")) for f in ("F1", "F2")
        ],
        "table-2.order-f1": [raised("F3")],
        "larynx-f1-correlation": [
            correlation.permutation_test(rises, list(paired)).p for paired in itertools.permutations(f1)
        ],
        "abstract.similar-effects": [_ratios(order) for order in itertools.permutations(_SHARED) if order != _SHARED],
        "intro.larynx-raised": [rise("plain-mean", "larynx") - rise("plain-mean", "larynx")],
        "text.f2-considerable-drop": [_percents("ayn", "F2")],
        "conclusion.superimposed": [
            {label: max(alone.values()) / sum(alone.values()) for label, (_, alone, _) in _in_both().items()}
        ],
        "conclusion.doubled": [{label: alone[c] / alone[c] for label, (_, alone, c) in _in_both().items()}],
    }  # fmt: skip


def _vowel_openings() -> list[float]:
    """Return the openings of the three vowels whose figures the text gives to the second constriction, cm."""
    return [float(cell(1, row, "opening")) for row in ("a1-mattaruf", "a1-batta", "a3-batta")]
