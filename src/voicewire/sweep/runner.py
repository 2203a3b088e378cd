"""Computes the tasks of a sweep that no earlier one has, keeps each as it ends, and gives the rows in order."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import operator
import os
import pickle
import sys
import tempfile
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
from tqdm import tqdm

from voicewire._kit import paths
from voicewire._kit._optional import Library
from voicewire._kit.pace import Pace
from voicewire.sweep import fingerprint
from voicewire.sweep.workers import Dask, Here, Local, Pool, SweepError, WorkerDiedError

__all__ = ["Row", "sweep", "task_rng"]

BY_VALUE = "<dynamic-code>"
"""What cloudpickle 3.1.3 and newer put in the place of the file where code is sent by value."""


class Row(NamedTuple):
    """One task's parameters, its seed, and what the function returned.

    Attributes
    ----------
    params : dict of str to object
        The task's parameters by name.
    seed : int
        Its seed.
    value : object
        What the function returned.

    Examples
    --------
    >>> Row({"x": 2}, seed=1, value=4).value
    4
    """

    params: dict[str, Any]
    seed: int
    value: Any


@dataclass(frozen=True)
class _Task:
    key: str
    params: dict[str, Any]
    seed: int

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value!r:.60}" for name, value in self.params.items())
        return f"({shown}{', ' if shown else ''}seed {self.seed})"


def sweep(
    function: Callable[..., Any],
    grid: Mapping[str, Iterable[Any]],
    seeds: Iterable[int] = (0,),
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    cache: str | Path | bool | None = None,
    progress: bool = True,
) -> list[Row]:
    """Call ``function(rng=..., **params)`` for every combination of the grid's values and every seed.

    Parameters
    ----------
    function : callable
        Takes `rng`, a `numpy.random.Generator` of its own, and the grid's names as keywords; what it returns must
        be picklable. It must depend on nothing else that changes (no files, no clock).
    grid : mapping of str to iterable
        The values of each parameter; the last one varies fastest, and within it the seed.
    seeds : iterable of int
        One task for each; the generator is derived from the parameters and the seed (see `task_rng`).
    workers : int, optional
        Local processes; by default one for each core.
    scheduler : str, optional
        Address of a Dask scheduler, ``tcp://host:port``, to use its workers instead (extra ``dask``).
    cache : path or bool, optional
        Folder for finished tasks; by default ``.cache/sweep`` in the checkout. False: keep none.
    progress : bool
        Show a bar on a terminal; elsewhere say once how long it takes. Nothing in a notebook.

    Returns
    -------
    list of Row
        In the order of the grid.

    Raises
    ------
    SweepError
        If the function raises, a task kills its worker twice, or the cluster can't be used. Tasks that had
        finished are kept.
    ValueError
        If grid, seeds, workers or scheduler make no sense.

    Examples
    --------
    >>> def draw(rng, rate):
    ...     return float(rng.exponential(1 / rate))
    >>> rows = sweep(draw, {"rate": [1.0, 2.0]}, seeds=range(2), cache=False)
    >>> [(row.params["rate"], row.seed) for row in rows]
    [(1.0, 0), (1.0, 1), (2.0, 0), (2.0, 1)]
    >>> rows[3].value == draw(task_rng({"rate": 2.0}, 1), 2.0)
    True
    """
    tasks = _tasks(function, grid, seeds)
    _check(workers, scheduler)
    folder = _folder(cache)
    unique = {task.key: task for task in tasks}
    results: dict[str, bytes] = {}
    if folder is not None:
        results = {key: blob for key in unique if (blob := _read(folder, key)) is not None}
    todo = [task for key, task in unique.items() if key not in results]
    with _bar(len(unique), len(results), progress) as bar:
        if todo:
            pace = Pace("sweep", len(todo)) if progress and bar.disable else None
            pool = _pool(workers, scheduler, len(todo))
            with contextlib.closing(_compute(pool, function, todo)) as finished:
                for task, blob in finished:
                    if folder is not None:
                        _write(folder, task.key, blob)
                    results[task.key] = blob
                    bar.update()
                    if pace is not None:
                        pace.done()
    return [Row(dict(task.params), task.seed, pickle.loads(results[task.key])) for task in tasks]


def _pool(workers: int | None, scheduler: str | None, tasks: int) -> Pool:
    if scheduler:
        return Dask(scheduler)
    if sys.platform == "emscripten":  # a page in a browser
        return Here()
    return Local(workers or Library("joblib").cpu_count(), tasks)


def task_rng(params: Mapping[str, Any], seed: int) -> np.random.Generator:
    """Return the generator that `sweep` hands to the task of these parameters and this seed.

    It depends on the content of both and on nothing else: not on the order of the grid, nor on who computes.

    Parameters
    ----------
    params : mapping of str to object
        The task's parameters by name.
    seed : int
        Its seed.

    Returns
    -------
    numpy.random.Generator
        A new one at each call, in the same state.

    Raises
    ------
    voicewire.sweep.fingerprint.ContentError
        If the content of a parameter can't be told.

    Examples
    --------
    >>> task_rng({"rate": 1.0}, 3).random() == task_rng({"rate": 1.0}, 3).random()
    True
    >>> task_rng({"rate": 1.0}, 3).random() == task_rng({"rate": 1.0}, 4).random()
    False
    """
    content = fingerprint.of((dict(params), operator.index(seed)))
    return np.random.default_rng(np.random.SeedSequence(int(content, 16)))


def _check(workers: int | None, scheduler: str | None) -> None:
    if workers is not None and scheduler is not None:
        raise ValueError("give workers (local processes) or a scheduler (its own workers), not both")
    if workers is not None and operator.index(workers) < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    if scheduler is not None and not scheduler.startswith(("tcp://", "tls://")):
        raise ValueError(f"scheduler must be an address such as tcp://host:8786, got {scheduler!r}")


def _tasks(function: Callable[..., Any], grid: Mapping[str, Iterable[Any]], seeds: Iterable[int]) -> list[_Task]:
    """All tasks in the order of the grid, each with the key of its result."""
    if not callable(function):
        raise ValueError(f"sweep needs a function, got {type(function).__name__}")
    if "rng" in grid:
        raise ValueError("the parameter 'rng' is the generator that each task is given: name the grid's otherwise")
    values = {}
    for name, choices in grid.items():
        if isinstance(choices, str | bytes) or not isinstance(choices, Iterable):
            raise ValueError(f"the grid needs a list of values for {name!r}, got {choices!r:.60}")
        values[name] = list(choices)
        if not values[name]:
            raise ValueError(f"the grid has no value for {name!r}")
    try:
        numbers = [operator.index(seed) for seed in seeds]
    except TypeError:
        raise ValueError("seeds must be whole numbers, for example range(20)") from None
    if not numbers:
        raise ValueError("sweep needs at least one seed, for example range(20)")
    try:
        base = fingerprint.of(function) + fingerprint.environment()
        tasks = []
        for combination in itertools.product(*values.values()):
            params = dict(zip(values, combination, strict=True))
            tasks += [_Task(fingerprint.of((base, params, seed)), params, seed) for seed in numbers]
    except fingerprint.ContentError as error:
        raise ValueError(f"{error}: hand over plain values (numbers, text, arrays, dataclasses) instead") from None
    return tasks


def _folder(cache: str | Path | bool | None) -> Path | None:
    if cache is False:
        return None
    if cache is None or cache is True:
        try:
            return paths.root() / ".cache" / "sweep"
        except FileNotFoundError:
            return Path(".cache") / "sweep"
    return Path(cache)


def _read(folder: Path, key: str) -> bytes | None:
    try:
        blob = (folder / key[:2] / key).read_bytes()
        pickle.loads(blob)
    except FileNotFoundError:
        return None
    except Exception:  # a damaged file may raise anything, and is computed anew
        return None
    return blob


def _write(folder: Path, key: str, blob: bytes) -> None:
    place = folder / key[:2]
    place.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=place, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(blob)
        Path(scratch).replace(place / key)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def _compute(
    pool: Pool, function: Callable[..., Any], tasks: Sequence[_Task]
) -> Generator[tuple[_Task, bytes], None, None]:
    """Yield each task with its pickled result as it ends: all at large, then singly those whose worker died."""
    call = functools.partial(_call, _dump(function), _file(function), fingerprint.environment())
    waiting, suspects = deque(tasks), deque[_Task]()
    flying: dict[Any, _Task] = {}
    failures: list[str] = []
    alone: _Task | None = None
    at_once = True
    with warnings.catch_warnings():
        # loky replaces a worker that has grown; nothing is lost by it, and a notebook shows no warnings
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        try:
            while flying or suspects or (waiting and not failures):
                slots = pool.slots()
                while waiting and not failures and len(flying) < slots:
                    task = waiting.popleft()
                    flying[pool.submit(call, task.params, task.seed)] = task
                if slots and suspects and not flying:
                    # Which of the tasks of a dead worker killed it shows when each is on its own.
                    alone = suspects.popleft()
                    flying[pool.submit(call, alone.params, alone.seed)] = alone
                if not flying:
                    time.sleep(0.1)  # a cluster that has no worker at the moment
                for future in pool.wait(flying) if flying else ():
                    task = flying.pop(future)
                    try:
                        blob, problem = pool.result(future)
                    except WorkerDiedError:
                        if task is alone:
                            failures.append(f"task {task} killed its worker twice: does it run out of memory?")
                        else:
                            suspects.append(task)
                        continue
                    if problem is not None:
                        failures.append(f"task {task} failed: {problem}")
                    else:
                        yield task, blob
            at_once = False
        finally:
            pool.close(at_once)
    if failures:
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise SweepError(failures[0] + more)


def _dump(function: Callable[..., Any]) -> bytes:
    """Pickle a function; by value if its module is no worker's (a script, a notebook, a test)."""
    name = getattr(function, "__module__", None)
    module = sys.modules.get(name) if name and not fingerprint.is_installed(name) else None
    by_value = module is not None and name != "__main__"
    if by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(function))
    except Exception as error:
        raise SweepError(f"the function can't be sent to a worker: {error}") from error
    finally:
        if by_value:
            cloudpickle.unregister_pickle_by_value(module)


