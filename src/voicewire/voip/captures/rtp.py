"""RTP (RFC 3550) in a capture, pcap or pcapng: times, numbers and timestamps are read; nothing else is kept."""

from __future__ import annotations

import struct
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voicewire.testbed.capture_file import CaptureFile
from voicewire.testbed.encapsulation import Inside, Passed
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.pcap import is_capture
from voicewire.voip.captures.rtcp import Report, reports
from voicewire.voip.captures.rtp_tcp import LEAST, Connections, relayed
from voicewire.voip.errors import VoipError

__all__ = ["CLOCKS", "Capture", "Stream", "clock_of", "read_capture"]

CLOCKS = {
    **dict.fromkeys((0, 3, 4, 5, 7, 8, 9, 12, 13, 15, 18), 8000), 6: 16_000, 10: 44_100, 11: 44_100, 14: 90_000,
    16: 11_025, 17: 22_050, **dict.fromkeys((25, 26, 28, 31, 32, 33, 34), 90_000),
}  # fmt: skip
"""Ticks a second of each payload type that RFC 3551 fixes; G.722 (9) counts 8,000 though it samples at 16,000."""

_USUAL = (8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 90_000)
COPIES = 200  # packets within which the same numbers are a copy, and not a sender that begins anew
_STRIDE = 25  # packets from one to another whose timestamps and times are compared


class Stream(NamedTuple):
    """What one end sent to another by RTP, in the order of the capture.

    Parameters
    ----------
    times : ndarray of float, shape (packets,)
        Arrival of each, s after the capture's earliest packet of any kind; falling where the capture's clock does.
    numbers, stamps : ndarray of int, shape (packets,)
        Its sequence number (16 bits) and timestamp (32 bits).
    markers : ndarray of bool, shape (packets,)
        Its marker bit: the first packet of a talkspurt.
    types : ndarray of int, shape (packets,)
        Its payload type.
    carried : str
        ``UDP``, ``UDP, TURN``, or how TCP's bytes are cut into packets: ``TCP, RFC 4571``, ``TCP, RTSP`` or
        ``TCP, TURN``.
    sources : ndarray of int, shape (packets,)
        Which source sent it, counted from 0.
    moved : tuple of int
        Packets before which addresses or ports change.
    payloads : list of bytes or None
        What each carries (None of one that was cut), if the sound was asked for.
    opposite : int or None
        Which of the capture's streams goes the other way.
    reports : tuple
        What RTCP reported of this stream's sources.
    names : frozenset of int
        The sources' identifiers (SSRC), to be compared.

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
    sources: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    moved: tuple[int, ...] = ()
    payloads: list[bytes | None] | None = None
    opposite: int | None = None
    reports: tuple[Report, ...] = ()
    names: frozenset[int] = frozenset()


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
    passed : dict of str to int
        What was passed over, and how often.
    tunnels : dict of str to int
        Tunnels that were taken off.
    controls : int
        Packets of RTCP.

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
    passed: Mapping[str, int] = {}
    tunnels: Mapping[str, int] = {}
    controls: int = 0


_HEAD = struct.Struct("!xBHII")


class _Kept:
    """What is kept of the packets between two ends, in the file's order."""

    def __init__(self, carried: str) -> None:
        self.carried = carried
        self.times: list[int] = []  # an offset of an interface may leave 64 bits
        self.numbers, self.stamps, self.sources = array("q"), array("q"), array("q")
        self.second = array("B")
        self.payloads: list[bytes | None] = []

    def take(self, time: int, packet: bytes, size: int, sound: bool) -> None:
        """Keep a packet's time and numbers, and what it carries only if its sound is wanted."""
        second, number, stamp, source = _HEAD.unpack_from(packet)
        self.times.append(time)
        self.numbers.append(number)
        self.stamps.append(stamp)
        self.sources.append(source)
        self.second.append(second)
        if sound:
            self.payloads.append(payload(packet, size))

    def streams(self, since: int) -> Iterator[tuple[Stream, list[int]]]:
        """Give each chain of sources that follow one another as a stream, with the sources; what is none is left."""
        source, number = np.array(self.sources), np.array(self.numbers)
        second, stamp = np.array(self.second), np.array(self.stamps)
        time = np.array([each - since for each in self.times], dtype=float) / 1e9
        all_of = dict.fromkeys(source.tolist())
        real = [each for each in all_of if _is_rtp(number[source == each], stamp[source == each])]
        for chain in _chains(source, real):
            mine = np.flatnonzero(np.isin(source, chain))
            order = {each: k for k, each in enumerate(chain)}
            yield Stream(
                time[mine], number[mine], stamp[mine], second[mine] >= 128, (second[mine] & 127).astype(np.int64),
                self.carried, np.array([order[each] for each in source[mine].tolist()], dtype=np.int64),
                payloads=[self.payloads[k] for k in mine] if self.payloads else None,
            ), chain  # fmt: skip


