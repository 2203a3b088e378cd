"""The whole way added up: when the sentence is where, how many bytes it is there, and what was lost on the way.

Explained in notebook ``01_from_mouth_to_kettle``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.emqtt.counting import messages
from voicewire.mqtt.packets import Pubrec, encode
from voicewire.nfc.link import HEADER_BYTES
from voicewire.nfc.session import Result
from voicewire.transport.overhead_formulas import slow_start_rounds
from voicewire.voip.codecs import listening
from voicewire.voip.codecs.listening import Heard
from voicewire_book.chapters.journey import sentence, stations

__all__ = ["CALL_SEED", "HEADER", "PUBREC", "Budget", "Leg", "budget"]

HEADER: Final = 40
"""Bytes around each packet of the call: IP, and what the transport adds; the part on calls counts them so."""
CALL_SEED: Final = 7
"""Of the losses on the call's path: the same luck for every transport."""
PUBREC: Final = len(encode(Pubrec(1, 3)))
"""Bytes of the packet that confirms."""


@dataclass(frozen=True)
class Leg:
    """One station of the way.

    Attributes
    ----------
    station : str
        Its name.
    begins, ends : float
        When the sentence begins to come out of it and is out of it whole, s from the first breath.
    size : int
        Bytes that go on from here.
    lost : str
        What does not go on, in words.
    """

    station: str
    begins: float
    ends: float
    size: int
    lost: str


@dataclass(frozen=True)
class Budget:
    """The way of one sentence.

    Attributes
    ----------
    legs : tuple of Leg
        In order.
    erle : float
        Echo return loss enhancement of the room, dB.
    heard : Heard
        The call.
    crossings : list of Result
        Sessions through the slots, the fastest first.
    known : float
        When the phone knows that the kettle has the sentence, s from the first breath.
    """

    legs: tuple[Leg, ...]
    erle: float
    heard: Heard
    crossings: list[Result]
    known: float

    def table(self) -> str:
        """Give the budget as lines of text."""
        head = f"{'station':<8}{'bytes':>8}{'from, s':>9}{'whole at, s':>13}  lost"
        rows = [f"{leg.station:<8}{leg.size:>8}{leg.begins:>9.2f}{leg.ends:>13.2f}  {leg.lost}" for leg in self.legs]
        return "\n".join([head, *rows, f"the phone knows after {self.known:.2f} s"])


@lru_cache(maxsize=8)
def _microphone(passes: int) -> tuple[NDArray[np.int16], float]:
    """Give the freed sentence as 16-bit samples, and the ERLE."""
    done = stations.room(sentence.telephone(sentence.say().sound), passes)
    return stations.loud(done.freed), done.erle


@lru_cache(maxsize=64)
def _called(passes: int, delay_ms: float, loss: float) -> Heard:
    pcm, _ = _microphone(passes)
    return listening.heard(pcm, "UDP", delay_ms=delay_ms, loss=loss, seed=CALL_SEED)


def _lost_in_call(heard: Heard) -> str:
    gone = int((~heard.played).sum())
    return f"{gone} of {heard.played.size} frames; R {heard.call.r:.0f}"


def _sent_again(crossed: Result) -> str:
    segments = crossed.session.data_slots().size
    again = crossed.data_sent - segments
    return f"nothing; {segments} segments, {again or 'none'} sent again"


@checks.takes(
    delay_ms=checks.number(0.0, 1000.0), loss=checks.number(0.0, 0.5), mss=checks.whole(16, 65_495),
    ber=checks.number(0.0, 1e-3), passes=checks.whole(1, 100),
)  # fmt: skip
def budget(delay_ms: float = 100.0, loss: float = 0.02, mss: int = 1024, ber: float = 1e-5, passes: int = 3) -> Budget:
    """Send the sentence the whole way, its call over UDP.

    Of the sessions through the slots the median counts. What is published crosses the path of the call without a loss:
    the loss is the call's alone.
    """
    spoken = sentence.say()
    length, delay = spoken.sound.duration, delay_ms / 1000
    pcm, gained = _microphone(passes)
    heard = _called(passes, delay_ms, loss)
    samples, lead = stations.recorded(heard)
    packets, _ = listening.coded(samples)
    content = b"".join(packets)
    frame = sentence.FRAME_MS / 1000
    whole = lead + (len(packets) + 1) * frame
    sealed = stations.sealed(content)
    wire = stations.publication(sealed)
    at_hob = whole + delay + slow_start_rounds(len(wire)) * 2 * delay
    crossed = stations.crossings(len(wire), mss, ber)
    middle = crossed[len(crossed) // 2]
    link = middle.session.link
    arrives = at_hob + middle.seconds
    back = (link.slots(PUBREC + HEADER_BYTES) + link.slots_of_time(middle.session.latency)) * link.period
    voip = heard.call.flow.packets["sent"] * (listening.FRAME + HEADER)
    legs = (
        Leg("throat", 0.0, length, 2 * spoken.sound.samples.size, "nothing"),
        Leg("room", 0.0, length, 2 * pcm.size, f"all above 4 kHz; echo {gained:.0f} dB down"),
        Leg("call", lead + frame, whole, voip, _lost_in_call(heard)),
        Leg("seal", whole, whole, len(sealed), "nothing"),
        Leg("publish", whole + delay, at_hob, len(wire), f"nothing; {messages('all', 1)} packets"),
        Leg("kettle", at_hob, arrives, link.payload * middle.air, _sent_again(middle)),
    )
    return Budget(legs, gained, heard, crossed, arrives + back + delay)
