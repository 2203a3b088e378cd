"""The page *Use it on your own data* runs as it is printed, in a clone, and what it does at a shell is there."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import struct
import warnings
from pathlib import Path

import pytest

import voicewire
from voicewire import cli
from voicewire_book import paths

pytestmark = pytest.mark.landing

ROOT = paths.root()
PAGE = (ROOT / "book" / "own-data.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
PIECES = dict(re.findall(r"^```python\n((?:(?!```).)*?)^```\n\n```text\n(.*?)^```$", PAGE, re.M | re.S))
"""Each piece, and what the page says that it prints."""
NAMES = {code: re.findall(r"\bvw\.(\w+)", code)[0] for code in PIECES}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def _call(path: Path) -> None:
    """A call of 200 packets, one every 20 ms, as a reader's own capture."""
    packets = []
    for k in range(200):
        rtp = struct.pack("!BBHII", 128, 0, k, 160 * k, 7) + bytes(160)
        udp = struct.pack("!4H", 4000, 4002, 8 + len(rtp), 0) + rtp
        ip = struct.pack("!BBHHHBBHII", 69, 0, 20 + len(udp), 0, 0, 64, 17, 0, 0x7F000001, 0x7F000001) + udp
        packets.append(struct.pack("<4I", k // 50, 20_000 * (k % 50), len(ip), len(ip)) + ip)
    path.write_bytes(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + b"".join(packets))


@pytest.mark.parametrize("code", PIECES, ids=NAMES.values())
def test_each_of_its_pieces_prints_what_stands_below_it(code, tmp_path, monkeypatch):
    """The same words, and numbers within 5 %: another machine adds in another order."""
    _call(tmp_path / "call.pcap")
    monkeypatch.chdir(ROOT)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how many labels were left out
        exec(BLOCKS[0] + code.replace("call.pcap", str(tmp_path / "call.pcap")), {})
    printed, said = out.getvalue(), PIECES[code]
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", said).split()
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (printed, said)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.05)


def test_no_piece_is_without_its_output_or_longer_than_a_glance():
    assert BLOCKS[1:] == list(PIECES) and len(PIECES) >= 7
    assert all(len(block.splitlines()) <= 6 and max(map(len, block.splitlines())) <= 78 for block in BLOCKS)
    shown = set(re.findall(r"\bvw\.(\w+)", " ".join(BLOCKS)))
    declared = {name for name in voicewire.__all__ if not inspect.ismodule(getattr(voicewire, name))}
    assert shown >= declared - {"Cancelled"}  # what cancel_echo returns


@pytest.mark.parametrize("line", re.findall(r"`voicewire ([^`]+)`", PAGE))
def test_its_commands_take_what_is_written(line):
    """Their options and arguments are read as they stand; nothing is run."""
    words = [word.strip("'") for word in line.split()]
    parser = cli.parser()
    known = parser.parse_args(_with_files(words))
    assert known.handler is not None


def _with_files(words: list[str]) -> list[str]:
    """A real file in the place of each that the page makes up."""
    sound = str(ROOT / "data" / "voip" / "voice.wav")
    made = {"FILE": sound, "FAR.wav": sound, "MIC.wav": sound, "call.pcap": sound}
    return [made.get(word, word) for word in words]
