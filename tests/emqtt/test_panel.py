"""The panel of the page: what its buttons do to the protocol, in which order, what is said of it, what is refused."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from voicewire.emqtt import trace
from voicewire.mqtt import BrokerThread, Config
from voicewire_book.chapters.emqtt.in_memory_exchange import exchange
from voicewire_book.chapters.emqtt.interactive_panel import MOST, Panel, play


def publish(qos, wait=0, retain=False):
    return {"do": "publish", "qos": qos, "wait": wait, "retain": retain}


def client(do, who):
    return {"do": do, "who": who}


def session(who, kept):
    return {"do": "session", "who": who, "kept": kept}


TIME = {"do": "time"}


def last(*actions, subscribers=2):
    """What the last of these actions brings."""
    return json.loads(play(json.dumps({"subscribers": subscribers, "actions": actions})))


def words(told):
    return [row["words"] for row in told["rows"]]


def of(told, who):
    """How things stand with one subscriber."""
    return told["subscribers"][who - 1]


@pytest.mark.parametrize("subscribers", [1, 2, 4])
@pytest.mark.parametrize("qos", range(4))
def test_a_message_takes_the_packets_of_the_chapter(qos, subscribers):
    told = last(publish(qos), subscribers=subscribers)
    assert len(told["rows"]) == (1, 2, 4, 4)[qos] * (1 + subscribers)
    assert [(each["has"], each["waiting"]) for each in told["subscribers"]] == [(["m1"], 0)] * subscribers
    seen = [(step.source, step.target) for step in exchange(qos, subscribers=subscribers).steps]
    assert [(told["columns"][row["from"]], told["columns"][row["to"]]) for row in told["rows"]] == seen


@pytest.mark.parametrize("qos", range(4))
def test_its_packets_are_those_of_real_sockets(qos):
    with BrokerThread(Config(port=0)) as broker:
        steps = trace.one_message(broker.port, qos).steps
    real = Counter((step.source, step.target, step.label.split(" ")[0]) for step in steps)
    told = last(publish(qos), subscribers=1)
    names = [name.removesuffix(" 1") for name in told["columns"]]
    here = Counter((names[r["from"]], names[r["to"]], r["label"].split(" ")[0]) for r in told["rows"])
    assert here == real


def test_at_qos_3_the_publisher_hears_nothing_until_the_subscriber_is_back():
    told = last(client("off", 2), publish(3))
    assert not [line for line in words(told) if line.startswith("broker to publisher")]
    assert told["open"] == ["m1"] and "The publisher waits: 1 of 2 wanted has acknowledged m1." in told["said"]
    assert (of(told, 1)["waiting"], of(told, 2)["waiting"]) == (0, 1)
    told = last(client("off", 2), publish(3), client("on", 2))
    order = [line for line in words(told) if "PUBREC" in line]
    assert order == [
        "subscriber 2 to broker: PUBREC, QoS 3, id 1",
        "broker to publisher: PUBREC, QoS 3, id 1, complete",
    ]
    assert told["open"] == [] and of(told, 2)["has"] == ["m1"]
    assert "acknowledgement of m1 has come: subscriber 1 and subscriber 2 have acknowledged it." in told["said"]


def test_the_deadline_ends_the_wait_with_a_report_and_the_message_still_arrives():
    told = last(client("off", 2), publish(3), TIME)
    assert words(told)[:2] == ["30 seconds pass", "broker to publisher: PUBREC, QoS 3, id 1, timeout"]
    assert (
        "since the deadline has passed: subscriber 1 has acknowledged it, subscriber 2 has not (offline)"
        in told["said"]
    )
    assert of(told, 2)["waiting"] == 1
    told = last(client("off", 2), publish(3), TIME, client("on", 2))
    assert of(told, 2)["has"] == ["m1"] and not [line for line in words(told) if "publisher" in line]


@pytest.mark.parametrize("qos", [1, 2])
def test_at_qos_1_and_2_the_publisher_sees_no_difference(qos):
    seen = [
        [line for line in words(last(*before, publish(qos))) if "publisher" in line]
        for before in ([], [client("off", 2)], [client("off", 1), client("off", 2)])
    ]
    assert seen[0] == seen[1] == seen[2] and seen[0]


def test_what_was_missed_waits_in_a_kept_session_unless_it_was_qos_0():
    away = [client("off", 2), publish(0), publish(1), publish(2)]
    assert of(last(*away), 2)["waiting"] == 2
    told = last(*away, client("on", 2))
    assert of(told, 2)["has"] == ["m2", "m3"] and "It gets m2 and m3." in told["said"]
    assert [row["off"] for row in last(*away)["rows"]] == [[3]] * len(last(*away)["rows"])
    clean = [session(2, False), *away]
    assert of(last(*clean), 2)["waiting"] == 0
    told = last(*clean, client("on", 2))
    assert of(told, 2)["has"] == [] and "It gets nothing new." in told["said"]
    assert [line for line in words(told) if "SUBSCRIBE" in line], "a clean session subscribes anew"


@pytest.mark.parametrize(("qos", "has"), [(0, ["m1"]), (1, ["m1", "m1"]), (2, ["m1"]), (3, ["m1"])])
def test_a_link_that_breaks_brings_dup_and_only_qos_1_brings_the_message_twice(qos, has):
    cut = [client("break", 1), publish(qos)]
    told = last(*cut)
    assert "The link of subscriber 1 breaks before it has answered" in words(told)
    assert not of(told, 1)["on"] and of(told, 1)["has"] == ["m1"]
    told = last(*cut, client("on", 1))
    again = [line for line in words(told) if "PUBLISH" in line]
    assert again == ([f"broker to subscriber 1: PUBLISH m1, QoS {qos}, id 1, DUP"] if qos else [])
    assert of(told, 1)["has"] == has


def test_how_many_are_waited_for():
    gone = [session(2, False), client("off", 2)]
    assert "has come: subscriber 1 has acknowledged it" in last(*gone, publish(3))["said"]
    assert "since nobody is left to wait for: subscriber 1 has" in last(*gone, publish(3, 2))["said"]
    told = last(client("off", 2), publish(3, 1))
    assert words(told)[-1].startswith("broker to publisher: PUBCOMP") and of(told, 2)["waiting"] == 1
    assert of(last(client("off", 2), publish(3, 1), client("on", 2)), 2)["has"] == ["m1"]


def test_a_retained_message_reaches_who_subscribes_later():
    told = last(session(2, False), client("off", 2), publish(1, retain=True), publish(1), client("on", 2))
    assert [line for line in words(told) if "PUBLISH" in line] == [
        "broker to subscriber 2: PUBLISH m1, QoS 1, id 1, RETAIN"
    ]


def test_the_same_is_told_each_time_and_nothing_is_kept_between():
    actions = [client("off", 2), publish(1), publish(3), client("on", 2)]
    assert last(*actions) == last(*actions)
    assert last() == last() and last()["rows"] == []


@pytest.mark.parametrize(
    ("actions", "says"),
    [
        ([{"do": "explode"}], "no such action"),
        ([5], "no such action"),
        ([["do", "on"]], "no such action"),
        ([{"do": "publish", "qos": 1}], "publish needs qos, retain and wait"),
        ([publish(4)], "qos is 4"),
        ([publish(3, 3)], "there are 2 subscribers"),
        ([publish(1, retain="yes")], "retain"),
        ([client("off", 3)], "there are 2 subscribers"),
        ([client("off", 0)], "who is 0"),
        ([client("on", 1)], "subscriber 1 is on already"),
        ([client("off", 1), client("break", 1)], "subscriber 1 is off already"),
        ([publish(0)] * (MOST + 1), "start anew"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(actions, says):
    assert says in last(*actions)["refused"]


@pytest.mark.parametrize(
    "asked", ["", "[]", "{}", '{"subscribers": 2, "actions": {}}', '{"subscribers": 5, "actions": []}']
)
def test_what_is_no_question_is_refused(asked):
    assert set(json.loads(play(asked))) == {"refused"}


def test_a_refusal_changes_nothing():
    panel = Panel()
    panel.do(publish(1))
    before = panel.state()
    with pytest.raises(ValueError, match="on already"):
        panel.do(client("on", 1))
    assert panel.state() == before
    panel.close()
