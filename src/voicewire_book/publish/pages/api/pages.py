"""The pages of the package's functions within the book, and the links that chapters get to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import cast

import nbformat
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain

from voicewire_book import paths
from voicewire_book.publish.pages import functions
from voicewire_book.publish.pages.api import chapters, entries, names, sources, uses

__all__ = ["docname", "overview", "page"]

_TITLES = {
    names.KIT: "what a chapter imports: verdicts, figures, sliders, sounds, statistics, exercises",
    "netsim": "networks in simulated time",
    "mqtt": "a broker and a client of MQTT",
    "testbed": "real sockets on made-up networks",
    "ledger": "how a verdict is found, checked and published",
    "publish": "how the book is executed, built and printed",
    "course": "handouts, slides, exams and grading",
}
_OBJECTS = {"constant": "data"}


def docname(room: str) -> str:
    """Return the page of a room."""
    return f"book/{room}/api" if any(part.name == room for part in paths.PARTS) else f"book/api/{room}"


def _place(entry: str) -> tuple[str, str]:
    """Return the page that has an entry, and the entry's anchor there."""
    known = names.gathered()
    module = entry.rpartition(".")[0]
    if module not in known.modules:  # a method
        module = module.rpartition(".")[0]
    return docname(names.room(module)), entry


@cache
def _chapters(base: Path) -> dict[str, list[str]]:
    """Return the chapters that use an entry."""
    found: dict[str, list[str]] = defaultdict(list)
    for chapter, used in uses.by_chapter(base).items():
        for entry in used:
            found[entry].append(chapter)
    return found


@cache
def _title(base: Path, chapter: str) -> str:
    notebook = nbformat.read(base / f"{chapter}.ipynb", as_version=4)
    heading = next(cell.source for cell in notebook.cells if cell.cell_type == "markdown" and "# " in cell.source)
    return next(line for line in heading.splitlines() if line.startswith("# ")).removeprefix("# ").strip()


def page(room: str, base: Path, link: Callable[[str], str | None]) -> str:
    """Return what the page of a room shows, as MyST."""
    known, own = names.gathered(), docname(room)
    up = "../" * own.count("/")
    text = []
    for module in known.modules.values():
        offered = sorted(alias for alias in known.aliases if alias.rpartition(".")[0] == module.name)
        if names.room(module.name) != room or not (module.entries or offered):
            continue
        lead = _lead(module, link)
        if offered:
            package = module.path.name == "__init__.py"
            of = f"<code>from {module.name} import …</code>" if package else "From other modules"
            lead.append(f"<p>{of}: {', '.join(_offered(alias, link) for alias in offered)}.</p>")
        for each in module.entries:
            where = [(address, _title(base, chapter)) for chapter in _chapters(base).get(each.name, ())
                     if (address := link(chapter)) is not None]  # fmt: skip
            source = f"{up}{sources.address(each.module)}"
            lead.append(entries.entry(each, _resolver(each, link), source, where))
        html = "\n".join(lead)
        fence = "`" * 8
        heading = module.name.replace(".", ".<wbr>")  # a long name is broken behind a dot
        text.append(f"## {heading}\n\n{fence}{{raw}} html\n{html}\n{fence}\n")
    return f"{_told(room)}\n\n" + "\n".join(text)


def _told(room: str) -> str:
    """Return what stands above the modules, and where the page is named."""
    modules = [each for each in names.gathered().modules.values() if names.room(each.name) == room and each.entries]
    count = sum(len(module.entries) for module in modules)
    title = _TITLES.get(room) or next(part.title for part in paths.PARTS if part.name == room)
    of = title if room in _TITLES else f"the part “{title}”"
    said = f"The {count} public names of {len(modules)} modules, with their source and the chapters that use them"
    return f"{said}: {of}."


def _lead(module: names.Module, link: Callable[[str], str | None]) -> list[str]:
    """Return what a module says of itself, its first paragraph."""
    said = module.doc.partition("\n\n")[0].splitlines()
    known = names.gathered()
    return [entries.prose(said, lambda word: _address(known.find(f"{module.name}.{word}"), link))]


def _offered(alias: str, link: Callable[[str], str | None]) -> str:
    address = _address(names.gathered().find(alias), link)
    return f'<a href="{address}"><code>{alias.rpartition(".")[2]}</code></a>'


def _address(entry: str | None, link: Callable[[str], str | None]) -> str | None:
    if entry is None:
        return None
    where, anchor = _place(entry)
    address = link(where)
    return None if address is None else f"{address}#{anchor}"


