"""Does a copy of each frame in the next packet pay? Codecs over the same losses, recorded once, under four measures.

The chapter is ``notebooks/voip/02_quality_and_playout``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks, paths, sheets
from voicewire.stats import Interval, t_interval
from voicewire.voip import loss_bursts
from voicewire.voip.codecs import distortion_measures, g729, listening, opus, pesq
from voicewire.voip.codecs.listening import FRAME, RATE
from voicewire.voip.errors import VoipError

__all__ = [
    "ARMS",
    "BURSTS",
    "LOSSES",
    "MEASURES",
    "VOICES",
    "difference",
    "load",
    "missing_with_copies",
    "order",
    "record",
    "rows",
    "second_chance",
    "through",
]

ARMS = ("G.711, gaps", "G.711, repeated", "G.729", "Opus", "Opus, copies")
"""Codec and repair. Without a repair of its own G.711 plays silence, or the last frame again, each time fainter."""
LOSSES = (0.01, 0.05, 0.1, 0.2)
BURSTS = (1.0, 3.0)
"""Burst ratios: losses at random, and three times as long."""
VOICES = MappingProxyType({"speech": 1, "voice": 9})
"""Recordings of the part, and how often each is played, so that either lasts eight seconds."""
MEASURES = MappingProxyType({"missing": -1, "snr_db": 1, "lsd_db": -1, "pesq": 1})
"""Columns of the recorded rows that can rank, and whether more is better (1) or less (-1)."""
FADE = 0.6
TARGET = 24_000
"""Bits a second that Opus is asked for, with copies and without."""
_COLUMNS = ("voice", "arm", "kbit_s", "loss", "burst", "seed", "lost", "missing", "snr_db", "lsd_db", "pesq")


@checks.takes(
    error=VoipError, same=("delays_ms", "spurts"), delays_ms=checks.array(low=0, allow="inf"),
    spurts=checks.array(kind="whole"), interval_ms=checks.number(0.1, 10_000),
)  # fmt: skip
def second_chance(delays_ms: ArrayLike, spurts: ArrayLike, interval_ms: float = 20.0) -> NDArray[np.float64]:
    """Return each frame's delay if the packet behind it in its talkspurt holds a copy of it.

    Parameters
    ----------
    delays_ms : array_like of float, shape (frames,)
        Delay of each packet, ms; infinite for one that never came.
    spurts : array_like of int, shape (frames,)
        Talkspurt of each frame.
    interval_ms : float
        Time between two packets, ms.

    Returns
    -------
    ndarray of float, shape (frames,)
        The packet's own delay, or that of the next one and `interval_ms`, whichever is less. A playout rule for these
        delays is one for the call with copies.

    Raises
    ------
    VoipError
        For a negative delay or NaN, or rows of different lengths.

    Examples
    --------
    >>> second_chance([50, np.inf, 60, np.inf], [0, 0, 0, 0]).tolist()
    [50.0, 80.0, 60.0, inf]
    """
    delays, talk = np.asarray(delays_ms), np.asarray(spurts)
    chance = np.full(delays.size, np.inf)
    chance[:-1] = np.where(talk[1:] == talk[:-1], delays[1:] + interval_ms, np.inf)
    return np.asarray(np.minimum(delays, chance))


@checks.takes(error=VoipError, loss=checks.number(0, 1), burst=checks.number(1, 1e6))
def missing_with_copies(loss: float, burst: float = 1.0) -> float:
    """Return the fraction of frames of which neither the packet nor the copy comes.

    Parameters
    ----------
    loss : float
        Fraction of the packets that are lost, 0 to 1.
    burst : float
        Burst ratio of Gilbert's channel, at least 1.

    Returns
    -------
    float
        Equation ``eq-voip-copies``.

    Raises
    ------
    VoipError
        For a loss outside 0 to 1, or a ratio below 1.

    Examples
    --------
    >>> round(missing_with_copies(0.1), 3), round(missing_with_copies(0.1, 3.0), 3)
    (0.01, 0.07)
    """
    return loss * (1 - (1 - loss) / burst)


@lru_cache(maxsize=4)
def _spoken(voice: str) -> NDArray[np.int16]:
    return listening.whole_frames(np.tile(listening.speech(voice), VOICES[voice]))


@lru_cache(maxsize=4)
def _packets(pcm: bytes, copies: bool) -> list[bytes]:
    return opus.encoded(np.frombuffer(pcm, np.int16), TARGET, copies=copies)


@lru_cache(maxsize=4)
def _g711(pcm: bytes) -> NDArray[np.int16]:
    return listening.coded(np.frombuffer(pcm, np.int16))[1].reshape(-1, FRAME)


def _repeated(frames: NDArray[np.int16], lost: NDArray[np.bool_]) -> NDArray[np.int16]:
    """The last frame that came once more for each that did not, each time fainter."""
    out = np.zeros_like(frames)
    last, fade = np.zeros(FRAME), 0.0
    for n, gone in enumerate(lost):
        last, fade = (last, fade * FADE) if gone else (frames[n].astype(float), 1.0)
        out[n] = np.round(last * fade)
    return out


@checks.takes(error=VoipError, arm=checks.one_of(*ARMS), lost=checks.flags)
def through(arm: str, pcm: ArrayLike, lost: ArrayLike) -> NDArray[np.int16]:
    """Send speech through a codec, lose packets, and repair what is missing as the arm does."""
    x, gone = listening.whole_frames(pcm), np.asarray(lost)
    if gone.size != x.size // FRAME:
        raise VoipError(f"lost says what became of {gone.size} packets, and there are {x.size // FRAME}")
    if arm == "G.729":
        return g729.coded(x, gone)
    if arm.startswith("Opus"):
        copies = arm == "Opus, copies"
        return opus.decoded(_packets(x.tobytes(), copies), gone, copies=copies)
    frames = _g711(x.tobytes())
    if arm == "G.711, repeated":
        return _repeated(frames, gone).reshape(-1)
    return np.where(gone[:, None], 0, frames).astype(np.int16).reshape(-1)


def _kbit_s(arm: str, pcm: NDArray[np.int16]) -> float:
    """Payload in kbit/s."""
    if arm.startswith("Opus"):
        packets = _packets(pcm.tobytes(), arm == "Opus, copies")
        return 8 * sum(map(len, packets)) / (pcm.size / RATE) / 1000
    return {"G.729": 8 * g729.PACKET / 20}.get(arm, 64.0)


def _missing(arm: str, pcm: NDArray[np.int16], lost: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Frames of which nothing came."""
    if arm != "Opus, copies":
        return lost
    held = np.array([opus.has_copy(packet) for packet in _packets(pcm.tobytes(), True)])
    rescued = np.append((held & ~lost)[1:], False)
    return lost & ~rescued


