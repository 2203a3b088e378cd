"""What the printed numbers leave open: each of them judged by readings that were chosen without it (notebook 3).

A number to which a reading was fitted cannot confirm it. So each printed number is taken out in turn: the readings
that fit all others stay, and what they give for this one is what the paper itself predicts. Where they disagree, the
number hangs on what the paper does not say.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest, spearmanr

from voicewire import stats
from voicewire._kit import checks
from voicewire.nfc import paper
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.session import RESPONSE_LATENCY, Session
from voicewire.nfc.slot_sharing import DEFINITIONS, ROUNDINGS, SCOPES, Rounding, ShortSession

__all__ = [
    "SHORT_RESPONSE", "LeftOpen", "as_printed", "efficiency_readings", "left_open", "rank_interval",
    "sessions_left", "share_interval",
]  # fmt: skip

EFFICIENCY_WITHIN = 5.0
"""Percentage points within which an efficiency of sections 7.4 and 7.5 fits."""
SHORT_RESPONSE = 0.07
"""A response in whole slots, rounded down (s): 7 of them. Fig. 7.2's 76.07 ms, rounded up, are 8."""


class LeftOpen(NamedTuple):
    """What the readings that fit all other numbers give for one number."""

    nearest: float
    farthest: float
    readings: int

    def named(self) -> dict[str, float]:
        """Give both by the names that the ledger has for them."""
        return {"nearest that is left": self.nearest, "farthest that is left": self.farthest}


@checks.takes(
    error=ParameterError, values=checks.array(2), printed=checks.array(), within=checks.array(), column=checks.whole(0)
)
def left_open(values: ArrayLike, printed: ArrayLike, within: ArrayLike, column: int) -> LeftOpen:
    """Take one printed number out, and give what the readings that fit all others say of it."""
    table, target, room = (np.asarray(part, dtype=float) for part in (values, printed, within))
    if target.shape != table.shape[1:] or room.shape != target.shape or column >= len(target):
        told = f"{table.shape} of readings, {target.shape} of numbers, {room.shape} of tolerances, column {column}"
        raise ParameterError(f"shapes that do not go together: {told}")
    away = np.abs(table - target)
    left = np.delete(away <= room, column, axis=1).all(axis=1)
    if not left.any():
        raise ParameterError("no reading fits all other numbers")
    found = table[left, column]
    order = np.argsort(away[left, column])
    return LeftOpen(float(found[order[0]]), float(found[order[-1]]), int(left.sum()))


@checks.takes(error=ParameterError, rounding=checks.one_of(*ROUNDINGS))
def efficiency_readings(rounding: Rounding = "none") -> NDArray[np.float64]:
    """Compute the five efficiencies of sections 7.4 and 7.5 by every reading tried, with responses of 7 and 8 slots."""
    return np.array([row for _, rows in _tried(rounding) for row in rows])


def _tried(rounding: Rounding) -> Iterator[tuple[ShortSession, list[list[float]]]]:
    """Give each session tried, with its five efficiencies by every definition."""
    fast, active = float(max(paper.RATES)), paper.SLOT_ACTIVE * 1e3
    choices = itertools.product((SHORT_RESPONSE, RESPONSE_LATENCY), SCOPES, range(26), (1000, 1024))
    for latency, scope, overhead, size in choices:
        session = ShortSession(size=size, overhead=overhead, scope=scope, latency=latency)
        shared = 100 * session.seconds(fast, active) / session.seconds(fast, active, 0.5, rounding)
        meant = DEFINITIONS.values()
        rows = [[*(100 * define(session, *place) for place in paper.EFFICIENCY), shared] for define in meant]
        yield session, rows


@checks.takes(error=ParameterError, within=checks.number(0.0), control=checks.one_of(True, False))
def sessions_left(within: float = EFFICIENCY_WITHIN, control: bool = True) -> list[ShortSession]:
    """Give the sessions tried that fit the efficiencies of sections 7.4 and 7.5 by some definition."""
    printed = np.array([*paper.EFFICIENCY.values(), *([paper.CONTROL_EFFICIENCY] if control else [])])
    return [
        session
        for session, rows in _tried("none")
        if (np.abs(np.array(rows)[:, : len(printed)] - printed) <= within).all(axis=1).any()
    ]


@checks.takes(error=ParameterError, session=checks.a(Session))
def as_printed(session: Session) -> Session:
    """Give the session with section 7.1's own rule after a loss: every retransmission starts slow start over.

    No fast retransmit: a loss waits for its timeout, ssthresh becomes half of the window (not of what is under way),
    and the window restarts with one segment.
    """
    recovery = replace(session.recovery, halves_window=True)
    return replace(session, duplicates=0, restart_window=None, recovery=recovery)


@checks.takes(error=ParameterError, percent=checks.number(0.0, 100.0), runs=checks.whole(1, 10**9))
def share_interval(percent: float, runs: int) -> stats.Interval:
    """Give a share of runs, per cent, with its exact 95 % interval (Clopper and Pearson)."""
    ends = binomtest(round(percent * runs / 100), runs).proportion_ci(0.95, method="exact")
    return stats.Interval(float(percent), min(percent, 100 * ends.low), max(percent, 100 * ends.high), 0.95, runs)


@checks.takes(error=ParameterError, x=checks.array(1), y=checks.array(1))
def rank_interval(x: ArrayLike, y: ArrayLike) -> stats.Interval:
    """Give Spearman's correlation with its 95 % interval, by Fisher's transformation (Bonett and Wright, 2000)."""
    runs = np.size(x)
    r = float(spearmanr(x, y).statistic)
    middle, half = np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12)), 1.96 * np.sqrt((1 + r**2 / 2) / (runs - 3))
    low, high = np.tanh(middle - half), np.tanh(middle + half)
    return stats.Interval(r, min(r, float(low)), max(r, float(high)), 0.95, runs)
