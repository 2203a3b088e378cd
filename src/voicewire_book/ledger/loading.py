"""Reading a study's ``claims.yml``: what breaks the schema, or can't be judged, doesn't load."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from voicewire_book import paths
from voicewire_book.ledger.vocabulary import ClaimError, Correction, Plain, Reading, Rival, Tolerance

__all__ = ["Claim", "read", "studies"]


CARDS = 12
"""So many findings a ledger may mark: a chapter shows each on a card of its own."""

WHY = 20
"""Characters that it takes at least to say why a claim can have no rival."""

TEXT = (
    "id", "study", "where", "statement", "kind", "printed", "unit", "tolerance", "tolerance_reason", "margin", "needs",
    "correction",
)  # fmt: skip
"""The fields that a claim's fingerprint always holds."""


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, as ``claims.yml`` has it; ``ledger/schema.json`` says what each field may hold."""

    id: str
    study: str
    where: str
    statement: str
    kind: str
    printed: Plain = None
    unit: str = ""
    tolerance: Tolerance | None = None
    tolerance_reason: str = ""
    margin: float = 0.0
    needs: str = ""
    correction: Correction | None = None
    labels: Sequence[str] = ()
    paired: bool = False
    runs: int = 0
    whose: str = "paper"
    chosen: str = ""
    rival: Rival | None = None
    readings: Sequence[Reading] = ()
    reach: str = ""
    cause: str = ""
    basis: str = "computed"
    places: Sequence[str] = ()
    state: str = ""
    statistic: str = ""
    waits: str = ""
    finding: bool = False
    class_: str = ""
    implements: str = ""

    @property
    def digest(self) -> str:
        """A fingerprint of what a verdict rests on, by which one given on another text of the claim is told stale.

        Whose a claim is, when it was chosen and what cause it shares change how it is counted, not how it is judged.
        """
        parts = {name: getattr(self, name) for name in TEXT}
        optional = ("labels", "paired", "runs", "rival", "readings")
        parts |= {name: getattr(self, name) for name in optional if getattr(self, name)}
        text = json.dumps(parts, sort_keys=True, default=str, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def due_rival(self) -> bool:
        """Whether a mechanism without the effect must be named: its test is open on one side, or is an order."""
        if self.needs or self.basis == "by-reading":
            return False
        open_ended = bool({"at_least", "at_most", "between"} & set(self.tolerance or {}))
        return open_ended or self.kind in ("ordering", "trend")

    @property
    def owes_rival(self) -> bool:
        """Whether a rival is due and not named."""
        return self.due_rival and self.rival is None

    def check(self) -> None:
        """Refuse what the schema can't see: fields that this kind of claim needs, or that contradict each other."""
        if not self.id.startswith(f"{self.study}."):
            raise ClaimError(f"{self.id}: the id must begin with {self.study + '.'!r}")
        if (self.basis == "by-reading") != bool(self.places):
            raise ClaimError(f"{self.id}: basis: by-reading and the two places go together")
        if self.waits and not self.state:
            raise ClaimError(f"{self.id}: only a registered claim waits for something")
        if self.finding and (self.needs or self.state):
            raise ClaimError(f"{self.id}: a finding is judged: take out needs, state, or finding")
        if self.state and not self.statistic:
            raise ClaimError(f"{self.id}: a registered claim needs its statistic")
        if self.needs:
            return
        self._check_readings()
        if self.rival and len(self.rival.get("none", "." * WHY)) < WHY:
            raise ClaimError(f"{self.id}: say in {WHY} characters or more why no rival is possible")
        if self.paired and self.kind not in ("ordering", "trend"):
            raise ClaimError(f"{self.id}: only the samples of an ordering or a trend can be paired")
        if self.runs and self.kind == "identity":
            raise ClaimError(f"{self.id}: an identity is not drawn over runs: leave `runs` out")
        if self.labels and (self.printed is not None or self.kind not in ("value", "arithmetic")):
            raise ClaimError(f"{self.id}: labels name the numbers of a value of which the paper prints none")
        if self.kind in ("value", "arithmetic") and self.tolerance is None:
            raise ClaimError(f"{self.id}: a claim of kind {self.kind!r} needs tolerance and tolerance_reason")
        if self.kind == "ordering" and not (isinstance(self.printed, list) and len(self.printed) > 1):
            raise ClaimError(f"{self.id}: an ordering needs printed: [smallest, …, largest]")
        if self.kind == "trend" and self.printed not in ("increasing", "decreasing", "constant"):
            raise ClaimError(f"{self.id}: a trend needs printed: increasing, decreasing or constant")
        if self.printed == "constant" and self.kind == "trend" and self.tolerance is None:
            raise ClaimError(f"{self.id}: a constant trend needs a tolerance: the change that would count")
        if self.tolerance is not None:
            self._check_tolerance(self.tolerance)

    def _check_readings(self) -> None:
        names = [reading["name"] for reading in self.readings]
        if len(set(names)) < len(names):
            raise ClaimError(f"{self.id}: two readings have the same name")
        if names and all("excluded" in reading for reading in self.readings):
            raise ClaimError(f"{self.id}: every reading is excluded: which one is left?")

    def _check_tolerance(self, tolerance: Tolerance) -> None:
        if not self.tolerance_reason:
            raise ClaimError(f"{self.id}: a claim of kind {self.kind!r} needs tolerance and tolerance_reason")
        ((name, size),) = tolerance.items()
        two_sided = name in ("relative", "absolute")
        if self.kind in ("value", "arithmetic"):
            if two_sided and not _numeric(self.printed):
                raise ClaimError(f"{self.id}: printed must be a number, or numbers by label, for such a tolerance")
        elif not two_sided:
            raise ClaimError(f"{self.id}: a claim of kind {self.kind!r} takes a relative or absolute tolerance")
        if isinstance(size, Sequence) and size[0] > size[1]:
            raise ClaimError(f"{self.id}: between needs the lower end first, not {size[0]} and {size[1]}")


