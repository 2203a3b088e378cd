"""Checks of this part's exercises, those of its first and third chapter; `quality_exercises` has the second's.

Each `check_…` takes whatever a student hands over and returns a `Feedback`; `None` means not answered yet.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from voicewire_book.chapters.voip.drawn import FLOOR, MEAN
from voicewire_book.kit import exercises
from voicewire_book.kit._student import as_function
from voicewire_book.kit.exercises import Feedback, Mistakes, formula

__all__ = [
    "check_after_silence",
    "check_ceiling",
    "check_climb",
    "check_events",
    "check_floor",
    "check_loss_budget",
    "check_mean_interval",
    "check_oldest",
    "check_order",
    "check_pairs",
    "check_restart_window",
    "check_rival",
    "check_same_score",
    "check_too_late",
    "check_uneven",
]


def check_mean_interval(answer: object, seed: int | None = None) -> Feedback:
    """I_mean in packets: 90 open, closed 60, 40, 100, 80, 50, 50, 100 and 300, newest first."""
    return MEAN.own(seed).check(answer)


def check_after_silence(answer: object) -> Feedback:
    """Packets a second after a report of five packets of 20 bytes over 1.6 s; the equation allows 5000 B/s."""
    hints = {
        3.125: "this is what is reported; the sender may send twice that.",
        100.0: "the bytes are divided by the round trip or by the time since the last report, whichever is longer.",
        10.0: "a packet a round trip is the least only before the first loss.",
        20 / 3: "the time runs from the last report to this one, and not to the first packet.",
        250.0: "the equation allows this much; the other limit is lower.",
        125.0: "these are bytes a second; how many packets are they?",
        1.25: "the report is on all five packets.",
    }
    right = "twice 62.5 B/s: not even one packet in a round trip, and that far below what the equation allows."
    return exercises.number(answer, 6.25, 0.002, unit="packets/s", hints=hints, right=right)


def check_climb(answer: object) -> Feedback:
    """Seconds of Faster Restart from one packet a round trip to 50 packets a second, 200 ms one way."""
    need = math.log(20, 4)
    hints = {
        2.0: "so long takes doubling; Faster Restart allows four times what was reported.",
        0.4 * need: "the rate changes once a round trip: whole round trips.",
        0.8: "the round trip is twice the one-way delay, so the voice needs 20 packets in it, not 10.",
        0.6: "each step takes a round trip, there and back.",
        3.0: "three steps; how long does each take?",
    }
    right = "1, 4, 16, 64 packets a round trip: three steps of 0.4 s, longer than a mean talkspurt."
    return exercises.number(answer, 1.2, 0.001, unit="s", hints=hints, right=right)


def check_restart_window(answer: object) -> Feedback:
    """Longest one-way delay in ms at which G.711 never waits for an acknowledgement with a window of 4380 bytes."""
    hints = {
        547.5: "so long may the round trip be; one way is asked.",
        182.5: "that is RFC 2581's window of two segments of 1460 bytes.",
        365.0: "that is the round trip, for RFC 2581's window of two segments.",
        219.0: "TCP's window counts the bytes of the stream, without the headers.",
        2190.0: "G.711 speaks 8000 bytes a second; G.729 speaks 1000.",
    }
    right = "4380 bytes last 0.55 s, and the first acknowledgement must be back by then."
    return exercises.number(answer, 4380 / 8000 / 2 * 1000, 0.01, unit="ms", hints=hints, right=right)


def check_loss_budget(answer: object) -> Feedback:
    """A function n -> loss event rate at which the first term allows just n packets a round trip."""
    mistakes: Mistakes = [
        (lambda n: 1.5 / n, "the loss event rate stands under a root: square both sides."),
        (lambda n: math.sqrt(1.5) / n, "this is the root of p."),
        (lambda n: 2 / (3 * n * n), "2/3 stands beside p under the root: it changes sides as 3/2."),
        (lambda n: n * n / 1.5, "the more packets, the fewer losses are allowed: turn it over."),
    ]
    right = "3 / (2 n²): neither the size of a packet nor the round trip counts by itself, only how many go into one."
    return formula(answer, lambda n: 1.5 / (n * n), [(2,), (10,), (25.0,)], mistakes, right=right)


def check_too_late(answer: object) -> Feedback:
    """A function R -> share of the talkspurts that have ended before doubling has reached the voice's rate."""

    def after(seconds: Callable[[float], float]) -> Callable[[float], float]:
        return lambda R: 1 - math.exp(-seconds(R))

    def wanted(R: float) -> float:
        return R * math.log2(50 * R)

    mistakes: Mistakes = [
        (lambda R: math.exp(-wanted(R)), "this share goes on for longer; the share that has ended is asked."),
        (after(lambda R: R * math.log(50 * R)), "a rate that doubles takes the logarithm to base 2."),
        (after(lambda R: R * math.log(50 * R, 4)), "this is Faster Restart, which quadruples."),
        (after(lambda R: math.log2(50 * R)), "these are round trips; a talkspurt lasts seconds."),
        (wanted, "so long takes the climb; which share of the talkspurts is shorter?"),
    ]
    right = "1 - exp(-R log2(50 R)): a fifth at 50 ms one way, two thirds at 150 ms, nearly all at 400 ms."
    return formula(answer, after(wanted), [(0.1,), (0.3,), (0.8,)], mistakes, right=right)


