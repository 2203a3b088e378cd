"""One reader of captures for all studies, and one reassembly: first copies, probes, wrap, offload, reused ports."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.emqtt.dissection import dissect_capture
from voicewire.mqtt import MalformedError
from voicewire.mqtt import packets as p
from voicewire.testbed import CaptureFile, Repeats, Segment, TestbedError, parse, read_capture, read_pcap, stream
from voicewire.testbed.encapsulation import Inside, Passed, inside
from voicewire.testbed.reassembly import Direction
from voicewire.transport import external_captures

A, B = ("10.0.0.1", 1234), ("10.0.0.2", 1883)


def segment(
    seq: int, data: bytes = b"", flags: str = "PA", back: bool = False, ack: int = 0, time: float = 0.0
) -> Segment:
    ends = (B, A) if back else (A, B)
    return Segment(time, not back, *ends, seq % 2**32, ack % 2**32, flags, 20, 20, (), data, len(data))


def tcp(seq: int, data: bytes, flags: int = 0x18, back: bool = False, total: int | None = None) -> bytes:
    ends, ports = (b"\x0a\0\0\1", b"\x0a\0\0\2"), (1234, 1883)
    if back:
        ends, ports = ends[::-1], ports[::-1]
    size = 40 + len(data) if total is None else total
    head = struct.pack("!BBHHHBBH", 0x45, 0, size, 0, 0, 64, 6, 0) + b"".join(ends)
    return head + struct.pack("!HHIIBBHHH", *ports, seq % 2**32, 1, 0x50, flags, 9, 0, 0) + data


LINKS = {
    0: lambda ip: b"\2\0\0\0" + ip, 1: lambda ip: bytes(12) + b"\x08\0" + ip, 9: lambda ip: b"\0\x21" + ip,
    50: lambda ip: b"\xff\3\0\x21" + ip, 101: lambda ip: ip, 104: lambda ip: b"\x0f\0\x08\0" + ip,
    113: lambda ip: bytes(14) + b"\x08\0" + ip, 228: lambda ip: ip, 276: lambda ip: b"\x08\0" + bytes(18) + ip,
}  # fmt: skip


def save(
    path: Path, packets: list[tuple[float, bytes]], link: int = 1, form: str = "pcap", order: str = "<",
    step: int = 10**6,
) -> Path:  # fmt: skip
    made = bytearray()
    if form == "pcap":
        magic = {10**6: 0xA1B2C3D4, 10**9: 0xA1B23C4D}[step]
        made += struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 2**18, link)
    else:
        for kind, body in (
            (0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)),
            (1, struct.pack(order + "HHI", link, 0, 0) + struct.pack(order + "HHB3xI", 9, 1, len(str(step)) - 1, 0)),
        ):
            made += struct.pack(order + "II", kind, 12 + len(body)) + body + struct.pack(order + "I", 12 + len(body))
    for time, ip in packets:
        data = LINKS[link](ip)
        ticks = round(time * step)
        if form == "pcap":
            made += struct.pack(order + "IIII", *divmod(ticks, step), len(data), len(data)) + data
        else:
            body = struct.pack(order + "IIIII", 0, ticks >> 32, ticks % 2**32, len(data), len(data)) + data
            body += bytes(-len(data) % 4)
            made += struct.pack(order + "II", 6, 12 + len(body)) + body + struct.pack(order + "I", 12 + len(body))
    path.write_bytes(bytes(made))
    return path


PING, CONNECT = p.encode(p.Pingreq()), p.encode(p.Connect("a"))
SESSION = [(100.5, tcp(99, b"", 2)), (101.0, tcp(100, CONNECT)), (101.5, tcp(100 + len(CONNECT), PING))]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(("form", "order", "step"), [("pcap", "<", 10**6), ("pcap", ">", 10**9), ("ng", "<", 10**9),
                                                    ("ng", ">", 10**3)])  # fmt: skip
def test_every_study_reads_every_link_and_form_in_seconds(
    link: int, form: str, order: str, step: int, tmp_path: Path
) -> None:
    file = save(tmp_path / "a.cap", SESSION, link, form, order, step)
    for path in (file, str(file)):
        found = list(read_capture(path))
        assert [(one.time, one.protocol, one.length) for one in found] == [
            (t, "TCP", len(ip) - 40) for t, ip in SESSION
        ]
        assert [one.time for one in read_pcap(path)] == [100.5, 101.0, 101.5]
        assert list(external_captures.read(path, 1883)["seconds"]) == [0.0, 0.5]
        assert [(time, who, fields[0].meaning) for time, who, fields in dissect_capture(path)] == [
            (0.5, "client", "CONNECT, flags 0000"), (1.0, "client", "PINGREQ, flags 0000")
        ]  # fmt: skip
    table = read_capture(file).table()
    assert list(table["target_port"]) == [1883] * 3


def test_what_is_passed_over_is_counted(tmp_path: Path) -> None:
    arp = bytes(12) + b"\x08\x06" + bytes(28)
    file = save(tmp_path / "a.pcap", SESSION)
    file.write_bytes(file.read_bytes() + struct.pack("<IIII", 1, 0, len(arp), len(arp)) + arp + b"\0\0")
    capture = read_capture(file)
    assert "not gone through yet" in repr(capture)
    assert len(list(capture)) == 3
    assert (capture.packets, dict(capture.passed), capture.cut) == (4, {"ARP": 1}, True)
    assert "4 packets read, passed over: 1 ARP, cut" in repr(capture)
    with pytest.raises(TestbedError, match="cut short"):
        list(read_pcap(file))
    (tmp_path / "other").write_bytes(b"seconds,number\n")
    for name in ("other", "none"):
        with pytest.raises(TestbedError, match=name):
            read_capture(tmp_path / name)
    empty = read_capture(save(tmp_path / "empty.pcap", []))
    assert (list(empty), repr(empty)) == ([], "<CaptureFile empty.pcap: 0 packets read>")
    assert isinstance(CaptureFile(str(file)).path, Path)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([*LINKS, 7]), st.binary(max_size=120), st.integers(0, 100))
def test_any_frame_is_an_ip_packet_or_passed_over(link: int, data: bytes, more: int) -> None:
    for one in (data, LINKS.get(link, bytes)(tcp(1, data)[: len(data) + 20])):
        found = inside(link, one, len(one) + more)
        assert isinstance(found, Inside | Passed)
        if isinstance(found, Inside):
            assert len(found.body) <= max(found.size, 0)


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=60), st.integers(0, 2**32 - 1), st.randoms(), st.booleans())
def test_the_first_copy_of_each_octet_counts(data: bytes, isn: int, random, syn: bool) -> None:
    """Segments that overlap and differ, in any order, with numbers that wrap."""
    said = [segment(isn, flags="S")] if syn else [segment(isn + 1, data[:1])]
    first: dict[int, int] = {} if syn else {0: data[0]}
    pieces = [(a, a + 1 + random.randrange(len(data) - a)) for a in (random.randrange(len(data)) for _ in range(8))]
    for a, b in [*pieces, (0, len(data))]:
        copy = bytes(random.randrange(256) for _ in range(b - a))
        for k in range(a, b):
            first.setdefault(k, copy[k - a])
        said.append(segment(isn + 1 + a, copy))
    assert stream(said, A, B) == bytes(first[k] for k in range(len(data)))


@settings(deadline=None)
@given(
    st.lists(st.binary(min_size=2, max_size=20), min_size=1, max_size=5), st.integers(0, 2**32 - 1), st.integers(1, 4),
    st.booleans(), st.binary(min_size=1, max_size=1), st.booleans(),
)  # fmt: skip
def test_probes_are_no_data(
    pieces: list[bytes], isn: int, probes: int, answered: bool, octet: bytes, opened: bool
) -> None:
    """A keep-alive of BSD or Windows: the last octet's number, and any octet."""
    said, at = [segment(isn, flags="S")] if opened else [], isn + 1
    for piece in pieces:
        said.append(segment(at, piece))
        at += len(piece)
        for _ in range(probes):
            said += [segment(7, flags="A", back=True, ack=at)] * answered
            said.append(segment(at - 1, octet))
    assert stream(said, A, B) == b"".join(pieces)
    repeats = Repeats()
    assert sum(map(repeats.count, said)) == 0


