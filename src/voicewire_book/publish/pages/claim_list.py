"""The claims of the scorecard page: one line each that unfolds, in studies that unfold, with filters above them.

Without JavaScript everything is there and folds; the filters, the order and *what if* appear where it runs
(``book/_static/scorecard.js``, ``whatif.js``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from voicewire_book.ledger.loading import Claim
from voicewire_book.ledger.presentation import beside, show_html
from voicewire_book.ledger.vocabulary import CLASSES, VERDICTS
from voicewire_book.publish.pages import what_if

__all__ = ["CHOSEN", "badge", "claim", "filters", "signs", "study"]

Rows = Sequence[Mapping[str, Any]]

CHOSEN = {
    "ledger-first": "before the first result stood in the history",
    "exploratory": "after exploratory runs",
    "after-the-result": "after a result had been seen",
}
"""What `chosen` says, in words. History shows the order of commits, not that nobody looked."""


def badge(verdict: str) -> str:
    """Return a verdict as the notebooks' tables show it: sign, words, and a colour that is never alone."""
    names = list(VERDICTS)
    kind = names.index(verdict) if verdict in names else "none"
    return f'<span class="vw-verdict vw-verdict-{kind}">{VERDICTS.get(verdict, "?")} {escape(verdict)}</span>'


def filters(titles: Mapping[str, str]) -> str:
    """Return the form that chooses claims; it is hidden until the page's script runs."""
    choices = {
        "study": ("Study", titles),
        "verdict": ("Verdict", {name: f"{sign} {name}" for name, sign in VERDICTS.items()}),
        "basis": ("Found", {"computed": "computed", "by reading": "§ by reading"}),
        "class": ("Class", {name: name for name in CLASSES}),
        "whose": ("Whose", {"paper": "the paper's", "ours": "our questions"}),
        "chosen": ("Tolerance chosen", CHOSEN),
    }
    fields = "".join(
        f'<label>{label}<select name="{name}"><option value="">all</option>'
        + "".join(f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in items.items())
        + "</select></label>"
        for name, (label, items) in choices.items()
    )
    order = (
        '<label>Order<select name="order"><option value="">as in the ledger</option>'
        '<option value="verdict">by verdict</option><option value="id">by name</option></select></label>'
    )
    return (
        '<form class="vw-filters" role="search" aria-label="Choose claims" hidden>'
        '<label>Search<input type="search" name="q" placeholder="words of a claim"></label>'
        f'{fields}{order}<button type="reset">Show all</button><output aria-live="polite"></output></form>'
        '<script src="../_static/scorecard.js" defer></script>'
    )


def study(
    rows: Rows, link: Callable[[str], str | None], heading: str, known: Mapping[str, Claim] | None = None
) -> str:
    """Return a study's claims, folded; those that share a cause are folded once more."""
    shared = Counter(row["cause"] for row in rows if row.get("cause"))
    told: set[str] = set()
    out = []
    for row in rows:
        cause = row.get("cause", "")
        if shared[cause] < 2:
            out.append(claim(row, link, known))
        elif cause not in told:
            told.add(cause)
            group = [other for other in rows if other.get("cause") == cause]
            name = escape(cause.replace("-", " "))
            out.append(
                f'<details class="vw-cause"><summary>One cause, {len(group)} claims: {name} {signs(group)}</summary>'
                + "".join(claim(other, link, known) for other in group)
                + "</details>"
            )
    return (
        f'<details class="vw-study"><summary>{escape(heading)}: {len(rows)} {signs(rows)}</summary>'
        + "".join(out)
        + "</details>"
    )


def signs(rows: Rows) -> str:
    """Return how many claims have each verdict: by its sign for who sees, by its name for who listens."""
    count = Counter(row["verdict"] for row in rows)
    return " ".join(
        f'<span title="{name}">{sign} {n}<span class="visually-hidden"> {name}</span></span>'
        for name, sign in VERDICTS.items()
        if (n := count[name])
    )


def claim(
    row: Mapping[str, Any], link: Callable[[str], str | None], known: Mapping[str, Claim] | None = None
) -> str:
    """Return one claim: a line with its verdict that unfolds to numbers, tolerance, reason and address."""
    where = escape(str(row["where"]))
    address = link(row["notebook"].removesuffix(".ipynb")) if row["notebook"] else None
    if address:
        where = f'<a class="reference internal" href="{address}#{row["anchor"]}">{where}, and where it is judged</a>'
    said = escape(row["statement"])
    facts = {
        "Paper": where,
        "Printed": show_html(row["printed"], row["unit"]),
        "Here": show_html(row["reproduced"], row["unit"]),
        "Why": f"{escape(row['reason'])}{_tolerance(row)}{_besides(row)}",
    }
    listed = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in facts.items() if text)
    kept = ("verdict", "basis", "class", "whose", "chosen")
    marks = "".join(f' data-{name}="{escape(row[name])}"' for name in kept if row.get(name))
    marks += what_if.attribute(row, (known or {}).get(row["id"]))
    return (
        f'<details class="vw-row" id="score-{row["id"]}"{marks}><summary class="vw-line">{badge(row["verdict"])}'
        f"<span>{said}</span><code>{row['id']}</code></summary><p>{said} "
        f'<a href="#score-{row["id"]}">{row["id"]}</a></p><dl>{listed}</dl></details>'
    )


def _besides(row: Mapping[str, Any]) -> str:
    """Return what the ledger says of the claim besides its text: whose, from what cause, how far it reaches, when."""
    text = beside(row.get("places", ()), row.get("rival"), row.get("readings", ()), row["unit"], row.get("runs", 0))
    if row.get("owes_rival"):
        text += "<br>Its rival is not named yet."
    if row.get("implements"):
        text += f"<br>Built in, so it could not have failed here: {escape(row['implements'])}."
    if row.get("class"):
        text += f"<br>Class: {row['class']}, {CLASSES[row['class']]}."
    if row.get("reach"):
        text += f"<br>Judged over: {escape(row['reach'])}."
    if row.get("cause"):
        text += f"<br>Cause: {escape(row['cause'])}."
    if row.get("chosen"):
        text += f"<br>Tolerance and statistic chosen: {CHOSEN[row['chosen']]}."
    return text


def _tolerance(row: Mapping[str, Any]) -> str:
    if not row["tolerance"]:
        return ""
    ((kind, size),) = row["tolerance"].items()
    words = {
        "relative": f"within {float(size) * 100:g} %" if kind == "relative" else "",
        "absolute": f"within {size} {row['unit']}".rstrip(),
        "at_least": f"at least {size} {row['unit']}".rstrip(),
        "at_most": f"at most {size} {row['unit']}".rstrip(),
        "between": f"between {size[0]} and {size[1]} {row['unit']}".rstrip() if kind == "between" else "",
    }[kind]
    return f'<br><span class="vw-tolerance">Tolerance: {escape(words)}. {escape(row["tolerance_reason"])}</span>'
