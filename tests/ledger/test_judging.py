"""The ledger refuses what it can't judge, computes its verdicts, and the scorecard reads them back from notebooks."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from voicewire.stats import Interval
from voicewire_book.kit import claims
from voicewire_book.kit.claims import CORRECTED, Claim, ClaimError
from voicewire_book.ledger import judging, presentation

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


# The verdict by a table: what came out of the claim as printed, and of the claim with its misprint repaired


def claim(kind: str = "value", **fields: object) -> Claim:
    """Return a claim of the book's form; a value prints 10 with a tolerance of 1."""
    entry: dict[str, object] = {"printed": 10, "tolerance": {"absolute": 1}, "tolerance_reason": "One digit."}
    entry |= {"ordering": {"printed": ["a", "b", "c"], "tolerance": None}, "identity": {"printed": None}}.get(kind, {})
    if kind == "trend":
        entry |= {"printed": "increasing", "tolerance": None}
    return Claim("nfc.x", "nfc", "Table 1", "The statement of the paper.", kind, **{**entry, **fields})


MISPRINT = {"misprint": "5 for 10", "printed": 5}
ASTRIDE = Interval(11, 10.5, 11.5, 0.95, 9)
WHOLE = {"a": 1, "b": 2, "c": 3}
PART = {"a": 1, "b": 3, "c": 2}
NONE = {"a": 3, "b": 2, "c": 1}
LABELS = {"printed": {"a": 10, "b": 20}}


@pytest.mark.parametrize(
    ("made", "value", "corrected", "verdict", "reproduced"),
    [
        (claim(), 10, None, "reproduced", 10.0),
        (claim(), 12, None, "not reproduced", 12.0),
        (claim("arithmetic"), 10, None, "reproduced", 10.0),
        (claim("arithmetic"), 12, None, "contradicted by the paper itself", 12.0),
        (claim(**LABELS), {"a": 10, "b": 30}, None, "partly", {"a": 10.0, "b": 30.0}),
        (claim(**LABELS), {"a": 1, "b": 30}, None, "not reproduced", {"a": 1.0, "b": 30.0}),
        (claim("arithmetic", **LABELS), {"a": 10, "b": 30}, None, "contradicted by the paper itself",
         {"a": 10.0, "b": 30.0}),
        (claim(correction=MISPRINT), 10, None, "reproduced", 10.0),
        (claim(correction=MISPRINT), 5, None, "reproduced, corrected", 5.0),
        (claim(correction=MISPRINT), 7, None, "not reproduced", 7.0),
        (claim(correction=MISPRINT), 12, 5, "reproduced, corrected", 5.0),
        (claim(correction=MISPRINT), 12, 0, "not reproduced", 12.0),  # zero is a value, not "none given"
        (claim(correction=MISPRINT), 10, 5, "reproduced", 10.0),
        (claim("arithmetic", correction=MISPRINT), 5, None, "reproduced, corrected", 5.0),
        (claim("arithmetic", correction=MISPRINT), 7, None, "contradicted by the paper itself", 7.0),
        (claim(correction={"misprint": "wider", "tolerance": {"absolute": 3}}), 12, None, CORRECTED, 12.0),
        (claim("ordering"), WHOLE, None, "reproduced", WHOLE),
        (claim("ordering"), PART, None, "partly", PART),
        (claim("ordering"), NONE, None, "not reproduced", NONE),
        (claim("ordering", margin=0.5), WHOLE, None, "reproduced", WHOLE),
        (claim("ordering", margin=1.0), WHOLE, None, "not reproduced", WHOLE),
        (claim("trend"), ([1, 2, 3], [1, 2, 3]), None, "reproduced", [1.0, 2.0, 3.0]),
        (claim("trend"), ([1, 2, 3, 4], [1, 2, 3, 0]), None, "partly", [1.0, 2.0, 3.0, 0.0]),
        (claim("trend"), ([1, 2, 3], [3, 2, 1]), None, "not reproduced", [3.0, 2.0, 1.0]),
        (claim("trend", tolerance={"absolute": 1}), ([1, 2, 3], [2, 1, 3]), None, "reproduced", [2.0, 1.0, 3.0]),
        (claim("identity"), (4, 5), None, "reproduced", 4.0),
        (claim(), ASTRIDE, None, "undecided", 11.0),
        (claim("arithmetic"), ASTRIDE, None, "undecided", 11.0),
        (claim(**LABELS), {"a": ASTRIDE, "b": 20}, None, "undecided", {"a": 11.0, "b": 20.0}),
        (claim(**LABELS), {"a": ASTRIDE, "b": 30}, None, "undecided", {"a": 11.0, "b": 30.0}),
        (claim(correction=MISPRINT), ASTRIDE, 5, "reproduced, corrected", 5.0),
        (claim(correction=MISPRINT), ASTRIDE, 7, "undecided", 11.0),
        (claim("ordering", printed=["a", "b"]), {"a": np.array([0, 2.0]), "b": np.array([1, 3.0])}, None, "undecided",
         {"a": 1.0, "b": 2.0}),
        (claim("trend"), ([1, 2], [[0, 2.0], [1, 3.0]]), None, "undecided", [1.0, 2.0]),
        (claim("identity"), (4, 6), None, "not reproduced", 4.0),
        (claim("identity", tolerance=None), (4, 5), None, "not reproduced", 4.0),
    ],
)  # fmt: skip
def test_the_verdict_by_kind_and_finding(made, value, corrected, verdict, reproduced):
    ledger = claims.Ledger("nfc", {"nfc.x": made})
    given = ledger.judge("nfc.x", value, corrected, "Because.")
    assert (given.verdict, given.reproduced) == (verdict, reproduced)
    assert given.reason.endswith("Because.")
    assert ("misprint: " in given.reason) == (verdict == "reproduced, corrected")
    assert ledger.verdicts == {"nfc.x": given}
    if verdict != "reproduced":
        with pytest.raises(ClaimError, match=f"^nfc.x is '{verdict}' .*: give the most likely reason$"):
            claims.Ledger("nfc", {"nfc.x": made}).judge("nfc.x", value, corrected)


