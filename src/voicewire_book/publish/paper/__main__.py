"""``python -m voicewire_book.publish.paper SITE``: print the built site as one PDF, and write it as one EPUB."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from voicewire_book.publish.paper import PDF, bound, chromium


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the book, or say in a line what that takes."""
    parser = argparse.ArgumentParser(prog="voicewire_book.publish.paper", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("site", type=Path, help="folder of the built pages")
    site = parser.parse_args(arguments).site.resolve()  # Chromium takes addresses, which have to be whole
    if chromium.find() is None:
        print("no PDF and no EPUB of the book: that takes a Chromium (on Debian: apt-get install chromium)")
        return 0
    start = time.perf_counter()
    try:
        pages = bound.make(site)
    except (chromium.PrintError, bound.BindError, OSError, ValueError) as error:
        print(f"printing the book: {error}", file=sys.stderr)
        return 1
    size = (site / PDF).stat().st_size / 1e6
    print(f"the book on paper: {pages} pages, {size:.1f} MB, in {time.perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
