"""CoAP in blocks (RFC 7959) and under loss (RFC 7252, section 4.2): on paper, to read, and on real datagrams."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from aiocoap import Message
from aiocoap.numbers import OptionNumber, TransportTuning
from aiocoap.numbers.types import ACK, CON
from hypothesis import given
from hypothesis import strategies as st

from voicewire.cli import main
from voicewire.testbed import LinkSpec, TestbedError
from voicewire.testbed.udp_proxy import DatagramProxy
from voicewire.transport import measurement_runs, paper
from voicewire.transport import reference as r
from voicewire.transport.linear_topology import Bed
from voicewire.transport.run_mqtt import ROLES
from voicewire_book import paths
from voicewire_book.chapters.transport import (
    analysis,
    coap_theory,
    coap_timed,
    experiments,
    extension_endpoints,
    time_ratios,
)
from voicewire_book.chapters.transport.extension_endpoints import CoapPair

QUICK = 0.05
"""ACK_TIMEOUT of the runs that wait for a retransmission, s."""


def test_the_constants_are_the_standards() -> None:
    """RFC 7252, section 4.8 and 4.8.2; and the library has the same."""
    assert r.sendings(coap_theory.TIMEOUT * coap_theory.RANDOM_FACTOR)[-1] == 45  # MAX_TRANSMIT_SPAN
    assert coap_theory.longest_wait() == 93  # MAX_TRANSMIT_WAIT
    library = TransportTuning()
    ours = coap_theory.TIMEOUT, coap_theory.RANDOM_FACTOR, coap_theory.REPEATS
    assert ours == (library.ACK_TIMEOUT, library.ACK_RANDOM_FACTOR, library.MAX_RETRANSMIT)
    assert coap_theory.longest_wait() == library.MAX_TRANSMIT_WAIT


@pytest.mark.parametrize(
    ("number", "more", "size", "written"),
    [(0, True, 128, "0b"), (1, True, 128, "1b"), (2, True, 64, "2a"), (5, False, 64, "52"), (0, False, 16, ""),
     (0, True, 1024, "0e"), (4096, False, 1024, "010006"), (2**20 - 1, True, 1024, "fffffe")],
)  # fmt: skip
def test_block_options_as_the_standard_writes_them(number: int, more: bool, size: int, written: str) -> None:
    """RFC 7959, section 2.2: NUM, M and SZX in 0 to 3 bytes; the first four are of its section 3.2."""
    assert r.block_option(number, more, size).hex() == written


@given(st.binary(max_size=3000), st.sampled_from([16, 32, 64, 128, 256, 512, 1024]))
def test_blocks_put_together_are_the_body(body: bytes, size: int) -> None:
    blocks = r.blocks_of(body, size)
    assert b"".join(part for _, part in blocks) == body
    assert all(len(part) == size for _, part in blocks[:-1])
    options = [int.from_bytes(option, "big") for option, _ in blocks]
    assert [value >> 4 for value in options] == list(range(len(blocks)))
    assert [bool(value & 8) for value in options] == [True] * (len(blocks) - 1) + [False] * bool(blocks)
    assert {16 << (value & 7) for value in options} <= {size}


def over(lose: Callable[[bool, bytes], bool], monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """Have the next pair's relay ask `lose`; what went to the server, in order, is kept in the list."""
    sent: list[Message] = []

    def watched(target: tuple[str, int], delay: float, loss: float, seed: int) -> DatagramProxy:
        def loses(forth: bool, data: bytes) -> bool:
            if forth:
                sent.append(Message.decode(data))
            return lose(forth, data)

        return DatagramProxy(target, delay, loses, seed)

    monkeypatch.setattr(extension_endpoints, "DatagramProxy", watched)
    return sent


