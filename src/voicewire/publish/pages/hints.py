"""Hints on glossary terms by plain HTML and CSS: shown on hover and on keyboard focus, read out with the link."""

from __future__ import annotations

from html import escape

from docutils import nodes
from sphinx.application import Sphinx

__all__: list[str] = []  # Sphinx calls what `setup` connects

GLOSSARY = "book/glossary"


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
        hint = f"vw-hint-{count}"
        html = (
            f'<span class="vw-term"><a class="reference internal" href="{escape(reference["refuri"])}" '
            f'aria-describedby="{hint}">{escape(reference.astext())}</a>'
            f'<span class="vw-hint" role="tooltip" id="{hint}">{escape(definitions[target])}</span></span>'
        )
        reference.replace_self(nodes.raw("", html, format="html"))


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
            for term in item.findall(nodes.term):
                known.update({anchor: " ".join(meaning.split()) for anchor in term["ids"]})
    app._voicewire_definitions = known  # type: ignore[attr-defined]
    return known
