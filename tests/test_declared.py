"""The API of the library: what each room declares, where it comes from, and that it costs nothing before it is used."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from voicewire._kit import lazy
from voicewire_book import paths

LIBRARY = paths.PACKAGES[0]
ROOMS = {
    ".".join(stub.parent.relative_to(paths.TOP).parts): stub for stub in sorted(LIBRARY.rglob("__init__.pyi"))
}
HEAVY = ("numpy", "scipy", "numba", "pandas", "matplotlib", "librosa", "parselmouth", "cryptography", "soundfile")


def _listed(file: Path) -> list[str]:
    """What a file's ``__all__`` says."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise AssertionError(f"{file} lists nothing")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_declares_what_its_stub_names(room):
    """Once each, and each is there: the stub is what a type checker reads, ``__all__`` what a program does."""
    listed = _listed(ROOMS[room].with_suffix(".py"))
    assert listed == _listed(ROOMS[room])
    assert len(set(listed)) == len(listed)
    assert set(listed) == set(lazy.homes(room))
    package = importlib.import_module(room)
    assert dir(package) == sorted(listed)
    for name in listed:
        module, own = lazy.homes(room)[name]
        home = importlib.import_module(f"{module}.{own}" if module == room else module)
        assert getattr(package, name) is (home if module == room else getattr(home, own)), name


@pytest.mark.parametrize("room", ROOMS)
def test_no_name_is_a_module_too(room):
    """Python puts a module into its package when it is loaded: a function of that name would be gone."""
    modules = {path.stem for path in ROOMS[room].parent.glob("*.py")}
    modules |= {path.parent.name for path in ROOMS[room].parent.glob("*/__init__.py")}
    declared = {name for name, (module, _) in lazy.homes(room).items() if module != room}
    assert not modules & declared


def test_a_stub_for_each_room_and_some_hundred_names():
    rooms = {path.name for path in LIBRARY.iterdir() if path.is_dir() and not path.name.startswith(("_", "."))}
    assert rooms <= {room.rpartition(".")[2] for room in ROOMS}
    count = sum(len(lazy.homes(room)) for room in ROOMS)
    print(f"{count} names in {len(ROOMS)} rooms")
    assert 300 <= count <= 520


def test_to_import_every_room_loads_nothing_heavy():
    code = f"import sys, {', '.join(ROOMS)}; print(*(set({HEAVY}) & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == []
    code = "import sys, voicewire as v; v.nfc.Session; print('numpy' in sys.modules, 'voicewire.echo' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True", "False"]  # the first line would find nothing if nothing were loaded ever


def test_a_name_that_no_room_declares_is_refused_as_python_does():
    echo = importlib.import_module("voicewire.echo")
    with pytest.raises(AttributeError, match=r"module 'voicewire\.echo' has no attribute 'WLRSL'"):
        _ = echo.WLRSL
    with pytest.raises(ImportError, match="cannot import name 'WLRSL'"):
        exec("from voicewire.echo import WLRSL", {})


def test_the_packages_import_from_where_a_thing_is_defined():
    """What decides which notebooks and compiled code are stale reads imports, and looks no further than a module."""
    around = []
    for path in (path for package in paths.PACKAGES for path in package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in ROOMS:
                apart = {name for name, (module, _) in lazy.homes(node.module).items() if module != node.module}
                around += [f"{path}: {alias.name}" for alias in node.names if alias.name in apart]
    assert around == []


def test_the_help_of_all_commands_loads_nothing_heavy():
    code = f"import sys; from voicewire import cli; cli.parser(); print(*(set({HEAVY}) & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == []
