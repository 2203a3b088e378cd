"""The script of the box and the policy that lets it run: made from other texts, and refused where these are others."""

from __future__ import annotations

import pytest

from voicewire_book import paths
from voicewire_book.publish.live import boxed
from voicewire_book.publish.pages import policy

pytestmark = pytest.mark.landing

LOADER = "let a;export{a as loadPyodide,b as version};\n//# sourceMappingURL=pyodide.mjs.map\n"
BOX = paths.root() / "book/_static/live/box.mjs"


def test_the_script_is_a_classic_one() -> None:
    made = boxed.script(LOADER, "// Packed.\nexport function lay() {}\n", "// Runs.\nlay();\n  // here\nstart();\n")
    assert made == "const loadPyodide = (() => {let a;return a;})();\nfunction lay() {}\n\nlay();\nstart();\n"


@pytest.mark.parametrize(
    ("loader", "worker", "said"),
    [
        ("let a;", "", "does not end with its list of exports"),
        (LOADER, 'import { a } from "./a.mjs";', "would import a module"),
        (LOADER, "new URL('a', import.meta.url)", "would import a module"),
    ],
)
def test_a_script_that_would_need_a_module_is_refused(loader: str, worker: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        boxed.script(loader, "", worker)


def test_the_policy_of_a_page_that_runs_names_the_script_of_the_frame() -> None:
    frame = boxed.frame(BOX.read_text(encoding="utf-8"))
    page = policy.guarded("<head></head><body></body>")
    assert "wasm" not in page and "worker-src 'none'" in page
    running = policy.running(page, frame)
    assert policy.checksum(frame.encode()) in running and "worker-src 'self' blob:" in running
    assert policy.running(running, frame) == running
    for text in ("", "const FRAME = `${a}`;", "const FRAME = `\\n`;"):
        with pytest.raises(ValueError, match="no plain text FRAME"):
            boxed.frame(text)


def test_each_script_and_handler_of_a_page_is_named_and_no_other() -> None:
    scripts = "<script>let a = 1;</script><script type='x' data-b>let b;</script><script src='c.js'></script>"
    page = f'<head><meta charset="utf-8">{scripts}<script type="application/ld+json">{{}}</script></head>'
    made = policy.guarded(f'{page}<button class="d" onclick="print(&quot;e&quot;)">f</button>')
    named = [policy.checksum(text.encode()) for text in ("let a = 1;", "let b;", 'print("e")')]
    assert made.index("Content-Security-Policy") < made.index("charset")
    assert made.count("sha256-") == 3 and all(name in made for name in named) and "'unsafe-hashes'" in made
    assert policy.guarded(made) == made
