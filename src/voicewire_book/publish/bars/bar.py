"""A bar: what is measured of the pages, its limit, and the worst that was found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Bar", "at_most", "table"]


@dataclass(frozen=True)
class Bar:
    """One line of the table."""

    name: str
    limit: str
    worst: str
    where: str
    holds: bool


def at_most(name: str, limit: float, found: Iterable[tuple[float, str]], unit: str = "") -> Bar:
    """Return the bar under which no page goes beyond `limit`."""
    each = list(found)
    said = f"≤ {limit:g} {unit}".rstrip()
    if not each:
        return Bar(name, said, "nothing was measured", "", False)
    worst, where = max(each)
    beyond = sum(value > limit for value, _ in each)
    if beyond:
        where += f" ({beyond} of {len(each)} beyond)"
    return Bar(name, said, f"{worst:.5g} {unit}".rstrip(), where, not beyond)


def table(bars: Iterable[Bar]) -> str:
    """Return the bars as lines of text."""
    heads = ("bar", "limit", "worst", "holds", "where")
    rows = [heads, *((b.name, b.limit, b.worst, "yes" if b.holds else "NO", b.where) for b in bars)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    return "\n".join("  ".join(f"{text:<{w}}" for text, w in zip(row, widths, strict=True)).rstrip() for row in rows)
