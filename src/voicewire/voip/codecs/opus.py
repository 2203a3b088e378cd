"""Opus (RFC 6716) with and without in-band redundancy: PyAV encodes, and the libopus that PyAV carries decodes.

A packet may hold a second, coarser copy of the frame before it (LBRR, low bit-rate redundancy). FFmpeg's two decoders,
which are PyAV's, have no way to ask for that copy, so libopus itself is called: the one beside PyAV, else the system's.
The chapter is ``notebooks/voip/02_quality_and_playout``.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire._kit._optional import needed
from voicewire.voip.codecs.listening import FRAME, RATE, whole_frames
from voicewire.voip.errors import VoipError

__all__ = ["LOOKAHEAD", "available", "decoded", "encoded", "has_copy", "version"]

LOOKAHEAD = 52
"""Samples at 8 kHz by which the encoder for speech looks ahead: 6.5 ms."""


@lru_cache(maxsize=1)
def _library() -> Any:
    """The libopus beside PyAV, else the system's, else None."""
    found = importlib.util.find_spec("av")
    home = Path(found.origin).parent if found and found.origin else Path("av")
    beside = [path for folder in (home.parent / "av.libs", home / ".dylibs") for path in folder.glob("*opus*")]
    names = [*map(str, beside), ctypes.util.find_library("opus")]
    for name in filter(None, names):
        try:
            library = ctypes.CDLL(name)
            library.opus_decode.restype = ctypes.c_int
        except (OSError, AttributeError):
            continue
        library.opus_get_version_string.restype = ctypes.c_char_p
        library.opus_strerror.restype = ctypes.c_char_p
        library.opus_decoder_create.restype = ctypes.c_void_p
        library.opus_decoder_destroy.argtypes = [ctypes.c_void_p]
        library.opus_decode.argtypes = [
            *(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
        ]
        return library
    return None


def _encodes() -> bool:
    try:
        from av.codec import Codec
        from av.codec.codec import UnknownCodecError
    except ImportError:
        return False
    try:
        Codec("libopus", "w")
    except UnknownCodecError:
        return False
    return True


def available() -> bool:
    """Say whether PyAV holds Opus' encoder, and a libopus to decode with is found."""
    return _encodes() and _library() is not None


def version() -> str:
    """Name the libopus that decodes here."""
    library = _library()
    return "no libopus" if library is None else str(library.opus_get_version_string().decode())


@checks.takes(error=VoipError, bit_rate=checks.whole(6000, 128_000), expected_loss=checks.whole(0, 100))
def encoded(pcm: ArrayLike, bit_rate: int = 24_000, *, copies: bool = False, expected_loss: int = 10) -> list[bytes]:
    """Encode speech with Opus, 20 ms a packet, its bit rate variable around a target.

    Parameters
    ----------
    pcm : array_like of int16, shape (samples,)
        Samples at 8 kHz; what is left over at the end of whole frames is cut.
    bit_rate : int
        The target, bits a second. Copies are paid from it.
    copies : bool
        Whether to ask for in-band redundancy. The encoder decides: it puts none into silence, and none at low rates.
    expected_loss : int
        The loss that the encoder is told to expect, percent.

    Returns
    -------
    list of bytes
        A packet for each frame.

    Raises
    ------
    VoipError
        For samples that are none, a rate or loss out of bounds, or a PyAV without Opus' encoder.

    Examples
    --------
    >>> encoded([0.5])
    Traceback (most recent call last):
    ...
    voicewire.voip.errors.VoipError: ...
    """
    x = whole_frames(pcm)
    with needed():
        import av
        from av.audio.frame import AudioFrame

    if not _encodes():
        raise VoipError("Opus needs the encoder libopus, which is not in the PyAV that is here: install PyAV's wheel")
    encoder: Any = av.CodecContext.create("libopus", "w")
    encoder.sample_rate, encoder.layout, encoder.format, encoder.bit_rate = RATE, "mono", "s16", bit_rate
    encoder.options = {
        "application": "voip", "frame_duration": "20", "fec": str(int(bool(copies))), "packet_loss": str(expected_loss),
    }  # fmt: skip
    packets = []
    for n, samples in enumerate(x.reshape(-1, FRAME)):
        frame = AudioFrame.from_ndarray(samples[None, :], format="s16", layout="mono")
        frame.sample_rate, frame.pts = RATE, n * FRAME
        packets += [bytes(packet) for packet in encoder.encode(frame)]
    packets += [bytes(packet) for packet in encoder.encode(None)]
    return packets[: x.size // FRAME]  # one more holds the samples that the encoder looked ahead


@checks.takes(error=VoipError, packet=checks.a(bytes))
def has_copy(packet: bytes) -> bool:
    """Say whether a packet of one frame, 20 ms and mono, holds a copy of the frame before.

    The first byte names the mode; the modes from 16 on have no part that could carry a copy. In the others the next
    byte begins with the flags of the speech coder: voice activity, then the copy.

    Parameters
    ----------
    packet : bytes
        A packet, see `encoded`.

    Returns
    -------
    bool
        Whether it does.

    Raises
    ------
    VoipError
        For anything but bytes, or a packet of another length, of two channels, or of several frames.

    Notes
    -----
    RFC 6716, sections 3.1 and 4.2.3.

    Examples
    --------
    >>> has_copy(bytes([1 << 3, 0b11000000])), has_copy(bytes([1 << 3, 0b10000000]))
    (True, False)
    """
    if not packet:
        raise VoipError("the packet is empty: an Opus packet has a first byte that names its mode")
    mode, stereo, frames = packet[0] >> 3, packet[0] >> 2 & 1, packet[0] & 3
    if mode >= 16:
        return False
    if stereo or frames or mode not in (1, 5, 9, 13, 15):
        raise VoipError(f"the packet begins with {packet[0]:#04x}: only one frame of 20 ms, mono, is read here")
    return len(packet) > 1 and bool(packet[1] & 0x40)


def _decode(packets: Sequence[bytes], lost: NDArray[np.bool_], copies: bool) -> NDArray[np.int16]:
    library = _library()
    failed = ctypes.c_int(0)
    state = library.opus_decoder_create(RATE, 1, ctypes.byref(failed))
    if failed.value:
        raise VoipError(f"libopus makes no decoder: {library.opus_strerror(failed.value).decode()}")
    out = np.zeros((lost.size, FRAME), np.int16)
    try:
        for n, gone in enumerate(lost):
            source, copy = (None, 0) if gone else (packets[n], 0)
            if gone and copies and n + 1 < lost.size and not lost[n + 1]:
                source, copy = packets[n + 1], 1
            length = 0 if source is None else len(source)
            samples = library.opus_decode(state, source, length, out[n].ctypes.data, FRAME, copy)
            if samples != FRAME:
                why = library.opus_strerror(samples).decode() if samples < 0 else f"it holds {samples} samples"
                raise VoipError(f"packet {n} is not a frame of 20 ms in Opus: {why}")
    finally:
        library.opus_decoder_destroy(state)
    return out.reshape(-1)


@checks.takes(error=VoipError, packets=checks.each(checks.a(bytes)), lost=checks.flags)
def decoded(packets: Sequence[bytes], lost: ArrayLike, *, copies: bool = False) -> NDArray[np.int16]:
    """Decode what arrived of a call in Opus; the decoder conceals what is missing.

    Parameters
    ----------
    packets : sequence of bytes
        See `encoded`.
    lost : array_like of bool, shape (packets,)
        True for each packet that did not come.
    copies : bool
        Whether a missing frame is taken from the copy in the packet behind it, if that came. It costs one frame of
        waiting. Where that packet holds no copy the decoder conceals, as without.

    Returns
    -------
    ndarray of int16, shape (samples,)
        Samples at 8 kHz, moved forward by `LOOKAHEAD` so that they stand where they were spoken.

    Raises
    ------
    VoipError
        For packets that are none, another number of flags than packets, or if no libopus is found.

    Examples
    --------
    >>> decoded([b"no packet"], [False, True])
    Traceback (most recent call last):
    ...
    voicewire.voip.errors.VoipError: ...
    """
    gone = np.asarray(lost)
    if len(packets) != gone.size:
        raise VoipError(f"lost says what became of {gone.size} packets, and there are {len(packets)}")
    if any(not packet for packet in packets):
        raise VoipError("a packet is empty: say in lost which did not come, and keep the packet")
    if _library() is None:
        raise VoipError("Opus needs libopus to decode: install PyAV's wheel, or Debian's package libopus0")
    samples = _decode(packets, gone, bool(copies))
    return np.concatenate((samples[LOOKAHEAD:], np.zeros(LOOKAHEAD, np.int16)))
