"""The parts of the fast playout bound: sorting, the edges of the hulls, the best fixed delay."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from voicewire.voip import emodel, playout, reference
from voicewire.voip.paper import CODECS

near = st.builds(lambda x, ulps: x + ulps * np.spacing(x), st.sampled_from([1.0, 60.0, 1e-300]), st.integers(0, 9))
values = st.one_of(st.floats(0, 1000), near, st.sampled_from([0.0, 5e-324, 177.3, 1e6]))


@settings(max_examples=300, deadline=None)
@given(st.lists(values, min_size=1, max_size=80))
def test_both_sorts_sort(drawn):
    key = np.array(drawn)
    order = playout._order(key)
    assert order.tolist() == np.argsort(key, kind="stable").tolist()
    for n in {key.size, (key.size + 1) // 2}:  # of the first n
        if drawn[:n] == sorted(drawn[:n]):
            continue  # it is asked for the others only
        a, bucket, spare = key.copy(), np.empty(key.size + 2, np.int64), np.empty(key.size)
        playout._sort(a, n, bucket, spare)
        assert a.tolist() == [*sorted(drawn[:n]), *drawn[n:]]


@example([[10.0, 20.0, 40.0, 80.0, *(160 + n / 10 for n in range(20))]])  # a late frame hides several edges at once
@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.one_of(values, st.just(np.inf)), min_size=1, max_size=40), min_size=1, max_size=3))
def test_the_edges_are_those_of_the_hull_of_each_talkspurt(spurts):
    delay = np.concatenate(spurts)
    starts = np.r_[0, np.cumsum([len(row) for row in spurts])]
    slope, ordered, width, owner = (*np.empty((2, delay.size)), *np.empty((2, delay.size), np.int64))
    count = playout._edges(delay, starts, slope, width, owner, ordered)
    assert sorted(owner[:count]) == owner[:count].tolist()
    for k, row in enumerate(spurts):
        mine = np.flatnonzero(owner[:count] == k)
        came = np.sort([d for d in row if d < np.inf])
        assert ordered[starts[k] : starts[k] + came.size].tolist() == came.tolist()
        assert width[mine].sum() == came.size
        costs = np.r_[0.0, [j * reference.delay_impairment(d) for j, d in enumerate(came, start=1)]]
        corners = reference.lower_hull(list(costs))
        at = np.r_[0, np.cumsum(width[mine])]
        found = np.interp(range(costs.size), at, np.r_[0.0, np.cumsum(width[mine] * slope[mine])])
        hull = np.interp(range(costs.size), corners, costs[corners])
        assert found == pytest.approx(hull, rel=1e-9, abs=1e-9)
        assert (np.diff(slope[mine]) > -1e-9 * slope[mine][:-1]).all()


@pytest.mark.parametrize("codec", CODECS)
@given(st.lists(st.one_of(st.floats(0, 600), st.just(np.inf)), min_size=1, max_size=9))
def test_the_best_fixed_delay_is_the_best_of_those_that_occur(codec, delays):
    spurts = [n // 3 for n in range(len(delays))]
    tried = [playout.fixed(delays, spurts, codec, delay_ms=x).r for x in delays if np.isfinite(x)]
    nothing = float(emodel.r_factor(0.0, 1.0, codec))
    assert playout.fixed(delays, spurts, codec).r == pytest.approx(max([*tried, nothing]), abs=1e-9)
