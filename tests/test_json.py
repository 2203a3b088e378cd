"""Every command that prints a table prints the same with ``--json``, for programs."""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest

from voicewire import cli
from voicewire._kit.options import print_json
from voicewire_book import paths

NO_TABLE = {
    "broker": "serves", "pub": "prints an answer a line", "sub": "prints messages", "emqtt-agent": "serves",
    "student": "names files", "teach": "names files", "new-study": "names files", "letter": "is a letter",
    "review": "writes a report",
    "completion": "is a script",
    "icto key": "names files", "icto seal": "names a file", "icto open": "names files", "icto inspect": "is JSON",
    **{f"record {part.name}": "tells how far it is" for part in paths.PARTS},
}  # fmt: skip
"""Commands that print no table, and what they do."""
VOICE = str(paths.data("pharyngeal") / "arabic_synthesiser.wav")
RIGHT = {
    "scorecard": ["nfc"], "claim": ["nfc.table-7.2.mss-1460"], "run": ["transport", "--quick"],
    "nfc session": ["--bytes", "2000"], "nfc exchange": ["--runs", "50", "--ber", "1e-4"],
    "voip call": ["UDP", "G.729", "--seconds", "5", "--loss", "0.1"], "formants": [VOICE],
    "transport machine": [], "transport run": ["--bed", "proxy", "--transport", "tcp", "--iterations", "3"],
}  # fmt: skip
"""Words with which a command prints something; the others have a test beside what they need."""
ELSEWHERE = {"grade": "tests/course/test_grading.py", "echo": "tests/echo/test_study.py",
             "voip score": "tests/voip/test_received.py"}
MADE = "tests/{0}/test_{0}.py"  # where the template of a new study tests its command
MEASURED = {"transport run"}


def _leaves(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not below:
        yield " ".join(words), parser
    for action in below:
        for name, child in action.choices.items():
            yield from _leaves(child, (*words, name))


LEAVES = dict(_leaves(cli.parser()))


def test_every_command_with_a_table_has_json():
    with_json = {name for name, parser in LEAVES.items() if "--json" in parser._option_string_actions}
    assert with_json == LEAVES.keys() - NO_TABLE.keys()
    made = {name: MADE.format(name.split()[0]) for name in with_json - RIGHT.keys() - ELSEWHERE.keys()}
    for name, file in {**ELSEWHERE, **made}.items():
        text = (paths.root() / file).read_text(encoding="utf-8")
        words = ", ".join(f'"{word}"' for word in name.split())
        assert words in text and '"--json"' in text


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _numbers(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)
    elif isinstance(value, str):
        yield from (float(number) for number in re.findall(r"\d+\.?\d*", value))


def _shown(text: str) -> Iterator[tuple[float, float]]:
    """The numbers in a table, each with half a unit of its last digit."""
    for number in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w])", text):
        decimals = len(number.split("e")[0].partition(".")[2])
        power = int(number.partition("e")[2] or 0)
        yield float(number), 0.501 * 10.0 ** (power - decimals)


@pytest.mark.parametrize("command", sorted(RIGHT))
def test_the_json_holds_what_the_table_shows(command, capsys):
    words = [*command.split(), *RIGHT[command]]
    assert cli.main(words) == 0
    table = capsys.readouterr().out
    assert cli.main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=_refuse)
    assert found
    if command in MEASURED:  # another run, other times
        assert [row["metric"] for row in found] == [line.split()[0] for line in table.splitlines()[2:]]
        return
    held = [*_numbers(found), float(len(found))]
    if command == "scorecard":  # its table counts the rows
        ours = [row["verdict"] for row in found if row["whose"] == "ours"]
        theirs = [row for row in found if row["whose"] != "ours"]
        causes = {(row["verdict"], row["cause"] or row["id"]) for row in theirs}
        for verdicts in (ours, [row["verdict"] for row in theirs], [verdict for verdict, _ in causes]):
            held += [float(len(verdicts)), *(float(verdicts.count(verdict)) for verdict in set(verdicts))]
        held += [float(sum(row["basis"] == "by-reading" for row in theirs)), 0.0]
        held += [float(sum(row["owes_rival"] for row in found))]
    scales = (1.0, 100.0, 1e-3)  # shares are shown in per cent, bit/s in kbit/s
    table = table.replace("5 to 95 %", "")  # a heading
    missing = [
        number
        for number, half in _shown(table)
        if not any(abs(value * scale - number) <= half + 1e-5 * abs(number) for value in held for scale in scales)
    ]
    assert missing == []


def test_what_is_no_number_is_null(capsys):
    print_json({"a": float("nan"), "b": [math.inf, 1.5], "c": "Zähne"})
    assert json.loads(capsys.readouterr().out, parse_constant=_refuse) == {"a": None, "b": [None, 1.5], "c": "Zähne"}
