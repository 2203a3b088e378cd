"""A packet capture without libpcap: an ``AF_PACKET`` socket on one device, taken apart into segments.

Explained in ``notebooks/transport/01_sockets_and_segments.ipynb``.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from voicewire.testbed.capture_file import addresses, read_capture
from voicewire.testbed.encapsulation import Inside, Passed, inside
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.hosts import Host
from voicewire.testbed.reassembly import Direction, is_probe

__all__ = [
    "Capture", "Repeats", "Segment", "flow_header_bytes", "parse", "read_packets", "read_pcap", "stream", "write_pcap",
]  # fmt: skip

_ETH_P_ALL = 3
_SO_RCVBUFFORCE, _SO_TIMESTAMPNS = 33, 35
_SOL_PACKET, _PACKET_STATISTICS = 263, 6
_OPTION_NAMES = {2: "MSS", 3: "window scale", 4: "SACK permitted", 5: "SACK", 8: "timestamps"}


@dataclass(frozen=True)
class Segment:
    """One TCP segment as captured.

    Attributes
    ----------
    time : float
        Seconds since the epoch.
    outgoing : bool
        Whether the capturing host sent it.
    source, target : (str, int)
        Address and port.
    seq, ack : int
        As in the header.
    flags : str
        Letters of the flags that are set, from ``SFRPA``.
    header : int
        Bytes of TCP header.
    ip_header : int
        Bytes of IP header.
    options : tuple of str
        Names of the TCP options.
    payload : bytes
        What it carries (cut short if the capture was told to).
    length : int
        Bytes of payload on the wire.

    Examples
    --------
    >>> a, b = ("10.0.0.1", 1234), ("10.0.0.2", 1883)
    >>> Segment(0.0, True, a, b, 5, 0, "PA", 32, 20, ("timestamps",), b"hello", 5).header
    32
    """

    time: float
    outgoing: bool
    source: tuple[str, int]
    target: tuple[str, int]
    seq: int
    ack: int
    flags: str
    header: int
    ip_header: int
    options: tuple[str, ...]
    payload: bytes
    length: int


def parse(packet: bytes, when: float = 0.0, outgoing: bool = True, wire: int | None = None) -> Segment | None:
    """Take an IPv4 or IPv6 packet apart; None if it holds no TCP segment (or a fragment of one).

    Tunnels around it are taken off, and an IP length of 0, as a network card that cuts leaves it, is no length.

    Parameters
    ----------
    packet : bytes
        From the IP header on, perhaps cut short behind the TCP header.
    when : float
        Seconds since the epoch.
    outgoing : bool
        Whether the capturing host sent it.
    wire : int, optional
        Bytes that the packet had; it was cut if these are more than it has.

    Returns
    -------
    Segment or None
        None if it is no whole TCP segment.

    Examples
    --------
    >>> packet = bytes.fromhex("45000028000040004006") + bytes(2) + bytes([10, 0, 0, 1, 10, 0, 0, 2])
    >>> packet += bytes.fromhex("04d2075b" "00000001" "00000000" "5002ffff" "00000000")  # a SYN to port 1883
    >>> segment = parse(packet)
    >>> segment.source, segment.target, segment.flags, segment.header
    (('10.0.0.1', 1234), ('10.0.0.2', 1883), 'S', 20)
    """
    one = inside(101, packet, max(len(packet), wire or 0))
    return None if isinstance(one, Passed) else segment_of(one, when, outgoing)


def segment_of(one: Inside, when: float, outgoing: bool = True) -> Segment | None:
    """Take what an IP packet carries apart; None if it is no TCP segment, or its header was not kept whole."""
    body = one.body
    if one.protocol != socket.IPPROTO_TCP or len(body) < 20:
        return None
    sport, dport, seq, ack, offset, flags = struct.unpack_from(">HHIIBB", body)
    header = 4 * (offset >> 4)
    if not 20 <= header <= one.size:
        return None
    source, target = addresses(one.ends)
    return Segment(
        when, outgoing, (source, sport), (target, dport), seq, ack,
        "".join(letter for bit, letter in enumerate("FSRPA") if flags >> bit & 1), header, one.header,
        _options(body[20:header]), body[header : one.size], one.size - header,
    )  # fmt: skip


def _options(raw: bytes) -> tuple[str, ...]:
    names, at = [], 0
    while at < len(raw) and raw[at] != 0:
        if raw[at] == 1:
            at += 1
            continue
        names.append(_OPTION_NAMES.get(raw[at], f"option {raw[at]}"))
        if at + 1 >= len(raw) or raw[at + 1] < 2:
            break
        at += raw[at + 1]
    return tuple(names)


class Capture:
    """Capture every packet of one device between ``with`` and the end of the block.

    Parameters
    ----------
    host : Host or None
        Where the device is; None is where the calling thread is.
    device : str
        Its name.
    snaplen : int
        Bytes of each packet to keep.
    background : bool
        Whether a thread fetches packets as they come. Without one they wait in the kernel until `drain` is called,
        and nothing disturbs what is being timed.

    Raises
    ------
    TestbedError
        Without CAP_NET_RAW, or (at the end) if the kernel dropped packets or the device went away: a count would be
        too low.

    Examples
    --------
    It needs CAP_NET_RAW, so it is only shown here:

    >>> with Capture(None, "lo") as capture:  # doctest: +SKIP
    ...     pass
    """

    def __init__(self, host: Host | None, device: str, *, snaplen: int = 65535, background: bool = True) -> None:
        self.device, self.snaplen = device, snaplen
        self.packets: list[tuple[float, bool, bytes]] = []
        self._done = threading.Event()
        place = host.inside() if host is not None else contextlib.nullcontext()
        with place:
            try:
                self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_ALL))
            except (PermissionError, AttributeError) as error:
                raise TestbedError(
                    "capturing is forbidden here (it needs CAP_NET_RAW); use the TCP_INFO counters instead"
                ) from error
            try:
                with contextlib.suppress(OSError):
                    self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 64 << 20)
                self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
                self._socket.bind((device, _ETH_P_ALL))
            except OSError as error:
                self._socket.close()
                raise TestbedError(f"cannot capture on {device!r}: {error.strerror}") from error
        self._socket.settimeout(0.05)
        self._gone: OSError | None = None
        self._thread: threading.Thread | None = None
        if background:
            self._thread = threading.Thread(target=self._fetch_all, name="voicewire-capture", daemon=True)
            self._thread.start()

    def _fetch_all(self) -> None:
        try:
            while not self._done.is_set():
                with contextlib.suppress(TimeoutError):
                    self._fetch_one()
        except OSError as error:  # the device has gone, as at Ctrl-C: `stop` says so
            self._gone = error

    def _fetch_one(self) -> None:
        packet, extra, _, address = self._socket.recvmsg(self.snaplen, 64)
        seconds, nanoseconds = struct.unpack("=qq", extra[0][2]) if extra else (int(time.time()), 0)
        self.packets.append((seconds + 1e-9 * nanoseconds, address[2] == 4, packet))

    def drain(self) -> None:
        """Fetch what waits in the kernel (only without a background thread)."""
        self._socket.settimeout(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                self._fetch_one()

    def stop(self) -> list[tuple[float, bool, bytes]]:
        """End the capture.

        Returns
        -------
        list of (float, bool, bytes)
            Seconds since the epoch, whether this host sent it, and the packet from its IP header on.

        Raises
        ------
        TestbedError
            If the kernel dropped packets, or the device went away: a count would be too low.
        """
        if self._socket.fileno() < 0:
            return self.packets
        self._done.set()
        if self._thread is not None and self._thread.is_alive():  # Ctrl-C may have broken off its start
            self._thread.join()
        if self._gone is not None:
            self._socket.close()
            raise TestbedError(f"the capture on {self.device} ended early: {self._gone.strerror}") from self._gone
        self.drain()
        statistics = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
        self._socket.close()
        dropped = struct.unpack("=II", statistics)[1]
        if dropped:
            raise TestbedError(f"the capture on {self.device} lost {dropped} packets: capture less, or shorter ones")
        return self.packets

    def segments(self) -> list[Segment]:
        """Return the TCP segments so far, in order.

        Returns
        -------
        list of Segment
            Packets of other protocols are left out.
        """
        return [s for when, out, raw in self.packets if (s := parse(raw, when, out)) is not None]

    def __enter__(self) -> Capture:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.stop()
        else:
            with contextlib.suppress(TestbedError):
                self.stop()


_Way = tuple[tuple[str, int], tuple[str, int]]


class Repeats:
    """Tells which captured segments had been captured before, in whole or in part.

    A busy machine answers late, and TCP then sends again what was never lost. The kernel's counters count payload
    once; a capture sees all of it. This says what the difference is. It takes nothing, and is fed segment by segment.

    Attributes
    ----------
    none
        What it has seen is its own affair.

    Notes
    -----
    A keep-alive probe with an octet (that of BSD or Windows) is no data sent again: it counts 0. Nor is a SYN with the
    number of the last one, after data: a device that starts anew may choose it again, and the data that follow count
    as new if the other side's number differs.

    Examples
    --------
    >>> repeats = Repeats()
    >>> a, b = ("10.0.0.1", 1234), ("10.0.0.2", 1883)
    >>> sent = [Segment(0.0, True, a, b, seq, 0, "A", 20, 20, (), b"", size) for seq, size in ((5, 10), (8, 10))]
    >>> [repeats.count(segment) for segment in sent]
    [0, 7]
    """

    def __init__(self) -> None:
        self._seen: dict[_Way, tuple[int, list[tuple[int, int]], int]] = {}
        self._acknowledged: dict[_Way, int] = {}

    def count(self, segment: Segment) -> int:
        """Take the next segment of the capture.

        Parameters
        ----------
        segment : Segment
            As captured, in order.

        Returns
        -------
        int
            How many of its sequence numbers had been captured: one for each byte, the SYN and the FIN.
        """
        way = segment.source, segment.target
        first, spans, before = self._seen.get(way, (segment.seq, [], 0))
        at = (segment.seq - first + 2**31) % 2**32 - 2**31  # sequence numbers wrap
        if "S" in segment.flags and at:
            first, spans, before, at = segment.seq, [], 0, 0  # a new connection between the same two ports
            self._acknowledged.pop(way, None)
            theirs = self._seen.get(way[::-1])
            if "A" in segment.flags and theirs is not None and segment.ack == (theirs[0] + 1) % 2**32:
                self._seen[way[::-1]] = theirs[0], [(0, 1)], 1  # the other side began it with its old number
        elif "S" in segment.flags and any(high > segment.length + 1 for _, high in spans):
            return 0  # whoever has sent more has no SYN to repeat: it begins anew, with the same number
        if "A" in segment.flags and segment.ack:
            self._acknowledged[way[::-1]] = segment.ack
        end = at + segment.length + ("S" in segment.flags) + ("F" in segment.flags)
        highest = max((high for _, high in spans), default=at)
        if is_probe(segment.length, segment.flags, (first + end) % 2**32, (first + highest) % 2**32,
                    self._acknowledged.get(way), before):  # fmt: skip
            return 0
        again = sum(max(0, min(end, high) - max(at, low)) for low, high in spans)
        if end > at:
            touched = [span for span in spans if span[0] <= end and span[1] >= at]
            apart = [span for span in spans if span not in touched]
            spans = [*apart, (min([at, *(low for low, _ in touched)]), max([end, *(high for _, high in touched)]))]
        if end > highest or not before:
            before = end - at
        self._seen[way] = first, spans, before
        return again


def flow_header_bytes(segments: Iterable[Segment], port: int) -> tuple[int, int]:
    """Count the segments of all connections with `port` at either end, and their TCP header bytes.

    Parameters
    ----------
    segments : iterable of Segment
        As captured.
    port : int
        Of either end.

    Returns
    -------
    int, int
        Segments, and the sum of their header bytes.

    Examples
    --------
    >>> packet = bytes.fromhex("45000028000040004006") + bytes(2) + bytes([10, 0, 0, 1, 10, 0, 0, 2])
    >>> packet += bytes.fromhex("04d2075b" "00000001" "00000000" "5002ffff" "00000000")  # a SYN to port 1883
    >>> flow_header_bytes([parse(packet)], 1883)
    (1, 20)
    """
    own = [s for s in segments if port in (s.source[1], s.target[1])]
    return len(own), sum(s.header for s in own)


def stream(
    segments: Iterable[Segment], source: tuple[str, int], target: tuple[str, int], connection: int | None = None
) -> bytes:
    """Put together what `source` said to `target`: the byte stream from (untruncated) segments.

    Parameters
    ----------
    segments : iterable of Segment
        As captured, in any order; what was sent again may be in it twice.
    source, target : (str, int)
        Address and port of the two ends.
    connection : int, optional
        Which, from 0, where the same two ports were used for several, one after the other.

    Returns
    -------
    bytes
        The first copy of each; empty if there is no such segment.

    Raises
    ------
    TestbedError
        If a segment is missing in the midst of it, or there are several connections and none is chosen.

    Notes
    -----
    Keep-alive probes are no data. A connection ends where a SYN with another number begins the next, or, if that was
    not captured, where data follow that cannot be its own: behind its FIN, or before its beginning once both sides have
    ended it.

    Examples
    --------
    >>> a, b = ("10.0.0.1", 1234), ("10.0.0.2", 1883)
    >>> late, early = (
    ...     Segment(0.0, True, a, b, seq, 0, "PA", 20, 20, (), data, 2) for seq, data in ((7, b"lo"), (5, b"he"))
    ... )
    >>> stream([late, early], a, b)
    b'helo'
    """
    parts = _connections([s for s in segments if {s.source, s.target} == {source, target}], source)
    if connection is None and len(parts) > 1:
        raise TestbedError(
            f"{len(parts)} connections one after the other used these two ports: choose one, "
            f"connection=0 to {len(parts) - 1}"
        )
    if not parts and connection in (None, 0):
        return b""
    if not 0 <= (connection or 0) < len(parts):
        raise TestbedError(f"these two ports were used for {len(parts)} connections, counted from 0: not {connection}")
    both = parts[connection or 0]
    own = [s for s in both if s.source == source]
    if not own:
        return b""
    data = [s for s in own if s.length]
    syns = [(s.seq + 1) % 2**32 for s in own if "S" in s.flags]
    acks = [s.ack for s in both if s.source == target and "A" in s.flags and s.ack]
    first = min(data or own, key=lambda s: _after(s.seq, own[0].seq))
    start = syns[0] if syns else first.seq
    if not syns and data and first.length == 1 and any(a == (start + 1) % 2**32 for a in acks):
        begun = any(s.time < first.time and s.source == target and s.ack == (start + 1) % 2**32 for s in both)
        start = (start + 1) % 2**32 if begun else start  # a probe: the octet had been acknowledged before
    way, made = Direction(start), bytearray()
    for s in data:
        number = (s.seq + ("S" in s.flags)) % 2**32
        for _, fresh in way.take(number, s.payload, s.length - len(s.payload), 0):
            made += fresh
    if way.missing():
        raise TestbedError(f"the capture has a hole of {way.missing()} bytes")
    return bytes(made)


def _after(number: int, other: int) -> int:
    """By how much a sequence number is behind another, below 0 if it stands before it."""
    return (number - other + 2**31) % 2**32 - 2**31


def _connections(segments: list[Segment], source: tuple[str, int]) -> list[list[Segment]]:
    """Cut what two ports exchanged where another connection begins: by its SYN, or by data that the last can't have."""
    parts: list[list[Segment]] = []
    begun: dict[tuple[str, int], int] = {}
    lowest: dict[tuple[str, int], int] = {}
    ended: dict[tuple[str, int], int] = {}
    for s in segments:
        low, fin = lowest.get(s.source, s.seq), ended.get(s.source)
        other = "S" in s.flags and begun.get(s.source, s.seq) != s.seq
        if "S" not in s.flags and s.length and fin is not None:
            behind = _after(s.seq, fin)
            other = behind >= 0 or (len(ended) == 2 and _after(s.seq, low) < 0)
        if other:
            begun, lowest, ended, moved = {}, {}, {}, []
            while "A" in s.flags and "S" in s.flags and parts and parts[-1] and _asked(parts[-1][-1], s):
                moved.append(parts[-1].pop())  # the SYN that this one answers
            parts.append(moved)
            low = s.seq
        if "S" in s.flags:
            begun[s.source] = s.seq
        lowest[s.source] = s.seq if _after(s.seq, low) < 0 else low
        if "F" in s.flags:
            ended[s.source] = (s.seq + s.length + 1) % 2**32
        if not parts:
            parts.append([])
        parts[-1].append(s)
    return [part for part in parts if any(s.source == source for s in part)]


