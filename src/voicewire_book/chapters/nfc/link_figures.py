"""The figures beside the session: fragments, checks, estimated timers, a busy Ethernet, control slots, power."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.nfc import paper
from voicewire.nfc.beyond.ethernet import Ethernet
from voicewire.nfc.beyond.framing import past_sum
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.fragmentation import ETHERNET_MTU, FragmentedSession
from voicewire.nfc.session import Session
from voicewire.nfc.slot_sharing import ShortSession, power_share
from voicewire_book.kit import figures

__all__ = [
    "congested", "control_runs", "fragment_cost", "past_checks", "power_and_latency", "timeouts", "window_timeouts",
]  # fmt: skip


def _new_axes(ax: Axes | None) -> Axes:
    return plt.subplots()[1] if ax is None else ax


@checks.takes(error=ParameterError, size=checks.whole(1, 10**6))
def fragment_cost(size: int = paper.TABLE_72_BYTES, ax: Axes | None = None) -> Axes:
    """Draw a session's latency over the MSS, with packets cut at Ethernet's MTU and without (notebook 1)."""
    ax = _new_axes(ax)
    mss = np.arange(256, 5001, 8)
    whole = [Session(size=size, mss=int(m)).run().seconds for m in mss]
    cut = [FragmentedSession(size=size, mss=int(m)).run().seconds for m in mss]
    ax.plot(mss, cut, color=figures.SERIES[1], label=f"cut at {ETHERNET_MTU} bytes")
    ax.plot(mss, whole, "--", color=figures.SERIES[0], label="in one piece")
    ax.axvline(ETHERNET_MTU - 40, color=figures.COLOURS["muted"], linewidth=0.8)
    ax.set(xlabel="MSS (bytes)", ylabel="latency (s)")
    ax.legend()
    return figures.origin(ax, "simulated here")


@checks.takes(error=ParameterError, counted=checks.array(1, low=0.0, high=1.0), slack=checks.whole(1, 100))
def past_checks(counted: NDArray[np.float64], slack: int = 1, ax: Axes | None = None) -> Axes:
    """Draw which share of bursts of flipped bits gets past a byte sum, by their length (notebook 2)."""
    ax = _new_axes(ax)
    length = np.arange(1, len(counted) + 1)
    derived = [100 * np.mean([past_sum(int(n), first) for first in range(8)]) for n in length]
    ax.step(length, derived, where="mid", color=figures.COLOURS["theory"], label="byte sum, derived")
    ax.plot(length[::slack], 100 * np.asarray(counted)[::slack], "o", color=figures.SERIES[1], label="byte sum, tried")
    ax.axhline(0, color=figures.SERIES[0], linestyle="--", label="CRC_A")
    ax.set(xlabel="flipped bits in a row", ylabel="not noticed (%)")
    ax.legend()
    return figures.origin(ax, "simulated here")


@checks.takes(error=ParameterError, traces=checks.a(Mapping), rtt=checks.number(0.0))
def timeouts(traces: Mapping[str, NDArray[np.float64]], rtt: float, ax: Axes | None = None) -> Axes:
    """Draw the timeout before each packet of an exchange, beside the round trip (notebook 2)."""
    ax = _new_axes(ax)
    for colour, (name, values) in zip(figures.SERIES, traces.items(), strict=False):
        ax.step(np.arange(len(values)), values, where="post", color=colour, label=name)
    ax.axhline(rtt, color=figures.COLOURS["muted"], linestyle=":", label="round trip")
    ax.set(xlabel="packet", ylabel="timeout (s)", yscale="log")
    ax.legend()
    return figures.origin(ax, "simulated here")


@checks.takes(error=ParameterError, traces=checks.a(Mapping), constant=checks.number(0.0))
def window_timeouts(
    traces: Mapping[str, Sequence[tuple[int, float, float]]], constant: float, ax: Axes | None = None
) -> Axes:
    """Draw round trips in a window, and the timeout that is estimated from them, over time (notebook 2)."""
    ax = _new_axes(ax)
    for colour, marker, (name, log) in zip(figures.SERIES, figures.MARKERS, traces.items(), strict=False):
        slots, rtts, waits = np.array(log, dtype=float).T
        at = paper.SLOT_PERIOD * slots
        ax.step(at, waits, where="post", color=colour, label=f"timeout, {name}")
        ax.plot(at, rtts, marker, color=colour, markerfacecolor="white", label=f"round trip, {name}")
    ax.axhline(constant, color=figures.COLOURS["muted"], linestyle="--", label=f"constant {constant:g} s")
    ax.set(xlabel="time (s)", ylabel="timeout, round trip (s)", ylim=(0, None))
    ax.legend(fontsize="small")
    return figures.origin(ax, "simulated here")


@checks.takes(error=ParameterError, ethernets=checks.a(Mapping), runs=checks.whole(2, 10_000))
def congested(ethernets: Mapping[str, Ethernet], runs: int = 100, ax: Axes | None = None) -> Axes:
    """Draw the latency of 50 kB over the largest window, a curve for each Ethernet (notebook 2)."""
    ax = _new_axes(ax)
    windows = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32])
    for i, (name, ethernet) in enumerate(ethernets.items()):
        took = np.array([_took(int(window), ethernet, runs) for window in windows])
        half = 1.96 * took.std(axis=1, ddof=1) / np.sqrt(runs)
        ax.errorbar(
            windows, took.mean(axis=1), half, fmt=figures.MARKERS[i], linestyle=figures.LINESTYLES[i],
            color=figures.SERIES[i], label=name,
        )  # fmt: skip
    ax.set(xlabel="largest window (segments)", ylabel="latency of 50 kB (s)", ylim=(50, 90))
    ax.legend(loc="upper left")
    return figures.origin(ax, "simulated here")


def _took(window: int, ethernet: Ethernet, runs: int) -> list[float]:
    """Latencies, s, of sessions that begin with their largest window, of so many segments."""
    most = window * paper.MSS
    session = Session(paper.FIGURE_72_BYTES, window=most, window_limit=most, ethernet=ethernet)
    return [session.run(np.random.default_rng(seed)).seconds for seed in range(runs)]


@checks.takes(error=ParameterError, session=checks.a(ShortSession), ran=checks.a(Mapping))
def control_runs(session: ShortSession, ran: Mapping[str, NDArray[np.float64]], ax: Axes | None = None) -> Axes:
    """Draw latency over the control slots of a section: as run on real slots, and by Eq. 7.4 (notebook 3)."""
    ax = _new_axes(ax)
    taken = np.arange(paper.SECTION_SLOTS)
    for rounding, style, label in (("none", "-", "Eq. 7.4"), ("section", "--", "rounded up to sections")):
        told = [session.seconds(848.0, 1.5, n / paper.SECTION_SLOTS, rounding) for n in taken]  # type: ignore[arg-type]
        ax.plot(taken, told, style, color=figures.COLOURS["theory"], label=label)
    for marker, colour, (name, values) in zip(figures.MARKERS, figures.SERIES, ran.items(), strict=False):
        ax.plot(taken, values, marker, color=colour, label=f"run, control slots {name}")
    ax.set(xlabel="slots of 10 that control messages take", ylabel="latency (s)", ylim=(0, None))
    ax.legend()
    return figures.origin(ax, "simulated here")


@checks.takes(error=ParameterError, session=checks.a(ShortSession))
def power_and_latency(session: ShortSession, ax: Axes | None = None) -> Axes:
    """Draw the latency over the share of the time that is left for power, a curve for each bit rate (notebook 3)."""
    ax = _new_axes(ax)
    active = np.linspace(*paper.SLOT_RANGE_MS, 31)
    left = [100 * power_share(float(time)) for time in active]
    for style, colour, rate in zip(("-", "--", ":"), figures.SERIES, paper.RATES, strict=False):
        ax.plot(left, [session.seconds(rate, float(t)) for t in active], style, color=colour, label=f"{rate} kbit/s")
    ax.set(xlabel="time left for power, at most (%)", ylabel="latency (s)", ylim=(0, None))
    ax.legend()
    return figures.origin(ax, "simulated here")
