"""Types of options for every command: a value is right, or one line says what is asked for (exit status 2).

A path to read is tried when the command line is read, and so is one to write: nobody waits an hour for a folder that
is not there. A file that exists and holds nonsense is the command's to refuse (exit status 1). Every option that takes
a value has one of these types, or choices; a test walks all commands and holds that.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voicewire._kit.bounds import LARGEST, MOST, wrong

__all__ = [
    "PathOption", "folder", "new_file", "number", "positive", "print_json", "readable", "readable_or_folder",
    "readable_up_to", "seed", "share", "text", "visible", "whole",
]  # fmt: skip


def number(
    low: float = -LARGEST, high: float = LARGEST, *, above: float | None = None, below: float | None = None,
) -> Callable[[str], float]:  # fmt: skip
    """A finite number from `low` to `high`, or strictly between `above` and `below`."""

    def convert(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r:.40} is not a number") from None
        if said := wrong(value, low, high, above, below):
            raise argparse.ArgumentTypeError(f"the value is {said}")
        return value

    return convert


def whole(least: int = 0, most: int = MOST) -> Callable[[str], int]:
    """A whole number from `least` to `most`."""

    def convert(text: str) -> int:
        digits = text.strip().removeprefix("+")
        number = digits.removeprefix("-")
        if not (number.isascii() and number.isdecimal()) or len(number) > 30 or not least <= int(digits) <= most:
            raise argparse.ArgumentTypeError(f"{text!r:.40} is not a whole number from {least} to {most}")
        return int(digits)

    return convert


positive = number(above=0.0)
share = number(0.0, 1.0)
seed = whole(0, 2**64 - 1)


def text(given: str) -> str:
    """One or more characters that can be written in UTF-8."""
    if not given or "\0" in given:
        raise argparse.ArgumentTypeError(f"{given!r:.40} is no text: give at least one character")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"{given!r:.40} is no text in UTF-8") from None
    return given


@dataclass(frozen=True)
class PathOption:
    """A path on the command line, tried as soon as it is read."""

    file: bool = False
    folder: bool = False
    reads: bool = False
    most: int | None = None

    def __call__(self, given: str) -> Path:
        """Return the path."""
        path = _path(given)
        try:
            if path.is_dir() and not self.folder:
                raise argparse.ArgumentTypeError(f"{given} is a folder: name a file in it")
            if path.is_file() and not self.file:
                raise argparse.ArgumentTypeError(f"{given} is a file: name a folder")
            if path.exists() and not (path.is_file() or path.is_dir()):
                raise argparse.ArgumentTypeError(f"{given} is no regular file{' and no folder' * self.folder}")
            self._read(path) if self.reads else self._write(path)
        except OSError as error:
            doing = "read" if self.reads else "written"
            raise argparse.ArgumentTypeError(f"{given} can't be {doing}: {error.strerror}") from None
        return path

    def _read(self, path: Path) -> None:
        if not path.exists():
            raise argparse.ArgumentTypeError(f"{path}: there is no such file{' or folder' * self.folder}")
        if path.is_dir():
            next(path.iterdir(), None)
            return
        with path.open("rb"):
            pass
        size = path.stat().st_size
        if self.most is not None and size > self.most:
            raise argparse.ArgumentTypeError(f"{path} has {size:,} bytes: {self.most:,} are the most for such a file")

    def _write(self, path: Path) -> None:
        if path.is_symlink() and not path.exists():
            raise argparse.ArgumentTypeError(f"{path} is a link to nothing")
        if self.folder:
            there = path
            while not there.exists():
                there = there.parent
            if not there.is_dir():
                raise argparse.ArgumentTypeError(f"{path}: {there} is a file, not a folder")
            with tempfile.TemporaryFile(dir=there):
                pass
            return
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"{path}: there is no folder {path.parent}")
        there_before = path.exists()
        with path.open("ab"):
            pass
        if not there_before:
            path.unlink()


readable = PathOption(file=True, reads=True)
readable_or_folder = PathOption(file=True, folder=True, reads=True)
new_file = PathOption(file=True)
folder = PathOption(folder=True)


def readable_up_to(most: int) -> PathOption:
    """A file to read that is kept in memory whole."""
    return PathOption(file=True, reads=True, most=most)


def _path(given: str) -> Path:
    if not given or "\0" in given or len(given) > 4000:
        raise argparse.ArgumentTypeError(f"{given!r:.40} is not a path")
    try:
        Path(given).stat()  # not exists, which answers no to each of these from Python 3.14 on
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{given!r:.40}: {error.strerror}") from None
    return Path(given)


_JOINERS = "\u200c\u200d"
"""Without width, and part of words and of emoji."""


def visible(text: str) -> str:
    """Return a text in which every character can be seen: control characters, and what turns the direction of text.

    They are written as Python writes them; a backslash stays as it is, so JSON is what can be read back.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in _JOINERS or unicodedata.category(c) == "Zs" else ascii(c)[1:-1] for c in text
    )


def print_json(value: object) -> None:
    """Print a value as JSON that every reader takes: what is no number is null."""

    def plain(item: Any) -> Any:
        if isinstance(item, Mapping):
            return {str(key): plain(inner) for key, inner in item.items()}
        if isinstance(item, list | tuple):
            return [plain(inner) for inner in item]
        item = item.item() if hasattr(item, "item") else item
        return None if isinstance(item, float) and not math.isfinite(item) else item

    print(json.dumps(plain(value), indent=1, ensure_ascii=True, allow_nan=False))
