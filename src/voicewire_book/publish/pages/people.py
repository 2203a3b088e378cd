"""Who made the book, as CITATION.cff has it; which mistakes were mended, as change log and history have it."""

from __future__ import annotations

import re
from pathlib import Path

from voicewire_book.publish.machines.listing import citation

__all__ = ["contributors", "mended"]

MENDED = re.compile(r"\bMended: (.+?\.)(?=\s+[A-Z`*(]|\s*$)", re.S)
EDITION = re.compile(r"(?m)^## (.+)$")


def contributors(base: Path) -> str:
    """Return the authors whom the citation names."""
    return "".join(f"- {author['name']}\n" for author in citation(base)["authors"])


def mended(base: Path) -> str:
    """Return what the change log, and what came before the first release, call mended: by edition, newest first."""
    text = "\n".join((base / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "HISTORY.md"))
    parts = EDITION.split(text)[1:]
    found = []
    for edition, body in zip(parts[::2], parts[1::2], strict=True):
        entries = re.split(r"(?m)^- ", body)
        lines = [" ".join(said.split()) for entry in entries for said in MENDED.findall(entry)]
        if lines:
            found.append(f"## Edition {edition}\n\n" + "".join(f"- {line[0].upper()}{line[1:]}\n" for line in lines))
    return "\n".join(found) or "None so far.\n"
