"""Publisher, broker and subscribers in one program: the same packets as over sockets, and what being off changes."""

from __future__ import annotations

from collections import Counter

import matplotlib.pyplot as plt
import pytest

from voicewire.emqtt import trace
from voicewire.mqtt import BrokerThread, Config
from voicewire.mqtt.in_memory_broker import MemoryBroker
from voicewire_book.chapters.emqtt import figures
from voicewire_book.chapters.emqtt.in_memory_exchange import exchange


def told(steps, who):
    """The packets of one client, as it saw them."""
    return [(step.source == who, step.label, step.size) for step in steps if who in (step.source, step.target)]


@pytest.mark.parametrize("qos", range(4))
def test_each_client_sees_what_it_sees_over_sockets(qos):
    with BrokerThread(Config(port=0)) as broker:
        real = trace.one_message(broker.port, qos).steps
    here = exchange(qos, subscribers=1).steps
    assert told(here, trace.PUBLISHER) == told(real, trace.PUBLISHER)
    assert told(here, "subscriber 1") == told(real, trace.SUBSCRIBER)


def test_a_trace_in_memory_is_that_over_sockets():
    with BrokerThread(Config(port=0)) as real, MemoryBroker() as memory:
        for qos in range(4):
            assert trace.one_message(memory, qos) == trace.one_message(real.port, qos)
        assert trace.confirmed_by_mqtt(memory) == trace.confirmed_by_mqtt(real.port)
        assert trace.confirmed_by_emqtt(memory) == trace.confirmed_by_emqtt(real.port)


@pytest.mark.parametrize("subscribers", [1, 2, 4])
@pytest.mark.parametrize("qos", range(4))
def test_a_leg_has_its_one_two_or_four_packets(qos, subscribers):
    assert len(exchange(qos, subscribers=subscribers).steps) == (1, 2, 4, 4)[qos] * (1 + subscribers)


@pytest.mark.parametrize("qos", range(3))
def test_the_publisher_never_learns_that_a_subscriber_is_off(qos):
    seen = [told(exchange(qos, off).steps, trace.PUBLISHER) for off in ((), [2], [1, 2])]
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("qos", range(4))
def test_who_was_off_gets_the_message_when_it_is_back_unless_it_was_qos_0(qos):
    assert told(exchange(qos, [2]).steps, "subscriber 2") == []
    labels = [label for _, label, _ in told(exchange(qos, [2], back=True).steps, "subscriber 2")]
    assert labels[:2] == ["CONNECT", "CONNACK"]
    assert labels[2:3] == ([f"PUBLISH T (QoS {qos})"] if qos else [])
    assert len(labels) == 2 + (0, 2, 4, 4)[qos]


def test_at_qos_3_the_publisher_hears_nothing_until_all_it_waits_for_have_it():
    steps = exchange(3, [2]).steps
    assert told(steps, trace.PUBLISHER) == [(True, "PUBLISH T (QoS 3)", 15)]
    steps = exchange(3, [2], back=True).steps
    places = [i for i, step in enumerate(steps) if step.label == "PUBREC (QoS 3)"]
    assert [steps[i].source for i in places] == ["subscriber 1", "subscriber 2", trace.BROKER]
    early = exchange(3, [2], waited=1).steps
    assert Counter(step.target for step in early)[trace.PUBLISHER] == 2  # PUBREC and PUBCOMP


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"qos": 4}, "qos is 4"),
        ({"qos": 1, "off": [3]}, "no subscriber 3"),
        ({"qos": 1, "subscribers": 0}, "from 1 to 4"),
        ({"qos": 3, "waited": 3}, "0 to 2"),
    ],
)
def test_what_cannot_be_is_said(arguments, says):
    with pytest.raises(ValueError, match=says):
        exchange(**arguments)


def test_the_figure_has_a_column_for_each_subscriber_and_an_arrow_for_each_packet():
    seen = exchange(1, [2], back=True)
    ax = figures.sequence(seen, origin="simulated here")
    columns = {text.get_text(): text.get_position()[0] for text in ax.texts}
    names = ["publisher", "broker", "subscriber 1", "subscriber 2"]
    assert [columns[name] for name in names] == [0, 1, 2, 3]
    arrows = [text for text in ax.texts if hasattr(text, "arrow_patch") and text.arrow_patch]
    assert [(a.xyann[0], a.xy[0]) for a in arrows] == [(columns[s.source], columns[s.target]) for s in seen.steps]
    plt.close("all")
