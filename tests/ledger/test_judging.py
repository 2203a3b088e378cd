"""The ledger refuses what it can't judge, computes its verdicts, and the scorecard reads them back from notebooks."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from voicewire import claims
from voicewire.claims import ClaimError

LEDGER = """
study: nfc
claims:
  - id: nfc.a
    where: Table 1
    statement: The first number is about one.
    kind: value
    printed: 1.0
    unit: s
    tolerance: {relative: 0.1}
    tolerance_reason: It is printed with one digit.
  - id: nfc.b
    where: Section 2
    statement: The sum of two and two is five.
    kind: arithmetic
    printed: 5
    tolerance: {absolute: 0}
    tolerance_reason: Whole numbers.
  - id: nfc.c
    where: Section 2
    statement: The sum of two and two, misprinted.
    kind: arithmetic
    printed: 5
    tolerance: {absolute: 0}
    tolerance_reason: Whole numbers.
    correction: {misprint: 5 for 4, printed: 4}
  - id: nfc.d
    where: Section 3
    statement: The films show something that we do not have.
    kind: value
    needs: The films themselves
  - id: nfc.e
    where: Section 4
    statement: The second number is about two, the third three.
    kind: value
    printed: {two: 2, three: 3}
    tolerance: {relative: 0.1}
    tolerance_reason: It is printed with one digit.
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name in ("data/nfc", "notebooks/nfc"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "data/nfc/claims.yml").write_text(LEDGER, encoding="utf-8")
    return tmp_path


def ledger_of(base: Path) -> claims.Ledger:
    return claims.load("nfc", base)


def write_notebook(base: Path, table: claims.Table, name: str = "01_a.ipynb") -> None:
    output = new_output("execute_result", data=table._repr_mimebundle_(), execution_count=1)
    cell = new_code_cell("ledger.table()", execution_count=1, outputs=[output])
    text = nbformat.writes(new_notebook(cells=[cell]))
    (base / "notebooks/nfc" / name).write_text(text, encoding="utf-8")


def judged(base: Path) -> claims.Ledger:
    ledger = ledger_of(base)
    ledger.judge("nfc.a", 1.05)
    ledger.judge("nfc.b", 2 + 2, reason="Two and two are four.")
    ledger.judge("nfc.c", 2 + 2, reason="A slip of the pen.")
    ledger.judge("nfc.e", {"two": 2, "three": 4}, reason="The third is four.")
    return ledger


def test_verdicts_are_computed(base):
    verdicts = {key: verdict.verdict for key, verdict in judged(base).verdicts.items()}
    assert verdicts == {
        "nfc.a": "reproduced",
        "nfc.b": "contradicted by the paper itself",
        "nfc.c": "reproduced, corrected",
        "nfc.e": "partly",
    }


def test_a_value_that_misses_is_not_reproduced(base):
    verdict = ledger_of(base).judge("nfc.a", 1.2, reason="Another clock.")
    assert verdict.verdict == "not reproduced"
    assert "1.2 s against 1 s" in verdict.reason
    assert "Another clock." in verdict.reason


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ledger: ledger.judge("nfc.zzz", 1), "no claim 'nfc.zzz'"),
        (lambda ledger: ledger.judge("nfc.a", 2.0), "give the most likely reason"),
        (lambda ledger: (ledger.judge("nfc.a", 1.0), ledger.judge("nfc.a", 1.0)), "judged once"),
        (lambda ledger: ledger.judge("nfc.d", 1.0), "needs"),
        (lambda ledger: ledger.judge("nfc.a", float("nan")), "nfc.a: .*NaN"),
        (lambda ledger: ledger.table("table-9"), "nothing to show"),
    ],
)
def test_errors_name_the_claim(base, call, message):
    with pytest.raises(ClaimError, match=message):
        call(ledger_of(base))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: value", "kind: opinion", "nfc.a.kind"),
        ("printed: 1.0", "printed: one", "must be a number"),
        ("id: nfc.b", "id: nfc.a", "stands there twice"),
        ("id: nfc.b", "id: echo.b", "must begin with 'nfc.'"),
        ("study: nfc", "study: echo", "says study: echo"),
        ("    where: Table 1\n", "", "nfc.a: 'where' is a required property"),
        ("tolerance: {relative: 0.1}", "tolerance: {relativ: 0.1}", "nfc.a.tolerance"),
        ("tolerance: {relative: 0.1}\n    tolerance_reason: It is printed with one digit.", "", "needs tolerance"),
        ("study: nfc", "study: [", "not YAML"),
        ("    needs: The films", "    colour: blue\n    needs: The films", "nfc.d"),
    ],
)
def test_a_broken_ledger_is_refused(base, old, new, message):
    file = base / "data/nfc/claims.yml"
    file.write_text(LEDGER.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ClaimError, match=message.replace("[", r"\[")):
        ledger_of(base)


