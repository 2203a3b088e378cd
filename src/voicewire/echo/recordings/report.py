"""What ``voicewire echo`` found: in lines, as an object for JSON, and as a picture.

Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo.recordings.delay_estimation import Break
from voicewire.echo.two_path_filter import Change

__all__ = ["ABOVE", "Report", "decibels"]

Samples = NDArray[np.float64]
ABOVE = 1e-4
"""Share of the microphone's power above the band of a lower rate, below which the filter works at that rate."""
_ECHO, _NONE = 0.5, 0.2  # shares of echo in what is left: it is echo, or none
_TOLD = 6  # new beginnings that the lines name; the object for JSON has all


def decibels(before: float, after: float) -> float | None:
    """Ratio of two powers.

    Parameters
    ----------
    before, after : float
        Powers, of one unit.

    Returns
    -------
    float or None
        dB; None where there was nothing before; 120 at most.

    Examples
    --------
    >>> decibels(1.0, 0.01)
    20.0
    """
    if before <= 0:
        return None
    return float(10 * np.log10(before / max(after, before * 1e-12)))


@dataclass(repr=False)
class Report:
    """What was found and done, second by second.

    Attributes
    ----------
    sr : int
        Samples a second, Hz.
    length : int
        Samples that both recordings have.
    channels : (int, int)
        Of the far end and the microphone.
    taps, passes : int
        L and N_it.
    delay, put_off : float
        Delay found and what of it was taken out before the filter, s.
    found : bool
        Whether the delay was found, or given.
    drift : float
        Found drift in s a s; 0 if a delay was given.
    heard, left : ndarray of float, shape (seconds,)
        Power at the microphone and of the residual.
    talks : ndarray of float, shape (seconds,)
        Share in which the near end was held to talk as well.
    clipped_far, clipped_microphone : ndarray of float, shape (seconds,)
        Share of samples in flat tops.
    notes : list of str
        What a user should know.
    written : str
        How the residual was written, for people.
    changes : list of Change
        When the learning filter began anew, and why.
    breaks : list of Break
        Places at which the delay jumped, and was followed.
    worked_at : int
        Rate at which the filter worked, Hz: lower than `sr` where next to nothing lies above; 0 for the same.
    passed : (bool, bool)
        Whether the far end and the microphone held a constant, so that both went through a high-pass.
    gaps : list of (float, float)
        From when to when the microphone stayed at one value, s, as where nothing was recorded; nothing is learnt there.
    gains : list of float
        The microphone's gain over that of the beginning, where it moved and was followed; else 1.
    echo_in_talk : float or None
        Share of what is left during what was called double talk that is linear in the far end, so echo; None if that
        wasn't tested.
    tone : (float, float) or None
        Frequency, Hz, of a steady tone in the second half of what is left, such as hum, and its share of the power.

    Examples
    --------
    >>> none = np.zeros(2)
    >>> one = Report(8000, 16000, (1, 1), 512, 3, 0.1, 0.09, True, 0.0, none + 1, none + 0.1, *[none] * 3, [])
    >>> one.lines()[1]
    'delay 100.0 ms, of which 90.0 ms were taken out; no clock drift'
    """

    sr: int
    length: int
    channels: tuple[int, int]
    taps: int
    passes: int
    delay: float
    put_off: float
    found: bool
    drift: float
    heard: Samples
    left: Samples
    talks: Samples
    clipped_far: Samples
    clipped_microphone: Samples
    notes: list[str]
    written: str = "nothing"
    changes: list[Change] = field(default_factory=list)
    breaks: list[Break] = field(default_factory=list)
    worked_at: int = 0
    passed: tuple[bool, bool] = (False, False)
    gaps: list[tuple[float, float]] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    echo_in_talk: float | None = None
    tone: tuple[float, float] | None = None

    def __repr__(self) -> str:
        """Say the main numbers; `lines` has all."""
        erle = self.erle()
        said = "nothing was heard" if erle is None else f"ERLE {erle:.1f} dB"
        more = f", {len(self.breaks)} jumps of it" if self.breaks else ""
        return (
            f"<Report: {self.length / self.sr:.1f} s at {self.sr} Hz, {said}, delay {1000 * self.delay:.1f} ms{more}, "
            f"drift {1e6 * self.drift:+.1f} ppm, {len(self.notes)} notes>"
        )

    @property
    def lost(self) -> float:
        """Seconds in which the microphone stayed at one value.

        Returns
        -------
        float
            s.
        """
        return sum(end - start for start, end in self.gaps)

    def erle(self, start: int = 0) -> float | None:
        """Echo return loss enhancement from a second on.

        Parameters
        ----------
        start : int
            First second that counts.

        Returns
        -------
        float or None
            dB; None if nothing was heard.
        """
        return decibels(float(self.heard[start:].sum()), float(self.left[start:].sum()))

    def each_second(self) -> list[float | None]:
        """Echo return loss enhancement of each second.

        Returns
        -------
        list of float or None
            dB.
        """
        return [decibels(float(a), float(b)) for a, b in zip(self.heard, self.left, strict=True)]

    def lines(self) -> list[str]:
        """The report as text.

        Returns
        -------
        list of str
        """
        words = [{1: "mono", 2: "stereo"}[n] for n in self.channels]
        kind = words[0] if words[0] == words[1] else f"{words[0]} far end, {words[1]} microphone"
        how = "" if self.found else " (given, not estimated)"
        drift = "no clock drift"
        if self.drift:
            drift = f"clock drift {1e6 * self.drift:+.1f} ppm, taken out"
        erle, later = self.erle(), self.erle(len(self.heard) // 2)
        said = "nothing was heard" if erle is None else f"ERLE {erle:.1f} dB over all"
        if later is not None:
            said += f", {later:.1f} dB in the second half"
        talked, late = self.talks.sum(), round(1000 * self.delay, 1) + 0.0  # never -0.0
        passes = f"{self.passes} pass{'es' if self.passes > 1 else ''}"
        return [
            f"{self.length / self.sr:.1f} s at {self.sr} Hz, {kind}, {self.taps} taps, {passes}",
            f"delay {late:.1f} ms{how}, of which {1000 * self.put_off:.1f} ms were taken out; {drift}",
            f"clipped: {_share(self.clipped_microphone)} of the microphone, {_share(self.clipped_far)} of the far end",
            self._talk(talked),
            *self._told(),
            *self._followed(),
            said,
            *(f"note: {note}" for note in self.notes),
        ]

    def _talk(self, seconds: float) -> str:
        """What was noticed of double talk: called so only if what is left was held against the far end."""
        if not seconds:
            return "no double talk was noticed"
        more = f"for {seconds:.1f} s more was left than usual"
        if self.echo_in_talk is None:
            return f"{more}, as when both talk (not tested)"
        if self.echo_in_talk > _ECHO:
            return f"{more}: {100 * self.echo_in_talk:.0f} % of that is still echo of the far end, so not double talk"
        if self.echo_in_talk > _NONE:
            return f"{more}: {100 * self.echo_in_talk:.0f} % of that is echo of the far end, the rest is not"
        return f"double talk was noticed for {seconds:.1f} s"

    def _followed(self) -> list[str]:
        """What moved and was followed."""
        said = [
            f"at {one.time:.2f} s the delay jumps from {1000 * one.before:.1f} to {1000 * one.after:.1f} ms: followed"
            for one in self.breaks[:_TOLD]
        ]
        if len(self.breaks) > _TOLD:
            said.append(f"and {len(self.breaks) - _TOLD} jumps more, all followed")
        if any(gain != 1 for gain in self.gains):
            low, high = (20 * np.log10(each) for each in (min(self.gains), max(self.gains)))
            said.append(f"the microphone's gain moves from {low:+.1f} to {high:+.1f} dB of the beginning's: followed")
        if self.lost >= 0.01:
            start, end = max(self.gaps, key=lambda gap: gap[1] - gap[0])
            said.append(
                f"the microphone stays at one value for {self.lost:.2f} s in all, longest from {start:.2f} to "
                f"{end:.2f} s: nothing was learnt there"
            )
        if self.tone is not None:
            hertz, share = self.tone
            said.append(f"a steady tone of {hertz:.0f} Hz holds {100 * share:.0f} % of what is left in the second half")
        if 0 < self.worked_at < self.sr:
            said.append(
                f"cancelled at {self.worked_at} Hz: above lies less than {100 * ABOVE:g} % of the microphone's power"
            )
        return said

    def _told(self) -> list[str]:
        first = [f"at {one.time:.1f} s the learning began anew: {self._cause(one)}" for one in self.changes[:_TOLD]]
        more = len(self.changes) - _TOLD
        return [*first, f"and {more} times more"] if more > 0 else first

    def _cause(self, change: Change) -> str:
        if self.tone is not None:
            return f"more was left than usual, for a cause that a steady tone of {self.tone[0]:.0f} Hz hides"
        second = min(int(change.time), len(self.clipped_microphone) - 1)
        clips = bool(self.clipped_microphone[max(0, second - 1) : second + 1].any())
        return change.cause + (", or clipping, which is there" if clips else "")

    def as_object(self) -> dict[str, Any]:
        """The report as an object for JSON: units stand in the names.

        Returns
        -------
        dict
        """
        return {
            "seconds": self.length / self.sr, "rate": self.sr, "channels": list(self.channels), "taps": self.taps,
            "passes": self.passes, "delay_ms": 1000 * self.delay, "delay_estimated": self.found,
            "taken_out_ms": 1000 * self.put_off, "drift_ppm": 1e6 * self.drift,
            "erle_db": self.erle(), "erle_second_half_db": self.erle(len(self.heard) // 2),
            "double_talk_seconds": float(self.talks.sum()),
            "echo_in_double_talk": self.echo_in_talk,
            "steady_tone": None if self.tone is None else {"hz": self.tone[0], "share": self.tone[1]},
            "delay_jumps": [
                {"seconds": one.time, "before_ms": 1000 * one.before, "after_ms": 1000 * one.after}
                for one in self.breaks
            ],
            "worked_at": self.worked_at or self.sr, "high_passed": list(self.passed), "lost_seconds": self.lost,
            "gaps": [{"from": start, "to": end} for start, end in self.gaps],
            "gain_db": [20 * float(np.log10(each)) for each in (min(self.gains), max(self.gains))]
            if self.gains else [0.0, 0.0],
            "begun_anew": [{"seconds": change.time, "cause": self._cause(change)} for change in self.changes],
            "clipped_microphone": float(self.clipped_microphone.mean()), "clipped_far": float(self.clipped_far.mean()),
            "each_second": {
                "erle_db": self.each_second(), "clipped_microphone": self.clipped_microphone.tolist(),
                "clipped_far": self.clipped_far.tolist(), "double_talk": self.talks.tolist(),
            },
            "written": self.written,
            "notes": self.notes,
        }  # fmt: skip

    def picture(self, path: str | Path) -> None:
        """Draw ERLE and levels over time; seconds that clip or hold double talk are marked, and each new beginning.

        Parameters
        ----------
        path : str or Path
            File to write; its ending says the format.

        Raises
        ------
        ValueError
            If the ending is that of no format.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from voicewire._kit.style import SERIES

        times = np.arange(len(self.heard)) + 0.5
        figure = Figure(figsize=(8, 5), layout="constrained")
        FigureCanvasAgg(figure)
        top, below = figure.subplots(2, 1, sharex=True)
        top.plot(times, [np.nan if v is None else v for v in self.each_second()], color=SERIES[0], marker=".")
        top.set(ylabel="ERLE (dB)", title=self.lines()[1])
        top.title.set_fontsize("small")
        for power, name, style, color in (
            (self.heard, "microphone", "-", SERIES[0]), (self.left, "what is left", "--", SERIES[1]),
        ):  # fmt: skip
            below.plot(times, 10 * np.log10(np.maximum(power, 1e-12)), style, color=color, label=name)
        clips = (self.clipped_microphone > 0) | (self.clipped_far > 0)
        if clips.any():
            below.plot(times[clips], np.full(clips.sum(), 0.0), "v", color="black", label="clips")
        both = self.talks > 0
        if both.any():
            below.plot(times[both], np.full(both.sum(), -5.0), "s", color=SERIES[2], label="both talk")
        for change in self.changes:
            top.axvline(change.time, color="black", linestyle=":", label=change.cause)
        for jump in self.breaks:
            top.axvline(jump.time, color=SERIES[2], linestyle="--", label="the delay jumps")
        below.set(xlabel="time (s)", ylabel="level (dB of full scale)")
        below.legend(fontsize="small")
        figure.savefig(path)


def _share(clipped: Samples) -> str:
    share = float(clipped.mean()) if clipped.size else 0.0
    return "none" if share == 0 else f"{100 * share:.2g} % in {np.count_nonzero(clipped)} s"
