"""What a packet meets on the Ethernet side of the bridge, to read.

Notebook 2 is woven from this; `engine` compiles `met` from here, so that
there is no second copy of the law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from voicewire.nfc.beyond.ethernet import Ethernet
from voicewire.nfc.link import ONE_SLOT_SLACK

__all__ = ["met", "reaches"]

LOST = -1


def met(
    loss: float, load: float, room: int, waiting: int,
    rng: np.random.Generator,
) -> int:  # fmt: skip
    """Give the packets of others before ours, or LOST."""
    if loss > 0 and rng.random() < loss:
        return LOST
    before = 0
    if load > 0:  # n packets or more with load to the n
        before = int(math.log(1 - rng.random()) / math.log(load))
    full = room > 0 and waiting + before >= room
    return LOST if full else before


def slots_behind(before: int, pace: float) -> int:
    """Give the slots that packets of others take, rounded up."""
    return math.ceil(before * pace - ONE_SLOT_SLACK)


@dataclass
class Port:
    """The bridge's port to the Ethernet.

    Attributes
    ----------
    ethernet : Ethernet
        What is asked.
    pace : float
        Slots that a packet of others takes.
    rng : Generator
        Where chance comes from.
    dropped : int
        Packets that did not come through.
    last : int
        Slot in which the last acknowledgement comes to the sender.
    digested : list of (int, int)
        Acknowledgements that the sender reads: when, and the number.
    """

    ethernet: Ethernet
    pace: float  # slots that a packet of others takes
    rng: np.random.Generator
    dropped: int = 0
    last: int = 0  # when the last acknowledgement comes
    digested: list[tuple[int, int]] = field(default_factory=list)


def reaches(port: Port, waiting: int) -> bool:
    """A packet from the sender comes to the bridge, or is dropped."""
    e = port.ethernet
    lost = met(e.loss, e.load, e.room, waiting, port.rng) == LOST
    port.dropped += lost
    return not lost


def comes_back(port: Port, at: int) -> int | None:
    """The slot in which a packet due at `at` comes, or None: dropped."""
    e = port.ethernet
    before = met(e.loss, e.load, e.room, 0, port.rng)
    if before == LOST:
        port.dropped += 1
        return None
    port.last = max(port.last, at + slots_behind(before, port.pace))
    return port.last
