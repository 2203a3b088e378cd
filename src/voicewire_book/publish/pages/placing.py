"""Where a chapter's page prints its claims: below the cell that judged them, before the page is made.

The notebook is left as it is, with its table at the end and a line for the last verdict of a cell; its page shows
each claim once. Which claims a cell judges is read off its code: names in full, names put together from a pattern
(``f"nfc.table-7.2.{key}"``), and, where the code does not say them, beginnings of names in the cell's metadata,
``{"voicewire": {"judges": ["nfc.efficiency."]}}``. A claim that none of these places stands where a table shows it.

A long cell is shown in pieces of whole statements, so that each can be read at a glance.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from voicewire_book.ledger.loading import Claim, read, studies
from voicewire_book.ledger.vocabulary import MIME, VERDICTS
from voicewire_book.publish.lengths import VISIBLE
from voicewire_book.publish.pages import cards

__all__ = ["arrange", "divided", "judged", "put"]

HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}

Cell = dict[str, Any]

LINE = re.compile(rf"[{''.join(VERDICTS.values())}] [^:\n]+: [a-z]+(\.[a-z0-9-]+)+: ")
"""How a verdict says itself where it is a cell's last value."""
PROMPTS = {"judges": "The code that judges", "imports": "Imports and parameters"}


def put(app: Sphinx, docname: str, source: list[str]) -> None:
    """Arrange a chapter before it is read."""
    if not docname.startswith("notebooks/"):
        return
    base, study = Path(app.srcdir), docname.split("/")[1]
    known = read(study, base) if study in studies(base) else {}
    findings = {claim.id for claim in known.values() if claim.finding}
    notebook = json.loads(source[0])
    arrange(notebook["cells"], findings, known)
    notebook["cells"] = [piece for cell in notebook["cells"] for piece in divided(cell)]
    source[0] = json.dumps(notebook, ensure_ascii=False)


def arrange(cells: Sequence[Cell], findings: Set[str], known: Mapping[str, Claim] | None = None) -> None:
    """Put each claim below the cell that judged it, and say what a fold holds."""
    tables = {number: _rows(cell) for number, cell in enumerate(cells) if cell["cell_type"] == "code" and _rows(cell)}
    rows: dict[str, Any] = {}
    for shown in tables.values():
        rows = {row["id"]: row for row in shown} | rows
    for cell in cells:
        _prompt(cell)
    if not rows:
        return
    end = max(tables)
    places = judged(cells, list(rows))
    first = {row["id"]: number for number in reversed(tables) for row in tables[number]}
    places = {name: places.get(name, first[name]) for name in rows}
    for number in sorted({*places.values(), *tables}):
        mine = [row for name, row in rows.items() if places[name] == number]
        told, others = ([row for row in mine if (row["id"] in findings) == is_one] for is_one in (True, False))
        anchor = f"judged-{number}"
        html = f'<span id="{anchor}"></span>' if told else ""
        html += "".join(cards.card(row, anchor, (known or {}).get(row["id"])) for row in told)
        html += cards.folded(others, bool(told))
        if number == end:
            named = sorted((name for name in rows if name in findings), key=lambda name: places[name])
            html += cards.ending([rows[name] for name in named], len(rows) - len(named), next(iter(rows)).split(".")[0])
        _show(cells[number], html)


def divided(cell: Cell) -> list[Cell]:
    """Return a cell in pieces of whole statements that are short enough; the last of them has its outputs."""
    text = "".join(cell["source"])
    lines = text.split("\n")
    kept = HIDDEN & set(cell["metadata"].get("tags", [])) or cell["metadata"].get("voicewire", {}).get("weave")
    if cell["cell_type"] != "code" or len(lines) <= VISIBLE or kept or text.startswith("%"):
        return [cell]
    ends = _ends(lines)
    pieces, count = [lines], 1
    while count < len(ends) and max(map(len, pieces)) > VISIBLE:
        count += 1
        pieces = _cut(lines, ends, count)
    made = []
    for number, piece in enumerate(pieces, 1):
        source = "\n".join(piece)
        part = {**cell, "metadata": dict(cell["metadata"]), "source": source, "id": f"{cell['id']}-{number}"}
        made.append(part if number == len(pieces) else {**part, "outputs": []})
    return made


