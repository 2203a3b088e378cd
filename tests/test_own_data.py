"""The page *Use it on your own data* runs as it is printed, in a clone, and what it does at a shell is there."""

from __future__ import annotations

import contextlib
import io
import re
import struct
import warnings
from pathlib import Path

import pytest

from voicewire import cli
from voicewire_book import paths

pytestmark = pytest.mark.landing

ROOT = paths.root()
PAGE = (ROOT / "book" / "own-data.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
SAID = {
    "vw.formants": r"\s*label\s+start\s+F1\s+F2\s+F3\n(\s*\w+( +[\d.]+){4}\n){2}",
    "vw.cancel_echo": r"True \(80000,\)\n",
    "vw.score": r"\s*codec\s+frames\s+lost\nG.711\s+200\s+0.0\n\d+\n",
    "vw.simulate": "20 True\n",
    "vw.read_capture": r"\d+\n",
    "vw.Broker": r"b'on'\n",
    "vw.session": r"delivered \d+\.\d\n",
}


def _call(path: Path) -> None:
    """A call of 200 packets, one every 20 ms, as a reader's own capture."""
    packets = []
    for k in range(200):
        rtp = struct.pack("!BBHII", 128, 0, k, 160 * k, 7) + bytes(160)
        udp = struct.pack("!4H", 4000, 4002, 8 + len(rtp), 0) + rtp
        ip = struct.pack("!BBHHHBBHII", 69, 0, 20 + len(udp), 0, 0, 64, 17, 0, 0x7F000001, 0x7F000001) + udp
        packets.append(struct.pack("<4I", k // 50, 20_000 * (k % 50), len(ip), len(ip)) + ip)
    path.write_bytes(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + b"".join(packets))


@pytest.mark.parametrize("name", SAID)
def test_each_of_its_pieces_runs(name, tmp_path, monkeypatch):
    [block] = [each for each in BLOCKS if name in each]
    _call(tmp_path / "call.pcap")
    monkeypatch.chdir(ROOT)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how many labels were left out
        exec(BLOCKS[0] + block.replace("call.pcap", str(tmp_path / "call.pcap")), {})
    assert re.fullmatch(SAID[name], out.getvalue()), out.getvalue()


def test_no_piece_is_left_out_and_none_is_longer_than_a_glance():
    named = {name for block in BLOCKS[1:] for name in SAID if name in block}
    assert named == set(SAID) and len(BLOCKS) == 1 + len(SAID)
    assert all(len(block.splitlines()) <= 6 for block in BLOCKS)


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
