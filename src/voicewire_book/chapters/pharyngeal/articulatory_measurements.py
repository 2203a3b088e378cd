"""What the text derives from Table I, recomputed: rises of larynx and hyoid bone, and the two constrictions.

Explained in notebook ``04_reproduction``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from voicewire.pharyngeal import paper
from voicewire.pharyngeal.paper import cell, tokens
from voicewire.pharyngeal.statistics import table_forensics

__all__ = ["IN_FRONT", "LARYNX_OF_TT", "Derived", "distances", "mended", "rise", "text_articulation"]

IN_FRONT: Final = "What Table I lists for /tˁ/ is its constriction in front."
Derived = dict[str, tuple[Any, str]]
"""Claim to what was computed and what the forensics say."""
_BEFORE_TT: Final = ("a1-mattaruf", "a1-batta")  # those of them that stand before /tˁ/
_SECONDARY: Final = ("a1-mattaruf", "a1-batta", "a3-batta")  # the vowels with a second constriction, in Table I


def _t1(row: str, quantity: str) -> float:
    return float(cell(1, row, quantity))


def rise(row: str, quantity: str) -> float:
    """Return how far larynx or hyoid bone stand above rest in a row of Table I."""
    return _t1("rest", quantity) - _t1(row, quantity)


LARYNX_OF_TT: Final = {
    "the plain contexts": lambda: rise("tt-mean", "larynx"),
    "all three tokens": lambda: _t1("rest", "larynx") - float(np.mean(list(tokens(1, "larynx", "tt").values()))),
}
"""How far /tˁ/ raises the larynx, cm: by Table I's mean, and as the text has it, which prints 0.8."""


def _rises_of_tt() -> Derived:
    """Recompute what is said of /tˁ/ alone and beside /ʕ/."""
    three = table_forensics.difference_readings(
        "0.8",
        {
            "larynx at rest": _t1("rest", "larynx"),
            "its mean of two tokens": _t1("tt-mean", "larynx"),
            "its mean of all three tokens": float(np.mean(list(tokens(1, "larynx", "tt").values()))),
        },
    )
    return {
        "text.larynx-rise-tt": (rise("tt-mean", "larynx"), three.describe()),
        "text.hyoid-rise-tt": (rise("tt-mean", "hyoid"), ""),
        "text.larynx-rise-tt-ayntah": (rise("tt-ayntah", "larynx"), ""),
        "text.hyoid-rise-tt-ayntah": (rise("tt-ayntah", "hyoid"), ""),
        "text.constriction-tt": (
            {"location": _t1("tt-mean", "location"), "opening": _t1("tt-mean", "opening")}, "",
        ),
        "text.constriction-tt-ayntah": (
            {"location": _t1("tt-ayntah", "location"), "opening": _t1("tt-ayntah", "opening")}, "",
        ),
    }  # fmt: skip


def _rises_of_ayn() -> Derived:
    """Recompute what is said of /ʕ/ beside /tˁ/, against its mean in the earlier study."""
    ayn = paper.AYN_EARLIER
    return {
        "text.larynx-rise-ayn": (rise("ayn", "larynx"), ""),
        "text.hyoid-rise-ayn": (rise("ayn", "hyoid"), ""),
        "text.larynx-ayn-more-mean": (rise("ayn", "larynx") - float(ayn["larynx_rise"]), ""),
        "text.larynx-tt-mutual": (
            {name: rise("tt-ayntah", "larynx") - up() for name, up in LARYNX_OF_TT.items()},
            "The text's own two rises, 1.52 and 0.8 cm, give 0.72 cm: the means are over two and three tokens. (The "
            "readings were added after the result, as the conclusion's 0.8 cm has them.)",
        ),
    }


def _ends(least: Sequence[float], most: Sequence[float]) -> dict[str, float]:
    """Name the ends of the ranges of the primary constriction's location and opening (cm)."""
    return {
        "location from": least[0], "location to": most[0], "opening from": least[1], "opening to": most[1],
    }  # fmt: skip


