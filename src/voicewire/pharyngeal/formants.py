"""Two formant trackers behind one interface: Praat's Burg (or its robust variant) and LPC by librosa.

Both return the same tidy table: a row for each point and formant, with the bandwidth that says whether to believe it
and a flag that says what is wrong with the row. Explained in notebook ``02_formants``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire._kit._optional import needed
from voicewire.pharyngeal import audio_files as sounds
from voicewire.pharyngeal import librosa_import
from voicewire.pharyngeal.audio_files import Sound, SoundError
from voicewire.pharyngeal.textgrid import Interval

__all__ = [
    "COLUMNS",
    "MALE",
    "PRAAT_DEFAULT",
    "TRACKERS",
    "Settings",
    "Track",
    "Tracker",
    "measure",
    "midpoint",
    "track",
]

Array = NDArray[np.float64]
Tracker = Literal["praat", "praat-robust", "lpc"]
TRACKERS: Final = ("praat", "praat-robust", "lpc")
COLUMNS: Final = (
    "file", "label", "start", "end", "tracker", "point", "time", "formant", "frequency", "bandwidth", "flag",
)  # fmt: skip
_PAD: Final = 0.06  # s of silence on either side: Praat's window is twice its nominal length
SLACK: Final = 0.05  # s: TextGrid and sound may differ by it (see `textgrid.read`)
_STUCK: Final = 0.004  # s of one value: nothing was recorded
SHORTEST: Final = 0.03  # s; below this no window lies inside the vowel


@dataclass(frozen=True)
class Settings:
    """Settings of a tracker.

    Attributes
    ----------
    ceiling : float
        Highest frequency searched, Hz: 5000 for men, 5500 for women, 8000 for children.
    count : float
        Formants searched below the ceiling.
    window : float
        Nominal window length, s.
    max_bandwidth : float, optional
        Poles broader than this (Hz) are the voice's tilt, not a formant; ``None`` keeps all.
    step : float
        Time step, s.

    Examples
    --------
    >>> Settings(ceiling=5500.0).count
    5
    """

    ceiling: float = 5000.0
    count: float = 5
    window: float = 0.025
    max_bandwidth: float | None = 600.0
    step: float = 0.005

    def __post_init__(self) -> None:
        checks.fields(
            self, ceiling=checks.number(), count=checks.number(), window=checks.number(),
            max_bandwidth=checks.maybe(checks.number(above=0.0)), step=checks.number(),
        )  # fmt: skip
        if not 1000 <= self.ceiling <= 12000:
            raise ValueError(f"a ceiling of {self.ceiling!r} Hz is outside 1000 to 12000 Hz")
        if not 2 <= self.count <= 8 or self.count * 2 % 1:
            raise ValueError(f"count is {self.count!r}; Praat searches 2 to 8 formants, in steps of a half")
        if not 0.005 <= self.window <= 0.1:
            raise ValueError(f"a window of {self.window!r} s is outside 0.005 to 0.1 s")
        if not 1e-4 <= self.step <= 1:
            raise ValueError(f"a time step of {self.step!r} s is outside 0.0001 to 1 s")


MALE: Final = Settings()
PRAAT_DEFAULT: Final = Settings(ceiling=5500.0, max_bandwidth=None)  # what a click on "To Formant (burg)" gives


@dataclass(frozen=True)
class Track:
    """Formants over time.

    Attributes
    ----------
    times : ndarray of float
        Seconds, shape (n,).
    frequencies, bandwidths : ndarray of float
        Hz, shape (n, 4); NaN where no formant was found.

    Examples
    --------
    >>> Track(np.array([0.1]), np.ones((1, 4)), np.ones((1, 4))).at(0.1)[0].tolist()
    [1.0, 1.0, 1.0, 1.0]
    """

    times: Array
    frequencies: Array
    bandwidths: Array

    @checks.takes(time=checks.number())
    def at(self, time: float) -> tuple[Array, Array]:
        """Return the four frequencies and bandwidths (Hz) of the frame nearest to a time (s).

        Parameters
        ----------
        time : float
            s.

        Returns
        -------
        frequencies, bandwidths : ndarray of float, shape (4,)
            Hz.
        """
        index = int(np.argmin(np.abs(self.times - time)))
        return self.frequencies[index], self.bandwidths[index]


def _keep(frequencies: Array, bandwidths: Array, settings: Settings) -> tuple[Array, Array]:
    """Keep four plausible poles of one frame, lowest first."""
    good = np.isfinite(frequencies) & (frequencies > 90.0) & (frequencies < settings.ceiling - 50.0)
    if settings.max_bandwidth is not None:
        good &= bandwidths < settings.max_bandwidth
    f, b = frequencies[good], bandwidths[good]
    order = np.argsort(f)[:4]
    out = np.full((2, 4), np.nan)
    out[0, : order.size], out[1, : order.size] = f[order], b[order]
    return out[0], out[1]


def _track_praat(samples: Array, rate: int, settings: Settings, robust: bool) -> tuple[Array, Array, Array]:
    with needed():
        import parselmouth
        from parselmouth.praat import call

    whole = parselmouth.Sound(samples, sampling_frequency=rate)
    common = (settings.step, settings.count, settings.ceiling, settings.window, 50.0)
    if robust:
        formant = call(whole, "To Formant (robust)", *common, 1.5, 5, 1e-6)
    else:
        formant = call(whole, "To Formant (burg)", *common)
    times = np.asarray(formant.ts(), dtype=float)
    poles = int(np.ceil(settings.count))
    raw = np.full((2, times.size, poles), np.nan)
    for i, time in enumerate(times):
        for k in range(poles):
            raw[0, i, k] = formant.get_value_at_time(k + 1, time)
            raw[1, i, k] = formant.get_bandwidth_at_time(k + 1, time)
    return times, raw[0], raw[1]


def _track_lpc(samples: Array, rate: int, settings: Settings) -> tuple[Array, Array, Array]:
    librosa = librosa_import.librosa()
    target = 2 * settings.ceiling
    low = librosa.resample(samples, orig_sr=rate, target_sr=target)
    low = np.append(low[0], low[1:] - np.exp(-2 * np.pi * 50.0 / target) * low[:-1])
    length = round(2 * settings.window * target)
    hop = max(1, round(settings.step * target))
    frames = librosa.util.frame(low, frame_length=length, hop_length=hop)
    times = (np.arange(frames.shape[1]) * hop + length / 2) / target
    # the window Praat uses: a Gaussian that has fallen to e^-12 at its ends
    position = np.linspace(-1, 1, length)
    window = (np.exp(-12 * position**2) - np.exp(-12)) / (1 - np.exp(-12))
    frames = frames * window[:, None]
    order = 2 + round(target / 1000)
    frequencies = np.full((times.size, order // 2), np.nan)
    bandwidths = frequencies.copy()
    alive = np.flatnonzero(np.sqrt(np.mean(frames**2, axis=0)) > 1e-6)
    if alive.size:
        coefficients = librosa.lpc(frames[:, alive], order=order, axis=0)
        for index, column in zip(alive, coefficients.T, strict=True):
            roots = np.roots(column)
            roots = roots[roots.imag > 0]
            f = np.angle(roots) * target / (2 * np.pi)
            b = -np.log(np.abs(roots)) * target / np.pi
            by = np.argsort(f)
            frequencies[index, : f.size], bandwidths[index, : f.size] = f[by], b[by]
    return np.asarray(times, dtype=float), frequencies, bandwidths


@checks.takes(sound=checks.a(Sound), tracker=checks.one_of(*TRACKERS), settings=checks.a(Settings))
def track(sound: Sound, tracker: Tracker = "praat", settings: Settings = MALE) -> Track:
    """Track formants over a whole sound.

    The sound is padded by 60 ms of silence on either side, so that isolated vowels have frames up to their ends.

    Parameters
    ----------
    sound : Sound
        Mono sound.
    tracker : Tracker
        ``"praat"`` (Burg), ``"praat-robust"`` or ``"lpc"`` (librosa).
    settings : Settings
        Ceiling, number of formants, window, bandwidth filter.

    Returns
    -------
    Track

    Raises
    ------
    ValueError
        For an unknown tracker.
    SoundError
        If the sound's rate is too low for the ceiling, or there is too little of it.

    Examples
    --------
    >>> from voicewire.pharyngeal import tract
    >>> vowel = tract.speak(tract.Articulation())
    >>> track(vowel).frequencies.shape[1]
    4
    """
    if tracker not in TRACKERS:
        raise ValueError(f"unknown tracker {tracker!r}; choose one of {', '.join(TRACKERS)}")
    if sound.rate < 1.6 * settings.ceiling:
        raise SoundError(
            f"{sound.name}: sampled at {sound.rate} Hz, too low to search up to {settings.ceiling:.0f} Hz; "
            f"set a ceiling of at most {sound.rate / 2:.0f} Hz"
        )
    if sound.duration < SHORTEST:
        raise SoundError(f"{sound.name}: {1000 * sound.duration:.0f} ms are too short; at least 30 ms are needed")
    padding = np.zeros(round(_PAD * sound.rate))
    samples = np.concatenate([padding, sound.samples, padding])
    if tracker == "lpc":
        times, f, b = _track_lpc(samples, sound.rate, settings)
    else:
        times, f, b = _track_praat(samples, sound.rate, settings, tracker == "praat-robust")
    times = times - padding.size / sound.rate
    inside = (times >= 0) & (times <= sound.duration)
    kept = [_keep(f[i], b[i], settings) for i in np.flatnonzero(inside)]
    return Track(times[inside], np.array([k[0] for k in kept]), np.array([k[1] for k in kept]))


@checks.takes(start=checks.number(), end=checks.number(), steps=checks.whole(1, 10_000))
def points(start: float, end: float, steps: int = 9) -> list[tuple[str, float]]:
    """Return the named points of a vowel: onset (10 %), midpoint, and a trajectory from 10 % to 90 %."""
    if end < start:
        raise ValueError(f"end is {end:g} s, before start, {start:g} s")
    length = end - start
    named = [("onset", start + 0.1 * length), ("midpoint", start + 0.5 * length)]
    share = np.linspace(0.1, 0.9, steps)
    return named + [(f"t{round(100 * s):02d}", start + float(s) * length) for s in share]


def _flags(sound: Sound, interval: Interval) -> list[str]:
    part = sound.part(interval.start, interval.end)
    flags = []
    if interval.end - interval.start < SHORTEST:
        flags.append("too short")
    if sounds.is_silent(part):
        flags.append("silent")
    elif sounds.is_clipped(part):
        flags.append("clipped")
    return flags


def one_value(sound: Sound, interval: Interval, time: float) -> str:
    """Say that a sound stays at one value for over 4 ms near a time, as in a dropout; '' where it does not.

    Tops that are cut off are none, nor is silence throughout.
    """
    near = sound.part(max(time - 0.02, interval.start), min(time + 0.02, interval.end))
    same = (np.diff(near) == 0) & (np.abs(near[1:]) < 0.5 * np.abs(near).max(initial=0.0))
    ends = np.flatnonzero(np.diff(np.concatenate([[0], same.astype(int), [0]])))
    longest = float(np.diff(ends)[::2].max(initial=0)) / sound.rate
    return f"one value for {1000 * longest:.0f} ms" if longest > _STUCK else ""


@checks.takes(
    sound=checks.a(Sound), intervals=checks.maybe(checks.each(checks.a(Interval), least=0)),
    trackers=checks.each(checks.one_of(*TRACKERS)), settings=checks.a(Settings), trajectory=checks.whole(0, 10_000),
)  # fmt: skip
def measure(
    sound: Sound,
    intervals: Sequence[Interval] | None = None,
    trackers: Iterable[Tracker] = ("praat",),
    settings: Settings = MALE,
    trajectory: int = 0,
) -> pd.DataFrame:
    """Measure F1 to F4 of labelled intervals.

    Parameters
    ----------
    sound : Sound
        Mono sound.
    intervals : sequence of Interval, optional
        Labelled vowels; ``None`` takes the whole sound as one.
    trackers : iterable[Tracker]
        Which trackers to run; each gives its own rows.
    settings : Settings
        Settings of all trackers.
    trajectory : int
        Number of further points from 10 % to 90 % (0 for onset and midpoint only).

    Returns
    -------
    pandas.DataFrame
        Columns file, label, start, end (s), tracker, point, time (s), formant, frequency (Hz), bandwidth (Hz), flag.
        A row that could not be measured has NaN and says why in ``flag``: ``silent``, ``too short``, ``no formant``;
        ``clipped`` rows, and those where the sound stays at ``one value``, are measured but not to be trusted.

    Examples
    --------
    >>> from voicewire.pharyngeal import tract
    >>> table = measure(tract.speak(tract.Articulation()))
    >>> sorted(set(table["point"])), len(table)
    (['midpoint', 'onset'], 8)
    """
    wanted = [Interval("", 0.0, sound.duration)] if intervals is None else list(intervals)
    rows: list[tuple[object, ...]] = []
    late = next((i for i in wanted if i.start < -SLACK or i.end > sound.duration + SLACK), None)
    if late is not None:
        raise SoundError(
            f"{sound.name}: the interval {late.label!r} from {late.start:g} to {late.end:g} s leaves the sound, "
            f"which lasts {sound.duration:g} s; give the sound that it belongs to"
        )
    names = list(trackers)
    runs: dict[str, Track] = {}
    for interval in wanted:
        flags = _flags(sound, interval)
        dead = "silent" in flags or "too short" in flags
        for name in names:
            if not dead and name not in runs:
                runs[name] = track(sound, name, settings)
            where = points(interval.start, interval.end, trajectory or 1)
            for point, time in where if trajectory else where[:2]:
                nothing = np.full(4, np.nan)
                f, b = (nothing, nothing) if dead else runs[name].at(time)
                stuck = "" if dead else one_value(sound, interval, time)
                for k in range(4):
                    flag = [*flags, *filter(None, [stuck])]
                    flag += [] if dead or np.isfinite(f[k]) else ["no formant"]
                    where_it_is = (sound.name, interval.label, interval.start, interval.end, name, point, time)
                    rows.append((*where_it_is, k + 1, float(f[k]), float(b[k]), "; ".join(flag)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


@checks.takes(sound=checks.a(Sound), tracker=checks.one_of(*TRACKERS), settings=checks.a(Settings))
def midpoint(sound: Sound, tracker: Tracker = "praat", settings: Settings = MALE) -> Array:
    """Return F1 to F4 (Hz) in the middle of a sound; NaN where none was found.

    Parameters
    ----------
    sound : Sound
        Mono sound.
    tracker : {"praat", "praat-robust", "lpc"}
        Which tracker.
    settings : Settings
        Its settings.

    Returns
    -------
    ndarray of float, shape (4,)
        Hz.

    Examples
    --------
    >>> from voicewire.pharyngeal import tract
    >>> vowel = tract.Articulation()
    >>> found, true = midpoint(tract.speak(vowel)), tract.formants(vowel).frequencies
    >>> bool(np.abs(found[:2] - true[:2]).max() < 60)
    True
    """
    return track(sound, tracker, settings).at(sound.duration / 2)[0]
