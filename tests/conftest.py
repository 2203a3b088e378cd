"""What every test shares: what it needs, strictness about skips, and one thread a process."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path

import needs
import pytest
from hypothesis import settings

settings.register_profile("voicewire", deadline=None)  # how long an example takes says nothing about the code
settings.load_profile("voicewire")

worker = os.environ.get("PYTEST_XDIST_WORKER", "")
if worker and not Path(tempfile.gettempdir()).name.startswith(f"vw-{worker}-"):
    # Each worker has a place of its own for temporary files, or one would see what the other holds. Open to all, as
    # the machine's own is: some tests end in processes of another user. Not one within the other, where a test runs
    # this file again: the names of sockets would get too long.
    place = Path(tempfile.mkdtemp(prefix=f"vw-{worker}-"))
    place.chmod(0o1777)
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    tempfile.tempdir = os.environ["TMPDIR"] = str(place)

pytest_plugins = ["lanes"]

STRICT = os.environ.get("VOICEWIRE_STRICT") == "1"
"""Set by .ci/run, where everything is installed: a test that is skipped there has failed."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    needs.skip(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        report.lacking = needs.missing(needs.of(item))
        if STRICT:
            report.outcome = "failed"
            report.longrepr = f"skipped where nothing may be skipped: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many tests were skipped, by what they need; one that lacks two things counts for both."""
    skipped = terminalreporter.stats.get("skipped", [])
    counts = Counter(name for report in skipped for name in getattr(report, "lacking", []))
    others = Counter(report.longrepr[-1] for report in skipped if not getattr(report, "lacking", []))
    if skipped:
        terminalreporter.section(f"{len(skipped)} skipped, by what they need", "-")
    for name, count in counts.most_common():
        terminalreporter.line(f"{count:5} {name}: {needs.NEEDS[name].sentence}")
    for reason, count in others.most_common():
        terminalreporter.line(f"{count:5} {reason}")


def _holdings() -> Counter[str]:
    gc.collect()  # paho's clients know themselves, so their wake-up sockets wait for the collector
    found: Counter[str] = Counter()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:  # the one that lists the folder
            continue
        if target.startswith(("net:[", "socket:[")) or "tun" in target:
            found[target] += 1
    for file in Path("/proc/self/task").glob("*/children"):
        try:
            found.update(f"child {pid}" for pid in file.read_text().split())
        except OSError:  # a thread has ended
            continue
    found.update(map(str, Path(tempfile.gettempdir()).glob("voicewire-*")))
    mounts = Path("/proc/mounts").read_text().splitlines()
    found.update(line for line in mounts if "netns" in line and "vw-" in line)
    return found


@pytest.fixture(autouse=True)
def _figures_of_its_own() -> Generator[None]:
    """A test sees no figure that another left open: a notebook's kernel closes them after each cell, a test doesn't."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture
def holdings() -> Callable[[], Counter[str]]:
    """What this process holds of the machine, one by one: namespaces, sockets, TUN devices, children, files, mounts.

    Nothing was left behind if `holdings() - before` is empty. What was there before may go meanwhile: idle workers of
    an earlier test do.
    """
    return _holdings
