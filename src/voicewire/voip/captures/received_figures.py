"""Figures of received calls: when each frame came, when three buffers would have played it, and clocks that part."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from voicewire._kit import style as house
from voicewire.voip.captures.delay_trend import tilted
from voicewire.voip.captures.received import Received, Scored

__all__ = ["parting", "received"]


def received(stream: Received, made: Scored, delay_ms: float, ax: Axes | None = None) -> Axes:
    """Delay of each frame that came, those that never came, and the playout delays chosen.

    Parameters
    ----------
    stream : Received
        The call.
    made : Scored
        What `score` made of it.
    delay_ms : float
        The same delay of the fastest packet that `score` was given, ms.
    ax : Axes, optional
        Where to draw; without it a new figure.

    Returns
    -------
    Axes
        Where it was drawn.

    Examples
    --------
    >>> from voicewire.voip.captures.received import in_order, score
    >>> stream = in_order([0.0, 0.02, 0.09], [0, 1, 3])
    >>> received(stream, score(stream, "G.711", 50.0), 50.0).get_xlabel()
    'spoken at / s'
    """
    ax = house.new_axes(ax)
    when, delay = stream.sent_ms / 1000, stream.delays_ms + delay_ms
    came = np.isfinite(delay)
    ax.plot(when[came], delay[came], ".", color="#707070", markersize=3, label="frame that came")
    if not came.all():
        top = 1.08 * float(delay[came].max())
        lost = when[~came]
        ax.plot(lost, np.full(lost.size, top), "|", color="black", markersize=6, label="frame that never came")
    for k, (name, one) in enumerate((("best fixed", made.fixed), ("Ramjee", made.adaptive), ("bound", made.best))):
        ax.plot(
            when, one.delays_ms[stream.spurts], color=house.SERIES[k], linestyle=house.LINESTYLES[k],
            label=f"{name}: R {one.r:.1f}".replace("-", "−"), drawstyle="steps-post",
        )  # fmt: skip
    ax.set(xlabel="spoken at / s", ylabel="delay / ms", ylim=(0, None))
    ax.legend(fontsize="small")
    return house.origin(ax, "recorded elsewhere")


def parting(sent: NDArray[np.float64], delays: NDArray[np.float64], ppm: float, ax: Axes | None = None) -> Axes:
    """Delays by two clocks that part, the line that is true, the one below all, and the one through the middle.

    Parameters
    ----------
    sent : ndarray of float, shape (frames,)
        When each frame was spoken, ms.
    delays : ndarray of float, shape (frames,)
        Its delay plus any constant, ms.
    ppm : float
        By how much the clocks truly part, in millionths.
    ax : Axes, optional
        Where to draw; without it a new figure.

    Returns
    -------
    Axes
        Where it was drawn.

    Examples
    --------
    >>> spoken = 20.0 * np.arange(100)
    >>> parting(spoken, 40 + 1e-4 * spoken, 100.0).get_ylabel()
    'delay / ms'
    """
    ax = house.new_axes(ax)
    low = float((delays - 1e-6 * ppm * sent).min())
    slope = tilted(sent, delays)
    below = float((delays - slope * sent).min())
    fitted, middle = np.polyfit(sent, delays, 1)
    ax.plot(sent / 1000, delays, ".", color="#707070", markersize=2, label="frame", zorder=1)
    ends = np.array([sent.min(), sent.max()])
    for k, (name, a, b) in enumerate(
        (("true", low, 1e-6 * ppm), ("below all", below, slope), ("least squares", middle, fitted))
    ):
        ax.plot(
            ends / 1000, a + b * ends, color=house.SERIES[k], linestyle=house.LINESTYLES[k],
            label=f"{name}: {1e6 * b:.1f} ppm".replace("-", "−"),
        )  # fmt: skip
    ax.set(xlabel="spoken at / s", ylabel="delay / ms")
    ax.legend(fontsize="small")
    return house.origin(ax, "simulated here")
