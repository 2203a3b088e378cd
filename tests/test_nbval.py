"""The proof that committed outputs are current: what nbval passes with our plugin, and what it must not pass."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

ROOT = Path(__file__).resolve().parents[1]
spec = importlib.util.spec_from_file_location("nbval_tolerance", ROOT / "tests" / "nbval_tolerance.py")
plugin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plugin)
Approximate = plugin.Approximate
MIME = "application/vnd.voicewire.claims+json"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.0000001", "1.0000002"),
        ("x = -3.14159265 s", "x = -3.14159266 s"),
        ("[0.1 2.5e-07]", "[0.10000000001 2.5000001e-07]"),
        ("0.0", "-0.0"),
        ("1e5", "1e5"),
        ('{"value": 6.2400001}', '{"value": 6.24}'),
    ],
)
def test_noise_in_the_last_digits_passes(one, other):
    assert Approximate(one) == Approximate(other)
    assert not Approximate(one) != Approximate(other)  # noqa: SIM202 (nbval asks with !=)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("6.24", "6.25"),
        ("1.00001", "1.0"),
        ("0.0", "1e-9"),
        ("7", "8"),
        ("7", "7.0"),
        ("1000000000", "1000000001"),
        ("shape (3, 4)", "shape (4, 3)"),
        ("6.24 s", "6.24 ms"),
        ("6.24", "-6.24"),
        ("1.26.0", "1.26.1"),
        ("v1.0000001", "v1.0000002"),
        ("1.0 2.0", "1.0  2.0"),
        ("1.0", "1.0 2.0"),
        ("nan", "1.0"),
        ('{"ok": true}', '{"ok": false}'),
    ],
)
def test_everything_else_stays_exact(one, other):
    assert Approximate(one) != Approximate(other)
    assert not Approximate(one) == Approximate(other)  # noqa: SIM201


def cell(source: str, *outputs: object) -> object:
    return new_code_cell(source, outputs=list(outputs), execution_count=1)


def text(value: str) -> object:
    return new_output("stream", name="stdout", text=value)


def shown(data: dict[str, object]) -> object:
    return new_output("display_data", data=data)


def claims(value: float, verdict: str) -> dict[str, object]:
    return {MIME: [{"id": "nfc.eq-7.1", "reproduced": value, "verdict": verdict}], "text/plain": "ledger"}


CELLS = {
    "noise passes": (True, cell("print(0.1 + 0.2)", text("0.3000000001\n"))),
    "a changed decimal fails": (False, cell("print(0.31)", text("0.30\n"))),
    "a changed integer fails": (False, cell("print(12)", text("13\n"))),
    "an address passes": (True, cell("print('at 0x7f00aa11bb22')", text("at 0x7f99aa11bb33\n"))),
    "a sound passes": (
        True,
        cell(
            "display({'text/html': '<audio src=\"data:audio/wav;base64,AAAA\">'}, raw=True)",
            shown({"text/html": '<audio src="data:audio/wav;base64,BBBB+/==">'}),
        ),
    ),
    "verdicts pass": (
        True,
        cell(f"display({claims(6.2400000001, 'reproduced')!r}, raw=True)", shown(claims(6.24, "reproduced"))),
    ),
    "a changed verdict fails": (
        False,
        cell(f"display({claims(6.24, 'not reproduced')!r}, raw=True)", shown(claims(6.24, "reproduced"))),
    ),
    "a changed value fails": (
        False,
        cell(f"display({claims(6.25, 'reproduced')!r}, raw=True)", shown(claims(6.24, "reproduced"))),
    ),
    "a lost verdict fails": (
        False,
        cell("display({'text/plain': 'ledger'}, raw=True)", shown(claims(6.24, "reproduced"))),
    ),
    "cleared outputs fail": (False, cell("print(1)")),
    "no kernel listens on TCP": (
        True,
        cell(
            "from ipykernel.kernelapp import IPKernelApp\nprint(IPKernelApp.instance().transport)", text("ipc\n")
        ),
    ),
    "a new warning fails": (False, cell("import warnings; warnings.warn('new')")),
}


@pytest.mark.slow
def test_nbval_with_the_plugin(tmp_path):
    cells = [made for _, made in CELLS.values()]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    nbformat.write(notebook, tmp_path / "01_case.ipynb")
    command = [
        sys.executable, "-m", "pytest", "-p", "tests.nbval_tolerance", "-p", "no:cacheprovider", "--nbval",
        "--nbval-current-env", "--nbval-sanitize-with", "tests/nbval_sanitize.cfg", "-n", "1", "--dist", "loadfile",
        "-rA", "--tb=no", "--color=no", str(tmp_path),
    ]  # fmt: skip
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    found = {int(n): word == "PASSED" for word, n in re.findall(r"(PASSED|FAILED) \S*::Cell (\d+)", run.stdout)}
    assert found, run.stdout + run.stderr
    assert {name: found[i] for i, name in enumerate(CELLS)} == {name: passes for name, (passes, _) in CELLS.items()}
