"""The inner loop of a trial, compiled by numba: every client's packets, from the query to the last acknowledgement.

Publisher and subscribers share one thread, so in Python they would be slower than the brokers that they measure.
``epoll_wait``, ``recv``, ``send`` and ``clock_gettime`` are the C library's own, called directly.
"""

from __future__ import annotations

import platform
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voicewire._kit._compiled import external, njit

__all__ = [
    "BROKEN", "CLIENT", "DONE", "INTERRUPTED", "LATE", "MALFORMED", "NO_ANSWER", "REST", "TALLY", "TOO_LONG", "Clients",
    "Task", "run",
]  # fmt: skip

Ints = NDArray[np.int64]
Octets = NDArray[np.uint8]
Records = NDArray[np.void]
Record = Any  # one of them: in compiled code its fields are attributes

#: How a trial ends.
DONE, NO_ANSWER, BROKEN, TOO_LONG, MALFORMED, INTERRUPTED = range(6)
REST = 512  #: bytes kept of a packet that has come in part; longer ones are not the experiment's
LATE = 64  #: answers of slow subscribers that may wait, for each of them
_WORDS = 3 if platform.machine().lower() in ("x86_64", "amd64") else 4  # of 32 bits in a struct epoll_event

_INBOX = 65536
_EVENTS = 256
_MONOTONIC, _THREAD_CPU = 1, 3
_NO_SIGNAL = 0x4000

_epoll_wait = external("epoll_wait", "int32", "int32", "uintp", "int32", "int32")
_recv = external("recv", "int64", "int32", "uintp", "uintp", "int32")
_send = external("send", "int64", "int32", "uintp", "uintp", "int32")
_clock = external("clock_gettime", "int32", "int32", "uintp")

TALLY = np.dtype([(name, np.int64) for name in (
    "responses", "handshakes", "releases",
    "end_to_end", "completion", "cpu",
    "received", "sent", "bytes_received", "bytes_sent", "messages",
)])  # fmt: skip
"""What a trial still waits for, its times (ns), and what it counts.

Received and sent are the publisher's; messages are the packets on all connections.
"""


CLIENT = np.dtype([("fd", np.int64), ("kept", np.int64), ("rest", np.uint8, (REST,))])
"""A client's descriptor, and the `kept` bytes of a packet that has come in part: they stay from trial to trial."""

_ANSWERS = np.dtype([("due", np.int64), ("whose", np.int64), ("size", np.int64), ("data", np.uint8, (REST,))])
"""Answers of a slow subscriber that wait until they are due."""


class Clients(NamedTuple):
    """The sockets, which block, and what they keep."""

    epoll: int
    number: Ints
    each: Records


class Task(NamedTuple):
    """One query."""

    query: Octets
    response: Octets
    responses: int
    handshakes: int
    releases: int
    slow: int
    pause: int
    patience: int


class _Buffers(NamedTuple):
    spec: Ints  # a struct timespec
    inbox: Octets
    out: Octets
    late: Records  # a ring of _ANSWERS …
    ring: Ints  # … its first place, and how many wait


@njit(cache=True, nogil=True, inline="always")
def _now(which: int, spec: Ints) -> int:
    _clock(which, spec.ctypes.data)
    now: int = spec[0] * 1_000_000_000 + spec[1]
    return now


@njit(cache=True, nogil=True)
def _send_all(fd: int, data: Octets, size: int) -> bool:
    done = 0
    while done < size:
        sent = _send(fd, data[done:].ctypes.data, size - done, _NO_SIGNAL)
        if sent <= 0:
            return False
        done += sent
    return True


@njit(cache=True, nogil=True, inline="always")
def _answer(out: Octets, at: int, first: int, high: int, low: int) -> int:
    """Put an acknowledgement of four bytes into `out`; returns where the next one goes."""
    out[at], out[at + 1], out[at + 2], out[at + 3] = first, 2, high, low
    return at + 4


