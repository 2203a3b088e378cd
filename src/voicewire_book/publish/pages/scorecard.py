"""The scorecard page: all studies at a glance, then each claim beside what was reproduced.

Everything here is read from the executed notebooks by `voicewire_book.ledger.collecting`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from voicewire_book import paths
from voicewire_book.ledger import collecting, tally
from voicewire_book.ledger.loading import read, studies
from voicewire_book.ledger.vocabulary import BY_READING, CLASSES, REPRODUCED, VERDICTS
from voicewire_book.publish.machines import linked, listing
from voicewire_book.publish.pages import claim_list

__all__ = ["FILLS", "PICTURE", "WIDTH", "back", "draw_picture", "page", "picture"]

PICTURE = Path("book/_static/scorecard.svg")
WIDTH = 360  # as wide as a telephone, so that the letters need not shrink there
BAR = 18
STEP = 64

FILLS = ("#00795c", "#0072b2", "#7a6a00", "#b34700", "#a3578a", "#6b6b6b", "#4b4fb5", "#5a4632")
"""The verdicts' colours, in their order; book.css has the same for the badges."""

Rows = Sequence[Mapping[str, Any]]

ROW = re.compile(r'(<tr id="claim-([^"]+)">(?:(?!</tr>).)*?)<code>\2</code>', re.DOTALL)
"""A claim's row in a notebook's table, up to its name."""


def summary(rows: Rows) -> str:
    """Return one sentence a study, for those who do not see the picture."""
    sentences = []
    for study, count in tally.by_study(rows).items():
        parts = [f"{count.causes[name]} {name}" for name in VERDICTS if count.causes[name]]
        sentences.append(f"{study}: {_claims(count)}, {', '.join(parts)}.")
    return " ".join(sentences)


def _claims(count: tally.Tally) -> str:
    """Say how many claims were computed, from how many causes where some share one, and how many stand apart."""
    rows, causes = count.computed.total(), count.causes.total()
    apart = [f"{count.by_reading.total()} by reading"] if count.by_reading else []
    apart += [f"{count.implements} built in"] if count.implements else []
    said = f"{rows} computed" if rows == causes else f"{rows} computed, {causes} causes"
    return f"{said}; apart: {', '.join(apart)}" if apart else said


def picture(rows: Rows, titles: Mapping[str, str], standalone: bool = False) -> str:
    """Return the scorecard as an SVG drawing: a stacked bar a study, the counts in words of signs below it.

    The bars count causes of what was computed: what follows from one slip is one.
    """
    table = tally.by_study(rows)
    height = STEP * len(table) + 76
    # In the book's own page the drawing takes over the page's letters and their colour.
    ground = 'width="540" font-family="system-ui, sans-serif"' if standalone else 'fill="currentColor"'
    out = [
        f'<svg class="vw-picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape("Verdicts by study. " + summary(rows))}" {ground} font-size="12">'
    ]
    if standalone:
        out.append(
            "<style>text{fill:#1f2328}.ground{fill:#fff}"
            "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.ground{fill:#0d1117}}</style>"
            f'<rect class="ground" width="{WIDTH}" height="{height}"/>'
        )
    for place, (study, count) in enumerate(table.items()):
        top = place * STEP + 4
        name = titles.get(study, study)
        name = name if len(name) <= 50 else name.split(":")[0]
        out.append(f'<text x="4" y="{top + 12}" font-weight="600">{escape(name)}</text>')
        left = 4.0
        for fill, verdict in zip(FILLS, VERDICTS, strict=True):
            width = (WIDTH - 8) * count.causes[verdict] / max(count.causes.total(), 1)
            if width:
                # Half a unit of gap on each side: neighbours are told apart without their colours.
                out.append(
                    f'<rect x="{left + 0.5:.1f}" y="{top + 18}" width="{max(width - 1, 1):.1f}" height="{BAR}" '
                    f'fill="{fill}"><title>{verdict}: {count.causes[verdict]}</title></rect>'
                )
            left += width
        signs = "  ".join(f"{sign} {n}" for verdict, sign in VERDICTS.items() if (n := count.causes[verdict]))
        out.append(f'<text x="4" y="{top + 50}" xml:space="preserve">{signs}  of {_claims(count)}</text>')
    out.append(_legend(STEP * len(table) + 16))
    return "".join(out) + "</svg>"


