"""Every page's policy, what an address or the browser's storage may bring, and a cache that was tampered with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from live_pages import SITE, Server, served
from two_browsers import RUN, START, elsewhere, in_chromium, in_firefox

from voicewire_book.publish.pages import policy

NAME = "nfc/01_slow_link"
FIREFOX = [pytest.mark.needs("firefox"), pytest.mark.night]  # before a landing, Chromium stands for both
BOTH = [in_chromium, pytest.param(in_firefox, marks=FIREFOX)]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("live", "chromium", "playwright"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served() as server:
        yield server


@pytest.mark.parametrize("browser", BOTH)
def test_a_cache_that_was_tampered_with_starts_no_other_engine(browser: Any, server: Server) -> None:
    tampered = """
    const kept = await caches.open('voicewire-live-1');
    for (const request of await kept.keys())
      if (/engine.worker.js|engine.*tar.gz/.test(request.url)) await kept.put(request, new Response('tampered'));
    """
    with browser(f"{server.address}notebooks/{NAME}.html") as window:
        assert window.run(START) == "Python is ready"
        window.run(tampered)
        window.go(f"{server.address}notebooks/{NAME}.html")
        assert window.run(START) == "Python is ready", "what is not what the page names is fetched anew"
        assert window.run(RUN, "print(6 * 7)") == ["ok", "42\n"]


@pytest.mark.parametrize("browser", BOTH)
def test_another_edition_than_the_page_names_is_not_started(browser: Any, server: Server) -> None:
    other = """
    const bar = document.querySelector('.vw-live');
    bar.dataset.integrity = 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';
    bar.querySelector('button').click();
    await bar.vwPage.catch(() => {});
    return [bar.querySelector('span').textContent, document.querySelectorAll('iframe').length];
    """
    with browser(f"{server.address}notebooks/{NAME}.html") as window:
        said, frames = window.run(other)
    assert said.endswith("is of another edition than this page: load the page again") and frames == 0


@pytest.mark.parametrize("browser", BOTH)
def test_addresses_and_storage_put_nothing_into_a_page(browser: Any, server: Server) -> None:
    cell = next(each["id"] for each in json.loads((SITE / f"live/chapters/{NAME}.json").read_text("utf-8"))["cells"])
    with elsewhere() as (host, asked), browser(f"{server.address}notebooks/{NAME}.html") as window:
        bad = f'"><img src="{host}/i.png" onerror="window.caught = 1"><script>window.caught = 1</script>'
        stored = {"mode": bad, "theme": bad, "sphinx-design-tab-id-a": bad}
        for chapter in (NAME, bad):
            text = {cell: {"source": bad, "of": bad, "imported": bad}}
            stored[f"voicewire:{chapter}"] = json.dumps({"text": text, "done": {cell: "2026-01-01"}})
        window.run("for (const [key, value] of Object.entries(given)) localStorage.setItem(key, value)", stored)
        escaped = bad.replace('"', "%22").replace("<", "%3C").replace(">", "%3E").replace(" ", "%20")
        for place in (f"notebooks/{NAME}.html?highlight={escaped}#{escaped}", f"search.html?q={escaped}"):
            window.go(f"{server.address}{place}")
            window.run("await new Promise((done) => setTimeout(done, 1000))")
            assert window.run("return window.caught ?? null") is None
        window.go(f"{server.address}notebooks/{NAME}.html")
        assert window.run(START) == "Python is ready"
        assert window.run("return window.caught ?? null") is None
        assert asked == []


def test_every_page_has_a_policy_that_names_no_other_host_and_no_inline_scripts_in_general() -> None:
    pages = sorted(SITE.rglob("*.html"))
    assert len(pages) > 100
    for path in pages:
        text = path.read_text(encoding="utf-8")
        head = text[: text.index("Content-Security-Policy") + 4000]
        meta = head[head.index('<meta http-equiv="Content-Security-Policy"') :].partition(">")[0]
        assert "default-src 'none'" in meta and "http" not in meta.removeprefix("<meta http-equiv"), path
        script = meta[meta.index("script-src") :].partition(";")[0]
        assert "'unsafe-inline'" not in script and "'unsafe-eval'" not in script and "*" not in meta, path
        assert "<script" not in text[: text.index("Content-Security-Policy")], path
        assert policy.guarded(text).count('<meta http-equiv="Content-Security-Policy"') == 1


@pytest.mark.parametrize("browser", BOTH)
@pytest.mark.parametrize("served", ["http", "file"])
def test_no_page_is_refused_anything_by_its_own_policy(browser: Any, served: str, server: Server) -> None:
    names = sorted({path.parent: path for path in SITE.rglob("*.html")}.values())
    with browser() as window:
        for path in names:
            address = path.as_uri() if served == "file" else server.address + path.relative_to(SITE).as_posix()
            window.go(address)
            told = window.run(
                """
                const sheets = [...document.styleSheets].length;
                const links = document.querySelectorAll('link[rel=stylesheet]').length;
                const broken = [...document.images].filter((one) => one.complete && !one.naturalWidth).length;
                const bar = document.querySelector('.vw-live');
                return { sheets, links, broken, theme: document.documentElement.dataset.theme, hidden: bar?.hidden };
                """
            )
            assert told["broken"] == 0 and told["sheets"] >= told["links"], (address, told)
            assert told["links"] < 3 or told["theme"] in ("light", "dark"), (address, told)  # by a script of the page
            assert not told.get("hidden"), address  # by book.js
