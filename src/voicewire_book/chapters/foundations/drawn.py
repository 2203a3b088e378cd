"""The exercises by hand of these chapters whose numbers each reader draws: see `voicewire_book.kit.drawn`."""

from __future__ import annotations

import math

import numpy as np

from voicewire_book.kit.drawn import Drawn, Exercise

__all__ = ["INTERVAL", "PEAK", "SIZE", "STEP", "TELEPHONE"]


def _telephone(rate: int, frame: int, count: int, loudness: int, pitch: int) -> Drawn:
    bits = rate * frame / 1000
    share = (bits - loudness - pitch) / count
    whole = math.floor(share)
    return Drawn(
        f"C = {rate} bit/s, T = {frame} ms, p = {count}, loudness {loudness} bits, pitch {pitch} bits",
        float(whole),
        (
            (share, "a coefficient gets whole bits: which whole number still fits?"),
            (whole + 1.0, "so many do not fit: round down."),
            (float(math.floor(bits / count)), "loudness and pitch have to be sent too."),
            (bits / count, "loudness and pitch have to be sent too."),
            (bits - loudness - pitch, "these are the bits of all coefficients together."),
            (float(math.floor((rate - loudness - pitch) / count)), "so many a second: how many has one frame?"),
        ),
        f"A frame has {rate} · {frame / 1000:g} = {bits:g} bits.\n"
        f"Loudness and pitch take {loudness} + {pitch}: {bits - loudness - pitch:g} are left for {count} numbers.\n"
        f"{bits - loudness - pitch:g} / {count} = {share:.3g}, so {whole} whole bits each.",
        unit="bits",
        right=f"{bits - loudness - pitch:g} bits for {count} numbers.",
    )


def _drawn_telephone(rng: np.random.Generator) -> tuple[int, ...]:
    rate, frame = int(rng.choice([1200, 2400, 3600, 4800])), int(rng.choice([10, 20, 25, 30, 40]))
    return rate, frame, int(rng.integers(8, 13)), int(rng.integers(4, 7)), int(rng.integers(6, 9))


TELEPHONE = Exercise("telephone", (2400, 25, 10, 5, 8), _drawn_telephone, _telephone)


def _step(mu: float, first: tuple[int, int], heard: int, second: tuple[int, int], then: int) -> Drawn:
    one, two = np.array(first), np.array(second)
    taps = mu * heard * one
    guess = float(taps @ two)
    error = then - guess
    after = taps + mu * error * two

    def row(values: np.ndarray) -> tuple[float, ...]:
        return tuple(float(v) for v in values)

    return Drawn(
        f"μ = {mu:g}; window {first}, {heard} is heard; then window {second}, {then} is heard",
        row(after),
        (
            (row(taps), "this is after the first step; the second window finds an error too."),
            (row(taps + mu * then * two), "the second error is what is heard less what the taps *now* guess."),
            (row(mu * error * two), "the change of the second step is added to the taps of the first."),
            (row(taps + error * two), "the second change has the factor μ as well."),
        ),
        f"The taps are zero, so the first error is {heard}: g = {mu:g} · {heard} · {first} = "
        f"({taps[0]:g}, {taps[1]:g}).\n"
        f"They guess {taps[0]:g} · {second[0]} + {taps[1]:g} · {second[1]} = {guess:g}: the error is {error:g}.\n"
        f"g = ({taps[0]:g}, {taps[1]:g}) + {mu:g} · {error:g} · {second} = ({after[0]:g}, {after[1]:g}).",
        right=f"errors of {heard} and {error:g}.",
        tolerance=1e-3,
    )


def _drawn_step(rng: np.random.Generator) -> tuple[object, ...]:
    mu, often = float(rng.choice([0.1, 0.2, 0.5])), int(rng.integers(1, 4))
    first = (int(rng.integers(1, 4)), int(rng.choice([-2, -1, 1, 2])))
    second = (int(rng.integers(1, 4)), int(rng.choice([-2, -1, 1, 2, 3])))
    guess = often * (first[0] * second[0] + first[1] * second[1])
    return mu, first, round(often / mu), second, guess + int(rng.choice([-3, -2, -1, 1, 2, 3]))


STEP = Exercise("step", (0.1, (1, 2), 10, (2, 1), 5), _drawn_step, _step)


def _peak(before: int, first: int, second: int) -> Drawn:
    average, deviation = before + (first - before) / 8, (first - before) / 4
    off = abs(average - second)
    later, spread = average + (second - average) / 8, deviation + (off - deviation) / 4
    moved = deviation + (abs(later - second) - deviation) / 4
    rto = later + 4 * spread
    return Drawn(
        f"R = {before} ms for long, then {first} ms, then {second} ms",
        rto,
        (
            (average + 4 * deviation, "this is after the first of the two; the second moves it once more."),
            (later + 4 * moved, "the deviation is taken from the old average; only then the average moves."),
            (later + spread, "four deviations are added, not one."),
            (later, "this is the smoothed round trip; four deviations are added."),
            (before + (second - before) * 9 / 8, "the sample before it has moved average and deviation already."),
        ),
        f"After {first}: V = {first - before} / 4 = {deviation:g}, S = {before} + {first - before} / 8 = {average:g}.\n"
        f"{second} lies {off:g} off S: V = {deviation:g} + ({off:g} - {deviation:g}) / 4 = {spread:g}.\n"
        f"Only then S = {average:g} + {second - average:g} / 8 = {later:g}.\n"
        f"RTO = {later:g} + 4 · {spread:g} = {rto:g} ms.",
        unit="ms",
        right=f"{later:g} + 4 · {spread:g}.",
        tolerance=0.001,
    )