@pytest.mark.parametrize("size", [1, coap_theory.WHOLE, coap_theory.WHOLE + 1, 2048, 5000])
def test_the_library_sends_the_blocks_that_are_read(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = over(lambda forth, data: False, monkeypatch)
    body = np.random.default_rng(size).bytes(size)
    with Bed(ROLES, LinkSpec(), "proxy") as bed, CoapPair(bed) as pair:
        received, known = pair.send(body)
    assert 0 < received < known
    assert len(sent) == coap_theory.exchanges(size)
    if len(sent) == 1:
        assert sent[0].payload == body and sent[0].opt.block1 is None
        return
    found = [(m.opt.get_option(OptionNumber.BLOCK1)[0].encode(), m.payload) for m in sent]
    assert found == r.blocks_of(body, coap_theory.BLOCK)
    assert len({m.mid for m in sent}) == len(sent)


def test_a_message_that_nobody_answers_is_sent_five_times_and_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 7252, section 4.2: the same message, waits that double, MAX_RETRANSMIT; then the sender is told."""
    sent = over(lambda forth, data: forth, monkeypatch)
    with Bed(ROLES, LinkSpec(), "proxy") as bed, CoapPair(bed, QUICK) as pair:
        received, known, ended = pair.attempt(b"anybody?")
        assert (received, known) == (math.inf, math.inf)
        # a busy machine only adds; waits that did not double would be over after 5 of 31 parts
        assert ended >= QUICK * (2 ** (coap_theory.REPEATS + 1) - 1)
        assert len(sent) == len(r.sendings(QUICK)) == 1 + coap_theory.REPEATS
        assert {(m.mid, m.mtype, bytes(m.payload)) for m in sent} == {(sent[0].mid, CON, b"anybody?")}
        with pytest.raises(TestbedError, match="no answer after .* and the last retransmission"):
            pair.send(b"anybody?")


@pytest.mark.parametrize("lost", [1, 2, 4])
def test_a_message_is_taken_once_however_often_its_acknowledgement_is_lost(
    lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RFC 7252, section 4.5: copies are answered, and not taken again; section 4.2: after k losses the k-th wait."""
    answers: list[bytes] = []

    def lose(forth: bool, data: bytes) -> bool:
        if not forth:
            answers.append(data)
        return not forth and len(answers) <= lost

    sent = over(lose, monkeypatch)
    with Bed(ROLES, LinkSpec(), "proxy") as bed, CoapPair(bed, QUICK) as pair:
        received, known, ended = pair.attempt(b"once")
    assert received < known == ended
    assert known >= r.known_after([True] * lost + [False], QUICK, 0.0)
    assert len(sent) >= lost + 1  # a slow answer may be overtaken by one more copy
    assert {Message.decode(a).mtype for a in answers} == {ACK}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("loss", [0.0, 0.05, 0.2, 0.5, 1.0])
def test_the_closed_form_is_the_mean_of_what_is_read(loss: float, known: bool) -> None:
    """Against runs of the steps on the page: first wait uniform on 2 to 3 s, every attempt lost on its own."""
    rng = np.random.default_rng([int(100 * loss), known])
    q, rtt, runs = coap_theory.failure(loss, known), 0.04, 20_000
    trip = rtt if known else rtt / 2
    times, gone = [], 0
    for first, lost in zip(rng.uniform(2, 3, runs), rng.random((runs, 1 + coap_theory.REPEATS)) < q, strict=True):
        time = r.known_after(lost, first, trip)
        gone += math.isinf(time)
        times.append(time if math.isfinite(time) else first * (2 ** (coap_theory.REPEATS + 1) - 1))
    error = np.std(times) / math.sqrt(runs)
    assert np.mean(times) == pytest.approx(coap_theory.expected_delay(loss, rtt, known), abs=4 * error + 1e-9)
    share = coap_theory.given_up(loss, known)
    assert gone / runs == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / runs))


def test_the_delay_in_closed_form() -> None:
    """Equation eq-transport-coap-delay, summed: tau q ((2q)^5 - 1) / (2q - 1) beside the round trip."""
    q = coap_theory.failure(0.2)
    assert q == pytest.approx(0.36)
    summed = 2.5 * q * ((2 * q) ** 5 - 1) / (2 * q - 1)
    assert coap_theory.expected_delay(0.2, 0.04) == pytest.approx((1 - q**5) * 0.04 + summed)
    assert coap_theory.given_up(0.2) == pytest.approx(q**5)
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="loss"):
            coap_theory.expected_delay(wrong, 0.04)


def test_a_relay_loses_what_it_is_asked_to() -> None:
    for wrong in (1.0, -0.1, math.nan):
        with pytest.raises(ValueError, match="loss is a probability"):
            DatagramProxy(("127.0.0.1", 9), 0.0, loss=wrong)
    with Bed(ROLES, LinkSpec(loss=0.4), "proxy", seed=5) as bed, CoapPair(bed, QUICK) as pair:
        times = [pair.attempt(bytes([i])) for i in range(20)]
    # 20 messages at a failure of 0.64: none lost at all once in 700 million, all given up once in 10^19
    assert any(known >= QUICK for _, known, _ in times)
    assert any(math.isfinite(known) for _, known, _ in times)
    with pytest.raises(ValueError, match="the first wait"), Bed(ROLES, LinkSpec(), "proxy") as bed:
        CoapPair(bed, 0.0)


def _rows(protocol: str, received: list[float], known: list[float], size: int = 100) -> pd.DataFrame:
    ended = [90_000.0 if math.isnan(k) else k for k in known]
    return pd.DataFrame(
        {"protocol": protocol, "size": size, "iteration": range(len(known)), "received_ms": received,
         "known_ms": known, "ended_ms": ended}
    )  # fmt: skip


