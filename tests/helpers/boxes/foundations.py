"""The boxes of the foundations, and what each is held to."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxes import Case
from voicewire.netsim.reference.tcp_sender import Timeout, measure
from voicewire.pharyngeal.reference import levinson
from voicewire_book.chapters.foundations import filters, signals
from voicewire_book.chapters.foundations.tcp import expired

__all__ = ["CASES"]


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
    "box-foundations-levinson": Case(_levinson, _after_levinson),
    "box-foundations-lms": Case(_lms, _after_lms),
    "box-foundations-rls": Case(_rls, _after_rls),
    "box-foundations-rto": Case(_rto, _after_rto),
}
