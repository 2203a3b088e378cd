"""The timed series beyond the paper: counted on paper, measured on a real bed, recorded whole."""

from __future__ import annotations

import json
import ssl
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from voicewire.cli import main
from voicewire.testbed import LinkSpec, TestbedError
from voicewire.transport import paper
from voicewire.transport.linear_topology import Bed
from voicewire.transport.run_mqtt import ROLES
from voicewire_book import paths
from voicewire_book.chapters.transport import extension_endpoints, extension_experiments, extension_timings
from voicewire_book.chapters.transport.extension_endpoints import CoapPair, TcpPair
from voicewire_book.chapters.transport.extension_timings import CATALOGUE

pytestmark = pytest.mark.night

BEDS = [
    "proxy",
    pytest.param("namespaces", marks=pytest.mark.needs("namespaces")),
]
DATA = paths.root() / "data" / "transport"
#: Long enough that what programs take is small beside half a round trip, also on a busy machine.
FAR = LinkSpec(delay=0.1)
#: Attempts at being quick once; a quiet machine needs one.
ATTEMPTS = 6


def test_round_trips_on_paper() -> None:
    counted = {name: s.round_trips() for name, s in CATALOGUE.items()}
    assert counted == {
        "tcp-fresh": 1.5, "tcp-tls-fresh": 2.5, "tcp-tls-fresh-nagle": 3.5, "tcp-open": 0.5, "tcp-tls-open": 0.5,
        "mqtt-fresh": 3.0, "mqtt-tls-fresh": 4.0, "mqtt-tls-fresh-nagle": 5.0, "mqtt5-fresh": 3.0,
        "coap": 0.5, "coap-known": 1.0, "fan-1x1": 1.0, "fan-1x8": 1.0, "fan-4x1": 1.0, "fan-4x8": 1.0,
    }  # fmt: skip
    assert CATALOGUE["tcp-tls-fresh-nagle"].round_trips("proxy") == 2.5
    assert all(s.plain is None or s.plain in CATALOGUE for s in CATALOGUE.values())


@pytest.mark.parametrize("bed", BEDS)
def test_every_series_takes_the_round_trips_that_were_counted(
    bed: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, holdings: Callable[[], Counter[str]]
) -> None:
    """Times on this bed come in steps of half a round trip, one a flight; the quickest must lie nearest its own step.

    Nothing is quicker than light, so there is no tolerance below; above, a quarter of a round trip is where the next
    step begins to be nearer. A busy machine only ever adds, so the quickest of all rounds is taken, and further rounds
    follow until each series was quick once: a flight too many never is.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Bed(ROLES, FAR, bed):  # the first use of libraries opens files of their own
        pass
    before = holdings()
    which = extension_timings.broker_here()
    counted = {name: s.round_trips(bed) for name, s in CATALOGUE.items()}
    trips = dict.fromkeys(CATALOGUE, np.inf)
    for attempt in range(ATTEMPTS):
        rows, missing = extension_timings.measure(FAR, bed=bed, which=which, iterations=2, sizes=(100,), seed=attempt)
        assert not holdings() - before
        assert set(rows.series) | set(missing) == set(CATALOGUE)
        assert set(missing) == (set() if which == "mosquitto" else {"mqtt5-fresh"})
        for name, x in rows.groupby("series").time_ms:
            trips[str(name)] = min(trips[str(name)], x.min() / (1e3 * FAR.rtt))
        slow = {name: found for name, found in trips.items() if found >= counted[name] + 0.25 and name not in missing}
        if not slow:
            break
    assert not slow, f"round trips never as few as counted: {slow}"
    for name, found in trips.items():
        assert found >= counted[name] - 0.01, f"{name}: {found:.2f} round trips, counted {counted[name]}"


@pytest.mark.needs("namespaces")  # a proxy acknowledges at once
def test_a_wrong_count_would_be_noticed() -> None:
    """The rule of the test above tells a flight more from none: with Nagle's algorithm there are two."""
    from voicewire_book.chapters.transport.extension_experiments import certificate

    with certificate() as files, Bed(ROLES, FAR) as bed:
        held = CATALOGUE["tcp-tls-fresh-nagle"]
        with TcpPair(bed, fresh=True, tls=files, nodelay=False) as pair:
            quickest = min(pair.send(bytes(100)) for _ in range(3))
    assert quickest >= FAR.rtt * (held.round_trips() - 0.01)  # far above where the other count is "slow"


def test_mqtt_5_is_never_skipped_silently() -> None:
    rows, missing = extension_timings.measure(LinkSpec(), bed="proxy", which="embedded", iterations=2, sizes=(10,))
    assert "mqtt5-fresh" not in set(rows.series)
    assert "3.1.1 only" in missing["mqtt5-fresh"]
    assert (rows.groupby("series").size() == 2).all()


def test_coap_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    with Bed(ROLES, LinkSpec(), "proxy") as bed, CoapPair(bed) as pair:
        received, known = pair.send(b"one")
        assert 0 < received < known
        pair._uri += "/elsewhere"
        with pytest.raises(TestbedError, match="0 requests came instead of one"):
            pair.send(b"two")