def _asked(syn: Segment, answer: Segment) -> bool:
    """Whether a SYN is the one that another answers."""
    return syn.flags == "S" and syn.source == answer.target and (syn.seq + 1) % 2**32 == answer.ack


def write_pcap(path: str | Path, packets: Iterable[tuple[float, bool, bytes]]) -> None:
    """Write packets as a pcap file of raw IP, as Wireshark reads it.

    Parameters
    ----------
    path : str or Path
        The file, with nanoseconds.
    packets : iterable of (float, bool, bytes)
        As `Capture.stop` gives them.

    Examples
    --------
    >>> import tempfile
    >>> packet = bytes.fromhex("45000028000040004006") + bytes(2) + bytes([10, 0, 0, 1, 10, 0, 0, 2])
    >>> packet += bytes.fromhex("04d2075b" "00000001" "00000000" "5002ffff" "00000000")  # a SYN to port 1883
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_pcap(Path(folder) / "one.pcap", [(0.5, True, packet)])
    ...     [segment.flags for segment in read_pcap(Path(folder) / "one.pcap")]
    ['S']
    """
    with Path(path).open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101))
        for when, _, packet in packets:
            whole = int(when)
            file.write(struct.pack("<IIII", whole, int(1e9 * (when - whole)), len(packet), len(packet)) + packet)


