"""The ledger: what a paper reports beside what was reproduced, and one verdict for each claim.

A study's claims are written once, in ``data/<study>/claims.yml``. Its notebooks compute, call `Ledger.judge`, and
end a cell with `Ledger.table()`; that table carries the verdicts as data in the cell's own output, from which
`scorecard` reads them. A verdict is computed, never typed in; nothing is kept twice. The scorecard page of the book
shows the result.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from voicewire import paths, verdicts
from voicewire.verdicts import ClaimError, Finding, show_html

__all__ = [
    "MIME",
    "VERDICTS",
    "Claim",
    "ClaimError",
    "Ledger",
    "Table",
    "Verdict",
    "load",
    "problems",
    "scorecard",
]

MIME = "application/vnd.voicewire.claims+json"
"""The type under which a table's verdicts stand in a notebook's output."""

REPRODUCED = "reproduced"
CORRECTED = "reproduced, corrected"
PARTLY = "partly"
NOT_REPRODUCED = "not reproduced"
CONTRADICTED = "contradicted by the paper itself"
NOT_TESTABLE = "not testable here"

VERDICTS = {
    REPRODUCED: "✓",
    CORRECTED: "✎",
    PARTLY: "◐",
    NOT_REPRODUCED: "✗",
    CONTRADICTED: "⊘",
    NOT_TESTABLE: "–",
}
"""The verdicts, best first, each with the sign that stands for it where colour can't be relied on."""


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, as `claims.yml` has it."""

    id: str
    study: str
    where: str
    statement: str
    kind: str
    printed: Any = None
    unit: str = ""
    tolerance: Mapping[str, Any] | None = None
    tolerance_reason: str = ""
    margin: float = 0.0
    needs: str = ""
    correction: Mapping[str, Any] | None = None

    @property
    def digest(self) -> str:
        """A fingerprint of the claim, by which a verdict that was given on another text of it is told to be stale."""
        text = json.dumps(self.__dict__, sort_keys=True, default=str, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _check(self) -> None:
        if not self.id.startswith(f"{self.study}."):
            raise ClaimError(f"{self.id}: the id must begin with {self.study + '.'!r}")
        if self.needs:
            return
        if self.kind in ("value", "arithmetic"):
            if self.tolerance is None or not self.tolerance_reason:
                raise ClaimError(f"{self.id}: a claim of kind {self.kind!r} needs tolerance and tolerance_reason")
            two_sided = set(self.tolerance) & {"relative", "absolute"}
            if two_sided and not _numeric(self.printed):
                raise ClaimError(f"{self.id}: printed must be a number, or numbers by label, for such a tolerance")
        if self.kind == "ordering" and not (isinstance(self.printed, list) and len(self.printed) > 1):
            raise ClaimError(f"{self.id}: an ordering needs printed: [smallest, …, largest]")
        if self.kind == "trend" and self.printed not in ("increasing", "decreasing", "constant"):
            raise ClaimError(f"{self.id}: a trend needs printed: increasing, decreasing or constant")
        if self.tolerance is not None and not self.tolerance_reason:
            raise ClaimError(f"{self.id}: a tolerance needs its tolerance_reason")


def _numeric(printed: Any) -> bool:
    items = printed.values() if isinstance(printed, Mapping) else [printed]
    return all(isinstance(item, int | float) and not isinstance(item, bool) for item in items)


@dataclass(frozen=True)
class Verdict:
    """What a claim came to: the claim, the finding, the verdict's name and why."""

    claim: Claim
    verdict: str
    reproduced: Any
    reason: str
    interval: tuple[float, float] | None = None

    def row(self) -> dict[str, Any]:
        """Return the verdict as plain data, one row of the scorecard."""
        claim = self.claim
        reproduced = self.reproduced
        return {
            "id": claim.id,
            "study": claim.study,
            "where": claim.where,
            "statement": claim.statement,
            "kind": claim.kind,
            "printed": claim.printed,
            "unit": claim.unit,
            "reproduced": _rounded(reproduced),
            "interval": _rounded(list(self.interval)) if self.interval else None,
            "tolerance": dict(claim.tolerance) if claim.tolerance else None,
            "tolerance_reason": claim.tolerance_reason,
            "verdict": self.verdict,
            "reason": self.reason,
            "digest": claim.digest,
        }

    def __repr__(self) -> str:
        return f"{VERDICTS[self.verdict]} {self.verdict}: {self.claim.id}: {self.reason}"


