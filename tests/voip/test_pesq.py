"""PESQ beside R: optional, so what needs it is defined only where it is installed."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from voicewire.voip.codecs import listening, pesq
from voicewire.voip.errors import VoipError


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not pesq.available()
    with pytest.raises(VoipError, match=r"voicewire\[pesq\].*licence"):
        pesq.score(listening.speech(), listening.speech())


if pesq.available():

    def test_the_same_is_best_and_loss_costs() -> None:
        said = listening.speech()
        scores = [
            pesq.score(said, listening.heard(said, "UDP", delay_ms=50, loss=loss, seed=3).samples)
            for loss in (0.0, 0.05, 0.2)
        ]
        assert pesq.score(said, said) == pytest.approx(4.55, abs=0.01)
        assert 4.5 > scores[0] > scores[1] > scores[2] > 1

    @pytest.mark.parametrize(
        ("said", "message"),
        [
            (np.zeros(8000, np.int16), "cannot judge"),
            (np.zeros(10, np.int16), "cannot judge"),
            (np.zeros(8000), "16-bit samples"),
        ],
    )
    def test_what_cannot_be_judged_is_one_clear_error(said: np.ndarray, message: str) -> None:
        with pytest.raises(VoipError, match=message):
            pesq.score(said, said)
