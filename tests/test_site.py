"""The built site: every link and anchor resolves, nothing is fetched from elsewhere, no graded solution is in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
import yaml
from fontTools.ttLib import TTFont
from rocrate.rocrate import ROCrate

from voicewire_book import paths
from voicewire_book.kit import claims
from voicewire_book.publish.machines import listing
from voicewire_book.publish.pages import light

ROOT = paths.root()
SITE = ROOT / "_build" / "html"

pytestmark = [pytest.mark.landing, pytest.mark.needs("pages")]

LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "audio": "src",
    "video": "src",
    "source": "src",
    "object": "data",
}
LOADED_LINKS = {"stylesheet", "icon", "shortcut", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload"}


class Page(HTMLParser):
    """The ids, the links and the loaded files of one page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.undescribed: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADS and given.get(LOADS[tag]):
            self.loads.append(given[LOADS[tag]])
        if tag == "link" and LOADED_LINKS & set(given.get("rel", "").split()):
            self.loads.append(given["href"])
        if tag == "img" and "alt" not in given:
            self.undescribed.append(given.get("src", "")[:60])


@cache
def pages() -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(SITE.rglob("*.html"))}


def is_remote(address: str) -> bool:
    return bool(re.match(r"(https?:)?//", address))


def test_links_and_anchors_resolve():
    broken = []
    for path, page in pages().items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                broken.append(f"{path.relative_to(SITE)}: {link}")
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in pages()[target].ids:
                broken.append(f"{path.relative_to(SITE)}: {link} (no such anchor)")
    assert broken == []


def test_ids_are_unique_on_each_page():
    twice = {
        str(path.relative_to(SITE)): {i for i in page.ids if page.ids.count(i) > 1}
        for path, page in pages().items()
        if len(page.ids) != len(set(page.ids))
    }
    assert twice == {}


def test_nothing_is_loaded_from_elsewhere():
    remote = [
        f"{path.relative_to(SITE)}: {address}"
        for path, page in pages().items()
        for address in page.loads
        if is_remote(address)
    ]
    for style in SITE.rglob("*.css"):
        content = style.read_text(encoding="utf-8")
        remote += [
            f"{style.relative_to(SITE)}: {found}"
            for found in re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)", content)
        ]
    assert remote == []


def test_every_file_that_a_page_loads_is_there():
    missing = []
    for path, page in pages().items():
        for address in page.loads:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            if not (path.parent / unquote(parts.path)).is_file():
                missing.append(f"{path.relative_to(SITE)}: {address}")
    assert missing == []


def test_every_picture_is_described():
    assert {str(p.relative_to(SITE)): page.undescribed for p, page in pages().items() if page.undescribed} == {}


@pytest.mark.needs("git-checkout")
def test_launch_links_point_to_notebooks_of_the_repository():
    found = 0
    tracked = set(subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines())
    for path, page in pages().items():
        for link in page.links:
            if "mybinder.org" not in link:
                continue
            target = re.search(r"urlpath=(?:lab/tree|tree)/([^&]+)", unquote(link))
            assert target, f"{path.relative_to(SITE)}: {link}"
            assert (ROOT / target.group(1)).exists(), link
            # a folder is in the repository if a file in it is; an archive without git knows only what lies there
            wanted = target.group(1).rstrip("/")
            assert not tracked or any(name == wanted or name.startswith(f"{wanted}/") for name in tracked), link
            found += 1
    assert found >= len(paths.chapters())


def test_only_what_mathjax_needs_is_left_of_it():
    folder = SITE / "_static" / "mathjax"
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
    parts = [part.removesuffix(".js") for part in config["mathjax3_config"]["loader"]["load"]]
    assert [part for part in ("startup", *parts) if not (folder / f"{part}.js").is_file()] == []
    assert not (folder / "tex-chtml.js").exists()
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 5_000_000


def test_the_address_of_every_claim_resolves():
    """Each is a row of the scorecard, and of the notebook that judges it."""
    told = json.loads((SITE / "claims.json").read_text(encoding="utf-8"))
    book = told["book"]["address"]
    known = {claim["id"] for study in claims.studies() for claim in claims.scorecard(study=study)}
    assert {claim["id"] for claim in told["claims"]} == known
    for claim in told["claims"]:
        for address in (claim["address"], _in_the_notebook(claim, book)):
            page, _, fragment = address.removeprefix(book).partition("#")
            assert fragment in pages()[SITE / page].ids, address


def _in_the_notebook(claim: dict[str, Any], book: str) -> str:
    """Return the place where a claim was judged; its row in the scorecard while it was not."""
    if claim["notebook"] is None:
        return str(claim["address"])
    return f"{book}{claim['notebook'].removesuffix('.ipynb')}.html#{claim['anchor']}"


