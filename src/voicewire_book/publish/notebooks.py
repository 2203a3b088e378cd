"""Execute the book's notebooks so that running them twice leaves the same bytes.

``python -m voicewire_book.publish.notebooks run [PATH…]`` executes chapters top to bottom in fresh kernels, a process
for each core, and writes them back with stable metadata. What changed is told: on a healthy tree, nothing.
`voicewire_book.publish.executed` does the same for the whole book without touching a committed notebook.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from voicewire_book import paths

__all__ = ["NotebookError", "Run", "differing", "normalise", "run", "write"]

NAME = "voicewire_book.publish.notebooks"
CELL_TIMEOUT = 300
TIMES = Path(".cache/notebook-times.json")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class NotebookError(RuntimeError):
    """A notebook could not be executed; the message names it, the cell and the error."""


@dataclass(frozen=True)
class Run:
    """What came of executing one notebook: which of its cells now give something else than in the file at `path`.

    Attributes
    ----------
    path : Path
        The notebook.
    seconds : float
        How long it ran, s.
    peak_bytes : int
        The largest memory of its kernel; 0 where unknown.
    error : str
        What stopped it; nothing if it went through.
    differing : tuple of int
        Numbers of the cells that give something else, counted from 1.
    measured : tuple of int
        Numbers of those among the others that measure and may differ.
    """

    path: Path
    seconds: float
    peak_bytes: int
    error: str = ""
    differing: tuple[int, ...] = ()
    measured: tuple[int, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether a cell differs that measures nothing."""
        return bool(self.differing)


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Drop what differs from run to run (times, kernel builds, transient metadata); fold the solutions for JupyterLab.
    """
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        cell.metadata.pop("collapsed", None)
        if cell.cell_type == "code":
            cell.outputs = _merge_streams(cell.outputs)
    _fold(notebook.cells)
    return notebook


def _fold(cells: Sequence[NotebookNode]) -> None:
    """Collapse what stands in a solution: the directive around it folds the published page only, not JupyterLab."""
    inside = False
    for cell in cells:
        ends = cell.source.startswith("```{solution-end}")
        if inside and not ends:
            code = {"outputs_hidden": True} if cell.cell_type == "code" else {}
            cell.metadata["jupyter"] = {**code, "source_hidden": True}
        inside = cell.source.startswith("```{solution-start}") or (inside and not ends)


def _merge_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join neighbouring pieces of one stream: where the kernel cut them is chance."""
    merged: list[Any] = []
    for output in outputs:
        if merged and output.output_type == "stream" and merged[-1].get("name") == output.name:
            merged[-1].text += output.text
        else:
            merged.append(output)
    return merged


def differing(before: NotebookNode, after: NotebookNode) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of the cells whose outputs differ: of those that may not, and of those that measure.

    Cells are counted from 1, as the notebook's file has them, text cells included.
    """
    fixed: list[int] = []
    measured: list[int] = []
    for number, (old, new) in enumerate(zip(before.cells, after.cells, strict=True), 1):
        if old.cell_type == "code" and json.dumps(old.outputs, sort_keys=True) != json.dumps(
            new.outputs, sort_keys=True
        ):
            free = "nbval-ignore-output" in new.metadata.get("tags", [])
            (measured if free else fixed).append(number)
    return tuple(fixed), tuple(measured)


def _environment() -> None:
    for name in _THREADS:
        os.environ[name] = "1"  # more threads than cores make the machine slower, and sums differ in the last digit
    os.environ["PYTHONHASHSEED"] = "0"
    os.environ.pop("MPLBACKEND", None)


@contextmanager
def _kernel() -> Iterator[tuple[Any, Path]]:
    """A manager for one kernel, or None for the usual one, and a folder that lives as long.

    Over sockets of the file system nobody else on the machine can listen, and the kernel has nothing to warn of;
    where there are none (Windows), or their names would get too long, the usual one speaks TCP on 127.0.0.1.
    """
    from jupyter_client.manager import AsyncKernelManager

    folder = tempfile.mkdtemp(prefix="vw-")
    try:
        short = len(folder) < 90  # the name of such a socket has at most 107 bytes
        if os.name == "posix" and short:
            yield AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/k"), Path(folder)
        else:
            yield None, Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _execute(path: Path, target: Path) -> Run:
    """Execute the notebook at `path`, in its folder, and write it to `target` if that changes the file."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    _environment()
    before = nbformat.read(path, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    start = time.perf_counter()
    with _kernel() as (manager, folder), (folder / "said").open("w+", encoding="utf-8") as said:
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=CELL_TIMEOUT,
            kernel_name="python3",
            resources={"metadata": {"path": str(path.parent)}},
        )
        try:
            # A manager of our own too ends with its notebook. What a kernel says on its own standard error matters
            # if it died of it; when it is interrupted, it is a traceback of its machinery.
            client.execute(cleanup_kc=True, stderr=said)
        except (CellExecutionError, CellTimeoutError) as error:
            return Run(path, time.perf_counter() - start, 0, str(error).strip())
        except DeadKernelError as error:
            said.seek(0)
            return Run(path, time.perf_counter() - start, 0, f"{error}\n{said.read()[:4000]}".strip())
    seconds = time.perf_counter() - start
    normalise(notebook)
    if complaint := _stderr(notebook):
        return Run(path, seconds, 0, complaint)
    if target != path or before.cells != notebook.cells:
        write(target, notebook)
    return Run(path, seconds, _children_peak(), "", *differing(before, notebook))


