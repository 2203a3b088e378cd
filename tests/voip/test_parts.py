"""A stream is one clock, codec, source and capturing clock: made-up calls with every break, through every tunnel."""

from __future__ import annotations

import json
import re
import struct
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from voicewire.cli import main
from voicewire.voip.captures.capture_table import score_capture
from voicewire.voip.captures.g711 import decoded
from voicewire.voip.captures.parts import parts_of
from voicewire.voip.captures.received import in_order, places, score
from voicewire.voip.captures.report import clamped
from voicewire.voip.captures.rtp import CLOCKS, Stream, read_capture
from voicewire.voip.errors import VoipError
from voicewire.voip.playout_rules.whole_frames import whole_frames

FRAMES = 300
HERE, THERE = b"\x0a\0\0\1", b"\x0a\0\0\2"
quick = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)  # fmt: skip
Packets = list[tuple[float, bytes]]


def rtp(
    number: int, stamp: int, source: int = 7, kind: int = 0, mark: bool = False, payload: bytes = bytes(160)
) -> bytes:
    return struct.pack("!BBHII", 0x80, mark << 7 | kind, number % 2**16, stamp % 2**32, source) + payload


def ip(protocol: int, inner: bytes, source: bytes = HERE, target: bytes = THERE) -> bytes:
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(inner), 0, 0, 64, protocol, 0)
    return head + source + target + inner


def udp(inner: bytes, ports: tuple[int, int] = (5000, 5002), **ends: bytes) -> bytes:
    return ip(17, struct.pack("!HHHH", *ports, 8 + len(inner), 0) + inner, **ends)


def ether(inner: bytes, kind: bytes = b"\x08\0") -> bytes:
    return bytes(12) + kind + inner


def save(path: Path, frames: Packets, snap: int = 2**16) -> Path:
    made = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snap, 1)]
    for time, data in frames:
        whole, part = divmod(round(1e9 * (time + 10_000)), 10**9)
        made.append(struct.pack("<IIII", whole, part, min(snap, len(data)), len(data)) + data[:snap])
    path.write_bytes(b"".join(made))
    return path


def scored(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["voip", "score", str(path), "--json", *words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def quiet(seed: int, count: int = FRAMES) -> np.ndarray:
    """When packets come: 0 to 1 ms late."""
    return 0.02 * np.arange(count) + 0.001 * np.random.default_rng(seed).random(count)


BREAKS = {  # what changes at a packet, by how much, and what is said of it
    "stamp": (st.integers(-(2**31) + 10**6, 2**31 - 10**6).filter(lambda d: abs(d) > 4000), "timestamps"),
    "number": (st.integers(200, 65_300), "sequence numbers go on by"),
    "kind": (st.sampled_from([8, 18, 3]), "payload type 0 becomes"),
    "source": (st.integers(8, 2**32 - 1), "another source"),
    "back": (st.floats(0.03, 9000.0), "the capture's times fall back"),
    "ahead": (st.floats(0.3, 9000.0), "arrivals jump ahead of the timestamps"),
    "port": (st.integers(6000, 60_000), "other addresses or ports"),
}


@quick
@given(st.data(), st.sampled_from(sorted(BREAKS)), st.integers(25, FRAMES - 25), st.integers(0, 2**32 - 1))
def test_a_break_is_found_named_and_leaves_the_score_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject, name: str, at: int, seed: int
) -> None:
    size = data.draw(BREAKS[name][0])
    when, frames = quiet(seed), Packets()
    for k in range(FRAMES):
        its: dict[str, Any] = {"number": seed + k, "stamp": seed * 3 + 160 * k}
        port, time = 5000, float(when[k])
        if k >= at and name in ("stamp", "number"):
            its[name] += size
        elif k >= at and name in ("kind", "source"):
            its[name] = size
        elif k >= at:
            port, time = (size, time) if name == "port" else (5000, time + size * (1 if name == "ahead" else -1))
        frames.append((time, ether(udp(rtp(**its), (port, 5002)))))
    made = scored(save(tmp_path / "a.pcap", frames), capsys, "--codec", "G.711")
    assert [part["frames"] for part in made["parts"]] == [at, FRAMES - at]
    assert BREAKS[name][1] in made["parts"][1]["why"]
    assert made["parts"][0]["why"] == ""
    assert (made["frames"], made["lost_percent"], made["duplicates"], made["strays"]) == (FRAMES, 0.0, 0, 0)
    assert made["buffers"]["fixed"]["r"] == pytest.approx(92.98, abs=0.02)
    assert made["buffers"]["adaptive"]["r"] == pytest.approx(92.4, abs=0.3)
    assert made["jitter_ms"] < 0.5


@quick
@given(st.integers(1, 4), st.floats(0, 0.015), st.integers(0, 1000))
def test_copies_count_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], copies: int, late: float, seed: int
) -> None:
    frames = [
        (float(t) + late * c, ether(udp(rtp(k, 160 * k)))) for k, t in enumerate(quiet(seed)) for c in range(copies + 1)
    ]
    frames.sort(key=lambda one: one[0])
    made = scored(save(tmp_path / "a.pcap", frames), capsys)
    assert (made["frames"], made["duplicates"], made["lost_percent"]) == (FRAMES, copies * FRAMES, 0.0)
    assert made["buffers"]["fixed"]["r"] == pytest.approx(92.98, abs=0.02)
    assert made["jitter_ms"] < 0.5


