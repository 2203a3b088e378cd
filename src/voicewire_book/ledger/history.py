"""What the history says of a claim: when it stood in its ledger first, and when a notebook judged it first.

It shows the order of commits. It cannot show that nobody looked.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from voicewire_book import paths

__all__ = ["told"]


def told(study: str, identifier: str, base: Path | None = None) -> list[str]:
    """Say in which order a claim and its verdict came into the history."""
    base = base or paths.root()
    name = re.escape(identifier)
    claim = _first(base, rf"id: {name}$", f"data/{study}/claims.yml")
    verdict = _first(base, rf'"id": "{name}"', f"notebooks/{study}")
    if claim is None:
        return ["there is no history here: take a clone"]
    said = [f"in the ledger first: {claim[0]} of {claim[1]}"]
    if verdict is None:
        return [*said, "judged in no commit yet", "the ledger came first"]
    said.append(f"judged first: {verdict[0]} of {verdict[1]}")
    if claim[0] == verdict[0]:
        return [*said, "both in one commit: the history does not show which came first"]
    first = "the ledger" if _before(base, claim[0], verdict[0]) else "the verdict"
    return [*said, f"{first} came first; that nobody looked before, no history can show"]


def _git(base: Path, *arguments: str) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(["git", "-C", str(base), *arguments], capture_output=True, text=True, check=False)
    except OSError:  # no git here
        return None


def _first(base: Path, pattern: str, place: str) -> tuple[str, str] | None:
    """Return the first commit that changed how often a pattern stands in a place, and its date."""
    how = ("--reverse", "--topo-order", "--format=%h %cI", "--pickaxe-regex", f"-S{pattern}", "--", place)
    done = _git(base, "log", *how)
    lines = done.stdout.splitlines() if done and done.returncode == 0 else []
    if not lines:
        return None
    short, date = lines[0].split()
    return short, date


def _before(base: Path, one: str, other: str) -> bool:
    done = _git(base, "merge-base", "--is-ancestor", one, other)
    return done is not None and done.returncode == 0
