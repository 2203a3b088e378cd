"""Speed of the NFC study: a session, the Monte Carlo of Table 7.3, growth with bytes."""

import statistics
import time

import harness
import numpy as np

from voicewire.nfc import paper
from voicewire.nfc.beyond import lwip
from voicewire.nfc.channel import Channel, error_bits
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.session import Session

SESSION_BAR = 5e-3  # s, for 50 kB
MONTE_CARLO_BAR = 120.0  # s, for 6 x 1000 runs
LINEAR = 1.1  # exponent of the growth with bytes


def monte_carlo(runs: int) -> list[float]:
    """Give the mean latency of each cell of Table 7.3."""
    means = []
    for i, (kind, rate) in enumerate(paper.TABLE_73):
        channel = Channel.random(rate) if kind == "random" else Channel.burst(rate)
        means.append(float(Exchange(channel=channel).run(runs, np.random.default_rng([1, i])).seconds.mean()))
    return means


def benchmarks(run: harness.Run) -> None:
    """Measure everything; `run.quick` asks for small cases."""
    session = Session(size=50_000)
    if lwip.available():
        run.compare(
            "one 50 kB session",
            lambda: session.run().seconds,
            peer="lwIP 2.1.3 in virtual time, a process each",
            against=lambda: lwip.run(session).seconds,
            same=lambda ours, theirs: abs(theirs - ours - 0.02) < 1e-6,
            at_most=SESSION_BAR,
        )
    else:
        run.compare("one 50 kB session", lambda: session.run().seconds, at_most=SESSION_BAR)
    lossy = Session(size=50_000, channel=Channel.random(1e-5))
    run.compare("one 50 kB session at BER 1e-5", lambda: lossy.run(np.random.default_rng(1)), at_most=SESSION_BAR)
    run.scaling(
        "bytes of a session",
        lambda size: Session(size=size, window_limit=8192).run().slots,
        sizes=[1_000_000, 4_000_000, 16_000_000],
        at_most=LINEAR,
    )
    runs = 100 if run.quick else 1000
    monte_carlo(2)
    samples = []
    for _ in range(run.rounds):
        start = time.perf_counter()
        monte_carlo(runs)
        samples.append(time.perf_counter() - start)
    run.record(
        f"Monte Carlo of Table 7.3, 6 x {runs} runs", statistics.median(samples), "s", spread=harness.spread(samples),
        at_most=MONTE_CARLO_BAR,
    )  # fmt: skip
    chain = Channel.burst(1e-4)
    exchange = Exchange(channel=chain)
    bits = 2 * exchange.packets * exchange.bits
    run.compare(
        "one exchange through the burst channel",
        lambda: exchange.run(1, np.random.default_rng(1)).seconds[0],
        peer="the chain bit by bit, compiled",
        against=lambda: error_bits(bits, False, chain.to_bad, chain.to_good, np.random.default_rng(1)),
        at_least=2.0,
    )
    run.memory("one 50 kB session", lambda: session.run(), at_most=50e6)


if __name__ == "__main__":
    raise SystemExit(harness.main(benchmarks, __doc__, packages=["numpy", "numba"]))
