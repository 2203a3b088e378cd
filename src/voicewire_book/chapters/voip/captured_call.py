"""A call as its capture has it: G.711 in RTP, written as pcap with losses, and what is heard in it."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voicewire.voip.captures.g711 import heard
from voicewire.voip.captures.report import judged_stream, numbers_of
from voicewire.voip.captures.rtp import read_capture
from voicewire.voip.codecs import listening

__all__ = ["through", "write"]

FRAME = 160  # samples of 20 ms


def write(path: Path, samples: NDArray[np.int16], lost: NDArray[np.bool_]) -> None:
    """Write the capture of a call, one packet every 20 ms but for those that were lost."""
    packets, _ = listening.coded(samples, "G.711 µ-law")
    pieces = [struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)]  # pcap of bare IP packets
    for k in np.flatnonzero(~lost).tolist():
        rtp = struct.pack("!BBHII", 128, 0, k, FRAME * k, 7) + packets[k]
        udp = struct.pack("!4H", 5004, 5006, 8 + len(rtp), 0) + rtp
        ip = struct.pack("!BBHHHBBHII", 69, 0, 20 + len(udp), 0, 0, 64, 17, 0, 0x7F000001, 0x7F000001) + udp
        pieces.append(struct.pack("<4I", k // 50, 20_000 * (k % 50), len(ip), len(ip)) + ip)
    path.write_bytes(b"".join(pieces))


def through(samples: NDArray[np.int16], lost: NDArray[np.bool_]) -> tuple[float, NDArray[np.int16]]:
    """Send a call with these packets lost, capture it, and read the capture back: its R, and what is heard."""
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "call.pcap"
        write(capture, samples, lost)
        found = read_capture(capture, sound=True)
    assert found is not None
    parts, _ = judged_stream(found.streams[0], None, 50.0, 20.0, None)
    return numbers_of(parts, 50.0)["buffers"]["fixed"]["r"], heard(parts)
