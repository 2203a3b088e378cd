"""The command line reads like a good Unix tool's: help, one-line errors, exit statuses."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys

import pytest

from voicewire import cli
from voicewire_book.kit import claims


def commands() -> dict[str, argparse.ArgumentParser]:
    top = cli.parser()
    (action,) = (a for a in top._actions if isinstance(a, argparse._SubParsersAction))
    return dict(action.choices)


def unexplained(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                unexplained(below)
        else:
            assert action.help, f"{parser.prog}: {action.dest} has no help"


@pytest.mark.parametrize("name", sorted(commands()))
def test_each_command_has_help(name, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main([name, "--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: voicewire {name}")
    assert len(text.splitlines()) >= 5
    unexplained(commands()[name])


def test_top_help_lists_every_command(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    text = capsys.readouterr().out
    assert all(name in text for name in commands())


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["scorecard", "--nonsense"], ["scorecard", "chess"]])
def test_wrong_usage_is_one_line_and_two(arguments, capsys):
    try:
        status = cli.main(arguments)
    except SystemExit as end:
        status = end.code
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1


def test_python_m_voicewire_is_the_command():
    run = subprocess.run([sys.executable, "-m", "voicewire", "--help"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0
    assert run.stdout.startswith("usage: voicewire ")


def test_scorecard_json_is_the_scorecard(capsys):
    if not claims.studies():
        pytest.fail("the checkout has no ledger")
    status = cli.main(["scorecard", "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert rows == json.loads(json.dumps(claims.scorecard()))
    assert status == (1 if claims.problems() else 0)


def test_scorecard_of_the_book_is_complete():
    assert claims.problems() == []


def test_a_closed_pipe_is_no_error():
    command = f"{shlex.quote(sys.executable)} -m voicewire.cli scorecard --json | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert result.stderr == ""


def test_errors_of_a_command_are_one_line(monkeypatch, capsys):
    monkeypatch.setenv("VOICEWIRE_ROOT", "/nowhere")
    assert cli.main(["scorecard"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "VOICEWIRE_ROOT" in err
