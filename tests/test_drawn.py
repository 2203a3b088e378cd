"""Exercises whose numbers each reader draws: question, check, hints and solution follow the seed, whatever it is."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache

import asking
import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire_book import paths
from voicewire_book.kit.drawn import Drawn, Exercise, reader_seed

CHAPTERS = {f"{path.parent.name}/{path.stem}": path for path in paths.chapters()}
CELL = re.compile(
    r"from voicewire_book\.kit\.drawn import reader_seed\n\n"
    r"my_seed = reader_seed\(\)  # or a whole number of your own\nprint\(given\(\"(.+)\", my_seed\)\)\n"
    r"(answer_\w+) = None  # your answer"
)


RECORDS = {label: table[label] for table in asking.tables().values() for label in table}
EXERCISES = {label: record for label, record in RECORDS.items() if isinstance(record, Exercise)}
each = pytest.mark.parametrize("name", EXERCISES)
seeds = st.integers(0, 10**18 - 1)


def several(answer: object) -> tuple[float, ...]:
    return answer if isinstance(answer, tuple) else (answer,)  # type: ignore[return-value]


def forms(exercise: Drawn) -> list[object]:
    """The right answer as readers write it."""
    values = several(exercise.answer)
    if len(values) > 1:
        return [list(values), np.array(values), ", ".join(f"{v!r}" for v in values), [str(v) for v in values]]
    [value] = values
    unit = f" {exercise.unit}" if exercise.unit else ""
    return [value, np.float64(value), [value], Fraction(value), f"{value!r}{unit}", f"{value!r}".replace(".", ",", 1)
            if not re.search(r"\.\d{3}$|e", repr(value)) else repr(value)]  # fmt: skip


@each
@given(seed=seeds)
def test_the_right_answer_passes_in_any_form_and_each_mistake_gets_its_hint(name: str, seed: int) -> None:
    for exercise in (EXERCISES[name].own(seed), EXERCISES[name].own()):
        assert exercise.apart()
        for form in forms(exercise):
            assert exercise.check(form), (exercise, form, exercise.check(form))
        hints = {hint for _, hint in exercise.mistakes}
        assert len(hints) >= 3
        for wrong, hint in exercise.mistakes:
            said = exercise.check(wrong)
            assert not said and said.message == hint, (exercise, wrong, said)


@each
@given(seed=seeds)
def test_numbers_can_be_computed_by_hand_and_the_solution_ends_in_the_answer(name: str, seed: int) -> None:
    exercise = EXERCISES[name].own(seed)
    for given_ in re.findall(r"\d+(?:\.\d+)?", exercise.numbers):
        assert len(given_.replace(".", "").strip("0")) <= 4, exercise
    assert max(map(len, [*exercise.worked.splitlines(), *repr(exercise).splitlines()])) <= 78
    numbers = [float(n.replace(" ", "")) for n in re.findall(r"\d+(?:\.\d+)?", exercise.steps)]
    for value in several(exercise.answer):
        assert any(abs(abs(value) - n) <= max(0.006 * abs(value), 0.006) for n in numbers), exercise.steps


@each
def test_readers_get_numbers_of_their_own_and_the_same_ones_each_time(name: str) -> None:
    drawn = [EXERCISES[name].own(seed) for seed in range(60)]
    assert drawn == [EXERCISES[name].own(seed) for seed in range(60)]
    assert len({exercise.numbers for exercise in drawn}) >= 8
    assert EXERCISES[name].own() == EXERCISES[name].own(None)


@cache
def cells(chapter: str) -> list[nbformat.NotebookNode]:
    return nbformat.read(CHAPTERS[chapter], as_version=4).cells


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_chapter_has_one_whose_question_check_and_solution_follow_the_readers_seed(chapter: str) -> None:
    rows = cells(chapter)
    places = [i for i, cell in enumerate(rows) if CELL.fullmatch(cell.source)]
    assert places
    for i in places:
        label, answer = CELL.fullmatch(rows[i].source).groups()  # type: ignore[union-attr]
        exercise = EXERCISES[label]
        assert rows[i].outputs[0].text == f"{exercise.own()!r}\n"
        assert "(by hand, " in rows[i - 1].source
        given_ = re.findall(r"(?<![\w.])\d{2,}(?:\.\d+)?", exercise.own().numbers)
        assert not [n for n in given_ if re.search(rf"(?<![\w.]){re.escape(n)}(?![\w.])", rows[i - 1].source)]
        assert rows[i + 1].source == f'check("{label}", {answer}, my_seed)'
        worked = f'print(given("{label}", my_seed).worked)'
        shown = [cell for cell in rows[i + 2 : i + 7] if worked in cell.get("source", "")]
        assert len(shown) == 1
        assert exercise.own().worked in "".join(output.get("text", "") for output in shown[0].outputs)


def test_the_seed_is_the_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOICEWIRE_SEED", raising=False)
    assert reader_seed() is None
    monkeypatch.setenv("VOICEWIRE_SEED", " 12 ")
    assert reader_seed() == 12
    for wrong in ("twelve", "-1", "1.5", "9" * 19, "²"):
        monkeypatch.setenv("VOICEWIRE_SEED", wrong)
        with pytest.raises(ValueError, match="the variable VOICEWIRE_SEED is .*: set it to a whole number"):
            reader_seed()
    one = next(iter(EXERCISES.values()))
    for bad in (-1, 1.0, True, "x", [], 10**18):
        with pytest.raises(ValueError, match="the seed is .*: set it to a whole number"):
            one.own(bad)
    assert one.own("3") == one.own(3) == one.own(np.int64(3))


def test_what_the_tests_would_find() -> None:
    """A mistake that would pass for right is refused by `apart`, and draws that have one are left out."""
    wrong = Drawn("a = 2", 4.0, ((4.0, "added, not multiplied."),), "2 · 2 = 4")
    assert not wrong.apart()
    assert wrong.check(4).ok
    square = Exercise("square", (3,), lambda rng: (int(rng.integers(1, 4)),),
                      lambda a: Drawn(f"a = {a}", float(a * a), ((2.0 * a, "twice it."),), f"{a} · {a}"))  # fmt: skip
    assert {str(square.own(seed)) for seed in range(40)} == {"a = 1", "a = 3"}
    assert [Drawn("", 1.0, ((2.0, "x"), (2.0, said)), "").apart() for said in "xy"] == [True, False]