def test_table_of_known_numbers() -> None:
    frame = pd.DataFrame(
        {"series": name, "size": 10, "iteration": i, "round_trips": trips, "time_ms": t}
        for name, trips, times in (("tcp-fresh", 1.5, (3.0, 5.0, 4.0)), ("tcp-tls-fresh", 2.5, (5.0, 8.0, 6.0)))
        for i, t in enumerate(times)
    )
    plain, tls = extension_timings.table(frame, 10, 0.002).to_dict("records")
    assert (plain["mean_ms"], plain["counted_ms"], plain["n"]) == (4.0, 3.0, 3)
    assert (tls["counted_ms"], tls["counted_added_ms"]) == (5.0, 2.0)
    # differences 2, 3, 2 round by round: t(0.975, 2) = 4.302653, standard error 1/3
    assert tls["added_ms"] == pytest.approx(7 / 3)
    assert tls["added_high"] - tls["added_ms"] == pytest.approx(4.302653 / 3)
    with pytest.raises(KeyError, match="compared with nothing"):
        extension_timings.added(frame, "tcp-fresh", 10)
    with pytest.raises(KeyError, match="not recorded"):
        extension_timings.added(frame, "tcp-tls-fresh", 11)
    with pytest.raises(ValueError, match="at least two"):
        extension_timings.measure(iterations=1)


def test_the_command_writes_tables_and_where_they_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extension_timings, "NETWORKS", {"lan": paper.LAN})
    command = ["record", "transport", "series", "--out", str(tmp_path)]
    command += ["--iterations", "2", "--bed", "proxy", "--quiet"]
    assert main([*command, "--broker", "embedded"]) == 0
    shown = capsys.readouterr().out
    assert "mqtt5-fresh: not measured" in shown
    assert "tcp-tls-fresh" in shown
    assert (
        len(extension_timings.load_series(tmp_path, "lan")) == (len(CATALOGUE) - 1) * len(extension_timings.SIZES) * 2
    )
    about = json.loads((tmp_path / "series.json").read_text())
    assert about["test bed"] == "test bed: loopback with the delay proxy"
    assert len(about["load average (1 min) at the start, at the end"]) == 2
    with pytest.raises(KeyError, match="not recorded"):
        extension_timings.load_series(tmp_path, "moon")
    with pytest.raises(SystemExit):
        main([*command[:5], "--iterations", "1"])


@pytest.mark.parametrize("network", list(extension_timings.NETWORKS))
def test_the_recorded_series_are_whole_and_agree_with_the_count(network: str) -> None:
    rows = extension_timings.load_series(DATA, network)
    assert set(rows.series) == set(CATALOGUE)
    assert (rows.groupby(["series", "size"]).size() >= 30).all()
    about = json.loads((DATA / "series.json").read_text())
    assert about["not measured here"] == {}
    rtt = 1e3 * extension_timings.NETWORKS[network].rtt
    jitter = 1e3 * extension_timings.NETWORKS[network].jitter
    for (name, _), x in rows.groupby(["series", "size"]).time_ms:
        flights = len(CATALOGUE[str(name)].flights)
        assert x.min() >= flights * (rtt / 2 - jitter) - 0.05
        if network == "internet":  # where a round trip is long beside what programs take
            assert np.median(x) / rtt == pytest.approx(flights / 2, abs=0.25 + 0.1 * flights / 2)
    for size in extension_timings.SIZES:
        assert extension_timings.added(rows, "tcp-tls-fresh", size).low > 0
        assert extension_timings.added(rows, "mqtt-tls-fresh", size).low > 0


@pytest.mark.needs("mosquitto")
def test_mqtt_5_is_measured_where_mosquitto_is() -> None:
    rows, missing = extension_timings.measure(LinkSpec(), bed="proxy", which="mosquitto", iterations=2, sizes=(10,))
    assert missing == {}
    assert "mqtt5-fresh" in set(rows.series)


def test_the_figure_shows_the_count_and_both_networks() -> None:
    from voicewire_book.chapters.transport.figures import beyond

    rtts = {"lan": 0.002, "internet": 0.040}
    frame = pd.DataFrame(
        {"series": name, "size": 100, "iteration": i, "round_trips": trips, "time_ms": 100 * trips + i}
        for name, trips in (("tcp-fresh", 1.5), ("tcp-tls-fresh", 2.5))
        for i in range(3)
    )
    ax = beyond({network: (frame, rtt) for network, rtt in rtts.items()})
    marks = [line.get_xdata() for line in ax.get_lines() if line.get_label() == "counted on paper"]
    assert [list(m) for m in marks] == [[1.5, 2.5]]
    middles = [container[0].get_xdata() for container in ax.containers]
    assert np.allclose(middles[0], [151 / 2, 251 / 2])
    assert np.allclose(middles[1], [151 / 40, 251 / 40])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["TCP fresh", "TCP + TLS fresh"]


def hello(context: ssl.SSLContext) -> int:
    """Bytes of a client's first flight."""
    flight = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), flight).do_handshake()
    return len(flight.read())


def test_what_tls_takes_is_a_range_and_292_bytes_less_than_with_tls_1_2_on_offer():
    """What `data/transport/README.md` says of the bytes with TLS, and why they fell at a recording."""
    found = json.loads((DATA / "extras.json").read_text())["tls"]
    with extension_experiments.certificate() as files:
        narrow = extension_endpoints.client_context(files)
        wide = extension_endpoints.client_context(files)
        wide.minimum_version = ssl.TLSVersion.TLSv1_2
        if "3.0." in ssl.OPENSSL_VERSION:  # newer ones put more into the hello
            assert (hello(narrow), hello(wide)) == (225, 517)
        assert hello(wide) > hello(narrow)
    for least, largest in found.values():
        assert 2 <= largest - least <= 8  # two signatures in DER
