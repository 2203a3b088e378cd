"""A vowel of one's own: two seconds from a microphone to a dot on the vowel chart, or the reason why not.

It asks for no library beyond NumPy, SciPy and Matplotlib, so that it runs in a page of the book, where Praat isn't; its
tracker is the chapter's own (`voicewire.pharyngeal.reference.track`). Explained in notebook ``02_formants``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.signal import resample_poly

from voicewire._kit import checks
from voicewire.pharyngeal import reference
from voicewire.pharyngeal.audio_files import Sound, SoundError, is_clipped, is_silent
from voicewire_book.kit import figures

__all__ = ["CEILINGS", "CHART", "Vowel", "chart", "measure", "show"]

Array = NDArray[np.float64]

CEILINGS: Final[Mapping[str, int]] = {"man": 5000, "woman": 5500}
"""Highest frequency searched (Hz) by whose voice it is."""
CHART: Final[Mapping[str, Mapping[str, tuple[int, int]]]] = {
    "man": {
        "i": (264, 2290), "ɪ": (389, 1990), "ɛ": (523, 1851), "æ": (661, 1723), "ʌ": (629, 1187),
        "ɑ": (716, 1087), "ɔ": (565, 828), "ʊ": (434, 1016), "u": (303, 862), "ɝ": (485, 1357),
    },
    "woman": {
        "i": (307, 2779), "ɪ": (438, 2469), "ɛ": (603, 2330), "æ": (855, 2041), "ʌ": (755, 1404),
        "ɑ": (859, 1225), "ɔ": (580, 906), "ʊ": (466, 1151), "u": (375, 945), "ɝ": (499, 1631),
    },
}  # fmt: skip
"""Geometric means of F1 and F2 (Hz) of American vowels: Peterson and Barney (1952), from the table in Praat."""

PITCH: Final = (75.0, 400.0)  # Hz, where a period is looked for
PERIODIC: Final = 0.6  # of a voice's frame, its likeness to itself a period later; Praat's voicing threshold is 0.45
QUIET: Final = 0.1  # of the loudest frame's amplitude, 20 dB below it: no longer the vowel
LEAST: Final = 0.3  # s of voice without a gap
FRAME: Final = 0.04  # s: three periods of the lowest pitch
HOP: Final = 0.01  # s
MIDDLE: Final = (0.2, 0.8)  # of the voiced stretch: its ends move
BROAD: Final = 600.0  # Hz: broader poles are the voice's tilt
STEADY: Final = (0.15, 0.15)  # quartiles of F1 and F2 lie no farther apart than this share of the median


@dataclass(frozen=True)
class Vowel:
    """What was found in a recording.

    Attributes
    ----------
    start, end : float
        s, the stretch that was measured.
    f0, F1, F2 : float
        Hz, medians over that stretch.
    """

    start: float
    end: float
    f0: float
    F1: float
    F2: float

    def __str__(self) -> str:
        found = f"F1 {self.F1:.0f} Hz, F2 {self.F2:.0f} Hz, f0 {self.f0:.0f} Hz"
        return f"{found}, from {self.start:.2f} to {self.end:.2f} s"


def _periods(x: Array, rate: int) -> tuple[Array, Array, Array]:
    """Return of each frame its middle (s), how alike it is to itself a period later, and that period's pitch (Hz).

    The likeness is the autocorrelation over that of the window, as Boersma (1993) takes it.
    """
    n, hop = round(FRAME * rate), round(HOP * rate)
    window = np.hanning(n)
    frames = np.lib.stride_tricks.sliding_window_view(x, n)[::hop]
    frames = (frames - frames.mean(axis=1, keepdims=True)) * window
    size = 2 * n
    power = np.abs(np.fft.rfft(frames, size)) ** 2
    own = np.fft.irfft(np.abs(np.fft.rfft(window, size)) ** 2)[:n]
    alike = np.fft.irfft(power)[:, :n]
    alike = alike / np.maximum(alike[:, :1], 1e-20) / np.maximum(own / own[0], 1e-6)
    first, last = int(rate / PITCH[1]), int(rate / PITCH[0])
    lags = alike[:, first : last + 1]
    best = lags.max(axis=1)
    # the shortest period that is nearly as good as the best: twice a period fits as well
    period = first + np.argmax(lags >= 0.95 * best[:, None], axis=1)
    return (np.arange(len(frames)) * hop + n / 2) / rate, best, rate / period


def _longest(true: NDArray[np.bool_]) -> tuple[int, int]:
    """Return first and last place of the longest run that is true; the first is behind the last if none is."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], true.astype(int), [0]])))
    if not edges.size:
        return 0, -1
    starts, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    return int(starts[longest]), int(ends[longest]) - 1


