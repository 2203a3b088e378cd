"""Run many cells, keep each as soon as it is finished, and put them together into tidy tables.

An interrupted run loses the cells that were under way and no finished one: each is written whole, under its own name,
by a rename. `assemble` makes three files of them:

=====================  =====================================================================================
``iterations.csv.gz``  one row for each iteration of each cell
``summary.csv``        one row for each cell and metric: n, mean, t interval, quartiles, lag-1 autocorrelation
``provenance.json``    when, where, with what
=====================  =====================================================================================
"""

from __future__ import annotations

import datetime
import gzip
import importlib.metadata
import io
import json
import multiprocessing
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from voicewire._kit import sheets
from voicewire.stats import t_interval
from voicewire.testbed.capability import capabilities, mosquitto_version
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.link import LinkSpec
from voicewire.testbed.mosquitto import end_with_parent
from voicewire.transport import paper
from voicewire.transport.experiment_grid import Cell
from voicewire.transport.linear_topology import Bed
from voicewire.transport.run_mqtt import ROLES, run_mqtt
from voicewire.transport.run_tcp import run_tcp

#: Processes that run cells of a network side by side.
WORKERS = {"lan": 3, "internet": 16}

__all__ = ["METRICS", "assemble", "finished", "load_iterations", "load_summary", "record", "run_cell", "summarise"]

#: Columns that are summarised; those of the other transport are empty.
METRICS = (
    "time_ms", "session_ms",
    "sender_segments", "sender_header", "sender_payload", "receiver_segments", "receiver_header", "receiver_payload",
    "publisher_segments", "publisher_header", "publisher_payload",
    "subscriber_segments", "subscriber_header", "subscriber_payload",
    "broker_in_segments", "broker_in_header", "broker_in_payload",
    "broker_out_segments", "broker_out_header", "broker_out_payload",
)  # fmt: skip
_RETRANSMITTED = ("sender", "receiver", "publisher", "subscriber")
_KEYS = ("network", "transport", "qos", "session", "kind", "size", "gap", "nodelay")
_REPEATED = tuple(f"{leg}_{what}" for leg in ("broker_in", "broker_out") for what in ("repeated", "repeated_payload"))
_COLUMNS = (*_KEYS, "iteration", *METRICS, *(f"{end}_retransmitted" for end in _RETRANSMITTED), *_REPEATED)


def run_cell(cell: Cell, bed: str = "namespaces", which: str = "embedded") -> list[dict[str, Any]]:
    """Run one cell on a bed of its own and return its rows.

    Parameters
    ----------
    cell : Cell
        What to run.
    bed : str
        ``"namespaces"`` or ``"proxy"``.
    which : str
        The broker, see `run_mqtt.broker`.

    Returns
    -------
    list of dict
        One row an iteration.

    Raises
    ------
    TestbedError
        If the bed or the broker fails.

    Examples
    --------
    >>> rows = run_cell(Cell("lan", "tcp", 0, "fresh", "bytes", 100, iterations=2), "proxy")
    >>> [row["network"] for row in rows]
    ['lan', 'lan']
    """
    spec = paper.NETWORKS[cell.network]
    if cell.transport == "tcp":
        with Bed(("sender", "receiver"), spec, bed, cell.seed) as b:
            rows = run_tcp(b, cell)
    else:
        with Bed(ROLES, spec, bed, cell.seed) as b:
            rows = run_mqtt(b, cell, which)
    return [cell.columns() | row for row in rows]


def _cell_path(folder: Path, cell: Cell) -> Path:
    return folder / "cells" / f"{cell.name}.csv"


def finished(folder: Path, cells: Iterable[Cell]) -> list[Cell]:
    """Return those of `cells` whose rows are in `folder` already."""
    return [c for c in cells if _cell_path(folder, c).exists()]


def _keep(folder: Path, cell: Cell, rows: list[dict[str, Any]]) -> None:
    path = _cell_path(folder, cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = sheets.DictWriter(text, _COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: f"{v:.3f}" if isinstance(v, float) and k.endswith("_ms") else v for k, v in r.items()}
                     for r in rows)  # fmt: skip
    temporary = path.with_suffix(f".{os.getpid()}.part")
    temporary.write_text(text.getvalue())
    temporary.replace(path)


