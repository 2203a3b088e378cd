"""Scenes, measures, recordings and the command: what the figures show is asserted here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from scipy.linalg import convolution_matrix

from voicewire import cli
from voicewire.echo import WLDRRLSDCD, complex_taps, paper
from voicewire.echo.metrics import (
    Curve,
    dcd_operations,
    erle,
    expected_rise,
    expected_tracking,
    follow,
    misalignment,
    woodbury_operations,
)
from voicewire.echo.operation_counts import count_operations
from voicewire.echo.recordings import cancellation
from voicewire.echo.scenes import speech
from voicewire.echo.scenes.room_impulse_responses import image_source
from voicewire.echo.scenes.scene import Scene, predistort
from voicewire.echo.widely_linear import Responses, echo, responses
from voicewire_book.chapters.echo import experiments, figures


def test_taps_and_paths_are_the_same_thing():
    rng = np.random.default_rng(0)
    paths = Responses(*rng.standard_normal((4, 5)))
    taps = complex_taps(paths)
    for ours, back in zip(paths, responses(taps), strict=True):
        assert np.allclose(ours, back)
    x = rng.standard_normal(40) + 1j * rng.standard_normal(40)
    n = 20
    window = np.ravel(np.column_stack([x[n : n - 5 : -1], x[n : n - 5 : -1].conj()]))
    assert np.isclose(np.vdot(taps, window), echo(paths, x)[n])
    with pytest.raises(ValueError, match="even in number"):
        responses(taps[:3])


def test_direct_sound_arrives_when_it_should():
    response = image_source(200, 8000, (6, 5, 3), (1, 1, 1), (4, 1, 1), reflection=0.0)
    assert abs(int(np.argmax(np.abs(response))) - 3 / 343 * 8000) <= 1
    with pytest.raises(ValueError, match="inside"):
        image_source(10, 8000, (6, 5, 3), (7, 1, 1), (4, 1, 1))


def test_predistortion_is_one_sided():
    x = np.array([1 + 1j, -1 - 1j])
    assert np.allclose(predistort(x, 0.5), [1.5 + 1j, -1 - 1.5j])


@pytest.mark.parametrize("change", ["sign", "swap", "drift"])
def test_scene_is_what_it_says(change):
    scene = Scene(16, 4000, 7, change=change, change_at=2000, snr=40)
    signals, again = scene.signals(), scene.signals()
    assert np.array_equal(signals.d, again.d)
    for start, stop in ((0, 2000), (3990, 4000)):
        heard = signals.d - signals.noise
        x = signals.x
        for n in (max(start, 100), stop - 1):
            window = np.ravel(np.column_stack([x[n : n - 16 : -1], x[n : n - 16 : -1].conj()]))
            assert np.isclose(np.vdot(signals.truth(n), window), heard[n], atol=1e-9)
    power = np.mean(np.abs(signals.d - signals.noise) ** 2) / np.mean(np.abs(signals.noise) ** 2)
    assert abs(10 * np.log10(power) - 40) < 0.5


def test_predistortion_changes_only_the_far_end():
    plain, bent = (Scene(16, 500, 7, predistortion=a).signals() for a in (0.0, 0.4))
    assert np.allclose(predistort(plain.x, 0.4), bent.x)
    assert np.array_equal(complex_taps(plain.before), complex_taps(bent.before))


def test_double_talk_is_heard_where_it_is_said():
    signals = Scene(16, 3000, 7, double_talk=(1000, 2000)).signals()
    assert not signals.near_end[:1000].any()
    assert signals.near_end[1000:2000].all()
    filter_ = WLDRRLSDCD(16, 1 - 1 / 640)
    assert np.isfinite(filter_.process(signals.x, signals.d)).all()


def test_measures():
    assert misalignment([1, 0], [1, 1]) == pytest.approx(-3.01, abs=0.01)
    assert erle([1, 1j], [0.1, 0.1j]) == pytest.approx(20)
    assert erle([1], [0]) == np.inf
    curve = Curve(np.array([10, 20, 30, 40]), np.array([-30.0, 5.0, -12.0, -25.0]))
    assert curve.tracking_time(10, -10) == 20
    assert curve.tracking_time(10, -26) == np.inf
    assert curve.steady(25, 30) == pytest.approx(-12)
    with pytest.raises(ValueError, match="no point"):
        curve.steady(100, 200)


def test_theory_is_met_on_a_small_case():
    length, memory = 32, 32
    for family in ("decaying", "room"):
        floors = {}
        for reuse in (1, 3):
            signals = Scene(
                length, 24_000, 0, change="sign", change_at=14_000, family=family, far_length=4 * length
            ).signals()
            curve = follow(WLDRRLSDCD(length, 1 - 1 / (memory * length), reuse), signals, 50)
            ratio = curve.tracking_time(14_000, -20) / expected_tracking(length, memory, reuse)
            assert 1 <= ratio < 1.6
            floors[reuse] = curve.steady(9_000, 14_000)
        assert abs(floors[3] - floors[1] - expected_rise(3)) < 2


def test_the_far_room_decides_whether_the_solution_is_unique():
    """The data of the figure in chapter 1, and the dimension that it derives."""
    found = experiments.far_rooms((16, 33, 48, 64), range(3))
    plain, bent = found[0.0], found[0.4]
    assert min(plain[16]) > -12 and min(plain[33]) > -16  # no solution, and one that noise hides
    assert max(plain[48]) < -20 and max(plain[64]) < -25
    assert max(max(values) for values in bent.values()) < -22
    ax = figures.far_rooms(found, 32)
    drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert np.allclose(drawn[r"$\alpha_r=0$"], [np.mean(plain[m]) for m in (16, 33, 48, 64)])
    assert any(set(line.get_xdata()) == {32} for line in ax.lines)


@pytest.mark.parametrize("far_length", range(1, 12))
def test_as_many_silent_directions_as_the_chapter_says(far_length):
    rng = np.random.default_rng(far_length)
    L = 8
    both = np.hstack([convolution_matrix(f, L) for f in rng.standard_normal((2, far_length))])
    assert 2 * L - np.linalg.matrix_rank(both) == max(0, L - far_length + 1)


def test_the_descent_is_drawn_as_shares_of_its_start():
    ax = figures.descent([4.0, 2.0, 1.0], [8.0, 2.0, 3.0])
    assert [list(line.get_ydata()) for line in ax.lines] == [[1, 0.5, 0.25], [1, 0.25, 0.375]]


# Deliberate faults that the tests above once did not notice: each of these cases tells the right rule from a near one.


def test_the_steady_state_is_a_mean_of_powers_not_of_decibels():
    curve = Curve(np.array([1, 2]), np.array([-10.0, -30.0]))
    assert curve.steady(0, 2) == pytest.approx(10 * np.log10((0.1 + 0.001) / 2))  # the mean of decibels is -20
    assert curve.steady(1, 2) == pytest.approx(-30)


def test_a_swap_interchanges_the_microphones_and_not_the_loudspeakers():
    signals = Scene(8, 400, 2, change="swap", change_at=200, snr=200).signals()
    before = echo(signals.before, signals.x)
    after = signals.d[250:] - signals.noise[250:]
    assert np.allclose(after, (before.imag + 1j * before.real)[250:])
    assert np.array_equal(signals.after.LL, signals.before.LR)
    assert np.array_equal(signals.after.RL, signals.before.RR)
    assert np.array_equal(signals.after.RR, signals.before.RL)


def test_each_channel_of_the_far_end_has_power_1_and_each_microphone_its_own_noise():
    """Whatever the rooms: a channel scaled by the other one's power would give two different powers."""
    for seed in range(5):
        signals = Scene(16, 4000, seed, predistortion=0.0, snr=20).signals()
        assert np.std(signals.x.real) == pytest.approx(1) == np.std(signals.x.imag)
        heard = signals.d - signals.noise
        for one, noise in ((heard.real, signals.noise.real), (heard.imag, signals.noise.imag)):
            assert 20 * np.log10(np.std(one) / np.std(noise)) == pytest.approx(20, abs=0.3)


