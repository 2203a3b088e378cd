"""RTCP (RFC 3550, section 6.4) beside a call: what receivers reported of a stream. Read; nothing else is kept."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Report", "reports"]

_SENDER, _RECEIVER = 200, 201


class Report(NamedTuple):
    """What a receiver reports of a source: when (ns), which, share lost, packets lost in all, jitter in ticks."""

    time: int
    source: int
    fraction: float
    lost: int
    jitter: int


def reports(packet: bytes, time: int) -> list[Report] | None:
    """Read a compound packet's report blocks; None if its lengths don't add up, as where it is encrypted."""
    made, place = list[Report](), 0
    while place < len(packet):
        if place + 8 > len(packet) or packet[place] >> 6 != 2:
            return None
        kind, size = packet[place + 1], 4 + 4 * int.from_bytes(packet[place + 2 : place + 4], "big")
        if place + size > len(packet):
            return None
        if kind in (_SENDER, _RECEIVER):
            at, count = place + (28 if kind == _SENDER else 8), packet[place] & 31
            if at + 24 * count > place + size:
                return None
            for block in (packet[at + 24 * k : at + 24 * (k + 1)] for k in range(count)):
                lost = int.from_bytes(block[5:8], "big", signed=True)
                source, jitter = (int.from_bytes(block[k : k + 4], "big") for k in (0, 12))
                made.append(Report(time, source, block[4] / 256, lost, jitter))
        place += size
    return made
