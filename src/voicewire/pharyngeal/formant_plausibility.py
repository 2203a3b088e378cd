"""Formants that answer with a number or with a reason: voicing, Peterson and Barney's limits, two trackers that agree.

A pole that is dropped leaves a gap; its neighbours keep their numbers. The trackers are those of ``02_formants``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire._kit._optional import needed
from voicewire.pharyngeal import audio_files as sounds
from voicewire.pharyngeal import librosa_import, reference
from voicewire.pharyngeal.audio_files import Sound
from voicewire.pharyngeal.formants import SHORTEST, one_value
from voicewire.pharyngeal.textgrid import Interval

__all__ = ["COLUMNS", "TALKERS", "Talker", "answers", "limits", "tokens"]

Array = NDArray[np.float64]
Talker = Literal["any", "man", "woman", "child"]
TALKERS: Final = ("any", "man", "woman", "child")
COLUMNS: Final = (
    "file", "label", "start", "end", "point", "time", "formant", "frequency", "bandwidth", "other", "confidence",
    "f0", "talker", "ceiling", "reason",
)  # fmt: skip
_CEILINGS: Final = {"any": (4500, 7500), "man": (4500, 5500), "woman": (5000, 6500), "child": (5500, 7500)}
_STEP: Final = 250.0  # Hz between the ceilings tried
_POLES: Final = 5  # below the ceiling, for both trackers
_BROAD: Final = (400.0, 600.0, 800.0)  # Hz: a broader pole is the voice's tilt or noise
_APART: Final = 0.15  # share of the frequency by which two trackers may differ
_SPACING: Final = 0.25  # of F0: how far a formant is off that lies between two harmonics, halfway at the mean
_WIDE: Final = (150.0, 550.0)  # Hz: a pole's bandwidth from which confidence falls, and where nothing is left
_WIDE_F1: Final = (100.0, 300.0)  # Hz: the same for F1, whose broad poles lie between F1 and the tilt, or F1 and F2
_NEAR: Final = 500.0  # Hz on either side of the chosen ceiling
_CERTAIN: Final = 0.65  # agreement times narrowness below which a pole may be none, and the numbers above it shift
_HALF: Final = 0.13  # share of the frequency that half the distance of two harmonics may have
_DOUBLED: Final = 10.0  # dB by which the odd harmonics of a doubled period lie below the even ones
_VOICED: Final = 2500.0  # Hz up to which a voice has all its harmonics
_DIP: Final = 30.0  # dB: the deepest dip of a harmonic that counts
_DIPS: Final = 6.5  # dB, mean over the harmonics: 7 of 798 made-up vowels had more; chords had 7.4 to 14
_BETWEEN: Final = -10.0  # dB: energy between the harmonics to that of the harmonics, below 1500 Hz
_FLOOR: Final = 10 ** (-50 / 20)  # of the sound's level: noise softer than in a good recording
_REACH: Final = 0.01  # s on either side of the point: three frames, and their median
_CREAK: Final = 60.0  # Hz
_HUM, _LOWEST = 66.0, 80.0  # Hz: hum of 50 and 60 Hz lies below; where a higher F0 is found, that was no hum's
_GLOTTAL: Final = (75.0, 1000.0)  # Hz: hum lies below, and harmonics above are those that jitter turns out of phase
_OCTAVE: Final = 0.75  # of the pitch in this band: a lower one of the whole sound is hum's, or that of several periods
_HIGHEST: Final = 400.0  # Hz: above it the harmonics lie too wide apart for F1
_REPEATS: Final = 0.067  # how well one token of Peterson and Barney's repeats (F1, the worst)
_PAUSE: Final = 30.0  # dB below the loudest 40 ms of the file
_PAD: Final = 0.06  # s
_HISS: Final = 3.0  # above to below 4 kHz; it was 1 until two of 36 noisy made-up vowels were refused, wrongly


@cache
def _tokens() -> tuple[tuple[str, Array], ...]:
    with needed():
        from parselmouth.praat import call

    table = call("Create formant table (Peterson & Barney 1952)")
    rows = range(1, call(table, "Get number of rows") + 1)
    types = np.array([call(table, "Get value", row, "Type") for row in rows])
    values = np.array([[float(call(table, "Get value", row, f"F{k}")) for k in (1, 2, 3)] for row in rows])
    return tuple((name, values[types == key]) for name, key in (("man", "m"), ("woman", "w"), ("child", "c")))


@checks.takes(talker=checks.one_of(*TALKERS))
def tokens(talker: Talker = "any") -> Array:
    """Return what Peterson and Barney measured, a row for each vowel said; the numbers come with Praat."""
    return np.vstack([values for name, values in _tokens() if talker in ("any", name)])


@checks.takes(talker=checks.one_of(*TALKERS))
def limits(talker: Talker = "any") -> Array:
    """Return the lowest and highest F1, F2 and F3 that Peterson and Barney measured, widened by one token's scatter.

    Parameters
    ----------
    talker : {"any", "man", "woman", "child"}
        Whose vowels.

    Returns
    -------
    ndarray of float, shape (2, 3)
        Hz; lowest, highest.

    Notes
    -----
    The 1,520 tokens come with Praat.

    Examples
    --------
    >>> low, high = limits("man")
    >>> bool(low[0] < 300 and high[0] > 700 and high[0] < limits("child")[1, 0])
    True
    """
    chosen = tokens(talker)
    return np.array([chosen.min(axis=0) / (1 + _REPEATS), chosen.max(axis=0) * (1 + _REPEATS)])


def _slots(f: Array, b: Array) -> Array:
    """Number the poles as they come, lowest first; a broad one empties its slot and moves no other."""
    out = np.full((2, 3), np.nan)
    real = np.isfinite(f) & (f > 90.0)
    n = min(3, int(real.sum()))
    out[0, :n], out[1, :n] = f[real][:n], b[real][:n]
    return np.where(out[1] < _BROAD, out, np.nan)


def _middle(frames: list[Array]) -> Array:
    """Median over frames; a slot that is empty in most of them stays empty."""
    stack = np.array(frames)
    found = np.full((2, 3), np.nan)
    full = np.isfinite(stack[:, 0]).mean(axis=0) > 0.5
    if full.any():
        found[:, full] = np.nanmedian(stack[:, :, full], axis=0)
    return found


def _floored(samples: Array) -> Array:
    """Give sound without noise the floor of a quiet recording: where a spectrum falls to nothing, trackers find poles.

    Both find the same ones, being alike. What has its own floor is left as it is.
    """
    size, wanted = 1024, _FLOOR * float(samples.std())
    frames = samples[: samples.size // size * size].reshape(-1, size) * np.hanning(size)
    own = np.percentile((np.abs(np.fft.rfft(frames)) ** 2).mean(axis=0), 5) / (0.375 * size) if len(frames) else 0.0
    if np.sqrt(own) > wanted:
        return samples
    return np.asarray(samples + wanted * np.random.default_rng(0).standard_normal(samples.size), dtype=float)


def _both(sound: Sound, times: Sequence[float], ceiling: float) -> list[tuple[Array, Array]]:
    """Praat's Burg and the book's Levinson at each time: (frequency, bandwidth) by number, shape (2, 3) each."""
    with needed():
        import parselmouth
        from parselmouth.praat import call

    pad = np.zeros(round(_PAD * sound.rate))
    samples = np.concatenate([pad, sound.samples, pad])
    samples = _floored(samples)
    whole = parselmouth.Sound(samples, sampling_frequency=sound.rate)
    burg = call(whole, "To Formant (burg)", 0.005, _POLES, ceiling, 0.025, 50.0)
    rate = 2 * ceiling
    low = reference.emphasised(librosa_import.librosa().resample(samples, orig_sr=sound.rate, target_sr=rate), rate)
    n = round(0.05 * rate)
    out = []
    for time in times:
        praat, own = [], []
        for at in time + pad.size / sound.rate + np.array([-_REACH, 0.0, _REACH]):
            pairs = [[call(burg, f"Get {what} at time", k, at, "hertz", "linear") for k in range(1, _POLES + 1)]
                     for what in ("value", "bandwidth")]  # fmt: skip
            praat.append(_slots(*np.array(pairs)))
            first = max(0, round(at * rate - n / 2))
            frame = low[first : first + n]
            frame = frame * reference.frame_window(frame.size)
            r = reference.autocorrelation(frame, 2 * _POLES)
            if r[0] > 0:
                own.append(_slots(*reference.poles(reference.levinson(r)[0], rate)))
        out.append((_middle(praat), _middle(own) if own else np.full((2, 3), np.nan)))
    return out


def _sort(praat: Array, own: Array, bounds: Array) -> tuple[list[str], Array]:
    """Why each of three numbers is refused ('' where it is not), and how far the trackers lie apart (a share)."""
    apart = np.abs(praat[0] - own[0]) / praat[0]
    reasons = []
    for k in range(3):
        value = praat[0, k]
        if not np.isfinite(value):
            reasons.append("no narrow pole")
        elif not bounds[0, k] <= value <= bounds[1, k]:
            reasons.append(f"implausible: {value:.0f} Hz")
        elif not np.isfinite(own[0, k]):
            reasons.append(f"one tracker only: {value:.0f} Hz")
        elif apart[k] > _APART:
            reasons.append(f"trackers disagree: {value:.0f} and {own[0, k]:.0f} Hz")
        else:
            reasons.append("")
    return reasons, apart


def _pitches(sound: Sound) -> tuple[object, object]:
    """Praat's pitch of the sound, and of what lies between hum and 1 kHz."""
    with needed():
        import parselmouth
        from parselmouth.praat import call
        from scipy.signal import butter, sosfiltfilt

    padded = np.pad(sound.samples, round(_PAD * sound.rate))
    low = sosfiltfilt(butter(3, _GLOTTAL, "bandpass", fs=sound.rate, output="sos"), padded)
    one, other = (
        call(
            parselmouth.Sound(samples, sampling_frequency=sound.rate, start_time=-_PAD),
            "To Pitch (ac)", 0.005, 40.0, 15, "no", 0.03, 0.45, 0.01, 0.35, 0.14, 600.0,
        )
        for samples in (padded, low)
    )  # fmt: skip
    return one, other


