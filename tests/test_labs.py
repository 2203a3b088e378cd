"""The labs stage by stage: the chapter's own solution passes, in any form, and changes nothing."""

import copy
import itertools
import math

import numpy as np
import pytest
from asking import check
from labs import LABS, solutions, stage, stages

from voicewire_book.kit._student_functions import staged

EACH = [(chapter, *one) for chapter in LABS for one in stages(chapter)]
each_stage = pytest.mark.parametrize("label", [label for *_, label in EACH])


@pytest.mark.parametrize("chapter", LABS)
def test_a_lab_has_four_to_eight_stages(chapter):
    assert 4 <= len({label for _, label in stages(chapter)}) <= 8


@pytest.mark.parametrize(("chapter", "name", "label"), EACH, ids=[label for *_, label in EACH])
def test_the_chapter_s_solution_passes_stage_by_stage(chapter, name, label):
    feedback = check(label, solutions(chapter)[f"solved_{name}"])
    assert feedback.ok, feedback


@each_stage
def test_another_form_of_the_right_result_is_not_refused(label):
    """Lists instead of arrays, arrays instead of lists."""
    right = stage(label).wanted

    def otherwise(value):
        if isinstance(value, tuple | list) and any(isinstance(one, tuple | list | np.ndarray) for one in value):
            return [otherwise(one) for one in value]
        return value.tolist() if isinstance(value, np.ndarray | np.generic) else np.asarray(value)

    assert check(label, lambda *given: otherwise(right(*given)))


class Refuses:
    """Fails at whatever is tried with it."""

    def __len__(self):
        raise RuntimeError("no")

    __repr__ = __iter__ = __eq__ = __bool__ = __float__ = __array__ = __index__ = __len__
    __hash__ = None


@each_stage
def test_whatever_is_handed_over_a_check_answers(label):
    def raises(*given):
        return 1 / 0

    for answer in (3, "a word", [1], object(), raises, lambda: 1, lambda *given: "x", lambda *given: object()):
        feedback = check(label, answer)
        assert not feedback.ok and feedback.message
    assert "raises ZeroDivisionError" in check(label, raises).message
    assert "is a return missing" in check(label, lambda *given: None).message


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
def test_an_answer_that_changes_its_arguments_changes_no_case(label):
    record = stage(label)

    def careless(*given):
        result = copy.deepcopy(record.wanted(*given))  # it may be a view of what is given
        for one in given:
            if isinstance(one, list):
                one.clear()
            elif isinstance(one, np.ndarray):
                one[...] = 0
        return result

    assert check(label, careless).message == record.right


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