def test_every_judged_row_of_the_scorecard_links_to_the_notebook():
    text = (SITE / "book" / "scorecard.html").read_text(encoding="utf-8")
    for claim in json.loads((SITE / "claims.json").read_text(encoding="utf-8"))["claims"]:
        row = text.partition(f'id="score-{claim["id"]}"')[2].partition("</dl>")[0]
        assert (f'.html#{claim["anchor"]}"' in row) is (claim["notebook"] is not None), claim["id"]


def test_what_programs_find_keeps_to_its_schema_and_can_be_read_back():
    told, schema = (json.loads((SITE / name).read_text(encoding="utf-8")) for name in (listing.NAME, listing.SCHEMA))
    jsonschema.Draft202012Validator(schema).validate(told)
    read = ROCrate(SITE)
    files = {entity.id for entity in read.get_by_type("File")}
    assert [name for name in files if not (SITE / unquote(name)).is_file()] == []
    shown = {path.relative_to(ROOT).with_suffix("").as_posix() for path in paths.chapters()}
    assert {f"{name}.html" for name in shown} | {f"_sources/{name}.ipynb" for name in shown} <= files
    text = (SITE / "book" / "scorecard.html").read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text)
    assert json.loads(data)["@graph"]


def test_every_icon_that_a_page_shows_is_there_and_few_others():
    """By a font with these characters only: the style sheets name no other icon, and no script draws them again."""
    sheets = [path.read_text(encoding="utf-8") for path in (SITE / "_static").rglob("*.css")]
    fonts = {path.stem: TTFont(path).getBestCmap() for path in (SITE / light.FONTS).iterdir()}
    shown = set()
    for path in pages():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'<script[^>]*fontawesome\.js', text), path
        shown |= set(re.findall(r'<i [^>]*\bclass="[^"]*\bfa([sb-])[^"]*\bfa-((?!solid|brands|lg|fw)[a-z-]+)', text))
    assert len(shown) > 5
    for style, name in shown:
        found = re.search(rf'\.fa-{name}:before[^{{}}]*{{content:"\\([0-9a-f]{{4}}) "', " ".join(sheets))
        assert found, name
        assert int(found[1], 16) in fonts["fa-brands-400" if style == "b" else "fa-solid-900"], name
    assert {code for font in fonts.values() for code in font} <= light.icons(sheets)
    assert sum(path.stat().st_size for path in (SITE / light.FONTS).iterdir()) < 30_000
    assert not [*(SITE / "_static").rglob("*.map")]


def test_the_style_of_what_a_click_brings_is_whole():
    """Its elements are on no page before, so no rule of it may be taken for one that nothing needs."""
    name = "live/live.css"
    assert (SITE / "_static" / name).read_text("utf-8") == (ROOT / "book" / "_static" / name).read_text("utf-8")


def test_no_style_sheet_has_rules_for_classes_that_no_page_and_no_script_knows():
    named, kept = light.words(SITE), set[str]()
    for sheet in (path for path in (SITE / "_static").rglob("*.css") if path.parent != SITE / light.LIVE):
        light.purge(sheet.read_text(encoding="utf-8"), lambda name: bool(kept.add(name)) or True)  # type: ignore[func-returns-value]
    assert len(kept) > 300
    assert {name for name in kept - named if not name.startswith("bs-")} == set()


def graded() -> list[str]:
    """Return what must not be published: each graded solution and hidden test, white space evened out."""
    secrets = []
    for path in (ROOT / "notebooks").glob("*/assignment.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            for kind in ("SOLUTION", "HIDDEN TESTS"):
                for block in re.findall(rf"### BEGIN {kind}\n(.*?)\s*### END {kind}", source, re.S):
                    words = " ".join(block.split())
                    if len(words) >= 24:  # shorter ones, such as "x = 3", prove nothing
                        secrets.append(words)
    return secrets


def test_no_graded_solution_is_published():
    secrets = graded()
    assert secrets or not list((ROOT / "notebooks").glob("*/assignment.ipynb"))
    leaks = []
    for folder, _, names in os.walk(SITE):
        for name in names:
            path = Path(folder) / name
            assert name != "assignment.ipynb", path
            if path.suffix not in {".html", ".ipynb", ".md", ".txt", ".js", ".json", ".py"}:
                continue
            if "mathjax" in path.parts:
                continue
            content = path.read_text(encoding="utf-8")
            quoted = "_modules" in path.parts  # the package's own source, which knows the marks it looks for
            if not quoted and ("### BEGIN SOLUTION" in content or "BEGIN HIDDEN TESTS" in content):
                leaks.append(f"{path.relative_to(SITE)}: nbgrader's marks")
            # In a notebook's JSON a line ends with \n, in a page code is wrapped in tags.
            plain = " ".join(
                re.sub(r"<[^>]*>", "", content).replace("\\n", " ").replace('",', "").replace('"', "").split()
            )
            leaks += [
                f"{path.relative_to(SITE)}: {secret[:40]}" for secret in secrets if secret.replace('"', "") in plain
            ]
    assert leaks == []


def test_search_engines_find_a_site_map():
    assert "<urlset" in (SITE / "sitemap.xml").read_text(encoding="utf-8")
