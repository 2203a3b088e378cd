"""Who is asked for a formula may hand over an expression of SymPy in the question's own letters, as the book says."""

from __future__ import annotations

import importlib
import pkgutil
import re

import nbformat
import pytest
import sympy

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


def asked() -> list[tuple[str, str, list[str]]]:
    """(label, part and name of the check, letters) of each question that wants a formula derived."""
    found = []
    for chapter in sorted((paths.root() / "notebooks").glob("*/[0-9]*.ipynb")):
        cells = nbformat.read(chapter, as_version=4).cells
        for at, cell in enumerate(cells):
            label = re.search(r"\(derive, \w+\)\n:label: (\S+)", cell.source)
            check = next((m for c in cells[at : at + 5] if (m := re.search(r"(check_\w+)\(", c.source))), None)
            if not label or not check:
                continue
            letters = SAID_ELSEWHERE.get(label[1], "").split() or named(cell.source)
            if letters and label[1] not in NONE:
                found.append((label[1], f"{chapter.parent.name}.{check[1]}", letters))
    return found


ASKED = asked()
RIGHT = {
    "echo.check_gain": "(1 - (1 - mu * kappa)**N) / kappa",
    "foundations.check_largest": "268435453 - t - 2 * Min(qos, 1)",
    "nfc.check_wait": "Sum(2**(k - 1) * p**k, (k, 1, m)) + 2**m * p**(m + 1) / (1 - p)",
    "pharyngeal.check_false_alarms": "1 - (1 - alpha)**(1 / n)",
    "pharyngeal.check_frames": "sqrt(between**2 / tokens + within**2 / (tokens * frames))",
    "pharyngeal.check_least": "d0 + error - slope**2 / (2 * bend)",
    "pharyngeal.check_missing_token": "(n + 1) * 10**(-decimals)",
    "transport.check_long_run": "(6 * m + 4) / (m + 2)",
    "transport.check_merged": "64 * ceiling(n * size / 1448)",
    "voip.check_chernov": "m + sigma * sqrt(-2 * log(eps))",
}
"""Right answers, in the letters of their questions."""


def check_of(place: str) -> object:
    """The check itself, from the part's modules of exercises."""
    part, name = place.split(".")
    package = importlib.import_module(f"voicewire_book.chapters.{part}")
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if "exercises" in module.name:
            found = getattr(importlib.import_module(module.name), name, None)
            if found is not None:
                return found
    raise LookupError(place)


def test_the_lists_name_questions_that_there_are():
    text = "".join(path.read_text(encoding="utf-8") for path in (paths.root() / "notebooks").glob("*/[0-9]*.ipynb"))
    for label in (*NONE, *SAID_ELSEWHERE):
        assert f":label: {label}\\n" in text
    assert len(ASKED) > 30


@pytest.mark.parametrize("place", RIGHT)
def test_a_right_expression_passes(place):
    letters = {name: sympy.Symbol(name) for _, where, names in ASKED for name in names if where == place}
    feedback = check_of(place)(sympy.sympify(RIGHT[place], locals=letters))
    assert feedback.ok, feedback


@pytest.mark.parametrize(("label", "place", "letters"), ASKED, ids=[label for label, _, _ in ASKED])
def test_an_expression_in_the_question_s_letters_is_read(label, place, letters):
    wrong = sum(map(sympy.Symbol, letters), sympy.Rational(22, 7))
    feedback = check_of(place)([wrong, wrong] if label == "foundations-signals-pair" else wrong)
    assert not feedback.ok
    for refused in ("hand over the function", "is not a quantity", "raises", "fails with", "is asked, you gave"):
        assert refused not in feedback.message, feedback.message
