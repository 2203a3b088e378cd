"""The receiver of a session, with its single buffer, to read."""

from __future__ import annotations

from voicewire.nfc.session import Session

__all__: list[str] = []


class Appliance:
    """Acknowledges each packet; keeps what arrives out of order."""

    def __init__(self, session: Session, segments: int, ack: int) -> None:
        self.have = [False] * segments
        self.expected = 0
        self.near, self.ack = session.near, ack
        self.single_buffer = session.single_buffer
        self.answers: list[tuple[int, int]] = []  # (ready at, number)
        self.busy_until = 0
        self.arrived = self.duplicates = 0


def on_packet(a: Appliance, now: int, number: int) -> None:
    """Read the packet, then have its answer ready."""
    a.arrived += 1
    a.duplicates += a.have[number]
    a.have[number] = True
    while a.expected < len(a.have) and a.have[a.expected]:
        a.expected += 1
    begin = max(now, a.busy_until)
    if a.single_buffer and ready(a, now):
        # an answer goes out before this packet can be read
        begin = max(now + a.ack, a.busy_until)
    a.answers.append((begin + a.near, a.expected))


def ready(a: Appliance, now: int) -> bool:
    """Is there an answer that waits for the link?"""
    return bool(a.answers) and a.answers[0][0] <= now
