"""Types of options for every command: a value is right, or one line says what is asked for (exit status 2).

A path to read is tried when the command line is read, and so is one to write: nobody waits an hour for a folder that
is not there. A file that exists and holds nonsense is the command's to refuse (exit status 1).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from voicewire import checks

__all__ = ["new_file", "number", "positive", "readable", "seed", "share", "whole", "writable"]


def number(low: float = -checks.LARGEST, high: float = checks.LARGEST, **bounds: float) -> Callable[[str], float]:
    """A number within bounds (as `checks.number` takes them).

    Parameters
    ----------
    low, high : float
        Bounds that the number may reach.
    **bounds : float
        `above` and `below`, which it may not reach.

    Returns
    -------
    callable
        For `argparse`: it takes the text, and gives a float or raises `argparse.ArgumentTypeError`.

    Examples
    --------
    >>> number(0, 1)("0.5")
    0.5
    >>> number(0, 1)("two")
    Traceback (most recent call last):
    ...
    argparse.ArgumentTypeError: 'two' is not a number
    """
    rule = checks.number(low, high, **bounds)  # type: ignore[arg-type]

    def convert(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r:.40} is not a number") from None
        return float(rule("the value", value, argparse.ArgumentTypeError))  # type: ignore[arg-type]

    return convert


def whole(least: int = 0, most: int = checks.MOST) -> Callable[[str], int]:
    """A whole number from `least` to `most`.

    Parameters
    ----------
    least, most : int
        Bounds that the number may reach.

    Returns
    -------
    callable
        For `argparse`: it takes the text, and gives an int or raises `argparse.ArgumentTypeError`.

    Examples
    --------
    >>> whole(1)("12")
    12
    >>> whole(1, 9)("12")
    Traceback (most recent call last):
    ...
    argparse.ArgumentTypeError: '12' is not a whole number from 1 to 9
    """

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


def readable(text: str) -> Path:
    """A file that can be read."""
    path = _path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder: name a file in it")
    if not path.exists():
        raise argparse.ArgumentTypeError(f"{text}: there is no such file")
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{text} is no regular file")
    if not os.access(path, os.R_OK):
        raise argparse.ArgumentTypeError(f"{text} may not be read by you")
    return path


def writable(text: str) -> Path:
    """A file that can be written, or a folder that is there or can be made."""
    path = _path(text)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise argparse.ArgumentTypeError(f"{text} is no regular file, and no folder")
    there = path
    while not there.exists():
        there = there.parent
    if there != path and not there.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: {there} is a file, not a folder")
    if not os.access(there, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} may not be written by you")
    return path


def new_file(text: str) -> Path:
    """A file to write, in a folder that is there."""
    path = writable(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: there is no folder {path.parent}")
    return path


def _path(text: str) -> Path:
    if not text or "\0" in text or len(text) > 4000:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not a path")
    try:
        Path(text).exists()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text!r:.40}: {error.strerror}") from None
    return Path(text)
