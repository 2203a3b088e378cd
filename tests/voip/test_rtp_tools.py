"""RTP that FFmpeg and GStreamer send over loopback, by UDP and TCP, captured by dumpcap, and what tshark counts."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import av
import numpy as np
import pytest

from voicewire.cli import main
from voicewire.voip.captures.received import in_order
from voicewire.voip.captures.rtp import clock_of, read_capture

DUMPCAP, TSHARK = shutil.which("dumpcap"), shutil.which("tshark")
GSTREAMER = shutil.which("gst-launch-1.0")
PACKETS = 60
CODECS = {"pcm_mulaw": (0, 8000, 160), "pcm_alaw": (8, 8000, 160), "libopus": (97, 48_000, 960)}


def sent(codec: str, address: str, **how: str) -> None:
    """Let FFmpeg's muxer send 60 packets of noise, one each 20 ms."""
    rate, samples = CODECS[codec][1:]
    with av.open(address, "w", format=address.partition(":")[0], options=how) as out:
        stream = out.add_stream(codec, rate=rate, layout="mono")
        noise = (1000 * np.random.default_rng(1).standard_normal((1, samples * PACKETS))).astype(np.int16)
        begin = time.monotonic()
        for k in range(PACKETS):
            frame = av.AudioFrame.from_ndarray(noise[:, k * samples : (k + 1) * samples], format="s16", layout="mono")
            frame.sample_rate, frame.pts = rate, k * samples
            time.sleep(max(0.0, begin + 0.02 * k - time.monotonic()))
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))


