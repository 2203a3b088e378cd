"""The labs stage by stage: the chapter's own solution passes, an empty one does not, usual mistakes are named."""

import copy
import itertools
import math

import numpy as np
import pytest
from labs import LABS, heard, module, solutions, stages

from voicewire_book.kit._student import staged

EACH = [(chapter, *stage) for chapter in LABS for stage in stages(chapter)]
each_stage = pytest.mark.parametrize(
    ("chapter", "name", "check"), EACH, ids=[f"{chapter}-{name}" for chapter, name, _ in EACH]
)


@pytest.mark.parametrize("chapter", LABS)
def test_a_lab_has_four_to_eight_stages_and_every_check_is_asked(chapter):
    asked = [check.__name__ for _, check in stages(chapter)]
    assert 4 <= len(asked) <= 8
    assert sorted(asked) == sorted(name for name in module(chapter).__all__ if name.startswith("check_"))


@each_stage
def test_the_chapter_s_solution_passes_stage_by_stage(chapter, name, check):
    feedback = check(solutions(chapter)[f"solved_{name}"])
    assert feedback.ok, feedback


@each_stage
def test_without_an_answer_no_stage_passes(chapter, name, check):
    feedback = check(None)
    assert not feedback.ok and "not answered yet" in feedback.message


@each_stage
def test_each_usual_mistake_gets_its_own_hint(chapter, name, check, monkeypatch):
    _, right, mistakes, said = heard(chapter, check, monkeypatch)
    assert check(right).message == said
    assert len(mistakes) >= 3
    for mistake, hint in mistakes:
        feedback = check(mistake)
        assert not feedback.ok
        assert feedback.message == hint


@each_stage
def test_another_form_of_the_right_result_is_not_refused(chapter, name, check, monkeypatch):
    """Lists instead of arrays, arrays instead of lists."""
    _, right, _, _ = heard(chapter, check, monkeypatch)

    def otherwise(value):
        if isinstance(value, tuple | list) and any(isinstance(one, tuple | list | np.ndarray) for one in value):
            return [otherwise(one) for one in value]
        return value.tolist() if isinstance(value, np.ndarray | np.generic) else np.asarray(value)

    assert check(lambda *given: otherwise(right(*given)))


class Refuses:
    """Fails at whatever is tried with it."""

    def __len__(self):
        raise RuntimeError("no")

    __repr__ = __iter__ = __eq__ = __bool__ = __float__ = __array__ = __index__ = __len__
    __hash__ = None


@each_stage
def test_whatever_is_handed_over_a_check_answers(chapter, name, check):
    def raises(*given):
        return 1 / 0

    for answer in (3, "a word", [1], object(), raises, lambda: 1, lambda *given: "x", lambda *given: object()):
        feedback = check(answer)
        assert not feedback.ok and feedback.message
    assert "raises ZeroDivisionError" in check(raises).message
    assert "is a return missing" in check(lambda *given: None).message


def test_whatever_comes_back_the_judge_answers():
    itself: list[object] = []
    itself.append(itself)
    junk = (Refuses(), math.nan, -(2**70), {"a": 4}, {1, 2}, itself, np.array([object()]), [None, 1], itertools.count())
    for wanted in (lambda n: n, lambda n: [n, 2j]):
        for one in junk:
            feedback = staged(lambda n, one=one: one, [(3,)], wanted, [], "right.")
            assert not feedback.ok and feedback.message
        assert not staged(Refuses(), [(3,)], wanted, [], "right.").ok


@each_stage
def test_an_answer_that_changes_its_arguments_changes_no_case(chapter, name, check, monkeypatch):
    _, right, _, said = heard(chapter, check, monkeypatch)

    def careless(*given):
        result = copy.deepcopy(right(*given))  # it may be a view of what is given
        for one in given:
            if isinstance(one, list):
                one.clear()
            elif isinstance(one, np.ndarray):
                one[...] = 0
        return result

    assert check(careless).message == said


def test_complex_numbers_are_compared_part_by_part():
    def right(z):
        return np.array([z, 1j * z])

    cases = [(1 + 2j,), (3.0,)]
    assert staged(right, cases, right, [], "both.")
    assert staged(lambda z: [complex(z), 1j * z], cases, right, [], "both.")
    found = staged(lambda z: [z, z.imag], cases, right, [], "both.")
    assert "item '2, real part'" in found.message
    assert "2 number(s) are asked, you gave 1" in staged(lambda z: [z], cases, right, [], "both.").message
    assert staged(lambda n: n + 0j, [(3,)], lambda n: n, [], "real after all.")
    assert not staged(lambda n: n + 1j, [(3,)], lambda n: n, [], "real after all.")


def test_what_a_call_was_given_is_told_in_a_line():
    given = (1 / 3, np.complex128(1 + 1 / 3 * 1j), [("s1", "plain", 500.0)] * 9, "word", "long" * 20, [1, 2])
    told = staged(lambda *given: 1, [given], lambda *given: 2, [], "two.").message
    assert told.startswith("with (0.333333, 1+0.333333j, a list of 9, 'word', 'longlong")
    assert "…, [1, 2]) your function" in told and "complex128" not in told


def test_a_mapping_counts_by_its_values():
    assert staged(lambda n: {"a": n, "b": 2 * n}, [(3,)], lambda n: [n, 2 * n], [], "both.")
    assert not staged(lambda n: {n: 1, 2 * n: 1}, [(3,)], lambda n: [n, 2 * n], [], "both.")


def test_no_numbers_may_be_the_right_answer():
    assert staged(lambda n: [], [(3,)], lambda n: [], [], "none.")
    assert "0 number(s) are asked, you gave 1" in staged(lambda n: [n], [(3,)], lambda n: [], [], "none.").message
    assert "1 number(s) are asked, you gave 0" in staged(lambda n: [], [(3,)], lambda n: [n], [], "none.").message
