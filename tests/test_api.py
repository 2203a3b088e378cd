"""The pages of the package's functions: complete, each name once, linked both ways with chapters and source."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import nbformat
import pytest
import yaml
from docutils import nodes
from docutils.utils import new_document

from voicewire_book import paths
from voicewire_book.publish.pages import functions
from voicewire_book.publish.pages.api import chapters, entries, names, pages, sources, uses
from voicewire_book.publish.paper import document

pytestmark = pytest.mark.landing

ROOT = paths.root()
SITE = ROOT / "_build" / "html"
PAGES = [SITE / f"{pages.docname(room)}.html" for room in names.rooms()]
built = pytest.mark.needs("pages")


def test_every_public_name_has_exactly_one_entry():
    """As Python sees them, which imports what the pages only read."""
    known = names.gathered()
    for module in known.modules:
        if not names.public(module):
            continue
        loaded = importlib.import_module(module)
        for own in getattr(loaded, "__all__", ()):
            value = getattr(loaded, own)
            if isinstance(value, ModuleType):
                continue
            entry = known.entries[known.find(f"{module}.{own}")]
            home = importlib.import_module(entry.name.rpartition(".")[0])
            assert getattr(home, entry.own) is value, f"{module}.{own}"
            kind = "class" if inspect.isclass(value) else "function" if inspect.isfunction(value) else None
            assert kind in (None, entry.kind) or entry.kind == "constant", entry.name
    placed = Counter(entry.name for module in known.modules.values() for entry in module.entries)
    assert set(placed) == set(known.entries)
    assert set(placed.values()) == {1}


def test_an_entry_says_what_python_says():
    """Signature and docstring are those of the function, the lines those of its source."""
    known, seen = names.gathered(), 0
    for entry in known.entries.values():
        value = getattr(importlib.import_module(entry.name.rpartition(".")[0]), entry.own)
        if entry.kind != "function" or not inspect.isfunction(value) or hasattr(value, "__wrapped__"):
            continue
        taken = re.findall(r"\w+", entry.signature)
        assert [name for name in inspect.signature(value).parameters if name not in taken] == [], entry.name
        assert entry.doc == inspect.getdoc(value), entry.name
        text = known.modules[entry.module].text.splitlines()
        assert re.search(rf"\bdef {value.__name__}\b", text[entry.line - 1]), entry.name
        seen += 1
    assert seen > 1000


def test_what_is_listed_but_not_there_is_refused(tmp_path):
    package = tmp_path / "voicewire"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "odd.py").write_text('__all__ = ["missing"]\n')
    with pytest.raises(ValueError, match=r"voicewire\.odd\.__all__ lists 'missing'"):
        names.gathered(tmp_path)
    (package / "odd.py").write_text("__all__ = sorted(globals())\n")
    with pytest.raises(ValueError, match="a list of names"):
        names.gathered.__wrapped__(tmp_path)


@pytest.mark.parametrize("path", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_a_chapter_lists_is_among_what_it_uses(path):
    """The list at the end of a chapter finds functions by importing them, the pages by reading the chapter."""
    notebook, known = nbformat.read(path, as_version=4), names.gathered()
    used, imported = uses.used(notebook, known), chapters.imported(notebook)
    listed = [uses.meant(name, imported, known) for name in functions.named(notebook)]
    assert [name for name, entry in zip(functions.named(notebook), listed, strict=True) if entry not in used] == []


def test_a_name_that_another_name_hides_is_not_taken_for_the_package():
    cells = ["import numpy as stats", "from voicewire_book.kit import audio", "stats.mean([1]); audio.player(1, 2)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    assert uses.used(notebook, names.gathered()) == ["voicewire_book.kit.audio.player"]


def test_what_a_docstring_says_cannot_break_the_page():
    bad = '<script>alert("x")</script>'
    one = names.Entry("voicewire.a.f", "function", f'(x="{bad}")', f"{bad} `{bad}` ``{bad}``", "voicewire.a", 1, 2)
    html = entries.entry(one, lambda name: f'"{bad}', "a.html", [(f'"{bad}', bad)])
    assert "<script" not in html
    assert "\n\n" not in entries.entry(one, lambda name: None, "a.html", [])


def test_the_pages_stand_in_the_contents_and_not_in_print():
    toc = yaml.safe_load((ROOT / "book/_toc.yml").read_text(encoding="utf-8"))
    (part,) = [part for part in toc["parts"] if part["caption"] == document.REFERENCE]
    shown = [section["file"] for section in part["chapters"][0]["sections"]]
    assert shown == [pages.docname(room) for room in names.rooms()]
    printed = {page.name for page in document.order(ROOT / "book/_toc.yml", SITE)}
    assert printed.isdisjoint({*shown, part["chapters"][0]["file"]})


@pytest.mark.parametrize("path", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_chapters_list_leads_to_every_entry_that_it_uses(path):
    """Not through a built site: the list as docutils has it, in a book with all pages."""
    chapter = path.relative_to(ROOT).with_suffix("").as_posix()
    listed = [nodes.list_item("", nodes.paragraph("", "", nodes.literal("", name)))
              for name in functions.named(nbformat.read(path, as_version=4))]  # fmt: skip
    title, tree = nodes.title("", functions.TITLE.replace("'", "’")), new_document("")
    tree += nodes.admonition("", title, nodes.bullet_list("", *listed))
    builder = SimpleNamespace(format="html", get_relative_uri=lambda page, target: f"{target}.html")
    env = SimpleNamespace(found_docs={pages.docname(room) for room in names.rooms()})
    pages.add_links(SimpleNamespace(srcdir=ROOT, builder=builder, env=env), tree, chapter)
    leading = [reference["refuri"] for reference in tree.findall(nodes.reference)]
    used = uses.by_chapter(ROOT)[chapter]
    assert {address.partition("#")[2] for address in leading} == set(used)
    assert all(item.next_node(nodes.reference) for item in listed)


LINK = re.compile(r'<a [^>]*?href="([^"]*?([^/"]*)#(voicewire(?:_book)?\.[\w.]+))"')
TITLE = functions.TITLE.replace("'", "’")  # as the book writes it
USED = re.compile(r'<p class="vw-used">Used in (.*?)</p>')


@cache
def shown() -> dict[str, tuple[Path, str]]:
    """The text of each entry of the built pages, and the page that it stands on."""
    found: dict[str, tuple[Path, str]] = {}
    for page in PAGES:
        pieces = re.split(r'<section class="vw-entry" id="([^"]+)">', page.read_text(encoding="utf-8"))
        for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
            assert name not in found, f"{name} stands twice"
            found[name] = page, text
    return found


@built
def test_every_entry_is_built_once_with_its_methods():
    known = names.gathered().entries.values()
    assert set(shown()) == {each.name for entry in known for each in (entry, *entry.methods)}


@built
def test_every_entry_leads_to_its_source_and_the_source_back():
    read: dict[Path, str] = {}
    for name, (page, text) in shown().items():
        address = re.search(r'class="vw-source" href="([^"#]+)#([^"]+)"', text)
        assert address, name
        target = (page.parent / address[1]).resolve()
        assert target.is_relative_to(SITE / sources.FOLDER)
        assert address[2] == name
        source = read.setdefault(target, target.read_text(encoding="utf-8"))
        line = next(line for line in source.splitlines() if f'<span id="{name}"></span>' in line)
        assert re.search(rf"\b{name.rpartition('.')[2]}\b", re.sub(r"<[^>]*>", "", line)) or "@" in line, name
        back = re.search(rf'href="([^"#]+)#{re.escape(name)}"', line)
        assert back and (target.parent / back[1]).resolve() == page, name


@built
def test_entries_and_chapters_lead_to_each_other():
    """Each chapter links to what it uses, each entry to the chapters that use it, and neither to anything else."""
    used = {(chapter, name) for chapter, found in uses.by_chapter(ROOT).items() for name in found}
    back = defaultdict(set)
    for name, (page, text) in shown().items():
        for line in USED.findall(text):
            for address in re.findall(r'href="([^"]+)\.html"', line):
                back[name].add((page.parent / address).resolve().relative_to(SITE).as_posix())
    assert {(chapter, name) for name, chapters in back.items() for chapter in chapters} == used
    forth = set()
    for chapter in uses.by_chapter(ROOT):
        page = SITE / f"{chapter}.html"
        text = page.read_text(encoding="utf-8").partition(TITLE)[2].partition("</div>")[0]
        for address, _, name in LINK.findall(text):
            assert (page.parent / address.partition("#")[0]).resolve() == shown()[name][0], address
            forth.add((chapter, name))
    assert forth == used
    assert len(used) > 1000


@built
def test_formulas_are_set_and_no_mark_is_left():
    for name, (_, text) in shown().items():
        plain = re.sub(r"<pre.*?</pre>|<code>.*?</code>", "", text, flags=re.S)
        assert not re.search(r":math:|\.\. math|``|:(?:func|class|meth):", plain), name
    with_formulas = {page for page, text in shown().values() if 'class="math' in text}
    assert len(with_formulas) > 1
    for page in PAGES:
        assert ("mathjax/" in page.read_text(encoding="utf-8")) == (page in with_formulas), page.name
