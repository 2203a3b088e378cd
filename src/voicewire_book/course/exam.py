"""An exam paper for each part, its marking scheme and an answer booklet, with numbers from the instructor's secret."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence

from voicewire_book import paths
from voicewire_book.course.markup import Markup
from voicewire_book.course.secret import generator
from voicewire_book.kit.questions import Question

__all__ = ["booklet", "paper", "questions", "scheme"]


def questions(part: str, secret: str) -> list[Question]:
    """Return the questions of a part's paper."""
    name = f"voicewire_book.chapters.{part}.exam"
    if importlib.util.find_spec(f"voicewire_book.chapters.{part}") is None or importlib.util.find_spec(name) is None:
        return []
    made: list[Question] = importlib.import_module(name).questions(generator(secret, f"exam {part}"))
    return made


def _head(part: str, asked: Sequence[Question]) -> str:
    points, minutes = sum(q.points for q in asked), sum(q.minutes for q in asked)
    return f"<p>{paths.part(part).title}. {len(asked)} questions, {points} points, {minutes} minutes.</p>"


def paper(part: str, asked: Sequence[Question], markup: Markup) -> str:
    """Return what is handed out, as HTML."""
    rules = "<p>Write into the answer booklet. Show how you find each number: the way earns points too.</p>"
    return _head(part, asked) + rules + "".join(
        f'<section class="question"><h2>{number}. {markup.html(q.title, inline=True)} '
        f'<span class="points">{q.points} points</span></h2>{markup.html(q.text)}</section>'
        for number, q in enumerate(asked, start=1)
    )  # fmt: skip


def scheme(part: str, asked: Sequence[Question], markup: Markup) -> str:
    """Return the marking scheme, as HTML."""
    made = [_head(part, asked)]
    made.append("<p>A step earns its points with a wrong number from the step before it too: an error counts once.</p>")
    for number, q in enumerate(asked, start=1):
        rows = "".join(f"<tr><td>{markup.html(s.words, inline=True)}</td><td>{s.points}</td></tr>" for s in q.steps)
        made.append(
            f'<h2>{number}. {markup.html(q.title, inline=True)} <span class="points">{q.points} points</span></h2>'
            f"{markup.html(q.text)}<table><tr><th>what has to stand there</th><th>points</th></tr>{rows}</table>"
        )
    return "".join(made)


def booklet(part: str, asked: Sequence[Question], markup: Markup) -> str:
    """Return an empty booklet to write in, as HTML."""
    rows = "".join(f"<tr><td>{n}</td><td></td><td>of {q.points}</td></tr>" for n, q in enumerate(asked, start=1))
    total = sum(q.points for q in asked)
    marks = f"<tr><th>question</th><th>points</th><th></th></tr>{rows}<tr><th>all</th><td></td><td>of {total}</td></tr>"
    made = [f'<p>{paths.part(part).title}</p><table class="name"><tr><td>Name</td><td></td></tr>'
            f"<tr><td>Number</td><td></td></tr></table><table>{marks}</table>"]  # fmt: skip
    made += [
        f'<section class="question"><h2>{n}. {markup.html(q.title, inline=True)}</h2>'
        f'<div class="answer" style="height: {q.lines * 8}mm"></div></section>'
        for n, q in enumerate(asked, start=1)
    ]
    return "".join(made)
