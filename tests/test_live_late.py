"""Large libraries of a page are executed when they are first used, and are themselves then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
from pathlib import Path
from voicewire.publish.live import late
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
