"""How a notebook shows a figure: sharp, with few colours, and once more in the shape that a telephone has room for.

A kernel asks for a figure's pictures when a cell ends. It gets two: ``image/png``, which every viewer shows, with two
pixels for each pixel of the page; and the narrow one under a type of the book's own, which the built page shows on
narrow screens and every other viewer leaves alone.
"""

from __future__ import annotations

import base64
import io
from typing import Any

from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from PIL import Image

from voicewire_book.kit._narrow import narrowed, smallest_text

__all__: list[str] = []  # for `figures` and `slider`, by name

NARROW = "application/vnd.voicewire.narrow+json"
"""The type of the narrow picture."""

DENSITY = 2
"""Pixels of a picture for each pixel of the page."""

DPI = 110
"""Pixels of the page for an inch of a figure."""

ONE = 4.0
"""Inches: a figure that is no wider has one picture for all screens."""

_KEPT = "_voicewire_keeps_its_shape"

COLOURS = 64
"""What a picture keeps of its colours: lines with their smoothed edges need fewer, a map of heights no more."""


def png(figure: Figure, tight: bool = True) -> tuple[bytes, int, int]:
    """Draw a figure as a PNG with a palette and no metadata."""
    raw, box = io.BytesIO(), "tight" if tight else _upwards(figure)
    figure.savefig(raw, format="png", dpi=DENSITY * DPI, facecolor="white", bbox_inches=box)
    return packed(Image.open(raw))


def _upwards(figure: Figure) -> Bbox:
    wide, high = figure.get_size_inches()
    top = figure.get_tightbbox(figure._get_renderer()).y1  # type: ignore[attr-defined]
    return Bbox([[0, 0], [wide, max(high, top + 0.05)]])


def packed(image: Image.Image) -> tuple[bytes, int, int]:
    """Return a picture as `png` does."""
    content = io.BytesIO()
    image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(content, format="png", optimize=True)
    return content.getvalue(), image.width // DENSITY, image.height // DENSITY


def webp(image: Image.Image) -> bytes:
    """Return a picture as WebP without loss: mostly a quarter smaller than PNG, for what only browsers show."""
    content = io.BytesIO()
    image.convert("RGB").save(content, format="webp", lossless=True)
    return content.getvalue()


def wide(figure: Figure) -> tuple[str, dict[str, float]]:
    """Return a figure as a PNG in base64, with the width at which a page shows it."""
    content, width, _ = png(figure)
    return _text(content), {"width": width} | ({} if narrows(figure) else {"letters": _letters(figure)})


def keep(figure: Figure) -> None:
    """Leave a figure in its one shape: a narrow page shows a part of it, and moves."""
    setattr(figure, _KEPT, True)


def narrows(figure: Figure) -> bool:
    """Tell whether a figure has a shape of its own for narrow screens."""
    return figure.get_figwidth() > ONE and not getattr(figure, _KEPT, False)


def _letters(figure: Figure) -> float:
    return round(smallest_text(figure) / 72 * DPI, 1)


def narrow(figure: Figure) -> dict[str, Any]:
    """Return a figure as a telephone shows it."""
    with narrowed(figure):
        content, width, height = png(figure)
        letters = _letters(figure)
    picture = webp(Image.open(io.BytesIO(content)))
    return {"webp": _text(picture), "width": width, "height": height, "letters": letters}


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def register() -> None:
    """Let the kernel that runs this, if there is one, show figures so."""
    try:
        from IPython.core.getipython import get_ipython
        from matplotlib_inline import backend_inline  # noqa: F401  # sets its own way of showing figures first
    except ImportError:
        return
    shell: Any = get_ipython()
    if shell is not None:
        shell.display_formatter.formatters["image/png"].for_type(Figure, wide)
        shell.display_formatter.mimebundle_formatter.for_type(Figure, _bundle)


def _bundle(figure: Figure, include: object = None, exclude: object = None) -> dict[str, Any]:
    return {NARROW: narrow(figure)} if narrows(figure) else {}