def test_one_octet_that_was_not_acknowledged_may_come_again() -> None:
    said = [segment(9, flags="S"), segment(3, flags="A", back=True, ack=10), segment(10, b"x"), segment(10, b"x")]
    repeats = Repeats()
    assert [repeats.count(one) for one in said] == [0, 0, 0, 1]


def test_a_probe_that_the_capture_begins_with_is_no_data() -> None:
    said = [
        segment(7, flags="A", back=True, ack=105, time=0.0), segment(104, b"\0", "A", time=0.1),
        segment(105, b"WORLD", time=0.2),
    ]  # fmt: skip
    assert stream(said, A, B) == b"WORLD"


def test_ports_that_are_used_again_are_other_connections(tmp_path: Path) -> None:
    said = [segment(9, flags="S"), segment(10, b"one"), segment(9, flags="S"), segment(5_000, flags="S"),
            segment(5_001, b"two")]  # fmt: skip
    with pytest.raises(TestbedError, match="2 connections one after the other"):
        stream(said, A, B)
    assert [stream(said, A, B, connection=k) for k in (0, 1)] == [b"one", b"two"]
    with pytest.raises(TestbedError, match="not 2"):
        stream(said, A, B, connection=2)
    again = [(t + 10, ip[:24] + struct.pack("!I", 7_000_000 + int.from_bytes(ip[24:28], "big")) + ip[28:])
             for t, ip in SESSION]  # fmt: skip
    table = external_captures.read(save(tmp_path / "a.pcap", SESSION + again), 1883)
    assert list(table["connection"]) == [0, 0, 1, 1]
    assert len(list(dissect_capture(tmp_path / "a.pcap"))) == 4


