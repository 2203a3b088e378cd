"""The inner loop of a trial, compiled by numba: every client's packets, from the query to the last acknowledgement.

Publisher and subscribers share one thread, so in Python they would be slower than the brokers that they measure.
``epoll_wait``, ``recv``, ``send`` and ``clock_gettime`` are the C library's own, called directly.
"""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from voicewire._compiled import external, njit

__all__ = [
    "BROKEN", "BYTES_RECEIVED", "BYTES_SENT", "COMPLETION", "CPU", "DONE", "END_TO_END", "INTERRUPTED", "LATE",
    "MALFORMED", "MESSAGES", "NO_ANSWER", "RECEIVED", "REST", "RESULTS", "SENT", "TOO_LONG", "run",
]  # fmt: skip

#: What the loop measures, in this order; times in nanoseconds.
END_TO_END, COMPLETION, RECEIVED, SENT, BYTES_RECEIVED, BYTES_SENT, MESSAGES, CPU = range(8)
RESULTS = 8
#: How it ends.
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


@njit(cache=True, nogil=True, inline="always")
def _now(which: int, spec: Any) -> Any:
    _clock(which, spec.ctypes.data)
    return spec[0] * 1_000_000_000 + spec[1]


@njit(cache=True, nogil=True)
def _send_all(fd: int, data: Any, size: int) -> bool:
    done = 0
    while done < size:
        sent = _send(fd, data[done:].ctypes.data, size - done, _NO_SIGNAL)
        if sent <= 0:
            return False
        done += sent
    return True


@njit(cache=True, nogil=True, inline="always")
def _answer(out: Any, at: int, first: int, high: int, low: int) -> int:
    """Put an acknowledgement of four bytes into `out`; returns where the next one goes."""
    out[at], out[at + 1], out[at + 2], out[at + 3] = first, 2, high, low
    return at + 4


@njit(cache=True, nogil=True)
def _length(data: Any, at: int, end: int) -> tuple[int, int]:
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