def distances(second: Sequence[float]) -> dict[str, float]:
    """Return how far the second constriction lies from the two others: at most from the one, at least from the other.
    """
    second = sorted(second)
    pharyngeals = [float(paper.AYN_EARLIER["location"]), float(cell(1, "ayn", "location"))]
    return {
        "to the pharyngeals": max(abs(a - b) for a in second for b in pharyngeals),
        "to the primary": second[0] - max(tokens(1, "location", "tt").values()),
    }


def mended() -> dict[str, Any]:
    """Recompute what is said of the second constriction from two vowels before /tˁ/, and the rise of the lost token."""
    found: dict[str, Any] = {}
    for quantity in ("location", "opening"):
        vowels = [_t1(row, quantity) for row in _BEFORE_TT]
        found[f"text.secondary-{quantity}"] = {"from": min(vowels), "to": max(vowels)}
    found["text.constriction-order"] = {
        "primary": list(tokens(1, "opening", "tt").values()), "secondary": [_t1(row, "opening") for row in _SECONDARY]
    }  # fmt: skip
    found["text.location-close"] = distances(list(found["text.secondary-location"].values()))
    lost = _lost_larynx()
    found["text.larynx-rise-a-tt"] = _t1("rest", "larynx") - (lost.low + lost.high) / 2
    return found


def _lost_larynx() -> table_forensics.MissingToken:
    """Solve for the larynx of the token of /a/ that Table I lacks, by its printed mean."""
    return table_forensics.missing_token(cell(1, "a-mean", "larynx"), list(tokens(1, "larynx", "a").values()))


def _constrictions() -> Derived:
    """Recompute where the two constrictions lie and how wide they are (cm)."""
    far = [_t1(row, "location") for row in _SECONDARY]
    both = ("location", "opening")
    listed = [list(tokens(1, quantity, "tt").values()) for quantity in both]
    places = {"13.76": 13.76, "14.63": _t1("ayn", "location"), "12.96": min(far), "13.3": max(far), "13.13": far[2]}
    return {
        "text.primary-constriction": (
            {
                "the two contexts": _ends([_t1("tt-ayntah", q) for q in both], [_t1("tt-mean", q) for q in both]),
                "all tokens": _ends(*zip(*((min(row), max(row)) for row in listed), strict=True)),
            },
            "The upper end is a mean; the single tokens reach 1.95 cm.",
        ),
        "text.secondary-location": (
            {"from": min(listed[0]), "to": max(listed[0])}, IN_FRONT,
        ),
        "text.secondary-opening": (
            {"from": min(listed[1]), "to": max(listed[1])},
            "They are those of the two vowels before /tˁ/; the third with a place so far back, after it, has "
            "0.9559 cm.",
        ),
        "text.location-ayn": (_t1("ayn", "location"), ""),
        "text.location-difference": (
            {"from": 13.76 - max(far), "to": _t1("ayn", "location") - min(far)},
            "0.8 is 13.76 - 12.96, the difference of the lower ends. For 2.16: "
            + table_forensics.difference_readings("2.16", places).describe(),
        ),
        "text.constriction-order": (
            {"primary": listed[1], "secondary": listed[1]},
            "What Table I lists for /tˁ/ is its constriction in front; the other is eleven times as wide.",
        ),
    }  # fmt: skip


def _rises_beside_tt(quantity: str) -> dict[str, float]:
    """Return the mean rise of /a/ beside /tˁ/ (cm), as printed and over the tokens that Table II averages."""
    depths = [depth for name, depth in tokens(1, quantity, "a").items() if name != "a-ayntah"]
    return {
        "Table I's average": rise("a-mean", quantity),
        "without /ʕtˁah/": _t1("rest", quantity) - float(np.mean(depths)),
    }


def _said_beside_tt() -> float:
    """Return the rise beside /tˁ/ that the text sets against that in /ʕtˁah/ (cm)."""
    return float(paper.LARYNX_RISE["tt"])


