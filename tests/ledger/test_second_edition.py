"""What a claim carries besides its text: whose, what would have failed it, how it may be read, what caused it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from voicewire import cli
from voicewire.stats import Interval
from voicewire_book import paths
from voicewire_book.kit import claims
from voicewire_book.kit.claims import Claim, ClaimError
from voicewire_book.ledger import rechecking, sampling, tally
from voicewire_book.ledger.judging import agreed
from voicewire_book.publish.pages import claim_list

HANGS = "hangs on what the paper does not say"
RIVAL = {"mechanism": "the labels exchanged within each seed"}
READINGS = [{"name": "one", "source": "Section 1, first words"}, {"name": "two", "source": "Section 2, last words"}]
HEAD = "study: nfc\n"
CLAIM = """\
- id: nfc.a
  where: Table 1
  statement: The first is faster.
  kind: ordering
  printed: [a, b]
"""


def claim(kind: str = "ordering", **fields: object) -> Claim:
    entry: dict[str, object] = {"printed": ["a", "b"]}
    if kind == "value":
        entry = {"printed": 10, "tolerance": {"absolute": 1}, "tolerance_reason": "One digit."}
    return Claim("nfc.x", "nfc", "Table 1", "The statement of the paper.", kind, **{**entry, **fields})


def judge(made: Claim, value: object, **how: object) -> claims.Verdict:
    return claims.Ledger("nfc", {"nfc.x": made}).judge("nfc.x", value, reason="Because.", **how)


def text(base, body: str):
    (base / "data/nfc").mkdir(parents=True)
    (base / "data/nfc/claims.yml").write_text(body, encoding="utf-8")
    return base


# What would have failed it


@pytest.mark.parametrize(
    ("passing", "verdict"),
    [(0, "reproduced"), (1, "reproduced"), (2, "not testable here"), (20, "not testable here")],
)
def test_a_test_that_its_rival_passes_reproduces_nothing(passing, verdict):
    runs = [{"a": 1, "b": 2}] * passing + [{"a": 2, "b": 1}] * (20 - passing)
    given = judge(claim(rival=RIVAL), {"a": 1, "b": 2}, rival=runs)
    assert given.verdict == verdict
    assert given.rival == {**RIVAL, "passes": passing / 20, "runs": 20}
    assert given.row()["rival"] == given.rival
    said = f" A rival passes the same test in {5 * passing} % of its runs. Because." if passing > 1 else " Because."
    assert given.reason == f"found a (1) < b (2).{said}"


@pytest.mark.parametrize(("share", "verdict"), [(0.05, "reproduced"), (0.051, "not testable here")])
def test_a_recorded_pass_rate_counts_like_one_that_is_run(share, verdict):
    made = claim(rival={**RIVAL, "passes": share, "runs": 1000})
    assert judge(made, {"a": 1, "b": 2}).verdict == verdict


@pytest.mark.parametrize(("passing", "verdict"), [(0, HANGS), (1, "not testable here")])
def test_nothing_hangs_on_a_reading_that_the_rival_passes_too(passing, verdict):
    made = claim(readings=READINGS, rival=RIVAL)
    runs = [{"a": 1, "b": 2} if passing else {"a": 2, "b": 1}]
    given = judge(made, {"one": {"a": 1, "b": 2}, "two": {"a": 2, "b": 1}}, rival=runs)
    assert given.verdict == verdict
    assert rechecking.faults(made, given.row()) == []
    flipped = {**given.row(), "verdict": HANGS}
    told = [f"nfc.x: {HANGS}, although its rival passes the same test"]
    assert rechecking.faults(made, flipped) == told[:passing]


@pytest.mark.parametrize(
    ("class_", "passing", "runs", "verdict"),
    [
        ("cause", 4, 20, "not testable here"),
        ("conclusion", 4, 20, "not testable here"),
        ("cause", 3, 20, "undecided"),
        ("cause", 3, 15, "undecided"),
        ("result", 20, 20, "undecided"),
        ("", 20, 20, "undecided"),
    ],
)
def test_a_cause_that_is_undecided_waits_for_no_runs_if_its_rival_passes_often(class_, passing, runs, verdict):
    made = claim("value", tolerance={"at_least": 1.0}, tolerance_reason="One.", rival=RIVAL, class_=class_)
    given = judge(made, Interval(1.0, 0.9, 1.1, 0.95, 20), rival=[1.5] * passing + [0.5] * (runs - passing))
    assert given.verdict == verdict
    assert rechecking.faults(made, given.row()) == []
    left_open = rechecking.faults(made, {**given.row(), "verdict": "undecided"})
    assert bool(left_open) == (verdict != "undecided")


@pytest.mark.parametrize(("class_", "verdict"), [("result", "reproduced"), ("cause", "not testable here")])
def test_a_printed_number_that_came_out_stands_whatever_a_rival_gives(class_, verdict):
    how = {"printed": 2.0, "tolerance": {"between": [1, 3]}, "tolerance_reason": "One.", "class_": class_}
    made = claim("value", rival=RIVAL, **how)
    given = judge(made, 2.5, rival=[2.0])
    assert given.verdict == verdict
    assert rechecking.faults(made, given.row()) == []


def test_what_is_not_reproduced_stays_so_whatever_the_rival_does():
    assert judge(claim(rival=RIVAL), {"a": 2, "b": 1}, rival=[{"a": 1, "b": 2}]).verdict == "not reproduced"


def test_a_rival_may_not_pass_a_repaired_misprint_either():
    made = claim("value", correction={"misprint": "5 for 10", "printed": 5}, rival={**RIVAL, "passes": 1.0, "runs": 1})
    assert judge(made, 5).verdict == "not testable here"


@pytest.mark.parametrize(
    ("rival", "message"),
    [
        (None, "^nfc.x: the ledger names no rival mechanism: name it before it is run$"),
        ({"none": "a count"}, "^nfc.x: the ledger names no rival mechanism"),
        ({**RIVAL, "passes": 0.0, "runs": 9}, "^nfc.x: the ledger has the rival's pass rate already"),
    ],
)
def test_a_rival_is_named_before_it_is_run(rival, message):
    with pytest.raises(ClaimError, match=message):
        judge(claim(rival=rival), {"a": 1, "b": 2}, rival=[{"a": 2, "b": 1}])


@pytest.mark.parametrize(
    ("made", "due"),
    [
        (claim(), True),
        (claim("trend", printed="increasing"), True),
        (claim("identity", printed=None), False),
        (claim("value"), False),
        (claim("value", tolerance={"relative": 0.1}), False),
        *((claim("value", tolerance={name: 4}), True) for name in ("at_least", "at_most")),
        (claim("value", tolerance={"between": [1, 2]}), True),
        (claim("value", tolerance={"between": [1, 2]}, needs="The films"), False),
        (claim("value", tolerance={"at_most": 4}, basis="by-reading", places=["here", "there"]), False),
    ],
)
def test_which_claims_are_due_a_rival(made, due):
    assert made.due_rival is due
    assert made.owes_rival is due
    assert not dataclasses.replace(made, rival=RIVAL).owes_rival


def test_a_claim_without_its_rival_does_not_load(tmp_path):
    base = text(tmp_path, f"{HEAD}claims:\n{CLAIM}")
    with pytest.raises(ClaimError, match="nfc.a needs a rival: a mechanism in which what it claims is absent"):
        claims.load("nfc", base)
    file = base / "data/nfc/claims.yml"
    file.write_text(f"{HEAD}rival_owed: [nfc.a]\nclaims:\n{CLAIM}", encoding="utf-8")
    assert claims.scorecard(base)[0]["owes_rival"]
    named = f"{CLAIM}  rival: {{mechanism: labels exchanged}}\n"
    file.write_text(f"{HEAD}claims:\n{named}", encoding="utf-8")
    assert not claims.scorecard(base)[0]["owes_rival"]
    for owed in ("nfc.a", "nfc.b"):
        file.write_text(f"{HEAD}rival_owed: [{owed}]\nclaims:\n{named}", encoding="utf-8")
        with pytest.raises(ClaimError, match=f"strike {owed} from rival_owed"):
            claims.load("nfc", base)


OWED: dict[str, int] = {}
"""Claims of the first edition whose rival nobody has named yet. Lower a number when one is named; never raise it."""


def test_fewer_and_fewer_claims_owe_their_rival():
    owed = {study: count.rival_owed for study, count in tally.by_study(claims.scorecard()).items() if count.rival_owed}
    assert {study: number for study, number in owed.items() if number > OWED.get(study, 0)} == {}


# Readings


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((10, 10.5), "reproduced"),
        ((10, 12), "hangs on what the paper does not say"),
        ((12, 13), "not reproduced"),
        ((10, np.array([10.5, 11.5])), "undecided"),
        ((12, np.array([10.5, 11.5])), "undecided"),
    ],
)
def test_a_claim_is_judged_under_each_reading(values, verdict):
    given = judge(claim("value", readings=READINGS, unit="s"), dict(zip(("one", "two"), values, strict=True)))
    assert given.verdict == verdict
    rows = given.row()["readings"]
    assert [(row["name"], row["source"]) for row in rows] == [(r["name"], r["source"]) for r in READINGS]
    assert given.row()["reproduced"] == {row["name"]: row["reproduced"] for row in rows}
    assert all(f"{row['name']}: {row['verdict']}, {row['detail']}" in given.reason for row in rows)
    page = claims.Table((given.row(),), frozenset())._repr_mimebundle_()["text/html"]
    assert "<th>reading</th><th>source</th>" in page
    assert all(reading["source"] in page for reading in READINGS)


def test_a_reading_that_something_excludes_is_shown_and_does_not_count():
    readings = [READINGS[0], {**READINGS[1], "excluded": "Table 2 prints 7 under it"}]
    given = judge(claim("value", readings=readings), {"one": 10, "two": 20})
    assert given.verdict == "reproduced"
    assert "excluded: Table 2 prints 7 under it" in claims.Table((given.row(),), frozenset())._html()


def test_a_reading_of_an_order():
    given = judge(claim(readings=READINGS), {"one": {"a": 1, "b": 2}, "two": {"a": 2, "b": 1}})
    assert given.verdict == "hangs on what the paper does not say"


def test_a_reading_of_a_word_has_a_tolerance_of_its_own():
    wide = {**READINGS[1], "tolerance": {"absolute": 5}}
    made = claim("value", readings=[READINGS[0], wide], rival=RIVAL)
    assert judge(made, {"one": 14, "two": 14}).verdict == "hangs on what the paper does not say"
    given = judge(made, {"one": 10, "two": 14}, rival=[14, 20])  # it counts that one reading lets the rival pass
    assert (given.verdict, given.rival["passes"]) == ("not testable here", 0.5)


@pytest.mark.parametrize("value", [10, {"one": 10}, {"one": 10, "two": 10, "three": 10}])
def test_every_reading_is_judged_and_no_other(value):
    with pytest.raises(ClaimError, match="^nfc.x: values are needed for exactly these readings: one, two$"):
        judge(claim("value", readings=READINGS), value)


YES, PARTLY, NO, FIXED = {"reproduced"}, {"partly"}, {"not reproduced"}, {"reproduced, corrected"}


@pytest.mark.parametrize(
    ("ways", "together"),
    [
        ([PARTLY, PARTLY], "partly"),
        ([FIXED, NO], HANGS),
        ([PARTLY, NO], "partly"),
        ([{"not testable here"}, NO], "not reproduced"),
        ([{"contradicted by the paper itself"}, YES], HANGS),
        # what is undecided matters only if deciding it would change the whole
        ([YES | NO, YES | NO], "undecided"),
        ([YES | NO, YES], "undecided"),
        ([YES | NO, NO], "undecided"),
        ([YES | NO, YES, NO], HANGS),
        ([YES | NO, PARTLY, NO], "undecided"),  # it would hang if that one held
        ([PARTLY | NO, PARTLY, NO], "partly"),  # that one cannot hold any more
        ([PARTLY | NO, NO], "undecided"),
        ([PARTLY | NO, YES], HANGS),
        ([YES | PARTLY, YES], "undecided"),
    ],
)
def test_how_readings_agree(ways, together):
    assert agreed(ways) == together


STRADDLES = Interval(11, 10, 12, 0.95, 6)
TWO = {"a": 10, "b": 10}


@pytest.mark.parametrize(
    ("parts", "may_be"),
    [
        ({"a": 10, "b": STRADDLES}, ["partly", "reproduced"]),
        ({"a": 20, "b": STRADDLES}, ["not reproduced", "partly"]),
        ({"a": STRADDLES, "b": STRADDLES}, ["not reproduced", "partly", "reproduced"]),
        ({"a": 10, "b": 10}, None),
    ],
)
def test_a_reading_that_is_undecided_says_what_it_may_become(parts, may_be):
    given = judge(claim("value", printed=TWO, readings=READINGS), {"one": parts, "two": {"a": 10, "b": 10}})
    one, two = given.row()["readings"]
    assert one.get("may_be") == may_be
    assert "may_be" not in two


def test_a_reading_that_cannot_hold_any_more_does_not_leave_the_whole_open():
    """A part of the first fails already: partly or not, it does not hold, and the second does."""
    made = claim("value", printed=TWO, readings=READINGS)
    given = judge(made, {"one": {"a": 20, "b": STRADDLES}, "two": {"a": 10, "b": 10}})
    assert given.verdict == HANGS
    assert rechecking.faults(made, given.row()) == []
    half = {"a": 10, "b": 20}
    given = judge(made, {"one": {"a": 10, "b": STRADDLES}, "two": half})
    assert given.verdict == "undecided"  # it hangs if the first holds, and is partly so if not
    assert rechecking.faults(made, given.row()) == []
    one, two = given.row()["readings"]
    assert rechecking.faults(made, {**given.row(), "readings": [{**one, "may_be": ["partly"]}, two]})


@pytest.mark.parametrize(
    ("made", "value", "may_be"),
    [
        (claim(readings=READINGS), {"a": 1, "b": [0.0, 1.0, 3.0]}, ["not reproduced", "reproduced"]),
        (
            claim("trend", printed="increasing", readings=READINGS),
            ([1, 2, 3], [[1.0, 2, 3], [1.0, 2, 3], [1.5, 2, 4]]),
            ["not reproduced", "partly", "reproduced"],
        ),
        (
            claim("trend", printed="increasing", readings=READINGS),
            ([1, 2], [[1.0, 2, 3], [1.5, 2, 4]]),
            ["not reproduced", "reproduced"],
        ),
        (
            claim("trend", printed="constant", readings=READINGS),
            ([1, 2, 3], [[1.0, 2, 3], [1.5, 2, 4], [1.5, 2, 4]]),
            ["not reproduced", "reproduced"],
        ),
    ],
)
def test_what_an_order_and_a_trend_may_become(made, value, may_be):
    made = dataclasses.replace(made, tolerance={"absolute": 1}) if made.printed == "constant" else made
    given = judge(made, {"one": value, "two": value})
    assert given.verdict == "undecided"
    assert [row["may_be"] for row in given.row()["readings"]] == [may_be, may_be]


def test_a_correction_that_straddles_leaves_the_claim_undecided():
    """As printed it fails; once repaired it may hold: then it is corrected, and if not, not reproduced."""
    made = claim("value", correction={"misprint": "5 for 10", "printed": 20})
    given = judge(made, Interval(18, 16, 20, 0.95, 6))
    assert given.verdict == "undecided"
    assert "astride the edge" in given.reason
    assert rechecking.faults(made, given.row()) == []
    twice = claim("value", correction={"misprint": "5 for 10", "printed": 20}, readings=READINGS)
    both = judge(twice, {"one": Interval(18, 16, 20, 0.95, 6), "two": 20})
    assert both.row()["readings"][0]["may_be"] == ["not reproduced", "reproduced, corrected"]
    assert both.verdict == "undecided"


# The number of runs, stated beforehand

SIX = np.array([9.9, 10.0, 10.1, 9.9, 10.0, 10.1])
SPREAD = Interval(10, 9.9, 10.1, 0.95, 6)


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (claim("value", runs=6), SIX),
        (claim("value", runs=6), list(SIX)),
        (claim("value", runs=6), SPREAD),
        (claim("value", printed={"a": 10, "b": 10}, runs=6), {"a": SIX, "b": SPREAD}),
        (claim("value", runs=6, readings=READINGS), {"one": SIX, "two": SIX}),
        (claim(runs=6), {"a": SIX, "b": SIX + 1}),
        (claim(runs=6, paired=True), {"a": SIX, "b": SIX + 1}),
        (claim(runs=6), {"a": 1, "b": SIX}),  # a bound is one number
        (claim("trend", printed="increasing", runs=6), ([1, 2], [SIX, SIX + 1])),
        (claim("trend", printed="increasing", runs=6), (np.array([1, 2]), np.array([SIX, SIX + 1]))),
    ],
)
def test_only_the_number_of_runs_that_was_stated_is_judged(made, value):
    given = judge(made, value)
    assert given.verdict == "reproduced"
    assert given.row()["runs"] == 6
    for stated in (5, 7):
        with pytest.raises(ClaimError, match=f"^nfc.x: {stated} runs were stated beforehand, and 6 are here: judge"):
            judge(dataclasses.replace(made, runs=stated), value)


@pytest.mark.parametrize(
    ("made", "value", "said"),
    [
        (claim("value", runs=6), 10.0, "none"),
        (claim("value", runs=6), np.float64(10), "none"),
        (claim(runs=6), {"a": 1, "b": 2}, "none"),
        (claim(runs=6), {"a": SIX, "b": SIX[:5] + 1}, "5 and 6"),
        (claim("trend", printed="increasing", runs=6), ([1, 2, 3, 4, 5, 6], SIX), "none"),
        (claim("value", runs=6, readings=READINGS), {"one": SIX, "two": SIX[:4]}, "4 and 6"),
    ],
)
def test_a_single_number_or_another_number_of_runs_is_refused(made, value, said):
    with pytest.raises(ClaimError, match=f"^nfc.x: 6 runs were stated beforehand, and {said} are here: judge those"):
        judge(made, value)


def test_what_is_no_row_of_samples_counts_by_its_first_side():
    """Such values are refused by their rules; what was counted is said before."""
    assert sampling.counts("value", np.ones((2, 3))) == {2}
    assert sampling.counts("trend", ([1, 2], np.ones((2, 3, 4)))) == {3}
    assert sampling.counts("trend", np.ones((2, 3))) == set()
    assert sampling.counts("trend", ([1, 2], [3, 4], [5, 6])) == set()


def test_the_repaired_value_and_the_rivals_runs_are_counted_too():
    made = claim("value", runs=6, correction={"misprint": "5 for 10", "printed": 5}, rival=RIVAL)
    assert judge(made, SIX + 5, corrected=SIX - 5).verdict == "reproduced, corrected"
    with pytest.raises(ClaimError, match="6 runs were stated beforehand, and 5 are here"):
        judge(made, SIX + 5, corrected=SIX[:5] - 5)
    with pytest.raises(ClaimError, match="6 runs were stated beforehand, and 3 are here"):
        judge(made, SIX, rival=[SIX, SIX[:3]])


def test_undecided_says_whether_its_number_of_runs_was_stated_beforehand():
    wide = SIX + np.array([-3, 0, 3, 3, 0, -3])
    assert judge(claim("value", runs=6), wide).reason.endswith("after 6 runs, as stated beforehand. Because.")
    without = judge(claim("value"), wide)
    assert without.verdict == "undecided"
    assert without.reason.endswith("after a number of runs that was not stated beforehand. Because.")
    assert "runs" not in without.row()


def test_a_stated_number_of_runs_stands_beside_the_verdict(tmp_path, capsys):
    row = judge(claim("value", runs=6), SIX).row()
    assert "<br>Runs stated beforehand: 6." in claims.Table((row,), frozenset())._html()
    body = f"{HEAD}claims:\n{CLAIM}  rival: {{mechanism: labels exchanged}}\n  runs: 30\n  state: registered\n"
    (score,) = claims.scorecard(text(tmp_path, f"{body}  statistic: mean time over seeds\n"))
    assert score["runs"] == 30
    assert "Runs stated beforehand: 30." in claim_list._besides(score)


# By reading, registered, ours, labels


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (claim(basis="by-reading"), "by-reading and the two places go together"),
        (claim(places=["here", "there"]), "by-reading and the two places go together"),
        (claim(state="registered"), "a registered claim needs its statistic"),
        (claim(waits="a mechanism"), "only a registered claim waits for something"),
        (claim(rival={"none": "a count"}), "say in at least 20 characters why no rival mechanism is possible"),
        (claim("value", rival={"none": "a count" + " " * 20}), "say in at least 20 characters why no rival mechanism"),
        (claim(readings=[READINGS[0], READINGS[0]]), "two readings have the same name"),
        (claim(readings=[{**one, "excluded": "by Table 2"} for one in READINGS]), "every reading is excluded"),
        (claim("value", paired=True), "only the samples of an ordering or a trend can be paired"),
        (claim("value", labels=["a", "b"]), "labels name the numbers of a value of which the paper prints none"),
        (claim(printed=None, labels=["a", "b"]), "labels name the numbers of a value"),
        (claim("identity", printed=None, runs=30), "an identity is not drawn over runs"),
        (claim("trend", printed="constant"), "a constant trend needs a tolerance: the change that would count"),
    ],
)
def test_a_claim_that_contradicts_itself_does_not_load(made, message):
    with pytest.raises(ClaimError, match=message):
        made.check()


def test_a_claim_loads_while_one_reading_is_left():
    claim(readings=[READINGS[0], {**READINGS[1], "excluded": "by Table 2"}]).check()
    claim(readings=[{**READINGS[0], "excluded": "by Table 2"}, READINGS[1]]).check()


@pytest.mark.parametrize("kind", ["ordering", "value"])
def test_any_claim_can_do_without_a_rival_if_it_says_why(kind):
    claim(kind, rival={"none": "a deterministic count"}).check()


@pytest.mark.parametrize(
    "line",
    [
        "rival: {mechanism: labels exchanged, passes: 0.5}",  # of how many runs?
        "rival: {mechanism: labels exchanged, passes: 1.5, runs: 2}",
        "rival: {mechanism: labels exchanged, none: a count}",
        "rival: {}",
        "whose: mine",
        "chosen: long ago",
        "readings: [{name: one, source: Section 1}]",
        "readings: [{name: one}, {name: two}]",
        "places: [only one]",
        "cause: Two Words",
        "state: judged",
        "basis: guessed",
        "runs: 1",
        "runs: 2.5",
        "runs: many",
    ],
)
def test_what_the_schema_refuses(tmp_path, line):
    base = text(tmp_path, f"{HEAD}rival_owed: [nfc.a]\nclaims:\n{CLAIM}  {line}\n")
    with pytest.raises(ClaimError, match=rf"nfc\.a\.?{line.split(':')[0]}?"):
        claims.load("nfc", base)


def test_numbers_that_the_paper_does_not_print_have_labels_only():
    made = claim("value", printed=None, labels=["a", "b"], tolerance={"between": [1, 2]})
    given = judge(made, {"a": 1, "b": 3})
    assert (given.verdict, given.row()["printed"]) == ("partly", None)
    assert given.reason == "holds for a. a: 1; b: 3. Because."


def test_a_registered_claim_is_no_fault_and_is_not_judged(tmp_path):
    body = f"{HEAD}claims:\n{CLAIM}  rival: {{mechanism: labels exchanged}}\n  state: registered\n"
    base = text(tmp_path, f"{body}  statistic: mean time over seeds\n  waits: the scheduler's rule\n")
    assert claims.problems(base) == []
    (score,) = claims.scorecard(base)
    assert score["verdict"] == "registered"
    assert score["reason"] == "To be computed: mean time over seeds. Waits for: the scheduler's rule."
    with pytest.raises(ClaimError, match="^nfc.a is registered: remove `state` to judge it$"):
        claims.load("nfc", base).judge("nfc.a", {"a": 1, "b": 2})


def test_what_a_verdict_rests_on_makes_it_stale_and_how_it_is_counted_does_not():
    made = claim()
    for field, value in {"rival": RIVAL, "readings": READINGS, "labels": ["a"], "runs": 30}.items():
        assert dataclasses.replace(made, **{field: value}).digest != made.digest, field
    counted = {"whose": "ours", "chosen": "exploratory", "cause": "slip", "reach": "all", "state": "registered"}
    for field, value in counted.items():
        assert dataclasses.replace(made, **{field: value}).digest == made.digest, field


def test_a_row_says_whose_it_is_and_where_it_was_read():
    made = claim(whose="ours", basis="by-reading", places=["Table 1", "Section 2 <b>"])
    row = judge(made, {"a": 1, "b": 2}).row()
    assert (row["whose"], row["basis"], row["places"]) == ("ours", "by-reading", ["Table 1", "Section 2 <b>"])
    page = claims.Table((row,), frozenset())._html()
    assert "A question of ours." in page
    assert "§ By reading: Table 1; Section 2 &lt;b&gt;." in page
    plain = judge(claim(), {"a": 1, "b": 2}).row()
    assert not {"whose", "basis", "places", "rival", "readings", "runs"} & set(plain)


def test_the_default_of_chosen_stands_once_in_the_file(tmp_path):
    head = f"{HEAD}chosen: exploratory\nrival_owed: [nfc.a, nfc.b]\nclaims:\n"
    second = CLAIM.replace("nfc.a", "nfc.b") + "  chosen: after-the-result\n"
    rows = claims.scorecard(text(tmp_path, head + CLAIM + second))
    assert [row["chosen"] for row in rows] == ["exploratory", "after-the-result"]


# Counting


def test_ours_are_counted_apart_and_causes_once():
    rows = [
        {"id": "x.1", "study": "x", "verdict": "partly", "cause": "slip"},
        {"id": "x.2", "study": "x", "verdict": "partly", "cause": "slip", "basis": "by-reading"},
        {"id": "x.3", "study": "x", "verdict": "reproduced", "cause": "slip", "owes_rival": True},
        {"id": "x.4", "study": "x", "verdict": "reproduced", "whose": "ours", "rival": RIVAL},
        {"id": "x.5", "study": "x", "verdict": "registered", "rival": {**RIVAL, "passes": 0.0, "runs": 1}},
        {"id": "y.1", "study": "y", "verdict": "partly", "cause": "slip"},
    ]
    x, y = tally.by_study(rows).values()
    assert dict(x.rows) == {"partly": 2, "reproduced": 1}
    assert dict(x.causes) == dict(x.computed) == {"partly": 1, "reproduced": 1}
    assert dict(x.ours) == {"reproduced": 1}
    assert (x.by_reading.total(), x.registered, x.rival_owed, x.rival_unrun) == (1, 1, 1, 1)
    assert dict(y.causes) == {"partly": 1}


def test_the_command_prints_each_count_beside_the_verdicts(capsys):
    assert cli.main(["scorecard"]) == 0
    out = capsys.readouterr().out
    found = tally.by_study(claims.scorecard()).values()
    owed, registered = (sum(getattr(count, name) for count in found) for name in ("rival_owed", "registered"))
    assert ("rival (what would have failed them) is not named" in out) == (owed > 0)  # a line of none is not printed
    assert f"{owed:>6}  claims whose rival (" in out or not owed
    assert f"{registered:>6}  claims registered" in out or not registered
    for count, line in zip(found, out.splitlines()[1 : 1 + len(paths.STUDIES)], strict=True):
        assert line.split()[1] == str(count.rows.total()), line
