"""Falsifications of a verdict, of what it rests on and of what shows it: each is noticed, and here stands by what.

Each is done to a copy of the NFC study. Most are told by ``voicewire scorecard``, which recomputes what it can. What
was changed so that all that is stored goes together is noticed by ``make test``: by the one test that is named, or by
nbval, which runs the cell again.
"""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from voicewire import cli
from voicewire_book import paths
from voicewire_book.kit import claims

pytestmark = pytest.mark.night

ROOT = paths.root()
NOTEBOOK = "notebooks/nfc/03_reproduction.ipynb"
LEDGER = "data/nfc/claims.yml"
Tables = list[dict[str, Any]]
Change = Callable[[Tables], object]


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    """The checkout: the NFC study as a copy, all else linked."""
    base = tmp_path_factory.mktemp("book")
    for name in ("data", "notebooks"):
        shutil.copytree(ROOT / name / "nfc", base / name / "nfc")
    for path in (*ROOT.iterdir(), *(ROOT / "data").iterdir(), *(ROOT / "notebooks").iterdir()):
        if path.name not in ("data", "notebooks", "nfc", ".git"):
            (base / path.relative_to(ROOT)).symlink_to(path)
    return base


@pytest.fixture
def altered(book: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may alter."""
    return Path(shutil.copytree(book, tmp_path / "book", symlinks=True))


def in_notebook(change: Callable[[Any], object], name: str = NOTEBOOK) -> Callable[[Path], object]:
    def alter(base: Path) -> None:
        notebook = json.loads((base / name).read_text(encoding="utf-8"))
        change(notebook)
        (base / name).write_text(json.dumps(notebook), encoding="utf-8")

    return alter


def stored(change: Change) -> Callable[[Path], object]:
    """Change the tables of verdicts that a chapter has stored."""

    def tables(notebook: Any) -> None:
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
        change([output["data"] for output in outputs if claims.MIME in output.get("data", {})])

    return in_notebook(tables)


def row_of(tables: Tables, identifier: str) -> dict[str, Any]:
    return next(row for table in tables for row in table[claims.MIME] if row["id"] == identifier)


def edit(identifier: str, **fields: object) -> Change:
    """Change a row, and with it the table that shows it: only the row contradicts itself then."""

    def change(tables: Tables) -> None:
        for table in tables:
            rows = table[claims.MIME]
            if any(row["id"] == identifier for row in rows):
                row_of([table], identifier).update(fields)
                table.update(claims.Table(tuple(rows), frozenset())._repr_mimebundle_())

    return change


def in_text(kind: str, old: str, new: str) -> Change:
    def change(tables: Tables) -> None:
        table = next(table for table in tables if old in "".join(table[kind]))
        table[kind] = "".join(table[kind]).replace(old, new, 1)

    return change


def twice(tables: Tables) -> None:
    row = {**tables[0][claims.MIME][0], "reproduced": 1.0}
    tables[0][claims.MIME].append(row)


def lose(identifier: str) -> Change:
    """Take a row out of the tables that show it, and out of what they show."""

    def change(tables: Tables) -> None:
        for table in tables:
            kept = [row for row in table[claims.MIME] if row["id"] != identifier]
            if len(kept) < len(table[claims.MIME]):
                table.update(claims.Table(tuple(kept), frozenset())._repr_mimebundle_())

    return change


def rival_of(identifier: str, **fields: object) -> Change:
    def change(tables: Tables) -> None:
        known = {**row_of(tables, identifier)["rival"], **fields}
        edit(identifier, rival={name: value for name, value in known.items() if value is not None})(tables)

    return change


def reading_of(identifier: str, verdict: str) -> Change:
    def change(tables: Tables) -> None:
        readings = [{**one, "verdict": verdict} for one in row_of(tables, identifier)["readings"]]
        edit(identifier, readings=readings)(tables)

    return change


def in_file(name: str, old: str, new: str) -> Callable[[Path], object]:
    def alter(base: Path) -> None:
        text = (base / name).read_text(encoding="utf-8")
        assert old in text
        (base / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return alter


def entry(identifier: str, old: str, new: str) -> Callable[[Path], object]:
    """Change one entry of the ledger."""

    def alter(base: Path) -> None:
        parts = re.split(r"(?m)^(?=- id: )", (base / LEDGER).read_text(encoding="utf-8"))
        (place,) = [n for n, part in enumerate(parts) if part.startswith(f"- id: {identifier}\n")]
        assert re.search(old, parts[place])
        parts[place] = re.sub(old, new, parts[place], count=1)
        (base / LEDGER).write_text("".join(parts), encoding="utf-8")

    return alter


def in_another_chapter(base: Path) -> None:
    for name in ("01_slow_link", "02_errors_and_timers"):
        in_notebook(lambda notebook: notebook["cells"].extend(judging(base)), f"notebooks/nfc/{name}.ipynb")(base)


def judging(base: Path) -> list[Any]:
    cells = json.loads((base / NOTEBOOK).read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if any(claims.MIME in out.get("data", {}) for out in cell.get("outputs", []))]


def test_as_it_is_committed_it_goes_together(book):
    assert claims.problems(book, "nfc") == []


BY_THE_SCORECARD = [
    # a stored row, and with it the page that shows it
    (stored(edit("nfc.tcp.every-retransmission", verdict="reproduced")), "its numbers make it not reproduced"),
    (stored(edit("nfc.ge.q", verdict="contradicted by the paper itself")), "nfc.ge.q: its numbers make it reproduced"),
    (stored(edit("nfc.ge.q", verdict="reproduced, corrected")), "nfc.ge.q: its numbers make it reproduced, not"),
    (stored(edit("nfc.goodput-window-free", verdict="undecided")), "window-free: its numbers make it reproduced"),
    (stored(edit("nfc.ge.q", reproduced=0.5)), "nfc.ge.q: its numbers make it contradicted by the paper itself"),
    (stored(edit("nfc.fig-7.3.delay-1s", reproduced=1.04)), "1.04 was computed, and stands not in the reason"),
    (stored(edit("nfc.fig-7.3.delay-1s", printed=1.07)), "nfc.fig-7.3.delay-1s: printed is not what the ledger says"),
    (stored(edit("nfc.fig-7.3.delay-1s", statement="Another.")), "statement is not what the ledger says"),
    (stored(edit("nfc.fig-7.3.delay-1s", tolerance={"relative": 0.5})), "tolerance is not what the ledger says"),
    (stored(edit("nfc.ge.steady", interval=[0.0, 1.0])), "nfc.ge.steady: its numbers make it undecided"),
    (stored(edit("nfc.mss.large-is-best", verdict="not reproduced")), "nfc.mss.large-is-best: its numbers make it"),
    (stored(edit("nfc.fig-7.3.growth", verdict="not reproduced")), "nfc.fig-7.3.growth: its numbers make it"),
    (stored(edit("nfc.control.zero", verdict="not reproduced")), "nfc.control.zero: its numbers make it reproduced"),
    (stored(edit("nfc.table-7.3.proves", verdict="reproduced")), "nfc.table-7.3.proves: its numbers make it partly"),
    (stored(edit("nfc.table-7.3.random-1e-6", verdict="reproduced")), "its rival passes the same test"),
    (stored(edit("nfc.ge.q", verdict="not testable here")), "nothing is needed and no rival passes"),
    (stored(edit("nfc.ge.q", verdict="hangs on what the paper does not say")), "nfc.ge.q: hangs on readings, and"),
    (stored(edit("nfc.ge.q", digest="0" * 16)), "nfc.ge.q: stale"),
    (stored(edit("nfc.ge.q", id="nfc.ge.qq")), "nfc.ge.qq: shown in"),
    (stored(in_text("text/html", "7.2085 kbit/s", "8.2085 kbit/s")), "text/html says something else than its data"),
    (stored(in_text("text/html", "✗ not reproduced", "✓ reproduced")), "text/html says something else than its data"),
    (stored(in_text("text/plain", "✗ not reproduced", "✓ reproduced")), "text/plain says something else than its data"),
    (stored(twice), "shown twice in notebooks/nfc/03_reproduction.ipynb, with another verdict or other numbers"),
    (stored(lambda tables: [table.pop(claims.MIME) for table in tables]), "nfc.ge.q: unjudged"),
    (stored(edit("nfc.ge.q", tolerance_reason="It was so wide before.")), "tolerance_reason is not what the ledger"),
    (stored(edit("nfc.ge.q", where="Table 9")), "nfc.ge.q: where is not what the ledger says"),
    (stored(edit("nfc.ge.q", whose="ours")), "nfc.ge.q: whose is not what the ledger says"),
    (stored(lose("nfc.ge.q")), "nfc.ge.q: unjudged"),
    (stored(rival_of("nfc.fig-7.3.growth", passes=0.5)), "reproduced, although its rival passes the same test"),
    (stored(rival_of("nfc.fig-7.3.growth", passes=None, runs=None)), "although its rival was not run"),
    (stored(rival_of("nfc.fig-7.3.growth", mechanism="Another.")), "its rival is not the one that the ledger names"),
    (in_another_chapter, "judged in both notebooks/nfc/01_slow_link.ipynb and notebooks/nfc/02_errors"),
    # the ledger
    (entry("nfc.fig-7.3.delay-1s", r"printed: 1.08", "printed: 1.03"), "nfc.fig-7.3.delay-1s: stale"),
    (entry("nfc.fig-7.3.delay-1s", r"relative: 0.1", "relative: 0.5"), "nfc.fig-7.3.delay-1s: stale"),
    (entry("nfc.fig-7.3.delay-1s", r"statement: With", "statement: Hardly with"), "nfc.fig-7.3.delay-1s: stale"),
    (entry("nfc.fig-7.3.delay-1s", r"kind: value", "kind: arithmetic"), "nfc.fig-7.3.delay-1s: stale"),
    (entry("nfc.goodput-unit", r"(?s)\n  correction:.*", "\n"), "nfc.goodput-unit: stale"),
    (entry("nfc.goodput-window-free", r"mechanism: .*", 'mechanism: "Another"}'), "nfc.goodput-window-free: stale"),
    (entry("nfc.goodput-window-free", r"rival: .*", 'rival: {none: "Not needed"}'), "nfc.goodput-window-free: stale"),
    (entry("nfc.fig-7.3.delay-1s", r"(?s).*", ""), "nfc.fig-7.3.delay-1s: shown in"),
    # what was recorded
    (in_file("data/nfc/lwip.csv", "6.2800", "6.2900"), "nfc/lwip.csv: is not what was recorded"),
    (lambda base: (base / "data/nfc/lwip.csv").unlink(), "nfc/lwip.csv: was recorded and is gone"),
    (lambda base: (base / "data/nfc/more.csv").write_text("1"), "nfc/more.csv: has no line in checksums.sha256"),
    (lambda base: (base / "data/nfc/checksums.sha256").unlink(), "nfc/lwip.csv: has no line in checksums.sha256"),
]  # fmt: skip


@pytest.mark.parametrize(("falsify", "said"), BY_THE_SCORECARD)
def test_the_scorecard_notices(altered, monkeypatch, capsys, falsify, said):
    falsify(altered)
    monkeypatch.setenv("VOICEWIRE_ROOT", str(altered))
    assert cli.main(["scorecard", "nfc"]) == 1
    assert said in capsys.readouterr().err


# What goes together: `make test` notices


def everywhere(identifier: str) -> Callable[[Path], object]:
    """Take a claim out of the ledger, out of the tables, and out of the cells that judge it."""

    def unjudged(notebook: Any) -> None:
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                kept = re.sub(rf'(?m)^ledger\.judge\("{identifier}".*\n', "", "".join(cell["source"]))
                cell["source"] = kept.splitlines(keepends=True)

    def alter(base: Path) -> None:
        entry(identifier, r"(?s).*", "")(base)
        stored(lose(identifier))(base)
        in_notebook(unjudged)(base)

    return alter


def typed(notebook: Any) -> None:
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if 'ledger.judge("nfc.goodput-ceiling", ceiling)' in source:
            cell["source"] = source.replace('ceiling", ceiling', 'ceiling", 8.0').splitlines(keepends=True)


def out_of_order(notebook: Any) -> None:
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    cells[-1]["execution_count"], cells[-2]["execution_count"] = 3, 4


def cleared(notebook: Any) -> None:
    for cell in notebook["cells"]:
        if any(claims.MIME in output.get("data", {}) for output in cell.get("outputs", [])):
            cell["outputs"] = []


BY_A_TEST = [
    (everywhere("nfc.table-7.1.rate"), "ledger/test_evidence.py", "test_a_claim_has_its_name_for_ever", ()),
    (in_notebook(typed), "ledger/test_literals.py", "test_what_was_typed_in_is_judged_by_reading_only", ("nfc",)),
    (in_notebook(out_of_order), "test_book.py", "test_a_notebook_was_executed_from_top_to_bottom", (NOTEBOOK,)),
    (in_notebook(cleared), "test_book.py", "test_no_output_was_cleared", (NOTEBOOK,)),
]


def module_of(name: str) -> ModuleType:
    """Import a file of tests anew: it looks at the checkout that VOICEWIRE_ROOT names."""
    spec = importlib.util.spec_from_file_location(f"anew_{Path(name).stem}", ROOT / "tests" / name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("falsify", "file", "test", "given"), BY_A_TEST)
def test_make_test_notices(altered, monkeypatch, falsify, file, test, given):
    monkeypatch.setenv("VOICEWIRE_ROOT", str(altered))
    given = [altered / each if "/" in each else each for each in given]
    getattr(module_of(file), test)(*given)
    falsify(altered)
    assert claims.problems(altered, "nfc") == [] or test == "test_no_output_was_cleared"
    with pytest.raises(AssertionError):
        getattr(module_of(file), test)(*given)


# What only running the cell again shows: nbval, as `make test` calls it

BEGIN = """\
from pathlib import Path

from voicewire_book.kit import claims

base = Path("../..").resolve()
ledger = claims.load("nfc", base)
recorded = (base / "data/nfc/lwip.csv").read_text().splitlines()
flat, growing = [[1, 2, 4], [5.0, 5.0, 5.0]], [[1, 2, 4], [5.0, 6.0, 7.0]]"""
RATE = """\
ledger.judge("nfc.table-7.1.rate", 8e-3 * 14 / 0.01, reason="One chunk.")
ledger.table("table-7.1.rate")"""
FREE = """\
ledger.judge("nfc.goodput-window-free", flat, rival=[growing])
ledger.table("goodput-window-free")"""
PRINT = "print(8e-3 * 14 / 0.01)"
READ = "print(recorded[1])"


def forged(**fields: object) -> Callable[[Any], object]:
    """Change a row so that it goes together with itself, and the page that shows it."""

    def change(cell: Any) -> None:
        data = cell["outputs"][0]["data"]
        edit(data[claims.MIME][0]["id"], **fields)([data])

    return change


def rival_passes(cell: Any) -> None:
    data = cell["outputs"][0]["data"]
    rival_of(data[claims.MIME][0]["id"], passes=0.04)([data])


BY_RUNNING_IT = {
    "nothing": (RATE, lambda cell: None),
    "nothing else": (FREE, lambda cell: None),
    "a changed reason": (RATE, forged(reason="11.2 kbit/s. As the authors measured.")),
    "number, reason and verdict": (
        RATE, forged(reproduced=9.7, reason="9.7 kbit/s. One chunk.", verdict="contradicted by the paper itself")
    ),
    "a rival's pass rate": (FREE, rival_passes),
    "the cell's code, not its output": (RATE, lambda cell: cell.update(source=cell["source"].replace("14", "15"))),
    "a printed number": (PRINT, lambda cell: cell["outputs"][0].update(text="11.3\n")),
    "a recording and its checksum": (READ, lambda cell: None),
}  # fmt: skip


def executed(source: str, names: dict[str, Any]) -> Any:
    """Run a cell here, and store what it gives."""
    body, _, last = source.rpartition("\n")
    exec(body, names)
    if last.startswith("print"):
        made = new_output("stream", name="stdout", text=f"{eval(last.removeprefix('print'), names)}\n")
    else:
        made = new_output("execute_result", data=eval(last, names)._repr_mimebundle_(), execution_count=1)
    return new_code_cell(source, outputs=[nbformat.from_dict(json.loads(json.dumps(made)))], execution_count=1)


@pytest.mark.slow
def test_running_it_again_notices(altered):
    shutil.rmtree(altered / "notebooks/nfc")
    (altered / "notebooks/nfc").mkdir()
    names: dict[str, Any] = {}
    exec(BEGIN.replace('Path("../..").resolve()', f"Path({str(altered)!r})"), names)
    cells = [new_code_cell(BEGIN, execution_count=1)]
    for source, falsify in BY_RUNNING_IT.values():
        fresh = {**names, "ledger": copy.deepcopy(names["ledger"])}
        cell = executed(source, fresh)
        cell["source"] = f"ledger = claims.load('nfc', base)\n{source}"
        falsify(cell)
        cells.append(cell)
    (altered / "data/nfc/lwip.csv").write_text("case\ntable-7.2/1460,6.2700,5000,4,0,0\n")
    digest = hashlib.sha256((altered / "data/nfc/lwip.csv").read_bytes()).hexdigest()
    (altered / "data/nfc/checksums.sha256").write_text(f"{digest}  lwip.csv\n")
    path = altered / "notebooks/nfc/01_tiny.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "P"}}), path)
    told = claims.problems(altered, "nfc")
    assert [fault for fault in told if "unjudged" not in fault and "shown twice" not in fault] == []
    command = [
        sys.executable, "-m", "pytest", "-p", "tests.nbval_tolerance", "-p", "no:cacheprovider", "--nbval",
        "--nbval-current-env", "--nbval-sanitize-with", "tests/nbval_sanitize.cfg", "-rA", "--tb=no", "--color=no",
        str(path),
    ]  # fmt: skip
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    found = {int(n): word for word, n in re.findall(r"(PASSED|FAILED) \S*::Cell (\d+)", run.stdout)}
    assert len(found) == len(cells), run.stdout + run.stderr
    noticed = {name for number, name in enumerate(BY_RUNNING_IT, 1) if found[number] == "FAILED"}
    assert noticed == set(BY_RUNNING_IT) - {"nothing", "nothing else"}


def test_there_are_thirty():
    assert len(BY_THE_SCORECARD) + len(BY_A_TEST) + len(BY_RUNNING_IT) - 2 >= 30
