"""Marks on frames and back, and statistics by token: by hand, there and back, and against what would be lost."""

import itertools
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.pharyngeal import textgrid
from voicewire.pharyngeal.films import film_audio_sync
from voicewire.pharyngeal.textgrid import Interval


def test_a_frame_belongs_to_what_its_middle_lies_in():
    # 50 frames a second: middles at 10, 30, 50, 70, 90 ms
    found = film_audio_sync.labels([Interval("t", 0.0, 0.03), Interval("a", 0.03, 0.0701)], 50.0, 5)
    assert found == ["t", "a", "a", "a", ""]


@given(st.lists(st.sampled_from(["t", "a1", "a2", ""]), min_size=1), st.sampled_from([24.0, 25.0, 50.0, 60.0]))
def test_labels_come_back_from_their_marks(frames, rate):
    assert film_audio_sync.labels(film_audio_sync.marks(frames, rate), rate, len(frames)) == frames


@given(st.lists(st.floats(0.05, 0.5), min_size=1, max_size=8))
def test_marks_come_back_within_half_a_frame(lengths):
    ends = np.cumsum([0.0, *lengths])
    given_ = [Interval(f"a{i}", *map(float, pair)) for i, pair in enumerate(itertools.pairwise(ends))]
    back = film_audio_sync.marks(film_audio_sync.labels(given_, 25.0, 200), 25.0)
    assert [mark.label for mark in back] == [mark.label for mark in given_]
    for one, other in zip(given_, back, strict=True):
        assert abs(one.start - other.start) <= 0.02 + 1e-9 and abs(one.end - other.end) <= 0.02 + 1e-9


def test_a_textgrid_goes_to_frames_and_back_into_a_file(tmp_path):
    marks = [Interval("t", 0.08, 0.2), Interval("a", 0.2, 0.44)]
    path = textgrid.write(tmp_path / "film.TextGrid", {"phones": marks}, 0.6)
    frames = film_audio_sync.labels(textgrid.read(path).tier("phones"), 25.0, 15)
    assert frames == ["", ""] + ["t"] * 3 + ["a"] * 6 + [""] * 4
    assert film_audio_sync.marks(frames, 25.0) == tuple(marks)


@pytest.mark.parametrize(
    ("intervals", "said"),
    [
        ([Interval("t", 0.0, 0.1), Interval("a", 0.09, 0.2)], "'t' ends at 0.1 s, after 'a' has begun"),
        ([Interval("burst", 0.021, 0.05)], "no frame has its middle in 'burst', 0.021 to 0.05 s"),
        ([Interval("late", 9.0, 9.5)], "no frame has its middle in 'late'"),
    ],
)
def test_what_would_be_lost_is_told(intervals, said):
    with pytest.raises(ValueError, match=said):
        film_audio_sync.labels(intervals, 25.0, 10)


def test_frames_of_a_token_are_not_repetitions():
    values, frames = [1.0, 1.1, 1.2, 3.0, 3.2, 5.0, 9.9], ["a1"] * 3 + ["a2"] * 2 + ["t1", ""]
    found = film_audio_sync.by_context(values, frames, {"a1": "plain", "a2": "plain", "t1": "tt", "u": "none"})
    assert list(found.index) == ["plain", "tt", "none"]
    assert found.loc["plain", "mean"] == pytest.approx((1.1 + 3.1) / 2)
    assert found.loc["plain", "sd_tokens"] == pytest.approx(statistics.stdev([1.1, 3.1]))
    assert found.loc["plain", "sd_frames"] == pytest.approx(statistics.stdev(values[:5]))
    assert np.isnan(found.loc["tt", "sd_tokens"]) and found.loc["none", "frames"] == 0


@pytest.mark.parametrize(
    ("frames", "contexts", "said"),
    [(["a"], {"a": "plain"}, "2 values and 1 labels"), (["a", "b"], {"a": "plain"}, "no context is given for b")],
)
def test_a_token_without_a_context_is_told(frames, contexts, said):
    with pytest.raises(ValueError, match=said):
        film_audio_sync.by_context([1.0, 2.0], frames, contexts)
