"""What a captured frame carries: link headers and tunnels are taken off, down to the innermost IP packet.

Links: Ethernet (VLAN, LLC/SNAP, PPPoE, MPLS, 802.1ah), Linux's cooked, loopback, PPP, HDLC and raw IP. Tunnels: IP in
IP, GRE, ERSPAN, MPLS, VXLAN, GENEVE, GTP-U, EtherIP, Teredo; TURN's own framing is for who knows what TURN relays.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

__all__ = ["MOST_DEPTH", "Inside", "Passed", "inside"]

MOST_DEPTH = 12
"""Tunnels in one another; a frame that has more was made to waste somebody's time."""
_VLAN = {0x8100, 0x88A8, 0x9100, 0x9200}
_UDP_TUNNELS = {4789: "VXLAN", 8472: "VXLAN", 4790: "VXLAN", 6081: "GENEVE", 2152: "GTP-U", 6635: "MPLS",
                3544: "Teredo"}  # fmt: skip
_ETHERS = {0x0806: "ARP", 0x88CC: "LLDP", 0x88E5: "MACsec"}
_PROTOCOLS = {1: "ICMP", 2: "IGMP", 50: "ESP", 58: "ICMPv6", 89: "OSPF", 132: "SCTP"}
_PPP = {0x0021: 0x0800, 0x0057: 0x86DD, 0x0281: 0x8847}


class Inside(NamedTuple):
    """The innermost IP packet of a frame.

    Addresses (8 bytes for IPv4, 32 for IPv6), protocol, the bytes of what IP carries that were kept, how many there
    were, bytes of IP header, and the tunnels around it.
    """

    ends: bytes
    protocol: int
    body: bytes
    size: int
    header: int
    tunnels: tuple[str, ...]
    raw: bytes


class Passed(NamedTuple):
    """A frame that holds no TCP or UDP whose beginning could be read, what it is instead, and its IP packet if any."""

    what: str
    raw: bytes = b""


_PLAIN = struct.Struct("!12x3sxHxxHxB10xHH")  # of Ethernet, IPv4 and UDP: kinds, length, fragment, protocol, ports


def inside(link: int, data: bytes, wire: int) -> Inside | Passed:
    """Take a frame apart, down to its innermost IP packet."""
    if link == 1 and len(data) >= 42:  # most frames of a call, at once
        kinds, whole, fragment, protocol, source, target = _PLAIN.unpack_from(data)
        if (
            kinds == b"\x08\0\x45" and protocol == 17 and not fragment & 0x3FFF and whole >= 28
            and source not in _UDP_TUNNELS and target not in _UDP_TUNNELS
        ):  # fmt: skip
            raw = data[14 : 14 + whole]
            return Inside(raw[12:20], 17, raw[20:], whole - 20, 20, (), raw)
    if link in (1, 113, 276):
        place, kind = {1: (14, 12), 113: (16, 14), 276: (20, 0)}[link]
        if len(data) < place:
            return Passed("frames cut before IP")
        return _ether(int.from_bytes(data[kind : kind + 2], "big"), data, place, wire, ())
    if link in (0, 108):
        return _ip(data, 4, wire, ())
    if link in (12, 14, 101, 228, 229):
        return _ip(data, 0, wire, ())
    if link in (9, 50):
        return _ppp(data, 2 * (data[:2] == b"\xff\x03"), wire, ())
    if link == 104:  # Cisco's HDLC
        return _ether(int.from_bytes(data[2:4], "big"), data, 4, wire, ())
    return Passed(f"packets of link type {link}, which isn't read")


def _ppp(data: bytes, place: int, wire: int, tunnels: tuple[str, ...]) -> Inside | Passed:
    wide = 1 if data[place : place + 1] and data[place] & 1 else 2  # a protocol of one byte is odd
    kind = int.from_bytes(data[place : place + wide], "big")
    if kind not in _PPP:
        return Passed("PPP without IP")
    return _ether(_PPP[kind], data, place + wide, wire, tunnels)


