"""Every command that the book, its notebooks, READMEs and docstrings name exists, with its options."""

from __future__ import annotations

import argparse
import importlib
import json
import re
from collections.abc import Iterator

import pytest

from voicewire import cli
from voicewire_book import paths

pytestmark = pytest.mark.landing

ROOT = paths.root()
NAMED = re.compile(r"`+(?:\$ )?voicewire ([a-z][^`\n]*)`|^ *(?:\$ )?voicewire ([a-z][a-z-]* .*)$", re.M)
PARSER = cli.parser()
WORD = re.compile(r"[a-z][a-z0-9-]*")


def _texts() -> Iterator[tuple[str, str]]:
    files = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    for place, endings in (("book", ".md"), ("data", ".md"), ("src/voicewire", ".py")):
        files += sorted(path for path in (ROOT / place).rglob(f"*{endings}") if path.is_file())
    for path in files:
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for path in paths.chapters():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        words = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        yield path.relative_to(ROOT).as_posix(), words


def _fault(command: str) -> str:
    """What is wrong with a command as a text names it, or nothing; words in capitals stand for something."""
    parser: argparse.ArgumentParser = PARSER
    words = re.split(r"\s+", command.split("#")[0].split("|")[0].strip())
    study = ""
    while words:
        below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        if not below or words[0].startswith("-") or not WORD.fullmatch(words[0]):
            break
        if words[0] not in below[0].choices:
            return f"there is no {parser.prog} {words[0]}"
        study, parser = words[0], below[0].choices[words[0]]
        words = words[1:]
    for word in words:
        if (option := re.match(r"\[?(--?[a-z][a-z0-9-]*)", word)) and option[1] not in parser._option_string_actions:
            return f"{parser.prog} has no {option[1]}"
    if parser.prog.startswith("voicewire record ") and words and WORD.fullmatch(words[0]):
        known = importlib.import_module(f"voicewire_book.chapters.{study}.record").RECORDINGS
        if words[0] not in known:
            return f"{study} has no recording {words[0]}"
    return ""


def test_every_command_that_is_named_exists():
    found = [
        (name, (match[1] or match[2]).strip()) for name, text in _texts() for match in NAMED.finditer(text)
    ]
    print(f"{len(found)} commands are named, {len({command for _, command in found})} different ones")
    assert len(found) > 40
    assert [f"{name}: {command}: {fault}" for name, command in found if (fault := _fault(command))] == []


@pytest.mark.parametrize(
    "command",
    ["emqtt-record data", "voip sweep out.csv", "transport record", "record transport all", "claim ID --yaml",
     "record voip --tests 3"],
)  # fmt: skip
def test_what_it_would_find(command):
    assert _fault(command)
