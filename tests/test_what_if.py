"""What a reader may try on a claim decides as the package does, and says whose result it is."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.stats import Interval
from voicewire_book import paths
from voicewire_book.kit import claims
from voicewire_book.ledger import loading, rules
from voicewire_book.publish.pages import cards, what_if

SCRIPT = paths.root() / "book" / "_static" / "whatif.js"
NODE = shutil.which("node") or shutil.which("nodejs")
ASKED = """
const fs = require("fs");
globalThis.window = {};
eval(fs.readFileSync(process.argv[1], "utf-8"));
const cases = JSON.parse(fs.readFileSync(0, "utf-8"));
console.log(JSON.stringify(cases.map(([kind, size, pair]) => window.vwWhatIf.holds(kind, size, pair))));
"""
KINDS = ("relative", "absolute", "at_least", "at_most", "between")
LEDGER = {claim.id: claim for study in claims.studies() for claim in loading.read(study).values()}
DECIDES = {
    "reproduced": {"yes"}, "reproduced, corrected": {"yes"}, "not reproduced": {"no"}, "undecided": {"undecided"},
    "partly": {"yes", "no"},
}  # fmt: skip

Case = tuple[str, list[float], list[float | None]]


def package(case: Case) -> str:
    kind, size, (printed, value, *ends) = case
    tolerance: Any = {kind: size if kind == "between" else size[0]}
    found = Interval(value, *ends, 0.95, 2) if ends else value
    return rules.value(printed, found, tolerance).holds


def script(cases: list[Case]) -> list[str]:
    done = subprocess.run(
        [str(NODE), "-e", ASKED, str(SCRIPT)], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    return list(json.loads(done.stdout))


@st.composite
def case(draw: st.DrawFn) -> Case:
    """Return a tolerance with a printed number and one of ours, which often lies at the very edge of its band."""
    kind = draw(st.sampled_from(KINDS))
    some = st.floats(-1e6, 1e6) | st.integers(-2000, 2000).map(lambda n: n / 100)
    size = [draw(some)]
    if kind in ("relative", "absolute"):
        size = [abs(size[0])]
    if kind == "between":
        size = sorted([*size, draw(some)])
    printed = draw(some) if kind in ("relative", "absolute") else None
    low, high = rules.band(printed, {kind: size if kind == "between" else size[0]})
    edges = [edge for edge in (low, high) if math.isfinite(edge)]
    near = [edge * (1 + nudge) for edge in edges for nudge in (0, 1e-15, -1e-15, 1e-11, -1e-11)]
    value = draw(st.sampled_from(near) | some)
    ends = sorted([value, draw(st.sampled_from(near) | some)])
    pair = [printed, value, *ends] if draw(st.booleans()) else [printed, value]
    return kind, size, pair


@pytest.mark.needs("node")
@settings(max_examples=50, deadline=None)
@given(st.lists(case(), min_size=1, max_size=60))
def test_the_page_decides_as_the_package(cases: list[Case]) -> None:
    assert script(cases) == [package(one) for one in cases]


@pytest.mark.needs("node")
def test_every_claim_untouched_is_what_the_ledger_says() -> None:
    """Each reading has its own tolerance, a correction its own print, an interval both its ends."""
    cases: list[Case] = []
    where: list[tuple[str, str, int]] = []
    tried: Counter[str] = Counter()
    for row in claims.scorecard():
        trial = what_if.numbers(row, LEDGER[row["id"]])
        for name, kind, size, pairs, verdict in trial["readings"] if trial else ():
            wanted = DECIDES.get(verdict)
            if not pairs or wanted is None:
                continue
            tried[verdict] += 1
            where.append((f"{row['id']}, {name}", verdict, len(pairs)))
            cases += [(kind, size if isinstance(size, list) else [size], pair) for pair in pairs]
    decided = iter(script(cases))
    for name, verdict, count in where:
        assert {next(decided) for _ in range(count)} == DECIDES[verdict], name
    assert min(tried[verdict] for verdict in DECIDES) > 5, tried


def row(**other: Any) -> dict[str, Any]:
    """Return a verdict as a notebook's output holds it."""
    return {
        "id": "nfc.x", "study": "nfc", "where": "Table 1", "statement": "A < B, it says.", "kind": "value",
        "printed": 2.0, "unit": "s", "reproduced": 2.1, "interval": None, "tolerance": {"relative": 0.1},
        "tolerance_reason": "Two digits.", "verdict": "reproduced", "reason": "2.1 s against 2 s.", **other,
    }  # fmt: skip


def test_what_was_judged_by_intervals_is_tried_by_them_or_not_at_all() -> None:
    single = row(interval=[1.9, 2.3], reason="2.1 s [1.9, 2.3] against 2 s.", verdict="undecided")
    found = what_if.numbers(single)
    assert found is not None and found["readings"][0][3] == [[2.0, 2.1, 1.9, 2.3]]
    arm = {"name": "one", "reproduced": 2.1, "excluded": "", "verdict": "undecided", "source": ""}
    arms = [arm | {"detail": "2.1 s of it [−1.9, 2.3] against 2 s"}, arm | {"name": "two", "detail": "2.1 s"}]
    found = what_if.numbers(row(readings=arms))
    assert found is not None
    assert [reading[3] for reading in found["readings"]] == [[[2.0, 2.1, -1.9, 2.3]], []]
    several = row(printed={"a": 1, "b": 2}, reproduced={"a": 1, "b": 2}, reason="a: 1 [0, 2] against 1; b: 2 [1, 3].")
    assert what_if.numbers(several) is None


def test_a_card_can_be_run_again_and_has_numbers_to_try_where_there_are_some() -> None:
    words = row(tolerance=None, reproduced="words")
    assert "<summary>What if</summary>" in cards.card(row(), "judged-1")
    assert "<summary>What if</summary>" in cards.card(words, "judged-1")
    assert "data-numbers=" in cards.card(row(), "judged-1")
    assert "data-numbers=" not in cards.card(words, "judged-1")
    own = next(one for one in LEDGER.values() if any(reading.get("tolerance") for reading in one.readings))
    arms = [
        {"name": one["name"], "reproduced": 1.0, "excluded": "", "verdict": "partly", "detail": "1", "source": ""}
        for one in own.readings
    ]
    found = what_if.numbers(row(id=own.id, kind="value", printed=None, tolerance={"at_least": 4}, readings=arms), own)
    assert found is not None
    sizes = [{reading[1]: reading[2]} for reading in found["readings"]]
    assert sizes == [dict(one.get("tolerance") or {"at_least": 4}) for one in own.readings]