@pytest.mark.parametrize(
    ("made", "value", "reason", "said"),
    [
        (claim(unit="s"), 10.5, "", "10.5 s against 10 s (+5.00 %)."),
        (claim(), 10, "As it should be.", "10 against 10 (+0.00 %). As it should be."),
        (claim(), 12, "Another clock", "12 against 10 (+20.00 %). Another clock."),
        (claim(correction=MISPRINT), 5, "A slip.", "5 against 5 (+0.00 %). misprint: 5 for 10. A slip."),
        (claim("ordering", unit="dB"), WHOLE, "", "found a (1 dB) < b (2 dB) < c (3 dB)."),
        (claim("trend", unit="dB"), ([1, 2], [1, 2]), "", "1: 1 dB, 2: 2 dB."),
    ],
)
def test_the_words_of_a_verdict(made, value, reason, said):
    assert claims.Ledger("nfc", {"nfc.x": made}).judge("nfc.x", value, reason=reason).reason == said


def test_every_field_of_a_row():
    made = claim(unit="s")
    ledger = claims.Ledger("nfc", {"nfc.x": made})
    verdict = ledger.judge("nfc.x", Interval(10 + 1 / 3, 10 + 1 / 7, 10 + 2 / 3, 0.95, 9))
    assert verdict.row() == {
        "id": "nfc.x",
        "study": "nfc",
        "where": "Table 1",
        "statement": "The statement of the paper.",
        "kind": "value",
        "printed": 10,
        "unit": "s",
        "reproduced": 10.3333,
        "interval": [10.1429, 10.6667],
        "tolerance": {"absolute": 1},
        "tolerance_reason": "One digit.",
        "verdict": "reproduced",
        "reason": "10.333 s [10.143, 10.667] against 10 s (+3.33 %).",
        "digest": made.digest,
    }
    assert repr(verdict) == "✓ reproduced: nfc.x: 10.333 s [10.143, 10.667] against 10 s (+3.33 %)."
    bare = claims.Ledger("nfc", {"nfc.x": claim("ordering")}).judge("nfc.x", WHOLE).row()
    assert (bare["interval"], bare["tolerance"], bare["reproduced"]) == (None, None, WHOLE)


def test_a_digest_names_the_text_of_a_claim():
    assert claim().digest == claim().digest
    assert len(claim().digest) == 16
    others = {"where": "Table 2", "statement": "Another statement.", "printed": 11, "unit": "s", "margin": 0.1}
    others |= {"tolerance": {"absolute": 2}, "tolerance_reason": "Other.", "needs": "Films", "correction": MISPRINT}
    digests = {dataclasses.replace(claim(), **{name: value}).digest for name, value in others.items()}
    assert len(digests | {claim().digest}) == len(others) + 1