def read_pcap(path: str | Path, here: str | None = None) -> Iterator[Segment]:
    """Read the TCP segments of a capture, pcap or pcapng.

    Parameters
    ----------
    path : str or Path
        The file, of any link that `read_capture` reads.
    here : str, optional
        The capturing host's address: segments from it count as outgoing (by default all do).

    Yields
    ------
    Segment
        In the file's order; packets of other protocols are left out.

    Raises
    ------
    TestbedError
        If it is no capture, or cut short.

    Notes
    -----
    At the end a `UserWarning` tells of packets that were passed over and may have held segments: fragments, headers
    that were cut.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> segments = list(read_pcap(paths.data("transport") / "captures" / "mqtt-qos0.pcap"))
    >>> segments[0].flags
    'S'
    """
    file, lost = read_capture(path), Counter[str]()
    for when, one in file.frames():
        segment = None if isinstance(one, Passed) else segment_of(one, when / 1e9)
        if segment is not None:
            yield segment if here in (None, segment.source[0]) else _incoming(segment)
        elif isinstance(one, Passed):
            lost[one.what] += any(word in one.what for word in ("fragment", "cut", "damaged"))
        elif one.protocol == socket.IPPROTO_TCP:
            lost["TCP segments whose header was cut or damaged"] += 1
    if file.cut:
        raise TestbedError(f"{file.path.name} is cut short")
    if over := ", ".join(f"{count} {what}" for what, count in lost.items() if count):
        warnings.warn(f"{file.path.name}: passed over, though TCP may be in it: {over}", stacklevel=2)


def read_packets(path: str | Path) -> Iterator[tuple[float, bytes]]:
    """Read the IP packets of a capture, whatever they hold.

    Parameters
    ----------
    path : str or Path
        The file, of any link that `read_capture` reads.

    Yields
    ------
    (float, bytes)
        Seconds since the epoch, and the innermost packet from its IP header on; in the file's order. Frames without
        IP are left out.

    Raises
    ------
    TestbedError
        If it is no capture, or cut short.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> len(list(read_packets(paths.data("transport") / "captures" / "tcp.pcap"))) > 5
    True
    """
    file = read_capture(path)
    for when, one in file.frames():
        if one.raw:
            yield when / 1e9, one.raw
    if file.cut:
        raise TestbedError(f"{file.path.name} is cut short")


def _incoming(segment: Segment) -> Segment:
    return Segment(**{**segment.__dict__, "outgoing": False})
