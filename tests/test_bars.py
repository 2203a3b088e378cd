"""The bars of the pages: each measure sees the fault it is there for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from voicewire_book.publish import lengths
from voicewire_book.publish.bars import __main__, bar, browser, files, pages, scorecard
from voicewire_book.publish.paper import chromium

pytestmark = pytest.mark.landing

BROWSER = pytest.mark.needs("chromium", "playwright")
PAGE = "<!DOCTYPE html><article class='bd-article'>{}</article>"
PICTURE = '<svg width="300" height="200" style="display: block"></svg>'
CODE = '<div class="cell_input"><pre>{}</pre></div>'


def seen(site: Path, body: str, *cells: str) -> list[bar.Bar]:
    """Return the bars of a site with one chapter; `cells` are woven."""
    (site / "notebooks/echo").mkdir(parents=True, exist_ok=True)
    (site / "notebooks/echo/01_a.html").write_text(PAGE.format(body), encoding="utf-8")
    source = site / "_sources/notebooks/echo/01_a.ipynb"
    source.parent.mkdir(parents=True, exist_ok=True)
    told = [{"cell_type": "code", "source": text, "metadata": {"voicewire": {"weave": ["x"]}}} for text in cells]
    source.write_text(json.dumps({"cells": told}))
    return pages.bars(browser.look(site, pages.names(site)))


def lost(bars: list[bar.Bar]) -> set[str]:
    return {one.name for one in bars if not one.holds} - {"lines of a woven piece"}


GOOD = PICTURE + CODE.format("x = 1\n")
LONG = "\n".join(f"x{i} = {i}" for i in range(lengths.VISIBLE + 1))
FAULTS = {
    "middle of the first picture or player": f'<div style="height: 750px"></div>{GOOD}',
    "visible lines of a cell": GOOD + CODE.format(LONG),
    "columns of visible code": GOOD + f"<div style='font-size: 8px'>{CODE.format('x' * 79)}</div>",
    "boxes of code that scroll sideways": GOOD + f"<pre style='overflow: auto; width: 99px'>{'x' * 60}</pre>",
    "boxes of any kind that scroll sideways": GOOD + f"<p style='overflow: auto; width: 99px'>{'x' * 60}</p>",
    "judging cells unfolded": GOOD + CODE.format('ledger.judge("a.b", 1)'),
    "claims printed more than once": GOOD + 2 * "<table class='vw-claims'><tr><td><code>a.b</code></td></tr></table>",
    "cards of a chapter": GOOD + 13 * '<div class="vw-card"></div>',
    "requests beyond the site": GOOD + '<img src="http://127.0.0.1:9/x.png">',
}


@BROWSER
def test_a_page_without_a_fault_holds_all_bars(tmp_path):
    found = seen(
        tmp_path, GOOD + CODE.format(LONG) + f"<details>{CODE.format('y = 2' + chr(10) + LONG)}</details>", LONG
    )
    assert [one for one in found if not one.holds] == []


@BROWSER
@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_seen_and_no_other(tmp_path, name):
    beside = {"boxes of any kind that scroll sideways"} if "of code that scroll" in name else set()
    assert lost(seen(tmp_path, FAULTS[name])) == {name} | beside


def test_a_link_that_leads_nowhere_is_named(tmp_path):
    (tmp_path / "a.html").write_text('<p id="x"><a href="#x">1</a> <a href="#y">2</a> <a href="b.html">3</a>')
    assert [re.sub(r" \(.*", "", one) for one in files.broken(tmp_path)] == ["a.html: #y", "a.html: b.html"]


def test_where_nothing_is_measured_nothing_holds():
    assert not bar.at_most("x", 1, []).holds
    assert all(not one.holds for one in pages.bars([]) if "requests" not in one.name and "pixels" not in one.name)


def test_a_missing_site_is_said(tmp_path, capsys):
    assert __main__.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"the bars: no pages in {tmp_path}: make book\n"


@pytest.mark.parametrize(
    ("name", "holds", "status", "told"),
    [
        ("broken links", False, 1, "lost: broken links"),
        ("broken links", True, 0, "lost: none"),
    ],
)
def test_it_fails_where_a_bar_is_lost(monkeypatch, capsys, name, holds, status, told):
    monkeypatch.setattr(chromium, "find", lambda: "browser")
    monkeypatch.setattr(pages, "names", lambda site: ["a.html"])
    monkeypatch.setattr(browser, "look", lambda site, names: [])
    monkeypatch.setattr(pages, "bars", lambda looks: [bar.Bar(name, "≤ 0", "1", "a.html", holds)])
    monkeypatch.setattr(scorecard, "bars", lambda site: [])
    monkeypatch.setattr(files, "bars", lambda site, toc: [])
    assert __main__.main(["site"]) == status
    assert told in capsys.readouterr().out