def test_the_signs_and_their_order():
    assert claims.VERDICTS == {
        "reproduced": "✓",
        "reproduced, corrected": "✎",
        "partly": "◐",
        "not reproduced": "✗",
        "contradicted by the paper itself": "⊘",
        "not testable here": "–",
        "hangs on what the paper does not say": "⇄",
        "undecided": "≈",
    }
    assert claims.MIME == "application/vnd.voicewire.claims+json"


def test_a_table_shows_what_was_judged_and_what_cannot_be(base):
    ledger = judged(base)
    rows = ledger.table()._repr_mimebundle_()[claims.MIME]
    assert [row["id"] for row in rows] == ["nfc.a", "nfc.b", "nfc.c", "nfc.d", "nfc.e"]
    assert rows[3]["verdict"] == "not testable here"
    assert rows[3]["reason"] == "Needed: The films themselves."
    assert rows[3]["reproduced"] is None
    for prefix in ("b", "nfc.b"):
        assert [row["id"] for row in ledger.table(prefix).rows] == ["nfc.b"]
    fresh = ledger_of(base)
    assert [row["id"] for row in fresh.table().rows] == ["nfc.d"]
    with pytest.raises(ClaimError, match="^nothing to show: no claim that begins with 'nfc.a' has been judged$"):
        fresh.table("a")


def test_the_whole_table(base):
    ledger = ledger_of(base)
    ledger.judge("nfc.b", 2 + 2, reason="Two and two are four.")
    bundle = ledger.table("b")._repr_mimebundle_()
    assert bundle["text/plain"] == (
        "⊘ contradicted by the paper itself: nfc.b: 4 against 5 (\N{MINUS SIGN}20.00 %). Two and two are four."
    )
    assert bundle["text/html"] == (
        '<div class="vw-claims" tabindex="0" role="region" aria-label="What the paper says, what we get"><table><thead>'
        "<tr><th>the paper says</th><th>printed</th><th>here</th><th>verdict</th><th>why</th></tr></thead><tbody>"
        '<tr id="claim-nfc.b"><td><strong>Section 2</strong><br>The sum of two and two is five.<br>'
        '<code>nfc.b</code></td><td>5</td><td>4</td><td><span class="vw-verdict vw-verdict-4">⊘ contradicted by the '
        "paper itself</span></td><td>4 against 5 (\N{MINUS SIGN}20.00 %). Two and two are four.</td></tr>"
        "</tbody></table></div>"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "yes"),
        (np.bool_(False), "no"),
        (1234567.0, "1.2346e+06"),
        (-0.5, "\N{MINUS SIGN}0.5 s"),
        (np.float32(2), "2 s"),
        ([1, 2], "1 s, 2 s"),
        ((1, "a"), "1 s, a"),
        ({"a": 1, "b": [2, 3]}, "a: 1 s; b: 2 s, 3 s"),
        ({"a": {"100 ms": 1, "25 ms": 2}, "b": {"1e-02": 1}}, "a: 25 ms: 2; 100 ms: 1; b: 1e-02: 1"),
        ("a few", "a few"),
    ],
)
def test_how_a_value_is_printed(value, text):
    assert presentation.show(value, "s" if " s" in text else "") == text
    assert presentation.show_html(value, "s" if " s" in text else "") == text


def test_a_long_list_is_folded():
    assert presentation.show_html(list(range(8))) == "0, 1, 2, 3, 4, 5, 6, 7"
    folded = "<details><summary>9 values</summary>0, 1, 2, 3, 4, 5, 6, 7, 8</details>"
    assert presentation.show_html(list(range(9))) == folded
    assert presentation.show_html("a long text is not a list, <b>") == "a long text is not a list, &lt;b&gt;"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (1 / 3, 0.333333),
        (123456789.0, 123457000.0),
        (0.54 / 6.24 * 100, 8.653846),  # with six digits 8.65385, which would be shown as 8.6539; it is 8.6538
        (8.6538499996, 8.6538499996),
        (math.inf, math.inf),
        (123456789, 123456789),
        (True, True),
        (None, None),
        ("a", "a"),
        ((1 / 3, [2 / 3]), [0.333333, [0.666667]]),
        ({"a": 1 / 3}, {"a": 0.333333}),
    ],
)
def test_what_is_stored_is_rounded(value, kept):
    assert presentation.plain(value) == kept
    assert type(presentation.plain(value)) is type(kept)


