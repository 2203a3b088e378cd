"""The labs stage by stage, on their pages and beside what the package does."""

from __future__ import annotations

import lab_pages as labs
import pytest
from lab_pages import Lab

from voicewire.emqtt import _hold_model, hold_lab
from voicewire.emqtt.figures import sequence
from voicewire.mqtt import BrokerThread, Config, encode
from voicewire.mqtt import packets as p
from voicewire.mqtt.wire import connect

LABS = [Lab("emqtt/02_end_to_end", hold_lab)]
EACH = [(lab, check) for lab in LABS for _, check in lab.stages]
NAMES = [f"{lab.chapter}-{check}" for lab, check in EACH]


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.chapter)
def test_a_lab_has_four_to_eight_stages_and_every_check_is_asked(lab):
    labs.page(lab)


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.chapter)
def test_the_chapter_s_solution_passes_stage_by_stage_and_an_empty_one_does_not(lab):
    labs.solution(lab)


@pytest.mark.parametrize(("lab", "check"), EACH, ids=NAMES)
def test_each_usual_mistake_gets_its_own_hint(lab, check, monkeypatch):
    labs.hints(lab, check, monkeypatch)


@pytest.mark.parametrize(("lab", "check"), EACH, ids=NAMES)
def test_whatever_is_handed_over_a_check_answers(lab, check, monkeypatch):
    labs.anything(lab, check, monkeypatch)


def heard_of(broker, subscribers, steps):
    """What the package's broker sends after each step, over sockets; whoever acts is asked first."""
    wires = {}
    for name in sorted(set().union(*subscribers.values()) | {name for name, _ in steps}):
        wires[name] = connect(broker.port, name)
        topics = [topic for topic, names in subscribers.items() if name in names] or ["$e2e/hello"]
        wires[name].send(p.Subscribe(1, tuple((topic, 3) for topic in topics)))
        wires[name].receive()
    leaves = []
    for name, data in steps:
        if data:
            wires[name].send(data)
        else:
            wires.pop(name).close()
        out = []
        for one in sorted(wires, key=lambda other: other != name):
            wires[one].send(p.Pingreq())
            while (packet := wires[one].receive()) != p.Pingresp():
                assert packet is not None
                out.append((one, encode(packet)))
        leaves.append(sorted(out))
    for wire in wires.values():
        wire.close()
    return leaves


def test_the_package_s_broker_sends_packet_for_packet_what_the_lab_asks_for(monkeypatch):
    talks, _, _, said = labs.heard(LABS[0], "check_talk", monkeypatch)
    assert f"in {len(talks)} talks" in said
    with BrokerThread(Config(port=0)) as broker:
        for subscribers, steps in talks:
            assert heard_of(broker, subscribers, steps) == _hold_model.talk(subscribers, steps)


def test_the_talks_have_what_can_happen_to_a_hold(monkeypatch):
    talks, *_ = labs.heard(LABS[0], "check_talk", monkeypatch)
    first = {data[0] for _, steps in talks for _, data in steps if data}
    assert first == {0x36, 0x3E, 0x56, 0x66, 0x76}
    assert sum(not data for _, steps in talks for _, data in steps) >= 20  # sessions that end
    proofs = sum(data[0] == 0x56 for talk in talks for out in _hold_model.talk(*talk) for _, data in out)
    asked = sum(data[0] == 0x36 for _, steps in talks for _, data in steps if data)
    assert 0.3 * asked < proofs


def test_the_drawing_has_every_packet():
    trace = hold_lab.drawn(_hold_model.talk)
    assert [step.label for step in trace.steps][-3:] == [
        "PUBCOMP (QoS 3), cat",
        "PUBREL (QoS 3), doctor",
        "PUBCOMP (QoS 3), doctor",
    ]
    ax = sequence(trace, origin="simulated here")
    assert sum(", " in text.get_text() for text in ax.texts) == len(trace.steps) == 13
