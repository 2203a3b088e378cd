"""A byte stream taken apart into MQTT packets, as a lesson; the broker's own decoder is in `voicewire.mqtt`.

Explained in ``notebooks/transport/01_sockets_and_segments.ipynb``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["NAMES", "Packet", "packets"]

NAMES = (
    "?", "CONNECT", "CONNACK", "PUBLISH", "PUBACK", "PUBREC", "PUBREL", "PUBCOMP", "SUBSCRIBE", "SUBACK",
    "UNSUBSCRIBE", "UNSUBACK", "PINGREQ", "PINGRESP", "DISCONNECT", "?",
)  # fmt: skip


@dataclass(frozen=True)
class Packet:
    """One MQTT packet.

    Attributes
    ----------
    name : str
        Its type.
    flags : int
        The lower half of the first byte.
    body : bytes
        What follows the fixed header.
    size : int
        Bytes on the wire, the fixed header included.

    Examples
    --------
    >>> packets(b"\\x32\\x07\\x00\\x01T\\x00\\x07hi")[0].payload
    b'hi'
    """

    name: str
    flags: int
    body: bytes = field(repr=False)
    size: int

    @property
    def qos(self) -> int:
        """Quality of service of a PUBLISH."""
        return self.flags >> 1 & 3

    @property
    def payload(self) -> bytes:
        """Payload of a PUBLISH (MQTT 3.1.1)."""
        at = 2 + int.from_bytes(self.body[:2], "big") + (2 if self.qos else 0)
        return self.body[at:]


def packets(stream: bytes) -> list[Packet]:
    """Take a stream of one direction apart.

    Parameters
    ----------
    stream : bytes
        From the first byte of a packet to the last of another.

    Returns
    -------
    list of Packet
        In their order.

    Raises
    ------
    ValueError
        If it ends within a packet, or a Remaining Length has more than four bytes.

    Examples
    --------
    >>> [packet.name for packet in packets(bytes([0x40, 2, 0, 7, 0xC0, 0]))]
    ['PUBACK', 'PINGREQ']
    """
    found, at = [], 0
    while at < len(stream):
        start, first = at, stream[at]
        at += 1
        length = shift = 0
        while True:
            if at >= len(stream) or shift > 21:
                raise ValueError(f"no MQTT packet begins at byte {start}")
            byte = stream[at]
            at += 1
            length |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                break
        if at + length > len(stream):
            raise ValueError(f"the packet at byte {start} is cut short")
        found.append(Packet(NAMES[first >> 4], first & 15, stream[at : at + length], at + length - start))
        at += length
    return found
