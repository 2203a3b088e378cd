"""Every question of the journey both ways: right answers in other forms, usual mistakes with their own hint."""

from __future__ import annotations

import pytest

from voicewire.nfc.link import Link
from voicewire.nfc.session import Session
from voicewire_book.chapters.journey import exercises as e

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
        (e.check_text, 1.22),
        (e.check_text, "1,22 s"),
        (e.check_known, "0.28"),
        (e.check_frames, frames),
        (e.check_passes, "C)"),
        (e.check_changed, "b"),
        (e.check_pieces, pieces),
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
        (e.check_text, 0.39, "data alone"),
        (e.check_text, Session(17).run().seconds, "325 bytes"),
        (e.check_text, 1.22 - 0.48, "respond three times"),
        (e.check_known, 0.15 + 0.05, "response takes 8 slots"),
        (e.check_known, 0.28 + 0.15, "counts once"),
        (e.check_known, 0.15 + 0.08, "takes slots"),
        (e.check_frames, lambda b: frames(b, ack=0), "ACK takes slots"),
        (e.check_frames, lambda b: frames(b, per_frame=20), "two slots for each frame"),
        (e.check_frames, lambda b: next(k for k in range(1, 999) if k * b / 10 + 5 <= 2 * k), "46 bytes"),
        (e.check_passes, "a", "as long to learn"),
        (e.check_passes, "b", "equally loud"),
        (e.check_passes, "d", "held"),
        (e.check_changed, "a", "to the right"),
        (e.check_changed, "c", "waits of seconds"),
        (e.check_changed, "d", "how many bytes"),
        (e.check_pieces, lambda k, content, seconds: pieces(k, content, seconds, 0), "325 bytes more, every time"),
        (
            e.check_pieces,
            lambda k, content, seconds: seconds + k * Session(content // k + 325).run().seconds,
            "sets out as soon",
        ),
        (
            e.check_pieces,
            lambda k, content, seconds: seconds + Session(content // k + 325).run().seconds,
            "one piece at a time",
        ),
        (e.check_pieces, lambda k, content, seconds: 1 / 0, "ZeroDivisionError"),
        (e.check_pieces, 3, "function itself"),
    ],
)
def test_usual_mistakes_get_their_hint(check, answer, hint):
    feedback = check(answer)
    assert not feedback.ok
    assert hint in feedback.message


def test_there_is_no_answer_for_g729():
    with pytest.raises(StopIteration):
        frames(20)
