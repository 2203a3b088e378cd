"""The house: what a sweep costs beside bare joblib, and what its cache saves."""

from __future__ import annotations

import tempfile
from typing import Any

import harness
import joblib
import numpy as np

from voicewire.sweep import sweep, task_rng

WORKERS = 2


def task(rng: np.random.Generator, size: int) -> float:
    """About 5 ms of work: far less than a task of the book, so that the cost of handing it out shows."""
    return float(np.sort(rng.normal(size=size)).sum())


def benchmarks(run: harness.Run) -> None:
    grid: dict[str, Any] = {"size": [60_000]}
    seeds = range(40 if run.quick else 200)

    def swept() -> list[float]:
        return [row.value for row in sweep(task, grid, seeds, workers=WORKERS, cache=False, progress=False)]

    def bare() -> list[float]:
        calls = (joblib.delayed(task)(task_rng({"size": 60_000}, seed), 60_000) for seed in seeds)
        return list(joblib.Parallel(n_jobs=WORKERS)(calls))

    run.compare(
        f"sweep of {len(seeds)} tasks of 5 ms",
        swept,
        peer="joblib.Parallel, no cache, no recovery",
        against=bare,
        same=lambda ours, theirs: ours == theirs,
        at_least=0.6,
        rounds=7,
    )
    with tempfile.TemporaryDirectory() as folder:

        def cached() -> list[float]:
            return [row.value for row in sweep(task, grid, seeds, workers=WORKERS, cache=folder, progress=False)]

        run.compare(
            f"the same {len(seeds)} tasks from the cache",
            cached,
            peer="the same sweep, computed",
            against=swept,
            same=lambda ours, theirs: ours == theirs,
            at_least=5.0,
            rounds=7,
        )


if __name__ == "__main__":
    raise SystemExit(harness.main(benchmarks, __doc__, packages=["numpy", "joblib"]))