def _ether(kind: int, data: bytes, place: int, wire: int, tunnels: tuple[str, ...]) -> Inside | Passed:
    """What stands at `place` behind an EtherType."""
    while kind in _VLAN:
        kind, place = int.from_bytes(data[place + 2 : place + 4], "big"), place + 4
    if kind <= 1500 and data[place : place + 3] == b"\xaa\xaa\x03":  # a length: LLC and SNAP follow
        kind, place = int.from_bytes(data[place + 6 : place + 8], "big"), place + 8
    if kind in (0x0800, 0x86DD):
        return _ip(data, place, wire, tunnels)
    if kind in (0x8847, 0x8848):
        return _mpls(data, place, wire, tunnels)
    if kind == 0x8864:
        return _ppp(data, place + 6, wire, (*tunnels, "PPPoE"))
    if kind == 0x88E7:
        return _frame(data, place + 4, wire, (*tunnels, "802.1ah"))
    if kind == 0x6558:
        return _frame(data, place, wire, tunnels)
    return Passed(f"{_ETHERS.get(kind, f'frames of EtherType 0x{kind:04x}')}")


def _frame(data: bytes, place: int, wire: int, tunnels: tuple[str, ...]) -> Inside | Passed:
    """A whole Ethernet frame at `place`."""
    if len(data) < place + 14 or len(tunnels) > MOST_DEPTH:
        return Passed("frames cut before IP")
    return _ether(int.from_bytes(data[place + 12 : place + 14], "big"), data, place + 14, wire, tunnels)


def _mpls(data: bytes, place: int, wire: int, tunnels: tuple[str, ...]) -> Inside | Passed:
    """A stack of labels; behind it IP, or a frame (with or without a control word, which begins with four noughts)."""
    while place + 4 <= len(data) and not data[place + 2] & 1:
        place += 4
    place += 4
    tunnels = (*tunnels, "MPLS")
    if place >= len(data):
        return Passed("frames cut before IP")
    if data[place] >> 4 in (4, 6):
        made = _ip(data, place, wire, tunnels)
        if isinstance(made, Inside):
            return made
    return _frame(data, place + 4 * (data[place] >> 4 == 0), wire, tunnels)


def _ip(data: bytes, at: int, wire: int, tunnels: tuple[str, ...]) -> Inside | Passed:
    if len(tunnels) > MOST_DEPTH:
        return Passed("tunnels in more than twelve tunnels")
    raw, left = data[at:], wire - at
    if len(raw) >= 20 and raw[0] >> 4 == 4:
        ends, place, following = raw[12:20], 4 * (raw[0] & 15), raw[9]
        whole, _, fragment = struct.unpack_from("!HHH", raw, 2)
        if place < 20:
            return Passed("damaged IP packets")
        if fragment & 0x1FFF or (following != 17 and fragment & 0x2000):
            return Passed("IP fragments", raw[:whole])  # a later one has no header, and TCP's first is no whole segment
    elif len(raw) >= 8 and raw[0] >> 4 == 6 and (len(raw) >= 40 or raw[6] == 17):
        ends, place, following = raw[8:40], 40, raw[6]
        whole = struct.unpack_from("!H", raw, 4)[0]
        whole += 40 * bool(whole)
        while following in (0, 43, 44, 60, 135) and place + 8 <= len(raw):
            cut = struct.unpack_from("!H", raw, place + 2)[0] & 0xFFF9 if following == 44 else 0
            if cut & 0xFFF8 or (cut and raw[place] != 17):
                return Passed("IP fragments", raw[:whole])
            size = 8 if following == 44 else 8 * (1 + raw[place + 1])
            following, place = raw[place], place + size
    else:
        return Passed("frames cut before IP" if len(raw) < 20 else "damaged IP packets")
    while following == 51 and place + 12 <= len(raw):  # an authentication header
        following, place = raw[place], place + 4 * (raw[place + 1] + 2)
    whole = whole or left  # nought where the network card cuts, behind the capture
    made = Inside(ends, following, raw[place:whole], max(0, whole - place), place, tunnels, raw[:whole])
    return _tunnel(made) or made


