"""No cell of a table that we write is a formula to a spreadsheet, whatever it is set to."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire._kit import sheets
from voicewire_book import paths

NASTY = ["=1+1", ";=1+1", "ada;=1+1", "\uff1d1+1", "\uff0b1+a", "\uff0dA1", "\uff20SUM(A1)", "\ufe661+1", " =1+1",
         "\t=1+1", "\r=1+1", "a\n=1+1", "\ufeff=1+1", "\u200b=1+1", '"=1+1', 'x;"=1+1";', "a|=1+1", "@SUM(A1)", "+A1",
         "-A1", "-1+1", "=cmd|' /C calc'!A0", ";\u00a0=1+1", "\x00=1+1", "\u22121+A1"]  # fmt: skip
PLAIN = ["ada", "well-known", "a=b", "-5", "+49", "1e-5", "-1.5 -2.5", "F1 - F2", "@", "x; y", "", "\u00fc", "k = 3"]
TEXTS = st.one_of(
    st.sampled_from(NASTY), st.text(st.sampled_from("=+-@\uff1d;\t|\"' a1\n\r\u200b,"), max_size=8), st.text(max_size=6)
)


def runs(cell: str) -> bool:
    """Whether a spreadsheet might calculate a cell."""
    bare = "".join(c for c in cell if unicodedata.category(c)[0] not in "CZM").strip('"')
    signed = unicodedata.normalize("NFKC", bare)[:1] in ("=", "+", "-", "@", "\u2212")
    number = r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?"
    if bare[1:2] in ("", ",", '"'):  # a sign alone, or the next of our cells behind it: nothing to calculate
        return False
    return signed and not re.fullmatch(f"{number}( {number})*(,.*)?", cell.strip('"'))


def cells(text: str) -> list[str]:
    """The cells that programs find: by our rules, by another separator, and by one that minds no quotes."""
    found = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    for separator in ";\t|":
        found += [cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) for cell in row]
        found += [cell for line in text.splitlines() for cell in line.split(separator)]
    return found


def written(text: str) -> dict[str, str]:
    """A table with a text in a cell and in the name of a column, as each of our writers writes it."""
    made, other = io.StringIO(), io.StringIO()
    sheets.Writer(made).writerows([["name", text], [text, 1.5], ["ada", text]])
    rows = sheets.DictWriter(other, ["name", text], lineterminator="\n")
    rows.writeheader()
    rows.writerows([{"name": text, text: -1.5}])
    frame = sheets.to_csv(pd.DataFrame({"name": [text, "ada"], text: [-1.5, 2.0]}), index=False)
    named = sheets.to_csv(pd.DataFrame([[text, text]], index=[text], columns=["twice", "twice"]))
    return {"Writer": made.getvalue(), "DictWriter": other.getvalue(), "to_csv": frame, "to_csv with its index": named}


@given(TEXTS)
def test_no_cell_is_a_formula_whatever_separates_the_columns(text):
    for name, made in written(text).items():
        assert [cell for cell in cells(made) if runs(cell)] == [], (name, made)


def test_what_is_looked_for_would_be_found():
    """Each would be a formula as it stands, to some program."""
    for text in NASTY:
        made = io.StringIO()
        csv.writer(made).writerow(["name", text])
        assert any(map(runs, cells(made.getvalue()))), text
        assert sheets.plain(text) != text
        assert sheets.plain(sheets.plain(text)) == sheets.plain(text)


def test_what_is_no_formula_stays_as_it_is():
    for value in (*PLAIN, 1, -2.5, None, True, float("nan")):
        assert sheets.plain(value) == value or value != value
    table = pd.DataFrame({"a": [-1.25, float("nan")], "b": ["x", None], "c": [1, -2]})
    for how in ({"index": False}, {"index": False, "float_format": "%.3f", "header": False}):
        assert sheets.to_csv(table, **how) == table.to_csv(**how)


@pytest.mark.landing
def test_what_was_recorded_is_written_as_it_stands():
    for path in sorted((paths.root() / "data").rglob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            assert [cell for row in csv.reader(file) for cell in row if sheets.plain(cell) != cell] == [], path


def test_every_table_is_written_by_these():
    """A house rule: no csv.writer, and no table's own to_csv, anywhere else."""
    writes = re.compile(r"\bcsv\.(writer|DictWriter)\(|(?<!sheets)\.to_csv\(|text/csv")
    own = Path(sheets.__file__)
    found = []
    for folder in ("src", "tools", "benchmarks", "notebooks", "book/_static"):
        for path in sorted((paths.root() / folder).rglob("*")):
            if path.suffix in {".py", ".template", ".ipynb", ".js", ".mjs"} and path != own:
                found += [path.name] * bool(writes.search(path.read_text(encoding="utf-8")))
    assert found == []
