"""A packet taken apart, byte by byte: what notebook 1 shows in colour."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from voicewire.mqtt import packets as p
from voicewire.mqtt.decoder import check_version, decode, read_length, understood, unfinished, whole_packets
from voicewire.mqtt.errors import MalformedError
from voicewire.testbed.capture import Segment, read_pcap
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.tcp_streams import in_order

__all__ = ["COLOURS", "Coloured", "Field", "dissect", "dissect_capture"]

COLOURS = {
    "fixed header": "#0072B2",
    "variable header": "#D55E00",
    "E-MQTT": "#A3578A",
    "payload": "#00795C",
}
"""Colour of each part; the part's name stands beside it, so that colour is never the only cue."""


@dataclass(frozen=True, slots=True)
class Field:
    """Some bytes of a packet that belong together.

    Attributes
    ----------
    part : str
        A key of `COLOURS`.
    name : str
        Of the field, as the standard calls it.
    data : bytes
        The bytes.
    meaning : str
        What they say.

    Examples
    --------
    >>> dissect(bytes([0xC0, 0]))[0]
    Field(part='fixed header', name='type and flags', data=b'\\xc0', meaning='PINGREQ, flags 0000')
    """

    part: str
    name: str
    data: bytes
    meaning: str


def dissect(data: bytes) -> list[Field]:
    """Take one whole packet apart.

    Parameters
    ----------
    data : bytes
        Exactly one packet.

    Returns
    -------
    list of Field
        In the order of the bytes; joined they give `data`.

    Raises
    ------
    MalformedError
        If it isn't one packet that MQTT or E-MQTT allows.

    Examples
    --------
    >>> [field.name for field in dissect(p.encode(p.Publish("T", b"hi")))]
    ['type and flags', 'remaining length', 'topic length', 'topic', 'payload']
    """
    head = read_length(data, 0)
    if head is None or head[1] != len(data):
        raise MalformedError("these bytes are not exactly one packet")
    packet = decode(data[0], data[head[0] :])
    name = type(packet).__name__.upper()
    fields = [
        Field("fixed header", "type and flags", data[:1], f"{name}, flags {data[0] & 15:04b}"),
        Field("fixed header", "remaining length", data[1 : head[0]], f"{len(data) - head[0]} bytes follow"),
    ]
    body = data[head[0] :]
    if isinstance(packet, p.Publish):
        return fields + _publish(packet, body)
    if isinstance(packet, p.Connect):
        check_version(packet)
        fields.append(Field("variable header", "protocol", body[:7], "MQTT, level 4 (version 3.1.1)"))
        fields.append(Field("variable header", "connect flags", body[7:8], f"clean session {packet.clean:d}"))
        fields.append(Field("variable header", "keep alive", body[8:10], f"{packet.keep_alive} s"))
        return [*fields, Field("payload", "client id and more", body[10:], repr(packet.client_id))]
    if isinstance(packet, p.Connack):
        meaning = f"session present {packet.session_present:d}, code {packet.code}"
        return [*fields, Field("variable header", "flags and code", body, meaning)]
    if len(body) >= 2:
        number = int.from_bytes(body[:2], "big")
        fields.append(Field("variable header", "packet id", body[:2], str(number)))
    if len(body) > 2:
        fields.append(Field("payload", "payload", body[2:], _rest(packet)))
    return fields


def _rest(packet: p.Packet) -> str:
    match packet:
        case p.Subscribe(topics=topics):
            return ", ".join(f"{name!r} at QoS {qos}" for name, qos in topics)
        case p.Suback(codes=codes):
            return "granted " + ", ".join(map(str, codes))
        case p.Pubrec():
            return "report or answer"
        case _:
            return ""


