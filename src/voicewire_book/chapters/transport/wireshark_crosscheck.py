"""Our captures as Wireshark's own program reads them, segment by segment (the paper's section III.A).

``tshark`` is not everywhere, so its answer is recorded: ``voicewire record transport wireshark``. A test asks it anew
where it is installed. Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voicewire.testbed import capture
from voicewire.testbed.errors import TestbedError
from voicewire_book.chapters.transport.captured_sessions import NAMES

__all__ = ["FIELDS", "asked", "ours", "record_wireshark", "recorded"]

FIELDS = ("tcp.hdr_len", "ip.hdr_len", "tcp.len")
"""What is compared of each segment, by Wireshark's names, bytes."""

Counts = NDArray[np.int64]


def asked(file: Path) -> Counts:
    """Let tshark read a capture."""
    program = shutil.which("tshark")
    if program is None:
        raise TestbedError("tshark is not installed; what it said once is in data/transport/wireshark.json")
    command = [program, "-n", "-r", str(file), "-Y", "tcp", "-T", "fields", "-E", "separator=,"]
    for field in FIELDS:
        command += ["-e", field]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if answer.returncode:
        raise TestbedError(f"tshark cannot read {file.name}: {answer.stderr.strip()[-200:]}")
    return np.array([[int(field) for field in line.split(",")] for line in answer.stdout.splitlines()])


def ours(file: Path) -> Counts:
    """Take the same from a capture with our own reader."""
    return np.array([(s.header, s.ip_header, len(s.payload)) for s in capture.read_pcap(file)])


def record_wireshark(captures: Path, folder: Path) -> None:
    """Ask tshark for every capture, and write ``wireshark.json``."""
    found = {name: asked(captures / f"{name}.pcap").tolist() for name in NAMES}
    version = subprocess.run(["tshark", "--version"], capture_output=True, text=True, timeout=60, check=True)
    about = {"program": version.stdout.splitlines()[0], "fields": FIELDS, "segments": found}
    (folder / "wireshark.json").write_text(json.dumps(about) + "\n", encoding="utf-8")


def recorded(folder: Path, name: str) -> Counts:
    """Read what tshark said of a capture when it was asked."""
    return np.array(json.loads((folder / "wireshark.json").read_text(encoding="utf-8"))["segments"][name])
