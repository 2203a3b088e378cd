"""The pytest plugin as another project has it, and Client and Broker in a program without an event loop."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from voicewire.mqtt import (
    BlockingClient,
    Broker,
    BrokerThread,
    Client,
    Config,
    DisconnectedError,
    MemoryBroker,
    MQTTError,
)
from voicewire_book import paths

TESTS = """
import socket
import pytest
from voicewire.mqtt import Client

ports = set()

@pytest.mark.parametrize("turn", range(3))
def test_each_has_its_own(mqtt_broker, turn):
    assert mqtt_broker.url == f"mqtt://{mqtt_broker.host}:{mqtt_broker.port}" and mqtt_broker.host == "127.0.0.1"
    with Client(mqtt_broker.host, mqtt_broker.port) as client:
        client.subscribe("#", qos=1)
        with pytest.raises(TimeoutError):
            client.receive(0.05)  # nothing is retained from the turn before
        client.publish("a", b"x", 1, retain=True)
        assert client.receive(20).payload == b"x"
    ports.add((mqtt_broker.host, mqtt_broker.port))

def test_they_have_ended():
    assert len(ports) >= 1
    for port in ports:
        with pytest.raises(OSError):
            socket.create_connection(port, 5)

@pytest.fixture(scope="session")
def mine(mqtt_broker_factory):
    return mqtt_broker_factory(deny_subscribe=("no",))

def test_settings_and_a_wider_scope(mine, mqtt_broker):
    assert mine.port != mqtt_broker.port
    with Client(port=mine.port) as client:
        assert client.subscribe("no") == (0x80,)
"""


def test_another_projects_tests_have_a_broker(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "voicewire.mqtt.pytest_plugin", "-p", "no:cacheprovider", "."],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    assert run.returncode == 0 and "5 passed" in run.stdout, run.stdout + run.stderr


def test_the_plugin_is_declared_and_costs_nothing_before_a_test_asks_for_it() -> None:
    declared = tomllib.loads((paths.root() / "pyproject.toml").read_text(encoding="utf-8"))
    assert list(declared["project"]["entry-points"]["pytest11"].values()) == ["voicewire.mqtt.pytest_plugin"]
    code = "import voicewire.mqtt.pytest_plugin, sys; print(sum(m.startswith('voicewire.mqtt.') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"


def test_without_an_event_loop() -> None:
    before = threading.active_count()
    with Broker(Config(port=0)) as broker, Client(port=broker.port, client_id="ann") as client:
        assert client.subscribe("t", "$share/g/t", qos=1) == (1, 0x80)
        assert "shared" in client.refusal("$share/g/t")
        assert client.publish("t", "x", 1).confirmed > 0
        assert client.receive(timeout=20).payload == b"x"
        client.publish("t", b"y")
        client.flush()
        assert client.receive(timeout=20).payload == b"y"
        assert client.subscribers("t") == ("ann",)
        client.unsubscribe("t")
        with pytest.raises(TimeoutError):
            client.receive(timeout=0.05)
        with pytest.raises(MQTTError, match="wildcard"):
            client.publish("a/#", b"")
        client.subscribe("t")
        client.publish("t", b"last")
        client.flush()
        client.disconnect()
        assert [m.payload for m in client.messages()] == [b"last"]
        assert client.connect() is False
        client.publish("t", b"again", 2)
    assert threading.active_count() == before
    with pytest.raises(DisconnectedError, match="no broker"), Client(port=broker.port):
        pass
    with Broker(Config(port=0)) as one, pytest.raises(OSError), Broker(Config(port=one.port)):
        pass
    assert threading.active_count() == before


def test_all_calls_are_there_and_take_the_same() -> None:
    waits = {name for name, value in vars(Client).items() if inspect.iscoroutinefunction(value) and name[0] != "_"}
    assert {*vars(BlockingClient)} & waits == waits - {"post"}
    for name in waits - {"post"}:
        theirs, mine = getattr(Client, name), getattr(BlockingClient, name)
        assert inspect.signature(theirs) == inspect.signature(mine) and not inspect.iscoroutinefunction(mine)


def test_several_threads_may_ask_before_and_after_it_connects_again() -> None:
    """Questions wait for each other, in one event loop and then in another."""
    patterns = ["no", "fine"] * 5
    with Broker(Config(port=0, deny_subscribe=("no",))) as broker, Client(port=broker.port) as client:
        for _ in range(2):
            with ThreadPoolExecutor(len(patterns)) as threads:
                told = list(threads.map(client.refusal, patterns))
            assert ["deny_subscribe" in reason for reason in told] == [pattern == "no" for pattern in patterns]
            client.disconnect()
            client.connect()


def test_a_receive_without_end_ends_with_the_connection() -> None:
    with Broker(Config(port=0)) as broker, Client(port=broker.port) as client:
        heard: list[BaseException] = []

        def wait() -> None:
            try:
                client.receive()
            except DisconnectedError as error:
                heard.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        client._client.abort()
        waiting.join(60)
        assert len(heard) == 1


def test_each_says_what_it_is() -> None:
    with BrokerThread() as broker, Client(port=broker.port, client_id="ann") as client:
        assert repr(broker) == f"<BrokerThread at 127.0.0.1:{broker.port}>"
        assert repr(broker.broker) == f"<Broker at 127.0.0.1:{broker.port}, 1 connections>"
        assert repr(client) == f"<BlockingClient 'ann' of 127.0.0.1:{broker.port}, connected>"
    assert repr(Client("h", 5, "x", password=b"secret", username="u")) == "<Client 'x' of h:5, not connected>"
    assert repr(Broker()) == "<Broker at 127.0.0.1:1883, not running>"
    assert repr(BrokerThread()) == "<BrokerThread, not running>"
    with MemoryBroker() as memory:
        assert repr(memory) == "<MemoryBroker, 0 connections, its clock at 1 s>"
