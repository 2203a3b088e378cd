"""The Sphinx extension behind the published book.

It fills the pages that are gathered from all studies (scorecard, notation, glossary, errata, status), writes those of
the package's functions (`api`), prints each claim of a chapter below the cell that judged it, gives glossary terms a
hint that needs no script, puts schematic drawings into the page, keeps the built pages free of anything fetched from
elsewhere or not used, and has what is for programs written beside them (`voicewire_book.publish.machines`). A study
that is not there is simply absent.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from voicewire_book.publish.machines import site
from voicewire_book.publish.pages import (
    about,
    download,
    drawings,
    found,
    gather,
    hints,
    light,
    mend,
    offline,
    pictures,
    placing,
    policy,
    previews,
    scorecard,
    scripts,
    symbols,
    uses,
)
from voicewire_book.publish.pages.api import pages as api

__all__ = ["setup"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension to Sphinx."""
    app.add_node(hints.hinted_term, html=(hints.visit, hints.depart))
    app.connect("config-inited", gather.add_bibliographies)
    app.connect("config-inited", offline.start)
    app.connect("env-get-outdated", gather.always_read)
    app.connect("source-read", gather.fill)
    app.connect("source-read", placing.put)
    app.connect("source-read", api.note)
    app.connect("doctree-read", uses.note)
    app.connect("doctree-read", api.note_formulas)
    app.connect("env-updated", uses.spell)
    app.connect("doctree-resolved", hints.add)
    app.connect("doctree-resolved", drawings.put)
    app.connect("doctree-resolved", api.add_links)
    app.connect("doctree-resolved", pictures.put)
    app.connect("doctree-resolved", symbols.colour)
    app.connect("html-page-context", offline.clean)
    app.connect("html-page-context", scorecard.back)
    app.connect("html-page-context", scripts.load, priority=400)  # `clean` copies the list of scripts
    # Before sphinxext-opengraph, which leaves alone what is said already.
    app.connect("html-page-context", found.described, priority=400)
    app.connect("html-page-context", previews.offer, priority=401)
    app.connect("html-page-context", about.foot)
    app.connect("html-page-context", download.offer, priority=502)  # after the theme's buttons
    # After sphinx-mathjax-offline, which copies all of MathJax at the same event.
    app.connect("build-finished", offline.prune, priority=900)
    app.connect("build-finished", api.write_sources)
    app.connect("build-finished", mend.mend, priority=901)
    app.connect("build-finished", light.lighten, priority=901)
    app.connect("build-finished", site.publish, priority=902)
    app.connect("build-finished", found.finish, priority=903)
    app.connect("build-finished", previews.write, priority=903)
    app.connect("build-finished", policy.guard, priority=904)  # when no script comes into a page any more
    return {"parallel_read_safe": True, "parallel_write_safe": True}
