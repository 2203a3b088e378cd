"""Who contributed, as the history has it; and which mistakes of the book were mended, as the change log has it."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

from voicewire_book.publish.machines.listing import citation

__all__ = ["contributors", "mended"]

MENDED = re.compile(r"\bMended: (.+?\.)(?=\s+[A-Z`*(]|\s*$)", re.S)
EDITION = re.compile(r"(?m)^## (.+)$")


def contributors(base: Path) -> str:
    """Return the names in the history with the number of their commits; the citation's authors outside a clone."""
    try:
        done = subprocess.run(
            ["git", "-C", str(base), "log", "--format=%aN"], capture_output=True, text=True, check=True
        )
        counted = Counter(done.stdout.splitlines())
    except (OSError, subprocess.CalledProcessError):
        counted = Counter()
    if not counted:
        return "".join(f"- {author['name']}\n" for author in citation(base)["authors"])
    return "".join(f"- {name}: {n} {'commits' if n > 1 else 'commit'}\n" for name, n in counted.most_common())


def mended(base: Path) -> str:
    """Return what the change log calls mended, by edition, newest first."""
    text = (base / "CHANGELOG.md").read_text(encoding="utf-8")
    parts = EDITION.split(text)[1:]
    found = []
    for edition, body in zip(parts[::2], parts[1::2], strict=True):
        entries = re.split(r"(?m)^- ", body)
        lines = [" ".join(said.split()) for entry in entries for said in MENDED.findall(entry)]
        if lines:
            found.append(f"## Edition {edition}\n\n" + "".join(f"- {line[0].upper()}{line[1:]}\n" for line in lines))
    return "\n".join(found) or "None so far.\n"
