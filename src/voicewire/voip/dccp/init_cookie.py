"""A server that keeps nothing of a Request: the Init Cookie (RFC 4340 section 8.1.4, option 36).

What the server would have remembered it hands to the client, sealed; the client gives it back with its next packet.
So a million Requests with forged addresses cost the server no memory.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass

from voicewire._kit import checks
from voicewire.voip.dccp.header import Packet, Type
from voicewire.voip.errors import VoipError

__all__ = ["BAD_COOKIE", "INIT_COOKIE", "Listener", "Opened", "bake", "opened"]

INIT_COOKIE = 36
"""The option's type (section 5.8)."""
NO_CONNECTION, BAD_SERVICE, BAD_COOKIE = 3, 8, 10  # reset codes, section 5.6
_SEAL = 16  # bytes of the seal
_BODY = struct.Struct("!Q6s6sI")  # when, the server's first number, the client's, the service


@dataclass(frozen=True)
class Opened:
    """What a cookie told: the first numbers of both ends and the service that was asked for.

    Attributes
    ----------
    iss, isr : int
        First number of the server, and of the client.
    service : int
        Service code, 32 bits.

    Examples
    --------
    >>> Opened(iss=7, isr=1, service=42).service
    42
    """

    iss: int
    isr: int
    service: int


def _seal(secret: bytes, peer: bytes, p: Packet, body: bytes) -> bytes:
    who = struct.pack("!I", len(peer)) + peer + struct.pack("!HH", p.source, p.destination)
    return hmac.new(secret, who + body, hashlib.sha256).digest()[:_SEAL]


def bake(secret: bytes, peer: bytes, p: Packet, iss: int, now: int) -> bytes:
    """Seal what the server must know again: when, both first numbers, the service; for this peer and these ports.

    Parameters
    ----------
    secret : bytes
        The server's, 16 bytes at least.
    peer : bytes
        The client's network address.
    p : Packet
        Its Request.
    iss : int
        The server's first number.
    now : int
        Time, ms.

    Returns
    -------
    bytes
        The option's value.

    Raises
    ------
    VoipError
        For another packet than a Request.

    Examples
    --------
    >>> asks = Packet(Type.REQUEST, 5004, 5006, seq=1, service=42)
    >>> len(bake(bytes(16), b"client", asks, iss=7, now=0))
    40
    """
    if p.type is not Type.REQUEST or p.service is None:
        raise VoipError("a cookie is made from a Request")
    first = iss.to_bytes(6, "big"), p.seq.to_bytes(6, "big")
    body = _BODY.pack(now, *first, p.service)
    return body + _seal(secret, peer, p, body)


def opened(
    secret: bytes, peer: bytes, p: Packet, now: int, life: int = 60_000
) -> Opened | None:
    """Read the cookie that a packet brings back: None for one that is forged, old, another's, or not there.

    Parameters
    ----------
    secret : bytes
        The server's.
    peer : bytes
        The address that the packet comes from.
    p : Packet
        The packet.
    now : int
        Time, ms.
    life : int
        How long a cookie is good, ms.

    Returns
    -------
    Opened or None
        What the server would have remembered.

    Examples
    --------
    >>> asks = Packet(Type.REQUEST, 5004, 5006, seq=1, service=42)
    >>> option = 36, bake(bytes(16), b"client", asks, iss=7, now=0)
    >>> back = Packet(Type.ACK, 5004, 5006, seq=2, ack=7, options=(option,))
    >>> opened(bytes(16), b"client", back, now=100).service
    42
    >>> opened(bytes(16), b"another", back, now=100) is None
    True
    """
    given = [value for kind, value in p.options if kind == INIT_COOKIE]
    if len(given) != 1 or len(given[0]) != _BODY.size + _SEAL:
        return None
    body, seal = given[0][: _BODY.size], given[0][_BODY.size :]
    if not hmac.compare_digest(seal, _seal(secret, peer, p, body)):
        return None
    when, iss, isr, service = _BODY.unpack(body)
    found = Opened(int.from_bytes(iss, "big"), int.from_bytes(isr, "big"), service)
    return found if 0 <= now - when <= life and p.ack == found.iss else None


class Listener:
    """A server that listens: it keeps its secret and its service, and nothing of any Request.

    Parameters
    ----------
    secret : bytes
        16 bytes or more, drawn at random.
    service : int
        The service code that it offers.

    Raises
    ------
    VoipError
        For a secret of fewer than 16 bytes, or a service code of more than 32 bits.

    Examples
    --------
    >>> server = Listener(bytes(16), service=42)
    >>> asks = Packet(Type.REQUEST, 5004, 5006, seq=1, service=42)
    >>> answer = server.on_packet(b"client", asks, iss=7, now=0)
    >>> back = Packet(Type.ACK, 5004, 5006, seq=2, ack=7, options=answer.options)
    >>> server.on_packet(b"client", back, iss=9, now=100)
    Opened(iss=7, isr=1, service=42)
    """

    __slots__ = ("secret", "service")

    def __init__(self, secret: bytes, service: int) -> None:
        if not isinstance(secret, bytes) or len(secret) < 16:
            raise VoipError("the secret must be 16 bytes or more, drawn at random")
        self.secret = secret
        self.service = checks.whole(0, (1 << 32) - 1)("the service code", service, VoipError)

    def on_packet(self, peer: bytes, p: Packet, iss: int, now: int) -> Packet | Opened | None:
        """Answer a packet: a Response with a cookie, a connection opened, a Reset, or nothing to a Reset.

        Parameters
        ----------
        peer : bytes
            The address that it comes from.
        p : Packet
            The packet.
        iss : int
            A fresh first number, drawn at random.
        now : int
            Time, ms.

        Returns
        -------
        Packet, Opened or None
            What to send, or the connection that the packet opens.
        """
        if p.type is Type.RESET:
            return None
        found = opened(self.secret, peer, p, now)
        if found and p.type in (Type.ACK, Type.DATA_ACK):
            return found
        if p.type is Type.REQUEST and p.service == self.service:
            cookie = INIT_COOKIE, bake(self.secret, peer, p, iss, now)
            return Packet(Type.RESPONSE, p.destination, p.source, iss, p.seq, service=p.service, options=(cookie,))
        forged = any(kind == INIT_COOKIE for kind, _ in p.options)
        code = BAD_SERVICE if p.type is Type.REQUEST else BAD_COOKIE if forged else NO_CONNECTION
        first = 0 if p.ack is None else (p.ack + 1) % (1 << 48)  # section 8.3.1
        return Packet(Type.RESET, p.destination, p.source, first, p.seq, reset=(code, 0, 0, 0))
