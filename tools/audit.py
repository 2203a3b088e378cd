"""Looks for known holes: in all that a lock or the page's engine holds (pip-audit), and in the workflows (zizmor).

    python tools/audit.py

Both come from ``requirements-audit.lock`` into an environment of their own. Where they can't be had, this says so and
ends well. A hole that is known and borne stands in ``.ci/borne.toml`` with its reason, and only there; one that stands
there and is found no more has to go. Only the standard library is used.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
import venv
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import make

PLACE = make.ROOT / ".cache" / "audit"
BORNE = make.ROOT / ".ci" / "borne.toml"
LOCKS = (*make.LAYERS.values(), "requirements-audit.lock")
ENGINE = make.ROOT / "src" / "voicewire_book" / "publish" / "live"
#: No distributions of the package index: libraries in C that the engine's own are built with.
LIBRARIES = ("openblas", "sqlite3")


def engine() -> dict[str, str]:
    """Return the versions of the Python packages that a page runs."""
    ours = json.loads((ENGINE / "wheels.json").read_text(encoding="utf-8"))
    theirs = json.loads((ENGINE / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    found = {name: str(theirs[name]["version"]) for name in ours["official"] if name not in LIBRARIES}
    return found | {name: str(wheel["version"]) for name, wheel in ours["pure"].items()}


def borne() -> dict[str, dict[str, str]]:
    """Return the holes that are borne, by their numbers: the package and the reason of each."""
    return {row["id"]: row for row in tomllib.loads(BORNE.read_text(encoding="utf-8"))["hole"]}


def judged(found: Iterable[tuple[str, str, str, list[str]]], audited: Collection[str]) -> list[str]:
    """Return a line for each hole that nobody has decided to bear, and for each that is borne and found no more.

    Parameters
    ----------
    found : iterable of (str, str, str, list of str)
        Where, package, version, and the hole's numbers.
    audited : collection of str
        The locks, and "engine", that were audited: of the others nothing is known.
    """
    rows = borne()
    said, seen = [], set()
    for where, package, version, numbers in found:
        known = {number for number in numbers if rows.get(number, {}).get("package") == package
                 and rows[number]["where"] == where}  # fmt: skip
        seen |= known
        if not known:
            said.append(f"{where}: {package} {version} has the known hole {', '.join(numbers)}")
    gone = [number for number, row in rows.items() if number not in seen and row["where"] in audited]
    return said + [f".ci/borne.toml: {number} is found no more: take it out" for number in gone]


def installed() -> bool:
    """Make the environment; return whether both tools could be had."""
    venv.create(PLACE, with_pip=True, clear=True)
    lock = make.ROOT / "requirements-audit.lock"
    pip = ["-m", "pip", "install", "--quiet", "--require-hashes", "--only-binary", ":all:", "-r"]
    return subprocess.run([PLACE / "bin" / "python", *pip, lock], check=False).returncode == 0


def holes(where: str, *words: str | Path) -> list[tuple[str, str, str, list[str]]] | None:
    """Ask pip-audit; return what it found, or None where its source of advisories did not answer."""
    how = ["--disable-pip", "--progress-spinner", "off", "--format", "json"]
    done = subprocess.run([PLACE / "bin" / "pip-audit", *how, *words], capture_output=True, text=True, check=False)
    try:
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"{where}: not audited: {(done.stderr.strip().splitlines() or ['no answer'])[-1]}")
        return None
    silent = [each["name"] for each in packages if "skip_reason" in each]
    if len(silent) == len(packages):
        print(f"{where}: not audited: the source of advisories answers for none of its packages")
        return None
    print(f"{where}: {len(packages) - len(silent)} packages audited{f', not {chr(44).join(silent)}' if silent else ''}")
    return [
        (where, each["name"], each["version"], [hole["id"], *hole.get("aliases", [])])
        for each in packages
        for hole in each.get("vulns", [])
    ]


def main() -> int:
    """Audit all; return the exit status."""
    if not installed():
        print("pip-audit and zizmor can't be had here: nothing was audited")
        return 0
    zizmor: list[str | Path] = [PLACE / "bin" / "zizmor", "--offline", "--no-progress", ".github"]
    weak = subprocess.run(zizmor, cwd=make.ROOT, check=False)
    listed = PLACE / "engine.txt"
    listed.write_text("".join(f"{name}=={version}\n" for name, version in sorted(engine().items())), encoding="utf-8")
    answers = {lock: holes(lock, "--require-hashes", "-r", make.ROOT / lock) for lock in LOCKS}
    answers["engine"] = holes("engine", "--no-deps", "-r", listed)
    heard = {where: answer for where, answer in answers.items() if answer is not None}
    said = judged((hole for answer in heard.values() for hole in answer), heard)
    print(*said, sep="\n" if said else "")
    return 1 if said or weak.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
