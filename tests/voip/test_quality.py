"""E-model, playout bound, closed forms, talk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.voip import emodel, playout
from voicewire.voip.calls import call, udp_closed_form
from voicewire.voip.conversation import from_activity, talk
from voicewire.voip.errors import VoipError
from voicewire.voip.paper import CODECS, MOS_TABLE
from voicewire.voip.playout_rules.adaptive_playout import ramjee
from voicewire_book.chapters.voip import playout_recursion

delays = st.one_of(st.sampled_from([60.0, 120.0, 180.0, 240.0, np.inf]), st.floats(0, 600))
small = st.lists(st.tuples(delays, st.integers(0, 2)), min_size=1, max_size=7)


@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=500, deadline=None)
@given(small)
def test_bound_is_brute_force_and_the_repaired_recursion(codec, frames):
    frames.sort(key=lambda f: f[1])
    d, k = [f[0] for f in frames], [f[1] for f in frames]
    best = playout.bound(d, k, codec)
    assert best.r == pytest.approx(playout_recursion.brute_force(d, k, codec), abs=1e-9)
    assert best.r == pytest.approx(playout_recursion.repaired_recursion(d, k, codec), abs=1e-9)
    assert playout.per_talkspurt(d, k, best.delays_ms, codec).r == pytest.approx(best.r, abs=1e-9)


def test_bound_at_full_size_against_the_recursion():
    rng = np.random.default_rng(1)
    k = np.repeat(np.arange(40), 25)
    d = rng.gamma(2.0, 60.0, 1000)
    assert playout.bound(d, k, "G.729").r == pytest.approx(
        playout_recursion.repaired_recursion(d, k, "G.729"), abs=1e-9
    )


def test_no_rule_beats_the_bound():
    c = call("TFRC SP FR MD", "G.729", delay_ms=120, loss=0.01, seconds=60, seed=3)
    trace = (c.delays_ms, c.talk.spurts, "G.729")
    assert playout.fixed(*trace).r <= c.r + 1e-9
    assert ramjee(*trace).r <= c.r + 1e-9
    assert playout.fixed(*trace, delay_ms=300).r <= playout.fixed(*trace).r + 1e-9


def test_printed_recursion_is_wrong():
    d, k = [150.0, 210.0, 200.0, 240.0], [0, 0, 1, 1]
    gap = playout_recursion.printed_recursion(d, k, "G.729") - playout_recursion.brute_force(d, k, "G.729")
    assert gap > 1


def test_where_nothing_arrives_every_way_gives_the_codec_without_a_frame():
    d, k = [np.inf, np.inf, np.inf], [0, 0, 1]
    nothing = float(emodel.r_factor(0.0, 1.0, "G.729"))
    ways = playout_recursion.printed_recursion, playout_recursion.repaired_recursion, playout_recursion.brute_force
    assert [way(d, k, "G.729") for way in ways] == [nothing] * 3
    assert playout.bound(d, k, "G.729").r == nothing


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("delay", [0, 25, 177.3, 200, 400])
def test_udp_closed_form(codec, delay):
    c = CODECS[codec]
    expected = 94.2 - c.lambda1 - 0.024 * delay - 0.11 * max(delay - 177.3, 0)
    assert udp_closed_form(codec, delay) == pytest.approx(expected, abs=1e-9)
    assert call("UDP", codec, delay_ms=delay, seconds=30).r == pytest.approx(expected, abs=1e-9)


def test_table_4_2():
    for r, printed in MOS_TABLE.items():
        assert abs(float(emodel.mos(r)) - printed) < (0.007 if r == 80 else 0.005)


def test_mos_is_clamped():
    r = np.linspace(-50, 150, 401)
    score = emodel.mos(r)
    assert score.min() == 1.0
    assert score.max() == 4.5
    assert np.all(np.diff(score) >= 0)


def test_talk_model():
    t = talk(np.random.default_rng(0), 20_000)
    on = np.bincount(t.spurts) * 0.02
    assert on.mean() == pytest.approx(1.0, rel=0.05)
    assert t.times.size * 0.02 / 20_000 == pytest.approx(0.4, rel=0.05)
    assert np.all(np.diff(t.times) >= 20_000_000)
    assert t.times[0] == 0


def test_talk_from_activity():
    t = from_activity([False, True, True, False, True])
    assert t.times.tolist() == [20_000_000, 40_000_000, 80_000_000]
    assert t.spurts.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: emodel.r_factor(-1, 0, "G.729"),
        lambda: emodel.r_factor(10, 1.1, "G.729"),
        lambda: emodel.r_factor(float("nan"), 0, "G.729"),
        lambda: emodel.r_factor(1, 0, "G.999"),
        lambda: playout.bound([], [], "G.729"),
        lambda: playout.bound([float("nan")], [0], "G.729"),
        lambda: playout.bound([-1.0], [0], "G.729"),
        lambda: playout.bound([1.0, 2.0], [1, 0], "G.729"),
        lambda: playout.bound([1.0], [0, 1], "G.729"),
        lambda: talk(np.random.default_rng(), -1),
        lambda: talk(np.random.default_rng(), 10, on=0),
        lambda: from_activity([False]),
        lambda: call("UDP", "G.729", delay_ms=-5),
        lambda: call("UDP", "G.729", delay_ms=5, loss=2),
        lambda: call("SCTP", "G.729", delay_ms=5),
        lambda: call("UDP", "MP3", delay_ms=5),
        lambda: call("UDP", "G.729", delay_ms=5, buffer=3),
    ],
)
def test_bad_input(make):
    with pytest.raises(VoipError):
        make()
