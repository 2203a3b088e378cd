"""Recordings with everyday faults: conditioned, followed, or the place named; and nothing claimed that wasn't tested.

Each class is generated: another seed gives another sound, room, place and size of the fault.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.signal import butter, fftconvolve, lfilter, resample_poly, sosfilt

from voicewire import cli
from voicewire.echo import WLDRRLSDCD, WLRLS, SignalError, StereoNLMS, cancel_echo, cancel_files
from voicewire.echo.recordings import conditions, delay_estimation, gain, sources
from voicewire.echo.two_path_filter import Change, Guarded

RATE = 8000
FEW = settings(
    max_examples=4, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SEEDS = st.integers(0, 2**20)
Samples = np.ndarray


def pair(seed: int, seconds: float = 12.0, late: int = 0) -> tuple[Samples, Samples, np.random.Generator]:
    """Bursts of coloured noise, and their echo from a room that fades in 40 ms, 60 dB above noise."""
    rng = np.random.default_rng(seed)
    count = round(seconds * RATE)
    far = lfilter([1], [1, -1.4, 0.6], rng.standard_normal(count))
    loud = np.repeat((rng.random(count // 800 + 1) > 0.25).astype(float), 800)[:count]
    far = far * np.convolve(loud, np.hanning(400) / 200, "same")
    far = 0.05 * far / np.std(far) + 2e-5 * rng.standard_normal(count)
    room = 0.1 * rng.standard_normal(320) * np.exp(-np.arange(320) / 60)
    room[0] = 0.6
    heard = fftconvolve(far, np.r_[np.zeros(late), room])[:count]
    return far, heard + 1e-3 * np.std(heard) * rng.standard_normal(count), rng


def gained(heard: Samples, left: Samples, start: float = 6.0, rate: int = RATE) -> float:
    """ERLE in dB from a time on, both behind a high-pass."""
    sos = butter(2, 30, "highpass", fs=rate, output="sos")
    before, after = (sosfilt(sos, z)[round(start * rate) :] for z in (heard, left))
    return float(10 * np.log10(np.sum(before**2) / max(float(np.sum(after**2)), 1e-20)))


@FEW
@given(SEEDS, st.floats(0.005, 0.5), st.booleans())
def test_a_constant_costs_nothing_and_is_told(seed: int, constant: float, moves: bool) -> None:
    far, heard, _ = pair(seed)
    clean = cancel_echo(far, heard, RATE)
    added = constant * (np.linspace(1, -1, far.size) if moves else 1)
    done = cancel_echo(far, heard + added, RATE)
    assert gained(heard, done.out) > gained(heard, clean.out) - (6 if moves else 1)
    assert any("constant" in note for note in done.report.notes) and clean.report.notes == []
    assert abs(done.out.mean()) < 1e-3 * constant + 1e-5
    assert done.report.erle(6) == pytest.approx(gained(heard, done.out), abs=3)  # of the sound, not of the constant


@FEW
@given(SEEDS, st.sampled_from([8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000]))
def test_every_rate_is_as_good_as_8_khz(seed: int, rate: int) -> None:
    far, heard, _ = pair(seed, 8.0)
    least = gained(heard, cancel_echo(far, heard, RATE).out, 4.0)
    if rate != RATE:
        factor = np.gcd(rate, RATE)
        far, heard = (resample_poly(z, rate // factor, RATE // factor) for z in (far, heard))
    done = cancel_echo(far, heard, rate)
    assert done.out.shape == heard.shape and done.sr == rate
    assert gained(heard, done.out, 4.0, rate) > min(least, 30) - 2
    assert done.report.worked_at <= max(rate, 24000) and (done.report.worked_at == rate or rate >= 32000)


@FEW
@given(SEEDS, st.sampled_from([0.5, 1.0]))
def test_the_far_end_as_its_own_microphone_is_told(seed: int, gain: float) -> None:
    far, _, _ = pair(seed)
    notes = cancel_echo(far, gain * far, RATE).report.notes
    assert notes == ["both recordings hold the same samples, so that this is no echo of a room"] * (gain == 1)


@FEW
@given(SEEDS, st.floats(0.2, 0.8))
def test_two_ways_of_like_strength_are_no_delay_that_moves(seed: int, near: float) -> None:
    """Beside a talker at the near end one or the other way is the stronger from piece to piece."""
    far, _, rng = pair(seed)
    room = np.zeros(500)
    room[[80, 100, 130]] = 0.4
    heard = np.convolve(far, room)[: far.size]
    heard += near * np.std(heard) * lfilter([1], [1, -0.9], rng.standard_normal(far.size))
    done = cancel_echo(far, heard, RATE)
    assert 1000 * done.report.delay == pytest.approx(13, abs=4)
    for note in done.report.notes:
        found = re.match(r"pieces of the recordings have delays from ([\d.]+) to ([\d.]+) ms", note)
        assert found and 9 < float(found[1]) < float(found[2]) < 17


def test_a_lower_rate_is_taken_only_where_nothing_is_above() -> None:
    rng = np.random.default_rng(3)
    far = 0.05 * rng.standard_normal(4 * 48000)
    done = cancel_echo(far, np.convolve(far, [0.5, 0.2])[: far.size], 48000, tail=2)
    assert done.report.worked_at == 48000 and done.erle(2) > 40


@FEW
@given(SEEDS, st.floats(4, 8), st.integers(-1600, 1600).filter(lambda n: abs(n) > 100), st.booleans(), st.booleans())
def test_a_jump_of_the_delay_is_followed_and_its_place_told(
    seed: int, when: float, jump: int, gap: bool, inverted: bool
) -> None:
    far, heard, rng = pair(seed, late=2000)
    heard *= -1 if inverted else 1
    at = round(when * RATE)
    if jump > 0:
        put = np.zeros(jump) if gap else 1e-3 * np.std(heard) * rng.standard_normal(jump)
        heard = np.r_[heard[:at], put, heard[at:]][: far.size]
    else:
        heard = np.r_[heard[:at], heard[at - jump :], np.zeros(-jump)]
    done = cancel_echo(far, heard, RATE)
    (found,) = done.report.breaks
    assert 1000 * (found.after - found.before) == pytest.approx(1000 * jump / RATE, abs=0.3)
    assert at / RATE - 0.15 < found.time < (at + max(jump, 0)) / RATE + 0.15
    assert gained(heard[: 11 * RATE], done.out[: 11 * RATE], 9.5) > 30
    assert any(f"at {found.time:.2f} s the delay jumps" in line for line in done.report.lines())
    assert not any("double talk was noticed" in line for line in done.report.lines() if done.report.talks.sum() > 2)


@pytest.mark.parametrize("seed", range(4))
def test_a_short_detour_of_the_delay_is_followed(seed: int) -> None:
    """Most windows lie on one line, so that their median says nothing about the others."""
    far, heard, rng = pair(seed, 18.0, late=2000)
    jump, first = int(rng.integers(480, 1600)) * (-1) ** seed, int(rng.integers(4 * RATE, 6 * RATE))
    last = first + int(rng.integers(3 * RATE, 6 * RATE))
    moved = np.roll(heard, jump)
    done = cancel_echo(far, np.r_[heard[:first], moved[first:last], heard[last:]], RATE)
    there, back = done.report.breaks
    for found, at, size in ((there, first, jump), (back, last, -jump)):
        assert 1000 * (found.after - found.before) == pytest.approx(1000 * size / RATE, abs=0.3)
        assert found.time == pytest.approx(at / RATE, abs=0.4)  # there may be a pause
    assert done.erle(last / RATE - 1, last / RATE - 0.1) > 30 and done.erle(last / RATE + 4) > 40


@FEW
@given(SEEDS, st.integers(1, 12))
def test_dropouts_teach_nothing_and_are_told(seed: int, count: int) -> None:
    far, heard, rng = pair(seed)
    for at in rng.integers(2 * RATE, far.size - RATE, count):
        heard[at : at + rng.integers(80, 800)] = 0
    done = cancel_echo(far, heard, RATE)
    gone = heard == 0
    assert done.report.lost == pytest.approx(gone.sum() / RATE, abs=0.02)
    bounds = conditions.runs(gone)
    longest = bounds[np.argmax(np.diff(bounds))] / RATE
    told = [line for line in done.report.lines() if "longest from {:.2f} to {:.2f} s".format(*longest) in line]
    assert len(told) == 1 or max(end - start for start, end in done.report.gaps) > np.ptp(longest)
    assert not done.out[gone].any()
    assert gained(heard, done.out) > 40
    assert any("stays at one value" in line for line in done.report.lines())


@FEW
@given(SEEDS, st.floats(-200, 200).filter(lambda ppm: abs(ppm) > 20))
def test_drift_is_taken_out(seed: int, ppm: float) -> None:
    far, heard, _ = pair(seed, 20.0)
    dense = resample_poly(heard, 8, 1)
    slow = np.interp(8 * np.arange(heard.size) * (1 - 1e-6 * ppm), np.arange(dense.size), dense)
    done = cancel_echo(far, slow, RATE)
    assert 1e6 * done.report.drift == pytest.approx(ppm, abs=6)
    assert gained(slow, done.out, 10) > 20


@FEW
@given(SEEDS, st.floats(0.1, 0.5), st.booleans())
def test_a_gain_that_moves_is_followed_and_told(seed: int, last: float, back: bool) -> None:
    far, heard, _ = pair(seed, 16.0)
    curve = np.linspace(1, last, far.size)
    if back:
        curve = np.interp(np.arange(far.size), [0, 8 * RATE, far.size], [1, last, 1])
    done = cancel_echo(far, curve * heard, RATE)
    assert gained(curve * heard, done.out, 8) > 30
    told = [line for line in done.report.lines() if "the microphone's gain moves" in line]
    assert told and not done.report.talks.sum() > 1


@FEW
@given(SEEDS)
def test_a_gain_that_stays_is_left_alone_even_where_both_talk(seed: int) -> None:
    far, heard, rng = pair(seed)
    near = np.zeros(far.size)
    near[6 * RATE : 8 * RATE] = 0.03 * rng.standard_normal(2 * RATE)
    done = cancel_echo(far, heard + near, RATE)
    assert set(done.report.gains) == {1.0}
    assert np.sum((done.out - near)[6 * RATE : 8 * RATE] ** 2) < 0.02 * np.sum(near**2)
    said = " ".join(done.report.lines())
    assert "double talk was noticed" in said and "still echo" not in said
    assert done.report.echo_in_talk is not None and done.report.echo_in_talk < 0.2


@FEW
@given(SEEDS, st.floats(4.0, 7.0))
def test_echo_that_stays_is_not_called_double_talk(seed: int, when: float) -> None:
    """The delay is named, so that its jump isn't looked for: what is left is echo, and the report says so."""
    far, heard, _ = pair(seed)
    at = round(when * RATE)
    heard = np.r_[heard[:at], np.zeros(1600), heard[at:]][: far.size]
    done = cancel_echo(far, heard, RATE, delay=0.0)
    said = " ".join(done.report.lines())
    assert done.report.talks.sum() > 1 and done.report.echo_in_talk > 0.5
    assert "double talk was noticed" not in said and "still echo of the far end, so not double talk" in said


