"""The benchmark harness: that it measures what it says, and says what it measured. Nothing here is timed
for a bar."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.night

HERE = Path(__file__).resolve().parents[1] / "benchmarks" / "harness.py"
spec = importlib.util.spec_from_file_location("harness", HERE)
harness = importlib.util.module_from_spec(spec)
sys.modules["harness"] = harness
spec.loader.exec_module(harness)

FIELDS = ["name", "value", "unit", "peer", "peer_value", "ratio", "bar", "ok", "versions", "machine"]


def busy(n):
    return sum(range(n))


def study(run):
    run.compare("sum", lambda: busy(2000), peer="a longer sum", against=lambda: busy(200_000), at_least=5)
    run.scaling("terms", busy, sizes=[20_000, 80_000, 320_000], at_most=1.5)
    run.record("error", 0.25, "dB", at_most=0.5)


def test_json_has_exactly_the_fields(capsys):
    assert harness.main(study, "Sums.\nMore.", ["pytest", "no-such-package"], ["--quick", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [list(row) for row in rows] == [FIELDS] * 3
    first, growth, error = rows
    assert first["ratio"] == pytest.approx(first["peer_value"] / first["value"])
    assert first["ratio"] > 5
    assert (first["unit"], first["bar"], first["ok"]) == ("s", ">= 5 x", True)
    assert growth["value"] == pytest.approx(1.0, abs=0.4)
    assert (error["peer"], error["peer_value"], error["ratio"], error["bar"]) == (
        None,
        None,
        None,
        "<= 0.5 dB",
    )
    assert first["versions"]["pytest"] == pytest.__version__
    assert first["versions"]["no-such-package"] == "not installed"
    assert set(first["machine"]) == {"kind", "cores", "cpu"}
    assert platform.node() not in json.dumps(first["machine"])


def test_table_and_exit_status(capsys):
    def missed(run):
        run.record("loss", 0.9, "share", at_most=0.5)
        run.record("a number", 3.0, "dB")

    assert harness.main(missed, None, argv=[]) == 1
    streams = capsys.readouterr()
    assert "MISSED" in streams.out
    assert "bar missed: loss: <= 0.5 share" in streams.err
    assert harness.main(missed, None, argv=["--quick"]) == 0
    with pytest.raises(SystemExit) as stop:
        harness.main(missed, None, argv=["--nonsense"])
    assert stop.value.code == 2


def test_peers_are_interleaved_and_change_places():
    calls = []
    samples = harness.interleave([lambda: calls.append("a"), lambda: calls.append("b")], rounds=2)
    assert [len(s) for s in samples] == [2, 2]
    blocks = [c for i, c in enumerate(calls) if i == 0 or calls[i - 1] != c]
    # one call each to find the number of repeats, then A B, then B A
    assert "".join(blocks) == "ababa"


def test_a_fast_wrong_answer_is_refused():
    run = harness.Run(quick=True)
    with pytest.raises(ValueError, match="same result"):
        run.compare("x", lambda: 1, peer="y", against=lambda: 2, same=lambda a, b: a == b)
    with pytest.raises(ValueError, match="both a name"):
        run.compare("x", lambda: 1, peer="y")
    with pytest.raises(ValueError, match="needs a peer"):
        run.compare("x", lambda: 1, at_least=2)
    with pytest.raises(ValueError, match="three sizes"):
        run.scaling("x", busy, sizes=[1, 2])
    assert run.results == []


def test_power_law_finds_its_own_exponent():
    sizes = [10, 100, 1000]
    exponent, factor = harness.power_law(sizes, [3e-6 * n**1.7 for n in sizes])
    assert exponent == pytest.approx(1.7)
    assert factor == pytest.approx(3e-6)
    with pytest.raises(ValueError, match="positive"):
        harness.power_law([1, 2], [0.0, 1.0])


PEAKS = """
import harness, numpy as np
print(harness.peak_memory(lambda: float(np.ones(8_000_000).sum())), harness.peak_memory(lambda: None))
"""


def test_peak_memory_sees_an_array_that_is_gone_again():
    """In a process of its own: here another test's threads may give memory back meanwhile."""
    path = os.pathsep.join([str(Path(harness.__file__).parent), *sys.path])
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", PEAKS], env=env, capture_output=True, text=True, check=True)
    with_array, with_nothing = map(float, done.stdout.split())
    assert 0.9 * 64e6 < with_array < 1.5 * 64e6
    assert with_nothing < 0.1 * 64e6


def test_bars_on_value_and_on_ratio():
    run = harness.Run()
    assert run.record("a", 2.0, "s", peer="b", peer_value=8.0, ratio=4.0, at_most=3.0, at_least=4.0).ok
    assert not run.record("a", 2.0, "s", peer="b", peer_value=8.0, ratio=4.0, at_least=4.1).ok
    assert not run.record("a", 2.0, "s", peer="b", peer_value=8.0, ratio=4.0, at_most=1.9, at_least=4).ok
    assert run.record("share", 0.9, "", at_least=0.8).bar == ">= 0.8"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00412, "s", "4.12 ms"),
        (90, "s", "90 s"),
        (150, "s", "2.5 min"),
        (2e6, "B", "2 MB"),
        (1.05, "exponent", "1.05"),
    ],
)
def test_numbers_for_people(value, unit, text):
    assert harness.human(value, unit) == text


def test_spread_is_the_interquartile_range_over_the_median():
    assert harness.spread([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx(2 / 3)
    assert harness.spread([1.0]) is None
