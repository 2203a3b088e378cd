"""Sliders in a page in which Python runs: each position is drawn when it is asked for, by the same functions."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

__all__ = ["KIND", "Computed", "position"]

KIND: Final = "application/vnd.voicewire.slider+json"
"""The MIME type under which a page is told of such a slider."""

Drawn = dict[str, Any]
SHOWN: Final[dict[str, Computed]] = {}
"""What a page may ask for, by name; the names are new in each session, so that none is taken for an older one."""


def value_at(values: Sequence[Any], place: float, between: bool) -> Any:
    """Return the value at a place among the listed ones, where 0 is the first and 0.5 midway to the second."""
    place = min(max(float(place), 0.0), len(values) - 1.0)
    left = min(int(place), len(values) - 1)
    if not between or place == left:
        return values[min(int(place + 0.5), len(values) - 1)]
    found = float(values[left]) + (place - left) * (float(values[left + 1]) - float(values[left]))
    return round(found) if all(isinstance(value, int) for value in values) else float(f"{found:.4g}")


class Computed:
    """A slider whose pictures are drawn on demand."""

    def __init__(
        self, knobs: Mapping[str, Mapping[str, Any]], show: Callable[[dict[str, Any]], Drawn], text: str
    ) -> None:
        self.knobs = knobs
        self.show = show
        self.text = text

    def at(self, places: Sequence[float]) -> Drawn:
        """Draw one position."""
        chosen = {
            name: value_at(knob["values"], place, knob["between"])
            for (name, knob), place in zip(self.knobs.items(), places, strict=True)
        }
        drawn = self.show(chosen)
        for name in ("picture", "sound"):
            if name in drawn:
                drawn[name] = base64.b64encode(drawn[name]).decode("ascii")
        return drawn

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        own = secrets.token_hex(8)
        SHOWN[own] = self
        rows = [
            {name: knob[name] for name in ("label", "start", "between")} | {"last": len(knob["values"]) - 1}
            for knob in self.knobs.values()
        ]
        first = self.at([knob["start"] for knob in self.knobs.values()])
        return {KIND: {"name": own, "knobs": rows, "first": first}, "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def position(name: str, places: Sequence[float]) -> Drawn:
    """Draw a position of a slider that the page shows."""
    if name not in SHOWN:
        return {"error": "Python was started anew since: run this cell again."}
    try:
        return SHOWN[name].at(places)
    except Exception as error:  # of the reader's own function, whatever it is
        return {"error": f"This position cannot be drawn: {type(error).__name__}: {error}"}
