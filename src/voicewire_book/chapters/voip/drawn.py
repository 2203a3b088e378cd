"""The exercises by hand of these chapters whose numbers each reader draws: see `voicewire_book.kit.drawn`."""

from __future__ import annotations

import math

import numpy as np

from voicewire_book.kit.drawn import Drawn, Exercise

__all__ = ["BUDGET", "FLOOR", "MEAN", "RECEIVED"]

_WEIGHTS = np.array([1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2])
_MISPRINT = "a weight of 8 is the thesis' misprint of 0.8."


def _mean(still: int, closed: tuple[int, ...]) -> Drawn:
    past = np.array(closed)
    total, moved = float(_WEIGHTS @ past), float(_WEIGHTS @ [still, *closed[:7]])
    wrong = np.where(_WEIGHTS == 0.8, 8, _WEIGHTS)
    value = max(total, moved) / 6
    kept = "left out if it does not raise the mean" if total >= moved else "counted if it raises the mean"
    return Drawn(
        f"open {still}; closed, newest first: {', '.join(map(str, closed))}",
        value,
        (
            (min(total, moved) / 6, f"the open interval is {kept}: try both."),
            (max(total, moved), "the weights sum to 6: divide by them."),
            (float(past.mean()), "this is the mean without weights."),
            (float(_WEIGHTS[::-1] @ past) / 6, "the weight of 1 belongs to the newest intervals; you gave it to the "
             "oldest."),
            (float(wrong @ past) / 6, _MISPRINT),
            (float(wrong @ past) / 13.2, _MISPRINT),
        ),
        f"Without the open interval: {sum(closed[:4])} + 0.8 · {closed[4]} + 0.6 · {closed[5]} + 0.4 · {closed[6]} + "
        f"0.2 · {closed[7]} = {total:g}; {total:g}/6 = {total / 6:.1f}.\n"
        f"With it each moves one place back, and the oldest falls out: {still + sum(closed[:3])} + 0.8 · {closed[3]} + "
        f"0.6 · {closed[4]} + 0.4 · {closed[5]} + 0.2 · {closed[6]} = {moved:g}; {moved:g}/6 = {moved / 6:.1f}.\n"
        f"The larger counts: {value:.1f} packets.",
        unit="packets",
        right=f"{value:.4g} packets: the open interval is {kept}.",
        tolerance=0.002,
    )  # fmt: skip


def _drawn_mean(rng: np.random.Generator) -> tuple[object, ...]:
    return 10 * int(rng.integers(3, 21)), tuple(10 * int(v) for v in rng.integers(3, 16, 8))


MEAN = Exercise("mean", (90, (60, 40, 100, 80, 50, 50, 100, 300)), _drawn_mean, _mean)


def _budget(lost: float, wanted: int) -> Drawn:
    codec = 30 * math.log(1 + 15 * lost)
    left, knee = 94.2 - wanted - codec, 0.024 * 177.3
    value = 177.3 + (left - knee) / 0.134
    return Drawn(
        f"e = {lost:g}, R at least {wanted}",
        value,
        (
            (left / 0.024, "beyond 177.3 ms each millisecond costs more."),
            (left / 0.134, "both slopes together count only beyond 177.3 ms."),
            (177.3 + (left - knee) / 0.11, "beyond the knee the first slope goes on: 0.134 in all."),
            (177.3 + (94.2 - wanted - knee) / 0.134, "what the lost frames cost is no longer there for the delay."),
            (150.0, "150 ms is the usual advice; ask the equation."),
            (177.3, f"at the knee R is still above {wanted}: go on."),
        ),
        f"From 94.2 to {wanted} there are {94.2 - wanted:.1f} points.\n"
        f"The loss takes 30 ln(1 + 15 · {lost:g}) = {codec:.2f} of them and leaves {left:.2f} for the delay.\n"
        f"Up to the knee 0.024 · 177.3 = {knee:.2f} are spent; the other {left - knee:.2f} go at 0.134 a millisecond: "
        f"{(left - knee) / 0.134:.0f} ms more.\n"
        f"177.3 + {(left - knee) / 0.134:.1f} = {value:.0f} ms.",
        unit="ms",
        right=f"{left:.1f} points are left: {knee:.1f} of them up to the knee, {left - knee:.1f} at 0.134 a "
        "millisecond beyond.",
        tolerance=0.005,
    )