@quick
@given(
    st.sampled_from(["stall", "jitter", "losses", "reordered", "odd stamp", "odd number"]), st.integers(5, 200),
    st.integers(0, 1000),
)  # fmt: skip
def test_what_the_network_does_is_no_break(tmp_path: Path, name: str, size: int, seed: int) -> None:
    """A stall that ends in a burst, jitter, losses, another order; and one packet that fits nowhere."""
    rng = np.random.default_rng(seed)
    when, number, stamp = quiet(seed), np.arange(FRAMES), 160 * np.arange(FRAMES)
    if name == "stall":
        end = 60 + size
        when[60:end] = np.maximum(when[60:end], 0.02 * end + 0.0001 * np.arange(end - 60) - 0.02)
        when = np.maximum.accumulate(when)
    elif name == "jitter":
        when = when + 0.001 * size * rng.random(FRAMES)
    elif name == "reordered":
        when = when + 0.001 * size * (np.arange(FRAMES) % 7 == 3)
    elif name == "odd stamp":
        stamp[100] += 160 * size * 100
    elif name == "odd number":
        number[100] += 100 * size + 4000
    rows = [k for k in np.argsort(when, kind="stable") if name != "losses" or rng.random() > size / 1000]
    frames = [(float(when[k]), ether(udp(rtp(int(number[k]), int(stamp[k]))))) for k in rows]
    found = read_capture(save(tmp_path / "a.pcap", frames))
    assert found is not None
    parts, passed = parts_of(found.streams[0])
    assert len(parts) == 1
    assert sum(passed.values()) == name.startswith("odd")


def late(pattern: str, size: float, seed: int, count: int) -> np.ndarray:
    """Which packets the network holds back by `size` s: every other, some at random, a path that flips, or some."""
    rng = np.random.default_rng(seed)
    if pattern == "every other":
        return size * (np.arange(count) % 2)
    if pattern == "flips":
        flips = size * (np.cumsum(rng.random(count) < 0.05) % 2)
        flips[:25] = flips[-25:] = 0  # what never returns may be a sender that stood still
        return flips
    if pattern == "exponential":
        return rng.exponential(size / 2, count)
    return size * (rng.random(count) < {"half": 0.5, "third": 0.3, "few": 0.1}[pattern])


@quick
@given(
    st.sampled_from(["every other", "half", "third", "few", "flips", "exponential"]), st.floats(0.2, 0.4),
    st.integers(0, 10**6),
)  # fmt: skip
def test_packets_that_come_late_are_neither_lost_nor_a_part(
    tmp_path: Path, pattern: str, size: float, seed: int
) -> None:
    when = quiet(seed, 600) + late(pattern, size, seed, 600)
    frames = [(float(when[k]), ether(udp(rtp(int(k), 160 * int(k))))) for k in np.argsort(when, kind="stable")]
    found = read_capture(save(tmp_path / "a.pcap", frames))
    assert found is not None
    parts, passed = parts_of(found.streams[0])
    assert ([part.stream.times.size for part in parts], dict(passed)) == ([600], {})


@quick
@given(st.floats(3.0, 5000.0), st.booleans(), st.integers(0, 10**6), st.integers(100, 500))
def test_a_clock_that_steps_cuts_though_packets_come_late(
    tmp_path: Path, size: float, back: bool, seed: int, at: int
) -> None:
    """All packets after the step are shifted; those that are late leave no other trace."""
    came = quiet(seed, 600) + late("few", 0.25, seed, 600)
    came[at - 15 : at + 1] = 0.02 * np.arange(at - 15, at + 1)  # none is on its way while the clock is set
    order = np.argsort(came, kind="stable")
    shift = np.where(order >= at, -size if back else size, 0.0)
    frames = [(float(came[k] + s), ether(udp(rtp(int(k), 160 * int(k))))) for k, s in zip(order, shift, strict=True)]
    found = read_capture(save(tmp_path / "a.pcap", frames))
    assert found is not None
    parts, passed = parts_of(found.streams[0])
    assert ([part.stream.times.size for part in parts], dict(passed)) == ([at, 600 - at], {})