@njit(cache=True, nogil=True)
def _length(data: Octets, at: int, end: int) -> tuple[int, int]:
    """Where the body of the packet at `at` begins and ends; the end is 0 if its header has not all come.

    A remaining length of more than four bytes, which MQTT does not have, ends at -1.
    """
    size, shift, i = 0, 0, at + 1
    while i < end:
        if shift > 21:
            return i, -1
        size |= (data[i] & 0x7F) << shift
        shift += 7
        i += 1
        if not data[i - 1] & 0x80:
            return i, i + size
    return i, 0


@njit(cache=True, nogil=True, inline="always")
def _sent(who: int, tally: Record) -> None:
    tally.messages += 1
    if who == 0:
        tally.sent += 1


@njit(cache=True, nogil=True, inline="always")
def _publish(
    who: int, at: int, body: int, after: int, size: int, inbox: Octets, out: Octets, response: Octets, tally: Record,
    now: int,
) -> int:  # fmt: skip
    """A query at a subscriber, a response at the publisher: answer it; returns how much waits to be sent, or -1."""
    head = inbox[at]
    ident = body + 2 + (np.int64(inbox[body]) << 8 | inbox[body + 1])
    if after - body < 2 or ident + (2 if head & 6 else 0) > after:
        return -1
    if head & 6:
        size = _answer(out, size, 0x56 if head & 6 == 6 else 0x50, inbox[ident], inbox[ident + 1])
        _sent(who, tally)
    if who == 0:
        tally.responses -= 1
        if tally.responses == 0:
            tally.end_to_end = now
    elif response.size:
        out[size : size + response.size] = response
        size += response.size
        _sent(who, tally)
    return size


@njit(cache=True, nogil=True, inline="always")
def _packet(
    who: int, at: int, body: int, after: int, size: int, inbox: Octets, out: Octets, response: Octets, tally: Record,
    now: int,
) -> int:  # fmt: skip
    """Take one packet and put its answer behind the `size` bytes that wait; returns how many wait then, or -1."""
    head = inbox[at]
    kind = head & 0xF0
    tally.messages += 1
    if who == 0:
        tally.received += 1
        tally.bytes_received += after - at
    if kind == 0x30:
        return _publish(who, at, body, after, size, inbox, out, response, tally, now)
    if 0x50 <= kind <= 0x70 and after - body != 2:
        return -1
    if kind == 0x50:  # PUBREC; without responses it tells the publisher
        if who == 0 and not response.size:
            tally.end_to_end = now
        size = _answer(out, size, 0x66 if head == 0x56 else 0x62, inbox[body], inbox[body + 1])
        _sent(who, tally)
    elif kind == 0x60:  # PUBREL
        size = _answer(out, size, 0x76 if head == 0x66 else 0x70, inbox[body], inbox[body + 1])
        _sent(who, tally)
        if who == 0:
            tally.releases -= 1
        else:
            tally.handshakes -= 1
    elif kind == 0x70:  # PUBCOMP
        tally.handshakes -= 1
        if who == 0:
            tally.completion = now
    return size


@njit(cache=True, nogil=True)
def _postpone(who: int, size: int, when: int, out: Octets, late: Records, ring: Ints) -> bool:
    """Let the answers of a slow subscriber wait; false if there is no room."""
    if ring[1] == late.size or size > REST:
        return False
    place = late[(ring[0] + ring[1]) % late.size]
    place.due, place.whose, place.size = when, who, size
    place.data[:size] = out[:size]
    ring[1] += 1
    return True