def _rounded(value: Any) -> Any:
    """Round to six significant digits: what differs beyond them between machines is not a result."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


@dataclass
class Ledger:
    """The claims of one study, and the verdicts that this notebook has given on them."""

    study: str
    claims: dict[str, Claim]
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    _anchored: set[str] = field(default_factory=set, repr=False)

    def __getitem__(self, identifier: str) -> Claim:
        try:
            return self.claims[identifier]
        except KeyError:
            raise ClaimError(f"no claim {identifier!r} in data/{self.study}/claims.yml") from None

    def judge(self, identifier: str, value: Any, corrected: Any = None, reason: str = "") -> Verdict:
        """Judge one claim by what was computed.

        Parameters
        ----------
        identifier : str
            The claim's id in ``claims.yml``.
        value : number, Interval, samples, mapping, or pair
            What was computed; its form goes with the claim's kind: a number (or an interval, or samples over
            seeds, or a mapping of these by label) for ``value`` and ``arithmetic``; a mapping of label to number
            or samples for ``ordering``; ``(x, y)`` for ``trend``; ``(left, right)`` for ``identity``.
        corrected : optional
            What was computed once the misprint that ``correction`` names is repaired, where that differs.
        reason : str
            The most likely reason, needed whenever the verdict isn't "reproduced".

        Returns
        -------
        Verdict

        Raises
        ------
        ClaimError
            For an unknown id, a claim judged twice, a value that doesn't fit its kind or isn't finite, an interval
            that straddles the tolerance, or a missing reason.
        """
        claim = self[identifier]
        if identifier in self.verdicts:
            raise ClaimError(f"{identifier} was judged already: each claim is judged once")
        if claim.needs:
            raise ClaimError(f"{identifier} says what it needs to be testable: remove `needs` to judge it")
        try:
            finding = _find(claim, claim.printed, claim.tolerance, value)
            if finding.holds == "yes":
                name = REPRODUCED
            else:
                mended = _mended(claim, value if corrected is None else corrected)
                name = _name(claim, finding, mended)
                finding = mended if name == CORRECTED and mended else finding
        except ClaimError as error:
            raise ClaimError(f"{identifier}: {error}") from None
        words = [finding.detail]
        if name != REPRODUCED:
            if not reason:
                raise ClaimError(f"{identifier} is {name!r} ({finding.detail}): give the most likely reason")
            if name == CORRECTED and claim.correction:
                words.append(f"misprint: {claim.correction['misprint']}")
            words.append(reason)
        elif reason:
            words.append(reason)
        verdict = Verdict(
            claim, name, finding.reproduced, ". ".join(w.rstrip(".") for w in words) + ".", finding.interval
        )
        self.verdicts[identifier] = verdict
        return verdict

    def table(self, prefix: str = "") -> Table:
        """Return the verdicts given so far, as a table that carries them as data in the cell's output.

        Claims that say what they would need to be testable are listed with the rest.

        Parameters
        ----------
        prefix : str
            Show only the claims whose id begins with it (after the study's name, which may be left out).
        """
        start = prefix if prefix.startswith(f"{self.study}.") else f"{self.study}.{prefix}"
        shown = []
        for claim in self.claims.values():
            if not claim.id.startswith(start):
                continue
            if claim.needs:
                shown.append(Verdict(claim, NOT_TESTABLE, None, f"Needed: {claim.needs.rstrip('.')}."))
            elif claim.id in self.verdicts:
                shown.append(self.verdicts[claim.id])
        if not shown:
            raise ClaimError(f"nothing to show: no claim that begins with {start!r} has been judged")
        # The scorecard links to a claim's first row; a page may not hold the same id twice.
        first = frozenset(verdict.claim.id for verdict in shown) - self._anchored
        self._anchored |= first
        return Table(tuple(shown), first)


def _find(claim: Claim, printed: Any, tolerance: Mapping[str, Any] | None, value: Any) -> Finding:
    if claim.kind in ("value", "arithmetic"):
        return verdicts.value(printed, value, tolerance or {}, claim.unit)
    if claim.kind == "ordering":
        return verdicts.ordering(printed, value, claim.margin, claim.unit)
    if claim.kind == "trend":
        return verdicts.trend(printed, value, tolerance, claim.unit)
    return verdicts.identity(value, tolerance)


def _mended(claim: Claim, value: Any) -> Finding | None:
    if claim.correction is None:
        return None
    printed = claim.correction.get("printed", claim.printed)
    return _find(claim, printed, claim.correction.get("tolerance", claim.tolerance), value)


def _name(claim: Claim, finding: Finding, mended: Finding | None) -> str:
    if mended is not None and mended.holds == "yes":
        return CORRECTED
    if claim.kind == "arithmetic":
        return CONTRADICTED
    return PARTLY if finding.holds == "partly" else NOT_REPRODUCED


@dataclass(frozen=True)
class Table:
    """Verdicts as a notebook shows them; the same rows stand in the output as data."""

    shown: tuple[Verdict, ...]
    anchored: frozenset[str]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {
            MIME: [verdict.row() for verdict in self.shown],
            "text/html": self._html(),
            "text/plain": "\n".join(map(repr, self.shown)),
        }

    def _html(self) -> str:
        cells = []
        for verdict in self.shown:
            row, claim = verdict.row(), verdict.claim
            kind = list(VERDICTS).index(verdict.verdict)
            anchor = f' id="claim-{claim.id}"' if claim.id in self.anchored else ""
            cells.append(
                f"<tr{anchor}><td><strong>{html.escape(claim.where)}</strong><br>"
                f"{html.escape(claim.statement)}<br><code>{claim.id}</code></td>"
                f"<td>{show_html(claim.printed, claim.unit)}</td>"
                f"<td>{show_html(row['reproduced'], claim.unit)}</td>"
                f'<td><span class="vw-verdict vw-verdict-{kind}">{VERDICTS[verdict.verdict]} '
                f"{verdict.verdict}</span></td><td>{html.escape(verdict.reason)}</td></tr>"
            )
        return (
            '<div class="vw-claims" tabindex="0" role="region" aria-label="What the paper says, what we get"><table>'
            "<thead><tr><th>the paper says</th><th>printed</th><th>here</th><th>verdict</th><th>why</th></tr></thead>"
            f"<tbody>{''.join(cells)}</tbody></table></div>"
        )


@cache
def _schema() -> dict[str, Any]:
    text = resources.files("voicewire").joinpath("claims_schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def load(study: str, base: Path | None = None) -> Ledger:
    """Read and validate a study's ledger.

    Parameters
    ----------
    study : str
        One of `voicewire.paths.STUDIES`.
    base : Path, optional
        The checkout; found by itself if left out.

    Raises
    ------
    ClaimError
        If ``claims.yml`` is missing, isn't YAML, or breaks the schema; the message names the claim and the field.
    """
    if study not in paths.STUDIES:
        raise ClaimError(f"unknown study {study!r}: choose one of {', '.join(paths.STUDIES)}")
    path = (base or paths.root()) / "data" / study / "claims.yml"
    name = f"data/{study}/claims.yml"
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ClaimError(f"{name} can't be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ClaimError(f"{name} is not YAML in UTF-8: {error}") from None
    faults = sorted(
        jsonschema.Draft202012Validator(_schema()).iter_errors(content), key=lambda e: list(map(str, e.path))
    )
    if faults:
        fault = jsonschema.exceptions.best_match(faults)
        raise ClaimError(f"{name}: {_place(content, list(fault.absolute_path))}: {fault.message}")
    if content["study"] != study:
        raise ClaimError(f"{name} says study: {content['study']}")
    claims: dict[str, Claim] = {}
    for entry in content["claims"]:
        claim = Claim(study=study, **entry)
        if claim.id in claims:
            raise ClaimError(f"{name}: {claim.id} stands there twice")
        claim._check()
        claims[claim.id] = claim
    return Ledger(study, claims)


def _place(content: Any, path: list[Any]) -> str:
    """Name the claim, not its position, in an error of the schema."""
    if len(path) >= 2 and path[0] == "claims":
        entry = content["claims"][path[1]]
        identifier = entry.get("id", f"claim {path[1] + 1}") if isinstance(entry, dict) else f"claim {path[1] + 1}"
        return ".".join([str(identifier), *map(str, path[2:])])
    return ".".join(map(str, path)) or "the file"


def _shown(base: Path, study: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for path in paths.chapters(study, base):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            for output in cell.get("outputs", []):
                rows = output.get("data", {}).get(MIME, [])
                found += [(path.relative_to(base).as_posix(), row) for row in rows]
    return found


def studies(base: Path | None = None) -> list[str]:
    """Return the studies that have a ledger in the checkout, in the order of the book."""
    base = base or paths.root()
    return [study for study in paths.STUDIES if (base / "data" / study / "claims.yml").is_file()]


def scorecard(base: Path | None = None, study: str | None = None) -> list[dict[str, Any]]:
    """Return one row for each claim of one study, or of all, as the executed notebooks have them.

    Each row has the claim's fields, ``verdict``, ``reproduced``, ``interval``, ``reason``, ``notebook`` (its path,
    or None) and ``anchor`` (the row's place in the notebook's page). A claim without a verdict has the verdict
    ``unjudged``, one whose text changed since ``stale``.

    Raises
    ------
    ClaimError
        If a ledger is invalid.
    """
    base = base or paths.root()
    rows = []
    for name in [study] if study else studies(base):
        ledger = load(name, base)
        seen = {row["id"]: (path, row) for path, row in _shown(base, name)}
        for claim in ledger.claims.values():
            path, row = seen.get(claim.id, (None, Verdict(claim, "unjudged", None, "").row()))
            if path and row["digest"] != claim.digest:
                row = {**row, "verdict": "stale", "reason": "The claim's text changed after it was judged."}
            kept = {key: item for key, item in row.items() if key != "digest"}
            rows.append({**kept, "notebook": path, "anchor": f"claim-{claim.id}"})
    return rows


def problems(base: Path | None = None, study: str | None = None) -> list[str]:
    """Return what is wrong with the scorecard: claims unjudged, stale, judged twice, or not in any ledger."""
    base = base or paths.root()
    found = [
        f"{row['id']}: {row['verdict']}" + (f" in {row['notebook']}" if row["notebook"] else "")
        for row in scorecard(base, study)
        if row["verdict"] not in VERDICTS
    ]
    for name in [study] if study else studies(base):
        known = load(name, base).claims
        first: dict[str, str] = {}
        for path, row in _shown(base, name):
            if row["id"] not in known:
                found.append(f"{row['id']}: shown in {path}, but in no ledger")
            elif first.setdefault(row["id"], path) != path and not known[row["id"]].needs:
                found.append(f"{row['id']}: judged in both {first[row['id']]} and {path}")
    return found
