"""tools/mutate.py: what counts as a fault, that one which no test sees is told, and what is kept of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.night

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import faults  # noqa: E402
import mutate  # noqa: E402
import trials  # noqa: E402

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
    monkeypatch.setattr(faults, "ROOT", tmp_path)
    return faults.Target("src/given.py", ("test_given.py",))


def test_every_file_and_every_test_that_is_named_is_there():
    for each in (target for room in mutate.rooms().values() for target in room):
        assert (ROOT / each.file).is_file(), each.file
        assert each.tests and all((ROOT / test).is_file() for test in each.tests), each
    for test in trials.WITHOUT:
        file, name = test.split("::")
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


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
        f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r})\n"
        "from pathlib import Path; import faults, mutate, trials\n"
        f"faults.ROOT = trials.ROOT = Path({str(faults.ROOT)!r})\n"
        "target = faults.Target('src/given.py', ('test_given.py',))\n"
        "sys.exit(mutate.report(trials.run(faults.faults(target), 5, sure=True, jobs=2), 61))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    told, table = done.stdout.splitlines()[:7], done.stdout.splitlines()[7:]
    assert sorted(told) == [
        "lived: src/given.py:8: 4  ->  5",
        "lived: src/given.py:8: x < 4  ->  x <= 4",
        "not run: src/given.py:18: 1  ->  2",
        "not run: src/given.py:18: 2  ->  3",
        "not run: src/given.py:18: True  ->  False",
        "not run: src/given.py:18: min(1, 2)  ->  max(1, 2)",
        "not run: src/given.py:18: min(1, 2) and True  ->  min(1, 2) or True",
    ]
    assert table == [
        "file                                           faults  noticed  too long  not run  lived    share   bar",
        "src/given.py                                       13        6         0        5      2   46.2 %",
        "all                                                13        6         0        5      2   46.2 %    61",
    ]
    assert done.returncode == 1


@pytest.mark.slow
def test_what_is_tried_once_more_imports_the_changed_file(target):
    """What runs at the import, or in what several tests share, is seen by a fresh process only."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r})\n"
        "from pathlib import Path; import faults, mutate, trials\n"
        f"faults.ROOT = trials.ROOT = Path({str(faults.ROOT)!r})\n"
        "import hypothesis; hypothesis.settings.register_profile('mutate')\n"
        "every = faults.faults(faults.Target('src/given.py', ('test_given.py',)))\n"
        "found = [next(e for e in every if str(e).endswith(w)) for w in ('total -= step', 'x < 4  ->  x <= 4')]\n"
        "print(*map(trials.confirm, found))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["noticed", "lived"]


@pytest.mark.parametrize(("share", "bar", "code"), [(84, 0, 1), (85, 0, 0), (90, 95, 1), (95, 95, 0)])
def test_the_exit_code_says_whether_every_bar_is_held(share, bar, code, capsys):
    """The sum holds 85 %; a file with a bar of its own holds that too."""
    target = faults.Target("src/given.py", (), bar=bar)
    fault = faults.Fault(target, "f", "1  ->  2", None, (None, "", None), None, None, (0, 0))
    results = [(fault, "too long" if n % 2 else "noticed") for n in range(share)] + [(fault, "lived")] * (100 - share)
    assert mutate.report(results, 85) == code
    assert mutate.report([], 85) == 1


F = "def f(x):\n    return x + 1 < 2 * x + 1\n"
G = "class G:\n    def f(self):\n        return min(1, 2, 3, 4, 5)\n"


def found(folder: Path, **files: str) -> list[faults.Fault]:
    """Give the named faults of a study of these files."""
    study = folder / "src" / "voicewire" / "study"
    study.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (study / f"{name}.py").write_text(text, encoding="utf-8")
    return faults.named([faults.Target(f"src/voicewire/study/{name}.py", ("test_given.py",)) for name in files])


def test_a_move_to_another_file_keeps_a_faults_name(target, tmp_path):
    before = found(tmp_path, a=F + G, b="")
    assert [each.name for each in before[:2]] == [
        ("study.f", "x + 1 < 2 * x + 1  ->  x + 1 <= 2 * x + 1"),
        ("study.f", "x + 1 < 2 * x + 1  ->  x + 1 >= 2 * x + 1"),
    ]
    assert {("study.f", "1  ->  2"), ("study.f", "1  ->  2 (2)"), ("study.G.f", "1  ->  2")} <= {f.name for f in before}
    for after in (found(tmp_path, a=G, b=F), found(tmp_path, a="", b=f"LIMIT = 1\n\n\n{G}\n{F}")):
        assert {each.name for each in after} == {each.name for each in before}


