"""The marker's side of the conversation with a student's process: it asks for values, and believes nothing."""

from __future__ import annotations

import builtins
import contextlib
import glob
import os
import select
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from voicewire_book.course import plain
from voicewire_book.course.sandbox import FILES, FOLDER, MEMORY, PROCESSES, Sandbox
from voicewire_book.course.submission import shown

__all__ = ["Session", "SessionError"]

#: Seconds between two looks at what the submission uses.
_LOOK = 0.1
#: What a student's function may raise in the marker under its own name. StopIteration is none of them: it would end
#: the loops of a test early, and an assertion of the student's own is no verdict.
_RAISED = (
    *("ValueError", "TypeError", "KeyError", "IndexError", "LookupError", "ZeroDivisionError", "OverflowError"),
    *("ArithmeticError", "NameError", "AttributeError", "NotImplementedError", "RuntimeError", "RecursionError"),
    *("OSError", "SyntaxError", "UnicodeError"),
)


class SessionError(BaseException):
    """The student's process has ended, or was ended; no test may catch it by mistake.

    Its first argument is ours alone; a second one holds what that process decides.
    """

    def __str__(self) -> str:
        return "".join(self.args)


class LateError(SessionError):
    """The student's process did not answer in time."""


class Remote:
    """An object that stays in the student's process: it can be called, and asked for attributes and items.

    It takes part in no comparison and no arithmetic: what those would say is the student's to decide.
    """

    def __init__(self, session: Session, reference: dict[str, Any], name: str) -> None:
        try:
            number, kind, callable_ = reference["object"]
        except (KeyError, TypeError, ValueError):
            raise plain.DataError("a message that holds no plain data") from None
        self._session, self._number, self._name = session, number, name
        self._kind, self._callable = shown(kind, 80), callable_

    def __repr__(self) -> str:
        return f"a {self._kind}"

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """Call it in the student's process with plain data."""
        texts = [shown(repr(item), 60) for item in positional] + [
            f"{key}={shown(repr(value), 60)}" for key, value in named.items()
        ]
        call = f"{self._name}({', '.join(texts)})"
        sent = [plain.encode(item, _reference) for item in positional]
        keywords = {key: plain.encode(value, _reference) for key, value in named.items()}
        return self._session.ask("call", [self._number, sent, keywords], call)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._session.ask("attribute", [self._number, name], f"{self._name}.{name}")

    def __bool__(self) -> bool:
        return self._session.ask("truth", [self._number], f"bool({self._name})") is True

    def __iter__(self) -> Iterator[Any]:
        return iter(self._session.ask("items", [self._number], f"list({self._name})"))

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(f"{self._name} is {self!r}: a number, a text, a list or an array is asked")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __abs__ = __neg__ = __float__ = __int__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __len__ = __getitem__ = __contains__ = _refuse
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None


def _reference(value: Any) -> dict[str, Any]:
    if isinstance(value, Remote):
        return {"object": [value._number, "", False]}
    raise plain.DataError(f"a test hands over a {type(value).__name__}, which is no plain data")


