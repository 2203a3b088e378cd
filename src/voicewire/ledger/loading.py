"""Reading a study's ``claims.yml``: what breaks the schema, or can't be judged, doesn't load."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import jsonschema
import yaml

from voicewire import paths
from voicewire.ledger.vocabulary import ClaimError, Correction, Plain, Tolerance

__all__ = ["Claim", "read", "studies"]


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, as ``claims.yml`` has it; ``ledger/schema.json`` says what each field may hold.

    Parameters
    ----------
    id : str
        ``<study>.<place>.<what>``, the claim's name for ever.
    study : str
        The study's name.
    where : str
        The place in the paper.
    statement : str
        What the paper says, in our words.
    kind : str
        ``value``, ``arithmetic``, ``ordering``, ``trend`` or ``identity``.
    printed : number, text, list or mapping, optional
        What the paper prints; nothing where it prints nothing.
    unit : str
        Of the numbers.
    tolerance : mapping, optional
        One of ``relative``, ``absolute``, ``at_least``, ``at_most``, ``between``.
    tolerance_reason : str
        Why it is what it is.
    margin : float
        The smallest difference that counts in an ordering, in `unit`.
    needs : str
        What it would take to test the claim; it is not judged then.
    correction : mapping, optional
        The misprint in words, and what the claim says once it is repaired.
    """

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

    @property
    def digest(self) -> str:
        """A fingerprint of the claim, by which a verdict that was given on another text of it is told to be stale."""
        text = json.dumps(self.__dict__, sort_keys=True, default=str, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def check(self) -> None:
        """Refuse what the schema can't see: fields that this kind of claim needs, or that contradict each other.

        Raises
        ------
        ClaimError
            Names the claim and the field.
        """
        if not self.id.startswith(f"{self.study}."):
            raise ClaimError(f"{self.id}: the id must begin with {self.study + '.'!r}")
        if self.needs:
            return
        if self.kind in ("value", "arithmetic") and self.tolerance is None:
            raise ClaimError(f"{self.id}: a claim of kind {self.kind!r} needs tolerance and tolerance_reason")
        if self.kind == "ordering" and not (isinstance(self.printed, list) and len(self.printed) > 1):
            raise ClaimError(f"{self.id}: an ordering needs printed: [smallest, …, largest]")
        if self.kind == "trend" and self.printed not in ("increasing", "decreasing", "constant"):
            raise ClaimError(f"{self.id}: a trend needs printed: increasing, decreasing or constant")
        if self.tolerance is not None:
            self._check_tolerance(self.tolerance)

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
def _validator() -> jsonschema.Draft202012Validator:
    text = resources.files("voicewire.ledger").joinpath("schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def read(study: str, base: Path | None = None) -> dict[str, Claim]:
    """Read and validate a study's claims.

    Parameters
    ----------
    study : str
        One of `voicewire.paths.STUDIES`.
    base : Path, optional
        The checkout; found by itself if left out.

    Returns
    -------
    dict
        The claims by their id, in the order of the file.

    Raises
    ------
    ClaimError
        If ``claims.yml`` is missing, isn't YAML, or breaks the schema; the message names the claim and the field.

    Examples
    --------
    >>> read("nfc")["nfc.eq-7.1"].where
    'Eq. 7.1'
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
    faults = sorted(_validator().iter_errors(content), key=lambda e: list(map(str, e.path)))
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
        claim.check()
        claims[claim.id] = claim
    return claims


def _place(content: object, path: Sequence[str | int]) -> str:
    """Name the claim, not its position, in an error of the schema."""
    if isinstance(content, Mapping) and len(path) >= 2 and path[0] == "claims":
        entry = content["claims"][path[1]]
        position = f"claim {int(path[1]) + 1}"
        identifier = entry.get("id", position) if isinstance(entry, dict) else position
        return ".".join([str(identifier), *map(str, path[2:])])
    return ".".join(map(str, path)) or "the file"


def studies(base: Path | None = None) -> list[str]:
    """Return the studies that have a ledger in the checkout, in the order of the book.

    Parameters
    ----------
    base : Path, optional
        The checkout; found by itself if left out.

    Returns
    -------
    list of str
        Their names.

    Examples
    --------
    >>> "nfc" in studies()
    True
    """
    base = base or paths.root()
    return [study for study in paths.STUDIES if (base / "data" / study / "claims.yml").is_file()]
