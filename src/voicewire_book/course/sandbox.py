"""Where a submission runs: one process, one folder, one environment, and limits to all that it can use.

Three ways, the first unless another is named:

bubblewrap
    Debian's ``bwrap``: a file system of its own with the interpreter, the package and the book's data, all read-only;
    no network, no other process in sight.
user
    For root without bubblewrap: an account that owns nothing but the submission's folder.
process
    For everybody else: a process with a bare folder. It may read and change what whoever marks may.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from voicewire._kit.paths import PACKAGES

__all__ = ["KINDS", "MEMORY", "PROCESSES", "Sandbox"]

KINDS = ("bubblewrap", "user", "process")
#: Bytes of memory that all processes of a submission may use together.
MEMORY = 2 * 2**30
#: Bytes in its folder, in one file; number of files, of processes.
FOLDER, FILE, FILES, PROCESSES = 64 * 2**20, 32 * 2**20, 2000, 48
_FIRST_USER = 50_000
_HOME = "/submission"
ROOT = os.name == "posix" and os.geteuid() == 0
UNSHARE = ("--net", "--ipc", "--pid", "--mount-proc", "--fork", "--kill-child")


@dataclass(frozen=True)
class Sandbox:
    """How submissions are confined.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    words : str
        What that means, in a sentence for the report.
    prefix : tuple of str
        The command that cuts the network off, where bubblewrap doesn't.
    base : str
        The checkout; its notebooks are hidden.
    hide : tuple of str
        Folders that no submission may see: the checkout's notebooks and what others handed in.
    """

    kind: str
    words: str
    prefix: tuple[str, ...]
    base: str
    hide: tuple[str, ...]

    @contextlib.contextmanager
    def start(self, number: int, seconds: float) -> Iterator[tuple[subprocess.Popen[bytes], int, int, Path | None]]:
        """Start the student's process."""
        theirs_in, requests = os.pipe()
        replies, theirs_out = os.pipe()
        folder = None
        try:
            user = _user(number) if self.kind != "process" and ROOT else None
            if self.kind != "bubblewrap":
                folder = Path(tempfile.mkdtemp(prefix="voicewire-submission-"))
                if user is not None:
                    os.chown(folder, user, user)
            settings = {
                "requests": theirs_in,
                "replies": theirs_out,
                "user": user,
                "limits": _limits(seconds, user),
                "hide": list(self.hide) if self.kind == "user" and self.prefix else [],
            }
            command = [sys.executable, "-m", "voicewire_book.course.worker", json.dumps(settings)]
            home = _HOME if folder is None else str(folder)
            environment = _environment(home)
            if folder is None:
                command = [*_bubblewrap(self.base, self.hide, environment), "--", *command]
            else:
                command = [*self.prefix, *command]
            with subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs_in, theirs_out),
                start_new_session=True,
            ) as process:
                os.close(theirs_in)
                os.close(theirs_out)
                theirs_in = theirs_out = -1
                try:
                    yield process, requests, replies, folder
                finally:
                    process.kill()
        finally:
            for descriptor in (theirs_in, theirs_out, requests, replies):
                if descriptor >= 0:
                    os.close(descriptor)
            if folder is not None:
                # By the program: what a student nests deeply is beyond shutil.rmtree.
                subprocess.run(["rm", "-rf", "--", folder], check=False, stderr=subprocess.DEVNULL)


def _user(number: int) -> int:
    """Return the id of a user that nobody is."""
    import pwd  # which Windows has not

    taken = {entry.pw_uid for entry in pwd.getpwall()}
    free = [uid for uid in range(_FIRST_USER, _FIRST_USER + 10_000) if uid not in taken]
    return free[number % len(free)]


def _limits(seconds: float, user: int | None) -> dict[str, int]:
    processes = PROCESSES
    if user is None:  # the processes that the same user has elsewhere are counted too
        own = os.getuid()
        # Path.glob raises where a process ends while it looks.
        tasks = glob.iglob("/proc/[0-9]*/task/*")  # noqa: PTH207
        processes += sum(_owner(Path(entry)) == own for entry in tasks)
    return {
        "RLIMIT_AS": 2 * MEMORY,  # address space, of which a program touches a part
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": int(seconds) + 10,
        "RLIMIT_FSIZE": FILE,
        "RLIMIT_MEMLOCK": 2**16,
        "RLIMIT_NOFILE": 256,
        "RLIMIT_NPROC": processes,
    }


def _owner(entry: Path) -> int:
    try:
        return entry.stat().st_uid
    except OSError:  # it has ended meanwhile
        return -1


def _environment(home: str) -> dict[str, str]:
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    return {
        **one,
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.defpath)),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
        "USER": "student",
        "HOME": home,
        "TMPDIR": f"{home}/.tmp" if home != _HOME else "/tmp",
        "IPYTHONDIR": f"{home}/.ipython",
        "MPLCONFIGDIR": f"{home}/.matplotlib",
        "MPLBACKEND": "agg",
    }


def _bubblewrap(base: str, hide: Sequence[str], environment: dict[str, str]) -> list[str]:
    command = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--unshare-ipc", "--unshare-pid"]
    command += ["--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    # Root's own processes are never counted against a limit: the worker leaves root inside.
    rights = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    command += rights if ROOT else ["--unshare-user", "--disable-userns"]
    command += ["--proc", "/proc", "--dev", "/dev"]
    for place, size in ((_HOME, FOLDER), ("/tmp", FOLDER), ("/dev/shm", FOLDER // 4)):
        command += ["--perms", "1777", "--size", str(size), "--tmpfs", place]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        path = Path(name)
        if path.is_symlink():
            command += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            command += ["--ro-bind", name, name]
    readable = _readable(base)
    for place in readable:
        command += [*_way(place), "--ro-bind-try", place, place]
    command += [*_way(base), "--perms", "0755", "--dir", f"{base}/notebooks"]  # by which the package knows a checkout
    for place in hide:
        if any(Path(place).is_relative_to(bound) for bound in readable):
            command += ["--tmpfs", place]
    command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", _HOME, "--clearenv"]
    for name, value in environment.items():
        command += ["--setenv", name, value]
    return command


def _readable(base: str) -> list[str]:
    """Return what a submission needs of the machine: the interpreter, its packages, ours, and the book's data."""
    wanted = ["/usr", "/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", "/etc/fonts"]
    wanted += [sys.prefix, sys.base_prefix, *site.getsitepackages()]
    wanted += map(str, PACKAGES)
    wanted += [f"{base}/data", f"{base}/pyproject.toml"]
    # What was compiled once need not be compiled for each submission: it is read through a copy, see `_code_cache`.
    checkout = Path(__file__).resolve().parents[3]
    wanted += [f"{checkout}/pyproject.toml", f"{checkout}/.cache/numba"]
    found: list[str] = []
    for place in sorted(wanted, key=lambda place: len(Path(place).parts)):
        if not any(Path(place).is_relative_to(bound) for bound in found):
            found.append(place)
    return found


def _way(place: str) -> list[str]:
    """Return what makes the folders above a place: left to itself, bubblewrap lets nobody but root through them."""
    above = [str(folder) for folder in reversed(Path(place).parents)][1:]
    return [word for folder in above for word in ("--perms", "0755", "--dir", folder)]
