"""WL-DR-RLS-DCD beside the reading version, Woodbury RLS, pyroomacoustics' RLS and the memory's bound; its relatives.

The bound is what this machine's memory allows: bytes moved over the measured bandwidth of each cache level, plus, for
each tap move, the dependent loads of the search at the measured latency. Nothing can be overlapped away from a search
whose next step needs the result of the last one.

Two cancellers in use are peers as well where they are installed: speexdsp (Debian's libspeexdsp1), and WebRTC's AEC3
(PyPI's aec-audio-processing 1.0.1) with VOICEWIRE_AEC3_SOURCE naming its unpacked source.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import harness
import numba
import numpy as np

from voicewire.echo import WLDRRLSDCD, WLNLMS, WLRLS, StereoNLMS, StereoRLS, dcd_uncompiled, paper, reference
from voicewire.echo.scenes.scene import Scene
from voicewire.echo.two_path_filter import Guarded
from voicewire_book.chapters.echo import canceller_comparison
from voicewire_book.chapters.echo.recording_pairs import TAPS, trial

PASSES = 3


@numba.njit
def _total(a: Any, times: int) -> int:
    total = 0
    for _ in range(times):
        for i in range(a.size):
            total += a[i]
        a[0] += 1  # or the loop over `times` would be folded
    return total


@numba.njit
def _move(a: Any, b: Any, times: int) -> None:
    for t in range(times):
        for i in range(a.size):
            b[i] = a[i] + t


@numba.njit
def _chase(a: Any, steps: int) -> int:
    at = 0
    for _ in range(steps):
        at = a[at]
    return at


def _typical(function: Any, *arguments: Any) -> float:
    function(*arguments)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def _latency(size: int) -> float:
    """Seconds of one load that waits for the one before, in an array of so many bytes."""
    order = np.random.default_rng(0).permutation(size // 8)
    ring = np.empty(order.size, np.int64)
    ring[order] = np.roll(order, -1)
    return _typical(_chase, ring, 100_000) / 100_000


def bound(length: int, passes: int, updates: int, itemsize: int = 4) -> float:
    """Least seconds per sample that this machine's caches allow the algorithm."""
    row = 4 * length * itemsize
    matrix = np.ones(length * row // 4, np.int32)
    reading = matrix.nbytes * 20 / _typical(_total, matrix, 20)
    vector = np.ones(row // 4, np.int32)
    moving = 2 * row * 2000 / _typical(_move, vector, vector.copy(), 2000)
    moves = passes * updates
    far = (moves + 4) * row / reading
    near = (moves + passes) * 2 * row / moving
    search = moves * (_latency(matrix.nbytes) + 3 * _latency(row))
    return far + near + search


def signals(length: int, samples: int) -> tuple[Any, Any]:
    """The far end and the microphones of Figure 1's scene."""
    scene = Scene(length, samples, 1).signals()
    return scene.x, scene.d


def forms(run: harness.Run, x: Any, d: Any) -> None:
    """The real form beside the complex one, and exact data reuse beside one pass and the reading version.

    Both of a pair run in turn, so that they meet the same weather; told are samples a second.
    """
    length, forgetting = paper.FIGURE_1.length, paper.FIGURE_1.forgetting

    def pair(name: str, ours: Any, peer: str, theirs: Any, at_least: float, few: int) -> None:
        ours(few), theirs(few)  # compiled by now
        mine, peers = [], []
        for _ in range(run.rounds):
            start = time.perf_counter()
            ours(1000)
            middle = time.perf_counter()
            theirs(few)
            peers.append((time.perf_counter() - middle) / few)
            mine.append((middle - start) / 1000)
        one, other = float(np.median(mine)), float(np.median(peers))
        rates = {"value": 1 / one, "peer_value": 1 / other, "ratio": other / one}
        run.record(name, unit="samples/s", peer=peer, at_least=at_least, **rates)

    def on(filter_: Any) -> Any:
        return lambda n: filter_.process(x[:n], d[:n])

    def to_read(n: int) -> None:
        reference.dr_rls(x[:n], d[:n], length, forgetting, PASSES)

    three, one = (StereoRLS(length, forgetting, data_reuse=passes) for passes in (PASSES, 1))
    wide = WLRLS(length, forgetting, data_reuse=PASSES)
    name = f"WL-DR-RLS without DCD in its real form, L = {length}, N_it = {PASSES}"
    pair(name, on(three), "one pass", on(one), 0.85, 1000)
    pair(name, on(three), "its complex form in numba", on(wide), 1.5, 300)
    pair(name, on(three), "plain NumPy", to_read, 5.0, 60)
    name = f"four real NLMS filters, L = {length}"
    pair(name, on(StereoNLMS(length)), "their complex form in numba", on(WLNLMS(length)), 1.0, 1000)
    try:
        from pyroomacoustics.adaptive import NLMS
    except ImportError:
        return
    nlms = NLMS(2 * length, mu=0.5)

    def one_output(n: int) -> None:
        for sample, wanted in zip(x.real[:n], d.real[:n], strict=True):
            nlms.update(sample, wanted)

    pair(name + ", both outputs", on(StereoNLMS(length)), "pyroomacoustics NLMS, one output", one_output, 2.0, 300)


def in_use(run: harness.Run, webrtc: str | None) -> None:
    """`voicewire echo`'s canceller beside speexdsp and AEC3 on the same speech; a peer that isn't there is left out.

    Told are seconds of the processor for a second of sound, and how ours grows with the taps.
    """
    made = trial("clean", 71)
    size = round((4 if run.quick else 12) * paper.RATE)
    far, heard = made.far[:size], made.microphone[:size]
    scale = np.std(far)
    x, d = far / scale + 0j, heard / scale + 0j

    def ours(taps: int) -> float:
        canceller = Guarded(taps, paper.RATE)
        start = time.process_time()
        canceller.process(x, d)
        return time.process_time() - start

    rounds = min(run.rounds, 5)
    with tempfile.TemporaryDirectory() as folder:
        found, left_out = canceller_comparison.cancellers(folder, webrtc)
        for why in left_out:
            print(f"{why}; its row is left out", file=sys.stderr)
        for name in [other for other in found if other != "ours"]:
            pairs = [(ours(TAPS), found[name](far, heard).seconds) for _ in range(rounds + 1)][1:]
            mine, theirs = (float(np.median(each)) * paper.RATE / size for each in zip(*pairs, strict=True))
            row = f"a second of speech, guarded, L = {TAPS}, processor time"
            run.record(row, mine, "s", peer=name, peer_value=theirs, ratio=theirs / mine)
    run.scaling("L, guarded", ours, [128, 256, 512] if run.quick else [128, 256, 512, 1024, 2048], rounds=rounds)


def benchmarks(run: harness.Run) -> None:
    length, forgetting = paper.FIGURE_1.length, paper.FIGURE_1.forgetting
    x, d = signals(length, 24_000)

    def warm(filter_: Any, samples: int) -> Any:
        filter_.process(x[:samples], d[:samples])
        return filter_

    fast = warm(WLDRRLSDCD(length, forgetting, PASSES, dtype=np.float32), 20_000)
    slow = warm(dcd_uncompiled.WLDRRLSDCD(length, forgetting, PASSES), 300)
    woodbury = warm(WLRLS(length, forgetting), 300)
    few = 40

    def per_sample(name: str, other: Any, peer: str, at_least: float) -> None:
        ours, theirs = [], []
        for _ in range(run.rounds):
            start = time.perf_counter()
            fast.process(x[:4000], d[:4000])
            middle = time.perf_counter()
            other(few)
            stop = time.perf_counter()
            ours.append((middle - start) / 4000)
            theirs.append((stop - middle) / few)
        mine, peers = float(np.median(ours)), float(np.median(theirs))
        run.record(name, mine, "s", peer=peer, peer_value=peers, ratio=peers / mine, at_least=at_least)

    name = f"a sample, L = {length}, N_it = {PASSES}, float32"
    per_sample(name, lambda n: slow.process(x[:n], d[:n]), "plain NumPy", 80)
    per_sample(name, lambda n: woodbury.process(x[:n], d[:n]), "complex Woodbury RLS in numba", 25)
    try:
        from pyroomacoustics.adaptive import RLS
    except ImportError:
        print("pyroomacoustics is not installed (extra: oracle); its line is left out", file=sys.stderr)
    else:
        rls = RLS(2 * length, lmbd=forgetting)

        def one_output(n: int) -> None:
            for sample, wanted in zip(x.real[:n], d.real[:n], strict=True):
                rls.update(sample, wanted)

        per_sample(name + ", both outputs", one_output, "pyroomacoustics RLS, one output", 20)
    forms(run, x, d)
    shares = []
    for _ in range(run.rounds):  # the bound and the filter in turn: both meet the same weather
        least = bound(length, PASSES, paper.UPDATES)
        start = time.perf_counter()
        fast.process(x[:4000], d[:4000])
        shares.append(least / ((time.perf_counter() - start) / 4000))
    run.record("share of the memory's bound", float(np.median(shares)), "", at_least=0.4)

    def cost(size: int) -> Any:
        return filters[size].process(*inputs[size])

    sizes = [32, 128, 512] if run.quick else [32, 64, 128, 256, 512, 1024, 2048]
    inputs = {size: signals(size, 2000) for size in sizes}
    filters = {size: WLDRRLSDCD(size, 1 - 1 / (64 * size), PASSES, dtype=np.float32) for size in sizes}
    run.scaling("L", cost, sizes, at_most=1.15, rounds=5)
    in_use(run, os.environ.get("VOICEWIRE_AEC3_SOURCE"))
    code = (
        "import time,numpy as np;t=time.perf_counter();from voicewire.echo import WLDRRLSDCD;"
        "f=WLDRRLSDCD(16,.99,dtype=np.float32);f.process(np.ones(9)+0j,np.ones(9)+0j);print(time.perf_counter()-t)"
    )
    first = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    run.record("import and first call, compiled code from the cache", float(first.stdout), "s")
    if run.quick:
        return
    code = (
        "import sys,time,resource;from voicewire_book.chapters.echo import experiments;t=time.perf_counter();"
        "experiments.figure(int(sys.argv[1]));"
        "print(time.perf_counter()-t,1024*resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    for number, what, most in ((1, "1.5 million samples, six curves", 60), (2, "300 s of speech, seven curves", 180)):
        full = subprocess.run([sys.executable, "-c", code, str(number)], capture_output=True, text=True, check=True)
        seconds, memory = map(float, full.stdout.split())
        run.record(f"Figure {number} at full size: {what}", seconds, "s", at_most=most)
        run.record(f"Figure {number}, peak memory of the process", memory, "B", at_most=500e6)


if __name__ == "__main__":
    raise SystemExit(harness.main(benchmarks, __doc__, packages=["numpy", "numba", "pyroomacoustics"]))
