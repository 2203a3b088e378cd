"""One list of dependencies: pyproject.toml, the locks and environment.yml agree."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from voicewire._kit import _optional
from voicewire_book.publish import lockfile

pytestmark = pytest.mark.landing

ROOT = Path(__file__).resolve().parents[1]
SETUP, BOOK, TEST, EXTRAS = LOCKS = (
    "requirements-setup.lock", "requirements.lock", "requirements-test.lock", "requirements-extras.lock",
)  # fmt: skip
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
REFERENCE = lockfile.reference_python(ROOT)
REMEDY = "run 'python tools/make.py lock'"


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def locked(*names: str) -> dict[str, set[str]]:
    versions: dict[str, set[str]] = {}
    for pin in (pin for name in names for pin in lockfile.pins(read(name))):
        versions.setdefault(canonicalize_name(pin.name), set()).add(pin.version)
    return versions


def wanted(*extras: str) -> list[Requirement]:
    found, asked = list(map(Requirement, PROJECT["dependencies"])), list(extras)
    for extra in asked:  # an extra may name others
        lines = list(map(Requirement, PROJECT["optional-dependencies"][extra]))
        found += [line for line in lines if line.name != "voicewire"]
        asked += [other for line in lines if line.name == "voicewire" for other in line.extras if other not in asked]
    return found


@pytest.mark.parametrize(
    ("locks", "requirements"),
    [
        ([SETUP], [Requirement(line) for line in PYPROJECT["dependency-groups"]["setup"]]),
        ([BOOK], [*wanted("book"), *map(Requirement, PYPROJECT["build-system"]["requires"])]),
        ([BOOK, TEST], wanted("book", "test")),
        (
            [BOOK, TEST, EXTRAS],
            wanted(*(e for e in PROJECT["optional-dependencies"] if e not in ("ns3", "pesq", "amqp"))),
        ),
    ],
    ids=LOCKS,
)
def test_every_dependency_is_locked_within_its_range(locks, requirements):
    pins = locked(*locks)
    for requirement in requirements:
        versions = pins.get(canonicalize_name(requirement.name))
        assert versions, f"{requirement} is not in {locks}: {REMEDY}"
        assert all(requirement.specifier.contains(v, prereleases=True) for v in versions), (
            f"{locks[-1]} has {requirement.name} {versions}, pyproject.toml wants {requirement}: {REMEDY}"
        )


def test_a_higher_layer_replaces_nothing_and_repeats_nothing():
    below: dict[str, set[str]] = {}
    seen: set[tuple[str, ...]] = set()
    for name in LOCKS:
        pins, versions = lockfile.pins(read(name)), locked(name)
        assert {package for package in versions if versions[package] - below.get(package, versions[package])} == set()
        assert [pin for pin in pins if pin[:3] in seen] == [], REMEDY
        below |= versions
        seen |= {pin[:3] for pin in pins}


def test_a_library_that_is_missing_is_told_by_the_extra_that_brings_it():
    brought = {
        canonicalize_name(line.name): extra for extra in ("phonetics", "voip", "transport", "fast")
        for line in map(Requirement, PROJECT["optional-dependencies"][extra])
    }  # fmt: skip
    names = {"parselmouth": "praat-parselmouth", "skimage": "scikit-image", "webrtcvad": "webrtcvad-wheels"}
    names |= {"paho": "paho-mqtt"}
    assert {canonicalize_name(names.get(name, name)): extra for name, extra in _optional.EXTRAS.items()} == brought


def test_readers_get_no_tools_for_tests():
    tools = {canonicalize_name(requirement.name) for requirement in wanted("test")} - {
        canonicalize_name(requirement.name) for requirement in wanted()
    }
    assert {"mypy", "ruff", "hypothesis", "pytest", "nbval"} <= tools
    assert tools & set(locked(BOOK)) == set()
    assert set(locked(SETUP)) == {"uv"}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash_and_no_line_names_a_machine(lock):
    text = read(lock)
    blocks = re.split(r"(?m)^(?=[A-Za-z0-9])", text)[1:]
    assert len(blocks) == len(lockfile.pins(text))
    assert [b.split(" ")[0] for b in blocks if "--hash=sha256:" not in b] == []
    comments = [line for line in text.splitlines() if "#" in line and "--hash" not in line]
    assert [line for line in comments if re.search(r"(^|\s)(/|[A-Za-z]:\\)\S", line.split("#", 1)[1])] == []


def test_environment_yml_is_generated_from_the_lock():
    assert read("environment.yml") == lockfile.environment_yml(read(BOOK), REFERENCE), REMEDY


def test_environment_yml_inlines_the_pins_that_apply():
    environment = yaml.safe_load(read("environment.yml"))
    assert environment["name"] == "voicewire"
    python, pip, inlined = environment["dependencies"]
    assert (python, pip) == (f"python={REFERENCE}", "pip")
    # conda and mamba write each entry as one line of the list that pip is given
    asked = [re.fullmatch(r"([\w.-]+)==(\S+)(?: --hash=sha256:[0-9a-f]{64})+", line) for line in inlined["pip"]]
    assert None not in asked
    names = [found[1] for found in asked if found]
    assert len(set(names)) == len(names)  # one version of each applies
    assert {"numpy", "jupyter-book", "jupyterlab", "setuptools"} <= set(names)
    assert not {"pywinpty", "appnope", "colorama"} & set(names)
    for requirement in wanted("book"):
        if requirement.marker is None or requirement.marker.evaluate({"python_version": REFERENCE}):
            name = canonicalize_name(requirement.name)
            version = next(found[2] for found in asked if found and canonicalize_name(found[1]) == name)
            assert requirement.specifier.contains(version, prereleases=True)


def test_the_generator_knows_markers():
    lock = """\