def _pitch(pitches: tuple[object, object], time: float) -> float:
    """F0 at a time, Hz; NaN without a steady voice."""
    with needed():
        from parselmouth.praat import call

    whole, low = (
        np.array([call(pitch, "Get value at time", time + d, "Hertz", "linear") for d in (-0.01, 0.0, 0.01)])
        for pitch in pitches
    )
    if np.isfinite(whole).sum() < 2:
        return np.nan
    f0 = float(np.nanmedian(whole))
    below = float(np.nanmedian(low)) if np.isfinite(low).sum() >= 2 else f0
    return below if f0 < _OCTAVE * below else f0


def _hums(sound: Sound, time: float) -> bool:
    """Whether a fifth of the energy is in a tone lower than a voice's, which has no octave as creak has."""
    near = sound.part(time - 0.1, time + 0.1)
    power = np.abs(np.fft.rfft(near * np.hanning(near.size))) ** 2
    hertz = np.fft.rfftfreq(near.size, 1 / sound.rate)
    low = hertz < _HUM
    tone = hertz[np.argmax(np.where(low, power, 0.0))]
    octave = power[(hertz > 1.8 * tone) & (hertz < 2.2 * tone)]
    strong = float(power[low].sum()) > 0.2 * float(power.sum())
    return strong and float(octave.max(initial=0.0)) < 0.1 * float(power[low].max())


