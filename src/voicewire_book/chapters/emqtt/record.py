"""The experiments of chapter 5, recorded: `voicewire record emqtt` writes the tables that notebook 3 reads."""

from __future__ import annotations

import datetime
import json
import multiprocessing
import os
import platform
import random
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

from voicewire import __version__
from voicewire._kit import sheets
from voicewire._kit.pace import Pace
from voicewire.emqtt import counting, paper
from voicewire.mqtt.serving import broker_process
from voicewire_book.chapters.emqtt import blocking_publisher, experiments, notification_delay, publisher_link
from voicewire_book.chapters.emqtt.many_subscribers import Population
from voicewire_book.chapters.emqtt.slow_subscribers import weak

__all__ = ["RECORDINGS", "record", "record_link", "record_notified", "record_stock", "record_suspended"]

Tell = Callable[[str], object]


def delays(sizes: Iterable[int], tests: int, seed: int, tell: Tell) -> list[dict[str, Any]]:
    """Run every reading on every broker, trials interleaved in random order."""
    rng = random.Random(seed)
    rows, sizes = [], list(sizes)
    pace = Pace("delays", tests * sum(sizes), tell)  # a trial takes about as long as it has subscribers
    with ExitStack() as stack:
        brokers = {
            "voicewire": stack.enter_context(broker_process.ours()),
            experiments.PROTOCOL: stack.enter_context(broker_process.ours("--no-favours")),
        }
        if broker_process.mosquitto_version() is not None:
            brokers["mosquitto"] = stack.enter_context(broker_process.mosquitto())
        for n in sizes:
            with ExitStack() as inner:
                arms = []
                for name, broker in brokers.items():
                    mine = name != "mosquitto"
                    people = inner.enter_context(Population(broker.port, n, qos3=mine))
                    readings = counting.READINGS if mine else counting.READINGS[:2]
                    arms += [(name, reading, people) for reading in readings]
                for _, reading, people in arms:  # nobody meets cold caches in the first test
                    people.trial(reading)
                for test in range(tests):
                    for name, reading, people in rng.sample(arms, len(arms)):
                        trial = people.trial(reading)
                        rows.append(
                            {
                                "broker": name, "reading": reading, "subscribers": n, "test": test,
                                "end_to_end_ms": round(trial.end_to_end * 1e3, 4),
                                "completion_ms": round(trial.completion * 1e3, 4),
                                "received": trial.received, "sent": trial.sent,
                                "received_bytes": trial.received_bytes, "sent_bytes": trial.sent_bytes,
                                "messages": trial.messages, "publisher_cpu_ms": round(trial.cpu * 1e3, 4),
                            }
                        )  # fmt: skip
                    pace.done(n)
            tell(f"{n} subscribers: {tests} tests of {len(arms)} readings")
    return rows


def broker_subscriber(sizes: Iterable[int], tests: int, seed: int, tell: Tell) -> list[dict[str, Any]]:
    """Measure at the broker: from sending PUBLISH to a subscriber until its PUBREC has come."""
    rng = random.Random(seed)
    context = multiprocessing.get_context("spawn")
    rows, pipes = [], {}
    with ExitStack() as stack:
        for name in ("voicewire", experiments.PROTOCOL):
            pipes[name], there = context.Pipe()
            worker = context.Process(target=_timed_broker, args=(there, name == "voicewire"), daemon=True)
            worker.start()
            stack.callback(worker.join, 10)
            stack.callback(pipes[name].send, "stop")
        ports = {name: here.recv() for name, here in pipes.items()}
        for n in sizes:
            with ExitStack() as inner:
                people = {name: inner.enter_context(Population(port, n)) for name, port in ports.items()}
                arms = [(name, reading) for name in people for reading in ("mqtt-2", "first", "all")]
                for test in range(tests):
                    for name, reading in rng.sample(arms, len(arms)):
                        people[name].trial(reading)
                        pipes[name].send("delays")
                        found = pipes[name].recv()[:n]
                        rows.append(
                            {
                                "broker": name, "reading": reading, "subscribers": n, "test": test,
                                "delay_ms": round(sum(found) / len(found) * 1e3, 4),
                            }
                        )  # fmt: skip
            tell(f"{n} subscribers: broker-subscriber delay")
    return rows


