"""voicewire_book.kit.audio: the sound lies in the page, unscaled."""

import base64
import io
import re
import wave

import numpy as np
import pytest

from voicewire_book.kit.audio import encode, player


def decode(html: str) -> tuple[wave._wave_params, np.ndarray]:
    data = base64.b64decode(re.search(r"base64,([^\"]+)", html).group(1))
    with wave.open(io.BytesIO(data)) as file:
        return file.getparams(), np.frombuffer(file.readframes(file.getnframes()), "<i2")


def test_samples_come_back_unscaled():
    params, sound = decode(player([0.0, 0.5, -1.0, 1.0], 8000, "A click")._repr_html_())
    assert (params.nchannels, params.sampwidth, params.framerate) == (1, 2, 8000)
    assert sound.tolist() == [0, 16384, -32767, 32767]


def test_stereo_and_integers():
    both = np.array([[1, 2], [3, -4]], dtype=np.int16)
    params, sound = decode(player(both, 16000, "Two ears")._repr_html_())
    assert params.nchannels == 2
    assert sound.tolist() == [1, 2, 3, -4]


def test_label_is_shown_and_escaped():
    clip = player(np.zeros(800), 8000, "a < b")
    assert 'aria-label="a &lt; b"' in clip._repr_html_()
    assert repr(clip) == "Audio: a < b (0.1 s)"


@pytest.mark.parametrize(
    ("samples", "rate", "label", "message"),
    [
        ([0.0], 8000, " ", "needs a label"),
        ([0.0], 0, "x", "positive whole number"),
        ([0.0], 8000.5, "x", "positive whole number"),
        ([0.0], float("nan"), "x", "positive whole number"),
        ([0.0], float("inf"), "x", "positive whole number"),
        ([0.0], 10**6 + 1, "x", "positive whole number"),
        ([], 8000, "x", "empty"),
        ([0.0, float("nan")], 8000, "x", "finite"),
        ([1.5], 8000, "x", "beyond full scale"),
        ([1, 2], 8000, "x", "floats from -1 to 1"),
        (np.zeros((4, 3)), 8000, "x", "shape"),
    ],
)
def test_impossible_sounds(samples, rate, label, message):
    with pytest.raises(ValueError, match=message):
        player(samples, rate, label)


def test_eight_bits_lie_around_128_and_other_numbers_are_refused():
    with wave.open(io.BytesIO(encode(np.array([0.0, 1.0, -1.0, 0.5]), 8000, bits=8))) as file:
        assert list(file.readframes(4)) == [128, 255, 0, 192]
    with pytest.raises(ValueError, match="8 or 16 bits here, not 12"):
        encode(np.zeros(4), 8000, bits=12)


@pytest.mark.parametrize("rate", [1, 10**6])
def test_the_slowest_and_the_fastest_sound(rate):
    clip = player(np.zeros(3), rate, "Silence")
    assert decode(clip._repr_html_())[0].framerate == rate
    assert clip.seconds == 3 / rate


@pytest.mark.parametrize("bits", [8.0, "8", 0, 17])
def test_bits_are_eight_or_sixteen(bits):
    with pytest.raises(ValueError, match="8 or 16 bits here"):
        encode(np.zeros(4), 8000, bits=bits)


@pytest.mark.parametrize("samples", [0.0, np.zeros((2, 2, 2)), np.zeros((2, 1))])
def test_neither_mono_nor_stereo(samples):
    with pytest.raises(ValueError, match="shape|one-dimensional|array"):
        encode(samples, 8000)
