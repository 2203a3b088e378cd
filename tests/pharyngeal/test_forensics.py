"""Forensics: the tables, the readings, and the correlation."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.pharyngeal import paper
from voicewire.pharyngeal.statistics import correlation, table_forensics
from voicewire_book.chapters.pharyngeal import recomputed_numbers
from voicewire_book.kit import claims

REQUIRED = (
    "table-1.sd-larynx-tt", "table-1.mean-hyoid-a", "table-1.location-a", "table-2.f3-ayn", "table-2.f1-percent-tt",
    "text.plain-baseline", "text.larynx-percent-45", "larynx-f1-correlation", "cause-larynx-f2",
)  # fmt: skip


def test_the_tables_have_their_cells():
    assert len(paper.table(1)) == 2 + 13 * 4 - 0 + 2 + 3 + 2
    assert len(paper.table(2)) == 12 * 4
    assert paper.cell(1, "a2-batta", "larynx") == "5.61"
    with pytest.raises(KeyError, match="prints nothing"):
        paper.cell(1, "rest", "opening")
    with pytest.raises(ValueError, match="tables 1 and 2"):
        paper.table(3)


def test_the_ledger_is_large_enough_and_has_the_required_claims():
    ledger = claims.load("pharyngeal")
    assert len(ledger.claims) >= 70
    assert not {f"pharyngeal.{name}" for name in REQUIRED} - set(ledger.claims)
    testable = {name for name, claim in ledger.claims.items() if not claim.needs}
    assert {f"pharyngeal.{name}" for name in recomputed_numbers.everything()} <= testable


def test_what_fails_says_which_reading_gives_the_print_or_that_none_does():
    ledger = claims.load("pharyngeal")
    for name, (value, reason) in recomputed_numbers.everything().items():
        verdict = ledger.judge(f"pharyngeal.{name}", value, reason=reason or "")
        if verdict.verdict in (claims.NOT_REPRODUCED, claims.CONTRADICTED):
            assert len(reason) > 20, name


@pytest.mark.parametrize(
    ("printed", "value", "cut"),
    [("0.654", 0.65487, "truncated"), ("0.66", 0.6559, "rounded"), ("1.8655", 1.8655, "both"),
     ("-5.47", -5.4716, "both"),
     ("2.0", 2.2, ""), ("1", math.nan, "")],
)  # fmt: skip
def test_agreement(printed, value, cut):
    assert table_forensics.agreement(printed, value) == cut


def test_what_a_reader_would_compute_first_needs_no_search():
    search = table_forensics.mean_readings("1.5", {"a": 1.0, "b": 2.0, "c": 3.0})
    assert search.describe(1.5) == "1.5 is the mean of a + b."
    assert search.describe(2.0) == search.describe() == "1.5 is the mean of a + b; 7 readings were tried."


def test_agreement_rejects_words():
    with pytest.raises(ValueError, match="no.*decimal number|not a printed"):
        table_forensics.agreement("about one", 1.0)


@given(st.lists(st.floats(0.1, 99), min_size=2, max_size=6), st.integers(1, 4))
def test_a_mean_of_all_tokens_is_always_found(values, places):
    tokens = {f"t{i}": v for i, v in enumerate(values)}
    search = table_forensics.mean_readings(f"{np.mean(values):.{places}f}", tokens)
    assert search.tried == 2 ** len(values) - 1
    assert any(reading.how == f"the mean of all {len(values)}" for reading in search.matches)


@given(st.lists(st.floats(1, 9), min_size=3, max_size=7), st.floats(1, 9))
def test_a_missing_token_is_solved_for(values, lost):
    mean = math.floor(1e4 * np.mean([*values, lost])) / 1e4
    found = table_forensics.missing_token(f"{mean:.4f}", values)
    assert found.low - 1e-6 <= lost <= found.high + 1e-6


def test_the_unlisted_token_gives_means_and_deviations_and_is_the_rise_of_the_text():
    for quantity in ("hyoid", "larynx", "opening"):
        listed = list(paper.tokens(1, quantity, "a").values())
        found = table_forensics.missing_token(
            paper.cell(1, "a-mean", quantity), listed, paper.cell(1, "a-sd", quantity)
        )
        assert found.sd_agrees
        # without /ʕtˁah/ the same game does not work: the agreement is no accident of the method
        assert not table_forensics.missing_token(
            paper.cell(1, "a-mean", quantity), listed[1:], paper.cell(1, "a-sd", quantity)
        ).sd_agrees
        if quantity == "larynx":
            rise = float(paper.cell(1, "rest", "larynx")) - np.array([found.high, found.low])
            assert rise[0] <= float(paper.LARYNX_RISE["tt"]) <= rise[1]


@given(st.lists(st.floats(1, 9), min_size=2, max_size=7), st.floats(1, 9))
def test_a_missing_token_is_solved_for_by_the_deviation_too(values, lost):
    deviation = math.floor(1e6 * statistics.stdev([*values, lost])) / 1e6
    low, high = table_forensics.tokens_for_sd(f"{deviation + 1e-6:.6f}", values)
    middle = statistics.fmean(values)
    assert low <= middle <= high and abs(lost - middle) <= high - middle + 1e-9
    again = [statistics.stdev([*values, token]) for token in (low, high)]
    assert again == pytest.approx([deviation + 1.5e-6] * 2, abs=1e-9)


def test_no_token_makes_a_deviation_small():
    with pytest.raises(ValueError, match="the listed ones deviate more"):
        table_forensics.tokens_for_sd("0.1", [0.0, 5.0])


def test_mean_and_deviation_of_a_foretell_each_other_with_one_token_more():
    """The mean is not solved for from itself: the token comes from the SD, and the other way round."""
    found, repaired = recomputed_numbers.table_1(), recomputed_numbers.mended()
    for quantity in ("hyoid", "larynx", "opening"):
        for name in ("mean", "sd"):
            value, _ = found[f"table-1.{name}-{quantity}-a"]
            printed = paper.cell(1, f"a-{name}", quantity)
            assert not table_forensics.agreement(printed, value)
            assert repaired[f"table-1.{name}-{quantity}-a"] == pytest.approx(float(printed), abs=1e-4)
    lost, _ = table_forensics.tokens_for_sd("0.2538", [*paper.tokens(1, "larynx", "a").values()])
    rise = float(paper.cell(1, "rest", "larynx")) - lost
    assert rise == pytest.approx(float(paper.LARYNX_RISE["tt"]), abs=1e-3)


def test_the_shifted_row():
    row = table_forensics.unshift(654.39, 1706.22, 1051.83, 2539.67)
    assert abs(row["difference"]) < 0.005 and row["F3"] == 2539.67


def test_readings_of_known_cases():
    assert table_forensics.percent_readings("45.08", {"a": 0.987, "b": 0.542}).matches[0].how == "(a - b) / a"
    assert table_forensics.sd_readings("0.654", paper.tokens(1, "larynx", "tt")).matches[0].how.endswith("all 3")
    none = table_forensics.percent_readings("39.49", {"a": 658.12, "b": 440.5})
    assert not none.matches and "None of 8 readings" in none.describe()
    with pytest.raises(ValueError, match="no reading"):
        table_forensics.sd_readings("1.0", {"only": 1.0})
    assert none.frame()["agrees"].eq("no").all()


def test_correlation_against_numpy_and_its_leverage():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 6))
    assert correlation.pearson(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert correlation.leverage(x).sum() == pytest.approx(2)
    assert correlation.permutation_test(range(5), range(5)).p == pytest.approx(2 / 120)
    assert correlation.permutation_test(range(5), range(5)).p_higher == pytest.approx(1 / 120)
    assert correlation.permutation_test(range(5), range(5)[::-1]).p_higher == 1
    _, rise, f1 = recomputed_numbers.larynx_f1()
    assert correlation.permutation_test(rise, f1).p > 0.05
    assert correlation.leave_one_out(rise, f1)[int(np.argmax(correlation.leverage(rise)))] < 0


@pytest.mark.parametrize("bad", [([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [1, 2])])
def test_correlation_of_too_little_is_an_error(bad):
    with pytest.raises(ValueError):
        correlation.pearson(*bad)
    with pytest.raises(ValueError, match="eight"):
        correlation.permutation_test(range(9), range(9))


def test_standard_deviations_are_those_of_samples():
    """n - 1 throughout: with n the values of a dozen claims would differ, some verdicts with them."""
    table = recomputed_numbers.table_1()
    for quantity in ("hyoid", "larynx"):
        tokens = paper.tokens(1, quantity, "tt")
        plain = [tokens[name] for name in recomputed_numbers._PLAIN_TT]
        assert table[f"table-1.sd-{quantity}-tt"][0] == pytest.approx(statistics.stdev(plain))
    for quantity in ("opening", "hyoid", "larynx"):
        values = list(paper.tokens(1, quantity, "a").values())
        assert table[f"table-1.sd-{quantity}-a"][0] == pytest.approx(statistics.stdev(values))
    # tokens 0, 2 and the unlisted 1.0 to 1.3 that makes their mean 1.0 to 1.1
    lost = table_forensics.missing_token("1.0", [0.0, 2.0])
    assert lost.sd_low == pytest.approx(1.0) and lost.sd_high == pytest.approx(statistics.stdev([0, 2, 1.3]), abs=1e-3)


@pytest.mark.parametrize(("printed", "name"), [("1.414", "sample"), ("1.000", "population")])
def test_a_reading_of_an_sd_says_which_it_is(printed, name):
    found = table_forensics.sd_readings(printed, {"a": 0.0, "b": 2.0}).matches
    assert [match.how.split()[1] for match in found] == [name]


def test_a_token_beyond_any_measurement_is_refused():
    with pytest.raises(ValueError, match="tokens must be below"):
        table_forensics.missing_token("1.0", [4e25, 4e25], "1.0")
