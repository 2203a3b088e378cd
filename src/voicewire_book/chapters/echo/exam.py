"""The questions of the echo part's exam paper, and the inputs of its assignment's hidden tests."""

from __future__ import annotations

import math

import numpy as np

from voicewire.echo.metrics import erle, expected_rise, expected_tracking
from voicewire.echo.reference import nlms_step
from voicewire_book.kit.questions import Question, Step, shown

__all__ = ["hidden", "questions"]


def questions(rng: np.random.Generator) -> list[Question]:
    """Return the questions, their numbers drawn."""
    return [_erle(rng), _nlms(rng), _rls(rng), _tracking(rng), _trade(rng)]


def _erle(rng: np.random.Generator) -> Question:
    echo, noise, off = int(rng.integers(2, 10)), float(rng.choice([0.01, 0.02, 0.04, 0.05])), int(rng.integers(80, 98))
    left = echo * (1 - off / 100) ** 2
    value = 10 * math.log10((echo + noise) / (left + noise))
    one, other = np.tile([1.0, 1.0, -1.0, -1.0], 50), np.tile([1.0, -1.0, 1.0, -1.0], 50)
    heard = math.sqrt(echo) * one + math.sqrt(noise) * other
    residue = math.sqrt(left) * one + math.sqrt(noise) * other
    limit = 10 * math.log10((echo + noise) / noise)
    return Question(
        "How much is gone",
        f"A microphone hears an echo of power {echo} and, independent of it, noise of power {noise:g}. A filter takes "
        f"{off} % off the amplitude of the echo. What is the echo return loss enhancement in dB? Which value can no "
        "filter exceed, however good it is?",
        (
            Step(2, f"The echo that is left has the power ${echo} \\cdot {1 - off / 100:.2g}^2 = {shown(left)}$."),
            Step(2, f"With the noise in both: $10\\lg(({echo} + {noise:g})/({shown(left)} + {noise:g})) = "
                    f"{shown(value)}$ dB."),
            Step(1, f"The noise stays: at most {shown(limit)} dB."),
        ),
        value,
        float(np.mean(erle(heard, residue))),
        10,
    )  # fmt: skip


def _nlms(rng: np.random.Generator) -> Question:
    first, second = int(rng.choice([1, 2, -2, 3])), int(rng.choice([1, -1, 2, 4]))
    path = [int(rng.integers(1, 5)), int(rng.choice([-3, -2, 2, 3]))]
    one = path[0] * first  # the window holds the first sample only
    tap = one / first
    two = path[0] * second + path[1] * first
    error = two - tap * second
    energy = second**2 + first**2
    taps = (tap + second * error / energy, first * error / energy)
    made, _ = nlms_step(np.zeros(2), np.array([first, 0.0]), one, 1.0, 0.0)
    made, _ = nlms_step(made, np.array([second, first]), two, 1.0, 0.0)
    return Question(
        "Two samples of NLMS",
        f"A path has the taps ({path[0]}, {path[1]}); there is no noise. The samples {first} and {second} are played, "
        "silence before them. A filter with two taps begins at zero and learns by NLMS with $\\mu = 1$, $\\epsilon = "
        "0$. "
        "Where are its taps after both samples? Show that the second step silences the error of the sample that it "
        "used.",
        (
            Step(2, f"The first window is $({first}, 0)$, {one} is heard: the taps become $({shown(tap)}, 0)$."),
            Step(2, f"The second window is $({second}, {first})$, {two} is heard, the error is {shown(error)}."),
            Step(2, f"The step is the window times ${shown(error)}/{energy}$: the taps are "
                    f"$({shown(taps[0])}, {shown(taps[1])})$."),
            Step(1, "The new taps times the second window give what was heard."),
        ),
        taps[1],
        float(np.real(made[1])),
        16,
    )  # fmt: skip


def _rls(rng: np.random.Generator) -> Question:
    memory = float(rng.choice([0.5, 0.8, 0.9]))
    windows = [int(rng.choice([1, 2, 3])), int(rng.choice([-2, 1, 2]))]
    heard = [int(rng.integers(1, 7)), int(rng.choice([-4, -3, 3, 5]))]
    power = memory * (memory * 1 + windows[0] ** 2) + windows[1] ** 2
    cross = memory * windows[0] * heard[0] + windows[1] * heard[1]
    tap, inverse = 0.0, 1.0
    for x, d in zip(windows, heard, strict=True):  # by the gain and the inverse, as RLS runs
        gain = inverse * x / (memory + x * inverse * x)
        tap, inverse = tap + gain * (d - tap * x), (inverse - gain * x * inverse) / memory
    return Question(
        "RLS with one tap",
        f"A filter with one tap learns by RLS with $\\lambda = {memory:g}$, $R(0) = 1$, $g(0) = 0$. The windows "
        f"{windows[0]} and {windows[1]} come, {heard[0]} and {heard[1]} are heard. What is the tap after both? Why "
        "does "
        "RLS on a real filter carry $P = R^{-1}$ along, and what saves the inversion?",
        (
            Step(2, f"$R = {shown(power)}$, by $R \\leftarrow \\lambda R + x^2$ twice."),
            Step(1, f"$p = {shown(cross)}$, by $p \\leftarrow \\lambda p + x d$ twice."),
            Step(1, f"$g = p/R = {shown(cross / power)}$."),
            Step(2, "Solving anew costs the third power of the number of taps for each sample; the matrix inversion "
                    "lemma corrects $P$ by a product of two vectors."),
        ),
        cross / power,
        tap,
        14,
    )  # fmt: skip