def test_a_missing_ledger_and_an_unknown_study(base):
    (base / "data/nfc/claims.yml").unlink()
    with pytest.raises(ClaimError, match=r"data/nfc/claims.yml can't be read"):
        ledger_of(base)
    with pytest.raises(ClaimError, match="unknown study 'nfcc'"):
        claims.load("nfcc", base)


def test_the_scorecard_is_read_from_the_notebooks(base):
    write_notebook(base, judged(base).table())
    rows = {row["id"]: row for row in claims.scorecard(base)}
    assert list(rows) == ["nfc.a", "nfc.b", "nfc.c", "nfc.d", "nfc.e"]
    assert rows["nfc.a"]["reproduced"] == 1.05
    assert rows["nfc.a"]["notebook"] == "notebooks/nfc/01_a.ipynb"
    assert rows["nfc.d"]["verdict"] == "not testable here"
    wanted = {"id", "study", "where", "statement", "kind", "printed", "unit", "reproduced", "tolerance"}
    wanted |= {"tolerance_reason", "verdict", "reason", "notebook"}
    assert all(wanted <= set(row) for row in rows.values())
    json.dumps(list(rows.values()))
    assert claims.problems(base) == []


def test_unjudged_stale_doubled_and_orphaned_claims_are_told(base):
    assert any("nfc.a: unjudged" in fault for fault in claims.problems(base))
    ledger = judged(base)
    write_notebook(base, ledger.table())
    write_notebook(base, ledger.table("a"), "02_b.ipynb")
    assert any("judged in both" in fault for fault in claims.problems(base))
    (base / "notebooks/nfc/02_b.ipynb").unlink()
    file = base / "data/nfc/claims.yml"
    file.write_text(LEDGER.replace("relative: 0.1", "relative: 0.2", 1), encoding="utf-8")
    assert any("nfc.a: stale" in fault for fault in claims.problems(base))
    file.write_text(LEDGER.replace("id: nfc.b", "id: nfc.bb"), encoding="utf-8")
    faults = claims.problems(base)
    assert any("nfc.b: shown in" in fault for fault in faults)
    assert any("nfc.bb: unjudged" in fault for fault in faults)


def test_a_table_escapes_its_text_and_has_anchors(base):
    file = base / "data/nfc/claims.yml"
    file.write_text(LEDGER.replace("The first number is", "The <b>first</b> number is"), encoding="utf-8")
    ledger = ledger_of(base)
    ledger.judge("nfc.a", 1.0)
    page = ledger.table()._repr_mimebundle_()["text/html"]
    assert "<b>first" not in page
    assert 'id="claim-nfc.a"' in page


def test_a_claim_shown_twice_has_one_anchor(base):
    ledger = ledger_of(base)
    ledger.judge("nfc.a", 1.0)
    tables = [ledger.table()._repr_mimebundle_() for _ in range(2)]
    assert [table["text/html"].count('id="claim-nfc.a"') for table in tables] == [1, 0]
    assert tables[0][claims.MIME] == tables[1][claims.MIME]
