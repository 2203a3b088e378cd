"""The guarded canceller: when its copy follows, what it calls double talk and a changed path, and that it recovers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from voicewire.echo import WLDRRLSDCD, SignalError, dcd
from voicewire.echo.two_path_filter import BLOCK, Guarded
from voicewire_book.chapters.echo.recording_pairs import MOVED, TALK, TAPS, Trial, trial

RATE = 8000


def whole(made: Trial) -> tuple[Guarded, np.ndarray, np.ndarray]:
    """A canceller over a whole trial: itself, what it left, where it noticed double talk."""
    canceller, scale = Guarded(TAPS, RATE), np.std(made.far)
    error, talks = canceller.process(made.far / scale + 0j, made.microphone / scale + 0j)
    return canceller, error.real * scale, talks


@cache
def done(name: str, seed: int) -> tuple[Guarded, np.ndarray, np.ndarray]:
    """The same, by name."""
    return whole(trial(name, seed))


def gained(before: np.ndarray, after: np.ndarray) -> float:
    return float(10 * np.log10(np.sum(before**2) / np.sum(after**2)))


def test_the_near_end_comes_through_and_is_noticed():
    made = trial("double talk", 31)
    canceller, error, talks = done("double talk", 31)
    span = slice(*(round(t * RATE) for t in TALK))
    assert gained(made.near[span], (error - made.near)[span]) > 35
    bare = WLDRRLSDCD(TAPS, 1 - 1 / (64 * TAPS), regularization=TAPS / 4, dtype=np.float32)
    scale = np.std(made.far)
    alone = bare.process(made.far / scale + 0j, made.microphone / scale + 0j).real * scale
    assert gained(made.near[span], (alone - made.near)[span]) < 25
    assert talks[span].mean() > 0.9
    assert talks.sum() - talks[span].sum() < RATE
    (change,) = canceller.changes
    assert change.time == pytest.approx(TALK[0], abs=0.2)
    assert change.cause == "as if the near end talked"


def test_a_changed_path_is_learnt_and_told_from_double_talk():
    made = trial("moved", 31)
    canceller, error, talks = done("moved", 31)
    (change,) = canceller.changes
    assert change.time == pytest.approx(MOVED, abs=0.5)
    assert change.cause == "as if the path had changed"
    assert talks.sum() < RATE / 2
    last = slice(-4 * RATE, None)
    assert gained(made.microphone[last], error[last]) > 40


def test_a_call_without_events_has_none():
    canceller, error, talks = done("clean", 31)
    assert canceller.changes == []
    assert not talks.any()
    assert gained(trial("clean", 31).microphone, error) > 30


def test_one_of_the_recorded_calls_fools_it():
    """As the chapter says; should a change mend this, the text has to follow."""
    made = trial("double talk", 75)
    _, error, _ = done("double talk", 75)
    span = slice(*(round(t * RATE) for t in TALK))
    assert gained(made.near[span], (error - made.near)[span]) < 10


def test_an_echo_that_ends_is_not_made_anew_for_long():
    made = trial("clean", 1)
    heard = made.microphone.copy()
    heard[15 * RATE :] = 1e-5 * np.random.default_rng(1).standard_normal(15 * RATE)
    canceller, error, _ = whole(made._replace(microphone=heard))
    loud = np.mean(made.microphone**2)
    left = np.mean(error[15 * RATE :].reshape(-1, RATE // 2) ** 2, axis=1)
    assert left[0] < loud / 10  # the first half second: what the copy adds until it is set to zero
    assert left[4:].max() < loud / 10_000
    assert canceller.changes[0].time == pytest.approx(15.3, abs=0.5)


def test_pieces_of_whole_blocks_give_what_the_whole_gives():
    made = trial("clean", 2)
    x, d = made.far[: 4 * RATE] + 0j, made.microphone[: 4 * RATE] + 0j
    one, many = Guarded(64, RATE), Guarded(64, RATE)
    size = 7 * many.block
    pieces = [many.process(x[n : n + size], d[n : n + size])[0] for n in range(0, x.size, size)]
    assert np.array_equal(one.process(x, d)[0], np.concatenate(pieces))
    assert one.copied == many.copied > 0


def test_a_piece_may_be_shorter_than_a_block():
    made = trial("clean", 2)
    x, d = 20 * made.far[:6000] + 0j, 20 * made.microphone[:6000] + 0j
    canceller = Guarded(16, RATE)
    left = [canceller.process(x[n : n + 50], d[n : n + 50])[0] for n in range(0, x.size, 50)]
    assert canceller._blocks == 6000 // round(BLOCK * RATE)
    assert np.isfinite(np.concatenate(left)).all()


def test_stereo_is_widely_linear():
    rng = np.random.default_rng(4)
    x = rng.standard_normal(RATE) + 1j * rng.standard_normal(RATE)
    d = 0.5 * x + 0.25j * np.roll(x.conj(), 3)
    d[:3] = 0
    canceller = Guarded(8, RATE)
    error, _ = canceller.process(x, d)
    assert gained(np.abs(d[RATE // 2 :]), np.abs(error[RATE // 2 :])) > 60


@pytest.mark.parametrize("compiled", [True, False])
def test_taps_can_be_set_and_samples_forgotten(monkeypatch, compiled):
    if not compiled:
        monkeypatch.setattr(dcd, "COMPILED", False)
    rng = np.random.default_rng(5)
    x, d = rng.standard_normal((2, 200, 2)) @ [1, 1j]
    taps = rng.standard_normal((16, 2)) @ [1, 1j]
    used, new = (WLDRRLSDCD(8, 0.99, dtype=np.float64) for _ in range(2))
    used.process(x, d)
    used.taps = taps
    assert np.allclose(used.taps, taps)
    used.begin_anew()
    new.taps = taps
    assert np.allclose(used.process(x, d), new.process(x, d), rtol=1e-9)


def test_what_cannot_be_is_refused_and_nothing_is_lost():
    canceller = Guarded(8, RATE)
    x = np.ones(500, complex)
    canceller.process(x, 0.5 * x)
    before = canceller.taps.copy(), canceller._filled
    with pytest.raises(SignalError, match="finite"):
        canceller.process(x, np.full(500, np.nan + 0j))
    assert np.array_equal(canceller.taps, before[0]) and canceller._filled == before[1]
    with pytest.raises(SignalError, match="16 taps"):
        WLDRRLSDCD(8, 0.99).taps = np.zeros(3)
    for name, value in (("length", 0), ("sr", 0), ("memory", 0), ("data_reuse", 0), ("forgetting", 0)):
        given = {"data_reuse": {"passes": 0}, "forgetting": {"memory": 0.01}}.get(name, {name: value})
        with pytest.raises(ValueError, match=name):
            Guarded(**({"length": 8, "sr": RATE} | given))


def test_without_a_compiler_it_is_the_same_canceller(monkeypatch):
    rng = np.random.default_rng(6)
    x = rng.standard_normal(2 * RATE) + 0j
    d = np.convolve(x, [0.5, -0.2, 0.1])[: x.size] + 1e-3 * rng.standard_normal(x.size)
    fast = Guarded(4, RATE).process(x, d)[0]
    monkeypatch.setattr(dcd, "COMPILED", False)
    slow = Guarded(4, RATE).process(x, d)[0]
    assert gained(d.real[RATE:], slow.real[RATE:]) == pytest.approx(gained(d.real[RATE:], fast.real[RATE:]), abs=0.5)
