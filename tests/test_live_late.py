"""Large libraries of a page are executed when they are first used, and are themselves then."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import lanes
import pytest

from voicewire_book.publish.live import chapters, late

pytestmark = pytest.mark.landing

CHAPTERS = chapters.offered()
CODE = """
import sys
from pathlib import Path
from voicewire_book.publish.live import late
{before}
"""


def said(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", CODE.format(before=code)], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_library_waits_until_it_is_used() -> None:
    code = """
late.install()
late.install()
import sympy as sp
import sympy
print(sum(name.partition(".")[0] == "sympy" for name in sys.modules), sp is sympy, sp.__name__)
print(sp.diff(sp.Symbol("x") ** 2))
print(type(sympy).__name__, "sympy.core" in sys.modules)
"""
    assert said(code) == ["1 True sympy", "2*x", "module True"]


def test_a_part_of_a_library_wakes_the_whole() -> None:
    code = """
late.install()
import pandas
import pandas.api.types as types
print(types.is_list_like([1]), type(pandas).__name__, pandas.DataFrame({"a": [1]}).shape)
from mpmath import mp
print(mp.dps)
"""
    assert said(code) == ["True module (1, 1)", "15"]


def test_what_fails_at_first_fails_again_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "pandas").mkdir()
    (tmp_path / "pandas" / "__init__.py").write_text("raise ImportError('half a library')", encoding="utf-8")
    code = f"""
sys.path.insert(0, {str(tmp_path)!r})
late.install()
import pandas
for _ in range(2):
    try:
        pandas.DataFrame
    except ImportError as error:
        print(error)
"""
    assert said(code) == ["half a library"] * 2


def test_others_are_left_to_the_next_finder() -> None:
    code = "late.install()\nimport numpy\nprint(type(numpy).__name__, 'numpy.linalg' in sys.modules)"
    assert said(code) == ["module True"]


def test_a_part_of_scipy_waits_and_what_is_called_of_it_too() -> None:
    code = """
import copy, pickle
late.install()
from scipy import optimize, stats
from scipy.interpolate import CubicSpline
from scipy.signal import lfilter
awake = lambda name: f"{name}._basic" in sys.modules or f"{name}._signaltools" in sys.modules
print(awake("scipy.signal"), "scipy.stats._stats_py" in sys.modules, "scipy.optimize._optimize" in sys.modules)
print(lfilter([1, 1], [1], [1.0, 2.0]).tolist(), awake("scipy.signal"), "scipy.stats._stats_py" in sys.modules)
import scipy.signal
real = scipy.signal.lfilter
print(repr(lfilter) == repr(real), lfilter.__name__, copy.deepcopy(lfilter) is real)
print(pickle.loads(pickle.dumps(lfilter)) is real, scipy.signal.lfilter is real)
print(optimize.brentq(lambda x: x - 1, 0, 3), stats.norm.cdf(0.0))
class Own(CubicSpline):
    pass
curve = Own([0, 1, 2], [0, 1, 4])
print(isinstance(curve, CubicSpline), "scipy.interpolate._cubic" in sys.modules)
"""
    waits, called, same, kept, others, made = said(code)
    assert waits == "False False False" and called == "[1.0, 3.0] True False"
    assert same == "True lfilter True" and kept == "True True"
    assert others == "1.0 0.5" and made == "True True"


def test_what_is_only_called_can_be() -> None:
    for module, names in late.CALLED.items():
        assert all(callable(getattr(importlib.import_module(module), name)) for name in names)


def test_matplotlibs_help_points_to_its_pages_and_its_properties_are_set_as_before() -> None:
    code = """
late.install()
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
print(late.PROPERTIES in Line2D.set.__doc__, "linewidth" in str(Line2D.set.__signature__))
(line,) = plt.subplots()[1].plot([1, 2], linewidth=3)
print(line.get_linewidth(), line.set(linewidth=2) is not None, plt.getp(line, "linewidth"))
"""
    assert said(code) == ["True True", "3.0 True 2.0"]


def test_tables_are_checked_without_waking_pandas() -> None:
    code = """
late.install()
from voicewire_book.chapters.pharyngeal import tracker_comparison
from voicewire.pharyngeal.statistics import vowel_statistics
print("pandas.core" in sys.modules)
try:
    vowel_statistics.lobanov(3)
except ValueError as error:
    print(error)
"""
    assert said(code) == ["False", "table must be a DataFrame, not 3"]


FIRST = """
import ast, json, warnings
waken, woken = late._wake, []
def noted(module):
    if isinstance(module, late._Waiting):
        woken.append(module.__name__)
    waken(module)
late._wake = noted
late.install()
sys.modules["numba"] = None  # a page has none
warnings.simplefilter("ignore")
cells = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["cells"]
first = "".join(next(cell["source"] for cell in cells if cell["cell_type"] == "code"))
first = "\\n".join(line for line in first.splitlines() if not line.startswith("%"))
exec(compile(first, "cell", "exec"), {"__name__": "__main__"})
print(woken)
"""


@pytest.mark.parametrize("chapter", lanes.sampled(CHAPTERS, 1), ids=lambda path: path.stem)
def test_the_first_cell_of_a_chapter_wakes_nothing(chapter: Path) -> None:
    code = [sys.executable, "-c", CODE.format(before=FIRST), str(chapter)]
    done = subprocess.run(code, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
