"""kit.audio.compare and kit.loudness: versions of a sound at one level, in a list of players."""

import base64
import io
import math
import re
import wave

import numpy as np
import pytest

from voicewire_book.kit.audio import FULL_SCALE, compare
from voicewire_book.kit.loudness import k_weighting, loudness

RATE = 8000
RNG = np.random.default_rng(1)
TONE = np.sin(2 * np.pi * 440 * np.arange(2 * RATE) / RATE)
SPEECHLIKE = 0.1 * RNG.standard_normal(2 * RATE) * (1 + np.sin(np.arange(2 * RATE) / 900))


def files(html: str) -> list[np.ndarray]:
    found = []
    for data in re.findall(r"base64,([^\"]+)", html):
        with wave.open(io.BytesIO(base64.b64decode(data))) as file:
            found.append(np.frombuffer(file.readframes(file.getnframes()), "<i2") / FULL_SCALE)
    return found


def test_the_weighting_is_the_standards_at_48_khz():
    printed = [
        [1.53512485958697, -2.69169618940638, 1.19839281085285, 1, -1.69065929318241, 0.73248077421585],
        [1.0, -2.0, 1.0, 1, -1.99004745483398, 0.99007225036621],
    ]  # ITU-R BS.1770-4, Tables 1 and 2
    assert np.abs(k_weighting(48_000) - printed).max() < 1e-8


@pytest.mark.parametrize("rate", [8000, 16_000, 44_100, 48_000])
def test_a_full_tone_has_the_loudness_that_the_standard_says(rate):
    """One channel of 0 dBFS at 997 Hz reads -3.01 LKFS (BS.1770-4); both channels, 3.01 more."""
    tone = np.sin(2 * np.pi * 997 * np.arange(3 * rate) / rate)
    assert abs(loudness(tone, rate) + 3.01) < 0.15
    assert abs(loudness(np.column_stack([tone, tone]), rate) - loudness(tone, rate) - 3.01) < 0.01


def test_pauses_are_left_out_and_silence_has_no_loudness():
    with_pause = np.concatenate([SPEECHLIKE, np.zeros(4 * RATE)])
    assert abs(loudness(with_pause, RATE) - loudness(SPEECHLIKE, RATE)) < 0.6
    assert loudness(np.zeros(RATE), RATE) == -math.inf


def test_a_sound_shorter_than_a_block_is_one():
    assert abs(loudness(TONE[:800], RATE) - loudness(TONE, RATE)) < 0.5


@pytest.mark.parametrize("factor", [0.01, 0.3, 1.0])
def test_versions_are_made_equally_loud_and_none_is_cut(factor):
    made = compare({"a": TONE, "b": factor * SPEECHLIKE, "c": 0.1 * TONE}, RATE, "x")
    found = files(made._repr_html_())
    levels = [loudness(each, RATE) for each in found]
    assert max(levels) - min(levels) < 0.11 and abs(levels[0] - made.level) < 0.06
    assert made.level <= -23 and all(np.abs(each).max() < 1 for each in found)
    assert f"{made.level:.1f}".replace("-", "\N{MINUS SIGN}") in made.note


def test_a_click_keeps_the_level_down_for_all():
    click = np.zeros(RATE)
    click[100] = 1.0
    made = compare({"click": click, "tone": TONE}, RATE, "x")
    levels = [loudness(each, RATE) for each in files(made._repr_html_())]
    assert made.level < -23 and abs(levels[0] - levels[1]) < 0.2


def test_as_they_came_nothing_is_scaled_and_the_page_knows_the_gains():
    made = compare({"before": 0.5 * TONE, "after": 0.05 * TONE}, RATE, "a microphone", equal=False)
    before, after = files(made._repr_html_())
    assert np.abs(before - 0.5 * TONE).max() < 1e-4 and np.abs(after - 0.05 * TONE).max() < 1e-4
    (_, _, less), (_, _, more) = made.versions.values()
    assert abs(more - less - 20) < 0.11
    assert "as loud as it came" in made.note
    assert 'data-equal="no"' in made._repr_html_()


def test_a_silent_version_stays_silent():
    made = compare({"speech": SPEECHLIKE, "nothing": np.zeros(100)}, RATE, "x")
    assert not files(made._repr_html_())[1].any() and made.versions["nothing"][2] == 0


def test_shorter_versions_are_filled_so_that_all_are_as_long():
    first, second = files(compare({"a": TONE, "b": TONE[:9000]}, RATE, "x")._repr_html_())
    assert len(first) == len(second) == len(TONE) and not second[9000:].any()


def test_without_a_script_it_is_a_list_of_players_with_names():
    html = compare({"a < b": TONE, "c": TONE}, RATE, "two & two")._repr_html_()
    assert html.count("<audio controls") == html.count("<li") == 2
    assert 'aria-label="a &lt; b"' in html and 'aria-label="To compare: two &amp; two"' in html
    assert "<script" not in html
    assert repr(compare({"a": TONE, "b": TONE}, RATE, "x")) == "Audio to compare, x: a (2.0 s), b (2.0 s)"


@pytest.mark.parametrize(
    ("sounds", "rate", "label", "message"),
    [
        ({"a": TONE}, RATE, "x", "two or more"),
        ([TONE, TONE], RATE, "x", "two or more"),
        ({"a": TONE, " ": TONE}, RATE, "x", "in words"),
        ({"a": TONE, "a ": TONE}, RATE, "x", "same name"),
        ({"a": TONE, "b": TONE}, RATE, "", "in words"),
        ({"a": TONE, "b": 2 * TONE}, RATE, "x", "beyond full scale"),
        ({"a": TONE, "b": []}, RATE, "x", "empty"),
        ({"a": TONE, "b": TONE}, 2000, "x", "at least 4000"),
        ({"a": TONE, "b": TONE}, 8000.5, "x", "whole number"),
    ],
)
def test_what_cannot_be_compared_is_refused(sounds, rate, label, message):
    with pytest.raises(ValueError, match=message):
        compare(sounds, rate, label)
