"""Every cell that a page offers to run does run there, with the text that is published: in Node, chapter by chapter."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import lanes
import pytest

from voicewire_book import paths
from voicewire_book.publish.live import chapters, proof
from voicewire_book.publish.pages import status

LIVE = paths.root() / "_build" / "html" / "live"
OFFERED = [f"{path.parent.name}/{path.stem}" for path in chapters.offered()]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("live", "node"),
]


@pytest.mark.parametrize("name", lanes.sampled(OFFERED, 1))
def test_cells_say_what_is_published(name: str) -> None:
    """Each in an engine of its own, which has the packages and the data that this chapter's page fetches."""
    (found,) = proof.prove(LIVE, [name])
    print(f"{found.ran} of {found.total} cells, {sum(found.took.values()):.0f} s of the processor")
    assert found.faults == {}
    assert found.needless == []
    listed = json.loads((LIVE / "chapters" / f"{name}.json").read_text("utf-8"))
    assert found.ran == len({cell["of"] for cell in listed["cells"] if cell["runs"]}) > 0


def spoiled(folder: Path, name: str, *sources: str) -> list[dict[str, Any]]:
    """Lay out a chapter whose first cells have these texts; return the cells."""
    (folder / "engine").symlink_to(LIVE / "engine")
    listed = json.loads((LIVE / "chapters" / f"{name}.json").read_text("utf-8"))
    listed["cells"] = [cell for cell in listed["cells"] if cell["runs"]][: len(sources)]
    for cell, source in zip(listed["cells"], sources, strict=True):
        cell["source"] = source
    file = folder / "chapters" / f"{name}.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(listed), "utf-8")
    return list(listed["cells"])


def test_versions_are_those_that_the_status_page_states(tmp_path: Path) -> None:
    names = ["numpy", "scipy", "pandas", "matplotlib", "sympy", "ipython"]
    chapter = "foundations/05_measuring_and_judging"  # its page fetches them all
    table = status.page(paths.root(), lambda target: None).partition("## Versions")[2]
    rows = {cells[1].strip().lower(): cells[3].strip() for cells in (row.split("|") for row in table.splitlines()[6:])}
    ask = f"import sys\nfrom importlib import metadata\nprint(sys.version.split()[0], *map(metadata.version, {names}))"
    (cell,) = spoiled(tmp_path, chapter, ask)
    fault = proof.prove(tmp_path, [chapter])[0].faults[cell["id"]]
    assert fault.partition("--- here\n")[2].split() == [rows[name] for name in ["python", *names]]


def test_a_fault_is_noticed(tmp_path: Path) -> None:
    """The same runner on a chapter whose cells were spoiled."""
    name = OFFERED[0]
    first, second = spoiled(tmp_path, name, "print('something else')", "1 / 0")
    faults = proof.prove(tmp_path, [name])[0].faults
    assert faults[first["id"]].startswith("differs") and faults[second["id"]].startswith("ZeroDivisionError")


def test_a_cell_that_never_ends_is_interrupted(tmp_path: Path) -> None:
    """And what comes after it runs."""
    name = OFFERED[0]
    _, second, third = spoiled(tmp_path, name, "n = 1", "while True:\n    n += 1", "print('something else')")
    faults = proof.prove(tmp_path, [name], limit=1)[0].faults
    assert proof.reason(faults[second["id"]]) == "long" and faults[third["id"]].startswith("differs")


def _compressed(file: Path) -> int:
    """Bytes that a server sends: it compresses what is no archive itself."""
    data = file.read_bytes()
    return len(data if file.suffix in (".gz", ".zip") else gzip.compress(data, 6))


def test_what_a_click_fetches_is_small() -> None:
    """At most 50 MB compressed for any chapter, 20 MB where NumPy and Matplotlib are all the large ones."""
    lock = json.loads((LIVE / "engine" / "pyodide-lock.json").read_text("utf-8"))["packages"]
    manifest = json.loads((LIVE / "live.json").read_text("utf-8"))
    for name in OFFERED:
        listed = json.loads((LIVE / "chapters" / f"{name}.json").read_text("utf-8"))
        files = [*(lock[each]["file_name"] for each in listed["packages"]), *listed["data"]]
        fetched = [*(LIVE / file for file in manifest["engine"]), *(LIVE / "engine" / file for file in files)]
        assert listed["bytes"] == sum(file.stat().st_size for file in fetched), name
        size = sum(map(_compressed, fetched)) / 1e6
        plain = not {"scipy", "pandas", "sympy"} & set(listed["packages"])
        print(f"{name}: {size:.1f} MB")
        assert size <= (20 if plain else 50), name
