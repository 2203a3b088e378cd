"""Forensics of printed numbers: recompute under every reading, and see which of them gives the print.

A *reading* is a way in which a printed number may have come about: which tokens, which divisor, which baseline,
rounded or truncated. Each search returns all readings that were tried and those that give the print, so that "none
does" is a statement about a counted set. Explained in notebook ``04_reproduction``.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pandas as pd

__all__ = [
    "MissingToken",
    "Reading",
    "Search",
    "agreement",
    "difference_readings",
    "mean_readings",
    "missing_token",
    "percent_readings",
    "sd_readings",
    "tokens_for_sd",
    "unshift",
]

from voicewire._kit import checks

LARGEST = 1e12
"""Tokens from here on have more digits than a printed deviation can be compared with."""


def _printed(name: str, value: Any, error: type[ValueError]) -> str:
    """A number as it is printed: digits, perhaps a sign and a point (a rule)."""
    if not isinstance(value, str):
        raise error(f"{name} is {value!r:.40}: give it as printed, a text such as '0.650', for its decimals count")
    if not re.fullmatch(r"[+-]?\d{1,15}(\.\d{1,15})?", value):
        raise error(f"{value!r:.40} is not a printed decimal number")
    return value


def _named(name: str, value: Any, error: type[ValueError]) -> Mapping[str, float]:
    """Finite numbers by name (a rule)."""
    if not isinstance(value, Mapping):
        raise error(f"{name} must be a mapping of names to numbers, not {value!r:.40}")
    return {key: checks.number()(f"{name}[{key!r}]", entry, error) for key, entry in value.items()}


@checks.takes(printed=_printed)
def decimals(printed: str) -> int:
    """Return how many decimals a printed number has (``"0.654"`` -> 3)."""
    return len(printed.partition(".")[2])


@checks.takes(printed=_printed, value=checks.number(nan=True, infinite=True))
def agreement(printed: str, value: float) -> str:
    """Say how ``value`` would have to be cut to give ``printed``.

    Parameters
    ----------
    printed : str
        The number as printed.
    value : float
        The number as computed.

    Returns
    -------
    str
        ``"both"``, ``"rounded"``, ``"truncated"`` (towards zero) or ``""`` when neither gives the print.

    Raises
    ------
    ValueError
        If ``printed`` is no decimal number.

    Examples
    --------
    >>> agreement("0.65", 0.659), agreement("0.66", 0.659), agreement("0.67", 0.659)
    ('truncated', 'rounded', '')
    """
    try:
        target = Decimal(printed)
    except ArithmeticError as error:
        raise ValueError(f"{printed!r} is not a printed decimal number") from error
    if not math.isfinite(value):
        return ""
    unit = Decimal(1).scaleb(-decimals(printed))
    # 12 digits: binary dust such as 1.8654999999999999 must not decide between two readings
    exact = Decimal(repr(round(value, 12)))
    rounded = exact.quantize(unit, ROUND_HALF_UP) == target
    truncated = exact.quantize(unit, ROUND_DOWN) == target
    return {(True, True): "both", (True, False): "rounded", (False, True): "truncated"}.get((rounded, truncated), "")


@dataclass(frozen=True)
class Reading:
    """One way to compute a number: its description, its value, and how it agrees with the print.

    Attributes
    ----------
    how : str
        What was computed.
    value : float
        The result.
    cut : str
        How it agrees with the print, see `agreement`; empty if it does not.

    Examples
    --------
    >>> mean_readings("1.5", {"a": 1.0, "b": 2.0}).matches[0].value
    1.5
    """

    how: str
    value: float
    cut: str


@dataclass(frozen=True)
class Search:
    """All readings of one printed number.

    Attributes
    ----------
    printed : str
        The number as set in the paper.
    readings : tuple[Reading, ...]
        Every reading that was tried.

    Examples
    --------
    >>> mean_readings("1.5", {"a": 1.0, "b": 2.0}).tried
    3
    """

    printed: str
    readings: tuple[Reading, ...]

    @property
    def tried(self) -> int:
        """How many readings were computed."""
        return len(self.readings)

    @property
    def matches(self) -> tuple[Reading, ...]:
        """The readings that give the print, rounded or truncated."""
        return tuple(reading for reading in self.readings if reading.cut)

    @property
    def nearest(self) -> Reading:
        """The reading whose value is nearest to the print."""
        return min(self.readings, key=lambda reading: abs(reading.value - float(self.printed)))

    def describe(self, natural: float | None = None) -> str:
        """Say in one sentence which reading gives the print, or that none of so many does.

        Parameters
        ----------
        natural : float, optional
            What the natural reading gives. Where that agrees with the print nothing had to be searched for, and how
            many readings there are is not said.

        Returns
        -------
        str
        """
        plainly = [r for r in self.matches if natural is not None and math.isclose(r.value, natural, rel_tol=1e-12)]
        if plainly:
            cut = "" if plainly[0].cut == "both" else f", {plainly[0].cut}"
            return f"{self.printed} is {plainly[0].how}{cut}."
        if self.matches:
            first = self.matches[0]
            more = f" (one of {len(self.matches)} that do)" if len(self.matches) > 1 else ""
            cut = "" if first.cut == "both" else f", {first.cut}"
            return f"{self.printed} is {first.how}{cut}{more}; {self.tried} readings were tried."
        return (
            f"None of {self.tried} readings gives {self.printed}; "
            f"the nearest, {self.nearest.how}, gives {self.nearest.value:.5g}."
        )

    def frame(self) -> pd.DataFrame:
        """Return the readings as a table, those nearest to the print first.

        Returns
        -------
        pandas.DataFrame
            Columns reading, value, agrees.
        """
        rows = sorted(self.readings, key=lambda reading: abs(reading.value - float(self.printed)))
        return pd.DataFrame([{"reading": r.how, "value": r.value, "agrees": r.cut or "no"} for r in rows])


def _search(printed: str, candidates: Iterable[tuple[str, float]]) -> Search:
    readings = tuple(Reading(how, float(value), agreement(printed, float(value))) for how, value in candidates)
    if not readings:
        raise ValueError("no reading can be made of what was given: more tokens or values are needed")
    return Search(printed, readings)


def _subsets(tokens: Mapping[str, float], least: int) -> Iterable[tuple[str, list[float]]]:
    for size in range(len(tokens), least - 1, -1):
        for names in itertools.combinations(tokens, size):
            label = f"all {size}" if size == len(tokens) else " + ".join(names)
            yield label, [tokens[name] for name in names]


@checks.takes(printed=_printed, tokens=_named)
def mean_readings(printed: str, tokens: Mapping[str, float]) -> Search:
    """Try the mean of each non-empty subset of the tokens, largest subsets first (2^n - 1 readings).

    Parameters
    ----------
    printed : str
        The number as printed.
    tokens : mapping of str to float
        Listed tokens, by name.

    Returns
    -------
    Search

    Examples
    --------
    >>> mean_readings("1.5", {"a": 1.0, "b": 2.0}).matches[0].how
    'the mean of all 2'
    """
    return _search(
        printed, ((f"the mean of {label}", math.fsum(values) / len(values)) for label, values in _subsets(tokens, 1))
    )


@checks.takes(printed=_printed, tokens=_named)
def sd_readings(printed: str, tokens: Mapping[str, float]) -> Search:
    """Try the standard deviation of each subset of at least two tokens, of sample (n - 1) and population (n).

    Parameters
    ----------
    printed : str
        The number as printed.
    tokens : mapping of str to float
        Listed tokens, by name.

    Returns
    -------
    Search

    Examples
    --------
    >>> sd_readings("1.41", {"a": 0.0, "b": 2.0}).matches[0].how
    'the sample SD of all 2'
    """
    return _search(
        printed,
        (
            (f"the {name} SD of {label}", float(np.std(values, ddof=ddof)))
            for label, values in _subsets(tokens, 2)
            for ddof, name in ((1, "sample"), (0, "population"))
        ),
    )


@checks.takes(printed=_printed, values=_named)
def difference_readings(printed: str, values: Mapping[str, float]) -> Search:
    """Try the difference of each ordered pair of named values.

    Parameters
    ----------
    printed : str
        The number as printed.
    values : mapping of str to float
        Numbers, by name.

    Returns
    -------
    Search

    Examples
    --------
    >>> difference_readings("1.0", {"a": 3.0, "b": 2.0}).matches[0].how
    'a - b'
    """
    return _search(printed, ((f"{a} - {b}", values[a] - values[b]) for a, b in itertools.permutations(values, 2)))


@checks.takes(printed=_printed, values=_named)
def percent_readings(printed: str, values: Mapping[str, float]) -> Search:
    """Try percentages of each ordered pair: of the second, of the first, of their mean, and the bare ratio.

    Parameters
    ----------
    printed : str
        The number as printed.
    values : mapping of str to float
        Numbers, by name.

    Returns
    -------
    Search

    Examples
    --------
    >>> percent_readings("50.0", {"a": 3.0, "b": 2.0}).matches[0].how
    '(a - b) / b'
    """

    def candidates() -> Iterable[tuple[str, float]]:
        for a, b in itertools.permutations(values, 2):
            x, y = values[a], values[b]
            yield f"({a} - {b}) / {b}", 100 * (x - y) / y
            yield f"({a} - {b}) / {a}", 100 * (x - y) / x
            yield f"({a} - {b}) / their mean", 200 * (x - y) / (x + y)
            yield f"{a} / {b}", 100 * x / y

    return _search(printed, candidates())


@dataclass(frozen=True)
class MissingToken:
    """A token that is not listed but would make a printed mean true.

    Attributes
    ----------
    low, high : float
        The interval in which the token must lie (the print was cut to its decimals).
    sd_low, sd_high : float
        Range of the sample standard deviation with such a token.
    sd_agrees : bool, optional
        Whether some token of the interval gives the printed standard deviation too (``None`` if none is printed).

    Examples
    --------
    >>> missing_token("1.0", [0.0, 2.0]).low
    1.0
    """

    low: float
    high: float
    sd_low: float
    sd_high: float
    sd_agrees: bool | None


@checks.takes(printed_mean=_printed, tokens=checks.array(), printed_sd=checks.maybe(_printed))
def missing_token(printed_mean: str, tokens: Sequence[float], printed_sd: str | None = None) -> MissingToken:
    """Solve for one unlisted token that would give a printed mean, and check it with the printed SD.

    Parameters
    ----------
    printed_mean : str
        Mean as printed, taken as truncated: the true mean lies within one unit above it.
    tokens : sequence of float
        The n listed tokens; the mean is taken over n + 1.
    printed_sd : str, optional
        Sample standard deviation as printed; the check that the mean alone cannot give.

    Returns
    -------
    MissingToken

    Examples
    --------
    Two tokens, 0 and 2, and a mean of three printed as 1.0: the third lay between 1.0 and 1.3.

    >>> found = missing_token("1.0", [0.0, 2.0])
    >>> found.low, round(found.high, 9)
    (1.0, 1.3)
    """
    listed = np.asarray(tokens, dtype=float)
    if listed.size < 1:
        raise ValueError("at least one listed token is needed")
    if np.abs(listed).max() >= LARGEST:
        raise ValueError(f"tokens must be below {LARGEST:.0e} in size: no measurement of this kind is larger")
    unit = 10.0 ** -decimals(printed_mean)
    count = listed.size + 1
    low = count * float(printed_mean) - float(listed.sum())
    high = low + count * unit
    grid = np.linspace(low, high, 201)[:-1]
    sds = np.array([np.std(np.append(listed, token), ddof=1) for token in grid])
    agrees = None if printed_sd is None else any(agreement(printed_sd, float(sd)) for sd in sds)
    return MissingToken(low, high, float(sds.min()), float(sds.max()), agrees)


@checks.takes(printed_sd=_printed, tokens=checks.array())
def tokens_for_sd(printed_sd: str, tokens: Sequence[float]) -> tuple[float, float]:
    """Solve for one unlisted token by the printed standard deviation alone, so that the printed mean can check it.

    Parameters
    ----------
    printed_sd : str
        Sample standard deviation over n + 1 tokens as printed, taken as truncated: the middle of what it may have been.
    tokens : sequence of float
        The n listed tokens.

    Returns
    -------
    tuple of float
        The two tokens that would do, the lower one first: as far below the listed mean as above it.

    Raises
    ------
    ValueError
        If no token can make the deviation so small.

    Examples
    --------
    0 and 2 deviate by 1.41; a third token that leaves 1.53 lies 2 beside their mean.

    >>> [round(token, 2) for token in tokens_for_sd("1.527", [0.0, 2.0])]
    [-1.0, 3.0]
    """
    listed = np.asarray(tokens, dtype=float)
    n, middle = listed.size, float(listed.mean())
    deviation = float(printed_sd) + 0.5 * 10.0 ** -decimals(printed_sd)
    left = n * deviation**2 - float(((listed - middle) ** 2).sum())
    if left < 0:
        raise ValueError(f"no token makes the deviation as small as {printed_sd}: the listed ones deviate more")
    away = math.sqrt(left * (n + 1) / n)
    return middle - away, middle + away


@checks.takes(f1=checks.number(), f2=checks.number(), third=checks.number(), fourth=checks.number())
def unshift(f1: float, f2: float, third: float, fourth: float) -> dict[str, float]:
    """Repair a formant row whose third cell holds F2 - F1 and whose fourth holds F3 (Table II, /ʕ/).

    Parameters
    ----------
    f1, f2, third, fourth : float
        The four cells as printed, Hz.

    Returns
    -------
    dict
        ``F1``, ``F2``, ``F3`` as repaired, and ``difference``: how far the third cell is from F2 - F1.

    Examples
    --------
    >>> unshift(650.0, 1700.0, 1050.0, 2500.0)["F3"]
    2500.0
    """
    return {"F1": f1, "F2": f2, "F3": fourth, "difference": third - (f2 - f1)}