def payload(packet: bytes, size: int) -> bytes | None:
    """What an RTP packet of `size` bytes carries, behind sources, extension and before padding; None if it was cut."""
    place = 12 + 4 * (packet[0] & 15)
    if packet[0] & 16:
        if place + 4 > len(packet):
            return None
        place += 4 + 4 * int.from_bytes(packet[place + 2 : place + 4], "big")
    if len(packet) < size:
        return None
    end = size - (packet[size - 1] if packet[0] & 32 else 0)
    return packet[place:end] if place <= end else None


def _is_rtp(number: NDArray[np.int64], stamp: NDArray[np.int64]) -> bool:
    """Whether numbers go on as a sender's do; copies of a packet, as a mirror makes them, count once."""
    steps = (np.diff(number) + 2**15) % 2**16 - 2**15
    if steps.size >= LEAST - 1 and np.mean(np.abs(steps) <= 100) >= 0.8 and not (steps == 0).any():
        return True  # no copy is next to its first, nor far from it
    seen: dict[tuple[int, int], int] = {}
    first = np.ones(number.size, dtype=bool)
    for k, key in enumerate(zip(number.tolist(), stamp.tolist(), strict=True)):
        first[k] = k - seen.get(key, -COPIES) >= COPIES
        seen[key] = k
    steps = (np.diff(number[first]) + 2**15) % 2**16 - 2**15
    if steps.size < LEAST - 1:
        return False
    return bool(np.mean(np.abs(steps) <= 100) >= 0.8 and np.mean(steps == 0) <= 0.5)


def _chains(source: NDArray[np.int64], real: list[int]) -> list[list[int]]:
    """Sources that follow one another between two ends are one stream; those that speak at once are several."""
    chains: list[list[int]] = []
    for one in real:
        for chain in chains:
            both = source[np.isin(source, [*chain, one])]
            turns = np.flatnonzero(np.diff(both) != 0).size
            fewest = min(int(np.sum(both == each)) for each in [*chain, one])
            if turns <= 2 * len(chain) + fewest / LEAST:
                chain.append(one)
                break
        else:
            chains.append([one])
    return chains


def _short(inside: Inside) -> bool:
    """Whether a datagram has room for RTP's head, and the capture has not."""
    return inside.protocol == 17 and inside.size >= 20 > len(inside.body)


def _datagram(one: Inside) -> tuple[str, bytes, int] | None:
    """Carriage, bytes and size of the packet of RTP or RTCP that a datagram holds, if it holds one."""
    body = one.body
    if len(body) < 8:
        return None
    size = (body[4] << 8 | body[5] or one.size) - 8
    packet, way = body[8 : 8 + size], "UDP"
    if packet[:1] and packet[0] >> 6 != 2:
        (packet, size), way = relayed(packet, size), "UDP, TURN"
    if size >= 8 and len(packet) >= (size if size < 12 else 12) and packet[0] >> 6 == 2:
        return way, packet, size
    return None