def _row(voice: str, arm: str, loss: float, burst: float, seed: int) -> dict[str, Any]:
    pcm = _spoken(voice)
    lost = loss_bursts.losses(np.random.default_rng([seed, 29]), pcm.size // FRAME, loss, burst)
    voiced = listening.activity(pcm)
    heard = through(arm, pcm, lost)
    return {
        "voice": voice, "arm": arm, "kbit_s": round(_kbit_s(arm, pcm), 2), "loss": loss, "burst": burst, "seed": seed,
        "lost": round(float(lost[voiced].mean()), 5),
        "missing": round(float(_missing(arm, pcm, lost)[voiced].mean()), 5),
        "snr_db": round(distortion_measures.segmental_snr(pcm, heard), 3),
        "lsd_db": round(distortion_measures.log_spectral_distance(pcm, heard), 3),
        "pesq": round(pesq.score(pcm, heard), 3) if pesq.available() else None,
    }  # fmt: skip


def rows(
    calls: int = 30, voices: Sequence[str] = tuple(VOICES), arms: Sequence[str] = ARMS, losses: Sequence[float] = LOSSES
) -> Iterator[dict[str, Any]]:
    """Measure each arm over the same losses."""
    for voice in voices:
        for arm in arms:
            yield _row(voice, arm, 0.0, 1.0, 0)
            for loss in losses:
                for burst in BURSTS:
                    yield from (_row(voice, arm, loss, burst, seed) for seed in range(calls))


def record(path: Path, calls: int = 30) -> int:
    """Write the rows of all arms as one table."""
    if not opus.available():
        raise VoipError("Opus needs PyAV's encoder libopus and a libopus to decode with: install PyAV's wheel")
    if not g729.available():
        raise VoipError("G.729 needs the library bcg729: install it, for example Debian's package libbcg729-0")
    made = list(rows(calls))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = sheets.DictWriter(file, fieldnames=_COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(made)
    return len(made)


def load(path: Path | None = None) -> pd.DataFrame:
    """Read recorded rows."""
    return pd.read_csv(path or paths.data("voip") / "opus.csv")


def _at(table: pd.DataFrame, measure: str, voice: str, loss: float, burst: float) -> pd.DataFrame:
    if measure not in MEASURES:
        raise VoipError(f"unknown measure {measure!r:.40}: choose from {', '.join(MEASURES)}")
    found = table[(table["voice"] == voice) & (table["loss"] == loss) & ((table["burst"] == burst) | (loss == 0))]
    if found.empty:
        raise VoipError(f"no rows of {voice!r} at a loss of {loss:g} and a burst ratio of {burst:g} were recorded")
    if found[measure].isna().any():
        raise VoipError(f"these rows were recorded without {measure!r}: install what it needs and record them again")
    return found


def order(table: pd.DataFrame, measure: str, voice: str, loss: float, burst: float) -> dict[str, float]:
    """Rank the arms by the median of a measure."""
    medians = _at(table, measure, voice, loss, burst).groupby("arm")[measure].median()
    ranked = medians.sort_values(ascending=MEASURES[measure] < 0, kind="stable")
    return {str(arm): float(value) for arm, value in ranked.items()}


def difference(table: pd.DataFrame, measure: str, voice: str, loss: float, burst: float) -> Interval:
    """Return what copies change for Opus, over pairs of the same seed."""
    pairs = _at(table, measure, voice, loss, burst).pivot(index="seed", columns="arm", values=measure)
    return t_interval(MEASURES[measure] * (pairs["Opus, copies"] - pairs["Opus"]).to_numpy())