def _work(folder: Path, cell: Cell, bed: str, which: str) -> Cell:
    try:
        rows = run_cell(cell, bed, which)
    except TestbedError:
        rows = run_cell(cell, bed, which)  # a lost SYN-ACK or FIN may outlast one timeout; twice is a fault
    _keep(folder, cell, rows)
    return cell


def record(
    cells: Sequence[Cell],
    folder: Path,
    *,
    bed: str = "namespaces",
    which: str = "embedded",
    workers: dict[str, int] | None = None,
    seconds: float | None = None,
    progress: bool = True,
) -> list[Cell]:
    """Run the cells that are not in `folder` yet, network by network.

    Parameters
    ----------
    cells : sequence of Cell
        What to run.
    folder : Path
        Where finished cells are kept.
    bed, which : str
        See `run_cell`.
    workers : dict of str to int, optional
        Processes for each network. The wide-area cells wait for most of their time, so many can run side by side.
    seconds : float, optional
        Begin no new cell after so long.
    progress : bool
        Whether to show a bar.

    Returns
    -------
    list of Cell
        The cells that are still to do (only if `seconds` ran out).

    Examples
    --------
    >>> from voicewire.transport.experiment_grid import small_grid
    >>> record(small_grid(), Path("recorded"))  # doctest: +SKIP
    []
    """
    workers = workers or WORKERS
    limit = time.monotonic() + seconds if seconds is not None else float("inf")
    there = {c.name for c in finished(folder, cells)}
    todo = [c for c in cells if c.name not in there]
    with tqdm(total=len(cells), initial=len(there), unit="cell", disable=not progress) as bar:
        for network in dict.fromkeys(c.network for c in todo):
            own = sorted((c for c in todo if c.network == network), key=_cost)
            for cell in _run_all(own, folder, bed, which, workers.get(network, 1), limit):
                bar.update()
                there.add(cell.name)
    return [c for c in cells if c.name not in there]


def _cost(cell: Cell) -> float:
    """Roughly how many seconds a cell takes: quick ones go first, so an interruption finds most of them finished."""
    spec = paper.NETWORKS[cell.network]
    trips = {"tcp": 3, "mqtt": 9 + 2 * cell.qos}[cell.transport] if cell.session != "persistent" else 2
    lone = trips * spec.rtt + 2 * 8 * cell.size / (spec.rate or 1e9) + 0.01
    return cell.iterations * (lone + (paper.LOOP * (cell.gap * spec.rtt + 5e-4) if cell.session == "loop" else 0))


