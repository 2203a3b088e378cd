"""Praat's file format of TextGrids, as Praat reads it: text (long, short, chronological) and binary.

In a text, whatever is no free-standing number, "text" or <flag> is passed over, and so is a comment from ``!`` on.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Final

__all__ = ["FormatError", "Mark", "Tier", "parsed", "text_of"]

# what Praat takes for white space
_SPACE: Final = r"\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SKIP: Final = re.compile(rf"(?:[{_SPACE}]+|![^\n]*\n|[^{_SPACE}!\"<+\-\d][^{_SPACE}]*)*")
_WORD: Final = re.compile(rf"[^{_SPACE}]*")
_STRING: Final = re.compile(r'"((?:[^"]|"")*+)"')  # possessive: in a text without an end no earlier quote ends it
_REAL: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_FRACTION: Final = re.compile(rf"({_REAL.pattern})/({_REAL.pattern})")
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_FLAG: Final = re.compile(rf"<([^{_SPACE}>]{{0,39}})>")
_LONGEST: Final = 40  # characters of a number
_CHRONOLOGICAL: Final = "Praat chronological TextGrid text file"
_LEAST: Final = 100  # bytes by which Praat recognises a chronological file


class FormatError(ValueError):
    """What is not as Praat's format has it, and where."""


@dataclass(frozen=True)
class Mark:
    """A label from start to end; both are the same for a point."""

    start: float
    end: float
    label: str


@dataclass(frozen=True)
class Tier:
    """A tier as Praat holds it: a mark for each interval or point, empty labels too, in the order of time."""

    name: str
    points: bool
    marks: tuple[Mark, ...]
    twice: tuple[Mark, ...] = ()
    """Marks that begin when an earlier one does: Praat keeps the first alone."""


def _tier(name: str, points: bool, marks: list[Mark]) -> Tier:
    kept: dict[float, Mark] = {}
    twice = [mark for mark in marks if kept.setdefault(mark.start, mark) is not mark]
    return Tier(name, points, tuple(kept[start] for start in sorted(kept)), tuple(twice))


