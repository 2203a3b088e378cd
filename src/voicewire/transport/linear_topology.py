"""Where an experiment runs: hosts in a row with links between them, or loopback with delay proxies."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType

from voicewire.testbed.capture import Capture
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.hosts import Host
from voicewire.testbed.link import Link, LinkSpec
from voicewire.testbed.tcp_proxy import DelayProxy

__all__ = ["KINDS", "Bed"]

KINDS = ("namespaces", "proxy")


class Bed:
    """Hosts in a row, the neighbours linked alike.

    Parameters
    ----------
    roles : tuple of str
        Names of the hosts in order, for instance ``("publisher", "broker", "subscriber")``.
    spec : LinkSpec
        What each link does.
    kind : str
        ``"namespaces"`` or ``"proxy"`` (loopback; no jitter there, and no loss but that of datagrams).
    seed : int
        Of the links' loss and jitter.

    Examples
    --------
    >>> with Bed(("sender", "receiver"), LinkSpec(delay=0.01), "proxy") as bed:
    ...     bed.listen_address("receiver")
    '127.0.0.1'
    """

    def __init__(self, roles: tuple[str, ...], spec: LinkSpec, kind: str = "namespaces", seed: int = 1) -> None:
        if kind not in KINDS:
            raise ValueError(f"a bed is one of {', '.join(KINDS)}, not {kind!r}")
        self.roles, self.spec, self.kind, self.seed = roles, spec, kind, seed
        self.hosts: dict[str, Host] = {}
        self.links: dict[tuple[str, str], Link] = {}
        with ExitStack() as stack:
            if kind == "namespaces":
                for role in roles:
                    self.hosts[role] = stack.enter_context(Host(role))
                for i, (a, b) in enumerate(itertools.pairwise(roles)):
                    link = Link(self.hosts[a], self.hosts[b], spec, seed=seed + 1000 * i)
                    self.links[a, b] = stack.enter_context(link)
            self._stack = stack.pop_all()

    def host(self, role: str) -> Host | None:
        """Return the host of a role.

        Parameters
        ----------
        role : str
            One of the bed's.

        Returns
        -------
        Host or None
            None on loopback.
        """
        return self.hosts.get(role)

    def on(self, role: str) -> AbstractContextManager[None]:
        """Run the block's thread where `role` is.

        Parameters
        ----------
        role : str
            One of the bed's.

        Returns
        -------
        context manager
            For a ``with`` block.
        """
        host = self.host(role)
        return host.inside() if host is not None else contextlib.nullcontext()

    def listen_address(self, role: str) -> str:
        """Return where a server of `role` should listen.

        Parameters
        ----------
        role : str
            One of the bed's.

        Returns
        -------
        str
            Every address of its host, or loopback.
        """
        return "0.0.0.0" if self.host(role) is not None else "127.0.0.1"

    def route(self, client: str, server: str, port: int) -> tuple[str, int]:
        """Return where `client` must connect to reach its neighbour.

        Parameters
        ----------
        client, server : str
            Roles.
        port : int
            Of the server.

        Returns
        -------
        (str, int)
            Address and port; those of a proxy on loopback.

        Raises
        ------
        TestbedError
            If the two are not neighbours.
        """
        if self.kind == "namespaces":
            if (client, server) in self.links:
                return self.links[client, server].address_b, port
            if (server, client) in self.links:
                return self.links[server, client].address_a, port
            raise TestbedError(f"{client} and {server} are not neighbours")
        return self._stack.enter_context(DelayProxy(("127.0.0.1", port), self.spec.delay, self.spec.rate)).address

    @contextlib.contextmanager
    def watching(self, role: str, neighbour: str, snaplen: int = 100) -> Iterator[Capture | None]:
        """Capture on the device of `role` that faces `neighbour`.

        Parameters
        ----------
        role, neighbour : str
            Of the bed.
        snaplen : int
            Bytes of each packet to keep.

        Yields
        ------
        Capture or None
            None where there is no device of our own.
        """
        if self.kind != "namespaces":
            yield None
            return
        if (role, neighbour) in self.links:
            device = self.links[role, neighbour].device_a
        else:
            device = self.links[neighbour, role].device_b
        with Capture(self.host(role), device, snaplen=snaplen, background=False) as capture:
            yield capture

    def close(self) -> None:
        """Take everything down."""
        self._stack.close()

    def __enter__(self) -> Bed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
