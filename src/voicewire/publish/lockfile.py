"""environment.yml from requirements.lock, for conda and Binder: the same pins, inlined.

``python -m voicewire.publish.lockfile`` (called by ``python tools/make.py lock``) writes it. The pins stand in the
file itself because Binder caches the environment by this file's content: a ``-r requirements.lock`` or ``-e .`` in
it would be built anew at each commit. Only the standard library is used.
"""

from __future__ import annotations

import ast
import operator
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["environment_yml", "pins", "reference_python", "without_paths"]

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


def pins(lock_text: str) -> list[tuple[str, str, str]]:
    """Return name, version and marker (or nothing) of every pin in a lock.

    Parameters
    ----------
    lock_text : str
        A lock as pip-compile or uv write it.

    Returns
    -------
    list of (str, str, str)
        In the order of the lock.

    Raises
    ------
    ValueError
        If a line is neither a pin nor a hash nor a comment, or the lock holds no pin.

    Examples
    --------
    >>> pins("numpy==2.1.0 ; python_version < '3.13'")
    [('numpy', '2.1.0', "python_version < '3.13'")]
    """
    found = []
    for line in lock_text.splitlines():
        if not line.strip() or line[0].isspace() or line.startswith("#"):
            continue
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==([^\s;]+)\s*(?:;\s*(.*?))?\s*\\?", line)
        if match is None:
            raise ValueError(f"the lock has a line that pins nothing: {line!r}")
        found.append((match[1], match[2], match[3] or ""))
    if not found:
        raise ValueError("the lock holds no pin: make it anew with 'python tools/make.py lock'")
    return found


def reference_python(root: Path) -> str:
    """Return the version of Python that the committed outputs were made with, such as "3.11".

    Parameters
    ----------
    root : Path
        The checkout.

    Returns
    -------
    str
        As ``[tool.voicewire]`` in pyproject.toml says it.

    Examples
    --------
    >>> reference_python(Path(__file__).resolve().parents[3])
    '3.11'
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["tool"]["voicewire"]["reference-python"])


def environment_yml(lock_text: str, python: str) -> str:
    """Return the text of environment.yml: the pins of a lock that apply to the newest `python` (3.11) on Linux.

    Parameters
    ----------
    lock_text : str
        The lock.
    python : str
        The version for which markers are read, such as "3.11".

    Returns
    -------
    str
        What conda and Binder read.

    Raises
    ------
    ValueError
        If a line pins nothing, or a marker can't be read.

    Examples
    --------
    >>> lock = "numpy==2.1.0\\ntomli==2.0 ; python_version < '3.11'\\n"
    >>> print(environment_yml(lock, "3.11").splitlines()[-1].strip())
    - numpy==2.1.0
    """
    place = {**_LINUX, "python_version": python, "python_full_version": f"{python}.99"}
    lines = [f"      - {name}=={version}\n" for name, version, marker in pins(lock_text) if _applies(marker, place)]
    return _HEAD.format(python=python) + "".join(lines)


def without_paths(lock_text: str, root: Path) -> str:
    """Return a lock whose comments name files as seen from the checkout, not where the checkout lies.

    Parameters
    ----------
    lock_text : str
        The lock.
    root : Path
        The checkout.

    Returns
    -------
    str
        The same pins and hashes.

    Examples
    --------
    >>> without_paths("# via -r /home/me/book/pyproject.toml", Path("/home/me/book"))
    '# via -r pyproject.toml'
    """
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


def main() -> None:
    """Write environment.yml beside requirements.lock, and free both locks of this machine's paths."""
    root = Path(__file__).resolve().parents[3]
    for name in ("requirements.lock", "requirements-extras.lock"):
        file = root / name
        if file.is_file():
            file.write_text(without_paths(file.read_text(encoding="utf-8"), root), encoding="utf-8")
    lock = (root / "requirements.lock").read_text(encoding="utf-8")
    (root / "environment.yml").write_text(environment_yml(lock, reference_python(root)), encoding="utf-8")


if __name__ == "__main__":
    main()
