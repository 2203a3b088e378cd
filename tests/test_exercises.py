"""The helpers behind every check_…: right answers in any form, wrong ones with a hint, nothing raised."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from voicewire_book.kit.exercises import UNANSWERED, Feedback, choice, formula, function, number, sequence, unanswered
from voicewire_book.kit.records import Nested, Stage


class Hostile:
    """A student's object that fails at whatever is tried with it."""

    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __array__ = __float__ = __iter__ = __eq__ = __str__
    __hash__ = None


def test_feedback_is_truthy_when_right_and_shows_itself():
    assert Feedback(True, "well seen.")
    assert not Feedback(False, "no.")
    assert repr(Feedback(True, "well seen.")) == "Right: well seen."
    assert repr(Feedback(False, "twice too large.")) == "Not yet: twice too large."


@pytest.mark.parametrize("blank", [..., None, "", " ... ", "…", [], [1, ...], {"a": ...}])
def test_blank_answers(blank):
    assert unanswered(blank) is True
    assert number(blank, 1.0) is UNANSWERED
    assert choice(blank, "a", ["a", "b"]) is UNANSWERED
    assert sequence(blank, [1, 2]) is UNANSWERED
    assert function(blank, []) is UNANSWERED


@pytest.mark.parametrize("answer", [0, 0.0, False, "0", [0], np.zeros(3), np.array(0.0)])
def test_nought_is_an_answer(answer):
    assert unanswered(answer) is False


FORMS = [
    6.24,
    np.float32(6.24),
    np.array(6.24),
    np.array([[6.24]]),
    [6.24],
    (6.24,),
    Decimal("6.24"),
    Fraction(624, 100),
    pd.Series([6.24]),
    6.24 + 0j,
    "6.24",
    " 6,24 ",
    "6.24 s",
    "6.24s",
    "624/100",
    "624e-2",
    ["6.24"],
    6.2,
]


@pytest.mark.parametrize("answer", FORMS, ids=repr)
def test_a_right_number_in_any_form(answer):
    assert number(answer, 6.24, 0.01, unit="s")


@pytest.mark.parametrize("answer", [1460, "1460", "1,460", "1 460", "1_460", np.int64(1460), 1460.0])
def test_thousands(answer):
    assert number(answer, 1460, unit="B")


