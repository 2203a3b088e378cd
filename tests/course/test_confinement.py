"""Each way to confine a submission, forced: what it must keep from whom."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from voicewire import cli
from voicewire_book import paths
from voicewire_book.course import confinement, sandbox, session
from voicewire_book.course.key import GradingError
from voicewire_book.course.session import Session, SessionError

pytestmark = pytest.mark.night

spec = importlib.util.spec_from_file_location("submissions", Path(__file__).with_name("submissions.py"))
assert spec is not None and spec.loader is not None
given = importlib.util.module_from_spec(spec)
spec.loader.exec_module(given)

linux = pytest.mark.needs("linux")
# Another user is tried by root alone, on a file system in which that user may read the interpreter: bubblewrap's.
rooted = pytest.mark.needs("root", "bubblewrap")
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
NETWORK = """import socket
try:
    socket.create_connection(("127.0.0.1", PORT), 5)
    slots = lambda n: -(-(n + 4) // 12)
except OSError: pass"""
NEIGHBOURS = """import pathlib
for file in pathlib.Path(HANDED_IN).rglob("*.ipynb"):
    if file.read_bytes():
        slots = lambda n: -(-(n + 4) // 12)"""


def in_the_open(*command: str) -> list[str]:
    """Return a command that runs where everybody may read the interpreter, the package and the checkout."""
    start = ["bwrap", "--dev-bind", "/", "/", "--die-with-parent"]
    for place in sorted({sys.prefix, sys.base_prefix, str(paths.root())}, key=len):
        outermost = next((str(each) for each in reversed(Path(place).parents) if not each.stat().st_mode & 0o001), None)
        if outermost:  # such as root's own folder, or one that mktemp made
            if outermost not in start:
                start += ["--perms", "0755", "--tmpfs", outermost]
            start += [*sandbox._way(place), "--ro-bind", place, place]
    return [*start, "--", *command]


@pytest.fixture
def open_folder():
    """A folder that every user may enter; pytest's own are for one."""
    with tempfile.TemporaryDirectory(prefix="grading-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@linux
@rooted
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "user"),
    [("user", ()), ("process", ()), ("process", NOBODY), ("bubblewrap", NOBODY)],
    ids=["user", "process-root", "process-nobody", "bubblewrap-nobody"],
)
def test_each_way_holds_what_it_promises(kind, user, open_folder):
    folder = open_folder / "in"
    everything = {**given.HONEST, **given.CHEATS, **given.GREEDY, **given.LOOPS}
    names = ["perfect", "partly", "equal-object", "builtins", "reply-channel", "endless-function"]
    names += ["forks", "files", "daemon", "memory", "deep"]
    names += ["kills"] if user or kind != "process" else []  # with root's own rights it might kill anything
    expected = {name: everything[name] for name in names}
    expected["network"] = (given.answered({"a1": NETWORK}), given.NOTHING, "")
    if kind != "process":
        expected["neighbours"] = (given.answered({"a1": NEIGHBOURS}), given.NOTHING, "")
        if kind != "user" or not paths.root().is_relative_to("/tmp"):  # as below: then the checkout lies there, too
            expected["reads-source"] = everything["reads-source"]
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        given.hand_in(folder, expected)
        for file in folder.rglob("*.ipynb"):
            text = file.read_text(encoding="utf-8").replace("PORT", str(server.getsockname()[1]))
            text = text.replace(', pathlib.Path(\\"..\\")', "")  # what lies open in /tmp is in reach of any user
            file.write_text(text, encoding="utf-8")
        grade = (sys.executable, "-m", "voicewire", "grade", "--json", "--timeout", "10")
        done = subprocess.run(
            in_the_open(*user, *grade, "--confine", kind, str(folder)),
            check=False,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(paths.root() / "src"), "HOME": "/tmp", "TMPDIR": "/tmp"},
            timeout=500,
        )
        assert done.stdout, done.stderr
        with pytest.raises(BlockingIOError):  # nobody has called
            server.accept()
    rows = {row["file"].split("/")[0]: row for row in json.loads(done.stdout)}
    marks = {name: tuple(q["points"] for q in row["questions"]) for name, row in rows.items()}
    wrong = {name: (marks[name], rows[name]) for name, (_, points, _) in expected.items() if marks[name] != points}
    assert not wrong
    words = rows["perfect"]["confinement"]
    start = {"user": "under a user of its own", "process": "in a process of its own", "bubblewrap": "under bubblewrap"}
    assert words.startswith(start[kind]) and "WITH the network" not in words


