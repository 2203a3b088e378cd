"""A printed number stays printed, and its band stays on the side that the sentence says: by rule, over all rows."""

import re

import pytest

from voicewire_book.ledger.loading import read

STUDIES = ("emqtt", "nfc")


def ratios():
    """Rows that tell two printed delays and their ratio."""
    for claim in read("emqtt").values():
        if claim.kind == "value" and not claim.needs and "a ratio of" in claim.statement:
            yield claim, *map(float, re.findall(r"\d+\.\d+", claim.statement))


def test_a_band_for_a_ratio_does_not_reach_to_the_other_side_of_one():
    found = list(ratios())
    assert len(found) == 2, "the two of the completion wait for a recording"
    for claim, first, second, ratio in found:
        low, high = claim.tolerance["between"]
        assert first / second == pytest.approx(ratio, abs=0.006), claim.id
        assert low < ratio < high, claim.id
        assert (low - 1) * (high - 1) >= 0, f"{claim.id}: a ratio of 1 and its inverse pass"


@pytest.mark.parametrize("study", STUDIES)
def test_a_printed_number_is_told_as_printed(study):
    """A result whose sentence has a measured number and its unit has it under `printed`, by which it stands."""
    bare = [
        claim.id
        for claim in read(study).values()
        if claim.class_ == "result" and claim.kind == "value" and claim.printed is None and not claim.needs
        if re.search(r"\d\.\d+ (ms|s|kbit/s|%)", claim.statement)
    ]
    assert bare == []


@pytest.mark.parametrize("study", STUDIES)
def test_a_cause_says_where_it_was_looked_for(study):
    """In our model, on our broker, by the format: no cause is told as if the paper's own system had been tried."""
    causes = [c for c in read(study).values() if c.class_ == "cause" and c.basis == "computed" and not c.needs]
    assert len(causes) > 5
    places = "in our model|of ours|our broker|real lwIP|by the format"
    assert [claim.id for claim in causes if not re.search(places, claim.reach)] == []


@pytest.mark.parametrize("study", STUDIES)
def test_no_reading_that_counts_has_the_papers_own_result_for_its_bar(study):
    for claim in read(study).values():
        for reading in claim.readings:
            if "its own averages" in reading["source"]:
                assert "excluded" in reading, claim.id