@pytest.mark.parametrize(("right", "other"), [(-1.0, 0.0), (-0.95, 0.0), (0.0, -1.0), (0.0, -0.95), (-1.0, -1.0)])
def test_channels_whose_mean_cancels_are_used_by_their_difference(right: float, other: float) -> None:
    far, heard, _ = pair(3, 6.0, late=200)
    wide = np.column_stack([far, right * far]) if right else far
    done = cancel_echo(wide, np.column_stack([heard, other * heard]) if other else heard, RATE)
    assert 1000 * done.report.delay == pytest.approx(25, abs=0.5) and done.erle(3) > 30 and not done.report.notes


@pytest.mark.parametrize("which", [0, 1])
def test_a_silent_channel_is_told(which: int) -> None:
    far, heard, _ = pair(4, 4.0)
    sounds = [far, heard]
    sounds[which] = np.column_stack([0 * far, sounds[which]])
    done = cancel_echo(*sounds, RATE)
    assert done.report.notes == [f"the left channel of {('the far end', 'the microphone recording')[which]} is silent"]


@pytest.mark.parametrize("count", [20, 100, 200, 1999])
def test_too_short_a_recording_is_said_to_be_short(count: int) -> None:
    far, _, rng = pair(5, 4.0)
    with pytest.raises(SignalError, match=f"{count} samples in common .*at least 250 ms"):
        cancel_echo(far[4000:][:count], 0.05 * rng.standard_normal(count), RATE)


