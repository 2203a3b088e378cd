"""DCCP packets, state machines, ring and knapsack."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.voip.codecs.listening import coded, speech
from voicewire.voip.dccp import header, state_machine
from voicewire.voip.dccp.header import Packet, Type
from voicewire.voip.dccp.importance import Candidate, best_set, best_set_by_force, frame_importance
from voicewire.voip.dccp.late import late_choice
from voicewire.voip.dccp.packet_ring import PacketRing
from voicewire.voip.errors import VoipError

options = st.lists(
    st.one_of(st.tuples(st.integers(1, 31), st.just(b"")), st.tuples(st.integers(32, 255), st.binary(max_size=10))),
    max_size=5,
).map(tuple)


@st.composite
def packets(draw):
    kind = draw(st.sampled_from(Type))
    extended = draw(st.booleans()) or kind not in (Type.DATA, Type.ACK, Type.DATA_ACK)
    number = st.integers(0, 2 ** (48 if extended else 24) - 1)
    port = st.integers(0, 65535)
    return Packet(
        kind,
        draw(port),
        draw(port),
        draw(number),
        None if kind in (Type.REQUEST, Type.DATA) else draw(number),
        draw(st.integers(0, 15)),
        draw(st.integers(0, 15)),
        draw(st.integers(0, 2**32 - 1)) if kind in (Type.REQUEST, Type.RESPONSE) else None,
        (draw(st.integers(0, 255)), 0, 0, 0) if kind is Type.RESET else None,
        draw(options),
        draw(st.binary(max_size=200)),
        extended,
    )


@given(packets(), st.binary(max_size=12).filter(lambda b: len(b) % 2 == 0))
def test_there_and_back(packet, pseudo):
    raw = header.encode(packet, pseudo)
    assert raw[4] * 4 <= len(raw)
    assert header.decode(raw, pseudo) == packet


def test_bytes_of_a_request():
    raw = header.encode(Packet(Type.REQUEST, 1, 2, 3, service=0x56494F49))
    assert raw[:4].hex() == "00010002"
    assert raw[4] == 5
    assert raw[8] == 1  # type 0, X = 1
    assert raw[10:16].hex() == "000000000003"
    assert raw[16:20] == b"VIOI"


@given(packets(), st.integers(0, 11), st.integers(1, 255))
def test_a_flipped_header_byte_is_noticed(packet, where, flip):
    raw = bytearray(header.encode(packet))
    raw[where] ^= flip
    with contextlib.suppress(VoipError):
        assert header.decode(bytes(raw)) != packet


@pytest.mark.parametrize("raw", [b"", b"\0" * 11, b"\0" * 12, bytes(8) + bytes([31]) + bytes(30)])
def test_rubbish(raw):
    with pytest.raises(VoipError):
        header.decode(raw)


@pytest.mark.parametrize(
    "arguments",
    [
        {"type": Type.DATA, "ack": 1},
        {"type": Type.ACK},
        {"type": Type.DATA, "service": 1},
        {"type": Type.RESET, "ack": 1},
        {"type": Type.REQUEST, "service": 1, "extended": False},
        {"type": Type.DATA, "ccval": 16},
    ],
)
def test_impossible_packets(arguments):
    with pytest.raises(VoipError):
        Packet(**{"source": 1, "destination": 2, "seq": 3, **arguments})


def test_ack_vector():
    assert header.ack_vector("RRRNR") == bytes([2, 3 << 6, 0])
    with pytest.raises(VoipError):
        header.ack_vector("X")


def test_connection_opens_and_closes():
    steps = state_machine.exchange(
        ("server", "listen"),
        ("client", "open"),
        ("client", "send"),
        ("server", "send"),
        ("server", "server close"),
        ("client", "2MSL"),
    )
    sent = [s.sends for s in steps if s.sends]
    assert sent == ["Request", "Response", "Ack", "DataAck", "Data", "CloseReq", "Close", "Reset"]
    assert {s.who: s.after for s in steps} == {"client": "CLOSED", "server": "CLOSED"}


def test_every_state_can_be_reached_and_left():
    for role in ("client", "server"):
        rows = [t for t in state_machine.TRANSITIONS if t.role == role]
        assert {t.to for t in rows} == {t.state for t in rows}


@pytest.mark.parametrize("role", ["client", "server"])
def test_close_is_answered_wherever_a_peer_is_known(role):
    """RFC 4340 section 8.5, steps 11, 12 and 14."""
    own = "PARTOPEN" if role == "client" else "RESPOND"
    closing = ["OPEN", "CLOSING", *(["CLOSEREQ"] if role == "server" else [])]
    for state in (own, *closing):
        found = state_machine.walk(role, state, "rcv Close")
        assert (found.send, found.to) == ("Reset", "CLOSED")


def test_impossible_event():
    with pytest.raises(VoipError):
        state_machine.walk("client", "CLOSED", "rcv Data")


def test_ring_late_choice():
    ring = PacketRing(3)
    for k in range(3):
        ring.put(bytes([k]))
    with pytest.raises(VoipError):
        ring.put(b"x")
    ring.modify(1, None)
    ring.release(2)
    with pytest.raises(VoipError):
        ring.modify(0, b"late")
    assert ring.kernel_take() == b"\0"
    assert ring.kernel_take() is None  # 1 was withdrawn, 2 is not released
    ring.device_done()
    assert ring.free == 2
    assert ring.choose(lambda waiting: []) == 1


candidates = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 9), st.integers(0, 100)), max_size=7)


@given(candidates)
def test_knapsack_is_brute_force(rows):
    queue = [Candidate(s, i, e / 100) for s, i, e in rows]
    chosen = best_set(queue, 60.0)
    assert sum(queue[i].importance for i in chosen) == pytest.approx(best_set_by_force(queue, 60.0))
    at = 0
    for i in sorted(chosen, key=lambda k: queue[k].expires):
        at += queue[i].size
        assert at <= queue[i].expires * 60 + 1e-6


def test_late_choice_on_real_packets():
    pcm = speech()
    packets, _ = coded(pcm)  # G.711, as PyAV codes it
    packets = [bytes(28) + packet for packet in packets]  # IP and DCCP headers
    weight = frame_importance(pcm)[: len(packets)]
    need = len(packets[0]) / 0.02
    assert late_choice(packets, weight, 1.01 * need).all()
    for share in (0.4, 0.7, 0.9):
        rate = share * need
        late, queue = (late_choice(packets, weight, rate, choose=c) for c in (True, False))
        assert late.mean() <= share + 0.02  # nobody sends more than fits
        assert late.mean() > 0.95 * share  # and late choice leaves the link not idle
        assert weight[late].mean() > weight.mean()  # what it sends matters more than what it leaves
        assert weight[late].sum() > 1.2 * weight[queue].sum()


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(0, 9)), min_size=1, max_size=8),
    st.integers(200, 4000),
    st.integers(1, 4),
)
def test_late_choice_never_beats_knowing_all(rows, rate, slots):
    packets = [bytes(size) for size, _ in rows]
    weight = [float(w) for _, w in rows]
    sent = late_choice(packets, weight, rate, slots=slots)
    everything = [Candidate(s, w, 0.02 * n + 0.1) for n, (s, w) in enumerate(rows)]
    assert sum(w for w, ok in zip(weight, sent, strict=True) if ok) <= best_set_by_force(everything, rate) + 1e-9


@pytest.mark.parametrize("change", [{"rate": 0}, {"rate": np.nan}, {"patience": -1}, {"importance": [1.0]}])
def test_late_choice_refuses(change):
    with pytest.raises(VoipError):
        late_choice(**{"packets": [b"a", b"b"], "importance": [1.0, 2.0], "rate": 100.0} | change)
