"""What the boxes of the NFC part are held to."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxes import Case
from voicewire.nfc.channel import Channel
from voicewire.nfc.reference.appliance import on_packet
from voicewire.nfc.reference.control import crossed
from voicewire.nfc.reference.exchange import Air, burst, stays
from voicewire.nfc.reference.rto_estimator import GRANULARITY, Estimator, backed_off, measured
from voicewire.nfc.reference.session import DOWN, UP, opened, take_turn
from voicewire.nfc.session import Session


def _timer(rng: np.random.Generator) -> dict[str, Any]:
    first = rng.random() < 0.3
    return {
        "S": 0.0 if first else float(rng.uniform(0.2, 9)), "V": 0.0 if first else float(rng.uniform(0.0, 2)),
        "R": float(rng.uniform(1, 70)), "r": float(rng.uniform(0.05, 12)), "again": bool(rng.random() < 0.3),
        "event": str(rng.choice(["answer", "answer", "timer"])), "least": 1.0, "tick": GRANULARITY,
    }  # fmt: skip


def _timed(names: dict[str, Any]) -> dict[str, Any]:
    e = Estimator(rto=names["R"], least=names["least"], srtt=names["S"], rttvar=names["V"])
    fired = names["event"] == "timer"
    if fired:
        backed_off(e)
    elif not names["again"]:
        measured(e, names["r"])
    return {"S": e.srtt, "V": e.rttvar, "R": e.rto, "again": fired or names["again"]}


def _packet(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "n": int(rng.integers(1, 60)), "bad": bool(rng.random() < 0.3), "p": float(rng.uniform(0.01, 0.3)),
        "q": float(rng.choice([0.1, 0.4, 1.0])), "rng": np.random.default_rng(int(rng.integers(1000))),
        "stay": lambda leave, draws: int(stays(leave, draws)),
    }  # fmt: skip


def _crossed(names: dict[str, Any]) -> dict[str, Any]:
    air = Air(Channel(Channel.burst(1e-4).kind, names["p"], names["q"]), names["bad"], names["rng"])
    return {"hit": burst(air, names["n"]), "bad": air.bad}


def _turn(rng: np.random.Generator) -> dict[str, Any]:
    now = 100
    return {
        "event": str(rng.choice(["arrived", "idle"])), "now": now, "a": 5, "G": 8, "until": now,
        "queue": [int(n) for n in rng.integers(6, 152, rng.integers(0, 4))], "last": int(rng.integers(2)),
        "ready": [int(n) for n in np.sort(rng.integers(90, 112, rng.integers(0, 3)))],
        "busy": int(rng.integers(90, 106)),
    }  # fmt: skip


def _turned(names: dict[str, Any]) -> dict[str, Any]:
    now, queue = names["now"], names["queue"]
    link = opened(Session(10 * 1024), np.random.default_rng(0))
    link.sender.queue, link.slots[: len(queue)] = list(range(len(queue))), queue
    link.far.answers, link.far.busy_until = [(at, 1) for at in names["ready"]], names["busy"]
    link.last, link.until = (UP, DOWN)[names["last"]], now
    if names["event"] == "arrived":
        on_packet(link.far, now, 0)
    else:
        take_turn(link, now)
    return {
        "ready": [at for at, _ in link.far.answers], "queue": [link.slots[k] for k in link.sender.queue],
        "busy": link.far.busy_until, "last": (UP, DOWN).index(link.last), "until": link.until,
    }  # fmt: skip


def _control(rng: np.random.Generator) -> dict[str, Any]:
    packets = [(int(rng.integers(1, 20)), int(rng.integers(0, 9))) for _ in range(3)]
    free = (rng.random(int(rng.choice([60, 300]))) < 0.6).astype(int).tolist()
    return {"free": free, "begin": int(rng.integers(10)), "packets": packets}


def _controlled(names: dict[str, Any]) -> dict[str, Any]:
    now = names["begin"]
    for slots, response in names["packets"]:
        now = crossed(names["free"], min(now, len(names["free"])), slots)
        if now < 0:
            return {"spent": -1}
        now += response
    return {"spent": now - names["begin"]}


CASES = {
    "box-nfc-turn": Case(_turn, _turned),
    "box-nfc-rto": Case(_timer, _timed),
    "box-nfc-chain": Case(_packet, _crossed),
    "box-nfc-control": Case(_control, _controlled),
}
