"""What abstract, hypothesis and conclusion come to, by hand; each named rival is run, and lacks the effect."""

import pytest

from voicewire import claims
from voicewire.pharyngeal import conclusions, derived, formants, validation

FOUND = {name: value for name, (value, _) in conclusions.conclusions().items()}


def test_the_least_raised_larynx_is_below_that_of_the_plain_vowel():
    assert FOUND["intro.larynx-raised"] == pytest.approx(5.8118 - 5.9345)


def test_the_rises_of_both_consonants_against_one():
    assert FOUND["conclusion.doubled"]["larynx tt"] == pytest.approx((6.1732 - 4.6535) / (6.1732 - 5.7321))
    assert FOUND["conclusion.superimposed"]["hyoid ayn"] == pytest.approx(
        (4.2266 - 2.8111) / (0.72 + 4.2266 - 3.3505)
    )


def test_which_consonant_moves_f4_more_turns_with_the_plain_vowel():
    sizes = FOUND["text.f4-order"]
    assert sizes["the text"]["tt"] < sizes["the text"]["ayn"]
    assert sizes["Table II"]["tt"] > sizes["Table II"]["ayn"]


def test_the_second_constriction_stands_in_the_rows_of_the_vowel():
    of_the_consonant = derived.text_articulation()["text.secondary-location"][0]
    assert of_the_consonant["to"] < 2 < derived.mended()["text.secondary-location"]["from"]


def test_on_the_same_tokens_the_larynx_hardly_rises_more():
    more = derived.text_articulation()["text.larynx-rise-a-more"][0]
    assert more["all that are listed"] == pytest.approx(0.1401)
    assert more["without /ʕtˁah/"] == pytest.approx(5.8118 - (5.9788 + 5.8149 + 5.8270 + 5.61 + 5.6995) / 5)


def test_every_rival_is_of_a_claim_that_names_it():
    ledger = claims.load("pharyngeal")
    for name in conclusions.rivals():
        assert "mechanism" in ledger[f"pharyngeal.{name}"].rival


def test_repetitions_of_one_vowel_show_far_less_than_the_shift():
    found = validation.shifts(validation.tokens(2, 2, None), "praat", formants.MALE)
    assert abs(found["alike"][:, 0]).max() < 60 < 100 < found["true"][:, 0].min()
    assert abs(found["tracked"] - found["true"]).max() < 40