def test_a_delay_that_is_given_says_nothing_of_the_files() -> None:
    far, heard, _ = pair(6, 4.0)
    assert cancel_echo(far, heard, RATE, delay=-50).report.notes == []
    found = cancel_echo(np.r_[np.zeros(800), far][: far.size], heard, RATE)
    assert any("before the far end's" in note for note in found.report.notes)


@pytest.mark.parametrize("kind", [np.int16, np.int32])
def test_integers_have_the_full_scale_of_their_type(kind: type) -> None:
    far, heard, _ = pair(7, 4.0)
    whole = [np.round(z * 2.0 ** (8 * np.dtype(kind).itemsize - 1)).astype(kind) for z in (far, heard)]
    scaled = [z / 2.0 ** (8 * np.dtype(kind).itemsize - 1) for z in whole]
    kept = cancel_echo(*scaled, RATE).out
    for first, second in ((whole[0], whole[1]), (whole[0], scaled[1]), (scaled[0], whole[1])):
        assert np.array_equal(cancel_echo(first, second, RATE).out, kept)
    for refused in (np.int64, np.uint8, np.uint16):
        with pytest.raises(SignalError, match="int16 or int32"):
            cancel_echo(np.abs(whole[0]).astype(refused), heard, RATE)


@pytest.mark.parametrize(("hertz", "size"), [(50, 0.003), (50, 0.1), (60, 0.03), (1000, 0.01), (None, 0.0)])
def test_a_steady_tone_is_named_and_no_path_is_said_to_have_changed(hertz: int | None, size: float) -> None:
    far, heard, _ = pair(8, 12.0)
    added = size * np.sin(2 * np.pi * (hertz or 0) * np.arange(far.size) / RATE)
    done = cancel_echo(far, heard + added, RATE)
    said = " ".join(done.report.lines())
    if hertz is None:
        assert done.report.tone is None and "steady tone" not in said
        return
    done.report.changes.append(Change(3.0, "as if the path had changed"))
    said = " ".join(done.report.lines())
    assert f"a steady tone of {hertz} Hz holds" in said and "path had changed" not in said
    share = done.report.as_object()["steady_tone"]["share"]
    late = done.out[6 * RATE :]
    wave = np.exp(-2j * np.pi * hertz * np.arange(late.size) / RATE)
    assert share == pytest.approx(2 * abs(np.mean(late * wave)) ** 2 / np.mean(late**2), abs=0.15)


