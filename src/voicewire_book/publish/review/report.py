"""Writes a self-check: Markdown, PDF where a browser prints, a file in CODECHECK's form, and their checksums.

A self-check is what a program did on somebody's machine. Who signs a CODECHECK certificate is a person.
"""

from __future__ import annotations

import html
import platform
import subprocess
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import yaml

from voicewire import __version__
from voicewire_book.ledger import evidence
from voicewire_book.ledger.presentation import show
from voicewire_book.ledger.vocabulary import ClaimError, Rival, Score
from voicewire_book.publish.clone import commit
from voicewire_book.publish.machines import archives
from voicewire_book.publish.paper import chromium
from voicewire_book.publish.review.groups import GROUPS, STOPPED, Reviewed, Tried

__all__ = [
    "CODECHECK", "FILES", "MARKDOWN", "PDF", "Review", "faults", "markdown", "refuse_if_used", "summary", "write",
]  # fmt: skip

MARKDOWN, PDF, CODECHECK = "self-check.md", "self-check.pdf", "codecheck.yml"
FILES = (MARKDOWN, PDF, CODECHECK, evidence.NAME)

UNSIGNED = (
    "This is a self-check: a program wrote it. It is no certificate, and nobody has signed it. "
    "Only a person can: whoever signs has looked at what is below and says so with their name."
)

OFFERED = """\
Each claim can be perturbed: `--perturb tolerance` (wider and narrower), `--perturb reading` (each reading left out), \
`--perturb evidence` (moved across the bar, which must turn the verdict), `--perturb seed` (where a claim's cells use \
the notebook's)."""

STYLE = """\
body { font: 10pt/1.4 sans-serif; margin: 0 } h1 { font-size: 16pt } h2 { font-size: 13pt } h3 { font-size: 10.5pt }
table { border-collapse: collapse; width: 100% } td, th { border: 1px solid #999; padding: 1mm 2mm; text-align: left;
vertical-align: top; overflow-wrap: anywhere } th { white-space: nowrap } h2, h3 { break-after: avoid }
@page { size: A4; margin: 18mm }"""


