"""An edit is an edit: compiled code and sweeps are kept under a key of all their sources, and made anew after one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from voicewire._kit import _code_cache
from voicewire_book import paths

pytestmark = pytest.mark.night

ROOT = paths.root()
SOURCES = sorted(path for package in paths.PACKAGES for path in package.rglob("*.py"))


class Copy:
    """A copy of the package in which rules may be edited; it begins with the code that is compiled already."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "src" / "voicewire"
        skip = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "src", folder / "src", ignore=skip)
        shutil.copy(ROOT / "pyproject.toml", folder)
        for name in ("data", "notebooks"):
            (folder / name).mkdir()
        for compiled in (ROOT / ".cache" / "numba").glob("*"):
            shutil.copytree(compiled, folder / ".cache" / "numba" / compiled.name, dirs_exist_ok=True)
        self.folder = folder

    def edit(self, name: str, before: str, after: str) -> None:
        file = self.package / name
        text = file.read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{name} no longer has {before!r}"
        file.write_text(text.replace(before, after), encoding="utf-8")

    def run(self, *arguments: str, **environment: str) -> str:
        variables = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
        variables |= {"PYTHONPATH": str(self.package.parent), **environment}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder, env=variables, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


@pytest.mark.slow
def test_the_command_shows_an_edited_rule_of_the_simulator(copy):
    command = ("-m", "voicewire", "voip", "call", "TFRC", "G.729", "--delay", "50", "--seconds", "5")
    before = copy.run(*command)
    assert before == copy.run(*command)
    copy.edit(
        "netsim/tfrc_sender.py",
        "return f.initial_packets * f.segment / f.rtt",
        "return 3 * f.initial_packets * f.segment / f.rtt",
    )
    assert copy.run(*command) != before
    copy.edit("netsim/tfrc_sender.py", "return 3 * f.initial", "return f.initial")
    assert copy.run(*command) == before


@pytest.mark.slow
def test_an_edited_rule_of_nfc_changes_the_result(copy):
    command = ("-m", "voicewire", "nfc", "exchange", "--runs", "50", "--ber", "1e-4")
    before = copy.run(*command)
    copy.edit(
        "nfc/channel.py",
        "return rng.random() < -math.expm1(bits * math.log1p(-to_bad)), False",
        "return False, False",
    )
    assert copy.run(*command) != before


SWEEP = """
from voicewire.sweep import sweep
from voicewire.voip import emodel

def quality(rng, delay):
    print("computed", flush=True)
    return emodel.{call}

print(*(row.value for row in sweep(quality, {{"delay": [100.0]}}, workers=1, cache="kept", progress=False)))
"""


def test_a_sweep_is_computed_anew_after_an_edit_in_what_it_calls(copy):
    (copy.folder / "go.py").write_text(SWEEP.format(call="delay_impairment(delay)"))
    first = copy.run("go.py")
    assert "computed" in first
    assert "computed" not in copy.run("go.py")
    copy.edit("voip/emodel.py", "paper.DELAY_SLOPE * d +", "2 * paper.DELAY_SLOPE * d +")
    again = copy.run("go.py")
    assert "computed" in again
    assert again != first


@pytest.mark.parametrize("library", ["numpy", "numba", "llvmlite", "scipy"])
def test_another_version_of_a_library_is_another_key(monkeypatch, library):
    from voicewire.sweep import fingerprint

    def keys() -> tuple[str, str]:
        fingerprint.environment.cache_clear()
        _code_cache.digest.cache_clear()
        return fingerprint.environment(), _code_cache.digest(_code_cache.PACKAGES[0] / "nfc" / "engine.py")

    sweeps, code = keys()
    version = _code_cache.metadata.version
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0" if name == library else version(name))
    other_sweeps, other_code = keys()
    monkeypatch.undo()
    assert keys() == (sweeps, code)
    assert other_sweeps != sweeps
    assert (other_code != code) is (library != "scipy")  # nothing of SciPy is compiled into ours


