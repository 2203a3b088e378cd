"""The executor: the same bytes twice, and a clear end where a notebook fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from voicewire_book import paths
from voicewire_book.publish import notebooks

pytestmark = pytest.mark.landing


def write(path: Path, *sources: str) -> Path:
    cells = [new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    path.write_text(nbformat.writes(new_notebook(cells=cells)) + "\n", encoding="utf-8")
    return path


def test_running_twice_leaves_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks.paths, "root", lambda: tmp_path)
    path = write(tmp_path / "01_a.ipynb", "print(1)\nprint(2)", "6 * 7")
    (first,) = notebooks.run([path])
    content = path.read_bytes()
    (second,) = notebooks.run([path])
    assert first.changed
    assert not second.changed
    assert path.read_bytes() == content
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.execution_count for cell in cells] == [1, 2]
    assert cells[1].outputs[0].data["text/plain"] == "42"
    assert second.peak_bytes > 10_000_000


@pytest.mark.parametrize(
    ("source", "message"),
    [("1 / 0", "ZeroDivisionError"), ("import sys; print('oh', file=sys.stderr)", "wrote to stderr: oh")],
)
def test_a_failing_notebook_is_named_and_left_alone(tmp_path, monkeypatch, source, message):
    monkeypatch.setattr(notebooks.paths, "root", lambda: tmp_path)
    good, bad = write(tmp_path / "01_good.ipynb", "1"), write(tmp_path / "02_bad.ipynb", source)
    before = bad.read_bytes()
    with pytest.raises(notebooks.NotebookError, match=message) as error:
        notebooks.run([bad, good])
    assert "02_bad.ipynb" in str(error.value)
    assert bad.read_bytes() == before
    assert nbformat.read(good, as_version=4).cells[0].execution_count == 1


def test_cells_that_measure_do_not_count_as_changed():
    def timed(*tags: str, seconds: str) -> Any:
        output = new_output("stream", name="stdout", text=seconds)
        return new_notebook(cells=[new_code_cell("t", id="a", metadata={"tags": [*tags]}, outputs=[output])])

    measures = timed("nbval-ignore-output", seconds="1")
    assert notebooks.differing(measures, timed("nbval-ignore-output", seconds="2")) == ((), (1,))
    assert notebooks.differing(timed(seconds="1"), timed(seconds="2")) == ((1,), ())
    assert notebooks.differing(timed(seconds="1"), timed(seconds="1")) == ((), ())


@pytest.mark.needs("posix")
def test_the_kernel_cannot_be_reached_from_elsewhere_and_has_nothing_to_warn_of(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(notebooks.paths, "root", lambda: tmp_path)
    source = "import ipykernel.kernelapp as k; print(k.IPKernelApp.instance().transport)"
    path = write(tmp_path / "01_a.ipynb", source)
    notebooks.run([path])
    assert nbformat.read(path, as_version=4).cells[0].outputs[0].text == "ipc\n"
    told = capfd.readouterr()
    assert "1/1 changed" in told.out
    assert told.err == ""


def test_a_missing_file_is_an_error(capsys):
    assert notebooks.main(["run", "no/such.ipynb"]) == 1
    assert "no such file: no/such.ipynb" in capsys.readouterr().err


def test_a_kernel_that_dies_says_what_it_said_last(tmp_path):
    """ipykernel's own standard error is where a fault of its machinery, or of the interpreter, is told."""
    path = tmp_path / "dies.ipynb"
    dying = "import faulthandler, os, sys\nfaulthandler.enable(sys.__stderr__)\nos.kill(os.getpid(), 11)"
    notebooks.write(path, new_notebook(cells=[new_code_cell(dying)]))
    with pytest.raises(RuntimeError, match=r"(?s)died.*File"):
        notebooks.run([path])


def test_each_chapter_answers_its_question_beside_its_first_picture():
    """Before what will be learnt: after the drawing, or, in the foundations, after the first figure."""
    for path in paths.chapters():
        cells = nbformat.read(path, as_version=4).cells
        if "![" in cells[0].source:
            after = cells[0].source.partition("![")[2].partition("\n")[2].strip()
        else:
            shown = ["image/png" in str(cell.get("outputs")) for cell in cells]
            after = next(cell.source for cell in cells[shown.index(True) :] if cell.cell_type == "markdown")
        assert not after.startswith(("**You will", "*You will", "#", "|")), path
        assert len(after.partition("\n\n")[0].split()) > 10, path
