"""Every question of the journey both ways: right answers in other forms, usual mistakes with their own hint."""

from __future__ import annotations

import pytest
from asking import of

from voicewire.nfc.link import Link
from voicewire.nfc.session import Session

LINK = Link()


def frames(b, ack=5, per_frame=2, header=46):
    return next(k for k in range(1, 2000) if -(-(k * b + header) // 10) + ack <= per_frame * k)


def pieces(k, content, seconds, more=325):
    free = 0.0
    for i in range(1, k + 1):
        free = max(free, seconds * i / k) + Session(content // k + more).run().seconds
    return free


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (of("journey-ex-text"), 1.22),
        (of("journey-ex-text"), "1,22 s"),
        (of("journey-ex-known"), "0.28"),
        (of("journey-ex-frames"), frames),
        (of("journey-ex-passes"), "C)"),
        (of("journey-ex-changed"), "b"),
        (of("journey-ex-pieces"), pieces),
    ],
)
def test_right_answers_pass(check, answer):
    feedback = check(answer)
    assert feedback.ok, feedback
    assert not check(None).ok
    assert "not answered yet" in check(None).message


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        (of("journey-ex-text"), 0.39, "data alone"),
        (of("journey-ex-text"), Session(17).run().seconds, "325 bytes"),
        (of("journey-ex-text"), 1.22 - 0.48, "respond three times"),
        (of("journey-ex-known"), 0.15 + 0.05, "response takes 8 slots"),
        (of("journey-ex-known"), 0.28 + 0.15, "counts once"),
        (of("journey-ex-known"), 0.15 + 0.08, "takes slots"),
        (of("journey-ex-frames"), lambda b: frames(b, ack=0), "ACK takes slots"),
        (of("journey-ex-frames"), lambda b: frames(b, per_frame=20), "two slots for each frame"),
        (of("journey-ex-frames"), lambda b: next(k for k in range(1, 999) if k * b / 10 + 5 <= 2 * k), "46 bytes"),
        (of("journey-ex-passes"), "a", "as long to learn"),
        (of("journey-ex-passes"), "b", "equally loud"),
        (of("journey-ex-passes"), "d", "held"),
        (of("journey-ex-changed"), "a", "to the right"),
        (of("journey-ex-changed"), "c", "waits of seconds"),
        (of("journey-ex-changed"), "d", "how many bytes"),
        (
            of("journey-ex-pieces"),
            lambda k, content, seconds: pieces(k, content, seconds, 0),
            "325 bytes more, every time",
        ),
        (
            of("journey-ex-pieces"),
            lambda k, content, seconds: seconds + k * Session(content // k + 325).run().seconds,
            "sets out as soon",
        ),
        (
            of("journey-ex-pieces"),
            lambda k, content, seconds: seconds + Session(content // k + 325).run().seconds,
            "one piece at a time",
        ),
        (of("journey-ex-pieces"), lambda k, content, seconds: 1 / 0, "ZeroDivisionError"),
        (of("journey-ex-pieces"), 3, "function itself"),
    ],
)
def test_usual_mistakes_get_their_hint(check, answer, hint):
    feedback = check(answer)
    assert not feedback.ok
    assert hint in feedback.message


def test_there_is_no_answer_for_g729():
    with pytest.raises(StopIteration):
        frames(20)
