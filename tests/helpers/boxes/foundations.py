"""The boxes of the foundations: what they are tried with, and what they have to leave."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxes import Case
from voicewire.netsim.reference.tcp_sender import Timeout, measure
from voicewire.pharyngeal.reference import levinson
from voicewire_book.chapters.foundations import filters, signals
from voicewire_book.chapters.foundations.judging import holm
from voicewire_book.chapters.foundations.mqtt import Rules, World, answered, received
from voicewire_book.chapters.foundations.tcp import expired

__all__ = ["CASES"]

KINDS = {"": 0, "PUBLISH": 3, "PUBREC": 5, "PUBREL": 6, "PUBCOMP": 7}
"""The packets' types, as the standard numbers them; 0 is no packet."""


def _ends_of_qos2(rng: np.random.Generator) -> dict[str, Any]:
    noted = rng.random(4) < 0.5
    repeats = rng.choice([KINDS["PUBLISH"], KINDS["PUBREL"]], size=4)
    names = {"NOTHING": 0, **{name: kind for name, kind in KINDS.items() if name}}
    packet = int(rng.choice([3, 5, 6, 7]))
    return names | {"packet": packet, "i": int(rng.integers(4)), "message": 42, "noted": noted, "repeats": repeats,
                    "passed": [7]}  # fmt: skip


def _as_the_world_has_it(names: dict[str, Any]) -> dict[str, Any]:
    """What `received` and `answered` make of one id, among others that stay as they are."""
    called = {kind: name for name, kind in KINDS.items()}
    i, packet = names["i"], called[names["packet"]]
    before = World(sends=called[int(names["repeats"][i])], knows=bool(names["noted"][i]))
    if packet in ("PUBLISH", "PUBREL"):
        after = received(before._replace(there=(packet,)), Rules(2))
        [answer] = after.back
    else:
        after = answered(before._replace(back=(packet,)))
        answer = after.there[0] if after.there else ""
    names["noted"][i], names["repeats"][i] = after.knows, KINDS[after.sends]
    passed = [*names["passed"], *[names["message"]] * after.passed]
    return {"noted": names["noted"], "repeats": names["repeats"], "passed": passed, "answer": KINDS[answer]}


def _tests(rng: np.random.Generator) -> dict[str, Any]:
    """Some small values, so that some tests stand and some don't."""
    return {"p": rng.random(6) ** 4}


def _heard(rng: np.random.Generator) -> dict[str, Any]:
    """Windows and what was heard up to the last, which the box is given; `mu`, `lam` and `eps` are the settings."""
    L, size = int(rng.integers(1, 6)), int(rng.integers(2, 30))
    X, past = rng.standard_normal((size, L)), rng.standard_normal(size)
    return {"X": X, "past": past, "x": X[-1], "d": past[-1], "mu": 0.02, "lam": 0.98, "eps": 0.5}


def _lms(rng: np.random.Generator) -> dict[str, Any]:
    names = _heard(rng)
    return {**names, "g": filters.lms(names["X"][:-1], names["past"][:-1], names["mu"])[0][-1]}


def _after_lms(names: dict[str, Any]) -> dict[str, Any]:
    G, e = filters.lms(names["X"], names["past"], names["mu"])
    return {"g": G[-1], "e": e[-1]}


def _inverse(X: np.ndarray, lam: float, eps: float) -> np.ndarray:
    """The inverse of the weighted sums, found without the lemma."""
    weights = lam ** np.arange(len(X) - 1, -1, -1)
    return np.linalg.inv((X * weights[:, None]).T @ X + lam ** len(X) * eps * np.eye(X.shape[1]))


def _rls(rng: np.random.Generator) -> dict[str, Any]:
    names = _heard(rng)
    X, lam, eps = names["X"][:-1], names["lam"], names["eps"]
    return {**names, "g": filters.rls(X, names["past"][:-1], lam, eps)[0][-1], "P": _inverse(X, lam, eps)}


def _after_rls(names: dict[str, Any]) -> dict[str, Any]:
    X, lam, eps = names["X"], names["lam"], names["eps"]
    G, e = filters.rls(X, names["past"], lam, eps)
    return {"g": G[-1], "e": e[-1], "P": _inverse(X, lam, eps)}


def _levinson(rng: np.random.Generator) -> dict[str, Any]:
    p, x = int(rng.integers(1, 9)), rng.standard_normal(40)
    r = np.array([x[: x.size - k] @ x[k:] for k in range(p + 1)])
    m = int(rng.integers(1, p + 1))
    a, E = levinson(r[:m])
    return {"r": r, "m": m, "a": a, "E": E}


def _after_levinson(names: dict[str, Any]) -> dict[str, Any]:
    a, E = signals.best_prediction(names["r"][: names["m"] + 1])  # solved directly
    return {"a": a, "E": E}


def _rto(rng: np.random.Generator) -> dict[str, Any]:
    measured = rng.random() < 0.6
    S, V = (float(rng.gamma(4, 0.03)), float(rng.gamma(4, 0.01))) if measured else (None, None)
    return {
        "S": S, "V": V, "RTO": float(rng.uniform(0.2, 50)), "least": float(rng.choice([0.0, 0.2, 1.0])),
        "event": str(rng.choice(["measured", "measured", "expired"])), "sample": float(rng.gamma(4, 0.03)),
        "sent": int(rng.integers(1, 3)),
    }  # fmt: skip


def _after_rto(names: dict[str, Any]) -> dict[str, Any]:
    timer = Timeout(names["least"], names["RTO"], names["S"], names["V"])
    if names["event"] == "expired":
        expired(timer)
    elif names["sent"] == 1:
        measure(timer, names["sample"])
    averages = {} if timer.srtt is None else {"S": timer.srtt, "V": timer.rttvar}
    return {"RTO": timer.rto, **averages}


CASES: dict[str, Case] = {
    "box-foundations-qos2": Case(_ends_of_qos2, _as_the_world_has_it),
    "box-foundations-holm": Case(_tests, lambda names: {"stands": holm(names["p"])}),
    "box-foundations-levinson": Case(_levinson, _after_levinson),
    "box-foundations-lms": Case(_lms, _after_lms),
    "box-foundations-rls": Case(_rls, _after_rls),
    "box-foundations-rto": Case(_rto, _after_rto),
}