def test_what_json_cannot_hold_is_refused():
    with pytest.raises(ClaimError, match="^a bytes can't stand in a notebook's output: give numbers, text or lists$"):
        presentation.plain(b"x")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (claim(printed="ten"), "nfc.x: printed must be a number, or numbers by label, for such a tolerance"),
        (claim(printed=True), "nfc.x: printed must be a number, or numbers by label, for such a tolerance"),
        (claim(printed={"a": 1, "b": "two"}),
         "nfc.x: printed must be a number, or numbers by label, for such a tolerance"),
        (claim(printed=None, tolerance={"relative": 1}),
         "nfc.x: printed must be a number, or numbers by label, for such a tolerance"),
        (claim(tolerance=None), "nfc.x: a claim of kind 'value' needs tolerance and tolerance_reason"),
        (claim("arithmetic", tolerance=None),
         "nfc.x: a claim of kind 'arithmetic' needs tolerance and tolerance_reason"),
        (claim(tolerance_reason=""), "nfc.x: a claim of kind 'value' needs tolerance and tolerance_reason"),
        (claim("identity", tolerance_reason=""),
         "nfc.x: a claim of kind 'identity' needs tolerance and tolerance_reason"),
        (claim("identity", tolerance={"at_least": 1}),
         "nfc.x: a claim of kind 'identity' takes a relative or absolute tolerance"),
        (claim("trend", tolerance={"between": [1, 2]}),
         "nfc.x: a claim of kind 'trend' takes a relative or absolute tolerance"),
        (claim(tolerance={"between": [2, 1]}), "nfc.x: between needs the lower end first, not 2 and 1"),
        (claim("ordering", printed=["a"]), "nfc.x: an ordering needs printed: [smallest, …, largest]"),
        (claim("ordering", printed="ab"), "nfc.x: an ordering needs printed: [smallest, …, largest]"),
        (claim("trend", printed="rising"), "nfc.x: a trend needs printed: increasing, decreasing or constant"),
        (dataclasses.replace(claim(), study="echo"), "nfc.x: the id must begin with 'echo.'"),
        (dataclasses.replace(claim(), id="nfcx.y"), "nfcx.y: the id must begin with 'nfc.'"),
    ],
)  # fmt: skip
def test_a_claim_that_cannot_be_judged_does_not_load(made, message):
    with pytest.raises(ClaimError) as error:
        made.check()
    assert str(error.value) == message


@pytest.mark.parametrize(
    "made",
    [
        claim(),
        claim(printed="a few", tolerance={"at_least": 4}),
        claim(printed={"a": 1, "b": 2.5}),
        claim(tolerance={"between": [1, 1]}),
        claim("identity"),
        claim("identity", tolerance={"relative": 0.1}),
        claim("identity", tolerance=None, tolerance_reason=""),
        claim("ordering"),
        *(claim("trend", printed=trend) for trend in ("increasing", "decreasing")),
        claim("trend", printed="constant", tolerance={"absolute": 0}, tolerance_reason="Counts are exact."),
        claim(tolerance=None, needs="The films themselves"),
        claim("ordering", printed=None, needs="The films themselves"),
    ],
)
def test_a_claim_that_can_be_judged_loads(made):
    made.check()


def test_a_row_keeps_all_but_the_digest(base):
    write_notebook(base, judged(base).table())
    (score, *_) = claims.scorecard(base, "nfc")
    row = judged(base).verdicts["nfc.a"].row()
    place = {"notebook": "notebooks/nfc/01_a.ipynb", "anchor": "claim-nfc.a"}
    said = {"whose": "paper", "chosen": "", "basis": "computed", "places": [], "cause": "", "reach": "", "rival": None}
    said |= {"class": "", "implements": ""}
    said |= {"owes_rival": False, "readings": [], "statistic": "", "waits": "", "runs": 0}
    assert score == {**{key: value for key, value in row.items() if key != "digest"}, **place, **said}


def test_the_scorecard_has_labels_in_the_order_of_the_ledger(base):
    delays = ["25 ms", "50 ms", "100 ms"]
    text = f"""study: nfc
claims:
  - {{id: nfc.a, where: Table 1, statement: It is small., kind: value, labels: {delays}, tolerance: {{at_most: 1}},
     tolerance_reason: Small., rival: {{mechanism: none of it}},
     readings: [{{name: z, source: Section 1}}, {{name: b, source: Section 2}}]}}
"""
    (base / "data/nfc/claims.yml").write_text(text, encoding="utf-8")
    ledger = ledger_of(base)
    values = {name: dict.fromkeys(delays, 0.5) for name in "zb"}
    ledger.judge("nfc.a", values, rival=[dict.fromkeys(delays, 2.0)])
    write_notebook(base, ledger.table())
    (score,) = claims.scorecard(base)
    assert (list(score["reproduced"]), list(score["reproduced"]["z"])) == (["z", "b"], delays)
    assert [list(one["reproduced"]) for one in score["readings"]] == [delays, delays]
    assert claims.problems(base) == []


