"""The checks of the lab *A sender with a timer* (``notebooks/transport/01_sockets_and_segments``).

Each `check_…` takes whatever a student hands over and returns a `Feedback`; `None` means not answered yet. A sender's
state is a dictionary here, as `started` gives it; the one to compare with is `voicewire.netsim.reference.tcp_sender`.
"""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np

from voicewire.netsim.reference import tcp_sender
from voicewire.netsim.reference.path import NEVER, SECOND, Packet
from voicewire.netsim.reference.tcp_receiver import Ack, TcpReceiver
from voicewire.netsim.reference.tcp_sender import Segment, Sender, Timeout
from voicewire_book.kit._student import Function, NotYetError, called
from voicewire_book.kit.exercises import UNANSWERED, Feedback, number, unanswered

__all__ = [
    "check_acknowledge",
    "check_expire",
    "check_grow",
    "check_pipe",
    "check_push",
    "check_sender",
    "started",
]

State = dict[str, Any]
_MSS = 1460
_WORLDS = 60
_ARRIVED = "after a timeout all is marked lost; what SACK says since has arrived after all, and isn't sent again"


def started(total: int, rto: float = 1.0, window: float = 10.0) -> State:
    """A sender's state after the handshake, before anything has left."""
    return {
        "total": total, "una": 0, "next": 0, "waiting": [], "cwnd": window, "ssthresh": math.inf,
        "recover": -1, "fast": False, "rto": rto, "backoff": 1.0, "timer": math.inf,
    }  # fmt: skip


def _package(state: State) -> Sender:
    """The same state as the package's record."""
    waiting = [Segment(x["number"], 1, x["sacked"], x["lost"], x["again"]) for x in state["waiting"]]
    timer = NEVER if state["timer"] == math.inf else _ns(state["timer"])
    return Sender(
        cwnd=state["cwnd"] * _MSS, ssthresh=min(state["ssthresh"] * _MSS, 1e18), recover=state["recover"],
        fast=state["fast"], written=state["total"], nxt=state["next"], una=state["una"], waiting=waiting,
        timeout=Timeout(0.0, state["rto"], state["rto"], 0.0), backoff=state["backoff"], timer=timer, last=0,
        initial=1e18,
    )  # fmt: skip


def _taken(s: Sender, rto: float) -> State:
    """The package's record as a state."""
    waiting = [{"number": x.first, "sacked": x.sacked, "lost": x.lost, "again": x.again} for x in s.waiting]
    return {
        "total": s.written, "una": s.una, "next": s.nxt, "waiting": waiting, "cwnd": s.cwnd / _MSS,
        "ssthresh": math.inf if s.ssthresh >= 1e18 else s.ssthresh / _MSS, "recover": s.recover, "fast": s.fast,
        "rto": rto, "backoff": s.backoff, "timer": math.inf if s.timer >= NEVER else s.timer / SECOND,
    }  # fmt: skip


def _ns(seconds: float) -> int:
    return round(seconds * SECOND)


def _close(a: float, b: float) -> bool:
    return a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6)


def _compared(got: State, wanted: State, hints: dict[str, str]) -> None:
    """End the check at the first entry that differs."""
    for name, value in wanted.items():
        given = got.get(name)
        if name == "waiting":
            same = [dict(x) for x in given or []] == value
        else:
            same = given is not None and _close(float(given), float(value))
        if not same:
            hint = hints.get(name, "")
            shown = f"{_words(value)} is wanted, you have {_words(given)}"
            raise NotYetError(f"{name}: {hint or shown}{'' if not hint else f' ({shown})'}.")


def _words(value: object) -> str:
    if isinstance(value, list):
        marked = (f"{x['number']}{'s' * x['sacked']}{'l' * x['lost']}{'a' * x['again']}" for x in value[:8])
        return f"[{' '.join(marked)}{' …' if len(value) > 8 else ''}]"
    return f"{value:.4g}" if isinstance(value, float) else f"{value!r:.40}"


