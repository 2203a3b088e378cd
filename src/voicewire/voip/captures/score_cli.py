"""`voicewire voip score`: a call that was received, from a capture or a CSV; no address and no payload leaves it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voicewire._kit.options import new_file, number, print_json, readable, text, whole

if TYPE_CHECKING:
    from voicewire.voip.captures.received import Received, Scored
    from voicewire.voip.captures.report import Judged
    from voicewire.voip.captures.rtp import Capture, Stream

__all__ = ["register"]

_RULES = (
    "R = 94.2 - Ie - Id, shown within 0 to 100; fixed is the best one delay, best the bound; adaptive plays",
    "whole frames, the fewest that would have played 99 % of the last 1,000, two at first; ramjee between frames, as "
    "no phone does",
)


def _from_csv(options: argparse.Namespace) -> tuple[list[Judged], dict[str, Any]]:
    import numpy as np

    from voicewire.voip.captures.received import in_order, read_arrivals
    from voicewire.voip.captures.report import judged, judged_stream
    from voicewire.voip.captures.rtp import Stream, told_clock
    from voicewire.voip.errors import VoipError

    for name in ("write", "wav"):
        if getattr(options, name) is not None:
            raise VoipError(f"--{name} is for a capture: this is a CSV")
    columns = read_arrivals(options.file)
    said: dict[str, Any] = {"stream": 1, "streams": 1, "carried": None, "holes": 0, "cut": False}
    said |= {"payload_type": None, "clock_hz": None, "clock_from": "assumed", "passed": {}}
    times, numbers = np.array(columns.times), np.array(columns.numbers)
    said["passed"] = {f"column not read ({name})": 1 for name in columns.more}
    if times.size >= 3:
        usual = 1000 * float(np.median(np.diff(times)))
        if usual > 100 * options.frame:
            raise VoipError(
                f"from one line to the next it is {usual / 1000:g} s in the median: times must be in seconds"
            )
        if (times == np.floor(times)).all() and np.mean(np.diff(times) == 0) > 0.5:
            raise VoipError("the times count in steps of 1 s: arrivals are told apart by fractions of a second only")
    if columns.stamps is None or times.size < 20:
        clock = options.clock or 8000.0
        made = in_order(columns.times, columns.numbers, options.frame, columns.stamps, clock)
        said |= {"clock_hz": clock} if columns.stamps is not None else {}
        said["clock_from"] = "stated" if options.clock else "assumed"
        return [judged(made, options.codec, options.delay, stamped=columns.stamps is not None)], said
    row = np.zeros(times.size, dtype=np.int64)
    stream = Stream(times, numbers, np.array(columns.stamps), row > 0, row + 127)
    told, how = told_clock(stream.times, stream.stamps)
    clock = options.clock or told
    if clock is None:
        raise VoipError(
            f"the timestamps in the third column count {how}: times must be in seconds; if they are, state the rate "
            "(--clock)"
        )
    parts, passed = judged_stream(stream, options.codec, options.delay, options.frame, clock)
    said |= {"clock_hz": clock, "passed": said["passed"] | dict(passed)}
    return parts, said | {"clock_from": "stated" if options.clock else how}


def _from_capture(options: argparse.Namespace, found: Capture) -> tuple[list[Judged], dict[str, Any]]:
    """Judge the stream that was chosen, and the one that answers it where none was."""
    from voicewire.voip.captures.report import judged_stream, no_stream, numbers_of
    from voicewire.voip.errors import VoipError

    if not found.streams:
        raise VoipError(no_stream(found))
    sizes = [(-one.times.size, one.opposite is None) for one in found.streams]
    chosen = options.stream or 1 + sizes.index(min(sizes))
    if chosen > len(found.streams):
        raise VoipError(f"the capture has {len(found.streams)} streams of RTP, not {chosen}")
    stream = found.streams[chosen - 1]
    try:
        parts, passed = judged_stream(stream, options.codec, options.delay, options.frame, options.clock)
    except VoipError as error:
        raise VoipError(f"stream {chosen} of {len(found.streams)}: {error}") from error
    said: dict[str, Any] = {"stream": chosen, "streams": len(found.streams), "cut": found.cut, "holes": found.holes}
    said |= {"carried": stream.carried, "packets": found.packets}
    said |= {"passed": dict(found.passed), "left_out": dict(passed)}
    said |= {"tunnels": dict(found.tunnels), "rtcp": _reported(stream, parts), "rtcp_packets": found.controls}
    scored = {chosen}
    if options.stream is None and stream.opposite is not None:
        back = found.streams[stream.opposite]
        scored.add(stream.opposite + 1)
        said["opposite"] = {"stream": stream.opposite + 1}
        try:
            its, over = judged_stream(back, options.codec, options.delay, options.frame, options.clock)
            said["opposite"] |= numbers_of(its, options.delay)
            said["opposite"] |= {"parts": _parts(its, options.delay), "left_out": dict(over)}
            said["opposite"] |= {"rtcp": _reported(back, its)}
        except VoipError as error:
            said["opposite"]["refused"] = str(error)
    said["not_scored"] = [
        {
            "stream": k, "packets": int(one.times.size), "payload_types": sorted(set(one.types.tolist())),
            "from_s": float(one.times.min()), "to_s": float(one.times.max()), "copy_of": _copy_of(one, found, scored),
        } for k, one in enumerate(found.streams, start=1) if k not in scored
    ]  # fmt: skip
    return parts, said


def _copy_of(one: Stream, found: Capture, scored: set[int]) -> int | None:
    """Which stream that is scored has the same source, numbers and timestamps, as behind a translator of addresses."""
    mine = set(zip(one.numbers.tolist(), one.stamps.tolist(), strict=True))
    for k in sorted(scored):
        other = found.streams[k - 1]
        if not one.names & other.names:
            continue
        if len(mine & set(zip(other.numbers.tolist(), other.stamps.tolist(), strict=True))) > 0.9 * len(mine):
            return k
    return None


def _reported(stream: Stream, parts: list[Judged]) -> dict[str, Any] | None:
    """What the receiver reported of a stream by RTCP."""
    its = [each.part for each in parts if each.part is not None]
    if not stream.reports or not its:
        return None
    clock, told = its[-1].clock_hz, stream.reports
    return {
        "reports": len(told), "lost": told[-1].lost, "worst_percent": 100 * max(each.fraction for each in told),
        "jitter_ms": 1000 * told[-1].jitter / clock,
        "largest_jitter_ms": 1000 * max(each.jitter for each in told) / clock,
    }  # fmt: skip


def _parts(parts: list[Judged], delay_ms: float) -> list[dict[str, Any]]:
    from voicewire.voip.captures.report import numbers_of

    made = []
    for each in parts:
        one = numbers_of([each], delay_ms)
        if each.part is not None:
            times = each.part.stream.times
            one = {"why": each.part.why, "from_s": float(times.min()), "to_s": float(times.max())} | one
        made.append(one)
    return made


def _write(path: Path, parts: list[Judged]) -> None:
    """Write times, numbers and timestamps from 0, and nothing else of the capture."""
    from voicewire.voip.errors import VoipError

    if len(parts) > 1:
        raise VoipError(f"--write: the stream has {len(parts)} parts, and a CSV has one clock: cut the capture first")
    part = parts[0].part
    assert part is not None
    its, speech = part.stream, part.speech
    when, numbers = its.times[speech] - its.times[speech][0], its.numbers[speech]
    ticks, count = (its.stamps[speech] - its.stamps[speech][0]) % 2**32, (numbers - numbers[0]) % 2**16
    rows = (f"{t:.6f},{n},{k}\n" for t, n, k in zip(when, count, ticks, strict=True))
    path.write_text("seconds,number,timestamp\n" + "".join(rows), encoding="utf-8")


def _score(options: argparse.Namespace) -> int:
    from voicewire.voip.captures.report import numbers_of
    from voicewire.voip.captures.rtp import read_capture
    from voicewire.voip.errors import VoipError

    if options.picture is not None and options.picture.suffix.lower() not in (".png", ".svg", ".pdf"):
        print("voicewire voip score: --picture must end in .png, .svg or .pdf", file=sys.stderr)
        return 2
    try:
        found = read_capture(options.file, sound=options.wav is not None)
        parts, said = _from_csv(options) if found is None else _from_capture(options, found)
        report = said | numbers_of(parts, options.delay) | {"parts": _parts(parts, options.delay)}
        if options.write is not None:
            _write(options.write, parts)
        if options.wav is not None:
            from voicewire.voip.captures.g711 import write_wav

            report["wav_seconds"] = write_wav(options.wav, parts)
        if options.picture is not None:
            longest = max(parts, key=lambda each: each.stream.delays_ms.size)
            _draw(options.picture, longest.stream, longest.made, options.delay)
    except (VoipError, OSError) as error:
        what = error.strerror if isinstance(error, OSError) else error
        print(f"voicewire voip score: {options.file.name}: {what}", file=sys.stderr)
        return 1
    if options.json:
        print_json(report | {"rules": " ".join(_RULES)})
    else:
        print("\n".join(_lines(report)))
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


def _lines(report: dict[str, Any]) -> list[str]:
    over = "" if report["carried"] in (None, "UDP") else f", over {report['carried']}"
    over += ": what was lost comes late" * over.startswith(", over TCP")
    inside = ", ".join(f"{name} ({count})" for name, count in report.get("tunnels", {}).items())
    lines = [
        f"stream {report['stream']} of {report['streams']} (most packets first){_kinds(report)}{over}",
        *[f"taken out of tunnels: {inside}"] * bool(inside),
        *["the file is cut or damaged: what stands before that was read"] * report["cut"],
        *["a TCP connection has a hole: what stands before that was read"] * (report["holes"] > 0),
        *_judged(report),
    ]
    back = report.get("opposite")
    if back is not None:
        head = f"the other direction, stream {back['stream']} of {report['streams']}"
        if "refused" in back:
            lines.append(f"{head}: not scored: {back['refused']}")
        else:
            lines += [head + _kinds(back), *_judged(back)]
    for one in report.get("not_scored", []):
        copy = f", with the source (SSRC), numbers and timestamps of stream {one['copy_of']}" if one["copy_of"] else ""
        lines.append(
            f"not scored: stream {one['stream']}, {one['packets']} packets of payload type "
            f"{', '.join(map(str, one['payload_types']))} from {one['from_s']:.2f} to {one['to_s']:.2f} s{copy} "
            "(--stream)"
        )
    over = ", ".join(f"{count} {what}" for what, count in report["passed"].items())
    among = f", of {report['packets']} packets in the file" if "packets" in report else ""
    lines += [f"passed over{among}: {over}"] * bool(over)
    lines += [f"RTCP: {report['rtcp_packets']} packets beside"] if report.get("rtcp_packets") else []
    lines += [f"sound: {report['wav_seconds']:.2f} s written"] if "wav_seconds" in report else []
    return [*lines, *_RULES]


def _kinds(report: dict[str, Any]) -> str:
    """Payload types and clocks of all parts, each once; nothing of a CSV that has none."""
    found = [{**report, **part} for part in report["parts"]]
    kinds = list(dict.fromkeys(str(one["payload_type"]) for one in found if one["payload_type"] is not None))
    clocks = [f"{one['clock_hz']:g} Hz ({one['clock_from']})" for one in found if one["clock_hz"] is not None]
    kind = f", payload type {', '.join(kinds)}" * bool(kinds)
    return kind + f", clock {', '.join(dict.fromkeys(clocks))}" * bool(clocks)


def _judged(report: dict[str, Any]) -> list[str]:
    """What was seen of one direction: its parts, if it has several, and all of it."""
    parts = report["parts"]
    lines = []
    if len(parts) > 1:
        for k, part in enumerate(parts, start=1):
            why = f": {part['why']}" if part["why"] else ""
            lines.append(
                f"part {k} of {len(parts)}, {part['from_s']:.2f} to {part['to_s']:.2f} s after the capture's first "
                f"packet{why}; {part['frames']} frames, payload type {part['payload_type']}, codec {part['codec']} "
                f"({part['codec_from']}), lost {part['lost_percent']:.2f} %, jitter {part['jitter_ms']:.2f} ms"
            )
            ratings = "  ".join(f"{name} R {one['r']:.2f}" for name, one in part["buffers"].items())
            lines.append(f"    {ratings}")
        lines.append(
            f"all {len(parts)} parts: each counts its delays from its own fastest packet, R is the mean over frames"
        )
    left = ", ".join(f"{count} {what}" for what, count in report.get("left_out", {}).items())
    drift = report["drift"]
    slow = "slow" if drift["taken_out"] and drift["ppm"] > 0 else "fast"
    parted = (
        f"drift: the sender's clock is {slow} by {abs(drift['ppm']):.1f} ppm (±{drift['within_ppm']:.1f}), taken out"
        if drift["taken_out"]
        else f"drift of the two clocks: can't be told ({drift['why_not']}); nothing is taken out"
    )
    within = report["variation_ms"]
    seen = "seen" if report["talkspurts_seen"] else "not seen: stretches of 50 frames stand for them"
    told = report.get("rtcp")
    lengths = ", ".join(dict.fromkeys(f"{part['frame_ms']:.4g}" for part in parts))
    lines += [
        f"frames {report['frames']} of {lengths} ms in {report['seconds']:.1f} s  "
        f"lost {report['lost_percent']:.2f} %  burst ratio {report['burst_ratio']:.2f}  "
        f"longest burst {report['longest_burst']}",
        f"duplicates {report['duplicates']}  reordered {report['reordered']}  strays {report['strays']}  "
        f"jitter {report['jitter_ms']:.2f} ms",
        *[f"left out of this: {left}"] * bool(left),
        parted,
        f"delay above the fastest: median {within['50%']:.1f}, 95 % within {within['95%']:.1f}, "
        f"largest {within['100%']:.1f} ms",
        f"talkspurts {report['talkspurts']} ({seen})",
        f"codec {report['codec']} ({report['codec_from']}), {report['fastest_ms']:g} ms for the fastest packet "
        "(stated, not measured), a perfect echo canceller",
    ]
    if told:
        lines.append(
            f"the receiver reported, by RTCP, {told['reports']} times: lost {told['lost']} in all, at most "
            f"{told['worst_percent']:.1f} % between two reports, jitter {told['jitter_ms']:.2f} ms at last"
        )
    return lines + [_buffer(name, one) for name, one in report["buffers"].items()]


def _buffer(name: str, one: dict[str, Any]) -> str:
    plays = ""
    if one["from_ms"] is not None:
        spread = f" to {one['to_ms']:.0f}" * (round(one["to_ms"]) > round(one["from_ms"]))
        plays = f"  plays at {one['from_ms']:.0f}{spread} ms"
    below = f"  (the E-model's sum: {one['r_unclamped']:.0f})" if one["r"] != one["r_unclamped"] else ""
    return (
        f"{name:8}  R {one['r']:.2f}  MOS {one['mos']:.2f}  {one['quality']}  "
        f"not played {one['not_played_percent']:.2f} %{plays}{below}"
    )


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `voicewire voip score`."""
    real = commands.add_parser(
        "score", help="score a call that was received: a capture with RTP, or a CSV",
        epilog="Example:\n  seq 0 99 | awk '{print $1 / 50 \",\" $1}' > call.csv\n"
        "  voicewire voip score call.csv --delay 80",
    )  # fmt: skip
    real.add_argument(
        "file", type=readable, metavar="FILE",
        help="pcap or pcapng with RTP over UDP or TCP; or CSV: arrival in s, sequence number, if known RTP timestamp",
    )  # fmt: skip
    real.add_argument(
        "--stream", type=whole(1, 10**6), metavar="N",
        help="which, most packets first (default: the first, and the one that answers it)",
    )  # fmt: skip
    real.add_argument("--codec", type=text, help="G.711, G.729 or G.729A+VAD (default: by payload type, else G.711)")
    real.add_argument(
        "--delay", type=number(0.0, 3_600_000.0), default=50.0, metavar="MS",
        help="one-way delay of the fastest packet, stated: arrivals show variation only (default: 50)",
    )  # fmt: skip
    real.add_argument(
        "--clock", type=number(1.0, 1e9), metavar="HZ",
        help="ticks a second of the timestamps (default: by payload type, else told from them)",
    )  # fmt: skip
    real.add_argument(
        "--frame", type=number(0.125, 1000.0), default=20.0, metavar="MS",
        help="a frame, where no timestamp tells (default: 20)",
    )  # fmt: skip
    real.add_argument("--picture", type=new_file, metavar="FILE", help="draw delays and buffers (.png, .svg or .pdf)")
    real.add_argument("--write", type=new_file, metavar="FILE", help="write a CSV with times and numbers from 0 only")
    real.add_argument("--wav", type=new_file, metavar="FILE", help="write the sound, if it is G.711: silent where lost")
    real.add_argument("--json", action="store_true", help="print an object instead of lines")
    real.set_defaults(handler=_score)