def _run_all(cells: list[Cell], folder: Path, bed: str, which: str, workers: int, limit: float) -> Iterator[Cell]:
    context = multiprocessing.get_context("spawn")  # a fork would share this process's threads' locks
    queue = list(reversed(cells))
    with ProcessPoolExecutor(workers, mp_context=context, initializer=end_with_parent) as pool:
        running: set[Future[Cell]] = set()
        try:
            while running or (queue and time.monotonic() < limit):
                while queue and len(running) < workers and time.monotonic() < limit:
                    running.add(pool.submit(_work, folder, queue.pop(), bed, which))
                done, running = wait(running, timeout=1, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BaseException:
            for child in list((pool._processes or {}).values()):
                child.terminate()  # a cell may take minutes; its hosts and its broker go with its process
            raise


def assemble(cells: Sequence[Cell], folder: Path, note: Callable[[str], None] = lambda text: None) -> None:
    """Put finished cells together into the three files.

    Parameters
    ----------
    cells : sequence of Cell
        All of the experiment.
    folder : Path
        Of the recording.
    note : callable
        Gets a line for each file.

    Raises
    ------
    TestbedError
        If a cell is missing.

    Examples
    --------
    >>> from voicewire.transport.experiment_grid import small_grid
    >>> assemble(small_grid(), Path("nothing-here"))
    Traceback (most recent call last):
        ...
    voicewire.testbed.errors.TestbedError: ...
    """
    there = finished(folder, cells)
    if len(there) < len(cells):
        raise TestbedError(f"{len(cells) - len(there)} of {len(cells)} cells are still to run: run the command again")
    frames = [pd.read_csv(_cell_path(folder, c), dtype=str, keep_default_na=False) for c in cells]
    rows = pd.concat(frames, ignore_index=True)
    text = sheets.to_csv(rows, index=False, lineterminator="\n").encode()
    (folder / "iterations.csv.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    note(f"iterations.csv.gz: {len(rows)} rows")
    summary = summarise(load_iterations(folder))
    sheets.to_csv(summary, folder / "summary.csv", index=False, float_format="%.6g", lineterminator="\n")
    note(f"summary.csv: {len(summary)} rows")


def add_minutes(folder: Path, minutes: float) -> float:
    """Add to the time that all calls together took, and return the sum: an interrupted run has several."""
    path = folder / "cells" / "minutes"
    path.parent.mkdir(parents=True, exist_ok=True)
    total = minutes + (float(path.read_text()) if path.exists() else 0.0)
    path.write_text(f"{total:.2f}\n")
    return total


def facts(command: str, minutes: float, bed: str, which: str, networks: dict[str, LinkSpec]) -> dict[str, Any]:
    """When, where and with what something was measured."""
    machine = capabilities()
    return {
        "command": command,
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "minutes": round(minutes, 1),
        "machine": machine.machine,
        # The recording itself keeps about two processors busy; much more means that something else disturbed it.
        "load average (15 min) at the end": round(os.getloadavg()[2], 2),
        "test bed": machine.line() if bed == "namespaces" else "test bed: loopback with the delay proxy",
        "congestion control": "reno",
        "networks": {name: str(spec) for name, spec in networks.items()},
        "broker": f"mosquitto {mosquitto_version()}, set_tcp_nodelay true"
        if which == "mosquitto"
        else "embedded (this package)",
        "seeds": "CRC-32 of each cell's name",
        "versions": {
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in ("paho-mqtt", "cryptography", "numpy", "numba")},
        },
    }


def provenance(folder: Path, command: str, bed: str, which: str) -> None:
    """Write beside the tables when, where and with what they were made."""
    body = facts(command, add_minutes(folder, 0.0), bed, which, paper.NETWORKS)
    (folder / "provenance.json").write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n")


def load_iterations(folder: Path) -> pd.DataFrame:
    """Read every iteration of the recorded experiment.

    Parameters
    ----------
    folder : Path
        The study's data.

    Returns
    -------
    pandas.DataFrame
        One row each.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> len(load_iterations(paths.data("transport"))) > 10_000
    True
    """
    return pd.read_csv(folder / "iterations.csv.gz")


def load_summary(folder: Path) -> pd.DataFrame:
    """Read every cell and metric of the recorded experiment.

    Parameters
    ----------
    folder : Path
        The study's data.

    Returns
    -------
    pandas.DataFrame
        One row each.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> "mean" in load_summary(paths.data("transport"))
    True
    """
    return pd.read_csv(folder / "summary.csv")


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Summarise each cell and metric: mean, t interval, quartiles and lag-1 autocorrelation.

    Parameters
    ----------
    rows : pandas.DataFrame
        As `load_iterations` gives them.

    Returns
    -------
    pandas.DataFrame
        One row a cell and metric.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> rows = load_iterations(paths.data("transport"))
    >>> bool((summarise(rows[rows["size"] == 1]).n > 1).all())
    True
    """
    out = []
    for key, group in rows.groupby(list(_KEYS), sort=False):
        for metric in METRICS:
            if metric not in group:
                continue
            x = group[metric].dropna().to_numpy(float)
            if len(x) < 2:
                continue
            if np.ptp(x) == 0:
                low = high = float(x[0])
            else:
                interval = t_interval(x, paper.CONFIDENCE)
                low, high = interval.low, interval.high
            q1, median, q3 = np.percentile(x, [25, 50, 75])
            out.append(
                dict(zip(_KEYS, key, strict=True))
                | {"metric": metric, "n": len(x), "mean": x.mean(), "low": low, "high": high, "sd": x.std(ddof=1),
                   "q1": q1, "median": median, "q3": q3, "lag1": lag1(x)}
            )  # fmt: skip
    return pd.DataFrame(out)


def lag1(x: np.ndarray[Any, Any]) -> float:
    """Correlation of each sample with the one before it; 0 if all are alike."""
    d = x - x.mean()
    total = float(d @ d)
    return float(d[1:] @ d[:-1]) / total if total > 0 else 0.0
