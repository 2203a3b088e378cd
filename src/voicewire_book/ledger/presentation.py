"""What a notebook shows of its verdicts: numbers in short, a table for the page, and the same rows as data."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from voicewire_book.ledger.vocabulary import BY_READING, MIME, VERDICTS, ClaimError, Judged, Plain, Rival, Row

__all__ = ["Table", "beside", "natural", "plain", "sentence", "show", "show_html"]

Item = TypeVar("Item")

NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")

MANY = 8
"""With more values than this a claim's words name the farthest only; a table shows the rest on demand."""


def show(value: object, unit: str = "") -> str:
    """Print a number the way the ledger does: at most five significant digits, with its unit."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.number):
        text = f"{float(value):.5g}".replace("-", "\N{MINUS SIGN}")
        return f"{text} {unit}".rstrip()
    if isinstance(value, Mapping):
        # A stored mapping has lost its order, so one within another is always shown in that of its labels.
        inner = {key: natural(item) for key, item in value.items() if isinstance(item, Mapping)}
        return "; ".join(f"{key}: {show(inner.get(key, item), unit)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(show(item, unit) for item in value)
    return "" if value is None else str(value)


def natural(items: Mapping[str, Item]) -> dict[str, Item]:
    """Return a mapping in the order of its labels, numbers in them by their size."""

    def key(label: str) -> list[str | float]:
        parts = NUMBER.split(label)  # text and numbers in turn, so like meets like
        return [float(part) if k % 2 else part for k, part in enumerate(parts)]

    return {label: items[label] for label in sorted(items, key=key)}


def show_html(value: object, unit: str = "") -> str:
    """Print a value for a table cell; a long list is folded."""
    text = html.escape(show(value, unit))
    if isinstance(value, Mapping | list | tuple) and len(value) > MANY:
        return f"<details><summary>{len(value)} values</summary>{text}</details>"
    return text


def plain(value: object) -> Plain:
    """Round to six significant digits: what differs beyond them between machines is not a result.

    Where rounding these again to the five that are shown would not round the number itself, one more is kept.
    """
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return next(kept for kept in _rounded(value) if f"{kept:.5g}" == f"{value:.5g}")
    if value is None or isinstance(value, bool | int | str):
        return value
    raise ClaimError(f"a {type(value).__name__} can't stand in a notebook's output: give numbers, text or lists")


def _rounded(value: float) -> Iterator[float]:
    """Yield a number with six significant digits, with seven, and so on to itself."""
    yield from (float(f"{value:.{digits}g}") for digits in range(6, 18))


def sentence(row: Row) -> str:
    """Return a verdict as one line of text."""
    return f"{VERDICTS[row['verdict']]} {row['verdict']}: {row['id']}: {row['reason']}"


def beside(
    places: Sequence[str], rival: Rival | None, readings: Sequence[Judged], unit: str = "", runs: int = 0
) -> str:
    """Return what stands below a verdict's reason: the places it was read off, its runs, its rival, its readings."""
    text = f"<br>{BY_READING} By reading: {html.escape('; '.join(places))}." if places else ""
    text += f"<br>Runs stated beforehand: {runs}." if runs else ""
    if rival and "none" in rival:
        text += f"<br>No rival: {html.escape(rival['none'])}."
    elif rival:
        ran = f"passes in {100 * rival['passes']:.3g} % of {rival['runs']}" if "passes" in rival else "not run yet"
        text += f"<br>Rival: {html.escape(rival['mechanism'])}: {ran}."
    if not readings:
        return text
    lines = [
        f"<tr><td>{html.escape(row['name'])}</td><td>{html.escape(row['source'])}</td>"
        f"<td>{show_html(row['reproduced'], unit)}</td><td>{VERDICTS[row['verdict']]} {row['verdict']}"
        + (f"; excluded: {html.escape(row['excluded'])}" if row["excluded"] else "")
        + "</td></tr>"
        for row in readings
    ]
    heads = "<tr><th>reading</th><th>source</th><th>here</th><th>verdict</th></tr>"
    return f"{text}<table><thead>{heads}</thead><tbody>{''.join(lines)}</tbody></table>"


@dataclass(frozen=True)
class Table:
    """Verdicts as a notebook shows them; the same rows stand in the output as data."""

    rows: tuple[Row, ...]
    anchored: frozenset[str]

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, list[Row] | str]:
        return {MIME: list(self.rows), "text/html": self._html(), "text/plain": "\n".join(map(sentence, self.rows))}

    def _html(self) -> str:
        cells = []
        for row in self.rows:
            kind = list(VERDICTS).index(row["verdict"])
            anchor = f' id="claim-{row["id"]}"' if row["id"] in self.anchored else ""
            cells.append(
                f"<tr{anchor}><td>{_ours(row)}<strong>{html.escape(row['where'])}</strong><br>"
                f"{html.escape(row['statement'])}<br><code>{row['id']}</code></td>"
                f"<td>{show_html(row['printed'], row['unit'])}</td>"
                f"<td>{show_html(row['reproduced'], row['unit'])}</td>"
                f'<td><span class="vw-verdict vw-verdict-{kind}">{VERDICTS[row["verdict"]]} '
                f"{row['verdict']}</span></td><td>{html.escape(row['reason'])}{_below(row)}</td></tr>"
            )
        return (
            '<div class="vw-claims" tabindex="0" role="region" aria-label="What the paper says, what we get"><table>'
            "<thead><tr><th>the paper says</th><th>printed</th><th>here</th><th>verdict</th><th>why</th></tr></thead>"
            f"<tbody>{''.join(cells)}</tbody></table></div>"
        )


def _ours(row: Row) -> str:
    return "<em>A question of ours.</em> " if row.get("whose") == "ours" else ""


def _below(row: Row) -> str:
    return beside(row.get("places", []), row.get("rival"), row.get("readings", []), row["unit"], row.get("runs", 0))
