"""What this machine can do, found by trying, and the one line that every result carries about it."""

from __future__ import annotations

import contextlib
import glob
import os
import platform
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from voicewire.testbed.capture import Capture
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.hosts import Host, may_make_namespaces
from voicewire.testbed.link import Link, LinkSpec

__all__ = ["Capabilities", "capabilities", "choose_bed"]


@dataclass(frozen=True)
class Capabilities:
    """What was found; every field but the two texts is a yes or no.

    Attributes
    ----------
    namespaces, tun, netem, capture, counters, ipv6, mosquitto, tshark : bool
        Whether hosts, userspace links, the kernel's emulator, captures, TCP_INFO with segment counters, IPv6,
        the mosquitto broker and tshark are there.
    why_not : str
        Why namespaces are not, if they are not.
    machine : str
        Kind of machine: system, kernel, processors.

    Examples
    --------
    >>> found = capabilities()
    >>> found.namespaces or bool(found.why_not)
    True
    """

    namespaces: bool
    tun: bool
    netem: bool
    capture: bool
    counters: bool
    ipv6: bool
    mosquitto: bool
    tshark: bool
    why_not: str
    machine: str

    @property
    def bed(self) -> str:
        """The best test bed here: ``namespaces``, ``proxy``, or ``recorded`` (nothing can be counted)."""
        if self.namespaces and (self.tun or self.netem):
            return "namespaces"
        return "proxy" if self.counters else "recorded"

    def line(self) -> str:
        """One line for people: what is used here.

        Returns
        -------
        str
            ``test bed: …``, with what it counts by.
        """
        if self.bed == "namespaces":
            what = f"network namespaces, {'userspace TUN' if self.tun else 'netem'} link"
            return f"test bed: {what}, {'capture and ' if self.capture else ''}TCP_INFO counters"
        if self.bed == "proxy":
            return "test bed: loopback with the delay proxy, TCP_INFO counters (no privilege for namespaces)"
        return "test bed: none (this system has no TCP_INFO); recorded rows only"


def capabilities() -> Capabilities:
    """Find out by trying; everything that is made for it is gone afterwards.

    Returns
    -------
    Capabilities
        What was found.

    Examples
    --------
    >>> capabilities().bed in ("namespaces", "proxy", "recorded")
    True
    """
    why_not = may_make_namespaces()
    tun = netem = capture = False
    if why_not is None:
        with Host("a") as a, Host("b") as b:
            with contextlib.suppress(TestbedError), Link(a, b, LinkSpec(), "tun") as link:
                tun = True
                with contextlib.suppress(TestbedError), Capture(a, link.device_a):
                    capture = True
            with contextlib.suppress(TestbedError), Link(a, b, LinkSpec(delay=0.001), "netem"):
                netem = True
    counters = hasattr(socket, "TCP_INFO")
    ipv6 = False
    if socket.has_ipv6:
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
            ipv6 = True
    return Capabilities(
        why_not is None, tun, netem, capture, counters, ipv6, find_mosquitto() is not None,
        shutil.which("tshark") is not None, why_not or "",
        f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}, {os.cpu_count()} processors",
    )  # fmt: skip


def find_mosquitto() -> str | None:
    """The mosquitto broker's program, also where it is not on an ordinary user's PATH."""
    return shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin")


def mosquitto_version() -> str:
    """Its version, such as ``2.0.11``."""
    program = find_mosquitto()
    if program is None:
        raise TestbedError("mosquitto is not installed")
    done = subprocess.run([program, "-h"], capture_output=True, text=True, timeout=10, check=False)
    words = (done.stdout or done.stderr).split()
    return words[words.index("version") + 1] if "version" in words else "of unknown version"


def namespaces_alive() -> int:
    """How many network namespaces the processes of this machine are in or hold (as far as we may look)."""
    seen = set()
    # Path.glob raises where a process ends while it looks.
    for link in [*glob.iglob("/proc/[0-9]*/ns/net"), *glob.iglob("/proc/[0-9]*/fd/*")]:  # noqa: PTH207
        with contextlib.suppress(OSError):
            target = str(Path(link).readlink())
            if target.startswith("net:["):
                seen.add(target)
    return len(seen)


def choose_bed(wanted: str | None = None) -> tuple[str, str]:
    """Return the name of the test bed to use, and a line that says what it is.

    Parameters
    ----------
    wanted : {"namespaces", "proxy"}, optional
        By default the best that this machine has.

    Returns
    -------
    name, line : str

    Raises
    ------
    TestbedError
        If this system cannot count segments.

    Examples
    --------
    >>> choose_bed("proxy")[0]
    'proxy'
    """
    found = capabilities()
    bed = str(wanted or found.bed)
    if bed == "recorded":
        raise TestbedError("this system cannot count segments; see the recorded rows in data/transport")
    same = bed == found.bed
    return bed, found.line() if same else "test bed: loopback with the delay proxy, TCP_INFO counters"
