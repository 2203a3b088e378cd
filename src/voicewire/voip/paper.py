"""What the thesis prints, each number once, with its place (V. Balan, IU Bremen, May 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from voicewire._kit import checks
from voicewire.voip.errors import VoipError

__all__ = ["CODECS", "Codec"]


@dataclass(frozen=True)
class Codec:
    """A voice codec as Table 4.1 knows it, with the frame that the experiments send.

    Attributes
    ----------
    name : as printed
    lambda1, lambda2, lambda3 : Table 4.1, coefficients of Ie = λ1 + λ2 ln(1 + λ3 e)
    frames : frames per packet, Table 4.1
    payload : bytes in a packet of 20 ms (G.711: 64 kbit/s; G.729: 8 kbit/s)

    Examples
    --------
    >>> Codec("mine", 0.0, 30.0, 15.0, frames=1, payload=160).interval_ms
    20.0
    """

    name: str
    lambda1: float
    lambda2: float
    lambda3: float
    frames: int
    payload: int
    interval_ms: float = 20.0

    def __post_init__(self) -> None:
        checks.fields(
            self, VoipError, lambda1=checks.number(0.0, 100.0), lambda2=checks.number(0.0, 1e6),
            lambda3=checks.number(0.0, 1e6), frames=checks.whole(1, 1000), payload=checks.whole(1, 65_000),
            interval_ms=checks.number(0.1, 10_000.0),
        )  # fmt: skip

    @property
    def rate(self) -> float:
        """Payload in bytes per second while somebody talks."""
        return self.payload * 1000.0 / self.interval_ms


#: Table 4.1. The thesis prints no payloads: they follow from the codecs' rates and the 20 ms of section 5.1.
CODECS = MappingProxyType(
    {
        "G.711": Codec("G.711", 0.0, 30.0, 15.0, 1, 160),
        "G.729": Codec("G.729", 10.0, 47.82, 18.0, 1, 20),
        "G.729A+VAD": Codec("G.729A+VAD", 11.0, 30.0, 16.0, 2, 20),
    }
)
#: Table 4.2: R, the MOS printed for it
MOS_TABLE = MappingProxyType({50: 2.58, 60: 3.10, 70: 3.60, 80: 4.03, 90: 4.34, 100: 4.5})
QUALITY = ((90, "Best"), (80, "High"), (70, "Medium"), (60, "Low"), (50, "Poor"))  # Table 4.2
R_BEST = 94.2  # section 4.2: R = 94.2 - Ie - Id
DELAY_SLOPE, DELAY_KNEE, DELAY_SLOPE_2 = 0.024, 177.3, 0.11  # section 4.2, Id

TALK = (1.0, 1.5)  # section 4.1: mean seconds of voice and of silence, both exponential
SEND_BUFFER = 5  # section 5.1: packets, "a maximal delay of 100 ms"
ROUTER_BUFFER = 50  # section 4.4: packets, drop-tail
SOURCES, ENCODERS = 3, 4  # section 4.4: machines and encoders on each
DELAYS_MS = (25, 400)  # section 5.1; section 4.4 says 0 to 400
LOSSES = (1e-4, 1e-2)  # section 5.1; section 4.4 says 0.001 % to 0.1 %
LOSSES_SETUP = (1e-5, 1e-3)  # section 4.4
SMALL_LOSS = 1e-3  # section 5.1, Figures 5.3 and 5.4
LOSS_DELAY_MS = 50  # section 5.1, Figures 5.5 and 5.6
TRACE_DELAY_MS = 150  # Figures 5.7 and 5.8
MD_PACKETS = 8  # section 5.1: never below 8 small packets per RTT
HEADER = 40  # section 2.2.3: bytes of header in TFRC-SP
NOMINAL_SEGMENT = 1500  # section 2.2.3; RFC 4828 has 1460 bytes of payload and 40 of header
WEIGHTS_PRINTED = (1.0, 1.0, 1.0, 1.0, 8.0, 0.6, 0.4, 0.2)  # section 2.2.2, with the misprint
RED_ZONES = ("send", "drop with a probability linear in the level", "drop")  # section 2.2
STATES = (
    "CLOSED",
    "LISTEN",
    "REQUEST",
    "RESPOND",
    "PARTOPEN",
    "OPEN",
    "CLOSEREQ",
    "CLOSING",
    "TIMEWAIT",
)  # section 2.1
PACKET_TYPES = (
    "DCCP-Request",
    "DCCP-Response",
    "DCCP-Data",
    "DCCP-Ack",
    "DCCP-DataAck",
    "DCCP-CloseReq",
    "DCCP-Close",
    "DCCP-Reset",
    "DCCP-Sync",
    "DCCP-SyncAck",
)  # section 2.1
