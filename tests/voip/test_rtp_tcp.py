"""RTP over TCP: segments in any order, cut anywhere, repeated, with holes, and bytes that only look like it."""

from __future__ import annotations

import itertools
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.cli import main
from voicewire.voip.captures.rtp import Capture, Stream, read_capture
from voicewire.voip.captures.rtp_tcp import MOST_AHEAD, Connections, Way

BEGINS = 4_294_967_000  # the numbers of the bytes wrap soon
STUN = struct.pack("!HHI", 1, 8, 0x2112A442) + bytes(20)
OPTIONS = b"OPTIONS rtsp://192.0.2.7/a RTSP/1.0\r\nCSeq: 1\r\n\r\n"
DESCRIBED = b"RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Length: 5\r\n\r\n$\0\0\x0c!"  # its body is no frame


def packet(number: int, size: int = 160) -> bytes:
    return struct.pack("!BBHII", 0x80, 0, number % 65_536, 160 * number, 77) + bytes(size)


def framed(count: int) -> tuple[bytes, list[int]]:
    """Bytes after RFC 4571, and where each packet of RTP ends; STUN, RTCP and an empty frame are between."""
    made, ends = bytearray(), list[int]()
    for k in range(count):
        for part in (STUN, b"\x80\xc8" + bytes(10), b"") if k % 7 == 1 else ():
            made += len(part).to_bytes(2, "big") + part
        made += (172).to_bytes(2, "big") + packet(k)
        ends.append(len(made))
    return bytes(made), ends


def interleaved(count: int) -> tuple[bytes, list[int]]:
    made, ends = bytearray(OPTIONS + DESCRIBED), list[int]()
    for k in range(count):
        made += b"$\x00" + (172).to_bytes(2, "big") + packet(k)
        ends.append(len(made))
        if k % 9 == 4:
            made += DESCRIBED + b"$\x01\x00\x0c\x80\xc8" + bytes(10)
    return bytes(made), ends


BUILT = {"TCP, RFC 4571": framed, "TCP, RTSP": interleaved}


def segment(number: int, data: bytes, flags: int = 0x18, port: int = 5000) -> bytes:
    return struct.pack("!HHIIBBHHH", port, 554, number % 2**32, 0, 0x50, flags, 0, 0, 0) + data


def pcap(segments: list[tuple[float, bytes]], snap: int = 65_535) -> bytes:
    made = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, 1)
    for time, data in segments:
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(data), 0, 0, 64, 6, 0) + bytes(range(8)) + data
        frame = (bytes(12) + b"\x08\x00" + ip).ljust(60, b"\xff")  # Ethernet fills up short frames
        whole, part = divmod(round(1e6 * time), 10**6)
        made += struct.pack("<IIII", 1_700_000_000 + whole, part, min(snap, len(frame)), len(frame)) + frame[:snap]
    return made


def read(path: Path, segments: list[tuple[float, bytes]], snap: int = 65_535) -> Capture:
    path.write_bytes(pcap(segments, snap))
    found = read_capture(path)
    assert found is not None
    return found


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(BUILT)), st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_however_it_is_cut_and_shuffled_the_same_packets_come(
    tmp_path_factory: pytest.TempPathFactory, name: str, seed: int, opened: bool, shuffled: bool
) -> None:
    rng = np.random.default_rng(seed)
    data, ends = BUILT[name](40)
    cuts = [0, *sorted(rng.integers(1, len(data), rng.integers(0, 200)).tolist()), len(data)]
    pieces = [(a, b) for a, b in itertools.pairwise(cuts) if a < b]
    pieces += [(max(0, a - 50), b) for a, b in pieces if rng.random() < 0.2]  # sent again, cut elsewhere
    key = [a + (3000 * rng.random() if shuffled and k else 0) for k, (a, _) in enumerate(pieces)]
    pieces = [pieces[k] for k in np.argsort(key, kind="stable")]
    sent = [(0.01 * k, segment(BEGINS + 1 + a, data[a:b])) for k, (a, b) in enumerate(pieces, start=1)]
    if opened:
        last = BEGINS + 1 + len(data)
        end = [(9.1, segment(last, b"", 0x11)), (9.2, segment(last + 1, b"", 0x10))]  # FIN, which counts as a byte
        sent = [(0.0, segment(BEGINS, b"", 2)), *sent, (9.0, segment(BEGINS, b"", 2)), *end]
    elif pieces[0][0] != 0:
        return  # where a connection begins can't be known without its SYN
    found = read(tmp_path_factory.getbasetemp() / "tcp.pcap", sent)
    (stream,) = found.streams
    assert stream.carried == name
    assert stream.numbers.tolist() == list(range(40))
    assert found.holes == 0
    together, when = set[int](), list[float]()  # by plain bookkeeping: when all bytes up to a packet's end had come
    for time, (a, b) in zip((t for t, s in sent if len(s) > 20), pieces, strict=True):
        together |= set(range(a, b))
        reached = next((k for k in range(len(data)) if k not in together), len(data))
        when += [time] * (sum(end <= reached for end in ends) - len(when))
    assert stream.times == pytest.approx(np.array(when) - sent[0][0], abs=1e-6)