def _gate(
    sound: Sound, interval: Interval, time: float, loudest: float, pitches: tuple[object, object]
) -> tuple[str, float]:
    """Why there is nothing to measure at a time ('' where there is), and F0 there (Hz)."""
    if interval.start < 0 or interval.end > sound.duration + 1e-6:
        return "outside the sound", np.nan
    if interval.end - interval.start < SHORTEST:
        return "too short", np.nan
    near = sound.part(time - 0.02, time + 0.02)
    if sounds.is_silent(near):
        return "silent", np.nan
    if float(np.std(near)) < loudest * 10 ** (-_PAUSE / 20):
        return "pause", np.nan
    if stuck := one_value(sound, interval, time):
        return stuck, np.nan
    if not np.isfinite(f0 := _pitch(pitches, time)):
        return "no steady voice (a pause, a consonant or creak)", np.nan
    if f0 < _LOWEST and _hums(sound, time):
        return f"much of the energy lies below {_HUM:.0f} Hz, as of hum", f0
    if f0 < _CREAK:
        return "creak", f0
    if f0 > _HIGHEST:
        return "F0 too high", f0
    power = np.abs(np.fft.rfft(near * np.hanning(near.size))) ** 2
    hertz = np.fft.rfftfreq(near.size, 1 / sound.rate)
    if power[hertz > 4000].sum() > _HISS * power[hertz < 4000].sum():
        return "consonant (most energy lies above 4 kHz)", f0
    return "clipped" if sounds.is_clipped(near) else "", f0


