"""Data Dropped against section 11.7 of RFC 4340."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.voip.dccp.data_dropped_option import DATA_DROPPED, FATES, data_dropped, read_data_dropped
from voicewire.voip.dccp.header import Packet, Type, decode, encode
from voicewire.voip.errors import VoipError


def test_the_standards_own_example():
    """Received; one dropped in the receive buffer; four received; three dropped there."""
    assert list(data_dropped(".2....222")) == [0, 160, 3, 162]


@given(st.text("".join(FATES), max_size=400))
def test_fates_are_read_back(fates):
    assert read_data_dropped(data_dropped(fates)) == fates


@pytest.mark.parametrize(
    ("fates", "blocks"),
    [("", []), ("." * 128, [127]), ("." * 129, [127, 0]), ("3" * 16, [0xBF]), ("3" * 17, [0xBF, 0xB0]), ("7", [0xF0])],
)
def test_runs_are_cut_where_a_block_ends(fates, blocks):
    assert list(data_dropped(fates)) == blocks


@pytest.mark.parametrize("code", "456")
def test_reserved_codes_are_neither_written_nor_read(code):
    with pytest.raises(VoipError, match="reserved"):
        data_dropped(code)
    with pytest.raises(VoipError, match="reserved"):
        read_data_dropped(bytes([0x80 | int(code) << 4]))


def test_other_letters_are_refused():
    with pytest.raises(VoipError, match="fates"):
        data_dropped("x")


def test_the_option_travels_on_an_acknowledgement():
    said = ((DATA_DROPPED, data_dropped("3.")),)
    assert decode(encode(Packet(Type.ACK, 1, 2, 10, 5, options=said))).options == said
