"""Boxes of the part on E-MQTT."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxes import Case
from voicewire.emqtt.reference import Held, after

STATES = ("open", "complete", "short", "timeout")


def hold_given(rng: np.random.Generator) -> dict[str, Any]:
    """Make a hold in some state that it can be in, and an event; sometimes the name is a stranger's."""
    n = int(rng.integers(1, 6))
    k = int(rng.integers(1, n + 2))
    held = Held(k, set("abcde"[:n]))
    for name in "abcde"[: int(rng.integers(0, n))]:
        after(held, str(rng.choice(["answer", "lost"])), name)
    event = str(rng.choice(["answer", "answer", "lost", "time"]))
    names = {state.upper(): number for number, state in enumerate(STATES)}
    kept = {"waiting": held.waiting, "answered": held.answered, "state": STATES.index(held.verdict)}
    return {**names, **kept, "k": k, "event": event, "name": str(rng.choice(list("abcdef"[: n + 1])))}


def hold_after(names: dict[str, Any]) -> dict[str, Any]:
    """Return what the package's hold is after the same event."""
    held = Held(names["k"], names["waiting"], names["answered"], STATES[names["state"]])
    after(held, names["event"], names["name"])
    return {"a": len(held.answered), "w": len(held.waiting), "state": STATES.index(held.verdict)}


CASES = {"box-emqtt-hold": Case(hold_given, hold_after)}
