"""``voicewire new-study NAME`` makes all rooms of a new study from the templates beside this file."""

from __future__ import annotations

import argparse
import json
import keyword
import os
import re
import subprocess
import sys
from collections.abc import Container
from pathlib import Path

from voicewire._kit.options import text
from voicewire_book import paths

__all__ = ["TOUCHED", "StudyError", "create", "listed", "register", "rooms"]

TEMPLATES = Path(__file__).with_name("templates")
ENDING = ".template"
TOUCHED = ("src/voicewire_book/parts.toml", "book/_toc.yml", "CHANGELOG.md")
"""What a new study changes outside its rooms, and nothing else."""

NAME = re.compile(r"[a-z]{2,20}")
LINE = re.compile(r"[\w .,:;?!()'’–-]+")


class StudyError(ValueError):
    """A study can't be made under that name; nothing was written."""


def rooms(name: str, title: str, question: str) -> dict[str, str]:
    """Return the files of a study's rooms, by their path in the checkout."""
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise StudyError(f"a study's name has 2 to 20 small letters and is no word of Python, not {name!r}")
    for what, line, longest in (("title", title, 60), ("question", question, 90)):
        if not LINE.fullmatch(line) or len(line) > longest:
            raise StudyError(f"the {what} is one line of at most {longest} plain characters, not {line!r}")
    if not question.endswith("?"):
        raise StudyError(f"the question ends with a question mark: {question!r}")
    found = {}
    for file in sorted(TEMPLATES.rglob(f"*{ENDING}")):
        path = file.relative_to(TEMPLATES).as_posix().removesuffix(ENDING).replace("@NAME@", name)
        text = file.read_text(encoding="utf-8")
        for mark, value in (("@NAME@", name), ("@TITLE@", title), ("@QUESTION@", question)):
            text = text.replace(mark, value)
        found[path] = text
    return found


def listed(base: Path, name: str, title: str, question: str) -> dict[str, str]:
    """Return the three files outside the rooms that name the study, as they are with it."""
    parts, contents, changes = ((base / file).read_text(encoding="utf-8") for file in TOUCHED)
    entry = (
        f'\n[[part]]\nname = "{name}"\ntitle = {json.dumps(title, ensure_ascii=False)}\n'
        f"question = {json.dumps(question, ensure_ascii=False)}\nledger = true\n"
    )
    # behind the last study: parts without a ledger may stand before the studies or after them
    last = [match.end() for match in re.finditer(r"^ledger = true\n(?:\w+ = .*\n)*", parts, re.M)][-1]
    parts = parts[:last] + entry + parts[last:]
    pages = re.compile(rf"^ *- file: \w+/{paths.STUDIES[-1]}/(?!api$).*\n", re.M)
    line = [match.end() for match in pages.finditer(contents)][-1]
    page = (
        f"      - file: book/{name}/index\n        sections:\n"
        f"          - file: notebooks/{name}/01_study\n"
    )  # fmt: skip
    contents = contents[:line] + page + contents[line:]
    functions = f"          - file: book/{paths.STUDIES[-1]}/api\n"
    contents = contents.replace(functions, f"{functions}          - file: book/{name}/api\n")
    first, second = [match.start() for match in re.finditer(r"^## ", changes, re.M)][:2]
    section = changes[first:second].rstrip("\n")
    changes = f"{changes[:first]}{section}\n- A new part: {title} (`{name}`).\n\n{changes[second:]}"
    return dict(zip(TOUCHED, (parts, contents, changes), strict=True))


def create(name: str, title: str, question: str, taken: Container[str] = ()) -> list[str]:
    """Make all rooms of a study in the checkout, record its data and execute its notebook."""
    base = Path(__file__).resolve().parents[3]
    if not paths.is_root(base):
        raise StudyError("the package is installed apart from its checkout: set the checkout up first, with make")
    files = rooms(name, title, question)
    rooms_there = [base / "src" / package.name for package in paths.PACKAGES]
    rooms_there.append(rooms_there[1] / "kit")
    known_already = name in taken or any(part.name == name for part in paths.PARTS)
    if known_already or any((room / f"{name}{end}").exists() for room in rooms_there for end in ("", ".py")):
        raise StudyError(f"{name!r} is the name of something else already: choose another")
    there = [file for file in files if (base / file).exists()]
    if there:
        raise StudyError(f"{there[0]} is there already: choose another name, or remove it")
    known = listed(base, name, title, question)
    for file, content in {**files, **known}.items():
        (base / file).parent.mkdir(parents=True, exist_ok=True)
        (base / file).write_text(content, encoding="utf-8")
    notebook = f"notebooks/{name}/01_study.ipynb"
    _run(base, "voicewire", "record", name, "--out", f"data/{name}")
    _run(base, "voicewire_book.publish.weave", notebook)
    _run(base, "voicewire_book.publish.notebooks", "run", notebook)
    recorded = [f"data/{name}/{file}" for file in ("checksums.sha256", "provenance.json", "rates.csv")]
    return [*sorted([*files, *recorded]), *known]


def _run(base: Path, *step: str) -> None:
    command = [sys.executable, "-m", *step]
    where = {**os.environ, "VOICEWIRE_ROOT": str(base)}
    done = subprocess.run(command, cwd=base, env=where, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"all files are written, but {' '.join(step)} failed: {done.stderr.strip()[-500:]}")


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``voicewire new-study``."""
    command = subparsers.add_parser(
        "new-study",
        help="make all rooms of a new study",
        description="Make ledger, package, notebooks, pages, tests and benchmark of a new study, ready to be filled.",
        epilog="Exit status: 0 all is there and its notebook executed, 1 something failed, 2 wrong usage."
        "\n\nExample: voicewire new-study radio --question 'How far does it reach?'",
    )
    command.add_argument("name", type=text, metavar="NAME", help="the study's name in every room: small letters")
    command.add_argument("--title", type=text, help="heading of its introduction (default: the name)")
    command.add_argument(
        "--question",
        type=text,
        default="What does the paper claim, and does it hold?",
        help="what it asks, in one line",
    )
    command.set_defaults(handler=_new_study, taken=subparsers.choices)


def _new_study(options: argparse.Namespace) -> int:
    title = options.title or options.name.capitalize()
    try:
        written = create(options.name, title, options.question, options.taken)
    except StudyError as error:
        print(f"voicewire new-study: {error}", file=sys.stderr)
        return 2
    except RuntimeError as error:
        print(f"voicewire new-study: {error}", file=sys.stderr)
        return 1
    print("\n".join(written))
    print(f"{len(written)} files, {len(TOUCHED)} of them outside the study's rooms; CONTRIBUTING.md says what is next")
    return 0
