"""Every cell that a page offers to run does run there, with the text that is published: in Node, part by part."""

from __future__ import annotations

import gzip
import itertools
import json
import shutil
from pathlib import Path

import pytest

from voicewire import paths
from voicewire.publish.live import chapters, proof

LIVE = paths.root() / "_build" / "html" / "live"
OFFERED = [f"{path.parent.name}/{path.stem}" for path in chapters.offered()]
PARTS = [list(each) for _, each in itertools.groupby(OFFERED, lambda name: name.partition("/")[0])]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
    pytest.mark.skipif(not LIVE.is_dir(), reason="the book is not built, or its wheel set could not be had"),
]


@pytest.mark.parametrize("names", PARTS, ids=lambda names: names[0].partition("/")[0])
def test_cells_say_what_is_published(names: list[str]) -> None:
    for found in proof.prove(LIVE, names):
        print(f"{found.chapter}: {found.ran} of {found.total} cells, {sum(found.took.values()):.0f} s of the processor")
        assert found.faults == {}, found.chapter
        assert found.needless == [], found.chapter
        listed = json.loads((LIVE / "chapters" / f"{found.chapter}.json").read_text("utf-8"))
        assert found.ran == len({cell["of"] for cell in listed["cells"] if cell["runs"]}) > 0


def test_a_fault_is_noticed(tmp_path: Path) -> None:
    """The same runner on a chapter whose cells were spoiled."""
    name = OFFERED[0]
    (tmp_path / "engine").symlink_to(LIVE / "engine")
    listed = json.loads((LIVE / "chapters" / f"{name}.json").read_text("utf-8"))
    first, second = [cell for cell in listed["cells"] if cell["runs"]][:2]
    first["source"], second["source"] = "print('something else')", "1 / 0"
    listed["cells"] = [first, second]
    file = tmp_path / "chapters" / f"{name}.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(listed), "utf-8")
    faults = proof.prove(tmp_path, [name])[0].faults
    assert faults[first["id"]].startswith("differs") and faults[second["id"]].startswith("ZeroDivisionError")


def _compressed(file: Path) -> int:
    """Bytes that a server sends: it compresses what is no archive itself."""
    data = file.read_bytes()
    return len(data if file.suffix in (".whl", ".zip") else gzip.compress(data, 6))


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
