"""Times in nanoseconds where NumPy's own integer has 32 bits: a browser, or NumPy 1.26 on Windows."""

import numpy as np
import pytest

from voicewire.voip import conversation as talk_module
from voicewire.voip import playout


class Narrow:
    """NumPy as it is there: integers without a dtype have 32 bits, and `repeat` takes no others as counts."""

    intp = np.int32

    def __getattr__(self, name):
        return getattr(np, name)

    def arange(self, *arguments, dtype=None):
        return self.narrow(np.arange(*arguments, dtype=dtype), dtype)

    def flatnonzero(self, *arguments):
        return np.flatnonzero(*arguments).astype(np.int32)

    def cumsum(self, values, dtype=None):
        wide = np.asarray(values).dtype == np.int64
        return self.narrow(np.cumsum(values, dtype=dtype), np.int64 if wide else dtype)

    def repeat(self, values, counts):
        if np.asarray(counts).dtype == np.int64:
            raise TypeError("Cannot cast array data from dtype('int64') to dtype('int32') according to the rule 'safe'")
        return np.repeat(values, counts)

    @staticmethod
    def narrow(made, dtype):
        return made.astype(np.int32) if dtype is None and made.dtype == np.int64 else made


def test_the_narrow_numpy_overflows():
    with np.errstate(over="ignore"):
        assert (Narrow().arange(200) * np.int32(20_000_000))[-1] != 199 * 20_000_000


def work():
    spoken = talk_module.talk(np.random.default_rng(1), 600)
    active = talk_module.from_activity(np.random.default_rng(2).random(500) < 0.4)
    delay = np.random.default_rng(3).gamma(2, 60, spoken.times.size)
    best = playout.fixed(delay, spoken.spurts, "G.729")
    return [spoken.times, spoken.spurts, active.times, active.spurts, best.delays_ms, np.array([best.r])]


def test_talk_and_playout_are_the_same_with_32_bits(monkeypatch):
    wide = work()  # compiles what is compiled, with the real NumPy
    monkeypatch.setattr(talk_module, "np", Narrow())
    monkeypatch.setattr(playout, "np", Narrow())
    for one, other in zip(wide, work(), strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other, equal_nan=True)
    assert wide[0][-1] > 2**32
    with pytest.raises(TypeError):
        Narrow().repeat([1], np.array([1]))
