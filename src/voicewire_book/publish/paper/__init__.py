"""The book on paper and in reading programs: the built pages as one PDF and as one EPUB.

The pages of the site become one document (`document`), whose formulas a Chromium sets and which it prints
(`chromium`); what a browser cannot do, a table of contents with page numbers and bookmarks, is added to its PDF
(`bound`). The same document, its formulas as MathML, becomes the EPUB (`epub`).
"""

from __future__ import annotations

__all__: list[str] = []  # `python -m voicewire_book.publish.paper` calls what is here

PDF = "voice-to-wire.pdf"
EPUB = "voice-to-wire.epub"
"""The files' names in the folder of the site."""
