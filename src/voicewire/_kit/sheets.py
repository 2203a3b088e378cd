"""Tables as CSV in which no spreadsheet finds a formula, whoever chose the text and whatever separates the columns."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DictWriter", "Writer", "plain", "to_csv"]

# What a program may take for the end of a cell although we don't: it may be set to other separators than the comma.
_ENDS = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029;|"
_PIECE = re.compile(f"[^{_ENDS}]+")
_STARTS = ("=", "+", "-", "@", "\u2212")
_NUMBER = r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?"
_NUMBERS = re.compile(f"{_NUMBER}( {_NUMBER})*")


def plain(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    if not isinstance(value, str) or value in _STARTS or _NUMBERS.fullmatch(value):
        return value
    return _PIECE.sub(_guarded, value)


def _guarded(piece: re.Match[str]) -> str:
    text = piece[0]
    for sign in text:
        if unicodedata.normalize("NFKC", sign)[:1] in _STARTS:
            return f"'{text}"
        if not (sign.isspace() or sign == '"' or unicodedata.category(sign)[0] in "CZM"):
            break
    return text


class Writer:
    """As `csv.writer`: it writes rows, each cell `plain`."""

    def __init__(self, file: IO[str], lineterminator: str = "\n") -> None:
        self._writer = csv.writer(file, lineterminator=lineterminator)

    def writerow(self, row: Iterable[Any]) -> None:
        """Write one row."""
        self._writer.writerow([plain(cell) for cell in row])

    def writerows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write rows."""
        for row in rows:
            self.writerow(row)


class DictWriter(csv.DictWriter):  # type: ignore[type-arg]  # it takes none while the program runs
    """As `csv.DictWriter`: it writes rows from dictionaries, each cell `plain`."""

    def __init__(
        self, file: IO[str], fieldnames: Collection[str], restval: Any = "", *, lineterminator: str = "\r\n"
    ) -> None:
        super().__init__(file, fieldnames, restval, lineterminator=lineterminator)

    def writerow(self, rowdict: Mapping[str, Any]) -> Any:
        """Write one row."""
        return super().writerow({name: plain(cell) for name, cell in rowdict.items()})

    def writerows(self, rowdicts: Iterable[Mapping[str, Any]]) -> None:
        """Write rows."""
        for row in rowdicts:
            self.writerow(row)


def to_csv(table: pd.DataFrame, target: Any = None, **how: Any) -> Any:
    """As a table's own ``to_csv``, each cell and each name of a row or column `plain`."""
    copy = table.rename(index=plain, columns=plain)
    for place in range(table.shape[1]):
        cells = table.iloc[:, place].tolist()
        if any(isinstance(cell, str) for cell in cells) and (made := [plain(cell) for cell in cells]) != cells:
            copy.isetitem(place, made)
    return copy.to_csv(target, **how)
