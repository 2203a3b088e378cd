"""What every test shares: strictness about skips, and one thread a process."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile("voicewire", deadline=None)  # how long an example takes says nothing about the code
settings.load_profile("voicewire")

STRICT = os.environ.get("VOICEWIRE_STRICT") == "1"
"""Set by .ci/run, where everything is installed: a test that is skipped there has failed."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if STRICT and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be skipped: {report.longrepr}"
    return report
