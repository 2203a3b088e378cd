"""MQTT sessions that others recorded: the packets' types, sizes and times, and nothing else of them.

``python -m voicewire.transport.external_captures coap_mqtt.pcap OUT.csv`` makes ``data/transport/mqtt-elsewhere.csv``
anew; source and licence stand in ``data/transport/README.md``. Explained in notebook ``03_tcp_against_mqtt``.
"""

from __future__ import annotations

import struct
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pandas as pd

from voicewire._kit import paths, sheets
from voicewire.mqtt import packets as p
from voicewire.mqtt.decoder import Decoder
from voicewire.testbed import capture
from voicewire.testbed.errors import TestbedError

__all__ = ["COLUMNS", "PORT", "load", "read", "sendings", "write"]

PORT: Final = 17501
"""TCP port of the broker in the capture."""

COLUMNS: Final = ("seconds", "connection", "sender", "type", "qos", "dup", "retain", "octets", "exchange")
"""Time from the first packet; connection from 0; client or broker; the packet; its flags; its size in bytes; which
message at QoS 1 of this connection and direction it carries or acknowledges, from 0 (-1: none)."""

_CLASSIC: Final = 0xA1B2C3D4
_ETHERNET: Final = 1


def _segments(path: Path, port: int) -> Iterator[capture.Segment]:
    data = path.read_bytes()
    if len(data) < 24 or struct.unpack_from("<I", data)[0] != _CLASSIC or data[20:24] != bytes([_ETHERNET, 0, 0, 0]):
        raise TestbedError(f"{path.name} is not a pcap file of Ethernet with microseconds")
    at = 24
    while at < len(data):
        if at + 16 > len(data):
            raise TestbedError(f"{path.name} is cut short")
        seconds, micro, size, _ = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16 : at + 16 + size]
        if len(frame) < size:
            raise TestbedError(f"{path.name} is cut short")
        at += 16 + size
        segment = capture.parse(frame[14:], seconds + 1e-6 * micro) if frame[12:14] == b"\x08\0" else None
        if segment is not None and port in (segment.source[1], segment.target[1]):
            yield segment


def read(path: Path, port: int = PORT) -> pd.DataFrame:
    """Read the MQTT packets of a capture with the book's own decoder.

    Parameters
    ----------
    path : Path
        A pcap file of Ethernet, little-endian, microseconds. What is captured of a connection must begin with a packet.
    port : int
        The broker's TCP port.

    Returns
    -------
    DataFrame, shape (packets, 9)
        `COLUMNS`; in s and bytes. No address, port, topic, name, packet identifier or payload is in it.

    Raises
    ------
    TestbedError
        If it is another kind of file, is cut short, has a hole, or has no MQTT at this port.
    voicewire.mqtt.errors.MalformedError
        If the bytes break MQTT 3.1.1.

    Examples
    --------
    >>> read(Path("coap_mqtt.pcap"))["type"].value_counts()["Puback"]  # doctest: +SKIP
    3202
    """
    due: dict[tuple[str, int, str, int], int] = {}
    decoders: dict[tuple[str, int, str, int], Decoder] = defaultdict(Decoder)
    connections: dict[tuple[str, int], int] = {}
    open_: dict[tuple[int, str, int], int] = {}
    begun: dict[tuple[int, str], int] = defaultdict(int)
    rows: list[tuple[object, ...]] = []
    for one in _segments(path, port):
        way = (*one.source, *one.target)
        after = (one.seq + ("S" in one.flags)) % 2**32
        old = (due.setdefault(way, after) - after) % 2**32  # bytes that came before
        if old >= 2**31:
            raise TestbedError(f"{path.name} has a hole of {2**32 - old} bytes")
        fresh = one.payload[old:]
        if not fresh:
            continue
        due[way] = (after + one.length) % 2**32
        client, sender = (one.source, "client") if one.target[1] == port else (one.target, "broker")
        number = connections.setdefault(client, len(connections))
        for packet in decoders[way].feed(fresh):
            exchange, flags = -1, (0, False, False)
            if isinstance(packet, p.Publish):
                flags = (packet.qos, packet.dup, packet.retain)
                if packet.qos == 1:
                    key = (number, sender, packet.packet_id)
                    if key not in open_:
                        open_[key] = begun[number, sender]
                        begun[number, sender] += 1
                    exchange = open_[key]
            elif isinstance(packet, p.Puback):
                other = "broker" if sender == "client" else "client"
                exchange = open_.pop((number, other, packet.packet_id), -1)
            octets = len(p.encode(packet))
            rows.append((one.time, number, sender, type(packet).__name__, *map(int, flags), octets, exchange))
    if not rows:
        raise TestbedError(f"{path.name} has no MQTT at port {port}")
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.assign(seconds=(table["seconds"] - table["seconds"].iloc[0]).round(6))


def write(source: Path, target: Path) -> int:
    """Write the packets of a capture as a table."""
    table = read(source)
    sheets.to_csv(table, target, index=False, float_format="%.6f", lineterminator="\n")
    return len(table)


def load() -> pd.DataFrame:
    """Read the table that the book keeps."""
    return pd.read_csv(paths.data("transport") / "mqtt-elsewhere.csv")


def sendings(table: pd.DataFrame) -> pd.Series:
    """Count how often each message at QoS 1 was sent before it was acknowledged.

    Parameters
    ----------
    table : DataFrame
        Packets, with `COLUMNS`.

    Returns
    -------
    Series of int, shape (messages,)
        PUBLISH packets, by connection, sender and exchange.

    Examples
    --------
    >>> int(sendings(load()).max())
    1
    """
    sent = table[(table["type"] == "Publish") & (table["qos"] == 1)]
    return sent.groupby(["connection", "sender", "exchange"]).size()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("python -m voicewire.transport.external_captures CAPTURE.pcap OUT.csv")
    print(write(*map(Path, sys.argv[1:])))
