"""What a broker's store shows while a message waits there: ours and mosquitto's, with and without a sealed object.

Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``. Each look runs for well under a second.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config
from voicewire.mqtt.raw_socket_client import connect, subscribed
from voicewire.mqtt.serving.broker_thread import BrokerThread
from voicewire.testbed.mosquitto import Mosquitto, free_port
from voicewire.transport import paper
from voicewire.transport.secure_objects.icto import Identity, Rule, seal

__all__ = ["BROKERS", "SOUGHT", "looked", "record_rest", "seen"]

BROKERS = ("embedded", "mosquitto")
_PLAIN, _READER, _WAITING = b"temperature 36.6 C", "clinic", "away-7c1f"

SOUGHT: dict[str, bytes] = {
    "the reading": _PLAIN,
    "the topic": paper.TOPIC.encode(),
    "the subscriber's name": _WAITING.encode(),
    "the reader's name": _READER.encode(),
}
"""What is looked for in a store; the last stands in the rules of a sealed object."""


@contextmanager
def _keeping(which: str, folder: Path) -> Iterator[int]:
    """A broker that keeps its messages in `folder`; yields its port."""
    if which == "embedded":
        with BrokerThread(Config(port=0, persist=folder / "store")) as broker:
            yield broker.port
    elif which == "mosquitto":
        with Mosquitto(port=free_port(), persist=folder) as program:
            yield program.port
    else:
        raise ValueError(f"a broker is embedded or mosquitto, not {which!r}")


def seen(message: bytes, sought: Mapping[str, bytes], which: str = "embedded") -> dict[str, bool]:
    """Say what stands readable in the files of a broker's store while a message waits there for its subscriber."""
    with tempfile.TemporaryDirectory(prefix="voicewire-") as folder:
        with _keeping(which, Path(folder)) as port:
            subscribed(port, paper.TOPIC, qos=1, client_id=_WAITING, clean=False).close()
            with connect(port) as publisher:
                publisher.send(p.Publish(paper.TOPIC, message, 1, packet_id=1))
                publisher.expect(p.Puback(1))
        kept = b"".join(path.read_bytes() for path in sorted(Path(folder).iterdir()))
    if message not in kept:
        raise ValueError(f"the store of the broker ({which}) does not hold the message")
    return {name: text in kept for name, text in sought.items()}


def looked(which: str) -> dict[str, dict[str, bool]]:
    """Look for everything of `SOUGHT` in one broker's store, with a reading that waits there plain, and sealed."""
    owner, reader = Identity.create("sensor"), Identity.create(_READER)
    sealed = seal({"reading": _PLAIN}, {"reading": Rule((_READER,))}, [reader.public], owner)
    return {"plain": seen(_PLAIN, SOUGHT, which), "sealed": seen(sealed, SOUGHT, which)}


def record_rest(folder: Path) -> dict[str, Any]:
    """Look into the stores of both brokers, and write ``at_rest.json``."""
    found = {which: looked(which) for which in BROKERS}
    (folder / "at_rest.json").write_text(json.dumps(found, indent=1) + "\n")
    return found
