"""Where compiled code is kept, and under which key: every source it may hold, and the versions that compiled it.

numba's own cache looks at the file of a compiled function alone. What that function calls from other files, and
their constants, are compiled into it too, so that an edit there would go on giving the old numbers. Here the key of
a file is the digest of itself and of all that it imports from this package and from the book's, however far down, with
the versions of Python, numba, llvmlite and NumPy; compiled code lies in a folder named by it. An edit in a rule makes
new only what imports that rule.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from voicewire._kit.paths import PACKAGES, TOP, is_ours

__all__ = ["digest", "register", "sources"]

COMPILERS = ("llvmlite", "numba", "numpy")
"""The distributions whose versions decide what compiled code looks like."""
KEPT = 8
"""Editions of one file's compiled code that are kept; older ones go when they have not been used for `UNUSED`."""
UNUSED = 3600.0
"""Seconds: a process that runs an older edition may still want to write into its folder."""

_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+([^\n]+))", re.MULTILINE)


def sources(file: Path) -> list[Path]:
    """Return the files of the packages that hold what `file` imports, however far down, and itself."""
    known: set[Path] = set()
    waiting = [file]
    while waiting:
        at = waiting.pop()
        if at not in known:
            known.add(at)
            waiting += _imports(at.read_text(encoding="utf-8"))
    return sorted(known)


def _imports(text: str) -> Iterator[Path]:
    """Yield the files that a module's text imports from the packages."""
    for module, names, plain in _IMPORT.findall(text):
        wanted = [module, *(f"{module}.{name}" for name in re.findall(r"\w+", names))] if module else []
        wanted += [part.split()[0] for part in plain.split(",") if part.split()]
        for name in wanted:
            if is_ours(name):
                place = TOP.joinpath(*name.split("."))
                yield from (p for p in (place.with_name(f"{place.name}.py"), place / "__init__.py") if p.is_file())


@functools.cache
def digest(file: Path) -> str:
    """Return the key under which the compiled code of a source of this package is kept."""
    total = hashlib.sha256(sys.version.encode())
    for name in COMPILERS:
        total.update(f"{name} {metadata.version(name)}\n".encode())
    for source in sources(file):
        total.update(source.relative_to(TOP).as_posix().encode())
        total.update(hashlib.sha256(source.read_bytes()).digest())
    return total.hexdigest()


class Locator:
    """What numba asks for the place and the freshness of a function's compiled code."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file  # numba names it in its warnings
        self._line = function.__code__.co_firstlineno
        self._digest = digest(Path(file).resolve())
        self._folder = _folder(Path(file).resolve())

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Locator | None:
        """Return a locator for a function of this package, or None: numba then asks its own."""
        own = any(Path(file).resolve().is_relative_to(package) for package in PACKAGES)
        return cls(function, file) if own else None

    def get_cache_path(self) -> str:
        """Return the folder of the compiled code."""
        return str(self._folder)

    def ensure_cache_path(self) -> None:
        """Make the folder, if someone has removed it."""
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        """Return the key: what was stored under another is not used."""
        return self._digest

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name in one file apart."""
        return str(self._line)


def register() -> None:
    """Make numba keep this package's compiled code as told above; called once, where numba is imported."""
    from numba.core.caching import CacheImpl

    if Locator not in CacheImpl._locator_classes:
        CacheImpl._locator_classes.insert(0, Locator)


def usable() -> bool:
    """Whether compiled code can be kept at all, be it for this process alone."""
    try:
        return any(_writable(root) for root in _roots()) or _private().is_dir()
    except OSError:
        return False


def _roots() -> Iterator[Path]:
    """Yield the folders that may hold compiled code, the preferred one first."""
    import numba

    if numba.config.CACHE_DIR:  # type: ignore[attr-defined]  # set when numba reads its environment
        yield Path(numba.config.CACHE_DIR) / "voicewire"  # type: ignore[attr-defined]
    checkout = TOP.parent
    if (checkout / "pyproject.toml").is_file():
        yield checkout / ".cache" / "numba"
    else:
        yield PACKAGES[0] / "__pycache__" / "numba"
    own = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    home = os.environ.get("HOME")
    if own or home:
        yield (Path(own) if own else Path(str(home)) / ".cache") / "voicewire" / "numba"


@functools.cache
def _private() -> Path:
    """Return a folder of this process's own, gone when it ends."""
    folder = Path(tempfile.mkdtemp(prefix="voicewire-numba-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def _folder(file: Path) -> Path:
    """Return the folder for the compiled code of a file: the first that can be written, else one of our own.

    A folder that is filled and can't be written (a shared or read-only installation) is read through a copy.
    """
    stem = "-".join(file.relative_to(TOP).with_suffix("").parts)
    name = f"{stem}-{digest(file)[:16]}"
    for root in _roots():
        folder = root / name
        if _writable(folder):
            os.utime(folder)
            _sweep(root, stem)
            return folder
        if folder.is_dir() and any(folder.iterdir()):
            return Path(shutil.copytree(folder, _private() / name, dirs_exist_ok=True))
    folder = _private() / name
    folder.mkdir(exist_ok=True)
    return folder


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _sweep(root: Path, stem: str) -> None:
    """Remove old editions of one file's compiled code, all but the `KEPT` used last."""
    found = []
    for folder in root.glob(f"{stem}-*"):
        if re.fullmatch(r"[0-9a-f]{16}", folder.name.removeprefix(f"{stem}-")):
            try:
                found.append((folder.stat().st_mtime, folder))
            except OSError:  # another process has just removed it
                continue
    for used, folder in sorted(found, reverse=True)[KEPT:]:
        if time.time() - used > UNUSED:
            shutil.rmtree(folder, ignore_errors=True)
