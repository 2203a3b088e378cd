"""The calls of a capture, scored, as a table."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voicewire._kit import checks
from voicewire.voip.captures.report import judged_stream, no_stream, numbers_of
from voicewire.voip.captures.rtp import read_capture
from voicewire.voip.errors import VoipError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["score_capture"]

_COLUMNS = (
    "stream", "part", "from_s", "to_s", "why", "codec", "codec_from", "frames", "lost", "jitter_ms", "r_fixed",
    "r_adaptive", "r_best", "mos", "refused",
)  # fmt: skip


@checks.takes(
    error=VoipError, delay_ms=checks.number(0.0, 3_600_000.0), frame_ms=checks.number(0.125, 1000.0),
    clock_hz=checks.maybe(checks.number(1.0, 1e9)),
)  # fmt: skip
def score_capture(
    path: str | Path, *, delay_ms: float = 50.0, codec: str | None = None, frame_ms: float = 20.0,
    clock_hz: float | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Score every stream of RTP in a capture, each of its parts in a row, as ``voicewire voip score`` does.

    Parameters
    ----------
    path : str or Path
        A capture, pcap or pcapng, with RTP over UDP or TCP.
    delay_ms : float
        One-way delay of the fastest packet, ms: stated, since arrivals show variation only.
    codec : str, optional
        ``G.711``, ``G.729`` or ``G.729A+VAD``; by payload type, else G.711, if it is not given.
    frame_ms : float
        A frame, ms, where no timestamp tells.
    clock_hz : float, optional
        Ticks a second of the timestamps; by payload type, else told from them.

    Returns
    -------
    pandas.DataFrame
        For each part: `stream` (most packets first), `part`, `from_s` and `to_s` after the capture's first packet,
        `why` it begins there, `codec` and how it is known (`codec_from`: ``payload type``, ``stated`` or ``assumed``),
        `frames`, `lost` (share), `jitter_ms`, R from 0 to 100 under three playout rules (`r_fixed`, `r_adaptive`,
        `r_best`), `mos` of the adaptive one, and `refused`: why a stream is not scored. ``attrs["passed_over"]`` counts
        the packets that belong to none, ``attrs["left_out"]`` those of each stream that no part has. A `UserWarning`
        and ``attrs["cut"]``, ``attrs["holes"]`` tell of a file that ends within a packet, and of TCP connections that
        were read up to a hole only.

    Raises
    ------
    VoipError
        If the file is no capture, or no stream of RTP is in it.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import struct, tempfile
    >>> def packet(k):
    ...     rtp = struct.pack("!BBHII", 128, 0, k, 160 * k, 7) + bytes(160)
    ...     udp = struct.pack("!4H", 4000, 4002, 8 + len(rtp), 0) + rtp
    ...     ip = struct.pack("!BBHHHBBHII", 69, 0, 20 + len(udp), 0, 0, 64, 17, 0, 0x7F000001, 0x7F000001) + udp
    ...     return struct.pack("<4I", k // 50, 20_000 * (k % 50), len(ip), len(ip)) + ip
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "call.pcap"
    ...     _ = file.write_bytes(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    ...     _ = file.open("ab").write(b"".join(packet(k) for k in range(200)))
    ...     score_capture(file)[["codec", "frames", "lost"]].values.tolist()
    [['G.711', 200, 0.0]]
    """
    found = read_capture(path)
    if found is None:
        raise VoipError(f"{Path(path).name} is no capture, neither pcap nor pcapng")
    rows: list[dict[str, Any]] = []
    left: dict[int, dict[str, int]] = {}
    for number, stream in enumerate(found.streams, start=1):
        try:
            parts, passed = judged_stream(stream, codec, delay_ms, frame_ms, clock_hz)
        except VoipError as error:
            rows.append({"stream": number, "refused": str(error)})
            continue
        if passed:
            left[number] = dict(passed)
        for place, part in enumerate(parts, start=1):
            told = numbers_of([part], delay_ms)
            times = part.part.stream.times if part.part else part.stream.sent_ms / 1e3
            ratings = told["buffers"]
            rows.append({
                "stream": number, "part": place, "from_s": float(times.min()), "to_s": float(times.max()),
                "why": part.part.why if part.part else "", "codec": told["codec"], "codec_from": told["codec_from"],
                "frames": told["frames"],
                "lost": told["lost_percent"] / 100, "jitter_ms": told["jitter_ms"],
                **{f"r_{name}": ratings[name]["r"] for name in ("fixed", "adaptive", "best")},
                "mos": ratings["adaptive"]["mos"], "refused": "",
            })  # fmt: skip
    if not rows:
        raise VoipError(no_stream(found))
    import pandas as pd

    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    table.attrs |= {"passed_over": dict(found.passed), "left_out": left, "cut": found.cut, "holes": found.holes}
    for seen, words in (
        (found.cut, "the file is cut or damaged"), (found.holes, "a TCP connection has a hole"),
    ):  # fmt: skip
        if seen:
            warnings.warn(f"{Path(path).name}: {words}: what stands before that was read", stacklevel=3)
    return table