def test_a_near_end_talker_is_as_loud_as_the_echo():
    signals = Scene(16, 20_000, 3, double_talk=(0, 20_000)).signals()
    heard = signals.d - signals.noise - signals.near_end
    assert np.std(signals.near_end) == pytest.approx(np.std(heard), rel=0.02)


def test_operations_grow_with_length():
    for reuse in (1, 3):
        one, two = dcd_operations(1000, reuse, 4), dcd_operations(2000, reuse, 4)
        assert two.additions / one.additions == pytest.approx(2, rel=0.01)
    assert woodbury_operations(200).multiplications / woodbury_operations(100).multiplications == pytest.approx(
        4, rel=0.02
    )


@pytest.mark.parametrize("family", ["decaying", "room"])
@pytest.mark.parametrize("reuse", [1, 3, 5])
def test_recorded_seeds_obey_the_theory(family, reuse):
    """Every one of five seeds, with a far room that is longer than the filter."""
    rows = experiments.read("theory")
    where = {"far_room": "2L", "family": family}
    ratio = np.array(experiments.column(rows, "t20", reuse=reuse, **where)) / expected_tracking(128, 64, reuse)
    assert ratio.size == 5
    assert (ratio >= 1).all()
    assert (ratio <= 1.6).all()
    rise = np.subtract(*(experiments.column(rows, "before", reuse=n, **where) for n in (reuse, 1)))
    assert (np.abs(rise - expected_rise(reuse)) < 2).all()


