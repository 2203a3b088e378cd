"""What is written into the published site beside its pages, at the end of each build."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from voicewire_book.publish.machines import crate, listing

__all__ = ["publish"]


def publish(app: Sphinx, error: Exception | None) -> None:
    """Write ``claims.json``, its schema and the crate's metadata, once all pages are there."""
    if error is not None or app.builder is None or app.builder.format != "html":
        return
    base, site = Path(app.srcdir), Path(app.outdir)
    listing.write(base, site)
    crate.write(base, site)
