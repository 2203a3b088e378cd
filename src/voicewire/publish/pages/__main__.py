"""``python -m voicewire.publish.pages`` draws the scorecard that the README shows."""

from voicewire import paths
from voicewire.publish.pages import scorecard


def main() -> None:
    """Write the picture into the book's static files."""
    base = paths.root()
    (base / scorecard.PICTURE).write_text(scorecard.draw_picture(base), encoding="utf-8")
    print(f"wrote {scorecard.PICTURE.as_posix()}")


if __name__ == "__main__":
    main()
