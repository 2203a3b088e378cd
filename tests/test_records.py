"""Every record of every chapter: what is right passes, a usual mistake gets its hint, whatever comes a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import asking
import pytest
import usual

from voicewire_book.chapters.transport._function_records import Places, Results
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import UNANSWERED, Feedback
from voicewire_book.kit.records import Choice, Formula, Judged, Made, Nested, Number, Row, Stage
from voicewire_book.kit.table import Exercises

pytestmark = pytest.mark.landing

LABELS = [label for table in asking.tables().values() for label in table]
each = pytest.mark.parametrize("label", LABELS)
LEAST_MISTAKES = 3
"""Of a function that a stage of a lab asks for."""
JUNK = (
    "'text'", "[None]", "object()", "Hostile()", "raises", "spoils", "lambda *given: None", "lambda *given: Hostile()",
)  # fmt: skip


def made(label: str) -> Any:
    """The record of a label, computed if it has to be."""
    record = asking.record(label)
    return record.make() if isinstance(record, Made) else record


def right(record: Any) -> Any:
    """The answer that a record says is right."""
    if isinstance(record, Formula | Stage | Nested | Results):
        return record.wanted
    return list(record.expected) if isinstance(record, Row) else record.expected


def wrong(record: Any) -> Iterator[tuple[Any, str]]:
    """The answers that a record says are usual mistakes, each with its hint."""
    if isinstance(record, Number | Choice):
        yield from (record.hints or {}).items()
    elif isinstance(record, Places):
        for (meant, given), hint in record.confused.items():
            at = record.expected.index(meant)
            row = [given if word == meant else word for word in record.expected]
            yield row, f"{chr(ord('A') + at)}: {hint}"
    else:
        yield from record.mistakes


def beside(label: str) -> list[Any]:
    """What a chapter hands over beside the answer."""
    return [[[1.0, 2.0], [3.0, 5.0]]] if label == "pharyngeal-ex-rmse" else []


@each
def test_the_right_answer_passes_and_each_usual_mistake_gets_its_hint(label: str) -> None:
    record = made(label)
    if isinstance(record, Exercise | Judged):  # tests/test_drawn.py, and the tests of its part
        return
    feedback = asking.check(label, right(record))
    assert feedback.ok, feedback
    assert record.right in ("", feedback.message)
    known = list(wrong(record))
    assert len(known) >= LEAST_MISTAKES or not isinstance(record, Stage | Nested)
    assert len({hint for _, hint in known}) == len(known) or not isinstance(record, Nested)
    for answer, hint in known:
        assert asking.check(label, answer) == Feedback(False, hint)


@each
def test_whatever_is_handed_over_gets_a_sentence(label: str) -> None:
    for blank in (None, ..., "", "..."):
        assert asking.check(label, blank, *beside(label)) == UNANSWERED
    for source in JUNK:
        feedback = asking.check(label, usual.junk(source), *beside(label))
        assert not feedback.ok and feedback.message, source


def handed(label: str) -> list[str]:
    """What an exercise hands to a function that it asks for, call by call."""
    seen: list[str] = []

    def listens(*given: object) -> float:
        seen.append(re.sub(r"0x\w+", "", repr(given)))
        return 0.0

    asking.check(label, listens, *beside(label))
    return seen


@each
def test_a_function_that_empties_what_it_is_given_spoils_no_later_answer(label: str) -> None:
    before = handed(label)
    asking.check(label, usual.spoils, *beside(label))
    if not label.startswith("transport-object-lab"):  # seals anew each time, under another nonce
        assert handed(label) == before


def test_most_exercises_are_records() -> None:
    kinds = [type(made(label)) for label in LABELS]
    print({kind.__name__: kinds.count(kind) for kind in set(kinds)})
    assert kinds.count(Judged) < len(kinds) / 3


def table() -> Exercises:
    exercises = Exercises()
    exercises["frames-ex-rate"] = Number(16.0, unit="kbit/s", hints={8.0: "headers too."})

    @exercises.made("frames-ex-row")
    def _() -> Row:
        return Row([1, 2], mistakes=[([2, 2], "the first differs.")], right="both.")

    @exercises.called("frames-ex-called")
    def _(function: Any) -> Feedback:
        return Feedback(function(2) == 4, "twice.")

    @exercises.judged("frames-ex-judged")
    def _(answer: object, limit: int = 3) -> Feedback:
        return Feedback(answer == limit, "the limit.")

    exercises["frames-ex-drawn"] = Exercise(
        "square", (3,), lambda rng: (int(rng.integers(2, 9)),),
        lambda a: Drawn(f"a = {a}", float(a * a), ((2.0 * a + 0.5, "twice it."),), f"{a} · {a}"),
    )  # fmt: skip
    return exercises


def test_a_table_judges_by_label() -> None:
    exercises = table()
    check = exercises.check
    assert check("frames-ex-rate", "16 kbit/s") and check("frames-ex-rate", 8).message == "headers too."
    assert check("frames-ex-row", (1, 2)).message == "both."
    assert check("frames-ex-row", [2, 2]).message == "the first differs."
    assert check("frames-ex-row", None) == UNANSWERED
    assert check("frames-ex-called", lambda n: 2 * n) and check("frames-ex-called", None) == UNANSWERED
    assert "raises ZeroDivisionError" in check("frames-ex-called", usual.raises).message
    assert check("frames-ex-judged", 3) and check("frames-ex-judged", 5, 5)
    assert exercises.given("frames-ex-drawn").numbers == "a = 3" and check("frames-ex-drawn", 9)
    seed = next(n for n in range(99) if exercises.given("frames-ex-drawn", n).answer != 9)
    assert not check("frames-ex-drawn", 9, seed)
    assert list(exercises)[:2] == ["frames-ex-rate", "frames-ex-row"]


def test_a_label_that_is_none_a_second_one_and_numbers_that_are_not_drawn_are_told() -> None:
    exercises = table()
    with pytest.raises(LookupError, match="'frames-ex-rates' is no exercise .*: do you mean 'frames-ex-rate'"):
        exercises.check("frames-ex-rates", 1)
    with pytest.raises(LookupError, match="They are frames-ex-rate, "):
        exercises.check("x", 1)
    with pytest.raises(ValueError, match="frames-ex-rate is there already"):
        exercises["frames-ex-rate"] = Number(1.0)
    with pytest.raises(LookupError, match="the numbers of 'frames-ex-row' are not drawn: they stand in its question"):
        exercises.given("frames-ex-row")
