"""A broker for each module of tests, and one made to measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from voicewire.mqtt import BrokerThread, Config


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a broker with default settings, shared by a module's tests."""
    with BrokerThread(Config(port=0, deny_subscribe=("test/nosubscribe",))) as broker:
        yield broker.port


@pytest.fixture
def broker() -> Iterator[Callable[..., BrokerThread]]:
    """Start brokers with settings of one's own."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(BrokerThread(Config(port=0, **settings)))
