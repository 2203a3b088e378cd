"""Exchanged labels: every number stays with its seed, no label keeps its own, and a test by 95 % passes rarely."""

from __future__ import annotations

import numpy as np
import pytest

from voicewire_book.kit import claims
from voicewire_book.ledger import rules

LOW, HIGH = np.arange(20.0), np.arange(20.0) + 100


def test_each_seed_keeps_its_numbers():
    for run in claims.exchanged({"a": LOW, "b": HIGH}, np.random.default_rng(1), runs=5, paired=True):
        assert list(run) == ["a", "b"]
        assert np.array_equal(np.minimum(run["a"], run["b"]), LOW)
        assert np.array_equal(np.maximum(run["a"], run["b"]), HIGH)
        assert not np.array_equal(run["a"], LOW)


def test_without_pairs_all_samples_are_exchanged():
    (run,) = claims.exchanged({"a": LOW, "b": HIGH}, np.random.default_rng(1), runs=1)
    assert sorted(np.concatenate(list(run.values()))) == sorted(np.concatenate([LOW, HIGH]))
    assert not np.array_equal(np.minimum(run["a"], run["b"]), LOW)


@pytest.mark.parametrize("paired", [False, True])
def test_a_true_order_holds_and_an_exchanged_one_holds_rarely(paired):
    rng = np.random.default_rng(2)
    values = {"a": rng.normal(0, 1, 60), "b": rng.normal(2, 1, 60)}
    assert rules.ordering(["a", "b"], values, paired=paired).holds == "yes"
    mixed = claims.exchanged(values, rng, paired=paired)
    passed = [rules.ordering(["a", "b"], run, paired=paired).holds == "yes" for run in mixed]
    assert len(passed) == 400
    assert 0 < np.mean(passed) < 0.05


def test_pairs_show_what_scatter_between_seeds_hides():
    seeds = np.random.default_rng(3).normal(0, 10, 20)
    values = {"a": seeds, "b": seeds + 1 + np.random.default_rng(4).normal(0, 0.5, 20)}
    assert rules.ordering(["a", "b"], values).holds == "undecided"
    assert rules.ordering(["a", "b"], values, paired=True).holds == "yes"
    assert rules.ordering(["b", "a"], values, paired=True).holds == "no"


@pytest.mark.parametrize("high", [2.0, [1.0, 2.0]])
def test_pairs_need_equally_many(high):
    with pytest.raises(claims.ClaimError, match="paired samples are needed: equally many for each label"):
        rules.ordering(["a", "b"], {"a": LOW, "b": high}, paired=True)


@pytest.mark.parametrize("samples", [{"a": LOW}, {"a": LOW, "b": LOW[1:]}, {"a": 1.0, "b": 2.0}, {}])
def test_what_cannot_be_exchanged_is_refused(samples):
    with pytest.raises(claims.ClaimError, match="labels can be exchanged among two or more rows"):
        claims.exchanged(samples, np.random.default_rng(1))
