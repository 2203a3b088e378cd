"""The classes of claims: two coders' codes, what was settled, and the agreement that the data sheet prints."""

from __future__ import annotations

import csv
from collections import Counter

import pytest
from sklearn.metrics import cohen_kappa_score

from voicewire_book import paths
from voicewire_book.ledger.loading import read, studies
from voicewire_book.ledger.vocabulary import CLASSES

pytestmark = pytest.mark.landing

DATA = paths.root() / "data"
CODED = list(csv.DictReader((DATA / "coding.csv").read_text(encoding="utf-8").splitlines()))
ROWS = {claim.id: claim for study in studies() for claim in read(study).values()}


def agreement() -> str:
    """The table of the data sheet: for each class kappa against all others, and how often each pair was chosen."""
    first, second = ([row[who] for row in CODED] for who in ("first", "second"))
    pairs = Counter(zip(first, second, strict=True))
    same = sum(a == b for a, b in zip(first, second, strict=True))
    whole = cohen_kappa_score(first, second)
    lines = [
        f"{len(CODED)} rows; the same class for {same} of them; kappa {whole:.2f}.",
        "",
        f"| first coder \\ second | {' | '.join(CLASSES)} | kappa |",
        "|---|" + "---:|" * (len(CLASSES) + 1),
    ]
    for name in CLASSES:
        kappa = cohen_kappa_score([code == name for code in first], [code == name for code in second])
        counts = " | ".join(str(pairs[name, other]) for other in CLASSES)
        lines.append(f"| {name} | {counts} | {kappa:.2f} |")
    return "\n".join(lines)


def test_the_data_sheet_prints_the_agreement_of_the_codes():
    assert agreement() in (DATA / "DATASHEET.md").read_text(encoding="utf-8"), agreement()


def test_each_class_is_agreed_on():
    first, second = ([row[who] for row in CODED] for who in ("first", "second"))
    for name in CLASSES:
        kappa = cohen_kappa_score([code == name for code in first], [code == name for code in second])
        assert kappa >= 0.7, name


def test_what_the_coders_differ_in_is_settled_with_a_reason():
    for row in CODED:
        if row["first"] == row["second"]:
            assert (row["settled"], row["why"]) == (row["first"], "")
        else:
            assert row["why"] and row["settled"] in (row["first"], row["second"])


def test_each_row_of_the_ledgers_has_its_settled_class():
    settled = {row["id"]: row["settled"] for row in CODED}
    assert settled.keys() <= ROWS.keys()
    assert {id_: claim.class_ for id_, claim in ROWS.items() if id_ in settled} == settled
    assert [id_ for id_, claim in ROWS.items() if claim.class_ not in CLASSES] == []


def test_sixty_rows_wait_for_a_person():
    rows = list(csv.DictReader((DATA / "coding-by-hand.csv").read_text(encoding="utf-8").splitlines()))
    by_text = {" ".join(claim.statement.split()): claim for claim in ROWS.values()}
    known = [by_text[row["statement"]] for row in rows]
    assert Counter(claim.class_ for claim in known) == dict.fromkeys(CLASSES, 10)
    assert all(row["class"] == "" and (row["study"], row["where"]) == (claim.study, claim.where)
               for row, claim in zip(rows, known, strict=True))  # fmt: skip
