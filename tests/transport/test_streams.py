"""Streams of numbers over a link with loss: what arrives is counted, whole or not, in order or not."""

from __future__ import annotations

import json
from fnmatch import fnmatch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voicewire_book import paths
from voicewire_book.chapters.transport import lossy_stream
from voicewire_book.ledger import evidence


def sent(numbers) -> bytes:
    return np.array(numbers, dtype=">u4").tobytes()


@given(st.integers(2, 400), st.data())
def test_what_is_missing_or_out_of_order_shows(length, data):
    whole = list(range(length))
    assert lossy_stream.arrived(sent(whole)) == {"came": length, "in order": length, "twice": 0}
    at = data.draw(st.integers(0, length - 2))
    swapped = whole.copy()
    swapped[at], swapped[at + 1] = swapped[at + 1], swapped[at]
    found = lossy_stream.arrived(sent(swapped))
    assert (found["came"], found["twice"]) == (length, 0)
    assert found["in order"] < length
    lost = whole[:at] + whole[at + 1 :]
    assert lossy_stream.arrived(sent(lost))["came"] == length - 1
    assert lossy_stream.arrived(sent(lost))["in order"] == length - 2
    doubled = whole[: at + 1] + whole[at:]
    assert lossy_stream.arrived(sent(doubled))["twice"] == 1
    cut = sent(whole)[: -data.draw(st.integers(1, 4))]
    assert lossy_stream.arrived(cut) == {"came": length - 1, "in order": length - 1, "twice": 0}


def test_nothing_is_nothing():
    assert lossy_stream.arrived(b"") == {"came": 0, "in order": 0, "twice": 0}


def test_the_recorded_streams_lost_segments_on_the_way():
    kept = json.loads((paths.data("transport") / "streams.json").read_text())
    assert kept["numbers"] == lossy_stream.NUMBERS
    assert sum(one["sent again"] for one in kept["streams"]) > len(kept["streams"])


def test_the_readme_lists_every_recording():
    folder = paths.data("transport")
    listed = (folder / "README.md").read_text("utf-8").split("`")[1::2]
    assert [name for name in evidence.known(folder) if not any(fnmatch(name, each) for each in listed)] == []
