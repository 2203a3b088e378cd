"""`kill -9` under load: is anything lost or doubled, and by whom?

    python tests/helpers/durability.py --kills 200 --client paho

A publisher and a subscriber with kept sessions send numbered messages at QoS 1 and 2 through a broker that is
killed at random moments and started again on the same store. What the subscriber has taken is compared with
what the publisher has sent. The clients are bytes on a socket, this package's client, or stock paho.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from survivors import AGAIN, WINDOW, OurClient, PahoClient, Survivor, WireClient

from voicewire.mqtt.serving.broker_process import free_port, wait_for_port

__all__ = ["Outcome", "run"]

CLIENTS: dict[str, Callable[[int, str], Survivor]] = {"wire": WireClient, "ours": OurClient, "paho": PahoClient}
START = 60.0
"""Seconds that a broker gets to start, on a machine that is busy with other work."""


@dataclass(slots=True)
class Outcome:
    """What came of it; the dictionaries are by QoS."""

    client: str
    kills: int
    sent: dict[int, int]
    lost: dict[int, int]
    doubled: dict[int, int]
    out_of_order: dict[int, int]
    twice: list[int]


def run(
    kills: int,
    folder: Path,
    seed: int = 1,
    between: tuple[float, float] = (0.05, 0.4),
    tell: Callable[[str], object] | None = None,
    *,
    client: str = "wire",
    patient: bool = False,
    port: int = 0,
) -> Outcome:
    """Kill the broker `kills` times under load, let everything settle, and count."""
    if client not in CLIENTS:
        raise ValueError(f"there is no client {client!r}; there are {', '.join(sorted(CLIENTS))}")
    rng = random.Random(seed)
    port = port or free_port()
    path = folder / "durability.sqlite"
    sender, receiver = CLIENTS[client](port, "sender"), CLIENTS[client](port, "receiver")
    sent = {1: 0, 2: 0}
    process = _start(port, path, wait=True)
    try:
        for round_ in range(kills + 1):
            _connect(sender, receiver)
            last = round_ == kills
            _load(sender, receiver, sent, 0.3 if last else rng.uniform(*between), rng)
            if last:
                _settle(sender, receiver, sent)
                break
            process.kill()
            process.wait()
            process = _start(port, path, wait=patient)
            if tell is not None and round_ % 20 == 19:
                tell(f"{round_ + 1} kills, {sent[1]} messages at QoS 1, {sent[2]} at QoS 2")
    finally:
        sender.close()
        receiver.close()
        process.kill()
        process.wait()
    return _count(client, kills, sent, receiver.taken)


def _connect(sender: Survivor, receiver: Survivor) -> None:
    """Both try in turn until both are connected; each attempt may be refused while the broker starts."""
    end = time.monotonic() + START
    missing = [sender, receiver]
    while missing:
        for client in list(missing):
            try:
                client.connect(subscribe=client is receiver)
                missing.remove(client)
            except OSError:
                if time.monotonic() > end:
                    raise
        if missing:
            time.sleep(AGAIN)


def _load(sender: Survivor, receiver: Survivor, sent: dict[int, int], seconds: float, rng: random.Random) -> None:
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            while sender.open() < WINDOW and time.monotonic() < end:
                qos = rng.choice((1, 2))
                number = sent[qos]
                sent[qos] += 1  # first: a message whose sending fails is the session's all the same
                sender.publish(number, qos)
            sender.step()
            receiver.step()
    except OSError:
        return


def _start(port: int, path: Path, *, wait: bool) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "voicewire.mqtt", "broker", "--quiet", "--port", str(port), "--persist", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    if wait:
        try:
            wait_for_port(port, process, START)
        except BaseException:
            process.kill()
            process.wait()
            raise
    return process


def _settle(sender: Survivor, receiver: Survivor, sent: dict[int, int]) -> None:
    end = time.monotonic() + 30
    quiet = 0
    while time.monotonic() < end and quiet < 20:
        before = len(receiver.taken), sender.open()
        sender.step()
        receiver.step()
        done = not sender.open() and len(set(receiver.taken)) >= sum(sent.values())
        quiet = quiet + 1 if done and before == (len(receiver.taken), sender.open()) else 0


def _count(client: str, kills: int, sent: dict[int, int], taken: list[tuple[int, int]]) -> Outcome:
    lost, doubled, order = {}, {}, {}
    twice: list[int] = []
    for qos in (1, 2):
        numbers = [n for q, n in taken if q == qos]
        counts = Counter(numbers)
        lost[qos] = sum(n not in counts for n in range(sent[qos]))
        doubled[qos] = sum(c - 1 for c in counts.values())
        firsts = list(dict.fromkeys(numbers))
        order[qos] = sum(b < a for a, b in pairwise(firsts))
        twice = [n for n, c in counts.items() if c > 1][:5]
    return Outcome(client, kills, sent, lost, doubled, order, twice)


def main() -> int:
    """Run from the shell; exit status 1 if anything was lost, or doubled at QoS 2."""
    parser = argparse.ArgumentParser(description="Kill a broker under load and count what was lost or doubled.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--client", choices=CLIENTS, default="wire")
    parser.add_argument("--patient", action="store_true", help="connect again only once the broker listens")
    parser.add_argument("--port", type=int, default=0, help="for a capture; a free one by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(
            options.kills, Path(folder), options.seed, tell=lambda line: print(line, flush=True),
            client=options.client, patient=options.patient, port=options.port,
        )  # fmt: skip
    print(outcome)
    return 1 if outcome.lost[1] or outcome.lost[2] or outcome.doubled[2] else 0


if __name__ == "__main__":
    raise SystemExit(main())
