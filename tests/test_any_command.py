"""Every option of every command, with every kind of nonsense: one line on stderr, exit status 1 or 2, no traceback.

The tree of commands is walked, not listed. What would be a right value is not given here: nothing starts to work.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from voicewire import claims, cli, paths

NUMBERS = ("", " ", "nonsense", "nan", "inf", "-inf", "-1e300", "1e300", "1e999", "-1", "0x10", "١٢x", "1,5", "None")
PATHS = (
    "",
    "/nowhere/at/all",
    "/dev/null",
    "{folder}",
    "{folder}/empty",
    "{folder}/noise",
    "{folder}/noise/below",
    "\0",
)


def _walk(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not below:
        yield words, parser
    for action in below:
        for name, child in action.choices.items():
            yield from _walk(child, (*words, name))


def _is_path(action: argparse.Action) -> bool:
    kind = getattr(action.type, "__name__", "")
    return kind in ("Path", "readable", "writable", "new_file")


TREE = dict(_walk(cli.parser()))
OPTIONS = [
    (" ".join(words), action)
    for words, parser in TREE.items()
    for action in parser._actions
    if action.type is not None or action.choices is not None
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").touch()
    (tmp_path / "noise").write_bytes(bytes(range(256)) * 64)
    return tmp_path


def _run(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capfd.readouterr()
    try:
        status = cli.main(arguments)
    except SystemExit as end:
        status = int(end.code or 0)
    return status, capfd.readouterr().err


def _others(parser: argparse.ArgumentParser, spoilt: argparse.Action) -> list[str]:
    """Words for what a command requires besides: files that are there and hold noise, so that nothing can start."""
    words: list[str] = []
    for action in parser._actions:
        if action is spoilt or not action.required:
            continue
        value = str(next(iter(action.choices))) if action.choices else "noise"
        if action.type is not None and not _is_path(action):
            value = "nonsense"
        words += [action.option_strings[-1], value] if action.option_strings else [value]
    return words


@pytest.mark.parametrize(("command", "action"), OPTIONS, ids=[f"{c} {a.dest}" for c, a in OPTIONS])
def test_nonsense_is_one_line(
    command: str, action: argparse.Action, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    parser = TREE[tuple(command.split())]
    wrong = []
    for text in PATHS if _is_path(action) else NUMBERS:
        value = text.format(folder=folder)
        if not _is_path(action) and _fits(action, value):
            continue
        if _is_path(action) and _fits(action, value) and not _reads(action):
            continue  # a place to write that is right: the command would begin
        words = [f"{action.option_strings[-1]}={value}"] if action.option_strings else [value]
        status, err = _run([*command.split(), *words, *_others(parser, action)], capfd)
        if status not in (1, 2) or err.count("\n") != 1 or "Traceback" in err:
            wrong.append(f"{value!r}: exit {status}, {err[-300:]!r}")
    assert not wrong, "\n".join(wrong)


def _fits(action: argparse.Action, value: str) -> bool:
    """Whether an option takes this value."""
    if action.choices is not None:
        return value in action.choices
    try:
        action.type(value)  # type: ignore[operator, misc]
    except (argparse.ArgumentTypeError, ValueError, TypeError):
        return False
    return True


def _reads(action: argparse.Action) -> bool:
    return getattr(action.type, "__name__", "") == "readable"


@pytest.mark.parametrize(
    "arguments",
    [
        ["formants", "{folder}"], ["formants", "/dev/null"], ["formants", "empty"], ["formants", "noise"],
        ["formants", "none.wav"], ["nfc", "session", "--rto", "1e18"], ["nfc", "session", "--latency", "1e300"],
        ["nfc", "session", "--bytes", "1e300"], ["voip", "call", "udp", "--seconds", "1e9"],
        ["voip", "call", "nonsense"], ["voip", "call", "UDP", "G.999"], ["voip", "sweep", "/nowhere/out.csv"],
        ["echo", "noise", "noise", "out.wav"], ["echo", "empty", "empty", "out.wav"],
        ["echo", "none.wav", "none.wav", "out.wav"], ["scorecard", "chess"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_was_seen_to_fail_is_one_line(
    arguments: list[str], folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, err = _run([word.format(folder=folder) for word in arguments], capfd)
    assert status in (1, 2)
    assert err.count("\n") == 1
    assert not list(folder.glob("out*"))


@pytest.mark.parametrize(
    "arguments",
    [["voip", "call", "udp", "g729", "--seconds", "5"], ["nfc", "exchange", "--runs", "10", "--ber", "0.01"]],
)
def test_what_is_possible_works(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    status, err = _run(arguments, capfd)
    assert (status, err) == (0, "")


def test_nothing_is_recorded_among_the_books_data_unless_told_so() -> None:
    for parser in TREE.values():
        for action in parser._actions:
            default = str(action.default)
            assert "data" not in Path(default).parts, f"{parser.prog} {action.dest}: {default}"


@pytest.mark.parametrize("arguments", [["scorecard"], ["scorecard", "nfc"], ["--help"], ["voip", "call", "--help"]])
def test_ascii_is_enough(arguments: list[str]) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "voicewire", *arguments], capture_output=True, check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"},
    )  # fmt: skip
    assert b"Traceback" not in run.stderr
    assert run.stdout.isascii()
    assert run.returncode in (0, 1)


def test_every_study_that_records_does_so_by_one_verb(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for part in paths.PARTS:
        if part.ledger:
            module = importlib.import_module(f"voicewire.{part.name}.record")
            assert module.RECORDINGS and all(callable(run) for run in module.RECORDINGS.values())
            status, err = _run(["record", part.name, "no-such-name"], capfd)
            assert status == 2
            assert all(name in err for name in module.RECORDINGS)
    assert not (folder / "recorded").exists()


def test_recordings_go_where_they_are_told(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from voicewire.nfc import record

    monkeypatch.setitem(record.RECORDINGS, "lwip", lambda place: (place / "lwip.csv").write_text("x"))
    assert _run(["record", "nfc"], capfd) == (0, "")
    assert (folder / "recorded" / "nfc" / "lwip.csv").exists()
    assert _run(["record", "nfc", "lwip", "--out", "there"], capfd) == (0, "")
    assert (folder / "there" / "lwip.csv").exists()


def test_a_claim_is_printed_with_its_verdict(capfd: pytest.CaptureFixture[str]) -> None:
    row = claims.scorecard(study="nfc")[0]
    assert cli.main(["claim", row["id"], "--json"]) == 0
    (found,) = json.loads(capfd.readouterr().out)
    assert found == json.loads(json.dumps(row))
    assert cli.main(["claim", row["id"]]) == 0
    out = capfd.readouterr().out
    assert row["verdict"] in out
    assert row["statement"] in out
    assert _run(["claim", "no-such-claim"], capfd)[0] == 1
