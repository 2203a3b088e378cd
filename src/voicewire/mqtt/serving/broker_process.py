"""Brokers in processes of their own, on loopback ports that are free: ours, and mosquitto where it is installed."""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

__all__ = [
    "External",
    "free_port",
    "mosquitto",
    "mosquitto_version",
    "ours",
    "resident",
    "running",
    "start",
    "stop",
]

MOSQUITTO_CONFIG = """\
listener {port} 127.0.0.1
allow_anonymous true
set_tcp_nodelay true
max_inflight_messages 1000
max_queued_messages 10000
log_type error
persistence false
{user}
"""
"""Mosquitto as it answers fastest: without Nagle's delay, with our window and our queue."""


@dataclass(frozen=True, slots=True)
class External:
    """A broker that runs in a process of its own.

    Parameters
    ----------
    name : str
        Name and version.
    port : int
        Port on 127.0.0.1.
    pid : int
        Its process.

    Examples
    --------
    >>> import os
    >>> External("ours", 1883, os.getpid()).resident() > 0
    True
    """

    name: str
    port: int
    pid: int

    def resident(self) -> int:
        """Look up the resident memory of the process.

        Returns
        -------
        int
            Bytes, 0 where that cannot be known.
        """
        return resident(self.pid)


def resident(pid: int | str = "self") -> int:
    """Look up the resident memory of a process."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found[1]) * 1024 if found else 0


def free_port() -> int:
    """Find a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def mosquitto_version() -> str | None:
    """Ask the installed mosquitto for its version."""
    program = _mosquitto()
    if program is None:
        return None
    text = subprocess.run([program, "-h"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"mosquitto version (\S+)", text)
    return found[1] if found else "unknown"


def _mosquitto() -> str | None:
    return shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")


@contextlib.contextmanager
def ours(*arguments: str, port: int = 0) -> Iterator[External]:
    """Run `voicewire broker` until the block ends.

    Parameters
    ----------
    *arguments : str
        More of its options.
    port : int
        A free one by default.

    Yields
    ------
    External
        Its name, port and process; it listens.

    Raises
    ------
    RuntimeError
        If it does not start; with its last words.

    Examples
    --------
    >>> from voicewire.mqtt.raw_socket_client import connect
    >>> with ours("--no-qos3") as broker, connect(broker.port) as wire:
    ...     wire.quiet()
    """
    port = port or free_port()
    command = [sys.executable, "-m", "voicewire.mqtt", "broker", "--quiet", "--port", str(port), *arguments]
    with running(command, port) as pid:
        yield External("voicewire", port, pid)


@contextlib.contextmanager
def mosquitto(extra: str = "") -> Iterator[External]:
    """Run mosquitto, with a configuration of our own, until the block ends.

    Parameters
    ----------
    extra : str
        More lines of its configuration.

    Yields
    ------
    External
        Its name, port and process; it listens.

    Raises
    ------
    FileNotFoundError
        If it is not installed.
    RuntimeError
        If it does not start; with its last words.

    Examples
    --------
    >>> from voicewire.mqtt.raw_socket_client import connect
    >>> if mosquitto_version():
    ...     with mosquitto() as broker, connect(broker.port) as wire:
    ...         wire.quiet()
    """
    program = _mosquitto()
    if program is None:
        raise FileNotFoundError("mosquitto is not installed")
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mosquitto.conf"
        user = "user root" if Path("/root").exists() and _is_root() else ""
        path.write_text(MOSQUITTO_CONFIG.format(port=port, user=user) + extra, encoding="utf-8")
        with running([program, "-c", str(path)], port) as pid:
            yield External(f"mosquitto {mosquitto_version()}", port, pid)


def _is_root() -> bool:
    import os

    return hasattr(os, "geteuid") and os.geteuid() == 0


START, STOP = 60.0, 10.0
"""Seconds within which a broker must listen, or is stopped; seconds within which it must end, or is killed."""


@contextlib.contextmanager
def running(command: list[str], port: int) -> Iterator[int]:
    """Run `command` until the block ends.

    Parameters
    ----------
    command : list of str
        Program and arguments.
    port : int
        Port on 127.0.0.1.

    Yields
    ------
    int
        Its process id, once it listens on `port`.

    Raises
    ------
    RuntimeError
        If it ends, or does not listen in time; with its last words.

    Examples
    --------
    >>> with running([sys.executable, "-c", "exit(3)"], free_port()):
    ...     pass
    Traceback (most recent call last):
    ...
    RuntimeError: the broker ended with status 3
    """
    process = start(command, port)
    try:
        yield process.pid
    finally:
        stop(process)


def start(
    command: list[str], port: int, timeout: float = START, log: IO[bytes] | None = None
) -> subprocess.Popen[bytes]:
    """Start `command` and wait until it listens on `port`; if it does not in time, it is stopped.

    Parameters
    ----------
    command : list of str
        Program and arguments.
    port : int
        Port on 127.0.0.1.
    timeout : float
        Seconds to wait.
    log : binary file, optional
        Gets what it writes to its standard error.

    Returns
    -------
    subprocess.Popen
        The process; it listens.

    Raises
    ------
    RuntimeError
        If it ends, or does not listen in time; with its last words.

    Examples
    --------
    >>> port = free_port()
    >>> listen = f"import socket; s = socket.create_server(('127.0.0.1', {port})); [s.accept() for _ in iter(int, 1)]"
    >>> process = start([sys.executable, "-c", listen], port)
    >>> stop(process)
    >>> process.returncode is None
    False
    """
    # A pipe that nobody reads would stop a broker that logs much.
    with contextlib.nullcontext(log) if log is not None else tempfile.TemporaryFile() as words:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=words)
        try:
            wait_for_port(port, process, timeout)
        except BaseException as error:
            stop(process)
            if not isinstance(error, RuntimeError):
                raise
            words.seek(0)
            last = words.read().decode(errors="replace").strip()[-500:]
            raise RuntimeError(f"{error}: {last}" if last else str(error)) from None
    return process


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process politely, and after `STOP` seconds by force.

    Parameters
    ----------
    process : subprocess.Popen
        One that this program has started.

    Examples
    --------
    >>> process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    >>> stop(process)
    >>> process.returncode is None
    False
    """
    process.terminate()
    try:
        process.wait(STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_for_port(port: int, process: subprocess.Popen[bytes], timeout: float = START) -> None:
    """Wait until `process` listens on `port`; :func:`start` does this, and stops what does not."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the broker ended with status {process.returncode}")
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return
        time.sleep(0.01)
    raise RuntimeError(f"the broker does not listen on port {port} after {timeout:g} s")
