"""Marks one submission: runs its cells in the student's process, and the instructor's tests here, on plain data.

A process of its own, so that no value that a submission returns can cost another one anything. The tests are the
cells of the assignment as nbgrader would run them; the names that a student defines stand for what the student's
process says they are. No expected value ever goes there.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from voicewire_book.course.sandbox import MEMORY, Sandbox
from voicewire_book.course.session import LateError, Session, SessionError, end
from voicewire_book.course.submission import Step, shown

__all__: list[str] = []  # a process of its own: nobody calls into it

_HIDDEN = "### BEGIN HIDDEN TESTS"
#: Seconds for the student's process to start, beside its own time.
_START = 60.0


class _TestLateError(BaseException):
    """A test looped over what a student's function gave."""


class Marking:
    """The marking of one submission."""

    def __init__(
        self,
        steps: list[Step],
        asked: list[str],
        imports: str,
        sandbox: Sandbox,
        number: int,
        timeout: float,
        *,
        most: float,
        reveal: bool,
    ) -> None:
        self._steps, self._asked = steps, asked
        self._sandbox, self._number, self._timeout = sandbox, number, timeout
        self._session: Session | None = None
        self._done: list[Step] = []
        self._names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(imports, "<imports>", "exec", dont_inherit=True), self._names)
        # All together, a loop in each question costs no more than this.
        tests = sum(step.points is not None for step in steps)
        self._end = time.monotonic() + min(timeout * (tests + 1), most)
        # From the first hidden input on, all that the student's process says may hold it.
        self._reveal, self._told = reveal, False
        self.problems: list[str] = []
        self.questions: list[tuple[str, float, float, str]] = []
        self.stopped: dict[str, str] = {}  # why each cell that did not run to its end stopped

    def go(self) -> None:
        """Do every step; what goes wrong with one is noted, and the next one follows."""
        try:
            for step in self._steps:
                if step.points is None:
                    self._note(step, self._cell(step))
                else:
                    reason = self._test(step)
                    self.questions.append((step.name, 0.0 if reason else step.points, step.points, reason))
        finally:
            self._leave()

    def _note(self, step: Step, reason: str) -> None:
        if reason:
            self.stopped[step.name] = reason
        if reason not in ("", "not answered"):
            self.problems.append(f"cell {step.name} {reason}")

    def _cell(self, step: Step) -> str:
        if step.trusted is not None:
            exec(compile(step.trusted, f"<{step.name}>", "exec", dont_inherit=True), self._names)
        def run(session: Session) -> None:
            session.last = ""
            session.run(step.source)

        return self._within(step, run, self._told)

    def _test(self, step: Step) -> str:
        def ask(session: Session) -> None:
            session.last = ""
            self._fetch(session, step.trusted or "")
            exec(compile(step.trusted or "", f"<{step.name}>", "exec", dont_inherit=True), self._names)

        told, self._told = self._told, _HIDDEN in (step.trusted or "")  # `_reason` knows if it failed before that
        reason = self._within(step, ask, told)
        self._told |= told
        if self._session is not None:
            # What the visible test leaves behind, a student's later cells may use, as in the notebook.
            self._within(step, lambda session: session.run(step.source), self._told)
        return reason

    def _fetch(self, session: Session, source: str) -> None:
        used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
        for name in used.intersection(self._asked):
            self._names.pop(name, None)
            with contextlib.suppress(NameError):
                self._names[name] = session.value(name)

    def _within(self, step: Step, act: Callable[[Session], None], told: bool) -> str:
        """Do something with the student's process in the time for it, and return what went wrong."""
        reason = ""
        try:
            session = self._ready()
            with self._clock(session):
                act(session)
        except (_TestLateError, LateError):
            self._leave()
            if time.monotonic() >= self._end:
                return "had no time left: the whole submission took too long"
            return f"ran longer than {self._timeout:g} s and was stopped"
        except SessionError as error:
            self._leave()
            return f"was stopped: {error if self._reveal or not (told or self._told) else error.args[0]}"
        except Exception as error:
            reason = self._reason(step, error, told)
        if not self._done or self._done[-1] is not step:
            self._done.append(step)  # also after an error: what it did before stays done
        return reason

    def _reason(self, step: Step, error: Exception, told: bool) -> str:
        """Say why a cell or a test failed, in words for whoever handed it in."""
        if isinstance(error, NotImplementedError):
            return "not answered"
        trace, place = error.__traceback__, 0
        while trace is not None and not place:
            if trace.tb_frame.f_code.co_filename == f"<{step.name}>":
                place = trace.tb_lineno
            trace = trace.tb_next
        lines = (step.trusted or "").splitlines()[:place]
        hidden = any(_HIDDEN in line for line in lines)
        if place and not hidden:
            self._told = told
        shows = self._reveal or not (told or hidden)
        last = f" ({self._session.last})" if shows and self._session and self._session.last else ""
        if not isinstance(error, AssertionError):
            where = " in a hidden check" if hidden else ""
            return f"{type(error).__name__}{f': {shown(error)}' if shows else where}{last}"
        return f"a hidden check failed{last}" if hidden else f"this check failed: {shown(lines[-1].strip())}{last}"

    def _ready(self) -> Session:
        """Return the student's process; after one was ended, a new one in which the other cells have run."""
        if self._session is None:
            started = time.monotonic()
            if started >= self._end:
                raise LateError
            self._session = Session(self._sandbox, self._number, self._end - started + _START).__enter__()
            self._session.run("")
            self._end += time.monotonic() - started  # to start costs a submission nothing
            for step in self._done:
                with contextlib.suppress(Exception), self._clock(self._session):
                    self._session.run(step.source)
        return self._session

    def _leave(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            session.__exit__(None, None, None)
        end(os.getpid())  # whatever has left its family
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    @contextlib.contextmanager
    def _clock(self, session: Session) -> Iterator[None]:
        """Limit the time of what is done, here too: a test may loop over what a student's function gave."""
        now = time.monotonic()
        session.deadline = min(now + self._timeout, self._end)

        def late(_: int, __: FrameType | None) -> None:
            raise _TestLateError

        signal.signal(signal.SIGALRM, late)
        # A little later than the session's own deadline, which leaves all in order.
        signal.setitimer(signal.ITIMER_REAL, max(session.deadline - now, 0.0) + 1.0, 1.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)


def _harden() -> None:
    """Keep this process from what the student's may try, and adopt whatever that one leaves behind."""
    resource.setrlimit(resource.RLIMIT_AS, (2 * MEMORY, 2 * MEMORY))
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(4, 0, 0, 0, 0)  # not dumpable: nobody of the same user reads this memory
        libc.prctl(36, 1, 0, 0, 0)  # the reaper of what its children leave
        libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # ends with whoever marks


def main() -> None:
    """Read a job from the standard input, and write what came of it to the standard output."""
    job = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.set_inheritable(out.fileno(), False)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a test prints is no verdict
    if "compile" in job:
        names: dict[str, Any] = {"__name__": "__main__"}
        for source in job["compile"]:
            with contextlib.suppress(Exception):  # whether the solutions are right is found out afterwards
                exec(compile(source, "<key>", "exec", dont_inherit=True), names)
        return
    _harden()
    steps = [Step(**step) for step in job["steps"]]
    sandbox = Sandbox(**job["sandbox"])
    started = time.monotonic()
    how = {name: job[name] for name in ("asked", "imports", "number", "timeout", "most", "reveal")}
    marking = Marking(steps, sandbox=sandbox, **how)
    marking.go()
    seconds = time.monotonic() - started
    said = {"questions": marking.questions, "problems": marking.problems, "stopped": marking.stopped}
    json.dump({**said, "seconds": seconds}, out)
    out.close()


if __name__ == "__main__":
    main()