def _sure(frequency: float, bandwidth: float, apart: float, f0: float, wide: tuple[float, float] = _WIDE) -> float:
    """How far a number can be trusted, 0 to 1: agreement, harmonics that lie close enough, and a narrow pole.

    The trackers are both linear prediction: above 200 Hz both follow a harmonic, and agree on the wrong F1.
    """
    shares = apart / _APART, _SPACING * f0 / frequency / _APART, (bandwidth - wide[0]) / (wide[1] - wide[0])
    return float(np.prod(1 - np.clip(shares, 0.0, 1.0)))


def _quality(praat: Array, own: Array) -> Array:
    """Agreement of the trackers times narrowness of the pole, 0 to 1: how surely there is a formant."""
    with np.errstate(invalid="ignore"):
        agree = 1 - np.clip(np.abs(praat[0] - own[0]) / praat[0] / _APART, 0.0, 1.0)
        narrow = 1 - np.clip((praat[1] - _WIDE[0]) / (_WIDE[1] - _WIDE[0]), 0.0, 1.0)
        return np.asarray(np.nan_to_num(agree * narrow), dtype=float)


def _steady(praat: Array, tried: list[tuple[Array, Array]]) -> Array:
    """Share of the analyses with ceilings near the chosen one that give the same numbers, within 10 %."""
    values = np.array([each[0] for pair in tried for each in pair])
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(values - praat[0]) < 0.1 * praat[0]).mean(axis=0), dtype=float)


def _doubts(praat: Array, own: Array, reasons: list[str], f0: float, steady: Array) -> list[bool]:
    """Whether each number may be another formant's, which both trackers, being alike, would get wrong together.

    A pole too many below a formant, or one for two, shifts the numbers. So a number is in doubt beside one that is
    refused, above a pole that is doubtful itself or moves with the ceiling, above an F1 that is not above the second
    harmonic, below a doubtful number, and where half the distance of two harmonics is as much as it may be wrong.
    """
    quality = _quality(praat, own)
    with np.errstate(invalid="ignore"):
        firm = (quality >= _CERTAIN) & (steady >= 1 / 3)
        harmonic = 0.5 * f0 > _HALF * praat[0]
    firm[0] &= praat[0, 0] > 2 * f0
    gap = [reason != "" for reason in reasons]
    beside = [*(quality[1:] < 0.5), False]
    return [bool(any(gap[: k + 2]) or not firm[:k].all() or beside[k] or harmonic[k]) for k in range(3)]