def check_ceiling(answer: object) -> Feedback:
    """What ends the climb of the delays in the figure."""
    hints = {
        "b": "the timer halves a rate; here the floor holds the rate, and a rate would change the slope.",
        "c": "the dots are frames that came, played or not; the playout drops none of them here.",
        "d": "the path of this call has no queue: whatever leaves takes 150 ms.",
    }
    right = "five frames at 8/0.3 a second wait 0.19 s: 150 + 188 = 338 ms, and a frame that finds no place is lost."
    return exercises.choice(answer, "a", ["a", "b", "c", "d"], hints=hints, right=right)


def check_same_score(answer: object) -> Feedback:
    """Why plain TFRC, SP and Faster Restart score the same to the last digit without loss."""
    hints = {
        "a": "all transports had the same words, and UDP and MD still score otherwise.",
        "c": "none of the three has a floor; MD has.",
        "d": "the voice makes a packet in 20 ms: this limit never binds, in none of them.",
    }
    right = "without a loss there is no equation, in which SP puts its size, and nothing to restart faster from."
    return exercises.choice(answer, "b", ["a", "b", "c", "d"], hints=hints, right=right)


def _events(times: Sequence[float], rtt: float) -> int:
    """Count the losses that come more than a round trip after the first of their event."""
    events, first = 0, -math.inf
    for time in times:
        if time > first + rtt:
            events, first = events + 1, time
    return events


def _chained(times: Sequence[float], rtt: float) -> int:
    """Count as `_events`, but from the loss before instead of the event's first."""
    before = [-math.inf, *times]
    return sum(b - a > rtt for a, b in zip(before, times, strict=False))


