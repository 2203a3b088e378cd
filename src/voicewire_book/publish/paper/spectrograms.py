"""A sound on paper: its spectrogram."""

from __future__ import annotations

import base64
import io

import numpy as np

__all__ = ["spectrogram"]


def spectrogram(address: str) -> str:
    """Return the spectrogram of a sound in a page, as a picture in a page."""
    import soundfile
    from PIL import Image

    signal, rate = soundfile.read(io.BytesIO(base64.b64decode(address.partition("base64,")[2])), always_2d=True)
    mono = signal.mean(axis=1)
    frame = 2 ** int(np.log2(rate * 0.03))
    hop = max(1, (len(mono) - frame) // 600)
    if len(mono) <= frame:
        return ""
    frames = np.lib.stride_tricks.sliding_window_view(mono, frame)[::hop] * np.hanning(frame)
    power = np.abs(np.fft.rfft(frames)) ** 2
    level = 10 * np.log10(np.maximum(power / max(power.max(), 1e-30), 1e-12))
    grey = np.clip(-level / 60, 0, 1).T[::-1]
    picture = Image.fromarray((255 * grey).astype(np.uint8)).resize((600, 110)).quantize(16)
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
