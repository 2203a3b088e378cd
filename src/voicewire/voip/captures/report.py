"""A received call judged part by part, and joined: the numbers that `voicewire voip score` prints."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from voicewire.voip.captures.clock_skew import Drift, clock_drift, without_drift
from voicewire.voip.captures.parts import Part, parts_of
from voicewire.voip.captures.received import Received, Scored, in_order, score
from voicewire.voip.captures.rtp import Capture, Stream
from voicewire.voip.emodel import mos, quality
from voicewire.voip.errors import VoipError
from voicewire.voip.loss_bursts import burst_ratio
from voicewire.voip.playout import Playout
from voicewire.voip.playout_rules.whole_frames import whole_frames

__all__ = ["BUFFERS", "Judged", "buffers", "clamped", "judged", "judged_stream", "no_stream", "numbers_of", "told"]

BUFFERS = ("fixed", "adaptive", "best", "ramjee")
"""The best fixed delay; whole frames, as a phone's buffer plays; the bound over all choices for each talkspurt;
Ramjee's algorithm as published."""
_PICTURES = 90_000
_LATEST = 60.0  # s: no packet of a call is later
_CODECS = {0: "G.711", 8: "G.711", 18: "G.729"}
_OTHERS = {
    3: "GSM", 4: "G.723", 5: "DVI4", 6: "DVI4", 7: "LPC", 9: "G.722", 10: "L16", 11: "L16", 12: "QCELP", 15: "G.728",
    16: "DVI4", 17: "DVI4",
}  # fmt: skip
"""What RFC 3551 fixes, and the E-model here has no impairment of."""


class Judged(NamedTuple):
    """A part, in the order of its sending, and what the buffers make of it."""

    part: Part | None
    stream: Received
    made: Scored
    whole: Playout
    drift: Drift | None
    codec: str
    codec_from: str
    delay_ms: float

    @property
    def playouts(self) -> tuple[Playout, ...]:
        """In the order of `BUFFERS`."""
        return self.made.fixed, self.whole, self.made.best, self.made.adaptive


def no_stream(found: Capture) -> str:
    """What a capture without a stream has."""
    behind = ", and the file is cut or damaged behind them" * found.cut
    if found.short:
        behind += (
            f"; of {found.short} datagrams the capture kept too few bytes to tell: capture again, with 96 bytes or "
            "more of each packet"
        )
    said = (
        f"no stream of ten or more packets of RTP, over UDP or over TCP (RFC 4571, RTSP), among {found.packets} "
        f"packets{behind}"
    )
    over = ", ".join(f"{count} {what}" for what, count in found.passed.items() if "too short" not in what)
    return said + f"; passed over: {over}" * bool(over)


def clamped(r: float) -> float:
    """R on its scale, 0 to 100: the E-model's sum leaves it where delays are long, and no phone shows that."""
    return min(max(r, 0.0), 100.0)


def judged(
    stream: Received, codec: str | None, delay_ms: float, kind: int | None = None, part: Part | None = None,
    stamped: bool = True,
) -> Judged:  # fmt: skip
    """Judge a stream whose clock is one: its drift taken out, then every buffer."""
    drift = clock_drift(stream) if stamped else None
    if drift is not None:
        stream = without_drift(stream, drift)
    name = codec or _CODECS.get(-1 if kind is None else kind)
    source = "stated" if codec else "payload type" if name else "assumed"
    late = float(np.max(stream.delays_ms[np.isfinite(stream.delays_ms)])) / 1000
    if late > _LATEST:
        raise VoipError(
            f"arrivals and {'timestamps' if stamped else 'sequence numbers'} part by {late:.0f} s, more than a packet "
            "of a call is late: cut the recording where they part"
        )
    made = score(stream, name or "G.711", delay_ms)
    whole = whole_frames(stream.delays_ms + delay_ms, stream.spurts, name or "G.711", stream.frame_ms)
    return Judged(part, stream, made, whole, drift, name or "G.711", source, delay_ms)


