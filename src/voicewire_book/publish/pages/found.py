"""What finds a page: its description in whole sentences, the texts that searching shows, a site map without repeats."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

__all__ = ["LENGTH", "TEXTS", "described", "description", "finish"]

LENGTH = 200
"""Of a description, in characters; what shows them cuts longer ones anywhere."""

TEXTS = "_static/search-texts.js"
INDEX = "Every term of Voice to Wire with the page that explains it and the pages that use it."
SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"


def description(doctree: nodes.document) -> str:
    """Return the first sentences of a page, as many whole ones as fit."""
    said = ""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.Admonition | nodes.entry) or any(paragraph.findall(nodes.math)):
            continue
        text = re.sub(r"\s+([,.;:)\]])", r"\1", " ".join(_words(paragraph).split()))
        for sentence in re.split(r"(?<=[.!?])\s+", re.sub(r"\[\s+", "[", text)):
            if said and len(said) + 1 + len(sentence) > LENGTH:
                return said
            said = f"{said} {sentence}".strip()
            if len(said) > LENGTH:
                return said[: LENGTH - 1].rpartition(" ")[0].rstrip(",;:") + "…"
    return said


def _words(node: nodes.Element) -> str:
    """Return what is read of a paragraph, without the label in bold that it may begin with."""
    label = node.children[0] if node.children and isinstance(node.children[0], nodes.strong) else None
    read = [leaf for leaf in node.findall(nodes.Text) if leaf.parent is not label]
    return "".join(str(leaf) for leaf in read if not isinstance(leaf.parent, nodes.raw))


def described(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Give a page its description, for search engines and for previews of links."""
    said = INDEX if pagename == "genindex" else description(doctree) if doctree is not None else ""
    if pagename == "search":
        context["metatags"] = context.get("metatags", "") + '<meta name="robots" content="noindex" />\n'
    if said:
        context["meta"] = {**(context.get("meta") or {}), "og:description": said}
        tag = f'<meta name="description" content="{escape(said)}" />\n'
        context["metatags"] = context.get("metatags", "") + tag


def finish(app: Sphinx, error: Exception | None) -> None:
    """Write the texts that searching shows, and the site map without repeats."""
    if error is not None or app.builder is None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    found = {name: _sections(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
    data = json.dumps(found, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    (site / TEXTS).write_text(f"window.vwTexts = {data};\n", encoding="utf-8")
    base = app.config.html_baseurl.rstrip("/")
    once(site / "sitemap.xml", [f"{base}/{name}.html" for name in sorted(app.env.found_docs)])


def _sections(doctree: nodes.document) -> list[list[str]]:
    """Return anchor and own text of each section, in order: what a reader sees, without hints, HTML and formulas."""
    found = []
    for section in doctree.findall(nodes.section):
        said: list[str] = []
        for child in section.children:
            if isinstance(child, nodes.section):
                continue
            said += [str(leaf) for leaf in child.findall(nodes.Text) if _is_read(leaf)]
        anchor = section["ids"][0] if section["ids"] else ""
        # sphinx-exercise gives each the same name, and the built page none
        anchor = "" if anchor in ("exercise-content", "solution-content") else anchor
        found.append([anchor, " ".join(" ".join(said).split())])
    return found


def _is_read(leaf: nodes.Text) -> bool:
    node = leaf.parent
    if isinstance(node, addnodes.pending_xref) and node.get("refdomain") == "cite":
        return False
    return not isinstance(node, nodes.raw | nodes.math | nodes.math_block | nodes.comment)


def once(path: Path, pages: Sequence[str]) -> None:
    """Drop what a site map names again, and add pages that were built before: it has those of one build only."""
    if not path.is_file():
        return
    ElementTree.register_namespace("", SITEMAP)
    tree = ElementTree.parse(path)
    seen: set[str | None] = set()
    for entry in list(tree.getroot()):
        address = entry.findtext(f"{{{SITEMAP}}}loc")
        if address in seen:
            tree.getroot().remove(entry)
        seen.add(address)
    for address in (page for page in pages if page not in seen):
        entry = ElementTree.SubElement(tree.getroot(), f"{{{SITEMAP}}}url")
        ElementTree.SubElement(entry, f"{{{SITEMAP}}}loc").text = address
    tree.write(path, xml_declaration=True, encoding="utf-8")
