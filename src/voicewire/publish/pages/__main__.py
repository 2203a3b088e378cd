"""``python -m voicewire.publish.pages`` writes what follows from the notebooks.

The README's scorecard, the files that archives read, and in each chapter how long it takes to read.
"""

from voicewire import paths
from voicewire.publish.machines import archives
from voicewire.publish.pages import reading, scorecard


def main() -> None:
    """Write the times into the chapters, the picture into the book, and the others into the repository's root."""
    base = paths.root()
    times = reading.write(base)
    (base / scorecard.PICTURE).write_text(scorecard.draw_picture(base), encoding="utf-8")
    print("\n".join(f"wrote {name}" for name in (*times, scorecard.PICTURE.as_posix(), *archives.write(base))))


if __name__ == "__main__":
    main()
