"""A pytest plugin: `mqtt_broker`, an MQTT broker for a test that needs one.

    def test_a_sensor(mqtt_broker):
        sensor = Sensor(mqtt_broker.host, mqtt_broker.port)

Each test has a broker of its own, on a free port of 127.0.0.1, which ends with the test. A fixture of a wider scope
takes `mqtt_broker_factory`, and so does a test whose broker has settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from voicewire.mqtt.broker import Broker

__all__: list[str] = []  # pytest finds it by its entry point


@dataclass(frozen=True)
class RunningBroker:
    """The broker of a test, and where it listens."""

    host: str
    port: int
    broker: Broker = field(repr=False)

    @property
    def url(self) -> str:
        """Its address as a URL."""
        return f"mqtt://{self.host}:{self.port}"


def _started(stack: ExitStack, settings: dict[str, Any]) -> RunningBroker:
    from voicewire.mqtt.broker import Broker
    from voicewire.mqtt.config import Config

    config = Config(**{"port": 0, "sys_interval": 0.0, **settings})
    broker = stack.enter_context(Broker(config))
    return RunningBroker(config.host, broker.port, broker)


@pytest.fixture
def mqtt_broker() -> Iterator[RunningBroker]:
    """An MQTT broker on a free port of 127.0.0.1, for one test: it has host, port and url."""
    with ExitStack() as stack:
        yield _started(stack, {})


@pytest.fixture(scope="session")
def mqtt_broker_factory() -> Iterator[Callable[..., RunningBroker]]:
    """Start brokers with settings (those of voicewire.mqtt.Config); they end with the session."""
    with ExitStack() as stack:
        yield lambda **settings: _started(stack, settings)
