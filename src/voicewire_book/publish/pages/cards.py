"""What a chapter's page shows of its verdicts: a card for a finding, a folded table for the others, a list at the end.

Each claim is printed once, below the cell that judged it (`voicewire_book.publish.pages.placing` says where that is).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from voicewire_book.ledger.loading import Claim
from voicewire_book.ledger.presentation import Table, beside, show_html
from voicewire_book.ledger.rules import band
from voicewire_book.publish.pages import claim_list, what_if

__all__ = ["card", "ending", "folded", "scale"]

WIDE, HIGH, REACH = 240, 30, 3.0
"""Size of a scale, and how many half-widths of its tolerance band it shows on either side."""

GLANCE = 160
"""Letters of a value that a card shows unfolded."""

SCORECARD = "../../book/scorecard.html"
"""The scorecard's address as a chapter sees it."""


def scale(row: Mapping[str, Any]) -> str:
    """Return a small drawing of a verdict: the band of the tolerance, the printed value in it, and what came out here.

    Several values share one band; each lies where it is in its own.
    """
    trial = what_if.numbers({**row, "interval": None, "readings": [], "reason": "", "verdict": ""})
    if trial is None or trial["readings"][0][1] not in ("relative", "absolute"):
        return ""
    ((_, kind, size, pairs, _),) = trial["readings"]
    ends = [band(said, {kind: size}) for said, _ in pairs]
    if any(high <= low for low, high in ends):
        return ""

    def place(value: float, low: float, high: float) -> float:
        half = (value - (low + high) / 2) / ((high - low) / 2)
        return WIDE / 2 * (1 + max(-REACH, min(REACH, half)) / (REACH * 1.08))

    marks = "".join(
        f'<circle cx="{place(here, *both):.1f}" cy="15" r="4"/>' for (_, here), both in zip(pairs, ends, strict=True)
    )
    if row["interval"] and len(pairs) == 1 and all(map(math.isfinite, row["interval"])):
        first, last = (place(end, *ends[0]) for end in row["interval"])
        marks += f'<line x1="{first:.1f}" x2="{last:.1f}" y1="15" y2="15"/>'
    left, right = (WIDE / 2 * (1 + side / (REACH * 1.08)) for side in (-1, 1))
    said = "the printed value with its tolerance, and ours" if len(pairs) == 1 else f"{len(pairs)} values of ours"
    return (
        f'<svg class="vw-scale" viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="Scale: {said}">'
        f'<rect x="{left:.1f}" y="5" width="{right - left:.1f}" height="20"/>'
        f'<path d="M0 15H{WIDE}M{WIDE / 2:g} 3V27"/>{marks}</svg>'
    )


def card(row: Mapping[str, Any], judged: str, claim: Claim | None = None) -> str:
    """Return the card of a finding."""
    facts = {
        "Printed": _short(show_html(row["printed"], row["unit"])),
        "Here": _short(show_html(row["reproduced"], row["unit"])),
        "Why": escape(row["reason"]),
    }
    listed = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in facts.items() if text)
    more = beside(row.get("places", ()), row.get("rival"), row.get("readings", ()), row["unit"], row.get("runs", 0))
    if row["tolerance"] and row.get("tolerance_reason"):
        more = f"<br>Tolerance: {escape(row['tolerance_reason'])}{more}"
    more = f"<details><summary>How it was judged</summary>{more.removeprefix('<br>')}</details>" if more else ""
    tried = what_if.attribute(row, claim)
    more += f'<details class="vw-try"{tried}><summary>What if</summary></details>'
    ours = "<em>A question of ours.</em> " if row.get("whose") == "ours" else ""
    return (
        f'<div class="vw-card" id="claim-{row["id"]}"><p>{claim_list.badge(row["verdict"])} {ours}'
        f"<strong>{escape(str(row['where']))}</strong></p><p>{escape(row['statement'])}</p>{scale(row)}"
        f'<dl>{listed}</dl>{more}<p class="vw-card-links"><a href="#{judged}">The code that judged it</a> '
        f'<a href="{SCORECARD}#score-{row["id"]}">Its row: <code>{row["id"]}</code></a></p></div>'
    )


def _short(text: str) -> str:
    """Fold what is too long to be read at a glance."""
    if len(text) <= GLANCE or text.startswith("<details>"):
        return text
    return f"<details><summary>all values</summary>{text}</details>"


def folded(rows: Sequence[Mapping[str, Any]], after_cards: bool = False) -> str:
    """Return a table of claims under a summary that counts them by verdict."""
    if not rows:
        return ""
    noun = f"{len(rows)} {'more ' if after_cards else ''}claim{'s' if len(rows) > 1 else ''} judged here"
    table = Table(tuple(rows), frozenset(row["id"] for row in rows))  # type: ignore[arg-type]
    html = table._repr_mimebundle_()["text/html"]
    return f'<details class="vw-told"><summary>{noun} {claim_list.signs(rows)}</summary>{html}</details>'


def ending(findings: Sequence[Mapping[str, Any]], others: int, study: str) -> str:
    """Return the list at a chapter's end: each finding with links to its card and to its row in the scorecard."""
    lines = "".join(
        f'<li>{claim_list.badge(row["verdict"])} <a href="#claim-{row["id"]}">{escape(row["statement"])}</a> '
        f'(<a href="{SCORECARD}#score-{row["id"]}" aria-label="row of {row["id"]}">row</a>)</li>'
        for row in findings
    )
    listed = f'<ul class="vw-findings">{lines}</ul>' if lines else ""
    rest = f"{others} other claims stand in the folded tables above, each below the cell that judged it"
    return f'{listed}<p>{rest}; <a href="{SCORECARD}#scorecard-{study}">all of them on the scorecard</a>.</p>'
