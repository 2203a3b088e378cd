"""Cancel the echo in two recordings of any length: what ``voicewire echo`` and `cancel_echo` do, step by step.

Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from voicewire._kit import checks
from voicewire.echo.recordings.conditions import constant_runs, explained, runs, steady_tone
from voicewire.echo.recordings.delay_estimation import CLEAR, Alignment, Break, breaks, phat
from voicewire.echo.recordings.paired_recordings import Heard, Pair
from voicewire.echo.recordings.report import ABOVE, Report
from voicewire.echo.recordings.sources import PASS, REACH, Decimated, HighPassed, OfFile, Source
from voicewire.echo.recordings.work import Kept, Work, Writer, lead, part
from voicewire.echo.two_path_filter import Guarded

__all__ = ["OPTIONS", "Settings", "cancel_files", "cancel_pair", "judge_talk"]

Samples = NDArray[np.float64]
_TAIL: Final = 80.0  # ms of the room's answer that a mono filter models
_STEREO: Final = 512  # taps of each of the four paths, at most, and of the one of mono
_MONO: Final = 2048
OPTIONS: Final[dict[str, Any]] = {
    "length": checks.maybe(checks.whole(1, 2**14)), "memory": checks.maybe(checks.positive),
    "passes": checks.whole(1, 1000), "delay": checks.maybe(checks.number(-3600.0, 3600.0)),
    "most": checks.number(1e-3, 60.0), "tail": checks.maybe(checks.number(1.0, 1000.0)),
}  # fmt: skip
"""What may be chosen, in s but for the tail's ms: refused at the door of each function that takes them."""
_LARGE: Final = 0.1  # of the root mean square: a constant that is too large to be the filter's to model
_LONE: Final = 3.0  # times the far end's share: the far end's constant can't be the cause of the microphone's
_NEAR: Final = 0.02  # s from a gap within which a jump of the delay is that gap's
_SPAN: Final = 4.0  # s of talk that are tested at once
_SPANS: Final = 8


