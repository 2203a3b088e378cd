"""PESQ (ITU-T P.862), which compares what is heard with what was said; optional (extra `pesq`).

The ITU's reference code is licensed for evaluation only, so it is in no lock, and nothing in the book needs it: R is
computed without a recording. Explained in ``notebooks/voip/02_quality_and_playout.ipynb``.
"""

from __future__ import annotations

import importlib.util

import numpy as np
from numpy.typing import ArrayLike

from voicewire.voip.codecs.listening import RATE
from voicewire.voip.errors import VoipError

__all__ = ["available", "score"]


def available() -> bool:
    """Is the extra `pesq` installed?"""
    return importlib.util.find_spec("pesq") is not None


def score(said: ArrayLike, heard: ArrayLike) -> float:
    """Mean opinion score that PESQ predicts for a narrow-band call (MOS-LQO, ITU-T P.862.1), 1.0 to 4.5.

    Parameters
    ----------
    said, heard : array_like of int16, shape (samples,)
        Samples at 8 kHz, as `listening.speech` and `listening.Heard` give them; a delay between them is PESQ's to
        find.

    Returns
    -------
    float
        MOS-LQO.

    Raises
    ------
    VoipError
        if the extra is missing, or PESQ cannot judge these samples (too short, or without speech).

    Examples
    --------
    Other samples are refused, with PESQ or without it:

    >>> score([0.5], [0.5])
    Traceback (most recent call last):
    ...
    voicewire.voip.errors.VoipError: ...
    """
    if not available():
        raise VoipError(
            "PESQ is not installed: install the extra `pesq` (pip install 'voicewire[pesq]') if its licence, "
            "for evaluation only, allows your use"
        )
    import pesq

    pair = [np.asarray(samples) for samples in (said, heard)]
    for name, samples in zip(("said", "heard"), pair, strict=True):
        if samples.dtype != np.int16 or samples.ndim != 1:
            raise VoipError(f"what was {name} must be 16-bit samples, shape (n,), not {samples.dtype} {samples.shape}")
    try:
        return float(pesq.pesq(RATE, *pair, "nb"))
    except pesq.PesqError as error:
        raise VoipError(f"PESQ cannot judge these samples: {str(error) or type(error).__name__}") from None