def test_an_unjudged_and_a_stale_claim_on_the_scorecard(base):
    (score, *_) = claims.scorecard(base)
    assert (score["verdict"], score["reason"], score["notebook"], score["reproduced"]) == ("unjudged", "", None, None)
    write_notebook(base, judged(base).table())
    file = base / "data/nfc/claims.yml"
    file.write_text(LEDGER.replace("relative: 0.1", "relative: 0.2", 1), encoding="utf-8")
    (score, *_) = claims.scorecard(base)
    assert (score["verdict"], score["reason"]) == ("stale", "The claim's text changed after it was judged.")
    assert claims.problems(base) == ["nfc.a: stale in notebooks/nfc/01_a.ipynb"]


def test_the_exact_words_of_each_problem(base):
    ledger = judged(base)
    write_notebook(base, ledger.table())
    write_notebook(base, ledger.table("a"), "02_b.ipynb")
    file = base / "data/nfc/claims.yml"
    file.write_text(LEDGER.replace("id: nfc.b", "id: nfc.bb"), encoding="utf-8")
    wanted = [
        "nfc.bb: unjudged",
        "nfc.b: shown in notebooks/nfc/01_a.ipynb, but in no ledger",
        "nfc.a: judged in both notebooks/nfc/01_a.ipynb and notebooks/nfc/02_b.ipynb",
    ]
    assert claims.problems(base) == wanted
    assert claims.problems(base, "nfc") == wanted


def test_a_claim_that_needs_something_may_be_shown_twice(base):
    ledger = judged(base)
    write_notebook(base, ledger.table())
    write_notebook(base, ledger_of(base).table(), "02_b.ipynb")
    assert claims.problems(base) == []


def test_only_studies_with_a_ledger_are_asked(base):
    assert claims.studies(base) == ["nfc"]
    (base / "data/echo").mkdir()
    (base / "data/echo/claims.yml").write_text(LEDGER.replace("nfc", "echo"), encoding="utf-8")
    assert claims.studies(base) == ["echo", "nfc"]
    assert {row["study"] for row in claims.scorecard(base)} == {"echo", "nfc"}
    assert {row["study"] for row in claims.scorecard(base, "echo")} == {"echo"}
    assert all(fault.startswith("echo.") for fault in claims.problems(base, "echo"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "data/nfc/claims.yml: the file: [] is not of type 'object'"),
        ("study: nfc\nclaims: []", "data/nfc/claims.yml: claims: [] should be non-empty"),
        ("study: nfc\nclaims: [3]", "data/nfc/claims.yml: claim 1: 3 is not of type 'object'"),
        ("study: nfc\nclaims: [{id: nfc.a}]", "data/nfc/claims.yml: nfc.a: 'where' is a required property"),
        ("study: nfc\nclaims: [{where: x}]", "data/nfc/claims.yml: claim 1: 'id' is a required property"),
        ("study: [", "data/nfc/claims.yml is not YAML in UTF-8: while parsing"),
    ],
)
def test_the_exact_place_of_a_fault(base, text, message):
    (base / "data/nfc/claims.yml").write_text(text, encoding="utf-8")
    with pytest.raises(ClaimError) as error:
        ledger_of(base)
    assert str(error.value).startswith(message)


def test_a_reader_judges_again_and_owes_no_reason():
    claim = Claim("nfc.x", "nfc", "Table 1", "It is about one.", "value", 1.0, "s", {"relative": 0.1}, "digits", runs=3)
    ledger = judging.Ledger("nfc", {"nfc.x": claim})
    with pytest.raises(ClaimError, match="give the most likely reason"):
        ledger.judge("nfc.x", [2.0, 2.1, 2.2])
    ledger.by_reader = True
    assert ledger.judge("nfc.x", [2.0, 2.1, 2.2, 2.3]).verdict == "not reproduced"
    assert ledger.judge("nfc.x", [1.0, 1.01, 0.99]).verdict == "reproduced"
    assert ledger.judge("nfc.x", [0.8, 1.0, 1.1]).reason.endswith("0.9 to 1.1.")
    with pytest.raises(ClaimError, match="no claim"):
        ledger.judge("nfc.y", 1.0)
