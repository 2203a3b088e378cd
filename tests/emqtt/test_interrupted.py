"""Connections cut in the middle of an exchange, exchanges that nobody ends, and what the broker does for each."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from voicewire.mqtt import BrokerThread, Config
from voicewire.mqtt import packets as p
from voicewire.mqtt.client import Client
from voicewire.mqtt.client_delivery import Delivery
from voicewire.mqtt.raw_socket_client import subscribed
from voicewire_book.chapters.emqtt import (
    blocking_publisher,
    broker_call_counts,
    conformance_checks,
    conformance_steps,
    experiments,
    interrupted_exchanges,
    mqtt5,
    notification_delay,
    publisher_subscriptions,
    record,
)
from voicewire_book.chapters.emqtt.deduplicating_broker import DropsRepeats


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with BrokerThread(Config(port=0)) as broker:
        yield broker.port


def test_a_cut_costs_a_message_at_qos_0_only(port: int) -> None:
    found = {qos: interrupted_exchanges.delivered(port, qos) for qos in (0, 2, 3)}
    assert found == {0: [0, 0, 1, 1, 1], 2: [1] * 5, 3: [1] * 5}


def test_a_receiver_that_forgets_its_ids_takes_a_copy(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        interrupted_exchanges._Receiver, "_take", lambda self, _: setattr(self, "taken", self.taken + 1)
    )
    assert max(interrupted_exchanges.delivered(port, 3)) == 2


def test_what_is_kept_is_sent_again_until_it_is_answered(port: int) -> None:
    assert interrupted_exchanges.broker_sends_again(port) == ["PUBLISH", "PUBREL", ""]


def test_our_client_keeps_a_message_until_its_release(monkeypatch: pytest.MonkeyPatch) -> None:
    assert interrupted_exchanges.subscriber_keeps() == [1, 1, 1, 2]
    handle = Client._handle

    def forgets(self: Client, packet: p.Packet) -> None:
        self._received.clear()
        handle(self, packet)

    monkeypatch.setattr(Client, "_handle", forgets)
    assert interrupted_exchanges.subscriber_keeps()[1] == 2


def test_what_nobody_was_there_for_is_sent_again_at_qos_3_only(port: int) -> None:
    assert interrupted_exchanges.taken_later(port, 2) == [0, 0]
    assert interrupted_exchanges.taken_later(port, 3) == [1, 1]


def test_a_broker_that_drops_repeats_loses_it_at_qos_3_too() -> None:
    with DropsRepeats(Config(port=0)) as broker:
        assert interrupted_exchanges.taken_later(broker.port, 3) == [0, 0]
        assert conformance_checks.exactly_once(broker.port)  # and else it is the same broker


def test_our_client_leaves_out_what_it_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert conformance_steps.sent_by_default() == [0, 0, 0, 0]
    monkeypatch.setitem(Client.post.__kwdefaults__, "wait_for", 2)
    assert conformance_steps.sent_by_default() == [0, 0, 0, 2]


def test_a_fifth_packet_on_a_subscribers_connection_is_seen(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert conformance_checks.same_four_packets(port)
    kinds = iter([4 * [p.Publish], 5 * [p.Publish]])
    monkeypatch.setattr(conformance_checks, "_exchanged", lambda _: next(kinds))
    assert not conformance_checks.same_four_packets(port)


def test_a_repeated_pubrec_counts_once(port: int) -> None:
    assert interrupted_exchanges.pubrec_counts_once(port) == [False, False, True]


def test_a_response_needs_a_subscription_and_an_acknowledgement_none(port: int) -> None:
    assert publisher_subscriptions.response_arrives(port, True)
    assert not publisher_subscriptions.response_arrives(port, False)
    with BrokerThread(Config(port=0)) as broker:
        assert publisher_subscriptions.subscribes_to_nothing(broker) == (True, 0)


@pytest.mark.parametrize("silent", [True, False])
def test_an_asynchronous_publication_without_an_answer_stays_open(port: int, silent: bool) -> None:
    assert interrupted_exchanges.publication_ends(port, 2, silent)
    assert not interrupted_exchanges.publication_ends(port, 3, silent)


def test_a_publisher_that_fails_before_its_time_is_noticed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(*_: object, **__: object) -> Delivery:
        raise conformance_checks.NotAcknowledgedError("at once", Delivery("T"))

    assert conformance_checks.timer_ends_the_wait(port)
    monkeypatch.setattr(Client, "publish", at_once)
    assert not conformance_checks.timer_ends_the_wait(port)


def test_broker_and_subscriber_answer_alike(port: int) -> None:
    assert conformance_steps.answers_by_qos(port, "broker") == conformance_steps.answers_by_qos(port)


def test_calls_are_a_count_that_does_not_change() -> None:
    assert [broker_call_counts.calls(qos, 4) for qos in (2, 3)] == [broker_call_counts.calls(qos, 4) for qos in (2, 3)]
    each = [broker_call_counts.calls(qos, 8) - broker_call_counts.calls(qos, 4) for qos in (2, 3)]
    assert 0 < each[0] < each[1]
    with pytest.raises(ValueError, match="qos"):
        broker_call_counts.calls(1, 4)


def test_a_gauge_in_whole_steps_leaves_two_on_each_side() -> None:
    rng = np.random.default_rng(1)
    start, use = rng.uniform(50, 100, (2, 1000)), rng.uniform(0, 5, (2, 1000))
    read = np.floor(start) - np.floor(start - use)
    for (less, more), (a, b) in zip(read.T, use.T, strict=True):
        found = experiments.from_gauge(less, more)
        assert found.low < b - a < found.high


def test_ratios_by_size_are_paired_and_their_interval_turns_with_them() -> None:
    table = experiments.load("delays")
    found = experiments.by_size(table, "mqtt-2", "all")
    upside = experiments.by_size(table, "all", "mqtt-2")
    assert list(found) == [10, 20, 30, 40, 50, 60, 70, 80]
    for n, ratios in found.items():
        assert np.allclose(ratios * upside[n], 1)
        one, other = experiments.typical(ratios), experiments.typical(upside[n])
        assert (one.estimate, one.low) == pytest.approx((1 / other.estimate, 1 / other.high))


def test_bytes_of_a_request_in_mqtt_5() -> None:
    plain, long = mqtt5.overhead(), mqtt5.overhead(topic="RR")
    assert long["properties"] - plain["properties"] == 2  # both legs of the query
    assert long["session"] - plain["session"] == 3  # SUBSCRIBE, and both legs of the response
    assert mqtt5.overhead(responds=False) == {"properties": plain["properties"], "session": 0}


def test_ids_are_told_on_request(port: int) -> None:
    assert conformance_steps.ids_on_request(port, ("x", "y")) == ("x", "y")


def test_a_publisher_in_two_threads_is_suspended_until_it_is_notified(port: int) -> None:
    with subscribed(port, blocking_publisher.paper.TOPIC, qos=3) as silent:
        publisher = blocking_publisher.TwoThreads(port, "is notified")
        main = threading.Thread(target=publisher.publish, daemon=True)
        other = threading.Thread(target=publisher.process, args=(2,), daemon=True)
        other.start()
        main.start()
        got = silent.publication()
        main.join(0.05)
        assert main.is_alive() and publisher.answered == 0
        silent.send(p.Pubrec(got.packet_id, 3))
        main.join(10)
        assert not main.is_alive() and publisher.answered == 1
        publisher.close()
        other.join(10)  # it waits for a second exchange, and is woken
        assert not other.is_alive()


def test_every_mode_of_it_is_measured_in_each_test(port: int) -> None:
    told: list[str] = []
    rows = blocking_publisher.series(port, 2, 1, told.append)
    assert sorted((row["mode"], row["test"]) for row in rows) == sorted(
        (m, t) for m in blocking_publisher.MODES for t in (0, 1)
    )
    assert all(row["cpu_us"] > 0 for row in rows) and len(told) == 1
    with pytest.raises(ValueError, match="mode"):
        blocking_publisher.processor_time(port, "sleeps")


def test_what_was_recorded_of_it_is_whole() -> None:
    table = experiments.load("suspended")
    assert (table.groupby("mode").size() == 60).all() and set(table["mode"]) == set(blocking_publisher.MODES)


def test_a_publisher_that_is_notified_knows_when_its_main_thread_does(port: int) -> None:
    with subscribed(port, blocking_publisher.paper.TOPIC, qos=3) as slow:
        publisher = blocking_publisher.TwoThreads(port, "is notified", wait_for=1)
        other = threading.Thread(target=publisher.process, args=(1,), daemon=True)
        main = threading.Thread(target=publisher.publish, daemon=True)
        other.start()
        publisher._synchronizer.acquire()  # it cannot be woken yet …
        main.start()
        got = slow.publication()
        slow.send(p.Pubrec(got.packet_id, 3))
        slow.expect(p.Pubrel(got.packet_id, 3))
        assert publisher.knew == 0
        publisher._synchronizer.release()
        for thread in (main, other):
            thread.join(10)
        assert publisher.knew > 0 and publisher.completed == 1
        publisher.close()


def test_every_publisher_is_timed_in_each_test(port: int) -> None:
    told: list[str] = []
    rows = notification_delay.series(port, [3], 2, 1, told.append)
    assert sorted((row["publisher"], row["test"]) for row in rows) == sorted(
        (name, test) for name in notification_delay.PUBLISHERS for test in (0, 1)
    )
    assert all(row["delay_ms"] > 0 and row["subscribers"] == 3 for row in rows) and len(told) == 1


def test_what_was_recorded_of_its_delay_is_whole() -> None:
    table = experiments.load("notified")
    sizes = table.groupby(["publisher", "subscribers"]).size()
    assert (sizes == blocking_publisher.paper.TESTS).all() and len(sizes) == 3 * len(
        blocking_publisher.paper.SUBSCRIBERS
    )
    assert set(table["publisher"]) == set(notification_delay.PUBLISHERS)


def test_the_broker_times_each_reading_from_its_publish_to_a_pubrec():
    """Section 5.4: no reading is missing, and no delay is longer than all of them together took."""
    told: list[str] = []
    begun = time.perf_counter()
    rows = record.broker_subscriber([2], 1, 7, told.append)
    whole = (time.perf_counter() - begun) * 1e3
    arms = sorted((row["broker"], row["reading"]) for row in rows)
    assert arms == sorted((b, r) for b in ("voicewire", experiments.PROTOCOL) for r in ("mqtt-2", "first", "all"))
    assert all(0 < row["delay_ms"] < whole and row["subscribers"] == 2 for row in rows)
    assert told == ["2 subscribers: broker-subscriber delay"]
