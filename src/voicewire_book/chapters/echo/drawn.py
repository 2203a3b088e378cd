"""The exercises by hand of these chapters whose numbers each reader draws: see `voicewire_book.kit.drawn`."""

from __future__ import annotations

import math

import numpy as np

from voicewire_book.kit.drawn import Drawn, Exercise

__all__ = ["ERLE", "MEMORY", "PASSES"]


def _erle(echo: int, noise: float, off: int) -> Drawn:
    kept = 1 - off / 100
    left = echo * kept**2

    def decibels(residue: float) -> float:
        return 10 * math.log10((echo + noise) / residue)

    value = decibels(left + noise)
    return Drawn(
        f"P = {echo}, N = {noise:g}, a = {off} %",
        value,
        (
            (-20 * math.log10(kept), "this is what happens to the echo alone: noise is at the microphone before and "
             "after."),
            (decibels(echo * kept + noise), f"{off} % of the amplitude are gone: what power has what is left?"),
            (2 * value, "ERLE compares powers: 10 log10, not 20."),
            (decibels(noise), "what is left of the echo counts too."),
        ),
        f"{kept:g} of the amplitude is left: a power of {kept:g}² · {echo} = {left:.4g}.\n"
        f"Before the filter {echo} + {noise:g} = {echo + noise:g}, after it {left:.4g} + {noise:g} = "
        f"{left + noise:.4g}.\n"
        f"10 log10({echo + noise:g} / {left + noise:.4g}) = {value:.1f} dB.",
        unit="dB",
        right=f"what is left of the echo, {left:.4g}, and the noise, {noise:g}: both are in the residual.",
        tolerance=0.0,
        absolute=0.06,
    )  # fmt: skip


def _drawn_erle(rng: np.random.Generator) -> tuple[object, ...]:
    return int(rng.integers(2, 10)), float(rng.choice([0.01, 0.02, 0.04, 0.05])), int(rng.choice([75, 80, 90, 95]))


ERLE = Exercise("erle", (4, 0.02, 90), _drawn_erle, _erle)


def _memory(factor: int, taps: int, rate: int, part: int) -> Drawn:
    whole, log = factor * taps / rate, math.log(part)
    return Drawn(
        f"K = {factor}, L = {taps}, {rate} samples a second, w = {part}",
        whole * log,
        (
            (whole, "after so long it weighs 1/e, 37 %."),
            (whole * (1 - 1 / part), "a weight falls by a factor in equal times, not by an amount: half of the time "
             "leaves 61 %."),
            (whole / log, f"λ^n = 1/{part}: n is ln {part} times 1/(1 - λ), not divided by it."),
            (whole * log * rate, "this is in samples."),
            (factor / rate * log, "1 - λ is 1/(K L), not 1/K."),
        ),
        f"λ^n ≈ exp(-n/KL) is 1/{part} for n = KL ln {part} = {factor * taps} · {log:.3f} = "
        f"{factor * taps * log:.0f} samples.\n"
        f"At {rate} a second that is {whole * log:.2f} s.",
        unit="s",
        right=f"ln {part} of K L samples.",
        tolerance=0.003,
        absolute=0.006,
    )  # fmt: skip


def _drawn_memory(rng: np.random.Generator) -> tuple[int, ...]:
    return (int(rng.choice([24, 32, 48, 64, 96])), int(rng.choice([128, 256, 512])), int(rng.choice([8000, 16_000])),
            int(rng.choice([2, 4, 10])))  # fmt: skip


MEMORY = Exercise("memory", (96, 256, 8000, 2), _drawn_memory, _memory)


def _passes(limit: int, once: int) -> Drawn:
    one, three, five = limit + once, limit + once / 3, limit + once / 5
    saved = three - five
    return Drawn(
        f"T(1) = {one}, T(3) = {three:g} thousand samples",
        saved / three,
        (
            (0.4, "so much it would be without a floor, T = c/N."),
            ((three - limit) / three, "so much all further passes together would save; five are asked."),
            (five, "this is the time of five passes; what share does it save?"),
            (saved, "this is the time saved; what share of that of three passes is it?"),
            (saved / one, "as a share of three passes, not of one."),
            (five / three, "this is what remains."),
            (0.6, "this is what would remain without a floor, T = c/N."),
        ),
        f"From one to three passes c - c/3 = {one} - {three:g} = {one - three:g}, so c = {once} and T_inf = {limit}.\n"
        f"Five passes need {limit} + {once}/5 = {five:g}.\n"
        f"That saves {saved:g} of {three:g}: {saved / three:.2f}.",
        right=f"T_inf = {limit}, c = {once}, T(5) = {five:g}.",
        tolerance=0.0,
        absolute=0.0055,
    )


PASSES = Exercise(
    "passes", (4, 21), lambda rng: (int(rng.integers(2, 11)), int(rng.choice([15, 30, 45, 60]))), _passes
)
