"""RTP (RFC 3550) in a capture, pcap or pcapng: times, numbers and timestamps are read; nothing else is kept."""

from __future__ import annotations

import struct
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voicewire.voip.captures.rtp_tcp import LEAST, Connections
from voicewire.voip.errors import VoipError

__all__ = ["CLOCKS", "Capture", "Stream", "clock_of", "read_capture"]

CLOCKS = {
    **dict.fromkeys((0, 3, 4, 5, 7, 8, 9, 12, 13, 15, 18), 8000), 6: 16_000, 10: 44_100, 11: 44_100, 14: 90_000,
    16: 11_025, 17: 22_050, **dict.fromkeys((25, 26, 28, 31, 32, 33, 34), 90_000),
}  # fmt: skip
"""Ticks a second of each payload type that RFC 3551 fixes; G.722 (9) counts 8,000 though it samples at 16,000."""

_USUAL = (8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 90_000)
_MOST_BLOCK = 1 << 24
_SECTION, _INTERFACE, _OLD, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 2, 3, 6
_PCAP = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}  # ns
_PACKED = {b"\x1f\x8b": "gzip", b"\xfd7zX": "xz", b"(\xb5/\xfd": "zstd", b"PK\3\4": "zip"}


class Stream(NamedTuple):
    """One sender's RTP packets, in the order in which they came.

    Parameters
    ----------
    times : ndarray of float, shape (packets,)
        Arrival of each, s after the capture's first packet of any kind, not falling.
    numbers, stamps : ndarray of int, shape (packets,)
        Its sequence number (16 bits) and timestamp (32 bits).
    markers : ndarray of bool, shape (packets,)
        Its marker bit: the first packet of a talkspurt.
    types : ndarray of int, shape (packets,)
        Its payload type.
    carried : str
        ``UDP``, or how TCP's bytes are cut into packets: ``TCP, RFC 4571`` or ``TCP, RTSP``.

    Examples
    --------
    >>> Stream(*(np.zeros(2) for _ in range(5))).times.size
    2
    """

    times: NDArray[np.float64]
    numbers: NDArray[np.int64]
    stamps: NDArray[np.int64]
    markers: NDArray[np.bool_]
    types: NDArray[np.int64]
    carried: str = "UDP"


class Capture(NamedTuple):
    """The RTP of a capture.

    Parameters
    ----------
    streams : list of Stream
        The one with most packets first.
    packets : int
        Packets of any kind.
    cut : bool
        Whether the file ends, or breaks, within a packet: what stands before is read.
    holes : int
        Directions of TCP connections that were read up to a hole in them only.
    short : int
        Datagrams whose first bytes would tell, but were not kept: whoever captured kept too few of each packet.

    Examples
    --------
    >>> Capture([], 0, False).cut
    False
    """

    streams: list[Stream]
    packets: int
    cut: bool
    holes: int = 0
    short: int = 0


class _CutError(Exception):
    """The file ends within a packet."""


def _exactly(file: BinaryIO, size: int) -> bytes:
    found = file.read(size)
    if len(found) < size:
        raise _CutError
    return found


def _records(file: BinaryIO, order: str, step: int) -> Iterator[tuple[int, int, bytes]]:
    """Time in ns, link type and bytes of each packet of a classic pcap file, whose magic number has been read."""
    link = struct.unpack(order + "16xI", _exactly(file, 20))[0] & 0xFFFF
    while head := file.read(16):
        if len(head) < 16:
            raise _CutError
        seconds, part, size, _ = struct.unpack(order + "IIII", head)
        if size > _MOST_BLOCK:
            raise _CutError
        yield seconds * 10**9 + part * step, link, _exactly(file, size)


def _options(body: bytes, order: str) -> tuple[int, int]:
    """Ticks a second, and seconds to add, of an interface."""
    rate, offset, place = 10**6, 0, 8
    while place + 4 <= len(body):
        code, size = struct.unpack_from(order + "HH", body, place)
        value = body[place + 4 : place + 4 + size]
        if code == 9 and len(value) == 1:
            rate = (2 if value[0] & 128 else 10) ** (value[0] & 127)
        elif code == 14 and len(value) == 8:
            offset = struct.unpack(order + "q", value)[0]
        place += 4 + size + -size % 4
    return rate, offset


