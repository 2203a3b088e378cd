"""ISO/IEC 14443-3's CRCs by the standard's own examples, and what gets past them and past a sum."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.nfc.beyond.framing import CRC_A, byte_sum, crc_a, crc_b, framed, past_sum, undetected, unframed
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.reference.framing import divided

BYTE = st.integers(0, 255)


@pytest.mark.parametrize(("data", "crc"), [("0000", "a01e"), ("1234", "26cf")])
def test_crc_a_of_annex_b_of_the_standard(data, crc):
    assert crc_a(bytes.fromhex(data)).hex() == crc


@pytest.mark.parametrize(("data", "crc"), [("000000", "ccc6"), ("0faaff", "fcd1"), ("0a123456", "2cf6")])
def test_crc_b_of_annex_b_of_the_standard(data, crc):
    assert crc_b(bytes.fromhex(data)).hex() == crc


@given(st.binary(max_size=40))
def test_a_message_with_its_crc_divides_without_a_rest(data):
    assert divided(data + crc_a(data), CRC_A) == 0


@given(BYTE, BYTE, st.binary(max_size=10), st.sampled_from(["CRC", "sum"]))
def test_a_frame_comes_back_as_it_was(command, number, data, check):
    assert unframed(framed(command, number, data, check), check) == (command, number, data)


@given(BYTE, BYTE, st.binary(max_size=10), st.data())
def test_no_burst_of_16_bits_gets_past_the_crc(command, number, data, draw):
    frame = framed(command, number, data)
    pattern = draw.draw(st.integers(1, 0xFFFF))  # any bits wrong within 16 in a row
    at = draw.draw(st.integers(0, 8 * len(frame) - 16))
    hit = int.from_bytes(frame, "little") ^ pattern << at
    assert unframed(hit.to_bytes(len(frame), "little")) is None


def test_of_all_bursts_of_17_bits_one_gets_past_the_crc():
    # first and last bit wrong, any between: a burst gets past if the polynomial divides it, 1 in 2^15
    inner = np.arange(1 << 15)
    bits = (inner[:, None] >> np.arange(15)) & 1
    ends = np.ones((len(inner), 1), int)
    burst = np.hstack([ends, bits, ends])
    errors = np.hstack([np.zeros((len(inner), 24), int), burst, np.zeros((len(inner), 15), int)])
    assert undetected(errors, "CRC", np.random.default_rng(1)) == (1 << 15, 1)


def test_no_row_of_eight_flips_gets_past_a_sum_and_16_do_by_the_derived_share():
    assert all(past_sum(n, first) == 0 for n, first in itertools.product(range(1, 9), range(8)))
    rng, frames = np.random.default_rng(2), 60_000
    for bits, first in ((9, 0), (16, 3), (17, 0), (32, 5)):
        errors = np.zeros((frames, 112), int)
        errors[:, 16 + first : 16 + first + bits] = 1
        damaged, passed = undetected(errors, "sum", rng)
        share = past_sum(bits, first)
        assert damaged == frames
        assert abs(passed / frames - share) <= 5 * np.sqrt(share * (1 - share) / frames)


def test_the_derived_share_is_that_of_all_bytes_a_burst_can_meet():
    # nine bits from weight 0 on, over every pair of bytes
    met = 0
    for one, two in itertools.product(range(256), repeat=2):
        met += byte_sum(bytes([one ^ 0xFF, two ^ 1])) == byte_sum(bytes([one, two]))
    assert met / 65_536 == past_sum(9, 0)


def test_a_frame_too_short_for_its_check_is_none_and_bits_must_be_bytes():
    assert unframed(b"") is None
    assert unframed(b"\x00\x00") is None
    with pytest.raises(ParameterError, match="whole bytes"):
        undetected(np.zeros((2, 20), int), "CRC", np.random.default_rng(1))
    with pytest.raises(ParameterError, match="11 bytes of data"):
        framed(0, 0, bytes(11))
