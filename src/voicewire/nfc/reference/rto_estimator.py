"""The timer of RFC 6298, to read; times in seconds.

Notebook 2 is woven from this. `measured` and `backed_off` are compiled from
here for the engine, too; `rto_estimator` drives them in exchanges,
`session` in a window, where a stopwatch says which segment is timed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from voicewire.nfc.link import Link, slots_of_wait

__all__ = [
    "Estimator", "Stopwatch", "answered", "backed_off", "begun", "measured",
]  # fmt: skip

GRANULARITY = 0.01  # s: the clock counts slots
LONGEST = 60.0  # s, the least that a maximum may be (2.5)


@dataclass(kw_only=True)
class Estimator:
    """The timer of RFC 6298; times in s."""

    rto: float = 1.0
    least: float = 1.0  # the timeout is never below it
    srtt: float = 0.0  # smoothed RTT, 0 before the first
    rttvar: float = 0.0  # how much RTTs vary


def measured(e: Estimator, rtt: float) -> None:
    """A new RTT, of a packet that was sent once (Karn): (2.2) to (2.4)."""
    if e.srtt == 0:
        e.srtt, e.rttvar = rtt, rtt / 2
    else:
        e.rttvar += (abs(e.srtt - rtt) - e.rttvar) / 4
        e.srtt += (rtt - e.srtt) / 8
    e.rto = max(e.least, e.srtt + max(GRANULARITY, 4 * e.rttvar))


def backed_off(e: Estimator) -> None:
    """The timer has fired: it waits twice as long, up to 60 s (5.5)."""
    e.rto = max(e.rto, min(2 * e.rto, LONGEST))


@dataclass(kw_only=True)
class Stopwatch:
    """Times one segment of a window after the other."""

    link: Link
    estimator: Estimator
    segment: int | None = None  # the one that is timed
    since: int = 0  # slot in which it was handed over
    fresh: int = 0  # from here on nothing has been sent yet
    log: list[tuple[int, float, float]] = field(default_factory=list)


def begun(w: Stopwatch, now: int, first: int, end: int) -> None:
    """Segments `first` to `end - 1` leave: time one that is new (Karn)."""
    if w.segment is None and end > w.fresh:
        w.segment, w.since = max(first, w.fresh), now
    w.fresh = max(w.fresh, end)


def answered(w: Stopwatch, now: int, number: int) -> None:
    """All before `number` is acknowledged: perhaps what is timed, too."""
    if w.segment is not None and number > w.segment:
        rtt = (now - w.since) * w.link.period
        measured(w.estimator, rtt)
        w.log.append((now, rtt, w.estimator.rto))
        w.segment = None


def timeout(w: Stopwatch) -> int:
    """The timeout in slots, rounded up."""
    return max(1, slots_of_wait(w.link, w.estimator.rto))
