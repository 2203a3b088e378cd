"""Hosts as network namespaces that cannot outlive the process that made them.

A namespace made by ``ip netns add`` is a mount under ``/run/netns`` and stays when its maker is killed.
Ours are *held by a file descriptor only*: the kernel removes a namespace, its devices and its routes as soon
as the last descriptor, process and socket in it are gone. So an exception, Ctrl-C and even ``kill -9`` leave
nothing.

Explained in ``notebooks/transport/02_measuring_honestly.ipynb``.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from voicewire.testbed.errors import TestbedError

__all__ = ["Host", "enter", "may_make_namespaces"]

CLONE_NEWNET = 0x40000000
_HERE = "/proc/thread-self/ns/net"
_SYSCTL = Path("/proc/sys/net/ipv4")

#: What every host gets, and why: see `Host`.
HOST_SYSCTLS = {
    "tcp_no_metrics_save": "1",  # else a connection starts from what an earlier one learned
    "tcp_timestamps": "1",
    "tcp_ecn": "0",
}


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(function: str, *arguments: int) -> None:
    if getattr(_libc(), function)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@contextmanager
def enter(descriptor: int) -> Iterator[None]:
    """Put the calling thread into the namespace of `descriptor`, and back again at the end.

    Sockets stay where they were made, threads and processes where they were started: making them inside this
    block is all that is needed to place them on a host.
    """
    home = os.open(_HERE, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _call("setns", descriptor, CLONE_NEWNET)
        try:
            yield
        finally:
            _call("setns", home, CLONE_NEWNET)
    finally:
        os.close(home)


class Host:
    """One host: a network namespace of its own with its loopback up.

    Parameters
    ----------
    role : str
        A short word for people ("sender"). The host's `name` adds the process id and four random hex digits,
        so that two runs at once never share a name.
    congestion : str
        Congestion control of all its TCP connections. Pinned, because bbr hides loss and defaults differ; to
        Reno, because every kernel has it and lets every namespace choose it.
    sack : bool
        Selective acknowledgements. Off where counters and capture must agree to the byte even under loss.

    Raises
    ------
    TestbedError
        Without the privilege to make namespaces, or if the kernel lacks the congestion control.

    Notes
    -----
    ``with host.inside():`` runs the block's thread on the host. ``Host`` is itself a context manager that
    closes.

    Examples
    --------
    It needs the privilege to make namespaces, so it is only shown here:

    >>> with Host("sender") as host, host.inside():  # doctest: +SKIP
    ...     pass
    """

    def __init__(self, role: str = "host", *, congestion: str = "reno", sack: bool = True) -> None:
        if not sys.platform.startswith("linux"):
            raise TestbedError("hosts are Linux network namespaces; use the loopback proxy on this system")
        self.role = role
        self.name = f"vw-{os.getpid()}-{secrets.token_hex(2)}-{role}"
        self.congestion = congestion
        self._lock = threading.Lock()
        home = os.open(_HERE, os.O_RDONLY | os.O_CLOEXEC)
        try:
            try:
                _call("unshare", CLONE_NEWNET)
            except OSError as error:
                raise TestbedError(
                    f"cannot make a network namespace ({error.strerror}): run as root, or use the loopback proxy"
                ) from error
            try:
                self._fd: int | None = os.open(_HERE, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    self._prepare(sack)
                except BaseException:
                    os.close(self._fd)
                    raise
            finally:
                _call("setns", home, CLONE_NEWNET)
        finally:
            os.close(home)

    def _prepare(self, sack: bool) -> None:
        ip("link", "set", "lo", "up")
        for key, value in HOST_SYSCTLS.items():
            (_SYSCTL / key).write_text(value)
        (_SYSCTL / "tcp_sack").write_text("1" if sack else "0")
        available = (_SYSCTL / "tcp_available_congestion_control").read_text().split()
        if self.congestion not in available:
            raise TestbedError(
                f"congestion control {self.congestion!r} is not in this kernel; it has {', '.join(available)}"
            )
        try:
            (_SYSCTL / "tcp_congestion_control").write_text(self.congestion)
        except PermissionError as error:
            raise TestbedError(
                f"this kernel does not let a namespace choose {self.congestion!r} (see "
                "net.ipv4.tcp_allowed_congestion_control); use 'reno'"
            ) from error
        ipv6 = Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
        if ipv6.exists():  # no router solicitations among the captured packets
            ipv6.write_text("1")

    def fileno(self) -> int:
        """Return the descriptor that keeps the namespace alive.

        Returns
        -------
        int

        Raises
        ------
        TestbedError
            If the host is closed.
        """
        if self._fd is None:
            raise TestbedError(f"host {self.name} is closed")
        return self._fd

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Run the block's thread on this host.

        Yields
        ------
        None
            The block's thread is on this host.
        """
        with enter(self.fileno()):
            yield

    def ip(self, *arguments: str) -> str:
        """Run ``ip ARGUMENTS`` on this host.

        Parameters
        ----------
        *arguments : str
            As at a shell.

        Returns
        -------
        str
            What it prints.

        Raises
        ------
        TestbedError
            If it is not installed, or says no.
        """
        with self.inside():
            return ip(*arguments)

    def close(self) -> None:
        """Let go of the namespace; the kernel removes it once nothing else runs in it."""
        with self._lock:
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None

    def __enter__(self) -> Host:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Host({self.role!r})"


def ip(*arguments: str) -> str:
    """Run iproute2's ``ip`` where the calling thread is."""
    try:
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True, timeout=20, check=False)
    except FileNotFoundError as error:
        raise TestbedError("iproute2 is not installed: the command 'ip' is needed for hosts and links") from error
    if done.returncode:
        raise TestbedError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def may_make_namespaces() -> str | None:
    """Try whether a namespace can be made here; it is removed again.

    Returns
    -------
    str or None
        Why not, or None if it can.

    Examples
    --------
    >>> reason = may_make_namespaces()
    >>> reason is None or len(reason) > 0
    True
    """
    try:
        Host("probe").close()
    except (TestbedError, OSError) as error:
        return str(error)
    return None
