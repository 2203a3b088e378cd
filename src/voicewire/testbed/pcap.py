"""Capture files, pcap and pcapng: when each packet came, on what kind of link, its bytes, and how many it had."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from voicewire.testbed.errors import TestbedError

__all__ = ["CutError", "Record", "is_capture", "records"]

_MOST_BLOCK = 1 << 24
_SECTION, _INTERFACE, _OLD, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 2, 3, 6
_PCAP = {0xA1B2C3D4: (1000, 16), 0xA1B23C4D: (1, 16), 0xA1B2CD34: (1000, 24)}  # ns a step, bytes before each packet
_SURE = 10  # packets among which a fraction of a second that is none is the file's, and no damage
_PACKED = {b"\x1f\x8b": "gzip", b"\xfd7zX": "xz", b"(\xb5/\xfd": "zstd", b"PK\3\4": "zip"}


class Record(NamedTuple):
    """One captured packet: ns since the epoch, link type, the bytes that were kept, and how many there were."""

    time: int
    link: int
    data: bytes
    wire: int


class CutError(TestbedError):
    """The file ends, or breaks, within a packet."""


def _exactly(file: BinaryIO, size: int) -> bytes:
    found = file.read(size)
    if len(found) < size:
        raise CutError("the file is cut short")
    return found


def _classic(file: BinaryIO, order: str, step: int, before: int) -> Iterator[Record]:
    link = struct.unpack(order + "16xI", _exactly(file, 20))[0] & 0xFFFF
    head_of, most, count = struct.Struct(order + "IIII"), 10**9 // step, 0
    while head := file.read(before):
        if len(head) < before:
            raise CutError("the file is cut short")
        seconds, part, size, wire = head_of.unpack_from(head)
        if size > _MOST_BLOCK:
            raise CutError(f"the file is damaged: a packet of {size:,} bytes")
        data = file.read(size)
        if len(data) < size:
            raise CutError("the file is cut short")
        count += 1
        if part >= most:
            words = f"packet {count} has {part:,} as its fraction of a second, and the file's mark allows {most - 1:,}"
            if count > _SURE:
                raise CutError(f"the file is damaged: {words}")
            hint = "; if they are nanoseconds, its mark must be 0xa1b23c4d" * (step == 1000)
            raise TestbedError(f"{words}: its times can't be told{hint}")
        yield Record(seconds * 10**9 + part * step, link, data, wire if wire > size else size)


def _options(body: bytes, order: str) -> tuple[int, int]:
    """Ticks a second, and seconds to add, of an interface."""
    rate, offset, place = 10**6, 0, 8
    while place + 4 <= len(body):
        code, size = struct.unpack_from(order + "HH", body, place)
        value = body[place + 4 : place + 4 + size]
        if code == 9 and len(value) == 1:
            rate = (2 if value[0] & 128 else 10) ** (value[0] & 127)
        elif code == 14 and len(value) == 8:
            offset = struct.unpack(order + "q", value)[0]
        place += 4 + size + -size % 4
    return rate, offset


def _blocks(file: BinaryIO, passed: Counter[str]) -> Iterator[Record]:
    order, interfaces = "<", list[tuple[int, int, int]]()
    while head := file.read(8):
        if len(head) < 8:
            raise CutError("the file is cut short")
        kind, size = struct.unpack(order + "II", head)
        if kind == _SECTION:  # reads alike in both orders
            magic = _exactly(file, 4)
            order = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}.get(magic, "")
            if not order:
                raise CutError("the file is damaged: a section without its mark")
            size = struct.unpack(order + "I", head[4:])[0] - 4
            interfaces = []
        if not 12 <= size <= _MOST_BLOCK:
            raise CutError(f"the file is damaged: a block of {size:,} bytes")
        body = _exactly(file, size - 8)[:-4]
        if kind == _INTERFACE and len(body) >= 8:
            interfaces.append((struct.unpack_from(order + "H", body)[0], *_options(body, order)))
        elif kind == _SIMPLE:
            passed["blocks without a time"] += 1
        elif kind in (_ENHANCED, _OLD) and len(body) >= 20:
            form = "IIIII" if kind == _ENHANCED else "HxxIIII"
            which, high, low, length, wire = struct.unpack_from(order + form, body)
            if which >= len(interfaces) or length > len(body) - 20:
                raise CutError("the file is damaged: a packet of no interface, or longer than its block")
            link, rate, offset = interfaces[which]
            time = (high << 32 | low) * 10**9 // rate + offset * 10**9
            yield Record(time, link, body[20 : 20 + length], max(wire, length))


def _kind(magic: bytes) -> tuple[str, int, int] | None:
    """Order of bytes, ns a step and bytes before each packet; nought of the last two for pcapng."""
    for order, name in (("<", "little"), (">", "big")):
        mark = int.from_bytes(magic, name)  # type: ignore[arg-type]
        if mark in _PCAP:
            return (order, *_PCAP[mark])
    return ("<", 0, 0) if int.from_bytes(magic, "little") == _SECTION else None


def is_capture(path: str | Path) -> bool:
    """Whether a file begins as pcap or pcapng does; one that is packed is refused with the packer's name."""
    path = Path(path)
    with path.open("rb") as file:
        magic = file.read(4)
    packed = [name for mark, name in _PACKED.items() if magic.startswith(mark)]
    if packed:
        raise TestbedError(f"it is packed by {packed[0]}: unpack it first")
    return _kind(magic) is not None


def records(path: str | Path, passed: Counter[str]) -> Iterator[Record]:
    """Give a file's packets in its order, and count in `passed` what has no time; CutError where the file breaks."""
    path = Path(path)
    if not is_capture(path):
        raise TestbedError(f"{path.name} is not a pcap or pcapng file")
    with path.open("rb") as file:
        order, step, before = _kind(file.read(4)) or ("<", 0, 0)
        if step:
            yield from _classic(file, order, step, before)
        else:
            file.seek(0)
            yield from _blocks(file, passed)
