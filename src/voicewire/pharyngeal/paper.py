"""The paper, once: Tables I and II as tidy data and the numbers of the running text.

The study is Karaoui, Djeradi and Djeradi, "On the Acoustic and Articulatory Characterization of the
Effects of Arabic Pharyngealized Consonant on Adjacent Vowel". Both tables live in ``data/pharyngeal`` as they were
printed (strings keep the number of decimals, which the forensics need); the numbers of the text stand below with
their place. Explained in notebook ``04_reproduction``.

Doubtful places of the scan (none changes a number used here): the word of the second /tˁ/ row is set with
two different superscripts and read as /tˁutˁina/; three brackets of the standard deviations are broken over lines;
"5.61" and "674.1" stand with fewer decimals than their neighbours and are kept so.
"""

from __future__ import annotations

import csv
from functools import cache
from typing import Final

import pandas as pd

from voicewire._kit import paths

__all__ = [
    "ARTICULATORS",
    "AYN_EARLIER",
    "FACTORS",
    "FORMANTS",
    "LARYNX_PERCENT",
    "LARYNX_RISE",
    "TEXT_PLAIN",
    "TEXT_SHIFT",
    "cell",
    "table",
    "tokens",
]

ARTICULATORS: Final = ("hyoid", "larynx", "opening", "location")  # Table I, centimetres
FORMANTS: Final = ("F1", "F2", "F3", "F4")  # Table II, hertz

# Section II.A: by how many factors the paper's software describes an articulator, and what they roughly are.
FACTORS: Final = {
    "tongue": ("apex", "dorsum", "body"), "lips": ("aperture", "protrusion"), "lower pharynx": ("larynx", "glottis"),
}  # fmt: skip

# Section III, paragraph on "the formants ... explored for our subject": another plain baseline than Table II's.
TEXT_PLAIN: Final = {"F1": "519.60", "F2": "1573.437", "F3": "2485.809", "F4": "3676.291"}
TEXT_PLAIN_SD: Final = {"F1": "46.46", "F2": "94.37", "F3": "137.43", "F4": "95.33"}
# Section III, differences to that baseline (signs as meant: the text writes "decreases by -314.15").
TEXT_SHIFT: Final = {
    "tt": {"F1": "138.52", "F2": "-314.15", "F3": "52.33", "F4": "23.88"},
    "ayntah": {"F1": "198.98", "F2": "-232.48", "F4": "123.72"},
    "ayn": {"F1": "134.79", "F2": "132.78", "F4": "91.89"},
}
# Section III, larynx elevation during /a/ in three contexts (cm) and the two percentages made of them.
LARYNX_RISE: Final = {"ayntah": "0.987", "ayn": "0.542", "tt": "0.587"}
LARYNX_PERCENT: Final = {"ayn": "45.08", "tt": "40.52"}
# Section III, average /ʕ/ of the earlier paper [11]: rises of larynx and hyoid, location and opening (cm).
AYN_EARLIER: Final = {"larynx_rise": "0.87", "hyoid_rise": "0.72", "location": "13.76", "opening": "1.16"}


def _rows(name: str) -> list[dict[str, str]]:
    with (paths.data("pharyngeal") / name).open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


@cache
def _table(number: int) -> pd.DataFrame:
    columns = ARTICULATORS if number == 1 else FORMANTS
    unit = "cm" if number == 1 else "Hz"
    return pd.DataFrame(
        [
            {
                "row": row["row"],
                "kind": row["kind"],
                "group": row["group"],
                "context": row["context"],
                "quantity": column,
                "printed": row[column],
                "value": float(row[column]),
                "unit": "%" if row["kind"] == "percent" else unit,
            }
            for row in _rows(f"table_{number}.csv")
            for column in columns
            if row[column]
        ]
    )


def table(number: int) -> pd.DataFrame:
    """Return Table I or II, one printed cell a row."""
    if number not in (1, 2):
        raise ValueError(f"the paper has tables 1 and 2, not {number!r}")
    return _table(number).copy()


def cell(number: int, row: str, quantity: str) -> str:
    """Return one printed cell, as a string with the paper's decimals (Table I or II)."""
    data = _table(number)
    found = data.loc[(data["row"] == row) & (data["quantity"] == quantity), "printed"]
    if found.empty:
        raise KeyError(f"table {number} prints nothing for {row!r}, {quantity!r}")
    return str(found.iloc[0])


def tokens(number: int, quantity: str, group: str | None = None) -> dict[str, float]:
    """Return the single tokens of one column, keyed by row name, optionally of one group (``"tt"``, ``"a"``...)."""
    data = _table(number)
    chosen = data[(data["kind"] == "token") & (data["quantity"] == quantity)]
    if group is not None:
        chosen = chosen[chosen["group"] == group]
    return {str(row): float(value) for row, value in zip(chosen["row"], chosen["value"], strict=True)}
