"""Execute the book's notebooks so that running them twice leaves the same bytes.

``python -m voicewire.publish.notebooks run [PATH…]`` executes chapters top to bottom in fresh kernels, a process
for each core, and writes them back with stable metadata. What changed is told: on a healthy tree, nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from tqdm import tqdm

from voicewire import paths

NAME = "voicewire.publish.notebooks"
CELL_TIMEOUT = 300
TIMES = Path(".cache/notebook-times.json")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class NotebookError(RuntimeError):
    """A notebook could not be executed; the message names it, the cell and the error."""


@dataclass(frozen=True)
class Run:
    """What came of executing one notebook."""

    path: Path
    seconds: float
    peak_bytes: int
    changed: bool
    error: str = ""


def normalise(notebook: Any) -> Any:
    """Drop what differs from run to run (times, kernel builds, transient metadata) from an executed notebook."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        cell.metadata.pop("collapsed", None)
        if cell.cell_type == "code":
            cell.outputs = _merge_streams(cell.outputs)
    return notebook


def _merge_streams(outputs: list[Any]) -> list[Any]:
    """Join neighbouring pieces of one stream: where the kernel cut them is chance."""
    merged: list[Any] = []
    for output in outputs:
        if merged and output.output_type == "stream" and merged[-1].get("name") == output.name:
            merged[-1].text += output.text
        else:
            merged.append(output)
    return merged


def comparable(notebook: Any) -> str:
    """Return what must not change between two runs: sources and outputs, but not those of cells that measure."""
    kept = []
    for cell in notebook.cells:
        ignored = "nbval-ignore-output" in cell.metadata.get("tags", [])
        kept.append([cell.source, [] if ignored or cell.cell_type != "code" else cell.outputs])
    return json.dumps(kept, sort_keys=True)


def _environment() -> None:
    for name in _THREADS:
        os.environ[name] = "1"  # more threads than cores make the machine slower, and sums differ in the last digit
    os.environ["PYTHONHASHSEED"] = "0"
    os.environ.pop("MPLBACKEND", None)


def _execute(path: Path) -> Run:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    _environment()
    before = nbformat.read(path, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    start = time.perf_counter()
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        return Run(path, time.perf_counter() - start, 0, False, str(error).strip())
    seconds = time.perf_counter() - start
    normalise(notebook)
    if complaint := _stderr(notebook):
        return Run(path, seconds, 0, False, complaint)
    changed = comparable(before) != comparable(notebook)
    if changed or before.cells != notebook.cells:
        text = nbformat.writes(notebook, version=4)
        scratch = path.with_suffix(".tmp")
        scratch.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        scratch.replace(path)  # whole or not at all: an interruption loses nothing
    return Run(path, seconds, _children_peak(), changed)


def _children_peak() -> int:
    """Return the largest memory of any kernel that this process has waited for, in bytes (0 where unknown)."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _stderr(notebook: Any) -> str:
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                return f"cell {number} wrote to stderr: {output.text.strip()[:300]}"
    return ""


def execute(notebooks: Sequence[Path], workers: int | None = None) -> Iterator[Run]:
    """Execute notebooks in fresh kernels, one process for each, and yield a `Run` as each ends."""
    workers = workers or min(len(notebooks) or 1, os.cpu_count() or 1)
    # one task a process: the peak memory told is that notebook's own
    with ProcessPoolExecutor(workers, max_tasks_per_child=1) as pool:
        waiting = [pool.submit(_execute, path) for path in notebooks]
        bar = tqdm(
            as_completed(waiting),
            total=len(waiting),
            desc="notebooks",
            unit="nb",
            disable=not sys.stderr.isatty(),
        )
        for future in bar:
            yield future.result()


def run(notebooks: Sequence[Path], workers: int | None = None) -> list[Run]:
    """Execute notebooks, print a line for each, and remember their times for the book's status page.

    Raises
    ------
    NotebookError
        If a notebook fails; all the others are executed first.
    """
    base = paths.root()
    done, failed = [], []
    for result in execute([path.resolve() for path in notebooks], workers):
        name = result.path.relative_to(base).as_posix() if result.path.is_relative_to(base) else result.path.name
        if result.error:
            failed.append(f"{name}: {result.error}")
            print(f"  failed     {name}", flush=True)
            continue
        word = "changed" if result.changed else "unchanged"
        print(f"  {word:<10} {name}  {result.seconds:.1f} s, {result.peak_bytes / 1e6:.0f} MB", flush=True)
        done.append(result)
    _remember(base, done)
    if failed:
        raise NotebookError("\n".join(failed))
    return done


def _remember(base: Path, runs: Sequence[Run]) -> None:
    file = base / TIMES
    try:
        times = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        times = {}
    for result in runs:
        if result.path.is_relative_to(base):
            name = result.path.relative_to(base).as_posix()
            times[name] = {"seconds": round(result.seconds, 1), "megabytes": round(result.peak_bytes / 1e6)}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(times, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of ``python -m voicewire.publish.notebooks``."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {NAME}", description="Execute the book's notebooks."
    )
    parser.add_argument("command", choices=["run"])
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks (default: every chapter)")
    parser.add_argument("--workers", type=int, default=None, help="kernels at a time (default: one for each core)")
    options = parser.parse_intermixed_args(arguments)
    missing = [str(path) for path in options.paths if not path.is_file()]
    if missing:
        print(f"voicewire.publish.notebooks: no such file: {', '.join(missing)}", file=sys.stderr)
        return 1
    try:
        run(options.paths or paths.chapters(), options.workers)
    except NotebookError as error:
        print(f"voicewire.publish.notebooks: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
