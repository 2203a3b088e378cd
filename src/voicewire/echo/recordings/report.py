"""What ``voicewire echo`` found: in lines, as an object for JSON, and as a picture.

Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo.two_path_filter import Change

__all__ = ["Report", "decibels"]

Samples = NDArray[np.float64]
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


@dataclass
class Report:
    """What was found and done, second by second.

    Attributes
    ----------
    rate : int
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

    Examples
    --------
    >>> none = np.zeros(2)
    >>> one = Report(8000, 16000, (1, 1), 512, 3, 0.1, 0.09, True, 0.0, none + 1, none + 0.1, *[none] * 3, [])
    >>> one.lines()[1]
    'delay 100.0 ms, of which 90.0 ms were taken out; no clock drift'
    """

    rate: int
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
            f"{self.length / self.rate:.1f} s at {self.rate} Hz, {kind}, {self.taps} taps, {passes}",
            f"delay {late:.1f} ms{how}, of which {1000 * self.put_off:.1f} ms were taken out; {drift}",
            f"clipped: {_share(self.clipped_microphone)} of the microphone, {_share(self.clipped_far)} of the far end",
            f"double talk was noticed for {talked:.1f} s" if talked else "no double talk was noticed",
            *self._told(),
            said,
            *(f"note: {note}" for note in self.notes),
        ]

    def _told(self) -> list[str]:
        first = [f"at {one.time:.1f} s the learning began anew: {self._cause(one)}" for one in self.changes[:_TOLD]]
        more = len(self.changes) - _TOLD
        return [*first, f"and {more} times more"] if more > 0 else first

    def _cause(self, change: Change) -> str:
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
            "seconds": self.length / self.rate, "rate": self.rate, "channels": list(self.channels), "taps": self.taps,
            "passes": self.passes, "delay_ms": 1000 * self.delay, "delay_estimated": self.found,
            "taken_out_ms": 1000 * self.put_off, "drift_ppm": 1e6 * self.drift,
            "erle_db": self.erle(), "erle_second_half_db": self.erle(len(self.heard) // 2),
            "double_talk_seconds": float(self.talks.sum()),
            "begun_anew": [{"seconds": change.time, "cause": self._cause(change)} for change in self.changes],
            "clipped_microphone": float(self.clipped_microphone.mean()), "clipped_far": float(self.clipped_far.mean()),
            "each_second": {
                "erle_db": self.each_second(), "clipped_microphone": self.clipped_microphone.tolist(),
                "clipped_far": self.clipped_far.tolist(), "double_talk": self.talks.tolist(),
            },
            "written": self.written,
            "notes": self.notes,
        }  # fmt: skip

    def picture(self, path: Path) -> None:
        """Draw ERLE and levels over time; seconds that clip or hold double talk are marked, and each new beginning.

        Parameters
        ----------
        path : Path
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
        below.set(xlabel="time (s)", ylabel="level (dB of full scale)")
        below.legend(fontsize="small")
        figure.savefig(path)


def _share(clipped: Samples) -> str:
    share = float(clipped.mean()) if clipped.size else 0.0
    return "none" if share == 0 else f"{100 * share:.2g} % in {np.count_nonzero(clipped)} s"
