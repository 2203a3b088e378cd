"""Checksums of what is recorded: ``data/<study>/checksums.sha256``, in the form that ``sha256sum -c`` reads.

A recording renews the lines of the files that it wrote, and no other: a file that was changed by hand keeps its old
line, and is told. What people write (the ledger, the README) has no line.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from voicewire_book.ledger.vocabulary import ClaimError

__all__ = ["NAME", "digests", "faults", "known", "renew"]

NAME = "checksums.sha256"
WRITTEN = {NAME, "README.md", "claims.yml", "reply.md", ".gitignore", "cells"}
"""Files of a study's folder that nobody records, and the folder in which a long recording keeps its state."""


def digests(folder: Path) -> dict[str, str]:
    """Compute the SHA-256 of every recorded file in a folder."""
    found = ((path.relative_to(folder), path) for path in folder.rglob("*") if path.is_file())
    names = {name.as_posix(): path for name, path in found if not WRITTEN & set(name.parts)}
    return {name: hashlib.sha256(names[name].read_bytes()).hexdigest() for name in sorted(names)}


def known(folder: Path) -> dict[str, str]:
    """Read the checksums that a folder's file holds."""
    path = folder / NAME
    if not path.is_file():
        return {}
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"([0-9a-f]{64})  (\S.*)", line)
        if not match:
            raise ClaimError(f"{path.parent.name}/{NAME}: not a checksum and a name: {line[:80]!r}")
        found[match[2]] = match[1]
    return found


def renew(folder: Path, before: Mapping[str, str]) -> list[str]:
    """Write anew the lines of the files that changed since `before`, came, or went; leave all others."""
    now, lines = digests(folder), known(folder)
    changed = sorted(name for name in now.keys() | before.keys() if now.get(name) != before.get(name))
    for name in changed:
        lines.pop(name, None)
        if name in now:
            lines[name] = now[name]
    if changed:
        text = "".join(f"{lines[name]}  {name}\n" for name in sorted(lines))
        (folder / NAME).write_text(text, encoding="utf-8")
    return changed


def faults(folder: Path) -> list[str]:
    """Say what in a folder is not what was recorded."""
    now, lines = digests(folder), known(folder)
    said = []
    for name in sorted(now.keys() | lines.keys()):
        place = f"{folder.name}/{name}"
        if name not in lines:
            said.append(f"{place}: has no line in {NAME}; recordings are made by `voicewire record`")
        elif name not in now:
            said.append(f"{place}: was recorded and is gone")
        elif now[name] != lines[name]:
            said.append(f"{place}: is not what was recorded: its checksum differs")
    return said