def _legend(top: int) -> str:
    out = []
    for place, (fill, (verdict, sign)) in enumerate(zip(FILLS, VERDICTS.items(), strict=True)):
        x, y = 4 + 200 * (place % 2), top + 18 * (place // 2)
        out.append(
            f'<rect x="{x}" y="{y - 10}" width="11" height="11" fill="{fill}"/>'
            f'<text x="{x + 16}" y="{y}" font-size="11">{sign} {verdict}</text>'
        )
    return "".join(out)


def page(base: Path, link: Callable[[str], str | None]) -> str:
    """Return the scorecard's MyST text: the picture, then a section with a table for each study."""
    rows = collecting.scorecard(base)
    if not rows:
        return "No study of this checkout has a ledger yet.\n"
    titles = {row["study"]: paths.part(row["study"]).title for row in rows}
    # A picture that failed to come would not be seen in a strict build: it stands in the page itself.
    data = linked.script(rows, base, listing.citation(base)["url"])
    sums = f"{_by_class(rows, titles)}{_by_choice(rows, titles)}"
    apart = f'<details class="vw-glance"><summary>By class, and when the bar was chosen</summary>{sums}</details>'
    counted = _overview(rows, titles)
    drawn = f'<details class="vw-glance"><summary>As a picture</summary>{picture(rows, titles)}</details>'
    parts = [_raw(f"{counted}{claim_list.filters(titles)}{apart}{drawn}{data}")]
    for study, name in titles.items():
        mine = [row for row in rows if row["study"] == study]
        known = read(study, base) if study in studies(base) else {}
        theirs, ours = ([row for row in mine if (row.get("whose") == "ours") == own] for own in (False, True))
        listed = claim_list.study(theirs, link, "Claims of the paper", known)
        if ours:
            listed += claim_list.study(ours, link, "Questions of ours, which count for nothing above", known)
        parts.append(f"(scorecard-{study})=\n## {name}\n\n{_raw(listed)}")
        parts.append(f"{{ref}}`What the authors answer <reply-{study}>`\n")
    return "\n".join(parts)


def _raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```\n"


def _overview(rows: Rows, titles: Mapping[str, str]) -> str:
    signs = {sign: name for name, sign in VERDICTS.items()} | {BY_READING: "by reading"}
    heads = "".join(
        f'<th scope="col"><span aria-hidden="true">{sign}</span>{_unseen(name)}</th>' for sign, name in signs.items()
    )
    table = tally.by_study(rows)
    owed = any(count.rival_owed for count in table.values())
    last = ["built in", *(["no rival"] if owed else []), "ours"]
    heads += "".join(f'<th scope="col">{name}</th>' for name in last)
    lines = []
    for study, count in table.items():
        cells = [count.rows.total(), count.computed.total(), count.causes.total()]
        cells += [*(count.causes[name] for name in VERDICTS)]
        cells += [count.by_reading.total(), count.implements]
        cells += [*([count.rival_owed] if owed else []), count.ours.total()]
        lines.append(_line(study, titles, cells))
    registered = sum(count.registered for count in table.values())
    unrun = sum(count.rival_unrun for count in table.values())
    waiting = [
        f"{registered} claims are registered and not computed yet" if registered else "",
        f"{unrun} rivals are named and not run yet" if unrun else "",
    ]
    legend = [f"{sign} {name}" for sign, name in signs.items()]
    legend += [
        "built in: could not have come out otherwise here, so no verdict counts",
        *(["no rival: its rival mechanism is not named"] if owed else []),
        "ours: questions of ours, counted nowhere else",
    ]
    below = "; ".join(["The verdicts count causes of what was computed: " + " · ".join(legend), *filter(None, waiting)])
    return (
        '<div class="vw-claims vw-overview" tabindex="0" role="region" aria-label="Verdicts by study"><table>'
        '<thead><tr><th scope="col">Study</th><th scope="col">claims</th>'
        f'<th scope="col">computed</th><th scope="col">causes</th>{heads}</tr></thead>'
        f'<tbody>{"".join(lines)}</tbody></table></div><p class="vw-legend">{below}.</p>'
    )


def _line(study: str, titles: Mapping[str, str], cells: Sequence[object]) -> str:
    """Return a study's line of a table of sums; a zero is left out."""
    name = escape(titles[study].partition(":")[0])
    return (
        f'<tr><th scope="row"><a class="reference internal" href="#scorecard-{study}">{name}</a></th>'
        + "".join(f"<td>{cell or ''}</td>" for cell in cells)
        + "</tr>"
    )


def _sums(label: str, heads: Sequence[str], lines: Sequence[str], legend: str) -> str:
    """Return a table of sums with its legend."""
    columns = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    return (
        f'<div class="vw-claims vw-overview" tabindex="0" role="region" aria-label="{escape(label)}"><table>'
        f'<thead><tr><th scope="col">Study</th>{columns}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
        f'<p class="vw-legend">{escape(legend)}</p>'
    )


def _by_class(rows: Rows, titles: Mapping[str, str]) -> str:
    """Return how many claims of each class came out as printed, of those computed that could have failed."""
    lines = []
    for study, count in tally.by_study(rows).items():
        cells = [
            f"{verdicts[REPRODUCED]} of {verdicts.total()}" if verdicts else "" for verdicts in count.classes.values()
        ]
        lines.append(_line(study, titles, cells))
    told = "; ".join(f"{name}: {meaning}" for name, meaning in CLASSES.items())
    legend = f"Reproduced as printed, of the claims that were computed and could have failed, by class. {told}."
    return _sums("Reproduced, by class of claim", list(CLASSES), lines, legend)


def _by_choice(rows: Rows, titles: Mapping[str, str]) -> str:
    """Return when tolerance and statistic were chosen, of all claims of the papers."""
    names = [*claim_list.CHOSEN, ""]
    lines = [
        _line(study, titles, [count.chosen[name] for name in names]) for study, count in tally.by_study(rows).items()
    ]
    told = {"before": "ledger-first", "exploring": "exploratory", "after": "after-the-result"}
    meant = "; ".join(f"{head}: {claim_list.CHOSEN[name]}" for head, name in told.items())
    legend = (
        f"When tolerance and statistic of a paper's claim were chosen. {meant}. "
        "What was changed after a result stays so."
    )
    return _sums("When the bar was chosen", ["before", "exploring", "after", "not said"], lines, legend)


def _unseen(words: str) -> str:
    """Return words for those who listen to the page."""
    return f'<span class="visually-hidden">{words}</span>'


def back(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Link each claim of a notebook's page to its row in the scorecard."""
    if "body" in context and 'id="claim-' in context["body"]:
        up = "../" * pagename.count("/")
        link = rf'\1<a href="{up}book/scorecard.html#score-\2"><code>\2</code></a>'
        context["body"] = ROW.sub(link, context["body"])


def draw_picture(base: Path, studies: Sequence[str] = paths.STUDIES) -> str:
    """Return the drawing that the README shows, as the executed notebooks of these studies have it."""
    rows = [row for row in collecting.scorecard(base) if row["study"] in studies]
    return picture(rows, {row["study"]: paths.part(row["study"]).title for row in rows}, standalone=True) + "\n"