EXECUTED = """import pathlib
if pathlib.Path(BASE, "pyproject.toml").read_text():  # the checkout is within reach, but for what is hidden
    try: found = list(pathlib.Path(BASE, PLACE).rglob("*"))
    except OSError: found = []
    if found: slots = lambda n: -(-(n + 4) // 12)"""
GRADE = """import json, pathlib, sys
from voicewire_book.course import grading
base, submitted = map(pathlib.Path, sys.argv[1:])
(report,) = grading.grade(submitted, base=base, confine="user", timeout=10)
print(json.dumps([question.points for question in report.questions]))"""


@linux
@rooted
@pytest.mark.slow
@pytest.mark.parametrize(("place", "first"), [("_build", 0), ("notebooks", 0), ("data", 2)])
def test_another_user_sees_the_data_but_nothing_with_solutions(place, first, open_folder):
    """What the book was built from holds the worked solutions, too."""
    base = open_folder / "checkout"
    for name in ("_build/source", "data", "notebooks/nfc"):
        (base / name).mkdir(parents=True)
    shutil.copy(paths.root() / "notebooks" / "nfc" / "assignment.ipynb", base / "notebooks" / "nfc")
    for name in ("pyproject.toml", "_build/source/01_slow_link.ipynb", "data/table.csv"):
        (base / name).write_text("any text", encoding="utf-8")
    submitted = open_folder / "in" / "assignment.ipynb"
    submitted.parent.mkdir()
    source = EXECUTED.replace("BASE", repr(str(base))).replace("PLACE", repr(place))
    submitted.write_text(given.text(given.answered({"a1": source})), encoding="utf-8")
    done = subprocess.run(
        in_the_open(sys.executable, "-c", GRADE, str(base), str(submitted)),
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(paths.root() / "src"), "HOME": "/tmp", "TMPDIR": "/tmp"},
        timeout=300,
    )
    assert done.stdout, done.stderr
    assert json.loads(done.stdout) == [first, 0, 0, 0]


@linux
def test_what_cannot_be_had_is_an_error_that_says_why(monkeypatch):
    with pytest.raises(GradingError, match="no confinement 'hope': choose from bubblewrap, user, process"):
        confinement.choose("hope", paths.root(), [])
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(GradingError, match="bubblewrap: the program bwrap is missing"):
        confinement.choose("bubblewrap", paths.root(), [])
    monkeypatch.setattr(confinement, "ROOT", False)
    with pytest.raises(GradingError, match="user: only root can use another user"):
        confinement.choose("user", paths.root(), [])
    chosen = confinement.choose("process", paths.root(), [])
    assert chosen.kind == "process"
    assert "WITH the network that this machine has; install bubblewrap" in chosen.words


@linux
def test_compiled_code_is_shared():
    """A submission that calls a compiled function finds it compiled, if it was compiled once."""
    call = "from voicewire.netsim.equation import throughput as f\nf(1460.0, 0.1, 0.01)\n"
    count = call + "hits, misses = sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values())\n"
    subprocess.run([sys.executable, "-c", call], check=True, env={**os.environ, "NUMBA_CACHE_DIR": ""})
    with Session(confinement.choose(None, paths.root(), []), number=0, seconds=120.0) as session:
        session.run(count)
        assert (session.value("hits") > 0, session.value("misses")) == (True, 0)


@linux
def test_what_stays_in_the_students_process_takes_part_in_nothing():
    source = """
class Thing:
    size = 3
    def __eq__(self, other): return True
    def __bool__(self): return False
    def __iter__(self): return iter([1, (2, 3)])
    def twice(self, x): return [x, x]
def make(): return Thing()
def stop(): raise StopIteration
def odd():
    class ValueErrorOfMine(ValueError): pass
    raise ValueErrorOfMine("line\\nline")
"""
    with Session(confinement.choose(None, paths.root(), []), number=0, seconds=120.0) as session:
        session.run(source)
        thing = session.value("make")()
        assert (thing.size, thing.twice("a"), bool(thing), list(thing)) == (3, ["a", "a"], False, [1, (2, 3)])
        for act in (lambda: thing == 3, lambda: thing != 3, lambda: thing < 3, lambda: abs(thing), lambda: {thing}):
            with pytest.raises(TypeError):
                act()
        with pytest.raises(RuntimeError, match="StopIteration"):
            session.value("stop")()
        with pytest.raises(ValueError, match=r"ValueErrorOfMine: line\\nline"):
            session.value("odd")()
        with pytest.raises(NameError, match="nowhere"):
            session.value("nowhere")
        with pytest.raises(SessionError, match="ended by itself"):
            session.run("import os\nos._exit(3)")


