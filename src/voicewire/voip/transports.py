"""The transports of section 5.1 by name, and those the thesis lacks: CCID 2, MD read literally, RFC 5348's sender.

What the thesis leaves open is decided here, once, and shown in the sensitivity table of notebook 3: the round trip
is known from the handshake; X_recv follows RFC 4342 section 8.3; packets are timed from when the last was due (RFC
3448 section 4.6), yet a silence saves nothing; a report moves the packet that waits.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from voicewire.netsim.errors import NetsimError
from voicewire.netsim.senders import Ccid2, Sender, Tcp, Tfrc, Udp
from voicewire.voip import paper
from voicewire.voip.emodel import codec as codec_of
from voicewire.voip.errors import VoipError
from voicewire.voip.paper import Codec

__all__ = ["EXTRA", "NAMES", "PRINTED", "TFRC_VARIANTS", "transport"]

PRINTED = ("UDP", "TCP", "TFRC", "TFRC SP", "TFRC SP FR", "TFRC SP FR MD")  # section 5.1
EXTRA = ("TCP 2581", "MD literal", "CCID 2", "RFC 5348")
NAMES = PRINTED + EXTRA
TFRC_VARIANTS = ("TFRC", "TFRC SP", "TFRC SP FR", "TFRC SP FR MD")

_BUFFER = paper.SEND_BUFFER
_SENDERS: MappingProxyType[str, Sender] = MappingProxyType(
    {
        "UDP": Udp(),
        "TCP": Tcp(rfc=3390),
        "TFRC": Tfrc(buffer=_BUFFER),
        "TFRC SP": Tfrc(small=True, buffer=_BUFFER),
        "TFRC SP FR": Tfrc(small=True, restart=4.0, buffer=_BUFFER),
        "TFRC SP FR MD": Tfrc(small=True, restart=4.0, floor_packets=paper.MD_PACKETS, buffer=_BUFFER),
        "TCP 2581": Tcp(rfc=2581),
        "CCID 2": Ccid2(buffer=_BUFFER),
        # the ending that the thesis lacks: data-limited periods no longer count against the sender; IW as in RFC 4342
        "RFC 5348": Tfrc(small=True, modern=True, initial_packets=4.0, buffer=_BUFFER),
    }
)


def transport(name: str, codec: str | Codec, **changes: Any) -> Sender:
    """The sender of this name for this codec; `changes` replace single fields (for sensitivity studies).

    "MD literal" reads X ≥ 8(s + H)/R as printed, in payload bytes: 24 packets a round trip for G.729, 10 for G.711.

    Parameters
    ----------
    name : str
        One of `NAMES`, in large or small letters.
    codec : str or Codec
        A codec of Table 4.1.
    **changes : object
        Single settings of the sender.

    Returns
    -------
    Udp, Tcp, Tfrc or Ccid2
        The sender, for `voicewire.netsim.Flow`.

    Raises
    ------
    VoipError
        for an unknown name or field.

    Examples
    --------
    >>> transport("TFRC SP FR", "G.729", buffer=50).restart
    4.0
    """
    voice = codec_of(codec)
    if not isinstance(name, str):
        raise VoipError(f"unknown transport {name!r:.40}: choose from {', '.join(NAMES)}")
    name = next((known for known in NAMES if known.upper() == name.upper()), name)
    if name == "MD literal":
        packets = paper.MD_PACKETS * (voice.payload + paper.HEADER) / voice.payload
        sender: Any = replace(cast(Tfrc, _SENDERS["TFRC SP FR MD"]), floor_packets=packets)
    elif name in _SENDERS:
        sender = _SENDERS[name]
    else:
        raise VoipError(f"unknown transport {name!r}: choose from {', '.join(NAMES)}")
    if not changes:
        return cast(Sender, sender)
    try:
        return cast(Sender, replace(sender, **changes))
    except NetsimError as error:
        raise VoipError(str(error)) from None
    except TypeError:
        raise VoipError(f"{name} has no such setting: {', '.join(changes)}") from None
