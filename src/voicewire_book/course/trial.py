"""A trial with a class: sheets of questions for before and after a part, their answers, a list for times, consent."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape

from voicewire._kit import sheets
from voicewire_book.kit.concepts import Item

__all__ = ["consent", "key", "log", "questions"]


def questions(items: Sequence[Item], place: str) -> str:
    """Return a sheet of questions as HTML, without answers."""
    body = [f"<p>{escape(place)} One option is right. Guess if you don't know; nobody is marked.</p><ol>"]
    for item in items:
        options = "".join(f"<li>{escape(option)}</li>" for option in item.options)
        body.append(f'<li>{escape(item.question)}<ol type="a">{options}</ol></li>')
    return "".join(body) + "</ol>"


def key(items: Sequence[Item]) -> str:
    """Return the right answers as HTML, with the reasons and the chapters."""
    rows = "".join(
        f"<tr><td>{number}</td><td>{escape(item.name)}</td><td>{item.letter}</td><td>{escape(item.why)}</td>"
        f"<td>{escape(item.chapter)}</td></tr>"
        for number, item in enumerate(items, 1)
    )
    heads = "".join(f"<th>{head}</th>" for head in ("question", "what is confused", "right", "why", "taught in"))
    return f"<table><tr>{heads}</tr>{rows}</table>"


def log(chapters: Sequence[str]) -> str:
    """Return an empty list, as CSV, in which a student notes how long a chapter took, and where it stopped them."""
    table = io.StringIO()
    write = sheets.Writer(table)
    write.writerow(["code", "chapter", "date", "from", "to", "read to the section", "on, skip or stop", "why"])
    write.writerows(["", chapter, *[""] * 6] for chapter in chapters)
    return table.getvalue()


def consent() -> str:
    """Return the page on which a student agrees to a trial, as HTML: to be completed by whoever runs it."""
    return (
        "<p>We try a textbook with a class. You answer ten questions before and after a part, and note how long each "
        "chapter took you and where you stopped. None of this counts for your marks.</p>"
        "<p>You write a code of your choice on each sheet, not your name. Nobody but you knows whose code it is. You "
        "may stop at any time without a reason, and ask for your sheets to be destroyed.</p>"
        "<p>What is published are sums over the class. The sheets are kept by ____________ until ____________ and then "
        "destroyed. If you have questions, ask ____________.</p>"
        "<p>I have read this and take part. &#9744; yes &#9744; no &nbsp; Date ____________ Code ____________</p>"
    )
