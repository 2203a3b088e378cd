"""A chapter's page prints each claim once: findings on cards, the others in a folded table below what judged them."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from typing import Any

import pytest
import yaml

from voicewire_book import paths
from voicewire_book.kit import claims
from voicewire_book.ledger import loading
from voicewire_book.publish import lengths
from voicewire_book.publish.pages import cards, placing

pytestmark = pytest.mark.landing

JUDGING = sorted({row["notebook"] for row in claims.scorecard() if row["notebook"]})


def row(name: str, **other: Any) -> dict[str, Any]:
    """Return a verdict as a notebook's output holds it."""
    return {
        "id": name, "study": "nfc", "where": "Table 1", "statement": "A < B, it says.", "kind": "value",
        "printed": 2.0, "unit": "s", "reproduced": 2.1, "interval": None, "tolerance": {"relative": 0.1},
        "tolerance_reason": "Two digits.", "verdict": "reproduced", "reason": "Close.", "digest": "0", **other,
    }  # fmt: skip


def code(source: str, *rows: dict[str, Any], line: str = "", **metadata: Any) -> dict[str, Any]:
    """Return a cell with a table of verdicts, or with the line that a verdict says."""
    data = {claims.MIME: list(rows), "text/html": "<table></table>"} if rows else {"text/plain": line}
    outputs = [{"output_type": "execute_result", "data": data, "metadata": {}}] if rows or line else []
    return {"cell_type": "code", "id": "a", "source": source, "metadata": metadata, "outputs": outputs}


def shown(cell: dict[str, Any]) -> str:
    return "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell["outputs"])


def test_a_claim_stands_below_the_cell_that_judged_it_and_nowhere_else():
    cells = [
        code('ledger.judge("nfc.a", 1)', line="✓ reproduced: nfc.a: 2.1 s."),
        code('for k in "bc":\n    ledger.judge(f"nfc.{k}", 1)\n"b", "c"'),
        code("ledger.table()", *(row(f"nfc.{name}") for name in "abcd")),
    ]
    placing.arrange(cells, {"nfc.a", "nfc.c"})
    first, second, last = map(shown, cells)
    assert 'class="vw-card" id="claim-nfc.a"' in first and "text/plain" in cells[0]["outputs"][0]["data"]
    assert len(cells[0]["outputs"]) == 1  # the line that said it again is gone
    assert 'class="vw-card" id="claim-nfc.c"' in second and '<tr id="claim-nfc.b">' in second
    assert '<tr id="claim-nfc.d">' in last
    assert re.findall(r'href="#claim-([^"]+)"', last) == ["nfc.a", "nfc.c"]
    assert "2 other claims" in last
    whole = first + second + last
    assert Counter(re.findall(r' id="claim-([^"]+)"', whole)) == Counter(f"nfc.{name}" for name in "abcd")
    assert set(re.findall(r'href="#(judged-\d)"', whole)) <= set(re.findall(r'id="(judged-\d)"', whole))


def test_a_name_that_the_code_does_not_say_is_told_by_the_metadata_or_by_a_table():
    cells = [
        code("ledger.judge(name, 1)", voicewire={"judges": ["nfc.x."]}),
        code('judge(found)\nledger.table("y")', row("nfc.y.one")),
        code("ledger.table()", row("nfc.x.one"), row("nfc.y.one")),
    ]
    placing.arrange(cells, set())
    assert [re.findall(r'id="claim-([^"]+)"', shown(cell)) for cell in cells] == [["nfc.x.one"], ["nfc.y.one"], []]


@pytest.mark.parametrize("name", JUDGING)
def test_every_claim_of_a_chapter_is_printed_once_with_a_dozen_cards_at_most(name):
    cells = json.loads((paths.root() / name).read_text(encoding="utf-8"))["cells"]
    study = name.split("/")[1]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    rows = {one["id"] for output in outputs for one in output.get("data", {}).get(claims.MIME, [])}
    findings = {claim.id for claim in loading.read(study).values() if claim.finding}
    placing.arrange(cells, findings)
    whole = "".join(shown(cell) for cell in cells if cell["cell_type"] == "code")
    assert Counter(re.findall(r' id="claim-([^"]+)"', whole)) == Counter(rows)
    assert whole.count('class="vw-card"') == len(findings & rows) <= loading.CARDS
    (end,) = (cell for cell in cells if cell["cell_type"] == "code" and "vw-findings" in shown(cell))
    if re.search(r"\.table\(\)", "".join(end["source"])):  # of all claims
        at_the_end = re.findall(r'<tr id="claim-([^"]+)"', shown(end))
        judged = claims.scorecard(study=study)
        assert [one["id"] for one in judged if one["id"] in at_the_end and not one["reason"].startswith("Needed")] == []


