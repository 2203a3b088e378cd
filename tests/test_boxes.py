"""The algorithms in boxes compute what the reference versions compute: their lines are executed as they stand there."""

from __future__ import annotations

import copy
import re

import boxes
import numpy as np
import pytest

from voicewire_book.publish.pages.gather import BOX

pytestmark = pytest.mark.landing

BODIES, CASES = boxes.bodies(), boxes.cases()


def test_each_box_has_a_case_and_each_case_a_box():
    assert sorted(BODIES) == sorted(CASES)


def test_each_box_says_what_it_keeps_what_it_costs_and_where_it_fails():
    for name, body in BODIES.items():
        assert re.findall(r"\*\*(Keeps|Costs|Fails)\b", body) == ["Keeps", "Costs", "Fails"], name


@pytest.mark.parametrize("name", sorted(set(BODIES) & set(CASES)))
def test_a_box_computes_what_the_reference_computes(name):
    for seed in range(20):
        names = CASES[name].given(np.random.default_rng(seed))
        expected = CASES[name].expected(copy.deepcopy(names))
        found = boxes.after(boxes.lines(BODIES[name]), names)
        assert expected
        for each, value in expected.items():
            np.testing.assert_allclose(found[each], value, rtol=1e-9, atol=1e-12, err_msg=f"{name}: {each}")


def test_the_lines_of_a_box_are_those_that_are_set_in():
    steps = "    if a > 1:\n        a = 1\n\n    b = a\n"
    text = f"```{{admonition}} Algorithm: a\n:class: box\n:name: box-a\n\n**Keeps** $a$.\n\n{steps}\nend\n```\n"
    [(_, title, name, body)] = BOX.findall(text)
    assert (title, name, boxes.lines(body)) == ("a", "box-a", "if a > 1:\n    a = 1\n\nb = a\n")
    assert boxes.after(boxes.lines(body), {"a": 3})["b"] == 1
