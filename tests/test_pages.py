"""The gathered pages: what the extension makes of whatever studies are there."""

from __future__ import annotations

import re
import shutil
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from sphinx.errors import ExtensionError

from voicewire_book import paths
from voicewire_book.kit import claims
from voicewire_book.ledger import collecting
from voicewire_book.publish import clone
from voicewire_book.publish.pages import claim_list, gather, mend, scorecard, status

pytestmark = pytest.mark.landing

ROOT = paths.root()


def row(study: str = "nfc", verdict: str = "reproduced", **other: Any) -> dict[str, Any]:
    return {
        "id": f"{study}.table-1.x",
        "study": study,
        "where": "Table 1",
        "statement": "A < B",
        "kind": "value",
        "printed": 1.0,
        "unit": "s",
        "reproduced": 1.01,
        "interval": None,
        "tolerance": {"relative": 0.05},
        "tolerance_reason": "One digit is printed.",
        "verdict": verdict,
        "reason": "Close.",
        "notebook": f"notebooks/{study}/03_paper.ipynb",
        "anchor": f"claim-{study}.table-1.x",
        "whose": "paper",
        **other,
    }


@pytest.fixture
def base(tmp_path):
    """A checkout with two studies that explain a word in common."""
    for study, heading, terms in (
        ("voip", "# Voice\n", "RTT\n  Round trip, as voice has it.\n"),
        ("nfc", "# Near field\n", "RTT\n  Another meaning.\n\nslot\nturn\n  A turn of\n  the link.\n\n  Twice.\n"),
    ):
        folder = tmp_path / "book" / study
        folder.mkdir(parents=True)
        (folder / "index.md").write_text(heading)
        shutil.copy(ROOT / "book" / study / "references.bib", folder)
        (folder / "_glossary.md").write_text(f"# Words\n\n```{{glossary}}\n:sorted:\n\n{terms}```\n")
    shutil.copy(ROOT / "CITATION.cff", tmp_path)
    (tmp_path / "book" / "nfc" / "_notation.md").write_text("| symbol |\n|---|\n| $x$ |\n")
    (tmp_path / "book" / "voip" / "_notation.md").write_text("# Symbols\n\n| symbol |\n|---|\n| $y$ |\n")
    return tmp_path


def test_a_word_that_two_studies_explain_stands_once(base):
    text = gather.glossary(base)
    assert text.count("RTT\n") == 1
    assert "as voice has it" in text
    assert "Another meaning" not in text


def test_an_entry_keeps_its_terms_and_its_paragraphs(base):
    assert "slot\nturn\n  A turn of\n  the link.\n\n  Twice." in gather.glossary(base)


def test_fragments_stand_under_the_studies_titles_in_the_order_of_the_book(base):
    text = gather.fragments(base, "_notation.md")
    assert re.findall(r"^## (.*)$", text, re.M) == [paths.part("voip").title, paths.part("nfc").title]
    # A fragment's own heading is moved below the study's.
    assert "voip/_notation.md\n:heading-offset: 2" in text
    assert "nfc/_notation.md\n```" in text


def test_what_no_study_has_is_absent(base):
    assert "No study" in gather.fragments(base, "_errata.md")
    assert "No study" in gather.parts(base, lambda target: None)


def test_parts_link_to_what_the_book_has(base):
    text = gather.parts(base, lambda target: "x" if target == "book/nfc/index" else None)
    assert f"{{doc}}`{paths.part('nfc').title} </book/nfc/index>`" in text
    assert paths.part("voip").title not in text


def test_an_unknown_kind_is_an_error(base):
    with pytest.raises(ValueError, match="nothing to gather under 'weather'"):
        gather.text("weather", base, lambda target: None)


def test_every_fence_of_the_book_is_of_a_known_kind():
    for path in (ROOT / "book").glob("*.md"):
        for kind in gather.FENCE.findall(path.read_text(encoding="utf-8")):
            assert gather.text(kind, ROOT, lambda target: None), path


def test_the_picture_adds_up_and_says_itself_in_words():
    rows = [row(), row(verdict="partly"), row("voip", "not reproduced"), row("voip", "not testable here")]
    drawing = ElementTree.fromstring(scorecard.picture(rows, {"nfc": "Near <field>", "voip": "Voice"}))
    names = [t.text for t in drawing.iter("{http://www.w3.org/2000/svg}title")]
    assert names == ["reproduced: 1", "partly: 1", "not reproduced: 1", "not testable here: 1"]
    assert "nfc: 2 computed, 1 reproduced, 1 partly." in drawing.get("aria-label")
    widths = [float(r.get("width")) for r in drawing.iter("{http://www.w3.org/2000/svg}rect") if len(r)]
    assert sum(widths) == pytest.approx(2 * (scorecard.WIDTH - 8), abs=5)


def test_rows_link_to_their_cells_and_escape_what_they_show(monkeypatch, base):
    monkeypatch.setattr(collecting, "scorecard", lambda base: [row()])
    page = scorecard.page(base, lambda target: f"../{target}.html")
    assert 'href="../notebooks/nfc/03_paper.html#claim-nfc.table-1.x"' in page
    assert "A &lt; B" in page
    assert f"## {paths.part('nfc').title}" in page
    assert "Tolerance: within 5 %. One digit is printed." in page


def test_a_row_whose_page_is_missing_is_not_linked(monkeypatch, base):
    monkeypatch.setattr(collecting, "scorecard", lambda base: [row(), row(notebook=None, verdict="unjudged")])
    page = scorecard.page(base, lambda target: None)
    assert "#claim-" not in page
    assert "? unjudged" in page


