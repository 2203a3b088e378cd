"""What each station does to the sentence: a room with echo, a call, a seal, a publication, a link of slots.

Every function calls the public functions of one study, with the settings that the chapter
``01_from_mouth_to_kettle`` uses; the chapter makes the same calls in its own cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.echo.dcd import WLDRRLSDCD
from voicewire.echo.metrics import erle
from voicewire.echo.scenes import speech
from voicewire.echo.scenes.scene import Scene
from voicewire.echo.widely_linear import echo, responses
from voicewire.mqtt.packets import Publish, encode
from voicewire.nfc.channel import Channel
from voicewire.nfc.session import Result, Session
from voicewire.transport.secure_objects.icto import Identity, Rule, seal
from voicewire.voip.codecs.listening import FRAME, Heard
from voicewire_book.chapters.journey.sentence import TELEPHONE

__all__ = [
    "CREATED", "MEMORY", "PART", "TAPS", "TOPIC", "Room", "crossings", "identities", "loud", "publication", "recorded",
    "room", "sealed",
]  # fmt: skip

Array = NDArray[np.float64]

TAPS: Final = 64
"""Taps of each echo path: 8 ms at 8 kHz, a small room."""
MEMORY: Final = 32
"""K in the forgetting factor, 1 - 1/(K L)."""
TOPIC: Final = "kitchen/kettle"
PART: Final = "sentence"
CREATED: Final = 1_800_000_000
"""When the object is sealed, s since 1970: fixed, so that its bytes are the same at each run."""

_ALONE: Final = 4.0  # s in which only the far end talks
_MOVED: Final = 0.5  # s before the sentence in which somebody swaps the microphones
_SCENE: Final = 2  # seed of the conversation
_RIGHT: Final = 0.7  # of the voice at the right microphone, which is farther away
_KEYS: Final = 11  # seed of keys and nonces


@dataclass(frozen=True)
class Room:
    """The sentence at the left microphone, with and without the echo.

    Attributes
    ----------
    heard, freed : ndarray of float, shape (n,)
        What the microphone hears, and what is left once the estimated echo is taken off; both in the same units.
    erle : float
        Echo's power at both microphones over that of what is left of it, dB.
    voice_to_echo : float
        Power of the voice over that of the echo, before, dB.
    """

    heard: Array
    freed: Array
    erle: float
    voice_to_echo: float


@checks.takes(
    voice=checks.array(low=-100.0, high=100.0, sound=True), passes=checks.whole(1, 100),
    moved=checks.one_of(False, True), seed=checks.seed,
)  # fmt: skip
def room(voice: Array, passes: int = 3, moved: bool = True, seed: int = _SCENE) -> Room:
    """Let the voice be picked up beside two loudspeakers, and take the echo of the far end off.

    The far end talks alone for four seconds and talks on while the sentence is spoken, as loudly. The canceller learns
    until the sentence begins, and is held from there on: a filter that learns while both talk takes the near voice for
    an error of its own.
    """
    if not np.std(voice) > 0:
        raise ValueError("voice is silent: there is nothing to be heard beside the echo")
    begins = round(_ALONE * TELEPHONE)
    talk = speech.talk(_ALONE + voice.size / TELEPHONE, seed)
    change: Literal["none", "swap"] = "swap" if moved else "none"
    scene = Scene(TAPS, 0, seed, source=talk, change=change, change_at=begins - round(_MOVED * TELEPHONE)).signals()
    as_loud = voice[: scene.x.size - begins] * (np.std(scene.d[begins:].real) / np.std(voice))
    near = as_loud * (1 + 1j * _RIGHT)
    canceller = WLDRRLSDCD(TAPS, 1 - 1 / (MEMORY * TAPS), passes)
    canceller.process(scene.x[:begins], scene.d[:begins])
    estimated = echo(responses(canceller.taps), scene.x)[begins:]
    microphones = scene.d[begins:] + near
    freed = microphones - estimated
    return Room(
        microphones.real, freed.real, erle(scene.d[begins:], freed - near), erle(near.real, scene.d[begins:].real)
    )


@checks.takes(samples=checks.array(low=-1e6, high=1e6))
def loud(samples: Array) -> NDArray[np.int16]:
    """Give samples as 16 bits, their largest at half of full scale."""
    peak = float(np.max(np.abs(samples)))
    if not peak > 0:
        raise ValueError("samples are all zero: no gain makes silence loud")
    return np.round(samples / peak * 16_384).astype(np.int16)


@checks.takes(got=checks.a(Heard))
def recorded(got: Heard) -> tuple[NDArray[np.int16], float]:
    """Give what a telephone records of a call, from when its first frame may be played."""
    waits = got.call.playout.delays_ms
    if np.isnan(waits).all():
        raise ValueError("not one frame of the call was played: there is nothing to record")
    lead = float(np.nanmin(waits)) / 1000
    return got.samples[round(lead * TELEPHONE) : -FRAME], lead


def identities() -> tuple[Identity, Identity, Identity]:
    """Give the keys of the phone, which seals, of the kettle, and of a stranger; the same at each run.

    Notes
    -----
    Keys that are the same at each run protect nothing.
    """
    draw = np.random.default_rng(_KEYS).bytes
    phone, kettle, stranger = (Identity.create(name, draw) for name in ("phone", "kettle", "stranger"))
    return phone, kettle, stranger


def sealed(content: bytes) -> bytes:
    """Seal bytes for the kettle alone."""
    phone, kettle, _ = identities()
    draw = np.random.default_rng(_KEYS + 1).bytes
    rules = {PART: Rule(("kettle",))}
    return seal({PART: content}, rules, [kettle.public], phone, created=CREATED, random=draw)


def publication(payload: bytes) -> bytes:
    """Give the PUBLISH of QoS 3 that waits for one subscriber, as it lies on the wire."""
    return encode(Publish(TOPIC, payload, 3, packet_id=1, waited=1))


@checks.takes(
    size=checks.whole(1, 10**7), mss=checks.whole(1, 65_495), ber=checks.number(0.0, 1e-3),
    runs=checks.array(kind="whole", low=0, most=10_000),
)  # fmt: skip
def crossings(size: int, mss: int = 1024, ber: float = 0.0, runs: ArrayLike = tuple(range(25))) -> list[Result]:
    """Let bytes cross the kitchen's slots as TCP segments, once for each seed."""
    session = Session(size, mss=mss, channel=Channel.random(ber))
    seeds = np.asarray(runs)[: None if ber else 1]
    return sorted((session.run(np.random.default_rng(int(seed))) for seed in seeds), key=lambda result: result.slots)