def _marked(*words: str) -> list[dict[str, Any]]:
    """Segments that wait: "3", "4s" (SACKed), "5l" (lost), "5la" (lost, and sent again)."""
    return [
        {"number": int(w.strip("sla")), "sacked": "s" in w, "lost": "l" in w, "again": "a" in w} for w in words
    ]


def _state(waiting: Sequence[str] = (), **entries: Any) -> State:
    state = {**started(100), "waiting": _marked(*waiting)}
    if waiting:
        first, last = state["waiting"][0]["number"], state["waiting"][-1]["number"]
        state |= {"una": first, "next": last + 1, "timer": 1.0}
    return state | entries


@called
def check_pipe(answer: Function) -> Feedback:
    """Stage 1: waiting -> segments under way."""
    cases = [
        ((), 0, ""),
        (("4", "5"), 2, "what waits and is neither SACKed nor lost is under way."),
        (("4", "5s", "6s"), 1, "a segment that is SACKed has arrived: it is no longer under way."),
        (("4l", "5s", "6"), 1, "a lost one is not under way."),
        (("4la", "5s", "6"), 2, "one that was sent again is under way once more."),
        (("4las",), 0, "also one that was sent again may be SACKed."),
    ]
    for waiting, wanted, hint in cases:
        verdict = number(answer(_marked(*waiting)), wanted, 1e-9)
        if not verdict:
            return Feedback(False, hint or verdict.message)
    return Feedback(True, "neither arrived, nor lost and left so.")


@called
def check_grow(answer: Function) -> Feedback:
    """Stage 2: (cwnd, ssthresh) -> the window after an acknowledgement of something new, segments."""
    for cwnd, ssthresh in ((10.0, math.inf), (1.0, 8.0), (8.0, 8.0), (20.0, 5.0), (7.5, 8.0)):
        got = answer(cwnd, ssthresh)
        verdict = number(got, cwnd + (1.0 if cwnd < ssthresh else 1 / cwnd), 1e-9)
        if verdict:
            continue
        if cwnd < ssthresh and number(got, 2 * cwnd, 1e-9):
            hint = "with as many acknowledgements as there are segments: one more for each."
            return Feedback(False, f"it doubles in a round trip, that is {hint}")
        if cwnd >= ssthresh and number(got, cwnd + 1, 1e-9):
            return Feedback(False, "from ssthresh on it grows by one in a round trip: by 1/cwnd for each.")
        return Feedback(False, f"cwnd {cwnd:g}, ssthresh {ssthresh:g}: {verdict.message}")
    return Feedback(True, "one more for each, and from ssthresh on one more for all.")


@called
def check_push(answer: Function) -> Feedback:
    """Stage 3: (state, now) -> numbers of the segments that leave now; the state is changed."""
    cases = [
        ("a fresh window", _state(), 0.0),
        ("the program's last segments", _state(total=3), 0.5),
        ("a window that is full", _state(["4", "5"], cwnd=2.9), 0.5),
        ("a window of less than one, and nothing under way", _state(cwnd=0.5), 0.5),
        ("a repair", _state(["4l", "5s", "6s", "7s"], cwnd=5.0, recover=8, fast=True), 0.5),
        ("a repair in a small window", _state(["4l", "5l", "6l"], cwnd=1.0, recover=7, timer=math.inf), 2.0),
        ("what was sent again", _state(["4la", "5s", "6l"], cwnd=2.0, recover=7), 0.5),
        (_ARRIVED, _state(["4la", "5sl", "6l", "7sl", "8l"], cwnd=3.0, recover=9), 0.5),
        ("a timer that has been doubled", _state(["4l"], cwnd=1.0, recover=5, timer=math.inf, backoff=4.0), 2.0),
        ("a timer of more than 64 s", _state(["4l"], cwnd=1.0, recover=5, timer=math.inf, backoff=64.0, rto=3.0), 2.0),
    ]
    hints = {
        "timer": "it starts when something leaves and it rests: at now + rto · backoff, at most 64 s",
        "waiting": "new ones are added, a lost one that leaves is marked again",
    }
    for words, state, now in cases:
        record = _package(state)
        wanted = [packet.first for packet in tcp_sender.push(record, _ns(now))]
        given = copy.deepcopy(state)
        got = [int(x) for x in answer(given, now)]
        if got != wanted:
            shown = f"leaves [{' '.join(map(str, wanted))}] is wanted, you have [{' '.join(map(str, got))}]"
            return Feedback(False, f"{words}: {shown}.")
        _compared(given, _taken(record, state["rto"]), {k: f"{words}: {v}" for k, v in hints.items()})
    return Feedback(True, "what was lost first, then what is new, as far as the window goes.")


