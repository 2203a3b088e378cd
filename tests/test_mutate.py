"""tools/mutate.py: what counts as a fault, and that one which no test sees is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import faults  # noqa: E402
import mutate  # noqa: E402

SOURCE = '''"""1 + 1"""
LIMIT = 1 + 1


def f(x: int = 1, log=None) -> int:
    """2 + 2"""
    log.info("three", 3)
    if x < 4:
        raise ValueError(f"{x + 5}")
    total = 0
    for step in range(x):
        total += step
    return total


class A:
    def f(self):
        return min(1, 2) and True
'''
TESTS = """
from given import f

class Log:
    def info(self, *_): pass

def test_f():
    assert f(5, Log()) == 10
"""


@pytest.fixture
def target(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "given.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "test_given.py").write_text(TESTS, encoding="utf-8")
    for module in (faults, mutate):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(mutate, "SOURCES", tmp_path / "src")
    return faults.Target("src/given.py", ("test_given.py",))


def test_every_file_and_every_test_that_is_named_is_there():
    for each in mutate.targets():
        assert (ROOT / each.file).is_file(), each.file
        assert each.tests and all((ROOT / test).is_file() for test in each.tests), each


def test_what_is_said_to_people_and_what_runs_at_the_import_is_no_fault(target):
    made = [str(fault).split(": ", 1)[1] for fault in faults.faults(target)]
    assert made == [
        "if x < 4:  ->  if not x < 4:",
        "x < 4  ->  x <= 4",
        "x < 4  ->  x >= 4",
        "4  ->  5",
        "total = 0  ->  nothing",
        "0  ->  1",
        "total += step  ->  total -= step",
        "total += step  ->  nothing",
        "min(1, 2) and True  ->  min(1, 2) or True",
        "min(1, 2)  ->  max(1, 2)",
        "1  ->  2",
        "2  ->  3",
        "True  ->  False",
    ]


def test_a_fault_changes_one_place_and_leaves_the_tree_as_it_was(target):
    made = faults.faults(target)
    for _ in range(2):
        spaces = [{} for _ in made]
        for fault, space in zip(made, spaces, strict=True):
            exec(fault.code(), space)
        assert [space["A"]().f() for space in spaces[-5:]] == [1, True, True, True, False]
        assert all(space["A"]().f() is True for space in spaces[:-5])


def test_what_lives_what_is_noticed_and_what_never_runs(target, capsys):
    """In a process of its own: it forks, and what this one has loaded is not what a test should see."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import faults, mutate; from pathlib import Path\n"
        f"faults.ROOT = mutate.ROOT = Path({str(faults.ROOT)!r}); mutate.SOURCES = mutate.ROOT / 'src'\n"
        "target = faults.Target('src/given.py', ('test_given.py',))\n"
        "sys.exit(mutate.report(mutate.run(faults.faults(target), 5, True), 61))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.stdout.splitlines() == [
        "lived: src/given.py:8: x < 4  ->  x <= 4",
        "lived: src/given.py:8: 4  ->  5",
        "not run: src/given.py:18: min(1, 2) and True  ->  min(1, 2) or True",
        "not run: src/given.py:18: min(1, 2)  ->  max(1, 2)",
        "not run: src/given.py:18: 1  ->  2",
        "not run: src/given.py:18: 2  ->  3",
        "not run: src/given.py:18: True  ->  False",
        "file                                           faults  noticed  too long  not run  lived    share   bar",
        "src/given.py                                       13        6         0        5      2   46.2 %",
        "all                                                13        6         0        5      2   46.2 %    61",
    ]
    assert done.returncode == 1


@pytest.mark.slow
def test_what_is_tried_once_more_imports_the_changed_file(target):
    """What runs at the import, or in what several tests share, is seen by a fresh process only."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import faults, mutate; from pathlib import Path\n"
        f"faults.ROOT = mutate.ROOT = Path({str(faults.ROOT)!r}); mutate.SOURCES = mutate.ROOT / 'src'\n"
        "import hypothesis; hypothesis.settings.register_profile('mutate')\n"
        "every = faults.faults(faults.Target('src/given.py', ('test_given.py',)))\n"
        "found = [next(e for e in every if str(e).endswith(w)) for w in ('total -= step', 'x < 4  ->  x <= 4')]\n"
        "print(*map(mutate.confirm, found))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["noticed", "lived"]


@pytest.mark.parametrize(("share", "bar", "code"), [(84, 0, 1), (85, 0, 0), (90, 95, 1), (95, 95, 0)])
def test_the_exit_code_says_whether_every_bar_is_held(share, bar, code, capsys):
    """The sum holds 85 %; a file with a bar of its own holds that too."""
    target = faults.Target("src/given.py", (), bar=bar)
    fault = faults.Fault(target, None, (None, "", None), None, None, (0, 0))
    results = [(fault, "too long" if n % 2 else "noticed") for n in range(share)] + [(fault, "lived")] * (100 - share)
    assert mutate.report(results, 85) == code
    assert mutate.report([], 85) == 1