class _Reading:
    """Goes through a capture, and sorts each packet into one heap."""

    def __init__(self, sound: bool) -> None:
        self.sound = sound
        self.kept: dict[bytes, _Kept] = {}
        self.reports: list[Report] = []
        self.passed = Counter[str]()
        self.connections = Connections()
        self.short = self.since = self.controls = 0

    def go(self, file: CaptureFile) -> None:
        """Read the whole file."""
        begun = False
        for time, one in file.frames():
            if not begun or time < self.since:
                self.since, begun = time, True
            if isinstance(one, Passed):
                self.passed[one.what] += 1
            elif one.protocol == 6:
                for when, framing, packet in self.connections.took(one.ends, one.body, one.size, time):
                    self._take(when, f"TCP, {framing}", b"T" + one.ends + one.body[:4], packet, len(packet))
            elif (found := _datagram(one)) is not None:
                self._take(time, found[0], one.ends + one.body[:4], found[1], found[2])
            elif _short(one):
                self.short += 1
                self.passed["datagrams kept too short to tell"] += 1
            elif one.protocol == 17 and one.size < int.from_bytes(one.body[4:6], "big"):
                self.passed["IP fragments"] += 1  # the first, too short for RTP's head
            else:
                self.passed["UDP that isn't RTP"] += 1
        without, cut = self.connections.others()
        self.passed["TCP without RTP"] = without
        self.passed["TCP segments that were not captured whole, of connections in which no RTP is seen"] = cut

    def _take(self, time: int, carried: str, key: bytes, packet: bytes, size: int) -> None:
        kind = packet[1]
        if 192 <= kind < 224:
            self.controls += 1
            made = reports(packet, time) if len(packet) == size else None
            if made is None:
                self.passed["RTCP whose lengths don't add up, or that was cut"] += 1
            self.reports += made or []
        elif 64 <= kind & 127 < 96 or len(packet) < 12:  # what could be taken for RTCP
            self.passed["UDP that isn't RTP"] += not key.startswith(b"T") or len(key) % 2 == 0
        else:
            kept = self.kept.get(key)
            if kept is None:
                kept = self.kept[key] = _Kept(carried)
            kept.take(time, packet, size, self.sound)

    def streams(self) -> list[Stream]:
        """Give the streams, most packets first, each with what was reported of it and with the one that answers it."""
        made: list[tuple[Stream, list[int], bytes]] = []
        for key, kept in self.kept.items():
            made += [(one, chain, key) for one, chain in kept.streams(self.since)]
            whole = sum(one.times.size for one, _, its in made if its is key)
            over = " over TCP" * (key.startswith(b"T") and len(key) % 2 == 1)
            self.passed[f"packets{over} that begin like RTP, in no stream of ten whose numbers go on"] += (
                len(kept.times) - whole
            )
        made.sort(key=lambda one: -one[0].times.size)
        made = _joined(made)
        its = [tuple(each for each in self.reports if each.source in chain) for _, chain, _ in made]
        return [
            one._replace(opposite=_opposite(k, made), reports=told, names=frozenset(chain))
            for k, ((one, chain, _), told) in enumerate(zip(made, its, strict=True))
        ]  # fmt: skip


_Made = tuple[Stream, list[int], bytes]


def _joined(made: list[_Made]) -> list[_Made]:
    """Join streams of one source whose ends change: what comes later goes on where the first ended."""
    made = sorted(made, key=lambda one: float(one[0].times[0]))
    kept: list[_Made] = []
    for one in made:
        for k, (before, chain, key) in enumerate(kept):
            same = chain[int(before.sources[-1])] == one[1][int(one[0].sources[0])]
            step = (int(one[0].numbers[0]) - int(before.numbers[-1])) % 2**16
            gap = float(one[0].times[0] - before.times[-1])
            if same and len(one[1]) == 1 and gap > -0.5 and 0 < step < 3000 and before.carried == one[0].carried:
                first = one[0]
                sources = np.concatenate([before.sources, np.full(one[0].times.size, before.sources[-1])])
                sound = None if before.payloads is None else [*before.payloads, *(one[0].payloads or [])]
                moved = (*before.moved, before.times.size)
                kept[k] = Stream(
                    np.concatenate([before.times, first.times]), np.concatenate([before.numbers, first.numbers]),
                    np.concatenate([before.stamps, first.stamps]), np.concatenate([before.markers, first.markers]),
                    np.concatenate([before.types, first.types]), before.carried, sources, moved, sound,
                ), chain, key  # fmt: skip
                break
        else:
            kept.append(one)
    return sorted(kept, key=lambda one: -one[0].times.size)


def _opposite(index: int, made: list[_Made]) -> int | None:
    """Which stream answers one: from where it goes to where it comes from, at the same time."""
    key = made[index][2]
    over = key[:1] if len(key) % 2 else b""
    key = key[len(over) :]
    half = (len(key) - 4) // 2
    back = over + key[half : 2 * half] + key[:half]
    stream = made[index][0]

    def meets(other: Stream) -> bool:
        return bool(other.times[0] < stream.times[-1] and stream.times[0] < other.times[-1])

    found = [k for k, (one, _, its) in enumerate(made) if k != index and its[:-4] == back and meets(one)]
    exact = [k for k in found if made[k][2] == back + key[-2:] + key[-4:-2]]
    return exact[0] if exact else found[0] if len(found) == 1 else None


