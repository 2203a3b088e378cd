"""The index points at places of use: each term of the glossary with every page that links to it."""

from __future__ import annotations

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

__all__: list[str] = []  # Sphinx calls what `setup` connects

GLOSSARY = "book/glossary"


def note(app: Sphinx, doctree: nodes.document) -> None:
    """Enter a page under each term that it links to, at the section where it does so first."""
    docname = app.env.docname
    title = doctree.next_node(nodes.title)
    if docname == GLOSSARY or title is None:
        return
    name = " ".join(title.astext().split()).replace(";", ",")  # a semicolon would begin the next level
    entries = app.env.domaindata["index"]["entries"].setdefault(docname, [])
    seen = set()
    for link in doctree.findall(addnodes.pending_xref):
        if link.get("refdomain") != "std" or link.get("reftype") != "term":
            continue
        term = link["reftarget"]
        place = _section(link)
        if term.lower() not in seen and place:
            seen.add(term.lower())
            entries.append(("single", f"{term}; {name}", place, "", None))


def spell(app: Sphinx, env: BuildEnvironment) -> None:
    """Give each term the spelling of the glossary: in a sentence it may begin with a capital."""
    known = {name.lower(): name for kind, name in env.domaindata["std"]["objects"] if kind == "term"}
    for docname, entries in env.domaindata["index"]["entries"].items():
        if docname != GLOSSARY:
            for k, (kind, text, *rest) in enumerate(entries):
                term, _, page = text.partition("; ")
                entries[k] = (kind, f"{known.get(term.lower(), term)}; {page}", *rest) if page else entries[k]


def _section(node: nodes.Node) -> str:
    """Return the anchor of the section that a node stands in."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.section) and node["ids"]:
            return str(node["ids"][0])
    return ""
