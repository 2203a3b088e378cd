"""Control messages that occupy real slots, so that a run decides the rounding.

Eq. 7.4 stretches a packet by the share of slots that are left. Here the
slots that control messages take are marked one by one, and packets cross in
those between: slot by slot in `reference.control`, to read, and here for
all beginnings at once.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.nfc import paper
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.link import ONE_SLOT_SLACK
from voicewire.nfc.slot_sharing import ShortSession

__all__ = ["PLACEMENTS", "Placement", "free_slots", "passes", "script", "seconds"]

Placement = Literal["first", "spread", "random"]
PLACEMENTS: tuple[Placement, ...] = ("first", "spread", "random")


@checks.takes(
    error=ParameterError, taken=checks.whole(0), section=checks.whole(1, 10**4), sections=checks.whole(1, 10**5),
    placement=checks.one_of(*PLACEMENTS), rng=checks.maybe(checks.generator),
)  # fmt: skip
def free_slots(
    taken: int,
    sections: int,
    placement: Placement = "first",
    rng: np.random.Generator | None = None,
    section: int = paper.SECTION_SLOTS,
) -> NDArray[np.int64]:
    """Mark the slots that `taken` control messages a section leave.

    Parameters
    ----------
    taken : int
        a of Eq. 7.5.
    sections : int
        How many.
    placement : str
        Where in a section: "first", "spread" evenly, or at "random".
    rng : Generator, optional
        Needed for "random".
    section : int
        b of Eq. 7.5.

    Returns
    -------
    ndarray of int, shape (sections * section,)
        1 where a slot is left, 0 where it is taken.

    Raises
    ------
    ParameterError
        For more messages than slots, or "random" without a generator.

    Examples
    --------
    >>> free_slots(2, 1, "spread").tolist()
    [0, 1, 1, 1, 1, 0, 1, 1, 1, 1]
    """
    if taken > section:
        raise ParameterError(f"{taken} control messages in {section} slots")
    places = np.arange(section)
    if placement == "random":
        if rng is None:
            raise ParameterError('"random" needs a generator: pass rng=numpy.random.default_rng(seed)')
        order = rng.permuted(np.tile(places, (sections, 1)), axis=1)
        return (order >= taken).ravel().astype(np.int64)
    used = places[:taken] if placement == "first" else np.arange(taken) * section // max(taken, 1)
    free = np.ones(section, dtype=np.int64)
    free[used] = 0
    return np.tile(free, sections)


@checks.takes(
    error=ParameterError, session=checks.a(ShortSession), rate=checks.number(above=0.0),
    active=checks.number(above=0.0),
)  # fmt: skip
def script(session: ShortSession, rate: float, active: float) -> list[tuple[int, int]]:
    """Give the session's packets in their order: slots of each, and of the response that follows.

    Parameters
    ----------
    session : ShortSession
        What is transferred, and what counts.
    rate : float
        Bit rate, kbit/s.
    active : float
        Active time of a slot, ms.

    Returns
    -------
    list of (int, int)

    Examples
    --------
    >>> script(ShortSession(scope="round trip"), 848.0, 1.5)
    [(8, 8), (1, 8)]
    """
    *short, data = session.packets(rate, active)
    wait = int(np.ceil(session.latency / session.period - ONE_SLOT_SLACK))
    order = [(data, wait), (short[-1], wait)]
    if session.scope != "round trip":
        syn, ack = short[0], short[-1]
        order = [(syn, wait), (syn, wait), (ack, 0), *order]
    if session.scope == "whole session":
        ack = short[-1]
        order += [(ack, wait), (ack, wait), (ack, 0)]
    return order


@checks.takes(
    error=ParameterError, packets=checks.each(checks.each(checks.whole(0, 10**6), 2)),
    free=checks.array(1, kind="whole", low=0, high=1), begins=checks.array(1, kind="whole", low=0),
)  # fmt: skip
def passes(
    packets: list[tuple[int, int]], free: NDArray[np.int64], begins: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Run a session from each of these slots: how many slots it takes (`crossed`, for all at once).

    Parameters
    ----------
    packets : list of (int, int)
        As `script` gives them.
    free : ndarray of int, shape (k,)
        1 for each slot that no control message takes, else 0.
    begins : ndarray of int, shape (n,)
        First slots.

    Returns
    -------
    ndarray of int, shape (n,)
        -1 where the slots run out first.

    Examples
    --------
    >>> passes([(8, 8), (1, 8)], free_slots(0, 5), np.array([0, 3])).tolist()
    [25, 25]
    """
    where = np.append(np.nonzero(free)[0], -1)
    start = np.asarray(begins, dtype=np.int64)
    now, lost = start.copy(), np.zeros(len(start), dtype=bool)
    for slots, wait in packets:
        if slots:
            last = np.searchsorted(where[:-1], now) + slots - 1
            lost |= last >= len(where) - 1
            now = where[np.minimum(last, len(where) - 1)] + 1
        now = now + wait
    return np.where(lost, -1, now - start)


@checks.takes(
    error=ParameterError, session=checks.a(ShortSession), taken=checks.whole(0), placement=checks.one_of(*PLACEMENTS),
    rng=checks.maybe(checks.generator), rate=checks.number(above=0.0), active=checks.number(above=0.0),
)  # fmt: skip
def seconds(
    session: ShortSession, taken: int, placement: Placement, rng: np.random.Generator | None = None,
    rate: float = 848.0, active: float = 1.5,
) -> float:  # fmt: skip
    """Give the mean latency with so many slots of each section taken, over every slot in which it can begin.

    Parameters
    ----------
    session : ShortSession
        What is transferred, and what counts.
    taken : int
        Slots of each section of 10 that control messages take, at most 9.
    placement : str
        Where in a section, as in `free_slots`.
    rng : Generator, optional
        Needed for "random".
    rate : float
        Bit rate, kbit/s.
    active : float
        Active time of a slot, ms.

    Returns
    -------
    float
        s.

    Raises
    ------
    ParameterError
        If no slot is left.

    Examples
    --------
    >>> round(seconds(ShortSession(scope="round trip"), 0, "first"), 2)
    0.25
    """
    if taken >= paper.SECTION_SLOTS:
        raise ParameterError(f"{taken} slots of {paper.SECTION_SLOTS} taken: nothing gets through")
    packets = script(session, rate, active)
    most = sum(slots * paper.SECTION_SLOTS + paper.SECTION_SLOTS + wait for slots, wait in packets)
    first = 1000 if placement == "random" else paper.SECTION_SLOTS
    free = free_slots(taken, -(-(first + most) // paper.SECTION_SLOTS), placement, rng)
    return float(passes(packets, free, np.arange(first)).mean() * session.period)
