"""A stream cut into parts, each with one clock, codec, source and capturing clock; every cut says what was seen.

A cut is made where the payload type of the voice or the source changes, where sequence numbers begin anew (RFC 3550,
A.1: two that follow one another confirm it), where frames become longer or shorter, and where arrivals and timestamps
part at once and stay apart: timestamps that jump, a capturing clock that steps. Delays that rise and fall again, and
packets that overtake others, are the network's, and are no cut.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter

from voicewire._kit._compiled import njit
from voicewire.voip.captures.rtp import COPIES, Stream, clock_of, measured_rate, told_clock
from voicewire.voip.captures.rtp_tcp import LEAST
from voicewire.voip.errors import VoipError

__all__ = ["Part", "parts_of"]

_NUMBERS, _TICKS = 1 << 16, 1 << 32
_JUMP = 3000  # numbers: RFC 3550's MAX_DROPOUT
_SHIFT_MS = 200.0  # what arrivals and timestamps part by at once before it is looked at
_BACK = 0.005  # s: times that fall by more are looked at
_FLAT_MS = 100.0  # what they may move by within the next half second, if they stay apart
_WINDOW, _FEWEST = 25, 5  # packets that must stay; fewer are left at the end of a call
_STRAY_MS = 2000.0
_LATE, _LATEST_MS = 200, 60_000.0  # packets on both sides that may have overtaken others, and what one is late at most
_RETURN = 1500  # packets within which delays that rose fall again
_COARSE = 0.01  # s
_LONGEST = 0.12  # s: no frame is longer, what is longer is silence
_AROUND = 9  # frames whose median length is compared
_COPY = 1.0  # s
_NOISE = (13, 19)  # payload types of comfort noise
_EVENT = 0.4  # share of packets with their predecessor's timestamp, as a pressed key has


class Part(NamedTuple):
    """A part of a stream: its packets by time, the voice's payload type and clock, what was seen where it begins.

    `speech` tells which packets carry the voice, and `copies` how many came a second time, which are not among them.
    """

    stream: Stream
    kind: int
    clock_hz: float
    clock_from: str
    why: str
    speech: NDArray[np.bool_]
    copies: int


def _taken(stream: Stream, rows: NDArray[np.intp]) -> Stream:
    sound = None if stream.payloads is None else [stream.payloads[k] for k in rows]
    return Stream(
        stream.times[rows], stream.numbers[rows], stream.stamps[rows], stream.markers[rows], stream.types[rows],
        stream.carried, stream.sources[rows], (), sound, stream.opposite, stream.reports,
    )  # fmt: skip


def _first_copies(stream: Stream) -> NDArray[np.bool_]:
    """Which packets are no copies of one shortly before."""
    first = np.ones(stream.times.size, dtype=bool)
    if np.diff(np.sort(stream.stamps << 16 | stream.numbers)).all():
        return first
    seen: dict[tuple[int, ...], tuple[int, float]] = {}
    rows = zip(*(each.tolist() for each in (stream.sources, stream.numbers, stream.stamps, stream.types)), strict=True)
    for k, (key, time) in enumerate(zip(rows, stream.times.tolist(), strict=True)):
        where, when = seen.get(key, (-COPIES, -np.inf))
        apart = k - where  # next to its first, it is a copy though another clock gave its time
        first[k] = time != when and apart >= LEAST and (apart >= COPIES or abs(time - when) > _COPY)
        seen[key] = (k, time) if first[k] else seen[key]
    return first


def _voices(stream: Stream) -> set[int]:
    """Payload types of voices: not those of pressed keys, of comfort noise, nor of a few packets between others."""
    found = {}
    for kind, count in Counter(stream.types.tolist()).most_common():
        mine = stream.types == kind
        ticks = (np.diff(stream.stamps[mine]) + _TICKS // 2) % _TICKS - _TICKS // 2
        steps = (np.diff(stream.numbers[mine]) + _NUMBERS // 2) % _NUMBERS - _NUMBERS // 2
        beside = steps == 1
        event = beside.any() and float(np.mean(ticks[beside] == 0)) >= _EVENT
        if count >= LEAST and kind not in _NOISE and not event and beside.mean() >= 0.5:
            found[kind] = count
    return set(found) or {Counter(stream.types.tolist()).most_common(1)[0][0]}


def _labels(stream: Stream, voices: set[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which stretch each packet is in, cut where voice or source change and stay, and which packets carry it."""
    label = np.where(np.isin(stream.types, list(voices)), stream.sources * 128 + stream.types, -1)
    where = np.flatnonzero(label >= 0)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(label[where])) + 1, [where.size]))
    for begin, end in itertools.pairwise(starts.tolist()):
        if end - begin < LEAST and starts.size > 2:
            label[where[begin:end]] = -1  # a few packets between others
    where = np.flatnonzero(label >= 0)
    if not where.size:
        return np.zeros(label.size, dtype=np.int64), label
    begins = where[1:][np.diff(label[where]) != 0]
    stretch = np.zeros(label.size, dtype=np.int64)
    stretch[begins] = 1
    return np.cumsum(stretch), label


