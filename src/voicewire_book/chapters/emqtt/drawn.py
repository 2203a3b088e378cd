"""The exercises by hand of these chapters whose numbers each reader draws: see `voicewire_book.kit.drawn`."""

from __future__ import annotations

import numpy as np

from voicewire_book.kit.drawn import Drawn, Exercise

__all__ = ["GAUGE", "PAYLOAD", "WARD"]

_WORDS = ("no", "one", "two", "three", "four", "five", "six")


def _payload(first: int, length: int, topic: int) -> Drawn:
    low, high = length % 128 + 128, length // 128
    qos = first >> 1 & 3
    head = 2 + topic + (2 if qos else 0)
    flags = f"{first:#04x} is {first >> 4:04b} {first & 15:04b}: QoS {qos}"
    given = "so there is a packet id of two bytes" if qos else "so there is no packet id"
    return Drawn(
        f"the stream begins with {first:02x} {low:02x} {high:02x}; the topic has {topic} bytes",
        float(length - head),
        (
            (float(length), "this is the Remaining Length; the topic and more are counted in it."),
            (float(length - head + 2), "two bytes too many: the topic is preceded by its length, and above QoS 0 there "
             "is a packet id."),
            (float(length - head - 2) if not qos else float(length - 2 - topic - 4),
             "two bytes too few: what stands before the payload here? The QoS is in the first byte."),
            (float(low + 256 * high - head), "these are eight bits a byte; a length has seven."),
            (float(low + 128 * high - head), "the eighth bit only says that another byte follows."),
            (float((low - 128) * 128 + high - head), "the lowest seven bits come first."),
            (float(low - 128 - head), "the eighth bit is set: another byte of the length follows."),
        ),
        f"{flags}, {given}.\n"
        f"The length is {low - 128} + 128 · {high} = {length}.\n"
        f"Of these the topic takes 2 + {topic}{' and the packet id 2' if qos else ''}: {length - head} are left.",
        unit="bytes",
        right=f"{length} less {head}.",
        tolerance=1e-9,
    )  # fmt: skip


def _drawn_payload(rng: np.random.Generator) -> tuple[int, ...]:
    first = 0x30 | int(rng.integers(3)) << 1 | int(rng.integers(2))
    return first, 128 * int(rng.integers(1, 12)) + int(rng.integers(40, 120)), int(rng.integers(3, 16))


PAYLOAD = Exercise("payload", (0x32, 2026, 11), _drawn_payload, _payload)


def _ward(sensors: int, percent: int) -> Drawn:
    late = percent / 100
    punctual = 1 - late
    few = sensors - 1

    def enough(p: float) -> float:
        return sensors * p**few * (1 - p) + p**sensors

    all_, least = _WORDS[sensors], _WORDS[few]
    return Drawn(
        f"n = {sensors}, k = {few}, each late with {late:g}",
        enough(punctual),
        (
            (punctual**sensors, f"this is all {all_}; {least} of them are enough."),
            (sensors * punctual**few * late, f"this is exactly {least}; {all_} will do as well."),
            (punctual**few, f"these are {least} certain ones, whatever the other does: any {least} will do."),
            (punctual**few * late, f"this is one choice of the late one; there are {all_}. And all {all_} may be in "
             "time."),
            (1 - enough(punctual), "this is that too few are in time."),
            (enough(late), f"{late:g} is the probability to be late."),
        ),
        f"Exactly {least}: any of the {all_} may be the late one, {sensors} · {punctual:g}^{few} · {late:g} = "
        f"{sensors * punctual**few * late:.3f}.\n"
        f"All {all_}: {punctual:g}^{sensors} = {punctual**sensors:.3f}. Together {enough(punctual):.3f}.",
        right=f"any of {all_} may be the late one, or none.",
        tolerance=1e-3,
    )  # fmt: skip


WARD = Exercise("ward", (5, 10), lambda rng: (int(rng.integers(3, 7)), int(rng.choice([5, 10, 20, 25, 30, 40]))), _ward)


def _gauge(start: int, used: int, then: int, other: int) -> Drawn:
    low, high = (used - 1) / (other + 1), (used + 1) / (other - 1)
    first, second = f"{start} to {start - used}", f"{then} to {then - other}"
    return Drawn(
        f"from {first} in one run, from {second} in the other",
        (low, high),
        (
            (((used - 0.5) / (other + 0.5), (used + 0.5) / (other - 0.5)),
             "both levels of a use are rounded, each by up to a whole per cent."),
            ((used / other, used / other),
             "this is the ratio of the readings; how far may each use be from its reading?"),
            (((used + 1) / (other + 1), (used - 1) / (other - 1)),
             "the least ratio has the least use above and the greatest below."),
            (((used - 1) / (used + 1), (used + 1) / (used - 1)),
             f"the first use reads {start} - {start - used}, the second {then} - {then - other}."),
            (((other - 1) / (used + 1), (other + 1) / (used - 1)), "the first use is above, the second below."),
            ((low, (used + 1) / other), "the greatest ratio has the least use below."),
        ),
        f"From {first} the charge may have fallen by {used - 1} to {used + 1}, from {second} by {other - 1} to "
        f"{other + 1}.\n"
        f"The ratio is least with the least above and the greatest below, {used - 1}/{other + 1} = {low:.3g},\n"
        f"and greatest the other way round, {used + 1}/{other - 1} = {high:.3g}.",
        right=f"between {used - 1}/{other + 1} and {used + 1}/{other - 1}.",
        tolerance=0.005,
    )  # fmt: skip


def _drawn_gauge(rng: np.random.Generator) -> tuple[int, ...]:
    return int(rng.integers(80, 99)), int(rng.integers(3, 9)), int(rng.integers(80, 99)), int(rng.integers(3, 7))


GAUGE = Exercise("gauge", (97, 4, 96, 3), _drawn_gauge, _gauge)