def _tunnel(one: Inside) -> Inside | Passed | None:
    """What a tunnel in this packet carries; None if it is none."""
    body, size, tunnels = one.body, one.size, one.tunnels
    if one.protocol in (4, 41):
        return _ip(body, 0, size, (*tunnels, "IP in IP"))
    if one.protocol == 47:
        return _gre(body, size, tunnels)
    if one.protocol == 97:
        return _frame(body, 2, size, (*tunnels, "EtherIP"))
    if one.protocol == 137:
        return _mpls(body, 0, size, tunnels)
    if one.protocol == 17 and len(body) >= 16:
        ports = struct.unpack_from("!HH", body)
        for port in (ports[1], ports[0]):
            if port in _UDP_TUNNELS:
                found = _over_udp(port, body, size, (*tunnels, _UDP_TUNNELS[port]))
                if isinstance(found, Inside):
                    return found
    if one.protocol not in (6, 17):
        return Passed(_PROTOCOLS.get(one.protocol, f"IP of protocol {one.protocol}"), one.raw)
    return None


def _over_udp(port: int, body: bytes, size: int, tunnels: tuple[str, ...]) -> Inside | Passed:
    """Behind a UDP header, by the port's protocol; what doesn't begin like it is no tunnel."""
    no, head = Passed("no tunnel"), body[8:16]
    if port in (4789, 8472):
        return _frame(body, 16, size, tunnels) if head[0] & 0x08 and head[7] == 0 else no
    if port == 4790:
        kind = {1: 0x0800, 2: 0x86DD, 3: 0x6558, 5: 0x8847}.get(head[3])
        return _ether(kind, body, 16, size, tunnels) if kind and head[0] & 0x0C == 0x0C else no
    if port == 6081:
        kind, place = int.from_bytes(head[2:4], "big"), 16 + 4 * (head[0] & 0x3F)
        return _ether(kind, body, place, size, tunnels) if head[0] >> 6 == 0 and kind else no
    if port == 2152:
        if head[0] >> 4 != 3 or head[1] != 255:
            return no
        place = 16
        if head[0] & 7:
            place, more = 20, body[19:20]
            while more and more[0]:  # extension headers, in fours of bytes
                length = 4 * body[place] if place < len(body) else 0
                if not length:
                    return no
                place += length
                more = body[place - 1 : place]
        return _ip(body, place, size, tunnels)
    if port == 6635:
        return _mpls(body, 8, size, tunnels)
    return _ip(body, 8, size, tunnels) if head[0] >> 4 == 6 else no


def _gre(body: bytes, size: int, tunnels: tuple[str, ...]) -> Inside | Passed:
    """GRE (RFC 2784, 2890, 2637) and what mirrors send in it: ERSPAN, types I, II and III."""
    if len(body) < 8:
        return Passed("frames cut before IP")
    flags, kind = struct.unpack_from("!HH", body)
    place = 4 + 4 * bool(flags & 0xC000) + 4 * bool(flags & 0x2000) + 4 * bool(flags & 0x1000)
    if flags & 7 == 1:  # of PPTP: key always, an acknowledgement perhaps
        place = 8 + 4 * bool(flags & 0x1000) + 4 * bool(flags & 0x0080)
        return _ppp(body, place + 2 * (body[place : place + 2] == b"\xff\x03"), size, (*tunnels, "PPTP"))
    if kind == 0x88BE:
        return _frame(body, place + 8 * bool(flags & 0x1000), size, (*tunnels, "ERSPAN"))
    if kind == 0x22EB and len(body) >= place + 12:
        carried = body[place + 10] >> 2 & 31
        place += 12 + 8 * (body[place + 11] & 1)
        return (_ip if carried == 2 else _frame)(body, place, size, (*tunnels, "ERSPAN"))
    if kind == 0x883E:  # WCCP: a header of its own, unless IP begins at once
        place += 4 * (body[place : place + 1] != b"\x45")
        return _ip(body, place, size, (*tunnels, "GRE"))
    return _ether(kind, body, place, size, (*tunnels, "GRE"))