@pytest.mark.parametrize("study", claims.studies())
def test_what_a_part_announces_as_its_finding_is_on_a_card(study):
    named = re.findall(r"\{([\w.-]+?)[:|]", paths.part(study).finding)
    marked = {claim.id for claim in loading.read(study).values() if claim.finding}
    assert named and marked and not set(named) - marked


def ledger(folder: Any, count: int, **other: Any) -> Any:
    entries = [
        {"id": f"nfc.c{k}", "where": "x", "statement": "A statement of it.", "kind": "value", "printed": 1.0,
         "tolerance": {"relative": 0.1}, "tolerance_reason": "One digit.", "finding": True, **other}
        for k in range(count)
    ]  # fmt: skip
    (folder / "data/nfc").mkdir(parents=True, exist_ok=True)
    (folder / "data/nfc/claims.yml").write_text(yaml.safe_dump({"study": "nfc", "claims": entries}))
    return folder


def test_a_ledger_marks_a_dozen_findings_at_most_and_none_that_is_not_judged(tmp_path):
    assert len(loading.read("nfc", ledger(tmp_path, loading.CARDS))) == loading.CARDS
    with pytest.raises(claims.ClaimError, match="13 claims are marked `finding`: at most 12"):
        loading.read("nfc", ledger(tmp_path, 13))
    with pytest.raises(claims.ClaimError, match="a finding is judged"):
        loading.read("nfc", ledger(tmp_path, 1, needs="a machine"))


def test_a_scale_shows_where_ours_lies_in_the_band():
    def dot(here: float) -> float:
        return float(re.findall(r'circle cx="([\d.]+)"', cards.scale(row("nfc.a", reproduced=here)))[0])

    left, width = (float(x) for x in re.findall(r'<rect x="([\d.]+)".* width="([\d.]+)"', cards.scale(row("nfc.a")))[0])
    assert dot(2.0) == pytest.approx(cards.WIDE / 2)
    assert dot(2.2) == pytest.approx(left + width, abs=0.1) and dot(1.8) == pytest.approx(left, abs=0.1)
    assert left < dot(2.1) < left + width < dot(2.3) < dot(99.0) < cards.WIDE
    assert "<line" in cards.scale(row("nfc.a", interval=[1.9, 2.2]))
    assert cards.scale(row("nfc.a", printed="increasing", tolerance=None)) == ""


def test_a_card_folds_values_that_are_too_many_to_be_read_at_a_glance():
    many = {"one reading": {f"{k} ms": k / 7 for k in range(40)}, "another": {f"{k} ms": k / 9 for k in range(40)}}
    text = cards.card(row("nfc.a", reproduced=many), "judged-1")
    assert "<dd><details><summary>all values</summary>one reading: 0 ms" in text
    assert "<dd>2.1 s</dd>" in cards.card(row("nfc.a"), "judged-1")


def test_a_long_cell_is_shown_in_pieces_of_whole_statements():
    first = "def f(x):\n    a = 1\n    return a"
    text = f"{first}\n\n\n# then\nfor k in range(9):\n    y = f(k)\n    z = 2\n    f(3)\n    f(4)\n    f(5)\ny"
    cell = {**code(text, line="3"), "metadata": {"tags": ["other"]}}
    before = copy.deepcopy(cell)
    pieces = placing.divided(cell)
    assert cell == before and len(pieces) == 2
    assert [piece["outputs"] for piece in pieces] == [[], cell["outputs"]]
    assert "\n\n\n".join(piece["source"] for piece in pieces) == text
    assert all(len(piece["source"].splitlines()) <= lengths.VISIBLE for piece in pieces)
    for kept in ({"tags": ["hide-input"]}, {"voicewire": {"weave": ["x"]}}):
        assert placing.divided({**cell, "metadata": kept}) == [{**cell, "metadata": kept}]


@pytest.mark.parametrize("path", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_box_of_visible_code_is_long(path):
    folded = False
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        marks = re.findall(r"\{solution-(start|end)\}", "".join(cell["source"]))
        folded = marks[-1] == "start" if marks else folded
        hidden = placing.HIDDEN & set(cell["metadata"].get("tags", []))
        hidden = hidden or cell["metadata"].get("voicewire", {}).get("weave")
        if cell["cell_type"] != "code" or folded or hidden:
            continue
        boxes = ["".join(piece["source"]) for piece in placing.divided(cell)]
        assert [text for text in boxes if len(text.splitlines()) > lengths.VISIBLE] == []
