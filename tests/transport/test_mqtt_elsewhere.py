"""MQTT that others recorded: what is kept of it, what the chapter says of it, and how the book's decoder reads it."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from voicewire.mqtt import packets as p
from voicewire.mqtt.decoder import Decoder, read_length
from voicewire.testbed import TestbedError
from voicewire.transport import external_captures
from voicewire_book import paths

FILE = paths.data("transport") / "mqtt-elsewhere.csv"
CHAPTER = Path(__file__).parents[2] / "notebooks" / "transport" / "03_tcp_against_mqtt.ipynb"


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return external_captures.load()


def test_only_times_types_sizes_and_flags_are_kept(table: pd.DataFrame) -> None:
    assert tuple(table.columns) == external_captures.COLUMNS
    assert set(table["sender"]) == {"client", "broker"}
    assert set(table["connection"]) == {0, 1, 2, 3}
    assert table["seconds"].iloc[0] == 0
    assert table["seconds"].min() == 0
    assert table["seconds"].diff().min() > -0.001  # in the capture's order, whose times step back by less than 1 ms
    assert set(table.columns) - set(table.select_dtypes("number")) == {"sender", "type"}
    kept = (FILE.parent / "checksums.sha256").read_text(encoding="utf-8")
    assert f"{hashlib.sha256(FILE.read_bytes()).hexdigest()}  {FILE.name}" in kept


def test_the_chapters_table_is_the_files(table: pd.DataFrame) -> None:
    cells = json.loads(CHAPTER.read_text(encoding="utf-8"))["cells"]
    (said,) = ("".join(c["source"]) for c in cells if c["id"] == "qos1elsewhere")
    sent = table[(table["type"] == "Publish") & (table["qos"] == 1)]
    acks = table[table["type"] == "Puback"]
    assert (acks["exchange"] >= 0).all()
    for sender, other in (("client", "broker"), ("broker", "client")):
        mine, theirs = (
            rows[rows["sender"] == who].set_index(["connection", "exchange"])["seconds"]
            for rows, who in ((sent, sender), (acks, other))
        )
        waits = 1e3 * (theirs - mine)
        assert waits.notna().all()
        assert waits.min() > 0
        messages = int(external_captures.sendings(table).xs(sender, level="sender").size)
        dup = int(sent.loc[sent["sender"] == sender, "dup"].sum())
        numbers = (
            f"{messages:,} | {len(mine):,} | {len(theirs):,} | {dup} | {waits.median():.1f} ms | {waits.max():.1f}"
        )
        assert f"| {numbers} ms |" in said
    assert not (table["type"] == "Disconnect").any()


def test_the_decoder_takes_packets_of_these_headers_however_they_are_cut(table: pd.DataFrame) -> None:
    """Each packet with made-up contents of its recorded size, in chunks of random lengths; then with one byte gone."""
    kept = table[table["type"].isin(["Publish", "Puback", "Pingreq", "Pingresp"])]
    made: list[p.Packet] = []
    for index, row in enumerate(kept.itertuples()):
        name = row.type
        if name == "Publish":
            room = row.octets - 2 - 2 - 1 - 2 * (row.qos > 0)  # header, topic's length, topic, identifier
            number = index + 1 if row.qos else 0
            made.append(p.Publish("t", bytes(room), row.qos, bool(row.retain), bool(row.dup), number))
        else:
            made.append(p.Puback(index + 1) if name == "Puback" else getattr(p, name)())
    wire = [p.encode(packet) for packet in made]
    assert [len(packet) for packet in wire] == list(kept["octets"])
    stream, rng = b"".join(wire), np.random.default_rng(20)
    cuts = np.sort(rng.integers(0, len(stream), 3000))
    decoder, found = Decoder(), []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += decoder.feed(stream[begin:end])
    assert found == made
    assert all(read_length(packet, 0) == (2, len(packet)) for packet in wire)
    assert len(Decoder().feed(stream[:-1])) == len(made) - 1


def _capture(path: Path, segments: list[tuple[bool, int, bytes]]) -> Path:
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for index, (client, seq, payload) in enumerate(segments):
        ends = [(b"\x0a\0\0\1", 40000), (b"\x0a\0\0\2", external_captures.PORT)]
        (source, sport), (target, dport) = ends if client else ends[::-1]
        head = struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(payload), 0, 0, 64, 6, 0) + source + target
        tcp = struct.pack(">HHIIBBHHH", sport, dport, seq, 0, 0x50, 0x18, 1000, 0, 0)
        frame = bytes(12) + b"\x08\0" + head + tcp + payload
        parts.append(struct.pack("<IIII", 5, 1000 * index, len(frame), len(frame)) + frame)
    path.write_bytes(b"".join(parts))
    return path


def test_a_message_sent_twice_is_counted_as_two(tmp_path: Path) -> None:
    first, again = (p.encode(p.Publish("t", b"x", 1, dup=dup, packet_id=7)) for dup in (False, True))
    ack, size = p.encode(p.Puback(7)), len(first)
    file = _capture(
        tmp_path / "a.pcap",
        [(True, 9, first), (True, 9, first), (True, 9 + size, again[:3]), (True, 9 + size, again), (False, 1, ack)],
    )
    table = external_captures.read(file)
    assert list(table["type"]) == ["Publish", "Publish", "Puback"]  # what TCP repeats is one packet
    assert list(table["dup"]) == [0, 1, 0]
    assert list(external_captures.sendings(table)) == [2]
    assert external_captures.write(file, tmp_path / "a.csv") == 3
    assert len(pd.read_csv(tmp_path / "a.csv")) == 3


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    ping = p.encode(p.Pingreq())
    whole = _capture(tmp_path / "whole.pcap", [(True, 1, ping)])
    (tmp_path / "cut.pcap").write_bytes(whole.read_bytes()[:-1])
    (tmp_path / "other.pcap").write_bytes(bytes(30))
    with pytest.raises(TestbedError, match="cut short"):
        external_captures.read(tmp_path / "cut.pcap")
    with pytest.raises(TestbedError, match="is not a pcap or pcapng file"):
        external_captures.read(tmp_path / "other.pcap")
    with pytest.raises(TestbedError, match="hole of 5 bytes"):
        external_captures.read(_capture(tmp_path / "hole.pcap", [(True, 1, ping), (True, 8, ping)]))
    with pytest.raises(TestbedError, match="no MQTT at port 1"):
        external_captures.read(whole, 1)
