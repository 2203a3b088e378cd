"""Sliders that Python draws in the page: values between the listed ones, positions on demand, errors in a line."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from typing import Any

import matplotlib.pyplot as plt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from voicewire_book.kit import _computed as computed
from voicewire_book.kit import slider
from voicewire_book.publish.live.cell_runner import Session

VALUES = st.lists(st.integers(-1000, 1000), min_size=2, max_size=9, unique=True).map(sorted)


@given(VALUES, st.floats(0, 1))
def test_listed_values_are_met_exactly_and_those_between_lie_between(values: list[int], share: float) -> None:
    assert [computed.value_at(values, k, between=True) for k in range(len(values))] == values
    found = computed.value_at(values, share, between=True)
    assert isinstance(found, int) and values[0] <= found <= values[1]
    assert computed.value_at(values, len(values) + 7.0, between=True) == values[-1]


@given(st.floats(0, 2))
def test_where_nothing_lies_between_the_nearest_is_taken(place: float) -> None:
    found = computed.value_at(["UDP", "TCP", "TFRC"], place, between=False)
    assert found == ["UDP", "TCP", "TFRC"][int(place + 0.5)]


def bar(mss: int, delay: float = 0.5) -> Any:
    if mss == 384:
        raise ArithmeticError("384 is not for us")
    _, ax = plt.subplots(figsize=(4, 2))
    return ax.bar(["MSS"], [mss + delay])[0].axes


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> tuple[Session, list[dict[str, Any]]]:
    monkeypatch.setattr(slider, "_in_page", lambda: True)
    plt.close("all")  # a figure that another test left open would be shown with the cell's
    outputs: list[dict[str, Any]] = []
    session = Session("", lambda text: outputs.append(json.loads(text)))
    session.names.update(bar=bar, slider=slider)
    return session, outputs


CELL = """slider.frames(bar, lambda mss, delay: f"A bar of {mss} and {delay}.",
    mss=slider.Knob([256, 512, 1460], "MSS", "bytes", start=512, between=True), delay=[0.25, 0.5])"""


def test_a_position_between_is_drawn_by_the_cells_own_function(page: tuple[Session, list[dict[str, Any]]]) -> None:
    session, outputs = page
    assert asyncio.run(session.run(CELL)) == "ok"
    told = outputs[-1]["data"][computed.KIND]
    assert [(knob["label"], knob["last"], knob["start"]) for knob in told["knobs"]] == [("MSS", 2, 1), ("delay", 1, 0)]
    assert told["first"]["texts"] == ["512\u202fbytes", "0.25"]
    drawn = json.loads(session.draw(told["name"], "[1.5, 1]"))
    assert drawn["texts"] == ["986\u202fbytes", "0.5"] and drawn["alt"] == "A bar of 986 and 0.5."
    image = Image.open(io.BytesIO(base64.b64decode(drawn["picture"])))
    assert image.format == "PNG" and image.width >= drawn["width"]
    assert drawn["picture"] != told["first"]["picture"]
    assert not plt.get_fignums()


def test_what_stands_for_the_slider_as_text_is_the_published_text(
    page: tuple[Session, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, outputs = page
    asyncio.run(session.run(CELL))
    monkeypatch.setattr(slider, "_in_page", lambda: False)
    asyncio.run(session.run(CELL))
    here, published = (output["data"] for output in outputs)
    assert here["text/plain"] == published["text/plain"]
    assert "text/html" not in here and computed.KIND not in published


def test_an_error_at_a_position_is_one_line_and_the_next_is_drawn(page: tuple[Session, list[dict[str, Any]]]) -> None:
    session, outputs = page
    asyncio.run(session.run(CELL))
    name = outputs[-1]["data"][computed.KIND]["name"]
    said = json.loads(session.draw(name, "[0.5, 0]"))
    assert said == {"error": "This position cannot be drawn: ArithmeticError: 384 is not for us"}
    assert "picture" in json.loads(session.draw(name, "[0.4, 0]"))
    assert "run this cell again" in json.loads(session.draw("of another session", "[0]"))["error"]


def test_what_is_heard_comes_with_each_position(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slider, "_in_page", lambda: True)
    knob = slider.Knob([256, 512], between=True)
    shown = slider.frames(bar, lambda mss: f"{mss}", lambda mss: ([0.0, mss / 1024], 8000.0), mss=knob)
    assert isinstance(shown, computed.Computed)
    quiet, loud = (base64.b64decode(shown.at([place])["sound"]) for place in (0, 0.75))
    assert quiet[:4] == b"RIFF" and quiet != loud


def test_a_knob_with_words_has_nothing_between(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="knob 'mss' has values that aren't numbers"):
        slider.frames(bar, str, mss=slider.Knob(["a", "b"], between=True))
