"""From a finding to a verdict: a notebook's ledger judges each claim once, by what was computed, and says why.

Whether a number, a trend or an order is within its tolerance is decided in `rules`; here a verdict gets its name.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from voicewire_book.ledger import rules, sampling
from voicewire_book.ledger.loading import Claim, read
from voicewire_book.ledger.presentation import Table, plain, sentence
from voicewire_book.ledger.rules import Finding
from voicewire_book.ledger.vocabulary import (
    CHANCE,
    CONTRADICTED,
    CORRECTED,
    HANGS,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
    ClaimError,
    Judged,
    Plain,
    Reading,
    Rival,
    Row,
    Tolerance,
)

__all__ = ["Ledger", "Verdict", "agreed", "indistinct", "load", "possible", "read_as"]

OFTEN, MANY_RUNS = 0.2, 20
"""A share of a rival's runs, and how many there are at least, that leave no hope for a test which is undecided."""


@dataclass(frozen=True)
class Verdict:
    """What a claim came to: the claim, the finding, the verdict's name and why."""

    claim: Claim
    verdict: str
    reproduced: Plain
    reason: str
    interval: tuple[float, float] | None = None
    rival: Rival | None = None
    readings: tuple[Judged, ...] = ()

    def row(self) -> Row:
        """Return the verdict as plain data, one row of the scorecard."""
        claim = self.claim
        interval = [float(f"{end:.6g}") for end in self.interval] if self.interval else None
        row: Row = {
            "id": claim.id,
            "study": claim.study,
            "where": claim.where,
            "statement": claim.statement,
            "kind": claim.kind,
            "printed": claim.printed,
            "unit": claim.unit,
            "reproduced": plain(self.reproduced),
            "interval": interval,
            "tolerance": dict(claim.tolerance) if claim.tolerance else None,
            "tolerance_reason": claim.tolerance_reason,
            "verdict": self.verdict,
            "reason": self.reason,
            "digest": claim.digest,
        }
        if claim.whose != "paper":
            row["whose"] = claim.whose
        if claim.places:
            row["basis"], row["places"] = claim.basis, list(claim.places)
        if self.rival:
            row["rival"] = self.rival
        if self.readings:
            row["readings"] = list(self.readings)
        if claim.runs:
            row["runs"] = claim.runs
        return row

    def __repr__(self) -> str:
        return sentence(self.row())


@dataclass
class Ledger:
    """The claims of one study, and the verdicts that this notebook has given on them."""

    study: str
    claims: dict[str, Claim]
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    by_reader: bool = False
    _anchored: set[str] = field(default_factory=set, init=False, repr=False)

    def __getitem__(self, identifier: str) -> Claim:
        try:
            return self.claims[identifier]
        except KeyError:
            raise ClaimError(f"no claim {identifier!r} in data/{self.study}/claims.yml") from None

    def judge(
        self,
        identifier: str,
        value: object,
        corrected: object = None,
        reason: str = "",
        rival: Sequence[object] = (),
    ) -> Verdict:
        """Judge one claim by what was computed."""
        claim = self[identifier]
        if identifier in self.verdicts and not self.by_reader:
            raise ClaimError(f"{identifier} was judged already: each claim is judged once")
        if claim.needs:
            raise ClaimError(f"{identifier} says what it needs to be testable: remove `needs` to judge it")
        if claim.state:
            raise ClaimError(f"{identifier} is registered: remove `state` to judge it")
        try:
            for result in (value, *(() if corrected is None else (corrected,)), *rival):
                if not self.by_reader:
                    sampling.check(claim, result)
            name, finding, readings = _decide(claim, value, corrected)
            against = _rival(claim, rival)
        except ClaimError as error:
            raise ClaimError(f"{identifier}: {error}") from None
        words = [finding.detail]
        if name == UNDECIDED and not self.by_reader:
            words[0] += f" after {sampling.stated(claim)}"
        if against and indistinct(claim, name, against):
            words.append(f"A rival passes the same test in {100 * against['passes']:.3g} % of its runs")
            name = NOT_TESTABLE
        if name != REPRODUCED and not reason and not self.by_reader:
            raise ClaimError(f"{identifier} is {name!r} ({finding.detail}): give the most likely reason")
        if name == CORRECTED and claim.correction:
            words.append(f"misprint: {claim.correction['misprint']}")
        if reason:
            words.append(reason)
        said = ". ".join(word.rstrip(".") for word in words) + "."
        verdict = Verdict(claim, name, finding.reproduced, said, finding.interval, against, readings)
        self.verdicts[identifier] = verdict
        return verdict

    def table(self, prefix: str = "") -> Table:
        """Return the verdicts given so far, as a table that carries them as data in the cell's output.

        Claims that say what they would need to be testable are listed with the rest.
        """
        start = prefix if prefix.startswith(f"{self.study}.") else f"{self.study}.{prefix}"
        rows = []
        for claim in self.claims.values():
            if not claim.id.startswith(start):
                continue
            if claim.needs:
                rows.append(Verdict(claim, NOT_TESTABLE, None, f"Needed: {claim.needs.rstrip('.')}.").row())
            elif claim.id in self.verdicts:
                rows.append(self.verdicts[claim.id].row())
        if not rows:
            raise ClaimError(f"nothing to show: no claim that begins with {start!r} has been judged")
        # The scorecard links to a claim's first row; a page may not hold the same id twice.
        first = frozenset(row["id"] for row in rows) - self._anchored
        self._anchored |= first
        return Table(tuple(rows), first)


