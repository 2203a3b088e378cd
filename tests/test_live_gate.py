"""What others wrote stands in a page that runs code without fetching, covering or running anything, in two browsers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import nbformat
import pytest
from live_pages import served
from two_browsers import elsewhere, in_chromium, in_firefox

from voicewire_book import paths

NAME = "nfc/01_slow_link"

SHOW = """
const { append } = await import('/_static/live/outputs.mjs');
const place = document.createElement('div');
place.className = 'cell_output vw-yours';
document.querySelector('.bd-article div.cell').append(place);
for (const data of given) append(place, { output_type: 'display_data', data }, () => 'Figure', async () => ({}));
await new Promise((done) => setTimeout(done, 300)); // what is fetched has been asked for by then
const inside = [...place.querySelectorAll('*')];
place.scrollIntoView({ block: 'start' });
const { left, right, top, bottom } = place.getBoundingClientRect();
const covers = [];
for (let x = 5; x < innerWidth; x += 40) for (let y = 5; y < innerHeight; y += 40) {
  const found = document.elementFromPoint(x, y);
  const within = left <= x && x <= right && top <= y && y <= bottom;
  if (found && found !== place && place.contains(found) && !within) covers.push(found.outerHTML.slice(0, 200));
}
const flows = (one) => ['static', 'relative'].includes(getComputedStyle(one).position);
const moved = inside.filter((one) => !flows(one)).map((one) => one.outerHTML.slice(0, 200));
const html = place.innerHTML;
const elements = {};
for (const { localName } of inside) elements[localName] = (elements[localName] ?? 0) + 1;
const classes = inside.flatMap((one) => [...one.classList]).sort();
place.remove();
return { covers, moved, html, elements, classes, caught: window.caught ?? null };
"""
"""Show outputs in a chapter's page, and tell what they cover, what leaves the flow of the page and what is left."""

ATTACKS = [
    '<b onclick="caught = 1" onmouseover="caught = 1">bold</b>',
    "<script>caught = 1</script><style>body { display: none }</style>",
    '<img src=x onerror="caught = 1"><img src="HOST/img.png"><img srcset="HOST/set.png 1x">',
    '<img src="data:image/svg+xml;base64,PHN2Zy8+">',
    '<picture><source srcset="HOST/picture.png"><img></picture>',
    '<audio src="HOST/a.wav" autoplay></audio><video poster="HOST/v.png"><source src="HOST/v.webm"></video>',
    '<a href="javascript:caught = 1">go</a><a href="HOST/?secret" ping="HOST/ping">go</a><a href="//elsewhere">go</a>',
    '<iframe src="HOST/frame"></iframe><iframe srcdoc="<script>parent.caught = 1</script>"></iframe>',
    '<object data="HOST/o"></object><embed src="HOST/e"><applet code="HOST/a"></applet><frameset><frame src="HOST/f">',
    '<link rel="stylesheet" href="HOST/l.css"><link rel="prefetch" href="HOST/p"><base href="HOST/">',
    '<meta http-equiv="refresh" content="0; url=HOST/meta">',
    '<form action="HOST/form"><input autofocus onfocus="caught = 1" type="image" src="HOST/i.png"><button>Run</button>',
    '<svg><script>caught = 1</script><image href="HOST/s.png"/><use href="HOST/u.svg#a"/><a href="HOST/sa">x</a></svg>',
    '<svg><style>*{position:fixed}</style><foreignObject><img src="HOST/foreign.png"></foreignObject></svg>',
    '<math><mtext><img src=x onerror="caught = 1"></mtext><a href="HOST/m">x</a></math>',
    '<table background="HOST/t.png"><tr><td background="HOST/td.png">x</td></tr></table><body background="HOST/b.png">',
    '<template><img src="HOST/template.png"></template><noscript><img src="HOST/ns.png"></noscript>',
    '<div class="position-fixed top-0 start-0 w-100 h-100 vw-100 modal show fixed-top sticky-top">covers</div>',
    '<div class="vw-hint vw-term vw-large vw-live vw-started" role="dialog" id="main-content">covers</div>',
    '<dialog open style="position:fixed;inset:0">covers</dialog><div popover>covers</div>',
    '<details class="vw-try" open data-numbers="{}"><summary data-bs-toggle="modal" data-bs-target="body">x</summary>',
    '<p style="margin: -3000px; margin-top: -3000px">covers</p><p style="background: url(HOST/p.png)">covers</p>',
]
VALUES = [
    *("fixed", "absolute", "sticky", "-3000px", "99999px", "scale(99)", "matrix(9,0,0,9,0,0)", "9999999", "none"),
    *("url(HOST/PROPERTY.png)", 'image-set("HOST/PROPERTY.png" 1x)', "-webkit-image-set(url(HOST/PROPERTY.png) 1x)"),
    *("cross-fade(url(HOST/PROPERTY.png), red)", "u\\72l(HOST/PROPERTY.png)", "0 0 0 9999px red", "visible"),
]

