"""What the boxes of the echo part are held to: the reference versions on random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxes import Case
from voicewire.echo import reference
from voicewire.echo.reference import Complex


def drawn(rng: np.random.Generator, *shape: int) -> Complex:
    """Return complex noise."""
    return np.asarray(rng.standard_normal((*shape, 2)) @ (1, 1j))


def correlations(rng: np.random.Generator, size: int) -> Complex:
    """Return a correlation matrix of many windows."""
    rows = drawn(rng, 3 * size, size)
    return np.asarray(rows.conj().T @ rows / size)


def _nlms(rng: np.random.Generator) -> dict[str, Any]:
    return {"g": drawn(rng, 6), "x": drawn(rng, 6), "d": drawn(rng), "mu": 0.7, "eps": 0.1}


def _as_nlms(of: dict[str, Any]) -> dict[str, Any]:
    g, e = reference.nlms_step(of["g"], of["x"], of["d"], of["mu"], of["eps"])
    return {"g": g, "e": e}


def _apa(rng: np.random.Generator) -> dict[str, Any]:
    return {"g": drawn(rng, 6), "X": drawn(rng, 6, 3), "d": drawn(rng, 3), "mu": 0.7, "eps": 0.1}


def _as_apa(of: dict[str, Any]) -> dict[str, Any]:
    g, _ = reference.apa_step(of["g"], of["X"], of["d"], of["mu"], of["eps"])
    return {"g": g}


def _rls(rng: np.random.Generator) -> dict[str, Any]:
    P = np.linalg.inv(correlations(rng, 6))
    return {"g": drawn(rng, 6), "P": (P + P.conj().T) / 2, "x": drawn(rng, 6), "d": drawn(rng), "lam": 0.9}


def _as_rls(of: dict[str, Any]) -> dict[str, Any]:
    k, P = reference.rls_gain(of["P"], of["x"], of["lam"])
    e = of["d"] - np.vdot(of["g"], of["x"])
    return {"g": of["g"] + k * np.conj(e), "P": P, "e": e}


def _dcd(rng: np.random.Generator) -> dict[str, Any]:
    limits = {"N_u": int(rng.integers(1, 12)), "M_b": int(rng.integers(3, 17)), "H": float(rng.choice([0.5, 1, 2]))}
    return {"R": correlations(rng, 6), "r": drawn(rng, 6), "leading": reference.leading, **limits}


def _as_dcd(of: dict[str, Any]) -> dict[str, Any]:
    change, r = reference.dcd(of["R"], of["r"], of["N_u"], of["M_b"], of["H"])
    return {"change": change, "r": r}


def _reuse(rng: np.random.Generator) -> dict[str, Any]:
    state = {"g": drawn(rng, 6), "r": drawn(rng, 6), "R": correlations(rng, 6), "window": drawn(rng, 6)}
    sample = {"x_n": complex(drawn(rng)), "d_n": complex(drawn(rng)), "lam": 0.9, "N_it": int(rng.integers(1, 6))}
    called = {name: getattr(reference, name) for name in ("shifted", "next_matrix", "dcd")}
    return {**state, **sample, **called}


def _as_reuse(of: dict[str, Any]) -> dict[str, Any]:
    window = reference.shifted(of["window"], of["x_n"])
    R = reference.next_matrix(of["R"], window, of["lam"])
    g, r, _ = reference.reuse_step(of["g"], of["r"], R, window, of["d_n"], of["lam"], of["N_it"])
    return {"g": g, "r": r, "R": R, "window": window}


CASES = {
    "box-echo-nlms": Case(_nlms, _as_nlms),
    "box-echo-apa": Case(_apa, _as_apa),
    "box-echo-rls": Case(_rls, _as_rls),
    "box-echo-dcd": Case(_dcd, _as_dcd),
    "box-echo-reuse": Case(_reuse, _as_reuse),
}
"""The part's boxes."""
