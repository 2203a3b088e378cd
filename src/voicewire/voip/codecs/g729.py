"""G.729 both ways, through Belledonne's bcg729 where the machine has it (Debian's libbcg729-0, which tshark brings).

PyAV can decode G.729 and not encode it, and its decoder cannot be told that a frame is missing. The chapter is
``notebooks/voip/02_quality_and_playout``.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.voip.codecs.listening import FRAME, whole_frames
from voicewire.voip.errors import VoipError

__all__ = ["LOOKAHEAD", "PACKET", "available", "coded"]

LOOKAHEAD = 40
"""Samples by which the encoder looks ahead: 5 ms."""
PACKET = 20
"""Bytes in a packet of two frames of 10 ms."""
HALF = FRAME // 2


@lru_cache(maxsize=1)
def _library() -> Any:
    name = ctypes.util.find_library("bcg729")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    pointer: Any = ctypes.c_void_p
    byte: Any = ctypes.c_uint8
    for function, takes, gives in (
        (library.initBcg729EncoderChannel, [byte], pointer),
        (library.initBcg729DecoderChannel, [], pointer),
        (library.bcg729Encoder, [pointer] * 4, None),
        (library.bcg729Decoder, [pointer, pointer, *[byte] * 4, pointer], None),
        (library.closeBcg729EncoderChannel, [pointer], None),
        (library.closeBcg729DecoderChannel, [pointer], None),
    ):
        function.argtypes, function.restype = takes, gives
    return library


def available() -> bool:
    """Say whether bcg729 is found."""
    return _library() is not None


@checks.takes(error=VoipError, lost=checks.flags)
def coded(pcm: ArrayLike, lost: ArrayLike) -> NDArray[np.int16]:
    """Send speech through G.729 (annex A, without voice activity detection) and lose packets of 20 ms.

    Parameters
    ----------
    pcm : array_like of int16, shape (samples,)
        Samples at 8 kHz; what is left over at the end of whole frames is cut.
    lost : array_like of bool, shape (frames,)
        True for each packet that did not come; the decoder conceals both its frames.

    Returns
    -------
    ndarray of int16, shape (samples,)
        Samples, moved forward by `LOOKAHEAD` so that they stand where they were spoken.

    Raises
    ------
    VoipError
        For samples that are none, another number of flags than frames, or where bcg729 is missing.

    Examples
    --------
    >>> coded([0.5], [False])
    Traceback (most recent call last):
    ...
    voicewire.voip.errors.VoipError: ...
    """
    x, gone = whole_frames(pcm), np.asarray(lost)
    if gone.size != x.size // FRAME:
        raise VoipError(f"lost says what became of {gone.size} packets, and there are {x.size // FRAME}")
    library = _library()
    if library is None:
        raise VoipError("G.729 needs the library bcg729: install it, for example Debian's package libbcg729-0")
    encoder, decoder = library.initBcg729EncoderChannel(0), library.initBcg729DecoderChannel()
    bits, size, out = np.zeros(PACKET // 2, np.uint8), ctypes.c_uint8(0), np.zeros(x.size, np.int16)
    try:
        for at in range(0, x.size, HALF):
            library.bcg729Encoder(encoder, x[at:].ctypes.data, bits.ctypes.data, ctypes.addressof(size))
            erased = int(gone[at // FRAME])
            library.bcg729Decoder(decoder, bits.ctypes.data, size.value, erased, 0, 0, out[at:].ctypes.data)
    finally:
        library.closeBcg729EncoderChannel(encoder)
        library.closeBcg729DecoderChannel(decoder)
    return np.concatenate((out[LOOKAHEAD:], np.zeros(LOOKAHEAD, np.int16)))
