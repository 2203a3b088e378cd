"""voicewire_book.kit.slider: pictures behind range inputs, without a kernel."""

import base64
import io
import json
import re
import wave
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from voicewire_book.kit.slider import Knob, frames


def draw(height: float, **_: Any) -> Any:
    _, ax = plt.subplots(figsize=(2, 1))
    ax.plot([0, 1], [0, height])
    ax.set_ylim(0, 3)
    return ax


def describe(height: float, **_: Any) -> str:
    return f"A line up to {height}."


def payload(html: str) -> dict[str, Any]:
    return json.loads(re.search(r"\}\)\((\{.*\})\);</script>", html, re.S).group(1))


def test_every_combination_has_a_frame_and_a_description():
    html = frames(draw, describe, height=[1, 2, 3])._repr_html_()
    data = payload(html)
    assert data["frames"] == [0, 1, 2]
    assert data["alts"] == ["A line up to 1.", "A line up to 2.", "A line up to 3."]
    assert len(set(data["pictures"])) == 3


def test_identical_frames_are_stored_once():
    data = payload(frames(draw, describe, height=[1, 2], idle=["a", "b", "c"])._repr_html_())
    assert data["frames"] == [0, 0, 0, 1, 1, 1]
    assert len(data["pictures"]) == 2


def test_output_is_the_same_at_each_run():
    first, second = (frames(draw, describe, height=[1, 2])._repr_html_() for _ in range(2))
    assert first == second


def test_frames_are_small_and_all_figures_are_closed():
    before = plt.get_fignums()
    data = payload(frames(draw, describe, height=[1, 2])._repr_html_())
    assert all(len(picture) < 10_000 for picture in data["pictures"])
    assert plt.get_fignums() == before


def test_each_position_has_its_sound():
    def tone(height, **_):
        return np.sin(np.arange(80) * height) / 2, 8000

    html = frames(draw, describe, sound=tone, height=[1, 2])._repr_html_()
    data = payload(html)
    assert len(data["sounds"]) == 2
    assert data["sounds"][0] != data["sounds"][1]
    with wave.open(io.BytesIO(base64.b64decode(data["sounds"][1]))) as file:
        assert (file.getframerate(), file.getsampwidth(), file.getnchannels()) == (8000, 1, 1)
        samples = np.frombuffer(file.readframes(80), np.uint8).astype(float)
    assert np.abs((samples - 128) / 128 - tone(2)[0]).max() <= 0.5 / 128 + 1e-4
    assert f'src="data:audio/wav;base64,{data["sounds"][0]}"' in html
    assert "<audio" not in frames(draw, describe, height=[1, 2])._repr_html_()


def test_nothing_is_fetched_and_no_element_needs_an_id():
    html = frames(draw, describe, height=[1, 2])._repr_html_()
    assert not re.search(r"https?:|\bid=", html)


def test_labels_units_and_start_reach_the_reader():
    html = frames(draw, describe, height=Knob([1, 2.50], "Height < top", "m", start=2.5))._repr_html_()
    assert "<label>Height &lt; top <input" in html
    assert "<output>2.5\u202fm</output>" in html
    assert 'value="1"' in html
    assert 'alt="A line up to 2.5."' in html


@pytest.mark.parametrize(("height", "width"), [(None, None), (1, "b"), (2, "a"), (3, "b"), (3, None), (None, "c")])
def test_what_is_seen_and_heard_first_belongs_to_the_start(height, width):
    """Before any script runs, and where none does."""

    def drawn(height, width):
        ax = draw(height)
        ax.set_xlim(0, 1 + "abc".index(width))
        return ax

    def said(height, width):
        return f"{height} and {width}"

    def tone(height, width):
        return np.full(10, (height + "abc".index(width) / 4) / 4), 8000

    heights, widths = [1, 2, 3], ["a", "b", "c"]
    html = frames(drawn, said, tone, height=Knob(heights, start=height), width=Knob(widths, start=width)).html
    data = payload(html)
    at = 3 * heights.index(height or 1) + widths.index(width or "a")
    shown = html.partition("<script>")[0]
    assert re.findall(r"data:image/webp;base64,([^\"]+)", shown) == [data["pictures"][data["frames"][at]]]
    assert re.findall(r"data:audio/wav;base64,([^\"]+)", shown) == [data["sounds"][at]]
    assert f'alt="{height or 1} and {width or "a"}"' in shown
    assert len(set(data["sounds"])) == len(data["pictures"]) == 9


def test_a_description_cannot_end_the_script():
    html = frames(draw, lambda height: "</script><b>", height=[1])._repr_html_()
    assert html.count("</script>") == 1


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({}, "at least one knob"),
        ({"height": []}, "no values"),
        ({"height": range(81)}, "too many"),
        ({"height": Knob([1, 2], start=3)}, "cannot start at 3"),
    ],
)
def test_impossible_knobs(knobs, message):
    with pytest.raises(ValueError, match=message):
        frames(draw, describe, **knobs)


def test_draw_and_alt_must_give_what_they_promise():
    with pytest.raises(ValueError, match="must return the axes"):
        frames(lambda height: None, describe, height=[1])
    with pytest.raises(ValueError, match="say what the picture"):
        frames(draw, lambda height: " ", height=[1])
    plt.close("all")


def test_as_many_pictures_as_fit_and_what_stands_without_html():
    shown = frames(draw, describe, height=[1, 2] * 8, idle=range(5))
    assert len(payload(shown.html)["frames"]) == 80
    assert repr(shown) == "Slider over height and idle (80 pictures): A line up to 1."
    assert repr(frames(draw, describe, height=[3])) == "Slider over height (1 pictures): A line up to 3."
    assert repr(frames(draw, describe, height=Knob([3], "How high"), no_name=[1])).startswith(
        "Slider over How high and no name "
    )


def test_a_figure_serves_as_well_as_its_axes():
    html = frames(lambda height: draw(height).figure, describe, height=[1, 2])._repr_html_()
    assert payload(html)["pictures"] == payload(frames(draw, describe, height=[1, 2])._repr_html_())["pictures"]


def test_pictures_lie_on_each_other():
    """Whatever is drawn in them, and though a notebook's own pictures are cut to what is drawn."""
    import PIL.Image

    def wide(height):
        ax = draw(height)
        ax.set_title("x" * int(height))
        return ax

    with plt.rc_context({"savefig.bbox": "tight"}):
        data = payload(frames(wide, describe, height=[1, 2, 30])._repr_html_())
    sizes = {PIL.Image.open(io.BytesIO(base64.b64decode(picture))).size for picture in data["pictures"]}
    assert len(sizes) == 1


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (2.50, "", "2.5"),
        (True, "", "True"),
        ("7", "s", "7\u202fs"),
        (np.float64(0.1), "m", "0.1\u202fm"),
        (None, "", "None"),
    ],
)
def test_a_value_as_the_reader_sees_it(value, unit, shown):
    data = payload(frames(lambda x: draw(1), lambda x: "A line.", x=Knob([value], unit=unit)).html)
    assert data["texts"] == [[shown]]


def test_a_slider_ends_at_its_last_value_and_knows_its_own_positions():
    html = frames(draw, describe, height=[1, 2, 3]).html
    assert 'min="0" max="2" step="1" value="0"' in html
    assert payload(html)["key"] != payload(frames(draw, describe, height=[1, 2, 4]).html)["key"]
    assert (
        payload(html)["key"] != payload(frames(draw, lambda height: f"Up to {height}.", height=[1, 2, 3]).html)["key"]
    )
