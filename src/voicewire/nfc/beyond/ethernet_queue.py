"""The Ethernet beside the link, compiled from its reading version (`reference.ethernet`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire._kit._compiled import njit
from voicewire._kit._records import rule
from voicewire.nfc.link import ONE_SLOT_SLACK
from voicewire.nfc.reference import ethernet
from voicewire.nfc.tcp.retransmission_timer import NOBODY
from voicewire.nfc.tcp.tcp_session_state import Around, World

__all__: list[str] = []

LEAST_DRAWN = 2.0**-53  # of one less a random number

met = njit(cache=True)(ethernet.met)


@rule
def reaches(w: World, waiting: int, rng: np.random.Generator) -> bool:
    """Whether a packet from the sender comes to the bridge."""
    a = w.air
    if not a.busy or met(a.loss, a.load, a.room, waiting, rng) >= 0:
        return True
    a.dropped += 1
    return False


@rule
def comes_back(w: World, at: int, rng: np.random.Generator) -> int:
    """Give the slot in which a packet due at `at` comes to the sender, or a negative number if it is dropped."""
    a = w.air
    if not a.busy:
        return at
    before = met(a.loss, a.load, a.room, 0, rng)
    if before < 0:
        a.dropped += 1
        return -1
    a.back = max(a.back, at + math.ceil(before * a.pace - ONE_SLOT_SLACK))
    return a.back


def most_before(around: Around) -> int:
    """Give the most slots that packets of others can keep an acknowledgement."""
    drawn = 0 if around.load == 0 else int(math.log(LEAST_DRAWN) / math.log(around.load))
    kept = min(drawn, around.room - 1) if around.room else drawn
    return math.ceil(kept * around.pace)


def switch_on(beside: Around, sender: NDArray[Any], air: NDArray[Any]) -> int:
    """Switch Ethernet and estimator on; return the slots that an acknowledgement may be kept at most."""
    air["busy"], air["loss"], air["load"] = True, beside.loss, beside.load
    air["room"], air["pace"] = beside.room, beside.pace
    sender["estimates"], sender["rto"], sender["least"] = beside.estimates, beside.rto, beside.least
    sender["period"], sender["timed"] = beside.period, NOBODY
    return most_before(beside)