BUDGET = Exercise(
    "budget",
    (0.005, 80),
    lambda rng: (float(rng.choice([0.002, 0.004, 0.005, 0.01, 0.02])), int(rng.choice([60, 65, 70, 75, 80]))),
    _budget,
)


def _floor(delay: int) -> Drawn:
    trip = 2 * delay / 1000
    packets = 50 * trip
    return Drawn(
        f"d = {delay} ms one way",
        packets,
        (
            (8.0, f"eight packets in {trip:g} s are {8 / trip:.0f} a second, and the codec makes 50."),
            (packets / 2, "the round trip is twice the one-way delay, and a floor is a whole number."),
            (float(math.ceil(packets / 2)),
             "the round trip is twice the one-way delay, and a floor is a whole number."),
            (packets - 1, f"one packet fewer in {trip:g} s makes {(packets - 1) / trip:.0f} a second, and the codec "
             "makes 50."),
            (15.0, "this is what 150 ms need."),
            (50.0, "so many a second; how many in a round trip?"),
        ),
        f"A round trip is 2 · {delay} ms = {trip:g} s.\n"
        f"In it the voice makes 50 · {trip:g} = {packets:g} packets, and all of them must be allowed.",
        unit="packets a round trip",
        right=f"50 packets/s times a round trip of {trip:g} s.",
        tolerance=1e-9,
    )  # fmt: skip


FLOOR = Exercise("floor", (110,), lambda rng: (10 * int(rng.integers(9, 24)),), _floor)


def _received(extra: tuple[int, ...], waits: int, fastest: int) -> Drawn:
    count = len(extra)
    arrived = [20 * k + more for k, more in enumerate(extra)]
    above = [more - min(extra) for more in extra]

    def judged(late: int, delay: float) -> float:
        cost = 0.024 * delay + 0.11 * max(delay - 177.3, 0.0)
        return 94.2 - cost - 30 * math.log(1 + 15 * late / count)

    late = sum(more > waits for more in above)
    delay = fastest + waits
    value = judged(late, delay)
    mean = fastest + sum(more for more in above if more <= waits) / (count - late)
    by_first = sum(more - extra[0] > waits for more in extra)
    lost = 30 * math.log(1 + 15 * late / count)
    beyond = max(delay - 177.3, 0.0)
    cost = f"0.024 · {delay}" + (f" + 0.11 · {beyond:.1f}" if beyond else "")
    return Drawn(
        f"arrived at {', '.join(map(str, arrived))} ms;\nplayed {waits} ms above the fastest, which takes {fastest} ms",
        value,
        (
            (judged(by_first, delay), "the first frame is not the fastest: take 20 ms a frame off, then the least."),
            (judged(late, waits), "the fastest frame takes its time, too: it comes before the wait."),
            (judged(late, mean), "every frame is played at one delay, however early it came."),
            (judged(0, delay), "a frame that comes after its time is not played: it counts as lost."),
            (94.2 - 0.024 * delay - 0.11 * beyond - 30 * math.log(1 + 15 * late), "e is the share, not the number."),
        ),
        f"Less 20 ms a frame: {', '.join(map(str, extra))}.\n"
        f"Above the least, {min(extra)}: {', '.join(map(str, above))}.\n"
        f"Above {waits} are {late} of {count}: e = {late / count:g}.\n"
        f"The delay is {fastest} + {waits} = {delay} ms and costs {cost} = {94.2 - lost - value:.2f}.\n"
        f"The loss costs 30 ln(1 + 15 · {late / count:g}) = {lost:.2f}.\n"
        f"94.2 - {94.2 - lost - value:.2f} - {lost:.2f} = {value:.1f}.",
        right=f"{late} of {count} are late, and each of the others pays for {delay} ms.",
        tolerance=0.003,
    )  # fmt: skip


def _drawn_received(rng: np.random.Generator) -> tuple[object, ...]:
    waits, late = int(rng.choice([30, 40, 50])), int(rng.integers(1, 4))
    least = int(rng.integers(2, 10))
    rows = [least + int(v) for v in rng.integers(6, waits - 3, 6 - late)]
    rows += [least + waits + int(v) for v in rng.integers(4, 20, late)]
    mixed = [int(v) for v in rng.permutation([*rows, least])]
    return (least + int(rng.integers(12, 20)), *mixed), waits, 10 * int(rng.integers(6, 19))


RECEIVED = Exercise("received", ((19, 9, 31, 66, 52, 24, 5, 12), 40, 90), _drawn_received, _received)
