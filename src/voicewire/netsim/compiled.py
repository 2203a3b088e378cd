"""How the rules of the simulator are compiled."""

from __future__ import annotations

from typing import Any, cast

from voicewire._compiled import njit

__all__ = ["rule"]

#: Compiled, cached on disk, and without reference counts: the rules allocate nothing, and counting each array's
#: owners up and down at every call would cost several times more than the rules themselves. Inlined, because a
#: `World` handed from rule to rule is some eighty numbers, which cost more to pass than most rules do.
rule: Any = cast(Any, njit)(cache=True, _nrt=False, forceinline=True)