def test_percentages_and_fractions():
    assert number("7.5 %", 0.075)
    assert number("7.5 %", 7.5, unit="%")
    assert "fraction asked" in number(7.5, 0.075).message
    assert "percentage asked" in number(0.075, 7.5, unit="%").message


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (62.4, "ten times too large"),
        (0.624, "ten times too small"),
        (6240, "thousand times too large"),
        ("6240", "thousand times too large"),
        (49.92, "bits and bytes"),
        (0.78, "bits and bytes"),
        (-6.24, "sign"),
        (-100, "sign"),
        (1 / 6.24, "reciprocal"),
        (12.48, "twice too large"),
        (3.12, "half of"),
        (6.24 * 2 * np.pi, "radians"),
        (6.4, "close"),
        (5.0, "too small"),
        (9.0, "9 s is too large"),
        (float("nan"), "not a finite number"),
        (float("inf"), "not a finite number"),
        ("6.24 ms", "asked in s"),
        ("six", "a number is asked"),
        ("1/0", "a number is asked"),
        ("1.2.3", "a number is asked"),
        ([1, 2], "one number is asked, you gave 2"),
        (True, "you gave True"),
        ([True], "you gave True"),
        (lambda: 6.24, "call it"),
        ({"a": 1}, "a number is asked"),
        (1j, "a number is asked"),
        (10**400, "a number is asked"),
        (Hostile(), "a number is asked"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_wrong_number_is_explained(answer, hint):
    verdict = number(answer, 6.24, 0.01, unit="s")
    assert not verdict
    assert hint in verdict.message


def test_own_hints_come_first():
    hints = {12.48: "You counted the way back."}
    assert number(12.48, 6.24, hints=hints).message == "You counted the way back."
    assert number(6.24, 6.24, hints=hints, right="Slots, not bytes.").message == "Slots, not bytes."


def test_one_minus_and_zero():
    assert "one minus" in number(0.8, 0.2).message
    assert number(0, 0.0)
    assert number(0.004, 0.0, absolute=0.01)
    assert not number(0.1, 0.0)
    assert not number(0.5, 0.0, absolute=0.01)


@given(st.floats(-1e9, 1e9).filter(lambda x: abs(x) > 1e-6), st.floats(1.0001, 1e6))
def test_only_what_lies_within_the_tolerance_passes(expected, factor):
    assert number(expected * 1.005, expected, 0.01)
    assert bool(number(expected * factor, expected, 0.01)) == (
        abs(expected * factor - expected) <= max(0.01 * abs(expected), 1e-12)
    )


@given(
    st.sampled_from([(8.0, "eight times"), (10.0, "ten times"), (1e3, "a thousand"), (1e6, "a million")]),
    st.floats(-0.1, 0.1),
    st.sampled_from([1e-6, 1e-3, 0.01, 0.02, 0.05, 0.3]),
    st.sampled_from([6.24, -3e-4, 1.7e5]),
)
def test_a_hint_is_no_coincidence_of_a_wide_tolerance(factor, off, tolerance, expected):
    """However wide an answer may be off, a factor is named only where it fits to two percent, or closer if asked."""
    times, words = factor
    tight = min(tolerance, 0.02)
    assume(abs(abs(off) - tight) > 1e-9)
    message = number(expected * times * (1 + off), expected, tolerance).message
    assert (words in message) == (abs(off) < tight)


OPTIONS = {"a": "The loss rate", "b": "The delay", "c": "The jitter"}


@pytest.mark.parametrize("answer", ["b", "B", " b) ", "(b)", "b.", "the delay", "The  Delay.", ["b"], np.str_("b")])
def test_a_right_choice_in_any_form(answer):
    assert choice(answer, "b", OPTIONS)


def test_a_wrong_choice_is_explained():
    assert choice("a", "b", OPTIONS, hints={"a": "That is lost, not late."}).message == "That is lost, not late."
    assert "not it" in choice("c", "b", OPTIONS).message
    assert "none of the options: a, b, c" in choice("d", "b", OPTIONS).message
    assert "none of the options" in choice(Hostile(), "b", OPTIONS).message
    assert choice("tfrc", "TFRC", ["TCP", "TFRC"], right="Smooth.").message == "Smooth."


@pytest.mark.parametrize("answer", [True, np.True_, "True", "yes", "Y", 1])
def test_truth_values(answer):
    assert choice(answer, True)
    assert not choice(answer, False)
    assert choice(answer, False, hints={"yes": "Look at Eq. 3."}).message == "Look at Eq. 3."
    assert "True or False" in choice("perhaps", True).message


@pytest.mark.parametrize(
    "answer",
    [
        [212, 424, 848],
        (212.0, 424.0, 848.0),
        np.array([212, 424, 848]),
        pd.Series([212, 424, 848]),
        "212, 424, 848",
        "212 424 848",
        ["212", "424 kbit/s", 848],
        {"low": 212, "mid": 424, "high": 848},
    ],
    ids=repr,
)
def test_a_right_sequence_in_any_form(answer):
    assert sequence(answer, [212, 424, 848], unit="kbit/s")


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        ([848, 424, 212], "other way round"),
        ([424, 212, 848], "order"),
        ([212, 424], "3 items are asked, you gave 2"),
        ([212, 42.4, 848], "item 2: ten times too small"),
        ([0.212, 0.424, 0.848], "none of the items is right yet; item 1: a thousand times too small"),
        ([212, "x", 848], "a number is asked"),
        (5, "a list is asked"),
        (Hostile(), "a list is asked"),
    ],
)
def test_a_wrong_sequence_is_explained(answer, hint):
    verdict = sequence(answer, [212, 424, 848])
    assert not verdict
    assert hint in verdict.message