@pytest.mark.parametrize("name", BUILT)
def test_behind_a_hole_nothing_is_read_and_it_is_said(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, ends = BUILT[name](40)
    sent = [(0.02 * k, segment(1000 + a, data[a : a + 100])) for k, a in enumerate(range(0, len(data), 100))]
    lost, whole = 30, sent
    found = read(tmp_path / "hole.pcap", sent[:lost] + sent[lost + 1 :])
    (stream,) = found.streams
    assert stream.numbers.tolist() == list(range(sum(end <= 100 * lost for end in ends)))
    assert found.holes == 1
    assert found.passed["TCP segments behind a hole"] == len(sent) - lost - 1
    assert main(["voip", "score", str(tmp_path / "hole.pcap")]) == 0
    assert "a TCP connection has a hole: what stands before that was read" in capsys.readouterr().out
    few, _ = framed(5)
    sent = [(0.02 * k, segment(1000 + a, few[a : a + 100])) for k, a in enumerate(range(0, len(few), 100)) if k != 7]
    found = read(tmp_path / "few.pcap", sent)
    assert (found.streams, found.holes) == ([], 0)
    assert found.passed["packets over TCP that begin like RTP, in no stream of ten whose numbers go on"] == 3
    short = read(tmp_path / "short.pcap", whole, snap=14 + 20 + 20 + 60)
    assert short.streams == []
    (said,) = short.passed  # not that it is TCP without RTP
    assert said == "TCP segments that were not captured whole, of connections in which no RTP is seen"
    assert short.passed[said] == len(whole)


def test_the_command_says_how_it_came(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A packet that waits for a segment sent again takes those behind it along: late, not lost."""
    data, _ = framed(0)
    sent = [(0.0, segment(99, b"", 2))]
    for k in range(60):
        piece = (172).to_bytes(2, "big") + packet(k)
        sent.append((0.02 * k + (0.2 if k == 20 else 0), segment(100 + 174 * k, piece)))
    file = tmp_path / "call.pcap"
    file.write_bytes(pcap(sorted(sent)))
    assert main(["voip", "score", str(file), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["carried"], made["lost_percent"], made["holes"]) == ("TCP, RFC 4571", 0.0, 0)
    assert made["variation_ms"]["100%"] == pytest.approx(200.0, abs=0.01)
    assert main(["voip", "score", str(file)]) == 0
    assert "over TCP, RFC 4571: what was lost comes late" in capsys.readouterr().out
    assert data == b""


def test_a_new_connection_between_the_same_ends_begins_anew(tmp_path: Path) -> None:
    data, _ = framed(30)
    sent = []
    for k, begin in enumerate((500, 3_000_000_000)):
        sent.append((k, segment(begin, b"", 2)))
        sent += [(k + 0.01, segment(begin + 1 + a, data[a : a + 1000])) for a in range(0, len(data), 1000)]
    (stream,) = read(tmp_path / "two.pcap", sent).streams
    assert stream.numbers.tolist() == 2 * list(range(30))


@pytest.mark.parametrize(
    "data", [
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" + bytes(4000), b"\x16\x03\x01\x02\x00\x01" + bytes(4000),
        b"A" * 5000, b"RTSP/1.0 200 OK\r\n" + b"a: b\r\n" * 20_000,
        b"\0\x0c\x80" + bytes(11) + b"\0\x0c\x70" + bytes(4000),
    ],
)  # fmt: skip
def test_what_is_something_else_is_neither_read_nor_kept(data: bytes) -> None:
    way = Way(7)
    found = [each for a in range(0, len(data), 500) for each in way.took(7 + a, data[a : a + 500], 0, a)]
    assert len(found) <= 1
    assert not way.held
    assert way.framing == "" or way.broken


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2**32 - 1) | st.integers(0, 400),
            st.binary(max_size=60) | st.sampled_from([packet(1), OPTIONS]),
            st.integers(0, 255), st.integers(0, 300),
        ), max_size=30,
    ),
    st.integers(0, 80),
)  # fmt: skip
def test_hostile_segments_raise_nothing_and_hold_no_more_than_allowed(
    rows: list[tuple[int, bytes, int, int]], cut: int
) -> None:
    made = Connections()
    for k, (number, data, flags, more) in enumerate(rows):
        one = segment(number, data, flags)
        for when, framing, whole in made.took(b"ends", one[: len(one) - cut % (k + 1)], len(one) + more, k):
            assert whole[0] >> 6 == 2
            assert len(whole) >= 12
            assert framing in ("RFC 4571", "RTSP")
            assert when <= k
        held = sum(way.waiting + len(way.held) for way in made._ways.values())
        assert held == made.waiting
    assert made.holes() <= len(rows)


def test_what_waits_for_a_hole_is_bounded() -> None:
    way = Way(0)
    list(way.took(0, (172).to_bytes(2, "big") + packet(0), 0, 0))
    most = 0
    for k in range(2000):
        list(way.took(1000 + 1000 * k, bytes(1000), 0, k))
        most = max(most, way.waiting)
    assert way.broken
    assert 0.9 * MOST_AHEAD < most <= MOST_AHEAD
    assert way.waiting == 0
    assert isinstance(Stream(*(np.zeros(2) for _ in range(5))).carried, str)