def test_the_search_not_the_noise_delays_behind_a_short_far_room():
    rows = experiments.read("theory")
    worst = {
        name: max(experiments.column(rows, "t20", far_room=name, family="decaying", reuse=5))
        for name in experiments.THEORY
    }
    assert worst["L"] > 1.5 * worst["2L"]
    assert worst["L, noise at -45 dB"] > 0.9 * worst["L"]
    assert worst["L, 12 moves"] < 0.8 * worst["L"]


def test_the_recorded_theory_comes_from_this_code():
    row = next(r for r in experiments.read("theory") if (r["far_room"], r["family"], r["reuse"]) == ("2L", "room", 5))
    signals = experiments.scene(row["seed"], family="room", far_length=256)
    again = experiments.track(signals, data_reuse=5)
    for name in ("t10", "t15", "t20", "before", "after"):
        assert again[name] == pytest.approx(row[name], rel=0.01)


def test_recorded_figure_1_is_the_papers_order():
    curves = experiments.read_curves(1)
    floor = {key: curve.steady(1_000_000, 1_200_000) for key, curve in curves.items()}
    assert floor[1, 0.8] < floor[1, 0.4] < floor[3, 0.4] < floor[5, 0.4] < floor[5, 0.0]
    assert len(curves) == 6
    assert next(iter(curves.values())).samples[-1] == paper.FIGURE_1.samples


def test_speech_is_dealt_to_length():
    talk = speech.talk(7.0, 1)
    assert talk.size == 7 * paper.RATE
    assert np.array_equal(talk, speech.talk(7.0, 1))
    assert len(speech.utterances()) == 2 * len(speech.SENTENCES)