def test_words_sets_and_names():
    assert sequence(["CONNECT", "connack"], ["CONNECT", "CONNACK"])
    assert "item 2" in sequence(["CONNECT", "PUBACK"], ["CONNECT", "CONNACK"]).message
    assert sequence({"c", "b"}, ["b", "c"], ordered=False)
    assert "1 of 2 items" in sequence({"c", "d"}, ["b", "c"], ordered=False).message
    named = {"MSS 1460": 6.24, "MSS 1024": 6.66}
    assert sequence({"mss 1024": 6.66, "mss 1460": 6.24}, named)
    assert sequence([6.24, 6.66], named)
    assert "no item for MSS 1024" in sequence({"MSS 1460": 6.24}, named).message
    assert (
        sequence([6.24, 66.6], named).message == "item 'MSS 1024': ten times too large: count the powers of ten again."
    )


def test_a_function_is_called_and_explained():
    cases = [((4, 2), 2.0), ((0, 1), 0.0)]
    assert function(lambda a, b: a / b, cases)
    assert function(np.divide, cases, right="Good.").message == "Good."

    def upside_down(a, b):
        return b / a

    assert function(upside_down, [((4, 2), 2.0)]).message.startswith("upside_down(4, 2): ")
    assert (
        function(upside_down, [((0, 1), 0.0)]).message == "upside_down(0, 1) raises ZeroDivisionError: division by zero"
    )
    assert "return missing" in function(lambda a, b: None, cases).message
    assert "without calling it" in function(2.0, cases).message
    assert "raises TypeError" in function(lambda a: a, cases).message


def test_without_an_order_any_order_is_right():
    assert sequence([3, 1, 2], [1, 2, 3], ordered=False)
    assert sequence("c a b", ["b", "c", "a"], ordered=False)
    assert not sequence([3, 1, 1], [1, 2, 3], ordered=False)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([89, 5, 4], "the items are right, but the other way round."),
        ([89, 4, 5], "the items are right, their order is not."),  # one stands where it would in reverse
        ([5, 4, 89], "the items are right, their order is not."),
    ],
)
def test_only_all_the_other_way_round_is_called_so(answer, said):
    assert sequence(answer, [4, 5, 89]).message == said


@pytest.mark.parametrize(("answer", "close"), [(15, True), (5.5, True), (15.001, False), (11, None), (11.001, True)])
def test_close_is_up_to_five_times_the_tolerance(answer, close):
    verdict = number(answer, 10, tolerance=0, absolute=1)
    assert bool(verdict) is (close is None)
    assert ("close, but not close enough" in verdict.message) is bool(close)


@pytest.mark.parametrize("answer", [["UDP"], ("UDP",), {"UDP"}])
def test_a_word_in_a_list_of_one_is_the_word(answer):
    assert sequence([answer, "TCP"], ["UDP", "TCP"])
    assert not sequence([["UDP", "TCP"], "TCP"], ["UDP", "TCP"])


def test_what_was_given_is_quoted_as_it_was_and_at_most_forty_letters_of_it():
    assert function("x" * 41, [((1,), 1)]).message.endswith(f"this is '{'x' * 40}'.")
    assert function(6.5, [((1,), 1)]).message.endswith("this is 6.5.")
    assert function([1, 2], [((1,), 1)]).message.endswith("this is a list.")
    assert function(10**50, [((1,), 1)]).message.endswith(f"this is 1{'0' * 39}.")


def _share(a, b):
    return a / (a + b)


SHARES = [(1, 2), (3.5, 0.25), (0, 4)]
OVER = (lambda a, b: a / b, "that is the ratio of the two, not the share.")


@pytest.mark.parametrize(
    "same", [_share, lambda a, b: 1 - b / (a + b), lambda a, b: np.float32(a / (a + b)), lambda a, b: [a / (a + b)]]
)
def test_a_formula_of_another_form_is_right(same):
    assert formula(same, _share, SHARES, [OVER])


A, B = sympy.symbols("a b")


@pytest.mark.parametrize(
    "same",
    [A / (A + B), 1 - B / (A + B), (A**2 + A * B) / (A + B) ** 2],
)
def test_an_expression_of_another_form_is_right(same):
    assert formula(same, _share, SHARES, [OVER])


