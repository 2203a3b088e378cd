"""Pages gathered from all studies: what ``{gather} KIND`` stands for is written at each build.

A page of the book holds a fence such as ::

    ```{gather} notation
    ```

and `fill` puts in its place the MyST text made from whatever studies the checkout has. Doing so before the page is
parsed keeps headings, terms and citations what they would be if they were typed there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import nbformat
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from voicewire_book import paths
from voicewire_book.kit import concepts
from voicewire_book.ledger.loading import read, studies
from voicewire_book.publish.pages import counted, introduction, kept, people, reading, scorecard, status, way
from voicewire_book.publish.pages.api import pages as api

__all__ = ["BOX", "FENCE", "KINDS", "fragments", "glossary", "parts", "text"]

KINDS = (
    *("parts", "findings", "finding_STUDY", "conclusions_STUDY", "times_STUDY"),
    *("notation", "errata", "glossary", "scorecard", "status", "journey", "courses", "boxes", "concepts"),
    *("contributors", "mended", "kept"),
    *("api", "api_ROOM"),
)
BOX = re.compile(
    r"^(`{3,})\{admonition\} (?:Algorithm: )?([^\n]*)\n:class: box\n:name: (box-[\w-]+)\n(.*?)^\1", re.M | re.S
)
"""A box in a chapter: its fence, title, name and body."""
FENCE = re.compile(r"^```\{gather\} (\w+)\n```$", re.M)


def always_read(app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Have the gathered pages read at each build: what they depend on is more than files Sphinx knows of."""
    pages = []
    for docname in env.found_docs:
        source = Path(env.doc2path(docname))
        text = source.read_text(encoding="utf-8") if source.suffix == ".md" else ""
        if FENCE.search(text) or counted.ROLE.search(text):
            pages.append(docname)
    return pages


def add_bibliographies(app: Sphinx, config: Config) -> None:
    """Add the bibliography of each study that is there."""
    base = Path(app.srcdir)
    found = [f"book/{study}/references.bib" for study in (part.name for part in paths.PARTS)]
    config.bibtex_bibfiles = [*config.bibtex_bibfiles, *(name for name in found if (base / name).is_file())]


