"""A broker for each module of tests, one made to measure, and one that is expected not to start."""

from __future__ import annotations

import subprocess
import sys
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


@pytest.fixture
def not_started() -> Callable[..., str]:
    """What `voicewire broker` says, which must refuse to start: where it starts, the time limit ends it and the test.
    """

    def run(*words: str, status: int = 1) -> str:
        command = [sys.executable, "-m", "voicewire", "broker", "--quiet", "-p", "0", *words]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert ended.returncode == status, ended.stderr
        (line,) = ended.stderr.splitlines()
        return line

    return run
