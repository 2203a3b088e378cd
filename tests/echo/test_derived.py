"""What the chapters derive of data reuse as a shorter memory, and of what the loudspeakers explain."""

import numpy as np
import pytest

from voicewire.echo import StereoRLS, nonuniqueness
from voicewire.echo.metrics import follow
from voicewire.echo.scenes.scene import Scene


@pytest.fixture(scope="module")
def settled():
    """A far room much longer than the filter, white: what chapter 2 takes as the mean holds."""
    scene = Scene(16, 16_000, 1, source="white", far_length=48, change="sign", change_at=10_000)
    return scene.signals()


@pytest.mark.parametrize("passes", [2, 3])
def test_passes_are_a_memory_that_many_times_shorter(settled, passes):
    lam = 1 - 1 / 1600
    reuse = follow(StereoRLS(16, lam, data_reuse=passes), settled, 50)
    shorter = follow(StereoRLS(16, 1 - passes * (1 - lam)), settled, 50)
    assert reuse.steady(6000, 10_000) == pytest.approx(shorter.steady(6000, 10_000), abs=1.0)
    assert reuse.tracking_time(10_000, -10) == pytest.approx(shorter.tracking_time(10_000, -10), rel=0.15)


def explained(scene):
    signals, block = scene.signals(), slice(4000, 6000)
    windows, d = nonuniqueness.rows(signals.x[block], 16), signals.d[block][15:]
    heard = np.column_stack([d.real, d.imag])
    taps, *_ = np.linalg.lstsq(windows, heard, rcond=None)
    return 1 - np.sum((heard - windows @ taps) ** 2) / np.sum(heard**2)


def test_a_door_is_explained_by_the_loudspeakers_and_a_talker_is_not():
    assert explained(Scene(16, 6000, 2)) > 0.99
    assert explained(Scene(16, 6000, 2, change="sign", change_at=3000)) > 0.99
    assert 0.35 < explained(Scene(16, 6000, 2, double_talk=(3000, 6000))) < 0.65