def judged_stream(
    stream: Stream, codec: str | None, delay_ms: float, frame_ms: float, clock_hz: float | None
) -> tuple[list[Judged], Counter[str]]:
    """Cut a stream into parts, and judge each; what is passed over is counted, a part that can't be judged too."""
    parts, passed = parts_of(stream, clock_hz)
    made, refused = list[Judged](), list[VoipError]()
    for k, part in enumerate(parts, start=1):
        try:
            if part.clock_hz == _PICTURES and part.clock_from != "stated":
                raise VoipError(
                    f"it counts {part.clock_hz:,.0f} ticks a second, as pictures do: choose another stream, or state "
                    "--clock if it is a voice"
                )
            if codec is None and part.kind in _OTHERS:
                raise VoipError(
                    f"payload type {part.kind} is {_OTHERS[part.kind]} (RFC 3551), and the E-model here has G.711, "
                    "G.729 and G.729A+VAD: state --codec to score it as one of them"
                )
            its = part.stream
            one = in_order(
                its.times, its.numbers, frame_ms, its.stamps, part.clock_hz, its.markers, part.speech
            )  # fmt: skip
            made.append(judged(one, codec, delay_ms, part.kind, part))
        except VoipError as error:
            refused.append(error)
            passed[f"packets of part {k}, which isn't scored ({error})"] += part.stream.times.size
    if not made:
        raise refused[0]
    return made, passed


def buffers(parts: list[Judged]) -> dict[str, dict[str, Any]]:
    """What each buffer makes of all parts: R is their mean over frames, each part's clamped to 0..100 before."""
    weight = np.array([each.stream.delays_ms.size for each in parts], dtype=float)
    found = {}
    for k, name in enumerate(BUFFERS):
        its = [each.playouts[k] for each in parts]
        chosen = np.concatenate([each.delays_ms[np.isfinite(each.delays_ms)] for each in its])
        low, high = (float(chosen.min()), float(chosen.max())) if chosen.size else (float("nan"),) * 2
        rating = float(np.average([clamped(each.r) for each in its], weights=weight))
        raw = float(np.average([each.r for each in its], weights=weight))
        played, total = sum(each.played for each in its), sum(each.total for each in its)
        found[name] = {
            "r": rating, "r_unclamped": raw, "mos": float(mos(rating)), "quality": quality(rating),
            "not_played_percent": 100 * (1 - played / total),
            "from_ms": low if low == low else None, "to_ms": high if high == high else None,
        }  # fmt: skip
    return found


def numbers_of(parts: list[Judged], delay_ms: float) -> dict[str, Any]:
    """The numbers of one part or, over all their frames, of several."""
    streams = [each.stream for each in parts]
    delays = np.concatenate([each.delays_ms for each in streams])
    came = delays[np.isfinite(delays)]
    lost, arrived = np.isinf(delays), [int(np.isfinite(each.delays_ms).sum()) for each in streams]
    longest = max(parts, key=lambda each: each.stream.delays_ms.size)
    codecs, reasons = (list(dict.fromkeys(its)) for its in zip(*((p.codec, p.codec_from) for p in parts), strict=True))
    report = {
        "frames": int(delays.size), "frame_ms": longest.stream.frame_ms,
        "seconds": float(sum(np.ptp(each.sent_ms) for each in streams) / 1000),
        "lost_percent": 100 * float(lost.mean()), "burst_ratio": burst_ratio(lost),
        "longest_burst": max(each.made.longest for each in parts),
        "duplicates": sum(each.stream.duplicates + (each.part.copies if each.part else 0) for each in parts),
        "reordered": sum(each.reordered for each in streams), "strays": sum(each.strays for each in streams),
        "jitter_ms": float(np.average([each.jitter_ms for each in streams], weights=arrived)),
        "talkspurts": sum(int(each.spurts[-1]) + 1 for each in streams),
        "talkspurts_seen": all(each.shown for each in streams),
        "variation_ms": dict(zip(("50%", "95%", "100%"), np.percentile(came, [50, 95, 100]).tolist(), strict=True)),
        "fastest_ms": delay_ms, "codec": ", ".join(codecs), "codec_from": ", ".join(reasons),
        "drift": told(longest.drift), "buffers": buffers(parts),
    }  # fmt: skip
    part = longest.part
    if part is not None:
        report |= {"payload_type": part.kind, "clock_hz": part.clock_hz, "clock_from": part.clock_from}
    return report


def told(drift: Drift | None) -> dict[str, Any]:
    """A drift, as an object of JSON."""
    if drift is None:
        return {"ppm": None, "within_ppm": None, "taken_out": False, "why_not": "no timestamps"}
    ppm, within = (None if each != each else each for each in drift[:2])
    return {"ppm": ppm, "within_ppm": within, "taken_out": not drift.why_not, "why_not": drift.why_not}
