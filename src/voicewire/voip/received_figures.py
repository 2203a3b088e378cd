"""Figure of a received call: when each frame came, and when three playout buffers would have played it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from voicewire import figures as house
from voicewire.voip.received import Received, Scored

__all__ = ["received"]


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

    Notes
    -----
    Chapter ``notebooks/voip/02_quality_and_playout``.

    Examples
    --------
    >>> from voicewire.voip.received import in_order, score
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
    for k, (name, one) in enumerate((("fixed", made.fixed), ("adaptive", made.adaptive), ("best", made.best))):
        ax.plot(
            when, one.delays_ms[stream.spurts], color=house.SERIES[k], linestyle=house.LINESTYLES[k],
            label=f"{name}: R {one.r:.1f}".replace("-", "−"), drawstyle="steps-post",
        )  # fmt: skip
    ax.set(xlabel="spoken at / s", ylabel="delay / ms", ylim=(0, None))
    ax.legend(fontsize="small")
    return house.origin(ax, "recorded elsewhere")