def _drawn_peak(rng: np.random.Generator) -> tuple[int, ...]:
    before, jump, more = 20 * int(rng.integers(4, 11)), int(rng.integers(1, 4)), int(rng.integers(1, 9))
    return before, before + 32 * jump, before + 4 * jump + 8 * more


PEAK = Exercise("peak", (100, 164, 140), _drawn_peak, _peak)


def _size(topic: int, payload: int, once: int, never: int) -> Drawn:
    def publish(packet_id: int) -> tuple[int, int]:
        rest = 2 + topic + packet_id + payload
        length = 1 if rest < 128 else 2
        return 1 + length + rest, 1 + (3 - length) + rest

    (one, wrong_one), (zero, wrong_zero) = publish(2), publish(0)
    legs = 1 + once
    total = legs * (one + 4) + never * zero
    return Drawn(
        f"t = {topic}, m = {payload}, a = {once}, b = {never}",
        float(total),
        (
            (float(legs * one + never * zero), "each leg at QoS 1 has an answer: a PUBACK of four bytes."),
            (float(total + 2 * never), "a PUBLISH at QoS 0 has no packet id."),
            (float(legs * (wrong_one + 4) + never * wrong_zero),
             "how many bytes does the length take? One up to 127, two from 128 on."),
            (float(total - one - 4), "the publisher's own leg is one of them."),
            (float((legs + never) * (one + 4)), "a leg has the lesser of the two QoS: some subscribers have 0."),
            (float(total - 2 * (legs + never)), "a topic is preceded by its length, two bytes."),
        ),
        f"At QoS 1: 2 + {topic} + 2 + {payload} = {4 + topic + payload} bytes follow the length, "
        f"so PUBLISH has {one}; with its PUBACK {one + 4}.\n"
        f"At QoS 0 there is no packet id: {zero} bytes, and no answer.\n"
        f"The publisher's leg and {once} more at QoS 1, {never} at QoS 0: "
        f"{legs} · {one + 4} + {never} · {zero} = {total} bytes.",
        unit="bytes",
        right=f"{legs} · {one + 4} + {never} · {zero}.",
        tolerance=1e-9,
    )  # fmt: skip


def _drawn_size(rng: np.random.Generator) -> tuple[int, ...]:
    payload = 10 * int(rng.choice([2, 4, 6, 8, 15, 20, 25, 30]))
    return int(rng.integers(3, 10)), payload, int(rng.integers(1, 5)), int(rng.integers(1, 4))


SIZE = Exercise("size", (3, 200, 2, 1), _drawn_size, _size)


def _interval(mean: int, off: tuple[int, ...]) -> Drawn:
    squares = sum(d * d for d in off)
    error, q = math.sqrt(squares / 4 / 5), 2.776

    def ends(half: float) -> tuple[float, float]:
        return mean - half, mean + half

    low, high = ends(q * error)
    return Drawn(
        f"shifts {', '.join(str(mean + d) for d in off)} Hz; q = {q}",
        (low, high),
        (
            (ends(q * math.sqrt(squares / 25)), "divide the sum of the squares by n - 1 = 4: one deviation is not "
             "free."),
            (ends(q * math.sqrt(squares / 4)), "this is q s: the mean of five scatters √5 times less."),
            (ends(1.96 * error), "1.96 would do if σ were known; for five samples q is 2.776."),
            (ends(error), "this is one standard error; q of them are asked."),
        ),
        f"The mean is {mean}; the deviations are {', '.join(map(str, off))}, their squares sum to {squares}.\n"
        f"s² = {squares}/4 = {squares / 4:g}, and s/√5 = √({squares / 4:g}/5) = {error:.3f}.\n"
        f"The half-width is {q} · {error:.3f} = {q * error:.2f}: from {low:.2f} to {high:.2f} Hz.",
        unit="Hz",
        right=f"{mean} ± {q * error:.1f} Hz.",
        tolerance=0.0,
        absolute=0.06,
    )  # fmt: skip


def _drawn_interval(rng: np.random.Generator) -> tuple[object, ...]:
    spread = [(-4, -2, 0, 2, 4), (-3, -1, 0, 1, 3), (-6, -2, 0, 2, 6), (-9, -3, 0, 3, 9), (-8, -4, 0, 4, 8)]
    off = spread[int(rng.integers(len(spread)))]
    return int(rng.integers(12, 41)), tuple(int(d) for d in rng.permutation(off))


INTERVAL = Exercise("interval", (14, (-4, 0, -2, 4, 2)), _drawn_interval, _interval)
