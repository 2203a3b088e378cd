"""What one end of a real call saw of the packets: arrival times and sequence numbers, put in order and scored."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import lfilter

from voicewire._kit import checks
from voicewire.voip.emodel import mos
from voicewire.voip.errors import VoipError
from voicewire.voip.loss_bursts import burst_ratio
from voicewire.voip.paper import Codec
from voicewire.voip.playout import Playout, bound, fixed
from voicewire.voip.playout_rules.adaptive_playout import ramjee

__all__ = ["Arrivals", "Received", "Scored", "in_order", "read_arrivals", "score"]

_WRAP, _TICKS = 1 << 16, 1 << 32
_JUMP = 3000  # RFC 3550, A.1: MAX_DROPOUT; taken for lateness too, where a spike holds back more than its 100 packets
_STRETCH = 50  # frames that stand for a talkspurt where none is known
_LINE = 1000  # characters


class Arrivals(NamedTuple):
    """The columns of a file of arrivals.

    Parameters
    ----------
    times : list of float
        Seconds.
    numbers : list of int
        RTP sequence numbers.
    stamps : list of int or None
        RTP timestamps, where the file has them.
    more : tuple of str
        Names of further columns, which are not read.

    Examples
    --------
    >>> Arrivals([0.0], [7], None).numbers
    [7]
    """

    times: list[float]
    numbers: list[int]
    stamps: list[int] | None
    more: tuple[str, ...] = ()


class Received(NamedTuple):
    """A stream in the order in which it was sent.

    Parameters
    ----------
    delays_ms : ndarray of float, shape (frames,)
        Delay of each frame above that of the fastest, ms; inf for one that never came.
    spurts : ndarray of int, shape (frames,)
        Talkspurt of each frame; stretches of 50 frames where timestamps and markers show none.
    sent_ms : ndarray of float, shape (frames,)
        When each was spoken, ms after the first.
    frame_ms : float
        Time from one frame to the next in a talkspurt, ms.
    shown : bool
        Whether talkspurts were seen.
    duplicates, reordered, strays : int
        Packets that had come already; that came after one with a higher number; whose numbers fit no other's.
    jitter_ms : float
        Interarrival jitter of RFC 3550, its mean over the packets, ms.

    Examples
    --------
    >>> in_order([0.0, 0.02, 0.09], [0, 1, 3], 20.0).delays_ms.round(6).tolist()
    [0.0, 0.0, inf, 30.0]
    """

    delays_ms: NDArray[np.float64]
    spurts: NDArray[np.int64]
    sent_ms: NDArray[np.float64]
    frame_ms: float
    shown: bool
    duplicates: int
    reordered: int
    strays: int
    jitter_ms: float


class Scored(NamedTuple):
    """A stream's losses, and what three playout buffers make of it.

    Parameters
    ----------
    loss : float
        Fraction that never came.
    burst : float
        Burst ratio of those.
    longest : int
        Frames in the longest burst.
    fixed, adaptive, best : Playout
        The best fixed delay, Ramjee's algorithm, and the bound over all choices for each talkspurt.
    mos : tuple of float, shape (3,)
        Of the three, in that order.

    Examples
    --------
    >>> score(in_order([0.0, 0.02], [7, 8], 20.0), "G.711", 50.0).loss
    0.0
    """

    loss: float
    burst: float
    longest: int
    fixed: Playout
    adaptive: Playout
    best: Playout
    mos: tuple[float, float, float]


def places(number: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Place of each packet in the order of sending, -1 for a stray, after RFC 3550, A.1.

    A number that jumps by 3,000 or more is a stray, but two that follow one another begin a new count; of several
    counts the longest is kept.
    """
    went = np.concatenate(([0], np.cumsum((np.diff(number) + _WRAP // 2) % _WRAP - _WRAP // 2)))
    if (np.abs(went[1:] - np.maximum.accumulate(went)[:-1]) < _JUMP).all():  # none jumps: one count
        return went - went.min(), 0
    place = np.full(number.size, -1, dtype=np.int64)
    part = np.zeros(number.size, dtype=np.int64)
    high, waits, count = 0, -1, 0
    for i, n in enumerate(number.tolist()):
        if i == 0:
            high = n
        step = (n - high + _WRAP // 2) % _WRAP - _WRAP // 2
        if abs(step) < _JUMP:
            place[i] = high + step + _WRAP
            high, waits = max(high, high + step), -1
        elif waits >= 0 and n == (number[waits] + 1) % _WRAP:
            count += 1
            place[waits], place[i], part[waits] = n - 1 + _WRAP, n + _WRAP, count
            high, waits = n, -1
        else:
            waits = i
        part[i] = count
    longest = int(np.argmax(np.bincount(part[place >= 0].astype(np.intp))))
    kept = (place >= 0) & (part == longest)
    return np.where(kept, place - place[kept].min(), -1), int(np.sum(~kept))


def _whole_row(given: object, most: int, words: str, like: tuple[int, ...]) -> NDArray[np.int64]:
    try:
        row = np.asarray(given)
    except (TypeError, ValueError):
        row = np.empty((0, 0))
    if row.dtype.kind not in "iu" or row.shape != like or int(row.min()) < 0 or int(row.max()) >= most:
        raise VoipError(f"{words} must be whole numbers from 0 to {most - 1:,}, one for each time")
    return row.astype(np.int64)


@checks.takes(
    error=VoipError, times=checks.array(low=-1e11, high=1e11), frame_ms=checks.number(above=0.0, high=1000.0),
    clock_hz=checks.number(1.0, 1e9),
)  # fmt: skip
def in_order(
    times: ArrayLike, numbers: ArrayLike, frame_ms: float = 20.0, stamps: ArrayLike | None = None,
    clock_hz: float = 8000.0, markers: ArrayLike | None = None, frames: ArrayLike | None = None,
) -> Received:  # fmt: skip
    """Put packets in the order of their sending: numbers unwrapped, duplicates dropped, gaps as losses.

    Parameters
    ----------
    times : array_like of float, shape (packets,)
        Arrival of each packet, s, not falling.
    numbers : array_like of int, shape (packets,)
        Its sequence number, 0 to 65,535.
    frame_ms : float
        Time from one frame to the next at the sender, ms; timestamps, where given, say it themselves.
    stamps : array_like of int, shape (packets,), optional
        Its RTP timestamp, 0 to 2**32 - 1.
    clock_hz : float
        Ticks a second of the timestamps.
    markers : array_like of bool, shape (packets,), optional
        Whether a talkspurt begins with it.
    frames : array_like of bool, shape (packets,), optional
        Whether it carries a frame of speech; one that does not (comfort noise, a key that was pressed) is left out.

    Returns
    -------
    Received
        Delays above the smallest: without a common clock only their variation can be known, and it has the two
        clocks' drift in it.

    Raises
    ------
    VoipError
        For rows that no stream can have.

    Notes
    -----
    Number ``n`` follows the highest before by ``((n - highest + 2**15) mod 2**16) - 2**15``; timestamps alike with
    ``2**32``. A talkspurt begins with a marker, or where timestamps go on by half a frame more than numbers.

    Examples
    --------
    The number wraps around, and one packet comes twice:

    >>> in_order([0.0, 0.02, 0.03, 0.04], [65534, 65535, 65535, 0]).duplicates
    1
    """
    when = np.asarray(times, dtype=float)
    if (np.diff(when) < 0).any():
        raise VoipError("arrival times must be seconds that never fall")
    number = _whole_row(numbers, _WRAP, "sequence numbers", when.shape)
    stamp = None if stamps is None else _whole_row(stamps, _TICKS, "timestamps", when.shape)
    begins, speech = (_flags(each, name, when.shape) for each, name in ((markers, "markers"), (frames, "frames")))
    place, strays = places(number)
    came = np.flatnonzero(place >= 0)
    _, index = np.unique(place[came], return_index=True)
    first = came[index]  # in the order of sending
    late = int(np.sum(place[first] < np.maximum.accumulate(place)[first]))
    duplicates = came.size - first.size
    slots = place[first]
    if stamp is None:
        spoken = frame_ms * slots.astype(float)
    else:
        ticks = np.concatenate(([0], np.cumsum((np.diff(stamp[first]) + _TICKS // 2) % _TICKS - _TICKS // 2)))
        spoken = 1000 * ticks / clock_hz
        next_to = (np.diff(slots) == 1) & (np.diff(ticks) > 0)
        if next_to.any():
            frame_ms = float(np.median(np.diff(spoken)[next_to]))
    transit = 1000 * (when[first] - when[0]) - spoken
    arrived = np.argsort(first)
    if speech is not None:  # a pressed key keeps its first timestamp: it says nothing of the network
        arrived = arrived[speech[first][arrived]]
    steps = np.abs(np.diff(transit[arrived]))
    jitter = float(lfilter([1 / 16], [1, -15 / 16], steps).mean()) if steps.size else 0.0
    starts = np.zeros(first.size, dtype=bool) if begins is None else begins[first].copy()
    starts[1:] |= np.diff(spoken) - frame_ms * np.diff(slots) > frame_ms / 2
    delay, sent = np.full(int(slots[-1]) + 1, np.inf), np.full(int(slots[-1]) + 1, np.nan)
    delay[slots], sent[slots] = transit, spoken
    spurts = np.zeros(delay.size, dtype=np.int64)
    spurts[slots[starts]] = 1
    spurts[0] = 0
    known = np.flatnonzero(np.isfinite(sent))
    before = known[np.searchsorted(known, np.arange(sent.size), side="right") - 1]
    sent = sent[before] + frame_ms * (np.arange(sent.size) - before)
    keep = np.ones(delay.size, dtype=bool)
    keep[slots[~speech[first]] if speech is not None else []] = False
    if not np.isfinite(delay[keep]).any():
        raise VoipError("no packet carries a frame of speech")
    spurt = np.cumsum(spurts)[keep]
    delay, sent = delay[keep], sent[keep]
    shown = 1 < np.unique(spurt).size <= delay.size / 2
    if not shown:
        spurt = np.arange(delay.size) // _STRETCH
    return Received(
        delay - delay.min(), np.unique(spurt, return_inverse=True)[1].astype(np.int64), sent, frame_ms, bool(shown),
        duplicates, late, strays, jitter,
    )  # fmt: skip


def _flags(given: ArrayLike | None, name: str, like: tuple[int, ...]) -> NDArray[np.bool_] | None:
    if given is None:
        return None
    try:
        row = np.asarray(given)
    except (TypeError, ValueError):
        row = np.empty((0, 0))
    if row.dtype != bool or row.shape != like:
        raise VoipError(f"{name} must be True or False, one for each time")
    return row


@checks.takes(error=VoipError, delay_ms=checks.number(0.0, 3_600_000.0))
def score(stream: Received, codec_name: str | Codec, delay_ms: float) -> Scored:
    """Judge a stream by the chapter's buffers and E-model, with `delay_ms` for the fastest packet.

    Parameters
    ----------
    stream : Received
        From `in_order`.
    codec_name : str or Codec
        A codec of Table 4.1.
    delay_ms : float
        One-way delay from mouth to ear of the fastest packet, ms: stated, not measured.

    Returns
    -------
    Scored
        Losses and three buffers.

    Raises
    ------
    VoipError
        For a codec or delay that no call can have.

    Notes
    -----
    Echo is taken as perfectly cancelled, as in the thesis: ``R = 94.2 - Ie - Id``.

    Examples
    --------
    >>> round(score(in_order([0.0, 0.02], [7, 8], 20.0), "G.711", 50.0).fixed.r, 2)
    93.0
    """
    if not isinstance(stream, Received):
        raise VoipError("stream must come from in_order")
    trace = np.asarray(stream.delays_ms, dtype=float) + delay_ms
    lost = np.isinf(trace)
    made = (
        fixed(trace, stream.spurts, codec_name),
        ramjee(trace, stream.spurts, codec_name),
        bound(trace, stream.spurts, codec_name),
    )
    edges = np.flatnonzero(np.diff(np.concatenate(([0], lost.astype(np.int8), [0]))))
    longest = int(np.max(edges[1::2] - edges[::2], initial=0))
    first, second, third = (float(mos(one.r)) for one in made)
    return Scored(float(lost.mean()), burst_ratio(lost), longest, *made, (first, second, third))


def read_arrivals(path: str | Path) -> Arrivals:
    """Read a CSV of arrival times (s), sequence numbers and, as a third column, timestamps.

    Parameters
    ----------
    path : str or Path
        The file; lines that begin with # and one line of names are passed over.

    Returns
    -------
    Arrivals
        Its columns.

    Raises
    ------
    VoipError
        For a file that cannot be read, or a line without the numbers of the others; the line is named.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.csv"
    ...     _ = file.write_text("seconds,number\\n0.0,5\\n0.02,6\\n")
    ...     read_arrivals(file)
    Arrivals(times=[0.0, 0.02], numbers=[5, 6], stamps=None, more=())
    """
    rows: list[tuple[float, ...]] = []
    names: list[str] = []
    columns = 0
    try:
        with Path(path).open(encoding="utf-8-sig") as file:
            for place, line in enumerate(iter(lambda: file.readline(_LINE), ""), start=1):
                if len(line) == _LINE:
                    raise VoipError(f"line {place} is too long for a time, a number and a timestamp")
                if not line.strip() or line.startswith("#"):
                    continue
                cells = [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True))]
                if not rows and not names and not any(re.match(r"[-+]?\.?\d", cell) for cell in cells):
                    names = cells
                    continue
                row = _row(cells, place)
                if rows and len(cells) != columns:
                    raise VoipError(f"line {place} has another number of columns than those before")
                columns = len(cells)
                rows.append(row)
    except (OSError, UnicodeDecodeError, TypeError) as error:
        raise VoipError("neither a capture (pcap, pcapng) nor a CSV of times and sequence numbers") from error
    except csv.Error as error:
        raise VoipError(f"line {place} cannot be read as CSV: {error}") from error
    if not rows:
        raise VoipError("neither a capture (pcap, pcapng) nor a CSV of times and sequence numbers: no packet in it")
    made = list(zip(*rows, strict=True))
    whole = [[int(value) for value in column] for column in made[1:]]
    stamps = whole[1] if len(whole) > 1 else None
    name = f", {names[2]!r}," if len(names) > 2 else ""
    if stamps is not None and not _rises(whole[0], stamps):
        raise VoipError(
            f"the third column{name} holds no timestamps, for they don't rise with the sequence numbers: leave it out, "
            "or put the RTP timestamps there"
        )
    more = tuple(names[k] if k < len(names) else f"column {k + 1}" for k in range(3, columns))
    return Arrivals(list(made[0]), whole[0], stamps, more)


def _row(cells: list[str], place: int) -> tuple[float, ...]:
    """The numbers of a line, or a refusal that says what it has instead."""
    seen = ",".join(cells[:4])[:60]
    for cell in cells[:3]:
        if ";" in cell:
            comma = " and a decimal comma" * bool(re.match(r"[-+]?\d*,\d+;", seen))
            point = ", and decimals stand behind a point" * bool(comma)
            raise VoipError(
                f"line {place} has {seen!r}: semicolons between columns{comma}; a comma must part them{point}"
            )
        if re.fullmatch(r"[-+]?\d*,\d+", cell):
            raise VoipError(f"line {place} has a decimal comma: {cell[:60]!r}; decimals must stand behind a point")
    if any(re.fullmatch(r"0\d+", cell) for cell in cells[1:3]):
        raise VoipError(
            f"line {place} has a whole number that begins with 0, as decimals behind a decimal comma do: {seen!r}; "
            "decimals must stand behind a point"
        )
    try:
        row = (float(cells[0]), int(cells[1]), *(int(cell) for cell in cells[2:3]))
    except (ValueError, IndexError):
        raise VoipError(f"line {place} isn't a time in seconds, a comma and a sequence number: {seen!r}") from None
    if not math.isfinite(row[0]) or not 0 <= row[1] < _WRAP or not 0 <= row[-1] < _TICKS:
        raise VoipError(f"line {place}: a time must be finite, a number 16 bits, a timestamp 32")
    return row


def _rises(numbers: list[int], stamps: list[int]) -> bool:
    """Whether timestamps rise from most numbers to the next, as a sender's clock does; too few rows cannot tell."""
    beside = (np.diff(numbers) + _WRAP // 2) % _WRAP - _WRAP // 2 == 1
    ticks = (np.diff(stamps) + _TICKS // 2) % _TICKS - _TICKS // 2
    return beside.sum() < 2 or float(np.sign(ticks[beside]).mean()) >= 0.5