def _numeric(printed: Plain) -> bool:
    items = printed.values() if isinstance(printed, Mapping) else [printed]
    return all(isinstance(item, int | float) and not isinstance(item, bool) for item in items)


@cache
def _validator() -> Any:
    import jsonschema

    text = resources.files("voicewire_book.ledger").joinpath("schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def content_of(path: Path, name: str) -> Any:
    """Return what ``claims.yml`` holds, checked against the schema."""
    return _checked(_text_of(path, name), name)


def _text_of(path: Path, name: str) -> str:
    """Return the text of a ledger's file: in a page of the book the JSON beside it."""
    try:
        return (path.with_suffix(".json") if find_spec("yaml") is None else path).read_text(encoding="utf-8")
    except OSError as error:
        raise ClaimError(f"{name} can't be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ClaimError(f"{name} is not YAML in UTF-8: {error}") from None


def _checked(text: str, name: str) -> Any:
    """Return what a ledger's text holds, checked against the schema; JSON was checked when the page was made."""
    if find_spec("yaml") is None:
        return json.loads(text)
    import jsonschema
    import yaml

    try:
        # the same safe loader, in C where the library has it: some ten times as fast
        content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ClaimError(f"{name} is not YAML in UTF-8: {error}") from None
    faults = sorted(_validator().iter_errors(content), key=lambda e: list(map(str, e.path)))
    if faults:
        fault = jsonschema.exceptions.best_match(faults)
        raise ClaimError(f"{name}: {_place(content, list(fault.absolute_path))}: {fault.message}")
    return content


def read(study: str, base: Path | None = None) -> dict[str, Claim]:
    """Read and validate a study's claims."""
    if study not in paths.STUDIES:
        raise ClaimError(f"unknown study {study!r}: choose one of {', '.join(paths.STUDIES)}")
    name = f"data/{study}/claims.yml"
    return dict(_read(study, name, _text_of((base or paths.root()) / name, name)))


@lru_cache(maxsize=32)
def _read(study: str, name: str, text: str) -> Mapping[str, Claim]:
    """Read a ledger from its text: the same text is parsed and checked once."""
    content = _checked(text, name)
    if content["study"] != study:
        raise ClaimError(f"{name} says study: {content['study']}")
    claims: dict[str, Claim] = {}
    for entry in content["claims"]:
        fields = {"class_" if name == "class" else name: value for name, value in entry.items()}
        claim = Claim(study=study, **{"chosen": content.get("chosen", ""), **fields})
        if claim.id in claims:
            raise ClaimError(f"{name}: {claim.id} stands there twice")
        claim.check()
        claims[claim.id] = claim
    _check_owed(name, claims, content.get("rival_owed", []))
    if (count := sum(claim.finding for claim in claims.values())) > CARDS:
        raise ClaimError(f"{name}: {count} claims are marked `finding`: at most {CARDS}, the others stand in tables")
    return claims


def _check_owed(name: str, claims: Mapping[str, Claim], owed: Sequence[str]) -> None:
    """Refuse a claim whose rival is due, unnamed and not on the list of those still owed, and a list that is too long.

    The list stands in the ledger itself, so that nobody is excused in silence; a test lets it only shrink.
    """
    owing = [claim.id for claim in claims.values() if claim.owes_rival]
    for identifier in owing:
        if identifier not in owed:
            raise ClaimError(f"{name}: {identifier} needs a rival: a mechanism in which what it claims is absent")
    for identifier in owed:
        if identifier not in owing:
            raise ClaimError(f"{name}: strike {identifier} from rival_owed: it owes none")


def _place(content: object, path: Sequence[str | int]) -> str:
    """Name the claim, not its position, in an error of the schema."""
    if isinstance(content, Mapping) and len(path) >= 2 and path[0] == "claims":
        entry = content["claims"][path[1]]
        position = f"claim {int(path[1]) + 1}"
        identifier = entry.get("id", position) if isinstance(entry, dict) else position
        return ".".join([str(identifier), *map(str, path[2:])])
    return ".".join(map(str, path)) or "the file"


def studies(base: Path | None = None) -> list[str]:
    """Return the studies that have a ledger in the checkout, in the order of the book."""
    base = base or paths.root()
    return [study for study in paths.STUDIES if (base / "data" / study / "claims.yml").is_file()]