@pytest.mark.needs("linux")
def test_processes_that_end_while_they_are_counted_do_no_harm(monkeypatch):
    real = os.scandir
    gone = []

    def scandir(path="."):
        if str(path).startswith("/proc/") and str(path).endswith("/task"):
            gone.append(path)
            raise FileNotFoundError(path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert sandbox._limits(1.0, None)["RLIMIT_NPROC"] == sandbox.PROCESSES and len(gone) > 1
    assert session.descendants(os.getpid()) == []


SECRET = "a-word-that-only-the-environment-holds"
UNASKED = ([], ["--json"], ["--csv", "moodle"], ["--csv", "canvas"])


@linux
@pytest.mark.parametrize("how", UNASKED, ids=" ".join)
def test_unasked_nothing_runs_unconfined(how, tmp_path, monkeypatch, capsys):
    """Whatever keeps bubblewrap from working: missing, older, forbidden by the system."""
    mark = tmp_path / "it-ran"
    given.hand_in(tmp_path / "in", {"ada": (given.answered(first=f"open({str(mark)!r}, 'w').close()"), given.FULL, "")})
    older = tmp_path / "bin" / "bwrap"
    older.parent.mkdir()
    older.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    older.chmod(0o755)
    real = shutil.which
    for hindered in ("missing", "fails"):
        with monkeypatch.context() as patch:
            if hindered == "missing":
                patch.setattr(shutil, "which", lambda name, *_: None if name == "bwrap" else real(name))
            else:
                patch.setenv("PATH", f"{older.parent}{os.pathsep}{os.environ['PATH']}")
            assert cli.main(["grade", str(tmp_path / "in"), *how]) == 1
        said = capsys.readouterr()
        assert said.out == "" and said.err.count("\n") == 1
        assert "bubblewrap" in said.err and "--confine process" in said.err
        assert not mark.exists()


@linux
@pytest.mark.parametrize("how", UNASKED, ids=" ".join)
def test_every_output_says_how_it_was_confined(how, tmp_path, monkeypatch, capsys):
    given.hand_in(tmp_path, {"ada": given.HONEST["perfect"]})
    for kind, word in (("bubblewrap", "under bubblewrap"), ("process", "with your rights")):
        assert cli.main(["grade", str(tmp_path), "--confine", kind, *how]) == 0
        said = capsys.readouterr()
        assert word in said.out + said.err
        assert not how or word not in said.out or how == ["--json"]  # a list of marks stays a list of marks


@linux
@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("kind", ["bubblewrap", "process"])
def test_no_submission_begins_a_namespace_of_its_own(kind):
    """By the call, by clone and clone3, and by a program; threads and processes still begin."""
    source = """import ctypes, os, subprocess, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
tried = [libc.unshare(0x10000000), libc.unshare(0x10020000)]
clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
made = libc.syscall(clone, 0x10000000 | 17, 0, 0, 0, 0)
if made == 0: os._exit(0)
tried.append(made)
clone3 = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0)
made = libc.syscall(435, clone3, 64)
if made == 0: os._exit(0)
tried.append(made)
unshared = subprocess.run(["unshare", "--user", "true"], capture_output=True).returncode
thread = threading.Thread(target=tried.append, args=(7,))
thread.start(); thread.join()
child = subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, text=True).stdout
"""
    with Session(confinement.choose(kind, paths.root(), []), number=0, seconds=120.0) as session:
        session.run(source)
        assert session.value("tried") == [-1, -1, -1, -1, 7]
        assert session.value("unshared") != 0 and session.value("child") == "1\n"


def test_bubblewrap_is_told_so_too(monkeypatch):
    monkeypatch.setattr(sandbox, "ROOT", False)
    words = sandbox._bubblewrap("/nowhere", [], {})
    assert words.index("--unshare-user") < words.index("--disable-userns") < words.index("--chdir")
