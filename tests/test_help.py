"""Each command's help fits a screen and has an example; the example does what it says, pasted as it stands."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from voicewire import cli
from voicewire_book import paths

pytestmark = [pytest.mark.landing, pytest.mark.needs("linux")]


def commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Every command that does something, and `record`, whose studies share one example."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below or parser.prog.endswith(" record"):
        yield parser
        return
    for action in below:
        for child in dict.fromkeys(action.choices.values()):
            yield from commands(child)


def texts() -> dict[str, str]:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "80"
    try:
        return {child.prog: child.format_help() for child in commands(cli.parser())}
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


HELP = texts()
ELSEWHERE = {
    "voicewire teach": "writes a whole course for minutes: tests/course/test_teach.py",
    "voicewire grade": "needs an extra and bubblewrap: tests/course/test_grading.py",
    "voicewire student": "needs an extra: tests/course/test_handout.py",
    "voicewire new-study": "writes into the clone: tests/test_new_study.py",
    "voicewire completion": "needs an extra: tests/test_completion.py",
    "voicewire record": "takes a minute: tests/ledger/test_evidence.py records what takes less",
    "voicewire emqtt-agent": "runs until it is stopped: tests/emqtt/test_agent.py",
    "voicewire broker": "tests/mqtt/test_commands.py pastes it, on a port of its own",
    "voicewire pub": "tests/mqtt/test_commands.py pastes it, on a port of its own",
    "voicewire sub": "tests/mqtt/test_commands.py pastes it, on a port of its own",
}
"""Examples that are not pasted here, and why."""


def example(text: str) -> str:
    return text.partition("\nExample:")[2].strip()


@pytest.mark.parametrize("command", HELP)
def test_help_fits_a_screen_and_has_an_example_of_its_command(command):
    lines = HELP[command].splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    assert re.search(rf"\b{re.escape(command)}\b", example(HELP[command])), HELP[command]


def test_what_is_not_pasted_here_is_tried_where_it_says():
    for command, why in ELSEWHERE.items():
        assert command in HELP and (paths.root() / re.search(r"tests/[\w/]+\.py", why)[0]).is_file(), why


@pytest.mark.parametrize("command", [name for name in HELP if name not in ELSEWHERE])
def test_an_example_works_as_pasted(command, tmp_path):
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    script = bin_ / "voicewire"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m voicewire "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    (tmp_path / "data").symlink_to(paths.root() / "data")
    environment = {**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "PYTHONPATH": str(Path(paths.TOP))}
    done = subprocess.run(
        ["bash", "-ec", example(HELP[command])], cwd=tmp_path, env=environment,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() or len(list(tmp_path.iterdir())) > 2  # it says something, or left a file
