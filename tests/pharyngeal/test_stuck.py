"""Dropouts and jitter in vowels, and what a folder or a CSV passes over or changes, are told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from voicewire import cli, formants
from voicewire.pharyngeal import formant_plausibility
from voicewire.pharyngeal import formants as trackers
from voicewire.pharyngeal.audio_files import Sound

RATE = 16_000
VOWELS = [(750, 1250, 2550, 3500, 4500), (300, 2250, 2950, 3600, 4600), (320, 800, 2300, 3400, 4400)]
FEW = settings(max_examples=12, deadline=None, derandomize=True)


def vowel(seed: int, f0: float, jitter: float, of: int = 0, seconds: float = 0.4) -> np.ndarray:
    """Pulses whose distances scatter, through five resonances: a flat source, whose harmonics all jitter alike."""
    rng = np.random.default_rng(seed)
    n = round(seconds * RATE)
    pulses, at = np.zeros(n), 1.0
    while at < n - 2:
        pulses[int(at)] += 1
        at += RATE / f0 * (1 + jitter * rng.standard_normal())
    for frequency, width in zip(VOWELS[of], (60, 80, 120, 150, 200), strict=True):
        r = np.exp(-np.pi * width / RATE)
        pulses = lfilter([1], [1, -2 * r * np.cos(2 * np.pi * frequency / RATE), r * r], pulses)
    return 0.4 * pulses / np.abs(pulses).max() + 1e-4 * rng.standard_normal(n)


@FEW
@given(st.integers(0, 99), st.floats(80, 300), st.floats(0, 0.02), st.integers(0, 2))
def test_jitter_makes_no_pitch_of_several_periods(seed: int, f0: float, jitter: float, of: int) -> None:
    f0 = RATE / round(RATE / f0)
    table = formant_plausibility.answers(Sound(vowel(seed, f0, jitter, of), RATE))
    found = table["f0"].to_numpy()
    assert np.isnan(found).all() or found == pytest.approx(f0, rel=0.1)
    assert not (table["reason"] == "creak").any()


@FEW
@given(st.integers(0, 99), st.floats(0.005, 0.03), st.floats(-0.01, 0.01), st.sampled_from([0.0, 0.02]))
def test_a_dropout_is_told_by_what_was_seen(seed: int, lasts: float, off: float, value: float) -> None:
    samples = vowel(seed, 120, 0.005)
    whole = formant_plausibility.answers(Sound(samples, RATE))
    assert not whole["reason"].str.contains("one value").any()
    first = round((0.2 + off - lasts / 2) * RATE)
    samples[first : first + round(lasts * RATE)] = value
    reasons = formant_plausibility.answers(Sound(samples, RATE))["reason"]
    assert reasons.str.startswith("one value for ").all()
    flags = trackers.measure(Sound(samples, RATE)).set_index("point")["flag"]
    assert flags["midpoint"].str.startswith("one value for ").all() and not flags["onset"].str.contains("value").any()


@FEW
@given(st.integers(0, 99), st.sampled_from([50.0, 60.0]), st.floats(-30, 12), st.integers(0, 2))
def test_hum_is_neither_pitch_nor_creak(seed: int, mains: float, level: float, of: int) -> None:
    clean = vowel(seed, 200, 0.005, of)
    hum = np.sqrt(2) * 10 ** (level / 20) * np.std(clean) * np.sin(2 * np.pi * mains * np.arange(clean.size) / RATE)
    table = formant_plausibility.answers(Sound(clean + hum, RATE))
    assert not (table["reason"] == "creak").any()
    if level < -3:
        assert table["f0"].to_numpy() == pytest.approx(200, rel=0.05)
    else:
        assert (table["f0"] > 150).all() or (table["reason"] != "").all()


@FEW
@given(st.integers(0, 99), st.floats(0.1, 0.6), st.sampled_from([-1, 1]), st.integers(0, 2))
def test_a_constant_moves_no_number_and_is_told(seed: int, constant: float, sign: int, of: int) -> None:
    samples = 0.4 * vowel(seed, 120, 0.005, of)
    samples -= samples.mean()
    clean = formants((samples, RATE))
    with pytest.warns(UserWarning, match="was taken out"):
        moved = formants((samples + sign * constant, RATE))
    assert clean.attrs["notes"] == []
    for name in ("F1", "F2", "F3", "F4", "confidence", "pitch", "intensity"):
        assert moved[name].to_numpy() == pytest.approx(clean[name].to_numpy(), rel=1e-3, nan_ok=True)


def _grid(labels: list[str]) -> str:
    marks = [(0.4 * k, 0.4 * (k + 1), label) for k, label in enumerate(labels)]
    rows = "\n".join(f'{start:g} {end:g} "{label}"' for start, end, label in marks)
    end = 0.4 * len(labels)
    head = f'"ooTextFile"\n"TextGrid"\n0 {end:g}\n<exists>\n1\n"IntervalTier" "v" 0 {end:g}\n'
    return f"{head}{len(labels)}\n{rows}\n"


def test_a_folder_tells_what_it_lacks_and_what_lies_below(tmp_path: Path) -> None:
    (tmp_path / "s1").mkdir()
    (tmp_path / "s2").mkdir()
    for name in ("a.wav", "b.wav", "s1/c.wav"):
        soundfile.write(tmp_path / name, vowel(1, 120, 0.0), RATE)
    with pytest.warns(UserWarning, match="passed over") as told:
        formants(tmp_path)
    notes = [str(each.message) for each in told]
    assert notes == ["folders with sounds in this folder were passed over: s1; name them as well"]
    (tmp_path / "a.TextGrid").write_text(_grid(["a"]), encoding="utf-8")
    with pytest.warns(UserWarning) as told:
        formants(tmp_path)
    assert "b.wav: no TextGrid of this name, so measured once, in the middle" in [str(each.message) for each in told]


@pytest.mark.parametrize("many", [False, True])
def test_labels_that_the_csv_changes_are_told(tmp_path: Path, many: bool, capsys: pytest.CaptureFixture[str]) -> None:
    labels = ["a", "@", "=1+1", "-x"] if many else ["a", "@", "-"]
    soundfile.write(tmp_path / "a.wav", np.tile(vowel(1, 120, 0.0), len(labels)), RATE)
    (tmp_path / "a.TextGrid").write_text(_grid(labels), encoding="utf-8")
    for given_ in ([str(tmp_path)], [str(tmp_path / "a.wav"), "--textgrid", str(tmp_path / "a.TextGrid")]):
        assert cli.main(["formants", *given_]) == 0
        said = capsys.readouterr().err
        assert ("such as '=1+1' (2 in all)" in said) == many and ("apostrophe" in said) == many
        assert cli.main(["formants", "--json", *given_]) == 0
        out = capsys.readouterr()
        assert "apostrophe" not in out.err and {row["label"] for row in json.loads(out.out)} == set(labels)
