"""`voicewire echo --live` with a sound card that is made up: what it gives, what it loses, and how it ends."""

from __future__ import annotations

import signal
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from voicewire import cli
from voicewire.echo.recordings.live import cancel_live
from voicewire.echo.recordings.stream import cancel_files
from voicewire.echo.scenes.speech import talk

RATE = 8000
TAPS = 64


def echoed(seconds: float, late: int) -> tuple[np.ndarray, np.ndarray]:
    """Speech, and its echo after so many samples from a room that fades."""
    far = 0.05 * talk(seconds, 3)
    rng = np.random.default_rng(4)
    room = np.r_[np.zeros(late), 1.0, 0.3 * rng.standard_normal(TAPS // 2) * np.exp(-np.arange(TAPS // 2) / 10)]
    return far, np.convolve(far, room)[: far.size] + 1e-4 * rng.standard_normal(far.size)


class PortAudioError(Exception):
    """As sounddevice has it."""


class Card:
    """A sound card whose microphone hears what it is given, block by block."""

    def __init__(self, heard: np.ndarray) -> None:
        self.heard = np.round(32768 * heard).astype(np.int16)[:, None]
        self.played: list[np.ndarray] = []
        self.at = 0
        self.overrun_at = self.end_at = self.stop_at = None
        self.refuses: str | None = None
        self.opened: dict[str, Any] = {}

    def module(self) -> types.ModuleType:
        card, module = self, types.ModuleType("sounddevice")

        class Stream:
            def __init__(self, **settings: Any) -> None:
                if card.refuses:
                    raise PortAudioError(card.refuses)
                card.opened = settings

            def __enter__(self) -> Stream:
                return self

            def __exit__(self, *_: object) -> None:
                card.opened["closed"] = True

            def write(self, block: np.ndarray) -> bool:
                card.played.append(block.copy())
                return False

            def read(self, count: int) -> tuple[np.ndarray, bool]:
                block = len(card.played) - 1
                if block == card.end_at:
                    raise PortAudioError("device unplugged")
                if block == card.stop_at:
                    signal.raise_signal(signal.SIGINT)
                lost = block == card.overrun_at
                card.at += 100 * lost
                piece = card.heard[card.at : card.at + count]
                card.at += count
                return np.pad(piece, ((0, count - len(piece)), (0, 0))), lost

        module.Stream, module.PortAudioError = Stream, PortAudioError  # type: ignore[attr-defined]
        return module


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Card:
    far, heard = echoed(10, 400)
    soundfile.write(tmp_path / "far.wav", far, RATE)
    one = Card(heard)
    monkeypatch.setitem(sys.modules, "sounddevice", one.module())
    monkeypatch.chdir(tmp_path)
    return one


def live(**other: Any) -> Any:
    return cancel_live(Path("far.wav"), Path("out.wav"), kept=Path("mic.wav"), length=TAPS, **other)


@pytest.mark.parametrize("delay", [0.05, None])
def test_it_gives_what_the_command_gives_on_the_same_samples(card: Card, delay: float | None) -> None:
    done = live(delay=delay)
    far, _ = soundfile.read("far.wav", dtype="int16")
    assert np.array_equal(np.concatenate(card.played)[:, 0], far)
    assert np.array_equal(soundfile.read("mic.wav", dtype="int16")[0], card.heard[:, 0])
    again = cancel_files(Path("far.wav"), Path("mic.wav"), Path("again.wav"), length=TAPS, delay=done.delay)
    if delay is None:
        assert done.found and done.delay == pytest.approx(0.05, abs=0.001)
    assert np.array_equal(soundfile.read("out.wav")[0], soundfile.read("again.wav")[0])
    assert np.array_equal(done.heard, again.heard) and np.array_equal(done.left, again.left)
    assert done.erle(5) > 20 and done.notes == []
    assert card.opened["closed"] and card.opened["channels"] == (1, 1) and card.opened["samplerate"] == RATE


@pytest.mark.parametrize(("left", "right"), [(1.0, -1.0), (0.0, 1.0)])
def test_a_far_end_whose_mean_cancels_or_half_of_which_is_silent_is_used(card: Card, left: float, right: float) -> None:
    far, _ = echoed(10, 400)
    soundfile.write("far.wav", np.column_stack([left * far, right * far]), RATE)
    done = live()
    assert done.found and done.delay == pytest.approx(0.05, abs=0.001) and done.erle(5) > 20
    assert done.notes == ([] if left else ["the left channel of far.wav is silent"])


def test_an_overrun_is_counted_and_told(card: Card) -> None:
    card.overrun_at = 20
    (note,) = live(delay=0.05).notes
    assert note.startswith("overrun in 1 blocks, first at 5.4 s")


@pytest.mark.parametrize(("how", "said"), [("end_at", "device unplugged"), ("stop_at", "stopped at")])
def test_a_device_that_ends_and_ctrl_c_end_with_a_report(card: Card, how: str, said: str) -> None:
    setattr(card, how, 24)
    before = signal.getsignal(signal.SIGINT)
    done = live()
    assert said in done.notes[0] and done.found
    assert signal.getsignal(signal.SIGINT) is before and card.opened["closed"]
    samples = soundfile.info("out.wav").frames
    assert samples == done.length == soundfile.info("mic.wav").frames == 2048 * (24 + (how == "stop_at"))
    assert len(done.heard) == len(done.clipped_microphone) == len(done.clipped_far) == -(-samples // RATE)


def test_clipping_is_counted_where_it_is(card: Card) -> None:
    card.heard[3 * RATE : 3 * RATE + 80] = 32767
    assert live(delay=0.05).clipped_microphone.round(6).tolist() == [0, 0, 0, 0.01, *[0] * 6]


def test_what_it_cannot_do_is_one_line(card: Card, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["echo", "far.wav", "--live", "out.wav", "--length", "64"]

    def refused(*more: str) -> str:
        assert cli.main([*words, *more]) == 1
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        return err

    card.refuses = "Invalid sample rate"
    assert "8000 Hz: Invalid sample rate; bring FAR.wav to" in refused()
    card.refuses = None
    card.heard[:] = 0
    assert "no echo of far.wav was found in the 10.0 s" in refused()
    card.played, card.end_at, card.at = [], 0, 0
    assert "device unplugged" in refused()
    assert "already: name another file" in refused("--keep", "out.wav")
    assert cli.main(["echo", "far.wav", "far.wav", "--live", "new.wav"]) == 1
    assert cli.main(["echo", "far.wav"]) == 1
    assert cli.main(["echo", "far.wav", "far.wav", "out.wav", "--device", "0"]) == 1
    assert capsys.readouterr().err.count("\n") == 3


def test_what_is_missing_is_named(card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(ValueError, match="pip install sounddevice"):
        live()

    def broken(name: str) -> None:
        raise OSError("PortAudio library not found")

    monkeypatch.setattr("voicewire.echo.recordings.live.importlib.import_module", broken)
    with pytest.raises(ValueError, match="apt install libportaudio2"):
        live()


def test_the_command_tells_what_it_heard(card: Card, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["echo", "far.wav", "--live", "out.wav", "--keep", "mic.wav", "--length", "64"]) == 0
    said = capsys.readouterr().out
    assert "delay 5" in said and "ERLE" in said and said.endswith("residual: out.wav (16 bits)\n")
