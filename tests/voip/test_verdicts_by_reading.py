"""Claims on figures that are judged by the first reading of the rules: by each other one they come out the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from voicewire.voip.transports import TFRC_VARIANTS
from voicewire_book.chapters.voip import experiments, readings
from voicewire_book.kit import claims

LEDGER = claims.load("voip")
LEFT = [reading["name"] for reading in LEDGER["voip.fr-above-sp"].readings if "excluded" not in reading]
DELAYS, LOSSES = np.array(experiments.DELAYS, float), np.array(experiments.LOSSES)
MD, FR, SP = "TFRC SP FR MD", "TFRC SP FR", "TFRC SP"
Curves = dict[str, dict[str, Any]]


def less(figure: str, one: str, other: str, beside: str | None = None) -> Callable[[Curves], Any]:
    """One curve less another, point by point."""
    return lambda c: c[figure][one].r - c[beside or figure][other].r


def sharply(c: Curves) -> dict[str, Any]:
    """Fall of R from 25 ms on, of the variant that falls least, beyond UDP's."""

    def falls(name: str) -> Any:
        rows = c["5.1"][name].r
        return rows[0] - rows[1:]

    least = np.min([falls(name) for name in TFRC_VARIANTS[:3]], axis=0) - falls("UDP")
    return {f"{d} ms": gap for d, gap in zip(experiments.DELAYS[1:], least, strict=True)}


def lead_over_best(figure: str) -> Callable[[Curves], Any]:
    return lambda c: c[figure]["TCP"].r - np.max([c[figure][n].r for n in TFRC_VARIANTS], axis=0)


BY_POINT: dict[str, Callable[[Curves], Any]] = {
    "md-above-fr": less("5.1", MD, FR),
    "md-below-tcp-g729": less("5.1", "TCP", MD),
    "g711-tfrc-below-tcp": lead_over_best("5.2"),
    "g711-tcp-below-udp": less("5.2", "UDP", "TCP"),
    "plain-incapable": lambda c: c["5.3"]["TFRC"].r,
    "sp-no-gain": less("5.3", SP, "TFRC"),
    "fr-gains-from-loss": less("5.3", FR, FR, "5.1"),
    "g711-small-loss": lead_over_best("5.4"),
    "md-like-tcp-small-loss": less("5.3", MD, "TCP"),
    "sp-like-tfrc-loss": less("5.5", SP, "TFRC"),
    "g711-loss-like-udp": less("5.6", "UDP", MD),
}
WHOLE: dict[str, Callable[[Curves], Any]] = {
    "tfrc-falls-with-delay": lambda c: (DELAYS, c["5.1"]["TFRC"].r),
    "sp-falls-with-delay": lambda c: (DELAYS, c["5.1"][SP].r),
    "md-rises-with-loss": lambda c: (LOSSES, c["5.5"][MD].r),
    "tcp-falls-with-loss": lambda c: (LOSSES, c["5.5"]["TCP"].r),
    "tcp-equals-udp-g729": lambda c: (c["5.1"]["TCP"].r, c["5.1"]["UDP"].r),
    "falls-sharply": sharply,
}


def labelled(name: str) -> Callable[[Curves], Any]:
    labels = LEDGER[f"voip.{name}"].labels
    at = {"ms": [f"{d} ms" for d in experiments.DELAYS], "": list(LEDGER["voip.g711-loss-like-udp"].labels)}
    where = at["ms" if labels[0].endswith("ms") else ""]
    return lambda c: {at_: gap for at_, gap in zip(where, BY_POINT[name](c), strict=True) if at_ in labels}


@pytest.mark.parametrize("name", [*BY_POINT, *WHOLE])
def test_the_other_readings_give_the_same_verdict(name):
    claim = LEDGER[f"voip.{name}"]
    assert "five other readings" in claim.reach
    values = readings.under(labelled(name) if name in BY_POINT else WHOLE[name])
    given = {
        reading: claims.Ledger("voip", {claim.id: claim}).judge(claim.id, values[reading], reason="By reading.")
        for reading in LEFT
    }
    assert {verdict.verdict for verdict in given.values()} == {given["the RFCs"].verdict}


def test_each_claim_that_says_so_is_among_these():
    said = {identifier for identifier, claim in LEDGER.claims.items() if "five other readings" in claim.reach}
    assert said == {f"voip.{name}" for name in (*BY_POINT, *WHOLE)}


def test_where_few_readings_are_asked_they_are_those_of_the_others():
    known = {reading["name"]: reading["source"] for reading in LEDGER["voip.fr-above-sp"].readings}
    asked = [claim for claim in LEDGER.claims.values() if "of the readings of the rules" in claim.reach]
    assert len(asked) == 7
    for claim in asked:
        assert {reading["name"]: reading["source"] for reading in claim.readings}.items() <= known.items()
