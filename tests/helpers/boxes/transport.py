"""The boxes of the part on transports, and the package's functions that they are held to."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxes import Case
from voicewire.netsim.reference import tcp_sender
from voicewire.testbed import capture
from voicewire.transport.reference import known_after
from voicewire.transport.toy_examples import loop_headers

MSS = 1460


def _window(names: dict[str, Any]) -> dict[str, Any]:
    """What the package's sender makes of its window, in segments."""
    s = tcp_sender.Sender(
        cwnd=names["cwnd"] * MSS, ssthresh=names["ssthresh"] * MSS, nxt=names["out"], backoff=names["backoff"]
    )  # fmt: skip
    if names["event"] == "acknowledged":
        tcp_sender.advance(s, 0, 1)
        tcp_sender.grow(s)
    elif names["event"] == "hole":
        tcp_sender.fast_retransmit(s)
    else:
        tcp_sender.timed_out(s)
    return {"cwnd": s.cwnd / MSS, "ssthresh": s.ssthresh / MSS, "backoff": s.backoff}


def _segments(rng: np.random.Generator) -> list[capture.Segment]:
    """One direction of a connection whose numbers go beyond the largest, with repetitions that are cut elsewhere."""
    ends = ("10.0.0.1", 40_000), ("10.0.0.2", 1883)
    first = 2**32 - int(rng.integers(1, 60))
    made = [capture.Segment(0.0, True, *ends, first, 0, "S", 40, 20, (), b"", 0)]
    for _ in range(int(rng.integers(1, 30))):
        length, flags = int(rng.integers(0, 40)), ("A", "PA", "FA")[int(rng.integers(3))]
        seq = (first + int(rng.integers(0, 200))) % 2**32
        made.append(capture.Segment(0.0, True, *ends, seq, 0, flags, 32, 20, (), bytes(length), length))
    return made


def _acted(names: dict[str, Any]) -> dict[str, Any]:
    """What a receiver does that remembers every number, and refuses what lies `w` or more below the highest."""
    acted: list[int] = []
    for number in names["numbers"]:
        if number not in acted and number > max(acted, default=-1) - names["w"]:
            acted.append(number)
    return {"acted": acted, "highest": max(acted)}


def _square(k: int) -> int:
    return k * k % 1_000_003


def _chain(names: dict[str, Any]) -> dict[str, Any]:
    """The chain's keys one by one; what is forged, old or too far ahead changes nothing."""
    chain = [names["key"]]
    while len(chain) < 200:
        chain.append(_square(chain[-1]))
    ahead = names["j"] - names["i"]
    if not 0 <= ahead <= names["limit"] or not names["right"](chain[ahead]):
        return {"opened": False, "key": names["key"], "i": names["i"]}
    return {"opened": True, "key": chain[ahead + 1], "i": names["j"] + 1}


CASES: dict[str, Case] = {
    "box-transport-merge": Case(
        # whole milliseconds: no time is off by a rounding
        given=lambda rng: {
            "n": int(rng.integers(1, 200)), "g": float(rng.integers(1, 90)), "a": float(rng.integers(1, 90)),
        },
        expected=lambda names: {"H": loop_headers(names["n"], names["g"], names["a"])},
    ),
    "box-transport-confirmable": Case(
        given=lambda rng: {
            "first": float(rng.uniform(2, 3)), "rtt": 0.04, "lost": (rng.random(5) < 0.6).tolist(),
        },
        expected=lambda names: {"known": known_after(names["lost"], names["first"], names["rtt"])},
    ),
    "box-transport-window": Case(
        given=lambda rng: {
            "event": ("acknowledged", "hole", "timer")[int(rng.integers(3))], "cwnd": float(rng.uniform(1, 20)),
            "ssthresh": float(rng.uniform(2, 20)), "out": int(rng.integers(1, 20)),
            "backoff": float(2 ** rng.integers(0, 7)),
        },
        expected=_window,
    ),
    "box-transport-repeated": Case(
        given=lambda rng: {"segments": _segments(rng), "seen": set(), "again": 0},
        expected=lambda names: {"again": sum(map(capture.Repeats().count, names["segments"]))},
    ),
    "box-transport-replay": Case(
        given=lambda rng: {
            "numbers": (np.arange(60) + rng.integers(-12, 12, 60)).clip(0).tolist(), "w": int(rng.integers(1, 12)),
            "highest": -1, "bits": 0, "acted": [],
        },
        expected=_acted,
    ),
    "box-transport-chain": Case(
        given=lambda rng: {
            "key": int(rng.integers(2, 1_000_000)), "i": 40, "j": int(rng.integers(30, 160)), "limit": 100,
            "H": _square, "right": (lambda genuine: lambda k: genuine)(bool(rng.integers(4))),
        },
        expected=_chain,
    ),
}  # fmt: skip
