"""Pairs of recordings, made from one seed, on which `voicewire echo` is set beside other cancellers.

Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft
from scipy.signal import fftconvolve, lfilter, resample_poly

from voicewire._kit import checks, paths
from voicewire.echo import paper
from voicewire.echo.recordings.input_validation import SignalError
from voicewire.echo.scenes.room_impulse_responses import room_response
from voicewire.echo.scenes.speech import talk

__all__ = ["LABORATORIES", "SECONDS", "TRIALS", "Trial", "high_pass", "laboratories", "living_room", "made_up", "trial"]

Samples = NDArray[np.float64]
SECONDS: Final = 30
"""Length of a trial, s."""
TAPS: Final = 512
TALK: Final = 10.0, 15.0
"""When the near end talks as well, s."""
MOVED: Final = 15.0
"""When the talker's place changes, s."""
LABORATORIES: Final = {
    "laboratory 1": "GrCLab1SSRPos2.wav",
    "laboratory 2": "GrCLab2SSRPos1Src1.wav",
}
"""Files of scene-rir's tests that hold the sweep as a laboratory gave it back."""
_SWEEP: Final = "Sweep(10-22000Hz,10s-0.2s).wav"
TRIALS: Final = (
    "clean", "drift of 50 ppm", "clipped", "double talk", "100 ms late", "moved", "living room", *LABORATORIES,
)  # fmt: skip
_LEVEL: Final = 0.05  # root mean square of the far end; full scale is 1
_NOISE: Final = 0.003  # of the microphone, the echo being about 1: -50 dB
_CLIP: Final = 2.0  # times the root mean square of the far end: the loudest twentieth of the speech goes flat
_WAY: Final = 40  # samples from loudspeaker to microphone, 1.7 m: AEC3 gives up on an echo that comes at once
_DECAY: Final = 90  # taps in which the made-up room's response falls by e


class Trial(NamedTuple):
    """One pair of recordings, and what nobody who cancels is told.

    Attributes
    ----------
    far, microphone : ndarray of float, shape (n,)
        At `paper.RATE`, full scale 1.
    near : ndarray of float, shape (n,)
        What the near end said into the microphone.
    event : (float, float) or None
        When what the trial is named after begins and ends, s.
    """

    far: Samples
    microphone: Samples
    near: Samples
    event: tuple[float, float] | None


def living_room() -> Samples:
    """Measured response of a living room, brought to `paper.RATE`, its energy 1.

    Notes
    -----
    Where it comes from stands in ``data/echo/README.md``.
    """
    import soundfile

    return _cut(soundfile.read(paths.data("echo") / "living-room.flac")[0])


def _cut(response: Samples) -> Samples:
    start = max(0, int(np.argmax(np.abs(response))) - paper.RATE // 500)
    kept = response[start : start + 4 * paper.RATE // 10]
    return np.asarray(kept / np.linalg.norm(kept))


def laboratories(folder: str | Path) -> dict[str, Samples]:
    """Responses of two laboratories, from the sweeps that were recorded in them.

    Notes
    -----
    What was recorded is divided by the sweep, frequency by frequency, from 100 Hz on.
    """
    import soundfile

    found = {}
    for name, file in {"": _SWEEP, **LABORATORIES}.items():
        try:
            samples, rate = soundfile.read(Path(folder) / file)
        except (OSError, soundfile.SoundFileError) as problem:
            raise SignalError(
                f"{Path(folder) / file} can't be read: fetch it by pip download --no-deps --no-binary :all: "
                "scene-rir==1.3.0, unpack that and name its folder tests/input-other"
            ) from problem
        found[name] = resample_poly(samples, paper.RATE, rate)
    sweep = found.pop("")
    return {name: _cut(_divided(heard, sweep)) for name, heard in found.items()}


def _divided(heard: Samples, sweep: Samples) -> Samples:
    size = fft.next_fast_len(heard.size + sweep.size, real=True)
    played = fft.rfft(sweep, size)
    spectrum = fft.rfft(heard, size) * played.conj() / (np.abs(played) ** 2 + 1e-3 * np.mean(np.abs(played) ** 2))
    spectrum[fft.rfftfreq(size, 1 / paper.RATE) < 100] = 0
    return np.asarray(fft.irfft(spectrum, size))


@checks.takes(error=SignalError, seed=checks.seed)
def made_up(seed: int) -> Samples:
    """Response of a made-up office, its energy 1: image sources that fade, in 90 samples by e."""
    response = room_response(TAPS, paper.RATE, np.random.default_rng(seed)) * np.exp(-np.arange(TAPS) / _DECAY)
    return np.asarray(response / np.linalg.norm(response))


@checks.takes(error=SignalError, samples=checks.array(least=2))
def high_pass(samples: ArrayLike) -> Samples:
    r"""What speexdsp 1.2.1 does to the microphone before anything else, at `paper.RATE`; it can't be switched off.

    .. math:: H(z) = \frac{r\,(1 - z^{-1})^2}{1 - 2 r z^{-1} + (r^2 + 0.7\,(1 - r)^2)\, z^{-2}}, \quad r = 0.9

    Notes
    -----
    10 dB are gone at 100 Hz, 5 dB at 150 Hz.
    """
    r = 0.9
    given = np.asarray(samples, float)
    return np.asarray(lfilter([r, -2 * r, r], [1, -2 * r, r**2 + 0.7 * (1 - r) ** 2], given))


def _drifted(samples: Samples, ppm: float) -> Samples:
    """The same sound by a clock that runs `ppm` millionths behind, by a sinc of 64 samples."""
    places = np.arange(samples.size) * (1 - 1e-6 * ppm)
    whole = np.floor(places).astype(int)
    columns = np.arange(-31, 33)
    away = (places - whole)[:, None] - columns
    weights = np.sinc(away) * np.cos(np.pi * away / 66) ** 2
    return np.asarray(np.einsum("nk,nk->n", weights, np.pad(samples, 64)[(whole + 64)[:, None] + columns]))


@checks.takes(error=SignalError, name=checks.one_of(*TRIALS), seed=checks.seed)
def trial(name: str, seed: int, rooms: Mapping[str, ArrayLike] | None = None) -> Trial:
    """Make one pair of recordings.

    Notes
    -----
    The voices are synthetic in all of them; in the last three trials the room was measured.
    """
    x = talk(SECONDS, seed)
    if name in LABORATORIES:
        if rooms is None or name not in rooms:
            raise SignalError(f"{name} needs its response: hand over what laboratories() gives")
        response = np.asarray(rooms[name], float)
    else:
        response = living_room() if name == "living room" else made_up(seed)
    response, moved = (np.pad(each, (_WAY, 0)) for each in (response, made_up(seed + 50)))
    d = fftconvolve(x, response)[: x.size]
    near, event = np.zeros(x.size), None
    if name == "moved":
        at = round(MOVED * paper.RATE)
        d[at:] = fftconvolve(x, moved)[at : x.size]
        event = MOVED, MOVED
    elif name == "drift of 50 ppm":
        d = _drifted(d, 50)
    elif name == "100 ms late":
        d = np.concatenate([np.zeros(paper.RATE // 10), d])[: x.size]
    elif name == "double talk":
        span = slice(*(round(t * paper.RATE) for t in TALK))
        near[span] = talk(SECONDS, seed + 77)[span]
        event = TALK
    heard = d + near + _NOISE * np.random.default_rng(seed + 100).standard_normal(x.size)
    if name == "clipped":
        heard = heard.clip(-_CLIP, _CLIP)
    return Trial(_LEVEL * x, _LEVEL * heard, _LEVEL * near, event)
