"""The authors' right of reply: the letter says what the ledger says, and every part has the place for an answer."""

from __future__ import annotations

import re

import pytest

from voicewire import claims, paths
from voicewire.cli import main
from voicewire.ledger.letter import REPLY, TOLD, letter

ROOT = paths.root()
SILENT = "No letter has been sent, and no answer has come.\n"


def named(text):
    return re.findall(r"\[([a-z]+\.[^\]\s]+)\]", text)


@pytest.mark.parametrize("study", paths.STUDIES)
def test_a_letter_tells_each_claim_that_did_not_hold_once_and_no_question_of_ours(study):
    rows = [row for row in claims.scorecard(study=study) if row["whose"] != "ours"]
    wanted = [row["id"] for row in rows if row["verdict"] in TOLD]
    assert sorted(named(letter(study))) == sorted(wanted)


def test_there_is_something_to_tell():
    assert any(row["verdict"] in TOLD for row in claims.scorecard())


@pytest.mark.parametrize("study", paths.STUDIES)
def test_its_numbers_are_the_ledgers(study):
    text = " ".join(letter(study).split())
    rows = [row for row in claims.scorecard(study=study) if row["whose"] != "ours"]
    held = sum(row["verdict"] == "reproduced" for row in rows)
    judged = held + sum(row["verdict"] in TOLD for row in rows)
    assert f"Of {judged} statements of it that we judge, {held} came out as printed" in text
    for verdict, words in TOLD.items():
        count = sum(row["verdict"] == verdict for row in rows)
        assert (f"{words} ({count}):" in text) == bool(count)


def test_a_study_without_a_ledger_has_no_letter():
    with pytest.raises(claims.ClaimError, match="nothing to write about"):
        letter("foundations")


def test_the_command_prints_it(capsys):
    assert main(["letter", "echo"]) == 0
    assert capsys.readouterr().out == letter("echo")


@pytest.mark.parametrize("study", paths.STUDIES)
def test_the_place_for_an_answer_is_dated_and_shown(study):
    text = (ROOT / "data" / study / REPLY).read_text(encoding="utf-8")
    assert text == SILENT or re.match(r"\*\d{1,2} [A-Z][a-z]+ 20\d\d\.\*", text), "begin an answer with *its date.*"
    page = (ROOT / "book" / study / "index.md").read_text(encoding="utf-8")
    assert f"```{{include}} ../../data/{study}/{REPLY}\n```" in page
    assert f"(reply-{study})=" in page
