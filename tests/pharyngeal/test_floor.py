"""Why voicing is looked for from 40 Hz up: what 60 Hz would accept of short vowels and of creak, as chapter 2 says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import parselmouth
from parselmouth.praat import call

from voicewire.pharyngeal import formant_plausibility, synthesis
from voicewire.pharyngeal.audio_files import Sound
from voicewire.pharyngeal.textgrid import Interval
from voicewire_book import paths

CHAPTER = Path(__file__).parents[2] / "notebooks" / "pharyngeal" / "02_formants.ipynb"
RATE = synthesis.RATE


def pulses(rng, f0, scatter):
    """F0 that is drawn anew for each period."""
    out = np.empty(f0.size)
    at = 0
    while at < f0.size:
        period = max(1, int(RATE / (f0[at] * max(rng.normal(1, scatter), 0.3))))
        out[at : at + period] = RATE / period
        at += period
    return out


def spoken(rng, low, high, least, most):
    """A vowel of 60 to 160 ms between hiss or silence: F0 (Hz) glides, its periods scatter by a share."""
    n, side = round(rng.uniform(0.06, 0.16) * RATE), round(0.15 * RATE)
    f0 = rng.uniform(low, high) * (1 + rng.uniform(-0.3, 0.3) * np.linspace(-0.5, 0.5, n))
    source = np.zeros(n + 2 * side)
    source[side : side + n] = synthesis.glottal_source(pulses(rng, f0, rng.uniform(least, most)), RATE)
    tokens = formant_plausibility.tokens("man")
    poles = np.append(tokens[rng.integers(len(tokens))], [3900.0, 4700.0])
    y = synthesis.cascade(source, np.tile(poles, (source.size, 1)))
    loud = y[side : side + n].std()
    for part in (slice(0, side), slice(side + n, None)):
        y[part] += rng.choice([0.0, 0.3]) * loud * np.diff(rng.normal(size=side + 1))
    y += rng.normal(size=y.size) * loud * 10 ** (-rng.choice([40, 30, 20]) / 20)
    return Sound(0.5 * y / np.abs(y).max(), RATE), Interval("v", side / RATE, (side + n) / RATE)


def passed(sound, mark, floor):
    samples = np.pad(sound.samples, round(0.06 * RATE))
    whole = parselmouth.Sound(samples, sampling_frequency=RATE, start_time=-0.06)
    pitch = call(whole, "To Pitch (ac)", 0.005, floor, 15, "no", 0.03, 0.45, 0.01, 0.35, 0.14, 600.0)
    blocks = sound.samples[: sound.samples.size // 640 * 640].reshape(-1, 640)
    reason, _ = formant_plausibility._gate(
        sound, mark, (mark.start + mark.end) / 2, float(blocks.std(axis=1).max()), (pitch, pitch)
    )
    return not reason


def counted(seed):
    rng = np.random.default_rng(seed)
    vowels = [spoken(rng, 70, 100, 0.005, 0.03) for _ in range(200)]
    creaks = [spoken(rng, 25, 57, 0.05, 0.2) for _ in range(200)]
    return {
        floor: (sum(not passed(*one, floor) for one in vowels), sum(passed(*one, floor) for one in creaks))
        for floor in (40.0, 60.0)
    }


def test_a_higher_floor_refuses_fewer_vowels_and_lets_more_creak_through():
    found = counted(20261126)
    (refused, creak), (refused_60, creak_60) = found[40.0], found[60.0]
    assert refused_60 < refused and creak_60 > creak
    cells = json.loads(CHAPTER.read_text("utf-8"))["cells"]
    text = " ".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert f"refuses {refused_60} instead of {refused} of 200 short vowels" in text
    assert f"lets {creak_60} instead of {creak} of 200 creaks through" in text


def test_the_chapter_counts_the_refusals_that_are_kept():
    table = pd.read_csv(paths.data("pharyngeal") / "elsewhere.csv", keep_default_na=False)
    rows = table[table["source"] == "sentences"]
    why = rows["reason"].to_numpy().reshape(-1, 3)
    whole = (why != "").all(axis=1)
    steady, creak = ([reason.startswith(said) for reason in why[whole, 0]] for said in ("no steady voice", "creak"))
    text = CHAPTER.read_text("utf-8")
    assert f"{whole.sum()} vowels are refused whole: {sum(steady)} have no steady voice" in text and sum(creak) == 1
    assert f"F1 is refused in one more, {(why[:, 0] != '').sum()} of {len(why)}" in text
