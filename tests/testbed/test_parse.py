"""Packets taken apart, without any privilege."""

from __future__ import annotations

import itertools
import socket
import struct

from hypothesis import given
from hypothesis import strategies as st

from voicewire.testbed.capture import Repeats, Segment, parse, stream


def packet(seq: int, payload: bytes, options: bytes = b"", flags: int = 0x18, version: int = 4) -> bytes:
    tcp = struct.pack(">HHIIBBHHH", 1111, 1883, seq, 7, (5 + len(options) // 4) << 4, flags, 512, 0, 0) + options
    if version == 6:
        head = struct.pack(">IHBB", 6 << 28, len(tcp) + len(payload), socket.IPPROTO_TCP, 64)
        return head + bytes(15) + b"\1" + bytes(15) + b"\2" + tcp + payload
    total = 20 + len(tcp) + len(payload)
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, total, 1, 0, 64, 6, 0, b"\x0a\0\0\1", b"\x0a\0\0\2") + tcp + payload


def test_a_segment_with_options() -> None:
    options = b"\1\1\x08\x0a" + bytes(8)
    segment = parse(packet(5, b"abc", options))
    assert isinstance(segment, Segment)
    assert (segment.header, segment.ip_header, segment.length, segment.flags) == (32, 20, 3, "PA")
    assert segment.options == ("timestamps",)
    six = parse(packet(5, b"abc", options, version=6))
    assert six is not None
    assert (six.ip_header, six.source[0], six.length) == (40, "::1", 3)


def test_padding_of_ethernet_is_no_payload() -> None:
    segment = parse(packet(5, b"a") + bytes(20))
    assert segment is not None
    assert segment.payload == b"a"


@given(st.binary(max_size=80))
def test_any_bytes_are_a_segment_or_none(data: bytes) -> None:
    assert parse(data) is None or isinstance(parse(data), Segment)


@given(st.binary(min_size=1, max_size=400), st.randoms(), st.integers(0, 2**32 - 1))
def test_a_stream_comes_back_whatever_the_order_and_the_repeats(data: bytes, random, start: int) -> None:
    syn = parse(packet((start - 1) % 2**32, b"", flags=2))
    cuts = sorted({0, len(data), *(random.randrange(len(data)) for _ in range(5))})
    pieces = [parse(packet((start + a) % 2**32, data[a:b])) for a, b in itertools.pairwise(cuts)]
    pieces += random.choices(pieces, k=3)
    random.shuffle(pieces)
    assert stream([syn, *pieces], pieces[0].source, pieces[0].target) == data


SEGMENTS = st.lists(st.tuples(st.booleans(), st.integers(0, 60), st.integers(0, 20), st.sampled_from(["A", "FA"])))


@given(st.integers(0, 2**32 - 1), SEGMENTS)
def test_repeats_are_what_was_seen_before(isn, segments):
    ends, seen, repeats = [("10.0.0.1", 1), ("10.0.0.2", 2)], {True: set(), False: set()}, Repeats()
    for out in (True, False):
        syn = Segment(0.0, out, ends[not out], ends[out], isn, 0, "S", 20, 20, (), b"", 0)
        assert [repeats.count(syn), repeats.count(syn)] == [0, 1]
    for out, at, size, flags in segments:
        seq = (isn + 1 + at) % 2**32
        segment = Segment(0.0, out, ends[not out], ends[out], seq, 0, flags, 20, 20, (), b"", size)
        numbers = set(range(at, at + size + ("F" in flags)))
        if size == 1 and flags == "A" and at == max(seen[out], default=-9):
            continue  # perhaps a keep-alive probe: test_capture_file has those
        assert repeats.count(segment) == len(numbers & seen[out])
        seen[out] |= numbers
    again = Segment(0.0, True, *ends, (isn + 7) % 2**32, 0, "S", 20, 20, (), b"", 0)
    assert repeats.count(again) == 0  # a new connection has new numbers
    assert repeats.count(Segment(0.0, True, *ends, (isn + 8) % 2**32, 0, "A", 20, 20, (), b"", 50)) == 0
