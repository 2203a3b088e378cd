"""Captures that anybody made, read for every study by one reader: packets of TCP and UDP, their times in seconds."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from voicewire.testbed.encapsulation import Inside, Passed, inside
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.pcap import CutError, is_capture, records

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CaptureFile", "Packet", "read_capture"]


class Packet(NamedTuple):
    """A packet of TCP or UDP in a capture.

    Parameters
    ----------
    time : float
        Seconds since the epoch.
    protocol : str
        ``TCP`` or ``UDP``.
    source, target : (str, int)
        Address and port.
    payload : bytes
        What it carries, as far as the capture kept it.
    length : int
        Bytes of payload as sent.
    tunnels : tuple of str
        What was taken off around it, the outermost first; usually nothing.

    Examples
    --------
    >>> Packet(0.5, "UDP", ("10.0.0.1", 5000), ("10.0.0.2", 5002), b"hello", 5, ()).length
    5
    """

    time: float
    protocol: str
    source: tuple[str, int]
    target: tuple[str, int]
    payload: bytes
    length: int
    tunnels: tuple[str, ...]


def addresses(ends: bytes) -> tuple[str, str]:
    """Source and target in words, from 8 or 32 bytes."""
    half, family = len(ends) // 2, socket.AF_INET if len(ends) == 8 else socket.AF_INET6
    return socket.inet_ntop(family, ends[:half]), socket.inet_ntop(family, ends[half:])


class CaptureFile:
    """A capture: its packets, one after the other each time it is gone through, and what was passed over.

    Parameters
    ----------
    path : str or Path
        The file.

    Attributes
    ----------
    packets : int
        Packets of any kind that were read; of the last time that it was gone through, as all here.
    passed : Counter of str
        What was passed over, and how often; with the packets that were given they are all packets.
    tunnels : Counter of str
        Tunnels that were taken off.
    cut : bool
        Whether the file ends, or breaks, within a packet: what stands before is read.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> capture = CaptureFile(paths.data("transport") / "captures" / "mqtt-qos0.pcap")
    >>> sum(packet.length for packet in capture) > 0
    True
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.packets, self.cut, self._read = 0, False, False
        self.passed, self.tunnels = Counter[str](), Counter[str]()

    def frames(self) -> Iterator[tuple[int, Inside | Passed]]:
        """Give each packet of any kind; whoever takes it counts what he passes over.

        Yields
        ------
        (int, Inside or Passed)
            Time in ns since the epoch, and what the frame holds.
        """
        self.packets, self.cut, self._read = 0, False, True
        self.passed, self.tunnels = Counter[str](), Counter[str]()
        found = records(self.path, self.passed)
        try:
            for time, link, data, wire in found:
                self.packets += 1
                one = inside(link, data, wire)
                if type(one) is Inside and one.tunnels:
                    self.tunnels.update(one.tunnels)
                yield time, one
        except CutError:
            self.cut = True
        self.packets += self.passed["blocks without a time"]
        self.passed += Counter()  # without noughts

    def __iter__(self) -> Iterator[Packet]:
        for time, one in self.frames():
            body = b"" if isinstance(one, Passed) else one.body
            head = 8 if isinstance(one, Passed) or one.protocol == 17 else 20
            if isinstance(one, Passed) or len(body) < head:
                self.passed[one.what if isinstance(one, Passed) else "frames cut before their payload"] += 1
                continue
            size = one.size
            if one.protocol == 6:
                head = 4 * (body[12] >> 4)
            elif body[4:6] != b"\0\0":
                size = min(size, int.from_bytes(body[4:6], "big"))
            if not (8 if one.protocol == 17 else 20) <= head <= size:
                self.passed["damaged packets"] += 1
                continue
            source, target = addresses(one.ends)
            ports = int.from_bytes(body[:2], "big"), int.from_bytes(body[2:4], "big")
            yield Packet(
                time / 1e9, "UDP" if one.protocol == 17 else "TCP", (source, ports[0]), (target, ports[1]),
                body[head:size], size - head, one.tunnels,
            )  # fmt: skip

    def table(self) -> pd.DataFrame:
        """Give the packets as a table.

        Returns
        -------
        DataFrame, shape (packets, 8)
            time (s since the epoch), protocol, source, source_port, target, target_port, length (bytes), tunnels.
        """
        import pandas as pd

        rows: list[tuple[Any, ...]] = [
            (p.time, p.protocol, *p.source, *p.target, p.length, " in ".join(p.tunnels[::-1])) for p in self
        ]
        names = ["time", "protocol", "source", "source_port", "target", "target_port", "length", "tunnels"]
        return pd.DataFrame(rows, columns=names)

    def __repr__(self) -> str:
        over = ", ".join(f"{count} {what}" for what, count in self.passed.most_common())
        read = f"{self.packets} packets read" + f", passed over: {over}" * bool(over) + ", cut" * self.cut
        return f"<CaptureFile {self.path.name}: {read if self._read else 'not gone through yet'}>"


def read_capture(path: str | Path) -> CaptureFile:
    """Read the TCP and UDP packets of a capture, pcap or pcapng, whatever link and tunnels they came through.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    CaptureFile
        Its packets, in the file's order; going through it reads the file, and counts what was passed over.

    Raises
    ------
    TestbedError
        For a file that isn't there, is no capture, or is packed.

    Notes
    -----
    Ethernet (with VLAN, PPPoE, MPLS), Linux's cooked, loopback, PPP and raw IP captures are read; IP in IP, GRE,
    ERSPAN, VXLAN, GENEVE, GTP-U and others are taken off. Times are seconds since the epoch, whatever unit the file
    counts in.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> capture = read_capture(paths.data("transport") / "captures" / "mqtt-qos0.pcap")
    >>> [packet.protocol for packet in capture][:2]
    ['TCP', 'TCP']
    >>> capture.cut, dict(capture.passed)
    (False, {})
    """
    file = Path(path)
    try:
        if not is_capture(file):
            raise TestbedError(f"{file.name} is not a pcap or pcapng file")
    except OSError as error:
        raise TestbedError(f"{file.name} cannot be read: {error.strerror}") from error
    return CaptureFile(file)
