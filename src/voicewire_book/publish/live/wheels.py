"""What the browser's Python consists of: files with their checksums, and the packages that they hold.

Three lists say it. ``pyodide-lock.json`` is the official lock of the Pyodide release, as its makers publish it;
``wheels.json`` names the engine's files, those packages of the official lock that the book uses, and the pure-Python
packages that come from the package index instead. Versions and checksums are all in these two files.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["Package", "engine", "listed", "packages", "release"]


@dataclass(frozen=True)
class Package:
    """A package of the browser's Python.

    Attributes
    ----------
    name, version : str
        As the package index has them.
    file : str
        The wheel's name.
    sha256 : str
        Its checksum.
    depends : tuple of str
        Names of packages that are loaded before it.
    imports : tuple of str
        What can be imported once it is loaded.
    official : bool
        Whether it is of the official lock.
    """

    name: str
    version: str
    file: str
    sha256: str
    depends: tuple[str, ...]
    imports: tuple[str, ...]
    official: bool


@cache
def release() -> dict[str, Any]:
    """Return ``wheels.json``: the release, where its files are carried, and what is taken."""
    return dict(json.loads(resources.files(__package__).joinpath("wheels.json").read_text(encoding="utf-8")))


@cache
def listed() -> dict[str, Any]:
    """Return the official lock of the release."""
    return dict(json.loads(resources.files(__package__).joinpath("pyodide-lock.json").read_text(encoding="utf-8")))


def engine() -> dict[str, str]:
    """Return the checksum of each of the engine's own files."""
    return dict(release()["engine"])


@cache
def packages() -> dict[str, Package]:
    """Return every package of the browser's Python but the book's own."""
    ours = release()
    found = {}
    for name in ours["official"]:
        entry = listed()["packages"][name]
        depends = ours["depends"].get(name, entry["depends"])
        found[name] = Package(
            name, entry["version"], entry["file_name"], entry["sha256"], tuple(depends), tuple(entry["imports"]), True
        )
    for name, entry in ours["pure"].items():
        found[name] = Package(
            name, entry["version"], entry["file"], entry["sha256"], tuple(entry["depends"]), tuple(entry["imports"]),
            False,
        )  # fmt: skip
    return found
