"""The book on paper: the built pages as one PDF, with contents, page numbers and bookmarks.

The pages of the site become one document (`document`), which a Chromium prints (`chromium`); what a browser cannot
do, a table of contents with page numbers and bookmarks, is added to its PDF (`bound`).
"""

from __future__ import annotations

__all__: list[str] = []  # `python -m voicewire.publish.paper` calls what is here

FILE = "voice-to-wire.pdf"
"""The PDF's name in the folder of the site."""
