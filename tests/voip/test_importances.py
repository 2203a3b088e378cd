"""Figure 3.5's data: which share of the packets matters no more than so much."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from voicewire.voip.errors import VoipError
from voicewire_book.chapters.voip.dccp_figures import importances


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_the_curve_is_the_share_of_packets_up_to_there(weights):
    _, ax = plt.subplots()
    line = importances(weights, ax).lines[0]
    plt.close()
    x, y = line.get_data()
    for at in (0.0, 0.25, 0.5, 1.0, *weights):
        assert y[x <= at][-1] == pytest.approx(np.mean(np.array(weights) <= at))


@pytest.mark.parametrize("weights", [[], [1.2], [-0.1], [float("nan")], [[0.5]]])
def test_what_is_no_row_of_importances_is_refused(weights):
    with pytest.raises(VoipError, match="0 to 1"):
        importances(weights)
