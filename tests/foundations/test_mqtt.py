"""MQTT's rules by themselves: against the package's broker parts, and every world that can be reached."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.mqtt import encode, topics
from voicewire.mqtt import packets as p
from voicewire_book.chapters.foundations import mqtt, mqtt_figures

LEVEL = st.text("ab$ ", max_size=2)
TOPIC = st.lists(LEVEL, min_size=1, max_size=4).map("/".join).filter(bool)
FILTER = st.lists(LEVEL | st.just("+"), min_size=1, max_size=4).flatmap(
    lambda levels: st.sampled_from(["/".join(levels), "/".join([*levels, "#"]), "#"]).filter(bool)
)


@given(FILTER, TOPIC)
def test_a_filter_selects_what_the_broker_selects(pattern, topic):
    assert mqtt.matches(pattern, topic) == topics.matches(pattern, topic)


@given(
    st.text("aä/", min_size=1, max_size=300), st.sampled_from([0, 1, 90, 127, 128, 16_400]), st.sampled_from([0, 1, 2])
)
def test_the_size_is_that_of_the_packet(topic, payload, qos):
    packet = p.Publish(topic, b"x" * payload, qos, packet_id=7 if qos else 0)
    assert mqtt.publish_size(topic, payload, qos) == len(encode(packet))


def test_a_size_beyond_the_length_is_refused():
    assert mqtt.publish_size("t", 128**4 - 1 - 3, 0) == 128**4 - 1 + 5
    with pytest.raises(ValueError, match="at most four bytes"):
        mqtt.publish_size("t", 128**4 - 3, 0)


@pytest.mark.parametrize(("qos", "expected"), [(0, {0, 1}), (1, {1, 2, 3, 4}), (2, {1})])
@pytest.mark.parametrize("early", [True, False])
def test_what_three_breaks_can_do(qos, expected, early):
    assert mqtt.times(mqtt.explore(mqtt.Rules(qos, early, breaks=3))) == expected


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (mqtt.Rules(2, True, forgets="sender"), {0, 1}),
        (mqtt.Rules(2, False, forgets="sender"), {0, 1}),
        (mqtt.Rules(2, True, forgets="receiver"), {1, 2, 3}),
        (mqtt.Rules(2, False, forgets="receiver"), {0, 1}),
        (mqtt.Rules(2, torn="passed"), {1, 2, 3}),
        (mqtt.Rules(2, torn="noted"), {0, 1}),
        (mqtt.Rules(1, forgets="sender"), {0, 1, 2, 3}),
        (mqtt.Rules(2, breaks=0), {1}),
    ],
)
def test_what_forgetting_does(rules, expected):
    assert mqtt.times(mqtt.explore(rules)) == expected


@pytest.mark.parametrize("early", [True, False])
def test_the_invariant_of_the_text_holds_in_every_world(early):
    for w in mqtt.explore(mqtt.Rules(2, early, breaks=6)):
        done = (w.sends != "PUBLISH" or w.knows) if early else (w.sends != "PUBLISH" and not w.knows)
        assert w.passed == done
        assert (w.sends, w.knows) in mqtt_figures.PLACES


def test_without_breaks_a_leg_takes_one_two_and_four_packets():
    assert [len(mqtt_figures.ladder(mqtt.Rules(qos))) for qos in (0, 1, 2)] == [1, 2, 4]


@pytest.mark.parametrize(("qos", "early"), list(itertools.product((0, 1, 2), (True, False))))
@pytest.mark.parametrize("arrive", [0, 1, 2, 3])
def test_a_ladder_is_one_of_the_ways(qos, early, arrive):
    arrows = mqtt_figures.ladder(mqtt.Rules(qos, early), arrive)
    assert sum(arrow.passed for arrow in arrows) in mqtt.times(mqtt.explore(mqtt.Rules(qos, early, breaks=1)))
    assert sum(not arrow.arrives for arrow in arrows) == (arrive < (1, 2, 4)[qos])


def test_figures_draw_what_they_say():
    text = [t.get_text() for t in mqtt_figures.ladders(1).texts]
    assert {"QoS 0: rings 1 ×", "QoS 1: rings 2 ×", "QoS 2: rings 1 ×"} <= set(text)
    with pytest.raises(ValueError, match="not worlds at QoS 2"):
        mqtt_figures.states({mqtt.World(sends="PUBACK")})
    lines = mqtt_figures.windows([0.1], size=20).lines
    assert [line.get_ydata()[-1] for line in lines] == pytest.approx([200, 100])