class Session:
    """One student's process, from its start to its end."""

    def __init__(self, sandbox: Sandbox, number: int, seconds: float) -> None:
        self._sandbox, self._number, self._seconds = sandbox, number, seconds
        self._stack = contextlib.ExitStack()
        self._sent = 0
        self._buffer = b""
        self._why = ""
        self._began = False
        self._over = threading.Event()
        #: When the present question's time is over, by `time.monotonic`.
        self.deadline = time.monotonic() + seconds
        #: What was called last and what it gave, for the report.
        self.last = ""

    def __enter__(self) -> Session:
        started = self._sandbox.start(self._number, self._seconds)
        self._process, self._requests, self._replies, self._folder = self._stack.enter_context(started)
        for descriptor in (self._requests, self._replies):
            os.set_blocking(descriptor, False)
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._watch.join()
        end(self._process.pid)
        self._stack.close()

    def run(self, source: str) -> None:
        """Run a cell; what it raises is raised here."""
        try:
            self.ask("run", [source], "the cell")
        finally:
            # Not left to the watch alone: what a cell has taken must not end the cell that follows.
            if why := self._why or self._too_much():
                raise SessionError(why)

    def value(self, name: str) -> Any:
        """Return what a name stands for: plain data, or a `Remote`."""
        return self.ask("get", [name], name)

    def ask(self, do: str, arguments: list[Any], words: str) -> Any:
        """Send a request and return what the reply holds."""
        self._sent += 1
        self._write(plain.dumps({"id": self._sent, "do": do, "with": arguments}))
        try:
            reply = plain.loads(self._read())
            self._began = True
            if reply.get("id") != self._sent:
                raise plain.DataError("a reply to nothing that was asked")
            if "error" not in reply:
                value = plain.decode(reply.get("value"), lambda reference: Remote(self, reference, words))
                if do == "call":
                    self.last = f"{words} gave {shown(repr(value), 80)}"
                return value
            names, text = list(map(str, reply["error"])), shown(reply.get("text", ""))
        except (plain.DataError, TypeError, MemoryError, RecursionError) as error:
            raise SessionError("its process sent no answer", f": {shown(error)}") from None
        kind = next((name for name in names if name in _RAISED), "RuntimeError")
        own = shown(names[0] if names else "an error", 60)
        if do == "call":
            self.last = f"{words} raised {own}"
        raise getattr(builtins, kind)(text if own == kind else f"{own}: {text}")

    def _write(self, line: bytes) -> None:
        view = memoryview(line)
        while view:
            self._wait([], [self._requests])
            try:
                view = view[os.write(self._requests, view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                self._ended()

    def _read(self) -> bytes:
        parts = [self._buffer]
        size = len(self._buffer)
        while b"\n" not in parts[-1]:
            self._wait([self._replies], [])
            part = os.read(self._replies, 2**20)
            size += len(part)
            if not part:
                self._ended()
            if size > plain.LIMIT + 2**20:
                raise SessionError(f"its process sent more than {plain.LIMIT} bytes at once")
            parts.append(part)
        line, _, self._buffer = b"".join(parts).partition(b"\n")
        return line

    def _wait(self, to_read: list[int], to_write: list[int]) -> None:
        left = self.deadline - time.monotonic()
        ready = select.select(to_read, to_write, [], max(left, 0.0))
        if not any(ready):
            raise LateError("its process did not answer in time")

    def _ended(self) -> NoReturn:
        self._over.set()
        self._watch.join()
        with contextlib.suppress(Exception):
            self._process.wait(5)
        if self._why:
            raise SessionError(self._why)
        raise SessionError("its process ended by itself", f" (status {self._process.returncode})")

    def _look(self) -> None:
        """Watch what the submission uses, and end it when that is too much."""
        while not self._over.wait(_LOOK):
            self._why = self._too_much()
            if self._why:
                end(self._process.pid)
                self._process.kill()
                return

    def _too_much(self) -> str:
        family = descendants(self._process.pid)
        if len(family) > PROCESSES + 4:
            return f"it started more than {PROCESSES} processes"
        if _resident(family) > MEMORY:
            return f"it used more than {MEMORY // 2**20} MB of memory"
        if self._much_on_disk(family):
            return f"it wrote more than {FOLDER // 2**20} MB or {FILES} files"
        return ""

    def _much_on_disk(self, family: list[int]) -> bool:
        if self._folder is None:  # in memory, which is limited in bytes but not in files
            # Before the first reply, bubblewrap may not yet have left the machine's own file system.
            for place in ("submission", "tmp", "dev/shm") if self._began else ():
                with contextlib.suppress(OSError):
                    about = os.statvfs(f"/proc/{family[-1]}/root/{place}" if family else f"/proc/self/{place}")
                    if about.f_files - about.f_ffree > FILES:
                        return True
            return False
        size = count = 0
        for folder, folders, files in os.walk(self._folder):
            count += len(folders) + len(files)
            for name in files:
                with contextlib.suppress(OSError):
                    size += (Path(folder) / name).lstat().st_blocks * 512
            if count > FILES or size > FOLDER:
                return True
        return False


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and that those have."""
    found, queue = [], [pid]
    while queue:
        # Path.glob raises where a process ends while it looks.
        for task in glob.glob(f"/proc/{queue.pop()}/task/*/children"):  # noqa: PTH207
            with contextlib.suppress(OSError, ValueError):
                queue += (more := [int(child) for child in Path(task).read_text().split()])
                found += more
    return found


def end(pid: int) -> None:
    """End all that a process has started: first stopped, so that nothing new appears meanwhile."""
    stopped: set[int] = set()
    while new := set(descendants(pid)) - stopped:
        for child in new:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGSTOP)
        stopped |= new
    for child in stopped:
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)


def _resident(family: list[int]) -> int:
    pages = 0
    for pid in family:
        with contextlib.suppress(OSError, IndexError, ValueError):
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
