"""The paper's parameters, each once, with its place in the paper; assumptions are named as such."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AMPLITUDE", "AR_POLE", "BITS", "FIGURE_1", "FIGURE_2", "RATE", "SNR_DB", "UPDATES", "Setting"]

AMPLITUDE = 1.0
"""H, Section IV."""
UPDATES = 4
"""N_u, Section IV."""
BITS = 16
"""M_b, Section IV."""
SNR_DB = 30.0
"""Signal-to-noise ratio of each microphone, Section IV."""
AR_POLE = 0.9
"""Pole of the AR(1) source, Section IV and Figure 1."""
PREDISTORTION_LIMIT = 0.5
"""alpha_r up to which the stereo effect is said to be kept, Section IV below (15)."""
RATE = 8000
"""Sampling rate in Hz: assumed; the paper gives 150 s in Figure 2 but no rate."""


@dataclass(frozen=True)
class Setting:
    """One simulation of Section IV.

    Attributes
    ----------
    length, memory : int
        L and K.
    samples, change_at : int
        Duration, and sample of the change.
    change : str
        What changes, see `voicewire.echo.scenes.scene.changed`.
    curves : tuple of (int, float)
        (N_it, alpha_r) of each curve.
    """

    length: int
    memory: int
    samples: int
    change_at: int
    change: str
    curves: tuple[tuple[int, float], ...]
    """(N_it, alpha_r) of each curve."""

    @property
    def forgetting(self) -> float:
        """lambda = 1 - 1/(K L), Section IV."""
        return 1 - 1 / (self.memory * self.length)


FIGURE_1 = Setting(
    length=128,
    memory=64,
    samples=1_500_000,
    change_at=1_200_000,
    change="sign",
    curves=((1, 0.4), (3, 0.4), (5, 0.4), (1, 0.8), (1, 0.0), (5, 0.0)),
)
"""Figure 1 and its caption; the length of the time axis and the (1, 0) curve are assumed."""

FIGURE_2 = Setting(
    length=256,
    memory=96,
    samples=300 * RATE,
    change_at=150 * RATE,
    change="swap",
    curves=((1, 0.4), (2, 0.4), (3, 0.4), (5, 0.4), (1, 0.0), (3, 0.0), (5, 0.0)),
)
"""Figure 2 and its caption; 300 s in all and the set of N_it are assumed."""
