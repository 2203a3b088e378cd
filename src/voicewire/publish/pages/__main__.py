"""``python -m voicewire.publish.pages`` draws the README's scorecard, and writes the files that archives read."""

from voicewire import paths
from voicewire.publish.machines import archives
from voicewire.publish.pages import scorecard


def main() -> None:
    """Write the picture into the book's static files, and the others into the repository's root."""
    base = paths.root()
    (base / scorecard.PICTURE).write_text(scorecard.draw_picture(base), encoding="utf-8")
    print("\n".join(f"wrote {name}" for name in (scorecard.PICTURE.as_posix(), *archives.write(base))))


if __name__ == "__main__":
    main()
