"""The pages of the package's functions: one a room, made from the docstrings at each build of the book.

`names` reads what the package declares public, without importing it; `uses` what each chapter names of that;
`entries` writes a docstring as HTML; `sources` the source of each module; `pages` puts it all into the book. Sphinx's
autodoc would do most of this, in three times the time that the whole book takes.
"""

from __future__ import annotations

__all__: list[str] = []  # `voicewire_book.publish.pages` calls what is here