@contextlib.contextmanager
def captured(rule: str, file: Path) -> Iterator[None]:
    """Let dumpcap listen to loopback meanwhile."""
    words = [str(DUMPCAP), "-q", "-i", "lo", "-f", rule, "-w", str(file), "-a", "duration:90"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        line = ""
        for line in running.stderr:
            if line.startswith("File:"):
                break
        assert line.startswith("File:"), line
        yield
        seen, since, begin = 0, time.monotonic(), time.monotonic()
        while time.monotonic() < min(since + (1.2 if seen > PACKETS * 60 else 20), begin + 40):
            time.sleep(0.1)  # what the kernel has captured is handed over within a second, on a busy machine later
            size = file.stat().st_size
            seen, since = size, since if size == seen else time.monotonic()
        running.terminate()


def answers(server: socket.socket) -> None:
    """Take one RTSP session to a server, and every packet in it."""
    gone = contextlib.suppress(ConnectionError)  # FFmpeg may close without reading the last answer
    with server.accept()[0] as one, one.makefile("rb") as asked, gone:
        length = 0
        while first := asked.read(1):
            if first == b"$":
                asked.read(int.from_bytes(asked.read(3)[1:], "big"))
                continue
            head = first
            while not head.endswith(b"\r\n\r\n"):
                head += asked.read(1)
            fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
            length = int(fields.get(b"Content-Length", 0))
            asked.read(length)
            told = b"Transport: " + fields[b"Transport"] + b"\r\n" if b"Transport" in fields else b""
            one.sendall(b"RTSP/1.0 200 OK\r\nCSeq: " + fields[b"CSeq"] + b"\r\nSession: 1\r\n" + told + b"\r\n")


def drained(server: socket.socket) -> None:
    with server.accept()[0] as one:
        while one.recv(65_536):
            pass


@pytest.fixture(scope="module", params=["RTSP", pytest.param("RFC 4571", marks=pytest.mark.needs("gstreamer"))])
def over_tcp(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int, Path]:
    """FFmpeg publishing by RTSP, interleaved; GStreamer's rtpstreampay."""
    file = tmp_path_factory.mktemp("tcp") / "call.pcapng"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        port = server.getsockname()[1]
        other = answers if request.param == "RTSP" else drained
        with ThreadPoolExecutor(1) as listening, captured(f"tcp port {port}", file):
            done = listening.submit(other, server)
            if request.param == "RTSP":
                words = [
                    sys.executable,
                    __file__,
                    f"rtsp://127.0.0.1:{port}/call",
                ]  # FFmpeg waits for us in its own process
                subprocess.run(words, check=True, timeout=60)
            else:
                words = f"audiotestsrc is-live=true num-buffers={PACKETS} samplesperbuffer=160 ! "
                words += "audio/x-raw,rate=8000,channels=1 ! mulawenc ! rtppcmupay ! rtpstreampay ! "
                words += f"tcpclientsink host=127.0.0.1 port={port}"
                subprocess.run([str(GSTREAMER), "-q", *words.split()], check=True, timeout=30)
            done.result(timeout=30)
    return request.param, port, file


@pytest.mark.needs("dumpcap")
def test_packets_over_tcp_are_read(over_tcp: tuple[str, int, Path], capsys: pytest.CaptureFixture[str]) -> None:
    framing, port, file = over_tcp
    assert main(["voip", "score", str(file), "--json"]) == 0
    out = capsys.readouterr().out
    made = json.loads(out)
    assert (made["carried"], made["frames"], made["frame_ms"]) == (f"TCP, {framing}", PACKETS, 20.0)
    counts = ("payload_type", "lost_percent", "duplicates", "reordered", "strays", "holes", "cut")
    assert [made[name] for name in counts] == [0, 0.0, 0, 0, 0, 0, False]
    assert str(port) not in out
    assert "127.0.0.1" not in out


@pytest.mark.needs("dumpcap", "tshark")
def test_tshark_sees_the_same_numbers_and_timestamps_over_tcp(over_tcp: tuple[str, int, Path]) -> None:
    framing, port, file = over_tcp
    known = {"RTSP": "rtsp", "RFC 4571": "rtp"}[framing]
    shown = subprocess.run(
        [str(TSHARK), "-r", str(file), "-d", f"tcp.port=={port},{known}", "-Y", "rtp", "-T", "fields",
         "-e", "rtp.seq", "-e", "rtp.timestamp"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    rows = [[each.split(",") for each in line.split("\t")] for line in shown.splitlines()]
    found = read_capture(file)
    assert found is not None
    (stream,) = found.streams
    for column, mine in enumerate((stream.numbers, stream.stamps)):
        assert [int(each) for row in rows for each in row[column]] == mine.tolist()


@pytest.fixture(
    scope="module",
    params=["pcm_mulaw", "pcm_alaw", pytest.param("libopus", marks=pytest.mark.needs("libopus"))],
)
def capture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int, Path]:
    file = tmp_path_factory.mktemp("rtp") / "call.pcapng"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        for _ in range(10):
            with captured(f"udp port {port}", file):
                sent(request.param, f"rtp://127.0.0.1:{port}")
            found = read_capture(file)
            if found and abs(np.ptp(found.streams[0].times) - 0.02 * (PACKETS - 1)) < 0.05:
                break  # else this machine was too busy to send in time, and timestamps tell no clock
    return request.param, port, file


@pytest.mark.needs("dumpcap")
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


@pytest.mark.needs("dumpcap", "tshark", "tshark-modulo")
@pytest.mark.parametrize("form", ["pcapng", "pcap"])
def test_tshark_counts_the_same(capture: tuple[str, int, Path], form: str, tmp_path: Path) -> None:
    """Packets, losses and the mean jitter, with each ninth packet taken out."""
    _, port, file = capture
    cut = tmp_path / f"cut.{form}"
    keep = f"udp.dstport == {port} && frame.number % 9 != 5"
    run = [str(TSHARK), "-r", str(file), "-Y", keep, "-F", form, "-w", str(cut)]
    subprocess.run(run, capture_output=True, check=True)
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


if __name__ == "__main__":
    sent("pcm_mulaw", sys.argv[1], rtsp_transport="tcp")