def _spacing(sound: Sound, time: float, f0: float) -> float:
    """Return the distance of the harmonics (Hz): twice F0 where its odd harmonics are those of a doubled period."""
    near = sound.part(time - 2.5 / f0, time + 2.5 / f0)
    power = np.abs(np.fft.rfft(near * np.hanning(near.size), 4 * near.size)) ** 2
    count = int(min(3000.0, 0.45 * sound.rate) / f0)
    if count < 4:
        return f0
    at = np.rint(np.arange(1, count + 1) * f0 * 4 * near.size / sound.rate).astype(int)
    lines = np.array([power[max(0, i - 4) : i + 5].max() for i in at if i < power.size])
    odd, even = lines[0::2].sum(), lines[1::2].sum()
    return 2 * f0 if odd < even * 10 ** (-_DOUBLED / 10) else f0


def _one_voice(sound: Sound, time: float, f0: float) -> bool:
    """Whether the spectrum may be one voice's: all harmonics of F0, and little between them.

    Chords and talkers at once have a common subharmonic, which is found as F0: most of its harmonics are missing. A
    harmonic that is missing lies below stronger ones on both sides; between two formants the level falls smoothly.
    """
    near = sound.part(time - 2.5 / f0, time + 2.5 / f0)
    padded = 8 * near.size
    power = np.abs(np.fft.rfft(near * np.hanning(near.size), padded)) ** 2
    count = int(min(_VOICED, 0.45 * sound.rate) / f0)
    if count < 4 or near.size < 4.5 * sound.rate / f0:  # too short to tell harmonics apart
        return True
    step = f0 * padded / sound.rate

    def highest(place: float, reach: float) -> float:
        return float(power[round((place - reach) * step) : round((place + reach) * step) + 1].max())

    lines = np.array([highest(k, 0.15) for k in range(1, count + 1)])
    between = np.array([highest(k + 0.5, 0.08) for k in range(count)])
    level = 10 * np.log10(lines / lines.max() + 1e-12)
    sides = [(level[max(0, k - 3) : k], level[k + 1 : k + 4]) for k in range(count)]
    dips = [min(part.max() for part in pair if part.size) - level[k] for k, pair in enumerate(sides)]
    low = max(3, int(1500.0 / f0))
    loud = between[:low].sum() > 10 ** (_BETWEEN / 10) * lines[:low].sum()
    return not loud and float(np.clip(dips, 0.0, _DIP).mean()) <= _DIPS