def _tracking(rng: np.random.Generator) -> Question:
    taps, memory = int(rng.choice([64, 128, 256, 512])), int(rng.choice([16, 24, 32, 48]))
    passes = int(rng.integers(2, 6))
    samples = math.log(20) * memory * taps / passes
    return Question(
        "Back after a change",
        f"All paths of a scene change their sign. A filter with $L = {taps}$ taps a path has the memory of $K L$ "
        "samples, "
        f"$K = {memory}$, and uses each sample {passes} times. After how many samples does theory expect a "
        "misalignment "
        "of $-20$ dB? By how many dB does its floor lie above that of one pass with the same memory?",
        (
            Step(2, "After the change the misalignment is that of $2h$; it decays as $2e^{-N_{it}n/(KL)}$."),
            Step(2, f"$-20$ dB is a tenth: $n = \\ln 20 \\cdot KL/N_{{it}} = {shown(samples, 5)}$ samples."),
            Step(2, f"$10 \\lg {passes} = {shown(expected_rise(passes))}$ dB: the memory is in effect that much "
                    "shorter."),
        ),
        samples,
        expected_tracking(taps, memory, passes),
        12,
    )


def _trade(rng: np.random.Generator) -> Question:
    passes, faster = int(rng.integers(2, 6)), int(rng.integers(8, 20))
    slower = faster * passes
    floor = -int(rng.integers(24, 34))
    low = floor - expected_rise(passes)
    return Question(
        "Faster, or only shorter?",
        f"A paper reports that {passes} passes over each sample bring a filter back in {faster} thousand samples, "
        "where "
        f"one pass needs {slower} thousand. With {passes} passes its floor lies at {floor} dB. Both have the same "
        "memory "
        "$K$. Where does theory expect the floor of one pass? Name the comparison that shows whether reusing samples "
        "pays, say what has to be equal in it, and what must be fixed before it is run.",
        (
            Step(2, f"${passes}$ passes act like a memory ${passes}$ times shorter: the floor of one pass lies at "
                    f"{shown(low)} dB."),
            Step(2, "The comparison: one pass with its memory shortened to the same floor (or the same tracking "
                    "time)."),
            Step(2, "Equal in it: the scene and its noise, the floor or the time, and the work for each sample."),
            Step(2, "Fixed before: the level that counts as *back*, the tolerance, and the number of scenes."),
        ),
        low,
        floor - 10 * math.log10(slower / faster),
        18,
    )  # fmt: skip


def hidden(rng: np.random.Generator) -> dict[str, list[tuple[str, str]]]:
    """Return calls with which an assignment's hidden tests try the functions that it asks for."""
    def some(count: int, spread: int = 9) -> list[float]:
        return [float(v) for v in rng.integers(1, spread, count) * rng.choice([-1, 1], count)]

    taps = [(some(size), some(size)) for size in (2, 3, 4)]
    heard = [(some(5), some(5), int(rng.integers(1, 9)) / 10) for _ in "12"]
    largest = [[float(v) for v in rng.permutation(8)[:2] + 1] for _ in "123"]  # one is the larger
    moves = [([[8.0, 1.0], [1.0, 8.0]], [r[0], -r[1]], 2.0 ** -int(rng.integers(0, 4))) for r in largest]
    learnt = [(some(12), some(12), int(rng.integers(2, 5)), int(rng.integers(2, 10)) / 10) for _ in "12"]
    return {
        "t1": [(f"float(misalignment(np.array({a}), np.array({b})))", "") for a, b in taps if a != b],
        "t2": [
            (f"[round(float(v), 9) for v in predistort(np.array({left}), np.array({right}), {amount})[{side}]]", "")
            for left, right, amount in heard for side in (0, 1)
        ],
        "t3": [(f"float(move(np.array({R}), np.array({r}), {alpha})[1])", "") for R, r, alpha in moves],
        "t4": [
            (f"[round(float(v), 5) for v in nlms(np.array({x}), np.array({d}), {length}, {step})]", "")
            for x, d, length, step in learnt
        ],
    }
