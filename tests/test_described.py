"""What a paper describes has its place here, or a reason: the table in ``data/<study>/README.md`` is held to that.

A place is a file (`path`), something in it (`path:name`: a name that Python code defines, the name of a figure in a
notebook, a key of a JSON file, a column of a CSV file), or a claim by its id.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from voicewire_book import paths
from voicewire_book.kit import claims

pytestmark = pytest.mark.landing

ROOT = paths.root()
HEAD = "| where in the paper | what it describes | where it is here | or why not |"
LISTED = Path(__file__).with_name("described.txt")  # what another reading of each paper found, line by line
TABLES = [name for name in paths.STUDIES if HEAD in (ROOT / "data" / name / "README.md").read_text(encoding="utf-8")]


def rows(text: str) -> list[list[str]]:
    """Cells of each row below the table's head and its rule."""
    lines = text[text.index(HEAD) :].splitlines()[2:]
    table: list[list[str]] = []
    for line in lines:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return table


def names(tree: ast.AST, before: str = "") -> Iterator[str]:
    """Names that code defines at its top, and those in its classes."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield before + name
            case ast.ClassDef(name=name):
                yield before + name
                yield from names(node, f"{before}{name}.")
            case ast.Assign(targets=targets):
                yield from (before + target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield before + name


def holds(path: Path, name: str) -> bool:
    """Say whether a file has what stands behind the colon."""
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            return name in stream.readline().strip().split(",")
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return name in names(ast.parse(text))
    if path.suffix == ".json":
        return name in json.loads(text)
    if path.suffix == ".csv":
        return name in text.splitlines()[0].split(",")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        figures = (cell["metadata"].get("mystnb", {}).get("figure", {}).get("name") for cell in cells)
        return name in figures
    return False


def missing(cell: str, base: Path = ROOT) -> list[str]:
    """Places named in a cell that do not exist; a cell that names none is at fault itself."""
    places = re.findall(r"`([^`]+)`", cell)
    if not places:
        return [f"no place in {cell!r}"]
    absent = []
    for place in places:
        study, _, rest = place.partition(".")
        if "/" not in place and rest and study in paths.STUDIES:
            found = place in claims.load(study).claims
        else:
            file, _, name = place.partition(":")
            found = (base / file).exists() and (not name or holds(base / file, name))
        absent += [] if found else [place]
    return absent


@pytest.mark.parametrize("study", TABLES)
def test_what_the_paper_describes_has_a_place_or_a_reason(study):
    table = rows((ROOT / "data" / study / "README.md").read_text(encoding="utf-8"))
    assert len(table) > 10
    wrong = {}
    for cells in table:
        if len(cells) != 4 or not all(cells[:2]) or not (cells[2] or len(cells[3]) > 10):
            wrong[" | ".join(cells)] = ["a row has the place in the paper, what it says, and a place here or a reason"]
        else:
            absent = [
                place for cell in cells[2:] if cell and (cell is cells[2] or "`" in cell) for place in missing(cell)
            ]
            wrong |= {cells[1]: absent} if absent else {}
    assert wrong == {}


def listed() -> dict[str, list[list[str]]]:
    """Lines of `LISTED` by study, each as where, what, first words of its row; "+" leads if it had no row before."""
    parts = (part.partition("\n") for part in re.split(r"(?m)^## ", LISTED.read_text(encoding="utf-8"))[1:])
    return {name: [line.split(" = ") for line in body.splitlines() if line] for name, _, body in parts}


def unmatched(lines: list[list[str]], table: list[list[str]]) -> list[list[str]]:
    """Lines that are not three parts, or whose last part begins no row of the table, or more than one."""
    return [
        line
        for line in lines
        if len(line) != 3 or not line[2] or sum(cells[1].startswith(line[2]) for cells in table) != 1
    ]


@pytest.mark.parametrize("study", listed())
def test_what_another_reading_of_the_paper_found_has_its_row(study):
    page = (ROOT / "data" / study / "README.md").read_text(encoding="utf-8")
    lines = listed()[study]
    assert unmatched(lines, rows(page)) == []
    had = sum(not line[0].startswith("+ ") for line in lines)
    assert f"and the row of each; {had} of its {len(lines)} lines had one then." in " ".join(page.split())


def test_a_line_without_its_row_is_noticed():
    table = [["Section I", "two tubes", "`x`", ""], ["Section I", "two ears", "`y`", ""]]
    lines = [["I", "pipes", "two tubes"], ["I", "ears", "two"], ["I", "noses", "noses"], ["I", "eyes"], ["I", "a", ""]]
    assert unmatched(lines, table) == lines[1:]


@pytest.mark.parametrize(
    ("cell", "absent"),
    [
        ("`tests/test_described.py`", []),
        ("`tests/test_described.py:holds`, `transport.queueing`", []),
        ("`data/transport/extras.json:coap`", []),
        ("`data/transport/iterations.csv.gz:time_ms`, `data/transport/series.csv:round_trips`", []),
        ("`src/voicewire_book/chapters/transport/time_ratios.py:Factors.typical`", []),
        ("`notebooks/transport/03_tcp_against_mqtt.ipynb:fig-transport-headers-lan`", []),
        ("`tests/test_elsewhere.py`", ["tests/test_elsewhere.py"]),
        ("`tests/test_described.py:nobody`", ["tests/test_described.py:nobody"]),
        ("`transport.no-such-claim`", ["transport.no-such-claim"]),
        ("`data/transport/extras.json:amqp`", ["data/transport/extras.json:amqp"]),
        (
            "`notebooks/transport/03_tcp_against_mqtt.ipynb:fig-x`",
            ["notebooks/transport/03_tcp_against_mqtt.ipynb:fig-x"],
        ),
        ("`README.md:x`", ["README.md:x"]),
        ("somewhere", ["no place in 'somewhere'"]),
    ],
)
def test_a_place_that_is_not_there_is_noticed(cell, absent):
    assert missing(cell) == absent


def test_a_table_ends_where_it_ends():
    assert rows(f"x\n{HEAD}\n|---|---|---|---|\n| a | b | `c` | |\n\n| d | e | f | g |\n") == [["a", "b", "`c`", ""]]
