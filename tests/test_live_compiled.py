"""Modules compiled at the build: the same archive for Python, found without their text, and told where it can't be."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from voicewire_book import paths
from voicewire_book.publish.live import archives, bytecode, packed

pytestmark = pytest.mark.landing

LIVE = paths.root() / "_build" / "html" / "live"
NODE = shutil.which("node")


def archive(path: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as whole:
        for name, text in files.items():
            whole.writestr(name, text)


def test_a_compiled_archive_is_imported_as_before(tmp_path: Path) -> None:
    source = tmp_path / "source.zip"
    broken = "a = {{ a template }}"
    archive(source, {
        "one/__init__.py": '"""Says one."""\ndef fails():\n    raise ValueError("here")\n', "one/b.py": "B = 2",
        "one/c.py": broken, "one/d.pyi": "D: int", "xml/e.py": "E = 1", "one/data.csv": "1,2",
    })  # fmt: skip
    (tmp_path / "made.zip").write_bytes(packed.packed(source.read_bytes(), "/lib/"))
    with zipfile.ZipFile(tmp_path / "made.zip") as whole:
        names = ["one/__init__.pyc", "one/b.pyc", "one/c.py", "xml/e.py", "one/data.csv"]
        assert whole.namelist() == names and whole.read("one/c.py").decode() == broken
    code = """
import sys, traceback
sys.path.insert(0, sys.argv[1])
import one.b
print(one.__doc__, one.b.B)
try:
    one.fails()
except ValueError:
    print(traceback.extract_tb(sys.exc_info()[2])[-1].filename)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "made.zip")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["Says one. 2", "/lib/one/__init__.py"]


def test_what_a_package_declares_is_found_in_a_compiled_archive(tmp_path: Path) -> None:
    library = paths.PACKAGES[0]
    files = {path.relative_to(paths.TOP).as_posix(): path.read_text(encoding="utf-8")
             for path in library.rglob("*.py*") if path.suffix in (".py", ".pyi")}  # fmt: skip
    archive(tmp_path / "source.zip", files)
    (tmp_path / "made.zip").write_bytes(packed.packed((tmp_path / "source.zip").read_bytes(), "/lib/"))
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from voicewire.netsim import NetsimError
print(NetsimError.__module__)
print(sys.modules["voicewire"].__file__)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "made.zip")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == ["voicewire.netsim.errors", str(tmp_path / "made.zip/voicewire/__init__.pyc")]


def test_without_node_the_site_is_as_it_was_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive(tmp_path / "numpy-1.whl", {"numpy.py": "a = 1"})
    before = (tmp_path / "numpy-1.whl").read_bytes()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert bytecode.compile_all(tmp_path, tmp_path).startswith("no Node here")
    assert (tmp_path / "numpy-1.whl").read_bytes() == before


@pytest.mark.needs("node")
def test_a_node_that_fails_is_told_and_nothing_is_changed(tmp_path: Path) -> None:
    for name in ("numpy-1.whl", "python_stdlib.zip"):
        archive(tmp_path / name, {"numpy.py": "a = 1"})
    before = (tmp_path / "numpy-1.whl").read_bytes()
    told = bytecode.compile_all(tmp_path, tmp_path / "cache")
    assert told.startswith("its modules were not compiled") and "pyodide.mjs" in told
    assert (tmp_path / "numpy-1.whl").read_bytes() == before
    assert list((tmp_path / "cache" / "compiled").iterdir()) == []


@pytest.mark.slow
@pytest.mark.needs("live", "node")
def test_what_nearly_every_chapter_imports_lies_compiled_in_the_site() -> None:
    lock = json.loads((LIVE / "engine" / "pyodide-lock.json").read_text("utf-8"))["packages"]
    asked = {
        "numpy": "numpy/__init__", "matplotlib": "matplotlib/pyplot", "scipy": "scipy/signal/__init__",
        "packaging": "packaging/version", "pyparsing": "pyparsing/core", "python-dateutil": "dateutil/parser/_parser",
        "contourpy": "contourpy/__init__", "cycler": "cycler/__init__", "kiwisolver": "kiwisolver/__init__",
        "six": "six",
    }  # fmt: skip
    for package, module in asked.items():
        with tarfile.open(LIVE / "engine" / lock[package]["file_name"]) as whole:
            path = f"{archives.SITE}/{module}.py"
            assert f"{path}c" in whole.getnames() and path not in whole.getnames()
            file = whole.extractfile(f"{path}c")
            assert file is not None
            head = file.read(8)
    magic = (3531).to_bytes(2, "little") + b"\r\n"  # of Python 3.12
    assert head == magic + packed.UNCHECKED.to_bytes(4, "little")
    assert zipfile.is_zipfile(io.BytesIO((LIVE / "engine" / bytecode.STDLIB).read_bytes()))
