"""The command ``voicewire``: the scorecard of the book, and what each study offers at a shell."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Any, NoReturn

import voicewire
from voicewire import __version__
from voicewire._kit._optional import told
from voicewire._kit.options import PathOption, visible

__all__ = ["main", "parser"]

BOOK = {
    "scorecard": ("scorecard",),
    "verbs": ("record", "run", "claim", "letter", "review"),
    "course": ("teach", "student", "grade"),
    "new-study": ("new-study",),
}
"""The commands that only a clone of the book has, by the entry point that adds them (group ``voicewire.commands``)."""

ORDER = ("mqtt", "pharyngeal", "echo", "voip", "transport", "emqtt", "nfc")
"""The rooms of the package whose ``cli.register(commands)`` adds commands, in this order; a new one comes last."""


class Screen(argparse.HelpFormatter):
    """Help whose paragraphs stay apart; an example stays as it is pasted."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        parts = text.split("\n\n")
        return "\n\n".join(part if part.startswith("Example") else fill(part, width, indent) for part in parts)


class Parser(argparse.ArgumentParser):
    """An argument parser whose usage errors are one line, with exit status 2."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{"formatter_class": Screen, **named})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; a command refuses what it lacks itself, so that its own help is named."""
        found, more = super().parse_known_args(args, namespace)
        if more and self.get_default("handler") is not None:
            self.error(f"unrecognized arguments: {' '.join(more)}")
        return found, more

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {_line(message)} (see '{self.prog} --help')\n")


def parser(command: str | None = None) -> Parser:
    """Return the parser of the whole command line, or, which is sooner, of the package's part if it has `command`."""
    top = Parser(
        prog="voicewire",
        description="Published studies of speech and its protocols, re-run and judged claim by claim.",
        epilog="Exit status: 0 all is well, 1 something failed (one line on stderr says what), 2 wrong usage.",
    )
    top.add_argument("--version", action="version", version=f"voicewire {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    if command is not None:
        _add_rooms(commands)
        return top if command in commands.choices else parser()
    _add_book(commands, "scorecard")
    completion = commands.add_parser(
        "completion",
        help="print a script that completes commands in a shell",
        description="Print a script that completes commands and options; read it when a shell starts.",
        epilog='For bash: eval "$(voicewire completion bash)" in ~/.bashrc. It needs the extra "completion".\n\n'
        "Example: voicewire completion bash",
    )
    shells = ("bash", "zsh", "fish", "tcsh")
    completion.add_argument("shell", choices=shells, metavar="SHELL", help=f"one of {', '.join(shells)}")
    completion.set_defaults(handler=_completion)
    for entry in ("verbs", "course", "new-study"):
        _add_book(commands, entry)
    _add_rooms(commands)
    return top


def _add_rooms(commands: argparse._SubParsersAction[Parser]) -> None:
    for room in _rooms():
        importlib.import_module(f"voicewire.{room}.cli").register(commands)


def _add_book(commands: argparse._SubParsersAction[Parser], entry: str) -> None:
    """Add commands of the book, or, where only the package is installed, ones that say what is missing."""
    found = [each for each in _entry_points() if each.name == entry]
    try:
        found[0].load().register(commands)
    except (IndexError, ModuleNotFoundError) as error:
        if isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] != "voicewire_book":
            raise
        for name in BOOK[entry]:
            missing = commands.add_parser(name, help="in a clone of the book only", prefix_chars="\0", add_help=False)
            missing.add_argument("words", nargs="*")  # whatever was asked for: no option is known here
            missing.set_defaults(handler=_no_book, name=name)


def _entry_points() -> list[metadata.EntryPoint]:
    try:
        found = metadata.distribution("voicewire").entry_points
    except metadata.PackageNotFoundError:  # run from sources that nobody installed
        return []
    return [each for each in found if each.group == "voicewire.commands"]


def _no_book(options: argparse.Namespace) -> int:
    return _told(f"{options.name} needs the book's data and notebooks: clone the book, and run it there", 1)


def _rooms() -> list[str]:
    """The rooms that have commands."""
    found = [each.name for each in pkgutil.iter_modules(voicewire.__path__) if each.ispkg]
    known = [name for name in (*ORDER, *found) if name in found]
    return [name for name in dict.fromkeys(known) if importlib.util.find_spec(f"voicewire.{name}.cli") is not None]


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``voicewire`` and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # where only ASCII can be shown, a sign is spelt out instead of raised
            stream.reconfigure(errors="backslashreplace")
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        options = parser(words[0] if words else None).parse_args(words)
        return int(options.handler(options))
    except BrokenPipeError:  # the reader, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _told("interrupted", 130)
    except MemoryError:
        return _told("more memory is needed than this machine gives: ask for less", 1)
    except ImportError as error:
        if not (said := told(error)):
            raise
        return _told(said, 1)
    except (ValueError, OSError, RuntimeError, LookupError) as error:  # RuntimeError: of test beds and sweeps
        return _told(str(error) or type(error).__name__, 1)


def _told(message: str, status: int) -> int:
    print(f"voicewire: {_line(message)}", file=sys.stderr)
    return status


def _line(message: str) -> str:
    """One line, in which no character is one that a terminal obeys."""
    return visible(" ".join(message.split()))


if __name__ == "__main__":
    sys.exit(main())