@FEW
@given(SEEDS)
def test_a_far_end_alone_or_both_silent_have_a_reason(seed: int) -> None:
    far, _, rng = pair(seed, 4.0)
    with pytest.raises(SignalError, match="is silent"):
        cancel_echo(0 * far, 0 * far, RATE)
    with pytest.raises(SignalError, match="is silent"):
        cancel_echo(far, 1e-6 * rng.standard_normal(far.size), RATE)
    with pytest.raises(SignalError, match="no echo of the far end"):
        cancel_echo(far, 1e-2 * rng.standard_normal(far.size), RATE)
    with pytest.raises(SignalError, match="one value throughout"):
        cancel_echo(far, 0 * far + 0.1, RATE)


@pytest.mark.parametrize(("left", "right"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_the_command_and_the_function_are_one(tmp_path: Path, left: int, right: int, capsys) -> None:
    far, heard, _ = pair(left + 2 * right, 4.0, late=400)
    far = far if left == 1 else np.column_stack([far, 0.3 * np.roll(far, 40)])
    heard = heard if right == 1 else np.column_stack([heard, 0.5 * heard])
    names = [tmp_path / name for name in ("far.wav", "mic.wav", "out.wav")]
    for path, samples in zip(names, (far, heard), strict=False):
        soundfile.write(path, samples, RATE, subtype="DOUBLE")
    done = cancel_echo(far, heard, RATE)
    assert done.out.shape == heard.shape
    assert np.array_equal(done.out, cancel_echo(str(names[0]), names[1]).out)
    assert np.array_equal(done.out, cancel_echo(names[0], heard, RATE).out)
    assert cli.main(["echo", *map(str, names), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["each_second"]["erle_db"] == done.report.each_second()
    assert np.abs(soundfile.read(names[2])[0] - done.out).max() < 1e-4
    assert cancel_files(*map(str, names)).as_object()["delay_ms"] == 1000 * done.report.delay
    assert "ERLE" in repr(done) and "ERLE" in repr(done.report) and "0x" not in repr(done) + repr(done.report)


def test_what_cannot_be_used_is_refused_in_one_sentence(tmp_path: Path) -> None:
    far, heard, _ = pair(1, 4.0)
    path = tmp_path / "far.wav"
    soundfile.write(path, far, RATE)
    bad = heard.copy()
    bad[7] = np.nan
    for arguments, reason in (
        ((far, heard), "is an array: name its sampling rate"),
        ((far[None], heard, RATE), r"shape \(n,\) or \(n, 2\).*turned"),
        ((far, bad, RATE), "microphone recording is not finite at sample 7"),
        ((far[:0], heard, RATE), "far end is empty"),
        ((2.0**30 * far, heard, RATE), "full scale is 1"),
        ((path, heard, 16000), "has 8000 Hz, not 16000"),
        ((far, heard, 50), "sr"),
    ):
        with pytest.raises(SignalError, match=reason):
            cancel_echo(*arguments)
    with pytest.raises(FileNotFoundError):
        cancel_echo(tmp_path / "nothing.wav", heard, RATE)
    with pytest.raises(ValueError, match="name one of them"):
        cancel_echo(far, heard, RATE, tail=10, length=20)


def test_a_refused_pair_leaves_no_file(tmp_path: Path) -> None:
    far, _, rng = pair(1, 4.0)
    names = [tmp_path / name for name in ("far.wav", "mic.wav", "out.wav")]
    soundfile.write(names[0], far, RATE)
    soundfile.write(names[1], 0.01 * rng.standard_normal(far.size), RATE)
    with pytest.raises(SignalError, match="no echo"):
        cancel_files(*names)
    assert not names[2].exists()


def test_the_example_of_the_help_works_as_pasted(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        cli.main(["echo", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    (example,) = (line.removeprefix("Example: ") for line in lines if line.startswith("Example"))
    for command in example.split(" && "):
        assert cli.main(command.split()[1:]) == 0
    assert "delay 120.0 ms" in capsys.readouterr().out and Path("out.wav").exists()
    assert cli.main(["echo", "--sample"]) == 1
    assert "there already" in capsys.readouterr().err


@FEW
@given(SEEDS, st.integers(1, 200), st.integers(1, 3), st.sampled_from([np.float32, np.float64]), st.integers(1, 900))
def test_the_mono_kernel_gives_the_same_numbers_bit_by_bit(
    seed: int, length: int, passes: int, dtype: type, change: int
) -> None:
    """And hands over to the stereo one at any sample."""
    from voicewire.echo.dcd_mono import MonoDCD

    rng = np.random.default_rng(seed)
    wide, other = (
        WLDRRLSDCD(length, 1 - 1 / (64 * length), passes, regularization=length / 4, dtype=dtype) for _ in range(2)
    )
    mono = MonoDCD(other)
    x = rng.standard_normal(change).astype(dtype)
    x[change // 3 : change // 3 + length // 2 + 3] = 0
    d = np.convolve(x, rng.standard_normal(9))[:change] + 0.01 * rng.standard_normal(change)
    d = d.astype(dtype)
    assert np.array_equal(wide.process(x + 0j, d + 0j).real, mono.process(x, d))
    mono.widen(other)
    z, w = rng.standard_normal((2, 300, 2)) @ [1, 1j]
    assert np.array_equal(wide.process(z, w), other.process(z, w)) and np.array_equal(wide.taps, other.taps)


def test_the_guarded_canceller_goes_over_to_stereo_and_can_be_reset() -> None:
    rng = np.random.default_rng(2)
    mono = rng.standard_normal(4000) + 0j
    both = rng.standard_normal((4000, 2)) @ [1, 1j]
    canceller = Guarded(16, RATE)
    first, _ = canceller.process(mono, 0.5 * mono)
    assert np.abs(first[2000:]).max() < 1e-2 and not first.imag.any()
    second, _ = canceller.process(both, 0.5 * both)
    assert np.abs(second[3000:]).max() < 2e-2
    assert repr(canceller) == "<Guarded(length=16, sr=8000, memory=64, passes=1): 1.0 s heard, begun anew 0 times>"
    canceller.reset()
    assert np.array_equal(canceller.process(mono, 0.5 * mono)[0], first)


def test_lost_samples_change_nothing_in_the_filter() -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal(6000)
    d = np.convolve(x, [0.5, 0.2, -0.1])[: x.size]
    canceller = Guarded(8, RATE)
    canceller.process(x[:4000] + 0j, d[:4000] + 0j)
    taps = canceller.taps.copy()
    error, _ = canceller.process(x[4000:4800] + 0j, np.zeros(800, complex), np.ones(800, bool))
    assert np.allclose(canceller.taps, taps, atol=1e-5)
    assert np.allclose(error.real, -d[4000:4800], atol=1e-3)  # the microphone's nothing less the echo
    after, _ = canceller.process(x[4800:] + 0j, d[4800:] + 0j)
    assert np.abs(after).max() < 1e-3


@pytest.mark.parametrize("made", [lambda: StereoNLMS(4), lambda: WLRLS(4, 0.99), lambda: WLDRRLSDCD(4, 0.99)])
def test_filters_say_their_settings_and_can_be_reset(made) -> None:
    one = made()
    x, d = np.random.default_rng(1).standard_normal((2, 50, 2)) @ [1, 1j]
    first = one.process(x, d)
    one.reset()
    assert np.array_equal(one.process(x, d), first)
    assert repr(one).startswith(f"{type(one).__name__}(length=4") and "0x" not in repr(one)


@FEW
@given(SEEDS, st.integers(2, 6))
def test_a_lower_rate_and_back_is_the_same_sound(seed: int, factor: int) -> None:
    rng = np.random.default_rng(seed)
    low = resample_poly(rng.standard_normal(400), 2, 1)
    high = resample_poly(low, factor, 1)
    source = sources.Decimated(sources.OfArray(high[:, None], 8000 * factor, "x"), factor)
    reach = sources.REACH
    back = sources.raised(source.read(100 - reach, 400 + 2 * reach), factor)
    assert len(back) == 400 * factor
    assert np.abs(back[:, 0] - high[100 * factor : 500 * factor]).max() < 1e-3 * np.abs(high).max()


def test_a_source_reads_the_same_from_any_place() -> None:
    rng = np.random.default_rng(1)
    whole = sources.HighPassed(sources.OfArray(0.2 + rng.standard_normal((9000, 2)), 8000, "x"))
    once = whole.read(0, 9000)
    assert np.allclose(once[5000:6000], whole.read(5000, 1000), atol=1e-6)
    assert not whole.read(9000, 10).any() and not whole.read(-20, 20).any()
    assert abs(once[1000:].mean()) < 1e-3


@FEW
@given(SEEDS, st.integers(32, 400), st.integers(0, 700))
def test_runs_of_one_value_are_found_wherever_a_block_begins(seed: int, size: int, at: int) -> None:
    rng = np.random.default_rng(seed)
    samples = rng.standard_normal((1200, 1))
    samples[at : at + size] = 0.25
    source = sources.OfArray(samples, RATE, "x")
    found = np.concatenate([conditions.constant_runs(source.read, start, 100, RATE) for start in range(0, 1200, 100)])
    assert np.array_equal(np.flatnonzero(found), np.arange(at, at + size))


def test_parts_of_a_track_that_are_too_short_are_no_delay() -> None:
    times = np.arange(0, 5, 0.25)
    delays = np.where(times < 2, 0.1, 0.2)
    delays[8] = 0.7
    assert [round(level[2], 3) for level in delay_estimation.plateaus(times, delays)] == [0.1, 0.2]
    toggles = 0.1 + 1.4e-3 * (np.arange(20) // 4 % 2)  # two ways of like strength
    assert len(delay_estimation.plateaus(times, toggles)) == 1


def test_a_gain_is_found_only_after_evidence() -> None:
    rng = np.random.default_rng(1)
    follower = gain.GainFollower()
    for _ in range(200):
        echo = rng.standard_normal((128, 1))
        follower.watch(echo + 0.01 * rng.standard_normal((128, 1)), 0.01 * rng.standard_normal((128, 1)))
    assert not follower.found
    for _ in range(100):
        echo = rng.standard_normal((128, 1))
        follower.watch(0.7 * echo, -0.3 * echo)
    assert follower.found