def _blocks(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Time in ns, link type and bytes of each packet of a pcapng file, from its beginning."""
    order, interfaces = "<", list[tuple[int, int, int]]()
    while head := file.read(8):
        if len(head) < 8:
            raise _CutError
        kind, size = struct.unpack(order + "II", head)
        if kind == _SECTION:  # reads alike in both orders
            magic = _exactly(file, 4)
            order = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}.get(magic, "")
            if not order:
                raise _CutError
            size = struct.unpack(order + "I", head[4:])[0] - 4
            interfaces = []
        if not 12 <= size <= _MOST_BLOCK:
            raise _CutError
        body = _exactly(file, size - 8)[:-4]
        if kind == _INTERFACE and len(body) >= 8:
            interfaces.append((struct.unpack_from(order + "H", body)[0], *_options(body, order)))
        elif kind in (_ENHANCED, _OLD) and len(body) >= 20:
            which, high, low, length = struct.unpack_from(order + ("IIII" if kind == _ENHANCED else "HxxIII"), body)
            if which >= len(interfaces) or length > len(body) - 20:
                raise _CutError
            link, rate, offset = interfaces[which]
            yield (high << 32 | low) * 10**9 // rate + offset * 10**9, link, body[20 : 20 + length]


def _inside(link: int, data: bytes) -> tuple[bytes, int, bytes, int] | None:
    """Addresses, to tell streams apart and for nothing else, protocol, what IP carries, and its size as sent."""
    if link in (1, 113, 276):
        place, kind = {1: (14, 12), 113: (16, 14), 276: (20, 0)}[link]
        ether = data[kind : kind + 2]
        while ether in (b"\x81\x00", b"\x88\xa8", b"\x91\x00"):
            ether, place = data[place + 2 : place + 4], place + 4
        if ether == b"\x88\x64":  # PPPoE
            place += 8
        elif ether not in (b"\x08\x00", b"\x86\xdd"):
            return None
    elif link in (0, 108):
        place = 4
    elif link in (12, 14, 101, 228, 229):
        place = 0
    else:
        return None
    data = data[place:]
    if len(data) >= 20 and data[0] >> 4 == 4:
        ends, place, following = data[12:20], 4 * (data[0] & 15), data[9]
        whole, _, fragment = struct.unpack_from("!HHH", data, 2)
        if fragment & 0x1FFF or place < 20 or (following == 6 and fragment & 0x2000):
            return None  # a later fragment has no header of its own
    elif len(data) >= 8 and data[0] >> 4 == 6 and (len(data) >= 40 or data[6] == 17):
        ends, place, following = data[8:40], 40, data[6]
        whole = struct.unpack_from("!H", data, 4)[0]
        whole += 40 * bool(whole)
        while following in (0, 43, 44, 60) and place + 8 <= len(data):
            if following == 44 and struct.unpack_from("!H", data, place + 2)[0] & 0xFFF8:
                return None
            size = 8 if following == 44 else 8 * (1 + data[place + 1])
            following, place = data[place], place + size
    else:
        return None
    whole = whole or len(data)  # nought where the network card cuts, behind the capture
    return ends, following, data[place:whole], whole - place


def _udp(data: bytes) -> bytes | None:
    """What a UDP datagram holds of RTP's head."""
    return data[8:20] if len(data) >= 8 and struct.unpack_from("!H", data, 4)[0] >= 20 else None


_Began = tuple[int, str, bytes, bytes]


class _Kept:
    """What is kept of the packets with one key."""

    def __init__(self, carried: str) -> None:
        self.carried = carried
        self.times: list[int] = []  # an offset of an interface may leave 64 bits
        self.numbers, self.stamps = array("q"), array("q")
        self.second = array("B")

    def stream(self, since: int) -> Stream | None:
        number = np.array(self.numbers)
        steps = (np.diff(number) + 2**15) % 2**16 - 2**15
        second = np.array(self.second)
        if number.size < LEAST or np.mean(np.abs(steps) <= 100) < 0.8 or np.mean(steps == 0) > 0.5:
            return None
        time = np.array([each - since for each in self.times], dtype=float) / 1e9
        order = np.argsort(time, kind="stable")
        time = time[order]
        stamp, second = np.array(self.stamps)[order], second[order]
        return Stream(time, number[order], stamp, second >= 128, (second & 127).astype(np.int64), self.carried)


def _short(inside: tuple[bytes, int, bytes, int] | None) -> bool:
    """Whether a datagram has room for RTP's head, and the capture has not."""
    return inside is not None and inside[1] == 17 and inside[3] >= 20 > len(inside[2])


def _rtp(inside: tuple[bytes, int, bytes, int] | None, time: int, over: Connections) -> Iterator[_Began]:
    """Time, carriage, ends and the beginning of each RTP packet that a captured one completes."""
    if inside is None:
        return
    ends, following, part, size = inside
    if following == 6:
        for when, framing, packet in over.took(ends, part, size, time):
            yield when, f"TCP, {framing}", b"T" + ends + part[:4], packet
    elif following == 17:
        head = _udp(part)
        if head is not None and len(head) == 12 and head[0] >> 6 == 2:
            yield time, "UDP", ends + part[:4], head


def read_capture(path: Path) -> Capture | None:
    """Read the RTP over UDP or TCP of a capture, pcap or pcapng, whatever else is in it.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Capture or None
        Its streams; None for a file that is no capture.

    Raises
    ------
    VoipError
        For a file that cannot be read.

    Notes
    -----
    A stream has one sender, one receiver and one synchronisation source. Fewer than ten packets, or numbers that jump
    about, are something else that begins like RTP. Ethernet (with VLAN or PPPoE), Linux's cooked, loopback and raw IP
    captures are read; in a datagram that was cut short, the first 12 bytes of RTP are enough. Over TCP, framed after
    RFC 4571 or by RTSP, a packet has come when its last byte has, and all before it; behind a hole that no segment
    fills, or a segment that was cut short, nothing of that connection is read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.pcap"
    ...     _ = file.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    ...     read_capture(file)
    Capture(streams=[], packets=0, cut=False, holes=0, short=0)
    """
    kept: dict[bytes, _Kept] = {}
    packets, short, cut, since, connections = 0, 0, False, 0, Connections()
    try:
        with Path(path).open("rb") as file:
            magic = file.read(4)
            little, big = int.from_bytes(magic, "little"), int.from_bytes(magic, "big")
            if little in _PCAP or big in _PCAP:
                found = _records(file, *(("<", _PCAP[little]) if little in _PCAP else (">", _PCAP[big])))
            elif little == _SECTION:
                file.seek(0)
                found = _blocks(file)
            else:
                packed = [name for mark, name in _PACKED.items() if magic.startswith(mark)]
                if packed:
                    raise VoipError(f"it is packed by {packed[0]}: unpack it first")
                return None
            try:
                for time, link, data in found:
                    since = min(since, time) if packets else time
                    packets += 1
                    inside = _inside(link, data)
                    short += _short(inside)
                    for when, carried, key, head in _rtp(inside, time, connections):
                        _, second, number, stamp = struct.unpack_from("!BBHI", head)
                        if not 64 <= second & 127 < 96:  # RTCP, and what could be taken for it
                            its = kept.setdefault(key + head[8:12], _Kept(carried))
                            its.times.append(when)
                            its.numbers.append(number)
                            its.stamps.append(stamp)
                            its.second.append(second)
            except _CutError:
                cut = True
    except VoipError:
        raise
    except (OSError, TypeError, ValueError) as error:
        raise VoipError("the capture cannot be read") from error
    streams = [made for its in kept.values() if (made := its.stream(since)) is not None]
    return Capture(sorted(streams, key=lambda one: -one.times.size), packets, cut, connections.holes(), short)


def clock_of(stream: Stream) -> tuple[int, int, bool]:
    """Find a stream's payload type and how many ticks a second its timestamps have.

    Parameters
    ----------
    stream : Stream
        From `read_capture`.

    Returns
    -------
    tuple of int, int and bool
        Payload type of most packets, ticks a second, and whether RFC 3551 fixes them. Of other types the usual rate
        nearest to timestamps over time is taken.

    Raises
    ------
    VoipError
        If timestamps and times agree with no usual rate within a tenth.

    Examples
    --------
    >>> n = np.arange(50)
    >>> clock_of(Stream(0.02 * n, n, 960 * n, n == 0, np.full(50, 96)))
    (96, 48000, False)
    """
    if not isinstance(stream, Stream) or not np.size(stream.types):
        raise VoipError("stream must come from read_capture")
    kind = Counter(stream.types.tolist()).most_common(1)[0][0]
    if kind in CLOCKS:
        return kind, CLOCKS[kind], True
    mine = stream.types == kind
    ticks = (np.diff(stream.stamps[mine]) + 2**31) % 2**32 - 2**31
    seconds = float(np.ptp(stream.times[mine]))
    rate = float(ticks.sum()) / seconds if seconds > 0 else 0.0
    nearest = min(_USUAL, key=lambda one: abs(one - rate))
    if abs(nearest - rate) > 0.1 * nearest:
        raise VoipError("the timestamps' clock rate can't be told from so few packets: state it")
    return kind, nearest, False
