"""DCCP packets as bytes and back (RFC 4340 section 5); explained in notebook 1."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from enum import IntEnum

from voicewire.voip.errors import VoipError

__all__ = ["Packet", "Type", "ack_vector", "checksum", "decode", "encode", "read_ack_vector"]


class Type(IntEnum):
    """Packet types, RFC 4340 section 5.1, Table 1.

    Attributes
    ----------
    REQUEST, RESPONSE, DATA, ACK, DATA_ACK, CLOSE_REQ, CLOSE, RESET, SYNC, SYNC_ACK : int
        0 to 9, four bits of the header.

    Examples
    --------
    >>> Type(5).name
    'CLOSE_REQ'
    """

    REQUEST = 0
    RESPONSE = 1
    DATA = 2
    ACK = 3
    DATA_ACK = 4
    CLOSE_REQ = 5
    CLOSE = 6
    RESET = 7
    SYNC = 8
    SYNC_ACK = 9


_SHORT = {Type.DATA, Type.ACK, Type.DATA_ACK}  # only these may carry 24-bit sequence numbers (section 5.1)
_NO_ACK = {Type.REQUEST, Type.DATA}
_MOST = (1 << 48) - 1


@dataclass(frozen=True)
class Packet:
    """A DCCP packet.

    Attributes
    ----------
    type, source, destination : packet type and ports
    seq : sequence number, 48 bits (24 with `extended=False`)
    ack : acknowledgement number; every type but Request and Data carries one
    ccval : window counter of CCID 3, 4 bits (RFC 4342 section 8.1)
    cscov : checksum coverage, 4 bits
    service : service code of Request and Response, 32 bits
    reset : (code, data 1, data 2, data 3) of a Reset
    options : (type, value) pairs; types below 32 have no value
    data : application data
    extended : 48-bit sequence numbers

    Examples
    --------
    >>> len(encode(Packet(Type.DATA, 5004, 5004, seq=1, data=b"voice")))
    21
    """

    type: Type
    source: int
    destination: int
    seq: int
    ack: int | None = None
    ccval: int = 0
    cscov: int = 0
    service: int | None = None
    reset: tuple[int, int, int, int] | None = None
    options: tuple[tuple[int, bytes], ...] = field(default=())
    data: bytes = b""
    extended: bool = True

    def __post_init__(self) -> None:
        kind = Type(self.type)
        top = _MOST if self.extended else (1 << 24) - 1
        if not self.extended and kind not in _SHORT:
            raise VoipError(f"{kind.name} needs 48-bit sequence numbers: only Data, Ack and DataAck may be short")
        for value, bits, what in (
            (self.source, 16, "source port"),
            (self.destination, 16, "destination port"),
            (self.ccval, 4, "CCVal"),
            (self.cscov, 4, "checksum coverage"),
        ):
            if not 0 <= value < 1 << bits:
                raise VoipError(f"the {what} must fit into {bits} bits")
        if not 0 <= self.seq <= top or (self.ack is not None and not 0 <= self.ack <= top):
            raise VoipError(f"sequence numbers must fit into {top.bit_length()} bits")
        if (self.ack is None) != (kind in _NO_ACK):
            raise VoipError(f"{kind.name} {'has no' if kind in _NO_ACK else 'needs an'} acknowledgement number")
        wants_service = kind in (Type.REQUEST, Type.RESPONSE)
        if (self.service is not None) != wants_service:
            raise VoipError(f"a service code belongs to Request and Response, and to no other type: {kind.name}")
        if self.service is not None and not 0 <= self.service < 1 << 32:
            raise VoipError("the service code must fit into 32 bits")
        if (self.reset is not None) != (kind is Type.RESET):
            raise VoipError("a reset code belongs to Reset, and to no other type")
        if self.reset is not None and (len(self.reset) != 4 or any(not 0 <= v < 256 for v in self.reset)):
            raise VoipError("a reset code is four bytes: the code and three of data")
        for option, content in self.options:
            if not 0 <= option < 256 or (option < 32 and content) or len(content) > 253:
                raise VoipError("an option has a type below 256; below 32 it has no value, else at most 253 bytes")


def checksum(data: bytes) -> int:
    """Internet checksum (RFC 1071): ones' complement of the ones' complement sum of 16-bit words.

    Parameters
    ----------
    data : bytes
        What it covers.

    Returns
    -------
    int
        16 bits.

    Examples
    --------
    The sum of data and checksum is zero:

    >>> sum_ = checksum(b"DCCP")
    >>> checksum(b"DCCP" + sum_.to_bytes(2, "big"))
    0
    """
    padded = data + b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _covered(packet: bytes, offset: int, cscov: int, pseudo: bytes) -> bytes:
    # RFC 4340 section 9.1: 0 covers all, n the header and 4(n - 1) bytes of data
    covered = packet if cscov == 0 else packet[: offset + 4 * (cscov - 1)]
    return pseudo + covered


def encode(p: Packet, pseudo: bytes = b"") -> bytes:
    """Bytes of a packet, with its checksum; `pseudo` is the network's pseudo-header (section 9.1).

    Parameters
    ----------
    p : Packet
        The packet.
    pseudo : bytes
        The network's pseudo-header, which the checksum covers too (section 9.1).

    Returns
    -------
    bytes
        Header, options and data.

    Raises
    ------
    VoipError
        For a header of more than 1020 bytes.

    Examples
    --------
    >>> len(encode(Packet(Type.DATA, 5004, 5004, 1, data=bytes(20))))
    36
    """
    out = bytearray(
        struct.pack("!HHBBHB", p.source, p.destination, 0, p.ccval << 4 | p.cscov, 0, int(p.type) << 1 | p.extended)
    )
    width = 6 if p.extended else 3
    if p.extended:
        out += b"\0"
    out += p.seq.to_bytes(width, "big")
    if p.ack is not None:
        out += b"\0" * (2 if p.extended else 1) + p.ack.to_bytes(width, "big")
    if p.service is not None:
        out += p.service.to_bytes(4, "big")
    if p.reset is not None:
        out += bytes(p.reset)
    for option, value in p.options:
        out += bytes([option]) if option < 32 else bytes([option, len(value) + 2]) + value
    out += b"\0" * (-len(out) % 4)  # padding options (section 5.8.1)
    if len(out) > 1020:
        raise VoipError("the header is longer than 1020 bytes: fewer options")
    out[4] = len(out) // 4
    offset = len(out)
    out += p.data
    out[6:8] = checksum(_covered(bytes(out), offset, p.cscov, pseudo)).to_bytes(2, "big")
    return bytes(out)


def _options(raw: bytes) -> tuple[tuple[int, bytes], ...]:
    found = []
    i = 0
    while i < len(raw):
        option = raw[i]
        if option < 32:
            if option:  # 0 is padding
                found.append((option, b""))
            i += 1
            continue
        if i + 1 >= len(raw) or raw[i + 1] < 2 or i + raw[i + 1] > len(raw):
            raise VoipError(f"option {option} is cut off")
        found.append((option, raw[i + 2 : i + raw[i + 1]]))
        i += raw[i + 1]
    return tuple(found)


def decode(raw: bytes, pseudo: bytes = b"") -> Packet:
    """A packet from its bytes.

    Parameters
    ----------
    raw : bytes
        What came.
    pseudo : bytes
        The network's pseudo-header.

    Returns
    -------
    Packet
        The packet.

    Raises
    ------
    VoipError
        if it is too short, of an unknown type, has a wrong checksum or a cut option.

    Examples
    --------
    >>> packet = Packet(Type.DATA, 5004, 5004, 1, data=b"hello")
    >>> decode(encode(packet)) == packet
    True
    """
    if len(raw) < 12:
        raise VoipError("too short for a DCCP header: 12 bytes at least")
    source, destination, offset, nibbles, _, third = struct.unpack("!HHBBHB", raw[:9])
    extended = bool(third & 1)
    try:
        kind = Type(third >> 1 & 15)
    except ValueError:
        raise VoipError(f"packet type {third >> 1 & 15} is reserved") from None
    if not extended and kind not in _SHORT:
        raise VoipError(f"{kind.name} with short sequence numbers")
    at, width = (10, 6) if extended else (9, 3)
    need = at + width + (0 if kind in _NO_ACK else 8 if extended else 4)
    need += 4 if kind in (Type.REQUEST, Type.RESPONSE, Type.RESET) else 0
    if offset * 4 < need or offset * 4 > len(raw):
        raise VoipError(f"data offset {offset} doesn't fit a {kind.name} of {len(raw)} bytes")
    if checksum(_covered(raw, offset * 4, nibbles & 15, pseudo)) != 0:
        raise VoipError("wrong checksum")
    seq = int.from_bytes(raw[at : at + width], "big")
    at += width
    ack = None
    if kind not in _NO_ACK:
        at += 2 if extended else 1
        ack = int.from_bytes(raw[at : at + width], "big")
        at += width
    service = reset = None
    if kind in (Type.REQUEST, Type.RESPONSE):
        service = int.from_bytes(raw[at : at + 4], "big")
        at += 4
    elif kind is Type.RESET:
        reset = (raw[at], raw[at + 1], raw[at + 2], raw[at + 3])
        at += 4
    return Packet(
        kind,
        source,
        destination,
        seq,
        ack,
        nibbles >> 4,
        nibbles & 15,
        service,
        reset,
        _options(raw[at : offset * 4]),
        raw[offset * 4 :],
        extended,
    )


def ack_vector(states: str) -> bytes:
    """Run-length encoded acknowledgement vector, newest packet first (RFC 4340 section 11.4).

    `states` has a letter a packet: R received, M received marked, N not yet received. Runs of up to 64 share a byte.

    Parameters
    ----------
    states : str
        R, M or N for each packet, the newest first.

    Returns
    -------
    bytes
        A byte a run.

    Raises
    ------
    VoipError
        For another letter.

    Examples
    --------
    >>> ack_vector("RRRNR").hex()
    '02c000'
    """
    codes = {"R": 0, "M": 1, "N": 3}
    out = bytearray()
    i = 0
    while i < len(states):
        if states[i] not in codes:
            raise VoipError("an acknowledgement vector is written with R, M and N")
        run = 1
        while i + run < len(states) and states[i + run] == states[i] and run < 64:
            run += 1
        out.append(codes[states[i]] << 6 | (run - 1))
        i += run
    return bytes(out)


def read_ack_vector(raw: bytes) -> str:
    """Read an acknowledgement vector: R, M or N for each packet, the newest first (RFC 4340 section 11.4).

    Parameters
    ----------
    raw : bytes
        A byte a run: two bits of state, six of length less one.

    Returns
    -------
    str
        What `ack_vector` was given.

    Raises
    ------
    VoipError
        For the state that is reserved.

    Examples
    --------
    >>> read_ack_vector(ack_vector("RRRNR"))
    'RRRNR'
    """
    if any(byte >> 6 == 2 for byte in raw):
        raise VoipError("state 2 of an acknowledgement vector is reserved")
    return "".join("RM-N"[byte >> 6] * ((byte & 63) + 1) for byte in raw)
