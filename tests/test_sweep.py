"""Sweeps: the same bits from any workers, nothing finished lost, nothing stale believed."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import gc
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import types
from contextlib import suppress
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import psutil
import pytest

from voicewire.sweep import Row, SweepError, add_sweep_arguments, fingerprint, sweep, task_rng
from voicewire.sweep.runner import BY_VALUE, _call, _file

GRID = {"rate": [0.5, 2.0], "size": [3, 4]}


def draw(rng, rate, size, log=None):
    if log is not None:
        (Path(log) / f"{rate}-{size}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return rng.exponential(1 / rate, size=size) @ rng.normal(size=size)


def bits(rows: list[Row]) -> bytes:
    return pickle.dumps([(sorted(row.params.items()), row.seed, float(row.value).hex()) for row in rows])


@pytest.fixture(scope="module")
def cluster():
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as local:
        yield local
    gc.collect()  # what its tasks left is told of here, and in no other test


def test_rows_come_in_the_order_of_the_grid(tmp_path):
    rows = sweep(draw, GRID, seeds=[7, 8], workers=2, cache=tmp_path)
    assert [(r.params["rate"], r.params["size"], r.seed) for r in rows] == [
        (rate, size, seed) for rate in (0.5, 2.0) for size in (3, 4) for seed in (7, 8)
    ]
    expected = [draw(task_rng(r.params, r.seed), **r.params) for r in rows]
    assert [r.value for r in rows] == expected
    assert len({float(r.value) for r in rows}) == 8  # a stream of its own for each


def test_one_two_or_three_workers_give_the_same_bits():
    reference = bits(sweep(draw, GRID, seeds=range(4), workers=1, cache=False))
    for workers in (2, 3):
        assert bits(sweep(draw, GRID, seeds=range(4), workers=workers, cache=False)) == reference


def test_joblib_goes_on_working_beside_a_sweep():
    sweep(draw, GRID, workers=2, cache=False)
    assert joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(i) for i in (-1, -2)) == [1, 2]
    assert len(sweep(draw, GRID, workers=2, cache=False)) == 4


def test_seeds_are_fixed_for_ever():
    # A change here changes every recorded sweep of the book.
    assert task_rng({"rate": 0.5}, 1).integers(2**32, size=2).tolist() == SEEDED
    assert task_rng({"a": 1, "b": 2}, 0).random() == task_rng({"b": 2, "a": 1}, 0).random()
    assert task_rng({"a": 1}, 0).random() != task_rng({"a": 1}, 1).random()


SEEDED = [2738238782, 2434880239]


def test_what_is_finished_is_not_computed_again(tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    grid = {"rate": [1.0, 2.0], "size": [2], "log": [str(log)]}
    first = sweep(draw, grid, seeds=range(3), workers=2, cache=tmp_path / "cache")
    assert len(list(log.iterdir())) == 6
    wider = {**grid, "rate": [1.0, 2.0, 3.0]}
    more = sweep(draw, wider, seeds=range(3), workers=2, cache=tmp_path / "cache")
    assert len(list(log.iterdir())) == 9  # only what is new
    assert bits(more[:6]) == bits(first)
    # a file that was damaged is computed anew, and stray ones do no harm
    victim = next(p for p in (tmp_path / "cache").rglob("*") if p.is_file())
    victim.write_bytes(victim.read_bytes()[:-3])
    assert bits(sweep(draw, wider, seeds=range(3), workers=2, cache=tmp_path / "cache")) == bits(more)
    assert len(list(log.iterdir())) == 10


def module(source: str, name: str = "student") -> types.ModuleType:
    made = types.ModuleType(name)
    exec(textwrap.dedent(source), made.__dict__)
    return made


HELPER = """
    factor = 2.0

    def helper(x):
        return factor * x

    def f(rng, x, power=1):
        return helper(x) ** power
