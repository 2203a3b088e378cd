"""The page *How the project is built* names what is there: folders, files, functions, the way of one number."""

from __future__ import annotations

import ast
import json
import re

import pytest

from voicewire.nfc import session
from voicewire_book import paths
from voicewire_book.kit import claims

pytestmark = pytest.mark.landing

ROOT = paths.root()
PAGE = (ROOT / "book/architecture.md").read_text(encoding="utf-8")
NUMBER = "nfc.goodput-8kbps"


def test_each_path_is_there_for_every_part_that_it_speaks_of():
    named = re.findall(r"`((?:data|src|notebooks|book|tests|\.ci)/[\w./<>]*)`", PAGE)
    assert len(named) > 20
    for path in named:
        parts = paths.STUDIES if "<study>" in path else [part.name for part in paths.PARTS]
        for part in parts:
            assert (ROOT / re.sub(r"<\w+>", part, path)).exists(), path


def test_each_rule_is_in_the_file_that_is_named():
    rows = re.findall(r"^\| [^|]+ \| `([^`]+)`(?:, `(\w+)`)? \|$", PAGE, re.M)
    assert len(rows) == PAGE.partition("## Where a rule is")[2].count("\n|") - 2  # a head and its rule
    for path, name in rows:
        if name:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, path


def test_the_number_goes_the_way_that_is_told():
    claim = claims.load("nfc").claims[NUMBER]
    assert len(claim.readings) == 2 and set(claim.printed.values()) == {8.0}
    assert isinstance(session.Result.goodput, property)
    cells = json.loads((ROOT / "notebooks/nfc/03_reproduction.ipynb").read_text(encoding="utf-8"))["cells"]
    [judging] = [cell for cell in cells if cell["cell_type"] == "code" and f'"{NUMBER}"' in "".join(cell["source"])]
    assert "ledger.judge(" in "".join(judging["source"])
    [table] = [cell for cell in cells if NUMBER in json.dumps(cell.get("outputs", []))]
    assert "".join(table["source"]) == "ledger.table()"
    assert NUMBER in {row["id"] for row in claims.scorecard()}


def test_each_room_of_the_packages_is_told():
    rooms = {path.name for package in paths.PACKAGES for path in package.iterdir() if (path / "__init__.py").is_file()}
    told = {name for line in PAGE.splitlines() if line.startswith("**") for name in re.findall(r"[\w]+", line)}
    assert rooms - set(paths.STUDIES) <= told
