"""`voicewire voip score`: a call that was received, from a capture or a CSV; no address and no payload leaves it."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voicewire._kit.options import new_file, number, print_json, readable, text, whole

if TYPE_CHECKING:
    from voicewire.voip.captures.received import Received, Scored

__all__ = ["register"]

_PICTURES = 90_000
_LATEST = 60.0  # s: no packet of a call is later
_CODECS = {0: "G.711", 8: "G.711", 18: "G.729"}


def _read(options: argparse.Namespace) -> tuple[Received, dict[str, Any]]:
    """Give the stream that was chosen, and what is to be said of it."""
    from voicewire.voip.captures.received import in_order, read_arrivals
    from voicewire.voip.captures.rtp import clock_of, read_capture
    from voicewire.voip.errors import VoipError

    found = read_capture(options.file)
    if found is None:
        columns = read_arrivals(options.file)
        clock = options.clock or 8000
        said: dict[str, Any] = {"stream": 1, "streams": 1, "payload_type": None, "cut": False}
        said |= {"carried": None, "holes": 0}
        said |= {"clock_hz": clock if columns.stamps else None, "clock_from": "stated" if options.clock else "assumed"}
        if options.write is not None:
            raise VoipError("--write is for a capture: this is a CSV already")
        return in_order(columns.times, columns.numbers, options.frame, columns.stamps, clock), said
    if not found.streams:
        behind = ", and the file is cut or damaged behind them" * found.cut
        if found.short:
            behind += (
                f"; of {found.short} datagrams the capture kept too few bytes to tell: capture again, with 96 bytes or "
                "more of each packet"
            )
        raise VoipError(
            f"no stream of ten or more packets of RTP, over UDP or over TCP (RFC 4571, RTSP), among {found.packets} "
            f"packets{behind}"
        )
    if options.stream > len(found.streams):
        raise VoipError(f"the capture has {len(found.streams)} streams of RTP, not {options.stream}")
    stream = found.streams[options.stream - 1]
    if (stream.stamps == stream.stamps[0]).all():
        raise VoipError(
            f"stream {options.stream} has one timestamp for all, as a pressed key or a picture has: no voice"
        )
    if options.clock:
        kind, clock, source = Counter(stream.types.tolist()).most_common(1)[0][0], options.clock, "stated"
    else:
        kind, clock, fixed = clock_of(stream)
        source = "RFC 3551" if fixed else "from timestamps over time"
        if clock == _PICTURES:
            raise VoipError(
                f"stream {options.stream} of {len(found.streams)} counts {clock:,} ticks a second, as pictures do: "
                "choose another, or state --clock if it is a voice"
            )
    said = {"stream": options.stream, "streams": len(found.streams), "payload_type": kind, "cut": found.cut}
    said |= {"carried": stream.carried, "holes": found.holes}
    speech = stream.types == kind
    made = in_order(stream.times, stream.numbers, options.frame, stream.stamps, clock, stream.markers, speech)
    if options.write is not None:
        _write(options.write, stream.times, stream.numbers[speech], stream.stamps, speech)
    return made, said | {"clock_hz": clock, "clock_from": source}


def _write(path: Path, times: Any, numbers: Any, stamps: Any, speech: Any) -> None:
    """Write times, numbers and timestamps from 0, and nothing else of the capture."""
    when = times[speech] - times[speech][0]
    ticks, count = (stamps[speech] - stamps[speech][0]) % 2**32, (numbers - numbers[0]) % 2**16
    rows = (f"{t:.6f},{n},{k}\n" for t, n, k in zip(when, count, ticks, strict=True))
    path.write_text("seconds,number,timestamp\n" + "".join(rows), encoding="utf-8")


def _score(options: argparse.Namespace) -> int:
    from voicewire.voip.captures.clock_skew import clock_drift, without_drift
    from voicewire.voip.captures.received import score
    from voicewire.voip.errors import VoipError

    if options.picture is not None and options.picture.suffix.lower() not in (".png", ".svg", ".pdf"):
        print("voicewire voip score: --picture must end in .png, .svg or .pdf", file=sys.stderr)
        return 2
    try:
        stream, said = _read(options)
        if said["clock_hz"] is None:
            said["drift"] = {"ppm": None, "within_ppm": None, "taken_out": False, "why_not": "no timestamps"}
        else:
            found = clock_drift(stream)
            stream = without_drift(stream, found)
            ppm, within = (None if each != each else each for each in found[:2])
            said["drift"] = {
                "ppm": ppm, "within_ppm": within, "taken_out": not found.why_not, "why_not": found.why_not,
            }  # fmt: skip
        name = options.codec or _CODECS.get(said["payload_type"])
        said["codec"], said["codec_from"] = name or "G.711", (
            "stated" if options.codec else "payload type" if name else "assumed"
        )  # fmt: skip
        late = max(delay for delay in stream.delays_ms.tolist() if delay < float("inf")) / 1000
        if late > _LATEST:
            raise VoipError(
                f"arrivals and the sender's count part by {late:.0f} s: it began anew, a pause isn't in it, or "
                "the file is damaged; cut the recording there"
            )
        made = score(stream, said["codec"], options.delay)
        if options.picture is not None:
            _draw(options.picture, stream, made, options.delay)
    except (VoipError, OSError) as error:
        what = error.strerror if isinstance(error, OSError) else error
        print(f"voicewire voip score: {options.file.name}: {what}", file=sys.stderr)
        return 1
    report = said | _report(stream, made, options.delay)
    if options.json:
        print_json(report)
    else:
        print(_lines(report))
    return 0


def _draw(path: Path, stream: Received, made: Scored, delay_ms: float) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    from voicewire._kit.style import STYLE
    from voicewire.voip.captures.received_figures import received

    with mpl.rc_context():
        mpl.rcParams.update(STYLE)
        received(stream, made, delay_ms)
        plt.savefig(path)
        plt.close("all")


def _report(stream: Received, made: Scored, delay_ms: float) -> dict[str, Any]:
    import numpy as np

    from voicewire.voip.emodel import quality

    came = stream.delays_ms[np.isfinite(stream.delays_ms)]
    buffers = {}
    for name, one, its in zip(("fixed", "adaptive", "best"), made[3:6], made.mos, strict=True):
        chosen = one.delays_ms[np.isfinite(one.delays_ms)]
        low, high = (float(chosen.min()), float(chosen.max())) if chosen.size else (float("nan"),) * 2
        buffers[name] = {
            "r": one.r, "mos": its, "quality": quality(one.r), "not_played_percent": 100 * one.loss,
            "from_ms": low, "to_ms": high,
        }  # fmt: skip
    return {
        "frames": int(stream.delays_ms.size), "frame_ms": stream.frame_ms,
        "seconds": float(np.ptp(stream.sent_ms) / 1000),
        "lost_percent": 100 * made.loss, "burst_ratio": made.burst, "longest_burst": made.longest,
        "duplicates": stream.duplicates, "reordered": stream.reordered, "strays": stream.strays,
        "jitter_ms": stream.jitter_ms, "talkspurts": int(stream.spurts[-1]) + 1, "talkspurts_seen": stream.shown,
        "variation_ms": dict(zip(("50%", "95%", "100%"), np.percentile(came, [50, 95, 100]).tolist(), strict=True)),
        "fastest_ms": delay_ms, "buffers": buffers,
    }  # fmt: skip


def _lines(report: dict[str, Any]) -> str:
    kind = "" if report["payload_type"] is None else f", payload type {report['payload_type']}"
    clock = "" if report["clock_hz"] is None else f", clock {report['clock_hz']:g} Hz ({report['clock_from']})"
    within, drift = report["variation_ms"], report["drift"]
    slow = "slow" if drift["taken_out"] and drift["ppm"] > 0 else "fast"
    parted = (
        f"drift: the sender's clock is {slow} by {abs(drift['ppm']):.1f} ppm (±{drift['within_ppm']:.1f}), taken out"
        if drift["taken_out"]
        else f"drift of the two clocks: can't be told ({drift['why_not']}); nothing is taken out"
    )
    seen = "seen" if report["talkspurts_seen"] else "not seen: stretches of 50 frames stand for them"
    over = "" if report["carried"] in (None, "UDP") else f", over {report['carried']}: what was lost comes late"
    lines = [
        f"stream {report['stream']} of {report['streams']} (most packets first){kind}{clock}{over}",
        *["the file is cut or damaged: what stands before that was read"] * report["cut"],
        *["a TCP connection has a hole: what stands before that was read"] * (report["holes"] > 0),
        f"frames {report['frames']} of {report['frame_ms']:.4g} ms in {report['seconds']:.1f} s  "
        f"lost {report['lost_percent']:.2f} %  burst ratio {report['burst_ratio']:.2f}  "
        f"longest burst {report['longest_burst']}",
        f"duplicates {report['duplicates']}  reordered {report['reordered']}  strays {report['strays']}  "
        f"jitter {report['jitter_ms']:.2f} ms",
        parted,
        f"delay above the fastest: median {within['50%']:.1f}, 95 % within {within['95%']:.1f}, "
        f"largest {within['100%']:.1f} ms",
        f"talkspurts {report['talkspurts']} ({seen})",
        f"codec {report['codec']} ({report['codec_from']}), {report['fastest_ms']:g} ms for the fastest packet "
        "(stated, not measured), a perfect echo canceller",
    ]
    for name, one in report["buffers"].items():
        spread = f" to {one['to_ms']:.0f}" * (one["to_ms"] > one["from_ms"])
        plays = f"  plays at {one['from_ms']:.0f}{spread} ms" if one["from_ms"] == one["from_ms"] else ""
        lines.append(
            f"{name:8}  R {one['r']:.2f}  MOS {one['mos']:.2f}  {one['quality']}  "
            f"not played {one['not_played_percent']:.2f} %{plays}"
        )
    return "\n".join(lines)


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `voicewire voip score`."""
    real = commands.add_parser("score", help="score a call that was received: a capture with RTP, or a CSV")
    real.add_argument(
        "file", type=readable, metavar="FILE",
        help="pcap or pcapng with RTP over UDP or TCP; or CSV: arrival in s, sequence number, if known RTP timestamp",
    )  # fmt: skip
    real.add_argument("--stream", type=whole(1, 10**6), default=1, help="which, most packets first (default: 1)")
    real.add_argument("--codec", type=text, help="G.711, G.729 or G.729A+VAD (default: by payload type, else G.711)")
    real.add_argument(
        "--delay", type=number(0.0, 3_600_000.0), default=50.0, metavar="MS",
        help="one-way delay of the fastest packet, stated: arrivals show variation only (default: 50)",
    )  # fmt: skip
    real.add_argument(
        "--clock", type=number(1.0, 1e9), metavar="HZ",
        help="ticks a second of the timestamps (default: by payload type, else told from them; 8000 for a CSV)",
    )  # fmt: skip
    real.add_argument(
        "--frame", type=number(0.125, 1000.0), default=20.0, metavar="MS",
        help="a frame, where no timestamp tells (default: 20)",
    )  # fmt: skip
    real.add_argument("--picture", type=new_file, metavar="FILE", help="draw delays and buffers (.png, .svg or .pdf)")
    real.add_argument("--write", type=new_file, metavar="FILE", help="write a CSV with times and numbers from 0 only")
    real.add_argument("--json", action="store_true", help="print an object instead of lines")
    real.set_defaults(handler=_score)