def test_a_length_of_nought_is_a_card_that_cuts() -> None:
    """What is handed to the card in one piece may have no length yet; and what the capture cut is told apart."""
    one = parse(tcp(5, bytes(3000), total=0))
    assert one is not None
    assert (one.length, len(one.payload)) == (3000, 3000)
    cut = parse(tcp(5, bytes(3000), total=0)[:100], wire=3040)
    assert cut is not None
    assert (cut.length, len(cut.payload)) == (3000, 60)


def test_a_hole_is_one_if_nothing_fills_it(tmp_path: Path) -> None:
    later = 100 + len(CONNECT)
    shuffled = [SESSION[0], (101.0, tcp(later, PING)), (102.0, tcp(100, CONNECT[:3])), (103.0, tcp(100, CONNECT))]
    assert list(external_captures.read(save(tmp_path / "a.pcap", shuffled), 1883)["type"]) == ["Connect", "Pingreq"]
    for read in (lambda f: external_captures.read(f, 1883), lambda f: list(dissect_capture(f))):
        with pytest.raises(TestbedError, match=f"hole of {len(CONNECT) - 3} bytes"):
            read(save(tmp_path / "b.pcap", shuffled[:3]))
    with pytest.raises(TestbedError, match="no packet of MQTT at port 5"):
        list(dissect_capture(tmp_path / "a.pcap", 5))


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.tuples(st.integers(0, 50), st.binary(max_size=20), st.integers(0, 5)), max_size=25),
)
def test_reassembly_against_plain_bookkeeping(isn: int, rows: list[tuple[int, bytes, int]]) -> None:
    way, first, made = Direction(isn), dict[int, int](), b""
    for time, (at, data, missing) in enumerate(rows):
        for k, octet in enumerate(data):
            first.setdefault(at + k, octet)
        for when, fresh in way.take((isn + at) % 2**32, data, missing, time):
            assert when <= time
            made += fresh
        reached = next(k for k in range(100) if k not in first)
        assert made == bytes(first[k] for k in range(reached))
        due = max([0, *(a + len(d) + m for a, d, m in rows[: time + 1] if d or m)])
        assert (way.missing() == 0) == (due <= reached)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.booleans())
