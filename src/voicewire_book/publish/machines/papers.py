"""The paper behind each study, as the first entry of its bibliography has it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pybtex.database import parse_file
from pybtex.richtext import Text

__all__ = ["Paper", "read"]


@dataclass(frozen=True)
class Paper:
    """What is known of a published study."""

    study: str
    title: str
    authors: tuple[str, ...]
    year: str
    doi: str

    @property
    def address(self) -> str:
        """Where the DOI leads to, or a name that holds within one document."""
        return f"https://doi.org/{self.doi}" if self.doi else f"#paper-{self.study}"


def read(study: str, base: Path) -> Paper:
    """Read a study's paper."""
    entries = parse_file(str(base / "book" / study / "references.bib"), bib_format="bibtex").entries
    entry = next(iter(entries.values()))
    names = tuple(_name(person) for person in entry.persons.get("author", []))
    title = str(Text.from_latex(entry.fields["title"]))
    return Paper(study, title, names, entry.fields.get("year", ""), entry.fields.get("doi", ""))


def _name(person: Any) -> str:
    parts = (
        *person.rich_first_names, *person.rich_middle_names, *person.rich_prelast_names, *person.rich_last_names,
    )  # fmt: skip
    return " ".join(map(str, parts))