def read_capture(path: str | Path, *, sound: bool = False) -> Capture | None:
    """Read the RTP over UDP or TCP of a capture, pcap or pcapng, whatever else is in it.

    Parameters
    ----------
    path : str or Path
        The file.
    sound : bool
        Whether to keep what the packets carry, too.

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
    A stream is what one end sends to another: sources (SSRC) that follow one another are one stream, those that speak
    at once are several; a source that goes on from another address or port is the same stream. Fewer than ten packets,
    or numbers that jump about, are something else that begins like RTP. Links and tunnels are those of
    `voicewire.testbed.read_capture`, and TURN; in a datagram that was cut short, the first 12 bytes of RTP are enough.
    Over TCP, framed after RFC 4571, by RTSP or by TURN, a packet has come when its last byte has, and all before it;
    behind a hole that no segment fills, or a segment that was cut short, nothing of that connection is read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.pcap"
    ...     _ = file.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    ...     found = read_capture(file)
    >>> found.streams, found.packets, found.cut
    ([], 0, False)
    """
    reading = _Reading(sound)
    try:
        if not is_capture(Path(path)):
            return None
        file = CaptureFile(path)
        reading.go(file)
    except TestbedError as error:
        raise VoipError(str(error)) from error
    except OSError as error:
        raise VoipError(f"{Path(path).name} cannot be read: {error.strerror or error}") from error
    except (TypeError, ValueError) as error:
        raise VoipError(f"the capture cannot be read: {error}") from error
    streams, holes = reading.streams(), reading.connections.holes()
    reading.passed["TCP segments behind a hole"] = reading.connections.behind()
    return Capture(
        streams, file.packets, file.cut, holes, reading.short,
        {what: count for what, count in (reading.passed + file.passed).items() if count > 0},
        dict(file.tunnels), reading.controls,
    )  # fmt: skip


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
        nearest to timestamps over time is taken: over stretches of 25 packets and of a quarter of the stream, which
        must agree; only over long ones, or the whole stream, if it is near none over 25, as of a sender's bursts.

    Raises
    ------
    VoipError
        If timestamps and times agree with no usual rate within a tenth, or with two.

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
    nearest, seen = told_clock(stream.times[mine], stream.stamps[mine])
    if nearest is None:
        raise VoipError(f"payload type {kind} counts {seen}: state it (--clock)")
    return kind, nearest, False


def told_clock(times: NDArray[np.float64], stamps: NDArray[np.int64]) -> tuple[int | None, str]:
    """The usual clock that timestamps over time tell, and over what; None where they tell none or two, and what is.

    A sender's bursts alter the rate over few packets, a jump of a clock the rate over many.
    """
    short, long = (measured_rate(times, stamps, stride) for stride in (_STRIDE, max(_STRIDE, times.size // 4)))
    near, far = usual_clock(short), usual_clock(long)
    if near == far and near is not None:
        return near, "from timestamps over time"
    if near is not None:
        return None, f"some {short:,.0f} ticks a second over {_STRIDE} packets, but {long:,.0f} over longer stretches"
    whole = _whole_rate(times, stamps)
    over_all = usual_clock(whole)
    if far is not None and over_all is not None and far != over_all:
        return None, f"some {long:,.0f} ticks a second over long stretches, but {whole:,.0f} over all"
    far = far or over_all
    if far is not None:
        return far, "from timestamps over time, over long stretches only"
    return None, f"some {short:,.0f} ticks a second, near no usual rate"


def _whole_rate(times: NDArray[np.float64], stamps: NDArray[np.int64]) -> float:
    """Ticks a second over all of a stream: a sender that sends in bursts has it over no short stretch."""
    ticks = (np.diff(stamps) + 2**31) % 2**32 - 2**31
    seconds = float(np.ptp(times)) if times.size else 0.0
    return float(ticks.sum()) / seconds if seconds > 0 else 0.0


def usual_clock(rate: float) -> int | None:
    """The usual rate nearest to a measured one; None if it is off by more than a tenth."""
    nearest = min(_USUAL, key=lambda one: abs(one - rate))
    return None if abs(nearest - rate) > 0.1 * nearest else nearest


def measured_rate(times: NDArray[np.float64], stamps: NDArray[np.int64], stride: int = _STRIDE) -> float:
    """Ticks a second: the median over stretches of so many packets, which no jump moves; 0 where no time passes."""
    if times.size < 2 * _STRIDE:
        return _whole_rate(times, stamps)
    ticks = (stamps[stride:] - stamps[:-stride] + 2**31) % 2**32 - 2**31
    seconds = times[stride:] - times[:-stride]
    moved = seconds > 0
    return float(np.median(ticks[moved] / seconds[moved])) if moved.any() else 0.0