class Settings(NamedTuple):
    """What a user may choose; None is left to what the recordings are."""

    length: int | None = None
    memory: float | None = None
    passes: int = 1
    delay: float | None = None
    most: float = 1.0
    tail: float | None = None

    def factor(self, both: Pair) -> int:
        """By how much the rate is lowered: to about 16 kHz, where there is nothing to cancel above."""
        if self.length is not None:
            return 1
        lower = range(both.rate // 16000, 1, -1)
        power = _spectrum(both) if lower else np.zeros(1)
        above = (float(power[round(PASS * (power.size - 1) / factor) :].sum()) for factor in lower)
        return next((factor for factor, high in zip(lower, above, strict=True) if high < ABOVE * power.sum()), 1)

    def taps(self, channels: tuple[int, int], rate: int) -> tuple[int, float]:
        """Taps of each path, and K."""
        if self.length is not None and self.tail is not None:
            raise ValueError("length and tail say the same: name one of them")
        length, memory = self.length, self.memory
        if length is None:
            length = max(1, round((self.tail or _TAIL) * rate / 1000))
            if self.tail is None:
                length = min(length, _STEREO if channels != (1, 1) else _MONO)
            if length > 2**14:
                raise ValueError(
                    f"a tail of {self.tail:g} ms at {rate} Hz is {length} taps: at most {2**14} are possible"
                )
        if memory is None:
            memory = 16.0 if self.length is None else 64.0
        if memory * length <= 1:
            raise ValueError("memory times length must exceed 1 sample")
        return length, memory


def _spectrum(both: Pair) -> Samples:
    """The microphone's power over frequency, from 0 to half of the rate, of all seconds together."""
    size = min(both.rate, both.length)
    fade = np.hanning(size)[:, None]
    power = np.zeros(size // 2 + 1)
    for start in range(0, both.length, size):
        piece = both.read(1, min(start, both.length - size), size)
        power += np.sum(np.abs(np.fft.rfft((piece - piece.mean(axis=0)) * fade, axis=0)) ** 2, axis=1)
    return power


def cancel_pair(both: Pair, out: Writer | Kept, settings: Settings) -> Report:
    """Condition two recordings, bring them in step, cancel; what both the command and `cancel_echo` do."""
    notes = both.notes
    if both.lengths[0] != both.lengths[1]:
        seconds = [n / both.rate for n in both.lengths]
        notes.append(f"far end {seconds[0]:.2f} s, microphone {seconds[1]:.2f} s: the longer one was cut")
    played, heard = both.heard(0), both.heard(1)
    passed = _without_constant(both, played, heard)
    rate, size, whole = both.rate, both.length, both.sources[1]
    both.conditioned = both.sources
    factor = settings.factor(both)
    if factor > 1:
        both.use(Decimated(both.sources[0], factor), Decimated(whole, factor))
    taps, memory = settings.taps(both.channels, both.rate)
    found = both.find(settings.most) if settings.delay is None else None
    late = settings.delay if found is None else found.delay
    assert late is not None
    drift = found.drift if found else 0.0
    jumps = [] if found is None else [_at_gap(each, both) for each in _jumps(both, found, settings.most)]
    if jumps:
        late = jumps[0].before
    elif found is not None and not found.straight:
        low, high = 1000 * found.delays.min(), 1000 * found.delays.max()
        notes.append(
            f"pieces of the recordings have delays from {low:.1f} to {high:.1f} ms, and not on a line as those of two "
            "clocks: their median was taken throughout"
        )
    if _same(both):
        notes.append("both recordings hold the same samples, so that this is no echo of a room")
    out_of_it = lead(late, both.rate, taps, found is not None and not drift)
    if found is not None and late * both.rate < -0.5:
        notes.append("the microphone's file has the sound before the far end's: it began later, or they are swapped")
    report = Report(
        rate, size, both.channels, taps, settings.passes, late, out_of_it, found is not None, drift,
        np.zeros(len(heard.clipped)), np.zeros(len(heard.clipped)), np.zeros(len(heard.clipped)),
        played.clipped, heard.clipped, notes, breaks=jumps, worked_at=both.rate, passed=passed,
    )  # fmt: skip
    canceller = Guarded(taps, both.rate, memory, settings.passes)
    work = Work(report, canceller, max(played.rms, 1e-12), out, factor)
    block = part(canceller.block, both.rate)
    pieces = tqdm(
        both.blocks(block, out_of_it, drift, jumps), total=-(-both.length // block), unit="block", disable=None
    )
    at, cuts = 0, {round(each.time * both.rate) for each in jumps}
    for x, d in pieces:
        if (start := at // factor) in cuts:
            work.recall(both.in_step(start - 2 * taps, 2 * taps, start, out_of_it, drift, jumps))
        count = min(len(d) * factor, size - at)
        reach = REACH * factor if factor > 1 else 0
        gone = constant_runs(both.raw[1].read, at - reach, count + 2 * reach, rate)
        for start, end in runs(gone[reach : reach + count]).tolist():
            _add_gap(report.gaps, (at + start) / rate, (at + end) / rate)
        if factor == 1:
            work.take(x, d, gone)
        else:
            near = np.convolve(gone, np.ones(2 * reach + 1), "valid")[::factor] > 0
            work.take(x, d, near[: len(d)], whole.read(at, count), gone[reach : reach + count])
        at += count
    work.end()
    return report


def _add_gap(gaps: list[tuple[float, float]], start: float, end: float) -> None:
    """Add a gap, s, or lengthen the last one, which ends where this one begins."""
    if gaps and gaps[-1][1] == start:
        start = gaps.pop()[0]
    gaps.append((start, end))


def _same(both: Pair) -> bool:
    """Whether both recordings hold the same samples."""
    one, other = both.raw
    return both.channels[0] == both.channels[1] and all(
        np.array_equal(one.read(at, both.rate), other.read(at, both.rate)) for at in range(0, both.length, both.rate)
    )


def _jumps(both: Pair, found: Alignment, most: float) -> list[Break]:
    """Jumps of the delay beside the drift of a clock."""

    def far(at: int, count: int) -> Samples:
        return both.mixed(0, both.in_step(at, count, at, 0.0, found.drift, ()))

    expected = found.delay if found.straight else None
    return breaks(far, lambda at, n: both.mono(1, at, n), both.rate, both.length, most, expected)


def _at_gap(jump: Break, both: Pair) -> Break:
    """A jump in a gap of the microphone lies at the gap's beginning: there is nothing to cancel until its end."""
    rate = both.raw[1].rate
    start = max(0, round((jump.time - 1) * rate))
    last = round((jump.time + _NEAR) * rate)
    gone = constant_runs(both.raw[1].read, start, last - start, rate)
    where = np.flatnonzero(gone)
    if not where.size or where[-1] < len(gone) - 2 * round(_NEAR * rate):
        return jump
    whole = np.flatnonzero(~gone[: where[-1]])
    return jump._replace(time=(start + (int(whole[-1]) + 1 if whole.size else 0)) / rate)


def _without_constant(both: Pair, played: Heard, heard: Heard) -> tuple[bool, bool]:
    """Put what holds a constant, or moves as slowly, behind a high-pass; which of the two."""
    sources: list[Source] = list(both.sources)
    shares = [found.constant / found.rms for found in (played, heard)]
    lone = shares[1] > _LONE * shares[0]  # the microphone's own, no answer to the far end's
    for which, found, name in ((0, played, "far end"), (1, heard, "microphone")):
        if shares[which] > _LARGE or (which == 1 and lone):
            sources[which] = HighPassed(sources[which])
            both.notes.append(
                f"the {name} has a constant of {found.constant:.2g} of full scale: taken out by a high-pass of 20 Hz"
            )
    passed = sources[0] is not both.sources[0], sources[1] is not both.sources[1]
    if any(passed):  # one that only one of them has been through is part of the path
        both.use(*(source if done else HighPassed(source) for source, done in zip(sources, passed, strict=True)))
    return passed


@checks.takes(**OPTIONS)
def cancel_files(
    far: str | Path, microphone: str | Path, residual: str | Path, *, length: int | None = None,
    memory: float | None = None, passes: int = 1, delay: float | None = None, most: float = 1.0,
    tail: float | None = None,
) -> Report:  # fmt: skip
    """Take the echo of one file out of another, once the two are in step, and write what is left.

    Parameters
    ----------
    far, microphone : str or Path
        What the loudspeakers played and what the microphones heard: mono or stereo, of one rate.
    residual : str or Path
        WAV file to write, of as many channels as the microphone.
    length : int, optional
        Taps of each echo path, L, at the recordings' own rate; instead of `tail`.
    memory : float, optional
        K in lambda = 1 - 1/(K L); else 64 where `length` is given, and 16 where it isn't.
    passes : int
        Data-reuse passes, N_it.
    delay : float, optional
        Delay of the microphone in s, if it is known; else it, the drift of the clocks and its jumps are found.
    most : float
        Longest delay looked for, either way, s.
    tail : float, optional
        Length of each echo path, ms; without it and `length`, 80 ms, and for stereo at most 512 taps.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If a recording can't be used, or holds no echo of the other; the message says which, and why.
    OSError, soundfile.SoundFileError
        If a file cannot be read or written.

    Notes
    -----
    The filter is the study's own, equation (13) of the paper, as `Guarded` has it; a mono recording is the left channel
    beside silence. `cancel_echo` does the same with samples in memory.

    Examples
    --------
    >>> cancel_files("far.wav", "mic.wav", "out.wav").lines()  # doctest: +SKIP
    """
    settings = Settings(length, memory, passes, delay, most, tail)
    with Pair(Path(far), Path(microphone)) as both:
        with Writer(Path(residual), both.rate, both.channels[1]) as out:
            report = cancel_pair(both, out, settings)
        written = OfFile(Path(residual))
        try:
            judge_talk(report, both, written)
        finally:
            written.close()
    return report


def judge_talk(report: Report, both: Pair, left: Source) -> None:
    """Hold what was called double talk against the far end: what is left there is echo still, or it is not."""
    rate, talks = report.sr, report.talks
    far = both.raw[0]
    echo = total = 0.0
    for first, last in _spans(talks > 0.5)[:_SPANS]:
        size = min(round(min(last - first, _SPAN) * rate), left.frames - first * rate)
        if size < rate // 2:
            continue
        rest = both.mixed(1, left.read(first * rate, size))
        heard = both.mixed(0, far.read(first * rate, size))
        peak = phat(heard, rest, rate, min(1.0, 0.8 * size / rate))
        power = float(np.var(rest))
        total += power
        if peak is not None and peak.clarity >= CLEAR:
            late = round((peak.delay - 0.005) * rate)
            echo += power * explained(both.mixed(0, far.read(first * rate - late, size)), rest, rate)
    report.echo_in_talk = echo / total if total > 0 else None
    report.tone = steady_tone(left.read, left.frames, rate)


def _spans(marked: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last second of each run, the longest first."""
    spans = [(int(first), int(last)) for first, last in runs(marked)]
    return sorted(spans, key=lambda span: span[0] - span[1])