@njit(cache=True, nogil=True)
def run(
    epoll: int, index: Any, fds: Any, query: Any, response: Any, left: Any, slow: int, pause: int, patience: int,
    rest: Any, kept: Any, results: Any,
) -> int:  # fmt: skip
    """Send the query and take part in everything that follows.

    Parameters
    ----------
    epoll : int
        Descriptor of an epoll instance with every socket; the sockets block.
    index : ndarray of int64
        Client of each descriptor: 0 is the publisher, subscribers follow.
    fds : ndarray of int32
        Descriptor of each client.
    query, response : ndarray of uint8
        What the publisher sends, and what each subscriber publishes when it has it (empty: nothing).
    left : ndarray of int64, shape (3,)
        Responses, handshakes and releases still to come; the trial is over when none is.
    slow : int
        So many subscribers, from the first, answer only `pause` ns later.
    pause, patience : int
        Nanoseconds.
    rest : ndarray of uint8, shape (clients, REST)
        Bytes of packets that have come in part, kept between calls.
    kept : ndarray of int64
        How many.
    results : ndarray of int64, shape (RESULTS,)
        Is filled.

    Returns
    -------
    int
        `DONE`, or why not.
    """
    spec = np.empty(2, np.int64)
    events = np.empty(_EVENTS * _WORDS, np.uint32)
    inbox = np.empty(_INBOX + REST, np.uint8)
    out = np.empty((_INBOX + REST) * (2 + response.size), np.uint8)
    room = slow * LATE
    due = np.empty(room, np.int64)
    whose = np.empty(room, np.int64)
    sizes = np.empty(room, np.int64)
    late = np.empty((room, REST), np.uint8)
    first = waiting = 0  # of the answers that are late, a ring
    asks = response.size > 0  # MQTT: the publisher knows by its responses
    cpu = _now(_THREAD_CPU, spec)
    start = _now(_MONOTONIC, spec)
    if not _send_all(fds[0], query, query.size):
        return BROKEN
    results[CPU] += _now(_THREAD_CPU, spec) - cpu
    results[SENT] = results[MESSAGES] = 1
    results[BYTES_SENT] = query.size
    last = start
    while left[0] or left[1] or left[2]:
        limit = due[first] - _now(_MONOTONIC, spec) if waiting else patience
        found = _epoll_wait(epoll, events.ctypes.data, _EVENTS, max(0, (limit + 999_999) // 1_000_000))
        if found < 0:
            return INTERRUPTED
        if found:
            last = _now(_MONOTONIC, spec)
        elif not waiting and _now(_MONOTONIC, spec) - last >= patience:
            return NO_ANSWER
        for k in range(found):
            who = index[events[k * _WORDS + _WORDS - 2]]
            fd = fds[who]
            cpu = _now(_THREAD_CPU, spec) if who == 0 else 0
            have = kept[who]
            inbox[:have] = rest[who, :have]
            came = _recv(fd, inbox[have:].ctypes.data, _INBOX, 0)
            if came <= 0:
                return BROKEN
            now = _now(_MONOTONIC, spec) - start
            end = have + came
            at = size = packets = 0
            while end - at >= 2:
                body, after = _length(inbox, at, end)
                if after < 0:
                    return MALFORMED
                if after == 0 or after > end:
                    break
                results[MESSAGES] += 1
                head = inbox[at]
                kind = head & 0xF0
                if kind == 0x30:  # PUBLISH: a query at a subscriber, a response at the publisher
                    ident = body + 2 + (np.int64(inbox[body]) << 8 | inbox[body + 1])
                    if after - body < 2 or ident + (2 if head & 6 else 0) > after:
                        return MALFORMED
                    if head & 6:
                        pubrec = 0x56 if head & 6 == 6 else 0x50
                        size = _answer(out, size, pubrec, inbox[ident], inbox[ident + 1])
                        packets += 1
                    if who == 0:
                        left[0] -= 1
                        if left[0] == 0:
                            results[END_TO_END] = now
                    elif response.size:
                        out[size : size + response.size] = response
                        size += response.size
                        packets += 1
                elif 0x50 <= kind <= 0x70 and after - body != 2:
                    return MALFORMED
                elif kind == 0x50:  # PUBREC
                    if who == 0 and not asks:
                        results[END_TO_END] = now
                    size = _answer(out, size, 0x66 if head == 0x56 else 0x62, inbox[body], inbox[body + 1])
                    packets += 1
                elif kind == 0x60:  # PUBREL
                    size = _answer(out, size, 0x76 if head == 0x66 else 0x70, inbox[body], inbox[body + 1])
                    packets += 1
                    left[2 if who == 0 else 1] -= 1
                elif kind == 0x70:  # PUBCOMP
                    left[1] -= 1
                    if who == 0:
                        results[COMPLETION] = now
                if who == 0:
                    results[RECEIVED] += 1
                    results[BYTES_RECEIVED] += after - at
                at = after
            kept[who] = end - at
            if end - at > REST:
                return TOO_LONG
            rest[who, : end - at] = inbox[at:end]
            results[MESSAGES] += packets
            if who == 0:
                results[SENT] += packets
                results[BYTES_SENT] += size
            if size and 0 < who <= slow:
                if waiting == room or size > REST:
                    return TOO_LONG
                place = (first + waiting) % room
                due[place], whose[place], sizes[place] = now + start + pause, who, size
                late[place, :size] = out[:size]
                waiting += 1
            elif size and not _send_all(fd, out, size):
                return BROKEN
            if who == 0:
                results[CPU] += _now(_THREAD_CPU, spec) - cpu
        while waiting and due[first] <= _now(_MONOTONIC, spec):
            if not _send_all(fds[whose[first]], late[first], sizes[first]):
                return BROKEN
            first = (first + 1) % room
            waiting -= 1
            last = _now(_MONOTONIC, spec)
    return DONE