FIREFOX = [pytest.mark.needs("firefox"), pytest.mark.night]  # before a landing, Chromium stands for both
pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("live", "chromium", "playwright"),
]


@pytest.fixture(scope="module", params=[in_chromium, pytest.param(in_firefox, marks=FIREFOX)])
def page(request: Any) -> Iterator[Callable[..., Any]]:
    with served() as server, request.param(f"{server.address}notebooks/{NAME}.html") as window:
        yield window.run


def test_no_element_attribute_or_class_fetches_covers_or_runs(page: Callable[..., Any]) -> None:
    with elsewhere() as (host, asked):
        told = page(SHOW, [{"text/html": attack.replace("HOST", host)} for attack in ATTACKS])
    assert asked == []
    assert told["caught"] is None
    assert told["covers"] == [] and told["moved"] == []
    assert host not in told["html"] and "javascript:" not in told["html"]
    assert "bold" in told["html"] and "covers" in told["html"], "words stay, whatever stood around them"


def test_no_property_of_the_browser_fetches_or_covers(page: Callable[..., Any]) -> None:
    with elsewhere() as (host, asked):
        names = page(
            "return [...new Set([...getComputedStyle(document.body), 'inset', 'background', 'mask', 'content'])]"
        )
        assert len(names) > 250
        styles = [f"{name}: {value.replace('PROPERTY', name)}" for name in names for value in VALUES]
        html = "".join(f"<p style='{style.replace('HOST', host)}'>x</p>" for style in styles)
        told = page(SHOW, [{"text/html": html}])
    assert asked == []
    assert told["covers"] == [] and told["moved"] == []
    assert not [sign for sign in (host, "url", "image-set") if sign in told["html"]]


def test_a_picture_or_a_kind_of_its_own_fetches_nothing(page: Callable[..., Any]) -> None:
    with elsewhere() as (host, asked):
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" onload="caught = 1"><image href="{host}/i.png"/>'
            f"<style>@import '{host}/c.css'; rect {{ fill: url({host}/f.svg#a) }}</style><script>caught = 1</script>"
            "</svg>"
        )
        widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "application/javascript": "caught = 1"}
        png = f'" onerror="caught = 1" src="{host}/png'
        told = page(
            SHOW, [{"image/svg+xml": svg}, widget, {"image/png": png}, {"text/markdown": f"![a]({host}/m.png)"}]
        )
    assert asked == []
    assert told["caught"] is None and told["elements"]["img"] == 2
    assert "this page cannot show it" in told["html"]


def test_the_books_own_outputs_lose_nothing(page: Callable[..., Any]) -> None:
    """Tables, ledgers and players of all notebooks pass as they are; a slider is drawn in another way in a page."""
    own = []
    for path in paths.chapters():
        notebook = nbformat.read(path, 4)  # type: ignore[no-untyped-call]
        outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
        own += [out["data"]["text/html"] for out in outputs if "text/html" in out.get("data", {})]
    own = [html for html in own if 'class="vw-slider"' not in html and "<script" not in html]
    assert len(own) > 30
    for html in own:
        count = """
        const box = document.createElement('div');
        box.innerHTML = given;
        box.querySelectorAll('style').forEach((one) => one.remove());
        const inside = [...box.querySelectorAll('*')];
        const elements = {};
        for (const { localName } of inside) elements[localName] = (elements[localName] ?? 0) + 1;
        return { elements, classes: inside.flatMap((one) => [...one.classList]).sort(), text: box.textContent };
        """
        before = page(count, html)
        after = page(SHOW, [{"text/html": html}])
        after["elements"]["div"] -= 1  # the output's own box
        after["elements"] = {name: number for name, number in after["elements"].items() if number}
        assert after["elements"] == before["elements"]
        assert [name for name in after["classes"] if name not in ("output", "text_html")] == before["classes"]