def fill(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the gathered text in the place of each fence of a page."""
    base = Path(app.srcdir)

    def link(target: str) -> str | None:
        """Return the address of a page as seen from this one, or None if the book does not have it."""
        assert app.builder is not None
        return app.builder.get_relative_uri(docname, target) if target in app.env.found_docs else None

    def write(match: re.Match[str]) -> str:
        return text(match.group(1), base, link)

    source[0] = counted.fill(FENCE.sub(write, source[0]), base)


def text(kind: str, base: Path, link: Callable[[str], str | None]) -> str:
    """Return the MyST text of one kind: one of `KINDS`, where STUDY stands for a part's name, ROOM for a package's."""
    if kind == "parts":
        return parts(base, link)
    if kind == "findings":
        return introduction.findings(base, link)
    which, _, study = kind.partition("_")
    if which == "finding":
        return introduction.findings(base, link, study)
    if which == "conclusions":
        return introduction.conclusions(base, link, study)
    if which == "times":
        return introduction.times(base, link, study)
    if which == "api":
        return api.page(study, base, link) if study else api.overview(link)
    if kind in ("notation", "errata"):
        return fragments(base, f"_{kind}.md")
    if kind == "glossary":
        return glossary(base)
    if kind == "scorecard":
        return scorecard.page(base, link)
    if kind == "status":
        return status.page(base, link)
    if kind == "journey":
        return way.small(base, link)
    if kind == "boxes":
        return boxes(base, link)
    if kind == "concepts":
        return inventory(link)
    if kind == "courses":
        return reading.courses(base)
    if kind in ("contributors", "mended"):
        return people.contributors(base) if kind == "contributors" else people.mended(base)
    if kind == "kept":
        return kept.listing()
    raise ValueError(f"nothing to gather under {kind!r}: it is one of {', '.join(KINDS)}")


def parts(base: Path, link: Callable[[str], str | None]) -> str:
    """Return a table of the parts that the book has: title, chapters, claims."""
    rows = []
    for part in paths.PARTS:
        study = part.name
        if link(f"book/{study}/index") is None:
            continue
        chapters = len(paths.chapters(study, base))
        known = read(study, base).values() if study in studies(base) else []
        claims = sum(claim.whose == "paper" and not claim.state for claim in known)
        name = f"{{doc}}`{part.title} </book/{study}/index>`"
        judged = f"[{claims}](#scorecard-{study})" if claims else ""
        rows.append(f"| {name}: {part.question} | {chapters} | {judged} |\n")
    if not rows:
        return "No study stands in this copy yet.\n"
    return "| Part, and what it asks | notebooks | claims judged |\n|---|---:|---:|\n" + "".join(rows)


def boxes(base: Path, link: Callable[[str], str | None]) -> str:
    """Return the algorithms that stand in boxes, each with a link to it."""
    rows = []
    for part in paths.PARTS:
        for path in paths.chapters(part.name, base):
            page = path.relative_to(base).as_posix().removesuffix(".ipynb")
            for cell in nbformat.read(path, as_version=4).cells if link(page) is not None else ():
                found = BOX.findall(cell.source) if cell.cell_type == "markdown" else ()
                rows += [f"| {{ref}}`{title} <{name}>` | {{doc}}`/{page}` |\n" for _, title, name, _ in found]
    return "| algorithm | chapter |\n|---|---|\n" + "".join(rows) if rows else "No chapter has a box in this copy.\n"


def inventory(link: Callable[[str], str | None]) -> str:
    """Return the questions on what is often misunderstood, part by part, each with its answer folded."""
    found = []
    for part in paths.PARTS:
        items = [each for each in concepts.ITEMS if each.part == part.name and link(f"notebooks/{each.chapter}")]
        found += [f"## {part.title}\n"] if items else []
        for each in items:
            options = "\n".join(f"- ({letter}) {option}" for letter, option in zip("abcd", each.options, strict=True))
            taught = f"Taught in {{doc}}`/notebooks/{each.chapter}`."
            fold = f"```{{admonition}} Answer: {each.name}\n:class: dropdown\n"
            answer = f"{fold}**({each.letter})** {each.why} {taught}\n```"
            found.append(f"{each.question}\n\n{options}\n\n{answer}\n")
    return "\n".join(found) or "No chapter that they ask about stands in this copy.\n"


def fragments(base: Path, name: str) -> str:
    """Return a section for each study that has the fragment `name`."""
    parts = []
    for study in (part.name for part in paths.PARTS):
        path = base / "book" / study / name
        if not path.is_file():
            continue
        heading = re.search(r"^(#+) ", path.read_text(encoding="utf-8"), re.M)
        # A fragment may bring its own headings: they are moved below the study's.
        offset = 3 - len(heading.group(1)) if heading else 0
        option = f":heading-offset: {offset}\n" if offset > 0 else ""
        parts.append(f"## {paths.part(study).title}\n\n```{{include}} {study}/{name}\n{option}```\n")
    return "\n".join(parts) or "No study of this checkout has an entry here yet.\n"


def glossary(base: Path) -> str:
    """Return one sorted glossary of the house's terms and those of the studies.

    Several studies may explain the same word. The house's entry counts first, then the studies' in the order of
    the book; the others give way, because a term can have only one place to link to.
    """
    seen: set[str] = set()
    entries: list[str] = []
    for path in (base / "book" / "_glossary.md", *(base / "book" / part.name / "_glossary.md" for part in paths.PARTS)):
        if not path.is_file():
            continue
        for terms, body in _entries(path.read_text(encoding="utf-8")):
            new = [term for term in terms if term.lower() not in seen]
            if new:
                seen.update(term.lower() for term in new)
                entries.append("\n".join(new) + "\n" + body)
    fence = "`" * 4
    return f"{fence}{{glossary}}\n:sorted:\n\n" + "\n\n".join(entries) + f"\n{fence}\n"


def _entries(markdown: str) -> list[tuple[list[str], str]]:
    """Return the terms and the indented definition of each entry in a fragment's ``{glossary}`` directives."""
    found: list[tuple[list[str], str]] = []
    for fence in re.finditer(r"^(`{3,}|:{3,})\{glossary\}[^\n]*\n(.*?)^\1\s*$", markdown, re.M | re.S):
        terms: list[str] = []
        body: list[str] = []
        for line in [*fence.group(2).splitlines(), "end"]:
            if not line.strip() or line[0] in " \t":
                if terms:
                    body.append(line)
            elif line.startswith((":", "..")) and not terms:
                continue  # an option or a comment of the directive
            else:
                if body and any(map(str.strip, body)):
                    found.append((terms, "\n".join(body).rstrip()))
                    terms, body = [], []
                terms.append(line.strip())
    return found
