"""From measured formants to statements: normalisation, effect sizes, bootstrap by speaker, a mixed model.

Explained in notebook ``02_formants``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from voicewire._kit import checks
from voicewire._kit._optional import needed
from voicewire.stats import Interval

__all__ = ["bootstrap_by_speaker", "ellipse", "hedges", "lobanov", "mixed_model", "nearey", "wide"]

Array = NDArray[np.float64]


def wide(table: pd.DataFrame, index: Sequence[str]) -> pd.DataFrame:
    """Turn a tidy table (columns ``formant``, ``frequency``) into one with columns F1 to F4.

    Parameters
    ----------
    table : pandas.DataFrame
        From `formants.measure`.
    index : sequence of str
        Columns that name a row.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> tidy = pd.DataFrame({"label": ["a", "a"], "formant": [1, 2], "frequency": [500.0, 1500.0]})
    >>> wide(tidy, ["label"])["F2"].tolist()
    [1500.0]
    """
    out = table.pivot_table(index=list(index), columns="formant", values="frequency", sort=True)
    out.columns = [f"F{number}" for number in out.columns]
    return out.reset_index()


def _by_speaker(table: pd.DataFrame, columns: Sequence[str]) -> None:
    missing = [name for name in ("speaker", *columns) if name not in table]
    if missing:
        raise ValueError(f"the table lacks the columns {', '.join(missing)}")


@checks.takes(table=checks.table, columns=checks.each(checks.a(str)))
def lobanov(table: pd.DataFrame, columns: Sequence[str] = ("F1", "F2")) -> pd.DataFrame:
    """Normalise each formant by its mean and SD within each speaker (Lobanov).

    Parameters
    ----------
    table : pandas.DataFrame
        Columns speaker and those to normalise, Hz.
    columns : sequence of str
        Which.

    Returns
    -------
    pandas.DataFrame
        Without a unit.

    Raises
    ------
    ValueError
        If columns are missing, or a speaker has fewer than two different vowels.

    Examples
    --------
    >>> two = pd.DataFrame({"speaker": ["s", "s"], "F1": [400.0, 600.0], "F2": [1000.0, 2000.0]})
    >>> lobanov(two)["F1"].round(3).tolist()
    [-0.707, 0.707]
    """
    _by_speaker(table, columns)
    out = table.copy()
    for name in columns:
        groups = table.groupby("speaker")[name]
        spread = groups.transform("std")
        if not (spread > 0).all():
            raise ValueError(f"{name}: each speaker needs at least two different vowels to be normalised")
        out[name] = (table[name] - groups.transform("mean")) / spread
    return out


@checks.takes(table=checks.table, columns=checks.each(checks.a(str)))
def nearey(table: pd.DataFrame, columns: Sequence[str] = ("F1", "F2")) -> pd.DataFrame:
    """Normalise by the speaker's mean logarithm over all given formants (Nearey's shared scale).

    Parameters
    ----------
    table : pandas.DataFrame
        Columns speaker and those to normalise, Hz.
    columns : sequence of str
        Which.

    Returns
    -------
    pandas.DataFrame
        Natural logarithms about the speaker's mean.

    Examples
    --------
    >>> two = pd.DataFrame({"speaker": ["s", "s"], "F1": [400.0, 600.0], "F2": [1000.0, 2000.0]})
    >>> abs(round(float(nearey(two).select_dtypes("number").to_numpy().sum()), 9))
    0.0
    """
    _by_speaker(table, columns)
    logs = table[list(columns)].apply(np.log)
    shift = logs.mean(axis=1).groupby(table["speaker"]).transform("mean")
    out = table.copy()
    for name in columns:
        out[name] = logs[name] - shift
    return out


@checks.takes(
    same=("x", "y"), x=checks.array(least=3), y=checks.array(least=3), confidence=checks.number(above=0.0, below=1.0),
)  # fmt: skip
def ellipse(x: Array, y: Array, confidence: float = 0.68) -> Array:
    """Return an ellipse that holds a share of a bivariate normal fitted to the points, shape (100, 2).

    Parameters
    ----------
    x, y : ndarray of float, shape (n,)
        Points, n at least 3.
    confidence : float
        The share.

    Returns
    -------
    ndarray of float, shape (100, 2)

    Examples
    --------
    >>> ellipse(np.array([0.0, 1, 2]), np.array([0.0, 1, 0])).shape
    (100, 2)
    """
    if len(x) < 3:
        raise ValueError("an ellipse needs at least three points")
    values, vectors = np.linalg.eigh(np.cov(x, y))
    radius = np.sqrt(scipy_stats.chi2.ppf(confidence, 2) * np.maximum(values, 0))
    angle = np.linspace(0, 2 * np.pi, 100)
    circle = np.column_stack([radius[0] * np.cos(angle), radius[1] * np.sin(angle)])
    return np.asarray(circle @ vectors.T + np.array([np.mean(x), np.mean(y)]))


@checks.takes(a=checks.array(least=2), b=checks.array(least=2), confidence=checks.number(above=0.0, below=1.0))
def hedges(a: Array, b: Array, confidence: float = 0.95) -> Interval:
    """Return Hedges' g of two samples (a minus b, pooled SD) with its interval from the non-central t.

    Parameters
    ----------
    a, b : ndarray of float, shape (n,) and (m,)
        The samples.
    confidence : float
        Of the interval.

    Returns
    -------
    Interval
        In pooled standard deviations.

    Raises
    ------
    ValueError
        For fewer than two values on a side, or no spread at all.

    Examples
    --------
    >>> round(float(hedges(np.array([1.0, 2, 3]), np.array([0.0, 1, 2])).estimate), 9)
    0.8
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    na, nb = a.size, b.size
    if na < 2 or nb < 2:
        raise ValueError("an effect size needs at least two values on each side")
    freedom = na + nb - 2
    pooled = math.sqrt(((na - 1) * a.var(ddof=1) + (nb - 1) * b.var(ddof=1)) / freedom)
    if pooled == 0:
        raise ValueError("an effect size needs some spread within the groups")
    scale = math.sqrt(1 / na + 1 / nb)
    t = (a.mean() - b.mean()) / pooled / scale
    correction = 1 - 3 / (4 * freedom - 1)
    tail = (1 - confidence) / 2

    def bound(level: float) -> float:
        # the non-centrality at which the observed t has this probability, found by bisection
        low, high = t - 12 - abs(t), t + 12 + abs(t)
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if scipy_stats.nct.cdf(t, freedom, middle) > level else (low, middle)
        return float((low + high) / 2)

    low, high = (bound(level) * scale * correction for level in (1 - tail, tail))
    return Interval(t * scale * correction, low, high, confidence, na + nb)