@njit(cache=True, nogil=True)
def _serve(who: int, client: Record, task: Task, buffers: _Buffers, tally: Record, start: int) -> int:
    """Take what has come for one client and answer it; returns `DONE`, or why the trial ends."""
    inbox, out, response = buffers.inbox, buffers.out, task.response
    have = client.kept
    inbox[:have] = client.rest[:have]
    came = _recv(client.fd, inbox[have:].ctypes.data, _INBOX, 0)
    if came <= 0:
        return BROKEN
    now = _now(_MONOTONIC, buffers.spec) - start
    end = have + came
    at = size = 0
    while end - at >= 2:
        body, after = _length(inbox, at, end)
        if after < 0:
            return MALFORMED
        if after == 0 or after > end:
            break
        size = _packet(who, at, body, after, size, inbox, out, response, tally, now)
        if size < 0:
            return MALFORMED
        at = after
    client.kept = end - at
    if end - at > REST:
        return TOO_LONG
    client.rest[: end - at] = inbox[at:end]
    if who == 0:
        tally.bytes_sent += size
    if size and 0 < who <= task.slow:
        when = now + start + task.pause
        return DONE if _postpone(who, size, when, out, buffers.late, buffers.ring) else TOO_LONG
    return DONE if not size or _send_all(client.fd, out, size) else BROKEN


@njit(cache=True, nogil=True)
def _send_due(clients: Records, late: Records, ring: Ints, spec: Ints) -> int:
    """Send the late answers whose time has come; returns how many, or -1 if a connection is broken."""
    sent = 0
    while ring[1] and late[ring[0]].due <= _now(_MONOTONIC, spec):
        place = late[ring[0]]
        if not _send_all(clients[place.whose].fd, place.data, place.size):
            return -1
        ring[0] = (ring[0] + 1) % late.size
        ring[1] -= 1
        sent += 1
    return sent


def run(clients: Clients, task: Task, tallies: Records) -> int:
    """Send the query and take part in everything that follows."""
    # numba looks at a named tuple's type for some 30 microseconds a call, at plain arguments for one
    end: int = _run(*clients, *task, tallies)
    return end


@njit(cache=True, nogil=True)
def _run(
    epoll: int, number: Ints, clients: Records, query: Octets, response: Octets, responses: int, handshakes: int,
    releases: int, slow: int, pause: int, patience: int, tallies: Records,
) -> int:  # fmt: skip
    task = Task(query, response, responses, handshakes, releases, slow, pause, patience)
    tally = tallies[0]
    tally.responses, tally.handshakes, tally.releases = responses, handshakes, releases
    spec, events, ring = np.empty(2, np.int64), np.empty(_EVENTS * _WORDS, np.uint32), np.zeros(2, np.int64)
    inbox, out = np.empty(_INBOX + REST, np.uint8), np.empty((_INBOX + REST) * (2 + response.size), np.uint8)
    late = np.empty(slow * LATE, _ANSWERS)
    buffers = _Buffers(spec, inbox, out, late, ring)
    cpu = _now(_THREAD_CPU, spec)
    start = _now(_MONOTONIC, spec)
    if not _send_all(clients[0].fd, query, query.size):
        return BROKEN
    tally.cpu += _now(_THREAD_CPU, spec) - cpu
    tally.sent = tally.messages = 1
    tally.bytes_sent = query.size
    last = start
    while tally.responses or tally.handshakes or tally.releases:
        limit = late[ring[0]].due - _now(_MONOTONIC, spec) if ring[1] else patience
        found = _epoll_wait(epoll, events.ctypes.data, _EVENTS, max(0, (limit + 999_999) // 1_000_000))
        if found < 0:
            return INTERRUPTED
        if found:
            last = _now(_MONOTONIC, spec)
        elif not ring[1] and _now(_MONOTONIC, spec) - last >= patience:
            return NO_ANSWER
        for k in range(found):
            who = number[events[k * _WORDS + _WORDS - 2]]
            cpu = _now(_THREAD_CPU, spec) if who == 0 else 0
            end = _serve(who, clients[who], task, buffers, tally, start)
            if end != DONE:
                return end
            if who == 0:
                tally.cpu += _now(_THREAD_CPU, spec) - cpu
        sent = _send_due(clients, late, ring, spec)
        if sent < 0:
            return BROKEN
        if sent:
            last = _now(_MONOTONIC, spec)
    return DONE
