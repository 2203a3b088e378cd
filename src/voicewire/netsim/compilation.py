"""How the rules of the simulator are compiled."""

from __future__ import annotations

from voicewire._kit._records import rule

__all__ = ["rule"]