@checks.takes(
    table=checks.table, formant=checks.a(str), contexts=checks.each(checks.a(str), least=2),
    rng=checks.generator, resamples=checks.whole(1, 10**6),
)  # fmt: skip
def bootstrap_by_speaker(
    table: pd.DataFrame, formant: str, contexts: tuple[str, str], rng: np.random.Generator, resamples: int = 1000
) -> Interval:
    """Return the difference of two contexts' means (second minus first), resampling whole speakers.

    Tokens of one speaker are not independent; drawing speakers keeps them together.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns speaker, context and the formant.
    formant : str
        Which column.
    contexts : (str, str)
        From which to which.
    rng : Generator
        Source of randomness.
    resamples : int
        How many.

    Returns
    -------
    Interval
        Hz.

    Examples
    --------
    >>> table = pd.DataFrame(
    ...     {"speaker": list("aabbcc"), "context": ["plain", "tt"] * 3, "F1": [500.0, 600, 520, 640, 500, 610]}
    ... )
    >>> round(bootstrap_by_speaker(table, "F1", ("plain", "tt"), np.random.default_rng(1)).estimate)
    110
    """
    _by_speaker(table, ("context", formant))
    means = table.groupby(["speaker", "context"])[formant].mean().unstack("context")
    shift = (means[contexts[1]] - means[contexts[0]]).dropna().to_numpy()
    if shift.size < 3:
        raise ValueError("a bootstrap by speaker needs at least three speakers with both contexts")
    drawn = shift[rng.integers(shift.size, size=(resamples, shift.size))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(shift.mean()), float(low), float(high), 0.95, shift.size)


@checks.takes(table=checks.table, formant=checks.a(str), reference=checks.a(str))
def mixed_model(table: pd.DataFrame, formant: str, reference: str = "plain") -> pd.DataFrame:
    """Fit ``formant ~ context`` with a random intercept for each speaker (REML, statsmodels).

    Parameters
    ----------
    table : pandas.DataFrame
        Columns speaker, context and the formant.
    formant : str
        Which column.
    reference : str
        The context that the others are compared with.

    Returns
    -------
    pandas.DataFrame
        A row a context: estimate, low, high (Hz, 95 %), p.

    Examples
    --------
    >>> from voicewire.pharyngeal import synthesis
    >>> rng = np.random.default_rng(1)
    >>> rows = [
    ...     {"speaker": s, "context": c, "F1": 500 + 20 * s + shift + rng.normal(0, 5)}
    ...     for s in range(5) for c, shift in (("plain", 0), ("tt", 100)) for _ in range(4)
    ... ]
    >>> bool(80 < mixed_model(pd.DataFrame(rows), "F1").iloc[-1, 0] < 120)  # doctest: +SKIP
    True
    """
    with needed():
        import statsmodels.formula.api as smf
        from statsmodels.tools.sm_exceptions import ConvergenceWarning

    _by_speaker(table, ("context", formant))
    contexts = sorted(map(str, table["context"].unique()))
    if reference not in contexts:
        raise ValueError(f"reference is {reference!r}: the table has the contexts {', '.join(contexts)}")
    data = table.dropna(subset=[formant])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # checked below: the fit says itself if it converged
        warnings.simplefilter("ignore", UserWarning)
        fit = smf.mixedlm(f"{formant} ~ C(context, Treatment('{reference}'))", data, groups=data["speaker"]).fit(
            method=["lbfgs", "powell"]
        )
    if not fit.converged:
        raise ValueError(f"the mixed model of {formant} did not converge; there may be too few speakers")
    limits = fit.conf_int()
    rows = []
    for name in fit.params.index:
        if "[T." in name:
            context = name.split("[T.")[1].rstrip("]")
            low, high = limits.loc[name]
            rows.append((context, float(fit.params[name]), float(low), float(high), float(fit.pvalues[name])))
    return pd.DataFrame(rows, columns=["context", "estimate", "low", "high", "p"])
