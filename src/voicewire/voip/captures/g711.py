"""What a listener heard of a call in G.711: decoded, played where the buffer plays, silent where nothing came."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voicewire.voip.captures.received import places
from voicewire.voip.captures.report import Judged
from voicewire.voip.errors import VoipError

__all__ = ["decoded", "heard", "write_wav"]

_LAWS = {0: "µ", 8: "A"}
_SR = 8000
_MOST = 6 * 3600 * _SR  # samples


def _table(law: str) -> NDArray[np.int16]:
    """Sample of each octet (ITU-T G.711), on 16 bits."""
    code = np.arange(256) ^ (0xFF if law == "µ" else 0x55)
    exponent, mantissa = code >> 4 & 7, code & 15
    if law == "µ":
        size = ((mantissa << 3) + 132 << exponent) - 132
        return np.where(code & 128, -size, size).astype(np.int16)
    size = np.where(exponent > 0, (mantissa << 4) + 264 << np.maximum(exponent - 1, 0), (mantissa << 4) + 8)
    return np.where(code & 128, size, -size).astype(np.int16)


def decoded(octets: bytes, law: str) -> NDArray[np.int16]:
    """Decode octets of G.711, by the µ-law or the A-law: one sample each."""
    return _table(law)[np.frombuffer(octets, dtype=np.uint8)]


def _frames(one: Judged) -> tuple[list[bytes], NDArray[np.float64]]:
    """What each frame that the fixed buffer plays holds, and when it was spoken, ms."""
    part = one.part
    if part is None or part.stream.payloads is None:
        raise VoipError("there is no sound in a CSV: --wav is for a capture")
    if part.kind not in _LAWS:
        raise VoipError(f"payload type {part.kind} isn't G.711 (0, 8): no other codec is decoded")
    place, _ = places(part.stream.numbers)
    came = np.flatnonzero(place >= 0)
    first = came[np.unique(place[came], return_index=True)[1]]
    rows = first[part.speech[first]]
    arrived = np.flatnonzero(np.isfinite(one.stream.delays_ms))
    sound = [part.stream.payloads[k] for k in rows]
    if any(each is None for each in sound):
        raise VoipError(f"{sum(each is None for each in sound)} packets were not captured whole: no sound of them")
    whole = [each for each in sound if each is not None]
    ticks = one.stream.frame_ms * _SR / 1000
    size = float(np.median([len(each) for each in whole]))
    if abs(size - ticks) > 0.5:
        raise VoipError(
            f"packets hold {size:.0f} octets for {ticks:.0f} samples: not plain G.711 (SRTP adds a tag of 4 or 10)"
        )
    target = one.made.fixed.delays_ms[one.stream.spurts[arrived]]
    fastest = float(one.stream.delays_ms[arrived].min())
    late = one.stream.delays_ms[arrived] - fastest + one.delay_ms > target + 1e-9
    return [b"" if gone else each for each, gone in zip(whole, late, strict=True)], one.stream.sent_ms[arrived]


def heard(parts: list[Judged]) -> NDArray[np.int16]:
    """The sound of all parts, at 8,000 Hz: each frame where the best fixed buffer plays it, silence elsewhere."""
    pieces: list[tuple[int, NDArray[np.int16]]] = []
    end = begin = 0
    last: float | None = None
    for one in parts:
        frames, spoken = _frames(one)
        assert one.part is not None
        law = _LAWS[one.part.kind]
        arrival = float(one.part.stream.times[0])
        gap = 0 if last is None else max(0, round(_SR * (arrival - last) - one.stream.frame_ms * _SR / 1000))
        begin = end + gap
        for octets, when in zip(frames, spoken - spoken[0], strict=True):
            at = begin + round(when * _SR / 1000)
            if octets:
                pieces.append((at, decoded(octets, law)))
            end = max(end, at + round(one.stream.frame_ms * _SR / 1000))
        last = float(one.part.stream.times[-1])
        if end > _MOST:
            raise VoipError(f"the sound would be {end / _SR / 3600:.1f} hours long, 6 at most: cut the capture")
    sound = np.zeros(end, dtype=np.int16)
    for at, samples in pieces:
        room = sound[at : at + samples.size]
        room[:] = samples[: room.size]
    return sound


def write_wav(path: Path, parts: list[Judged]) -> float:
    """Write the sound as WAV, mono, 8,000 Hz, 16 bits; give its length in s."""
    sound = heard(parts)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_SR)
        file.writeframes(sound.astype("<i2").tobytes())
    return sound.size / _SR
