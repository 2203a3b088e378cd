"""Links between hosts: what is asked of one, and three ways to get it.

==========  ============================================================================================
``tun``     a TUN device on each host and a loop in userspace that moves the packets (any Linux, root)
``netem``   a veth pair with the kernel's own emulator, where the kernel has it
``veth``    a veth pair alone: no emulation, the yardstick for speed
==========  ============================================================================================

Explained in ``notebooks/transport/02_measuring_honestly.ipynb``.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import secrets
import struct
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np

from voicewire._kit import checks
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.hosts import Host, ip
from voicewire.testbed.offload import switch_off

__all__ = ["Link", "LinkSpec", "netem_arguments"]

_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
_SLOTS = 8192
_numbers = itertools.count()


@dataclass(frozen=True)
class LinkSpec:
    """What a link does to the packets of one direction; both directions are alike.

    Attributes
    ----------
    delay : float
        One-way delay, s.
    jitter : float
        Uniform on ``[-jitter, +jitter]`` around the delay, s.
    rate : float or None
        Bits of IP packet per second; None is as fast as it goes.
    queue : int
        Packets that may wait for the line; what comes on top is dropped (tail drop).
    loss : float
        Probability that a packet is lost, independent of all others.
    mtu : int
        Largest IP packet, bytes.
    reorder : bool
        Whether jitter may let packets overtake each other.

    Examples
    --------
    >>> LinkSpec(delay=0.02, loss=0.01).rtt
    0.04
    """

    delay: float = 0.0
    jitter: float = 0.0
    rate: float | None = None
    queue: int = 1000
    loss: float = 0.0
    mtu: int = 1500
    reorder: bool = False

    def __post_init__(self) -> None:
        checks.fields(
            self, delay=checks.number(), jitter=checks.number(), rate=checks.maybe(checks.number(high=1e15)),
            queue=checks.whole(0), loss=checks.number(), mtu=checks.whole(0),
        )  # fmt: skip
        if not 0 <= self.delay <= 10:
            raise ValueError(f"delay must be between 0 and 10 s, not {self.delay}")
        if not 0 <= self.jitter <= max(self.delay, 0.0):
            raise ValueError(f"jitter must be between 0 and the delay ({self.delay} s), not {self.jitter}")
        if self.rate is not None and not self.rate > 0:
            raise ValueError(f"rate must be positive (bits per second) or None, not {self.rate}")
        if not 1 <= self.queue < _SLOTS:
            raise ValueError(f"queue must be between 1 and {_SLOTS - 1} packets, not {self.queue}")
        if not 0 <= self.loss < 1:
            raise ValueError(f"loss is a probability in [0, 1), not {self.loss}")
        if not 576 <= self.mtu <= 2000:
            raise ValueError(f"mtu must be between 576 and 2000 bytes, not {self.mtu}")

    @property
    def rtt(self) -> float:
        """Round-trip time without queueing, s."""
        return 2 * self.delay

    def __str__(self) -> str:
        parts = [f"RTT {1e3 * self.rtt:g} ms"]
        if self.jitter:
            parts.append(f"jitter ±{1e3 * self.jitter:g} ms")
        if self.rate:
            parts.append(f"{self.rate / 1e6:g} Mbit/s")
        if self.loss:
            parts.append(f"loss {100 * self.loss:g} %")
        return ", ".join(parts)


@checks.takes(spec=checks.a(LinkSpec))
def netem_arguments(spec: LinkSpec) -> list[str]:
    """Return what ``tc qdisc add dev X root netem`` is told for a link.

    Parameters
    ----------
    spec : LinkSpec
        What it shall do.

    Returns
    -------
    list of str
        Delays in microseconds, loss in per cent.

    Examples
    --------
    >>> " ".join(netem_arguments(LinkSpec(delay=0.02, loss=0.01)))
    'limit 1000 delay 20000us loss 1%'
    """
    arguments = ["limit", str(spec.queue)]
    if spec.delay:
        arguments += ["delay", f"{1e6 * spec.delay:.0f}us"]
        if spec.jitter:
            arguments.append(f"{1e6 * spec.jitter:.0f}us")
    if spec.loss:
        arguments += ["loss", f"{100 * spec.loss:g}%"]
    if spec.rate:
        arguments += ["rate", f"{spec.rate:.0f}bit"]
    return arguments


@dataclass
class Counts:
    """What a direction of a userspace link has done so far.

    Attributes
    ----------
    received, delivered : int
        Packets that came in, and that were handed on.
    lost : int
        Packets that the link dropped by chance, as its loss asks.
    queue_dropped : int
        Packets that found the link's queue full.
    overflowed : int
        Packets that found no place in the link's own memory.
    octets : int
        Octets delivered.

    Examples
    --------
    >>> Counts(received=3, delivered=2, lost=1, queue_dropped=0, overflowed=0, octets=200).delivered
    2
    """

    received: int
    delivered: int
    lost: int
    queue_dropped: int
    overflowed: int
    octets: int


@dataclass
class Link:
    """A link between two hosts, made on construction and gone after `close`.

    Parameters
    ----------
    a, b : Host
        The two ends.
    spec : LinkSpec
        What it does to packets.
    engine : str
        ``"tun"``, ``"netem"`` or ``"veth"``.
    seed : int
        Seeds loss and jitter of the userspace engine.

    Attributes
    ----------
    address_a, address_b : str
        IPv4 addresses of the ends.
    device_a, device_b : str
        Names of the devices on the two hosts.

    Examples
    --------
    It needs two hosts, so it is only shown here:

    >>> with Host("a") as a, Host("b") as b, Link(a, b, LinkSpec(delay=0.01)) as link:  # doctest: +SKIP
    ...     link.address_b
    """

    a: Host
    b: Host
    spec: LinkSpec = field(default_factory=LinkSpec)
    engine: str = "tun"
    seed: int = 1

    def __post_init__(self) -> None:
        if self.engine not in ("tun", "netem", "veth"):
            raise ValueError(f"engine must be tun, netem or veth, not {self.engine!r}")
        number = next(_numbers) % 4096
        self.address_a = f"10.{200 + number // 256}.{number % 256}.1"
        self.address_b = f"10.{200 + number // 256}.{number % 256}.2"
        tag = secrets.token_hex(4)
        self.device_a, self.device_b = f"vw{tag}a", f"vw{tag}b"
        self._fds: list[int] = []
        self._thread: threading.Thread | None = None
        self._stop = np.zeros(2, np.int64)
        try:
            if self.engine == "tun":
                self._make_tun()
            else:
                self._make_veth()
        except BaseException:
            self.close()
            raise

    # -- the userspace engine ------------------------------------------------------------------------------------

    def _make_tun(self) -> None:
        from voicewire.testbed import _engine

        for host, device, own, other in self._ends():
            with host.inside():
                self._fds.append(_open_tun(device))
                ip("addr", "add", own, "peer", other, "dev", device)
                # what the loop has not fetched yet waits here: long enough never to be where packets get lost
                ip("link", "set", device, "mtu", str(self.spec.mtu), "txqueuelen", "20000", "up")
                switch_off(device)
        s = self.spec
        rules = np.zeros(2, _engine.RULES)
        rules["fd"] = self._fds
        rules["delay"], rules["jitter"] = round(1e9 * s.delay), round(1e9 * s.jitter)
        rules["ns_per_byte"] = 8e9 / s.rate if s.rate else 0.0
        rules["limit"], rules["loss"], rules["reorder"] = s.queue, s.loss, s.reorder
        rules["random"] = np.random.SeedSequence(self.seed).generate_state(2, np.uint64)
        self._counts = np.zeros(2, _engine.COUNTS)
        arguments = (_engine.new_line(rules, self._counts, _SLOTS), self._stop)
        self._thread = threading.Thread(target=_engine.run, args=arguments, name="voicewire-link", daemon=True)
        self._thread.start()
        limit = time.monotonic() + 120  # the first link of a fresh installation compiles the loop
        while not self._stop[1]:
            if not self._thread.is_alive() or time.monotonic() > limit:
                raise TestbedError("the userspace link did not start")
            time.sleep(0.001)

    def counts(self, direction: int = 0) -> Counts:
        """Return what the userspace engine did to the packets of one direction.

        Parameters
        ----------
        direction : {0, 1}
            From a to b, or from b to a.

        Returns
        -------
        Counts
            Packets so far, and octets delivered.

        Raises
        ------
        TestbedError
            If the link is not the userspace engine's.
        """
        if self.engine != "tun":
            raise TestbedError(f"a {self.engine} link is the kernel's; only the userspace engine counts")
        return Counts(*self._counts[direction].item())

    # -- the kernel's engines ------------------------------------------------------------------------------------

    def _make_veth(self) -> None:
        inside_b = f"/proc/{os.getpid()}/fd/{self.b.fileno()}"
        with self.a.inside():
            ip("link", "add", self.device_a, "type", "veth", "peer", "name", self.device_b, "netns", inside_b)
        for host, device, own, other in self._ends():
            with host.inside():
                ip("addr", "add", own, "peer", other, "dev", device)
                ip("link", "set", device, "mtu", str(self.spec.mtu), "up")
                if self.engine == "netem":
                    switch_off(device)
                    _tc("qdisc", "add", "dev", device, "root", "netem", *netem_arguments(self.spec))

    def _ends(self) -> list[tuple[Host, str, str, str]]:
        return [
            (self.a, self.device_a, self.address_a, self.address_b),
            (self.b, self.device_b, self.address_b, self.address_a),
        ]

    def close(self) -> None:
        """Stop the loop and take the devices away (they would go with their hosts too)."""
        self._stop[0] = 1
        if self._thread is not None and self._thread.is_alive():  # Ctrl-C may have broken off its start
            self._thread.join(timeout=5)
        self._thread = None
        while self._fds:
            os.close(self._fds.pop())
        if self.engine != "tun" and self.a._fd is not None:
            with self.a.inside():
                if Path(f"/proc/thread-self/net/dev_snmp6/{self.device_a}").exists() or self.device_a in ip(
                    "-br", "link"
                ):
                    ip("link", "del", self.device_a)

    def __enter__(self) -> Link:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _open_tun(device: str) -> int:
    """A TUN device on the calling thread's host; it lives as long as the descriptor."""
    try:
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise TestbedError(f"/dev/net/tun: {error.strerror}; the userspace link needs the tun module") from error
    try:
        fcntl.ioctl(fd, _TUNSETIFF, struct.pack("16sH22x", device.encode(), _IFF_TUN | _IFF_NO_PI))
    except OSError as error:
        os.close(fd)
        raise TestbedError(f"cannot make a TUN device: {error.strerror}; it needs CAP_NET_ADMIN") from error
    return fd


def _tc(*arguments: str) -> None:

    try:
        done = subprocess.run(["tc", *arguments], capture_output=True, text=True, timeout=20, check=False)
    except FileNotFoundError as error:
        raise TestbedError("iproute2's 'tc' is not installed: it is needed for netem") from error
    if done.returncode:
        raise TestbedError(f"tc {' '.join(arguments)}: {done.stderr.strip()}")
