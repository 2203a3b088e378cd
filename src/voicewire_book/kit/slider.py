"""Sliders that work in the published page, in JupyterLab and offline: every frame is drawn beforehand.

A slider needs no kernel: the notebook draws one picture for each combination of the knobs' values and stores
them, as small pictures without loss, in the cell's own output together with ordinary range inputs; where something
is to be heard, a short sound goes with each. Identical pictures are stored once. Nothing is fetched and nothing is
random, so re-running a notebook leaves it as it was. Where Python runs in the page itself, the same functions draw
each position when it is asked for, those between the listed values too where a knob allows it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import itertools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from PIL import Image

from voicewire_book.kit import audio
from voicewire_book.kit._computed import Computed
from voicewire_book.kit._narrow import narrowed, smallest_text
from voicewire_book.kit._shown import DENSITY, DPI, png, webp

__all__ = ["Frames", "Knob", "frames"]

MAX_FRAMES = 80

# Runs wherever the output is shown. It finds its own sliders, if not yet started, by their content key, so
# that no element needs an id and the same slider may stand twice on a page.
SCRIPT = """(function (data) {
  var mine = '.vw-slider[data-key="' + data.key + '"]:not([data-ready])';
  document.querySelectorAll(mine).forEach(function (root) {
    root.setAttribute("data-ready", "");
    var knobs = Array.from(root.querySelectorAll("input[type=range]"));
    var shown = Array.from(root.querySelectorAll("output"));
    var image = root.querySelector("img");
    var sound = root.querySelector("audio");
    var said = root.querySelector("[aria-live]");
    function show(announce) {
      var index = 0;
      knobs.forEach(function (knob, k) {
        var text = data.texts[k][knob.value];
        index = index * data.texts[k].length + Number(knob.value);
        knob.setAttribute("aria-valuetext", text);
        shown[k].textContent = text;
      });
      image.src = "data:image/webp;base64," + data.pictures[data.frames[index]];
      image.alt = data.alts[index];
      if (sound) { sound.src = "data:audio/wav;base64," + data.sounds[index]; }
      if (announce) { said.textContent = data.alts[index]; }
    }
    knobs.forEach(function (knob) { knob.addEventListener("input", function () { show(true); }); });
    show(false);
  });
})"""

HIDDEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"


@dataclass(frozen=True)
class Knob:
    """The values of one slider, where its keyword's name alone would not do as a label."""

    values: Sequence[Any]
    label: str = ""
    unit: str = ""
    start: Any = None
    between: bool = False


@dataclass(frozen=True)
class PageSize:
    """How large the pictures stand on a page that has room: their width and their smallest letters, CSS pixels."""

    width: int
    letters: float


class Frames:
    """What `frames` returns: shown by JupyterLab and by the book as HTML, elsewhere as one line of text."""

    def __init__(self, html: str, text: str) -> None:
        self.html = html
        self.text = text

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def frames(
    draw: Callable[..., Axes | Figure],
    alt: Callable[..., str],
    sound: Callable[..., tuple[ArrayLike, float]] | None = None,
    **knobs: Sequence[Any] | Knob,
) -> Frames | Computed:
    """Draw one picture for each combination of the knobs' values and put them behind sliders."""
    table = {name: knob if isinstance(knob, Knob) else Knob(list(knob)) for name, knob in knobs.items()}
    _check(table)
    combinations = [
        dict(zip(table, values, strict=True)) for values in itertools.product(*(knob.values for knob in table.values()))
    ]
    names = " and ".join(_label(name, knob) for name, knob in table.items())
    text = f"Slider over {names} ({len(combinations)} pictures): {_alt(alt, combinations[0])}"
    if _in_page():
        return _computed(table, draw, alt, sound, text)
    pictures: dict[str, str] = {}
    order: list[int] = []
    alts: list[str] = []
    drawn = [_picture(draw, values) for values in combinations]
    level = _level([content for content, _ in drawn])
    for values, content in zip(combinations, level, strict=True):
        digest = hashlib.sha256(content).hexdigest()
        if digest not in pictures:
            pictures[digest] = _base64(content)
        order.append(list(pictures).index(digest))
        alts.append(_alt(alt, values))
    sounds = [] if sound is None else [_base64(_sound(sound, values)) for values in combinations]
    texts = [[_text(value, knob.unit) for value in knob.values] for knob in table.values()]
    key = hashlib.sha256(json.dumps([list(table), texts, alts]).encode()).hexdigest()[:12]
    data = {"key": key, "texts": texts, "frames": order, "alts": alts, "pictures": list(pictures.values())}
    size = PageSize(_width(level), min(letters for _, letters in drawn))
    if sounds:
        data["sounds"] = sounds
    return Frames(_html(table, data, size), text)


def _in_page() -> bool:
    return sys.platform == "emscripten"


def _computed(
    table: Mapping[str, Knob],
    draw: Callable[..., Axes | Figure],
    alt: Callable[..., str],
    sound: Callable[..., tuple[ArrayLike, float]] | None,
    text: str,
) -> Computed:
    def show(values: dict[str, Any]) -> dict[str, Any]:
        picture = _picture(draw, values)[0]
        texts = [_text(value, knob.unit) for value, knob in zip(values.values(), table.values(), strict=True)]
        drawn = {"texts": texts, "picture": picture, "width": _width([picture]), "alt": _alt(alt, values)}
        return drawn if sound is None else drawn | {"sound": _sound(sound, values)}

    starts = _starts(table)
    knobs = {
        name: {"label": _label(name, knob), "values": list(knob.values), "start": start, "between": knob.between}
        for (name, knob), start in zip(table.items(), starts, strict=True)
    }
    return Computed(knobs, show, text)


