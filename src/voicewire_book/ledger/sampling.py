"""The number of runs behind a result: stated in the ledger beforehand, so that nobody adds seeds until it is decided.

Adding seeds until an interval no longer straddles the edge calls true edge cases on one side far too often; a number
that was fixed beforehand does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from voicewire.stats import Interval
from voicewire_book.ledger.loading import Claim
from voicewire_book.ledger.vocabulary import ClaimError

__all__ = ["check", "counts", "stated"]


def counts(kind: str, value: object) -> set[int]:
    """Return over how many runs a result was taken."""
    return set(_counts(kind, value))


def _counts(kind: str, value: object) -> Iterator[int]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _counts(kind, part)
    elif isinstance(value, Interval):
        yield value.n
    elif kind == "trend" and isinstance(value, tuple | list) and len(value) == 2:
        yield from np.asarray(value[1]).shape[1:2]
    elif kind != "trend":
        yield from np.asarray(value).shape[:1]


def check(claim: Claim, value: object) -> None:
    """Refuse a result that was taken over another number of runs than the claim states."""
    if not claim.runs:
        return
    found = counts(claim.kind, value)
    if found != {claim.runs}:
        here = " and ".join(map(str, sorted(found))) or "none"
        raise ClaimError(f"{claim.runs} runs were stated beforehand, and {here} are here: judge those, as samples")


def stated(claim: Claim) -> str:
    """Say how many runs an undecided claim was given, and whether that was stated beforehand."""
    if claim.runs:
        return f"{claim.runs} runs, as stated beforehand"
    return "a number of runs that was not stated beforehand"
