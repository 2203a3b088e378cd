"""The header bytes that we read from a capture are those that Wireshark's own program reads (paper, section III.A)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from voicewire import paths
from voicewire.testbed import capture
from voicewire.transport import examples

CAPTURES = paths.data("transport") / "captures"


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("name", examples.NAMES)
def test_tshark_counts_the_same_headers(name: str) -> None:
    file: Path = CAPTURES / f"{name}.pcap"
    fields = ["-e", "tcp.hdr_len", "-e", "ip.hdr_len", "-e", "tcp.len"]
    command = ["tshark", "-n", "-r", str(file), "-Y", "tcp", "-T", "fields", "-E", "separator=,", *fields]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    theirs = [tuple(int(field) for field in line.split(",")) for line in answer.stdout.splitlines()]
    ours = [(s.header, s.ip_header, len(s.payload)) for s in capture.read_pcap(file)]
    assert len(theirs) > 5
    assert ours == theirs
