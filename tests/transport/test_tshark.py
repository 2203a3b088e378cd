"""The header bytes that we read from a capture are those that Wireshark's own program reads (paper, section III.A)."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from voicewire.testbed import TestbedError
from voicewire_book import paths
from voicewire_book.chapters.transport import captured_sessions, wireshark_crosscheck

DATA = paths.data("transport")


def capture_of(name: str) -> Path:
    return DATA / "captures" / f"{name}.pcap"


@pytest.mark.needs("tshark")
@pytest.mark.parametrize("name", captured_sessions.NAMES)
def test_tshark_counts_the_same_headers(name: str) -> None:
    theirs = wireshark_crosscheck.asked(capture_of(name))
    assert len(theirs) > 5
    assert np.array_equal(theirs, wireshark_crosscheck.ours(capture_of(name)))
    assert np.array_equal(theirs, wireshark_crosscheck.recorded(DATA, name))


@pytest.mark.parametrize("name", captured_sessions.NAMES)
def test_what_tshark_said_once_is_what_we_read(name: str) -> None:
    assert np.array_equal(wireshark_crosscheck.recorded(DATA, name), wireshark_crosscheck.ours(capture_of(name)))


def test_without_tshark_it_says_where_its_answer_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(TestbedError, match=r"not installed.*wireshark\.json"):
        wireshark_crosscheck.asked(capture_of("tcp"))


@pytest.mark.needs("tshark")
def test_what_is_no_capture_is_told(tmp_path: Path) -> None:
    (tmp_path / "no.pcap").write_bytes(b"nothing of the kind")
    with pytest.raises(TestbedError, match=r"cannot read no\.pcap"):
        wireshark_crosscheck.asked(tmp_path / "no.pcap")
