"""Stands in a page for libraries that are not there, so that a chapter's imports run and only their use fails.

A chapter imports at its top all that its cells need. Without this, one library that the browser's Python doesn't have
would stop every cell. Here its names can be imported; what calls them is told which library is missing.
"""

from __future__ import annotations

import errno
import importlib.abc
import importlib.machinery
import importlib.util
import socket
import sys
import types
from typing import Any

from voicewire_book.publish.live import _seals, wav_files

__all__ = ["LIBRARIES", "install"]

LIBRARIES = (
    "aiocoap", "av", "cryptography", "librosa", "parselmouth", "skimage", "ssl", "statsmodels",
    "webrtcvad", "fcntl", "resource", "_multiprocessing",
)  # fmt: skip
"""What a chapter may import, and the browser's Python doesn't have; the last three are Python's own elsewhere."""


class _Name:
    """A name of a library that is not there."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return _found(f"{self._name}.{attribute}")

    def __call__(self, *_: Any, **__: Any) -> Any:
        library = self._name.partition(".")[0]
        raise ImportError(f"{library} is not there in a browser, and {self._name} needs it: run this in a clone")


class _Module(types.ModuleType):
    """A module of such a library."""

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        found = self.__dict__[attribute] = _found(f"{self.__name__}.{attribute}")
        return found


def _found(name: str) -> Any:
    """Return what stands for a name; for an exception a class, since `except` asks for one."""
    last = name.rpartition(".")[2]
    error = last.endswith(("Error", "Exception")) or last.startswith("Invalid")
    return type(last, (Exception,), {}) if error else _Name(name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] in LIBRARIES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is in it."""


def _refused(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENETUNREACH, "a page in a browser opens no connections: run this in a clone")


def install() -> None:
    """Let the libraries be imported from here on, after everything that is really there.

    WAV files can be read, and a connection is refused: the engine's own sockets would ask the browser for one.
    """
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        alone = importlib.util.find_spec("cryptography") is None
        sys.meta_path.append(_Finder())
        if alone:
            _seals.install()
        if importlib.util.find_spec("soundfile") is None:
            sys.modules["soundfile"] = wav_files
        if sys.platform == "emscripten":
            for name in ("bind", "connect", "connect_ex", "listen", "sendto"):
                setattr(socket.socket, name, _refused)
