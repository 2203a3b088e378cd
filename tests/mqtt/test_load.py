"""The load of the benchmarks: every message arrives, topics take turns, and a message that waits pays for it."""

from __future__ import annotations

import numpy as np
import pytest

from voicewire.mqtt import load_generator
from voicewire.mqtt.raw_socket_client import subscribed


@pytest.mark.parametrize("qos", [0, 1, 2])
@pytest.mark.parametrize("topics", [1, 10])
def test_topics_take_turns(port: int, qos: int, topics: int) -> None:
    names = load_generator.topic_names(topics)
    assert len(set(names)) == topics and len({len(name) for name in names}) == 1
    with subscribed(port, "bench/#") as witness:
        assert load_generator.throughput(port, qos, 45, topics=topics, window=7) > 0
        heard = [witness.publication().topic for _ in range(45)]
    assert heard == (names * 45)[:45]


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_paced_messages(port: int, qos: int) -> None:
    took = load_generator.paced(port, qos, 60, 2000.0)
    assert took.shape == (60,) and np.all(took > 0)


def test_a_broker_that_falls_behind_pays(port: int) -> None:
    """Two thousand messages due within two microseconds wait for each other: the last waits longer than the first."""
    took = load_generator.paced(port, 2, 2000, 1e9)
    assert took[-1] > took[0]


def test_a_lost_message_is_no_result(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_generator, "TIMEOUT", 1.5)
    monkeypatch.setattr(load_generator._Subscriber, "read", lambda self: load_generator._recv(self.sock) and None)
    for measure in (lambda: load_generator.throughput(port, 0, 5), lambda: load_generator.paced(port, 0, 5, 1e4)):
        with pytest.raises(TimeoutError, match="lost messages"):
            measure()


@pytest.mark.parametrize("count", [0, -1, 37])
def test_topics_have_names_of_one_length(count: int) -> None:
    with pytest.raises(ValueError, match="1 to 36"):
        load_generator.topic_names(count)
