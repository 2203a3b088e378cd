"""The sweeps, sharing, listening and the command line."""

import csv
import wave

import numpy as np
import pytest

from voicewire import cli
from voicewire.netsim import Flow, Path, Tcp, Tfrc, bulk, simulate
from voicewire.voip import transports
from voicewire.voip.calls import call
from voicewire.voip.codecs import listening
from voicewire.voip.errors import VoipError
from voicewire_book import paths
from voicewire_book.chapters.voip import experiments, figures, readings


def test_one_process_or_two_same_numbers():
    how = {"names": ("TFRC SP FR", "TCP"), "x": [60.0], "calls": 2, "seconds": 20.0, "cache": False, "progress": False}
    one = experiments.curves("5.3", workers=1, **how)
    two = experiments.curves("5.3", workers=2, **how)
    for name in one:
        assert np.array_equal(one[name].r, two[name].r)


@pytest.mark.slow
@pytest.mark.needs("distributed")
def test_dask_gives_the_same_numbers():
    import distributed

    how = {"names": ("TFRC SP FR",), "x": [60.0], "calls": 2, "seconds": 20.0, "cache": False, "progress": False}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        far = experiments.curves("5.3", scheduler=cluster.scheduler_address, **how)
    near = experiments.curves("5.3", workers=1, **how)
    assert np.array_equal(far["TFRC SP FR"].r, near["TFRC SP FR"].r)


