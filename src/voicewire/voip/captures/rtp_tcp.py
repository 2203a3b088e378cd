"""RTP over TCP: segments put in order, then cut into packets as RFC 4571 or RTSP (RFC 2326, 10.12) frame them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from voicewire.testbed.reassembly import Direction

__all__ = ["LEAST", "MOST_AHEAD", "MOST_WAITING", "Connections", "Way", "relayed"]

LEAST = 10
"""Packets of a stream: fewer are taken for something else that begins like RTP."""
MOST_AHEAD = 1 << 20
"""Bytes of one direction that may wait for a segment before them."""
MOST_WAITING = 1 << 26
"""Bytes of all connections that may wait."""
_MOST_TEXT = 1 << 16  # of an RTSP message's head
_MOST_LINE = 1000
_DATA = 0x0013  # the attribute of STUN that holds what is relayed
_STUN = b"\x21\x12\xa4\x42"
_LENGTH = re.compile(rb"\r\ncontent-length[ \t]*:[ \t]*(\d{1,7})[ \t]*\r\n", re.IGNORECASE)


class Way(Direction):
    """One direction of a connection."""

    __slots__ = ("broken", "framing", "held", "skip")

    def __init__(self, due: int) -> None:
        super().__init__(due)
        self.skip = 0
        self.framing: str | None = None  # "" for something else than RTP
        self.broken = False
        self.held = bytearray()

    def took(self, number: int, data: bytes, missing: int, time: int) -> Iterator[tuple[int, bytes]]:
        """Take a segment in, and give the RTP packets that it completes."""
        if self.framing == "" or self.broken:
            return
        off = self.place(number) - self.taken
        for when, fresh in self.take(number, data, missing, time):
            for packet in self._next(fresh):
                yield when, packet
        if self.waiting > MOST_AHEAD or off > MOST_AHEAD:
            self.drop(broken=True)

    def drop(self, *, broken: bool) -> None:
        """Forget what waits: a hole that was never filled, or something else than RTP."""
        self.broken |= broken
        if not broken:
            self.framing = ""
        self.forget()
        self.held = bytearray()

    def _next(self, data: bytes) -> Iterator[bytes]:
        if self.framing == "" or self.broken:
            return
        passed = min(self.skip, len(data))
        self.skip -= passed
        self.held += data[passed:]
        while (packet := self._packet()) is not None:
            if packet:
                yield packet

    def _packet(self) -> bytes | None:
        """Give the next frame's bytes, none of a frame without RTP, or None until there is more."""
        held = self.held
        if self.framing is None and len(held) >= 12:
            text = held[:1] == b"$" or held[:1].isalpha()
            turn = (held[0] < 4 and held[4:8] == _STUN) or (held[0] >> 4 == 4 and held[4] >> 6 == 2)
            self.framing = "TURN" if turn else "RTSP" if text else "RFC 4571"
            if self.framing == "RFC 4571" and not _begins(held[2:]):
                self.drop(broken=False)
        if not self.framing or not held or self.skip:
            return None
        if self.framing == "RTSP" and held[:1] != b"$":
            return self._text()
        if self.framing == "TURN":
            return self._relayed()
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

    def _relayed(self) -> bytes | None:
        """Give what TURN relays: a message of STUN, or ChannelData filled up to fours of bytes."""
        held = self.held
        if len(held) < 4:
            return None
        size = int.from_bytes(held[2:4], "big")
        size = 20 + size if held[0] < 4 else 4 + size + -size % 4
        if held[0] >= 4 and held[0] >> 6 != 1:
            self.drop(broken=True)
            return None
        if len(held) < size:
            return None
        packet, _ = relayed(bytes(held[:size]), size)
        del held[:size]
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


def relayed(packet: bytes, size: int) -> tuple[bytes, int]:
    """What TURN's ChannelData, or a Send or Data indication (RFC 8656), carries, and its size; nothing of others."""
    if len(packet) >= 4 and packet[0] >> 6 == 1:
        length = int.from_bytes(packet[2:4], "big")
        return (packet[4 : 4 + length], length) if 0 <= size - 4 - length < 4 else (b"", 0)
    if packet[:2] in (b"\x00\x16", b"\x00\x17") and packet[4:8] == _STUN:
        place = 20
        while place + 4 <= len(packet):
            kind, length = int.from_bytes(packet[place : place + 2], "big"), packet[place + 2] << 8 | packet[place + 3]
            if kind == _DATA:
                return packet[place + 4 : place + 4 + length], length
            place += 4 + length + -length % 4
    return b"", 0


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
        self._segments = Counter[bytes]()
        self._carriers, self._cut = set[bytes](), set[bytes]()
        self._acknowledged: dict[bytes, int] = {}
        self._behind = Counter[bytes]()
        self._lost = self._unread = 0
        self.waiting = 0

    def took(self, ends: bytes, segment: bytes, size: int, time: int) -> Iterator[tuple[int, str, bytes]]:
        """Take a segment in, and give the RTP packets that it completes."""
        head = 4 * (segment[12] >> 4) if len(segment) >= 20 else 0
        key, number = ends + segment[:4], int.from_bytes(segment[4:8], "big")
        self._segments[key] += 1
        if not 20 <= head <= size:
            return
        begins = bool(segment[13] & 2)
        data = segment[head:size]
        missing = size - head - len(data)
        if missing:
            self._cut.add(key)
        first = (number + begins) % 2**32
        way = self._ways.get(key)
        if way is None or (begins and way.begins != first):  # the same ends again
            back = ends[len(ends) // 2 :] + ends[: len(ends) // 2] + segment[2:4] + segment[:2]
            if segment[13] & 16:
                self._acknowledged[key] = int.from_bytes(segment[8:12], "big")
            probe = len(data) == 1 and self._acknowledged.get(back) == (number + 1) % 2**32
            if way is None and not begins and (not data or probe):
                return
            self._close(key)
            way = self._ways[key] = Way(first)
        before = way.waiting + len(way.held)
        for when, packet in way.took(first, data, missing, time):
            self._spoke[key] += 1
            self._carriers.add(key)
            yield when, str(way.framing), packet
        self._behind[key] = self._behind[key] + bool(data) if way.broken or way.missing() else 0
        self.waiting += way.waiting + len(way.held) - before
        if self.waiting > MOST_WAITING:
            self.waiting -= way.waiting + len(way.held)
            way.drop(broken=True)

    def _close(self, key: bytes) -> None:
        way = self._ways.pop(key, None)
        if way is not None:
            if self._spoke[key] and (way.broken or way.missing() > 0):
                self._lost += self._spoke[key] >= LEAST
                self._unread += self._behind[key]
            del self._behind[key]
            self.waiting -= way.waiting + len(way.held)
            del self._spoke[key]

    def holes(self) -> int:
        """Count the directions that carried RTP and were read up to a hole only."""
        for key in list(self._ways):
            self._close(key)
        return self._lost

    def behind(self) -> int:
        """Count the segments with data that came behind a hole in RTP; `holes` closes what is counted."""
        return self._unread

    def others(self) -> tuple[int, int]:
        """Count the segments of directions without RTP, and of those that show none, but were not captured whole."""
        without = {key: count for key, count in self._segments.items() if key not in self._carriers}
        cut = sum(count for key, count in without.items() if key in self._cut)
        return sum(without.values()) - cut, cut