def _find(claim: Claim, printed: Plain, tolerance: Tolerance | None, value: object) -> Finding:
    if claim.kind in ("value", "arithmetic"):
        said = dict.fromkeys(claim.labels) if claim.labels else printed
        return rules.value(said, value, tolerance or {}, claim.unit)
    if claim.kind == "ordering":
        return rules.ordering(printed, value, claim.margin, claim.unit, claim.paired)
    if claim.kind == "trend":
        return rules.trend(printed, value, tolerance, claim.unit, claim.paired)
    return rules.identity(value, tolerance)


def _name(claim: Claim, value: object, corrected: object) -> tuple[str, Finding, set[str]]:
    """Name the verdict; return the finding that it rests on, and the verdicts that it may come to where undecided."""
    finding = _find(claim, claim.printed, claim.tolerance, value)
    ends = finding.may_be or {finding.holds}
    names = {_called(claim, holds) for holds in ends}
    if claim.correction is not None and finding.holds != "yes":
        printed = claim.correction.get("printed", claim.printed)
        tolerance = claim.correction.get("tolerance", claim.tolerance)
        mended = _find(claim, printed, tolerance, value if corrected is None else corrected)
        if mended.holds == "yes":
            return CORRECTED, mended, {CORRECTED}
        if mended.holds == "undecided":
            return UNDECIDED, mended, {CORRECTED, *names}
    return UNDECIDED if len(names) > 1 else min(names), finding, names


def _called(claim: Claim, holds: str) -> str:
    """Return what a claim is called of which so much holds."""
    if holds == "yes":
        return REPRODUCED
    if claim.kind == "arithmetic":
        return CONTRADICTED
    return PARTLY if holds == "partly" else NOT_REPRODUCED


def _decide(claim: Claim, value: object, corrected: object) -> tuple[str, Finding, tuple[Judged, ...]]:
    """Name the verdict, under each reading where the claim has several."""
    if not claim.readings:
        name, finding, _ = _name(claim, value, corrected)
        return name, finding, ()
    names = [reading["name"] for reading in claim.readings]
    if not isinstance(value, Mapping) or set(value) != set(names):
        raise ClaimError(f"values are needed for exactly these readings: {', '.join(names)}")
    rows = tuple(_under(claim, reading, value[reading["name"]], corrected) for reading in claim.readings)
    verdict = agreed([possible(row) for row in rows if not row["excluded"]])
    detail = "; ".join(f"{row['name']}: {row['verdict']}, {row['detail']}" for row in rows)
    return verdict, Finding("no", {row["name"]: row["reproduced"] for row in rows}, detail), rows


def _under(claim: Claim, reading: Reading, value: object, corrected: object) -> Judged:
    """Judge the claim under one reading."""
    name, finding, ends = _name(read_as(claim, reading), value, corrected)
    row = Judged(
        name=reading["name"],
        source=reading["source"],
        excluded=reading.get("excluded", ""),
        verdict=name,
        reproduced=plain(finding.reproduced),
        detail=finding.detail,
    )
    if name == UNDECIDED:
        row["may_be"] = sorted(ends)
    return row


def possible(row: Judged) -> set[str]:
    """Return the verdicts that a reading may come to: one, unless it is undecided."""
    return set(row.get("may_be", [row["verdict"]]))


def read_as(claim: Claim, reading: Reading) -> Claim:
    """Return the claim as this reading has it."""
    return replace(claim, tolerance=reading.get("tolerance", claim.tolerance))


def agreed(ways: Sequence[Set[str]]) -> str:
    """Return the verdict on a claim whose surviving readings may come to these.

    What is undecided under one reading matters only if deciding it would change the whole: two readings that disagree
    do so whatever a third turns out to be.
    """
    wholes = {_joint(set(turned)) for turned in itertools.product(*set(map(frozenset, ways)))}
    return UNDECIDED if len(wholes) > 1 else wholes.pop()


def _joint(verdicts: set[str]) -> str:
    """Return what verdicts under several readings, all decided, come to."""
    if len(verdicts) == 1:
        return min(verdicts)
    if verdicts & {REPRODUCED, CORRECTED}:
        return HANGS
    return PARTLY if PARTLY in verdicts else NOT_REPRODUCED


def _rival(claim: Claim, runs: Sequence[object]) -> Rival | None:
    """Return the claim's rival with the share of its runs that pass the test, under the reading that is kindest."""
    known = claim.rival
    if not len(runs):
        return known
    if known is None or "mechanism" not in known:
        raise ClaimError("the ledger names no rival mechanism: name it before it is run")
    if "passes" in known:
        raise ClaimError("the ledger has the rival's pass rate already: take it out, or run nothing here")
    ways = [read_as(claim, reading) for reading in claim.readings if "excluded" not in reading] or [claim]
    passed = [[_find(way, way.printed, way.tolerance, run).holds == "yes" for run in runs] for way in ways]
    return Rival(mechanism=known["mechanism"], passes=max(map(sum, passed)) / len(runs), runs=len(runs))


def indistinct(claim: Claim, verdict: str, rival: Rival) -> bool:
    """Whether a rival passes so often that the test can't tell the claim from it.

    A reading that holds by a test which the rival passes too does not hold, so nothing hangs on it either. A cause or
    conclusion that is undecided waits for no more runs if a fifth of at least twenty of the rival's pass. A number that
    was printed and came out stands, whatever else gives it.
    """
    passes = rival.get("passes", 0)
    if verdict == UNDECIDED:
        return claim.class_ in ("cause", "conclusion") and passes >= OFTEN and rival["runs"] >= MANY_RUNS
    printed_number = claim.class_ == "result" and claim.kind == "value" and claim.printed is not None
    return verdict in (REPRODUCED, CORRECTED, HANGS) and passes > CHANCE and not printed_number


def load(study: str, base: Path | None = None) -> Ledger:
    """Read and validate a study's ledger."""
    return Ledger(study, read(study, base))