def check_events(answer: object) -> Feedback:
    """A function times, rtt -> number of loss events of losses at these times (s, rising)."""
    mistakes: Mistakes = [
        (lambda times, rtt: len(times), "these are losses; those within a round trip of the first are one event."),
        (_chained, "the round trip runs from the first loss of the event, not from the loss before."),
        (
            lambda times, rtt: len({t // rtt for t in times}),
            "an event begins with its loss, not at a multiple of rtt.",
        ),
        (lambda times, rtt: max(_events(times, rtt) - 1, 0), "the first loss begins an event, too."),
    ]
    dense = [0.03 * k + 0.011 for k in range(12)]
    at = [([0.52, 0.55, 0.59, 0.64, 1.33], 0.1), ([0.19, 0.21, 0.28, 0.95], 0.1), (dense, 0.1), (dense, 0.2), ([], 0.1)]
    return formula(answer, _events, at, mistakes, right="an event lasts a round trip from its first loss.")


def check_uneven(answer: object) -> Feedback:
    """A function a, x -> Jain's index if the share a of the calls gets x instead of 1."""

    def mean(a: float, x: float) -> float:
        return 1 - a + a * x

    mistakes: Mistakes = [
        (mean, "this is the mean; Jain squares."),
        (lambda a, x: mean(a, x) / (1 - a + a * x * x), "the sum is squared above the line."),
        (lambda a, x: (1 - a + a * x * x) / mean(a, x) ** 2, "this is more than 1: turn it over."),
        (lambda a, x: (a + (1 - a) * x) ** 2 / (a + (1 - a) * x * x), "a is the share of those who get x, not 1."),
    ]
    right = "(1 - a + a x)² / (1 - a + a x²), however many calls there are."
    at = [(0.25, 0.2), (0.5, 0.0), (0.1, 0.7)]
    return formula(answer, lambda a, x: mean(a, x) ** 2 / (1 - a + a * x * x), at, mistakes, right=right)


def check_pairs(answer: object) -> Feedback:
    """A function rho -> how many times as many calls an unpaired comparison needs as a paired one."""
    mistakes: Mistakes = [
        (lambda rho: 1 / math.sqrt(1 - rho), "this is the ratio of the standard errors; calls go with its square."),
        (lambda rho: 1 / (1 - rho) ** 2, "the variance falls with the number of calls, not with its root."),
        (lambda rho: 1 / (1 - rho**2), "the difference of the two is asked, not what is left after a regression."),
        (lambda rho: 1 - rho, "this is paired against unpaired: turn it over."),
        (lambda rho: 2 / (1 - rho), "both variances are there in either way of comparing."),
    ]
    right = "1/(1 - ρ): nothing is won if the words do not matter, and tenfold at ρ = 0.9."
    return formula(answer, lambda rho: 1 / (1 - rho), [(0.0,), (0.5,), (0.9,)], mistakes, right=right)


def check_floor(answer: object, seed: int | None = None) -> Feedback:
    """Smallest whole floor, in packets a round trip, that carries G.729 at 110 ms one way as UDP does."""
    return FLOOR.own(seed).check(answer)


def check_order(answer: object) -> Feedback:
    """The verdict on an order claimed for all delays, which the mean shows and one delay reverses."""
    hints = {
        "a": "the claim speaks of each delay; a mean may hide that one of them contradicts.",
        "c": "the interval at 400 ms excludes nought: this is decided.",
        "d": "nothing here varies with an assumption; a reading is needed for that verdict.",
    }
    right = "a statement on all delays falls with one; that it holds in the mean would be another claim."
    return exercises.choice(answer, "b", ["a", "b", "c", "d"], hints=hints, right=right)


def check_rival(answer: object) -> Feedback:
    """What is shown if the effect comes out as large with the mechanism taken away."""
    hints = {
        "a": "the effect is there; that the mechanism makes it is what the rival was to test.",
        "b": "it may still add its two points; what is shown is that it is not needed for the rest.",
        "d": "more calls make both numbers sharper, and leave them as near to each other.",
    }
    right = "whatever makes 21 of the 23 points is at work in both runs: the comparison cannot speak for the mechanism."
    return exercises.choice(answer, "c", ["a", "b", "c", "d"], hints=hints, right=right)


def _dropped(frames: int, places: int, gap: float, drop: str = "oldest", serving: int = 0) -> list[int]:
    """Return which frames a full buffer drops; `serving` counts the frame that is being sent as one that waits."""
    waiting, dropped, free = deque[int](), [], 0.0
    for frame in range(frames):
        now = 20.0 * frame
        while waiting and free <= now:
            waiting.popleft()
            free += gap
        if free <= now:
            free = now + gap
        elif len(waiting) + serving < places:
            waiting.append(frame)
        elif drop == "newest" or not waiting:
            dropped.append(frame)
        else:
            dropped.append(waiting.popleft())
            if drop == "oldest":
                waiting.append(frame)
            else:
                dropped.append(frame)
    return dropped


def _drops(answer: object, arguments: tuple[Any, ...], wrong: list[int]) -> bool:
    """Whether a student's function gives these frames."""
    try:
        return sorted(answer(*arguments)) == sorted(wrong)  # type: ignore[operator]
    except Exception:  # whatever a student's code may raise: the check that follows says so
        return False


def check_oldest(answer: object) -> Feedback:
    """A function frames, places, gap -> numbers of the frames that a buffer drops which gives up its oldest."""
    answer = as_function(answer)
    if isinstance(answer, Feedback):
        return answer
    at = [(40, 5, 37.1), (30, 3, 53.3), (25, 2, 31.7), (20, 5, 18.7)]
    for how, hint in _DROPS:
        if all(_drops(answer, case, _dropped(*case, **how)) for case in at):
            return Feedback(False, hint)
    for case in at:
        call = "your function of {} frames, {} places and {} ms".format(*case)
        try:
            got = [int(frame) for frame in answer(*case)]
        except Exception as error:  # whatever a student's code may raise
            return Feedback(False, f"{call} raises, or gives no list of frames: {type(error).__name__}: {error}")
        wanted = _dropped(*case)
        if sorted(got) != wanted:
            first = min(set(got) ^ set(wanted), default=None)
            what = "a frame twice" if first is None else f"frame {first} {'too many' if first in got else 'is missing'}"
            return Feedback(False, f"{call}: {what}.")
    return Feedback(True, "those that have waited longest go, and what is played is younger.")


_DROPS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"drop": "newest"}, "this drops the frame that finds no place; the one that has waited longest should go."),
    ({"serving": 1}, "the frame that is being sent has left the buffer: it takes no place."),
    ({"drop": "both"}, "when the oldest has gone, the new frame has a place."),
)
