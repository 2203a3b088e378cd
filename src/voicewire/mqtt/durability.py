"""`kill -9` under load: is anything lost or doubled?

    python -m voicewire.mqtt.durability --kills 200

A publisher and a subscriber with kept sessions send numbered messages at QoS 1 and 2 through a broker that is
killed at random moments and started again on the same store. What the subscriber has taken is compared with
what the publisher has sent.
"""

from __future__ import annotations

import argparse
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from voicewire.mqtt import packets as p
from voicewire.mqtt.decode import Decoder
from voicewire.mqtt.process import free_port, wait_for_port

WINDOW = 20


@dataclass(slots=True)
class Outcome:
    """What came of it; the dictionaries are by QoS."""

    kills: int
    sent: dict[int, int]
    lost: dict[int, int]
    doubled: dict[int, int]
    out_of_order: dict[int, int]


@dataclass(slots=True)
class _End:
    """A client whose session outlives its connections; `taken` is its durable memory."""

    port: int
    client_id: str
    sock: socket.socket | None = None
    decoder: Decoder = field(default_factory=Decoder)
    unanswered: dict[int, p.Publish | p.Pubrel] = field(default_factory=dict)
    received: set[int] = field(default_factory=set)
    taken: list[tuple[int, int]] = field(default_factory=list)
    next_id: int = 0

    def connect(self, subscribe: bool) -> None:
        self.close()
        self.sock = socket.create_connection(("127.0.0.1", self.port), 2)
        self.sock.settimeout(2)
        self.decoder = Decoder()
        out = [p.encode(p.Connect(self.client_id, clean=False))]
        if subscribe:
            out.append(p.encode(p.Subscribe(65535, (("t/+", 2),))))
        for packet in self.unanswered.values():
            if isinstance(packet, p.Publish):
                packet = p.Publish(packet.topic, packet.payload, packet.qos, dup=True, packet_id=packet.packet_id)
            out.append(p.encode(packet))
        self.sock.sendall(b"".join(out))
        self.sock.settimeout(0.02)

    def close(self) -> None:
        if self.sock is not None:
            self.sock.close()
            self.sock = None

    def publish(self, number: int, qos: int) -> None:
        while True:
            self.next_id = self.next_id % 60000 + 1
            if self.next_id not in self.unanswered:
                break
        packet = p.Publish(f"t/{qos}", b"%d" % number, qos, packet_id=self.next_id)
        self.unanswered[self.next_id] = packet
        assert self.sock is not None
        self.sock.sendall(p.encode(packet))

    def step(self) -> None:
        """Handle what has come.

        Raises
        ------
        OSError
            If the connection is gone.
        """
        assert self.sock is not None
        try:
            data = self.sock.recv(65536)
        except TimeoutError:
            return
        if not data:
            raise ConnectionError
        out = []
        for packet in self.decoder.feed(data):
            answer = self._handle(packet)
            if answer is not None:
                out.append(p.encode(answer))
        if out:
            self.sock.sendall(b"".join(out))

    def _handle(self, packet: p.Packet) -> p.Packet | None:
        match packet:
            case p.Publish(payload=payload, qos=qos, packet_id=packet_id):
                if qos == 1 or packet_id not in self.received:
                    self.taken.append((qos, int(payload)))
                if qos == 1:
                    return p.Puback(packet_id)
                self.received.add(packet_id)
                return p.Pubrec(packet_id)
            case p.Pubrel(packet_id):
                self.received.discard(packet_id)
                return p.Pubcomp(packet_id)
            case p.Pubrec(packet_id):
                release = p.Pubrel(packet_id)
                if packet_id in self.unanswered:
                    self.unanswered[packet_id] = release
                return release
            case p.Puback(packet_id) | p.Pubcomp(packet_id):
                self.unanswered.pop(packet_id, None)
        return None


def run(
    kills: int,
    folder: Path,
    seed: int = 1,
    between: tuple[float, float] = (0.05, 0.4),
    tell: Callable[[str], object] | None = None,
) -> Outcome:
    """Kill the broker `kills` times under load, let everything settle, and count.

    Parameters
    ----------
    kills : int
        How often.
    folder : Path
        Where the store goes.
    seed : int
        Of the moments.
    between : tuple of float
        Shortest and longest life of a broker, in seconds of load.
    tell : callable, optional
        Gets a line now and then.
    """
    rng = random.Random(seed)
    port = free_port()
    path = folder / "durability.sqlite"
    sender, receiver = _End(port, "sender"), _End(port, "receiver")
    sent = {1: 0, 2: 0}
    process = _start(port, path)
    try:
        for round_ in range(kills + 1):
            receiver.connect(subscribe=True)
            sender.connect(subscribe=False)
            last = round_ == kills
            end = time.monotonic() + (0.3 if last else rng.uniform(*between))
            while time.monotonic() < end:
                try:
                    while len(sender.unanswered) < WINDOW:
                        qos = rng.choice((1, 2))
                        sender.publish(sent[qos], qos)
                        sent[qos] += 1
                    sender.step()
                    receiver.step()
                except OSError:
                    break
            if last:
                _settle(sender, receiver, sent)
                break
            process.kill()
            process.wait()
            process = _start(port, path)
            if tell is not None and round_ % 20 == 19:
                tell(f"{round_ + 1} kills, {sent[1]} messages at QoS 1, {sent[2]} at QoS 2")
    finally:
        sender.close()
        receiver.close()
        process.kill()
        process.wait()
    return _count(kills, sent, receiver.taken)


def _start(port: int, path: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "voicewire.cli", "broker", "--quiet", "--port", str(port), "--persist", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    wait_for_port(port, process)
    return process


def _settle(sender: _End, receiver: _End, sent: dict[int, int]) -> None:
    end = time.monotonic() + 30
    quiet = 0
    while time.monotonic() < end and quiet < 10:
        before = len(receiver.taken), len(sender.unanswered)
        sender.step()
        receiver.step()
        done = not sender.unanswered and len(receiver.taken) >= sum(sent.values())
        quiet = quiet + 1 if done and before == (len(receiver.taken), len(sender.unanswered)) else 0


def _count(kills: int, sent: dict[int, int], taken: list[tuple[int, int]]) -> Outcome:
    lost, doubled, order = {}, {}, {}
    for qos in (1, 2):
        numbers = [n for q, n in taken if q == qos]
        counts = Counter(numbers)
        lost[qos] = sum(n not in counts for n in range(sent[qos]))
        doubled[qos] = sum(c - 1 for c in counts.values())
        firsts = list(dict.fromkeys(numbers))
        order[qos] = sum(b < a for a, b in pairwise(firsts))
    return Outcome(kills, sent, lost, doubled, order)


def main() -> int:
    """Run from the shell; exit status 1 if anything was lost, or doubled at QoS 2."""
    parser = argparse.ArgumentParser(description="Kill a broker under load and count what was lost or doubled.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(options.kills, Path(folder), options.seed, tell=lambda line: print(line, flush=True))
    print(outcome)
    return 1 if outcome.lost[1] or outcome.lost[2] or outcome.doubled[2] else 0


if __name__ == "__main__":
    raise SystemExit(main())
