"""Two packages, one distribution: what decides on what is stale reads both, the wheel holds the library alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from voicewire import cli
from voicewire._kit import _code_cache
from voicewire.sweep import fingerprint
from voicewire_book import paths
from voicewire_book.course import sandbox
from voicewire_book.publish import executed, weave
from voicewire_book.publish.live import build, chapters
from voicewire_book.publish.pages.api import names

ROOT = paths.root()
EDITED = ("src/voicewire/_kit/checks.py", "src/voicewire_book/kit/exercises.py")
"""A file of each package on which every notebook stands."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The sources of both packages, and what else a notebook's state hangs on; no data."""
    for package in paths.PACKAGES:
        shutil.copytree(package, tmp_path / "src" / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    for file in ("requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    (tmp_path / "data").mkdir()
    return tmp_path


def stale(base: Path, before: dict[str, str]) -> set[str]:
    """The parts whose notebooks are no longer what was executed."""
    now = executed.states(base)
    return {name.split("/")[1] for name in now if now[name] != before[name]}


def edit(file: Path) -> None:
    file.write_text(f"{file.read_text(encoding='utf-8')}\nEDITED = True\n", encoding="utf-8")


@pytest.mark.parametrize("file", EDITED)
def test_an_edit_in_each_package_makes_the_notebooks_stale(copy: Path, file: str) -> None:
    before = executed.states(copy)
    edit(copy / file)
    assert stale(copy, before) == {part.name for part in paths.PARTS if paths.chapters(part.name, copy)}


@pytest.mark.parametrize("room", ["src/voicewire/echo/dcd.py", "src/voicewire_book/chapters/echo/figures.py"])
def test_an_edit_in_one_study_leaves_the_other_studies_as_they_are(copy: Path, room: str) -> None:
    before = executed.states(copy)
    edit(copy / room)
    assert stale(copy, before) & set(paths.STUDIES) == {"echo"}


def test_sweeps_and_compiled_code_are_kept_under_keys_of_both(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = tuple(copy / "src" / package.name for package in paths.PACKAGES)
    for module in (_code_cache, fingerprint.paths):
        monkeypatch.setattr(module, "TOP", copy / "src")
        monkeypatch.setattr(module, "PACKAGES", packages)
    chapter = copy / "src/voicewire_book/chapters/voip/experiments.py"

    def keys() -> tuple[str, str]:
        return fingerprint.environment.__wrapped__(), _code_cache.digest.__wrapped__(chapter)

    before = keys()
    for file in ("src/voicewire/netsim/engine.py", "src/voicewire_book/ledger/vocabulary.py"):
        edit(copy / file)
        after = keys()
        assert after[0] != before[0]
        assert after[1] != before[1]
        before = after


def test_pages_weave_and_list_what_either_package_has(tmp_path: Path) -> None:
    assert weave.Module("echo/reference.py").public
    assert weave.Module("chapters/foundations/tcp.py").public
    known = names.gathered().modules
    assert {"voicewire.echo.dcd", "voicewire_book.chapters.echo.figures"} <= set(known)
    assert names.room("voicewire.echo.dcd") == names.room("voicewire_book.chapters.echo.figures") == "echo"
    with zipfile.ZipFile(build.wheel(tmp_path)) as whole:
        inside = {name.partition("/")[0] for name in whole.namelist()}
    assert {package.name for package in paths.PACKAGES} <= inside
    source = "from voicewire_book.chapters.echo import figures"
    assert "voicewire.stats" in chapters._modules([source])  # what the chapter's code imports of the library


def test_a_submission_can_import_either_package() -> None:
    readable = [Path(place) for place in sandbox._readable(str(ROOT))]
    for package in paths.PACKAGES:
        assert any(package.is_relative_to(place) for place in readable)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is made from the source archive, as an installer lays it out."""
    folder = tmp_path_factory.mktemp("wheel")
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info")
    clone = folder / "clone"
    shutil.copytree(ROOT / "src", clone / "src", ignore=skip)
    (clone / "tests").mkdir()
    for file in ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "LICENSE-TEXT", "tests/test_two_packages.py"):
        shutil.copy(ROOT / file, clone / file)

    def made(where: Path, kind: str) -> Path:
        program = f"import sys; from setuptools import build_meta; build_meta.build_{kind}(sys.argv[1])"
        command = [sys.executable, "-c", program, str(folder)]
        subprocess.run(command, cwd=where, check=True, capture_output=True, timeout=120)
        return next(folder.glob("*.tar.gz" if kind == "sdist" else "*.whl"))

    with tarfile.open(made(clone, "sdist")) as archive:
        archive.extractall(folder / "archive", filter="data")
    (inside,) = (folder / "archive").iterdir()
    assert not (inside / "tests").exists()
    with zipfile.ZipFile(made(inside, "wheel")) as whole:
        whole.extractall(folder / "site")
    return folder / "site"


def ran(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command of the wheel where no clone is."""
    program = (
        f"import sys; sys.path.insert(0, {str(site)!r}); sys.modules['voicewire_book'] = None; "
        "from voicewire import cli; assert cli.__file__.startswith(sys.path[0]); sys.exit(cli.main())"
    )
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, cwd=site, capture_output=True, text=True, timeout=60, check=False)


def test_the_wheel_holds_the_library_alone(installed: Path) -> None:
    assert [path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")] == ["voicewire"]
    wanted = {path.relative_to(paths.PACKAGES[0]) for path in paths.PACKAGES[0].rglob("*") if path.is_file()}
    wanted = {path for path in wanted if "__pycache__" not in path.parts}
    assert {path.relative_to(installed / "voicewire") for path in (installed / "voicewire").rglob("*.*")} == wanted


@pytest.mark.parametrize("verb", [verb for verbs in cli.BOOK.values() for verb in verbs])
def test_in_the_wheel_each_verb_of_the_book_says_what_is_missing(installed: Path, verb: str) -> None:
    done = ran(installed, verb, "nfc", "--json", "-x")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"voicewire: {verb} needs the book's data and notebooks: clone the book, and run it there\n"


def test_in_the_wheel_the_library_s_commands_work(installed: Path) -> None:
    done = ran(installed, "nfc", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    listed = ran(installed, "--help").stdout
    assert all(verb in listed for verbs in cli.BOOK.values() for verb in verbs)
