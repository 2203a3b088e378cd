"""Voice over IP: frames simulated and scored per second, the playout bound against dynamic programming, growth.

Rates are given as the time for a million frames: 0.2 s is 5 million frames per second. Where ns-3 is installed (the
extra `ns3`), calls by UDP and TCP are simulated there too, and times and median R are set side by side.
"""

from __future__ import annotations

import sys
from importlib import metadata

import harness
import numpy as np

from voicewire.netsim import Flow, Path, Tcp, Tfrc, Udp, simulate
from voicewire.voip import ns3, playout
from voicewire.voip.calls import call, delays_ms
from voicewire.voip.conversation import talk
from voicewire.voip.transports import transport
from voicewire_book.chapters.voip import experiments, playout_recursion


def conversation(frames: int) -> tuple[np.ndarray, np.ndarray]:
    """About so many frames of talk, as one long call."""
    t = talk(np.random.default_rng(1), frames * 0.05 + 10)
    return t.times[:frames], t.spurts[:frames]


def beside_ns3(run: harness.Run) -> None:
    """UDP and TCP in ns-3: how long one call takes, and how far the median R of many calls is from ours."""
    if not ns3.available():
        print("ns-3 is not installed (extra: ns3); nothing is compared with it", file=sys.stderr)
        return
    peer = f"ns-3 {metadata.version('ns3')}"
    calls = 12 if run.quick else 60  # losses are not paired, so the medians themselves scatter
    for name in ns3.NAMES:
        run.compare(
            f"one call of 300 s by {name}",
            lambda name=name: call(name, "G.729", delay_ms=50).r,
            peer=peer,
            against=lambda name=name: ns3.call(name, "G.729", delay_ms=50).r,
            same=lambda a, b: abs(a - b) < 1e-6,
            rounds=5,
        )
        for loss in (0.0, 1e-3, 1e-2):
            ours, theirs = (
                float(np.median([simulated(name, "G.729", delay_ms=50, loss=loss, seed=k).r for k in range(calls)]))
                for simulated in (call, ns3.call)
            )
            what = f"{name}, 50 ms, loss {loss:g}"
            run.record(f"median R of {calls} calls, {what}", ours, "", peer=peer, peer_value=theirs)
            run.record(f"difference in median R, {what}", abs(ours - theirs), "", at_most=1.0)


def benchmarks(run: harness.Run) -> None:
    """Every bar of this part."""
    million = 100_000 if run.quick else 1_000_000
    times, spurts = conversation(million)
    share = million / 1_000_000
    for name, sender, bar in (
        ("UDP", Udp(), 0.2),
        ("TCP", Tcp(), 0.2),
        ("TFRC SP FR", Tfrc(small=True, restart=4.0), 0.2),
        ("TFRC SP FR MD", transport("TFRC SP FR MD", "G.729"), 0.2),
    ):
        flow = [Flow(times, 20, sender, Path(50, 1e-3))]
        run.compare(f"simulate {million:,} frames, {name}", lambda flow=flow: simulate(flow), at_most=bar * share)
    flow = Flow(times, 20, transport("TFRC SP FR MD", "G.729"), Path(100, 1e-3))
    delay, starts = playout.as_trace(delays_ms(times, simulate([flow]).flows[0].arrive), spurts)
    run.compare(
        f"score {million:,} frames of TFRC SP FR MD",
        lambda: playout.best_r(delay, starts, "G.729"),
        at_most=0.1 * share,
    )
    rng = np.random.default_rng(2)
    size = 1500 if run.quick else 6000
    d, k = rng.gamma(4.0, 40.0, size), np.arange(size) // 50
    run.compare(
        f"playout bound, N = {size}",
        lambda: playout.bound(d, k, "G.729").r,
        peer="NumPy O(N²) dynamic programme",
        against=lambda: playout_recursion.repaired_recursion(d, k, "G.729"),
        same=lambda a, b: abs(a - b) < 1e-9,
        at_least=None if run.quick else 100.0,
        rounds=5,
    )

    def one(seconds: int) -> float:
        return call("TFRC SP FR", "G.729", delay_ms=50, loss=1e-3, seconds=seconds).r

    # constant costs of a few hundred microseconds hide in the shortest call, so growth is below linear there
    run.scaling("seconds of a call, 10 s to 10 h", one, sizes=[10, 100, 1000, 36_000], at_most=1.1)
    if not run.quick:
        run.compare(
            "the complete set of figures, on two cores",
            lambda: [experiments.curves(f, workers=2, cache=False, progress=False) for f in experiments.FIGURES],
            at_most=60.0,
            rounds=1,
        )
    beside_ns3(run)


if __name__ == "__main__":
    raise SystemExit(harness.main(benchmarks, __doc__ or "", packages=["numpy", "numba", "voicewire", "ns3"]))
