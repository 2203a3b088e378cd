"""What the kernel itself counted: ``TCP_INFO`` of a socket, no privilege needed.

A connection's header bytes follow from its segment counters. With timestamps each TCP header is 20 + 12
bytes; a SYN carries 8 more (MSS, window scale, SACK permitted: 20 of options instead of 12). So

    header bytes = 32 · segments + 8 · SYNs                                  (timestamps on)
    header bytes = 20 · segments + option bytes of the SYNs                  (timestamps off)

SACK blocks add 12 bytes and more to acknowledgements under loss, and a SYN that had to be sent again 8;
counters do not see them, a capture does.

Explained in ``notebooks/transport/01_sockets_and_segments.ipynb``.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from dataclasses import dataclass

from voicewire.testbed.errors import TestbedError

__all__ = ["TcpInfo", "connections", "read", "settled"]

_TIMESTAMPS, _SACK, _WSCALE = 1, 2, 4
#: Offsets in struct tcp_info (include/uapi/linux/tcp.h), which only ever grows at its end.
_OFFSETS = {
    "state": (0, "B"), "options": (5, "B"), "mss": (16, "I"), "unacked": (24, "I"), "rtt": (68, "I"),
    "total_retrans": (100, "I"), "bytes_received": (128, "Q"), "segs_out": (136, "I"), "segs_in": (140, "I"),
    "data_segs_in": (152, "I"), "data_segs_out": (156, "I"), "bytes_sent": (200, "Q"), "bytes_retrans": (208, "Q"),
}  # fmt: skip
_LENGTH = 216
_CLOSED = 7
_FIN_SEEN = {7, 8, 9, 11}  # closed, close-wait, last-ack, closing


@dataclass(frozen=True)
class TcpInfo:
    """Counters of one end of a connection, the handshake included on both sides.

    Attributes
    ----------
    segments_out, segments_in : int
        Segments sent and received, retransmissions included.
    data_out, data_in : int
        Those of them that carried payload.
    syns_out, syns_in : int
        SYNs among them: 1 each (see the module's head for lost ones).
    payload_out, payload_in : int
        Application bytes handed to the wire for the first time, and taken from it, once each.
    retransmitted : int
        Segments sent again.
    timestamps : bool
        Whether the connection carries the timestamp option.
    mss : int
        Largest payload of a segment, bytes.
    rtt : float
        The kernel's smoothed round-trip time, s.
    state : int
        The kernel's number of the state (1 established, 7 closed).
    unacked : int
        Segments sent and not yet acknowledged.

    Examples
    --------
    >>> with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
    ...     info = read(client, passive=False)
    >>> info.payload_out, info.header_bytes == 32 * info.segments + 16 or not info.timestamps
    (0, True)
    """

    segments_out: int
    segments_in: int
    data_out: int
    data_in: int
    syns_out: int
    syns_in: int
    payload_out: int
    payload_in: int
    retransmitted: int
    timestamps: bool
    mss: int
    rtt: float
    state: int
    unacked: int

    @property
    def segments(self) -> int:
        """Segments of both directions."""
        return self.segments_out + self.segments_in

    @property
    def header_bytes(self) -> int:
        """TCP header bytes of both directions, as counted (see the module's head for the formula)."""
        per_segment = 32 if self.timestamps else 20
        return per_segment * self.segments + 8 * (self.syns_out + self.syns_in)

    @property
    def ip_bytes(self) -> int:
        """IPv4 header bytes of both directions."""
        return 20 * self.segments

    def __sub__(self, earlier: TcpInfo) -> TcpInfo:
        """What happened since `earlier` on the same connection."""
        return TcpInfo(
            self.segments_out - earlier.segments_out, self.segments_in - earlier.segments_in,
            self.data_out - earlier.data_out, self.data_in - earlier.data_in,
            self.syns_out - earlier.syns_out, self.syns_in - earlier.syns_in,
            self.payload_out - earlier.payload_out, self.payload_in - earlier.payload_in,
            self.retransmitted - earlier.retransmitted, self.timestamps, self.mss, self.rtt, self.state, self.unacked,
        )  # fmt: skip


def _decode(raw: bytes, passive: bool) -> TcpInfo:
    if len(raw) < _LENGTH:
        raise TestbedError(f"this kernel's TCP_INFO has {len(raw)} bytes; segment counters need {_LENGTH} (Linux 5.5)")
    field = {name: struct.unpack_from("=" + code, raw, at)[0] for name, (at, code) in _OFFSETS.items()}
    return TcpInfo(
        # A listening socket sends the SYN-ACK before the connection's own socket exists, so that one misses it.
        segments_out=field["segs_out"] + passive,
        segments_in=field["segs_in"],
        data_out=field["data_segs_out"],
        data_in=field["data_segs_in"],
        syns_out=1,
        syns_in=1,
        payload_out=field["bytes_sent"] - field["bytes_retrans"],
        payload_in=field["bytes_received"] - (field["state"] in _FIN_SEEN),  # the kernel counts a FIN as a byte
        retransmitted=field["total_retrans"],
        timestamps=bool(field["options"] & _TIMESTAMPS),
        mss=field["mss"],
        rtt=1e-6 * field["rtt"],
        state=field["state"],
        unacked=field["unacked"],
    )


def read(connection: socket.socket, *, passive: bool) -> TcpInfo:
    """Read the counters of an open (or shut down, but not closed) socket.

    Parameters
    ----------
    connection : socket.socket
        One end of a TCP connection.
    passive : bool
        Whether it came from ``accept``.

    Returns
    -------
    TcpInfo
        What the kernel has counted so far.

    Raises
    ------
    TestbedError
        Where the system has no such counters.

    Examples
    --------
    >>> with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
    ...     client.sendall(b"hello")
    ...     read(client, passive=False).payload_out
    5
    """
    if not hasattr(socket, "TCP_INFO"):
        raise TestbedError("this system has no TCP_INFO; use the recorded rows in data/transport")
    return _decode(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), passive)


def settled(connection: socket.socket, *, passive: bool, timeout: float = 5.0) -> TcpInfo:
    """Read the counters once both directions are shut down and acknowledged: the last moment before closing.

    Parameters
    ----------
    connection : socket.socket
        One end of a TCP connection.
    passive : bool
        Whether it was accepted; see `read`.
    timeout : float
        Seconds to wait.

    Returns
    -------
    TcpInfo
        Once nothing more can come.

    Raises
    ------
    TestbedError
        If the connection is not closed within `timeout` seconds: its last segments would be missing.

    Examples
    --------
    >>> with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
    ...     accepted, _ = server.accept()
    ...     for end in (client, accepted):
    ...         end.shutdown(socket.SHUT_WR)
    ...     info = settled(client, passive=False)
    ...     accepted.close()
    >>> info.data_out, info.unacked
    (0, 0)
    """
    limit = time.monotonic() + timeout
    while True:
        info = read(connection, passive=passive)
        if info.state == _CLOSED:
            return info
        if time.monotonic() > limit:
            raise TestbedError(f"the connection is in state {info.state} after {timeout:g} s; both ends must shut down")
        time.sleep(0.0005)


def connections(port: int) -> list[tuple[tuple[str, int], tuple[str, int], TcpInfo]]:
    """List every TCP connection of the calling thread's host that has `port` locally.

    Asks the kernel by ``sock_diag`` (as ``ss -tin`` does), so it works for another program's sockets and
    needs no privilege. A closed connection is no longer there: what it sent last is missing.

    Parameters
    ----------
    port : int
        The local port.

    Returns
    -------
    list of ((str, int), (str, int), TcpInfo)
        Local end, remote end and counters of each.

    Raises
    ------
    TestbedError
        If the kernel refuses.

    Examples
    --------
    >>> with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
    ...     port = server.getsockname()[1]
    ...     [remote == client.getsockname() for _, remote, _ in connections(port)]
    [True]
    """
    found = []
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as netlink:
            body = struct.pack("=BBBBI48x", socket.AF_INET, socket.IPPROTO_TCP, 1 << 1, 0, 0xFFF & ~(1 << 10))
            netlink.send(struct.pack("=IHHII", 16 + len(body), 20, 0x301, 1, 0) + body)
            done = False
            while not done:
                data = netlink.recv(1 << 18)
                at = 0
                while at + 16 <= len(data):
                    size, kind = struct.unpack_from("=IH", data, at)
                    if kind == 3:
                        done = True
                        break
                    if kind == 2:
                        code = -struct.unpack_from("=i", data, at + 16)[0]
                        raise TestbedError(f"sock_diag: {os.strerror(code)}")
                    entry = _diag(data[at + 16 : at + size])
                    if entry is not None and entry[0][1] == port:
                        found.append(entry)
                    at += (size + 3) & ~3
    except OSError as error:
        raise TestbedError(f"sock_diag: {error.strerror}") from error
    return found


def _diag(message: bytes) -> tuple[tuple[str, int], tuple[str, int], TcpInfo] | None:
    local_port, remote_port = struct.unpack_from(">HH", message, 4)
    local, remote = socket.inet_ntoa(message[8:12]), socket.inet_ntoa(message[24:28])
    at = 72
    while at + 4 <= len(message):
        size, kind = struct.unpack_from("=HH", message, at)
        if size < 4:
            break
        if kind == 2:
            with contextlib.suppress(TestbedError):
                return (local, local_port), (remote, remote_port), _decode(message[at + 4 : at + size], True)
        at += (size + 3) & ~3
    return None