def test_symbols_with_assumptions_and_constants_are_expressions_too():
    n = sympy.Symbol("n", positive=True, integer=True)
    assert formula(sympy.sqrt(n**2), lambda n: n, [(1,), (7,)])
    assert formula(sympy.pi / 2, lambda n: np.pi / 2, [(1,), (7,)])
    assert formula(n, lambda n: n, [(1,), (7,)])  # a symbol alone can be called, and is no function


def test_an_expression_in_other_quantities_says_in_which_it_is_wanted():
    assert formula(A / (A + sympy.Symbol("c")), _share, SHARES).message == (
        "c is not a quantity of this question: write it in a, b."
    )


def test_a_wrong_expression_is_told_with_numbers():
    assert formula(A / B, _share, SHARES, [OVER]).message == OVER[1]
    wrong = formula(A / (A - B), _share, [(3, 3)])
    assert not wrong and "your_formula(3, 3)" in wrong.message


def test_a_usual_mistake_is_named_only_if_all_cases_agree():
    assert formula(OVER[0], _share, SHARES, [OVER]).message == OVER[1]
    sometimes = formula(lambda a, b: a / b if a == 1 else 0.7, _share, SHARES, [OVER])
    assert not sometimes and sometimes.message != OVER[1]


def test_a_function_that_fails_everywhere_has_no_usual_mistake():
    def fails(a, b):
        raise ValueError("no")

    verdict = formula(fails, _share, SHARES, [(fails, "never said")])
    assert not verdict and "raises ValueError" in verdict.message


def test_a_function_that_changes_its_argument_is_judged_by_what_it_returns():
    def spoils(values):
        values.sort()
        return values[len(values) // 2]

    cases = [([3, 1, 2],), ([5, 9, 7],)]
    assert formula(spoils, lambda values: sorted(values)[1], cases)
    assert cases == [([3, 1, 2],), ([5, 9, 7],)]


@pytest.mark.parametrize(
    ("times", "unit", "hint"),
    [
        (2.0, "s", "one way or both ways"),
        (2.0, "cm", "counted twice"),
        (2 * np.pi, "cm", "too large"),
        (2 * np.pi, "Hz", "radians"),
        (8.0, "bytes", "bits and bytes"),
        (8.0, "dB", "too large"),
        (100.0, "slots", "too large"),
        (1000.0, "", "kilo"),
    ],
)
def test_a_factor_is_a_hint_only_where_a_unit_allows_it(times, unit, hint):
    message = number(6.24 * times, 6.24, unit=unit).message
    assert hint in message
    if hint == "too large":
        assert message == f"{6.24 * times:.4g} {unit} is too large."


def test_an_option_may_be_written_out_behind_its_letter():
    assert choice("(b) the first loud window overshoots", "b", ("a", "b"))
    assert choice("b: the first loud window", "b", ("a", "b"))
    assert not choice("a) the other one", "b", ("a", "b"))
    assert "none of the options" in choice("(f) something else", "b", ("a", "b")).message
    assert "none of the options" in choice("because of that", "b", ("a", "b")).message


def test_a_lambda_of_sympy_is_a_function():
    x = sympy.Symbol("x")
    assert formula(sympy.Lambda(x, 2 * x), lambda x: 2 * x, [(1.0,), (3.0,)])
    assert not formula(sympy.Lambda(x, 3 * x), lambda x: 2 * x, [(1.0,), (3.0,)])


def test_the_case_that_failed_can_be_run_again():
    def wrong(x, k):
        x[0] = 99.0  # what a student's function does to its arguments is its own affair
        return 0.0

    cases = [(np.arange(9.0), 2), (np.arange(3.0), 1)]
    verdict = Stage(cases, lambda x, k: x[k], (), "right").check(wrong)
    assert not verdict and ".case" in verdict.message
    x, k = verdict.case
    assert k == 2 and np.array_equal(x, np.arange(9.0))
    nested = Nested([([1, 2],)], lambda given: {"sum": sum(given)}, (), "right").check(lambda given: {"sum": 4})
    assert nested.case == ([1, 2],) and ".case" in nested.message
    assert Stage(cases, lambda x, k: x[k], (), "right").check(lambda x, k: x[k]).case == ()