def _rises_of_vowels() -> Derived:
    """Recompute the rises during the vowels (cm)."""
    lost, rest = _lost_larynx(), _t1("rest", "larynx")
    return {
        "text.larynx-rise-plain": (rise("plain-mean", "larynx"), ""),
        "text.hyoid-rise-plain": (rise("plain-mean", "hyoid"), ""),
        "text.larynx-rise-a": (rise("a-mean", "larynx"), ""),
        "text.hyoid-rise-a": (rise("a-mean", "hyoid"), ""),
        **{
            f"text.{quantity}-rise-a-more": (
                {name: up - rise("plain-mean", quantity) for name, up in _rises_beside_tt(quantity).items()},
                "Over the five tokens that Table II averages it would be much less, but their rise is not the one that "
                "the sentence gives.",
            )
            for quantity in ("larynx", "hyoid")
        },
        "text.larynx-rise-a-ayntah": (rise("a-ayntah", "larynx"), ""),
        "text.larynx-rise-a-tt": (
            rise("a-mean", "larynx"),
            f"Table I's mean gives {rise('a-mean', 'larynx'):.4f} cm, as the text says elsewhere; 0.587 is the rise of "
            "the unlisted token "
            f"({rest - lost.high:.4f} to {rest - lost.low:.4f} cm) that its mean and SD need.",
        ),
        "text.order-larynx": (
            {
                name: {"plain": rise("plain-mean", "larynx"), "tt": up, "ayntah": rise("a-ayntah", "larynx")}
                for name, up in (_rises_beside_tt("larynx") | {"the text's 0.587 cm": _said_beside_tt()}).items()
            },
            "On the five tokens that Table II averages the larynx stands 0.03 cm higher beside /tˁ/, less than tracing "
            "can tell.",
        ),
    }  # fmt: skip


def _concluded_rises() -> Derived:
    """Recompute the two rises that the conclusion names, 0.8 and 1.5 cm."""
    ayn = paper.AYN_EARLIER
    return {
        "conclusion.rise-08": (
            {
                name: {
                    "larynx ayn": float(ayn["larynx_rise"]), "hyoid ayn": float(ayn["hyoid_rise"]),
                    "larynx tt": up(), "hyoid tt": rise("tt-mean", "hyoid"),
                }
                for name, up in LARYNX_OF_TT.items()
            },
            "Table I's mean position of the larynx for /tˁ/ gives a rise of 0.44 cm; 0.8 is the mean of three tokens.",
        ),
        "conclusion.rise-15": (
            {
                "larynx ayn": rise("ayn", "larynx"), "hyoid ayn": rise("ayn", "hyoid"),
                "larynx tt": rise("tt-ayntah", "larynx"), "hyoid tt": rise("tt-ayntah", "hyoid"),
            },
            "During /tˁ/ the hyoid bone rises by no more than 1.17 cm.",
        ),
    }  # fmt: skip


def _larynx_percents() -> Derived:
    """Recompute by how many percent the larynx rises more during /ʕtˁ/."""
    out: Derived = {}
    high, low_ayn, low_tt = (float(paper.LARYNX_RISE[name]) for name in ("ayntah", "ayn", "tt"))
    for name, other, number in (("ayn", low_ayn, "45"), ("tt", low_tt, "40")):
        named = {"0.987": high, paper.LARYNX_RISE[name]: other}
        out[f"text.larynx-percent-{number}"] = (
            100 * (high - other) / other,
            table_forensics.percent_readings(paper.LARYNX_PERCENT[name], named).describe()
            + " The divisor is the wrong value.",
        )
    return out


def text_articulation() -> Derived:
    """Recompute what the text derives from Table I."""
    pieces = (_rises_of_tt, _rises_of_ayn, _constrictions, _rises_of_vowels, _concluded_rises, _larynx_percents)
    return {claim: found for piece in pieces for claim, found in piece().items()}
