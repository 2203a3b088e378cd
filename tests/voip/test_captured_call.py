"""The chapter's captured calls: what is lost is silent, what came is what was sent, and R counts frames only."""

from __future__ import annotations

import numpy as np
import pytest

from voicewire.voip.codecs import listening
from voicewire_book.chapters.voip import captured_call

pytestmark = pytest.mark.filterwarnings("error")


def test_what_is_heard_of_a_captured_call_is_what_was_sent_where_a_packet_came():
    said = listening.speech()[: 100 * captured_call.FRAME]
    packet = np.arange(100)
    _, whole = listening.coded(said, "G.711 µ-law")
    ratings = set()
    for lost in (packet % 10 == 5, (packet >= 40) & (packet < 50)):
        r, heard = captured_call.through(said, lost)
        silent = np.repeat(lost, captured_call.FRAME)
        assert (heard[silent] == 0).all()
        assert (heard[~silent] == whole[~silent]).all()
        ratings.add(r)
    assert len(ratings) == 1
    assert ratings.pop() < captured_call.through(said, packet < 0)[0]
