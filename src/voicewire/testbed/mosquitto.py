"""Mosquitto as a child that cannot outlive us, configured for measuring."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

from voicewire.testbed.capability import find_mosquitto
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.hosts import Host

__all__ = ["Mosquitto", "answers", "end_with_parent", "free_port"]

_PR_SET_PDEATHSIG = 1


def free_port() -> int:
    """Find a TCP port of loopback that nothing used a moment ago."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Mosquitto:
    """A mosquitto broker for the time of a ``with`` block.

    Parameters
    ----------
    host : Host or None
        Where it runs; None is where the calling thread is (then it listens on loopback only).
    port : int
        Port to listen on.
    nodelay : bool
        ``set_tcp_nodelay``. Off is the program's own default, and costs a 40 ms stall now and then.
    tls : (Path, Path) or None
        Certificate and key files, for a listener with TLS.
    persist : Path or None
        Folder in which it keeps sessions and messages when it ends (``mosquitto.db``); None keeps nothing.

    Raises
    ------
    TestbedError
        If it is not installed, or does not come up (port in use).

    Examples
    --------
    Where it is installed:

    >>> with Mosquitto(port=free_port()) as broker:  # doctest: +SKIP
    ...     broker.port
    """

    def __init__(
        self, host: Host | None = None, port: int = 1883, *, nodelay: bool = True, tls: tuple[Path, Path] | None = None,
        persist: Path | None = None,
    ) -> None:  # fmt: skip
        program = find_mosquitto()
        if program is None:
            raise TestbedError("mosquitto is not installed; use the broker of this package")
        self.port = port
        address = "0.0.0.0" if host is not None else "127.0.0.1"
        lines = [
            f"listener {port} {address}",
            "allow_anonymous true",
            f"set_tcp_nodelay {'true' if nodelay else 'false'}",
            f"persistence {'true' if persist is not None else 'false'}",
            "log_type none",
            "max_queued_messages 0",
        ]
        if os.geteuid() == 0:
            lines.append("user root")  # else it changes user, and may not read this file
        if persist is not None:
            lines.append(f"persistence_location {persist}/")
        if tls is not None:
            lines += [f"certfile {tls[0]}", f"keyfile {tls[1]}"]
        self._folder = tempfile.TemporaryDirectory(prefix="voicewire-")
        configuration = Path(self._folder.name) / "mosquitto.conf"
        configuration.write_text("\n".join(lines) + "\n")
        with contextlib.ExitStack() as stack:
            stack.callback(self._folder.cleanup)
            if answers(host, port):
                raise TestbedError(f"port {port} is in use: choose another, or end the program that listens there")
            with host.inside() if host is not None else contextlib.nullcontext():
                self._child = subprocess.Popen(
                    [program, "-c", str(configuration)],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    preexec_fn=end_with_parent,
                )  # fmt: skip
            stack.callback(self._end)
            limit = time.monotonic() + 10
            while not answers(host, port):
                if self._child.poll() is not None or time.monotonic() > limit:
                    raise TestbedError(f"mosquitto did not come up on port {port} (exit status {self._child.poll()})")
                time.sleep(0.01)
            self._stack = stack.pop_all()

    def _end(self) -> None:
        self._child.terminate()
        try:
            self._child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def close(self) -> None:
        """End it and remove its files."""
        self._stack.close()

    def __enter__(self) -> Mosquitto:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def end_with_parent() -> None:
    """Have the kernel end the calling process as soon as its parent ends, however that ends.

    Notes
    -----
    For `subprocess.Popen`'s ``preexec_fn``; elsewhere than on Linux it does nothing.
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def answers(host: Host | None, port: int) -> bool:
    """Say whether something listens on a port of a host's loopback."""
    with host.inside() if host is not None else contextlib.nullcontext(), socket.socket() as s:
        s.settimeout(1)
        return s.connect_ex(("127.0.0.1", port)) == 0
