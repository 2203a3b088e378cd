"""RTP that FFmpeg sends over loopback, captured by dumpcap as pcap and pcapng, and what tshark counts in it."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import av
import numpy as np
import pytest

from voicewire.cli import main
from voicewire.voip.received import in_order
from voicewire.voip.rtp import clock_of, read_capture

DUMPCAP, TSHARK = shutil.which("dumpcap"), shutil.which("tshark")
PACKETS = 60
CODECS = {"pcm_mulaw": (0, 8000, 160), "pcm_alaw": (8, 8000, 160), "libopus": (97, 48_000, 960)}


def sent(codec: str, port: int) -> None:
    """Let FFmpeg's RTP muxer send 60 packets of noise, one each 20 ms."""
    rate, samples = CODECS[codec][1:]
    with av.open(f"rtp://127.0.0.1:{port}", "w", format="rtp") as out:
        stream = out.add_stream(codec, rate=rate, layout="mono")
        noise = (1000 * np.random.default_rng(1).standard_normal((1, samples * PACKETS))).astype(np.int16)
        begin = time.monotonic()
        for k in range(PACKETS):
            frame = av.AudioFrame.from_ndarray(noise[:, k * samples : (k + 1) * samples], format="s16", layout="mono")
            frame.sample_rate, frame.pts = rate, k * samples
            time.sleep(max(0.0, begin + 0.02 * k - time.monotonic()))
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))


@pytest.fixture(scope="module", params=CODECS)
def capture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int, Path]:
    if DUMPCAP is None:
        pytest.skip("dumpcap is not installed")
    if request.param not in av.codecs_available:
        pytest.skip(f"this FFmpeg has no {request.param}")
    file = tmp_path_factory.mktemp("rtp") / "call.pcapng"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        words = [DUMPCAP, "-q", "-i", "lo", "-f", f"udp port {port}", "-w", str(file), "-a", "duration:10"]
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as running:
            assert running.stderr is not None
            line = ""
            for line in running.stderr:
                if line.startswith("File:"):
                    break
            if not line.startswith("File:"):
                pytest.skip("dumpcap may not listen to loopback here")
            sent(request.param, port)
            time.sleep(1.2)  # what the kernel has captured is handed over within a second
            running.terminate()
    return request.param, port, file


def test_ffmpegs_stream_is_read(capture: tuple[str, int, Path], capsys: pytest.CaptureFixture[str]) -> None:
    codec, port, file = capture
    found = read_capture(file)
    assert found is not None
    (stream,) = found.streams
    assert abs(stream.times.size - PACKETS) <= 2  # an encoder may hold back its last frame, or begin with a short one
    assert clock_of(stream)[1] == CODECS[codec][1]
    assert clock_of(stream)[0] == CODECS[codec][0] or clock_of(stream)[0] >= 96
    assert main(["voip", "score", str(file), "--json"]) == 0
    out = capsys.readouterr().out
    made = json.loads(out)
    assert (made["lost_percent"], made["duplicates"], made["reordered"], made["strays"]) == (0.0, 0, 0, 0)
    assert made["frame_ms"] == pytest.approx(20.0)
    assert str(port) not in out
    assert "127.0.0.1" not in out


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed")
@pytest.mark.parametrize("form", ["pcapng", "pcap"])
def test_tshark_counts_the_same(capture: tuple[str, int, Path], form: str, tmp_path: Path) -> None:
    """Packets, losses and the mean jitter, with each ninth packet taken out."""
    _, port, file = capture
    cut = tmp_path / f"cut.{form}"
    keep = f"udp.dstport == {port} && frame.number % 9 != 5"
    run = [str(TSHARK), "-r", str(file), "-Y", keep, "-F", form, "-w", str(cut)]
    if subprocess.run(run, capture_output=True).returncode:
        pytest.skip("this tshark can't count modulo")
    shown = subprocess.run(
        [str(TSHARK), "-r", str(cut), "-d", f"udp.port=={port},rtp", "-q", "-z", "rtp,streams"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    (line,) = (each for each in shown.splitlines() if str(port) in each)
    counted = re.search(r"(\d+) +(-?\d+) \([\d.-]+%\)((?: +[\d.]+)*)", line)
    assert counted is not None, line
    packets, lost = counted[1], counted[2]
    found = read_capture(cut)
    assert found is not None
    (stream,) = found.streams
    made = in_order(stream.times, stream.numbers, stamps=stream.stamps, clock_hz=clock_of(stream)[1])
    assert stream.times.size == int(packets)
    assert np.isinf(made.delays_ms).sum() == int(lost)
    if clock_of(stream)[2]:  # of a dynamic type tshark doesn't know the clock, and leaves the jitter out
        assert made.jitter_ms == pytest.approx(float(counted[3].split()[-2]), abs=0.001)