def test_ports_used_again_without_a_captured_syn_are_another_connection(
    isn: int, other: int, syn: bool, both: bool, below: bool
) -> None:
    """FIN, and then data of another sequence space: behind the FIN, or before the beginning once both have ended."""
    second = isn - 500 if below else isn + 5 + other % 2**30
    said = [segment(isn, flags="S")] * syn + [segment(isn + 1, b"ONE"), segment(isn + 4, flags="FA")]
    said += [segment(70, flags="FA", back=True, ack=isn + 5)] * (both or below)
    said += [segment(isn + 5, flags="A", ack=71), segment(second, b"TWO")]
    with pytest.raises(TestbedError, match="2 connections one after the other"):
        stream(said, A, B)
    assert [stream(said, A, B, connection=k) for k in (0, 1)] == [b"ONE", b"TWO"]


def by_sessions(file: Path) -> list[str]:
    return list(external_captures.read(file, 1883)["type"])


def by_dissection(file: Path) -> list[str]:
    return [fields[0].meaning.partition(",")[0].title() for _, _, fields in dissect_capture(file)]


READERS = (by_sessions, by_dissection)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_sessions_on_ports_used_again_are_read_as_two(
    isn: int, other: int, syn: bool, both: bool, below: bool, reset: bool
) -> None:
    """What MQTT's readers make of the same: no hole, but another connection, its SYN captured or not."""
    second = isn - 500 if below else isn + 1 + len(CONNECT + PING) + 1 + other % 2**30
    said = [(0.0, tcp(isn, b"", 2))] * syn + [(0.1, tcp(isn + 1, CONNECT + PING))]
    said += [(0.2, tcp(70, b"", 0x12, back=True))] * below
    said += [(0.3, tcp(isn + 1 + len(CONNECT + PING), b"", 4 if reset else 0x11))]
    said += [(0.4, tcp(71, b"", 0x11, back=True))] * (both or below)
    said += [(0.5, tcp(second, CONNECT + PING))]
    with tempfile.TemporaryDirectory() as folder:
        file = save(Path(folder) / "a.pcap", said)
        for reader in READERS:
            assert reader(file) == ["Connect", "Pingreq"] * 2
        assert external_captures.read(file, 1883)["connection"].nunique() == 2


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_session_of_this_version_is_refused_by_its_name(
    reader: Callable[[Path], list[str]], tmp_path: Path
) -> None:
    head = p.encode(p.Connect("a"))
    for old, new, words in ((b"MQTT\4", b"MQTT\5", r"level 5 \(MQTT 5\)"), (b"MQTT\4", b"MQTT\x84", "level 132"),
                            (b"\0\4MQTT\4", b"\0\6MQIsdp\3", r"level 3 \(MQTT 3.1\)")):  # fmt: skip
        other = head[2:].replace(old, new)
        whole = bytes([16, len(other)]) + other + b"\x82\x08\0\1\0\0\2t/\0"  # and what another version sends at once
        file = save(tmp_path / "a.pcap", [SESSION[0], (101.0, tcp(100, whole))])
        with pytest.raises(MalformedError, match=f"a.pcap, from the client at 101.0.* asks for protocol .*{words}"):
            reader(file)
    with pytest.raises(MalformedError, match="no SYN of this side, and may begin in the midst"):
        reader(save(tmp_path / "b.pcap", [(101.0, tcp(100, CONNECT[2:]))]))
    with pytest.raises(MalformedError) as caught:
        reader(save(tmp_path / "c.pcap", [SESSION[0], (101.0, tcp(100, CONNECT[2:]))]))
    assert "no SYN" not in str(caught.value)


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_whole_packet_is_counted(reader: Callable[[Path], list[str]], tmp_path: Path) -> None:
    size = len(CONNECT)
    for k in range(1, size):
        short = [SESSION[0], (101.0, tcp(100, CONNECT[:k]))]
        said = f"{k} bytes of a packet" + f" that should have {size}" * (k > 1)
        with pytest.raises(TestbedError, match=f"at port 1883, only {said}$"):
            reader(save(tmp_path / "a.pcap", short))
        with pytest.warns(UserWarning, match=f"a.pcap ends with {said}$"):
            assert reader(save(tmp_path / "a.pcap", [*SESSION, (102.0, tcp(102 + size, CONNECT[:k]))])) != []