def test_statistics_of_known_numbers() -> None:
    gone = math.nan
    much = pd.concat([_rows("CoAP", [20, 2520, gone], [40, gone, gone]), _rows("MQTT", [41, 300, 41], [40, 41, 500])])
    little = pd.concat([_rows("CoAP", [20, 20], [40, 40]), _rows("MQTT", [41, 42], [43, 44])])
    found = coap_timed.differences(little, much, known=True)
    assert {k: list(v) for k, v in found.items()} == {"little loss": [3, 4], "much loss": [0, 89_959, 89_500]}
    found = coap_timed.differences(little, much, known=False)
    assert {k: list(v) for k, v in found.items()} == {"little loss": [21, 22], "much loss": [-21, 2220, 89_959]}
    blocks = pd.concat(_rows("CoAP", [t, t + 1], [gone, gone], s) for s, t in ((2560, 100), (3072, 101), (3584, 140)))
    halves = coap_timed.half_blocks(blocks)
    assert {k: list(v) for k, v in halves.items()} == {"within a block": [1, 1], "across a border": [39, 39]}
    with pytest.raises(KeyError, match="MQTT, 3072 B"):
        coap_timed.times(blocks, "MQTT", 3072)
    with pytest.raises(KeyError, match="not recorded: TCP"):
        coap_timed.delays(much, "TCP", known=True)
    with pytest.raises(ValueError, match="at least two"):
        coap_timed.measure(iterations=1)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("loss", coap_timed.LOSSES)
def test_what_was_recorded_goes_with_the_closed_form(loss: float, known: bool) -> None:
    """Within three standard errors of the form's own distribution: such few long waits are skewed in a sample."""
    measured = coap_timed.delays(coap_timed.load_loss(paths.data("transport"), loss), "CoAP", known) / 1e3
    q, first = coap_theory.failure(loss, known), 2.5
    shares = [(1 - q) * q**k for k in range(5)] + [q**5]
    squares = [(first * (2**k - 1)) ** 2 * (1 + 1 / 75) for k in range(6)]  # of a first wait uniform on 2 to 3 s
    mean = coap_theory.expected_delay(loss, 0.0, known)
    error = math.sqrt((np.dot(shares, squares) - mean**2) / len(measured))
    assert abs(measured.mean() - coap_theory.expected_delay(loss, paper.INTERNET.rtt, known)) < 3 * error
    again = int((measured > 1).sum())  # a first wait is 2 s at least, everything else a few round trips
    assert scipy.stats.binomtest(again, len(measured), q).pvalue > 0.001


def test_recorded_blocks_take_the_round_trips_that_were_counted() -> None:
    """Nothing is quicker than the links; above, programs add less than a quarter of a round trip to each exchange."""
    rows = coap_timed.load_blocks(paths.data("transport"), "internet")
    rtt = 1e3 * paper.INTERNET.rtt
    for size in coap_timed.SIZES:
        n, found = coap_theory.exchanges(size), np.median(coap_timed.times(rows, "CoAP", size))
        assert (n - 0.5) * rtt < found < (n - 0.5) * rtt + 0.25 * n * rtt


def test_the_command_writes_both_tables_and_never_leaves_mqtt_out_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(coap_timed, "NETWORKS", {"lan": paper.LAN})
    monkeypatch.setattr(coap_timed, "LOSSES", {0.01: 2})
    monkeypatch.setattr(coap_timed, "_LINE", replace(paper.LAN, loss=0.0))
    command = ["record", "transport", "coap", "--out", str(tmp_path), "--iterations", "2", "--bed", "proxy", "--quiet"]
    assert main([*command, "--broker", "embedded"]) == 0
    assert "CoAP alone, as the proxy cannot lose MQTT's segments" in capsys.readouterr().out
    blocks = coap_timed.load_blocks(tmp_path, "lan")
    assert set(blocks.protocol) == set(coap_timed.PROTOCOLS) and (blocks.known_ms >= 0).all()
    assert set(coap_timed.load_loss(tmp_path, 0.01).protocol) == {"CoAP"}
    assert json.loads((tmp_path / "coap.json").read_text())["MQTT"] == "QoS 1, paho, one open session"
    with pytest.raises(KeyError, match="not recorded: network moon"):
        coap_timed.load_blocks(tmp_path, "moon")


def test_from_some_size_on_coap_needs_more_bytes_than_mqtt_however_its_sessions_are() -> None:
    counted = json.loads((paths.data("transport") / "extras.json").read_text())["coap"]
    recorded = analysis.Recorded(measurement_runs.load_iterations(paths.data("transport")))
    for n in map(str, paper.PAYLOADS_TEXT[2:]):
        assert counted[n]["datagrams"] == 2 * counted[n]["exchanges"] == 2 * coap_theory.exchanges(int(n))
        for session in ("fresh", "persistent"):
            assert counted[n]["ip_bytes"] - int(n) > experiments.mqtt_overhead(recorded, int(n), session)
    for session in ("fresh", "persistent"):
        assert counted["100"]["ip_bytes"] - 100 < experiments.mqtt_overhead(recorded, 100, session)


def test_an_interval_of_the_mean_holds_few_of_the_values() -> None:
    drawn = np.random.default_rng(7).normal(size=(20_000, 151))
    half = scipy.stats.t.ppf(0.975, 149) * drawn[:, :150].std(axis=1, ddof=1) / math.sqrt(150)
    share = np.mean(abs(drawn[:, 150] - drawn[:, :150].mean(axis=1)) <= half)
    assert share == pytest.approx(time_ratios.value_coverage(150), abs=0.01)
