"""No test sees what another left: the second of these would see the first one's figure."""

from __future__ import annotations

import matplotlib.pyplot as plt


def test_one_leaves_a_figure_open() -> None:
    plt.figure()
    assert plt.get_fignums() == [1]


def test_the_next_one_sees_none() -> None:
    assert plt.get_fignums() == []
