"""The labs on their pages: stages in order, each with an empty cell and its check; the worked solution passes them."""

from __future__ import annotations

import re
from types import ModuleType

import nbformat
import pytest
from asking import check

from voicewire.transport.reference import block_option, blocks_of
from voicewire_book import paths
from voicewire_book.chapters.transport.exercises import (
    measuring_honestly,
    sockets_and_segments,
    tcp_against_mqtt,
    which_transport,
)

LABS = {
    "01_sockets_and_segments": sockets_and_segments,
    "02_measuring_honestly": measuring_honestly,
    "03_tcp_against_mqtt": tcp_against_mqtt,
    "04_which_transport": which_transport,
}
IMPORTS = ("from ", "import ", ")", "    ")


def cells(name: str) -> list[nbformat.NotebookNode]:
    """The cells of a chapter's lab."""
    rows = nbformat.read(paths.root() / "notebooks" / "transport" / f"{name}.ipynb", as_version=4).cells
    start = next(i for i, cell in enumerate(rows) if cell.source.startswith("## Lab: "))
    end = next(i for i, cell in enumerate(rows) if cell.source.startswith("## Summary"))
    return rows[start:end]


def stages(name: str) -> list[tuple[int, str, str]]:
    """Each stage's number, the name of the empty cell behind it, and the label of the check behind that."""
    rows, found = cells(name), []
    for i, cell in enumerate(rows):
        for number in re.findall(r"\*\*Stage (\d)\.\*\*", cell.source) if cell.cell_type == "markdown" else ():
            empty = re.fullmatch(r"(\w+) = None  # .+", rows[i + 1].source)
            asked = re.fullmatch(r'check\("([\w-]+)", (\w+)\)', rows[i + 2].source)
            assert empty and asked and empty[1] == asked[2] and "check" in rows[i + 2].metadata["tags"]
            found.append((int(number), empty[1], asked[1]))
    return found


@pytest.mark.parametrize("name", LABS)
def test_a_lab_has_four_to_eight_stages_in_order_and_no_check_is_left_out(name: str) -> None:
    found = stages(name)
    assert [number for number, _, _ in found] == list(range(1, len(found) + 1))
    assert 4 <= len(found) <= 8
    assert sorted(label for _, _, label in found) == sorted(x for x in LABS[name].EXERCISES if "-lab-" in x)


def solved(name: str, lab: ModuleType) -> dict[str, object]:
    """Run what the page gives to work with, and its worked solution."""
    known: dict[str, object] = {"lab": lab, "block_option": block_option, "blocks_of": blocks_of}
    for cell in cells(name):
        given = cell.cell_type == "code" and all(
            line.startswith(IMPORTS) for line in cell.source.splitlines() if line.strip()
        )
        if given or "solution" in cell.metadata.get("tags", ()):
            code = "\n".join(line for line in cell.source.splitlines() if not line.startswith("print("))
            exec(compile(code, name, "exec"), known)
    return known


@pytest.mark.parametrize(("name", "lab"), LABS.items(), ids=list(LABS))
def test_the_worked_solution_on_the_page_passes_every_stage(name: str, lab: ModuleType) -> None:
    known = solved(name, lab)
    for number, place, label in stages(name):
        answer = known.get(f"solved_{place}")
        if answer is None:  # the last stage that takes several functions together
            said = next(cell.source for cell in cells(name) if f"{place} = None  # (" in cell.source)
            names = said.partition("# (")[2].rstrip(")").split(", ")
            answer = tuple(known[f"solved_{one}"] for one in names)
        feedback = check(label, answer)
        assert feedback, f"stage {number}: {feedback.message}"
        printed = "".join(
            output.get("text", "") for cell in cells(name) for output in cell.get("outputs", ())
        ).splitlines()
        assert f"Right: {feedback.message}" in printed
