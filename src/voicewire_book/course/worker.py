"""The student's process: runs the cells of one submission, and tells the marker what its names and functions give.

It holds nothing worth knowing: no expected value, no hidden test, no other submission. Student's code may do with this
process what it likes, and whatever it sends can be no more than wrong answers.
"""

from __future__ import annotations

import ctypes
import errno
import itertools
import json
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from voicewire_book.course import plain

__all__: list[str] = []  # a process of its own: nobody calls into it

_ITEMS = 100_000
#: By machine: its number for the kernel, and those of the calls clone, unshare and clone3.
_CALLS = {"x86_64": (0xC000003E, 56, 272, 435), "aarch64": (0xC00000B7, 220, 97, 435)}


def confine(settings: dict[str, Any]) -> None:
    """Take from this process what the student's code must not have; there is no way back."""
    libc = ctypes.CDLL(None, use_errno=True)
    for place in settings["hide"]:
        if libc.mount(b"tmpfs", os.fsencode(place), b"tmpfs", 0, b"size=4k,mode=0") != 0:
            raise OSError(ctypes.get_errno(), "a folder can't be hidden", place)
    for name, most in settings["limits"].items():
        limit = getattr(resource, name, None)
        if limit is not None:
            hard = resource.getrlimit(limit)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(limit, (most, most))
    if settings["user"] is not None:
        os.setgroups([])
        os.setgid(settings["user"])
        os.setuid(settings["user"])
    if sys.platform == "linux":
        libc.prctl(38, 1, 0, 0, 0)  # no new privileges, by set-user-id programs for one
        _without_namespaces(libc)
        libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # ends with the marker
    Path(os.environ["TMPDIR"]).mkdir(exist_ok=True)


def _without_namespaces(libc: ctypes.CDLL) -> None:
    """Have the kernel refuse user namespaces to this process and to all that it starts, whoever it runs as.

    In one it would have root's rights, if over little, and reach much more of the kernel. bubblewrap's own option
    (--disable-userns) needs a namespace to begin with, which root has not.
    """
    calls = _CALLS.get(platform.machine())
    if calls is None or sys.byteorder != "little":
        return  # another processor: the trial finds out whether namespaces can be had
    architecture, clone, unshare, clone3 = calls
    allow, refuse, absent = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
    # Each: code, how far to go on if it holds and if not, value. 0x20 loads a word of the call, 0x15 compares, 0x35
    # is "at least", 0x45 "any bit of", 0x06 returns.
    steps = (
        (0x20, 0, 0, 4), (0x15, 1, 0, architecture), (0x06, 0, 0, refuse),
        (0x20, 0, 0, 0), (0x35, 0, 1, 0x40000000), (0x06, 0, 0, refuse),
        (0x15, 0, 1, clone3), (0x06, 0, 0, absent),  # its flags lie in memory; the C library takes clone then
        (0x15, 1, 0, clone), (0x15, 0, 3, unshare),
        (0x20, 0, 0, 16), (0x45, 0, 1, 0x10000000), (0x06, 0, 0, refuse),
        (0x06, 0, 0, allow),
    )  # fmt: skip
    program = b"".join(struct.pack("=HBBI", *step) for step in steps)
    kept = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("@HP", len(steps), ctypes.addressof(kept))
    if libc.prctl(22, 2, ctypes.create_string_buffer(filter_, len(filter_)), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "user namespaces can't be refused")


class Worker:
    """Runs cells as Jupyter would, and does what the marker asks."""

    def __init__(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        self._shell = InteractiveShell.instance(config=config)
        for name in ("showtraceback", "showsyntaxerror"):
            setattr(self._shell, name, lambda *_, **__: None)
        self._kept: list[Any] = []
        self._does: dict[str, Callable[..., Any]] = {
            "run": self._run,
            "get": self._get,
            "attribute": lambda number, name: getattr(self._kept[number], name),
            "call": self._call,
            "truth": lambda number: bool(self._kept[number]),
            "items": lambda number: list(itertools.islice(self._kept[number], _ITEMS)),
        }

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to one request."""
        reply: dict[str, Any] = {"id": request["id"]}
        try:
            value = self._does[request["do"]](*request["with"])
            return {**reply, "value": plain.encode(value, self._keep)}
        except plain.DataError as error:
            return {**reply, "error": ["ValueError"], "text": f"this can't be handed over: {error}"}
        except BaseException as error:  # whatever a student's code may raise
            return {**reply, "error": plain.names_of(error)[:20], "text": str(error)[:300]}

    def _keep(self, value: Any) -> dict[str, Any]:
        self._kept.append(value)
        return {"object": [len(self._kept) - 1, type(value).__name__[:80], callable(value)]}

    def _get(self, name: str) -> Any:
        if name not in self._shell.user_ns:
            raise NameError(name)
        return self._shell.user_ns[name]

    def _run(self, source: str) -> None:
        result = self._shell.run_cell(source, store_history=False, silent=True)
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            raise error

    def _call(self, number: int, positional: Sequence[Any], named: dict[str, Any]) -> Any:
        def mine(reference: dict[str, Any]) -> Any:
            return self._kept[reference["object"][0]]

        arguments = [plain.decode(item, mine) for item in positional]
        return self._kept[number](*arguments, **{name: plain.decode(item, mine) for name, item in named.items()})


def main() -> None:
    """Answer requests until there are no more."""
    settings = json.loads(sys.argv[1])
    confine(settings)
    sys.argv[1:] = []
    with os.fdopen(settings["requests"], "rb") as requests, os.fdopen(settings["replies"], "wb") as replies:
        worker = Worker()
        for line in requests:
            try:
                sent = plain.dumps(worker.answer(plain.loads(line)))
            except BaseException as error:
                sent = plain.dumps({"id": None, "error": [type(error).__name__[:80]], "text": "no reply could be made"})
            if len(sent) > plain.LIMIT:
                much = f"this can't be handed over: {len(sent)} bytes, more than {plain.LIMIT}"
                sent = plain.dumps({"id": plain.loads(line)["id"], "error": ["ValueError"], "text": much})
            replies.write(sent)
            replies.flush()


if __name__ == "__main__":
    main()