"""


def test_a_change_in_the_source_or_in_what_it_uses_is_seen():
    same = fingerprint.of(module(HELPER).f)
    assert fingerprint.of(module("\n\n# moved, and commented\n" + textwrap.dedent(HELPER)).f) == same
    for before, after in [
        ("** power", "* power"),
        ("power=1", "power=2"),
        ("factor = 2.0", "factor = 2.5"),
        ("factor * x", "factor + x"),
    ]:
        assert before in HELPER
        assert fingerprint.of(module(HELPER.replace(before, after)).f) != same


def test_closures_partials_and_constants_count():
    def make(a):
        return lambda rng: a

    assert fingerprint.of(make(1)) == fingerprint.of(make(1))
    assert fingerprint.of(make(1)) != fingerprint.of(make(2))
    assert fingerprint.of(functools.partial(draw, size=1)) != fingerprint.of(functools.partial(draw, size=2))


@dataclasses.dataclass
class Link:
    rate: float
    lossy: bool = False


VALUES = [
    1, 1.0, True, "1", b"1", None, np.int64(1), np.float64(1), np.float32(1), 0.0, -0.0, float("nan"), 1j,
    (1,), [1], {1}, {1: 1}, np.array([1]), np.array([1.0]), np.array([[1]]), range(1), Path("1"),
    Link(1.0), Link(1), Link(1.0, True), len, np.sin, np.cos, dataclasses, (1, (2, 3)), ((1, 2), 3), ("ab", "c"),
    ("a", "bc"), np.array([1, "a"], dtype=object),
]  # fmt: skip


def test_values_of_different_type_or_content_never_share_a_fingerprint():
    prints = [fingerprint.of(value) for value in VALUES]
    assert len(set(prints)) == len(VALUES)
    assert fingerprint.of({"a": 1, "b": {2, "c"}}) == fingerprint.of({"b": {"c", 2}, "a": 1})
    cycle: list[object] = [1]
    cycle.append(cycle)
    assert fingerprint.of(cycle) != fingerprint.of([1, [1]])


def test_fingerprints_are_the_same_in_another_process():
    code = "from voicewire.sweep.fingerprint import environment as e, of; print(of({'a', 'b', 'c'}), of({'x': 1}), e())"
    outs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(outs) == 1
    assert fingerprint.environment() in outs.pop()


def test_one_and_one_point_nought_and_true_are_different_tasks(tmp_path):
    rows = sweep(lambda rng, x: type(x).__name__, {"x": [1, 1.0, True]}, workers=1, cache=tmp_path)
    assert [r.value for r in rows] == ["int", "float", "bool"]
    assert [r.value for r in sweep(lambda rng, x: type(x).__name__, {"x": [1.0]}, cache=tmp_path)] == ["float"]


def die_once(rng, x, marks):
    mark = Path(marks) / str(x)
    (Path(marks) / f"call-{x}-{time.monotonic_ns()}").touch()
    if x == 3 and not mark.exists():
        mark.touch()
        os._exit(1)
    return float(rng.random() + x)


def die_always(rng, x, marks):
    (Path(marks) / f"call-{x}-{time.monotonic_ns()}").touch()
    if x == 3:
        os._exit(0)
    return x


def calls(marks: Path) -> dict[int, int]:
    names = [int(p.name.split("-")[1]) for p in marks.glob("call-*")]
    return {x: names.count(x) for x in names}


def test_a_worker_that_dies_costs_its_tasks_only(tmp_path):
    grid = {"x": list(range(12)), "marks": [str(tmp_path)]}
    rows = sweep(die_once, grid, workers=2, cache=tmp_path / "cache")
    assert [r.value for r in rows] == [float(task_rng(r.params, 0).random() + r.params["x"]) for r in rows]
    counts = calls(tmp_path)
    assert counts[3] == 2
    assert sum(counts.values()) <= 12 + 4  # at most what two workers had in hand
    assert set(counts) == set(range(12)) and max(counts.values()) == 2


def test_a_task_that_kills_its_worker_twice_is_named_and_nothing_else_is_lost(tmp_path):
    grid = {"x": list(range(8)), "marks": [str(tmp_path)]}
    with pytest.raises(SweepError, match=r"task \(x=3, .*seed 0\) killed its worker twice"):
        sweep(die_always, grid, workers=2, cache=tmp_path / "cache")
    assert calls(tmp_path)[3] == 2
    before = sum(calls(tmp_path).values())
    grid["x"].remove(3)
    assert [r.value for r in sweep(die_always, grid, workers=2, cache=tmp_path / "cache")] == [0, 1, 2, 4, 5, 6, 7]
    assert sum(calls(tmp_path).values()) == before  # all seven were kept


class TwoArgumentsError(Exception):
    """Can't be unpickled, as many libraries' errors."""

    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


def fail(rng, x):
    if x == 2:
        raise TwoArgumentsError("slot", "lost")
    return x


def test_an_error_in_a_task_names_the_task(tmp_path):
    with pytest.raises(
        SweepError, match=r"task \(x=2, seed 5\) failed: TwoArgumentsError: slot lost \(line \d+ of test_sweep.py\)"
    ):
        sweep(fail, {"x": [0, 1, 2, 3]}, seeds=[5], workers=2, cache=tmp_path)
    assert [r.value for r in sweep(fail, {"x": [0, 1]}, seeds=[5], cache=tmp_path)] == [0, 1]
    with pytest.raises(SweepError, match="pickle"):
        sweep(lambda rng: (i for i in range(3)), {}, workers=1, cache=False)


@pytest.mark.parametrize("wrapped", [lambda function: function, functools.partial], ids=["function", "partial"])
def test_an_error_names_the_file_also_where_the_code_that_was_sent_does_not(wrapped):
    sent = types.FunctionType(fail.__code__.replace(co_filename=BY_VALUE), fail.__globals__)  # as newer cloudpickle
    call = cloudpickle.dumps(wrapped(sent)), _file(wrapped(fail)), fingerprint.environment()
    assert _call(*call, {"x": 2}, 5)[1].endswith(" of test_sweep.py)")


SCRIPT = """
import signal, sys, time
from pathlib import Path
from voicewire.sweep import sweep