def test_functions_of_one_name_in_several_files_are_told_apart(target, tmp_path):
    assert {each.function for each in found(tmp_path, a=F, b=F + G)} == {"study.a.f", "study.b.f", "study.G.f"}


def test_every_fault_of_a_room_has_a_name_of_its_own():
    for room in mutate.rooms().values():
        names = [fault.name for fault in faults.named(room)]
        assert len(names) == len(set(names))


def test_an_edit_or_a_move_leaves_what_is_drawn_of_other_functions(target, tmp_path):
    def drawn(count: int, seed: int, text: str) -> list[tuple[str, str]]:
        return [each.name for each in mutate.draw(found(tmp_path, a=text), count, seed)]

    assert drawn(3, 0, F + G) == drawn(3, 0, G + F) != drawn(3, 1, F + G)
    edited = G.replace("5", "5, 6, 7").replace("return", "y = 1\n        return")
    before, after = drawn(99, 0, F + G), drawn(99, 0, edited + F)
    assert [name for name in before if name[0] == "study.f"] == [name for name in after if name[0] == "study.f"]


def test_what_was_noticed_and_lives_now_is_told_by_name(target, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(mutate, "RECORD", tmp_path / "mutation.json")
    first, second, third, *rest = sorted(found(tmp_path, a=F), key=lambda fault: fault.name)
    mutate.write({"b": mutate.record([(first, "lived"), (second, "noticed"), (third, "too long")]), "a": {}})
    before = json.loads(mutate.RECORD.read_text(encoding="utf-8"))["b"]
    assert before == {"study.f": {"noticed": [second.change, third.change], "lived": [first.change]}}
    first, second, third, *rest = sorted(found(tmp_path, a="", b=F), key=lambda fault: fault.name)
    assert mutate.compare([(first, "lived"), (second, "too long"), (rest[0], "lived")], before) == 0
    assert capsys.readouterr().out == (
        "of 2 noticed before, 1 are noticed now, 0 live, 1 were not tried: they are no longer in the code, or the time "
        "was over\n"
    )
    for verdict in ("lived", "not run"):
        assert mutate.compare([(third, verdict), (second, "noticed")], before) == 1
        assert capsys.readouterr().out.startswith(
            f"noticed before, lives now: {third} (in study.f)\nof 2 noticed before, 1"
        )


def test_a_record_is_of_a_whole_room_and_what_it_holds_is_tried_again(target, tmp_path, monkeypatch, capsys):
    """The command, on a room of one file; what the tests say is given."""
    every = found(tmp_path, a=F)
    monkeypatch.setattr(mutate, "RECORD", tmp_path / "mutation.json")
    monkeypatch.setattr(mutate, "rooms", lambda: {"room": [every[0].target]})
    verdicts = ["lived"]
    monkeypatch.setattr(mutate, "run", lambda chosen, *_, **__: list(zip(chosen, verdicts, strict=False)))
    for wrong in (["--record"], ["--room", "room", "--record", "a"], ["--room", "room", "--record", "--quick"]):
        with pytest.raises(SystemExit):
            mutate.main(wrong)
    with pytest.raises(SystemExit):
        mutate.main(["--room", "room", "--compare"])
    assert "nothing is recorded" in capsys.readouterr().err
    of_all = ["--room", "room", "--bar", "0"]
    assert mutate.main([*of_all, "--each", "2", "--record"]) == 1
    assert not mutate.RECORD.exists()  # one of two was not tried
    verdicts = ["noticed", "noticed"]
    assert mutate.main([*of_all, "--each", "2", "--record"]) == 0
    assert mutate.main([*of_all, "--each", "1", "--compare"]) == 0
    assert "of 2 noticed before, 2 are noticed now" in capsys.readouterr().out
    verdicts = ["noticed", "lived"]
    assert mutate.main([*of_all, "--each", "1", "--compare"]) == 1
