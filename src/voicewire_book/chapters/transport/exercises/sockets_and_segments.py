"""The exercises and the lab of chapter 1, *Sockets and segments*."""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np

from voicewire.mqtt.packets import encode_length
from voicewire.netsim.reference import tcp_sender
from voicewire.netsim.reference.path import NEVER, SECOND, Packet
from voicewire.netsim.reference.tcp_receiver import Ack, TcpReceiver
from voicewire.netsim.reference.tcp_sender import Segment, Sender, Timeout
from voicewire_book.chapters.transport._function_records import Places, Results
from voicewire_book.kit._student_functions import Function, NotYetError
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import UNANSWERED, Feedback, number, unanswered
from voicewire_book.kit.records import Number, Row
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given", "started"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

FULL = 1448  # bytes of data in a full segment with timestamps


def _header(size: int) -> Drawn:
    data = -(-size // FULL)
    acks = (data - 1) // 2

    def total(n: int) -> float:
        return 32.0 * n + 16

    n = 3 + data + acks + 4
    return Drawn(
        f"N = {size} bytes",
        total(n),
        (
            (total(n - 1), "a last segment that is short is a segment all the same: round up."),
            (total(n - acks), "the acknowledgements are segments too, without payload."),
            (32.0 * n, "the two SYNs carry 8 bytes more each."),
            (total(n + 1), "the last one is acknowledged with the FIN: it needs no segment of its own."),
            (total(3 + data + (data - 1) + 4), "only every second data segment is acknowledged."),
            (20.0 * n + 16, "the timestamps add 12 bytes to each header."),
            (40.0 * n, "only the two SYNs carry the longer options."),
        ),
        f"{size}/{FULL} = {size / FULL:.1f}, so {data} segments carry data; {acks} acknowledgements go on the way, the "
        "last one's with the FIN.\n"
        f"Opening takes three, closing four: n = 3 + {data} + {acks} + 4 = {n}.\n"
        f"32 · {n} + 8 · 2 = {total(n):.0f} bytes.",
        unit="bytes",
        right=f"3 + {data} + {acks} + 4 segments of 32 bytes, and 8 more on each SYN.",
        tolerance=1e-9,
    )


# TCP header bytes of a connection that carries 12,000 bytes in full segments, every second one acknowledged.
EXERCISES["transport-ex-header"] = Exercise(
    "header", (12_000,), lambda rng: (1000 * int(rng.integers(5, 31)),), _header
)


# The bytes that encode a Remaining Length of 20,011, lowest first.
EXERCISES["transport-ex-length"] = Row(
    [171, 156, 1], 1e-9,
    mistakes=[
        ([1, 156, 171], "the lowest seven bits go first."),
        ([43, 28, 1], "these are the groups of seven bits; a set highest bit has to say that more follow."),
        ([171, 28, 1], "more follows behind the second byte too."),
        ([171, 156], "156 has its highest bit set and so announces one more byte."),
        ([171, 156, 129], "nothing follows the last byte, so its highest bit is not set."),
        ([78, 43], "this is the number with eight bits a byte; here a byte holds seven."),
    ],
    right="20,011 = 43 + 28 · 128 + 1 · 128², and all but the last say: more follows.",
)  # fmt: skip


# The largest payload of a QoS 1 PUBLISH on "ict/object" whose Remaining Length takes one byte.
EXERCISES["transport-ex-publish"] = Number(
    113, 1e-9, unit="bytes",
    hints={
        127: "the topic and the packet identifier are counted by the Remaining Length too.",
        115: "at QoS 1 two bytes identify the packet.",
        117: "topic: ten bytes; what else stands before the payload?",
        111: "the Remaining Length counts what follows it: not the first byte, and not itself.",
        114: "one byte holds seven bits: at most 127, not 128.",
        241: "a byte of length holds seven bits, not eight.",
        129: "what is asked is the payload, not the packet.",
    },
    right="127 - (2 + 10) - 2: from 114 bytes on, the field takes two.",
)  # fmt: skip


# Why a capture and the kernel differ by +40, -480 and +36 header bytes.
EXERCISES["transport-ex-counters"] = Places(
    ("listen", "offload", "sack"),
    {
        ("listen", "sack"): "three acknowledgements with one block each make 36 bytes; 40 is another number.",
        ("listen", "offload"): "a card that cuts late lets the capture see fewer headers, not more.",
        ("offload", "listen"): "a socket that counts too few segments gives a positive difference.",
        ("offload", "sack"): "SACK blocks are in the capture: they give a positive difference.",
        ("sack", "listen"): "what the listening socket misses is a SYN-ACK, and that has 40 bytes.",
        ("sack", "offload"): "a card that cuts late lets the capture see fewer headers, not more.",
    },
    "one SYN-ACK of 40 bytes; 15 headers that a card adds later; three acknowledgements with 12 bytes more.",
)


# n -> TCP header bytes of n small messages over one connection, from opening to closing.
EXERCISES["transport-ex-open"] = Results(
    [(n,) for n in (1, 2, 10, 150)], lambda n: 64 * n + 208,
    [
        (lambda n: 272 * n, "this opens and closes a connection for each message."),
        (lambda n: 64 * n + 240, "the last message needs no acknowledgement of its own: it comes with the FIN's."),
        (lambda n: 32 * n + 240, "each message but the last is acknowledged by a segment of its own."),
        (lambda n: 64 * n + 192, "the SYNs carry 8 bytes more each."),
        (lambda n: 64 * n, "the connection is opened and closed as well."),
        (lambda n: 40 * n + 128, "the timestamps add 12 bytes to each header, also where nothing is negotiated."),
    ],
    "64 bytes a message, 208 for opening and closing: for one message the 272 of the text.",
)  # fmt: skip


# m1, t1, m2, t2, p -> the secret h of two tags that were made with the same nonce.
EXERCISES["transport-ex-nonce"] = Results(
    [(3, 3 * h % p + s, m, m * h % p + s, p)
     for h, s, m, p in ((77, 50, 8, 101), (45, 9, 60, 101), (1000, 3, 9, 1009), (58, 20, 2, 61))],
    lambda m1, t1, m2, t2, p: (t1 - t2) * pow(m1 - m2, -1, p) % p,
    [
        (lambda m1, t1, m2, t2, p: (t1 - t2) // (m1 - m2),
         "tags are sums modulo p: to divide is to multiply by the inverse, pow(x, -1, p)."),
        (lambda m1, t1, m2, t2, p: (t1 - t2) // (m1 - m2) % p,
         "a remainder taken behind an ordinary division is too late: use the inverse, pow(x, -1, p)."),
        (lambda m1, t1, m2, t2, p: (t1 - t2) / (m1 - m2),
         "h is a whole number: use the inverse modulo p, pow(x, -1, p)."),
        (lambda m1, t1, m2, t2, p: t1 * pow(m1, -1, p) % p,
         "s is still in the tag: only the difference of both is free of it."),
        (lambda m1, t1, m2, t2, p: (t1 - t2) * pow(m2 - m1, -1, p) % p,
         "one of the two differences is the other way round."),
        (lambda m1, t1, m2, t2, p: (t1 - t2) * pow(m1 - m2, -1, p),
         "of which numbers is h one? Take the remainder modulo p."),
    ],
    "t1 - t2 = (m1 - m2) h modulo p, and s is gone: so a nonce is used once.",
)  # fmt: skip


# value -> the bytes that encode it as a Remaining Length.
EXERCISES["transport-ex-encode"] = Results(
    [(n,) for n in (0, 1, 127, 128, 300, 16_383, 16_384, 268_435_455)], lambda n: list(encode_length(n)),
    [
        (lambda n: [n], "a byte holds seven bits: from 128 on it takes more than one."),
        (lambda n: list(encode_length(n))[::-1], "the lowest seven bits go first."),
        (lambda n: [b & 127 for b in encode_length(n)], "nothing says that more follow: set the highest bit."),
        (lambda n: [b | 128 for b in encode_length(n)], "the highest bit of the last byte stays clear."),
        (lambda n: list(encode_length(n)) if n else [], "zero takes a byte as well."),
    ],
    "from one to four bytes, and zero takes one too.",
)  # fmt: skip


# The lab: a sender with a timer. Its state is a dictionary, as `started` gives it; the one to compare with is
# `voicewire.netsim.reference.tcp_sender`.

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
    """The same state as the package's sender."""
    waiting = [Segment(x["number"], 1, x["sacked"], x["lost"], x["again"]) for x in state["waiting"]]
    timer = NEVER if state["timer"] == math.inf else _ns(state["timer"])
    return Sender(
        cwnd=state["cwnd"] * _MSS, ssthresh=min(state["ssthresh"] * _MSS, 1e18), recover=state["recover"],
        fast=state["fast"], written=state["total"], nxt=state["next"], una=state["una"], waiting=waiting,
        timeout=Timeout(0.0, state["rto"], state["rto"], 0.0), backoff=state["backoff"], timer=timer, last=0,
        initial=1e18,
    )  # fmt: skip


def _taken(s: Sender, rto: float) -> State:
    """The package's sender as a state."""
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
    return [{"number": int(w.strip("sla")), "sacked": "s" in w, "lost": "l" in w, "again": "a" in w} for w in words]


def _state(waiting: Sequence[str] = (), **entries: Any) -> State:
    state = {**started(100), "waiting": _marked(*waiting)}
    if waiting:
        first, last = state["waiting"][0]["number"], state["waiting"][-1]["number"]
        state |= {"una": first, "next": last + 1, "timer": 1.0}
    return state | entries


@EXERCISES.called("transport-sender-lab-pipe")
def _(answer: Function) -> Feedback:
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


@EXERCISES.called("transport-sender-lab-grow")
def _(answer: Function) -> Feedback:
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


@EXERCISES.called("transport-sender-lab-push")
def _(answer: Function) -> Feedback:
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


@EXERCISES.called("transport-sender-lab-acknowledge")
def _(answer: Function) -> Feedback:
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
        "backoff": "after an answer it is 1 again",
        "timer": "it starts again when upto moves, and rests when nothing waits",
    }
    for state, upto, sacked in cases:
        record = _package(state)
        record.timeout = Timeout(0.0)  # a first sample of a third of it makes it what it is
        tcp_sender.acknowledged(record, _ns(0.7), Ack(_ns(0.7 - state["rto"] / 3), upto, sacked))
        given = copy.deepcopy(state)
        answer(given, 0.7, upto, sacked)
        _compared(given, _taken(record, state["rto"]), hints)
    return Feedback(True, "what arrived, what is lost, and one halving for a loss.")


@EXERCISES.called("transport-sender-lab-expire")
def _(answer: Function) -> Feedback:
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


@EXERCISES.judged("transport-sender-lab-sender")
def _(answer: object) -> Feedback:
    """Stage 6: (push, acknowledge, expire) sends over a path that loses segments; turn for turn as the package's."""
    if unanswered(answer):
        return UNANSWERED
    functions: Any = answer
    try:
        push, acknowledge, expire = functions
    except Exception:  # not three, not a sequence, or an object of the student's own
        return Feedback(False, "submit your three functions: (push, acknowledge, expire).")
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