def _publish(packet: p.Publish, body: bytes) -> list[Field]:
    end = 2 + int.from_bytes(body[:2], "big")
    fields = [
        Field("variable header", "topic length", body[:2], str(end - 2)),
        Field("variable header", "topic", body[2:end], repr(packet.topic)),
    ]
    if packet.qos:
        fields.append(Field("variable header", "packet id", body[end : end + 2], str(packet.packet_id)))
        end += 2
    payload_at = len(body) - len(packet.payload)
    if packet.qos == 3:
        extra = body[end:payload_at]
        fields.append(Field("E-MQTT", "waited_packet_num", extra[:2], f"wait for {packet.waited}"))
        if extra[2:]:
            fields.append(Field("E-MQTT", "subscriber ids", extra[2:], ", ".join(packet.subscribers)))
    if packet.payload:
        fields.append(Field("payload", "payload", packet.payload, f"{len(packet.payload)} bytes"))
    return fields


def dissect_capture(path: str | Path, port: int = 1883) -> Iterator[tuple[float, str, list[Field]]]:
    """Take every packet of MQTT or E-MQTT in a capture apart.

    Parameters
    ----------
    path : str or Path
        A capture, pcap or pcapng, of any link that `voicewire.testbed.read_capture` reads.
    port : int
        The broker's TCP port.

    Yields
    ------
    (float, str, list of Field)
        When the packet's last byte came, in s after the capture's first packet; ``client`` or ``broker``, whoever sent
        it; and its fields.

    Raises
    ------
    TestbedError
        If it is no capture, is cut short, has a hole, its times run back, or it has no packet at this port.
    MalformedError
        If what is said at this port isn't MQTT 3.1.1.

    Notes
    -----
    Bytes are put in order, and of what TCP sends twice the first copy counts. What is captured of a connection must
    begin with a packet. If it ends in the midst of one, a `UserWarning` says so.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> found = list(dissect_capture(paths.data("transport") / "captures" / "mqtt-qos0.pcap"))
    >>> [(sender, fields[0].meaning) for _, sender, fields in found][:2]
    [('client', 'CONNECT, flags 0000'), ('broker', 'CONNACK, flags 0000')]
    """
    path, seen, since = Path(path), 0, list[float]()

    def segments() -> Iterator[Segment]:
        for one in read_pcap(path):
            since[:] = since or [one.time]
            yield one

    held: dict[tuple[object, ...], bytearray] = {}
    for one, data, new, opened in in_order(segments(), port, path.name):
        key, sender = (*one.source, *one.target), "client" if one.target[1] == port else "broker"
        if new:
            held[key] = bytearray()
        held[key] += data
        with understood(f"{path.name}, from the {sender} at {one.time:.6f} s since the epoch", opened):
            for octets, _ in whole_packets(held[key]):
                seen += 1
                yield one.time - since[0], sender, dissect(octets)
    left = unfinished(held.values())
    if not seen:
        raise TestbedError(f"{path.name} has no packet of MQTT at port {port}" + f", only {left}" * bool(left))
    if left:
        warnings.warn(f"{path.name} ends with {left}", stacklevel=2)


class Coloured:
    """A dissected packet that a notebook shows as a table, and a shell as text.

    Parameters
    ----------
    packet : Packet or bytes
        Exactly one.

    Attributes
    ----------
    fields : list of Field
        In the order of the bytes.

    Examples
    --------
    >>> len(Coloured(p.Pingreq()).fields)
    2
    """

    def __init__(self, packet: p.Packet | bytes) -> None:
        self.fields = dissect(packet if isinstance(packet, bytes) else p.encode(packet))

    def __repr__(self) -> str:
        return "\n".join(f"{f.part:<16}{f.name:<19}{f.data.hex(' '):<30}{f.meaning}" for f in self.fields)

    def _repr_html_(self) -> str:
        air = ' style="padding-right:1em"'  # the book's theme sets no room between the columns of such a table
        rows = "".join(
            f'<tr><td style="border-left:6px solid {COLOURS[f.part]};padding:0 1em 0 6px">{f.part}</td>'
            f"<td{air}>{f.name}</td><td{air}><code>{f.data.hex(' ')}</code></td><td>{html.escape(f.meaning)}</td></tr>"
            for f in self.fields
        )
        head = "<tr><th>part</th><th>field</th><th>bytes</th><th>meaning</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
