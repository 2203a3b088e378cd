"""The lab on a logger in every state: the solution stage by stage, nothing, and each usual mistake."""

from __future__ import annotations

import socket

import pytest
from asking import of as of_label

from voicewire_book.chapters.transport.exercises import measuring_honestly as lab


def end(packet, at, port):
    return socket.inet_ntoa(packet[at : at + 4]), int.from_bytes(packet[port : port + 2], "big")


def segment(packet, least=40):
    if len(packet) < least or packet[0] >> 4 != 4 or packet[9] != 6:
        return None
    ip = 4 * (packet[0] & 15)
    header = 4 * (packet[ip + 12] >> 4)
    flags = "".join(letter for bit, letter in enumerate("FSRPA") if packet[ip + 13] >> bit & 1)
    length = int.from_bytes(packet[2:4], "big") - ip - header
    seq = int.from_bytes(packet[ip + 4 : ip + 8], "big")
    return end(packet, 12, ip), end(packet, 16, ip + 2), seq, flags, ip, header, length


def of(packets, port):
    return [s for s in map(segment, packets) if s and port in (s[0][1], s[1][1])]


def counted(packets, port):
    return len(of(packets, port)), sum(s[5] for s in of(packets, port))


def on_wire(packets, port, largest, pieces=lambda length, largest: max(1, -(-length // largest))):
    each = [(pieces(s[6], largest), s[5]) for s in of(packets, port)]
    return sum(n for n, _ in each), sum(n * header for n, header in each)


def repeated(packets, way=lambda s: s[:2], fin=True):
    seen, again = {}, 0
    for s in filter(None, map(segment, packets)):
        numbers = {(s[2] + n) % 2**32 for n in range(s[6] + ("S" in s[3]) + (fin and "F" in s[3]))}
        before = seen.setdefault(way(s), set())
        again += len(numbers & before)
        before |= numbers
    return again


def spoken(packets, source, target, gaps=False, wraps=2**32, whom=None):
    said, start = {}, None
    for packet in packets:
        s = segment(packet)
        if s is None or s[0] != source or s[1] not in (target, whom):
            continue
        if "S" in s[3]:
            start = s[2] + 1
            continue
        begin = s[4] + s[5]
        for n in range(s[6]):
            said[(s[2] - start + n) % wraps] = packet[begin + n]
    if not gaps and sorted(said) != list(range(len(said))):
        return None
    return bytes(said[n] for n in sorted(said))


def logged(packets):
    here, there = segment(packets[0])[:2]
    return *counted(packets, there[1]), repeated(packets), spoken(packets, here, there), spoken(packets, there, here)


CHECKS = {
    stage: of_label(f"transport-logger-lab-{stage}")
    for stage in ("segment", "counted", "on-wire", "repeated", "spoken", "logged")
}
STAGES = [
    ("segment", segment),
    ("counted", counted),
    ("on-wire", on_wire),
    ("repeated", repeated),
    ("spoken", spoken),
    ("logged", logged),
]


@pytest.mark.parametrize(("stage", "solution"), STAGES, ids=lambda x: getattr(x, "__name__", ""))
def test_the_solution_passes_stage_by_stage_and_nothing_is_not_answered(stage, solution):
    check = CHECKS[stage]
    assert check(solution), check(solution).message
    assert "not answered" in check(None).message
    assert not check(lambda *given: None)
    assert "ZeroDivisionError" in check(lambda *given: 1 / 0).message
    assert "function itself" in check(5).message


def fixed_ip(packet):
    """Takes every IP header for one of 20 bytes."""
    return segment(bytes([0x45]) + packet[1:]) if packet else None


def to_the_end(packet):
    """Takes what stands behind the packet for payload."""
    s = segment(packet)
    return s and (*s[:6], len(packet) - s[4] - s[5])


def whole_segments(packets):
    """Counts a repetition only where the very same segment came before."""
    seen, again = set(), 0
    for s in filter(None, map(segment, packets)):
        size = s[6] + ("S" in s[3]) + ("F" in s[3])
        again += size if (s[:3], size) in seen else 0
        seen.add((s[:3], size))
    return again


def as_they_come(packets, source, target):
    return b"".join(p[s[4] + s[5] :] for p in packets if (s := segment(p)) and s[:2] == (source, target))


@pytest.mark.parametrize(
    ("stage", "given", "hint"),
    [
        ("segment", fixed_ip, "IP header with an option"),
        ("segment", to_the_end, "IP's total length"),
        ("segment", lambda p: segment(p[:9] + b"\6" + p[10:]) if p else None, "UDP"),
        ("segment", lambda p: segment(bytes([p[0] & 15 | 0x40]) + p[1:]) if p else None, "version 6"),
        ("segment", lambda p: segment(p) and (*segment(p)[:5], 20, segment(p)[6]), "TCP header is"),
        ("segment", lambda p: segment(p) and segment(p)[:6], "give 7 things"),
        ("counted", lambda packets, port: (len(of(packets, port)), 20 * len(of(packets, port))), "headers"),
        ("counted", lambda p, port: (len([s for s in of(p, port) if s[1][1] == port]), 0), "both directions"),
        ("counted", lambda p, port: (len(p), 0), "must not be counted"),
        ("on-wire", lambda p, port, largest: counted(p, port), "are on the wire"),
        ("on-wire", lambda p, q, m: on_wire(p, q, m, lambda n, largest: 1 + n // largest), "are on the wire"),
        ("on-wire", lambda p, q, m: on_wire(p, q, m, lambda n, largest: -(-n // largest)), "are on the wire"),
        ("repeated", whole_segments, "came again"),
        ("repeated", lambda packets: repeated(packets, way=lambda s: 0), "numbers of its own"),
        ("repeated", lambda packets: repeated(packets, way=lambda s: s[0]), "may speak to two"),
        ("repeated", lambda packets: repeated(packets, fin=False), "a FIN has a number"),
        ("repeated", lambda packets: 0, "came again"),
        ("spoken", as_they_come, "yours has others"),
        ("spoken", lambda p, source, target: spoken(p, source, target, gaps=True), "don't close the gap"),
        ("spoken", lambda p, source, target: spoken(p, target, source), "yours"),
        ("spoken", lambda p, source, target: spoken(p, source, target, wraps=2**40), "modulo"),
        ("spoken", lambda p, s, t: spoken(p, s, t, whom=(t[0], 8883)), "another end"),
        ("logged", lambda p: (*logged(p)[:2], 0, *logged(p)[3:]), "repeated"),
        ("logged", lambda p: (*logged(p)[:3], logged(p)[4], logged(p)[3]), "said is wrong"),
        ("logged", lambda p: logged(p)[:3], "3 things"),
    ],
)
def test_a_usual_mistake_fails_where_it_should_with_its_own_hint(stage, given, hint):
    feedback = CHECKS[stage](given)
    assert not feedback
    assert any(part in feedback.message for part in hint.split("|")), feedback.message


def test_numbers_go_on_from_nought_beyond_the_largest():
    """Without it, connection 5 of stage 4 would not be told from one whose numbers do not wrap."""
    assert repeated(lab._captures(21)[4]) == 12