def _file(function: Callable[..., Any]) -> str:
    """Return the file that a function is in: code that is sent by value need not name it."""
    code = getattr(inspect.unwrap(getattr(function, "func", function)), "__code__", None)
    return str(getattr(code, "co_filename", BY_VALUE))


@functools.lru_cache(maxsize=8)
def _load(blob: bytes) -> Callable[..., Any]:
    function: Callable[..., Any] = cloudpickle.loads(blob)
    return function


def _call(blob: bytes, file: str, environment: str, params: dict[str, Any], seed: int) -> tuple[bytes, str | None]:
    """In the worker: the pickled result and None, or nothing and what went wrong.

    The error travels as text, since an exception of the function's own may not survive the way.
    """
    if environment != fingerprint.environment():
        return b"", (
            "this worker has other sources or versions than the process that started the sweep;"
            " install the same on both, or restart the one whose files have changed"
        )
    try:
        return pickle.dumps(_load(blob)(rng=task_rng(params, seed), **params), protocol=5), None
    except Exception as error:
        places = traceback.extract_tb(error.__traceback__)
        name = Path(file if places[-1].filename == BY_VALUE else places[-1].filename).name
        where = f" (line {places[-1].lineno} of {name})" if len(places) > 1 else ""
        return b"", f"{type(error).__name__}: {error}{where}"


def _bar(total: int, initial: int, progress: bool) -> tqdm[Any]:
    silent = not progress or not sys.stderr.isatty() or "ipykernel" in sys.modules
    return tqdm(total=total, initial=initial, desc="sweep", unit="task", disable=silent, leave=False)
