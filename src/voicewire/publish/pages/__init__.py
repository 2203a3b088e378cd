"""The Sphinx extension behind the published book.

It fills the pages that are gathered from all studies (scorecard, notation, glossary, errata, status), gives glossary
terms a hint that needs no script, puts schematic drawings into the page, keeps the built pages free of anything
fetched from elsewhere, and has what is for programs written beside them (`voicewire.publish.machines`). A study that
is not there is simply absent.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from voicewire.publish.machines import site
from voicewire.publish.pages import download, drawings, gather, hints, icons, mend, offline, scorecard

__all__ = ["setup"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension to Sphinx.

    Parameters
    ----------
    app : sphinx.application.Sphinx
        The build; it calls this by the name in its configuration.

    Returns
    -------
    dict of str to bool
        Pages may be read and written by several processes.

    Examples
    --------
    >>> class Events:
    ...     def connect(self, event, handler, priority=500):
    ...         print(f"{event}: {handler.__name__}")
    >>> _ = setup(Events())
    config-inited: add_bibliographies
    env-get-outdated: always_read
    source-read: fill
    doctree-resolved: add
    doctree-resolved: put
    html-page-context: clean
    html-page-context: back
    html-page-context: offer
    build-finished: prune
    build-finished: mend
    build-finished: reduce
    build-finished: publish
    """
    app.connect("config-inited", gather.add_bibliographies)
    app.connect("env-get-outdated", gather.always_read)
    app.connect("source-read", gather.fill)
    app.connect("doctree-resolved", hints.add)
    app.connect("doctree-resolved", drawings.put)
    app.connect("html-page-context", offline.clean)
    app.connect("html-page-context", scorecard.back)
    app.connect("html-page-context", download.offer, priority=502)  # after the theme's buttons
    # After sphinx-mathjax-offline, which copies all of MathJax at the same event.
    app.connect("build-finished", offline.prune, priority=900)
    app.connect("build-finished", mend.mend, priority=901)
    app.connect("build-finished", icons.reduce, priority=901)
    app.connect("build-finished", site.publish, priority=902)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
