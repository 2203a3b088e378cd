"""One page names all data that others made, with their licences; the folders' own lists agree with it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.landing

PAGE = Path(__file__).parents[1] / "book" / "licences.md"
DATA = Path(__file__).parents[1] / "data"
FOREIGN = re.compile(r"recorded elsewhere|Debian's|PyPI's|Python package", re.IGNORECASE)


COMPUTED = ("cancellers.csv", "lengths.csv", "windows.csv")
"""What echo's own programs made of sounds and rooms that others recorded."""


def rows(text: str) -> list[list[str]]:
    """The cells of every row of every table."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def named(cell: str) -> list[str]:
    return re.findall(r"`([\w.-]+\.\w+)`", cell)


def test_each_file_from_elsewhere_is_on_the_page():
    page = set(re.findall(r"^- `(data/[^`]+)`", PAGE.read_text("utf-8"), re.MULTILINE))
    found = set()
    for readme in sorted(DATA.glob("*/README.md")):
        text = readme.read_text("utf-8")
        for cells in rows(text.partition("## What the paper describes")[0]):
            made_by_us = "voicewire record" in " ".join(cells)
            for name in named(cells[0]):
                if FOREIGN.search(" ".join(cells[1:])) and not made_by_us and name not in COMPUTED:
                    found.add(f"data/{readme.parent.name}/{name}")
    assert found == page
    assert all((DATA.parent / name).is_file() for name in found)


def test_each_file_has_its_checksum():
    listed = re.findall(r"^- `(data/[^`]+)`", PAGE.read_text("utf-8"), re.MULTILINE)
    for path in (DATA.parent / name for name in listed):
        sums = (path.parent / "checksums.sha256").read_text("utf-8").splitlines()
        assert f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" in sums


def test_licences_agree_with_those_that_the_folders_name():
    page = PAGE.read_text("utf-8")
    for folder, words in (("echo", ["CC BY 3.0", "public domain", "GPL-3"]), ("voip", ["MIT", "LGPL"]),
                          ("transport", ["LGPL"]),
                          ("pharyngeal", ["GPL-2.0-or-later", "BSD-2-Clause", "GPL-3.0"])):  # fmt: skip
        text = (DATA / folder / "README.md").read_text("utf-8")
        for word in words:
            assert word in text
            spelt = {"GPL-3": "GPL 3", "GPL-3.0": "GPL 3"}
            spelt |= {"GPL-2.0-or-later": "GPL 2 or later", "BSD-2-Clause": "BSD 2-Clause"}
            assert spelt.get(word, word) in page


def test_what_is_not_kept_is_not_there():
    kept = {path.suffix for path in DATA.rglob("[!.]*") if path.is_file()}
    sounds = {path.name for path in DATA.rglob("*") if path.suffix in (".wav", ".flac", ".ogg", ".mp3")}
    made_here = {"speech.flac", "arabic_synthesiser.wav", "speech.wav"}
    assert sounds == made_here | {"voices.flac", "living-room.flac", "voice.wav"}
    assert kept <= {".md", ".csv", ".gz", ".yml", ".json", ".sha256", ".flac", ".wav", ".TextGrid", ".pcap"}


def test_the_build_reads_nothing_from_elsewhere():
    """No notebook names a fetch, and the one function that fetches is off unless a variable is set."""
    from voicewire.pharyngeal.corpora import SWITCH

    notebooks = [path.read_text("utf-8") for path in (PAGE.parents[1] / "notebooks").rglob("*.ipynb")]
    assert notebooks and not any("corpora.fetch(" in text or SWITCH in text or "urlopen(" in text for text in notebooks)