def slow(rng, x):
    Path("log", f"{x}-{time.monotonic_ns()}").touch()
    time.sleep(0.15)
    return x + rng.random()

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits it ignored
    rows = sweep(slow, {"x": list(range(20))}, workers=2, cache="cache")
    print([row.value.hex() for row in rows])
"""


@pytest.mark.slow
@pytest.mark.needs("posix")
def test_ctrl_c_never_reaches_a_worker(tmp_path):
    """Not even the first of a process: libraries start helpers with it, and let Ctrl-C through again there."""
    script = tmp_path / "asked.py"
    script.write_text(
        textwrap.dedent("""
            import pickle, signal
            from voicewire.sweep import workers

            def held():
                return pickle.dumps(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])), None

            if __name__ == "__main__":
                pool = workers.Local(2, 4)
                calls = [pool.submit(held) for _ in range(4)]
                print([pickle.loads(pool.result(call)[0]) for call in calls], pickle.loads(held()[0]))
        """),
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[True, True, True, True] False"


def running(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_an_interrupted_sweep_goes_on_where_it_stopped(tmp_path, blow):
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "log").mkdir()
    command = [sys.executable, "script.py"]
    first = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(kept := [p for p in tmp_path.glob("cache/*/*") if not p.name.startswith(".")]) < 6:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    workers = psutil.Process(first.pid).children(recursive=True)
    first.send_signal(blow)
    first.wait(30)
    for worker in workers if blow == signal.SIGKILL else ():  # they end by themselves, but who knows when
        with suppress(psutil.NoSuchProcess):
            worker.kill()
    while any(map(running, workers)):
        assert time.monotonic() < deadline + 60
        time.sleep(0.02)
    kept = [p for p in tmp_path.glob("cache/*/*") if not p.name.startswith(".")]
    assert 6 <= len(kept) < 20
    before = len(list((tmp_path / "log").iterdir()))
    second = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert len(list((tmp_path / "log").iterdir())) - before == 20 - len(kept)
    assert len(eval(second.stdout)) == 20
    assert second.stderr == ""  # no bar where there is no terminal


def crash_on_the_cluster(rng, x, marks):
    time.sleep(0.05)
    return die_once(rng, x, marks)


@pytest.mark.slow
@pytest.mark.needs("distributed")
def test_a_dask_cluster_gives_the_same_bits_though_a_worker_is_killed(cluster, tmp_path):
    address = cluster.scheduler_address
    local = bits(sweep(draw, GRID, seeds=range(4), workers=2, cache=False))
    assert bits(sweep(draw, GRID, seeds=range(4), scheduler=address, cache=False)) == local
    grid = {"x": list(range(30)), "marks": [str(tmp_path)]}
    rows = sweep(crash_on_the_cluster, grid, scheduler=address, cache=tmp_path / "cache")
    assert [r.value for r in rows] == [float(task_rng(r.params, 0).random() + r.params["x"]) for r in rows]
    counts = calls(tmp_path)
    assert counts[3] == 2  # it killed a worker in the middle, and was done again
    assert sum(counts.values()) <= 30 + 4


@pytest.mark.slow
@pytest.mark.needs("distributed")
def test_a_task_that_kills_every_dask_worker_is_named(cluster, tmp_path):
    grid = {"x": list(range(5)), "marks": [str(tmp_path)]}
    with pytest.raises(SweepError, match=r"task \(x=3, .*killed its worker"):
        sweep(die_always, grid, scheduler=cluster.scheduler_address, cache=tmp_path / "cache")
    kept = [p for p in (tmp_path / "cache").glob("*/*") if p.is_file()]
    assert len(kept) == 4
    assert calls(tmp_path)[3] == 2  # two workers, and no more


@pytest.mark.needs("distributed")
def test_a_cluster_that_is_not_there(monkeypatch):
    monkeypatch.setattr("voicewire.sweep.workers.ANSWER", 1.0)
    with pytest.raises(SweepError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        sweep(draw, GRID, scheduler="tcp://127.0.0.1:9", cache=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SweepError, match=r"pip install 'voicewire\[dask\]'"):
        sweep(draw, GRID, scheduler="tcp://127.0.0.1:9", cache=False)


@pytest.mark.parametrize(
    ("grid", "options", "message"),
    [
        ({"x": []}, {}, "no value for 'x'"),
        ({"x": 3}, {}, "a list of values for 'x', got 3"),
        ({"x": "abc"}, {}, "a list of values for 'x'"),
        ({"rng": [1]}, {}, "'rng' is the generator"),
        ({"x": [open]}, {"seeds": []}, "at least one seed"),
        ({"x": [1]}, {"seeds": [0.5]}, "whole numbers"),
        ({"x": [1]}, {"workers": 0}, "at least 1"),
        ({"x": [1]}, {"workers": 2, "scheduler": "tcp://a:1"}, "not both"),
        ({"x": [1]}, {"scheduler": "a:1"}, "an address such as"),
        ({"x": [(i for i in "ab")]}, {}, "content of a builtins.generator can't be told"),
    ],
)
def test_a_sweep_that_makes_no_sense_is_refused(grid, options, message):
    with pytest.raises(ValueError, match=message):
        sweep(fail, grid, cache=False, **options)
    with pytest.raises(ValueError, match="needs a function"):
        sweep(3, {"x": [1]})  # type: ignore[arg-type]


def test_command_line(capsys):
    parser = argparse.ArgumentParser()
    add_sweep_arguments(parser)
    assert vars(parser.parse_args([])) == {"workers": None, "scheduler": None}
    assert parser.parse_args(["--workers", "3"]).workers == 3
    assert parser.parse_args(["--scheduler", "tcp://h:1"]).scheduler == "tcp://h:1"
    for wrong in (
        ["--workers", "0"],
        ["--workers", "x"],
        ["--scheduler", "h:1"],
        ["--workers", "1", "--scheduler", "tcp://h:1"],
    ):
        with pytest.raises(SystemExit) as stop:
            parser.parse_args(wrong)
        assert stop.value.code == 2