@called
def check_acknowledge(answer: Function) -> Feedback:
    """Stage 4: (state, now, upto, sacked) changes the state; `upto` is the next segment that the receiver asks for."""
    out = [str(n) for n in range(4, 12)]
    fast = {"recover": 12, "fast": True, "cwnd": 4.0, "ssthresh": 4.0}
    cases: list[tuple[State, int, tuple[tuple[int, int], ...]]] = [
        (_state(out), 6, ()),
        (_state(out, backoff=8.0, ssthresh=3.0, cwnd=4.0), 6, ()),
        (_state(out), 4, ((6, 8),)),
        (_state(out), 4, ((6, 9),)),
        (_state(out, una=4), 4, ((5, 6), (7, 8), (9, 10))),
        (_state(["4l", "5s", "6s", "7s", "8", "9", "10", "11"], **fast), 4, ((5, 9),)),
        (_state(["4la", "5s", "6s", "7s", "8", "9", "10", "11"], **fast), 8, ()),
        (_state(["4la", "5s", "6s", "7s", "8", "9", "10", "11"], **fast), 12, ()),
        (_state(["4la", "5la", "6l"], recover=7, cwnd=1.0, ssthresh=4.0), 5, ()),
        (_state(["4", "5", "6"]), 4, ((5, 7),)),
        (_state(["4la", "5l", "6l", "7l", "8l"], recover=9, cwnd=2.0, ssthresh=4.0), 4, ((6, 8),)),
    ]
    hints = {
        "una": "all below upto has arrived",
        "waiting": "drop what has arrived, mark what is SACKed (its number lies in one of the pairs, the second "
        "excluded), then what is lost: three SACKed ones above it",
        "cwnd": "it grows when upto moves, but not in fast recovery; it falls to ssthresh when a loss is found and "
        "none is being repaired",
        "ssthresh": "half of what is out (next - una), at least 2, once for a loss",
        "recover": "a loss is repaired until all that is out now is acknowledged; no other halves meanwhile",
        "fast": "true from the loss that SACK shows until recover is acknowledged",
        "backoff": "whoever is answered begins anew with 1",
        "timer": "it starts anew when upto moves, and rests when nothing waits",
    }
    for state, upto, sacked in cases:
        record = _package(state)
        record.timeout = Timeout(0.0)  # a first sample of a third of it makes it what it is
        tcp_sender.acknowledged(record, _ns(0.7), Ack(_ns(0.7 - state["rto"] / 3), upto, sacked))
        given = copy.deepcopy(state)
        answer(given, 0.7, upto, sacked)
        _compared(given, _taken(record, state["rto"]), hints)
    return Feedback(True, "what arrived, what is lost, and one halving for a loss.")


@called
def check_expire(answer: Function) -> Feedback:
    """Stage 5: state is changed by the timer that fired."""
    cases = [
        _state(["4", "5s", "6", "7", "8", "9"]),
        _state(["4la", "5la", "6"], backoff=2.0, ssthresh=3.0, recover=7, cwnd=1.0),
        _state(["4"], backoff=64.0, ssthresh=2.0, cwnd=1.0),
        _state(["4la", "5s", "6s", "7s"], recover=8, fast=True, cwnd=5.0, ssthresh=5.0),
    ]
    hints = {
        "waiting": "all that waits is taken for lost, SACKed or not, and nothing of it was sent again",
        "cwnd": "one segment: begin with slow start",
        "ssthresh": "half of what is out (next - una), at least 2; not again when the timer fires a second time",
        "recover": "until all that is out now is acknowledged",
        "fast": "this repair was not begun by SACK",
        "backoff": "twice as long the next time, at most 64 times",
        "timer": "it rests until something leaves",
    }
    for state in cases:
        record = _package(state)
        tcp_sender.timed_out(record)
        given = copy.deepcopy(state)
        answer(given)
        _compared(given, _taken(record, state["rto"]), hints)
    return Feedback(True, "everything is lost, and the beginning is one segment.")


