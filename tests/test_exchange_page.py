"""The panel of the MQTT chapters in a browser: nothing before the click, then packets as they go, all of it offline."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from live_pages import WAIT, Opened, chromium, served
from until import until

from voicewire_book.publish import access

CHAPTERS = ["emqtt/01_packets", "emqtt/02_end_to_end"]

pytestmark = [
    pytest.mark.night,
    pytest.mark.slow,
    pytest.mark.needs("pages", "live", "chromium", "playwright"),
]


class Watched:
    """A chapter's page with its panel, on a telephone, the line cut once Python is there."""

    def __init__(self, opened: Opened) -> None:
        self.opened, self.page = opened, opened.page
        self.box = self.page.locator(".vw-exchange")
        self.status = self.box.locator("[role=status]")

    def press(self, name: str, says: str) -> str:
        """Press a button by its name, and wait for words of what is said then."""
        self.box.get_by_role("button", name=name, exact=True).click()
        return self.until(says)

    def until(self, says: str) -> str:
        self.status.get_by_text(says).wait_for(timeout=WAIT)
        return str(self.status.inner_text())

    def publish(self, qos: int, says: str) -> str:
        self.box.get_by_role("combobox", name="QoS").select_option(str(qos))
        return self.press("Publish", says)

    def anew(self) -> None:
        self.press("Start anew", "All are connected")

    def rows(self) -> list[str]:
        """What the chart says, once all of it is drawn."""
        lines = self.box.locator("ol > li")
        drawn = "box => box.querySelectorAll('svg > g').length === box.querySelectorAll('ol > li').length"
        until(self.page, drawn, arg=self.box.element_handle(), timeout=WAIT)
        return list(lines.all_text_contents())


@contextlib.contextmanager
def watched(name: str, cut: bool = True, **how: Any) -> Iterator[Watched]:
    with served() as server, chromium() as browser:
        context = browser.new_context(viewport={"width": 360, "height": 800}, **how)
        opened = Opened(context, server.address, name)
        place = opened.page.locator(".vw-exchange")
        assert "a panel stands here" in place.inner_text() and place.locator("button").count() == 0
        assert not [url for url in opened.asked if "/live/" in url], "before the click nothing of it is loaded"
        opened.start()
        panel = Watched(opened)
        panel.until("All are connected")
        server.cut = cut
        context.set_offline(cut)
        asked = len(opened.asked)
        yield panel
        assert not cut or opened.asked[asked:] == []
        assert not opened.said and not opened.elsewhere


@pytest.mark.parametrize("name", CHAPTERS)
def test_at_qos_3_the_acknowledgement_waits_for_who_is_off(name: str) -> None:
    with watched(name) as panel:
        panel.press("Switch off subscriber 2", "Subscriber 2 is switched off")
        said = panel.publish(3, "Message m1 is published at QoS 3.")
        assert "The publisher waits: 1 of 2 wanted has acknowledged m1." in said
        assert not [row for row in panel.rows() if row.startswith("broker to publisher")]
        assert "waits: m1" in panel.box.locator(".vw-chart-head").inner_text()
        panel.press("Switch on subscriber 2", "The end-to-end acknowledgement of m1 has come")
        assert "broker to publisher: PUBREC, QoS 3, id 1, complete" in panel.rows()
        panel.anew()
        assert panel.rows() == []
        panel.press("Switch off subscriber 2", "Subscriber 2 is switched off")
        panel.publish(3, "The publisher waits")
        panel.press("Let 30 seconds pass", "since the deadline has passed")


def test_the_chapters_questions_have_their_answers() -> None:
    with watched("emqtt/01_packets", reduced_motion="reduce") as panel:
        panel.press("Switch off subscriber 2", "Subscriber 2 is switched off")
        panel.publish(1, "The publisher has the broker's PUBACK. 1 message waits for subscriber 2.")
        panel.publish(0, "Message m2 is published at QoS 0. The publisher gets no answer.")
        panel.press("Switch on subscriber 2", "It gets m1.")
        panel.anew()
        panel.press("Break link at next message of subscriber 1", "The link of subscriber 1 will break")
        panel.publish(1, "The link of subscriber 1 breaks before it has answered.")
        panel.press("Switch on subscriber 1", "It gets m1.")
        assert [row for row in panel.rows() if "DUP" in row] == ["broker to subscriber 1: PUBLISH m1, QoS 1, id 1, DUP"]
        assert "Has: m1, m1." in panel.box.inner_text()
        panel.box.get_by_role("group", name="subscriber 2").get_by_label("session kept").uncheck()
        panel.until("Subscriber 2 connects anew, with a clean session.")


@pytest.mark.needs("axe")
def test_it_is_accessible_keyboard_alone_works_and_it_is_no_wider_than_a_telephone() -> None:
    with watched("emqtt/01_packets") as panel:
        page = panel.page
        panel.box.get_by_role("combobox", name="QoS").focus()
        for key in ("ArrowDown", "ArrowDown", "Tab", "Tab", "Tab", "Enter"):  # QoS 3, waits for, retained, Publish
            page.keyboard.press(key)
        panel.until("The end-to-end acknowledgement of m1 has come")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        panel.until("Subscriber 1 is switched off")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Switch on subscriber 1"
        panel.rows()
        page.evaluate(access.axe())
        page.add_style_tag(content=access.STILL)
        for mode in ("light", "dark"):
            page.evaluate("mode => { document.documentElement.dataset.theme = mode }", mode)
            page.wait_for_timeout(access.SETTLED)
            found = page.evaluate("axe.run('.vw-exchange', { preload: false })")["violations"]
            assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_python_stopped_and_started_again_loses_nothing() -> None:
    with watched("emqtt/01_packets", cut=False) as panel:
        panel.publish(1, "Message m1 is published at QoS 1.")
        panel.page.locator(".vw-live").get_by_role("button", name="Stop").click()
        panel.publish(2, "Message m2 is published at QoS 2.")
        assert "Has: m1, m2." in panel.box.inner_text()