@checks.takes(
    sound=checks.a(Sound), intervals=checks.maybe(checks.each(checks.a(Interval), least=0)),
    talker=checks.one_of(*TALKERS),
)  # fmt: skip
def answers(sound: Sound, intervals: Sequence[Interval] | None = None, talker: Talker = "any") -> pd.DataFrame:
    """Give F1 to F3 at the midpoint of each interval, or the reason why not.

    Voicing is asked first. Then every ceiling that suits the talker is tried with Praat's Burg and with the book's
    Levinson, and the file gets the one where most numbers are plausible and agree. Numbers never move: a pole that is
    dropped leaves a gap.

    Parameters
    ----------
    sound : Sound
        Mono sound.
    intervals : sequence of Interval, optional
        Labelled vowels; ``None`` takes the whole sound as one.
    talker : {"any", "man", "woman", "child"}
        Whose limits and ceilings.

    Returns
    -------
    pandas.DataFrame
        Three rows an interval; columns file, label, start, end, time (s), point, formant, frequency, bandwidth (Hz,
        Praat's; NaN with a reason), other (Hz, Levinson's; the same), confidence (0 to 1: the lower, the further the
        trackers lie apart, the wider F0's harmonics lie for this formant, and the broader its pole; halved where the
        number may be another formant's: beside a refused number, above a doubtful pole, or where it may be a
        harmonic; and where the spectrum is not one voice's: harmonics are missing, or much lies between them), f0
        (Hz), talker, ceiling (Hz), reason ("" beside a number).

    Raises
    ------
    SoundError
        For a rate too low for the lowest ceiling.

    See Also
    --------
    voicewire.pharyngeal.formants.measure : the raw trackers, every setting by hand.

    Notes
    -----
    Equation ``eq-foundations-levinson``.

    Examples
    --------
    >>> from voicewire.pharyngeal import tract
    >>> table = answers(tract.speak(tract.Articulation()), talker="man")
    >>> len(table), bool((table["frequency"].isna() == (table["reason"] != "")).all())
    (3, True)
    """
    first, last = _CEILINGS[talker]
    ceilings = [c for c in np.arange(first, last + 1, _STEP) if sound.rate >= 2 * c]
    if not ceilings:
        raise sounds.SoundError(f"{sound.name}: sampled at {sound.rate} Hz; at least {2 * first} Hz are needed")
    wanted = [Interval("", 0.0, sound.duration)] if intervals is None else list(intervals)
    length = max(1, round(0.04 * sound.rate))
    blocks = sound.samples[: sound.samples.size // length * length].reshape(-1, length)
    loudest = float(blocks.std(axis=1).max()) if blocks.size else 0.0
    pitches = _pitches(sound)
    times = [(i.start + i.end) / 2 for i in wanted]
    gates = [_gate(sound, i, t, loudest, pitches) for i, t in zip(wanted, times, strict=True)]
    open_ = [k for k, (reason, _) in enumerate(gates) if not reason]
    bounds = limits(talker)
    best: tuple[float, float, list[tuple[Array, Array]]] = (-1.0, np.nan, [])
    tried: list[tuple[float, list[tuple[Array, Array]]]] = []
    for ceiling in ceilings if open_ else []:
        found = _both(sound, [times[k] for k in open_], ceiling)
        tried.append((ceiling, found))
        score = 0.0
        for praat, own in found:
            reasons, apart = _sort(praat, own, bounds)
            score += sum((2.0 if k < 2 else 1.0) * (1 - apart[k]) for k in range(3) if not reasons[k])
        if score > best[0]:
            best = score, ceiling, found
    rows: list[tuple[object, ...]] = []
    where = dict(zip(open_, best[2], strict=True))
    close = [each for ceiling, each in tried if abs(ceiling - best[1]) <= _NEAR]
    for index, (interval, time, (gate, f0)) in enumerate(zip(wanted, times, gates, strict=True)):
        nothing = np.full((2, 3), np.nan)
        praat, own = where.get(index, (nothing, nothing))
        reasons, apart = _sort(praat, own, bounds)
        wide = f0 if gate else _spacing(sound, time, f0)
        place_in = open_.index(index) if index in where else None
        steady = np.zeros(3) if place_in is None else _steady(praat, [each[place_in] for each in close])
        doubts = _doubts(praat, own, reasons, wide, steady)
        alone = bool(gate) or _one_voice(sound, time, wide)
        for k in range(3):
            reason = gate or reasons[k]
            f, b = (np.nan, np.nan) if reason else (float(praat[0, k]), float(praat[1, k]))
            limit = _WIDE if k else _WIDE_F1
            other, sure = (np.nan, 0.0) if reason else (float(own[0, k]), _sure(f, b, float(apart[k]), wide, limit))
            sure *= 0.5 if doubts[k] or not alone else 1.0
            place = (sound.name, interval.label, interval.start, interval.end, "midpoint", time)
            rows.append((*place, k + 1, f, b, other, sure, f0, talker, best[1], reason))
    return pd.DataFrame(rows, columns=list(COLUMNS))
