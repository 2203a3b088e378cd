"""The command ``voicewire``: the scorecard of the book, and what each study offers at a shell."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from voicewire import __version__, paths
from voicewire.ledger import tally
from voicewire.ledger.vocabulary import BY_READING, VERDICTS, Score
from voicewire.options import PathOption, text

__all__ = ["main", "parser"]

MODULES = (
    "voicewire.verbs",
    "voicewire.course.cli",
    "voicewire.publish.new_study",
    "voicewire.mqtt.cli",
    *(f"voicewire.{part.name}.cli" for part in paths.PARTS),
)
"""Modules whose ``register(subparsers)`` adds commands; one that a checkout doesn't have is passed over."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose usage errors are one line, with exit status 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {' '.join(message.split())} (see '{self.prog} --help')\n")


def _scorecard(options: argparse.Namespace) -> int:
    from voicewire import claims

    known = claims.studies()
    if options.study and options.study not in known:
        print(
            f"voicewire: no ledger for {options.study!r} here: there is {', '.join(known) or 'none'}",
            file=sys.stderr,
        )
        return 2
    rows = claims.scorecard(study=options.study)
    faults = claims.problems(study=options.study)
    if options.json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        print(_table(rows, details=options.study is not None))
    for fault in faults:
        print(f"voicewire: {fault}", file=sys.stderr)
    return 1 if faults or not rows else 0


def _signs() -> dict[str, str]:
    """The sign of each verdict; its first letters where only ASCII can be shown."""
    try:
        "".join(VERDICTS.values()).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return {verdict: verdict[:3] for verdict in VERDICTS}
    return dict(VERDICTS)


def _table(rows: list[Score], details: bool) -> str:
    lines = []
    signs = _signs()
    if details:
        width = max((len(str(row["id"])) for row in rows), default=0)
        for row in rows:
            beside = ", by reading" if row["basis"] == "by-reading" else ""
            beside += ", a question of ours" if row["whose"] == "ours" else ""
            lines.append(f"{signs.get(str(row['verdict']), '?')} {row['id']!s:<{width}}  {row['verdict']}{beside}")
        lines.append("")
    found = tally.by_study(rows)
    lines.append(f"{'study':<12}{'claims':>8}" + "".join(f"{sign:>7}" for sign in signs.values()))
    for name, count in found.items():
        numbers = [count.causes[verdict] for verdict in signs]
        behind = [count.rows[verdict] for verdict in signs]
        cells = [str(n) if n == m else f"{n}/{m}" for n, m in zip(numbers, behind, strict=True)]
        lines.append(f"{name:<12}{count.rows.total():>8}" + "".join(f"{cell:>7}" for cell in cells))
    lines += ["", "   ".join(f"{sign} {verdict}" for verdict, sign in signs.items()), ""]
    lines.append("3/11: eleven claims that rest on three causes. Beside these numbers:")
    lines += [f"  {number:>4}  {words}" for number, words in _besides(list(found.values())) if number]
    return "\n".join(lines)


def _besides(found: list[tally.Tally]) -> list[tuple[int, str]]:
    """What the columns of verdicts don't say."""
    return [
        (sum(count.ours.total() for count in found), "questions of ours, not counted above"),
        (
            sum(count.by_reading for count in found),
            f"claims settled by reading two places ({BY_READING}), counted above",
        ),
        (sum(count.registered for count in found), "claims registered, not computed yet"),
        (sum(count.rival_owed for count in found), "claims whose rival (what would have failed them) is not named yet"),
        (sum(count.rival_unrun for count in found), "claims whose rival is named and not run yet"),
    ]


def parser() -> Parser:
    """Return the parser of the whole command line.

    Returns
    -------
    Parser
        With the commands of every room.

    Examples
    --------
    >>> parser().prog
    'voicewire'
    """
    top = Parser(
        prog="voicewire",
        description="Published studies of speech and its protocols, re-run and judged claim by claim.",
        epilog="Exit status: 0 all is well, 1 something failed (one line on stderr says what), 2 wrong usage.",
    )
    top.add_argument("--version", action="version", version=f"voicewire {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    card = commands.add_parser(
        "scorecard",
        help="what holds, what doesn't, claim by claim",
        description="Print the verdicts that stand in the executed notebooks, for one study or for all.",
        epilog="Exit status: 1 if a claim is unjudged, missing or stale, a verdict contradicts its own numbers, or a "
        "recorded file is not what was recorded.",
    )
    card.add_argument("study", nargs="?", type=text, metavar="STUDY", help=f"one of {', '.join(paths.STUDIES)}")
    card.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    card.set_defaults(handler=_scorecard)
    completion = commands.add_parser(
        "completion",
        help="print a script that completes commands in a shell",
        description="Print a script that completes commands and options; read it when a shell starts.",
        epilog='For bash: eval "$(voicewire completion bash)" in ~/.bashrc. It needs the extra "completion".',
    )
    shells = ("bash", "zsh", "fish", "tcsh")
    completion.add_argument("shell", choices=shells, metavar="SHELL", help=f"one of {', '.join(shells)}")
    completion.set_defaults(handler=_completion)
    for name in MODULES:
        if _exists(name):
            importlib.import_module(name).register(commands)
    return top


def _completion(options: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        return _told("completion needs the extra 'completion': pip install 'voicewire[completion]'", 1)
    top = parser()
    _complete_paths(top, shtab.FILE, shtab.DIR)
    print(shtab.complete(top, shell=options.shell))
    return 0


def _complete_paths(part: argparse.ArgumentParser, file: object, folder: object) -> None:
    """Tell shtab, by the attribute that it looks for, which words are files and which are folders."""
    for action in part._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                _complete_paths(below, file, folder)
        elif isinstance(action.type, PathOption):
            action.complete = file if action.type.file else folder  # type: ignore[attr-defined]


def _exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its package isn't there either
        return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``voicewire`` and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the command's name; those of the process if None.

    Returns
    -------
    int
        0, 1 for what failed, 2 for what was asked wrongly.

    Examples
    --------
    >>> main(["claim", "nfc.nosuch"])
    1
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # where only ASCII can be shown, a sign is spelt out instead of raised
            stream.reconfigure(errors="backslashreplace")
    try:
        options = parser().parse_args(arguments)
        return int(options.handler(options))
    except BrokenPipeError:  # the reader, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _told("interrupted", 130)
    except MemoryError:
        return _told("more memory is needed than this machine gives: ask for less", 1)
    except (ValueError, OSError, RuntimeError, LookupError) as error:  # RuntimeError: of test beds and sweeps
        return _told(str(error) or type(error).__name__, 1)


def _told(message: str, status: int) -> int:
    print(f"voicewire: {' '.join(message.split())}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