@quick
@given(
    st.sampled_from([(10, 20), (20, 40), (30, 20), (20, 60), (60, 20)]), st.integers(30, 270), st.integers(0, 10**6),
    st.booleans(),
)  # fmt: skip
def test_frames_that_change_their_length_begin_a_part_and_no_talkspurt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sizes: tuple[int, int], at: int, seed: int, pause: bool
) -> None:
    frames, time, stamp = Packets(), 0.0, 0
    noise = 0.001 * np.random.default_rng(seed).random(FRAMES)
    for k in range(FRAMES):
        length = sizes[k >= at]
        frames.append((time + float(noise[k]), ether(udp(rtp(k, stamp, payload=bytes(8 * length))))))
        silence = 400 * (pause and k % 40 == 39 and k != at)
        time, stamp = time + 0.001 * (length + silence), stamp + 8 * (length + silence)
    made = scored(save(tmp_path / "a.pcap", frames), capsys)
    assert [(part["frames"], part["frame_ms"]) for part in made["parts"]] == [
        (at, pytest.approx(sizes[0])), (FRAMES - at, pytest.approx(sizes[1]))
    ]  # fmt: skip
    assert made["parts"][1]["why"] == f"frames of {sizes[0]} ms become frames of {sizes[1]} ms"
    assert made["lost_percent"] == 0.0
    assert made["talkspurts"] < 20
    assert main(["voip", "score", str(tmp_path / "a.pcap")]) == 0
    assert f"frames {FRAMES} of {sizes[0]}, {sizes[1]} ms in" in capsys.readouterr().out


@quick
@given(
    st.integers(25, 250), st.one_of(st.integers(5000, 60_000), st.none()), st.floats(0.3, 9000.0), st.integers(0, 10**6)
)  # fmt: skip
def test_a_packet_that_fits_nowhere_may_stand_beside_a_break(
    tmp_path: Path, at: int, odd: int | None, size: float, seed: int
) -> None:
    frames = [
        (float(t) + size * (k > at), ether(udp(rtp(k + (odd or 0) * (k == at), 160 * k))))
        for k, t in enumerate(quiet(seed))
    ]  # fmt: skip
    found = read_capture(save(tmp_path / "a.pcap", frames))
    assert found is not None
    parts, passed = parts_of(found.streams[0])
    assert [part.stream.times.size for part in parts] == [at + (odd is None), FRAMES - at - 1]
    assert sum(passed.values()) == (odd is not None)


@quick
@given(st.floats(-9000.0, 9000.0).filter(lambda s: abs(s) > 0.001), st.integers(0, 10**6))
def test_copies_of_another_capturing_clock_count_once(tmp_path: Path, size: float, seed: int) -> None:
    """Two interfaces see each packet, and their clocks differ."""
    frames = [(float(t) + c * size, ether(udp(rtp(k, 160 * k)))) for k, t in enumerate(quiet(seed)) for c in (0, 1)]
    found = read_capture(save(tmp_path / "a.pcap", frames))
    assert found is not None
    (part,), passed = parts_of(found.streams[0])
    assert (part.stream.times.size, part.copies, dict(passed)) == (FRAMES, FRAMES, {})


@quick
@given(st.floats(3.0, 9000.0), st.integers(0, 10**6))
def test_a_stream_most_of_which_is_in_no_part_is_refused_with_the_counts(
    tmp_path: Path, size: float, seed: int
) -> None:
    """Two paths of one stream, each packet on one of them, whose capturing clocks differ."""
    frames = [(float(t) + size * (k % 2), ether(udp(rtp(k, 160 * k)))) for k, t in enumerate(quiet(seed))]
    found = read_capture(save(tmp_path / "a.pcap", frames))
    assert found is not None
    with pytest.raises(VoipError, match=rf"of its {FRAMES} packets \d+ are in parts of ten or more .*: \d+ packets"):
        parts_of(found.streams[0])


