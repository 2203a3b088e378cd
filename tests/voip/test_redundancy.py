"""A copy of each frame in the next packet: what it can save by arithmetic, and what real codecs make of it."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire import cli
from voicewire._kit import pace
from voicewire.voip import loss_bursts, reference
from voicewire.voip.codecs import distortion_measures, g729, listening, opus, redundant_frames
from voicewire.voip.errors import VoipError
from voicewire_book.chapters.voip import figures
from voicewire_book.chapters.voip import record as recording

NONE = np.zeros(45, dtype=bool)  # the person's 0.9 s
TABLE = redundant_frames.load()

frames = st.lists(
    st.tuples(st.one_of(st.floats(0, 500), st.just(math.inf)), st.integers(0, 3)), min_size=1, max_size=30
)


@pytest.fixture(scope="module")
def voice():
    return listening.whole_frames(listening.speech("voice"))


@given(frames)
def test_the_plain_second_chance_is_the_fast_one(rows):
    delays, spurts = [row[0] for row in rows], sorted(row[1] for row in rows)
    assert reference.second_chance(delays, spurts) == redundant_frames.second_chance(delays, spurts).tolist()


def test_a_second_chance_by_hand():
    """Lost and covered; lost twice; the last of its talkspurt; late, and the copy is no sooner."""
    inf = math.inf
    delays = [50.0, inf, 60.0, inf, inf, 55.0, inf, 50.0, 300.0, 290.0, 90.0]
    spurts = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert reference.second_chance(delays, spurts) == [50, 80, 60, inf, 75, 55, inf, 50, 300, 110, 90]


@settings(max_examples=20, deadline=None)
@given(st.floats(0.02, 0.5), st.floats(1, 5), st.integers(0, 2**32))
def test_losses_have_the_share_the_ratio_and_the_rest_that_are_asked_for(loss, burst, seed):
    lost = loss_bursts.losses(np.random.default_rng(seed), 100_000, loss, burst)
    assert lost.mean() == pytest.approx(loss, rel=0.15)
    assert loss_bursts.burst_ratio(lost) == pytest.approx(burst, rel=0.1)
    rest = np.isinf(redundant_frames.second_chance(np.where(lost, np.inf, 50.0), np.zeros(lost.size, int))).mean()
    assert rest == pytest.approx(redundant_frames.missing_with_copies(loss, burst), rel=0.2, abs=5e-4)


def test_nothing_and_everything_can_be_lost():
    rng = np.random.default_rng(1)
    assert not loss_bursts.losses(rng, 100, 0.0, 3.0).any() and loss_bursts.losses(rng, 100, 1.0, 3.0).all()


@given(st.floats(0, 1), st.floats(1, 50))
def test_copies_never_do_harm_to_the_count_and_save_less_of_longer_bursts(loss, burst):
    rest = redundant_frames.missing_with_copies(loss, burst)
    assert loss * loss - 1e-12 <= rest <= loss + 1e-12
    assert redundant_frames.missing_with_copies(loss) == pytest.approx(loss * loss)


# Measures


def test_measures_of_a_known_disturbance(voice):
    """A tenth less everywhere is 20 dB; turned over, the spectra stay and the difference is twice the signal."""
    said = voice // 20 * 10
    assert distortion_measures.segmental_snr(said, said // 10 * 9) == pytest.approx(20)
    assert 0.5 < distortion_measures.log_spectral_distance(said, said // 10 * 9) < -20 * math.log10(0.9)
    assert distortion_measures.segmental_snr(said, -said) == pytest.approx(-20 * math.log10(2))
    assert distortion_measures.log_spectral_distance(said, -said) == pytest.approx(0, abs=1e-6)


def test_a_gap_costs_both_measures_and_silence_frames_do_not_count(voice):
    voiced = listening.activity(voice)
    gap = voice.copy().reshape(-1, 160)
    gap[np.flatnonzero(voiced)[5]] = 0
    assert distortion_measures.segmental_snr(voice, gap.ravel()) == pytest.approx(35 * (1 - 1 / voiced.sum()))
    assert distortion_measures.log_spectral_distance(voice, gap.ravel()) > 0
    quiet = voice.copy().reshape(-1, 160)
    quiet[~voiced] = 0
    assert distortion_measures.segmental_snr(voice, quiet.ravel()) == 35


@pytest.mark.parametrize("measure", [distortion_measures.segmental_snr, distortion_measures.log_spectral_distance])
def test_what_cannot_be_compared_is_refused(measure, voice):
    with pytest.raises(VoipError, match="equally long"):
        measure(voice, voice[:-160])
    with pytest.raises(VoipError, match="no voice"):
        measure(0 * voice, voice)


# Codecs


@pytest.mark.parametrize("arm", ["G.711, gaps", "G.711, repeated"])
def test_without_loss_g711_is_itself_and_a_loss_is_repaired_as_it_says(arm, voice):
    plain = listening.coded(voice)[1].reshape(-1, 160)
    assert np.array_equal(redundant_frames.through(arm, voice, NONE), plain.ravel())
    lost = NONE.copy()
    lost[[20, 21]] = True
    heard = redundant_frames.through(arm, voice, lost).reshape(-1, 160)
    assert np.array_equal(heard[~lost], plain[~lost])
    share = 0.6 if arm == "G.711, repeated" else 0.0
    assert np.array_equal(heard[20], np.round(share * plain[19])) and np.abs(heard[21]).max() <= np.abs(heard[20]).max()


def test_flags_and_packets_must_be_as_many(voice):
    for arm in redundant_frames.ARMS:
        with pytest.raises(VoipError, match="lost says what became of 3 packets, and there are 45"):
            redundant_frames.through(arm, voice, [False] * 3)


if opus.available():

    def test_opus_puts_copies_where_there_is_voice_and_rate_enough(voice):
        held = {rate: [opus.has_copy(p) for p in opus.encoded(voice, rate, copies=True)] for rate in (12_000, 24_000)}
        assert not any(held[12_000]) and np.mean(held[24_000]) > 0.4
        assert not any(opus.has_copy(packet) for packet in opus.encoded(voice, 24_000))
        silent = opus.encoded(np.zeros(8000, np.int16), 24_000, copies=True)
        assert not any(opus.has_copy(packet) for packet in silent)

    def test_the_flag_is_the_one_that_libopus_reads(voice):
        library = opus._library()
        if hasattr(library, "opus_packet_has_lbrr"):  # from libopus 1.5 on
            for packet in opus.encoded(voice, 24_000, copies=True):
                assert opus.has_copy(packet) == library.opus_packet_has_lbrr(packet, len(packet))

    def test_what_comes_out_stands_where_it_was_spoken(voice):
        heard = opus.decoded(opus.encoded(voice), NONE).astype(float)
        lags = range(-20, 21)
        fit = [np.dot(voice[100:-100], heard[100 + lag : heard.size - 100 + lag]) for lag in lags]
        assert lags[int(np.argmax(fit))] == 0

    def test_a_copy_brings_a_lost_frame_back(voice):
        packets = opus.encoded(voice, copies=True)
        whole = opus.decoded(packets, NONE).astype(float)
        found = {False: [], True: []}
        for k in range(5, 43):
            if not opus.has_copy(packets[k + 1]):
                continue
            lost = NONE.copy()
            lost[k] = True
            there = slice(160 * k, 160 * k + 100)
            for copies in (False, True):
                heard = opus.decoded(packets, lost, copies=copies)
                found[copies].append(np.sum((heard[there] - whole[there]) ** 2) / np.sum(whole[there] ** 2))
        assert len(found[True]) > 10 and np.median(found[True]) < np.median(found[False]) / 2

    def test_a_frame_counts_as_rescued_only_if_the_packet_behind_it_holds_a_copy(voice):
        held = [opus.has_copy(packet) for packet in opus.encoded(voice, copies=True)]
        assert 0 < sum(held[1:]) < 44
        for k in range(44):
            lost = NONE.copy()
            lost[k] = True
            assert redundant_frames._missing("Opus, copies", voice, lost)[k] == (not held[k + 1])
            assert redundant_frames._missing("Opus", voice, lost)[k]

    def test_without_loss_it_does_not_matter_who_would_take_copies(voice):
        packets = opus.encoded(voice, copies=True)
        assert np.array_equal(opus.decoded(packets, NONE), opus.decoded(packets, NONE, copies=True))

    @pytest.mark.parametrize(
        ("packets", "said"),
        [([b"\x08\xff", b""], "empty"), ([b"\x0b\x00", b"\x08"], "packet 0"), ([b"\x18\x00", b"\x08"], "packet 0")],
    )
    def test_packets_that_are_none_are_refused(packets, said):
        with pytest.raises(VoipError, match=said):
            opus.decoded(packets, [False, False])

    @settings(max_examples=100, deadline=None)
    @given(st.lists(st.binary(min_size=1, max_size=60), min_size=1, max_size=6), st.booleans())
    def test_any_bytes_decode_or_are_refused(packets, copies):
        try:
            heard = opus.decoded(packets, [k % 2 == 1 for k in range(len(packets))], copies=copies)
        except VoipError:
            return
        assert heard.shape == (160 * len(packets),)


@pytest.mark.parametrize("packet", [b"", b"\x0c\xc0", b"\x09\xc0", b"\x00\xc0"])
def test_a_packet_of_another_kind_has_no_flag_to_read(packet):
    with pytest.raises(VoipError, match="packet"):
        opus.has_copy(packet)


if g729.available():

    def test_g729_stands_where_it_was_spoken_and_conceals(voice):
        heard = g729.coded(voice, NONE).astype(float)
        lags = range(-20, 21)
        fit = [np.dot(voice[100:-100], heard[100 + lag : heard.size - 100 + lag]) for lag in lags]
        assert lags[int(np.argmax(fit))] == 0
        lost = NONE.copy()
        lost[20] = True
        other = g729.coded(voice, lost)
        assert np.array_equal(other[: 20 * 160 - 40], heard[: 20 * 160 - 40])
        assert not np.array_equal(other, heard) and np.abs(other[20 * 160 : 21 * 160]).max() > 0


@pytest.mark.parametrize(
    ("module", "arm", "said"), [(opus, "Opus", "PyAV's wheel"), (g729, "G.729", "libbcg729-0")], ids=["opus", "g729"]
)
def test_a_codec_that_is_missing_says_so_and_nothing_is_recorded(monkeypatch, tmp_path, voice, module, arm, said):
    monkeypatch.setattr(module, "_library", lambda: None)
    assert not module.available()
    with pytest.raises(VoipError, match=said):
        redundant_frames.through(arm, voice, NONE)
    with pytest.raises(VoipError, match=said):
        redundant_frames.record(tmp_path / "opus.csv")
    assert list(tmp_path.iterdir()) == []


def test_without_pyav_opus_is_not_available(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "av.codec", None)
    assert not opus.available()


# What was recorded


def test_all_arms_met_the_same_losses_in_every_setting():
    settings_ = TABLE.groupby(["voice", "loss", "burst", "seed"])
    assert (settings_.size() == len(redundant_frames.ARMS)).all()
    assert (settings_["lost"].nunique() == 1).all()
    seeds = TABLE[TABLE["loss"] > 0].groupby(["voice", "arm", "loss", "burst"])["seed"].nunique()
    assert len(seeds) == 2 * 5 * len(redundant_frames.LOSSES) * len(redundant_frames.BURSTS) and (seeds == 20).all()


def test_recorded_rows_are_what_the_code_gives_now():
    """Arms of G.711 to the digit; Opus and G.729 where they are here, as far as two builds of a codec agree."""
    here = {"G.729": g729.available(), "Opus": opus.available(), "Opus, copies": opus.available()}
    arms = [arm for arm in redundant_frames.ARMS if here.get(arm, True)]
    keys = ["voice", "arm", "loss", "burst", "seed"]
    again = pd.DataFrame(redundant_frames.rows(2, arms=arms, losses=[0.1])).set_index(keys)
    kept = TABLE.set_index(keys).loc[again.index]
    assert len(again) == len(arms) * 2 * 5
    assert again["lost"].equals(kept["lost"])
    exact = again.index.get_level_values("arm").str.startswith("G.711")
    for column, near in (("missing", 0.01), ("snr_db", 0.3), ("lsd_db", 0.3)):
        assert again.loc[exact, column].equals(kept.loc[exact, column])
        assert again[column].to_numpy() == pytest.approx(kept[column].to_numpy(), abs=near)


@pytest.mark.parametrize("burst", redundant_frames.BURSTS)
def test_copies_leave_missing_what_the_equation_says(burst):
    """Within the scatter of 40 calls; a frame before a silence has no copy, which leaves a little more."""
    rows = TABLE[(TABLE["arm"] == "Opus, copies") & (TABLE["loss"] == 0.1) & (TABLE["burst"] == burst)]
    spread = float(rows["missing"].sem())
    assert -4 * spread < rows["missing"].mean() - redundant_frames.missing_with_copies(0.1, burst) < 4 * spread + 0.01


def test_orders_and_differences_are_those_of_the_rows():
    for measure, sign in redundant_frames.MEASURES.items():
        found = redundant_frames.order(TABLE, measure, "voice", 0.1, 1.0)
        values = [sign * value for value in found.values()]
        assert values == sorted(values, reverse=True) and sorted(found) == sorted(redundant_frames.ARMS)
        rows = TABLE[(TABLE["voice"] == "voice") & (TABLE["loss"] == 0.1) & (TABLE["burst"] == 1)].set_index("seed")
        pairs = [rows[rows["arm"] == arm][measure] for arm in ("Opus, copies", "Opus")]
        changed = redundant_frames.difference(TABLE, measure, "voice", 0.1, 1.0)
        assert changed.n == 20 and changed.estimate == pytest.approx(sign * float((pairs[0] - pairs[1]).mean()))


def test_what_was_not_recorded_is_refused():
    with pytest.raises(VoipError, match="unknown measure"):
        redundant_frames.order(TABLE, "beauty", "voice", 0.1, 1.0)
    with pytest.raises(VoipError, match="no rows of 'voice' at a loss of 0.5"):
        redundant_frames.order(TABLE, "snr_db", "voice", 0.5, 1.0)
    with pytest.raises(VoipError, match="recorded without 'pesq'"):
        redundant_frames.difference(TABLE.assign(pesq=np.nan), "pesq", "voice", 0.1, 1.0)


def test_the_figure_draws_the_places():
    ax = figures.places(TABLE, "voice", 0.1)
    lines = dict(zip(redundant_frames.ARMS, ax.lines, strict=True))
    for k, measure in enumerate(figures.JUDGES):
        found = list(redundant_frames.order(TABLE, measure, "voice", 0.1, 1.0))
        assert [found[round(lines[arm].get_ydata()[k]) - 1] for arm in redundant_frames.ARMS] == list(
            redundant_frames.ARMS
        )


def test_the_verb_at_the_shell_records_it(tmp_path, monkeypatch, capsys):
    assert "opus" in recording.RECORDINGS
    if opus.available() and g729.available():
        made = redundant_frames.rows(1, voices=["voice"], losses=[0.1])
        monkeypatch.setattr(redundant_frames, "rows", lambda calls: made)
        monkeypatch.setattr(pace, "keep", lambda *_: None)
        assert cli.main(["record", "voip", "opus", "--out", str(tmp_path), "--calls", "1"]) == 0
        again = redundant_frames.load(tmp_path / "opus.csv")
        assert len(again) == 15 and list(again.columns) == list(TABLE.columns)
        spoken = "with PESQ" if importlib.util.find_spec("pesq") else "without PESQ"
        assert f"15 rows, {spoken}" in capsys.readouterr().out


# Sentences of the chapter

EVERYWHERE = [
    (voice, loss, burst)
    for voice in redundant_frames.VOICES
    for loss in redundant_frames.LOSSES
    for burst in (1.0, 3.0)
]


def ranked(measure, voice, loss, burst):
    return list(redundant_frames.order(TABLE, measure, voice, loss, burst))


def test_by_the_waveform_g711_leads_and_g729_is_last():
    for where in EVERYWHERE:
        arms = ranked("snr_db", *where)
        assert all(arm.startswith("G.711") for arm in arms[:2]) and arms[-1] == "G.729"
        if where[1] >= 0.1:
            assert arms[0] == "G.711, gaps"


def test_by_pesq_opus_leads_and_from_10_percent_on_with_copies():
    for voice in redundant_frames.VOICES:
        assert ranked("pesq", voice, 0.0, 1.0)[0] == "Opus"
    for where in EVERYWHERE:
        first = ranked("pesq", *where)[0]
        assert first.startswith("Opus") and (where[1] < 0.1 or first == "Opus, copies")


@pytest.mark.parametrize("burst", redundant_frames.BURSTS)
def test_pesq_agrees_with_g107_on_the_person_and_not_on_the_stand_in(burst):
    cost = {
        name: loss_bursts.effective_impairment(0.1, *values, burst) for name, values in loss_bursts.ROBUSTNESS.items()
    }
    assert cost["G.711"] < cost["G.729"] < cost["G.711, gaps"]
    arms = [arm for arm in ranked("pesq", "voice", 0.1, burst) if not arm.startswith("Opus")]
    assert arms == ["G.711, repeated", "G.729", "G.711, gaps"]
    assert ranked("pesq", "speech", 0.1, burst)[-1] == "G.729"


def test_ffmpeg_s_decoders_have_no_word_for_copies_and_it_cannot_encode_g729():
    """What an option's taker does not know PyAV gives back; the encoder takes its own."""
    import av
    from av.codec.codec import UnknownCodecError

    words = {"fec": "1", "decode_fec": "1"}
    for name in ("libopus", "opus"):
        if name in av.codecs_available:
            decoder = av.CodecContext.create(name, "r")
            decoder.sample_rate, decoder.layout, decoder.options = 8000, "mono", dict(words)
            decoder.open()
            assert decoder.options == words
    with pytest.raises(UnknownCodecError):
        av.codec.Codec("g729", "w")


PAYS = {"missing": (0.01, 0.01), "pesq": (0.05, 0.05), "snr_db": (0.1, None), "lsd_db": (0.2, None)}
"""From which loss on copies pay, at random and in bursts; None: nowhere."""


@pytest.mark.parametrize("measure", PAYS)
def test_from_which_loss_on_copies_pay(measure):
    for voice, loss, burst in EVERYWHERE:
        begin = PAYS[measure][burst > 1]
        pays = redundant_frames.difference(TABLE, measure, voice, loss, burst).low > 0
        if measure != "pesq" or loss > 0.01:  # PESQ at 1 %: yes and no and undecided
            assert pays == (begin is not None and loss >= begin)


def test_the_recorded_rates_are_what_the_chapter_says():
    rates = TABLE.groupby("arm")["kbit_s"].mean()
    assert rates["G.729"] == 8 and rates["G.711, gaps"] == 64
    assert 21 < rates["Opus, copies"] < rates["Opus"] < 23
