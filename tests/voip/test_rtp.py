"""RTP in captures: every container and link, several streams, cut files; addresses and payload stay inside."""

from __future__ import annotations

import gzip
import json
import lzma
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.cli import main
from voicewire.voip.captures.rtp import clock_of, read_capture

SECRET = b"said in confidence"
ADDRESS, PORT, SOURCE = bytes((192, 0, 2, 77)), 40_123, 0xC0FFEE99


def rtp(number: int, kind: int = 0, source: int = SOURCE, step: int = 160, mark: bool = False) -> bytes:
    head = struct.pack("!BBHII", 0x80, kind | mark << 7, number % 65_536, step * number % 2**32, source)
    return head + SECRET


def datagram(inner: bytes, six: bool = False) -> bytes:
    udp = struct.pack("!HHHH", PORT, 5004, 8 + len(inner), 0) + inner
    if six:
        return struct.pack("!IHBB", 6 << 28, len(udp), 17, 64) + ADDRESS * 8 + udp
    return struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + ADDRESS * 2 + udp


LINKS = {
    1: lambda ip: bytes(12) + (b"\x86\xdd" if ip[0] >> 4 == 6 else b"\x08\x00") + ip,
    0: lambda ip: struct.pack("<I", 2) + ip,
    101: lambda ip: ip,
    113: lambda ip: bytes(14) + b"\x08\x00" + ip,
    276: lambda ip: b"\x08\x00" + bytes(18) + ip,
}