@pytest.mark.parametrize("reader", READERS)
def test_times_that_run_back_are_no_time_of_a_session(reader: Callable[[Path], list[str]], tmp_path: Path) -> None:
    """As in two files put behind one another; a few ms, as several queues make them, are let be."""
    with pytest.raises(TestbedError, match=r"times run back, by 1.000 s"):
        reader(save(tmp_path / "a.pcap", [SESSION[2], SESSION[0], SESSION[1]]))
    near = [SESSION[0], (101.504, SESSION[2][1]), (101.5, SESSION[1][1])]
    assert reader(save(tmp_path / "b.pcap", near)) == ["Connect", "Pingreq"]


@pytest.mark.parametrize("reader", READERS)
def test_a_probe_before_anything_else_is_no_data_of_a_session(
    reader: Callable[[Path], list[str]], tmp_path: Path
) -> None:
    idle = [(1.0, tcp(7, b"", 0x10, back=True)[:28] + struct.pack("!I", 100) + tcp(7, b"", 0x10, back=True)[32:]),
            (1.1, tcp(99, b"\0", 0x10)), *SESSION[1:]]  # fmt: skip
    assert reader(save(tmp_path / "a.pcap", idle)) == ["Connect", "Pingreq"]


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(1, 2**32 - 1), st.binary(min_size=2))
def test_a_device_that_starts_anew_with_the_same_number_repeats_nothing(
    isn: int, theirs: int, apart: int, data: bytes
) -> None:
    def call(their: int) -> list[Segment]:
        return [
            segment(isn, flags="S"), segment(their, flags="SA", back=True, ack=isn + 1),
            segment(isn + 1, data, ack=their + 1), segment(their + 1, b"ok", back=True, ack=isn + 1 + len(data)),
        ]  # fmt: skip

    said, repeats = call(theirs) + call(theirs + apart), Repeats()
    assert [repeats.count(one) for one in said] == [0] * 8
    assert [stream(said, A, B, connection=k) for k in (0, 1)] == [data, data]
    assert repeats.count(said[-2]) == len(data)


def test_a_syn_that_is_sent_again_before_anything_else_is_a_repeat() -> None:
    repeats = Repeats()
    assert [repeats.count(one) for one in (segment(9, flags="S"), segment(9, flags="S"))] == [0, 1]
    with_data = [segment(70, b"fast", "S"), segment(70, b"fast", "S")]
    assert [repeats.count(one) for one in with_data] == [0, 5]


def test_segments_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    whole = tcp(100, bytes(600))
    head = bytearray(whole[:20])
    head[2:4], head[6:8] = struct.pack("!H", 420), b"\x20\0"
    tail = head[:6] + b"\0\x32" + head[8:]
    tail[2:4] = struct.pack("!H", 240)
    pieces = [(1.0, bytes(head) + whole[20:420]), (1.1, bytes(tail) + whole[420:])]
    file = save(tmp_path / "a.pcap", [SESSION[0], *pieces, (1.2, tcp(700, bytes(50))[:30])])
    with pytest.warns(UserWarning, match="2 IP fragments, 1 TCP segments whose header was cut or damaged"):
        assert len(list(read_pcap(file))) == 1
