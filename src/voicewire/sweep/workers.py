"""Where the tasks of a sweep run: processes on this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import functools
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, wait
from typing import Any, ClassVar, Protocol

from voicewire._kit._optional import Library

__all__ = ["SweepError", "WorkerDiedError"]

# A page in a browser has no processes, and not the modules that start them: they are imported where one is started.
loky = Library("joblib.externals.loky")
resource_trackers = (
    Library("joblib.externals.loky.backend.resource_tracker"), Library("multiprocessing.resource_tracker"),
)  # fmt: skip

#: Seconds for which a Dask cluster may be without a single worker before the sweep gives up.
PATIENCE = 60.0
#: Seconds within which a Dask scheduler must answer.
ANSWER = 10.0

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class SweepError(RuntimeError):
    """A sweep can't be done or can't go on; the message names the task and says what to do.

    Examples
    --------
    >>> issubclass(SweepError, RuntimeError)
    True
    """


class WorkerDiedError(Exception):
    """The worker of a task died, which says nothing about the task yet.

    Examples
    --------
    >>> issubclass(WorkerDiedError, SweepError)  # another worker is tried first
    False
    """


class Pool(Protocol):
    """Where tasks run."""

    def slots(self) -> int:
        """Tell how many tasks may be under way together, those in a queue included."""
    def submit(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Start a task; what is returned stands for it."""
    def wait(self, flying: Iterable[Any]) -> set[Any]:
        """Wait a moment, and return the tasks that have ended meanwhile."""
    def result(self, future: Any) -> tuple[bytes, str | None]:
        """Return a task's result, pickled, or what went wrong; raise WorkerDiedError if its worker died."""
    def close(self, at_once: bool) -> None:
        """Leave the workers; `at_once` ends what they are at."""


@contextlib.contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold Ctrl-C back while processes are started: they inherit that, and it is ours alone to act on."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Here:
    """This process, one task after the other: a page in a browser can start no other."""

    def slots(self) -> int:
        return 1

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Any:
        return functools.partial(call, *arguments)

    def wait(self, flying: Iterable[Any]) -> set[Any]:
        return set(flying)

    def result(self, future: Any) -> tuple[bytes, str | None]:
        answer: tuple[bytes, str | None] = future()
        return answer

    def close(self, at_once: bool) -> None:
        """Nothing was started."""


class Local:
    """Processes on this machine. BLAS and numba get one thread each, so that no sum depends on the machine.

    The processes wait a minute for the next sweep. They are not joblib's own reusable ones, because `joblib.Parallel`
    stumbles over those if they were started by anyone else.
    """

    _kept: ClassVar[tuple[int, Any]] = (0, None)

    def __init__(self, workers: int, tasks: int) -> None:
        self._workers = min(workers, tasks)
        self._homes: dict[Any, Any] = {}

    def slots(self) -> int:
        return 2 * self._workers  # one to work on, one in the queue

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Any:
        # Each of the two, where it starts, lets Ctrl-C through again; loky starts both.
        for tracker in resource_trackers:
            tracker.ensure_running()
        with _interrupts_wait():
            executor = self._executor()
            try:
                future = executor.submit(call, *arguments)
            except loky.process_executor.BrokenProcessPool:  # it broke just now: the next one is new
                self._drop(executor)
                executor = self._executor()
                future = executor.submit(call, *arguments)
        self._homes[future] = executor
        return future

    def wait(self, flying: Iterable[Any]) -> set[Any]:
        return wait(flying, timeout=1.0, return_when=FIRST_COMPLETED).done

    def result(self, future: Any) -> tuple[bytes, str | None]:
        home = self._homes.pop(future)
        try:
            answer: tuple[bytes, str | None] = future.result()
        except loky.process_executor.BrokenProcessPool:
            self._drop(home)
            raise WorkerDiedError from None
        return answer

    def close(self, at_once: bool) -> None:
        if at_once:
            self._drop(Local._kept[1])

    def _executor(self) -> Any:
        workers, executor = Local._kept
        if workers != self._workers:
            self._drop(executor)
            executor = loky.ProcessPoolExecutor(self._workers, timeout=60, env=dict.fromkeys(_THREADS, "1"))
            Local._kept = (self._workers, executor)
        return executor

    @staticmethod
    def _drop(executor: Any) -> None:
        if executor is not None and executor is Local._kept[1]:
            Local._kept = (0, None)
            executor.shutdown(wait=True, kill_workers=True)


class Dask:
    """The workers of a Dask scheduler.

    Each task is tied to one worker. Left to itself, Dask would hand a task that kills its worker to the next one,
    three times over, and take the neighbours' results along.
    """

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise SweepError("a Dask cluster needs the extra 'dask': pip install 'voicewire[dask]'") from None
        self._dask = distributed
        try:
            self._client = distributed.Client(address, timeout=ANSWER, set_as_default=False)
        except (OSError, TimeoutError):
            raise SweepError(f"no Dask scheduler answers at {address}: start one with 'dask scheduler'") from None
        self._places: dict[Any, str] = {}
        self._threads: dict[str, int] = {}
        self._asked = self._seen = time.monotonic()
        self._look(0.0)

    def slots(self) -> int:
        self._look(0.2)
        return 2 * sum(self._threads.values())

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Any:
        load = Counter(self._places.values())
        worker = min(self._threads, key=lambda address: load[address] / self._threads[address])
        future = self._client.submit(call, *arguments, pure=False, workers=[worker])
        self._places[future] = worker
        return future

    def wait(self, flying: Iterable[Any]) -> set[Any]:
        futures = list(flying)
        orphans = {future for future in futures if self._places[future] not in self._threads}
        if orphans:
            return orphans
        try:
            with self._client.as_current():
                return set(self._dask.wait(futures, timeout=0.5, return_when="FIRST_COMPLETED").done)
        except (TimeoutError, self._dask.TimeoutError, CancelledError):
            return {future for future in futures if future.status not in ("pending", "finished")}

    def result(self, future: Any) -> tuple[bytes, str | None]:
        worker = self._places.pop(future)
        try:
            while future.status not in ("cancelled", "lost"):
                try:
                    answer: tuple[bytes, str | None] = future.result(timeout=1.0)
                    return answer
                except (TimeoutError, self._dask.TimeoutError):
                    # A result that was ready is gone again if its worker died before it was fetched.
                    self._look(0.0)
                    if worker not in self._threads:
                        break
            raise WorkerDiedError
        except (self._dask.scheduler.KilledWorker, CancelledError):
            raise WorkerDiedError from None
        finally:
            future.cancel()

    def close(self, at_once: bool) -> None:
        if at_once:
            self._client.cancel(list(self._places), force=True)
        self._client.close()

    def _look(self, interval: float) -> None:
        """Ask which workers there are, unless that was asked a moment ago."""
        now = time.monotonic()
        if self._threads and now - self._asked < interval:
            return
        self._asked = now
        try:
            self._threads = dict(self._client.nthreads())
        except OSError as error:
            raise SweepError(f"the Dask scheduler is gone: {error}") from None
        if self._threads:
            self._seen = now
        elif now - self._seen > PATIENCE:
            raise SweepError(f"the Dask cluster has had no worker for {PATIENCE:.0f} s: start some with 'dask worker'")