def write(path: Path, notebook: NotebookNode) -> None:
    """Write a notebook, whole or not at all: an interruption loses nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    scratch.write_text(nbformat.writes(notebook, version=4).rstrip("\n") + "\n", encoding="utf-8")
    scratch.replace(path)


def _children_peak() -> int:
    """Return the largest memory of any kernel that this process has waited for, in bytes (0 where unknown)."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _stderr(notebook: NotebookNode) -> str:
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                return f"cell {number} wrote to stderr: {output.text.strip()[:300]}"
    return ""


def execute(targets: Mapping[Path, Path], workers: int | None = None) -> Iterator[Run]:
    """Execute notebooks in fresh kernels, one process for each, and yield a `Run` as each ends."""
    workers = workers or min(len(targets) or 1, os.cpu_count() or 1)
    context = multiprocessing.get_context("spawn")
    waiting = deque(targets.items())
    running: dict[Any, tuple[Connection, Path, SpawnProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                path, target = waiting.popleft()
                with _interrupts_wait():
                    receiver, sender = context.Pipe(duplex=False)
                    process = context.Process(target=_report, args=(sender, path, target))
                    process.start()
                    running[receiver] = receiver, path, process
                    sender.close()  # the only one left is the process's: when it ends, so does the connection
            for ready in wait([*running]):
                receiver, path, process = running.pop(ready)
                yield _received(receiver, path, process)
    except BaseException:
        with _interrupts_wait():
            _end([process for *_, process in running.values()])
        raise


def _report(sender: Connection, path: Path, target: Path) -> None:
    """Execute one notebook, in a process of its own: the peak memory told is that notebook's."""
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is the first process's to act on; kernels get it as usual
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        result = _execute(path, target)
    except BaseException as error:  # nbclient's cleaning up fails in many ways while it is made to end
        result = Run(path, 0.0, 0, f"{type(error).__name__}: {error}")
    with suppress(BrokenPipeError):  # nobody waits for it any more
        sender.send(result)


def _received(receiver: Connection, path: Path, process: SpawnProcess) -> Run:
    with receiver:
        try:
            result: Run = receiver.recv()
        except EOFError:
            process.join()
            return Run(path, 0.0, 0, f"the process that executed it ended with exit code {process.exitcode}")
    process.join()
    return result


def _end(processes: Sequence[SpawnProcess]) -> None:
    """End processes: asked first, so that nbclient ends its kernel, then made to."""
    for process in processes:
        process.terminate()
    until = time.monotonic() + 5
    for process in processes:
        process.join(max(0.0, until - time.monotonic()))
        process.kill()
        process.join()


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold Ctrl-C back while processes are started: they inherit that, and do not fall over it while they import."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run(
    notebooks: Sequence[Path],
    workers: int | None = None,
    *,
    target: Callable[[Path], Path] = lambda path: path,
    done: Callable[[Run], None] = lambda result: None,
) -> list[Run]:
    """Execute notebooks, print a line for each, and remember their times for the book's status page."""
    base = paths.root()
    finished, failed = [], []
    targets = {path.resolve(): target(path.resolve()) for path in notebooks}
    for number, result in enumerate(execute(targets, workers), 1):
        name = result.path.relative_to(base).as_posix() if result.path.is_relative_to(base) else result.path.name
        count = f"{number:>{len(str(len(targets)))}}/{len(targets)}"
        if result.error:
            failed.append(f"{name}: {result.error}")
            print(f"  {count} failed     {name}", flush=True)
            continue
        word = "changed" if result.changed else "unchanged"
        _remember(base, result)
        done(result)
        finished.append(result)
        # told last: what was told is kept, even if the next moment brings an interruption
        print(f"  {count} {word:<10} {name}  {result.seconds:.1f} s, {result.peak_bytes / 1e6:.0f} MB", flush=True)
    if failed:
        raise NotebookError("\n".join(failed))
    return finished


def _remember(base: Path, result: Run) -> None:
    file = base / TIMES
    try:
        times = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        times = {}
    if not result.path.is_relative_to(base):
        return
    name = result.path.relative_to(base).as_posix()
    times[name] = {"seconds": round(result.seconds, 1), "megabytes": round(result.peak_bytes / 1e6)}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(times, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of ``python -m voicewire_book.publish.notebooks``."""
    parser = argparse.ArgumentParser(prog=f"python -m {NAME}", description="Execute the book's notebooks.")
    parser.add_argument("command", choices=["run"])
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks (default: every chapter)")
    parser.add_argument("--workers", type=int, default=None, help="kernels at a time (default: one for each core)")
    options = parser.parse_intermixed_args(arguments)
    missing = [str(path) for path in options.paths if not path.is_file()]
    if missing:
        print(f"voicewire_book.publish.notebooks: no such file: {', '.join(missing)}", file=sys.stderr)
        return 1
    try:
        run(options.paths or paths.chapters(), options.workers)
    except NotebookError as error:
        print(f"voicewire_book.publish.notebooks: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
