"""What the network did, to be heard: a recording through voice activity detection, a codec, a transport, a playout.

Everything is 8 kHz, mono, in frames of 20 ms (160 samples). Lost frames are concealed as simple phones do: the last
frame once more, fading. Codecs come with PyAV; G.729 can only be decoded there, so G.729's *sizes* are simulated,
while what is heard is G.711 or AMR-NB (whose speech coder is a cousin of G.729's). Which codecs a build of PyAV
holds differs (from version 19 on its wheels have no AMR encoder): `available` names those that are here.
"""

from __future__ import annotations

import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks, paths
from voicewire._kit._optional import needed
from voicewire.voip.calls import Call, call
from voicewire.voip.conversation import Talk, from_activity
from voicewire.voip.errors import VoipError

__all__ = [
    "CODERS",
    "FRAME",
    "RATE",
    "Heard",
    "activity",
    "available",
    "coded",
    "heard",
    "read_wav",
    "speech",
    "transmit",
    "whole_frames",
]

RATE = 8000
FRAME = 160
#: coder: (PyAV's encoder, its decoder, sample format, bit rate or None)
CODERS = {
    "G.711 µ-law": ("pcm_mulaw", "pcm_mulaw", "s16", None),
    "G.711 A-law": ("pcm_alaw", "pcm_alaw", "s16", None),
    "AMR-NB 12.2": ("libopencore_amrnb", "amrnb", "s16", 12_200),
    "Opus 12": ("libopus", "libopus", "s16", 12_000),
}


def read_wav(path: str | Path) -> NDArray[np.int16]:
    """Samples of a WAV file of 8 kHz, mono, 16 bits.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    ndarray of int16, shape (samples,)
        Samples, full scale 32,768.

    Raises
    ------
    VoipError
        for another rate, width or number of channels, or a file that isn't WAV.

    Examples
    --------
    >>> read_wav(paths.data("voip") / "voice.wav").dtype
    dtype('int16')
    """
    try:
        with wave.open(str(path), "rb") as file:
            rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
            data = file.readframes(file.getnframes())
    except (wave.Error, EOFError) as error:
        raise VoipError(f"not a WAV file that can be read: {error}") from None
    if rate != RATE:
        raise VoipError(f"the recording has {rate} samples per second: resample it to {RATE}")
    if channels != 1 or width != 2:
        raise VoipError("the recording must be mono with 16 bits a sample")
    if len(data) < 2 * FRAME:
        raise VoipError("the recording is shorter than one frame of 20 ms")
    return np.frombuffer(data, dtype="<i2").astype(np.int16)


def speech(name: str = "speech") -> NDArray[np.int16]:
    """The part's own recordings: "speech" (three synthetic sentences) or "voice" (a person, 0.9 s).

    Parameters
    ----------
    name : str
        "speech" or "voice".

    Returns
    -------
    ndarray of int16, shape (samples,)
        Samples at 8 kHz.

    Examples
    --------
    >>> speech("voice").size / RATE
    0.905625
    """
    return read_wav(paths.data("voip") / f"{name}.wav")


