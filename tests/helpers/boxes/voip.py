"""The boxes of the part on voice over IP."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxes import Case
from voicewire.netsim.reference.equation import WEIGHTS, tcp_rate
from voicewire.netsim.reference.path import SECOND
from voicewire.netsim.reference.tfrc_receiver import LossHistory, Report, lose, loss_event_rate
from voicewire.netsim.reference.tfrc_sender import TfrcSender
from voicewire.voip import paper, reference

KEPT = 0.998002
"""What Ramjee's means keep of the old value."""


def _call(rng: np.random.Generator) -> dict[str, Any]:
    frames = int(rng.integers(5, 60))
    spurts = np.sort(rng.integers(0, 5, frames)).tolist()
    delays = np.where(rng.random(frames) < 0.1, np.inf, 50 + 40 * rng.exponential(3, frames)).tolist()
    codec = list(paper.CODECS.values())[int(rng.integers(len(paper.CODECS)))]
    return {
        "rows": reference.talkspurts(delays, spurts),
        "N": frames,
        "I_d": reference.delay_impairment,
        "I_e": lambda e: reference.loss_impairment(e, codec),
        "lower_hull": reference.lower_hull,
        "reference": reference.best_playout(delays, spurts, codec),
    }


def _delay(rng: np.random.Generator) -> dict[str, Any]:
    spike = bool(rng.random() < 0.5)
    n1 = float(rng.uniform(50, 500))
    return {
        "a": KEPT,
        "n": n1 + float(rng.choice([-1, 1]) * rng.exponential(120)) if rng.random() < 0.8 else n1,
        "n1": n1,
        "n2": n1 + float(rng.normal(0, 30)),
        "d_hat": float(rng.uniform(50, 500)),
        "v_hat": float(rng.uniform(0, 30)),
        "spike": spike,
        "slope": float(rng.uniform(0, 60)) if spike else -1.0,
    }


def _followed(given: dict[str, Any]) -> dict[str, Any]:
    state = given["d_hat"], given["v_hat"], given["slope"]
    mean, variation, slope = reference.followed(given["n"], given["n1"], given["n2"], state)
    return {
        "d_hat": mean,
        "v_hat": variation,
        "spike": slope >= 0,
        "n1": given["n"],
        "n2": given["n1"],
        "playout": max(mean + 4 * variation, given["n"]),
    } | ({"slope": slope} if slope >= 0 else {})


def _loss(rng: np.random.Generator) -> dict[str, Any]:
    events = int(rng.integers(0, 12))
    closed = rng.integers(1, 300, min(events, 8)).tolist()
    n_0, t_0 = (int(rng.integers(1, 500)), int(rng.integers(0, SECOND))) if events else (0, 0)
    n = n_0 + int(rng.integers(1, 40))
    return {
        "I": [float(each) for each in closed], "events": events, "n_0": n_0, "t_0": t_0, "n": n,
        "t": t_0 + int(rng.choice([SECOND // 10, int(rng.integers(0, SECOND // 3))])), "R": SECOND // 10,
        "I_first": 29.0, "m": n + int(rng.integers(3, 400)), "w": WEIGHTS,
    }  # fmt: skip


def _booked(given: dict[str, Any]) -> dict[str, Any]:
    history = LossHistory(20, False, given["events"], given["n_0"], given["t_0"], 1, list(given["I"]))
    x_recv = tcp_rate(20.0, 0.1, 1 / given["I_first"])  # the rate of which 29 packets are made
    lose(history, given["n"], given["t"], 0.1, x_recv)
    p = loss_event_rate(history, float(given["m"] - history.first_seq + 1))
    return {"I": history.closed, "n_0": history.first_seq, "t_0": history.first_time, "events": history.events, "p": p}


def _report(rng: np.random.Generator) -> dict[str, Any]:
    lost = rng.random() < 0.6
    return {
        "X": float(rng.uniform(100, 3000)), "R": float(rng.uniform(0.05, 0.5)), "s": 20,
        "doubled": float(rng.uniform(0, 1)), "t": 1.0 + float(rng.uniform(0, 0.5)),
        "X_recv": float(rng.uniform(5, 1500)), "p": float(rng.uniform(1e-4, 0.2)) if lost else 0.0,
        "R_new": round(float(rng.uniform(0.05, 0.9)), 6), "f": float(rng.choice([2, 4])) if lost else 2.0,
        "X_calc": lambda p, R: tcp_rate(20.0, R, p),
    }  # fmt: skip


def _answered(given: dict[str, Any]) -> dict[str, Any]:
    sender = TfrcSender(given["s"], given["R"], restart=given["f"])
    sender.x, sender.doubled = given["X"], int(given["doubled"] * SECOND)
    now = int(given["t"] * SECOND)
    sender.on_answer(now, Report(now - round(given["R_new"] * SECOND), 0, given["X_recv"], given["p"]))
    return {"X": sender.x, "R": sender.rtt}


CASES = {
    "box-voip-history": Case(_loss, _booked),
    "box-voip-rate": Case(_report, _answered),
    "box-voip-bound": Case(_call, lambda given: {"R": given["reference"]}),
    "box-voip-ramjee": Case(_delay, _followed),
}
