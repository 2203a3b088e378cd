"""How many lines a cell may show: the one place that says so."""

__all__ = ["VISIBLE", "WOVEN"]

VISIBLE = 12
"""Lines of a cell that is seen; a longer one is shown in pieces of whole statements."""

WOVEN = 20
"""Lines of a woven cell, which is seen whole."""