def check_sender(answer: object) -> Feedback:
    """Stage 6: (push, acknowledge, expire) sends over a path that loses segments; turn for turn as the package's."""
    if unanswered(answer):
        return UNANSWERED
    functions: Any = answer
    try:
        push, acknowledge, expire = functions
    except Exception:  # not three, not a sequence, or an object of the student's own
        return Feedback(False, "hand over your three functions: (push, acknowledge, expire).")
    rng = np.random.default_rng(23)
    timers = segments = 0
    for world in range(1, _WORLDS + 1):
        total, rtt, least = int(rng.integers(1, 80)), float(rng.uniform(0.01, 0.15)), float(rng.choice([0.2, 1.0]))
        lost = set(np.flatnonzero(rng.random(400) < rng.choice([0.0, 0.02, 0.1, 0.3])).tolist())
        wanted = tcp_sender.transfer(tcp_sender.opened(rtt, least=least), total, lost, rtt)
        try:
            got, fired = _played((push, acknowledge, expire), total, lost, rtt, least, 2 * len(wanted))
        except Exception as error:  # whatever a student's code may raise
            return Feedback(False, f"in world {world} your code raises {type(error).__name__}: {error}")
        for turn, (one, other) in enumerate(zip(got, wanted, strict=False), start=1):
            if one[2] != other[2] or not (_close(one[0], other[0]) and math.isclose(one[1], other[1], rel_tol=1e-6)):
                how = f"{total} segments, round trip {rtt:.3f} s, turn {turn}"
                return Feedback(False, f"world {world} ({how}): {_turn(other)} is wanted, yours has {_turn(one)}.")
        if len(got) != len(wanted):
            return Feedback(False, f"world {world} takes {len(wanted)} turns, yours goes on after {len(got)}.")
        timers, segments = timers + fired, segments + sum(len(left) for _, _, left in got)
    return Feedback(
        True, f"{segments} segments and {timers} timers in {_WORLDS} worlds, each turn as the package's sender has it."
    )


def _turn(turn: tuple[float, float, list[int]]) -> str:
    return f"{turn[0]:.3f} s, window {turn[1]:.3g}, leaves {turn[2][:6]}"


def _played(
    functions: tuple[Callable[..., Any], ...], total: int, lost: set[int], rtt: float, least: float, most: int
) -> tuple[list[tuple[float, float, list[int]]], int]:
    """The loop of `tcp_sender.transfer` with a student's functions: turns, and how often the timer fired."""
    push, acknowledge, expire = functions
    timeout = Timeout(least)
    tcp_sender.measure(timeout, rtt)
    state = started(total, timeout.rto)
    receiver, order, fired = TcpReceiver(total, every=1), count(), 0
    events: deque[tuple[float, int, Ack]] = deque()
    turns: list[tuple[float, float, list[int]]] = []
    now = 0.0
    while state["una"] < total and len(turns) < most:
        if turns and events and events[0][0] <= state["timer"]:
            now, sent, ack = events.popleft()
            tcp_sender.measure(timeout, (_ns(now) - sent) / SECOND)
            state["rto"] = timeout.rto
            acknowledge(state, now, ack.upto, ack.sacked)
        elif turns:
            if not math.isfinite(state["timer"]):
                raise RuntimeError("nothing is under way, the timer rests, and segments still wait")
            now, fired = float(state["timer"]), fired + 1
            expire(state)
        left = [int(x) for x in push(state, now)]
        turns.append((now, float(state["cwnd"]), left))
        for x in left:
            if next(order) not in lost:
                at = _ns(now)
                answered = receiver.on_packet(at, Packet(x, x, 1, at))
                assert answered is not None  # it answers every segment
                events.append((now + rtt, at, answered))
    return turns, fired
