"""What stands in for sockets, event loop and store where a part of the broker is tested alone."""

from __future__ import annotations


class Loop:
    """Keeps what it is asked to do, with the seconds until then."""

    def __init__(self):
        self.asked = []

    def call_soon(self, work):
        self.asked.append((0.0, work))

    def call_later(self, seconds, work):
        self.asked.append((seconds, work))

    def turn(self):
        """Do all that was asked for until now; give the seconds."""
        asked, self.asked = self.asked, []
        for _, work in asked:
            work()
        return [seconds for seconds, _ in asked]


class Peer:
    """A connection that notes in `told` what it is given."""

    def __init__(self, name="peer", told=None, **state):
        self.name, self.told = name, [] if told is None else told
        self.congested = self.slow = self.pressing = self.closing = self.dirty = False
        self.error = None
        self.room = 10**9  # packets that it takes before it is full
        self.__dict__ |= state

    def push(self, data):
        if self.error:
            raise self.error
        self.room -= 1
        self.told.append(data)

    def push_message(self, head, payload):
        self.push(head + payload)

    def push_qos0(self, data, count, payload=b""):
        if self.error:
            raise self.error
        self.told.append((data + payload, count))

    def full(self):
        return self.room <= 0

    def hold_back(self, publisher):
        self.told.append(("hold back", publisher.name))

    def caught_up(self):
        self.told.append("caught up")

    def broke(self, error):
        self.told.append(("broke", error))

    def wait(self):
        self.told.append("wait")

    def proceed(self):
        self.told.append("proceed")


class Journal:
    """A store that notes what it is told, and numbers messages from 1."""

    def __init__(self):
        self.told, self.number = [], 0

    def outgoing(self, client_id, packet_id, qos, message):
        self.number += 1
        self.told.append(("outgoing", client_id, packet_id, qos, message.payload))
        return self.number

    def released(self, number, message):
        self.told.append(("released", number))

    def done(self, number, message):
        self.told.append(("done", number))

    def __getattr__(self, name):
        return lambda *arguments: self.told.append((name, *arguments))