@dataclass(frozen=True)
class Review:
    """What was asked for, when, and what came out."""

    asked: str
    begun: datetime
    seconds: float
    kinds: tuple[str, ...]
    claims: tuple[Reviewed, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing in it is to be looked at."""
        return all(one.sound for one in self.claims)

    def counts(self) -> dict[str, int]:
        """How many claims are in each group; one that can be empty, because nothing stopped, is left out."""
        found = {name: sum(one.group == name for one in self.claims) for name in GROUPS}
        return {name: count for name, count in found.items() if count or name != STOPPED}


def write(folder: Path, review: Review, base: Path) -> list[str]:
    """Write a self-check into a new or an empty folder, and return the names of its files and what is missing."""
    refuse_if_used(folder)
    folder.mkdir(parents=True, exist_ok=True)
    text = markdown(review, base)
    (folder / MARKDOWN).write_text(text, encoding="utf-8")
    (folder / CODECHECK).write_text(_codecheck(review, base), encoding="utf-8")
    told = [MARKDOWN, CODECHECK, evidence.NAME]
    try:
        _print(folder, text)
        told.insert(1, PDF)
    except chromium.PrintError as error:  # the rest is worth as much without
        told.append(f"no {PDF}: {error}")
    evidence.renew(folder, {})
    return told


def refuse_if_used(folder: Path) -> None:
    """Refuse a folder that holds something: no self-check takes another's place."""
    if folder.is_dir() and any(folder.iterdir()):
        raise ClaimError(f"{folder} holds something already: name a new folder")


def summary(review: Review) -> list[str]:
    """Return a self-check in lines for a terminal: the groups apart, a line for each claim."""
    lines = []
    for name, count in review.counts().items():
        lines.append(f"{name}: {count}")
        for one in (each for each in review.claims if each.group == name):
            row, now = one.committed, one.now
            verdict = now["verdict"] if now else row["verdict"]
            same = {True: "as committed", False: f"NOT as committed ({row['verdict']}, {show(row['reproduced'])})",
                    None: "not judged now"}[one.same]  # fmt: skip
            lines.append(f"  {row['id']}: {verdict}, {same}; {one.why}")
            lines += [f"    {each['kind']}: {each['what']}: {each['verdict']} {_turned(each)}".rstrip(" :")
                      for each in one.tried]  # fmt: skip
    return lines


def faults(folder: Path) -> list[str]:
    """Say what in a folder is not the self-check that was written there."""
    if not (folder / evidence.NAME).is_file():
        return [f"{folder}: there is no {evidence.NAME}: it is no self-check"]
    now, then = evidence.digests(folder), evidence.known(folder)
    words = {name: "was added" if name not in then else "is gone" if name not in now else "was changed"
             for name in sorted(now.keys() | then.keys()) if now.get(name) != then.get(name)}  # fmt: skip
    return [f"{folder / name} {what} since the self-check was written" for name, what in words.items()]


def markdown(review: Review, base: Path) -> str:
    """Return a self-check as Markdown."""
    short, date = commit(base)
    when = review.begun.astimezone()
    lines = [
        f"# Self-check of Voice to Wire, {when:%Y-%m-%d}", "", UNSIGNED, "",
        f"- Asked for: {review.asked}",
        f"- Begun {when.isoformat(timespec='seconds')}, {review.seconds:.0f} s",
        f"- Of commit {short} ({date}){_changed(base)}, voicewire {__version__}",
        f"- On {platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "- Were these files changed? `sha256sum -c checksums.sha256`, or `voicewire review --verify REPORT`", "",
        "| what was done | claims | of them the same as committed |", "|---|---:|---:|",
    ]  # fmt: skip
    for name, count in review.counts().items():
        same = sum(one.same is True for one in review.claims if one.group == name)
        lines.append(f"| **{name}**: {GROUPS[name]} | {count} | {same} |")
    lines += ["", "These are not added up. A claim of the last two kinds was not recomputed as a whole.", ""]
    lines += [] if review.kinds else [OFFERED, ""]
    for name in review.counts():
        mine = [one for one in review.claims if one.group == name]
        lines += [f"## {name[0].upper()}{name[1:]}: {len(mine)}", ""]
        for one in mine:
            lines += [*_claim(one), ""]
    return "\n".join(lines)


def _changed(base: Path) -> str:
    """Say whether files of the clone were changed since its commit."""
    try:
        done = subprocess.run(
            ["git", "-C", str(base), "status", "--porcelain", "--untracked-files=no"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return ""
    count = len(done.stdout.splitlines())
    return f" with {count} changed file{'s' * (count != 1)}" if count else ""


def _claim(one: Reviewed) -> list[str]:
    row, now = one.committed, one.now
    lines = [f"### `{row['id']}`", "", f"{_plain(row['where'])}: {_plain(row['statement'])}", "", "| | |", "|---|---|"]
    readings = (now or row).get("readings", [])
    table = [
        ("printed", show(row["printed"], row["unit"]) or "nothing that is a number or a word to compare"),
        ("computed now", show(now["reproduced"], now["unit"]) if now else "nothing"),
        ("committed", show(row["reproduced"], row["unit"])),
        ("tolerance", _tolerance(row)),
        *((f"read as “{one['name']}”", f"{one['verdict']}: {one['detail']}") for one in readings),
        ("rival", _rival((now or row).get("rival"))),
        ("verdict now", now["verdict"] if now else "none"),
        ("verdict committed", row["verdict"]),
        ("the same", {True: "yes", False: "**no**", None: "not judged now"}[one.same]),
        ("because", (now or row)["reason"]),
        ("built in, could not have failed", row["implements"]),
        ("statistic", row["statistic"]),
        ("what was done", f"{one.group}: {one.why}"),
        ("executed", one.cells),
    ]  # fmt: skip
    lines += [f"| {_plain(name)} | {_plain(str(words), name != 'the same')} |" for name, words in table if words]
    if one.tried:
        lines += ["", "| perturbed | what | verdict then | |", "|---|---|---|---|"]
        lines += [f"| {each['kind']} | {_plain(each['what'])} | {each['verdict']} | {_turned(each)} |"
                  for each in one.tried]  # fmt: skip
    return lines


def _turned(tried: Tried) -> str:
    return {True: "turned, as it must", False: "**did not turn**", None: ""}[tried["turned"]]


def _tolerance(row: Score) -> str:
    size = "; ".join(f"{name.replace('_', ' ')} {show(number)}" for name, number in (row["tolerance"] or {}).items())
    return f"{size}. {row['tolerance_reason']}" if size else ""


def _rival(rival: Rival | None) -> str:
    if not rival or "none" in rival:
        return rival["none"] if rival else ""
    ran = f"passes in {100 * rival['passes']:.3g} % of {rival['runs']} runs" if "passes" in rival else "not run"
    return f"{rival['mechanism']}: {ran}"


def _plain(words: str, escape: bool = True) -> str:
    """One line for a cell of a table, in which nothing is markup."""
    line = " ".join(words.split())
    return "".join(f"\\{sign}" if sign in r"\|*_`<>[]" else sign for sign in line) if escape else line


def _codecheck(review: Review, base: Path) -> str:
    """Return a self-check in CODECHECK's form: whose part is a person's is left out."""
    about = yaml.safe_load(archives.codecheck(base))
    counts = ", ".join(f"{count} {name}" for name, count in review.counts().items())
    same = sum(one.same is True for one in review.claims)
    notebooks = dict.fromkeys(one.cells.partition(",")[0] for one in review.claims if one.cells)
    content = {
        "version": about["version"],
        "manifest": [
            {"file": MARKDOWN, "comment": "self-check: each claim from the printed value to the verdict"},
            *({"file": name, "comment": "executed again, as far as the claims need it"} for name in notebooks),
        ],
        "paper": about["paper"],
        "repository": about["repository"],
        "summary": f"Self-check by a program, unsigned. Claims: {counts}. Judged anew and the same: {same}.",
        "check_time": review.begun.astimezone().isoformat(timespec="seconds"),
    }
    head = "\n".join(f"# {line}" for line in (
        "A self-check in the form of a CODECHECK configuration, made by `voicewire review`. It is NOT a CODECHECK.",
        "What only a person may write is left out: `codechecker` (their name), `report` and `certificate`.",
    ))  # fmt: skip
    return f"%YAML 1.1\n---\n{head}\n" + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)


def _print(folder: Path, text: str) -> None:
    from markdown_it import MarkdownIt

    page = folder / "self-check.html"
    title = html.escape(text.partition("\n")[0].lstrip("# "))
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    page.write_text(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"</head><body>{body}</body></html>",
        encoding="utf-8",
    )
    try:
        chromium.print_page(page.resolve(), (folder / PDF).resolve())
    finally:
        page.unlink()
