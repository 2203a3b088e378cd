"""``python -m voicewire_book.publish.bars SITE``: print what the pages are held to, and the worst of each.

It ends with exit status 1 if a bar is lost.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from voicewire_book import paths
from voicewire_book.publish.bars import bar, browser, files, pages, scorecard
from voicewire_book.publish.paper import chromium


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the built pages and print the table."""
    parser = argparse.ArgumentParser(prog="voicewire_book.publish.bars", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("site", type=Path, help="folder of the built pages")
    site = parser.parse_args(arguments).site
    every = pages.names(site)
    if not every:
        print(f"the bars: no pages in {site}: make book", file=sys.stderr)
        return 1
    if chromium.find() is None:
        print("the bars are measured in a Chromium (on Debian: apt-get install chromium)", file=sys.stderr)
        return 1
    start = time.perf_counter()
    try:
        found = pages.bars(browser.look(site, every)) + scorecard.bars(site)
    except ImportError as error:
        print(f"the bars: {error.name} is missing: install the extra 'dev'", file=sys.stderr)
        return 1
    found += files.bars(site, paths.root() / "book" / "_toc.yml")
    print(bar.table(found))
    lost = [one.name for one in found if not one.holds]
    print(f"{len(every)} pages in {time.perf_counter() - start:.0f} s; lost: {', '.join(lost) or 'none'}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
