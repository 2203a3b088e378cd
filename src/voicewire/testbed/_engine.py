"""The inner loop of the userspace link: moves packets between two TUN descriptors, compiled by numba.

It holds no Python object and releases the interpreter lock, so a link costs the experiment's own threads
nothing but a share of the processor. ``read``, ``write``, ``poll`` and ``clock_gettime`` are the C library's
own, called directly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voicewire._compiled import external, njit

__all__ = [
    "BYTES", "DELIVERED", "FRAME", "LOST", "OVERFLOWED", "POLL_FIELDS", "QUEUE_DROPPED", "RECEIVED", "STATS",
    "new_slots", "run",
]  # fmt: skip

FRAME = 2048  #: bytes kept for each packet: above the link's MTU
STATS = 5  #: counters of each direction, in this order:
RECEIVED, DELIVERED, LOST, QUEUE_DROPPED, OVERFLOWED = range(STATS)
BYTES = STATS  #: one more column: bytes delivered
POLL_FIELDS = 4  # struct pollfd as int16: fd (2), events, revents
_BATCH = 64
_POLLIN = 1
_IDLE_NS = 20_000_000
_EARLY_NS = 80_000  # half of what a wake-up takes: packets leave this early rather than twice as late
_SHORTEST_NS = 20_000
_read = external("read", "int64", "int32", "uintp", "uintp")
_write = external("write", "int64", "int32", "uintp", "uintp")
_ppoll = external("ppoll", "int32", "uintp", "uint64", "uintp", "uintp")
_clock = external("clock_gettime", "int32", "int32", "uintp")
_prctl = external("prctl", "int32", "int32", "uint64", "uint64", "uint64", "uint64")


@njit(cache=True, nogil=True, inline="always")
def _now(spec: Any) -> Any:
    _clock(1, spec.ctypes.data)  # CLOCK_MONOTONIC, the same clock as time.perf_counter_ns
    return spec[0] * 1_000_000_000 + spec[1]


@njit(cache=True, nogil=True)
def _uniform(state: Any, i: int) -> Any:
    """SplitMix64: a uniform number in [0, 1) from the direction's own seeded state."""
    state[i] += np.uint64(0x9E3779B97F4A7C15)
    z = state[i]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


def new_slots(slots: int) -> tuple[Any, Any, Any, Any]:
    """Buffers for two directions: packets, their lengths, due times, and the order in which they leave."""
    return (
        np.zeros((2, slots, FRAME), np.uint8),
        np.zeros((2, slots), np.int64),
        np.zeros((2, slots), np.int64),
        np.zeros((2, slots), np.int64),
    )


@njit(cache=True, nogil=True)
def run(
    fds: Any, delay: Any, jitter: Any, ns_per_byte: Any, limit: Any, loss: Any, reorder: Any, state: Any,
    frames: Any, length: Any, due: Any, order: Any, stats: Any, stop: Any,
) -> None:  # fmt: skip
    """Move packets until ``stop[0]`` is set (``stop[1]`` says that it runs).

    Every parameter is an array with one entry a direction (0: a to b): delay, jitter, ns_per_byte in ns; limit in
    packets waiting for the line; loss as a probability; reorder as 0/1; state holds the seeds.
    A packet first waits for the line (rate, queue), is then perhaps lost, then delayed.
    """
    slots = length.shape[1]
    head = np.zeros(2, np.int64)  # first waiting entry in `order`
    count = np.zeros(2, np.int64)
    free_at = np.zeros(2, np.int64)  # when the line has sent what was accepted
    last_due = np.zeros(2, np.int64)
    leave = np.zeros((2, slots), np.int64)  # when each waiting packet has left the queue for the line
    leave_head = np.zeros(2, np.int64)
    leave_count = np.zeros(2, np.int64)
    spec = np.zeros(2, np.int64)
    patience = np.zeros(2, np.int64)
    polls = np.zeros(2 * POLL_FIELDS, np.int16)
    poll_fds = polls.view(np.int32)
    poll_fds[0] = fds[0]
    poll_fds[2] = fds[1]
    polls[2] = _POLLIN
    polls[6] = _POLLIN
    # free slots: a ring of indices, so that packets may leave in another order than they came
    idle = np.zeros((2, slots), np.int64)
    idle_head = np.zeros(2, np.int64)
    idle_count = np.zeros(2, np.int64)
    for side in range(2):
        for k in range(slots):
            idle[side, k] = k
        idle_count[side] = slots
    scratch = np.zeros(FRAME, np.uint8)
    _prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK: wake within a microsecond instead of 50
    stop[1] = 1  # ready: whoever waits for it may send now
    while stop[0] == 0:
        busy = False
        now = _now(spec)
        for side in range(2):
            for _ in range(_BATCH):
                if idle_count[side] > 0:
                    slot = idle[side, idle_head[side]]
                    address = frames[side, slot].ctypes.data
                else:
                    slot = -1
                    address = scratch.ctypes.data
                got = _read(fds[side], address, FRAME)
                if got <= 0:
                    break
                busy = True
                stats[side, RECEIVED] += 1
                if slot < 0:
                    stats[side, OVERFLOWED] += 1
                    continue
                while leave_count[side] > 0 and leave[side, leave_head[side]] <= now:
                    leave_head[side] = (leave_head[side] + 1) % slots
                    leave_count[side] -= 1
                sent = now
                if ns_per_byte[side] > 0.0:
                    if leave_count[side] >= limit[side]:
                        stats[side, QUEUE_DROPPED] += 1
                        continue
                    begin = max(now, free_at[side])
                    sent = begin + np.int64(got * ns_per_byte[side])
                    free_at[side] = sent
                    leave[side, (leave_head[side] + leave_count[side]) % slots] = begin
                    leave_count[side] += 1
                if loss[side] > 0.0 and _uniform(state, side) < loss[side]:
                    stats[side, LOST] += 1
                    continue
                when = sent + delay[side]
                if jitter[side] > 0:
                    when += np.int64((2.0 * _uniform(state, side) - 1.0) * jitter[side])
                when = max(when, sent)
                if reorder[side] == 0:
                    when = max(when, last_due[side])
                    last_due[side] = when
                idle_head[side] = (idle_head[side] + 1) % slots
                idle_count[side] -= 1
                length[side, slot] = got
                due[side, slot] = when
                place = count[side]  # sorted by due time, later arrivals after earlier ones
                while place > 0 and due[side, order[side, (head[side] + place - 1) % slots]] > when:
                    order[side, (head[side] + place) % slots] = order[side, (head[side] + place - 1) % slots]
                    place -= 1
                order[side, (head[side] + place) % slots] = slot
                count[side] += 1
        now = _now(spec)
        nearest = now + _IDLE_NS
        for side in range(2):
            for _ in range(_BATCH):
                if count[side] == 0:
                    break
                slot = order[side, head[side]]
                if due[side, slot] > now + _EARLY_NS:
                    nearest = min(nearest, due[side, slot])
                    break
                _write(fds[1 - side], frames[side, slot].ctypes.data, length[side, slot])
                stats[side, DELIVERED] += 1
                stats[side, BYTES] += length[side, slot]
                head[side] = (head[side] + 1) % slots
                count[side] -= 1
                idle[side, (idle_head[side] + idle_count[side]) % slots] = slot
                idle_count[side] += 1
                busy = True
        if not busy:
            wait = max(nearest - _now(spec) - _EARLY_NS, _SHORTEST_NS)
            patience[0] = wait // 1_000_000_000
            patience[1] = wait % 1_000_000_000
            _ppoll(polls.ctypes.data, 2, patience.ctypes.data, 0)
