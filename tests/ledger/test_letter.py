"""The authors' right of reply: the letter says what the ledger says, and every part has the place for an answer."""

from __future__ import annotations

import re
import socket
import subprocess
from functools import cache

import pytest

from voicewire.cli import main
from voicewire_book import paths
from voicewire_book.kit import claims
from voicewire_book.ledger.letter import REPLY, TOLD, letter

ROOT = paths.root()
SILENT = "No letter has been sent, and no answer has come.\n"


@cache
def letter_to(study):
    return letter(study)


@cache
def rows_of(study):
    return tuple(claims.scorecard(study=study))


def named(text):
    return re.findall(r"\[([a-z]+\.[^\]\s]+)\]", text)


@pytest.mark.parametrize("study", paths.STUDIES)
def test_a_letter_tells_each_claim_that_did_not_hold_once_and_no_question_of_ours(study):
    rows = [row for row in rows_of(study) if row["whose"] != "ours"]
    wanted = [row["id"] for row in rows if row["verdict"] in TOLD]
    assert sorted(named(letter_to(study))) == sorted(wanted)


def test_there_is_something_to_tell():
    assert any(row["verdict"] in TOLD for study in paths.STUDIES for row in rows_of(study))


@pytest.mark.parametrize("study", paths.STUDIES)
def test_its_numbers_are_the_ledgers(study):
    text = " ".join(letter_to(study).split())
    rows = [row for row in rows_of(study) if row["whose"] != "ours"]
    held = sum(row["verdict"] == "reproduced" for row in rows)
    judged = held + sum(row["verdict"] in TOLD for row in rows)
    assert f"Of {judged} statements of it that we judge, {held} came out as printed" in text
    for verdict, words in TOLD.items():
        count = sum(row["verdict"] == verdict for row in rows)
        assert (f"{words} ({count}):" in text) == bool(count)


@pytest.mark.parametrize("study", paths.STUDIES)
def test_its_statements_are_counted_through_and_its_lines_fit_a_mail(study):
    text = letter_to(study)
    numbers = [int(number) for number in re.findall(r"(?m)^(\d+)\. ", text)]
    assert numbers == list(range(1, len(named(text)) + 1))
    assert max(map(len, text.splitlines())) <= 78
    assert "\n\n    make book\n    voicewire claim NAME\n\n" in text  # to be typed: these lines are not wrapped
    assert text.endswith("the authors of Voice to Wire\n")


def test_a_printed_value_stands_beside_ours_and_none_where_nothing_is_printed():
    rows = {row["id"]: row for study in paths.STUDIES for row in rows_of(study)}
    for study in paths.STUDIES:
        for item in re.split(r"\n\n(?=\d+\. )", letter_to(study))[1:]:
            row = rows[named(item)[0]]
            assert ("\nPrinted: " in item) == (row["printed"] is not None)
            assert " ".join(row["reason"].split()) in " ".join(item.split())


def test_no_letter_is_sent(monkeypatch, capsys):
    """As the command's help says: it opens no connection and starts no program."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("it talks to somebody")

    monkeypatch.setattr(socket, "socket", never)
    monkeypatch.setattr(subprocess, "Popen", never)
    assert main(["letter", "nfc"]) == 0
    assert capsys.readouterr().out.startswith("Kashyap")


def test_a_study_without_a_ledger_has_no_letter():
    with pytest.raises(claims.ClaimError, match="nothing to write about"):
        letter("foundations")


def test_the_command_prints_it(capsys):
    assert main(["letter", "echo"]) == 0
    assert capsys.readouterr().out == letter_to("echo")


@pytest.mark.parametrize("study", paths.STUDIES)
def test_the_place_for_an_answer_is_dated_and_shown(study):
    text = (ROOT / "data" / study / REPLY).read_text(encoding="utf-8")
    assert text == SILENT or re.match(r"\*\d{1,2} [A-Z][a-z]+ 20\d\d\.\*", text), "begin an answer with *its date.*"
    page = (ROOT / "book" / study / "index.md").read_text(encoding="utf-8")
    assert f"```{{include}} ../../data/{study}/{REPLY}\n```" in page
    assert f"(reply-{study})=" in page