def _resolver(each: names.Entry, link: Callable[[str], str | None]) -> entries.Link:
    """Return what leads from a word in a docstring to its entry: a name of the module, or one that it imports."""
    known = names.gathered()
    module = known.modules[each.module]
    methods = {method.own: method.name for method in each.methods}

    def lead(word: str) -> str | None:
        if word.startswith("notebooks/"):
            return link(word)
        if word in methods:
            return f"#{methods[word]}"
        first, dot, rest = word.partition(".")
        full = module.imports.get(first, f"{module.name}.{first}")
        found = known.find(word if paths.is_ours(first) else f"{full}{dot}{rest}")
        return _address(found, link) if found is not None and found != each.name else None

    return lead


def overview(link: Callable[[str], str | None]) -> str:
    """Return a table of the rooms."""
    known = names.gathered()
    rows = ["| Package | what it holds | modules | names |", "|---|---|---:|---:|"]
    for room in names.rooms():
        if link(docname(room)) is None:
            continue
        modules = [module for module in known.modules.values() if names.room(module.name) == room and module.entries]
        holds = _TITLES.get(room) or next(part.title for part in paths.PARTS if part.name == room)
        count = sum(len(module.entries) for module in modules)
        shown = _shown(room)
        rows.append(f"| {{doc}}`{shown} </{docname(room)}>` | {holds} | {len(modules)} | {count:,} |")
    return "\n".join(rows) + "\n"


def _shown(room: str) -> str:
    """Return how the table calls a room: the library's by its package, which one imports."""
    if f"voicewire.{room}" in names.gathered().modules:
        return f"voicewire.{room}"
    return "The chapter kit" if room == names.KIT else room.capitalize()


def note(app: Sphinx, page: str, source: list[str]) -> None:
    """Tell Sphinx where each name is, for its search and for other projects' links."""
    room = next((room for room in names.rooms() if docname(room) == page), None)
    if room is None:
        return
    domain = cast(PythonDomain, app.env.get_domain("py"))
    for entry in names.gathered().entries.values():
        if _place(entry.name)[0] != page:
            continue
        for each in (entry, *entry.methods):
            domain.note_object(each.name, _OBJECTS.get(each.kind, each.kind), each.name)


def note_formulas(app: Sphinx, doctree: nodes.document) -> None:
    """Tell Sphinx of the formulas that come as HTML: it loads what sets them only where it made a formula itself."""
    if any('class="math ' in each.astext() for each in doctree.findall(nodes.raw)):
        app.env.get_domain("math").data["has_equations"][app.env.docname] = True


def add_links(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Link a chapter's list of functions to their entries, and name below it what else the chapter uses."""
    base = Path(app.srcdir)
    used = uses.by_chapter(base).get(page)
    if app.builder is None or app.builder.format != "html" or used is None:
        return
    builder = app.builder

    def link(target: str) -> str | None:
        return builder.get_relative_uri(page, target) if target in app.env.found_docs else None

    for box in doctree.findall(nodes.admonition):
        title = box.children[0].astext().replace("’", "'") if box.children else ""  # the book's quotes are typographic
        if title == functions.TITLE:
            _link_list(box, base / f"{page}.ipynb", used, link)


def _link_list(box: nodes.admonition, chapter: Path, used: list[str], link: Callable[[str], str | None]) -> None:
    known = names.gathered()
    imported = chapters.imported(nbformat.read(chapter, as_version=4))
    linked = set()
    for item in box.findall(nodes.list_item):
        literal = next(iter(item.findall(nodes.literal)), None)
        entry = uses.meant(literal.astext(), imported, known) if literal is not None else None
        if literal is not None and (address := _address(entry, link)) is not None:
            linked.add(entry)
            literal.replace_self(nodes.reference("", "", literal.deepcopy(), refuri=address, internal=True))
    more = [(entry, address) for entry in used if entry not in linked and (address := _address(entry, link))]
    if more:
        also = nodes.paragraph("", "Also named, called in folded cells, or shown on this page: ")
        for number, (entry, address) in enumerate(more):
            short = ".".join(entry.split(".")[-2:])
            also += [nodes.Text(", " if number else "")]
            also += nodes.reference("", "", nodes.literal("", short), refuri=address, internal=True)
        also += nodes.Text(".")
        box += also


def write_sources(app: Sphinx, error: Exception | None) -> None:
    """Write the source of every module that an entry of the book is defined in."""
    if error is not None or app.builder is None or app.builder.format != "html":
        return
    places: dict[str, list[tuple[names.Entry, str]]] = defaultdict(list)
    known = names.gathered()
    for entry in known.entries.values():
        where, anchor = _place(entry.name)
        if where in app.env.found_docs:
            places[entry.module].append((entry, f"{app.builder.get_target_uri(where)}#{anchor}"))
    sources.write(Path(app.outdir), known.modules, places)
