"""What the paper's steps do as they are printed, beside the mended ones (notebook 03)."""

from __future__ import annotations

import numpy as np

from voicewire._kit import checks
from voicewire.echo import paper_tables, reference
from voicewire.echo.metrics import Curve, misalignment
from voicewire.echo.scenes.scene import Signals

__all__ = ["misprints"]

NAMES = {
    "mended": (),
    "(12) with its plus": ("plus",),
    "(13) with its $e_0$": ("e_0",),
    "step 2: one column": ("column",),
    r"$\phi$ never set back": ("reset",),
    "all as printed": paper_tables.MISPRINTS,
}


@checks.takes(signals=checks.a(Signals), memory=checks.positive, reuse=checks.whole(1), every=checks.whole(1))
def misprints(signals: Signals, memory: float, reuse: int = 3, every: int = 50) -> dict[str, Curve]:
    """Run Table II mended, with each of its misprints alone, and to the letter."""
    if every > signals.x.size:
        raise ValueError(f"every is {every}: the scene has only {signals.x.size} samples")
    length = signals.before.LL.size
    lam = 1 - 1 / (memory * length)
    if not lam > 0:
        raise ValueError(f"memory is {memory:g}: with {length} taps it must be above {1 / length:g}, or lambda is 0")
    ends = np.arange(every, signals.x.size + 1, every)
    found = {}
    for name, left_in in NAMES.items():
        kept = paper_tables.fresh(length)
        decibels = np.empty(ends.size)
        for n in range(int(ends[-1])):
            kept.window = reference.shifted(kept.window, signals.x[n])
            paper_tables.one_sample(kept, signals.d[n], lam, reuse, left_in)
            if (n + 1) % every == 0:
                decibels[n // every] = misalignment(kept.g, signals.truth(n))
        found[name] = Curve(ends, decibels)
    return found
