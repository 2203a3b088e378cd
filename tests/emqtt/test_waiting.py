"""Counts, ids and chances of the second chapter are those of the package, of scipy, and of what was recorded."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from voicewire.emqtt import counting
from voicewire.emqtt.confirmed_query import in_time, mean_wait, query_packets, read_ids, write_ids
from voicewire.emqtt.reference import after, hold
from voicewire.mqtt import packets as p
from voicewire.mqtt.decoder import Decoder
from voicewire_book.chapters.emqtt import experiments
from voicewire_book.chapters.emqtt.slow_subscribers import LOSSY, SUBSCRIBERS


@pytest.mark.parametrize(("reading", "responses"), [("mqtt-2", 2), ("mqtt-0", 0), ("all", None)])
@given(n=st.integers(1, 500))
def test_packets_are_counted_alike(reading: str, responses: int | None, n: int) -> None:
    assert query_packets(n, responses) == counting.messages(reading, n)


IDS = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30)
               .filter(lambda name: len(name.encode()) < 128), min_size=1, max_size=9)  # fmt: skip


@given(IDS, st.binary(max_size=40))
def test_ids_are_written_and_read_as_the_package_does(ids: list[str], payload: bytes) -> None:
    assert write_ids(ids) == p.encode_wait(len(ids), tuple(ids))[2:]
    assert read_ids(write_ids(ids) + payload) == (ids, payload)
    packet = p.Publish("t", payload, 3, packet_id=1, waited=len(ids), subscribers=tuple(ids))
    (theirs,) = Decoder().feed(p.encode(packet))
    assert isinstance(theirs, p.Publish)
    assert (list(theirs.subscribers), theirs.payload) == (ids, payload)


@given(st.lists(st.text("abc1", min_size=1, max_size=3), min_size=1, max_size=5), st.binary(max_size=5))
def test_each_message_in_the_papers_layout_is_others_as_well(ids: list[str], payload: bytes) -> None:
    """So many as it has ids: any of the last of them may be read as payload."""
    whole = counting.without_count(tuple(ids), payload)
    for j in range(len(ids)):
        rest = counting.without_count(tuple(ids[j:]), payload)
        assert counting.without_count(tuple(ids[:j]), rest) == whole


@given(st.integers(1, 60), st.data(), st.floats(0, 1))
def test_chances_are_those_of_the_binomial(n: int, data: st.DataObject, share: float) -> None:
    k = data.draw(st.integers(1, n))
    assert in_time(k, n, share) == pytest.approx(stats.binom.sf(k - 1, n, share), abs=1e-9)


@pytest.mark.parametrize(("k", "n"), [(1, 1), (1, 20), (10, 20), (19, 20), (20, 20), (80, 80)])
def test_the_mean_of_the_kth_is_the_integral_of_its_chances(k: int, n: int) -> None:
    t = np.linspace(0, 60, 200_001)
    late = stats.binom.cdf(k - 1, n, 1 - np.exp(-t))  # fewer than k have answered
    assert mean_wait(k, n, 1.0) == pytest.approx(np.trapezoid(late, t), rel=1e-5)  # the step of the integral is 3e-4


def test_the_verdict_hangs_on_the_number_of_answers_and_on_no_order() -> None:
    """Every order in which up to four subscribers answer or are lost, for every number that is wanted."""
    for n, k in itertools.product(range(1, 5), range(1, 6)):
        for fates in itertools.product(("answer", "lost"), repeat=n):
            for order in itertools.permutations(range(n)):
                held = hold(k, set("abcd"[:n]), set())
                for i in order:
                    after(held, fates[i], "abcd"[i])
                assert held.verdict == ("complete" if fates.count("answer") >= k else "short")


def test_the_recorded_lossy_link_is_as_quick_as_independent_losses_make_it() -> None:
    """Queries without a wait for a timer: as many as a binomial number of that chance may be (99.7 %)."""
    kept = (1 - LOSSY.loss) ** 2  # PUBLISH and PUBREC of one subscriber
    rows = experiments.load("weak")
    lossy = rows[rows.case == "lossy link"].groupby("reading").end_to_end_ms
    for reading, k in (("all", SUBSCRIBERS), ("half", SUBSCRIBERS // 2), ("first", 1)):
        took = lossy.get_group(reading)
        chance = kept * in_time(k, SUBSCRIBERS, kept)  # and those of the publisher
        assert stats.binomtest(int((took < 50).sum()), len(took), chance).pvalue > 0.003