def _ends(lines: Sequence[str]) -> list[int]:
    """Return after how many lines each statement ends; a comment goes with what it stands above."""
    return [node.end_lineno or 0 for node in ast.parse("\n".join(lines)).body]


def _cut(lines: Sequence[str], ends: Sequence[int], count: int) -> list[list[str]]:
    """Cut lines into so many pieces of about one length, each of which ends with a statement."""
    cuts = [0]
    for number in range(1, count):
        left = [end for end in ends[:-1] if end > cuts[-1]]
        if left:
            wanted = len(lines) * number / count
            cuts.append(min(left, key=lambda end: abs(end - wanted)))
    pieces = ["\n".join(lines[a:b]).strip("\n").split("\n") for a, b in itertools.pairwise([*cuts, len(lines)])]
    return [piece for piece in pieces if any(piece)]


def judged(cells: Sequence[Cell], names: Sequence[str]) -> dict[str, int]:
    """Return for each claim the number of the cell whose code names it."""
    best: dict[str, tuple[int, int]] = {}
    for number, cell in enumerate(cells):
        text = "".join(cell["source"])
        if cell["cell_type"] != "code" or "judge(" not in text:
            continue
        said, patterns = _said(text)
        starts = cell["metadata"].get("voicewire", {}).get("judges", [])
        for name in names:
            sure = 1000 if name in said or name.startswith(tuple(starts)) else _fit(name, said, patterns)
            if sure > best.get(name, (0, 0))[0]:
                best[name] = (sure, number)
    return {name: number for name, (_, number) in best.items()}


def _said(text: str) -> tuple[set[str], list[list[str | None]]]:
    """Return the texts that stand in a cell's code, and the patterns with None for what is put in."""
    tree = ast.parse(re.sub(r"^%.*$", "", text, flags=re.M))
    said = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    joined = (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr))
    return said, [[str(v.value) if isinstance(v, ast.Constant) else None for v in node.values] for node in joined]


def _fit(name: str, said: Set[str], patterns: Sequence[Sequence[str | None]]) -> int:
    """Return how surely a pattern makes this name: by the letters it has of it, and by whether the rest is said too."""
    study = name.partition(".")[0] + "."
    best = 0
    for parts in patterns:
        if not (parts and parts[0] and parts[0].startswith(study)):
            continue
        match = re.fullmatch("".join("(.+)" if part is None else re.escape(part) for part in parts), name)
        letters = sum(len(part or "") for part in parts)
        rest = bool(match) and any(group in said for group in match.groups())  # type: ignore[union-attr]
        if match and (rest or letters > len(study)):
            best = max(best, letters + 500 * rest)
    return best


def _rows(cell: Cell) -> list[Any]:
    return [row for output in cell.get("outputs", []) for row in output.get("data", {}).get(MIME, [])]


def _show(cell: Cell, html: str) -> None:
    """Put HTML below a cell in the place of its table, or of the line that its last verdict says."""
    cell["outputs"] = [output for output in cell["outputs"] if not _replaced(output)]
    if html:
        data = {"text/html": html, "text/plain": ""}
        cell["outputs"].append({"output_type": "display_data", "metadata": {}, "data": data})


def _replaced(output: Mapping[str, Any]) -> bool:
    data = output.get("data", {})
    return MIME in data or (set(data) == {"text/plain"} and bool(LINE.match("".join(data["text/plain"]))))


def _prompt(cell: Cell) -> None:
    """Say above a folded cell what it holds."""
    if "hide-input" not in cell["metadata"].get("tags", []):
        return
    kind = next(_kinds("".join(cell["source"])), "")
    if kind:
        cell["metadata"].setdefault("mystnb", {})["code_prompt_show"] = PROMPTS[kind]


def _kinds(text: str) -> Iterator[str]:
    if "judge(" in text:
        yield "judges"
    if re.match(r"(%matplotlib inline\s*)?(import|from) ", text):
        yield "imports"
