"""Any honest row goes together with itself; of other verdicts only those that its samples could hide get through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from voicewire.stats import Interval
from voicewire_book.kit import claims
from voicewire_book.kit.claims import Claim
from voicewire_book.ledger import rechecking
from voicewire_book.ledger.vocabulary import VERDICTS

RNG = np.random.default_rng(5)
RIVAL = {"mechanism": "the labels exchanged"}
ABOUT = {"tolerance": {"absolute": 1}, "tolerance_reason": "One digit."}
X = [1, 2, 4]
SAME = {"reproduced"}
NO = {"not reproduced"}


def claim(kind: str, printed: Any, **fields: Any) -> Claim:
    return Claim("nfc.x", "nfc", "Table 1", "The statement of the paper.", kind, printed, "s", **fields)


def rows(mean: float, half: float = 0.05) -> np.ndarray:
    return mean + half * np.array([-1.0, 1, -1, 1, -1, 1, -1, 1])


CASES = [  # a claim, what was computed, its verdict, and what else its stored numbers allow
    (claim("value", 10, **ABOUT), 10.5, SAME),
    (claim("value", 10, **ABOUT), 12, NO),
    (claim("value", 10, **ABOUT), rows(10), SAME),
    (claim("value", 10, **ABOUT), rows(12), NO),
    (claim("value", 10, **ABOUT), rows(11), {"undecided"}),
    (claim("value", 10, **ABOUT), Interval(11, 10.5, 11.5, 0.95, 9), {"undecided"}),
    (claim("arithmetic", 10, **ABOUT), 12, {"contradicted by the paper itself"}),
    (claim("value", {"a": 10, "b": 20}, **ABOUT), {"a": 10, "b": 20}, SAME),
    (claim("value", {"a": 10, "b": 20}, **ABOUT), {"a": 12, "b": 22}, NO),
    (claim("value", {"a": 10, "b": 20}, **ABOUT), {"a": 10, "b": 22}, {"partly"}),
    (claim("arithmetic", {"a": 10, "b": 20}, **ABOUT), {"a": 10, "b": 22}, {"contradicted by the paper itself"}),
    (claim("value", 10, correction={"misprint": "5 for 10"}, **ABOUT), 10, {*SAME, "reproduced, corrected"}),
    (claim("value", {"a": 10, "b": 20}, **ABOUT), {"a": rows(10), "b": rows(20)}, {*SAME, "undecided"}),
    (claim("value", {"a": 10, "b": 20}, **ABOUT), {"a": rows(11), "b": rows(20)}, {"undecided", *SAME, "partly"}),
    (claim("value", None, labels=["a", "b"], tolerance={"between": [1, 2]}, tolerance_reason="So."),
     {"a": 1.5, "b": 3}, {"partly"}),
    (claim("ordering", ["a", "b"], rival=RIVAL), {"a": 1, "b": 2}, {*SAME, "undecided"}),
    (claim("ordering", ["a", "b"], rival=RIVAL), {"a": 2, "b": 1}, {*NO, "undecided"}),
    (claim("ordering", ["a", "b"], rival=RIVAL, margin=2), {"a": 1, "b": 2}, {*NO, "undecided"}),
    (claim("ordering", ["a", "b", "c"], rival=RIVAL), {"a": 1, "b": 3, "c": 2},
     {"partly", "undecided"}),
    (claim("trend", "increasing", rival=RIVAL), (X, [1, 2, 3]), {*SAME, "undecided", "partly"}),
    (claim("trend", "increasing", rival=RIVAL), (X, [1, 1.2, 1.5]), {*SAME, "undecided", "partly"}),
    (claim("trend", "increasing", rival=RIVAL), (X, [1, 3, 0.5]), {*NO, "undecided", "partly"}),
    (claim("trend", "increasing", rival=RIVAL), (X, [3, 2, 1]), {*NO, "undecided", "partly"}),
    (claim("trend", "increasing", rival=RIVAL), (X, [1, 3, 1]), {*NO, "undecided", "partly"}),
    (claim("trend", "decreasing", rival=RIVAL), (X, [3, 1, 3]), {*NO, "undecided", "partly"}),
    (claim("trend", "increasing", rival=RIVAL), (X, [rows(1), rows(3, 5), rows(2)]),
     {*SAME, *NO, "undecided", "partly"}),
    (claim("trend", "decreasing", rival=RIVAL), (X, [rows(3), rows(1, 5), rows(2)]),
     {*SAME, *NO, "undecided", "partly"}),
    (claim("trend", "decreasing", rival=RIVAL), (X, [3, 2, 1]), {*SAME, "undecided", "partly"}),
    (claim("trend", "constant", rival=RIVAL, **ABOUT), (X, [1, 1, 1.5]), SAME),
    (claim("trend", "constant", rival=RIVAL, **ABOUT), (X, [1, 1, 3]), NO),
    (claim("trend", "constant", rival=RIVAL, **ABOUT), (X, [rows(1), rows(1), rows(1.5)]), {*SAME, "undecided"}),
    (claim("trend", "constant", rival=RIVAL, **ABOUT), (X, [rows(1), rows(1), rows(3)]), {*NO, "undecided"}),
    (claim("trend", "constant", rival=RIVAL, **ABOUT), (X, [rows(1), rows(1), rows(2)]), {"undecided", *SAME}),
    (claim("identity", None), (1.0, 1.0), SAME),
    (claim("identity", None), (1.0, 2.0), NO),
    (claim("identity", None, **ABOUT), (1.0, 2.0), SAME),
    (claim("identity", None, **ABOUT), (1.0, 2.5), NO),
    (claim("identity", None), ("a", "a"), SAME),
    (claim("identity", None), ("a", "b"), NO),
]  # fmt: skip
WITHOUT: dict[str, list[Any]] = {
    "['a', 'b']": [{"a": 2, "b": 1}],
    "['a', 'b', 'c']": [{"a": 2, "b": 1, "c": 0}],
    "increasing": [(X, [3, 2, 1])],
    "decreasing": [(X, [1, 2, 3])],
    "constant": [(X, [1, 2, 30])],
}
"""A run of the rival mechanism, by what is printed: each fails."""
FORMS = {"not testable here": "nothing is needed", "hangs on what the paper does not say": "has none"}


def row_of(made: Claim, value: Any, rival: Any = None) -> Any:
    rival = (WITHOUT[str(made.printed)] if made.rival else ()) if rival is None else rival
    return claims.Ledger("nfc", {"nfc.x": made}).judge("nfc.x", value, reason="Because.", rival=rival).row()


@pytest.mark.parametrize(("made", "value", "allowed"), CASES)
def test_an_honest_row_goes_together_and_other_verdicts_do_not(made, value, allowed):
    row = row_of(made, value)
    assert row["verdict"] in allowed
    assert rechecking.faults(made, row) == []
    passing = {name for name in VERDICTS if rechecking.faults(made, {**row, "verdict": name}) == []}
    assert passing == allowed
    for name, words in FORMS.items():
        assert words in rechecking.faults(made, {**row, "verdict": name})[0]


def test_a_number_at_the_edge_of_the_rounding_may_lie_on_either_side():
    made = claim("value", 10, **ABOUT)
    row = row_of(made, 11 * (1 + 4e-7))  # stored as 11
    assert row["verdict"] == "not reproduced"
    assert row["reproduced"] == 11
    assert rechecking.faults(made, row) == []
    low = row_of(made, 9 * (1 - 4e-7))  # stored as 9
    assert (low["verdict"], low["reproduced"]) == ("not reproduced", 9)
    assert rechecking.faults(made, low) == []


@pytest.mark.parametrize("share", [0.05, 0.06])
def test_a_rival_that_passes_too_often_forbids_reproduced_and_makes_untestable_honest(share):
    made = claim("ordering", ["a", "b"], rival={**RIVAL, "passes": share, "runs": 100})
    row = row_of(made_without(made), {"a": 1, "b": 2}) | {"rival": made.rival}
    told = rechecking.faults(made, row)
    assert told == ([] if share == 0.05 else ["nfc.x: reproduced, although its rival passes the same test"])
    told = rechecking.faults(made, {**row, "verdict": "not testable here"})
    words = "nfc.x: not testable here, although nothing is needed and no rival passes"
    assert told == ([words] if share == 0.05 else [])


def test_a_row_repeats_the_whole_claim():
    made = claim("value", 10, runs=8, cause="one slip", **ABOUT)
    row = row_of(made, rows(10))
    assert rechecking.faults(made, row) == []
    changed = {"study": "echo", "where": "Table 2", "statement": "Another one.", "kind": "arithmetic", "printed": 11}
    changed |= {"unit": "ms", "tolerance": {"absolute": 2}, "tolerance_reason": "Because.", "runs": 9}
    changed |= {"whose": "ours", "basis": "by-reading", "places": ["here", "there"]}
    for name, value in changed.items():
        told = rechecking.faults(made, {**row, name: value})
        assert f"nfc.x: {name} is not what the ledger says" in told
    assert "nfc.x: runs is not what the ledger says" in rechecking.faults(made, {k: row[k] for k in row if k != "runs"})


def test_a_rival_is_the_ledgers_and_was_run_where_one_is_due():
    made = claim("ordering", ["a", "b"], rival=RIVAL)
    row = row_of(made, {"a": 1, "b": 2})
    other = {**row["rival"], "mechanism": "another"}
    assert rechecking.faults(made, {**row, "rival": other}) == ["nfc.x: its rival is not the one that the ledger names"]
    assert rechecking.faults(made, {**row, "rival": RIVAL}) == ["nfc.x: reproduced, although its rival was not run"]
    assert len(rechecking.faults(made, {**row, "rival": None})) == 2
    lost = row_of(made, {"a": 2, "b": 1})
    assert rechecking.faults(made, {**lost, "rival": RIVAL}) == []  # what is not reproduced needs no rival
    free = claim("value", 10, **ABOUT)
    assert rechecking.faults(free, row_of(free, 10)) == []  # none is due
    owed = claim("ordering", ["a", "b"])
    honest = claims.Ledger("nfc", {"nfc.x": owed}).judge("nfc.x", {"a": 1, "b": 2}).row()
    assert rechecking.faults(owed, honest) == []  # the ledger's own list of debts tells this
    drawn = claim("ordering", ["a", "b"], rival={"none": "Nothing is drawn"})
    assert rechecking.faults(drawn, row_of(drawn, {"a": 1, "b": 2}, ())) == []


def made_without(made: Claim) -> Claim:
    return claim("ordering", made.printed, rival=RIVAL)


def test_a_claim_that_says_what_it_needs_is_not_testable():
    made = claim("value", 10, needs="The films themselves", **ABOUT)
    row = row_of(claim("value", 10, **ABOUT), 10) | {"verdict": "not testable here"}
    assert rechecking.faults(made, row) == []


def test_readings_decide_alone_and_an_excluded_one_does_not():
    readings = [{"name": "one", "source": "Section 1"}, {"name": "two", "source": "Section 2"}]
    made = claim("value", 10, readings=readings, **ABOUT)
    row = row_of(made, {"one": 10, "two": 20})
    assert row["verdict"] == "hangs on what the paper does not say"
    assert rechecking.faults(made, row) == []
    assert rechecking.faults(made, {**row, "verdict": "partly"}) == ["nfc.x: its readings do not make it partly"]
    assert rechecking.faults(made, {**row, "readings": []})
    one, two = row["readings"]
    without = {**row, "verdict": "reproduced", "readings": [one, {**two, "excluded": "Table 2"}]}
    assert rechecking.faults(made, without) == []


def test_a_long_list_need_not_stand_in_the_reason_and_a_short_one_must():
    few = {f"k{i}": float(i) for i in range(1, 9)}
    many = {f"k{i}": float(i) for i in range(1, 10)}
    for printed, told in ((few, True), (many, False)):
        made = claim("value", printed, **ABOUT)
        row = row_of(made, printed)
        assert rechecking.faults(made, row) == []
        changed = {**row, "reproduced": {**printed, "k1": 1.25}}
        assert bool(rechecking.faults(made, changed)) is told


def test_a_relative_identity_says_nothing_of_its_numbers():
    made = claim("identity", None, tolerance={"relative": 0.1}, tolerance_reason="One digit.")
    row = row_of(made, (1.05, 1.0))
    assert rechecking.faults(made, row) == []
    assert rechecking.faults(made, {**row, "verdict": "not reproduced"}) == []


def test_a_repaired_misprint_is_held_to_what_it_says_then():
    made = claim("value", 10, correction={"misprint": "5 for 10", "printed": 5}, **ABOUT)
    row = row_of(made, 5)
    assert row["verdict"] == "reproduced, corrected"
    assert rechecking.faults(made, row) == []
    assert rechecking.faults(made, {**row, "reproduced": 7, "reason": "7"})
    wide = claim("value", 10, correction={"misprint": "a digit", "tolerance": {"absolute": 5}}, **ABOUT)
    assert rechecking.faults(wide, row_of(wide, 14)) == []
