"""What a lab whose stages are `Nested` records must keep: its page, its solution, whatever is handed over.

A lab's cells have ids that begin with ``lab-``.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from functools import cached_property

import asking
import nbformat

from voicewire_book import paths
from voicewire_book.kit.records import Made, Nested

IMPORTS = """from __future__ import annotations
import math
from dataclasses import dataclass, field
import numpy as np
"""


@dataclass
class Lab:
    """The lab of a chapter."""

    chapter: str

    @cached_property
    def rows(self):
        return nbformat.read(paths.root() / "notebooks" / f"{self.chapter}.ipynb", as_version=4).cells

    def place(self, identity):
        return next(i for i, cell in enumerate(self.rows) if cell.id == identity)

    @cached_property
    def stages(self):
        """(name of the answer, label of the stage) as the page has them, in order."""
        found = []
        for i, cell in enumerate(self.rows):
            if re.fullmatch(r"lab-stage-\d+", cell.id):
                empty = re.fullmatch(r"(\w+) = None  # your function of .+", self.rows[i + 1].source)
                check = re.fullmatch(r'check\("(.+)", (\w+)\)', self.rows[i + 2].source)
                assert cell.source.startswith(f"**Stage {len(found) + 1}.** `{empty[1]}(")
                assert empty[1] == check[2] and self.rows[i + 2].metadata["tags"] == ["check"]
                found.append((empty[1], check[1]))
        return found

    @cached_property
    def solved(self):
        """What is defined once the reading version on the page and the folded solution have run."""
        known: dict[str, object] = {}
        for cell in self.rows[: self.place("lab-checked")]:
            if cell.id.startswith(("lab-given", "lab-solution-")) or "weave" in cell.metadata.get("voicewire", {}):
                exec(compile(f"{IMPORTS}{cell.source}", cell.id, "exec"), known)
        return known

    @property
    def printed(self):
        return "".join(output.get("text", "") for output in self.rows[self.place("lab-checked")].outputs).splitlines()


def stage(label):
    """The record of a stage."""
    record = asking.record(label)
    record = record.make() if isinstance(record, Made) else record
    assert isinstance(record, Nested)
    return record


class Agrees:
    """Says that it equals everything."""

    def __eq__(self, other):
        return True

    __hash__ = object.__hash__


class Refuses:
    """Fails at whatever is tried with it."""

    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __len__ = __iter__ = __eq__ = __bool__ = __float__ = __bytes__ = __index__ = __str__
    __hash__ = None


ENDLESS = [1]
ENDLESS.append(ENDLESS)
JUNK = [
    0, 2**70, 10**400, 3.5, float("nan"), True, b"\xff", "text", [], [None], (1, 2), {}, {"a": {}}, {1, 2}, object(),
    Agrees(), [Agrees()], Refuses(), [Refuses()], 1j, ENDLESS, lambda: 1,
]  # fmt: skip


def page(lab):
    """Four to eight stages in order, each with an empty cell and its check."""
    assert 4 <= len({label for _, label in lab.stages}) <= 8
    assert lab.rows[lab.place("lab-ask")].source.startswith("```{exercise} The lab's stages\n")


def solution(lab):
    """The solution on the page passes stage by stage, as printed; without one the first stage and all others fail."""
    for (name, label), said in zip(lab.stages, lab.printed, strict=True):
        feedback = asking.check(label, lab.solved[f"solved_{name}"])
        assert feedback.ok, f"{name}: {feedback.message}"
        assert f"Right: {feedback.message}" == said
        empty = asking.check(label, None)
        assert not empty.ok and "not answered yet" in empty.message


def anything(label):
    """Whatever is handed over gets a sentence; who changes what he is given changes no case."""
    judge, record = asking.of(label), stage(label)
    for junk in JUNK:
        for answer in (junk, lambda *given, junk=junk: junk):
            feedback = judge(answer)
            assert not feedback.ok and feedback.message, junk
    assert "raises ZeroDivisionError" in judge(lambda *given: 1 / 0).message

    def careless(*given):
        result = copy.deepcopy(record.wanted(*given))
        for one in given:
            if isinstance(one, list | dict | set):
                one.clear()
        return result

    assert judge(careless).message == record.right