def _timed_broker(pipe: Pipe, favours: bool) -> None:
    """A broker in a process of its own that notes when it sends to `T` and when PUBREC comes."""
    import time

    from voicewire.mqtt.broker import Broker
    from voicewire.mqtt.config import Config
    from voicewire.mqtt.routing import Router
    from voicewire.mqtt.serving.broker_thread import BrokerThread
    from voicewire.mqtt.sessions.session import Message, Outgoing, Session

    class Timed(Router):
        sent: dict[tuple[str, int], float]
        found: list[float]

        def send(self, session: Session, connection: Any, message: Message, qos: int, route: Any) -> None:
            if message.topic == paper.TOPIC.encode():
                self.sent[session.client_id, id(message)] = time.perf_counter()
            super().send(session, connection, message, qos, route)

        def released(self, session: Session, entry: Outgoing, data: bytes) -> None:
            start = self.sent.pop((session.client_id, id(entry[0])), None)
            if start is not None:
                self.found.append(time.perf_counter() - start)
            super().released(session, entry, data)

    class TimedBroker(Broker):
        router_class = Timed

    class Thread(BrokerThread):
        broker_class = TimedBroker

    Timed.sent, Timed.found = {}, []
    with Thread(Config(port=0, sys_interval=0, favours=favours)) as broker:
        pipe.send(broker.port)
        while pipe.recv() == "delays":
            found, Timed.found = Timed.found, []
            pipe.send(found)


def record(folder: Path, tests: int = paper.TESTS, seed: int = 2023, tell: Tell = print) -> None:
    """Run the experiments; write `delays`, `broker_subscriber`, `large` and `weak.csv`, and `provenance.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "delays.csv", delays(paper.SUBSCRIBERS, tests, seed, tell))
    _write(folder / "broker_subscriber.csv", broker_subscriber(paper.SUBSCRIBERS, tests, seed, tell))
    _write(folder / "large.csv", delays((200, 500, 1000), max(3, tests // 6), seed, tell))
    _write(folder / "weak.csv", weak(max(3, tests // 2), seed, tell))
    if broker_process.mosquitto_version() is not None:
        from voicewire_book.chapters.emqtt.mqtt5 import asked_through_agent, request_response

        with broker_process.mosquitto() as broker:
            counts = {
                "mqtt5": request_response(broker.port),
                "agent": {str(n): asked_through_agent(broker.port, n) for n in paper.SUBSCRIBERS},
            }
        for name, found in counts.items():
            (folder / f"{name}.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        tell("MQTT 5 on mosquitto: request and response, and the agent")
    _about(folder / "provenance.json", f"voicewire record emqtt experiments --tests {tests} --seed {seed}")


def record_suspended(folder: Path, tests: int = paper.TESTS, seed: int = 2023, tell: Tell = print) -> None:
    """Measure what waiting costs a publisher in two threads; write `suspended.csv` and `suspended.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    with broker_process.ours("--no-favours") as broker:
        _write(folder / "suspended.csv", blocking_publisher.series(broker.port, tests, seed, tell))
    _about(folder / "suspended.json", f"voicewire record emqtt suspended --tests {tests} --seed {seed}")


def record_notified(folder: Path, tests: int = paper.TESTS, seed: int = 2023, tell: Tell = print) -> None:
    """Measure when a publisher in two threads knows, suspended or not; write `notified.csv` and `notified.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    with broker_process.ours("--no-favours") as broker:
        _write(folder / "notified.csv", notification_delay.series(broker.port, paper.SUBSCRIBERS, tests, seed, tell))
    _about(folder / "notified.json", f"voicewire record emqtt notified --tests {tests} --seed {seed}")


def record_link(folder: Path, tests: int = paper.TESTS, seed: int = 2023, tell: Tell = print) -> None:
    """Measure a publisher behind its own link, on each test bed that is here; write `link.csv` and `link.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "link.csv", publisher_link.series(tests, seed, tell=tell))
    _about(folder / "link.json", f"voicewire record emqtt link --tests {tests} --seed {seed}")


def record_stock(folder: Path, tell: Tell = print) -> None:
    """Ask mosquitto what it makes of E-MQTT's packets; write `stock.json`."""
    from voicewire_book.chapters.emqtt.stock_broker import asked

    if broker_process.mosquitto_version() is None:
        raise FileNotFoundError("mosquitto is not installed: this recording asks it")
    folder.mkdir(parents=True, exist_ok=True)
    with broker_process.mosquitto() as broker:
        found = {"goes on": asked(broker.port), "provenance": _facts("voicewire record emqtt stock")}
    (folder / "stock.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    tell("mosquitto was asked")


def _about(path: Path, command: str) -> None:
    path.write_text(json.dumps(_facts(command), indent=2) + "\n", encoding="utf-8")


def _facts(command: str) -> dict[str, Any]:
    return {
        "command": command,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": {
            "voicewire": __version__,
            "python": platform.python_version(),
            "mosquitto": broker_process.mosquitto_version() or "not installed",
        },
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, all parts on one machine",
        "load average (15 min) at the end": round(os.getloadavg()[2], 2),
    }


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = sheets.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


RECORDINGS = {
    "experiments": record,
    "suspended": record_suspended,
    "notified": record_notified,
    "link": record_link,
    "stock": record_stock,
}
"""The paper's tables; what waiting costs a publisher in two threads; one behind its own link; what mosquitto says."""