def test_a_file_depends_on_what_it_imports_however_far_down():
    def names(package: str, file: str) -> set[str]:
        found = [p.relative_to(_code_cache.TOP) for p in _code_cache.sources(_code_cache.TOP / package / file)]
        return {p.relative_to("voicewire").as_posix() for p in found if p.parts[0] == "voicewire"}

    wanted = {"netsim/engine.py", "netsim/tfrc_sender.py", "netsim/equation.py"}
    assert wanted <= names("voicewire", "netsim/simulation.py")
    assert {"nfc/engine.py", "nfc/channel.py"} <= names("voicewire", "nfc/session.py")
    assert "netsim/engine.py" not in names("voicewire", "nfc/engine.py")  # an edit makes new only what can hold it
    assert "netsim/engine.py" in names("voicewire_book", "chapters/voip/experiments.py")  # the book's, too


def test_one_module_decides_how_code_is_compiled_and_kept():
    own = {"_compiled.py", "_code_cache.py"}
    for file in SOURCES:
        text = file.read_text(encoding="utf-8")
        found = re.search(r"import numba|from numba import .*\b(n?jit|vectorize|guvectorize)\b", text)
        assert file.name in own or not found, f"{file.name}: import njit from voicewire._kit._compiled"


def test_every_import_of_the_package_is_seen():
    # The key is read off the text: an import written in a way that the pattern misses would leave a hole in it.
    import ast

    for file in SOURCES:
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{file}: a relative import is not followed"
        expected = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                expected |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                expected |= {alias.name for alias in node.names}
        places = {
            _code_cache.TOP.joinpath(*str(n).split(".")) for n in expected if str(n).startswith("voicewire")
        }
        files = {p for place in places for p in (place.with_name(f"{place.name}.py"), place / "__init__.py")}
        assert {p for p in files if p.is_file()} <= set(_code_cache._imports(text)), file


READ_ONLY = """
import sys
from pathlib import Path
from voicewire._kit import _code_cache

kept = _code_cache._writable
_code_cache._writable = lambda folder: {allowed}
from voicewire.nfc import channel
import numpy as np
print(channel.cross(100, False, 1, 0.5, 0.0, np.random.default_rng(1)))
print("loaded", sum(channel.cross.stats.cache_hits.values()))
"""


@pytest.mark.parametrize("filled", [True, False])
def test_it_works_where_the_cache_cannot_be_written(copy, filled):
    (copy.folder / "go.py").write_text(READ_ONLY.format(allowed="False"))
    if filled:
        (copy.folder / "warm.py").write_text(READ_ONLY.format(allowed="kept(folder)"))
        copy.run("warm.py")
    else:
        shutil.rmtree(copy.folder / ".cache")
    out = copy.run("go.py", HOME=str(copy.folder / "none"), XDG_CACHE_HOME="")
    assert out.startswith("(")
    assert f"loaded {int(filled)}" in out  # what someone else has compiled is not compiled again


def test_it_works_where_nothing_can_be_written_at_all(copy):
    # Neither the checkout nor a home nor a folder for temporary files: compiled anew, and not kept.
    text = READ_ONLY.format(allowed="False").replace("from voicewire.nfc", "_code_cache._private = lambda: 1 / 0\n"
        "def none():\n    raise OSError\n_code_cache._private = none\nfrom voicewire.nfc", 1)  # fmt: skip
    (copy.folder / "go.py").write_text(text)
    assert copy.run("go.py").startswith("(")


def test_old_editions_go_and_new_ones_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(_code_cache, "_roots", lambda: iter([tmp_path]))
    long_ago = time.time() - 2 * _code_cache.UNUSED
    for number in range(20):
        folder = tmp_path / f"voicewire-nfc-engine-{number:016x}"
        folder.mkdir()
        os.utime(folder, (long_ago - number, long_ago - number))
    neighbour = tmp_path / "voicewire-nfc-engine-plain-0000000000000000"
    neighbour.mkdir()
    os.utime(neighbour, (0, 0))
    _code_cache._folder.cache_clear()
    here = _code_cache._folder(_code_cache.PACKAGES[0] / "nfc" / "engine.py")
    _code_cache._folder.cache_clear()
    left = sorted(p.name for p in tmp_path.iterdir())
    assert neighbour.name in left
    assert here.name in left
    assert len(left) == 1 + _code_cache.KEPT
    assert f"voicewire-nfc-engine-{0:016x}" in left