def test_command_cancels_a_recording(tmp_path, capsys):
    signals = Scene(32, 8000, 1, source="white").signals()
    scale = 0.05
    far, mic, out = (tmp_path / name for name in ("far.wav", "mic.wav", "out.wav"))
    soundfile.write(far, scale * np.column_stack([signals.x.real, signals.x.imag]), 8000)
    soundfile.write(mic, scale * np.column_stack([signals.d.real, signals.d.imag]), 8000)
    assert cli.main(["echo", str(far), str(mic), str(out), "--length", "32", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["taps"], row["passes"], row["residual"]) == (32, 1, str(out))
    assert cli.main(["echo", str(far), str(mic), str(out), "--length", "32"]) == 0
    said = capsys.readouterr().out
    assert "ERLE" in said
    residual, rate = soundfile.read(out)
    assert rate == 8000
    assert residual.shape == (8000, 2)
    assert np.std(residual[4000:]) < 0.1 * scale * np.std(signals.d)


def test_blocks_give_what_one_piece_gives():
    signals = Scene(32, 5000, 1, source="white").signals()
    far, heard = (np.column_stack([z.real, z.imag]) for z in (signals.x, signals.d))
    seen = []
    done = cancellation.cancel(
        far, heard[:-7], 8000, length=32, watch=lambda so_far: seen.append(so_far.progress()[1].size)
    )
    assert seen == [1, 2, 2]  # the last block is shorter than a quarter of a second
    assert len(done.residual) == 4993
    scale = float(np.std(far[:4993]))
    whole = WLDRRLSDCD(32, 1 - 1 / 2048, 3, regularization=8, dtype=np.float32)
    e = whole.process(signals.x[:4993] / scale, signals.d[:4993] / scale)
    assert np.array_equal(done.residual, np.column_stack([e.real, e.imag]) * scale)
    ends, values = done.progress()
    assert ends.tolist() == [0.25, 0.5]
    assert values[1] == pytest.approx(erle(heard[2000:4000], done.residual[2000:4000]))
    assert done.erle(0.25, 0.5) == pytest.approx(values[1])


def test_canceller_refuses_what_it_cannot_use():
    good = np.ones((100, 2))
    bad = good.copy()
    bad[7, 1] = np.nan
    for far, mic, message in (
        (good[:, 0], good, r"the far end must have two channels.*\(100,\)"),
        (good, bad, "microphone recording is not finite at sample 7"),
        (good[:0], good, "a recording is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            cancellation.cancel(far, mic, 8000, length=4)
    with pytest.raises(ValueError, match="memory"):
        cancellation.cancel(good, good, 8000, length=4, memory=0.1)


def test_nothing_is_louder_than_before_when_somebody_begins_to_speak():
    room = Scene(64, 0, 3, source=speech.talk(6.0, 3)).signals()
    far, heard = (np.column_stack([z.real, z.imag]) for z in (room.x, room.d))
    for passes in (1, 3):
        done = cancellation.cancel(far, heard, paper.RATE, length=64, passes=passes)
        assert np.abs(done.residual).max() < np.abs(heard).max()
        assert done.erle(0, 2) > 10


def test_residual_beyond_full_scale_is_not_clipped(tmp_path):
    loud = np.array([[0.5, -2.5], [1.5, 0.0]])
    assert "32-bit" in cancellation.write_stereo(tmp_path / "loud.wav", loud, 8000)
    assert np.array_equal(cancellation.read_stereo(tmp_path / "loud.wav")[0], loud)
    assert cancellation.write_stereo(tmp_path / "soft.wav", loud / 10, 8000) == "16 bits"


def test_live_figure_shows_what_there_is():
    rng = np.random.default_rng(0)
    heard = rng.standard_normal((4000, 2))
    live = figures.Live(0.5)
    live(cancellation.Cancelled(heard / 10, 8000, heard))
    (line,) = live.ax.lines
    assert line.get_xdata().tolist() == [0.25, 0.5]
    assert np.allclose(line.get_ydata(), 20)


def test_command_says_what_is_wrong(tmp_path, capsys):
    mono, stereo8, stereo16 = (tmp_path / name for name in ("mono.wav", "s8.wav", "s16.wav"))
    soundfile.write(mono, np.zeros(100), 8000)
    soundfile.write(stereo8, np.zeros((100, 2)), 8000)
    soundfile.write(stereo16, np.zeros((100, 2)), 16000)
    out = str(tmp_path / "out.wav")
    (tmp_path / "out.wav").write_bytes(Path(stereo8).read_bytes())  # a recording, named as the residual by mistake
    for far, mic, message in (
        (mono, stereo8, "is silent"),
        (stereo8, stereo16, "resample"),
        (tmp_path / "none.wav", stereo8, "none.wav"),
        (stereo8, tmp_path / "out.wav", "name another file"),
    ):
        try:
            status = cli.main(["echo", str(far), str(mic), out])
        except SystemExit as end:  # refused as it was read
            status = end.code
        assert status in (1, 2)
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1


@pytest.mark.parametrize("reuse", [1, 3, 5])
@pytest.mark.parametrize("length", [8, 16, 32])
def test_the_formula_of_operations_is_the_least_of_what_is_counted(length, reuse):
    """Shifts and searches to the last one; the reading version spares none of the numbers that are known already."""
    form, counted = dcd_operations(length, reuse, 4), count_operations(length, reuse)
    searches = 4 * reuse
    assert counted.shifts == form.shifts
    assert counted.comparisons == form.comparisons - 2 * searches
    assert form.additions < counted.additions < 2 * form.additions
    assert 2 * form.multiplications < counted.multiplications <= 3.3 * form.multiplications


def test_without_the_time_shift_operations_grow_with_the_square():
    def all_anew(R, window, lam):
        return lam * R + window[:, None] * np.conj(window)[None, :]

    one, two = (count_operations(length, 1, all_anew) for length in (64, 128))
    assert two.multiplications / one.multiplications > 3.5
