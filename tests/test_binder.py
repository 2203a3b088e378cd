"""What Binder would build: repo2docker's own plan, read without Docker."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys

import pytest

from voicewire_book import paths
from voicewire_book.publish import lockfile

pytestmark = pytest.mark.landing

ROOT = paths.root()


def test_nothing_hides_the_environment_from_binder():
    # repo2docker looks into such a folder only, and then no longer at the root, even if the folder is empty.
    assert not (ROOT / "binder").exists()
    assert not (ROOT / ".binder").exists()
    assert (ROOT / "environment.yml").is_file()


def test_post_build_can_be_executed_and_installs_the_package_alone():
    script = ROOT / "postBuild"
    if os.name == "posix":
        assert script.stat().st_mode & stat.S_IXUSR
    content = script.read_text(encoding="utf-8")
    assert content.startswith("#!/bin/bash")
    # With dependencies it would resolve anew what environment.yml has pinned.
    assert "--no-deps" in content
    # And isolated it would fetch the newest setuptools.
    assert "--no-build-isolation" in content


@pytest.mark.needs("repo2docker")
def test_the_plan_uses_the_environment_the_packages_and_the_script():
    done = subprocess.run(
        [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    plan = done.stdout + done.stderr
    assert done.returncode == 0, plan[-2000:]
    assert f"Building conda environment for python={lockfile.reference_python(ROOT)}" in plan
    assert "environment.yml" in plan
    assert "mosquitto" in plan
    assert "postBuild" in plan


def test_directives_render_in_jupyterlab_there():
    """Without the extension a question in JupyterLab is a box of raw text."""
    assert re.search(r"^ +- jupyterlab-myst==\d", (ROOT / "environment.yml").read_text(encoding="utf-8"), re.M)
