"""Chapters are told plainly, as far as a program sees it: figures are named, code has its word, sentences end."""

from __future__ import annotations

import json
import re

import nbformat
import plain
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from voicewire_book import paths

pytestmark = pytest.mark.landing

CHAPTERS = {f"{path.parent.name}/{path.stem}": path for path in paths.chapters()}
SHARE = 0.05
"""Of visible cells without a word, and of sentences that are long."""


@pytest.mark.parametrize("name", CHAPTERS)
def test_each_figure_is_named_before_it_is_seen(name):
    assert plain.look(nbformat.read(CHAPTERS[name], as_version=4)).unnamed == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_visible_code_has_its_word_and_sentences_end(name):
    found = plain.look(nbformat.read(CHAPTERS[name], as_version=4))
    assert len(found.unspoken) <= SHARE * found.cells, found.unspoken
    assert len(found.long) <= SHARE * found.sentences, found.long


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_lists_its_symbols(name):
    cells = json.loads(CHAPTERS[name].read_text(encoding="utf-8"))["cells"]
    [table] = ["".join(cell["source"]) for cell in cells if cell["id"] == "symbols"]
    assert "Symbols of this chapter" in table and table.count("\n| ") > 3
    told = "\n".join("".join(cell["source"]) for cell in cells if cell["id"] != "symbols")
    formulas = re.sub(r"\s", "", " ".join(re.findall(r"\$\$.*?\$\$|\$[^$]+\$", told, re.S)))
    listed = [symbol for row in table.split("\n| ")[1:] for symbol in re.findall(r"\$([^$]+)\$", row.split("|")[0])]
    parts = [part for symbol in listed for part in re.split(r"[,;]", re.sub(r"\s", "", symbol))]
    assert [part for part in parts if part not in formulas] == [], "listed, and in no formula"


def test_what_is_looked_for_is_found():
    named = {"mystnb": {"figure": {"name": "fig-a"}}}
    told = new_markdown_cell("See {numref}`fig-a`: " + "word " * 31 + "end. Short.\n\n| a row | of words |\n")
    cells = [new_code_cell("1"), told, *(new_code_cell("1", metadata=named) for _ in range(4))]
    found = plain.look(new_notebook(cells=cells))
    assert (found.figures, found.unnamed, found.sentences, len(found.long)) == (4, [], 2, 1)
    assert found.unspoken == [cells[0].id, cells[5].id]
    assert plain.look(new_notebook(cells=cells[2:])).unnamed == ["fig-a"] * 4


def test_a_formula_counts_as_one_word_and_what_is_set_apart_as_none():
    lists = "- one item;\n- another {cite:p}`who`.\n\n```{note} A title\n:class: x\n```"
    text = "# A heading\n\nLet $a = b + c$ be\n\n$$ a = b . $$ (eq-a)\n\n"
    assert [plain.words(each) for each in plain.sentences(text + lists)] == [3, 1, 2, 1]
