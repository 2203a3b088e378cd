"""The locks, each without what those before it hold, and environment.yml for conda and Binder.

``python -m voicewire_book.publish.lockfile`` (called by ``python tools/make.py lock``) writes them. environment.yml has
the pins of requirements.lock in the file itself because Binder caches the environment by this file's content: a
``-r requirements.lock`` or ``-e .`` in it would be built anew at each commit. conda and mamba hand each entry to pip
as one line of a list of requirements, so that its hashes hold there too. Only the standard library is used.
"""

from __future__ import annotations

import ast
import operator
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Pin", "added", "environment_yml", "pins", "reference_python", "without_paths"]

_LINUX = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_system": "Linux",
    "sys_platform": "linux",
}
"""Where Binder and conda run the book; which Python is said by `reference_python`."""

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}

_HEAD = """\
# Generated from requirements.lock by `python tools/make.py lock`: change pyproject.toml, not this file.
name: voicewire
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python={python}
  - pip
  - pip:
"""


class Pin(NamedTuple):
    """One version of a package in a lock.

    Attributes
    ----------
    name, version : str
        As the lock has them.
    marker : str
        Where it applies, or nothing: everywhere.
    hashes : tuple of str
        Of each file that may be installed, such as "sha256:0a1b".
    """

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def pins(lock_text: str) -> list[Pin]:
    """Return every pin in a lock."""
    found = []
    for block in _blocks(lock_text)[1:]:
        line = " ".join(part.strip().removesuffix("\\").strip() for part in block.splitlines() if "# " not in part)
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==([^\s;]+)(?: ; (.*?))?((?: --hash=\S+)*)", line.strip())
        if match is None:
            raise ValueError(f"the lock has a line that pins nothing: {line!r}")
        found.append(Pin(match[1], match[2], match[3] or "", tuple(re.findall(r"--hash=(\S+)", match[4]))))
    if not found:
        raise ValueError("the lock holds no pin: make it anew with 'python tools/make.py lock'")
    return found


def _blocks(lock_text: str) -> list[str]:
    """Return what stands before the first pin, then each pin with its hashes and the comments below it."""
    return re.split(r"(?m)^(?=[^\s#])", f"\n{lock_text}")


def added(lock_text: str, lower: Mapping[str, str]) -> str:
    """Return a lock without the pins that other locks hold for the same places."""
    known = {pin[:3] for text in lower.values() for pin in pins(text)}
    head, *blocks = _blocks(lock_text)
    said = f"# It holds only what it adds to {', '.join(lower)}.\n" if lower else ""
    return head.removeprefix("\n") + said + "".join(block for block in blocks if pins(block)[0][:3] not in known)


def reference_python(root: Path) -> str:
    """Return the version of Python that the committed outputs were made with, such as "3.11"."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["tool"]["voicewire"]["reference-python"])


def environment_yml(lock_text: str, python: str) -> str:
    """Return the text of environment.yml: the pins of a lock that apply to the newest `python` (3.11) on Linux.

    Each has its hashes: pip then takes no other file, whoever calls it.
    """
    place = {**_LINUX, "python_version": python, "python_full_version": f"{python}.99"}
    lines = [
        "\n        --hash=".join([f"      - {pin.name}=={pin.version}", *pin.hashes]) + "\n"
        for pin in pins(lock_text)
        if _applies(pin.marker, place)
    ]
    return _HEAD.format(python=python) + "".join(lines)


def without_paths(lock_text: str, root: Path) -> str:
    """Return a lock whose comments name files as seen from the checkout, not where the checkout lies."""
    return lock_text.replace(f"{root.as_posix()}/", "")


def _applies(marker: str, place: dict[str, str]) -> bool:
    if not marker:
        return True
    try:
        return _truth(ast.parse(marker, mode="eval").body, place)
    except (SyntaxError, KeyError, ValueError) as error:
        raise ValueError(f"the marker {marker!r} can't be read: {error}") from None


def _truth(node: ast.expr, place: dict[str, str]) -> bool:
    if isinstance(node, ast.BoolOp):
        return (all if isinstance(node.op, ast.And) else any)(_truth(value, place) for value in node.values)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        raise SyntaxError("neither a comparison nor a combination of comparisons")
    names = [n.id for n in (node.left, node.comparators[0]) if isinstance(n, ast.Name)]
    left, right = (
        place[n.id] if isinstance(n, ast.Name) else ast.literal_eval(n) for n in (node.left, *node.comparators)
    )
    if any(name.startswith("python_") for name in names):
        return bool(_COMPARE[type(node.ops[0])](_version(left), _version(right)))
    return bool(_COMPARE[type(node.ops[0])](left, right))


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def main(arguments: Sequence[str]) -> None:
    """Write environment.yml, and from a folder that has the locks whole, the lowest first, what each one adds."""
    root, whole = Path(__file__).resolve().parents[3], Path(arguments[0])
    lower: dict[str, str] = {}
    for name in arguments[1:]:
        text = without_paths((whole / name).read_text(encoding="utf-8"), whole)
        (root / name).write_text(added(text, lower), encoding="utf-8")
        lower[name] = text
    lock = (root / "requirements.lock").read_text(encoding="utf-8")
    (root / "environment.yml").write_text(environment_yml(lock, reference_python(root)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
