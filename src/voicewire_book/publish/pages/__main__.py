"""``python -m voicewire_book.publish.pages`` writes what follows from the notebooks.

The README's scorecard, the files that archives read, and in each chapter how long it takes to read and what the
package's functions in it do.
"""

from voicewire_book import paths
from voicewire_book.publish.machines import archives
from voicewire_book.publish.pages import functions, reading, scorecard


def main() -> None:
    """Write times and functions into the chapters, the picture into the book, the others into the root."""
    base = paths.root()
    chapters = sorted({*functions.write(base), *reading.write(base)})
    (base / scorecard.PICTURE).write_text(scorecard.draw_picture(base), encoding="utf-8")
    print("\n".join(f"wrote {name}" for name in (*chapters, scorecard.PICTURE.as_posix(), *archives.write(base))))


if __name__ == "__main__":
    main()