def text_of(raw: bytes) -> str:
    """Decode as Praat does: UTF-16 by its mark, else UTF-8, else Latin-1; zero bytes are dropped, ends of line are LF.

    Which one-byte code comes after UTF-8 is a preference of Praat's, and can't be told from the bytes.
    """
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = raw[: len(raw) // 2 * 2].decode("utf-16", errors="replace")
    else:
        raw = raw.replace(b"\0", b"")
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Reader:
    """The next number, text or flag of a text, as Praat finds it."""

    def __init__(self, text: str, at: int = 0) -> None:
        self._text, self._at = text, at

    def wrong(self, what: str) -> FormatError:
        return FormatError(f"line {self._text.count(chr(10), 0, self._at) + 1}: {what}")

    def _next(self) -> str:
        """Go to the next free-standing thing, and return its first character: '' at the end, or within a comment."""
        found = _SKIP.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        return self._text[self._at : self._at + 1].replace("!", "")

    def more(self) -> bool:
        """Whether anything but comments follows."""
        return self._next() != ""

    def _find(self, start: str, wanted: str) -> None:
        """Go to the next free-standing thing, which must begin with a quote, with '<', or as a number does ('+')."""
        first = self._next()
        if not first:
            raise self.wrong(f"the text ends where {wanted} is looked for")
        if (first if first in '"<' else "+") != start:
            there = {'"': "a text in quotes", "<": "a flag"}.get(first, "a number")
            raise self.wrong(f"there is {there} where {wanted} is looked for")

    def _word(self, wanted: str) -> str:
        """Pass a word that begins as a number does."""
        self._find("+", wanted)
        found = _WORD.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        return found.group()

    def _number(self, word: str, pattern: re.Pattern[str], wanted: str) -> tuple[str, str]:
        """Part a word into its number and what follows."""
        if len(word) > _LONGEST or not word.isascii():
            raise self.wrong(f"{word[:50]!r} is no number; {wanted} is looked for")
        number = pattern.match(word)
        rest = word[number.end() :] if number else word
        if number is None or any(c.isdigit() for c in rest):  # "0,5": Praat would take it for 0
            raise self.wrong(f"{word!r} is not the number that {wanted} must be")
        return number.group(), rest

    def real(self, wanted: str) -> float:
        while (word := self._word(wanted)) == "+":
            pass
        if fraction := _FRACTION.fullmatch(word):
            over, under = map(float, fraction.groups())
            value = over / under if under else float("inf")
        else:
            number, rest = self._number(word, _REAL, wanted)
            value = float(number) * (0.01 if rest.startswith("%") else 1.0)
        if not abs(value) < float("inf"):
            raise self.wrong(f"{word[:50]!r} is no finite number, which {wanted} must be")
        return value

    def whole(self, wanted: str) -> int:
        return int(self._number(self._word(wanted), _WHOLE, wanted)[0])

    def string(self, wanted: str) -> str:
        self._find('"', wanted)
        found = _STRING.match(self._text, self._at)
        if found is None:
            raise self.wrong(f"the text ends within {wanted}, which begins here")
        self._at = found.end()
        behind = self._text[self._at : self._at + 1]
        if behind and not re.match(f"[{_SPACE}]", behind):
            raise self.wrong(f"{behind!r} follows a closing quote in {wanted}; a quote within a text is written twice")
        return found.group(1).replace('""', '"')

    def flag(self, wanted: str) -> str:
        self._find("<", wanted)
        found = _FLAG.match(self._text, self._at)
        if found is None:
            raise self.wrong(f"a flag is not closed by '>' where {wanted} is looked for")
        self._at = found.end()
        return found.group(1)


class _Binary:
    """The same from Praat's binary files."""

    def __init__(self, raw: bytes) -> None:
        self._raw, self._at = raw, 0

    def wrong(self, what: str) -> FormatError:
        return FormatError(f"byte {self._at}: {what}")

    def _take(self, form: str, wanted: str) -> tuple[float | int | bytes, ...]:
        size = struct.calcsize(form)
        if self._at + size > len(self._raw):
            raise self.wrong(f"the file ends where {wanted} is looked for")
        self._at += size
        return struct.unpack_from(form, self._raw, self._at - size)

    def real(self, wanted: str) -> float:
        value = float(self._take(">d", wanted)[0])
        if not abs(value) < float("inf"):
            raise self.wrong(f"{value} is not the number that {wanted} must be")
        return value

    def whole(self, wanted: str) -> int:
        return int(self._take(">i", wanted)[0])

    def flag(self, wanted: str) -> str:
        return "exists" if self._take(">b", wanted)[0] else "absent"

    def short_string(self, wanted: str) -> str:
        size = int(self._take(">B", wanted)[0])
        return bytes(self._take(f">{size}s", wanted)[0]).decode("latin-1")  # type: ignore[arg-type]

    def string(self, wanted: str) -> str:
        size = int(self._take(">H", wanted)[0])
        if size == 0xFFFF:
            units = b""
            for _ in range(int(self._take(">H", wanted)[0])):  # characters; those beyond U+FFFF have two units
                units += bytes(self._take(">2s", wanted)[0])  # type: ignore[arg-type]
                if 0xD8 <= units[-2] < 0xDC:
                    units += bytes(self._take(">2s", wanted)[0])  # type: ignore[arg-type]
            return units.decode("utf-16-be", "replace")
        return bytes(self._take(f">{size}s", wanted)[0]).decode("latin-1")  # type: ignore[arg-type]


def _times(reader: _Reader | _Binary, whose: str) -> tuple[float, float]:
    start, end = reader.real(f"the start of {whose}"), reader.real(f"the end of {whose}")
    if start > end:
        raise reader.wrong(f"{whose} ends at {end:g} s, before its start at {start:g} s")
    return start, end


def _marks(reader: _Reader | _Binary, tier: str, points: bool) -> list[Mark]:
    marks = []
    for i in range(1, reader.whole(f"the number of {'points' if points else 'intervals'} of {tier}") + 1):
        whose = f"{'point' if points else 'interval'} {i} of {tier}"
        if points:
            start = end = reader.real(f"the time of {whose}")
        else:
            start, end = _times(reader, whose)
        marks.append(Mark(start, end, reader.string(f"the label of {whose}")))
    return marks


def _class(reader: _Reader | _Binary, wanted: str) -> str:
    return reader.string(wanted) if isinstance(reader, _Reader) else reader.short_string(wanted)


def _head(reader: _Reader | _Binary, k: int) -> tuple[str, bool, tuple[float, float]]:
    """Read a tier's name, whether it holds points, and its start and end (s)."""
    kind = _class(reader, f"the class of tier {k}")
    if kind not in ("IntervalTier", "TextTier"):
        raise reader.wrong(f"tier {k} is a {kind!r}; there are IntervalTier and TextTier")
    return reader.string(f"the name of tier {k}"), kind == "TextTier", _times(reader, f"tier {k}")


def _body(reader: _Reader | _Binary) -> tuple[float, float, list[Tier]]:
    kind = _class(reader, "the class of the file")
    if re.fullmatch(r"TextGrid( 0)?", kind) is None:
        raise reader.wrong(f"the file holds a {kind!r}, no TextGrid; in Praat, save the TextGrid by itself")
    start, end = _times(reader, "the TextGrid")
    flag = reader.flag("<exists>")
    if flag not in ("exists", "absent"):
        raise reader.wrong(f"<{flag}> stands where <exists> is looked for")
    if flag == "absent":
        raise reader.wrong("<absent>: the TextGrid has no tiers")
    tiers = []
    for k in range(1, reader.whole("the number of tiers") + 1):
        name, points, span = _head(reader, k)
        marks = _marks(reader, f"tier {k}", points)
        tiers.append(_tier(name, points, marks if points or marks else [Mark(*span, "")]))
    return start, end, tiers


def _chronological(reader: _Reader) -> tuple[float, float, list[Tier]]:
    reader.string("the name of the format")
    start, end = _times(reader, "the TextGrid")
    heads: list[tuple[str, bool]] = []
    marks: list[list[Mark]] = []
    for k in range(1, reader.whole("the number of tiers") + 1):
        name, points, _ = _head(reader, k)
        heads.append((name, points))
        marks.append([])
    while reader.more():
        k = reader.whole("the number of a tier")
        if not 1 <= k <= len(heads):
            raise reader.wrong(f"tier {k} is named, and there are {len(heads)}")
        if heads[k - 1][1]:
            first = last = reader.real("the time of a point")
        else:
            first, last = _times(reader, "an interval")
        marks[k - 1].append(Mark(first, last, reader.string("a label")))
    return start, end, [_tier(*head, each) for head, each in zip(heads, marks, strict=True)]


def parsed(raw: bytes) -> tuple[float, float, list[Tier]]:
    """Return where a TextGrid begins and ends (s), and its tiers."""
    if (at := raw[:60].find(b"ooBinaryFile")) >= 0:
        return _body(_Binary(raw[at + len(b"ooBinaryFile") :]))
    text = text_of(raw)
    if text.startswith(f'"{_CHRONOLOGICAL}"'):
        if raw.startswith(b"\xef\xbb\xbf"):
            raise FormatError("line 1: Praat reads no chronological TextGrid behind UTF-8's mark; save it without")
        if len(raw) < _LEAST:
            raise FormatError(f"line 1: Praat recognises no chronological TextGrid of under {_LEAST} bytes")
        return _chronological(_Reader(text))
    head, _, rest = text.partition("\n")
    if "ooTextFile" not in head:
        raise FormatError("this is no TextGrid; save it from Praat with 'Save as text file'")
    return _body(_Reader(text, len(text) - len(rest)))