def test_a_fold_counts_its_verdicts_in_words_for_those_who_listen():
    rows = [{"verdict": name} for name in ("partly", "reproduced", "partly")]
    words = re.sub("<[^>]*>", "", claim_list.signs(rows))
    assert words == "✓ 1 reproduced ◐ 2 partly"
    assert claim_list.signs([]) == ""


def test_claims_of_one_cause_are_folded_once_more():
    rows = [row(), row(id="nfc.a", cause="a-slip"), row(id="nfc.b"), row(id="nfc.c", cause="a-slip")]
    rows += [row(id="nfc.d", cause="alone")]
    text = claim_list.study(rows, lambda target: None, "Claims")
    group = re.findall(r'<details class="vw-cause">(.*?)</details></details>', text, re.S)
    assert len(group) == 1 and re.findall(r'id="score-([^"]+)"', group[0]) == ["nfc.a", "nfc.c"]
    assert re.findall(r'id="score-([^"]+)"', text) == ["nfc.table-1.x", "nfc.a", "nfc.c", "nfc.b", "nfc.d"]


def test_a_claim_of_a_notebooks_page_links_to_its_row():
    body = '<tr id="claim-nfc.a"><td>A <code>x</code><code>nfc.a</code></td></tr><tr><td><code>nfc.a</code></td></tr>'
    page = {"body": body}
    scorecard.back(None, "notebooks/nfc/03_reproduction", "page.html", page, None)
    link = '<a href="../../book/scorecard.html#score-nfc.a"><code>nfc.a</code></a>'
    assert page["body"] == body.replace("<code>nfc.a</code>", link, 1)


@pytest.mark.parametrize("verdict", claims.VERDICTS)
def test_a_badge_is_readable_without_its_colour(verdict):
    text = re.sub(r"<[^>]*>", "", claim_list.badge(verdict))
    assert text == f"{claims.VERDICTS[verdict]} {verdict}"


def test_white_on_each_verdicts_colour_has_enough_contrast():
    style = (ROOT / "book" / "_static" / "book.css").read_text(encoding="utf-8")
    colours = [*scorecard.FILLS, *re.findall(r"\.vw-verdict-\w+ \{ background: (#[0-9a-f]+);", style)]
    assert len(colours) == 17
    for colour in colours:
        full = colour if len(colour) == 7 else "#" + "".join(2 * c for c in colour[1:])
        parts = [int(full[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (luminance + 0.05) >= 4.5, colour


def test_the_readmes_picture_is_current():
    drawn = (ROOT / scorecard.PICTURE).read_text(encoding="utf-8")
    # The newest studies may be missing: a new study touches no file outside its rooms, a release draws it.
    now = [scorecard.draw_picture(ROOT, paths.STUDIES[:count]) for count in range(1, len(paths.STUDIES) + 1)]
    assert drawn in now, "draw it anew: python -m voicewire_book.publish.pages"


def test_the_status_page_names_commit_versions_and_notebooks(tmp_path):
    page = status.page(ROOT, lambda target: "x")
    assert "| numpy | " in page
    assert re.search(r"\| Commit \| `\w+` of ", page)
    for path in paths.chapters():
        assert path.stem in page
    assert clone.commit(tmp_path) == ("unknown", "unknown")


def test_a_fault_that_occurs_no_more_fails_the_build(tmp_path, monkeypatch):
    site, doctrees = tmp_path / "html", tmp_path / "doctrees"
    (site / "_static").mkdir(parents=True)
    doctrees.mkdir()
    app: Any = SimpleNamespace(outdir=site, doctreedir=doctrees, builder=SimpleNamespace(format="html"))
    page = site / "a.html"
    page.write_text("<p><b>one</b></p>")
    monkeypatch.setattr(mend, "FAULTS", (("<b>", "<strong>"), ("<i>", "<em>")))
    with pytest.raises(ExtensionError, match="no page has <i> any more"):
        mend.mend(app, None)
    assert page.read_text() == "<p><b>one</b></p>"
    page.write_text("<p><b>one</b> <i>two</i></p>")
    mend.mend(app, None)
    assert page.read_text() == "<p><strong>one</b> <em>two</i></p>"
    mend.mend(app, None)  # the next build writes no page anew, so that none has the fault


@pytest.mark.parametrize(
    ("cell", "becomes"),
    [
        ("<th></th>", "<td></td>"),
        ('<th class="head"><p></p></th>', "<td></td>"),
        ('<th class="blank level0">&nbsp;</th>', "<td></td>"),
        ('<th colspan="2" scope="col">\n</th>', '<td colspan="2"></td>'),
        ("<th>one</th>", "<th>one</th>"),
        ('<th class="head"><p>one</p></th>', '<th class="head"><p>one</p></th>'),
        ("<thead></thead>", "<thead></thead>"),
    ],
)
def test_a_header_without_a_word_is_a_cell_like_others(tmp_path, monkeypatch, cell, becomes):
    app: Any = SimpleNamespace(outdir=tmp_path, doctreedir=tmp_path, builder=SimpleNamespace(format="html"))
    (tmp_path / "a.html").write_text(f"<tr>{cell}<th>b</th></tr>")
    monkeypatch.setattr(mend, "FAULTS", ())
    mend.mend(app, None)
    assert (tmp_path / "a.html").read_text() == f"<tr>{becomes}<th>b</th></tr>"
