"""Leave out of the site's style sheets and icon fonts what no page uses: they were half of what a page loaded.

The theme draws its icons twice, by a font and by a script that replaces what the font drew. Here the font stays, cut
to the icons that the style sheets still name, and the script goes: icons are there without JavaScript, too.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import tinycss2
from fontTools import subset
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

__all__ = ["FONTS", "SCRIPT", "cut", "icons", "lighten", "purge", "words"]

SCRIPT = Path("_static/scripts/fontawesome.js")
FONTS = Path("_static/vendor/fontawesome/webfonts")
LIVE = Path("_static/live")
"""What a page loads once its code is run: its style sheet, about elements that no page has before, stays whole."""

logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells of each table of a font, the build of what fails

_TAG = re.compile(r'<script\b[^>]*\bsrc="[^"]*scripts/fontawesome\.js[^"]*"></script>')
_CLASSES = re.compile(r'\bclass="([^"]*)"')
_INLINE = re.compile(r"<script(?![^>]*application/)[^>]*>(.+?)</script>", re.S)
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_SOURCES = re.compile(r"url\(([^)]*webfonts/[\w-]+)\.woff2\) format\(\"woff2\"\),url\([^)]*\) format\(\"truetype\"\)")
_ICON = re.compile(r"\\([ef][0-9a-f]{3})\b", re.I)
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_MATHJAX = re.compile(r"<script>window\.MathJax = .*?</script>\s*<script\b[^>]*mathjax/[^>]*></script>", re.S)
_NAMED = re.compile(r"\\class\{([\w -]+)\}")
_FORMULA = re.compile(r'\bclass="[^"]*\bmath\b')
_OURS = re.compile(r"\bvw-[\w-]+")
_GROUPS = ("media", "supports", "layer", "container")


def words(site: Path) -> set[str]:
    """Return every word that may be a class of an element: from the pages' classes and formulas, and all scripts."""
    found: set[str] = set()
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        named = {*_CLASSES.findall(text), *_NAMED.findall(text)}
        found.update(name for classes in named for name in classes.split())
        for script in set(_INLINE.findall(text)):
            found.update(_WORD.findall(script))
    for path in (site / "_static").rglob("*.js"):
        if "mathjax" not in path.parts and "locales" not in path.parts and path != site / SCRIPT:
            found.update(_WORD.findall(path.read_text(encoding="utf-8")))
    for path in (site / LIVE).rglob("*.mjs"):
        found.update(_OURS.findall(path.read_text(encoding="utf-8")))
    return found


def purge(sheet: str, known: Callable[[str], bool]) -> str:
    """Return a style sheet without the rules that ask for a class which no element has."""
    rules = tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
    return _FOREIGN.sub(lambda one: f"\\{ord(one[0]):x} ", "".join(_kept(rules, known)))


def _kept(rules: Sequence[Any], known: Callable[[str], bool]) -> Iterator[str]:
    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword in _GROUPS and rule.content is not None:
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            if text := "".join(_kept(inner, known)):
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{text}}}"
        elif rule.type == "qualified-rule":
            wanted = [one for one in _selectors(rule.prelude) if all(map(known, _classes(one)))]
            if wanted:
                body = re.sub(r"\s*\n\s*", "", tinycss2.serialize(rule.content)).strip()
                body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
                yield f"{','.join(tinycss2.serialize(one).strip() for one in wanted)}{{{body}}}"
        elif rule.type == "error":
            raise ExtensionError(f"a style sheet cannot be read: {rule.message}")
        else:
            yield rule.serialize()


def _selectors(prelude: Sequence[Any]) -> Iterator[list[Any]]:
    """Give the selectors of a rule, which commas part."""
    one: list[Any] = []
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            yield one
            one = []
        elif token.type != "comment":
            one.append(token)
    yield one


def _classes(selector: Sequence[Any]) -> Iterator[str]:
    """Give the classes that an element, or one around it, must have; what stands in ``:not(…)`` counts for nothing."""
    for before, token in itertools.pairwise(selector):
        if before.type == "literal" and before.value == "." and token.type == "ident":
            yield token.value


def icons(sheets: Sequence[str]) -> set[int]:
    """Return the characters of icons that style sheets write."""
    return {int(code, 16) for sheet in sheets for code in _ICON.findall(sheet)}


def cut(font: Path, target: Path, characters: set[int]) -> None:
    """Write a font with some of its characters only."""
    options = subset.Options(flavor="woff", layout_features=[], hinting=False, notdef_outline=True)
    program = subset.Subsetter(options)
    program.populate(unicodes=characters)
    with subset.load_font(font, options) as loaded:
        program.subset(loaded)
        loaded["head"].modified = loaded["head"].created  # the same font from the same site
        loaded.recalcTimestamp = False
        subset.save_font(loaded, target, options)


def lighten(app: Sphinx, error: Exception | None) -> None:
    """Leave out of the built site what no page uses of its style sheets, icons and maps to sources."""
    if error is not None or app.builder is None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for path in (site / "_static").rglob("*.map"):
        path.unlink()
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        shorter = _TAG.sub("", text)
        if not _FORMULA.search(text):
            shorter = _MATHJAX.sub("", shorter)
        if shorter != text:
            path.write_text(shorter, encoding="utf-8")
    found = words(site)
    (site / SCRIPT).unlink(missing_ok=True)
    stems = tuple(f"{word}-" for word in found if word.startswith("bs-"))  # a script adds the rest of these names

    def known(name: str) -> bool:
        return name in found or name.startswith(stems)

    sheets = {}
    for path in sorted(path for path in (site / "_static").rglob("*.css") if path.parent != site / LIVE):
        sheets[path] = _SOURCES.sub(r'url(\1.woff) format("woff")', purge(path.read_text(encoding="utf-8"), known))
        path.write_text(sheets[path], encoding="utf-8")
    _cut_fonts(site / FONTS, sheets)


def _cut_fonts(folder: Path, sheets: dict[Path, str]) -> None:
    wanted = icons(list(sheets.values()))
    for font in sorted(folder.glob("*.ttf")):
        if not any(f"{font.stem}.woff)" in sheet for sheet in sheets.values()):
            raise ExtensionError(f"no style sheet asks for {font.stem}.woff: see _SOURCES in {Path(__file__).name}")
        cut(font, font.with_suffix(".woff"), wanted)
        font.unlink()
        font.with_suffix(".woff2").unlink(missing_ok=True)
