"""The broker's port: connections are accepted while the process has descriptors for them; until then they wait."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import math
import os
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

__all__: list[str] = []  # the broker's inside: only this room's own modules use it

RESERVE = 32
"""Descriptors that are kept for the store, its log, and what else a process opens."""
OUT = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
"""What the system says when it has no descriptor or no memory for one more connection."""
PAUSE = 0.05
"""Seconds between two looks whether there is room again."""
HANDSHAKES = 256
"""TLS handshakes under way at once, each of which takes some 50 kB; for one more the oldest is given up."""
SAID = 60.0
"""Seconds between two lines in the log that say that there is none."""


def allowed() -> float:
    """How many descriptors the process may have."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return math.inf
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if soft == resource.RLIM_INFINITY else soft


def raise_limit(wanted: int) -> None:
    """Let the process have that many descriptors, or as many as its hard limit allows."""
    if allowed() >= wanted:
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with contextlib.suppress(OSError, ValueError):  # a system may allow less than it says; the start tells what is left
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def in_use() -> int:
    """How many descriptors the process has."""
    try:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:
        return RESERVE


async def bound(loop: asyncio.AbstractEventLoop, host: str, port: int) -> list[socket.socket]:
    """Bind a socket to each address of `host`."""
    infos = await loop.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in dict.fromkeys(infos):
            sock = socket.socket(family, kind, protocol)
            sockets.append(sock)
            sock.setblocking(False)
            if os.name == "posix":
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                sock.bind(address)
            except OSError as error:
                why = (error.strerror or str(error)).lower()
                raise OSError(error.errno, f"error while attempting to bind on address {address}: {why}") from None
            sock.listen(1024)
    except BaseException:
        for sock in sockets:
            sock.close()
        raise
    return sockets


class Listener:
    """Accepts connections."""

    def __init__(
        self, make: Callable[[], asyncio.Protocol], present: Callable[[], int], seconds: float,
        context: ssl.SSLContext | None, log: logging.Logger,
    ) -> None:  # fmt: skip
        self._make = make
        self._present = present
        self._seconds = seconds
        self._context = context
        self._log = log
        self.tasks: list[asyncio.Task[None]] = []
        self._shaking: dict[asyncio.Task[None], None] = {}  # the oldest first
        self._said = -math.inf
        self.places = math.inf
        self.loop: asyncio.AbstractEventLoop

    async def open(self, host: str, port: int) -> int:
        """Listen, and return the port."""
        self.loop = asyncio.get_running_loop()
        sockets = await bound(self.loop, host, port)
        self.places = max(1, allowed() - in_use() - RESERVE)
        for sock in sockets:
            task = self.loop.create_task(self._accept(sock))
            task.add_done_callback(lambda _, sock=sock: sock.close())  # type: ignore[misc]
            self.tasks.append(task)
        return int(sockets[0].getsockname()[1])

    def close(self) -> None:
        """Accept no more."""
        for task in (*self.tasks, *self._shaking):
            task.cancel()

    async def _accept(self, listener: socket.socket) -> None:
        while True:
            while self._present() + len(self._shaking) >= self.places:
                self._full(f"there are {self._present()} connections, the limit of open files: newcomers wait")
                await asyncio.sleep(PAUSE)
            try:
                sock, _ = await self.loop.sock_accept(listener)
            except OSError as error:
                if error.errno in OUT:
                    self._full(f"a connection cannot be accepted: {error.strerror}: newcomers wait")
                await asyncio.sleep(PAUSE)  # else the client has gone again
                continue
            if self._context is None:
                await self._begin(sock)
            else:
                if len(self._shaking) >= HANDSHAKES:
                    self._full(f"there are {HANDSHAKES} TLS handshakes under way: the oldest is given up")
                    oldest = next(iter(self._shaking))
                    del self._shaking[oldest]
                    oldest.cancel()
                task = self.loop.create_task(self._begin(sock))
                self._shaking[task] = None
                task.add_done_callback(lambda task: self._shaking.pop(task, None))

    async def _begin(self, sock: socket.socket) -> None:
        """Bring an accepted socket and a new protocol together, behind the TLS handshake if there is one."""
        seconds = self._seconds if self._context else None
        try:
            protocol = self._make()
            await self.loop.connect_accepted_socket(
                lambda: protocol, sock, ssl=self._context, ssl_handshake_timeout=seconds
            )
        except asyncio.CancelledError:
            sock.close()
            raise
        except OSError:  # the client has gone, or shook no hands in time (ssl.SSLError is one, too)
            sock.close()
        except Exception as error:  # ends this connection, and not the port
            sock.close()
            self._log.exception("a connection could not begin: %r", error)

    def _full(self, why: str) -> None:
        now = self.loop.time()
        if now - self._said >= SAID:
            self._said = now
            self._log.warning("%s", why)