def recorded():
    with (paths.data("voip") / "quality.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def simulated_again(row):
    """Quartiles of a recorded point, its thirty calls simulated again."""
    codec, varies, fixed = experiments.FIGURES[row["figure"]]
    x = float(row["x"])
    at = {"delay_ms": x, "loss": fixed} if varies == "delay" else {"delay_ms": fixed, "loss": x}
    r = [call(row["transport"], codec, seed=k, **at).r for k in range(int(row["calls"]))]
    return np.quantile(r, (0.25, 0.5, 0.75))


def told(row):
    return [float(row[name]) for name in ("q1", "median", "q3")]


def test_a_recorded_point_of_each_transport_is_current():
    """One point of each, in turn from all six figures; the slow test below takes them all."""
    rows = recorded()
    assert len(rows) == 820
    for number, name in enumerate(experiments.NAMES):
        own = [row for row in rows if row["transport"] == name]
        row = own[(37 * number + 11) % len(own)]
        assert simulated_again(row) == pytest.approx(told(row), abs=1e-4), row


@pytest.mark.slow
@pytest.mark.parametrize("figure", experiments.FIGURES)
def test_every_recorded_point_is_current(figure):
    rows = [row for row in recorded() if row["figure"] == figure]
    assert len(rows) >= 90
    wrong = [row for row in rows if not np.allclose(simulated_again(row), told(row), rtol=0, atol=1e-4)]
    assert wrong == []


def test_recorded_readings_are_current():
    """One point of each reading and transport; the first reading's medians are the recorded quality."""
    known = readings.load()
    assert list(known) == [one.name for one in readings.READINGS]
    rng = np.random.default_rng(0)
    for number, (reading, by_figure) in enumerate(known.items()):
        figure = list(experiments.FIGURES)[number % 6]
        for name in ("TFRC", "TFRC SP FR MD", "TCP"):
            curve = by_figure[figure][name]
            x = float(curve.x[(5 * number + 2) % curve.x.size])
            again = readings.measured(rng, reading, figure, name, x, 3, 300.0)
            assert np.allclose(again, curve.at(x)[:3], rtol=0, atol=0.006), (reading, figure, name, x)
    for row in recorded():
        if row["transport"] in transports.PRINTED:
            r = known["the RFCs"][row["figure"]][row["transport"]].at(float(row["x"]))
            assert np.median(r) == pytest.approx(float(row["median"]), abs=0.006)


def test_recorded_orders():
    with (paths.data("voip") / "quality.csv").open(newline="") as file:
        m = {(r["figure"], r["transport"], float(r["x"])): float(r["median"]) for r in csv.DictReader(file)}
    assert m["5.1", "TFRC SP", 50.0] == m["5.1", "TFRC SP FR", 50.0]
    assert m["5.2", "TCP", 400.0] < m["5.2", "UDP", 400.0]
    assert m["5.5", "TFRC SP FR MD", 0.01] == m["5.5", "UDP", 0.01]


def test_jain():
    assert experiments.jain([1, 1, 1]) == pytest.approx(1)
    assert experiments.jain([1, 0, 0]) == pytest.approx(1 / 3)
    for bad in ([], [0, 0], [-1, 1], [float("nan")]):
        with pytest.raises(VoipError):
            experiments.jain(bad)


def test_shared_link_loses_only_when_too_thin():
    wide = experiments.shared_link("UDP", kbit_s=400, seconds=20)
    thin = experiments.shared_link("UDP", kbit_s=80, seconds=20)
    assert wide.packets["dropped_queue"] == 0
    assert wide.jain == pytest.approx(1)
    assert thin.packets["dropped_queue"] > 0
    assert thin.longest_queue == 50


def test_bulk_transfer_hurts_voice():
    alone = experiments.shared_link("UDP", kbit_s=500, seconds=20)
    beside = experiments.shared_link("UDP", kbit_s=500, seconds=20, bulk_flows=2)
    assert np.median(beside.r) < np.median(alone.r) - 20
    assert beside.bulk_kbit_s > 200


def test_a_window_is_halved_where_an_average_gives_way_a_little():
    """Figure 3.1, as drawn: what one acknowledgement or report leaves of the rate."""
    path, paced = Path(50, 0.005), np.arange(20_000, dtype=np.int64) * 2_000_000
    tcp = simulate([Flow(bulk(20_000), 1460, Tcp(), path)], seed=3, until_s=40, log=True).flows[0]
    tfrc = simulate([Flow(paced, 1460, Tfrc(buffer=50), path)], seed=3, until_s=40, log=True).flows[0]
    drawn = {line.get_label(): line.get_ydata() for line in figures.smoothness(tcp, tfrc, 0.1, (10, 40)).lines}
    assert drawn["TCP"] == pytest.approx(tcp.rates[:, 1] / 100)  # bytes in a tenth of a second, in kB/s
    assert drawn["TFRC"] == pytest.approx(tfrc.rates[:, 1] / 1000)
    cut = {name: (y[1:] / y[:-1])[y.size // 4 :].min() for name, y in drawn.items()}
    assert cut["TCP"] < 0.55 < 0.8 < cut["TFRC"]


def test_figures_carry_their_data():
    c = call("TFRC SP FR", "G.729", delay_ms=50, loss=1e-3, seconds=30, log=True)
    panels = figures.trace(c, (5, 15)).axes
    assert len(panels) == 6
    at = {line.get_label(): line.get_data() for line in panels[1].lines}["played"]
    first = dict(zip(dict.fromkeys(c.talk.spurts.tolist()), c.playout.delays_ms, strict=True))
    assert 0 < at[1].size <= np.sum((c.talk.times >= 5e9) & (c.talk.times <= 15e9))
    for when, frame in zip(*at, strict=True):  # one delay a talkspurt, and the frame was there by then
        assert when == pytest.approx(c.talk.times[frame] / 1e9 + first[c.talk.spurts[frame]] / 1e3)
        assert c.flow.arrive[frame] / 1e9 <= when + 1e-9
    x = np.array([25.0, 50.0])
    curve = experiments.Curve(x, np.array([[80.0, 81.0, 82.0], [70.0, 71.0, 75.0]]))
    ax = figures.quality_plot({"UDP": curve}, "delay")
    assert ax.lines[0].get_ydata().tolist() == [81.0, 71.0]


def test_what_is_played_came_before_its_talkspurts_delay_was_over():
    """Section 3.2: frame by frame, with the delay that the playout gave the talkspurt."""
    c = call("TFRC SP FR", "G.729", delay_ms=100, loss=0.01, seconds=30)
    order = list(dict.fromkeys(c.talk.spurts.tolist()))
    played = [
        bool(delay <= c.playout.delays_ms[order.index(spurt)])
        for delay, spurt in zip(c.delays_ms, c.talk.spurts, strict=True)
    ]
    assert listening.transmit(listening.speech("voice"), c).tolist() == played
    assert 0 < sum(played) < len(played)
    assert 1 - sum(played) / len(played) == pytest.approx(c.playout.loss)


@pytest.mark.parametrize("coder", listening.CODERS)
def test_coders_return_the_same_length(coder):
    speech = listening.speech("voice")
    if coder not in listening.available():  # a wheel may come without it, and says so
        with pytest.raises(VoipError, match="PyAV .* is built without"):
            listening.coded(speech, coder)
        return
    packets, out = listening.coded(speech, coder)
    assert out.size == speech.size // 160 * 160
    assert len(packets) >= out.size // 160
    assert out.std() > 0.3 * speech.std()


def test_a_codec_that_is_missing_is_named(monkeypatch):
    rest = listening.CODERS["AMR-NB 12.2"][1:]
    monkeypatch.setitem(listening.CODERS, "AMR-NB 12.2", ("no_such_encoder", *rest))
    assert "AMR-NB 12.2" not in listening.available()
    assert {"G.711 µ-law", "G.711 A-law"} <= set(listening.available())  # plain arithmetic: in every build
    with pytest.raises(VoipError, match=r"AMR-NB 12.2 needs the encoder no_such_encoder, .* choose from G.711"):
        listening.coded(listening.speech("voice"), "AMR-NB 12.2")


def test_g711_is_transparent():
    speech = listening.speech()
    _, out = listening.coded(speech)
    noise = (out.astype(float) - speech[: out.size]).std()
    assert 20 * np.log10(speech.std() / noise) > 30


def test_udp_is_heard_as_spoken():
    speech = listening.speech()[:24_000]
    h = listening.heard(speech, "UDP", delay_ms=100)
    assert h.played.all()
    _, g711 = listening.coded(speech)
    at = h.call.talk.times[0] // 20_000_000 * 160
    assert np.array_equal(h.samples[at + 800 : at + 800 + 1600], g711[at : at + 1600])


@pytest.mark.parametrize("rate, channels, width", [(16_000, 1, 2), (8000, 2, 2), (8000, 1, 1)])
def test_another_wav_is_refused(tmp_path, rate, channels, width):
    with wave.open(str(tmp_path / "x.wav"), "wb") as file:
        file.setframerate(rate)
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.writeframes(bytes(4000))
    with pytest.raises(VoipError):
        listening.read_wav(tmp_path / "x.wav")


def test_not_a_wav(tmp_path):
    (tmp_path / "x.wav").write_bytes(b"no")
    with pytest.raises(VoipError):
        listening.read_wav(tmp_path / "x.wav")


def test_command_line(capsys):
    assert cli.main(["voip", "call", "UDP", "G.729", "--delay", "50", "--seconds", "20"]) == 0
    assert capsys.readouterr().out.startswith("R 83.00")
    assert cli.main(["voip", "call", "SCTP"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