@quick
@given(
    st.sampled_from([8000, 16_000, 24_000, 48_000]), st.integers(2, 60), st.sampled_from([0, 96]),
    st.floats(0.0001, 0.002),
)  # fmt: skip
@example(24_000, 34, 96, 2**-9)
def test_bursts_of_a_sender_are_no_other_clock(clock: int, size: int, kind: int, apart: float) -> None:
    """A rate over 25 packets of a sender that sends many at once is any: it is right, or refused with both rates."""
    k, clock = np.arange(900), clock if kind else 8000
    when = 0.02 * size * (k // size) + apart * (k % size)
    try:
        parts, _ = parts_of(Stream(when, k, clock // 50 * k, k < 0, np.full(k.size, kind)))
    except VoipError as error:
        words = "ticks a second(, near no| over 25 packets, but [0-9,]+ over longer| over long .*over all)"
        assert re.search(words, str(error))
        assert kind == 96
    else:
        assert {part.clock_hz for part in parts} == {clock}
        told = "from timestamps over time"
        known = {told, f"{told}, over long stretches only"} if kind else {"RFC 3551"}
        assert {part.clock_from for part in parts} <= known


@quick
@given(st.sampled_from([16_000, 24_000, 48_000]), st.integers(100, 500), st.floats(0.3, 9000.0))
def test_a_jump_is_no_other_clock(clock: int, at: int, size: float) -> None:
    k = np.arange(600)
    parts, _ = parts_of(Stream(quiet(1, 600) + size * (k >= at), k, clock // 50 * k, k < 0, np.full(600, 96)))
    assert [part.clock_hz for part in parts] == [clock, clock]
    assert parts[0].clock_from == "from timestamps over time"


@given(st.integers(0, 2**16 - 1), st.integers(1, 10**6), st.integers(1, 2900), st.integers(10, 400))
def test_numbers_that_never_jump_are_one_count(begin: int, seed: int, late: int, count: int) -> None:
    """Packets in another order, lost or twice, less than 3,000 from the highest before: numbers unwrapped."""
    rng = np.random.default_rng(seed)
    true = np.arange(count) * rng.integers(1, 100)
    true = true[np.argsort(true + late * rng.random(count), kind="stable")]
    place, strays = places((begin + true) % 2**16)
    assert strays == 0
    assert np.array_equal(place, true - true.min())


def gre(kind: int, inner: bytes, flags: int = 0, more: bytes = b"") -> bytes:
    return ether(ip(47, struct.pack("!HH", flags, kind) + more + inner))


def channel(inner: bytes) -> bytes:
    return struct.pack("!HH", 0x4001, len(inner)) + inner


def send(inner: bytes, method: int = 0x16) -> bytes:
    filled = inner + bytes(-len(inner) % 4)
    body = struct.pack("!HH8xHH", 0x12, 8, 0x13, len(inner)) + filled
    return struct.pack("!HHI12x", method, len(body), 0x2112A442) + body


CARRIED: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda p: ether(udp(p)),
    "VLAN": lambda p: ether(b"\0\x05\x81\0\0\x07\x08\0" + udp(p), b"\x88\xa8"),
    "SNAP": lambda p: ether(b"\xaa\xaa\x03\0\0\0\x08\0" + udp(p), b"\0\x90"),
    "PPPoE": lambda p: ether(b"\x11\0\0\1\0\xff\0\x21" + udp(p), b"\x88\x64"),
    "IP in IP": lambda p: ether(ip(4, ip(4, udp(p)))),
    "6 in 4": lambda p: ether(ip(41, struct.pack("!IHBB", 6 << 28, len(udp(p)) - 20, 17, 9) + bytes(32) + udp(p)[20:])),
    "AH": lambda p: ether(ip(51, b"\x11\x04" + bytes(22) + udp(p)[20:])),
    "MPLS": lambda p: ether(b"\0\1\0\x40\0\2\1\x40" + udp(p), b"\x88\x47"),
    "pseudowire": lambda p: ether(b"\0\2\1\x40\0\0\0\0" + ether(udp(p)), b"\x88\x47"),
    "pseudowire without control": lambda p: ether(b"\0\2\1\x40" + b"\xaa" + ether(udp(p))[1:], b"\x88\x47"),
    "GRE": lambda p: gre(0x0800, udp(p)),
    "GRE with key and number": lambda p: gre(0x6558, ether(udp(p)), 0x3000, bytes(8)),
    "ERSPAN I": lambda p: gre(0x88BE, ether(udp(p))),
    "ERSPAN II": lambda p: gre(0x88BE, bytes(8) + ether(udp(p)), 0x1000, bytes(4)),
    "ERSPAN III": lambda p: gre(0x22EB, bytes(11) + b"\1" + bytes(8) + ether(udp(p)), 0x1000, bytes(4)),
    "VXLAN": lambda p: ether(udp(b"\x08\0\0\0\0\0\7\0" + ether(udp(p)), (40_000, 4789))),
    "VXLAN in GRE": lambda p: gre(0x0800, udp(b"\x08\0\0\0\0\0\7\0" + ether(udp(p)), (40_000, 4789))),
    "GENEVE": lambda p: ether(udp(b"\1\0\x65\x58" + bytes(8) + ether(udp(p)), (40_000, 6081))),
    "GTP-U": lambda p: ether(udp(struct.pack("!BBHI", 0x30, 255, len(udp(p)), 1) + udp(p), (2152, 2152))),
    "ChannelData": lambda p: ether(udp(channel(p), (5000, 3478))),
    "Send": lambda p: ether(udp(send(p), (5000, 3478))),
    "Data": lambda p: ether(udp(send(p, 0x17), (3478, 5000))),
}


@pytest.mark.parametrize("name", CARRIED)
def test_tunnels_are_taken_off_and_said(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frames = [(float(t), CARRIED[name](rtp(k, 160 * k))) for k, t in enumerate(quiet(1)) if k % 10 != 5]
    file = save(tmp_path / "a.pcap", frames)
    made = scored(file, capsys)
    assert (made["frames"], made["passed"]) == (FRAMES, {})
    assert made["lost_percent"] == pytest.approx(10.0)
    assert main(["voip", "score", str(file)]) == 0
    assert "127.0" not in capsys.readouterr().out
    if name in ("ChannelData", "Send", "Data"):
        assert made["carried"] == "UDP, TURN"
    elif name not in ("plain", "VLAN", "SNAP", "AH"):
        assert sum(made["tunnels"].values()) >= len(frames)


@quick
@given(st.lists(st.sampled_from(["rtp", "arp", "icmp", "dns", "fragment", "rtcp", "few", "short", "esp"]), min_size=60))
def test_whatever_is_passed_over_is_counted(tmp_path: Path, kinds: list[str]) -> None:
    """Packets of streams, of RTCP and those passed over are all packets."""
    frames, count, controls = Packets(), 0, 0
    for k, kind in enumerate([*kinds, *["rtp"] * 12]):
        made = {
            "arp": lambda: ether(bytes(28), b"\x08\x06"), "icmp": lambda: ether(ip(1, bytes(20))),
            "dns": lambda: ether(udp(bytes(30))), "esp": lambda: ether(ip(50, bytes(40))),
            "fragment": lambda: ether(udp(bytes(40)).replace(b"\0\0\0\0@", b"\0\0\0\x05@", 1)),
            "few": lambda: ether(udp(rtp(5, 5, 99), (9, 9))), "short": lambda: ether(udp(bytes(30)))[:40],
            "rtcp": lambda: ether(udp(struct.pack("!BBHI", 0x80, 201, 1, 7), (5001, 5003))),
            "rtp": lambda n=count: ether(udp(rtp(n, 160 * n))),
        }[kind]()  # fmt: skip
        count += kind == "rtp"
        controls += kind == "rtcp"
        frames.append((0.02 * k, made))
    file = save(tmp_path / "a.pcap", frames)
    raw = bytearray(file.read_bytes())
    file.write_bytes(bytes(raw))
    found = read_capture(file)
    assert found is not None
    assert found.controls == controls
    assert sum(one.times.size for one in found.streams) + controls + sum(found.passed.values()) == found.packets


def test_both_directions_are_scored_and_what_rtcp_says_stands_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frames = [(float(t), ether(udp(rtp(k, 160 * k)))) for k, t in enumerate(quiet(1))]
    back = {"source": THERE, "target": HERE}
    frames += [
        (float(t), ether(udp(rtp(k, 160 * k, 9, 18, payload=bytes(20)), (5002, 5000), **back)))
        for k, t in enumerate(quiet(2)) if k % 4
    ]  # fmt: skip
    frames += [(float(t), ether(udp(rtp(k, 160 * k), target=b"\x0a\0\0\3"))) for k, t in enumerate(quiet(3))]
    for k in (1, 2, 3):
        block = struct.pack("!IBBHIIII", 7, 64 * k, 0, 10 * k, 0, 80, 0, 0)
        frames.append((k, ether(udp(struct.pack("!BBHI", 0x81, 201, 7, 9) + block, (5003, 5001), **back))))
    file = save(tmp_path / "a.pcap", sorted(frames))
    made = scored(file, capsys)
    other = made["opposite"]
    assert (made["payload_type"], made["lost_percent"], other["payload_type"]) == (0, 0.0, 18)
    assert other["lost_percent"] == pytest.approx(25.0, abs=0.3)
    assert made["rtcp"] == {
        "reports": 3, "lost": 30, "worst_percent": 75.0, "jitter_ms": 10.0, "largest_jitter_ms": 10.0
    }  # fmt: skip
    assert [(one["packets"], one["copy_of"]) for one in made["not_scored"]] == [(FRAMES, made["stream"])]
    assert main(["voip", "score", str(file)]) == 0
    text = capsys.readouterr().out
    again = f"with the source (SSRC), numbers and timestamps of stream {made['stream']}"
    for words in ("the other direction, stream 3 of 3", "by RTCP, 3 times: lost 30", again):
        assert words in text
    assert "opposite" not in scored(file, capsys, "--stream", "3")


def test_keys_are_no_jitter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """RFC 4733: all packets of a key have one timestamp."""
    frames = [
        (float(t), ether(udp(rtp(k, 160 * (k - k % 8 if 100 <= k < 196 else k), kind=101 if 100 <= k < 196 else 0))))
        for k, t in enumerate(quiet(1))
    ]
    made = scored(save(tmp_path / "a.pcap", frames), capsys)
    assert made["jitter_ms"] < 0.5
    assert made["frames"] == FRAMES - 96
    assert made["left_out"] == {"packets of payload type 101 within type 0": 96}


@pytest.mark.parametrize("seconds", [10, 30, 60, 120, 180])
def test_a_quiet_network_has_one_score_however_long(seconds: int) -> None:
    when = quiet(3, 50 * seconds)
    one = in_order(when, np.arange(when.size) % 2**16, stamps=160 * np.arange(when.size))
    made = whole_frames(one.delays_ms + 50, one.spurts, "G.711", one.frame_ms)
    assert made.loss == 0.0
    assert made.r == pytest.approx(92.5, abs=0.1)
    assert score(one, "G.711", 50.0).fixed.r == pytest.approx(92.98, abs=0.01)


@quick
@given(st.lists(st.one_of(st.floats(0, 20_000), st.just(float("inf"))), min_size=1, max_size=200), st.integers(1, 60))
def test_whole_frames_play_whole_frames_above_the_fastest_so_far(delays: list[float], spurt: int) -> None:
    delay = np.array(delays) + 50
    made = whole_frames(delay, np.arange(delay.size) // spurt, "G.711", 20.0)
    fastest = np.minimum.accumulate(delay)
    for k, chosen in enumerate(made.delays_ms):
        if np.isfinite(chosen):
            begins = k * spurt + int(np.argmax(np.isfinite(delay[k * spurt : (k + 1) * spurt])))
            depth = (chosen - fastest[begins]) / 20
            assert depth == pytest.approx(round(depth), abs=1e-6)
            assert depth > 0.99
    assert 0 <= clamped(made.r) <= 100


def test_no_printed_rating_leaves_the_scale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    when = np.sort(0.02 * np.arange(FRAMES) + 15 * rng.random(FRAMES))
    frames = [(float(t), ether(udp(rtp(k, 160 * k)))) for k, t in enumerate(when)]
    file = save(tmp_path / "a.pcap", frames)
    made = scored(file, capsys)
    assert all(0 <= one["r"] <= 100 for one in made["buffers"].values())
    assert any(one["r_unclamped"] < 0 for one in made["buffers"].values())
    assert main(["voip", "score", str(file)]) == 0
    out = capsys.readouterr().out
    assert "R -" not in out
    assert "the E-model's sum: -" in out
    assert main(["voip", "call", "UDP", "G.729", "--delay", "9000", "--seconds", "5"]) == 0
    assert capsys.readouterr().out.startswith("R 0.00  MOS 1.00")


@pytest.mark.parametrize(("kind", "law"), [(0, "µ"), (8, "A")])
def test_sound_is_silent_where_nothing_came(
    kind: int, law: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(5)
    octets = [rng.integers(0, 256, 160, dtype=np.uint8).tobytes() for _ in range(60)]
    lost, late = {7, 8, 30}, 40
    frames = [
        (float(t) + 2.0 * (k == late), ether(udp(rtp(k, 160 * k, kind=kind, payload=octets[k]))))
        for k, t in enumerate(quiet(1, 60)) if k not in lost
    ]  # fmt: skip
    file, sound = save(tmp_path / "a.pcap", sorted(frames)), tmp_path / "a.wav"
    assert scored(file, capsys, "--wav", str(sound))["wav_seconds"] == pytest.approx(1.2)
    with wave.open(str(sound)) as read:
        assert (read.getframerate(), read.getnchannels(), read.getnframes()) == (8000, 1, 9600)
        heard = np.frombuffer(read.readframes(9600), dtype="<i2").reshape(60, 160)
    for k in range(60):
        wanted = np.zeros(160) if k in {*lost, late} else decoded(octets[k], law)
        assert np.array_equal(heard[k], wanted), k


def test_g711_decodes_as_ffmpeg_does() -> None:
    for law, name in (("µ", "pcm_mulaw"), ("A", "pcm_alaw")):
        coder = av.CodecContext.create(name, "r")
        coder.sample_rate, coder.layout = 8000, "mono"
        frames = coder.decode(av.Packet(bytes(range(256))))
        assert np.array_equal(frames[0].to_ndarray().ravel(), decoded(bytes(range(256)), law))


@pytest.mark.parametrize(
    ("kind", "size", "snap", "words"),
    [(18, 20, 2**16, "isn't G.711"), (0, 170, 2**16, "170 octets for 160 samples"), (0, 160, 99, "not captured whole")],
)
def test_sound_that_cannot_be_had_is_refused_with_the_reason(
    kind: int, size: int, snap: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frames = [
        (float(t), ether(udp(rtp(k, 160 * k, kind=kind, payload=bytes(size))))) for k, t in enumerate(quiet(1, 60))
    ]
    file = save(tmp_path / "a.pcap", frames, snap)
    assert main(["voip", "score", str(file), "--wav", str(tmp_path / "a.wav")]) == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / "a.wav").exists()


@pytest.mark.parametrize("unit", [1000.0, 1e6])
def test_times_in_another_unit_are_refused(
    unit: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    for stamps in (True, False):
        file.write_text("".join(f"{unit * 0.02 * k:.3f},{k}" + f",{160 * k}" * stamps + "\n" for k in range(100)))
        assert main(["voip", "score", str(file)]) == 1
        assert capsys.readouterr().err.count("\n") == 1


COMMA = '"{0}",{1}'


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (COMMA, "a decimal comma: '0,02'"), ('"{0}","{1}","{2}"', "a decimal comma: '0,02'"),
        ("{0};{1}", "semicolons between columns"), ("{0};{1};{2}", "semicolons between columns"),
        ("{0},{1}", "begins with 0, as decimals behind a decimal comma do: '0,02"),
        ("{0},{1},{2}", "begins with 0, as decimals behind a decimal comma do: '0,02"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("named", [True, False])
def test_a_decimal_comma_is_refused_with_what_was_seen(
    line: str, words: str, named: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    rows = [line.format(f"{0.02 * k:.2f}".replace(".", ","), k, 160 * k) for k in range(1, 60)]
    file.write_text("\n".join(["time,number"] * named + rows) + "\n")
    assert main(["voip", "score", str(file)]) == 1
    told = capsys.readouterr().err
    assert words in told
    assert f"line {1 + named} has" in told


@quick
@given(st.integers(3, 200), st.sampled_from([1e3, 1e6]), st.booleans(), st.sampled_from([8000, 16_000, 48_000]))
def test_a_csv_in_another_unit_is_refused_however_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int, unit: float, stamps: bool, clock: int
) -> None:
    file = tmp_path / "a.csv"
    rows = [f"{unit * 0.02 * k:.3f},{k}" + f",{clock // 50 * k}" * stamps for k in range(count)]
    file.write_text("\n".join(["time,number,timestamp", *rows]) + "\n")
    assert main(["voip", "score", str(file)]) == 1
    told = capsys.readouterr().err
    assert "times must be in seconds" in told
    assert "payload type" not in told


@pytest.mark.parametrize("count", [4, 15, 100])
@pytest.mark.parametrize(
    ("name", "column"),
    [("marker", lambda k: int(k % 50 == 0)), ("len", lambda k: 172 + k % 3), ("type", lambda k: 0),
     ("length", lambda k: 60 + 37 * k % 11)],
)  # fmt: skip
def test_a_third_column_that_is_no_timestamp_is_refused_by_its_name(
    count: int, name: str, column: Callable[[int], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    rows = [f"{0.02 * k:.3f},{k},{column(k)},{160 * k}" for k in range(count)]
    file.write_text("\n".join([f"time,seq,{name},timestamp", *rows]) + "\n")
    assert main(["voip", "score", str(file)]) == 1
    told = capsys.readouterr().err
    assert f"the third column, '{name}', holds no timestamps" in told
    assert "payload type" not in told


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("count", [10, 100])
def test_a_fourth_column_is_named(
    named: bool, count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    rows = [f"{0.02 * k:.3f},{k},{160 * k},172" for k in range(count)]
    file.write_text("\n".join(["time,seq,timestamp,len"] * named + rows) + "\n")
    assert main(["voip", "score", str(file)]) == 0
    assert f"column not read ({'len' if named else 'column 4'})" in capsys.readouterr().out


@quick
@given(st.sampled_from([1.0, 0.1, 0.05, 2.0]), st.integers(0, 10**6), st.booleans())
def test_times_that_count_in_long_steps_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], step: float, seed: int, late: bool
) -> None:
    when = quiet(seed) + 0.25 * (late and np.random.default_rng(seed).random(FRAMES) < 0.3)
    rows = np.argsort(when, kind="stable")
    frames = [(step * int(when[k] / step), ether(udp(rtp(int(k), 160 * int(k))))) for k in rows]
    assert main(["voip", "score", str(save(tmp_path / "a.pcap", frames))]) == 1
    assert f"the capture's times count in steps of {step:g} s" in capsys.readouterr().err


def test_nanoseconds_under_the_mark_of_microseconds_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = save(tmp_path / "a.pcap", [(float(t), ether(udp(rtp(k, 160 * k)))) for k, t in enumerate(quiet(1))])
    file.write_bytes(struct.pack("<I", 0xA1B2C3D4) + file.read_bytes()[4:])
    assert main(["voip", "score", str(file)]) == 1
    told = capsys.readouterr().err
    assert "as its fraction of a second, and the file's mark allows 999,999" in told
    assert "if they are nanoseconds, its mark must be 0xa1b23c4d" in told


def test_the_summary_names_the_clock_and_the_codec_of_every_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frames = [
        (float(t), ether(udp(rtp(k, 960 * k, kind=111) if k >= 100 else rtp(k, 160 * k))))
        for k, t in enumerate(quiet(1))
    ]  # fmt: skip
    file = save(tmp_path / "a.pcap", frames)
    assert main(["voip", "score", str(file)]) == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert "payload type 0, 111, clock 8000 Hz (RFC 3551), 48000 Hz (from timestamps over time)" in head
    assert scored(file, capsys)["codec_from"] == "payload type, assumed"


@pytest.mark.parametrize("kept", [8, 16])
def test_fragments_are_counted_as_such(kept: int, tmp_path: Path) -> None:
    frames = Packets()
    for k, t in enumerate(quiet(1, 50)):
        whole = udp(rtp(k, 160 * k))
        for begin, end, more in ((20, 20 + kept, 0x2000), (20 + kept, len(whole), kept // 8)):
            head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + end - begin, k, more, 64, 17, 0) + HERE + THERE
            frames.append((float(t) + 1e-5 * (more < 0x2000), ether(head + whole[begin:end])))
    found = read_capture(save(tmp_path / "a.pcap", frames))
    assert found is not None
    assert (found.streams, dict(found.passed)) == ([], {"IP fragments": 100})


@pytest.mark.parametrize("kind", [3, 4, 5, 6, 7, 9, 10, 11, 12, 15, 16, 17])
def test_another_codec_that_rfc_3551_fixes_is_no_g711(
    kind: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its name is said, and no R: in the command, in the table, and as a part of a stream; who states one gets it."""
    ticks = CLOCKS[kind] // 50
    frames = [(float(t), ether(udp(rtp(k, ticks * k, kind=kind)))) for k, t in enumerate(quiet(1))]
    file = save(tmp_path / "a.pcap", frames)
    assert main(["voip", "score", str(file)]) == 1
    assert f"payload type {kind} is " in capsys.readouterr().err
    table = score_capture(file)
    assert table["refused"].str.contains("state --codec").all() and table["r_adaptive"].isna().all()
    assert scored(file, capsys, "--codec", "G.729")["codec_from"] == "stated"
    before = [(float(t) - 100, ether(udp(rtp(k, 160 * k)))) for k, t in enumerate(quiet(2))]
    table = score_capture(save(tmp_path / "b.pcap", before + frames))
    assert table["frames"].tolist() == [FRAMES]
    assert sum(table.attrs["left_out"][1].values()) == FRAMES


def test_the_table_says_what_the_command_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A codec that is assumed, packets that are left out, a file that is cut, and what a file without RTP has."""
    frames = [(float(t), ether(udp(rtp(k, 960 * k, kind=111)))) for k, t in enumerate(quiet(1))]
    frames += [(0.001 + 0.02 * k, ether(udp(rtp(k, 960 * k, kind=13, payload=b"@")))) for k in range(0, 30, 10)]
    file = save(tmp_path / "a.pcap", sorted(frames))
    assert score_capture(file)["codec_from"].tolist() == ["assumed"]
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.warns(UserWarning, match=r"a.pcap: the file is cut or damaged"):
        table = score_capture(file)
    assert table.attrs["cut"] and table["frames"].tolist() == [FRAMES - 1]
    left = scored(file, capsys)["left_out"]
    assert table.attrs["left_out"] == ({1: left} if left else {})
    file = save(tmp_path / "b.pcap", [(0.0, ether(b"", b"\x08\x06")), (0.1, ether(udp(b"hello")))])
    with pytest.raises(VoipError) as caught:
        score_capture(file)
    assert main(["voip", "score", str(file)]) == 1
    assert str(caught.value) in capsys.readouterr().err
    assert "1 ARP" in str(caught.value) and "1 UDP that isn't RTP" in str(caught.value)


@quick
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**16 - 1))
def test_another_source_with_the_same_numbers_is_no_copy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], one: int, other: int, number: int
) -> None:
    """As two telephones of one make count; only with the same source, too, it is said that they agree."""
    frames = [
        (float(t) + 0.001 * k, ether(udp(rtp(number + n, 160 * n, source), (5000 + k, 6000 + k))))
        for k, source in enumerate((one, other)) for n, t in enumerate(quiet(1))
    ]  # fmt: skip
    made = scored(save(tmp_path / "a.pcap", sorted(frames)), capsys)
    assert [each["copy_of"] for each in made["not_scored"]] == [1 if one == other else None]


def test_a_semicolon_and_a_decimal_comma_are_named_with_their_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("Zeit;Seq\n" + "".join(f"{0.02 * k:.3f};{k}\n".replace(".", ",") for k in range(30)))
    assert main(["voip", "score", str(file)]) == 1
    said = "line 2 has '0,000;0': semicolons between columns and a decimal comma; a comma must part them, and decimals"
    assert said in capsys.readouterr().err
