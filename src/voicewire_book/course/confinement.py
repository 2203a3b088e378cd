"""The confinement that is asked for, tried with a small submission before anybody's is run in it.

Unasked it is the strongest, or nothing is marked: a weaker one has to be asked for by its name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from voicewire_book.course.key import GradingError
from voicewire_book.course.sandbox import KINDS, ROOT, UNSHARE, Sandbox
from voicewire_book.course.session import Session, SessionError

__all__ = ["choose"]

_WEAKER = (
    "install bubblewrap, or ask by name for what is weaker: --confine user (for root, an account that owns nothing) or "
    "--confine process, in which what students wrote may read and change all that you may"
)
_HINTS = {
    "bubblewrap": " (it has to be version 0.8 or newer, and the system must let you make user namespaces)",
    "user": " (may another user read the interpreter and the package?)",
}
# What a submission may not do anywhere: begin a user namespace, in which it would have root's rights.
_NESTED = "import ctypes\nnested = ctypes.CDLL(None).unshare(0x10000000) == 0"


def choose(kind: str | None, base: Path, hide: Sequence[Path]) -> Sandbox:
    """Return the strongest confinement, or the one that is named."""
    if os.name != "posix":
        raise GradingError("marking runs what students wrote, and this system can't confine it: use Linux or macOS")
    if kind is not None and kind not in KINDS:
        raise GradingError(f"there is no confinement {kind!r}: choose from {', '.join(KINDS)}")
    hidden = tuple(str(path.resolve()) for path in hide if path.is_dir())
    name = kind or KINDS[0]
    sandbox = _build(name, str(base.resolve()), hidden)
    reason = _trial(sandbox)
    if reason:
        weaker = f": {_WEAKER}" if kind is None else ""
        raise GradingError(f"no submission can be run here ({name}: {reason}){weaker}")
    return sandbox


def _build(kind: str, base: str, hide: tuple[str, ...]) -> Sandbox:
    if kind == "bubblewrap":
        words = "under bubblewrap, with no network and nothing of yours but the package and the book's data, read-only"
        return Sandbox(kind, words, (), base, hide)
    prefix = _cut_off()
    network = "without network" if prefix else "WITH the network that this machine has"
    if kind == "user":
        hidden = (
            "the instructor's notebooks and other submissions hidden" if prefix else "files readable by all in reach"
        )
        return Sandbox(kind, f"under a user of its own, {network}, {hidden}", prefix, base, hide)
    words = f"in a process of its own with your rights, {network}; install bubblewrap for better"
    return Sandbox(kind, words, prefix, base, hide)


def _cut_off() -> tuple[str, ...]:
    """Return the command that starts another without a network, if there is one that works."""
    program = shutil.which("unshare")
    if program is None:
        return ()
    prefix = (program, *(() if ROOT else ("--user", "--map-current-user")), *UNSHARE)
    tried = subprocess.run([*prefix, "true"], check=False, capture_output=True, timeout=30)
    return prefix if tried.returncode == 0 else ()


def _trial(sandbox: Sandbox) -> str:
    """Return why a submission can't be run in this way, or nothing."""
    if sandbox.kind == "bubblewrap" and shutil.which("bwrap") is None:
        return "the program bwrap is missing"
    if sandbox.kind == "user" and not ROOT:
        return "only root can use another user"
    try:
        with Session(sandbox, number=0, seconds=60.0) as session:
            session.run("answer = 6 * 7")
            if session.value("answer") != 42:
                return "a trial gave a wrong value"
            if sandbox.kind != "process" and sys.platform == "linux":
                session.run(_NESTED)
                if session.value("nested"):
                    return "a trial could begin a user namespace of its own"
    except (SessionError, OSError) as error:
        return f"a trial failed: {error}{_HINTS.get(sandbox.kind, '')}"
    return ""
