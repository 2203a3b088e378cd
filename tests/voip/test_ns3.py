"""ns-3 as the witness of UDP and TCP. Its agreement is tested where it is installed (extra `ns3`)."""

import importlib.util

import numpy as np
import pytest

from voicewire.voip import ns3
from voicewire.voip.calls import call
from voicewire.voip.errors import VoipError


def test_only_what_ns3_has():
    with pytest.raises(VoipError, match="UDP or TCP only, not 'TFRC'"):
        ns3.call("TFRC", "G.729", delay_ms=50)


@pytest.mark.parametrize("missing", ["ns", "cppyy"])
def test_without_ns3_the_extra_is_named(monkeypatch, missing):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else object())
    assert not ns3.available()
    with pytest.raises(VoipError, match="ns-3 is not installed: install the extra ns3"):
        ns3.call("UDP", "G.729", delay_ms=50)


if ns3.available():

    @pytest.mark.parametrize("codec", ["G.729", "G.711"])
    @pytest.mark.parametrize(("name", "delay"), [("UDP", 0), ("UDP", 3000), ("TCP", 0), ("TCP", 50), ("TCP", 200)])
    def test_without_losses_every_frame_takes_the_paths_delay(name, codec, delay):
        ours = call(name, codec, delay_ms=delay, seconds=30, seed=1)
        theirs = ns3.call(name, codec, delay_ms=delay, seconds=30, seed=1)
        assert np.array_equal(theirs.talk.times, ours.talk.times)
        # what a link of 100 Gbit/s takes to send G.711 with its headers
        np.testing.assert_allclose(theirs.delays_ms, ours.delays_ms, rtol=0, atol=3e-5)
        assert theirs.r == pytest.approx(ours.r, abs=1e-5)

    def test_only_ours_closes_the_window_after_a_silence():
        # RFC 2581 section 4.1; at 400 ms G.711 needs more than the restart window in each new talkspurt
        ours, theirs = (simulated("TCP", "G.711", delay_ms=400, seed=1).r for simulated in (call, ns3.call))
        assert theirs - ours > 1

    def test_a_seed_is_a_call():
        first, second, other = (ns3.call("TCP", "G.729", delay_ms=50, loss=0.01, seconds=60, seed=s) for s in (3, 3, 4))
        assert np.array_equal(first.delays_ms, second.delays_ms)
        assert not np.array_equal(first.delays_ms, other.delays_ms[: first.delays_ms.size])

    def test_udp_loses_what_the_path_loses_and_tcp_nothing():
        lost = [~np.isfinite(ns3.call("UDP", "G.729", delay_ms=50, loss=0.1, seed=k).delays_ms) for k in range(5)]
        frames = sum(x.size for x in lost)
        sigma = np.sqrt(0.1 * 0.9 / frames)
        assert abs(sum(x.sum() for x in lost) / frames - 0.1) < 4 * sigma
        assert np.isfinite(ns3.call("TCP", "G.729", delay_ms=50, loss=0.01, seed=1).delays_ms).all()

    def test_no_path_has_such_a_loss():
        with pytest.raises(VoipError, match="the loss, a probability"):
            ns3.call("UDP", "G.729", delay_ms=50, loss=1.5)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ns3.NAMES)
    @pytest.mark.parametrize("loss", [0.0, 1e-3, 1e-2])
    def test_median_r_within_one(name, loss):
        ours, theirs = (
            np.median([simulated(name, "G.729", delay_ms=50, loss=loss, seed=k).r for k in range(30)])
            for simulated in (call, ns3.call)
        )
        assert abs(ours - theirs) < 1
