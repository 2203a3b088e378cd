"""Hints on glossary terms by plain HTML and CSS: shown on hover and on keyboard focus, read out with the link.

A term is a node of its own, not a piece of HTML: its word is text of the page, its hint is not. So neither the search
index nor a page's description holds what the glossary says, and neither lacks the word.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

__all__: list[str] = []  # Sphinx calls what `setup` connects

GLOSSARY = "book/glossary"


class hinted_term(nodes.General, nodes.Inline, nodes.TextElement):  # noqa: N801 - docutils names nodes so
    """A link to a term of the glossary, with the definition in its attribute ``hint``."""


def visit(writer: Any, node: hinted_term) -> None:
    """Write what stands before the word."""
    writer.body.append(
        f'<span class="vw-term"><a class="reference internal" href="{escape(node["refuri"])}" '
        f'aria-describedby="{node["place"]}">'
    )


def depart(writer: Any, node: hinted_term) -> None:
    """Write what stands behind the word."""
    writer.body.append(
        f'</a><span class="vw-hint" role="tooltip" id="{node["place"]}">{escape(node["hint"])}</span></span>'
    )


def add(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the definition behind each link to a glossary term."""
    if app.builder is None or app.builder.format != "html" or docname == GLOSSARY:
        return
    definitions = _definitions(app)
    count = 0
    for reference in list(doctree.findall(nodes.reference)):
        target = reference.get("refuri", "").partition("#")[2]
        if target not in definitions or not _is_term(reference):
            continue
        count += 1
        word = reference.astext()
        hint = {"refuri": reference["refuri"], "hint": definitions[target], "place": f"vw-hint-{count}"}
        reference.replace_self(hinted_term(word, word, **hint))


def _is_term(reference: nodes.reference) -> bool:
    return any("std-term" in inline.get("classes", []) for inline in reference.findall(nodes.inline))


def _definitions(app: Sphinx) -> dict[str, str]:
    """Return the definition of each term by its anchor on the glossary's page, read once a build."""
    known: dict[str, str] | None = getattr(app, "_voicewire_definitions", None)
    if known is not None:
        return known
    known = {}
    if GLOSSARY in app.env.found_docs:
        for item in app.env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
            meaning = " ".join(node.astext() for node in item.findall(nodes.definition))
            for entry in item.findall(nodes.term):
                known.update({anchor: " ".join(meaning.split()) for anchor in entry["ids"]})
    app._voicewire_definitions = known  # type: ignore[attr-defined]
    return known