def _clock(stream: Stream, rows: NDArray[np.intp], stated: float | None) -> tuple[float, str]:
    if stated:
        return stated, "stated"
    one = _taken(stream, rows)
    kind, clock, given = clock_of(one)
    usual, how = told_clock(one.times, one.stamps)
    if not given:
        return clock, how
    rate = measured_rate(one.times, one.stamps)
    if usual and rows.size >= 4 * _WINDOW and usual != clock < 90_000 and abs(usual - rate) < 0.02 * usual:
        return usual, f"{how}; RFC 3551 has {clock} Hz for type {kind}"
    return clock, "RFC 3551"


def _step(stream: Stream, place: NDArray[np.intp], frame: float, last: int, one: int) -> str:
    """What is odd in the numbers of `one` after `last`; empty if nothing is. Packets between, of keys, are not lost."""
    numbers = (int(stream.numbers[one] - stream.numbers[last]) + _NUMBERS // 2) % _NUMBERS - _NUMBERS // 2
    ticks = (int(stream.stamps[one] - stream.stamps[last]) + _TICKS // 2) % _TICKS - _TICKS // 2
    odd = abs(numbers) >= _JUMP or (numbers < 0 < ticks) or (numbers > 0 > ticks)
    lost = numbers - int(place[one] - place[last] - 1)
    odd |= lost >= LEAST and 0 <= ticks < lost * frame / 2
    return f"sequence numbers go on by {numbers:+,} and timestamps by {ticks:+,}" if odd else ""


def _shift(apart: NDArray[np.float64], begin: int, one: int, fell: float, frame_s: float) -> float | None:
    """By how much (ms) arrivals and timestamps part before `one` and stay so; None if they don't, nan if it ends."""
    before, after = apart[max(begin, one - _WINDOW) : one], apart[one : one + _WINDOW]
    if after.size < (_FEWEST if fell > _BACK else LEAST):
        return float("nan")
    moved = float(np.median(after) - np.median(before))
    if abs(moved) < (0.7 * 1000 * fell if fell > _BACK else 0.6 * _SHIFT_MS):
        return None
    if fell > _BACK and not -1.3 * (fell + frame_s) * 1000 - 5 <= moved < 0:
        return None
    spread = float(np.subtract(*np.percentile(before, [75, 25])))
    drift = abs(float(np.median(after[-10:]) - np.median(after[:5])))
    return moved if drift < min(_FLAT_MS, 0.5 * abs(moved)) + 2 * spread else None


@njit(cache=True)
def _overtakes(
    order: NDArray[np.int64], sent: NDArray[np.float64], begin: int, one: int, parted: float
) -> bool:  # fmt: skip
    """Whether packets from `one` on were sent before some that came before them, early enough to be what parts."""
    at, top = one + (parted < 0), -1  # a packet that comes early overtakes those behind it
    for k in range(max(begin, one - _LATE), at):
        if abs(order[k] - order[one]) < _JUMP and (top < 0 or order[k] > order[top]):
            top = k
    for k in range(at, min(one + _LATE, order.size)):
        if top >= 0 and order[top] - _JUMP < order[k] < order[top]:
            late = sent[top] - sent[k]
            if late > 0 and 0.25 * abs(parted) < late < _LATEST_MS:
                return True
    return False


def _returns(stream: Stream, apart: NDArray[np.float64], begin: int, one: int, moved: float) -> bool:
    """Whether arrivals and timestamps, parted by `moved` ms, soon are as before, or were so, with no clock set back."""
    fallen = np.flatnonzero(np.diff(stream.times[one : one + _RETURN]) < -_BACK)
    after = apart[one : one + _RETURN][: fallen[0] + 1 if fallen.size else None]
    before = apart[max(begin, one - _RETURN) : one]
    levels = (before, float(np.median(after[:_WINDOW]))), (after, float(np.median(before[-_WINDOW:])))
    return any(int(np.sum(np.abs(its - level) < 0.3 * abs(moved))) >= _FEWEST for its, level in levels)


def _lengths(ticks: NDArray[np.int64], beside: NDArray[np.bool_], clock: float) -> dict[int, str]:
    """Packets from which on frames are longer or shorter than before, and stay so."""
    where = np.flatnonzero(beside)
    its = ticks[where]
    if its.size < 2 * LEAST or its.min() == its.max():
        return {}
    around = median_filter(its, size=_AROUND, mode="nearest")
    edges = np.concatenate(([0], np.flatnonzero(np.diff(around)) + 1, [its.size]))
    made, last = dict[int, str](), 0
    for begin, end in itertools.pairwise(edges.tolist()):
        one = int(around[begin])
        if end - begin < LEAST or one > _LONGEST * clock or np.mean(its[begin:end] == one) < 0.5:
            continue
        if last and one != last:
            near = range(max(0, begin - _AROUND // 2), end)  # a silence there moves the median's edge
            first = next(k for k in near if its[k] == one)
            before, after = 1000 * last / clock, 1000 * one / clock
            made[int(where[first])] = f"frames of {before:.4g} ms become frames of {after:.4g} ms"
        last = one
    return made


def _cuts(stream: Stream, place: NDArray[np.intp], clock: float) -> tuple[dict[int, str], set[int]]:
    """Packets of one voice before which a new part begins, with what was seen, and packets that fit nowhere."""
    ticks = (np.diff(stream.stamps) + _TICKS // 2) % _TICKS - _TICKS // 2
    numbers = (np.diff(stream.numbers) + _NUMBERS // 2) % _NUMBERS - _NUMBERS // 2
    sent = np.concatenate(([0.0], 1000 / clock * np.cumsum(ticks.astype(float))))
    apart = 1000 * (stream.times - stream.times[0]) - sent
    beside = (numbers == 1) & (ticks > 0)
    frame = float(np.median(ticks[beside])) if beside.any() else 0.0
    lost = numbers - np.diff(place) + 1
    odd = (np.abs(numbers) >= _JUMP) | (numbers * ticks < 0) | ((lost >= LEAST) & (ticks < lost * frame / 2))
    odd |= (np.abs(np.diff(apart)) >= _SHIFT_MS) | (np.diff(stream.times) < -_BACK)
    order = np.concatenate(([0], np.cumsum(numbers)))
    cuts = {k: why for k, why in _lengths(ticks, beside, clock).items() if not _overtakes(order, sent, 0, k, 0.0)}
    strays: set[int] = set()
    begin = 0

    def returns(last: int, one: int, level: NDArray[np.float64]) -> bool:
        """Whether one of the packets behind `one` goes on where those up to `last` were."""
        near = np.abs(apart[one + 1 : one + _FEWEST] - np.median(level)) < _SHIFT_MS
        return any(not _step(stream, place, frame, last, k) for k in (one + 1 + np.flatnonzero(near)).tolist())

    queue = (np.flatnonzero(odd) + 1).tolist()  # a heap: in order
    while queue:
        one = heapq.heappop(queue)
        if one == begin or one in strays or one >= stream.times.size:
            continue  # begin: it stood in the heap twice
        last = one - 1
        while last in strays:
            last -= 1
        words, end = _step(stream, place, frame, last, one), stream.times.size
        parted = float(apart[one] - apart[last])
        fell = float(stream.times[last] - stream.times[one])
        if not words and fell <= _BACK and (abs(parted) < _SHIFT_MS or _overtakes(order, sent, begin, one, parted)):
            continue
        level = apart[[k for k in range(max(begin, one - _WINDOW), one) if k not in strays] or [last]]
        if words:
            follows = one + 1 < end and not _step(stream, place, frame, one, one + 1)
            if follows and not returns(last, one, level):
                cuts[one], begin = words, one
            else:
                strays.add(one)
                heapq.heappush(queue, one + 1)  # whatever follows is held against the last that fits
            continue
        moved = _shift(apart, begin, one, fell, frame / clock)
        if moved is None:
            if apart[one] <= level.min() - _SHIFT_MS and returns(last, one, level):  # none comes before it was spoken
                strays.add(one)
                heapq.heappush(queue, one + 1)
            continue
        if moved != moved:
            if abs(parted) >= _STRAY_MS:
                strays |= set(range(one, end))
                break
            continue
        if fell <= _BACK and _returns(stream, apart, begin, one, moved):
            continue
        cuts[one], begin = _parted(moved, fell), one
    return cuts, strays


def _parted(moved: float, fell: float) -> str:
    """What is seen where times and timestamps part for good."""
    if fell > _BACK:
        return f"the capture's times fall back, by {-moved / 1000:.3f} s against the timestamps, and stay so"
    if moved < 0:
        return f"timestamps jump ahead of the arrivals by {-moved / 1000:.3f} s, and stay so"
    return f"arrivals jump ahead of the timestamps by {moved / 1000:.3f} s, and stay so"


def _changed(stream: Stream, last: int, one: int, label: NDArray[np.int64]) -> str:
    """What changes from one stretch to the next."""
    words = []
    if stream.sources[last] != stream.sources[one]:
        words.append("another source (SSRC)")
    if label[last] % 128 != label[one] % 128:
        words.append(f"payload type {label[last] % 128} becomes {label[one] % 128}")
    return ", ".join(words)


def _fine(times: NDArray[np.float64]) -> None:
    """Refuse times that count in steps longer than most packets are apart."""
    gaps = np.abs(np.diff(times))
    same = gaps < 1e-7
    if times.size < LEAST or same.mean() <= 0.5 or same.all():
        return
    step = float(gaps[~same].min())
    if step >= _COARSE and (np.abs(gaps / step - np.round(gaps / step)) < 1e-6).all():
        raise VoipError(
            f"the capture's times count in steps of {step:.4g} s, and most packets have the time of the one before: "
            "their delays can't be told; capture again, with times in µs or ns"
        )


def parts_of(stream: Stream, clock_hz: float | None = None) -> tuple[list[Part], Counter[str]]:
    """Cut a stream into parts, and count what is in none of them; refuse one timestamp for all, or an unknown clock."""
    if (stream.stamps == stream.stamps[0]).all():
        raise VoipError("one timestamp for all, as a pressed key or a picture has: no voice")
    _fine(stream.times)
    if not stream.sources.size:
        stream = stream._replace(sources=np.zeros(stream.times.size, dtype=np.int64))
    first = _first_copies(stream)
    copied = np.flatnonzero(~first)
    moved = np.searchsorted(np.flatnonzero(first), stream.moved)
    stream = _taken(stream, np.flatnonzero(first))
    stretch, label = _labels(stream, _voices(stream))
    begins: dict[int, str] = {}
    strays: set[int] = set()
    clocks: dict[int, tuple[float, str]] = {}
    voice = np.flatnonzero(label >= 0)
    for which in np.unique(stretch):
        rows = voice[stretch[voice] == which]
        if which:
            before = int(voice[np.searchsorted(voice, rows[0]) - 1])
            begins[int(rows[0])] = _changed(stream, before, int(rows[0]), label)
        clocks[int(which)] = _clock(stream, rows, clock_hz)
        cuts, lone = _cuts(_taken(stream, rows), rows, clocks[int(which)][0])
        begins |= {int(rows[k]): words for k, words in cuts.items()}
        strays |= {int(rows[k]) for k in lone}
    for one in moved.tolist():
        near = next((k for k in sorted(begins) if one <= k < one + LEAST), one)
        begins[near] = ", ".join(filter(None, ("other addresses or ports", begins.get(near, ""))))
    return _pieces(stream, label, stretch, begins, strays, clocks, np.searchsorted(np.flatnonzero(first), copied))


def _pieces(
    stream: Stream, label: NDArray[np.int64], stretch: NDArray[np.int64], begins: dict[int, str], strays: set[int],
    clocks: dict[int, tuple[float, str]], copied: NDArray[np.intp],
) -> tuple[list[Part], Counter[str]]:  # fmt: skip
    """Make the parts; what is too short for one, or fits nowhere, is counted, and refused if it is the most."""
    passed: Counter[str] = Counter()
    edges = [0, *sorted(k for k in begins if k > 0), stream.times.size]
    why, made = begins.get(0, ""), list[Part]()
    for begin, end in itertools.pairwise(edges):
        why = ", ".join(filter(None, (why, begins.get(begin, "") if begin else "")))
        rows = np.setdiff1d(np.arange(begin, end), list(strays)) if strays else np.arange(begin, end)
        speech = label[rows] >= 0
        passed["packets whose number, timestamp or time fits no others"] += end - begin - rows.size
        if int(speech.sum()) < LEAST and len(edges) > 2:
            passed[f"packets of pieces with fewer than {LEAST} frames"] += rows.size
            continue
        order = np.argsort(stream.times[rows], kind="stable")
        rows, speech = rows[order], speech[order]
        clock, source = clocks[int(stretch[rows[speech][0]])] if speech.any() else (8000.0, "assumed")
        kind = int(Counter(stream.types[rows[speech]].tolist()).most_common(1)[0][0])
        for other, count in Counter(stream.types[rows[~speech]].tolist()).items():
            passed[f"packets of payload type {other} within type {kind}"] += count
        copies = int(np.sum((copied > begin) & (copied <= end)))
        made.append(Part(_taken(stream, rows), kind, clock, source, why if made else "", speech, copies))
        why = ""
    passed = Counter({what: count for what, count in passed.items() if count})
    kept, whole = sum(part.stream.times.size for part in made), stream.times.size
    if 2 * kept < whole:
        over = ", ".join(f"{count} {what}" for what, count in passed.items())
        raise VoipError(f"of its {whole} packets {kept} are in parts of ten or more frames of a voice: {over}")
    return made, passed
