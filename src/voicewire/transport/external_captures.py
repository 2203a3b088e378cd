"""MQTT sessions that others recorded: the packets' types, sizes and times, and nothing else of them.

``python -m voicewire.transport.external_captures coap_mqtt.pcap OUT.csv`` makes ``data/transport/mqtt-elsewhere.csv``
anew; source and licence stand in ``data/transport/README.md``. Explained in notebook ``03_tcp_against_mqtt``.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Final

import pandas as pd

from voicewire._kit import paths, sheets
from voicewire.mqtt import packets as p
from voicewire.mqtt.decoder import check_version, understood, unfinished, whole_packets
from voicewire.testbed import capture
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.tcp_streams import in_order

__all__ = ["COLUMNS", "PORT", "load", "read", "sendings", "write"]

PORT: Final = 17501
"""TCP port of the broker in the capture."""

COLUMNS: Final = ("seconds", "connection", "sender", "type", "qos", "dup", "retain", "octets", "exchange")
"""Time from the first packet; connection from 0; client or broker; the packet; its flags; its size in bytes; which
message at QoS 1 of this connection and direction it carries or acknowledges, from 0 (-1: none)."""


def read(path: str | Path, port: int = PORT) -> pd.DataFrame:
    """Read the MQTT packets of a capture with the book's own decoder.

    Parameters
    ----------
    path : str or Path
        A capture, pcap or pcapng, of any link that `voicewire.testbed.read_capture` reads. What is captured of a
        connection must begin with a packet.
    port : int
        The broker's TCP port.

    Returns
    -------
    DataFrame, shape (packets, 9)
        `COLUMNS`; in s and bytes. No address, port, topic, name, packet identifier or payload is in it.

    Raises
    ------
    TestbedError
        If it is no capture, is cut short, has a hole, its times run back, or it has no MQTT at this port.
    voicewire.mqtt.errors.MalformedError
        If the bytes break MQTT 3.1.1, or are of another version.

    Examples
    --------
    >>> read(Path("coap_mqtt.pcap"))["type"].value_counts()["Puback"]  # doctest: +SKIP
    3202
    """
    path = Path(path)
    held: dict[tuple[str, int, str, int], bytearray] = {}
    connections: dict[tuple[str, int], int] = {}
    open_: dict[tuple[int, str, int], int] = {}
    begun: dict[tuple[int, str], int] = defaultdict(int)
    rows: list[tuple[object, ...]] = []
    count = 0
    for one, fresh, new, opened in in_order(capture.read_pcap(path), port, path.name):
        way = (*one.source, *one.target)
        client, sender = (one.source, "client") if one.target[1] == port else (one.target, "broker")
        if new and (client not in connections or way in held):  # the same ports again are another connection
            connections[client], count = count, count + 1
            held.pop((*one.target, *one.source), None)
        if new:
            held[way] = bytearray()
        held[way] += fresh
        number, packets = connections[client], list[tuple[int, p.Packet]]()
        with understood(f"{path.name}, from the {sender} at {one.time:.6f} s since the epoch", opened):
            for octets, packet in whole_packets(held[way]):
                check_version(packet)
                packets.append((len(octets), packet))
        for size, packet in packets:
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
            rows.append((one.time, number, sender, type(packet).__name__, *map(int, flags), size, exchange))
    left = unfinished(held.values())
    if not rows:
        raise TestbedError(f"{path.name} has no MQTT at port {port}" + f", only {left}" * bool(left))
    if left:
        warnings.warn(f"{path.name} ends with {left}", stacklevel=2)
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
