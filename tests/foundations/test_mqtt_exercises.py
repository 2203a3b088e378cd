"""The exercises and the lab of the MQTT chapter both ways: the right answer passes, each usual mistake is named."""

from __future__ import annotations

import pytest
from asking import check, of


def length(n):
    return bytes([n]) if n < 128 else bytes([n % 128 + 128]) + length(n // 128)


def publish(topic, payload, number, dup, first=0x34, wide=2):
    name = topic.encode()
    body = len(name).to_bytes(2, "big") + name + number.to_bytes(2, "big")[:wide] + payload
    return bytes([first + 8 * dup]) + length(len(body)) + body


def cut(stream):
    packets, at = [], 0
    while at + 1 < len(stream):
        size, end = 0, at + 1
        while end < len(stream) and stream[end] > 127:
            end += 1
        for byte in reversed(stream[at + 1 : end + 1]):
            size = size * 128 + byte % 128
        if end >= len(stream) or end + 1 + size > len(stream):
            break
        packets.append((stream[at], stream[end + 1 : end + 1 + size]))
        at = end + 1 + size
    return packets, stream[at:]


def receive(ids, first, body):
    if first == 0x62:
        return ids - {int.from_bytes(body, "big")}, b"\x70\2" + body, None
    start = 2 + int.from_bytes(body[:2], "big")
    number = int.from_bytes(body[start : start + 2], "big")
    new = None if number in ids else body[start + 2 :]
    return ids | {number}, b"\x50\2" + body[start : start + 2], new


def acknowledge(waiting, first, body):
    number = int.from_bytes(body, "big")
    if first == 0x50:
        return waiting | {number: b"\x62\2" + body}, b"\x62\2" + body
    return {k: v for k, v in waiting.items() if k != number}, b""


def forgetful(ids, first, body):
    """A receiver that takes each PUBLISH for new."""
    known, reply, passed = receive(set(), first, body)
    return known, reply, passed


def hoarding(ids, first, body):
    """A receiver that never forgets an id."""
    known, reply, passed = receive(ids, first, body)
    return ids | known, reply, passed


def impatient(waiting, first, body):
    """A sender that is done at PUBREC."""
    return {k: v for k, v in waiting.items() if k != int.from_bytes(body, "big")}, b""


def fan(published, granted):
    return sum((1, 2, 4)[q] for q in (published, *(min(published, g) for g in granted)))


def retained(kept, topic, payload, retain):
    if not retain:
        return kept
    kept = {t: x for t, x in kept.items() if t != topic}
    return kept | ({topic: payload} if payload else {})


RIGHT = [
    (of("foundations-mqtt-size"), "850 bytes"),
    (of("foundations-mqtt-filters"), "e, d, b, a"),
    (of("foundations-mqtt-packets"), fan),
    (of("foundations-mqtt-largest"), lambda t, qos: 268_435_453 - t - 2 * bool(qos)),
    (of("foundations-mqtt-lost"), "(b)"),
    (of("foundations-mqtt-granted"), "c"),
    (of("foundations-mqtt-memory"), "c"),
    (of("foundations-mqtt-retained"), retained),
    (of("foundations-mqtt-lab-length"), length),
    (of("foundations-mqtt-lab-publish"), publish),
    (of("foundations-mqtt-lab-cut"), cut),
    (of("foundations-mqtt-lab-receive"), receive),
    (of("foundations-mqtt-lab-acknowledge"), acknowledge),
    (of("foundations-mqtt-lab-link"), (publish, cut, receive, acknowledge)),
]


@pytest.mark.parametrize(("ask", "answer"), RIGHT, ids=lambda x: getattr(x, "__name__", ""))
def test_the_right_answer_passes_and_nothing_is_not_answered(ask, answer):
    assert ask(answer), ask(answer).message
    assert not ask(None)
    assert "not answered" in ask(None).message


@pytest.mark.parametrize(
    ("ask", "answer", "hint"),
    [
        (of("foundations-mqtt-size"), 846, "two from 128"),
        (of("foundations-mqtt-size"), 852, "packet id"),
        (of("foundations-mqtt-size"), 842, "preceded by its length"),
        (of("foundations-mqtt-size"), 636, "own leg"),
        (
            of("foundations-mqtt-packets"),
            lambda published, granted: (1, 2, 4)[published] * (1 + len(granted)),
            "QoS of its own",
        ),
        (
            of("foundations-mqtt-packets"),
            lambda published, granted: sum((1, 2, 4)[min(published, q)] for q in granted),
            "publisher",
        ),
        (of("foundations-mqtt-largest"), lambda t, qos: 128**4 - t - 2 - 2 * bool(qos), "one less"),
        (of("foundations-mqtt-largest"), lambda t, qos: 128**4 - 1 - t - 2, "packet id"),
        (of("foundations-mqtt-largest"), lambda t, qos: 128**4 - 1 - t, "two bytes"),
        (of("foundations-mqtt-lost"), "a", "before the break"),
        (of("foundations-mqtt-lost"), "c", "sent PUBREL"),
        (of("foundations-mqtt-lost"), "d", "answers PUBREL"),
        (of("foundations-mqtt-granted"), "a", "each leg"),
        (of("foundations-mqtt-memory"), "a", "recognised"),
        (of("foundations-mqtt-memory"), "d", "two bytes"),
        (
            of("foundations-mqtt-retained"),
            lambda kept, topic, payload, retain: kept | {topic: payload},
            "without RETAIN",
        ),
        (
            of("foundations-mqtt-retained"),
            lambda kept, t, x, retain: kept | ({t: x} if retain else {}),
            "takes the kept one away",
        ),
        (
            of("foundations-mqtt-lab-length"),
            lambda n: n.to_bytes(max(1, (n.bit_length() + 7) // 8), "big"),
            "seven bits",
        ),
        (of("foundations-mqtt-lab-length"), lambda n: length(n)[::-1], "lowest seven bits"),
        (of("foundations-mqtt-lab-publish"), lambda t, x, n, dup: publish(t, x, n, dup, first=0x32), "first byte"),
        (
            of("foundations-mqtt-lab-publish"),
            lambda t, x, n, dup: publish(t, x, n, dup, wide=0),
            "packet id, is missing",
        ),
        (
            of("foundations-mqtt-lab-cut"),
            lambda stream: ([(stream[0], stream[2:])] if stream else [], b""),
            "are whole",
        ),
        (of("foundations-mqtt-lab-receive"), forgetful, "pass nothing on"),
        (of("foundations-mqtt-lab-receive"), lambda ids, first, body: (ids, b"", None), "that is new"),
        (of("foundations-mqtt-lab-acknowledge"), impatient, "PUBREL that is repeated"),
        (of("foundations-mqtt-lab-link"), (publish, cut, forgetful, acknowledge), "came so often"),
        (of("foundations-mqtt-lab-link"), (publish, cut, hoarding, acknowledge), "came so often"),
        (
            of("foundations-mqtt-lab-acknowledge"),
            lambda w, first, body: (acknowledge(w, first, body)[0], None),
            "where nothing is",
        ),
        (of("foundations-mqtt-lab-link"), (publish, cut), "four functions"),
        (
            of("foundations-mqtt-lab-link"),
            (publish, cut, receive, lambda waiting, first, body: (waiting, b"")),
            "nothing is under way",
        ),
        (of("foundations-mqtt-lab-length"), lambda n: 1 / 0, "ZeroDivisionError"),
        (of("foundations-mqtt-lab-receive"), 5, "function itself"),
    ],
)
def test_a_usual_mistake_gets_its_own_hint(ask, answer, hint):
    feedback = ask(answer)
    assert not feedback
    assert hint in feedback.message


class Refuses:
    """Fails at whatever is tried with it."""

    def __iter__(self):
        raise RuntimeError("no")

    __len__ = __str__ = __repr__ = __iter__


def test_an_object_that_refuses_everything_is_no_answer():
    assert "four functions" in check("foundations-mqtt-lab-link", Refuses()).message
