"""What the teaching chapters derive, against the engine and by trying everything."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.netsim import equation
from voicewire.netsim.reference import tfrc_sender
from voicewire.netsim.reference.equation import WEIGHTS
from voicewire.netsim.reference.tfrc_receiver import LossHistory, lose, would_have_come
from voicewire.voip import emodel, reference
from voicewire.voip.paper import CODECS
from voicewire_book.chapters.voip import derived_figures

MS = 1_000_000


@settings(max_examples=500, deadline=None)
@given(st.lists(st.integers(1, 500), min_size=9, max_size=9))
def test_the_open_interval_counts_once_it_is_longer_than_the_five_oldest(intervals):
    newest, *closed = intervals
    without = float(np.dot(WEIGHTS, closed)) / 6
    counts = equation.average_interval(intervals) > without + 1e-9
    assert counts == (newest > np.mean(closed[3:]))


def test_half_of_a_change_is_believed_after_three_events_and_all_after_eight():
    share = [(equation.average_interval([1] + [200] * k + [100] * (8 - k)) - 100) / 100 for k in range(9)]
    assert share == pytest.approx(np.array([0, 1, 2, 3, 4, 4.8, 5.4, 5.8, 6]) / 6)


@pytest.mark.parametrize(("q", "n"), [(0.01, 2), (0.1, 5), (0.3, 15)])
def test_independent_losses_make_as_many_events_as_derived(q, n):
    lost = np.flatnonzero(np.random.default_rng(3).random(200_000) < q)
    history = LossHistory(size=20)
    for seq in lost.tolist():
        lose(history, seq, seq * 20 * MS, n * 0.02, 1000.0)
    assert history.events / 200_000 == pytest.approx(q / (1 + n * q), rel=0.03)


def test_regular_losses_farther_apart_than_a_round_trip_are_an_event_each():
    history = LossHistory(size=20)
    assert all(lose(history, seq, seq * 20 * MS, 0.1, 1000.0) for seq in range(10, 1000, 10))


def test_missing_packets_are_spread_evenly():
    assert [would_have_come(140, 200, k, 2) for k in (1, 2)] == [160, 180]


def test_the_window_counter_asks_for_a_report_once_a_round_trip_and_after_each_silence():
    counter = 0
    for expected in (4, 8, 12, 0, 4):
        counter = tfrc_sender.answered(counter, counter)
        assert counter == expected
    assert (tfrc_sender.counted(3, 80) - 3) % 16 == 5


def test_the_cubic_dips_below_one_up_to_the_derived_place():
    edge = 80 - np.sqrt(5400)
    cubic = np.polynomial.Polynomial([1, 0.035 - 0.042, 7e-6 * 160, -7e-6])
    assert cubic(edge) == pytest.approx(1)
    assert cubic(edge - 1) < 1 < cubic(edge + 1)
    assert emodel.mos([edge - 1, edge + 1])[0] == 1.0 < emodel.mos([edge - 1, edge + 1])[1]


@pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)
def test_what_is_at_most_r_is_convex(codec):
    """i g(i) bends upwards: the set of choices with an R of at most r is convex."""
    n = 400
    edge = [i * -reference.loss_impairment(1 - i / n, codec) for i in range(n + 1)]
    assert (np.diff(edge, 2) > 0).all()


costs = st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=4), min_size=1, max_size=3)


@settings(max_examples=300, deadline=None)
@given(costs)
def test_the_hull_of_a_sum_is_made_of_the_parts_edges_by_slope(steps):
    parts = [[0, *itertools.accumulate(row)] for row in steps]
    least = {}
    for choice in itertools.product(*(range(len(row)) for row in parts)):
        cost = sum(row[j] for row, j in zip(parts, choice, strict=True))
        least[sum(choice)] = min(cost, least.get(sum(choice), np.inf))
    tried = [least[i] for i in range(len(least))]
    edges = []
    for row in parts:
        corners = reference.lower_hull(row)
        edges += [((row[b] - row[a]) / (b - a), b - a) for a, b in itertools.pairwise(corners)]
    merged = [(0, 0.0)]
    for slope, count in sorted(edges):
        merged.append((merged[-1][0] + count, merged[-1][1] + slope * count))
    corners = reference.lower_hull(tried)
    line = np.interp(range(len(tried)), *zip(*merged, strict=True))
    assert line[corners] == pytest.approx([tried[j] for j in corners])
    assert (np.array(tried) >= line - 1e-9).all()


def test_the_figure_of_events_draws_what_was_counted_and_the_formula():
    ax = derived_figures.event_rates([0.01, 0.1], {5: [0.0095, 0.067]})
    line, marks = ax.lines
    assert marks.get_ydata() == pytest.approx([0.95, 6.7])
    assert line.get_ydata()[-1] == pytest.approx(100 * 0.1 / 1.5)


def test_the_figure_of_choices_touches_the_best_line_and_crosses_none_above():
    delays, spurts = [60.0, 90.0, 240.0, 80.0, 300.0, 310.0], [0, 0, 0, 1, 1, 1]
    codec = CODECS["G.711"]
    ax = derived_figures.playout_plane(delays, spurts, codec)
    points, hull, best, *_ = ax.lines
    assert len(points.get_xdata()) == 16
    assert best.get_label() == f"R = {reference.best_playout(delays, spurts, codec):.1f}"
    above = np.interp(points.get_xdata(), best.get_xdata(), best.get_ydata())
    seen = points.get_xdata() >= best.get_xdata()[0]
    assert (points.get_ydata()[seen] >= above[seen] - 0.02).all()
    assert np.interp(points.get_xdata(), *hull.get_data()) == pytest.approx(
        np.minimum(np.interp(points.get_xdata(), *hull.get_data()), points.get_ydata())
    )