# a comment
one==1.0 \\
    --hash=sha256:00
two==2.0 ; python_full_version < '3.12' \\
    --hash=sha256:00
two==3.0 ; python_full_version >= '3.12' \\
    --hash=sha256:00
win==1 ; sys_platform == 'win32'
both==1 ; os_name != 'nt' or (sys_platform != 'emscripten' and sys_platform != 'win32')
"""
    for python, two in (("3.11", "two==2.0"), ("3.12", "two==3.0")):
        text = lockfile.environment_yml(lock, python)
        assert f"- python={python}\n" in text
        assert [line.strip(" -\n") for line in text.splitlines() if "==" in line] == ["one==1.0", two, "both==1"]
        assert text.count("--hash=sha256:00") == 2


def test_a_layer_holds_what_is_new_and_what_applies_at_more_places():
    whole = """\
# made
one==1.0 \\
    --hash=sha256:00
    # via two
two==2.0 \\
    --hash=sha256:00
new==3.0 ; sys_platform == 'win32' \\
    --hash=sha256:00
"""
    lower = {"a.lock": whole.partition("two")[0], "b.lock": "two==2.0 ; sys_platform == 'win32'\n"}
    expected = "# made\n# It holds only what it adds to a.lock, b.lock.\n" + whole[whole.index("two==") :]
    assert lockfile.added(whole, lower) == expected
    assert lockfile.added(whole, {}) == whole


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        ("", "no pin"),
        ("numpy>=1\n", "pins nothing"),
        ("-e .\n", "pins nothing"),
        ("a==1\n-e .\n", "pins nothing"),
        ("a==1 --hash\n", "pins nothing"),
        ("a==1 ; moon == 'full'\n", "marker .* can't be read"),
        ("a==1 ; print(1)\n", "marker .* can't be read"),
    ],
)
def test_the_generator_refuses_what_is_no_lock(lock, message):
    with pytest.raises(ValueError, match=message):
        lockfile.environment_yml(lock, "3.11")


def test_paths_of_a_machine_are_taken_out_of_comments():
    home = Path("/home/someone/book")
    assert lockfile.without_paths("#   -c /home/someone/book/requirements.lock\n", home) == "#   -c requirements.lock\n"


def promised() -> list[str]:
    """The versions that requires-python allows."""
    oldest, end = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups()
    return [f"3.{minor}" for minor in range(int(oldest), int(end))]


def test_one_place_names_the_range_of_pythons():
    assert re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"])) == promised()
    for page in ("README.md", "book/how-to-use.md"):
        assert f"Python {promised()[0]} to {promised()[-1]}" in read(page), page
    workflow = yaml.safe_load(read(".github/workflows/ci.yml"))
    others = workflow["jobs"]["other-pythons"]["strategy"]["matrix"]["python"]
    assert others == [python for python in promised() if python != REFERENCE]
    assert re.search(r"(?m)^version=(.*)$", read(".ci/forky"))[1] == promised()[-1]


def test_a_python_that_is_not_there_is_said_not_to_be_tried(tmp_path):
    place = {**os.environ, "VOICEWIRE_FORKY": str(tmp_path / "none")}
    command = ["bash", str(ROOT / ".ci/forky"), "touch", str(tmp_path / "tried")]
    done = subprocess.run(command, env=place, capture_output=True, text=True, check=False)
    assert done.returncode == 77
    assert re.fullmatch(rf"== Python {promised()[-1]}: .*, NOTHING was tried on it\n", done.stdout)
    assert not (tmp_path / "none").exists() and not (tmp_path / "tried").exists()


def test_one_place_names_the_reference_python():
    assert REFERENCE in promised()
    assert f"identical to the last digit: {REFERENCE})" in read("README.md")
    # CI's own machine is a Debian whose Python is the reference: 12 has 3.11, 13 has 3.13.
    minor = int(REFERENCE.split(".")[1])
    debian = {11: "12", 13: "13"}
    workflow = read(".github/workflows/ci.yml")
    assert f"debian:{debian[minor]}" in workflow if minor in debian else f'python-version: "{REFERENCE}"' in workflow


def test_all_pythons_take_the_same_versions_of_all_that_computes():
    # A split pin is another program: its types, its codecs and its last digits are others too.
    for name in ("numpy", "scipy", "numba", "llvmlite", "librosa", "av", "matplotlib", "scikit-image", "pandas"):
        assert len(locked(BOOK)[canonicalize_name(name)]) == 1, f"{name} is split: {REMEDY}"


@pytest.mark.parametrize("name", ["postBuild", *(path.name for path in (ROOT / ".github/workflows").glob("*.yml"))])
def test_nothing_is_installed_or_built_but_by_hashes(name):
    file = ROOT / name if name == "postBuild" else ROOT / ".github/workflows" / name
    lines = re.findall(r"(?m)^.*\bpip (?:install|wheel)\b.*$", file.read_text(encoding="utf-8"))
    # the package itself is no file of an index; without isolation what builds it is the lock's
    ours = {"--no-deps", "--no-build-isolation"}
    assert [line for line in lines if "--require-hashes" not in line and not ours <= set(line.split())] == []
    assert lines or name not in ("postBuild", "ci.yml")
