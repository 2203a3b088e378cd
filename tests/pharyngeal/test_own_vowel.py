"""A vowel of one's own: the chapter's tracker beside Praat's, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import resample_poly

from voicewire.pharyngeal import formants, synthesis
from voicewire.pharyngeal.audio_files import Sound, SoundError
from voicewire_book.chapters.pharyngeal import own_vowel

RATE = 48_000  # of a browser
RMS = (10.0, 30.0)  # Hz, F1 and F2: the chapter's words; set after 8.1 and 24.7 had been measured
FARTHEST = (30.0, 100.0)  # Hz; after 24 and 89, both where Praat follows a harmonic
IPA = {
    "i": "i", "ɪ": "\\ic", "ɛ": "\\ef", "æ": "\\ae", "ʌ": "\\vt", "ɑ": "\\as", "ɔ": "\\ct", "ʊ": "\\hs", "u": "u",
    "ɝ": "\\er\\hr",
}  # fmt: skip


def held(F1: float, F2: float, f0: float, scale: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return 2 s of a vowel at a level of half full scale, with vibrato, 30 dB above noise, between silences."""
    n = 2 * synthesis.RATE
    pitch = f0 * (1 + 0.01 * np.sin(2 * np.pi * 5 * np.arange(n) / synthesis.RATE))
    F3 = max(2400 * scale, F2 + 400)
    centres = [F1, F2, F3, max(3500 * scale, F3 + 700), 4500 * scale, 5500 * scale, 6500 * scale]
    x = synthesis.cascade(synthesis.glottal_source(pitch, synthesis.RATE), np.tile(centres, (n, 1)))
    x[: n // 8] *= np.linspace(0, 1, n // 8)
    x = synthesis.add_noise(0.5 * x / np.abs(x).max(), 30.0, rng)
    quiet = np.zeros(3000)
    x = resample_poly(np.concatenate([quiet, x, quiet]), 3, 1)
    return np.asarray(x + 1e-4 * rng.standard_normal(x.size), dtype=float)


def vowels() -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield 50: ten vowels, three pitches of a man and two of a woman."""
    rng = np.random.default_rng(20)
    for talker, pitches, scale in (("man", (100, 120, 145), 1.0), ("woman", (175, 205), 1.15)):
        for F1, F2 in own_vowel.CHART[talker].values():
            for f0 in pitches:
                yield talker, held(F1, F2, f0, scale, rng)


def test_it_agrees_with_praat_on_fifty_vowels() -> None:
    apart = []
    for talker, samples in vowels():
        sound = Sound(samples, RATE, "vowel")
        found = own_vowel.measure(sound, talker)
        part = Sound(sound.part(found.start, found.end), RATE, "its middle")
        settings = formants.Settings(ceiling=float(own_vowel.CEILINGS[talker]))
        praat = np.nanmedian(formants.track(part, "praat", settings).frequencies[:, :2], axis=0)
        apart.append((found.F1 - praat[0], found.F2 - praat[1]))
    gaps = np.array(apart)
    assert len(gaps) == 50
    assert (np.sqrt(np.mean(gaps**2, axis=0)) <= RMS).all()
    assert (np.abs(gaps).max(axis=0) <= FARTHEST).all()


def test_the_charts_vowels_are_praats_table_of_peterson_and_barney() -> None:
    from parselmouth.praat import call

    table = call("Create formant table (Peterson & Barney 1952)")
    rows = range(1, int(call(table, "Get number of rows")) + 1)
    whose = {row: (call(table, "Get value", row, "Type"), call(table, "Get value", row, "IPA")) for row in rows}
    for talker, letter in (("man", "m"), ("woman", "w")):
        for name, means in own_vowel.CHART[talker].items():
            mine = [
                [float(call(table, "Get value", row, formant)) for formant in ("F1", "F2")]
                for row in rows
                if whose[row] == (letter, IPA[name])
            ]
            assert len(mine) > 50
            assert np.exp(np.mean(np.log(mine), axis=0)) == pytest.approx(means, abs=0.51)


def noise(level: float) -> NDArray[np.float64]:
    return level * np.random.default_rng(5).standard_normal(2 * RATE)


def gliding() -> NDArray[np.float64]:
    n = 2 * synthesis.RATE
    centres = np.tile([700.0, 1100, 2500, 3500, 4500, 5500, 6500], (n, 1))
    centres[:, 0], centres[:, 1] = np.linspace(750, 280, n), np.linspace(1100, 2200, n)
    x = synthesis.cascade(synthesis.glottal_source(np.full(n, 120.0), synthesis.RATE), centres)
    return np.asarray(resample_poly(0.5 * x / np.abs(x).max(), 3, 1))


VOWEL = held(716, 1087, 120, 1.0, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("samples", "rate", "reason"),
    [
        (np.zeros(2 * RATE), RATE, "silence"),
        (1e-5 * noise(1.0), RATE, "silence"),
        (noise(0.05), RATE, "no voice in it, only noise"),
        (np.convolve(noise(0.05), np.ones(24) / 24, "same"), RATE, "voice"),
        (np.clip(4 * VOWEL, -0.98, 0.98), RATE, "clipped"),
        (np.where(np.arange(VOWEL.size) < RATE // 2, VOWEL, 1e-3 * noise(1.0)[0]), RATE, "voice without a gap"),
        (gliding(), RATE, "formants move"),
        (VOWEL[: RATE // 4], RATE, "0.5 to 10 s"),
        (VOWEL[::6], RATE // 6, "need 10000 Hz"),
    ],
    ids=["silence", "nearly silence", "noise", "dull noise", "clipped", "short", "gliding", "cut", "low rate"],
)
def test_what_is_no_held_vowel_is_refused_with_the_reason(
    samples: NDArray[np.float64], rate: int, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SoundError, match=reason):
        own_vowel.measure(Sound(samples, rate, "mine"))
    own_vowel.show(samples, rate)
    assert reason in capsys.readouterr().out
    assert not plt.get_fignums()


def test_a_vowel_is_shown_on_the_chart(capsys: pytest.CaptureFixture[str]) -> None:
    own_vowel.show(VOWEL, float(RATE))
    assert capsys.readouterr().out.startswith("F1 7")
    (number,) = plt.get_fignums()
    (ax,) = plt.figure(number).axes
    assert ax.xaxis_inverted() and ax.yaxis_inverted()
    assert {text.get_text() for text in ax.texts} >= set(own_vowel.CHART["man"])
    plt.close("all")