def _check(table: Mapping[str, Knob]) -> None:
    if not table:
        raise ValueError("frames() needs at least one knob, such as mss=[256, 512, 1460]")
    total = 1
    for name, knob in table.items():
        if not len(knob.values):
            raise ValueError(f"knob {name!r} has no values: give a list with at least one")
        if knob.start is not None and knob.start not in knob.values:
            raise ValueError(f"knob {name!r} cannot start at {knob.start!r}: it is not among its values")
        if knob.between and any(isinstance(value, bool) or not isinstance(value, int | float) for value in knob.values):
            raise ValueError(f"knob {name!r} has values that aren't numbers: there is nothing between them")
        total *= len(knob.values)
    if total > MAX_FRAMES:
        raise ValueError(f"{total} pictures are too many for a page: at most {MAX_FRAMES} combinations fit")


def _picture(draw: Callable[..., Axes | Figure], values: Mapping[str, object]) -> tuple[bytes, float]:
    """Return one frame as wide as a telephone's screen, and the size of its letters there; close its figure."""
    drawn = draw(**values)
    figure = drawn.figure if isinstance(drawn, Axes) else drawn
    if not isinstance(figure, Figure):
        raise ValueError(f"draw() returned {type(drawn).__name__}: it must return the axes or the figure")
    # A fixed size rather than a tight box: frames must lie on each other.
    with narrowed(figure):
        content = png(figure, tight=False)[0]
        letters = smallest_text(figure) / 72 * DPI
    plt.close(figure)
    return content, letters


def _width(pictures: Sequence[bytes]) -> int:
    return Image.open(io.BytesIO(pictures[0])).width // DENSITY


def _level(pictures: Sequence[bytes]) -> list[bytes]:
    """Give all frames the size of the largest (a longer legend makes one higher), and make them WebP."""
    images: list[Image.Image] = [Image.open(io.BytesIO(content)) for content in pictures]
    size = max(image.width for image in images), max(image.height for image in images)
    level = []
    for image in images:
        if image.size != size:
            larger = Image.new("RGB", size, "white")
            larger.paste(image.convert("RGB"), (0, size[1] - image.height))
            image = larger
        level.append(webp(image))
    return level


def _sound(sound: Callable[..., tuple[ArrayLike, float]], values: Mapping[str, object]) -> bytes:
    samples, rate = sound(**values)
    return audio.encode(samples, rate, bits=8)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _alt(alt: Callable[..., str], values: Mapping[str, object]) -> str:
    text = alt(**values).strip()
    if not text:
        raise ValueError(f"alt() returned nothing for {dict(values)}: say what the picture shows")
    return text


def _text(value: Any, unit: str) -> str:
    """Return a knob's value as the reader sees it: short numbers, a narrow no-break space before the unit."""
    number = not isinstance(value, bool | str) and hasattr(value, "__float__")
    text = f"{float(value):g}" if number else str(value)
    return f"{text}\u202f{unit}" if unit else text


def _label(name: str, knob: Knob) -> str:
    return knob.label or name.replace("_", " ")


def _starts(table: Mapping[str, Knob]) -> list[int]:
    return [0 if knob.start is None else list(knob.values).index(knob.start) for knob in table.values()]


def _html(table: Mapping[str, Knob], data: Mapping[str, Any], size: PageSize) -> str:
    starts = _starts(table)
    first = 0
    for knob, start in zip(table.values(), starts, strict=True):
        first = first * len(knob.values) + start
    rows = []
    for (name, knob), start, texts in zip(table.items(), starts, data["texts"], strict=True):
        # The label wraps its input and the value stands outside: the control's name never changes.
        rows.append(
            f'<div class="vw-knob"><label>{escape(_label(name, knob))} '
            f'<input type="range" min="0" max="{len(knob.values) - 1}" step="1" value="{start}" '
            f'autocomplete="off" aria-valuetext="{escape(texts[start])}"></label> '
            f"<output>{escape(texts[start])}</output></div>"
        )
    picture = data["pictures"][data["frames"][first]]
    heard = ""
    if "sounds" in data:
        heard = (
            '<div class="vw-audio"><span class="vw-audio-label">How this position sounds</span> <audio controls '
            f'aria-label="How this position sounds" src="data:audio/wav;base64,{data["sounds"][first]}"></audio></div>'
        )
    alt = escape(data["alts"][first])
    names = ", ".join(_label(name, knob) for name, knob in table.items())
    # "</" inside a script would end it.
    payload = json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("</", "<\\/")
    return (
        f'<div class="vw-slider" data-key="{data["key"]}" role="group" aria-label="Picture with sliders: '
        f'{escape(names)}">{"".join(rows)}'
        f'<img src="data:image/webp;base64,{picture}" alt="{alt}" data-letters="{size.letters:.1f}" '
        f'style="width:{size.width}px;max-width:100%;height:auto">{heard}'
        f'<div aria-live="polite" style="{HIDDEN}"></div></div>'
        f"<script>{SCRIPT}({payload});</script>"
    )
