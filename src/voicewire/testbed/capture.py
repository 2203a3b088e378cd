"""A packet capture without libpcap: an ``AF_PACKET`` socket on one device, taken apart into segments.

Explained in ``notebooks/transport/01_sockets_and_segments.ipynb``.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from voicewire.testbed.errors import TestbedError
from voicewire.testbed.hosts import Host

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


def parse(packet: bytes, when: float = 0.0, outgoing: bool = True) -> Segment | None:
    """Take an IPv4 or IPv6 packet apart; None if it holds no TCP segment (or a fragment of one).

    Parameters
    ----------
    packet : bytes
        From the IP header on, perhaps cut short behind the TCP header.
    when : float
        Seconds since the epoch.
    outgoing : bool
        Whether the capturing host sent it.

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
    if len(packet) < 40:
        return None
    if packet[0] >> 4 == 4:
        ip_header = 4 * (packet[0] & 15)
        total = int.from_bytes(packet[2:4], "big")
        fragment = int.from_bytes(packet[6:8], "big") & 0x3FFF
        if packet[9] != socket.IPPROTO_TCP or fragment:
            return None
        source, target = socket.inet_ntoa(packet[12:16]), socket.inet_ntoa(packet[16:20])
    elif packet[0] >> 4 == 6 and packet[6] == socket.IPPROTO_TCP:
        ip_header, total = 40, 40 + int.from_bytes(packet[4:6], "big")
        source = socket.inet_ntop(socket.AF_INET6, packet[8:24])
        target = socket.inet_ntop(socket.AF_INET6, packet[24:40])
    else:
        return None
    if len(packet) < ip_header + 20:
        return None
    sport, dport, seq, ack, offset, flags = struct.unpack_from(">HHIIBB", packet, ip_header)
    header = 4 * (offset >> 4)
    payload = packet[ip_header + header : total]
    return Segment(
        when, outgoing, (source, sport), (target, dport), seq, ack,
        "".join(letter for bit, letter in enumerate("FSRPA") if flags >> bit & 1), header, ip_header,
        _options(packet[ip_header + 20 : ip_header + header]), payload, total - ip_header - header,
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


class Repeats:
    """Tells which captured segments had been captured before, in whole or in part.

    A busy machine answers late, and TCP then sends again what was never lost. The kernel's counters count payload
    once; a capture sees all of it. This says what the difference is. It takes nothing, and is fed segment by segment.

    Attributes
    ----------
    none
        What it has seen is its own affair.

    Examples
    --------
    >>> repeats = Repeats()
    >>> a, b = ("10.0.0.1", 1234), ("10.0.0.2", 1883)
    >>> sent = [Segment(0.0, True, a, b, seq, 0, "A", 20, 20, (), b"", size) for seq, size in ((5, 10), (8, 10))]
    >>> [repeats.count(segment) for segment in sent]
    [0, 7]
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[tuple[str, int], tuple[str, int]], tuple[int, list[tuple[int, int]]]] = {}

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
        first, spans = self._seen.get(way, (segment.seq, []))
        at = (segment.seq - first + 2**31) % 2**32 - 2**31  # sequence numbers wrap
        if "S" in segment.flags and at:
            first, spans, at = segment.seq, [], 0  # a new connection between the same two ports
        end = at + segment.length + ("S" in segment.flags) + ("F" in segment.flags)
        again = sum(max(0, min(end, high) - max(at, low)) for low, high in spans)
        if end > at:
            touched = [span for span in spans if span[0] <= end and span[1] >= at]
            apart = [span for span in spans if span not in touched]
            spans = [*apart, (min([at, *(low for low, _ in touched)]), max([end, *(high for _, high in touched)]))]
        self._seen[way] = first, spans
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


def stream(segments: Iterable[Segment], source: tuple[str, int], target: tuple[str, int]) -> bytes:
    """Put together what `source` said to `target`: the byte stream from (untruncated) segments.

    Parameters
    ----------
    segments : iterable of Segment
        As captured, in any order; what was sent again may be in it twice.
    source, target : (str, int)
        Address and port of the two ends.

    Returns
    -------
    bytes
        Empty if there is no such segment.

    Raises
    ------
    TestbedError
        If a segment is missing in the midst of it.

    Examples
    --------
    >>> a, b = ("10.0.0.1", 1234), ("10.0.0.2", 1883)
    >>> late, early = (
    ...     Segment(0.0, True, a, b, seq, 0, "PA", 20, 20, (), data, 2) for seq, data in ((7, b"lo"), (5, b"he"))
    ... )
    >>> stream([late, early], a, b)
    b'helo'
    """
    own = [s for s in segments if s.source == source and s.target == target]
    syns = [s for s in own if "S" in s.flags]
    if not own:
        return b""
    start = (syns[0].seq + 1) if syns else min(s.seq for s in own)
    data = bytearray()
    for s in sorted((s for s in own if s.length), key=lambda s: (s.seq - start) % 2**32):
        at = (s.seq - start) % 2**32
        if at > len(data):
            raise TestbedError(f"the capture has a hole of {at - len(data)} bytes")
        data[at : at + len(s.payload)] = s.payload
    return bytes(data)


def write_pcap(path: Path, packets: Iterable[tuple[float, bool, bytes]]) -> None:
    """Write packets as a pcap file of raw IP, as Wireshark reads it.

    Parameters
    ----------
    path : Path
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
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101))
        for when, _, packet in packets:
            whole = int(when)
            file.write(struct.pack("<IIII", whole, int(1e9 * (when - whole)), len(packet), len(packet)) + packet)


def read_pcap(path: Path, here: str | None = None) -> Iterator[Segment]:
    """Read the segments of a file that `write_pcap` wrote.

    Parameters
    ----------
    path : Path
        The file.
    here : str, optional
        The capturing host's address: segments from it count as outgoing (by default all do).

    Yields
    ------
    Segment
        In the file's order; packets of other protocols are left out.

    Raises
    ------
    TestbedError
        If it is another kind of file, or cut short.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> segments = list(read_pcap(paths.data("transport") / "captures" / "mqtt-qos0.pcap"))
    >>> segments[0].flags
    'S'
    """
    for when, packet in read_packets(path):
        segment = parse(packet, when)
        if segment is not None:
            yield segment if here in (None, segment.source[0]) else _incoming(segment)


def read_packets(path: Path) -> Iterator[tuple[float, bytes]]:
    """Read the packets of a file that `write_pcap` wrote, whatever they hold.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    (float, bytes)
        Seconds since the epoch, and the packet from its IP header on; in the file's order.

    Raises
    ------
    TestbedError
        If it is another kind of file, or cut short.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> len(list(read_packets(paths.data("transport") / "captures" / "tcp.pcap"))) > 5
    True
    """
    data = path.read_bytes()
    if len(data) < 24 or struct.unpack_from("<I", data)[0] != 0xA1B23C4D or data[20:24] != b"\x65\0\0\0":
        raise TestbedError(f"{path.name} is not a pcap file of raw IP with nanoseconds")
    at = 24
    while at < len(data):
        if at + 16 > len(data):
            raise TestbedError(f"{path.name} is cut short")
        seconds, nanoseconds, size, _ = struct.unpack_from("<IIII", data, at)
        packet = data[at + 16 : at + 16 + size]
        if len(packet) < size:
            raise TestbedError(f"{path.name} is cut short")
        yield seconds + 1e-9 * nanoseconds, packet
        at += 16 + size


def _incoming(segment: Segment) -> Segment:
    return Segment(**{**segment.__dict__, "outgoing": False})
