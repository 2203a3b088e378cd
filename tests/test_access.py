"""Axe on pages: one text stands for those that look alike, and one that doesn't is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from voicewire_book.publish import access

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("chromium", "playwright", "axe"),
]


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with access.browsing() as context:
        yield context.new_page()


def found(page: Any, code: str) -> list[str]:
    page.set_content(
        "<html lang=en><title>code</title><style>body { background: white } span { color: #333 } .k { color: #a11 }"
        ".dim { color: #bbb } .night { background: #222; color: #eee }</style>"
        f"<main><h1>Code</h1><pre>{code}</pre></main>"
    )
    page.evaluate(access.axe())
    return access.violations(page)


WORDS = "<span>x</span> <span class=k>def</span> " * 50


@pytest.mark.parametrize(
    ("odd", "places"),
    [
        ("", 0),
        ("<span class=dim>dim</span> " * 3, 1),
        ("<span style='color: #ccc'>its own colour</span>", 1),
        ("<i class=night><span>alike, on another ground</span></i>", 1),
        ("<i class=night><span><span class=k>on another ground, two steps behind</span></span></i>", 1),
        ("<i style='opacity: 0.3'><span>alike, faded</span></i>", 1),
        ("<i class=dim>no span</i> " * 3, 1),
        ("<details><summary>x</summary><i class=dim>folded</i></details><i class=dim>open</i> " * 3, 1),
        ("<i class=dim style='display: none'>hidden</i><i class=dim>shown</i> " * 3, 1),
        ("<i class=dim style='position: absolute; clip: rect(0,0,0,0)'>cut off</i><i class=dim>whole</i> " * 3, 1),
        ("<i class=dim><b>all of it in another</b></i> " * 3, 1),
        ("<input class=dim value=x aria-label=x> <input class=dim value=y aria-label=y> ", 2),
    ],
)
def test_a_word_that_cannot_be_read_is_found_among_many_that_can(page: Any, odd: str, places: int) -> None:
    said = found(page, WORDS + odd + WORDS)
    assert [line.split(":")[0] for line in said] == ["color-contrast"] * bool(places)
    assert not places or said[0].endswith(f"({places} place{'s' * (places > 1)})")


def test_what_was_alike_is_looked_at_again_when_the_colours_change(page: Any) -> None:
    """As from light to dark."""
    assert found(page, WORDS) == []
    page.evaluate("document.querySelectorAll('.k')[7].style.color = '#ccc'")
    (said,) = access.violations(page, ["color-contrast"])
    assert said.endswith("(1 place)")


def test_other_rules_look_at_every_word(page: Any) -> None:
    odd = "<span role=nonsense>x</span> " * 2
    (said,) = found(page, WORDS + odd)
    assert said.startswith("aria-roles") and said.endswith("(2 places)")