@checks.takes(sound=checks.a(Sound), talker=checks.one_of(*CEILINGS))
def measure(sound: Sound, talker: str = "man") -> Vowel:
    """Measure a vowel that is held: F1 and F2 by the chapter's tracker, medians over the middle of its voiced stretch.
    """
    ceiling = CEILINGS[talker]
    if not 0.5 <= sound.duration <= 10:
        raise SoundError(f"{sound.name}: {sound.duration:.2g} s, where 0.5 to 10 s are needed")
    if sound.rate < 2 * ceiling:
        raise SoundError(f"{sound.name}: sampled at {sound.rate} Hz; formants up to {ceiling} Hz need {2 * ceiling} Hz")
    if is_silent(sound.samples):
        raise SoundError(f"{sound.name}: silence: is the microphone on?")
    if is_clipped(sound.samples):
        raise SoundError(f"{sound.name}: clipped: speak more softly, or farther from the microphone")
    ratio = Fraction(2 * ceiling, sound.rate)
    low = np.asarray(resample_poly(sound.samples, ratio.numerator, ratio.denominator), dtype=float)
    times, alike, pitch = _periods(low, 2 * ceiling)
    size, hop = round(FRAME * 2 * ceiling), round(HOP * 2 * ceiling)
    level = np.sqrt(np.mean(np.lib.stride_tricks.sliding_window_view(low, size)[::hop] ** 2, axis=1))
    voiced = (alike >= PERIODIC) & (level >= QUIET * level.max())
    first, last = _longest(voiced)
    if not voiced.any():
        raise SoundError(f"{sound.name}: no voice in it, only noise")
    if (length := times[last] - times[first]) < LEAST:
        raise SoundError(f"{sound.name}: {length:.2f} s of voice without a gap; hold the vowel, {LEAST:g} s at least")
    start, end = (times[first] + share * length for share in MIDDLE)
    part = low[round(start * 2 * ceiling) : round(end * 2 * ceiling)]
    found = []
    for _, frequencies, bandwidths in reference.track(part, 2.0 * ceiling, step=HOP):
        kept = frequencies[(bandwidths < BROAD) & (frequencies > 90) & (frequencies < ceiling - 50)]
        if kept.size >= 2:
            found.append(kept[:2])
    if len(found) < 5:
        raise SoundError(f"{sound.name}: no two formants in it: is it a vowel?")
    quarter, middle, three = np.quantile(np.array(found), (0.25, 0.5, 0.75), axis=0)
    if ((three - quarter) > np.array(STEADY) * middle).any():
        raise SoundError(f"{sound.name}: its formants move: hold one vowel")
    inside = slice(first, last + 1)
    f0 = float(np.median(pitch[inside]))
    return Vowel(float(start), float(end), f0, float(middle[0]), float(middle[1]))


@checks.takes(vowel=checks.a(Vowel), talker=checks.one_of(*CEILINGS), ax=checks.maybe(checks.a(Axes)))
def chart(vowel: Vowel, talker: str = "man", ax: Axes | None = None) -> Axes:
    """Draw a vowel on the chart of American vowels, F1 against F2, both reversed as phoneticians have them."""
    ax = figures.new_axes() if ax is None else ax
    for name, (F1, F2) in CHART[talker].items():
        ax.plot(F2, F1, ".", color="0.45", markersize=4)
        ax.annotate(name, (F2, F1), xytext=(4, 4), textcoords="offset points", fontsize=11)
    ax.plot(vowel.F2, vowel.F1, "*", markersize=16, color="#b34700", label="yours")
    ax.set(xlabel="F2 (Hz)", ylabel="F1 (Hz)")
    ax.invert_xaxis()
    ax.invert_yaxis()
    ax.legend()
    return figures.origin(ax, "recorded elsewhere")


@checks.takes(samples=checks.array(sound=True), rate=checks.number(1000.0, 1e6), talker=checks.one_of(*CEILINGS))
def show(samples: Array, rate: float, talker: str = "man") -> None:
    """Print what was found in a recording and draw it, or print why there is nothing to be found."""
    try:
        vowel = measure(Sound(np.asarray(samples, dtype=float), round(rate), "Your recording"), talker)
    except SoundError as error:
        print(error)
        return
    print(vowel)
    chart(vowel, talker)
