"""The agent: end-to-end acknowledgement by MQTT 5's own means, on a real mosquitto with stock paho clients."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import paho.mqtt.client as paho
import pytest

from voicewire.cli import main
from voicewire.emqtt import agent as a
from voicewire.mqtt import BrokerThread, Config
from voicewire.mqtt.serving import broker_process
from voicewire_book.chapters.emqtt import mqtt5

pytestmark = pytest.mark.needs("mosquitto")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with broker_process.mosquitto() as broker:
        yield broker.port


@pytest.fixture
def agent(port: int) -> Iterator[a.Agent]:
    """For questions that time out."""
    with a.Agent("127.0.0.1", port, timeout=1.0) as made:
        yield made


@pytest.fixture
def patient(port: int) -> Iterator[a.Agent]:
    """For questions that are answered: however busy the machine is, the time is not over before."""
    with a.Agent("127.0.0.1", port, timeout=20) as made:
        yield made


@pytest.fixture
def asker(port: int) -> Iterator[a.Asker]:
    with a.Asker("asker", "127.0.0.1", port) as made:
        yield made


def open_questions(agent: a.Agent) -> int:
    return len(agent._open)


def test_all_have_answered_and_what(port: int, patient: a.Agent, asker: a.Asker) -> None:
    with (
        a.Answerer("one", "127.0.0.1", port, "lamps/+", b"on"),
        a.Answerer("two", "127.0.0.1", port, "lamps/#"),
    ):
        report = asker.ask("lamps/hall", b"?", 2)
    assert (report["status"], report["needed"]) == ("complete", 2)
    assert set(report["acknowledged"]) == {"one", "two"}
    assert all(0 < micros < 1e6 * patient.timeout for micros in report["acknowledged"].values())
    assert report["answers"] == {"one": "on"}
    assert open_questions(patient) == 0


def test_too_few_are_named_when_the_time_is_over(port: int, agent: a.Agent, asker: a.Asker) -> None:
    with a.Answerer("one", "127.0.0.1", port, "T"):
        report = asker.ask("T", b"?", 2)
    assert report["status"] == "timeout"
    assert set(report["acknowledged"]) == {"one"}
    assert asker.ask("nobody/listens", b"?", 1)["acknowledged"] == {}
    assert open_questions(agent) == 0


class Repeating(a.Answerer):
    def take(self, message: paho.MQTTMessage) -> None:
        for _ in range(3):
            super().take(message)


class Nameless(a.Answerer):
    def take(self, message: paho.MQTTMessage) -> None:
        a.answer(self.client, message, "")


def test_one_subscriber_counts_once_and_a_nameless_one_not_at_all(port: int, agent: a.Agent, asker: a.Asker) -> None:
    with Repeating("one", "127.0.0.1", port, "T"), Nameless("two", "127.0.0.1", port, "T"):
        report = asker.ask("T", b"?", 2)
    assert report["status"] == "timeout"
    assert set(report["acknowledged"]) == {"one"}


def test_only_so_many_as_are_needed_are_waited_for(port: int, patient: a.Agent, asker: a.Asker) -> None:
    with a.Answerer("one", "127.0.0.1", port, "T"):
        start = time.monotonic()
        assert asker.ask("T", b"?", 1)["status"] == "complete"
    assert time.monotonic() - start < patient.timeout


@pytest.mark.parametrize(
    ("need", "topic", "why"),
    [(0, "T", "no number"), (70000, "T", "no number"), ("many", "T", "no number"), (1, "e2e/1/T", "no topic to ask"),
     (1, "$SYS/x", "no topic to ask")],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(agent: a.Agent, asker: a.Asker, need: object, topic: str, why: str) -> None:
    report = asker.ask(topic, b"?", need)  # type: ignore[arg-type]
    assert report["status"] == "refused"
    assert why in report["why"]
    assert open_questions(agent) == 0


def test_open_questions_are_bounded(port: int) -> None:
    with (
        a.Agent("127.0.0.1", port, timeout=1.0, most=2) as agent,
        a.Asker("asker", "127.0.0.1", port) as asker,
    ):
        reports: queue.Queue[str] = queue.Queue()
        asker.take = lambda message: reports.put(json.loads(message.payload)["status"])  # type: ignore[method-assign]
        for i in range(3):
            asked = a.properties("e2e-reports/asker", bytes([i]))
            asker.client.publish("e2e/1/nobody", b"", 2, properties=asked)
        assert [reports.get(timeout=5) for _ in range(3)] == ["refused", "timeout", "timeout"]
        assert open_questions(agent) == 0


def test_reports_find_their_question(port: int, patient: a.Agent) -> None:
    with a.Answerer("one", "127.0.0.1", port, "T"), a.Answerer("two", "127.0.0.1", port, "T"):
        found: dict[str, dict[str, object]] = {}

        def run(name: str, need: int) -> None:
            with a.Asker(name, "127.0.0.1", port) as mine:
                found[name] = mine.ask("T", b"?", need)

        threads = [threading.Thread(target=run, args=(f"p{n}", n)) for n in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {name: (r["status"], r["needed"]) for name, r in found.items()} == {
        "p1": ("complete", 1), "p2": ("complete", 2),
    }  # fmt: skip


def test_the_publishers_packets_do_not_depend_on_the_subscribers(port: int) -> None:
    # PUBLISH, PUBREL and the report's PUBACK go out; PUBREC, PUBCOMP and the report come in
    assert [mqtt5.asked_through_agent(port, n) for n in (1, 5)] == [{"sent": 3, "received": 3}] * 2


def test_errors_say_what_is_missing(port: int, asker: a.Asker) -> None:
    with pytest.raises(TimeoutError, match="is an agent at this broker"):
        asker.ask("T", b"?", 1, timeout=0.2)
    with pytest.raises(ValueError, match="time limit above 0"):
        a.Agent("127.0.0.1", port, timeout=0)
    with pytest.raises(ConnectionError, match="cannot reach a broker"):
        a.Agent("127.0.0.1", broker_process.free_port())
    with BrokerThread(Config(port=0)) as old, pytest.raises(ConnectionError, match=r"MQTT 5|refuses"):
        a.Asker("asker", "127.0.0.1", old.port)
    message = paho.MQTTMessage(topic=b"T")
    message.properties = None
    with pytest.raises(ValueError, match="no response topic"):
        a.answer(asker.client, message, "me")


def test_command_counts_until_it_is_interrupted(port: int, asker: a.Asker, capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-c", "import sys; from voicewire.cli import main; sys.exit(main())", "emqtt-agent"]
    run = subprocess.Popen(
        [*command, "--port", str(port), "--timeout", "0.3"], stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        assert run.stdout is not None
        assert "ask on e2e/N/TOPIC" in run.stdout.readline()
        assert asker.ask("nobody", b"?", 1)["status"] == "timeout"
        run.send_signal(signal.SIGINT)
        assert run.wait(10) == 0
    finally:
        run.kill()
        run.wait()
        run.stdout.close()
    assert main(["emqtt-agent", "--port", str(broker_process.free_port())]) == 1
    assert "cannot reach a broker" in capsys.readouterr().err


def test_nothing_of_the_agent_is_left(port: int) -> None:
    before = set(threading.enumerate())  # those of another test's pool may end meanwhile
    with a.Agent("127.0.0.1", port):
        assert "voicewire-agent" in {t.name for t in set(threading.enumerate()) - before}
    assert set(threading.enumerate()) <= before


def test_a_request_and_its_response_are_two_publications_each_over_two_connections(port: int) -> None:
    """Section 2.1: query and answer each cross twice, with four packets of QoS 2 each time."""
    found = mqtt5.request_response(port)
    assert found == dict.fromkeys(("PUBLISH", "PUBREC", "PUBREL", "PUBCOMP"), 4)
