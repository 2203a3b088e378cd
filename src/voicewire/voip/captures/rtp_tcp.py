"""RTP over TCP: segments put in order, then cut into packets as RFC 4571 or RTSP (RFC 2326, 10.12) frame them."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterator

__all__ = ["LEAST", "MOST_AHEAD", "MOST_WAITING", "Connections", "Way"]

LEAST = 10
"""Packets of a stream: fewer are taken for something else that begins like RTP."""
MOST_AHEAD = 1 << 20
"""Bytes of one direction that may wait for a segment before them."""
MOST_WAITING = 1 << 26
"""Bytes of all connections that may wait."""
_ENTRY = 64  # bytes that an entry is counted with, besides its own
_MOST_TEXT = 1 << 16  # of an RTSP message's head
_MOST_LINE = 1000
_STUN = b"\x21\x12\xa4\x42"
_LENGTH = re.compile(rb"\r\ncontent-length[ \t]*:[ \t]*(\d{1,7})[ \t]*\r\n", re.IGNORECASE)


class Way:
    """One direction of a connection."""

    __slots__ = ("ahead", "begins", "broken", "framing", "held", "skip", "taken", "time", "waiting")

    def __init__(self, due: int) -> None:
        self.begins, self.taken, self.time, self.skip, self.waiting = due, 0, 0, 0, 0
        self.framing: str | None = None  # "" for something else than RTP
        self.broken = False
        self.held = bytearray()
        self.ahead: list[tuple[int, int, int, bytes]] = []  # a heap: place, time, missing, bytes

    def took(self, number: int, data: bytes, missing: int, time: int) -> Iterator[tuple[int, bytes]]:
        """Take a segment in, and give the RTP packets that it completes."""
        off = (number - self.begins - self.taken + 2**31) % 2**32 - 2**31
        size = len(data) + missing
        if self.framing == "" or self.broken or size == 0 or off + size <= 0:
            return
        heapq.heappush(self.ahead, (self.taken + off, time, missing, data))
        self.waiting += len(data) + _ENTRY
        if self.waiting > MOST_AHEAD or off > MOST_AHEAD:
            self.drop(broken=True)
        while self.ahead and self.ahead[0][0] <= self.taken:
            place, time, missing, data = heapq.heappop(self.ahead)
            self.waiting -= len(data) + _ENTRY
            fresh = place + len(data) - self.taken
            self.time = max(self.time, time) if fresh + missing > 0 else self.time
            if fresh > 0:
                yield from self._next(data[-fresh:])
            if missing and fresh + missing > 0:
                self.drop(broken=True)

    def drop(self, *, broken: bool) -> None:
        """Forget what waits: a hole that was never filled, or something else than RTP."""
        self.broken |= broken
        if not broken:
            self.framing = ""
        self.ahead, self.waiting = [], 0
        self.held = bytearray()

    def _next(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        self.taken += len(data)
        passed = min(self.skip, len(data))
        self.skip -= passed
        self.held += data[passed:]
        while (packet := self._packet()) is not None:
            if packet:
                yield self.time, packet

    def _packet(self) -> bytes | None:
        """Give the next frame's bytes, none of a frame without RTP, or None until there is more."""
        held = self.held
        if self.framing is None and len(held) >= 12:
            text = held[:1] == b"$" or held[:1].isalpha()
            self.framing = "RTSP" if text else "RFC 4571"
            if not text and not _begins(held[2:]):
                self.drop(broken=False)
        if not self.framing or not held or self.skip:
            return None
        if self.framing == "RTSP" and held[:1] != b"$":
            return self._text()
        place = 4 if self.framing == "RTSP" else 2
        if len(held) < place:
            return None
        size = int.from_bytes(held[place - 2 : place], "big")
        if len(held) < place + size:
            return None
        packet = bytes(held[place : place + size])
        del held[: place + size]
        if self.framing == "RFC 4571" and size and not (_begins(packet) or 20 <= packet[0] < 64):  # 20 to 63: DTLS
            self.drop(broken=True)
            return None
        return packet if len(packet) >= 12 and packet[0] >> 6 == 2 else b""

    def _text(self) -> bytes | None:
        """Pass over an RTSP message and its body."""
        held = self.held
        line, end = held.find(b"\r\n", 0, _MOST_LINE), held.find(b"\r\n\r\n", 0, _MOST_TEXT)
        other = b"RTSP/" not in held[:line] if line >= 0 else len(held) >= _MOST_LINE
        if other or (end < 0 and len(held) >= _MOST_TEXT):
            self.drop(broken=False)
        elif end >= 0:
            body = _LENGTH.search(bytes(held[: end + 4]))
            size = end + 4 + (int(body[1]) if body else 0)
            self.skip = max(0, size - len(held))
            del held[:size]
            return b""
        return None


def _begins(packet: bytes | bytearray) -> bool:
    """Whether it begins as RTP or RTCP does, or is STUN (RFC 7983)."""
    return bool(packet) and (packet[0] >> 6 == 2 or (packet[0] < 4 and packet[4:8] == _STUN))


class Connections:
    """All TCP connections of a capture.

    Attributes
    ----------
    waiting : int
        Bytes of all of them that wait for others.

    Notes
    -----
    What is no RTP is told by its first bytes, and nothing of it is kept.
    """

    def __init__(self) -> None:
        self._ways: dict[bytes, Way] = {}
        self._spoke = Counter[bytes]()
        self._lost = 0
        self.waiting = 0

    def took(self, ends: bytes, segment: bytes, size: int, time: int) -> Iterator[tuple[int, str, bytes]]:
        """Take a segment in, and give the RTP packets that it completes."""
        head = 4 * (segment[12] >> 4) if len(segment) >= 20 else 0
        if not 20 <= head <= size:
            return
        key, number = ends + segment[:4], int.from_bytes(segment[4:8], "big")
        begins = bool(segment[13] & 2)
        data = segment[head:size]
        missing = size - head - len(data)
        first = (number + begins) % 2**32
        way = self._ways.get(key)
        if way is None or (begins and way.begins != first):  # the same ends again
            if way is None and not begins and not data:
                return
            self._close(key)
            way = self._ways[key] = Way(first)
        before = way.waiting + len(way.held)
        for when, packet in way.took(first, data, missing, time):
            self._spoke[key] += 1
            yield when, str(way.framing), packet
        self.waiting += way.waiting + len(way.held) - before
        if self.waiting > MOST_WAITING:
            self.waiting -= way.waiting + len(way.held)
            way.drop(broken=True)

    def _close(self, key: bytes) -> None:
        way = self._ways.pop(key, None)
        if way is not None:
            self._lost += self._spoke[key] >= LEAST and (way.broken or bool(way.ahead))
            self.waiting -= way.waiting + len(way.held)
            del self._spoke[key]

    def holes(self) -> int:
        """Count the directions that carried RTP and were read up to a hole only."""
        for key in list(self._ways):
            self._close(key)
        return self._lost
