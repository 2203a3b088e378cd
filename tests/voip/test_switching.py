"""Calls in two codecs: their score, and which codec a link's calls have."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.netsim import Flow, Path, Tcp, Tfrc, simulate
from voicewire.voip import emodel, playout
from voicewire.voip.errors import VoipError
from voicewire_book.chapters.voip import flow_figures
from voicewire_book.chapters.voip.codec_switching import mixed_r, switched_link

delays = st.lists(
    st.lists(st.one_of(st.floats(0, 600), st.just(float("inf"))), min_size=1, max_size=4), min_size=1, max_size=3
)


@given(delays, st.floats(0, 1))
@settings(max_examples=80, deadline=None)
def test_the_mixed_score_is_the_best_of_all_playouts(spurts, share):
    """Every delay for each talkspurt, or none: the E-model with the mean of both loss impairments."""
    trace = [d for s in spurts for d in s], [k for k, s in enumerate(spurts) for _ in s]
    total, best = len(trace[0]), -np.inf
    for chosen in itertools.product(*([-1.0, *s] for s in spurts)):
        played = [d for d, s in zip(chosen, spurts, strict=True) if d < np.inf for x in s if x <= d]
        i = len(played)
        ie = share * emodel.loss_impairment(1 - i / total, "G.711")
        ie += (1 - share) * emodel.loss_impairment(1 - i / total, "G.729")
        mean = float(np.mean(emodel.delay_impairment(played))) if i else 0.0
        best = max(best, 94.2 - mean - float(ie))
    assert mixed_r(*trace, {"G.711": share, "G.729": 1 - share}) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("codec", ["G.711", "G.729"])
def test_with_all_frames_in_one_codec_it_is_that_codecs_score(codec):
    rng = np.random.default_rng(1)
    delay = np.where(rng.random(400) < 0.1, np.inf, 50 + 200 * rng.random(400))
    trace = delay, np.arange(400) // 40
    assert mixed_r(*trace, {codec: 1.0}) == pytest.approx(playout.bound(*trace, codec).r, abs=1e-9)


@pytest.mark.parametrize("shares", [{}, {"G.711": 0.5}, {"G.711": 1.5, "G.729": -0.5}, {"G.999": 1.0}, 5])
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises(VoipError):
        mixed_r([50.0], [0], shares)


def test_the_wider_the_link_the_more_is_in_the_better_codec():
    links = [switched_link(kbit_s=rate, calls=4, seconds=20.0) for rate in (40.0, 120.0, 5000.0)]
    upper = [link.upper.mean() for link in links]
    assert upper[0] < upper[1] < upper[2] and upper[0] < 0.05 and upper[2] > 0.4
    assert links[0].r.mean() < links[2].r.mean()
    assert set(links[2].sizes[links[2].sizes > 0]) <= set(range(20, 161))


def test_the_rivals_coin_knows_no_rate():
    for rate in (60.0, 5000.0):
        link = switched_link(kbit_s=rate, calls=4, seconds=40.0, at_random=True)
        assert 0.3 < link.upper.mean() < 0.7
        assert set(link.sizes) <= {0, 20, 160}


def test_without_an_allowed_rate_there_is_nothing_to_choose_by():
    with pytest.raises(VoipError, match="choose a variant of TFRC"):
        switched_link("UDP", kbit_s=100.0)
    with pytest.raises(VoipError, match="smaller than the flow's 20 bytes"):
        switched_link(kbit_s=100.0, upper="G.729", lower="G.711")


def test_what_the_figures_of_flows_show():
    """Each packet's size and each frame's delay, of those in the window that left or came."""
    words = np.arange(150) * 20_000_000
    flow = simulate([Flow(words, 160, Tfrc(small=True, lower=20), Path(50))]).flows[0]
    (line,) = flow_figures.codec_changes(words, {"padded": flow}, (1.0, 2.0)).lines
    shown = (words >= 1e9) & (words <= 2e9) & (flow.sent >= 0)
    assert np.array_equal(line.get_ydata(), flow.sizes[shown]) and np.array_equal(line.get_xdata(), words[shown] / 1e9)
    tcp = simulate([Flow(words, 20, Tcp(nodelay=False), Path(50))]).flows[0]
    (line,) = flow_figures.frame_delays(words, {"Nagle": tcp}, (0.0, 1.0)).lines
    shown = words <= 1e9
    assert np.array_equal(line.get_ydata(), (tcp.arrive - words)[shown] / 1e6)