def whole_frames(pcm: ArrayLike) -> NDArray[np.int16]:
    """Samples cut to whole frames of 20 ms."""
    x = checks.plain("pcm", pcm, VoipError)
    if x.ndim != 1 or x.size < FRAME:
        raise VoipError("give at least one frame of 160 samples, in one dimension")
    if x.dtype != np.int16:
        raise VoipError("samples must be 16-bit integers")
    return np.ascontiguousarray(x[: x.size // FRAME * FRAME])


@checks.takes(error=VoipError, level=checks.whole(0, 3))
def activity(pcm: ArrayLike, level: int = 2) -> NDArray[np.bool_]:
    """Voice activity of each 20 ms frame (WebRTC's detector, level 0 to 3); shape (frames,).

    Parameters
    ----------
    pcm : array_like of int16, shape (samples,)
        Samples at 8 kHz; what is left over at the end of whole frames is cut.
    level : int
        How strict the detector is, 0 to 3.

    Returns
    -------
    ndarray of bool, shape (frames,)
        Whether each frame holds voice.

    Examples
    --------
    >>> bool(activity(np.zeros(1600, np.int16)).any())
    False
    """
    with needed():
        import webrtcvad

    x = whole_frames(pcm)
    detector = webrtcvad.Vad(level)
    return np.array([detector.is_speech(f.tobytes(), RATE) for f in x.reshape(-1, FRAME)], dtype=bool)


def available() -> tuple[str, ...]:
    """Names of the `CODERS` whose encoder and decoder the installed PyAV holds, in their order."""
    return tuple(coder for coder in CODERS if not _missing(coder))


def _missing(coder: str) -> list[str]:
    """What PyAV lacks for a coder: its encoder, its decoder, both or nothing."""
    with needed():
        from av.codec import Codec
        from av.codec.codec import UnknownCodecError

    lacking = []
    for name, mode, role in zip(CODERS[coder][:2], ("w", "r"), ("encoder", "decoder"), strict=True):
        try:
            Codec(name, mode)  # type: ignore[arg-type]
        except UnknownCodecError:
            lacking.append(f"{role} {name}")
    return lacking


def coded(pcm: ArrayLike, coder: str = "G.711 µ-law") -> tuple[list[bytes], NDArray[np.int16]]:
    """Encode and decode: the packets, and what comes out, cut to the input's length.

    Parameters
    ----------
    pcm : array_like of int16, shape (samples,)
        Samples at 8 kHz; what is left over at the end of whole frames is cut.
    coder : str
        One of `CODERS`.

    Returns
    -------
    packets : list of bytes
        What the encoder makes.
    samples : ndarray of int16
        What the decoder makes of them.

    Raises
    ------
    VoipError
        for a coder that is unknown, or that the installed PyAV doesn't hold.

    Examples
    --------
    >>> packets, samples = coded(speech("voice"))
    >>> len(packets[0]), samples.dtype
    (160, dtype('int16'))
    """
    with needed():
        import av
        from av.audio.frame import AudioFrame

    if coder not in CODERS:
        raise VoipError(f"unknown coder {coder!r}: choose from {', '.join(CODERS)}")
    if lacking := _missing(coder):
        raise VoipError(
            f"{coder} needs the {' and the '.join(lacking)}, which PyAV {av.__version__} is built without:"
            f" choose from {', '.join(available())}, or install 'av<19'"
        )
    name, decoder_name, sample_format, bit_rate = CODERS[coder]
    x = whole_frames(pcm)
    encoder: Any = av.CodecContext.create(name, "w")
    encoder.sample_rate, encoder.layout, encoder.format = RATE, "mono", sample_format
    if bit_rate:
        encoder.bit_rate = bit_rate
    packets: list[bytes] = []
    decoder: Any = av.CodecContext.create(decoder_name, "r")
    decoder.sample_rate, decoder.layout = RATE, "mono"
    out: list[NDArray[np.int16]] = []
    for n, samples in enumerate(x.reshape(-1, FRAME)):
        frame = AudioFrame.from_ndarray(samples[None, :], format="s16", layout="mono")
        frame.sample_rate, frame.pts = RATE, n * FRAME
        packets += [bytes(p) for p in encoder.encode(frame)]
    packets += [bytes(p) for p in encoder.encode(None)]
    for raw in packets:
        out += [_samples(f) for f in decoder.decode(av.Packet(raw))]
    y = np.concatenate(out) if out else np.zeros(0, dtype=np.int16)
    if decoder.sample_rate != RATE:  # Opus decodes to 48 kHz: take every sixth sample of a moving mean
        step = decoder.sample_rate // RATE
        y = y[: y.size // step * step].reshape(-1, step).mean(axis=1).astype(np.int16)
    return packets, np.concatenate((y, np.zeros(max(0, x.size - y.size), np.int16)))[: x.size]


def _samples(frame: object) -> NDArray[np.int16]:
    y = np.asarray(frame.to_ndarray()).reshape(-1)  # type: ignore[attr-defined]
    if y.dtype.kind == "f":
        y = np.clip(y, -1.0, 1.0) * 32767
    return y.astype(np.int16)


@dataclass(frozen=True)
class Heard:
    """What a listener gets: samples at 8 kHz, the frames played, the call behind it.

    Attributes
    ----------
    samples : ndarray of int16, shape (samples,)
        At 8 kHz.
    played : ndarray of bool, shape (frames,)
        Whether each frame with voice was played.
    call : Call
        The call behind it.

    Examples
    --------
    >>> got = heard(speech("voice"), "UDP", delay_ms=50)
    >>> got.samples.dtype, got.played.dtype
    (dtype('int16'), dtype('bool'))
    """

    samples: NDArray[np.int16]
    played: NDArray[np.bool_]
    call: Call


@checks.takes(error=VoipError, call_=checks.a(Call))
def transmit(pcm: ArrayLike, call_: Call) -> NDArray[np.bool_]:
    """Which of the call's frames are played: on time for the delay that the bound gave their talkspurt.

    Parameters
    ----------
    pcm : array_like of int16, shape (samples,)
        Samples at 8 kHz; what is left over at the end of whole frames is cut.
    call_ : Call
        The call that carried them.

    Returns
    -------
    ndarray of bool, shape (frames,)
        Whether each frame is played.

    Examples
    --------
    >>> carried = call("UDP", "G.711", delay_ms=50, seconds=5)
    >>> bool(transmit(speech("voice"), carried).all())
    True
    """
    delay, chosen = call_.delays_ms, call_.playout.delays_ms
    _, index = np.unique(call_.talk.spurts, return_inverse=True)
    return np.asarray(np.isfinite(delay) & (delay <= chosen[index]))


@checks.takes(error=VoipError, repeat=checks.whole(1, 10_000))
def heard(
    pcm: ArrayLike,
    transport: str,
    codec: str = "G.711",
    *,
    delay_ms: float,
    loss: float = 0.0,
    seed: int = 0,
    repeat: int = 1,
    **changes: Any,
) -> Heard:
    """Send a recording over a transport and render what arrives.

    Each talkspurt starts as late as its playout delay says, so pauses shift; missing frames are concealed.

    Parameters
    ----------
    pcm : array_like of int16, shape (samples,)
        Samples at 8 kHz; what is left over at the end of whole frames is cut.
    transport : str
        A transport of `transports.NAMES`.
    codec : str
        A codec of Table 4.1.
    delay_ms : float
        One-way delay in milliseconds.
    loss : float
        Loss probability, both ways.
    seed : int
        Of the losses.
    repeat : int
        Play the recording that often, one after the other.
    **changes : object
        Single settings of the transport.

    Returns
    -------
    Heard
        What a listener gets.

    Raises
    ------
    VoipError
        For samples or parameters that no call can have.

    Examples
    --------
    >>> bool(heard(speech("voice"), "UDP", delay_ms=50).played.all())
    True
    """
    x = np.tile(whole_frames(pcm), repeat)
    talk: Talk = from_activity(activity(x))
    made = call(transport, codec, delay_ms=delay_ms, loss=loss, spoken=talk, seed=seed, **changes)
    played = transmit(x, made)
    _, through = coded(x)
    frames = through.reshape(-1, FRAME)
    _, spurt = np.unique(talk.spurts, return_inverse=True)
    shift = np.nan_to_num(made.playout.delays_ms, nan=delay_ms)
    out = np.zeros(x.size + int(np.ceil(shift.max() * RATE / 1000)) + FRAME)
    last, fade = np.zeros(FRAME), 0.0
    for n, (at, ok) in enumerate(zip(talk.times // 20_000_000, played, strict=True)):
        if n and spurt[n] != spurt[n - 1]:
            fade = 0.0
        if ok:
            last, fade = frames[at].astype(float), 1.0
        else:
            fade *= 0.6
        start = int(at * FRAME + round(shift[spurt[n]] * RATE / 1000))
        out[start : start + FRAME] = last * fade
    return Heard(np.clip(out, -32768, 32767).astype(np.int16), played, made)
