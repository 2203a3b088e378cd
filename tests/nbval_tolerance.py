"""A pytest plugin for nbval: decimal numbers may differ in the seventh digit, everything else stays exact.

``pytest -p tests.nbval_tolerance --nbval …``. A number with a point or an exponent counts as equal within 1e-6
relative, because the last digits differ between processors and BLAS builds. Integers, words, shapes, the number of
digits before the point and everything around the numbers are compared letter by letter, and so are version numbers
and numbers grown together with letters. Outputs that are JSON, like the verdicts of the ledger, are compared too.

Kernels are reached over sockets of the file system where there are any, as when the book is made: over TCP anybody on
the machine could listen, and the kernel warns of it.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import shutil
import tempfile
from typing import Any

import pytest

RELATIVE = 1e-6
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)(?!\w|\.\d)")


class Approximate(str):
    """Text that equals another one if they differ only in decimals, and there by less than `RELATIVE`."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return NotImplemented
        if str.__eq__(self, other):
            return True
        ours, theirs = NUMBER.findall(self), NUMBER.findall(other)
        return NUMBER.split(self) == NUMBER.split(other) and all(
            math.isclose(float(a), float(b), rel_tol=RELATIVE) for a, b in zip(ours, theirs, strict=True)
        )

    def __ne__(self, other: object) -> bool:
        return not self == other


def pytest_configure(config: pytest.Config) -> None:
    """Let nbval compare approximately: it hands every value to `sanitize` before it looks for differences."""
    from nbval import plugin

    exact = plugin.IPyNbCell.sanitize

    def sanitize(self: object, value: object) -> Approximate:
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, indent=1)
        return Approximate(exact(self, text))

    plugin.IPyNbCell.sanitize = sanitize
    config.add_cleanup(lambda: setattr(plugin.IPyNbCell, "sanitize", exact))
    _kernels_without_tcp(config)


def _kernels_without_tcp(config: pytest.Config) -> None:
    from nbval import kernel

    folder = tempfile.mkdtemp(prefix="vw-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    if os.name != "posix" or len(folder) >= 90:  # the name of such a socket has at most 107 bytes
        return
    manager, count = kernel.KernelManager, itertools.count()

    def reached_by_files(**settings: Any) -> Any:
        return manager(transport="ipc", ip=f"{folder}/{next(count)}", **settings)

    kernel.KernelManager = reached_by_files
    config.add_cleanup(lambda: setattr(kernel, "KernelManager", manager))