def pcap(packets: list[tuple[float, bytes]], link: int = 1, order: str = "<", snap: int = 65_535) -> bytes:
    made = struct.pack(order + "IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, link)
    for time, ip in packets:
        data = LINKS[link](ip)
        whole, part = divmod(round(1e6 * time), 10**6)
        made += struct.pack(order + "IIII", 1_700_000_000 + whole, part, min(snap, len(data)), len(data)) + data[:snap]
    return made


def pcapng(packets: list[tuple[float, bytes]], order: str = "<") -> bytes:
    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        return struct.pack(order + "II", kind, 12 + len(body)) + body + struct.pack(order + "I", 12 + len(body))

    made = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    made += block(1, struct.pack(order + "HHI", 101, 0, 0) + struct.pack(order + "HHB3xHH", 9, 1, 9, 0, 0))
    made += block(5, bytes(20))  # statistics: passed over
    for time, ip in packets:
        ticks = round(1e9 * time) + 10**18
        made += block(6, struct.pack(order + "IIIII", 0, ticks >> 32, ticks % 2**32, len(ip), len(ip)) + ip)
    return made


def call(count: int = 40, begin: int = 65_520) -> list[tuple[float, bytes]]:
    return [(0.02 * k, datagram(rtp(begin + k, mark=not k))) for k in range(count)]


SIX = [(0.02 * k, datagram(rtp(65_520 + k), six=True)) for k in range(40)]
FILES = {
    "ethernet": pcap(call()), "loopback": pcap(call(), 0), "raw": pcap(call(), 101), "cooked": pcap(call(), 113),
    "cooked2": pcap(call(), 276), "big": pcap(call(), order=">"), "short": pcap(call(), snap=14 + 20 + 8 + 12),
    "ng": pcapng(call()), "ng-big": pcapng(call(), ">"),
    "six": pcap(SIX), "six-short": pcap(SIX, snap=14 + 40 + 8 + 12),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_every_container_and_link_gives_the_same_packets(name: str, tmp_path: Path) -> None:
    file = tmp_path / "call"
    file.write_bytes(FILES[name])
    found = read_capture(file)
    assert found is not None
    (stream,) = found.streams
    assert stream.times == pytest.approx([0.02 * k for k in range(40)], abs=1e-6)
    assert stream.numbers.tolist() == [(65_520 + k) % 65_536 for k in range(40)]
    assert clock_of(stream) == (0, 8000, True)
    assert not found.cut
    assert not found.short


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["ethernet", "ng", "ng-big"]), st.integers(4, 5000), st.binary(max_size=3))
def test_a_cut_or_damaged_file_gives_what_stands_before(
    tmp_path_factory: pytest.TempPathFactory, name: str, size: int, noise: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / f"cut-{name}"
    file.write_bytes(FILES[name][:size] + noise)
    found = read_capture(file)
    assert found is not None
    for stream in found.streams:
        assert stream.numbers.tolist() == [(65_520 + k) % 65_536 for k in range(stream.numbers.size)]
    assert main(["voip", "score", str(file)]) == (0 if found.streams else 1)


def test_the_stream_is_chosen_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another source between the same ends, one of another kind, and datagrams that only begin like RTP."""
    packets = call(60)
    packets += [(0.03 * k, datagram(rtp(7 + k, 96, source=5, step=960))) for k in range(25)]
    packets += [(0.05 * k, datagram(rtp(7919 * k * k, 33, source=9))) for k in range(20)]
    packets += [(0.1 * k, datagram(rtp(k, 72, source=11))) for k in range(12)]  # RTCP
    file = tmp_path / "two.pcap"
    file.write_bytes(pcap(sorted(packets)))
    assert main(["voip", "score", str(file)]) == 0
    assert "stream 1 of 2 (most packets first), payload type 0, clock 8000 Hz (RFC 3551)" in capsys.readouterr().out
    assert main(["voip", "score", str(file), "--stream", "2", "--clock", "32000", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["payload_type"], made["frames"], made["frame_ms"], made["codec_from"]) == (96, 25, 30.0, "assumed")
    assert main(["voip", "score", str(file), "--stream", "3"]) == 1
    assert "has 2 streams" in capsys.readouterr().err


def test_pictures_are_no_voice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A film's packets have a clock of 90 kHz: no R for them, unless somebody says that it is a voice."""
    file = tmp_path / "film.pcap"
    file.write_bytes(pcap([(0.04 * k, datagram(rtp(k, 98, step=3600))) for k in range(40)]))
    assert main(["voip", "score", str(file)]) == 1
    said = capsys.readouterr()
    assert "as pictures do" in said.err
    assert not said.out
    assert main(["voip", "score", str(file), "--clock", "90000"]) == 0


REFUSED = {  # what foreign captures held: content, and what must be said of it
    "keys": (pcap([(0.02 * k, datagram(rtp(k, 101, step=0))) for k in range(12)]), "one timestamp for all"),
    "nine": (pcap(call(9)), "ten or more packets of RTP, over UDP or over TCP (RFC 4571, RTSP), among 9 packets; "),
    "cut": (pcap(call())[:50], "among 0 packets, and the file is cut or damaged"),
    "snapped": (pcap(call(), snap=40), "packets; of 40 datagrams the capture kept too few bytes to tell"),
    "snapped-six": (pcap(SIX, snap=73), "packets; of 40 datagrams the capture kept too few bytes to tell"),
    "snapped-head": (pcap(SIX, snap=40), "packets; of 40 datagrams the capture kept too few bytes to tell"),
    "gzip": (gzip.compress(pcap(call())), "packed by gzip: unpack it"),
    "xz": (lzma.compress(pcap(call())), "packed by xz"),
    "anew": (pcap([(0.02 * k, datagram(rtp(k, step=160 if k < 20 else 160_000))) for k in range(40)]), "part by"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_capture_without_a_call_says_what_it_has(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, words = REFUSED[name]
    file = tmp_path / "call.pcap"
    file.write_bytes(content)
    for more in ([], ["--clock", "8000"]):
        assert main(["voip", "score", str(file), *more]) == 1
        said = capsys.readouterr()
        assert words in said.err
        assert said.err.count("\n") == 1
        assert not said.out


def test_a_key_pressed_first_is_not_the_voice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a clock that is stated, too, the payload type of most packets is the voice."""
    packets = [(0.02 * k, datagram(rtp(k, 101 if k < 3 else 0))) for k in range(40)]
    file = tmp_path / "call.pcap"
    file.write_bytes(pcap(packets))
    assert main(["voip", "score", str(file), "--clock", "8000", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["payload_type"], made["frames"]) == (0, 37)


def test_neither_addresses_nor_payload_leave_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two calls that differ only in who talks, from which port, and what is said, give the same bytes."""
    outputs = []
    for name, change in (("a", lambda ip: ip), ("b", lambda ip: ip.replace(SECRET, bytes(len(SECRET))))):
        packets = [(time, change(ip)) for time, ip in call(60) if time != 0.2]
        if name == "b":
            packets = [
                (t, ip[:12] + bytes(8) + struct.pack("!H", 9999) + ip[22:36] + struct.pack("!I", 1) + ip[40:])
                for t, ip in packets
            ]
        place = tmp_path / name
        place.mkdir()
        file = place / "call.pcap"
        file.write_bytes(pcap(packets))
        words = ["voip", "score", str(file)]
        picture, numbers = place / "call.svg", place / "call.csv"
        assert main([*words, "--picture", str(place / "call.png"), "--write", str(numbers)]) == 0
        assert main([*words, "--json", "--picture", str(picture)]) == 0
        said = capsys.readouterr()
        assert said.err == ""
        drawn = (place / "call.png").read_bytes()
        outputs.append((said.out, numbers.read_bytes(), drawn))
        everything = said.out.encode() + numbers.read_bytes() + picture.read_bytes()
        for secret in (SECRET, b"192.0.2.77", b"40123", str(SOURCE).encode(), b"c0ffee99"):
            assert secret not in everything.lower()
    assert outputs[0] == outputs[1]


def test_what_was_written_scores_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, numbers = tmp_path / "call.pcap", tmp_path / "call.csv"
    file.write_bytes(pcap([each for k, each in enumerate(call(80)) if k % 9]))
    assert main(["voip", "score", str(file), "--write", str(numbers), "--json"]) == 0
    before = json.loads(capsys.readouterr().out)
    assert main(["voip", "score", str(numbers), "--json"]) == 0
    after = json.loads(capsys.readouterr().out)
    assert [after[k] for k in ("frames", "lost_percent")] == [before[k] for k in ("frames", "lost_percent")]
    for name, one in before["buffers"].items():
        assert after["buffers"][name]["r"] == pytest.approx(one["r"], abs=1e-9)
