"""Each fold, link and table of a page has a name of its own, for those who hear them one by one."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

from voicewire_book import paths
from voicewire_book.publish.access import pages
from voicewire_book.publish.pages import named

pytestmark = pytest.mark.landing

SITE = paths.root() / "_build" / "html"
BUILT = pages(SITE) if SITE.is_dir() else []
SOURCES = [page for page in BUILT if fnmatch(page, "_modules/*")]  # all made alike, without a fold or table
READ = [page for page in BUILT if page not in SOURCES] + SOURCES[:1]

TWO = '<{0} id="claim-nfc.{1}"><details><summary>16 values</summary>1, 2</details></{0}>'


def said(html: str) -> list[str]:
    return [thing.said for thing in named.things(html)]


@pytest.mark.needs("pages")
@pytest.mark.parametrize("page", READ)
def test_no_two_folds_links_or_tables_of_a_page_have_one_name(page):
    html = (SITE / page).read_text(encoding="utf-8")
    alike = named.alike(named.things(html))
    assert [(thing.kind, thing.said, thing.goal) for group in alike for thing in group] == []
    assert '<a class="headerlink"' not in html  # each is hidden from who listens


def test_a_fold_of_a_claim_is_named_by_it():
    page = TWO.format("div", "a") + TWO.format("div", "b")
    assert said(page) == ["16 values", "16 values"]
    assert said(named.names(page)) == ["16 values, claim nfc.a", "16 values, claim nfc.b"]


def test_a_name_grows_only_as_far_as_it_must():
    one = "<dl><dt>{}</dt><dd><details><summary>9 values</summary></details></dd></dl>"
    page = f'<h2>Table 1</h2><div id="score-a">{one.format("Printed")}{one.format("Here")}</div>'
    assert said(named.names(page)) == ["9 values, claim a, Printed", "9 values, claim a, Here"]
    row = "<tr><td>{0}</td><td><details><summary>9 values</summary></details></td></tr>"
    page = f"<table><caption>C</caption>{row.format('the RFCs')}{row.format('the paper')}</table>"
    assert said(named.names(page)) == ["C", "9 values, the RFCs", "9 values, the paper"]


def test_links_that_lead_to_one_place_may_share_a_name():
    page = '<a href="#a">here</a><a href="#a">here</a>'
    assert named.names(page) == page
    assert said(named.names(f'{page}<h2>Then</h2><a href="#b">here</a>'))[-1] == "here, Then"


def test_what_nothing_around_tells_apart_is_numbered_and_no_name_is_given_twice():
    page = '<h2>Then</h2><a href="#a">here</a> <a href="#b">here</a> <a href="#c">here, Then, 1</a>'
    made = named.names(page)
    assert named.alike(named.things(made)) == []
    assert named.names(made) == made


def test_a_table_is_named_by_its_caption_else_by_its_heads_else_by_where_it_stands():
    assert said(named.names("<table><caption>Delays</caption><tr><td>1</td></tr></table>")) == ["Delays"]
    heads = "<table><thead><tr><th>size</th><th>delay</th></tr></thead><tbody><tr><th>1</th></tr></tbody></table>"
    assert 'aria-label="size, delay"' in named.names(heads)
    assert said(named.names(f"<h2>One</h2>{heads}<h2>Two</h2>{heads}")) == ["size, delay, One", "size, delay, Two"]
    many = "".join(f"<th>{number}</th>" for number in range(named.HEADS + 1))
    assert said(named.names(f"<table><tr>{many}</tr></table>"))[0].endswith("4, and more")
    assert said(named.names("<h2>One</h2><table><tr><td>1</td></tr></table>")) == ["One"]
    assert said('<table role="presentation"></table>') == []


def test_what_a_listener_does_not_meet_has_no_name():
    page = '<a href="#a" aria-hidden="true">#</a><summary><p>Code</p><p class="expanded">Hide</p></summary>'
    assert said(page) == ["Code"]


def test_an_entry_of_a_list_names_its_links_and_not_those_of_another():
    page = '<ul><li>ACK <ul><li><a href="#a">One</a></li></ul></li><li>RTO <ul><li><a href="#b">One</a></li></ul></ul>'
    assert said(named.names(page)) == ["One, ACK", "One, RTO"]


def test_what_is_seen_stays_and_marks_of_a_name_are_escaped():
    page = '<h2>a "b" &lt; c</h2><a href="#a">x</a><h2>d</h2><a aria-label="x" href="#b">x</a>'
    made = named.names(page)
    assert '<a aria-label="x, a &quot;b&quot; &lt; c" href="#a">x</a>' in made
    assert '<a aria-label="x, d" href="#b">x</a>' in made
