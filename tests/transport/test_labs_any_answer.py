"""Whatever a student hands over, a lab's check says a sentence: it never raises, and no junk passes."""

from __future__ import annotations

import pytest
from asking import of

from voicewire_book.chapters.transport.exercises import (
    measuring_honestly,
    sockets_and_segments,
    tcp_against_mqtt,
    which_transport,
)
from voicewire_book.kit.exercises import Feedback

CHAPTERS = (sockets_and_segments, measuring_honestly, tcp_against_mqtt, which_transport)
CHECKS = [of(label) for chapter in CHAPTERS for label in chapter.EXERCISES if "-lab-" in label]


class Agrees:
    """Says that it equals everything."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Refuses:
    """Fails at whatever is tried with it."""

    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __len__ = __iter__ = __eq__ = __bool__ = __float__ = __bytes__ = __index__ = __str__
    __hash__ = None


JUNK = [
    0, -1, 2**70, 3.5, float("nan"), float("inf"), True, b"", b"\xff" * 9, "", "text", [], [None], (), (1, 2),
    (None,) * 3, (b"", b"", b""), {}, {"una": 4}, object(), Agrees(), (Agrees(),) * 3, (Agrees(),) * 7,
]  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_no_answer_raises_and_no_junk_passes(check):
    for junk in [*JUNK, Refuses()]:
        for answer in (junk, lambda *given, junk=junk: junk, (lambda *given, junk=junk: junk,) * 3):
            found = check(answer)
            assert isinstance(found, Feedback)
            assert not found, f"{type(junk).__name__}: {found.message}"
            assert found.message


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_function_that_changes_what_it_is_given_does_not_pass_by_that(check):
    def spoils(*given):
        for one in given:
            if isinstance(one, list | dict):
                one.clear()
        return given[0] if given else None

    assert not check(spoils)
    assert not check((spoils,) * 3)
