"""Who is asked for a formula may hand over an expression of SymPy in the question's own letters, as the book says."""

from __future__ import annotations

import re

import nbformat
import pytest
import sympy
from asking import check

from voicewire_book import paths

NONE = {
    "foundations-mqtt-packets": "a list is given",
    "pharyngeal-ex-length": "a list is given",
    "transport-ex-nonce": "an inverse modulo p has no expression",
}
"""Questions whose function no expression can be, and why."""
SAID_ELSEWHERE = {
    "foundations-signals-share": "rho",
    "foundations-signals-pair": "F B rate",
    "foundations-filters-slowest": "s",
    "foundations-mqtt-largest": "t qos",
    "pharyngeal-ex-frames": "between within tokens frames",
}
"""The letters of questions that do not name them behind "a function of"."""


def named(question: str) -> list[str]:
    """The arguments that a question names, each once."""
    told = re.search(r"unction of ([^.?]*)", question)
    if not told:
        return []
    code, math = re.findall(r"`(\w+)`", told[1]), re.findall(r"\$\\?(\w+)\$", told[1])
    return list(dict.fromkeys(code or math))


def asked() -> list[tuple[str, list[str]]]:
    """(label, letters) of each question that wants a formula derived."""
    found = []
    for chapter in sorted((paths.root() / "notebooks").glob("*/[0-9]*.ipynb")):
        cells = nbformat.read(chapter, as_version=4).cells
        for cell in cells:
            label = re.search(r"\(derive, \w+\)\n:label: (\S+)", cell.source)
            if not label or label[1] in NONE:
                continue
            letters = SAID_ELSEWHERE.get(label[1], "").split() or named(cell.source)
            if letters:
                found.append((label[1], letters))
    return found


ASKED = asked()
RIGHT = {
    "echo-ex-gain": "(1 - (1 - mu * kappa)**N) / kappa",
    "foundations-mqtt-largest": "268435453 - t - 2 * Min(qos, 1)",
    "nfc-ex-wait": "Sum(2**(k - 1) * p**k, (k, 1, m)) + 2**m * p**(m + 1) / (1 - p)",
    "pharyngeal-ex-alarms": "1 - (1 - alpha)**(1 / n)",
    "pharyngeal-ex-frames": "sqrt(between**2 / tokens + within**2 / (tokens * frames))",
    "pharyngeal-ex-least": "d0 + error - slope**2 / (2 * bend)",
    "pharyngeal-ex-missing": "(n + 1) * 10**(-decimals)",
    "transport-ex-long": "(6 * m + 4) / (m + 2)",
    "transport-ex-loop": "64 * ceiling(n * size / 1448)",
    "voip-ex-chernov": "m + sigma * sqrt(-2 * log(eps))",
}
"""Right answers, in the letters of their questions."""


def test_the_lists_name_questions_that_there_are():
    text = "".join(path.read_text(encoding="utf-8") for path in (paths.root() / "notebooks").glob("*/[0-9]*.ipynb"))
    for label in (*NONE, *SAID_ELSEWHERE):
        assert f":label: {label}\\n" in text
    assert len(ASKED) > 30


@pytest.mark.parametrize("label", RIGHT)
def test_a_right_expression_passes(label):
    letters = {name: sympy.Symbol(name) for name in dict(ASKED)[label]}
    feedback = check(label, sympy.sympify(RIGHT[label], locals=letters))
    assert feedback.ok, feedback


@pytest.mark.parametrize(("label", "letters"), ASKED, ids=[label for label, _ in ASKED])
def test_an_expression_in_the_question_s_letters_is_read(label, letters):
    wrong = sum(map(sympy.Symbol, letters), sympy.Rational(22, 7))
    feedback = check(label, [wrong, wrong] if label == "foundations-signals-pair" else wrong)
    assert not feedback.ok
    for refused in ("submit the function", "is not a quantity", "raises", "fails with", "is asked, you gave"):
        assert refused not in feedback.message, feedback.message
