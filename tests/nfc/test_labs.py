"""The labs stage by stage: the chapter's own solution passes, an empty one does not, usual mistakes are named."""

import math

import nbformat
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire import paths
from voicewire.nfc import channel_lab, control_lab, session_lab
from voicewire.nfc._lab import staged
from voicewire.nfc.session import Session

LABS = {"01_slow_link": session_lab, "02_errors_and_timers": channel_lab, "03_reproduction": control_lab}


def stages(chapter):
    """(name of the stage, its check), as the chapter asks for them."""
    cells = nbformat.read(paths.root() / "notebooks" / "nfc" / f"{chapter}.ipynb", as_version=4).cells
    asked = [cell.source for cell in cells if cell.id.startswith("lab-check-")]
    names = [source.partition("(")[2].rstrip(")") for source in asked]
    assert [cell.source.split(" = ")[0] for cell in cells if cell.id.startswith("lab-answer-")] == names
    return [(name, getattr(LABS[chapter], source.partition("(")[0])) for name, source in zip(names, asked, strict=True)]


def solutions(chapter):
    """The functions in the chapter's folded solution, run in their order and nothing before them but `math`."""
    cells = nbformat.read(paths.root() / "notebooks" / "nfc" / f"{chapter}.ipynb", as_version=4).cells
    made: dict[str, object] = {"math": math}
    for cell in cells:
        if cell.id.startswith("lab-solution-"):
            exec(compile(cell.source, cell.id, "exec"), made)
    return made


def heard(check, monkeypatch):
    """What a check hands to its judge: cases, what is right, usual mistakes."""
    taken = []
    with monkeypatch.context() as patch:
        for module in LABS.values():
            patch.setattr(module, "staged", lambda answer, *given: taken.append(given) or staged(answer, *given))
        check(lambda *given: None)
    return taken[0]


EACH = [(chapter, *stage) for chapter in LABS for stage in stages(chapter)]
NAMES = [f"{chapter}-{name}" for chapter, name, _ in EACH]


@pytest.mark.parametrize("chapter", LABS)
def test_a_lab_has_four_to_eight_stages_and_every_check_is_asked(chapter):
    asked = [check.__name__ for _, check in stages(chapter)]
    assert 4 <= len(asked) <= 8
    assert sorted(asked) == sorted(LABS[chapter].__all__)


@pytest.mark.parametrize(("chapter", "name", "check"), EACH, ids=NAMES)
def test_the_chapter_s_solution_passes_stage_by_stage(chapter, name, check):
    feedback = check(solutions(chapter)[f"solved_{name}"])
    assert feedback.ok, feedback


@pytest.mark.parametrize(("chapter", "name", "check"), EACH, ids=NAMES)
def test_without_an_answer_no_stage_passes(chapter, name, check):
    feedback = check(None)
    assert not feedback.ok and "not answered yet" in feedback.message


@pytest.mark.parametrize(("chapter", "name", "check"), EACH, ids=NAMES)
def test_each_usual_mistake_gets_its_own_hint(chapter, name, check, monkeypatch):
    _, right, mistakes, said = heard(check, monkeypatch)
    assert check(right).message == said
    assert len(mistakes) >= 3
    for mistake, hint in mistakes:
        feedback = check(mistake)
        assert not feedback.ok
        assert feedback.message == hint


@pytest.mark.parametrize(("chapter", "name", "check"), EACH, ids=NAMES)
def test_another_form_of_the_right_result_is_not_refused(chapter, name, check, monkeypatch):
    """An array instead of a list, and a NumPy number instead of Python's."""
    _, right, _, _ = heard(check, monkeypatch)
    assert check(lambda *given: np.asarray(right(*given), float))


@pytest.mark.parametrize(("chapter", "name", "check"), EACH, ids=NAMES)
def test_whatever_is_handed_over_a_check_answers(chapter, name, check):
    def raises(*given):
        return 1 / 0

    for answer in (3, "a word", [1], object(), raises, lambda: 1, lambda *given: "x", lambda *given: object()):
        feedback = check(answer)
        assert not feedback.ok and feedback.message
    assert "raises ZeroDivisionError" in check(raises).message
    assert "is a return missing" in check(lambda *given: None).message


@pytest.mark.parametrize(("chapter", "name", "check"), EACH, ids=NAMES)
def test_an_answer_that_changes_its_arguments_changes_no_case(chapter, name, check, monkeypatch):
    _, right, _, said = heard(check, monkeypatch)

    def careless(*given):
        result = right(*given)
        for one in given:
            if isinstance(one, list):
                one.clear()
        return result

    assert check(careless).message == said


@settings(max_examples=60, deadline=None)
@given(
    size=st.integers(1, 8000), mss=st.integers(100, 1460), window=st.integers(1, 6000), limit=st.integers(6000, 12_000),
    delay=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
)  # fmt: skip
def test_the_lab_s_session_is_the_package_s(size, mss, window, limit, delay):
    """Far beyond the check's own forty."""
    session = Session(size, mss, window, limit, ethernet_delay=delay, rto=600.0)
    assert SESSION(size, mss, window, limit, session.far) == session.run().slots


SESSION = solutions("01_slow_link")["solved_session"]
